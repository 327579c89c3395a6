//! Monte Carlo tree search: what it proves.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

mod common;
#[path = "common/trees.rs"]
mod trees;

use std::collections::HashMap;

use common::{changed, dodoi};
use endodoi::rng;
use endodoi::search::Proven;
use endodoi::{Endless, LoneCapture, Outcome, Position, Ruleset, Setup, Side, Variant};
use serde::Deserialize;
use trees::{Guess, parse, search, search_with_guess, stream, tree};

/// Returns the outcome with perfect play for the side to move: 1, 0 or -1.
fn perfect(position: &Position, known: &mut HashMap<Position, i8>) -> i8 {
    if let Some(outcome) = position.outcome() {
        return outcome.sign() * position.to_move().sign();
    }
    if let Some(&value) = known.get(position) {
        return value;
    }
    let moves = position.legal_moves().iter();
    let best = moves
        .map(|column| -perfect(&position.play(column).expect("legal"), known))
        .max()
        .expect("a legal move");
    known.insert(*position, best);
    best
}

/// Open positions with a few seeds under rules whose games end soon.
fn late_positions(rules: &Ruleset, count: usize) -> Vec<Position> {
    let mut stream = stream(7);
    let mut draw = |bound| i64::from(rng::below(&mut stream, bound));
    let mut found = Vec::new();
    while found.len() < count {
        let mut row = || (0..rules.columns()).map(|_| draw(5) / 2).collect();
        let (south, north) = (row(), row());
        let setup = Setup {
            south,
            north,
            to_move: Side::BOTH[draw(2) as usize],
            captured: [8 + draw(4), 8 + draw(4)],
            quiet: draw(2),
        };
        let position = setup.position(rules).expect("valid");
        if !position.is_over() {
            found.push(position);
        }
    }
    found
}

/// Rules on three columns under which every game ends within a few moves.
fn short_rules() -> [Ruleset; 4] {
    let short = changed(&dodoi(3), |fields| fields.quiet_limit = Some(5));
    [
        short,
        changed(&short, |fields| fields.endless = Some(Endless::Draw)),
        changed(&short, |fields| {
            fields.lone_capture = Some(LoneCapture::Taken);
        }),
        changed(&Variant::CrossEndodoi.ruleset(), |fields| {
            fields.columns = Some(3);
            fields.quiet_limit = Some(5);
            fields.endless = Some(Endless::Draw);
        }),
    ]
}

#[test]
fn proofs_are_the_outcomes_of_perfect_play_under_every_rule() {
    for rules in short_rules() {
        let mut known = HashMap::new();
        let mut seen = [0; 3];
        for position in late_positions(&rules, 300) {
            let outcome = perfect(&position, &mut known);
            for found in [
                search(&position, 20_000),
                search_with_guess(&position, 20_000),
            ] {
                let proven = found.proven.expect("20,000 simulations prove it");
                assert_eq!(proven.value(), outcome, "{position}: {found:?}");
                let next = position.play(found.column.into()).expect("legal");
                assert_eq!(
                    -perfect(&next, &mut known),
                    outcome,
                    "{position}: {found:?}"
                );
                for one in &found.moves {
                    let next = position.play(one.column.into()).expect("legal");
                    let exact = -perfect(&next, &mut known);
                    assert!(one.proven.is_none_or(|proven| proven.value() == exact));
                }
            }
            seen[(outcome + 1) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 5), "{rules}: {seen:?}");
    }
}

#[test]
fn a_win_in_one_is_found_and_a_loss_in_one_avoided_by_both_sides() {
    let rules = changed(&dodoi(3), |fields| fields.quiet_limit = Some(5));
    let (mut wins, mut losses) = ([0; 2], [0; 2]);
    let mut known = HashMap::new();
    for position in late_positions(&rules, 2000) {
        let side = position.to_move();
        let won = |position: &Position| position.outcome() == Some(Outcome::Win(side));
        let next = |column| position.play(column).expect("legal");
        let columns = || position.legal_moves().iter();
        let lost_at_once = |column: usize| {
            let reply = next(column);
            let replies = reply.legal_moves().iter();
            let lost = Some(Outcome::Win(side.other()));
            reply.outcome() == lost
                || replies
                    .map(|column| reply.play(column).expect("legal").outcome())
                    .any(|outcome| outcome == lost)
        };
        let found = [search(&position, 100), search_with_guess(&position, 100)];
        if columns().any(|column| won(&next(column))) {
            wins[side.index()] += 1;
            for found in found {
                assert_eq!(found.proven, Some(Proven::Win), "{position}: {found:?}");
                assert!(found.value > 0.99);
            }
        } else if columns().any(lost_at_once) && perfect(&position, &mut known) >= 0 {
            losses[side.index()] += 1;
            for found in found {
                assert!(!lost_at_once(found.column.into()), "{position}: {found:?}");
            }
        }
    }
    assert!(wins.iter().chain(&losses).all(|&count| count > 10));
}

/// A position of the exam: the mover is South.
#[derive(Deserialize)]
struct Exam {
    board: Vec<i64>,
    diff: i64,
    values: Vec<i64>,
}

#[test]
fn proven_roots_of_the_exam_have_the_sign_of_the_exact_outcome() {
    let rules = dodoi(6);
    let mut proven = 0;
    for line in include_str!("data/exam-2x6.jsonl").lines() {
        let exam: Exam = serde_json::from_str(line).expect("a position");
        let seeds: i64 = exam.board.iter().sum();
        if seeds > 20 {
            continue;
        }
        let south = i64::midpoint(48 - seeds, exam.diff);
        let captured = [south, 48 - seeds - south];
        let position = common::set_up(&rules, &exam.board, 0, captured, 0);
        let best = exam.values.iter().max().expect("a move");
        let found = search(&position, 30_000);
        let Some(outcome) = found.proven else {
            continue;
        };
        proven += 1;
        assert_eq!(
            i64::from(outcome.value()),
            (exam.diff + best).signum(),
            "{line}"
        );
        if found.visits > 0 {
            let rank = found
                .moves
                .iter()
                .position(|one| one.column == found.column);
            let value = exam.values[rank.expect("a legal column")];
            assert_eq!((exam.diff + value).signum(), i64::from(outcome.value()));
        }
    }
    assert!(proven >= 10, "{proven} roots were proven");
}

#[test]
fn a_proven_root_is_searched_no_further() {
    let rules = dodoi(3);
    let position = parse("1,0,1/0,1,0 S 5-5 0", &rules);
    let mut tree = tree(&position);
    let mut drawn = stream(1);
    tree.grow(100_000, &mut drawn).expect("in range");
    assert!(tree.is_proven());
    let found = tree.result().expect("open");
    assert!(found.visits < 50, "{found:?}");
    let before = drawn.clone();
    tree.grow(1000, &mut drawn).expect("in range");
    assert_eq!(drawn, before);
    assert_eq!(tree.result().expect("open"), found);
    let mut guess = Guess::default();
    tree.grow_with(1000, &mut guess).expect("in range");
    assert_eq!(guess.calls, 0);
}

#[test]
fn a_game_that_captures_have_decided_is_played_for_seeds() {
    let rules = Variant::CrossEndodoi.ruleset();
    for (captured, outcome) in [("40-0", Proven::Win), ("0-40", Proven::Loss)] {
        let position = parse(&format!("3,3,3,3,3,3/3,3,3,3,3,3 S {captured} 0"), &rules);
        let found = search(&position, 100);
        assert_eq!((found.column, found.visits), (3, 0));
        assert_eq!(found.proven, Some(outcome));
        assert!(found.moves.iter().all(|one| one.proven == Some(outcome)));
    }
    // An endless sowing could still draw it: nothing is decided but that it is not lost (S6).
    let drawing = changed(&rules, |fields| fields.endless = Some(Endless::Draw));
    let found = search(&parse("3,3,3,3,3,3/3,3,3,3,3,3 S 40-0 0", &drawing), 100);
    assert!(found.visits > 0);
    assert!(found.value >= 0.0);
}
