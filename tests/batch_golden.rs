//! Golden data of an independent engine, through the batch.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

mod batch_twin;
mod common;

use batch_twin::step;
use common::{GoldenPosition, GoldenRules, set_up, with_lap_limit};
use endodoi::batch::{Batch, BatchConfig, EndCode, Seeds, StepArrays};
use endodoi::{Endless, Ruleset};

/// The rows of a batch that enter golden positions: one row for each legal move.
fn enter(ruleset: &Ruleset, positions: &[&GoldenPosition]) -> (Batch, Vec<i64>) {
    let moves: Vec<(&GoldenPosition, i64)> = positions
        .iter()
        .flat_map(|&golden| golden.moves.iter().map(move |m| (golden, m.col as i64)))
        .collect();
    let mut batch = Batch::new(BatchConfig::new(moves.len(), *ruleset)).expect("valid settings");
    for (row, (golden, _)) in moves.iter().enumerate() {
        let position = set_up(
            ruleset,
            &golden.board,
            golden.side,
            golden.captured,
            golden.quiet,
        );
        batch.set_position(row, &position).expect("same rules");
    }
    (batch, moves.into_iter().map(|(_, column)| column).collect())
}

fn check_positions(name: &str, rules: &GoldenRules, positions: &[GoldenPosition]) -> usize {
    let ruleset = rules.ruleset();
    let open: Vec<&GoldenPosition> = positions.iter().filter(|p| p.end.is_none()).collect();
    let (mut batch, actions) = enter(&ruleset, &open);
    let columns = ruleset.columns();
    let mut masks = vec![0; actions.len() * columns];
    batch.masks(&mut masks).expect("right length");
    let arrays = step(&mut batch, &actions);
    let mut row = 0;
    for golden in open {
        for wanted in &golden.moves {
            let about = format!("{name} {:?} column {}", golden.board, wanted.col);
            let mask = &masks[row * columns..][..columns];
            let legal: Vec<usize> = (0..columns).filter(|&c| mask[c] == 1).collect();
            assert_eq!(legal, golden.legal, "{about}");
            let end = batch.end(row).expect("a row").map(EndCode::name);
            assert_eq!(end, wanted.end.as_deref(), "{about}");
            assert_eq!(arrays.ended[row], wanted.end.is_some(), "{about}");
            let captured: Vec<i64> = arrays.captured[2 * row..][..2]
                .iter()
                .map(|&seeds| seeds.into())
                .collect();
            assert_eq!(captured, wanted.captured, "{about}");
            let position = batch.position(row).expect("a row");
            assert_eq!(i64::from(position.quiet()), wanted.quiet, "{about}");
            if wanted.end.as_deref() == Some("stuck") {
                assert_eq!(position.board().seeds_on_board(), 0, "{about}");
            } else {
                assert_eq!(common::ring(&position), wanted.board, "{about}");
            }
            row += 1;
        }
    }
    row
}

#[test]
fn golden_positions_through_the_batch() {
    let golden = common::golden();
    for (name, set) in &golden.sets {
        assert!(
            check_positions(name, &set.rules, &set.positions) > 0,
            "{name}"
        );
    }
    for (name, set) in &golden.endless {
        assert!(
            check_positions(name, &set.rules, &set.positions) > 0,
            "{name}"
        );
    }
}

#[test]
fn golden_games_through_the_batch() {
    for (name, set) in &common::golden().sets {
        let ruleset = set.rules.ruleset();
        let config = BatchConfig::new(set.games.len(), ruleset);
        let mut batch = Batch::new(config).expect("valid settings");
        batch.reset(Some(&Seeds::Integer(0)), None).expect("reset");
        let longest = set.games.iter().map(|game| game.moves.len()).max();
        let mut ended = 0;
        for ply in 0..longest.unwrap_or(0) {
            let actions = actions(&batch, &set.games, ply);
            let arrays = step(&mut batch, &actions);
            let going = set.games.iter().enumerate();
            for (row, game) in going.filter(|(_, game)| ply < game.moves.len()) {
                let last = ply + 1 == game.moves.len();
                assert_eq!(arrays.ended[row], last, "{name} game {row} ply {ply}");
                if last {
                    check_end(&arrays, row, game);
                    ended += 1;
                }
            }
        }
        assert_eq!(ended, set.games.len(), "{name}");
    }
}

/// The moves of `ply`; games that are over go on with any legal column.
fn actions(batch: &Batch, games: &[common::GoldenGame], ply: usize) -> Vec<i64> {
    games
        .iter()
        .enumerate()
        .map(|(row, game)| {
            if let Some(&column) = game.moves.get(ply) {
                return column as i64;
            }
            let position = batch.position(row).expect("a row");
            position.legal_moves().nth(0).map_or(0, |c| c as i64)
        })
        .collect()
}

fn check_end(arrays: &StepArrays, row: usize, game: &common::GoldenGame) {
    let captured: Vec<i64> = arrays.captured[2 * row..][..2]
        .iter()
        .map(|&seeds| seeds.into())
        .collect();
    assert_eq!(captured, game.captured);
    let end = EndCode::of_code(arrays.end_reason[row]).map(EndCode::name);
    assert_eq!(end, Some(game.end.as_str()));
    let sign = if game.end == "endless" {
        0
    } else {
        (game.captured[0] - game.captured[1]).signum()
    };
    assert_eq!(i64::from(arrays.outcome[row]), sign);
    assert_eq!(arrays.plies[row], game.moves.len() as i32);
}

#[test]
fn golden_lap_limits_through_the_batch() {
    let golden = common::golden();
    for limit in &golden.lap_limits {
        let rules = golden.sets[&limit.set].rules.ruleset();
        let rules = common::changed(&rules, |fields| fields.endless = Some(Endless::Draw));
        for (laps, endless) in [(limit.laps, false), (limit.laps - 1, true)] {
            if laps == 0 {
                continue;
            }
            let rules = with_lap_limit(&rules, laps);
            let position = set_up(&rules, &limit.board, limit.side, [0, 0], 0);
            let mut batch = Batch::new(BatchConfig::new(1, rules)).expect("valid settings");
            batch.set_position(0, &position).expect("same rules");
            step(&mut batch, &[limit.col as i64]);
            let ended = batch.end(0) == Ok(Some(EndCode::Endless));
            assert_eq!(ended, endless, "{limit:?} at {laps} laps");
        }
    }
}
