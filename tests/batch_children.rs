//! The children of a batch against `Position::play`.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

mod batch_twin;
mod common;

use batch_twin::{Twin, TwinRow, batch, step};
use common::{changed, dodoi, pick, random_board, random_ruleset, set_up, stream};
use endodoi::batch::{
    Autoreset, Batch, BatchConfig, BatchError, ChildArrays, EndCode, IllegalMove, Instructions,
};
use endodoi::rng::{self, Purpose};
use endodoi::{Endless, Position, Ruleset, Side, Variant};

fn sets() -> Vec<Instructions> {
    let sets = Instructions::ALL.into_iter();
    sets.filter(|set| set.is_available()).collect()
}

/// Returns what a batch says of its children, which leaves the batch as it was.
fn children(batch: &Batch) -> ChildArrays {
    let before = batch.save().expect("bytes");
    let mut arrays = ChildArrays::new(batch);
    // What was in the arrays does not show through.
    arrays.observations.fill(77);
    arrays.captured.fill(77);
    arrays.end_reason.fill(77);
    batch.children(arrays.buffers()).expect("right lengths");
    assert_eq!(
        batch.save().expect("bytes"),
        before,
        "children change nothing"
    );
    arrays
}

/// Returns the children of rows as `Position::play` has them.
fn expected(rows: &[TwinRow], max_plies: Option<u32>) -> ChildArrays {
    let mut arrays = ChildArrays {
        observations: Vec::new(),
        captured: Vec::new(),
        end_reason: Vec::new(),
    };
    for row in rows {
        let columns = row.position.board().columns();
        let legal = row.legal();
        for column in 0..columns {
            if !legal.contains(&column) {
                arrays.observations.extend(vec![0; 2 * columns + 3]);
                arrays.captured.push(0);
                arrays.end_reason.push(-1);
                continue;
            }
            let child = row.position.play(column).expect("legal");
            let mover = row.position.to_move().index();
            let had = row.position.board().captured()[mover];
            let cut = max_plies.is_some_and(|cap| row.plies + 1 >= cap);
            let end = child.end_reason().map(EndCode::from);
            let end = end.or(cut.then_some(EndCode::MaxPlies));
            arrays.observations.extend(child.observation());
            let taken = child.board().captured()[mover] - had;
            arrays.captured.push(taken as i16);
            arrays.end_reason.push(end.map_or(-1, EndCode::code));
        }
    }
    arrays
}

/// Counts the children that ended for a reason.
fn ended(arrays: &ChildArrays, end: EndCode) -> usize {
    let ends = arrays.end_reason.iter();
    ends.filter(|&&code| code == end.code()).count()
}

/// Plays random games and compares the children before every step; returns all of them.
fn play_and_compare(config: BatchConfig, seed: u64, steps: usize) -> Vec<ChildArrays> {
    let mut fast = batch(config, seed);
    let mut slow = Twin::new(config, seed);
    let mut rng = rng::stream(seed, 0, Purpose::Policy);
    (0..steps)
        .map(|index| {
            let arrays = children(&fast);
            let about = format!("{}, step {index}", config.ruleset);
            assert_eq!(arrays, expected(&slow.rows, config.max_plies), "{about}");
            let actions = slow.actions(&mut rng);
            assert_eq!(step(&mut fast, &actions), slow.step(&actions), "{about}");
            arrays
        })
        .collect()
}

fn with_set(rows: usize, ruleset: Ruleset, set: Instructions) -> BatchConfig {
    BatchConfig {
        instructions: Some(set),
        ..BatchConfig::new(rows, ruleset)
    }
}

#[test]
fn children_are_what_positions_play_to_under_random_rules() {
    let mut rng = stream(31, 0);
    let mut seen = [0; 4];
    for round in 0..40 {
        let ruleset = random_ruleset(&mut rng, (1, 16), 9);
        for set in sets() {
            let config = BatchConfig {
                max_plies: (round % 3 == 0).then_some(20),
                ..with_set(9, ruleset, set)
            };
            for arrays in play_and_compare(config, round, 45) {
                for (count, &end) in seen.iter_mut().zip(&EndCode::ALL) {
                    *count += ended(&arrays, end);
                }
            }
        }
    }
    // Children that end by E1, E3, S6 and E4.
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
}

#[test]
fn children_of_every_variant_are_what_positions_play_to() {
    for variant in Variant::ALL {
        let ruleset = variant.ruleset();
        for endless in [Endless::Illegal, Endless::Draw] {
            let ruleset = changed(&ruleset, |f| f.endless = Some(endless));
            for set in sets() {
                let small = ruleset.columns() <= 16;
                let (rows, steps) = if small { (70, 40) } else { (3, 20) };
                play_and_compare(with_set(rows, ruleset, set), 5, steps);
            }
        }
    }
}

#[test]
fn children_of_large_boards_are_what_positions_play_to() {
    let mut rng = stream(32, 0);
    for round in 0..8 {
        let ruleset = random_ruleset(&mut rng, (17, 64), 14);
        for set in sets() {
            play_and_compare(with_set(3, ruleset, set), round, 8);
        }
    }
}

/// Enters random positions, those of one row heavier than the shape of the boards holds.
#[test]
fn children_of_random_positions_are_what_positions_play_to() {
    let mut rng = stream(33, 0);
    let mut stuck = 0;
    for round in 0..120 {
        let ruleset = random_ruleset(&mut rng, (1, 20), 4);
        let quiet = i64::from(ruleset.quiet_limit()) - 1;
        let rows: Vec<TwinRow> = (0..70)
            .map(|_| {
                let most = pick(&mut rng, &[1, 2, 3, 12, 60, 500]);
                let board = random_board(&mut rng, ruleset.pits(), most);
                let side = pick(&mut rng, &[0, 1]);
                let position = set_up(&ruleset, &board, side, [5, 7], quiet);
                TwinRow {
                    position,
                    plies: 0,
                    end: position.end_reason().map(EndCode::from),
                    row_seed: 0,
                    episode: 0,
                }
            })
            .collect();
        for set in sets() {
            let mut fast = batch(with_set(rows.len(), ruleset, set), round);
            for (index, row) in rows.iter().enumerate() {
                fast.set_position(index, &row.position).expect("same rules");
            }
            let arrays = children(&fast);
            assert_eq!(arrays, expected(&rows, None), "{ruleset} {}", set.name());
            stuck += ended(&arrays, EndCode::Stuck);
        }
    }
    assert!(stuck > 1_000, "{stuck}");
}

/// After this move North's only pit is endless, so that South takes the rest (S6, E1).
#[test]
fn a_child_whose_every_move_is_endless_is_stuck() {
    let ruleset = changed(&Variant::CrossEndodoi.ruleset(), |f| f.columns = Some(4));
    let position = set_up(&ruleset, &[5, 1, 2, 0, 1, 3, 3, 6], 0, [0, 0], 0);
    let (sowing, after) = position.sow(2).expect("a pit with seeds");
    assert_eq!(
        (sowing.captured, after.row(Side::North)),
        (5, &[0, 0, 0, 7][..])
    );
    for set in sets() {
        let mut fast = batch(with_set(3, ruleset, set), 0);
        fast.set_position(1, &position).expect("same rules");
        let arrays = children(&fast);
        let place = 4 + 2;
        assert_eq!(arrays.end_reason[place], EndCode::Stuck.code());
        assert_eq!(arrays.captured[place], 21);
        let view = &arrays.observations[11 * place..][..11];
        assert_eq!(view, [0, 0, 0, 0, 0, 0, 0, 0, 0, 21, 0], "{}", set.name());
    }
}

#[test]
fn rows_that_are_over_have_no_children() {
    let config = BatchConfig {
        illegal: IllegalMove::Loss,
        autoreset: Autoreset::Disabled,
        ..BatchConfig::new(2, dodoi(6))
    };
    let mut batch = batch(config, 1);
    step(&mut batch, &[0, -1]);
    let arrays = children(&batch);
    assert!(arrays.observations[..6 * 15].iter().any(|&seeds| seeds > 0));
    assert_eq!(arrays.observations[6 * 15..], [0; 6 * 15]);
    assert_eq!(arrays.captured[6..], [0; 6]);
    assert_eq!(arrays.end_reason[6..], [-1; 6]);
}

#[test]
fn children_are_alike_on_all_instructions_and_threads() {
    // More blocks than are followed together, the last one with few rows.
    for (ruleset, rows) in [
        (dodoi(6), 66 * 64 + 5),
        (Variant::CrossEndodoi.ruleset(), 700),
        (dodoi(13), 700),
        (dodoi(50), 130),
    ] {
        let mut one: Option<Vec<ChildArrays>> = None;
        for set in sets() {
            for threads in [1, 3] {
                let config = BatchConfig {
                    num_threads: Some(threads),
                    random_opening_plies: 6,
                    ..with_set(rows, ruleset, set)
                };
                let mut batch = batch(config, 3);
                assert_eq!(batch.num_threads(), threads);
                let all: Vec<ChildArrays> = (0..3)
                    .map(|_| {
                        let actions: Vec<i64> =
                            (0..rows).map(|row| first_legal(&batch, row)).collect();
                        step(&mut batch, &actions);
                        children(&batch)
                    })
                    .collect();
                let about = format!("{ruleset}: {}, {threads} threads", set.name());
                assert!(*one.get_or_insert_with(|| all.clone()) == all, "{about}");
            }
        }
    }
}

fn first_legal(batch: &Batch, row: usize) -> i64 {
    let position: Position = batch.position(row).expect("a row");
    position
        .legal_moves()
        .nth(0)
        .map_or(0, |column| column as i64)
}

#[test]
fn children_are_refused_before_a_reset_and_for_wrong_arrays() {
    let mut batch = Batch::new(BatchConfig::new(2, dodoi(6))).expect("valid settings");
    let mut arrays = ChildArrays::new(&batch);
    let untouched = arrays.clone();
    let refused = batch.children(arrays.buffers());
    assert_eq!(refused, Err(BatchError::NotReset { row: 0 }));
    batch.reset(None, Some(&[true, false])).expect("reset");
    let refused = batch.children(arrays.buffers());
    assert_eq!(refused, Err(BatchError::NotReset { row: 1 }));
    batch.reset(None, None).expect("reset");
    arrays.captured.pop();
    let (field, got, expected) = ("captured", 11, 12);
    let refused = batch.children(arrays.buffers());
    assert_eq!(
        refused,
        Err(BatchError::BufferLength {
            field,
            got,
            expected
        })
    );
    assert_eq!(arrays.observations, untouched.observations);
}
