//! Plies a second of random games on one thread: lanes with each set of instructions against one
//! game after another, in the same run.
//!
//! `cargo bench --bench lanes`; a number after `--` changes the seconds that each row takes. A
//! side draws among its non-empty pits and again where the sowing is endless; no mask of legal
//! moves is made. All rows of a board play the same games, and their tables are compared.

#![allow(clippy::expect_used)]

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use endodoi::policy::PolicySpec;
use endodoi::simulate::{GameTable, Instructions, SimulateConfig, simulate};
use endodoi::{Ruleset, RulesetFields, Variant};

/// Games of one timed call.
const GAMES: u64 = 1 << 16;

fn play(ruleset: Ruleset, games: u64, instructions: Instructions) -> (GameTable, Duration) {
    let config = SimulateConfig {
        num_threads: Some(1),
        instructions: Some(instructions),
        ..SimulateConfig::new(ruleset, games)
    };
    let mut quietly = |_| ControlFlow::Continue(());
    let random = PolicySpec::Random;
    let start = Instant::now();
    let table = simulate(&config, &random, &random, &mut quietly).expect("valid settings");
    (table, start.elapsed())
}

/// Returns millions of plies a second: the best of the calls that fit into `budget`.
fn measure(ruleset: Ruleset, instructions: Instructions, budget: Duration) -> f64 {
    let mut best = 0.0_f64;
    let mut spent = Duration::ZERO;
    while spent < budget {
        let (table, took) = play(ruleset, GAMES, instructions);
        let plies: u64 = (0..table.len())
            .filter_map(|i| table.row(i))
            .map(|row| row.plies as u64)
            .sum();
        best = best.max(plies as f64 / took.as_secs_f64() / 1e6);
        spent += took;
    }
    best
}

fn main() {
    let seconds = std::env::args()
        .find_map(|word| word.parse().ok())
        .unwrap_or(1.0);
    let budget = Duration::from_secs_f64(seconds);
    println!(
        "{:<22}{:<10}{:>14}{:>9}",
        "board", "lanes", "M plies/s", "ratio"
    );
    for (variant, columns) in [
        (Variant::EnDodoi, 6),
        (Variant::EnDodoi, 8),
        (Variant::EnDodoi, 10),
        (Variant::EnDodoi, 12),
        (Variant::CrossEndodoi, 6),
        (Variant::EnGehe, 50),
    ] {
        let fields = RulesetFields {
            columns: Some(columns),
            ..RulesetFields::default()
        };
        let ruleset = Ruleset::new(variant, &fields).expect("valid fields");
        let (expected, _) = play(ruleset, 4096, Instructions::Scalar);
        let mut scalar = 0.0;
        for instructions in Instructions::ALL
            .into_iter()
            .filter(|set| set.is_available())
        {
            let (table, _) = play(ruleset, 4096, instructions);
            assert!(
                (0..4096).all(|i| table.row(i) == expected.row(i)),
                "{}",
                instructions.name()
            );
            let speed = measure(ruleset, instructions, budget);
            if instructions == Instructions::Scalar {
                scalar = speed;
            }
            println!(
                "{:<22}{:<10}{speed:>14.1}{:>9.1}",
                ruleset.to_string(),
                instructions.name(),
                speed / scalar
            );
        }
    }
}
