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
        let played = group.play(&weights(&config), 1.0).unwrap();
        assert_eq!(played.positions, 5 * 30);
        assert!(played.evaluations > 0 && played.known > 0);
        assert_eq!(played.policies, played.positions);
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
        let played = group.play(&weights(&config), 1.0).unwrap();
        searched += played.positions;
        handed += played.samples.len() as u64;
        // Only the positions within the horizon of a game in progress wait.
        assert!(searched - handed <= 5 * 3);
        assert!(handed <= searched);
    }
    // Without a horizon a position waits for the end of its game, which is far from a short opening.
    config.value_target.horizon = 0;
    config.selfplay.opening_plies = 3;
    config.selfplay.plies = 1;
    let played = Group::new(&config, 0, 0)
        .play(&weights(&config), 1.0)
        .unwrap();
    assert!(played.samples.is_empty() && played.positions == 5);
}

#[test]
fn simulations_rise_over_the_first_half_of_the_budget() {
    let mut config = config(6);
    config.selfplay.first_simulations = 2;
    config.selfplay.simulations = 10;
    config.selfplay.plies = 4;
    let asked = |config: &Config, progress: f64| {
        let mut group = Group::new(config, 0, 0);
        let played = group.play(&weights(config), progress).unwrap();
        played.evaluations + played.known
    };
    let counts = [0.0, 0.25, 0.5, 1.0].map(|progress| asked(&config, progress));
    assert!(counts[0] < counts[1] && counts[1] < counts[2], "{counts:?}");
    assert_eq!(counts[2], counts[3]);
    config.selfplay.first_simulations = 10;
    assert_eq!(asked(&config, 0.0), counts[3]);
}

#[test]
fn quick_moves_teach_values_but_no_policy() {
    let mut config = config(4);
    config.selfplay.quick_simulations = 2;
    config.selfplay.quick_share = 0.5;
    let mut group = Group::new(&config, 0, 0);
    let played = group.play(&weights(&config), 1.0).unwrap();
    let (quick, full): (Vec<Sample>, Vec<Sample>) = played
        .samples
        .into_iter()
        .partition(|sample| sample.policy.iter().all(|&share| share == 0.0));
    assert!(quick.len() > 20 && full.len() > 20);
    assert!(played.policies > 0 && played.policies < played.positions);
    for sample in &full {
        check_sample(&config, sample);
    }
    for mut sample in quick {
        let position = position_of(&sample.observation, &config.ruleset).unwrap();
        sample.policy[position.legal_moves().nth(0).unwrap()] = 1.0;
        check_sample(&config, &sample);
    }
    config.selfplay.quick_share = 1.0;
    let all = Group::new(&config, 0, 0).play(&weights(&config), 1.0);
    assert_eq!(all.unwrap().policies, 0);
}

#[test]
fn a_group_depends_on_its_seed_and_number_alone() {
    let config = config(6);
    let play = |config: &Config, number| {
        let mut group = Group::new(config, number, 0);
        let first = group.play(&weights(config), 1.0).unwrap().samples;
        let second = group.play(&weights(config), 1.0).unwrap().samples;
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
