//! Programs that end with the one that started them.

// A helper of a test fails as loudly as a test.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod train_program;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use train_program::{config, wait_for, wait_until};

fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_endodoi-train"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for a program whose input is closed by that.
fn left_alone(program: Child) -> String {
    let output = program.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn chunks_in(run: &Path) -> usize {
    fs::read_dir(run.join("queue/taken")).map_or(0, Iterator::count)
}

#[test]
fn learner_and_actor_end_when_what_started_them_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let (run, file) = (folder.path().join("run"), folder.path().join("config.toml"));
    let mut long = config(1);
    long.budget.steps = None;
    long.budget.minutes = Some(10.0);
    long.queue.positions = 60;
    long.output.checkpoint = 1e9;
    fs::write(&file, long.to_toml().unwrap()).unwrap();
    let (path, settings) = (run.display().to_string(), file.display().to_string());
    let mut learning = start(&["learn", "--run", &path, "--config", &settings, "--attached"]);
    let mut playing = start(&["selfplay", "--run", &path, "--attached"]);
    wait_for(&run.join("agent.safetensors"));
    wait_until("chunks taken", || chunks_in(&run) > 2);
    for program in [&mut learning, &mut playing] {
        assert!(program.try_wait().unwrap().is_none());
    }
    assert!(left_alone(playing).starts_with("actor 0: "));
    assert!(left_alone(learning).starts_with("stopped; go on with: "));
    // It has ended with a checkpoint that holds what it had taken.
    assert_eq!(chunks_in(&run), 0);
}
