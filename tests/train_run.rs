//! Whole runs: files, threads, interrupts.

// A helper of a test fails as loudly as a test.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod train_program;

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command};
use std::sync::atomic::AtomicBool;

use endodoi::policy::{Agent, AgentSearch};
use endodoi::train::TrainError;
use endodoi::train::checkpoint::Checkpoint;
use endodoi::train::config::Config;
use endodoi::train::final_table::FinalTable;
use endodoi::train::progress::{Progress, Show};
use endodoi::train::run::{Ending, Run};
use train_program::{config, long, program, train, wait_for};

/// Plays the final table; `stopped` stands for a Ctrl-C.
fn evaluate(run: &mut Run, stopped: bool) -> Option<FinalTable> {
    run.evaluate(&AtomicBool::new(stopped), &mut Progress::new(Show::None))
        .unwrap()
}

#[test]
fn a_run_leaves_an_agent_and_what_is_known_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let config = config(20);
    let mut run = Run::start(config.clone(), &path).unwrap();
    assert_eq!(train(&mut run), Ending::Finished);
    let evaluation = evaluate(&mut run, false).unwrap();
    let agent = Agent::load(&path, AgentSearch::Default).unwrap();
    assert_eq!(agent.metadata().step, 20);
    assert_eq!(agent.metadata().ruleset, config.ruleset);
    assert_eq!(agent.simulations(), 2);
    let written = Config::load(Some(&path.join("config.toml")), toml::Table::new()).unwrap();
    assert_eq!(written, config);
    let json = |name: &str| -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(path.join(name)).unwrap()).unwrap()
    };
    assert_eq!(json("run.json")["version"], env!("CARGO_PKG_VERSION"));
    let results = json("evaluation.json")["results"].clone();
    let opponents: Vec<_> = results.as_array().unwrap().iter().collect();
    assert_eq!(opponents.len(), 3);
    for (row, name) in opponents.iter().zip(["random", "greedy", "alphabeta:4"]) {
        assert_eq!(row["opponent"], name);
        assert_eq!(row["games"], 4);
        assert!(evaluation.to_string().contains(name));
    }
    let metrics = fs::read_to_string(path.join("metrics.jsonl")).unwrap();
    let reports: Vec<serde_json::Value> = metrics
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let last = reports.last().unwrap();
    assert_eq!(last["step"], 20);
    assert_eq!(last["games"], run.counters().games);
    assert!(reports.len() as u64 >= run.counters().iteration);
    assert!(reports.iter().any(|report| report["policy_loss"].is_f64()));
}

#[test]
fn any_number_of_threads_learns_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let agent = |workers: usize, name: &str| {
        let mut config = config(15);
        config.workers = workers;
        let path = folder.path().join(name);
        let mut run = Run::start(config, &path).unwrap();
        train(&mut run);
        fs::read(path.join("agent.safetensors")).unwrap()
    };
    let one = agent(1, "one");
    assert_eq!(agent(1, "again"), one);
    assert_eq!(agent(4, "four"), one);
}

#[test]
fn a_run_goes_on_where_its_checkpoint_stands() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut run = Run::start(config(10), &path).unwrap();
    train(&mut run);
    let before = run.counters().clone();
    fs::write(path.join("agent.safetensors.123.part"), "half a file").unwrap();
    let checkpoint = Checkpoint::read(&path.join("checkpoint.safetensors")).unwrap();
    assert_eq!(checkpoint.moment.counters, before);
    assert_eq!(checkpoint.moment.step, 10);

    let mut resumed = Run::resume(config(16), &path).unwrap();
    assert_eq!(resumed.counters(), &before);
    assert_eq!(resumed.agent(), run.agent());
    assert!(!path.join("agent.safetensors.123.part").exists());
    assert_eq!(train(&mut resumed), Ending::Finished);
    assert_eq!(resumed.agent().metadata.step, 16);
    assert!(resumed.counters().games > before.games);
    assert!(resumed.counters().seconds > before.seconds);
    assert_ne!(resumed.agent().weights, run.agent().weights);
}

#[test]
fn a_folder_with_a_run_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    drop(Run::start(config(1), &path).unwrap());
    let error = Run::start(config(1), &path).unwrap_err();
    assert!(matches!(error, TrainError::RunExists { .. }));
    assert!(error.to_string().contains("--resume"), "{error}");
    // A run without a checkpoint begins again.
    assert_eq!(Run::resume(config(1), &path).unwrap().counters().games, 0);
    let nothing = Run::resume(config(1), &folder.path().join("other"));
    assert!(matches!(nothing, Err(TrainError::File { .. })));
}

#[test]
fn an_interrupt_finishes_the_iteration_and_says_how_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let child = program(folder.path(), &long(), &["run"]);
    wait_for(&folder.path().join("run/metrics.jsonl"));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    let program = env!("CARGO_BIN_EXE_endodoi-train");
    assert!(said.contains("stopped; go on with: "), "{said}");
    assert!(said.contains(program), "{said}");
    let path = folder.path().join("run");
    let mut resumed = Run::resume(config(1), &path).unwrap();
    assert!(resumed.counters().iteration >= 1);
    assert!(evaluate(&mut resumed, false).is_some());
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

#[test]
fn a_second_interrupt_ends_the_program_within_an_iteration() {
    let folder = tempfile::tempdir().unwrap();
    let mut slow = long();
    slow.selfplay.simulations = 1_000_000;
    let mut child = program(folder.path(), &slow, &[]);
    wait_for(&folder.path().join("run/agent.safetensors"));
    interrupt(&child);
    // The first one has been heard when it is answered.
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let heard = said.find(|line| line.as_ref().unwrap().contains("once more ends at once"));
    assert!(heard.is_some());
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let rest: Vec<String> = said.map(Result::unwrap).collect();
    assert!(rest.is_empty(), "{rest:?}");
    Agent::load(folder.path().join("run"), AgentSearch::Default).unwrap();
}

#[test]
fn an_interrupt_leaves_out_the_final_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut run = Run::start(config(1), &path).unwrap();
    train(&mut run);
    assert!(evaluate(&mut run, true).is_none());
    assert!(!path.join("evaluation.json").exists());
}

#[test]
fn a_measurement_cut_short_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    train(&mut Run::start(config(2), &path).unwrap());
    let file = path.join("metrics.jsonl");
    let whole = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{whole}{{\"seconds\": 1.")).unwrap();
    train(&mut Run::resume(config(3), &path).unwrap());
    let now = fs::read_to_string(&file).unwrap();
    let more = now.strip_prefix(&whole).unwrap();
    assert!(!more.is_empty());
    for line in more.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}

#[test]
fn the_program_refuses_with_a_message_and_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let output = Command::new(env!("CARGO_BIN_EXE_endodoi-train"))
        .args(["--columns", "65", "--out"])
        .arg(&out)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("columns is 65, expected 1 to 64"), "{said}");
    assert!(!out.exists());
}

#[test]
fn the_program_says_what_it_is_and_which_libtorch_it_uses() {
    let said = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_endodoi-train"));
        let output = command.arg("about").args(arguments).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let about: serde_json::Value = serde_json::from_str(&said(&["--json"])).unwrap();
    assert_eq!(about["version"], env!("CARGO_PKG_VERSION"));
    let folder = about["libtorch"]["folder"].as_str().unwrap();
    let mut files = fs::read_dir(folder).unwrap();
    assert!(files.any(|file| {
        let name = file.unwrap().file_name();
        name.to_string_lossy().starts_with("libtorch_cpu.")
    }));
    let threads = std::thread::available_parallelism().unwrap().get();
    assert_eq!(about["threads"], threads);
    assert_eq!(
        about["instructions"],
        endodoi::batch::Instructions::best().name()
    );
    let text = said(&[]);
    assert!(text.contains(folder));
    assert!(text.starts_with("version "));
}
