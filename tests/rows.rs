//! Random games on boards in rows against the scalar twin: the same games for every set of
//! instructions.

#![allow(clippy::expect_used, clippy::panic)]

use endodoi::rng::{self, Purpose, Xoshiro128PlusPlus};
use endodoi::simulate::SimulateConfig;
use endodoi::{Direction, Endless, LoneCapture, Ruleset, RulesetFields, Variant};

#[path = "common/simulations.rs"]
mod simulations;

use simulations::assert_same_games;

fn ruleset(fields: &RulesetFields) -> Ruleset {
    Ruleset::new(Variant::EnDodoi, fields).expect("valid")
}

fn flag(rng: &mut Xoshiro128PlusPlus) -> bool {
    rng::below(rng, 2) == 1
}

fn between(rng: &mut Xoshiro128PlusPlus, low: u32, high: u32) -> i64 {
    i64::from(low + rng::below(rng, high - low + 1))
}

/// Draws a rule set with some of its options changed.
fn draw(rng: &mut Xoshiro128PlusPlus, columns: i64, seeds: i64) -> Ruleset {
    ruleset(&RulesetFields {
        columns: Some(columns),
        seeds_per_pit: Some(seeds),
        direction: flag(rng).then_some(Direction::Parity),
        lone_capture: flag(rng).then_some(LoneCapture::Taken),
        endless: flag(rng).then_some(Endless::Draw),
        lap_limit: flag(rng).then(|| between(rng, 1, 60)),
        quiet_limit: flag(rng).then(|| between(rng, 1, 400)),
        ..RulesetFields::default()
    })
}

#[test]
fn the_largest_traditional_board_with_every_option() {
    for direction in [Direction::Anticlockwise, Direction::Parity] {
        for lone_capture in [LoneCapture::Stays, LoneCapture::Taken] {
            for endless in [Endless::Illegal, Endless::Draw] {
                let rules = ruleset(&RulesetFields {
                    columns: Some(50),
                    direction: Some(direction),
                    lone_capture: Some(lone_capture),
                    endless: Some(endless),
                    ..RulesetFields::default()
                });
                assert_same_games(&SimulateConfig::new(rules, 300));
            }
        }
    }
}

#[test]
fn random_rule_sets_of_large_boards() {
    let mut rng = rng::stream(12, 0, Purpose::Policy);
    let mut endless = 0;
    for number in 0..120 {
        let columns = between(&mut rng, 17, 64);
        let most = [4, 4, 12, 64][number % 4];
        let seeds = between(&mut rng, 1, most);
        let rules = draw(&mut rng, columns, seeds);
        let config = SimulateConfig {
            seed: number as u64,
            max_plies: flag(&mut rng).then(|| 1 + rng::below(&mut rng, 300)),
            ..SimulateConfig::new(rules, 70)
        };
        let games = assert_same_games(&config);
        endless += games.endless_met.iter().filter(|&&met| met > 0).count();
    }
    assert!(endless > 100, "{endless}");
}

/// Pits of hundreds of seeds: a game leaves its row of bytes in time.
#[test]
fn random_rule_sets_of_small_boards_with_many_seeds() {
    let mut rng = rng::stream(13, 0, Purpose::Policy);
    for number in 0..120 {
        let columns = between(&mut rng, 11, 16);
        let fewest = 256_u32.div_ceil(2 * columns as u32);
        let seeds = between(&mut rng, fewest, [12, 64][number as usize % 2]);
        let rules = draw(&mut rng, columns, seeds);
        let config = SimulateConfig {
            seed: number,
            max_plies: flag(&mut rng).then(|| 1 + rng::below(&mut rng, 100)),
            ..SimulateConfig::new(rules, 70)
        };
        assert_same_games(&config);
    }
}

#[test]
fn games_of_a_single_seed_a_pit_end_by_every_rule() {
    let mut reasons = std::collections::BTreeSet::new();
    for (quiet_limit, max_plies) in [(5, None), (32_767, None), (300, Some(40))] {
        let rules = ruleset(&RulesetFields {
            columns: Some(18),
            seeds_per_pit: Some(1),
            quiet_limit: Some(quiet_limit),
            ..RulesetFields::default()
        });
        let config = SimulateConfig {
            max_plies,
            ..SimulateConfig::new(rules, 200)
        };
        reasons.extend(assert_same_games(&config).end_reason);
    }
    // Stuck, quiet and cut.
    assert!(reasons.is_superset(&[0, 1, 3].into()), "{reasons:?}");
}
