//! Small runs and the program, for the tests of whole runs.

// A helper of a test fails as loudly as a test; each test program uses some of them.
#![allow(clippy::unwrap_used, clippy::expect_used, dead_code)]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use endodoi::train::config::Config;
use endodoi::train::progress::{Progress, Show};
use endodoi::train::run::{Ending, Run};
use endodoi::{Ruleset, RulesetFields, Variant};

/// A run that takes a second.
pub(crate) fn config(steps: u64) -> Config {
    let mut config = Config::of_ruleset(rules(3));
    config.budget.minutes = None;
    config.budget.steps = Some(steps);
    config.network.channels = 8;
    config.network.blocks = 1;
    config.selfplay.groups = 3;
    config.selfplay.games = 8;
    config.selfplay.simulations = 4;
    config.replay.minimum = 50;
    config.replay.capacity = 1000;
    config.optimiser.batch = 32;
    config.evaluation.every = 0.0;
    config.evaluation.final_games = 4;
    config.evaluation.simulations = 2;
    config.output.report = 0.0;
    config.workers = 1;
    config
}

/// Settings of a run that would take ten minutes and writes a checkpoint after every iteration.
pub(crate) fn long() -> Config {
    let mut long = config(1);
    long.budget.steps = None;
    long.budget.minutes = Some(10.0);
    long.output.checkpoint = 0.0;
    long
}

/// En Dodoi on a board of so many columns.
pub(crate) fn rules(columns: i64) -> Ruleset {
    let fields = RulesetFields {
        columns: Some(columns),
        ..RulesetFields::default()
    };
    Ruleset::new(Variant::EnDodoi, &fields).unwrap()
}

/// Trains until the budget is used.
pub(crate) fn train(run: &mut Run) -> Ending {
    run.train(&AtomicBool::new(false), &mut Progress::new(Show::None))
        .unwrap()
}

/// Starts the program on a run in `folder/run`.
pub(crate) fn program(folder: &Path, config: &Config, more: &[&str]) -> Child {
    let file = folder.join("config.toml");
    fs::write(&file, config.to_toml().unwrap()).unwrap();
    Command::new(env!("CARGO_BIN_EXE_endodoi-train"))
        .args(more)
        .arg("--config")
        .arg(file)
        .arg("--out")
        .arg(folder.join("run"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until something holds.
pub(crate) fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until a file is there and not empty.
pub(crate) fn wait_for(path: &Path) {
    let there = || fs::metadata(path).is_ok_and(|file| file.len() > 0);
    wait_until(&path.display().to_string(), there);
}
