//! Counts of move sequences.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

mod common;

use common::{changed, dodoi, golden, with_lap_limit};
use endodoi::reference::Game;
use endodoi::{Endless, LoneCapture, Position, Ruleset, Variant, perft};

/// Counts with the slow reference.
fn slow_perft(game: &Game, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    game.legal()
        .into_iter()
        .map(|column| slow_perft(&game.play(column).expect("legal").0, depth - 1))
        .sum()
}

#[test]
fn golden_counts_of_all_sets() {
    for (name, set) in &golden().sets {
        let rules = set.rules.ruleset();
        let start = Position::start(&rules);
        for (depth, &count) in (1..).zip(&set.perft) {
            assert_eq!(perft(&start, depth), count, "{name}, depth {depth}");
        }
    }
}

#[test]
fn golden_counts_of_small_sets_in_the_reference() {
    for (name, set) in &golden().sets {
        let start = Game::start(&set.rules.ruleset());
        for (depth, &count) in (1..).zip(&set.perft) {
            if count <= 2_000 {
                assert_eq!(slow_perft(&start, depth), count, "{name}, depth {depth}");
            }
        }
    }
}

/// Deeper counts of every kind of rule set; both engines agree on each.
#[test]
fn deeper_counts_agree_with_the_reference() {
    let seeds = |rules: &Ruleset, k| changed(rules, |fields| fields.seeds_per_pit = Some(k));
    let taken = |rules: &Ruleset| {
        changed(rules, |fields| {
            fields.lone_capture = Some(LoneCapture::Taken);
        })
    };
    let draw = |rules: &Ruleset| changed(rules, |fields| fields.endless = Some(Endless::Draw));
    let cross = Variant::CrossEndodoi.ruleset();
    let table: [(Ruleset, u32, u64); 9] = [
        (dodoi(1), 1, 1),
        (dodoi(2), 14, 5),
        (seeds(&dodoi(2), 64), 12, 105),
        (taken(&dodoi(3)), 9, 1_982),
        (draw(&with_lap_limit(&dodoi(5), 6)), 6, 2_587),
        (dodoi(6), 6, 13_277),
        (Variant::EnDodoi.ruleset(), 5, 15_269),
        (taken(&draw(&cross)), 6, 11_179),
        (seeds(&dodoi(64), 64), 2, 3_978),
    ];
    for (rules, depth, count) in table {
        let fast = perft(&Position::start(&rules), depth);
        let slow = slow_perft(&Game::start(&rules), depth);
        assert_eq!((fast, slow), (count, count), "{rules}, depth {depth}");
    }
}

/// On 2x1 two single seeds are shuffled until the quiet limit: one game of 32,767 plies.
#[test]
fn a_count_deeper_than_any_stack() {
    let rules = changed(&dodoi(1), |fields| fields.quiet_limit = Some(32_767));
    let position = common::set_up(&rules, &[1, 1], 0, [0, 0], 0);
    assert_eq!(perft(&position, 32_767), 1);
    assert_eq!(perft(&position, 32_768), 0);
    assert_eq!(perft(&position, u32::MAX), 0);
}

#[test]
fn a_finished_game_has_no_sequences() {
    let position = common::set_up(&dodoi(2), &[0, 0, 1, 1], 0, [0, 0], 0);
    assert!(position.is_over());
    assert_eq!((perft(&position, 0), perft(&position, 1)), (1, 0));
}
