//! Plies a second of a batch with masks and observations against one `Position` a row.
//!
//! Both play the same games, and their answers are compared. `cargo bench --bench batch`; a
//! number after `--` changes the seconds of each run (best of five).

// A bench fails loudly.
#![allow(clippy::expect_used)]

use std::time::{Duration, Instant};

use endodoi::batch::{Batch, BatchConfig, Seeds, StepArrays};
use endodoi::rng::{self, Purpose, Xoshiro128PlusPlus};
use endodoi::{Position, Ruleset, RulesetFields, Variant};

struct Case {
    variant: Variant,
    columns: i64,
    rows: usize,
    threads: usize,
}

/// What a run did, to be compared.
#[derive(Debug, PartialEq, Eq)]
struct Played {
    plies: u64,
    games: u64,
    captured: i64,
}

fn ruleset(case: &Case) -> Ruleset {
    let fields = RulesetFields {
        columns: Some(case.columns),
        ..RulesetFields::default()
    };
    Ruleset::new(case.variant, &fields).expect("valid fields")
}

/// Draws a legal column of every row from its mask; 0 on finished rows.
fn choose(masks: &[i8], columns: usize, rng: &mut Xoshiro128PlusPlus, actions: &mut [i64]) {
    for (mask, action) in masks.chunks(columns).zip(actions) {
        let legal: u32 = mask.iter().map(|&bit| bit as u32).sum();
        let mut rank = rng::below(rng, legal.max(1));
        let column = mask.iter().position(|&bit| {
            let hit = bit == 1 && rank == 0;
            rank = rank.wrapping_sub(bit as u32);
            hit
        });
        *action = column.unwrap_or(0) as i64;
    }
}

/// Steps a batch `steps` times; only the steps are timed.
fn run_batch(case: &Case, steps: usize) -> (Played, Duration) {
    let config = BatchConfig {
        num_threads: Some(case.threads),
        ..BatchConfig::new(case.rows, ruleset(case))
    };
    let mut batch = Batch::new(config).expect("valid settings");
    batch.reset(Some(&Seeds::Integer(1)), None).expect("reset");
    let mut arrays = StepArrays::new(&batch);
    batch.masks(&mut arrays.masks).expect("right length");
    let mut rng = rng::stream(1, 0, Purpose::Policy);
    let mut actions = vec![0; case.rows];
    let mut played = Played {
        plies: 0,
        games: 0,
        captured: 0,
    };
    let mut spent = Duration::ZERO;
    for _ in 0..steps {
        choose(&arrays.masks, case.columns as usize, &mut rng, &mut actions);
        let start = Instant::now();
        batch.step(&actions, arrays.buffers()).expect("step");
        spent += start.elapsed();
        played.plies += case.rows as u64;
        for (row, _) in arrays.ended.iter().enumerate().filter(|&(_, &e)| e) {
            played.games += 1;
            played.captured += i64::from(arrays.captured[2 * row]);
        }
    }
    (played, spent)
}

/// Steps one `Position` a row through the same games; only the plays are timed.
fn run_positions(case: &Case, steps: usize) -> (Played, Duration) {
    let ruleset = ruleset(case);
    let columns = ruleset.columns();
    let mut positions = vec![Position::start(&ruleset); case.rows];
    let mut masks = vec![0; case.rows * columns];
    let mut rng = rng::stream(1, 0, Purpose::Policy);
    let mut actions = vec![0; case.rows];
    let mut played = Played {
        plies: 0,
        games: 0,
        captured: 0,
    };
    let mut spent = Duration::ZERO;
    for _ in 0..steps {
        for (mask, position) in masks.chunks_mut(columns).zip(&positions) {
            let legal = position.legal_moves();
            for (column, bit) in mask.iter_mut().enumerate() {
                *bit = i8::from(legal.contains(column));
            }
        }
        choose(&masks, columns, &mut rng, &mut actions);
        let start = Instant::now();
        for (position, &action) in positions.iter_mut().zip(&actions) {
            *position = if position.is_over() {
                Position::start(&ruleset)
            } else {
                position.play(action as usize).expect("legal")
            };
        }
        spent += start.elapsed();
        played.plies += case.rows as u64;
        for position in positions.iter().filter(|position| position.is_over()) {
            played.games += 1;
            played.captured += i64::from(position.board().captured()[0]);
        }
    }
    (played, spent)
}

/// Finds how many steps take about `seconds`, by doubling.
fn steps_for(case: &Case, seconds: f64) -> usize {
    let mut steps = 32;
    loop {
        let (_, spent) = run_batch(case, steps);
        if spent.as_secs_f64() > seconds / 4.0 {
            return ((steps as f64 * seconds / spent.as_secs_f64()) as usize).max(1);
        }
        steps *= 2;
    }
}

/// Runs five times and keeps the shortest time: the least disturbed one.
fn best(mut run: impl FnMut() -> (Played, Duration)) -> (Played, Duration) {
    let (played, mut spent) = run();
    for _ in 1..5 {
        let (again, time) = run();
        assert_eq!(played, again, "two runs of the same games disagree");
        spent = spent.min(time);
    }
    (played, spent)
}

fn main() {
    let seconds = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(0.2);
    println!(
        "{:<24} {:>7} {:>8} {:>14} {:>17} {:>7}",
        "board", "rows", "threads", "batch plies/s", "position plies/s", "ratio"
    );
    for (variant, columns) in [
        (Variant::EnDodoi, 6),
        (Variant::EnDodoi, 8),
        (Variant::EnDodoi, 10),
        (Variant::EnDodoi, 12),
        (Variant::CrossEndodoi, 6),
        (Variant::EnGehe, 50),
    ] {
        for (rows, threads) in [(1, 1), (64, 1), (4096, 1), (4096, 2)] {
            let case = Case {
                variant,
                columns,
                rows,
                threads,
            };
            let steps = steps_for(&case, seconds);
            let (played, spent) = best(|| run_batch(&case, steps));
            let (expected, slow) = best(|| run_positions(&case, steps));
            assert_eq!(played, expected, "the batch and the positions disagree");
            let rate = |spent: Duration| played.plies as f64 / spent.as_secs_f64();
            println!(
                "{:<24} {rows:>7} {threads:>8} {:>14.0} {:>17.0} {:>7.2}",
                format!("{} 2x{columns}", variant.id()),
                rate(spent),
                rate(slow),
                rate(spent) / rate(slow),
            );
        }
    }
}
