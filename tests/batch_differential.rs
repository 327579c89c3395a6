//! The batch against one `Position` a row, over random games of many rule sets.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

mod batch_twin;
mod common;

use batch_twin::{Twin, batch, compare, step};
use common::{changed, dodoi, random_board, random_ruleset, set_up, stream, with};
use endodoi::batch::{Autoreset, Batch, BatchConfig, IllegalMove, Instructions, StepArrays};
use endodoi::rng::{self, Purpose};
use endodoi::{Direction, Endless, LoneCapture, Position, Ruleset, RulesetFields, Variant};

/// Rule sets of every option and of sizes on both sides of every threshold.
fn rulesets() -> Vec<Ruleset> {
    let cross = Variant::CrossEndodoi.ruleset();
    let six = dodoi(6);
    vec![
        six,
        cross,
        changed(&six, |f| f.lone_capture = Some(LoneCapture::Taken)),
        changed(&six, |f| f.endless = Some(Endless::Draw)),
        changed(&six, |f| {
            f.lap_limit = Some(3);
            f.endless = Some(Endless::Draw);
        }),
        changed(&six, |f| f.lap_limit = Some(1)),
        changed(&six, |f| f.lap_limit = Some(5)),
        changed(&six, |f| f.lap_limit = Some(20)),
        changed(&six, |f| f.quiet_limit = Some(3)),
        changed(&six, |f| f.seeds_per_pit = Some(64)),
        changed(&cross, |f| f.lap_limit = Some(6)),
        changed(&cross, |f| {
            f.columns = Some(12);
            f.seeds_per_pit = Some(64);
            f.lone_capture = Some(LoneCapture::Taken);
            f.quiet_limit = Some(3);
        }),
        dodoi(2),
        dodoi(3),
        dodoi(8),
        dodoi(12),
        dodoi(13),
        changed(&cross, |f| f.columns = Some(13)),
    ]
}

#[test]
fn a_batch_plays_as_positions_do() {
    for (index, ruleset) in rulesets().into_iter().enumerate() {
        let config = BatchConfig::new(70, ruleset);
        let ended = compare(config, index as u64, 120);
        let stuck_at_once = Position::start(&ruleset).is_over();
        assert!(ended > 0 || stuck_at_once, "{ruleset}: no game ended");
    }
}

#[test]
fn a_batch_plays_large_boards_as_positions_do() {
    let gehe = Variant::EnGehe.ruleset();
    let quick = |f: &mut RulesetFields| f.quiet_limit = Some(2);
    for ruleset in [
        changed(&gehe, quick),
        changed(&gehe, |f| {
            f.columns = Some(64);
            f.seeds_per_pit = Some(64);
            f.direction = Some(Direction::Parity);
            f.quiet_limit = Some(2);
        }),
        changed(&dodoi(64), quick),
    ] {
        let ended = compare(BatchConfig::new(5, ruleset), 9, 40);
        assert!(ended > 0, "{ruleset}: no game ended");
    }
}

#[test]
fn a_batch_plays_random_rule_sets_as_positions_do() {
    let mut rng = stream(5, 0);
    for round in 0..60 {
        let ruleset = random_ruleset(&mut rng, (1, 16), 9);
        let config = BatchConfig {
            max_plies: (round % 3 == 0).then_some(25),
            ..BatchConfig::new(9, ruleset)
        };
        compare(config, round, 60);
    }
}

#[test]
fn a_batch_of_one_column_follows_the_rules() {
    for seeds in 1..=6 {
        let ruleset = changed(&dodoi(1), |f| f.seeds_per_pit = Some(seeds));
        compare(BatchConfig::new(3, ruleset), 1, 30);
    }
}

/// Steps every legal move of random boards, as rows of one batch.
#[test]
fn every_legal_move_of_random_boards_agrees() {
    let mut rng = stream(6, 0);
    for round in 0..150 {
        let ruleset = random_ruleset(&mut rng, (1, 14), 4);
        let most = [3, 12, 40, 900][round % 4];
        let board = random_board(&mut rng, ruleset.pits(), most);
        let quiet = i64::from(ruleset.quiet_limit()) - 1;
        let position = set_up(&ruleset, &board, round % 2, [5, 7], quiet);
        check_all_moves(&ruleset, &position);
    }
}

/// Pits of tens of thousands of seeds: no count may wrap.
#[test]
fn boards_of_the_most_seeds_agree() {
    let mut rng = stream(7, 0);
    for columns in 1..=16 {
        for cross in [false, true] {
            let base = if cross {
                Variant::CrossEndodoi.ruleset()
            } else {
                dodoi(6)
            };
            let ruleset = changed(&base, |f| {
                f.columns = Some(columns);
                f.lap_limit = Some(500);
            });
            let pits = ruleset.pits();
            let mut board = random_board(&mut rng, pits, 30_000 / pits as i64);
            let total: i64 = board.iter().sum();
            board[pits / 3] += 32_767 - total;
            for side in 0..2 {
                let position = set_up(&ruleset, &board, side, [0, 0], 0);
                check_all_moves(&ruleset, &position);
            }
        }
    }
}

fn check_all_moves(ruleset: &Ruleset, position: &Position) {
    let legal: Vec<usize> = position.legal_moves().iter().collect();
    let rows = legal.len().max(1);
    let mut fast = Batch::new(BatchConfig::new(rows, *ruleset)).expect("valid settings");
    for row in 0..rows {
        fast.set_position(row, position).expect("same rules");
    }
    let mut masks = vec![0; rows * ruleset.columns()];
    fast.masks(&mut masks).expect("right length");
    let mask: Vec<usize> = (0..ruleset.columns()).filter(|&c| masks[c] == 1).collect();
    assert_eq!(mask, legal, "{ruleset} {position}");
    if legal.is_empty() {
        return;
    }
    let actions: Vec<i64> = legal.iter().map(|&c| c as i64).collect();
    let arrays = step(&mut fast, &actions);
    for (row, &column) in legal.iter().enumerate() {
        let next = position.play(column).expect("legal");
        let about = format!("{ruleset} {position} column {column}");
        assert_eq!(fast.position(row), Ok(next), "{about}");
        assert_eq!(arrays.ended[row], next.is_over(), "{about}");
        let mask = &arrays.masks[row * ruleset.columns()..][..ruleset.columns()];
        let seen: Vec<usize> = (0..mask.len()).filter(|&c| mask[c] == 1).collect();
        let wanted: Vec<usize> = next.legal_moves().iter().collect();
        assert_eq!(seen, wanted, "{about}");
    }
}

/// Long endless sowings among short ones, in every lane of a block.
#[test]
fn endless_moves_are_masked_wherever_they_lie_in_a_block() {
    let golden = common::golden();
    for (name, set) in &golden.endless {
        let ruleset = set.rules.ruleset();
        let positions: Vec<Position> = set
            .positions
            .iter()
            .filter(|p| p.end.is_none())
            .map(|p| set_up(&ruleset, &p.board, p.side, p.captured, p.quiet))
            .collect();
        let before: Vec<Position> = positions.iter().flat_map(predecessors).collect();
        assert!(!before.is_empty(), "{name}");
        for rows in [before.len(), 64, 65, 130] {
            check_rows(&ruleset, rows, |row| before[row % before.len()]);
        }
    }
}

/// Finds positions one ply before `position`, if a single seed can have been moved last.
fn predecessors(position: &Position) -> Vec<Position> {
    let ruleset = *position.ruleset();
    let columns = ruleset.columns();
    let side = position.to_move().other();
    let ring: Vec<i64> = common::ring(position);
    (0..ruleset.pits())
        .filter_map(|pit| {
            let (from, to) = (pit, (pit + 1) % ruleset.pits());
            if ring[from] != 0 || ring[to] != 1 || endodoi::pit::owner(from, columns) != side {
                return None;
            }
            let mut board = ring.clone();
            board.swap(from, to);
            let captured = common::captured(position);
            let before = set_up(&ruleset, &board, side.index(), captured, 0);
            let column = from % columns;
            let next = before.play(column).ok()?;
            (next.board() == position.board()).then_some(before)
        })
        .chain(std::iter::once(*position))
        .collect()
}

/// Plays the first legal column of every row and compares the positions after it.
fn check_rows(ruleset: &Ruleset, rows: usize, position: impl Fn(usize) -> Position) {
    let mut fast = Batch::new(BatchConfig::new(rows, *ruleset)).expect("valid settings");
    let mut actions = Vec::new();
    for row in 0..rows {
        let before = position(row);
        fast.set_position(row, &before).expect("same rules");
        let last = before.legal_moves().iter().last();
        actions.push(last.map_or(0, |column| column as i64));
    }
    let arrays = step(&mut fast, &actions);
    let columns = ruleset.columns();
    for (row, &action) in actions.iter().enumerate() {
        let before = position(row);
        let next = before.play(action as usize).expect("legal");
        assert_eq!(fast.position(row), Ok(next), "{before}");
        let mask = &arrays.masks[row * columns..][..columns];
        for (column, &bit) in mask.iter().enumerate() {
            assert_eq!(bit == 1, next.legal_moves().contains(column), "{next}");
        }
    }
}

#[test]
fn a_batch_of_n_equals_n_batches_of_one() {
    let ruleset = dodoi(6);
    let config = BatchConfig {
        random_opening_plies: 3,
        ..BatchConfig::new(67, ruleset)
    };
    let mut whole = batch(config, 3);
    let single = BatchConfig { rows: 1, ..config };
    let mut parts: Vec<Batch> = (0..67)
        .map(|row| {
            let mut part = Batch::new(single).expect("valid settings");
            let seeds = endodoi::batch::Seeds::Rows(vec![rng::mix(3, row)]);
            part.reset(Some(&seeds), None).expect("reset");
            part
        })
        .collect();
    let mut twin = Twin::new(config, 3);
    let mut rng = rng::stream(1, 0, Purpose::Policy);
    for _ in 0..80 {
        let actions = twin.actions(&mut rng);
        twin.step(&actions);
        let arrays = step(&mut whole, &actions);
        let mut joined = StepArrays::default();
        for (part, &action) in parts.iter_mut().zip(&actions) {
            append(&mut joined, step(part, &[action]));
        }
        assert_eq!(arrays, joined);
    }
}

fn append(all: &mut StepArrays, part: StepArrays) {
    all.rewards.extend(part.rewards);
    all.terminated.extend(part.terminated);
    all.truncated.extend(part.truncated);
    all.observations.extend(part.observations);
    all.masks.extend(part.masks);
    all.to_play.extend(part.to_play);
    all.outcome.extend(part.outcome);
    all.captured.extend(part.captured);
    all.plies.extend(part.plies);
    all.end_reason.extend(part.end_reason);
    all.ended.extend(part.ended);
}

#[test]
fn every_set_of_instructions_gives_identical_results() {
    let mut rulesets = rulesets();
    rulesets.extend([dodoi(10), dodoi(16), dodoi(17), dodoi(1)]);
    for (index, ruleset) in rulesets.into_iter().enumerate() {
        let config = BatchConfig {
            illegal: IllegalMove::Loss,
            max_plies: Some(200),
            ..BatchConfig::new(150, ruleset)
        };
        let mut twin = Twin::new(config, index as u64);
        let mut batches: Vec<Batch> = Instructions::ALL
            .into_iter()
            .filter(|set| set.is_available())
            .map(|set| {
                let instructions = Some(set);
                batch(
                    BatchConfig {
                        instructions,
                        ..config
                    },
                    index as u64,
                )
            })
            .collect();
        let mut rng = stream(2, index as u64);
        for _ in 0..120 {
            let actions = twin.actions(&mut rng);
            twin.step(&actions);
            let expected = step(&mut batches[0], &actions);
            for other in &mut batches[1..] {
                assert_eq!(step(other, &actions), expected, "{ruleset}");
            }
        }
    }
}

#[test]
fn large_batches_use_all_cores_unless_told_otherwise() {
    let threads = |rows, num_threads| {
        let config = BatchConfig {
            num_threads,
            ..BatchConfig::new(rows, dodoi(8))
        };
        Batch::new(config).expect("valid").num_threads()
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    assert_eq!(threads(8_191, None), 1);
    assert_eq!(threads(8_192, None), cores);
    assert_eq!(threads(8_191, Some(3)), 3);
    assert_eq!(threads(64, Some(3)), 1);
}

#[test]
fn any_number_of_threads_gives_identical_results() {
    for ruleset in [dodoi(6), dodoi(13)] {
        let config = BatchConfig {
            random_opening_plies: 2,
            illegal: IllegalMove::Loss,
            max_plies: Some(30),
            num_threads: Some(1),
            ..BatchConfig::new(1500, ruleset)
        };
        let mut one = batch(config, 8);
        assert_eq!(one.num_threads(), 1);
        let mut others: Vec<Batch> = [2, 3, 8]
            .into_iter()
            .map(|threads| {
                let num_threads = Some(threads);
                let many = batch(
                    BatchConfig {
                        num_threads,
                        ..config
                    },
                    8,
                );
                assert_eq!(many.num_threads(), threads);
                many
            })
            .collect();
        let mut rng = rng::stream(2, 0, Purpose::Policy);
        for _ in 0..60 {
            let actions: Vec<i64> = (0..config.rows)
                .map(|_| i64::from(rng::below(&mut rng, ruleset.columns() as u32)))
                .collect();
            let arrays = step(&mut one, &actions);
            for other in &mut others {
                assert_eq!(arrays, step(other, &actions));
            }
        }
        for other in &mut others {
            other.reset(None, None).expect("reset");
        }
        one.reset(None, None).expect("reset");
        for row in 0..config.rows {
            for other in &others {
                assert_eq!(one.position(row), other.position(row));
            }
        }
    }
}

#[test]
fn illegal_actions_lose_as_in_the_twin() {
    let ruleset = with(Variant::CrossEndodoi, &RulesetFields::default());
    let config = BatchConfig {
        illegal: IllegalMove::Loss,
        autoreset: Autoreset::NextStep,
        ..BatchConfig::new(100, ruleset)
    };
    let mut fast = batch(config, 4);
    let mut slow = Twin::new(config, 4);
    let mut rng = rng::stream(3, 0, Purpose::Policy);
    let mut lost = 0;
    for _ in 0..100 {
        let actions: Vec<i64> = (0..config.rows)
            .map(|_| i64::from(rng::below(&mut rng, 8)) - 1)
            .collect();
        let arrays = step(&mut fast, &actions);
        assert_eq!(arrays, slow.step(&actions));
        lost += arrays.end_reason.iter().filter(|&&end| end == 4).count();
    }
    assert!(lost > 100, "{lost}");
}

/// Plays legal columns drawn for (row, step) and returns the arrays of every step.
fn play_many(
    ruleset: &Ruleset,
    rows: usize,
    threads: usize,
    instructions: Instructions,
) -> Vec<StepArrays> {
    let config = BatchConfig {
        num_threads: Some(threads),
        instructions: Some(instructions),
        ..BatchConfig::new(rows, *ruleset)
    };
    let mut batch = Batch::new(config).expect("valid settings");
    batch.reset(None, None).expect("reset");
    let mut arrays = StepArrays::new(&batch);
    batch.masks(&mut arrays.masks).expect("right length");
    let columns = ruleset.columns();
    let mut all = Vec::new();
    for step in 0..45 {
        let masks = arrays.masks.chunks(columns).enumerate();
        let actions: Vec<i64> = masks
            .map(|(row, mask)| {
                let legal: Vec<usize> = (0..columns).filter(|&c| mask[c] == 1).collect();
                let rank = rng::mix(row as u64, step) as usize % legal.len().max(1);
                legal.get(rank).map_or(0, |&column| column as i64)
            })
            .collect();
        batch.step(&actions, arrays.buffers()).expect("legal");
        all.push(arrays.clone());
    }
    all
}

#[test]
fn many_blocks_play_alike_on_all_instructions_and_threads() {
    // More blocks than are tried together, the last one with few rows.
    let rows = 66 * 64 + 5;
    let cross = Variant::CrossEndodoi.ruleset();
    let tight = changed(&dodoi(6), |f| f.lap_limit = Some(70));
    for ruleset in [dodoi(6), cross, tight, dodoi(10)] {
        let expected = play_many(&ruleset, rows, 1, Instructions::Scalar);
        assert!(expected.iter().any(|arrays| arrays.ended.contains(&true)));
        for instructions in Instructions::ALL {
            if !instructions.is_available() {
                continue;
            }
            for threads in [1, 3] {
                let got = play_many(&ruleset, rows, threads, instructions);
                let same = got == expected;
                assert!(
                    same,
                    "{ruleset}: {}, {threads} threads",
                    instructions.name()
                );
            }
        }
    }
}
