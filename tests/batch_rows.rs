//! Batches of large boards, whose boards lie in rows of bytes, against one `Position` a row, for
//! every set of instructions.

#![allow(clippy::expect_used, clippy::panic)]

mod batch_twin;
mod common;

use batch_twin::{compare, step};
use common::{changed, dodoi, random_board, random_ruleset, set_up, stream};
use endodoi::batch::{Batch, BatchConfig, Instructions};
use endodoi::rng;
use endodoi::{Position, Ruleset, Variant};

fn sets() -> impl Iterator<Item = Instructions> {
    Instructions::ALL
        .into_iter()
        .filter(|set| set.is_available())
}

fn config(rows: usize, ruleset: Ruleset, set: Instructions) -> BatchConfig {
    BatchConfig {
        instructions: Some(set),
        ..BatchConfig::new(rows, ruleset)
    }
}

#[test]
fn large_boards_are_played_as_positions_are() {
    let mut rng = stream(21, 0);
    let mut ended = 0;
    for round in 0..24 {
        let drawn = random_ruleset(&mut rng, (17, 64), 6);
        let quiet = 1 + i64::from(rng::below(&mut rng, 30));
        let ruleset = changed(&drawn, |f| f.quiet_limit = Some(quiet));
        for set in sets() {
            ended += compare(config(66, ruleset, set), round, 40);
        }
    }
    assert!(ended > 1_000, "{ended}");
}

#[test]
fn whole_games_on_the_largest_traditional_board_are_played_as_positions_are() {
    for base in [Variant::EnGehe.ruleset(), Variant::CrossEndodoi.ruleset()] {
        let ruleset = changed(&base, |f| {
            f.columns = Some(50);
            f.seeds_per_pit = Some(4);
        });
        for set in sets() {
            assert!(compare(config(5, ruleset, set), 3, 420) > 0);
        }
    }
}

#[test]
fn small_boards_with_many_seeds_are_played_as_positions_are() {
    for (columns, seeds) in [(11, 12), (16, 8), (13, 11)] {
        for base in [dodoi(6), Variant::CrossEndodoi.ruleset()] {
            let ruleset = changed(&base, |f| {
                f.columns = Some(columns);
                f.seeds_per_pit = Some(seeds);
            });
            for set in sets() {
                assert!(compare(config(20, ruleset, set), 5, 120) > 0);
            }
        }
    }
}

/// Boards whose pits hold from one seed to thousands, light and heavy ones in one block.
#[test]
fn every_legal_move_of_light_and_heavy_boards_agrees() {
    let mut rng = stream(22, 0);
    for round in 0..40 {
        let drawn = random_ruleset(&mut rng, (17, 64), 4);
        let ruleset = changed(&drawn, |f| f.lap_limit = Some([3, 40, 2_000][round % 3]));
        let pits = ruleset.pits();
        let positions: Vec<Position> = (0..70)
            .map(|row| {
                let most = [3, 8, 126, 140, 300][row % 5].min(30_000 / pits as i64);
                let mut board = random_board(&mut rng, pits, most);
                if row % 7 == 0 {
                    board[row % pits] = [127, 128, 255, 256][row / 7 % 4];
                }
                set_up(&ruleset, &board, row % 2, [5, 7], 0)
            })
            .collect();
        for set in sets() {
            check_every_move(&ruleset, &positions, set);
        }
    }
}

/// Plays the first, last and middle legal move of every position.
fn check_every_move(ruleset: &Ruleset, positions: &[Position], set: Instructions) {
    let columns = ruleset.columns();
    for part in 0..3 {
        let mut fast = Batch::new(config(positions.len(), *ruleset, set)).expect("valid");
        let mut actions = Vec::new();
        for (row, position) in positions.iter().enumerate() {
            fast.set_position(row, position).expect("same rules");
            let legal = position.legal_moves();
            let rank = (legal.len().max(1) - 1) * part / 2;
            actions.push(legal.nth(rank).map_or(0, |column| column as i64));
        }
        let arrays = step(&mut fast, &actions);
        for (row, position) in positions.iter().enumerate() {
            let about = format!("{} {ruleset} {position}", set.name());
            let Ok(next) = position.play(actions[row] as usize) else {
                continue;
            };
            assert_eq!(fast.position(row), Ok(next), "{about}");
            let length = 2 * columns + 3;
            let seen = &arrays.observations[row * length..][..length];
            assert_eq!(seen, next.observation(), "{about}");
            for (column, &bit) in arrays.masks[row * columns..][..columns].iter().enumerate() {
                let legal = next.legal_moves().contains(column);
                assert_eq!(bit == 1, legal, "{about} column {column}");
            }
        }
    }
}
