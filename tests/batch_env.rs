//! What a batch does at the edges: resets, ends, refusals, caps, openings, snapshots.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

mod batch_twin;
mod common;

use batch_twin::{Twin, batch, check_row, compare, step};
use common::{changed, dodoi, set_up};
use endodoi::batch::{
    Autoreset, Batch, BatchConfig, BatchError, EndCode, IllegalMove, IllegalReason, Seeds,
    StepArrays,
};
use endodoi::rng;
use endodoi::{Endless, Outcome, Position, Ruleset, Side};

/// A position on four columns from which column 0 takes North's last seeds: stuck (E1).
fn one_ply_from_the_end(ruleset: &Ruleset) -> Position {
    set_up(ruleset, &[1, 0, 0, 2, 0, 0, 5, 0], 0, [12, 12], 0)
}

/// Everything that can be read from a batch, for "nothing changed".
fn state(batch: &Batch) -> Vec<u8> {
    batch.save().expect("saved")
}

fn masks(batch: &Batch) -> Vec<i8> {
    let mut masks = vec![0; batch.rows() * batch.ruleset().columns()];
    batch.masks(&mut masks).expect("right length");
    masks
}

#[test]
fn arrays_after_reset_agree_with_positions() {
    let config = BatchConfig {
        random_opening_plies: 3,
        ..BatchConfig::new(130, dodoi(6))
    };
    let fast = batch(config, 11);
    let slow = Twin::new(config, 11);
    let mut observations = vec![0; 130 * 15];
    fast.observe(&mut observations).expect("right length");
    let mut to_play = vec![9; 130];
    fast.to_play(&mut to_play).expect("right length");
    let masks = masks(&fast);
    for (row, twin) in slow.rows.iter().enumerate() {
        check_row(&fast, &slow, row, "after reset");
        assert_eq!(
            observations[row * 15..][..15],
            twin.position.observation()[..]
        );
        assert_eq!(to_play[row], 1, "three plies are played");
        let legal: Vec<usize> = (0..6).filter(|c| masks[row * 6 + c] == 1).collect();
        assert_eq!(legal, twin.legal());
    }
}

#[test]
fn step_before_reset_is_refused() {
    let mut fresh = Batch::new(BatchConfig::new(3, dodoi(6))).expect("valid settings");
    let mut arrays = StepArrays::new(&fresh);
    assert_eq!(
        fresh.step(&[0; 3], arrays.buffers()),
        Err(BatchError::NotReset { row: 0 })
    );
    fresh
        .reset(Some(&Seeds::Integer(1)), Some(&[true, false, true]))
        .expect("reset");
    assert_eq!(
        fresh.step(&[0; 3], arrays.buffers()),
        Err(BatchError::NotReset { row: 1 })
    );
    assert_eq!(fresh.started(0), Ok(true));
    assert_eq!(fresh.started(1), Ok(false));
    assert_eq!(fresh.position(1), Ok(Position::start(&dodoi(6))));
}

#[test]
fn a_seeded_reset_starts_at_episode_0_and_an_unseeded_one_goes_on() {
    let config = BatchConfig {
        random_opening_plies: 4,
        ..BatchConfig::new(5, dodoi(6))
    };
    let mut fast = batch(config, 7);
    let first = fast.position(2);
    fast.reset(None, None).expect("reset");
    assert_eq!(fast.episode(2), Ok(1));
    assert_ne!(fast.position(2), first);
    fast.reset(None, Some(&[false, false, true, false, false]))
        .expect("reset");
    assert_eq!((fast.episode(2), fast.episode(3)), (Ok(2), Ok(1)));
    // A list gives the row seeds themselves: row 0 now plays what row 2 played.
    let seeds = Seeds::Rows(vec![rng::mix(7, 2), 1, 2, 3, 4]);
    fast.reset(Some(&seeds), Some(&[true, false, false, false, false]))
        .expect("reset");
    assert_eq!(fast.position(0), first);
    assert_eq!(
        (fast.episode(0), fast.row_seed(0)),
        (Ok(0), Ok(rng::mix(7, 2)))
    );
    assert_eq!(
        (fast.episode(1), fast.row_seed(1)),
        (Ok(1), Ok(rng::mix(7, 1)))
    );
}

#[test]
fn a_batch_never_seeded_plays_seed_0() {
    let config = BatchConfig {
        random_opening_plies: 4,
        ..BatchConfig::new(70, dodoi(6))
    };
    let mut fresh = Batch::new(config).expect("valid settings");
    fresh.reset(None, None).expect("reset");
    let seeded = batch(config, 0);
    for row in 0..70 {
        assert_eq!(fresh.position(row), seeded.position(row));
        assert_eq!(fresh.episode(row), Ok(0));
    }
}

#[test]
fn next_step_autoreset_ignores_the_action_and_rewards_nothing() {
    let ruleset = dodoi(4);
    let mut fast = batch(BatchConfig::new(2, ruleset), 1);
    fast.set_position(0, &one_ply_from_the_end(&ruleset))
        .expect("same rules");
    let arrays = step(&mut fast, &[0, 0]);
    assert_eq!(arrays.ended, [true, false]);
    assert_eq!((arrays.rewards[0], arrays.outcome[0]), (1.0, 1));
    assert_eq!(arrays.captured[..2], [20, 12]);
    assert_eq!(arrays.masks[..4], [0; 4], "terminal mask");
    let again = step(&mut fast, &[i64::MIN, 0]);
    assert_eq!((again.ended[0], again.rewards[0]), (false, 0.0));
    assert_eq!((again.end_reason[0], again.plies[0]), (-1, 0));
    assert_eq!(
        again.observations[..11],
        Position::start(&ruleset).observation()[..]
    );
    assert_eq!(again.masks[..4], [1; 4]);
    assert_eq!((fast.episode(0), fast.episode(1)), (Ok(1), Ok(0)));
}

#[test]
fn disabled_autoreset_refuses_to_step_a_finished_row() {
    let ruleset = dodoi(4);
    let config = BatchConfig {
        autoreset: Autoreset::Disabled,
        ..BatchConfig::new(2, ruleset)
    };
    let mut fast = batch(config, 1);
    fast.set_position(1, &one_ply_from_the_end(&ruleset))
        .expect("same rules");
    let ended = step(&mut fast, &[0, 0]);
    assert!(ended.terminated[1]);
    let before = state(&fast);
    let mut arrays = StepArrays::new(&fast);
    assert_eq!(
        fast.step(&[0, 0], arrays.buffers()),
        Err(BatchError::Finished { row: 1 })
    );
    assert_eq!(state(&fast), before);
    fast.reset(None, Some(&[false, true])).expect("reset");
    assert_eq!(fast.plies(0), Ok(1));
    step(&mut fast, &[0, 0]);
}

#[test]
fn a_refused_step_changes_neither_batch_nor_arrays() {
    let mut fast = batch(BatchConfig::new(70, dodoi(6)), 3);
    step(&mut fast, &[0; 70]);
    let before = state(&fast);
    let mut arrays = StepArrays::new(&fast);
    let untouched = arrays.clone();
    let legal = |row: usize| -> Vec<usize> {
        let position = fast.position(row).expect("a row");
        position.legal_moves().iter().collect()
    };
    let mut actions: Vec<i64> = (0..70).map(|row| legal(row)[0] as i64).collect();
    let columns = legal(69);
    for (action, reason) in [
        (6, IllegalReason::Range { last: 5 }),
        (-1, IllegalReason::Range { last: 5 }),
        (64, IllegalReason::Range { last: 5 }),
        (i64::MAX, IllegalReason::Range { last: 5 }),
        (i64::MIN, IllegalReason::Range { last: 5 }),
    ] {
        actions[69] = action;
        assert_eq!(
            fast.step(&actions, arrays.buffers()),
            Err(BatchError::IllegalAction {
                row: 69,
                action,
                legal: columns.clone(),
                reason,
            })
        );
        assert_eq!(state(&fast), before);
        assert_eq!(arrays, untouched);
    }
}

#[test]
fn illegal_actions_name_row_action_and_legal_columns() {
    // Columns 0 and 1 take two laps, of 1 and of 2 seeds.
    let ruleset = changed(&dodoi(4), |f| f.lap_limit = Some(1));
    let position = set_up(&ruleset, &[1, 1, 1, 0, 0, 0, 0, 0], 0, [0, 0], 0);
    let endless: Vec<usize> = (0..4)
        .filter(|&c| position.board().pits()[c] > 0 && !position.legal_moves().contains(c))
        .collect();
    assert_eq!(endless, [0, 1]);
    let mut fast = Batch::new(BatchConfig::new(1, ruleset)).expect("valid settings");
    fast.set_position(0, &position).expect("same rules");
    let mut arrays = StepArrays::new(&fast);
    for column in endless {
        let error = fast
            .step(&[column as i64], arrays.buffers())
            .expect_err("endless");
        assert!(
            matches!(
                error,
                BatchError::IllegalAction {
                    reason: IllegalReason::EndlessSowing,
                    ..
                }
            ),
            "{error}"
        );
    }
    let empty = set_up(&dodoi(4), &[0, 2, 0, 1, 1, 1, 1, 1], 0, [0, 0], 0);
    let mut fast = Batch::new(BatchConfig::new(1, dodoi(4))).expect("valid settings");
    fast.set_position(0, &empty).expect("same rules");
    let mut arrays = StepArrays::new(&fast);
    let error = fast.step(&[2], arrays.buffers()).expect_err("empty pit");
    assert_eq!(
        error.to_string(),
        "row 0: action 2 is illegal: its pit is empty; legal columns: [1, 3]"
    );
}

#[test]
fn illegal_loss_ends_the_game_and_leaves_the_board() {
    let config = BatchConfig {
        illegal: IllegalMove::Loss,
        ..BatchConfig::new(2, dodoi(6))
    };
    let mut fast = batch(config, 1);
    step(&mut fast, &[0, 0]);
    let before = fast.position(0);
    let arrays = step(&mut fast, &[77, 1]);
    assert_eq!(
        (arrays.rewards[0], arrays.outcome[0]),
        (-1.0, 1),
        "North lost"
    );
    assert_eq!(
        (
            arrays.terminated[0],
            arrays.truncated[0],
            arrays.end_reason[0]
        ),
        (true, false, 4)
    );
    assert_eq!((arrays.plies[0], arrays.to_play[0]), (1, 1));
    assert_eq!(arrays.masks[..6], [0; 6]);
    assert_eq!(fast.position(0), before);
    assert_eq!(fast.outcome(0), Ok(Some(Outcome::Win(Side::South))));
    assert_eq!(fast.end(0), Ok(Some(EndCode::Illegal)));
    assert!(!arrays.ended[1]);
}

#[test]
fn a_natural_end_on_the_cap_ply_is_terminated() {
    let ruleset = dodoi(4);
    for (max_plies, reason) in [(1, EndCode::Stuck), (2, EndCode::Stuck)] {
        let config = BatchConfig {
            max_plies: Some(max_plies),
            ..BatchConfig::new(1, ruleset)
        };
        let mut fast = batch(config, 1);
        fast.set_position(0, &one_ply_from_the_end(&ruleset))
            .expect("same rules");
        let arrays = step(&mut fast, &[0]);
        assert_eq!((arrays.terminated[0], arrays.truncated[0]), (true, false));
        assert_eq!(fast.end(0), Ok(Some(reason)));
    }
}

#[test]
fn a_cut_game_is_truncated_without_outcome() {
    let config = BatchConfig {
        max_plies: Some(3),
        random_opening_plies: 2,
        ..BatchConfig::new(4, dodoi(6))
    };
    let mut fast = batch(config, 1);
    let actions: Vec<i64> = (0..4)
        .map(|row| {
            let position = fast.position(row).expect("a row");
            position.legal_moves().nth(0).expect("open") as i64
        })
        .collect();
    let arrays = step(&mut fast, &actions);
    assert_eq!(arrays.truncated, [true; 4]);
    assert_eq!(arrays.terminated, [false; 4]);
    assert_eq!(arrays.plies, [3; 4], "opening plies count");
    assert_eq!((arrays.end_reason[0], arrays.outcome[0]), (3, 0));
    assert_eq!(arrays.masks, [0; 24]);
    assert_eq!(fast.outcome(0), Ok(None));
    let again = step(&mut fast, &actions);
    assert_eq!(again.plies, [2; 4]);
}

#[test]
fn an_endless_draw_ends_the_game_with_nothing_for_anybody() {
    let ruleset = changed(&dodoi(2), |f| f.endless = Some(Endless::Draw));
    let position = set_up(&ruleset, &[2, 0, 2, 1], 0, [3, 1], 5);
    let mut fast = batch(BatchConfig::new(1, ruleset), 1);
    fast.set_position(0, &position).expect("same rules");
    let arrays = step(&mut fast, &[0]);
    assert_eq!((arrays.end_reason[0], arrays.outcome[0]), (2, 0));
    assert_eq!((arrays.rewards[0], arrays.terminated[0]), (0.0, true));
    assert_eq!((arrays.to_play[0], arrays.plies[0]), (0, 1));
    assert_eq!(arrays.observations, [2, 0, 2, 1, 3, 1, 5]);
    assert_eq!(fast.position(0), Ok(position.ended_by_endless()));
    assert_eq!(fast.outcome(0), Ok(Some(Outcome::Draw)));
}

#[test]
fn openings_depend_on_row_seed_and_episode_and_leave_open_games() {
    // Openings of 8 plies end many of these small games: they are drawn again.
    let config = BatchConfig {
        random_opening_plies: 8,
        ..BatchConfig::new(64, dodoi(3))
    };
    assert!(compare(config, 5, 40) > 0);
    let fast = batch(config, 5);
    assert!((0..64).all(|row| fast.end(row) == Ok(None)));
}

#[test]
fn openings_that_always_end_the_game_are_refused() {
    let config = BatchConfig {
        random_opening_plies: 500,
        ..BatchConfig::new(2, dodoi(2))
    };
    let mut fresh = Batch::new(config).expect("valid settings");
    let before = state(&fresh);
    let error = fresh.reset(None, None).expect_err("no opening");
    assert!(
        matches!(
            error,
            BatchError::Opening {
                row: 0,
                random_opening_plies: 500,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(state(&fresh), before);
    assert_eq!(fresh.started(0), Ok(false));
}

#[test]
fn settings_outside_their_range_are_refused_by_name() {
    let base = BatchConfig::new(4, dodoi(6));
    let cases = [
        (BatchConfig { rows: 0, ..base }, "rows is 0, expected 1 to"),
        (
            BatchConfig {
                rows: usize::MAX,
                ..base
            },
            "rows is",
        ),
        (
            BatchConfig {
                max_plies: Some(0),
                ..base
            },
            "max_plies is 0, expected 1 to 2147483647",
        ),
        (
            BatchConfig {
                max_plies: Some(u32::MAX),
                ..base
            },
            "max_plies is 4294967295",
        ),
        (
            BatchConfig {
                random_opening_plies: 10_001,
                ..base
            },
            "random_opening_plies is 10001, expected 0 to 10000",
        ),
        (
            BatchConfig {
                num_threads: Some(0),
                ..base
            },
            "num_threads is 0, expected 1 to 1024",
        ),
        (
            BatchConfig {
                max_plies: Some(4),
                random_opening_plies: 4,
                ..base
            },
            "random_opening_plies is 4, expected less than max_plies (4)",
        ),
    ];
    for (config, message) in cases {
        let error = Batch::new(config).expect_err(message).to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn arrays_of_the_wrong_length_are_refused_by_name() {
    let mut fast = batch(BatchConfig::new(3, dodoi(6)), 1);
    let before = state(&fast);
    let length = |field, got, expected| {
        Err(BatchError::BufferLength {
            field,
            got,
            expected,
        })
    };
    let mut arrays = StepArrays::new(&fast);
    assert_eq!(
        fast.step(&[0; 2], arrays.buffers()),
        Err(BatchError::ActionsLength {
            got: 2,
            expected: 3
        })
    );
    arrays.captured.pop();
    assert_eq!(
        fast.step(&[0; 3], arrays.buffers()),
        length("captured", 5, 6)
    );
    arrays.captured.push(0);
    arrays.observations.push(0);
    assert_eq!(
        fast.step(&[0; 3], arrays.buffers()),
        length("observations", 46, 45)
    );
    assert_eq!(
        fast.reset(Some(&Seeds::Rows(vec![1, 2])), None),
        length("seeds", 2, 3)
    );
    assert_eq!(fast.reset(None, Some(&[true; 4])), length("mask", 4, 3));
    assert_eq!(fast.masks(&mut [0; 17]), length("masks", 17, 18));
    assert_eq!(fast.observe(&mut [0; 44]), length("observations", 44, 45));
    assert_eq!(fast.to_play(&mut [0; 2]), length("to_play", 2, 3));
    assert_eq!(
        fast.position(3),
        Err(BatchError::RowRange { row: 3, last: 2 })
    );
    let other = Position::start(&dodoi(8));
    assert!(matches!(
        fast.set_position(0, &other),
        Err(BatchError::Ruleset { .. })
    ));
    assert_eq!(state(&fast), before);
}

#[test]
fn a_start_without_a_legal_move_is_over_at_once() {
    // Every opening move has five laps.
    let ruleset = changed(&dodoi(6), |f| f.lap_limit = Some(4));
    let mut fast = batch(BatchConfig::new(2, ruleset), 1);
    assert_eq!(fast.end(0), Ok(Some(EndCode::Stuck)));
    let arrays = step(&mut fast, &[0, 0]);
    assert_eq!(arrays.ended, [false; 2]);
    assert_eq!(fast.episode(0), Ok(1));
}

#[test]
fn a_heavy_position_in_one_row_leaves_the_others_as_they_were() {
    // More than 255 seeds: the boards of the whole block move to a wider shape.
    let ruleset = dodoi(6);
    let mut fast = batch(BatchConfig::new(66, ruleset), 5);
    step(&mut fast, &[1; 66]);
    let heavy = set_up(
        &ruleset,
        &[300, 1, 0, 2, 0, 9, 700, 0, 0, 4, 255, 256],
        1,
        [1000, 20],
        3,
    );
    let mut before: Vec<Position> = (0..66)
        .map(|row| fast.position(row).expect("a row"))
        .collect();
    fast.set_position(9, &heavy).expect("same rules");
    before[9] = heavy;
    let actions: Vec<i64> = before
        .iter()
        .map(|position| position.legal_moves().nth(0).expect("open") as i64)
        .collect();
    for (row, position) in before.iter().enumerate() {
        assert_eq!(fast.position(row), Ok(*position), "row {row}");
    }
    step(&mut fast, &actions);
    for (row, (position, &action)) in before.iter().zip(&actions).enumerate() {
        let next = position.play(action as usize).expect("legal");
        assert_eq!(fast.position(row), Ok(next), "row {row}");
    }
    let restored = Batch::restore(&state(&fast)).expect("restored");
    assert_eq!(restored.position(9), fast.position(9));
}
