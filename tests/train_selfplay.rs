//! Self-play: what groups of games hand out for training.

// A helper of a test fails as loudly as a test.
#![allow(clippy::unwrap_used, clippy::expect_used)]
// A column that is not legal has a share of exactly zero.
#![allow(clippy::float_cmp)]

use endodoi::policy::weights::Weights;
use endodoi::train::config::Config;
use endodoi::train::replay::{Sample, position_of};
use endodoi::train::selfplay::{Group, check_start};
use endodoi::{Endless, Ruleset, RulesetFields, Variant};

fn config(columns: i64) -> Config {
    let fields = RulesetFields {
        columns: Some(columns),
        ..RulesetFields::default()
    };
    let mut config = Config::of_ruleset(Ruleset::new(Variant::EnDodoi, &fields).unwrap());
    config.network.channels = 4;
    config.network.blocks = 1;
    config.selfplay.games = 5;
    config.selfplay.simulations = 6;
    config.selfplay.plies = 30;
    config.seed = 3;
    config
}

fn weights(config: &Config) -> Weights {
    Weights::random(config.network, 1).unwrap()
}

fn check_sample(config: &Config, sample: &Sample) {
    let position = position_of(&sample.observation, &config.ruleset).unwrap();
    let legal = position.legal_moves();
    assert!(!legal.is_empty());
    let sum: f32 = sample.policy.iter().sum();
    assert!((sum - 1.0).abs() < 1e-4, "{sample:?}");
    for (column, &share) in sample.policy.iter().enumerate() {
        assert!(share >= 0.0 && (share == 0.0 || legal.contains(column)));
    }
    let chances: f32 = sample.chances.iter().sum();
    assert!((chances - 1.0).abs() < 1e-4, "{sample:?}");
    assert!(sample.chances.iter().all(|&chance| chance > -1e-5));
    let left = position.board().seeds_on_board() as f32;
    assert!(sample.margin.abs() <= left + 1e-3, "{sample:?}");
}

#[test]
fn positions_have_targets_of_their_own_side_on_legal_columns() {
    for columns in [3, 6, 20] {
        let config = config(columns);
        let mut group = Group::new(&config, 0, 0);
        let played = group.play(&weights(&config)).unwrap();
        assert_eq!(played.positions, 5 * 30);
        assert!(played.evaluations >= played.positions);
        assert!(!played.samples.is_empty());
        for sample in &played.samples {
            check_sample(&config, sample);
        }
    }
}

#[test]
fn every_position_searched_is_handed_out_once() {
    let mut config = config(4);
    config.value_target.horizon = 3;
    let mut group = Group::new(&config, 0, 0);
    let (mut searched, mut handed) = (0, 0);
    for _ in 0..8 {
        config.selfplay.plies = 7;
        let played = group.play(&weights(&config)).unwrap();
        searched += played.positions;
        handed += played.samples.len() as u64;
        // Only the positions within the horizon of a game in progress wait.
        assert!(searched - handed <= 5 * 3);
        assert!(handed <= searched);
    }
    // Without a horizon a position waits for the end of its game.
    config.value_target.horizon = 0;
    config.selfplay.plies = 1;
    let played = Group::new(&config, 0, 0).play(&weights(&config)).unwrap();
    assert!(played.samples.is_empty() && played.positions == 5);
}

#[test]
fn a_group_depends_on_its_seed_and_number_alone() {
    let config = config(6);
    let play = |config: &Config, number| {
        let mut group = Group::new(config, number, 0);
        let first = group.play(&weights(config)).unwrap().samples;
        let second = group.play(&weights(config)).unwrap().samples;
        (first, second)
    };
    let expected = play(&config, 1);
    assert_eq!(play(&config, 1), expected);
    let elsewhere = std::thread::scope(|scope| {
        let other = scope.spawn(|| play(&config, 0));
        let same = scope.spawn(|| play(&config, 1));
        (other.join().unwrap(), same.join().unwrap())
    });
    assert_eq!(elsewhere.1, expected);
    assert_ne!(elsewhere.0, expected);
    let mut another = config.clone();
    another.seed = 4;
    assert_ne!(play(&another, 1), expected);
}

#[test]
fn games_start_from_openings_in_the_share_asked_for() {
    let mut config = config(6);
    config.selfplay.games = 400;
    config.selfplay.plies = 1;
    config.selfplay.simulations = 1;
    config.value_target.outcome = 0.0;
    config.value_target.horizon = 0;
    let start = endodoi::Position::start(&config.ruleset).observation();
    let mut at_start = |share: f32| {
        config.selfplay.opening_share = share;
        let group = Group::new(&config, 0, 0);
        let positions = group.positions();
        positions.filter(|p| p.observation() == start).count()
    };
    assert_eq!(at_start(0.0), 400);
    let some = at_start(0.75);
    assert!((60..150).contains(&some), "{some}");
    assert!(at_start(1.0) < 5);
}

#[test]
fn rules_without_a_first_move_are_refused() {
    // With one lap allowed, every first sowing counts as endless: it ends in an occupied pit.
    let fields = RulesetFields {
        columns: Some(6),
        lap_limit: Some(1),
        endless: Some(Endless::Illegal),
        ..RulesetFields::default()
    };
    let stuck = Ruleset::new(Variant::EnDodoi, &fields).unwrap();
    let error = check_start(&stuck).unwrap_err();
    assert!(error.to_string().contains("legal move"), "{error}");
    assert!(check_start(&config(6).ruleset).is_ok());
}
