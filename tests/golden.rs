//! Golden data of an independent engine, through the core and the slow reference.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

mod common;

use common::{GoldenPosition, golden, legal, set_up, twins, with_lap_limit};
use endodoi::reference::{self, Game};
use endodoi::{EndReason, MoveError, Position, Ruleset, SowingEnd};

/// Compares one golden position with both engines, and every move in it.
fn check_position(name: &str, rules: &Ruleset, golden: &GoldenPosition) {
    if golden.end.as_deref() == Some("endless") {
        check_ended_by_endless(rules, golden);
        return;
    }
    let (position, game) = twins(
        rules,
        &golden.board,
        golden.side,
        golden.captured,
        golden.quiet,
    );
    assert_eq!(
        common::end(&position),
        golden.end.as_deref(),
        "{name} {golden:?}"
    );
    assert_eq!(legal(&position), golden.legal, "{name} {golden:?}");
    check_endless_columns(name, rules, golden);
    assert_eq!(golden.moves.len(), golden.legal.len(), "{name} {golden:?}");
    for (wanted, &column) in golden.moves.iter().zip(&golden.legal) {
        assert_eq!(wanted.col, column);
        let about = format!("{name} {:?} column {column}", golden.board);
        let (next, sowing) = position.play_sowing(column).expect("legal");
        let (slow_next, sown) = game.play(column).expect("legal");
        common::assert_same(&next, &slow_next);
        common::assert_same_sowing(&sowing, &sown, &about);
        let wanted_sown = reference::Sown {
            laps: wanted.laps,
            seeds: wanted.sown,
            last: wanted.last,
            gain: wanted.gain,
        };
        assert_eq!(sown, wanted_sown, "{about}");
        assert_eq!(common::captured(&next), wanted.captured, "{about}");
        assert_eq!(i64::from(next.quiet()), wanted.quiet, "{about}");
        assert_eq!(common::end(&next), wanted.end.as_deref(), "{about}");
        if wanted.end.as_deref() == Some("stuck") {
            // The data show the board before the rest was taken (E1).
            let (_, before_rest) = position.sow(column).expect("legal");
            let pits: Vec<i64> = before_rest.pits().iter().map(|&n| i64::from(n)).collect();
            assert_eq!(pits, wanted.board, "{about}");
            assert!(common::ring(&next).iter().all(|&n| n == 0), "{about}");
        } else {
            assert_eq!(common::ring(&next), wanted.board, "{about}");
        }
    }
}

/// Compares the endless columns of a position that is not over, whether legal or not.
fn check_endless_columns(name: &str, rules: &Ruleset, golden: &GoldenPosition) {
    if golden.end.is_some() {
        return;
    }
    let position = set_up(
        rules,
        &golden.board,
        golden.side,
        golden.captured,
        golden.quiet,
    );
    let fast: Vec<usize> = (0..rules.columns())
        .filter(|&c| {
            position
                .sow(c)
                .is_ok_and(|(s, _)| s.end == SowingEnd::Endless)
        })
        .collect();
    let slow: Vec<usize> = (0..rules.columns())
        .filter(|&c| reference::s1_may_lift(rules, &golden.board, golden.side, c))
        .filter(|&c| reference::s6_endless(rules, &golden.board, golden.side, c))
        .collect();
    assert_eq!(fast, golden.endless, "{name} {golden:?}");
    assert_eq!(slow, golden.endless, "{name} {golden:?}");
}

/// Reaches a position that ended by an endless sowing: as text it would still be open.
fn check_ended_by_endless(rules: &Ruleset, golden: &GoldenPosition) {
    assert!(golden.legal.is_empty() && golden.moves.is_empty());
    let (open, game) = twins(
        rules,
        &golden.board,
        golden.side,
        golden.captured,
        golden.quiet,
    );
    assert!(!golden.endless.is_empty());
    for &column in &golden.endless {
        let ended = open.play(column).expect("legal under draw");
        common::assert_same(&ended, &game.play(column).expect("legal under draw").0);
        assert_eq!(ended.end_reason(), Some(EndReason::Endless));
        assert_eq!(common::ring(&ended), golden.board);
        assert_eq!(common::captured(&ended), golden.captured);
        assert_eq!(i64::from(ended.quiet()), golden.quiet);
        assert_eq!(ended.to_move().index(), golden.side);
        assert!(ended.legal_moves().is_empty());
    }
}

#[test]
fn golden_positions_and_all_their_moves() {
    let golden = golden();
    let mut positions = 0;
    for (name, set) in &golden.sets {
        let rules = set.rules.ruleset();
        for position in &set.positions {
            check_position(name, &rules, position);
            positions += 1;
        }
    }
    assert_eq!((golden.sets.len(), positions), (22, 189));
}

#[test]
fn golden_positions_that_offer_endless_moves() {
    let golden = golden();
    let mut positions = 0;
    for (name, set) in &golden.endless {
        let rules = set.rules.ruleset();
        for position in &set.positions {
            assert!(!position.endless.is_empty(), "{name}");
            check_position(name, &rules, position);
            positions += 1;
        }
    }
    assert_eq!((golden.endless.len(), positions), (16, 24));
}

#[test]
fn golden_games() {
    for (name, set) in &golden().sets {
        let rules = set.rules.ruleset();
        for wanted in &set.games {
            let mut position = Position::start(&rules);
            let mut game = Game::start(&rules);
            for &column in &wanted.moves {
                position = position
                    .play(column)
                    .unwrap_or_else(|e| panic!("{name}: {e}"));
                game = game.play(column).expect("legal").0;
                common::assert_same(&position, &game);
            }
            assert_eq!(common::end(&position), Some(wanted.end.as_str()), "{name}");
            assert_eq!(common::captured(&position), wanted.captured, "{name}");
        }
    }
}

#[test]
fn golden_lap_limits_legal_at_their_laps_endless_at_one_less() {
    let golden = golden();
    assert!(!golden.lap_limits.is_empty());
    for wanted in &golden.lap_limits {
        let rules = golden.sets[&wanted.set].rules.ruleset();
        let enough = with_lap_limit(&rules, wanted.laps);
        let (position, game) = twins(&enough, &wanted.board, wanted.side, [0, 0], 0);
        let (next, sowing) = position.play_sowing(wanted.col).expect("legal");
        assert_eq!(i64::from(sowing.laps), wanted.laps);
        common::assert_same(&next, &game.play(wanted.col).expect("legal").0);

        let short = with_lap_limit(&rules, wanted.laps - 1);
        let (position, game) = twins(&short, &wanted.board, wanted.side, [0, 0], 0);
        assert!(game.play(wanted.col).is_none());
        // A side whose every move is endless is stuck, and the game over.
        match position.play(wanted.col) {
            Err(MoveError::EndlessSowing {
                column, lap_limit, ..
            }) => {
                assert_eq!(column, wanted.col);
                assert_eq!(i64::from(lap_limit), wanted.laps - 1);
            }
            Err(MoveError::Over { reason }) => assert_eq!(reason, EndReason::Stuck),
            other => panic!("{wanted:?}: {other:?}"),
        }
    }
}

/// A position of the exam: the mover is South.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ExamPosition {
    board: Vec<i64>,
    diff: i64,
    moves: Vec<usize>,
    values: Vec<i64>,
}

#[test]
fn exam_positions_list_exactly_the_legal_moves() {
    let mut positions = 0;
    for line in include_str!("data/exam-2x6.jsonl").lines() {
        let exam: ExamPosition = serde_json::from_str(line).expect("a position");
        let (position, _) = twins(&common::dodoi(6), &exam.board, 0, [0, 0], 0);
        assert_eq!(legal(&position), exam.moves, "{line}");
        assert_eq!(exam.moves.len(), exam.values.len(), "{line}");
        // Nobody can gain more than what lies on the board; parity ties both differences.
        let seeds: i64 = exam.board.iter().sum();
        assert!(exam.values.iter().all(|value| value.abs() <= seeds));
        assert_eq!((48 - seeds - exam.diff) % 2, 0, "{line}");
        positions += 1;
    }
    assert_eq!(positions, 150);
}
