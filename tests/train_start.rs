//! Runs that start from an agent: on another size, with its network, and going on without it.

// A helper of a test fails as loudly as a test.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod train_program;

use std::fs;
use std::path::{Path, PathBuf};

use endodoi::policy::agent_file::{AgentFile, Learner};
use endodoi::train::config::Config;
use endodoi::train::learner::LearnerState;
use endodoi::train::run::{Ending, Run};
use train_program::{config, train};

/// Trains a small agent of learner `gumbel` on three columns, and returns its run's folder.
fn small_agent(folder: &Path) -> PathBuf {
    let path = folder.join("small");
    train(&mut Run::start(config(4), &path).unwrap());
    path
}

/// The settings of a run that starts from an agent, as a table.
fn options(start: &Path, more: &str) -> toml::Table {
    let mut table: toml::Table = more.parse().unwrap();
    table.insert("start".to_owned(), start.to_str().unwrap().into());
    table
}

/// Settings under which a run of a second starts from an agent.
const SHORT: &str = "workers = 1\nruleset = { columns = 5 }\nbudget = { steps = 3 }\n\
    selfplay = { groups = 2, games = 4, simulations = 4 }\n\
    replay = { minimum = 50, capacity = 1000 }\noptimiser = { batch = 32 }\n\
    evaluation = { every = 0, final_games = 0 }\noutput = { report = 0 }\n";

#[test]
fn a_run_on_another_size_starts_from_the_agents_weights() {
    let folder = tempfile::tempdir().unwrap();
    let small = small_agent(folder.path());
    let agent = AgentFile::read(&small.join("agent.safetensors")).unwrap();

    let config = Config::begin(None, options(&small, SHORT)).unwrap();
    assert_eq!(config.learner, Learner::Gumbel);
    assert_eq!(config.shape(), agent.metadata.network);
    assert_eq!(config.network.channels, 8);
    assert_eq!(config.ruleset.columns(), 5);
    let state = LearnerState::start(&config).unwrap();
    assert_eq!(
        (&state.weights, &state.average),
        (&agent.weights, &agent.weights)
    );
    assert_eq!(state.step, 0);

    let path = folder.path().join("grown");
    let mut run = Run::start(config, &path).unwrap();
    assert_eq!(run.agent().weights, agent.weights);
    assert_eq!(train(&mut run), Ending::Finished);
    let grown = AgentFile::read(&path.join("agent.safetensors")).unwrap();
    assert_eq!(grown.metadata.ruleset.columns(), 5);
    assert_eq!(grown.metadata.step, 3);
    assert_ne!(grown.weights, agent.weights);
}

#[test]
fn a_run_goes_on_when_the_agent_it_started_from_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let small = small_agent(folder.path());
    let path = folder.path().join("grown");
    let config = Config::begin(None, options(&small, SHORT)).unwrap();
    train(&mut Run::start(config.clone(), &path).unwrap());
    fs::remove_dir_all(&small).unwrap();

    let file = path.join("config.toml");
    let written = Config::load(Some(&file), toml::Table::new()).unwrap();
    assert_eq!(written, config);
    let more = "budget = { steps = 5 }".parse().unwrap();
    let mut run = Run::resume(Config::load(Some(&file), more).unwrap(), &path).unwrap();
    assert_eq!(train(&mut run), Ending::Finished);
    assert_eq!(run.agent().metadata.step, 5);
    // The same options as at first, for a learner of actors that is started again.
    let again = written.reload(None, options(&small, SHORT)).unwrap();
    assert_eq!(again, written);
}

#[test]
fn settings_that_are_named_win_over_the_agents_and_must_fit_it() {
    let folder = tempfile::tempdir().unwrap();
    let small = small_agent(folder.path());
    let refusal = |more: &str| {
        let refused = Config::begin(None, options(&small, more)).unwrap_err();
        assert_eq!(refused.status(), 2);
        refused.to_string()
    };
    let wide = refusal("network = { channels = 16 }");
    for part in ["start is", "small", "8 channels", "16 channels"] {
        assert!(wide.contains(part), "{part}: {wide}");
    }
    let other = refusal("learner = \"value\"");
    for part in ["start is", "gumbel with 8", "value on 8 columns"] {
        assert!(other.contains(part), "{part}: {other}");
    }
    assert!(refusal("ruleset = { columns = 65 }").contains("1 to 64"));
    let same = Config::begin(None, options(&small, "network = { channels = 8 }")).unwrap();
    assert_eq!(same.network.channels, 8);
}

#[test]
fn agents_that_cannot_be_read_are_refused_by_name_before_a_folder_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken.safetensors");
    fs::write(&broken, b"no agent").unwrap();
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    for start in [&broken, &folder.path().join("none.safetensors"), &empty] {
        let refused = Config::begin(None, options(start, SHORT)).unwrap_err();
        assert!(
            refused.to_string().contains(start.to_str().unwrap()),
            "{refused}"
        );
        assert_eq!(refused.status(), 2);
    }
    let number = Config::begin(None, "start = 3".parse().unwrap()).unwrap_err();
    assert!(number.to_string().contains("start"), "{number}");

    let mut config = config(1);
    config.start = Some(broken.to_str().unwrap().to_owned());
    let path = folder.path().join("run");
    let refused = Run::start(config, &path).unwrap_err();
    assert!(refused.to_string().contains("broken.safetensors"));
    assert!(!path.exists());
}

#[test]
fn a_value_agent_starts_runs_of_its_size_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = "value = { units = 8, hidden = 4, levels = 6, depth = 1 }\n";
    let short = SHORT.replace(", simulations = 4", "");
    let mut first = Config::load(None, format!("{short}{text}").parse().unwrap()).unwrap();
    first.budget.steps = Some(2);
    let path = folder.path().join("first");
    train(&mut Run::start(first.clone(), &path).unwrap());
    let other_rules = short.replace("columns = 5", "columns = 5, seeds_per_pit = 2");
    let config = Config::begin(None, options(&path, &other_rules)).unwrap();
    assert_eq!(config.value.units, 8);
    assert_eq!(
        config.value.depth, 2,
        "the depth of self-play is no part of the network"
    );
    assert_eq!(config.shape(), first.shape());
    let wider = short.replace("columns = 5", "columns = 6");
    let refused = Config::begin(None, options(&path, &wider))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("value on 5 columns") && refused.contains("value on 6 columns"));
}
