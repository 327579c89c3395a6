//! Learner `value`: its network on libtorch, its targets, its settings and whole runs.

// A helper of a test fails as loudly as a test.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod train_program;

use std::fs;
use std::path::Path;

use endodoi::Position;
use endodoi::policy::agent_file::{AgentFile, Learner};
use endodoi::policy::network::margin_unit;
use endodoi::policy::value::{ValueNetwork, ValueSizes};
use endodoi::policy::weights::Weights;
use endodoi::policy::{Agent, AgentSearch};
use endodoi::search::{EndgameTable, MAX_DEPTH};
use endodoi::train::TrainError;
use endodoi::train::config::{Config, Device};
use endodoi::train::evaluate::{Evaluation, EvaluationPlan};
use endodoi::train::replay::{Replay, Sample};
use endodoi::train::run::{Ending, Run};
use endodoi::train::selfplay::Group;
use endodoi::train::target::{Searched, unfinished};
use endodoi::train::value_network::{TorchValueNetwork, ValueBatch};
use std::ops::ControlFlow;
use std::sync::Arc;
use train_program::{rules, train};

/// A run that takes a second.
fn config(steps: u64) -> Config {
    let mut config = Config::of_learner(Learner::Value, rules(3));
    config.budget.minutes = None;
    config.budget.steps = Some(steps);
    config.value.units = 16;
    config.value.hidden = 8;
    config.selfplay.groups = 3;
    config.selfplay.games = 8;
    config.replay.minimum = 200;
    config.replay.capacity = 4000;
    config.optimiser.batch = 64;
    config.optimiser.learning_rate = 3e-3;
    config.optimiser.average = 0.9;
    config.evaluation.every = 0.0;
    config.evaluation.final_games = 0;
    config.output.report = 0.0;
    config.workers = 1;
    config
}

/// Positions of a game, all with the same margin to be learnt.
fn ring(columns: i64, margin: f32) -> Replay {
    let rules = rules(columns);
    let mut replay = Replay::new(rules, 0, 100);
    let mut position = Position::start(&rules);
    while !position.is_over() {
        replay.push(&Sample {
            observation: position.observation(),
            policy: Vec::new(),
            chances: [0.0; 3],
            margin,
        });
        let column = position.legal_moves().nth(0).unwrap();
        position = position.play(column).unwrap();
    }
    replay
}

#[test]
fn both_value_networks_agree_within_a_ten_thousandth() {
    for columns in [1, 6, 50] {
        let sizes = ValueSizes {
            columns,
            levels: 9,
            units: 24,
            hidden: 7,
        };
        let mut config = config(1);
        config.ruleset = rules(columns as i64);
        // First weights give zero; a few steps give all of them something to say.
        config.value.levels = sizes.levels;
        config.value.units = sizes.units;
        config.value.hidden = sizes.hidden;
        let replay = ring(columns as i64, 3.0);
        let state = endodoi::train::learner::LearnerState::start(&config).unwrap();
        let mut learner = endodoi::train::learner::Learner::new(&config, &state).unwrap();
        learner.learn(&replay, 20, 1e-2).unwrap();
        let weights = learner.average().unwrap();
        let plain = ValueNetwork::new(weights.clone()).unwrap();
        let torch = TorchValueNetwork::new(sizes, &weights, tch::Device::Cpu).unwrap();
        let rows: Vec<usize> = (0..replay.len()).collect();
        let mut batch = ValueBatch::default();
        batch.gather(&replay, &rows, &sizes);
        let mut margins = vec![0.0_f32; rows.len()];
        let len = margins.len();
        torch.forward(&batch).unwrap().copy_data(&mut margins, len);
        let mut largest = 0.0_f32;
        for (row, margin) in margins.into_iter().enumerate() {
            let pits = replay.margin(row).unwrap().0;
            let pits: Vec<u16> = pits.iter().map(|&seeds| seeds as u16).collect();
            let unit = margin_unit(pits.iter().map(|&seeds| f32::from(seeds)).sum());
            let expected = plain.plain(&pits) / unit;
            largest = largest.max(expected.abs());
            assert!((margin - expected).abs() < 1e-4, "{margin} {expected}");
        }
        assert!(largest > 0.05, "{columns}: {largest}");
    }
}

#[test]
fn learning_brings_the_value_network_to_its_targets() {
    let config = config(1);
    let replay = ring(3, -4.0);
    let state = endodoi::train::learner::LearnerState::start(&config).unwrap();
    let mut learner = endodoi::train::learner::Learner::new(&config, &state).unwrap();
    let first = learner.learn(&replay, 1, 1e-2).unwrap();
    learner.learn(&replay, 200, 1e-2).unwrap();
    let last = learner.learn(&replay, 1, 1e-2).unwrap();
    assert!(last.margin < 0.05 * first.margin, "{first:?} {last:?}");
    assert!((last.total - last.margin).abs() < 1e-9);
}

#[test]
fn what_follows_a_move_drawn_at_random_is_no_target() {
    let (position, lambda) = (Position::start(&rules(3)), 0.75);
    let searched = |margin: f32, followed| Searched {
        side: position.to_move(),
        lead: 0,
        chances: [0.0; 3],
        margin,
        followed,
    };
    for (followed, expected) in [(true, 0.25 * 2.0 + 0.75 * 8.0), (false, 2.0)] {
        let game = [searched(2.0, followed), searched(8.0, true)];
        let targets = unfinished(&game, lambda);
        assert_eq!(targets.len(), 1);
        assert!((targets[0].margin - expected).abs() < 1e-6);
    }
}

#[test]
fn self_play_hands_out_what_its_search_says() {
    let mut config = config(1);
    config.value_target.lambda = 0.0;
    config.value_target.horizon = 1;
    config.value.depth = MAX_DEPTH;
    config.ruleset = {
        let fields = endodoi::RulesetFields {
            columns: Some(2),
            seeds_per_pit: Some(2),
            ..endodoi::RulesetFields::default()
        };
        endodoi::Ruleset::new(endodoi::Variant::EnDodoi, &fields).unwrap()
    };
    let mut quietly = |_| ControlFlow::Continue(());
    let table = EndgameTable::build(&config.ruleset, 8, Some(1), &mut quietly).unwrap();
    let table = Arc::new(table);
    let weights = Weights::random(config.shape(), 1).unwrap();
    // With the whole board in the table every leaf is exact, and so is every target.
    config.value.depth = 2;
    let mut group = Group::new(&config, 0, 0);
    group.use_table(&table);
    let played = group.play(&weights, 1.0).unwrap();
    assert!(played.samples.len() > 20 && played.games > 0);
    for sample in played.samples {
        let position =
            endodoi::train::replay::position_of(&sample.observation, &config.ruleset).unwrap();
        let exact = f32::from(table.value(&position).unwrap());
        assert!((sample.margin - exact).abs() < 1e-6, "{position}");
    }
}

#[test]
fn a_gpu_that_is_not_there_is_refused_before_anything_is_written() {
    if tch::Cuda::is_available() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    for learner in [Learner::Gumbel, Learner::Value] {
        let mut config = Config::of_learner(learner, rules(3));
        config.device = Device::Cuda;
        let error = Run::start(config, &path).unwrap_err();
        assert_eq!(error.status(), 2);
        let message = error.to_string();
        assert!(
            message.starts_with("device is cuda, expected cpu"),
            "{message}"
        );
        assert!(!path.exists());
    }
}

fn measurements(path: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(path.join("metrics.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

#[test]
fn a_value_run_learns_to_beat_random_and_greedy_play() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut run = Run::start(config(400), &path).unwrap();
    assert_eq!(train(&mut run), Ending::Finished);
    let file = AgentFile::read(&path.join("agent.safetensors")).unwrap();
    assert_eq!(file.metadata.learner, Learner::Value);
    assert_eq!((file.metadata.step, file.metadata.simulations), (400, 0));
    let plan = EvaluationPlan {
        ruleset: rules(3),
        games: 400,
        openings: 2,
        seed: 9,
    };
    let search = AgentSearch::None;
    let opponents = ["random", "greedy"];
    let found = Evaluation::play("x", &file, search, &opponents, &plan, |_, _| {}).unwrap();
    let scores: Vec<f64> = found.scores().map(|(_, score)| score).collect();
    assert!(scores[0] > 0.7 && scores[1] > 0.55, "{scores:?}");
    assert_eq!(found.search, "its network alone");
    let lines = measurements(&path);
    let last = lines.last().unwrap();
    assert!(last["margin_loss"].as_f64().unwrap() > 0.0);
    for absent in ["policy_loss", "value_loss", "entropy"] {
        assert!(last[absent].is_null(), "{absent}");
    }
}

#[test]
fn a_value_run_is_the_same_for_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = Vec::new();
    for workers in [1, 2, 5] {
        let mut config = config(60);
        config.workers = workers;
        config.value.table_seeds = 4;
        let path = folder.path().join(workers.to_string());
        train(&mut Run::start(config, &path).unwrap());
        bytes.push(fs::read(path.join("agent.safetensors")).unwrap());
    }
    assert!(bytes[0] == bytes[1] && bytes[0] == bytes[2]);
    assert!(Agent::load(folder.path().join("1"), AgentSearch::Default).is_ok());
}

fn refused(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.toml");
    fs::write(&file, text).unwrap();
    let error = Config::load(Some(&file), toml::Table::new()).unwrap_err();
    assert_eq!(error.status(), 2, "{error}");
    error.to_string()
}

#[test]
fn settings_of_the_other_learner_are_refused_by_name() {
    for (text, message) in [
        (
            "learner = 'value'\n[selfplay]\nsimulations = 3",
            "selfplay.simulations is 3, but learner value has no such setting",
        ),
        (
            "learner = 'value'\n[network]\nchannels = 3",
            "but learner value has no such setting",
        ),
        (
            "learner = 'gumbel'\n[value]\nunits = 3",
            "but learner gumbel has no such setting",
        ),
        (
            "learner = 'gumbel'\n[evaluation]\ndepth = 3",
            "evaluation.depth is 3, but learner gumbel has no such setting",
        ),
        (
            "learner = 'td'",
            "learner is \"td\", expected gumbel or value",
        ),
        ("learner = 3", "learner is 3, expected a text"),
        (
            "learner = 'value'\n[value]\nunit = 3",
            "unknown field `unit`",
        ),
        (
            "learner = 'value'\n[value]\nunits = 0",
            "network.units is 0, expected 1 to 1024",
        ),
        (
            "learner = 'value'\n[value]\ndepth = 65",
            "value.depth is 65, expected 1 to 64",
        ),
        (
            "learner = 'value'\n[value]\nexplore = 1.5",
            "value.explore is 1.5, expected 0 to 1",
        ),
    ] {
        let found = refused(text);
        assert!(found.contains(message), "{text}: {found}");
    }
}

#[test]
fn a_configuration_says_what_its_learner_has_and_is_read_again() {
    for learner in [Learner::Gumbel, Learner::Value] {
        let config = Config::of_learner(learner, rules(6));
        let text = config.to_toml().unwrap();
        let is_value = learner == Learner::Value;
        assert_eq!(text.contains("[value]"), is_value, "{text}");
        assert_eq!(text.contains("simulations"), !is_value, "{text}");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.toml");
        fs::write(&file, text).unwrap();
        assert_eq!(
            Config::load(Some(&file), toml::Table::new()).unwrap(),
            config
        );
    }
}

#[test]
fn a_table_that_cannot_be_built_is_refused_by_name() {
    let mut config = Config::of_learner(Learner::Value, rules(50));
    config.value.table_seeds = 60;
    let folder = tempfile::tempdir().unwrap();
    let error = Run::start(config, &folder.path().join("run")).unwrap_err();
    assert!(
        matches!(
            &error,
            TrainError::Setting {
                field: "value.table_seeds",
                ..
            }
        ),
        "{error}"
    );
}
