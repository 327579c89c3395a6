//! Runs that are stopped, killed or find the disk full, and go on.

// A helper of a test fails as loudly as a test.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod train_program;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use endodoi::policy::agent_file::{AgentFile, Learner};
use endodoi::policy::{Agent, AgentSearch};
use endodoi::rng::{self, Purpose};
use endodoi::train::TrainError;
use endodoi::train::checkpoint::{Checkpoint, Counters};
use endodoi::train::config::Config;
use endodoi::train::metrics::MetricsFile;
use endodoi::train::progress::{Progress, Show};
use endodoi::train::replay::{Replay, Sample};
use endodoi::train::run::{Ending, Run};
use endodoi::train::state::State;
use serde_json::{Value, json};
use train_program::{config, long, program, rules, train, wait_for, wait_until};

/// Some thirty iterations; the ring is full long before the end, and draws are due in parts.
fn steady(columns: i64) -> Config {
    let mut config = config(60);
    config.ruleset = rules(columns);
    config.replay.ratio = 0.7;
    config.replay.capacity = 400;
    config.evaluation.final_games = 0;
    config
}

/// The same with learner `value`.
fn value(columns: i64) -> Config {
    let gumbel = steady(columns);
    let mut config = Config::of_learner(Learner::Value, rules(columns));
    config.budget = gumbel.budget;
    config.value.units = 16;
    config.value.hidden = 8;
    config.value.table_seeds = 3;
    config.selfplay.plies = 4;
    config.selfplay.groups = gumbel.selfplay.groups;
    config.selfplay.games = gumbel.selfplay.games;
    config.replay = gumbel.replay;
    config.optimiser.batch = gumbel.optimiser.batch;
    config.evaluation.every = 0.0;
    config.evaluation.final_games = 0;
    config.output = gumbel.output;
    config.workers = 1;
    config
}

/// Everything that a run leaves and that no clock decides.
#[derive(Debug, PartialEq)]
struct Remains {
    agent: AgentFile,
    counters: Counters,
    arrays: Vec<u8>,
    measurements: Vec<Value>,
}

fn remains(path: &Path) -> Remains {
    let checkpoint = Checkpoint::read(&path.join("checkpoint.safetensors")).unwrap();
    let mut counters = checkpoint.moment.counters.clone();
    counters.seconds = 0.0;
    Remains {
        agent: AgentFile::read(&path.join("agent.safetensors")).unwrap(),
        counters,
        arrays: checkpoint.state().unwrap().to_bytes(String::new()).unwrap(),
        measurements: measurements(path),
    }
}

fn measurements(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path.join("metrics.jsonl")).unwrap();
    let read = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let fields = line.as_object_mut().unwrap();
        for clocked in [
            "seconds",
            "positions_per_second",
            "evaluations_per_second",
            "learn_seconds",
            "play_seconds",
        ] {
            assert!(fields.remove(clocked).is_some());
        }
        line
    };
    text.lines().map(read).collect()
}

fn at_one_go(config: &Config, path: &Path) -> Remains {
    assert_eq!(
        train(&mut Run::start(config.clone(), path).unwrap()),
        Ending::Finished
    );
    remains(path)
}

/// Trains until so many measurements are written, as a Ctrl-C would end it, or the budget is used.
fn train_until(run: &mut Run, path: &Path, lines: usize) -> Ending {
    let (stop, ended) = (AtomicBool::new(lines == 0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            wait_until("measurements", || {
                ended.load(Ordering::Relaxed) || lines_of(path) >= lines
            });
            stop.store(true, Ordering::Relaxed);
        });
        let ending = run.train(&stop, &mut Progress::new(Show::None));
        ended.store(true, Ordering::Relaxed);
        ending.unwrap()
    })
}

fn lines_of(path: &Path) -> usize {
    fs::read_to_string(path.join("metrics.jsonl")).map_or(0, |text| text.lines().count())
}

/// 10 updates, resumed, and 10 more are 20 updates: weights, optimiser, schedule, counters, replay
/// and generators go on as if never stopped.
#[test]
fn a_run_stopped_again_and_again_is_the_run_at_one_go() {
    let mut whole_games = steady(6);
    whole_games.value_target.outcome = 0.5;
    let mut short_horizon = steady(4);
    short_horizon.value_target.horizon = 3;
    short_horizon.seed = 5;
    let learners = [steady(3), whole_games, short_horizon, value(4)];
    let mut stopped = 0;
    for (number, config) in learners.iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let expected = at_one_go(config, &folder.path().join("whole"));
        assert_eq!(expected.agent.metadata.step, 60);
        for stops in [vec![0, 1, 2, 10], vec![7, 8, 20], vec![13]] {
            let path = folder.path().join(format!("{}", stops[0]));
            let mut run = Run::start(config.clone(), &path).unwrap();
            for &lines in &stops {
                stopped += usize::from(train_until(&mut run, &path, lines) == Ending::Stopped);
                // The threads of a part of the run do not count either.
                let mut config = config.clone();
                config.workers = 1 + stopped % 2;
                run = Run::resume(config, &path).unwrap();
                assert!(run.notes().is_empty());
            }
            train(&mut run);
            assert_eq!(
                remains(&path),
                expected,
                "settings {number}, stops {stops:?}"
            );
        }
    }
    // A busy machine may hear a stop too late, but not most of the 24.
    assert!(stopped >= 12, "stopped {stopped} times only");
}

#[test]
fn a_run_killed_again_and_again_is_the_run_at_one_go() {
    let mut config = steady(3);
    config.budget.steps = Some(400);
    // Measurements are written more often than checkpoints: the later ones are taken back.
    config.output.checkpoint = 0.03;
    let folder = tempfile::tempdir().unwrap();
    let expected = at_one_go(&config, &folder.path().join("whole"));
    let path = folder.path().join("run");
    let mut killed = 0;
    for lines in [1, 20, 40, 90] {
        let more: &[&str] = &["--quiet"];
        let mut child = if lines == 1 {
            program(folder.path(), &config, more)
        } else {
            Command::new(env!("CARGO_BIN_EXE_endodoi-train"))
                .args(["--quiet", "--resume"])
                .arg(&path)
                .spawn()
                .unwrap()
        };
        wait_until("measurements", || lines_of(&path) >= lines);
        child.kill().unwrap();
        killed += usize::from(!child.wait().unwrap().success());
        Agent::load(&path, AgentSearch::Default).unwrap();
    }
    assert!(killed > 0, "the run was never killed");
    train(&mut Run::resume(config, &path).unwrap());
    assert_eq!(remains(&path), expected);
}

#[test]
fn a_killed_run_leaves_a_checkpoint_that_goes_on() {
    for wait in [0, 7, 90] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = program(folder.path(), &long(), &[]);
        let path = folder.path().join("run");
        // The second iteration begins when the checkpoint of the first one is there.
        wait_until("measurements", || lines_of(&path) >= 2);
        thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
        Agent::load(&path, AgentSearch::Default).unwrap();
        let mut resumed = Run::resume(config(1), &path).unwrap();
        let iterations = resumed.counters().iteration;
        assert!(iterations >= 1);
        let steps = resumed.agent().metadata.step;
        drop(resumed);
        resumed = Run::resume(config(steps + 1), &path).unwrap();
        assert_eq!(train(&mut resumed), Ending::Finished);
        assert!(resumed.counters().iteration > iterations);
    }
}

#[test]
fn a_run_that_goes_on_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = program(folder.path(), &long(), &["--quiet"]);
    let path = folder.path().join("run");
    wait_for(&path.join("metrics.jsonl"));
    let part = path.join("checkpoint.safetensors.1.part");
    fs::write(&part, "half a file").unwrap();
    let error = Run::resume(long(), &path).unwrap_err();
    assert!(matches!(error, TrainError::RunBusy { .. }));
    assert_eq!(error.status(), 2);
    assert!(part.exists());
    assert!(child.try_wait().unwrap().is_none(), "the run has ended");
    child.kill().unwrap();
    child.wait().unwrap();
    Run::resume(long(), &path).unwrap();
    assert!(!part.exists());
}

#[test]
fn measurements_later_than_the_checkpoint_are_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("metrics.jsonl");
    let text =
        "{\"iteration\":1}\n{\"iteration\":2}\n{\"iteration\":2}\n{\"iteration\":3}\n{\"iter";
    for (iteration, kept) in [(0, 0), (1, 1), (2, 3), (3, 4), (9, 4)] {
        fs::write(&file, text).unwrap();
        MetricsFile::open(&file, iteration, None).unwrap();
        let lines: Vec<&str> = text.lines().take(kept).collect();
        let found = fs::read_to_string(&file).unwrap();
        assert_eq!(found.lines().collect::<Vec<_>>(), lines);
        assert!(found.is_empty() || found.ends_with('\n'));
    }
}

/// A disk without space is stood in for by a largest file size.
#[cfg(unix)]
#[test]
fn a_full_disk_is_reported_and_the_last_checkpoint_stays() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = steady(6);
    config.budget.steps = Some(1_000_000);
    config.replay.capacity = 1_000_000;
    config.output.checkpoint = 0.0;
    config.output.report = 1e6;
    config.output.tensorboard = false;
    let file = folder.path().join("settings.toml");
    fs::write(&file, config.to_toml().unwrap()).unwrap();
    let path = folder.path().join("run");
    // The limit would end the program by a signal, where a full disk only refuses.
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 512; exec \"$@\"", "sh"])
        .arg(env!("CARGO_BIN_EXE_endodoi-train"))
        .args(["--quiet", "--config"])
        .arg(&file)
        .arg("--out")
        .arg(&path)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("checkpoint.safetensors: "), "{said}");
    let mut names: Vec<_> = fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let left = [
        "agent.safetensors",
        "checkpoint.safetensors",
        "config.toml",
        "metrics.jsonl",
        "run.json",
        "run.lock",
    ];
    assert_eq!(names, left);
    let resumed = Run::resume(config, &path).unwrap();
    assert!(resumed.counters().iteration > 1);
    assert_eq!(
        AgentFile::read(&path.join("agent.safetensors")).unwrap(),
        resumed.agent()
    );
}

/// A finished run of a few steps, and its checkpoint.
fn finished(folder: &Path) -> Checkpoint {
    train(&mut Run::start(steady(3), &folder.join("run")).unwrap());
    Checkpoint::read(&folder.join("run/checkpoint.safetensors")).unwrap()
}

fn header_of(path: &Path) -> Value {
    let bytes = fs::read(path).unwrap();
    serde_json::from_str(&State::from_bytes(&bytes).unwrap().1).unwrap()
}

#[test]
fn a_checkpoint_of_the_first_format_goes_on_without_its_replay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let checkpoint = finished(folder.path());
    let file = path.join("checkpoint.safetensors");
    let mut header = header_of(&file);
    assert_eq!(header["format_version"], 2);
    header["format_version"] = json!(1);
    for newer in ["ruleset", "checksum"] {
        assert!(header.as_object_mut().unwrap().remove(newer).is_some());
    }
    let mut state = checkpoint.state().unwrap();
    for newer in ["replay/", "games/", "waiting/"] {
        state.discard(newer);
    }
    fs::write(&file, state.to_bytes(header.to_string()).unwrap()).unwrap();
    let mut settings = steady(3);
    settings.budget.steps = Some(70);
    let mut resumed = Run::resume(settings, &path).unwrap();
    let notes = resumed.notes().join("\n");
    assert!(notes.contains("format version 1"), "{notes}");
    assert!(notes.contains("the replay ring fills again"), "{notes}");
    assert_eq!(resumed.counters(), &checkpoint.moment.counters);
    assert_eq!(resumed.agent().metadata.step, 60);
    train(&mut resumed);
    assert_eq!(resumed.agent().metadata.step, 70);
    assert_eq!(header_of(&file)["format_version"], 2);
}

#[test]
fn what_does_not_fit_the_settings_starts_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let checkpoint = finished(folder.path());
    let resumed = |change: fn(&mut Config)| {
        let mut settings = steady(3);
        settings.budget.steps = Some(65);
        change(&mut settings);
        let run = Run::resume(settings, &path).unwrap();
        assert_eq!(run.counters(), &checkpoint.moment.counters);
        run
    };
    assert!(
        resumed(|settings| settings.replay.capacity = 60)
            .notes()
            .is_empty()
    );
    assert!(
        resumed(|settings| settings.selfplay.groups = 3)
            .notes()
            .is_empty()
    );
    let fewer = resumed(|settings| settings.selfplay.groups = 2);
    assert!(fewer.notes()[0].contains("24 games in progress, the settings ask for 16"));
    let mut other = resumed(|settings| settings.ruleset = rules(4));
    assert!(
        other.notes()[0].contains("other rules"),
        "{:?}",
        other.notes()
    );
    train(&mut other);
    assert_eq!(other.agent().metadata.step, 65);
}

#[test]
fn broken_checkpoints_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let checkpoint = finished(folder.path());
    let file = path.join("checkpoint.safetensors");
    let refusal = |config: &Config| {
        let error = Run::resume(config.clone(), &path).unwrap_err();
        assert!(matches!(error, TrainError::Checkpoint { .. }));
        assert_eq!(error.status(), 1);
        let error = error.to_string();
        assert!(error.contains("checkpoint.safetensors: "), "{error}");
        error
    };
    let mut wider = steady(3);
    wider.network.channels = 9;
    assert!(refusal(&wider).contains("has shape"));
    wider.network = steady(3).network;
    wider.network.blocks = 2;
    assert!(refusal(&wider).contains("block1.taps is missing"));

    let bytes = fs::read(&file).unwrap();
    let header = header_of(&file);
    let with = |change: &dyn Fn(&mut Value, &mut State<'_>)| {
        let (mut header, mut state) = (header.clone(), checkpoint.state().unwrap());
        change(&mut header, &mut state);
        fs::write(&file, state.to_bytes(header.to_string()).unwrap()).unwrap();
        refusal(&steady(3))
    };
    let seal = |header: &mut Value, state: &State<'_>| header["checksum"] = json!(state.checksum());
    assert!(with(&|header, _| header["format_version"] = json!(3)).contains("version 3"));
    assert!(with(&|header, _| header["features_version"] = json!(99)).contains("features version"));
    let said = with(&|header, _| header["format"] = json!("endodoi-agent"));
    assert!(
        said.contains("this program reads endodoi-checkpoint"),
        "{said}"
    );
    let said = with(&|header, state| {
        state.discard("replay/policies");
        seal(header, state);
    });
    assert!(said.contains("replay/policies is missing"), "{said}");
    let said = with(&|header, state| {
        state.put_owned("replay/policies", &[3], &[0.5_f32; 3]);
        seal(header, state);
    });
    assert!(said.contains("replay/policies has shape [1, 3]"), "{said}");
    let said = with(&|header, state| {
        state.put_owned("games/sides", &[], &[0_u32; 24]);
        seal(header, state);
    });
    assert!(
        said.contains("games/sides holds U32, expected U8"),
        "{said}"
    );
    let said = with(&|header, state| {
        state.put_owned("games/positions", &[9], &[-1_i16; 9 * 24]);
        seal(header, state);
    });
    assert!(said.contains("games/positions, row 0: column 0"), "{said}");
    let said = with(&|header, state| {
        state.put_owned("games/waiting", &[], &[u64::MAX; 24]);
        seal(header, state);
    });
    assert!(said.contains("games/waiting, row 0"), "{said}");
    let said = with(&|header, state| {
        state.put_owned("replay/next", &[], &[401_u64]);
        seal(header, state);
    });
    assert!(said.contains("is 401, expected 0 to 400"), "{said}");
    let said = with(&|header, state| {
        state.put_owned("more", &[], &[1_u8]);
        seal(header, state);
    });
    assert!(said.contains("more is unknown"), "{said}");

    let mut flipped = bytes.clone();
    let last = flipped.len() - 1;
    flipped[last] ^= 16;
    fs::write(&file, flipped).unwrap();
    assert!(refusal(&steady(3)).contains("checksum"));
    fs::write(&file, &bytes[..bytes.len() - 5]).unwrap();
    assert!(refusal(&steady(3)).contains("not a complete safetensors file"));
    fs::copy(path.join("agent.safetensors"), &file).unwrap();
    refusal(&steady(3));
    fs::write(&file, &bytes).unwrap();
    assert!(Run::resume(steady(3), &path).unwrap().notes().is_empty());
}

#[test]
fn counters_are_read_as_they_were_written() {
    let mut stream = rng::stream(0, 0, Purpose::Play);
    for _ in 0..10_000 {
        let counters = Counters {
            due: f64::from(rng::unit(&mut stream)) * 1000.7,
            seconds: 1.0 / f64::from(rng::unit(&mut stream)).max(1e-9),
            episode: u64::MAX,
            ..Counters::default()
        };
        let text = serde_json::to_string(&counters).unwrap();
        assert_eq!(serde_json::from_str::<Counters>(&text).unwrap(), counters);
    }
}

#[test]
fn a_ring_of_another_capacity_keeps_the_newest_positions() {
    let sample = |number: i16| Sample {
        observation: vec![4, 4, 4, 4, 4, 4, number, 0, 0],
        policy: vec![0.25, 0.25, 0.5],
        chances: [1.0, 0.0, 0.0],
        margin: f32::from(number),
    };
    let margins = |ring: &Replay| -> Vec<f32> {
        let rows = (0..ring.len()).map(|row| ring.get(row).unwrap().1.margin);
        rows.collect()
    };
    for pushed in [3, 5, 7] {
        let mut ring = Replay::new(rules(3), 3, 5);
        (0..pushed).for_each(|number| ring.push(&sample(number)));
        for capacity in [1, 3, 5, 8] {
            let mut state = State::default();
            ring.put(&mut state);
            let mut taken = Replay::take(&mut state, rules(3), 3, capacity).unwrap();
            state.finish().unwrap();
            if capacity == 5 {
                assert_eq!(margins(&taken), margins(&ring));
            }
            // Whatever is pushed next takes the place of the oldest one.
            (pushed..pushed + 2).for_each(|number| taken.push(&sample(number)));
            let mut held = margins(&taken);
            held.sort_by(f32::total_cmp);
            let most = capacity.min(2 + ring.len()) as i16;
            let newest: Vec<f32> = (pushed + 2 - most..pushed + 2).map(f32::from).collect();
            assert_eq!(held, newest, "pushed {pushed}, capacity {capacity}");
        }
    }
}
