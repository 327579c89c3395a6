//! Random games with every set of instructions against the scalar twin, a million of them.
//!
//! `make differential` plays all of them; without it, a hundredth.

#![allow(clippy::expect_used, clippy::panic)]

use endodoi::simulate::{GameTable, Instructions, SimulateConfig};
use endodoi::{LoneCapture, Ruleset, RulesetFields, Variant};

#[path = "common/simulations.rs"]
mod simulations;

use simulations::random_games_with;

/// Boards, and the games of each.
const BOARDS: [(Variant, i64, LoneCapture, u64); 7] = [
    (Variant::EnDodoi, 6, LoneCapture::Stays, 1_000_000),
    (Variant::EnDodoi, 6, LoneCapture::Taken, 200_000),
    (Variant::EnDodoi, 8, LoneCapture::Stays, 200_000),
    (Variant::EnDodoi, 10, LoneCapture::Stays, 200_000),
    (Variant::CrossEndodoi, 6, LoneCapture::Stays, 200_000),
    (Variant::EnGehe, 40, LoneCapture::Stays, 20_000),
    (Variant::EnGehe, 50, LoneCapture::Stays, 20_000),
];

fn play(ruleset: Ruleset, games: u64, instructions: Instructions) -> GameTable {
    let config = SimulateConfig {
        seed: 2026,
        ..SimulateConfig::new(ruleset, games)
    };
    random_games_with(&config, instructions)
}

/// Plays the games of every board, or a part of them, and compares whole tables.
fn compare_all(part: u64) {
    let sets: Vec<Instructions> = Instructions::ALL
        .into_iter()
        .filter(|&set| set != Instructions::Scalar && set.is_available())
        .collect();
    for (variant, columns, lone_capture, games) in BOARDS {
        let fields = RulesetFields {
            columns: Some(columns),
            lone_capture: Some(lone_capture),
            ..RulesetFields::default()
        };
        let ruleset = Ruleset::new(variant, &fields).expect("valid fields");
        let games = games / part;
        let expected = play(ruleset, games, Instructions::Scalar);
        assert_eq!(expected.len() as u64, games);
        for &set in &sets {
            let got = play(ruleset, games, set);
            // Tables of millions of numbers are no message: the first game that differs is.
            let differs = (0..expected.len()).find(|&game| got.row(game) != expected.row(game));
            let shown = differs.map(|game| (game, got.row(game), expected.row(game)));
            assert!(got == expected, "{}, {ruleset}: {shown:?}", set.name());
            println!(
                "{ruleset}: {games} games with {} are those of the scalar twin",
                set.name()
            );
        }
    }
}

#[test]
fn games_are_those_of_the_scalar_twin() {
    compare_all(100);
}

#[test]
#[ignore = "plays millions of games: make differential"]
fn a_million_games_are_those_of_the_scalar_twin() {
    compare_all(1);
}
