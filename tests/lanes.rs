//! Random games in lanes against the scalar twin: the same rows for every set of instructions.

#![allow(clippy::expect_used, clippy::panic)]

use endodoi::rng::{self, Purpose};
use endodoi::simulate::SimulateConfig;
use endodoi::{Direction, Endless, LoneCapture, Ruleset, RulesetFields, Variant};

#[path = "common/simulations.rs"]
mod simulations;

use simulations::assert_same_games;

fn ruleset(fields: &RulesetFields) -> Ruleset {
    Ruleset::new(Variant::EnDodoi, fields).expect("valid")
}

#[test]
fn traditional_sizes_and_options_in_every_set_of_instructions() {
    for columns in [6, 8, 10] {
        for direction in [Direction::Anticlockwise, Direction::Parity] {
            for lone_capture in [LoneCapture::Stays, LoneCapture::Taken] {
                for endless in [Endless::Illegal, Endless::Draw] {
                    let rules = ruleset(&RulesetFields {
                        columns: Some(columns),
                        direction: Some(direction),
                        lone_capture: Some(lone_capture),
                        endless: Some(endless),
                        ..RulesetFields::default()
                    });
                    assert_same_games(&SimulateConfig::new(rules, 2_000));
                }
            }
        }
    }
}

#[test]
fn random_rule_sets_in_every_set_of_instructions() {
    let mut rng = rng::stream(11, 0, Purpose::Policy);
    for number in 0..200 {
        let columns = 1 + i64::from(rng::below(&mut rng, 20));
        let most = (255 / (2 * columns)).clamp(1, 64) as u32;
        let flag = |rng: &mut _| rng::below(rng, 2) == 1;
        let rules = ruleset(&RulesetFields {
            columns: Some(columns),
            seeds_per_pit: Some(1 + i64::from(rng::below(&mut rng, most))),
            direction: flag(&mut rng).then_some(Direction::Parity),
            lone_capture: flag(&mut rng).then_some(LoneCapture::Taken),
            endless: flag(&mut rng).then_some(Endless::Draw),
            lap_limit: flag(&mut rng).then(|| 1 + i64::from(rng::below(&mut rng, 700))),
            quiet_limit: flag(&mut rng).then(|| 1 + i64::from(rng::below(&mut rng, 600))),
            ..RulesetFields::default()
        });
        let config = SimulateConfig {
            seed: number,
            max_plies: flag(&mut rng).then(|| 1 + rng::below(&mut rng, 60)),
            ..SimulateConfig::new(rules, 300)
        };
        assert_same_games(&config);
    }
}

#[test]
fn s6_lap_limits_about_the_length_of_a_stay_in_the_lanes() {
    // A sowing leaves its lane after 64 laps, at the end of a few that are sown at once.
    for lap_limit in (1..12).chain(58..80) {
        for direction in [Direction::Anticlockwise, Direction::Parity] {
            let rules = ruleset(&RulesetFields {
                columns: Some(6),
                seeds_per_pit: Some(18),
                direction: Some(direction),
                lap_limit: Some(lap_limit),
                ..RulesetFields::default()
            });
            assert_same_games(&SimulateConfig::new(rules, 400));
        }
    }
}

#[test]
fn long_games_are_finished_outside_the_lanes() {
    // Two seeds that never meet make games of more plies than two bytes count.
    let rules = ruleset(&RulesetFields {
        columns: Some(3),
        seeds_per_pit: Some(1),
        quiet_limit: Some(32_767),
        ..RulesetFields::default()
    });
    assert_same_games(&SimulateConfig::new(rules, 200));
    let cut = SimulateConfig {
        max_plies: Some(70_000),
        ..SimulateConfig::new(rules, 100)
    };
    assert_same_games(&cut);
}

#[test]
fn boards_that_do_not_fit_the_lanes_are_played_all_the_same() {
    for (columns, seeds) in [(50, 4), (64, 1), (32, 4), (2, 64)] {
        let rules = ruleset(&RulesetFields {
            columns: Some(columns),
            seeds_per_pit: Some(seeds),
            ..RulesetFields::default()
        });
        assert_same_games(&SimulateConfig::new(rules, 20));
    }
}
