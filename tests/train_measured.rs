//! What is measured beside training: regret, the best agent, events for `TensorBoard`.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

mod train_program;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use endodoi::policy::agent_file::AgentFile;
use endodoi::policy::{Agent, AgentSearch};
use endodoi::train::background::Background;
use endodoi::train::config::Config;
use endodoi::train::folder::RunFolder;
use endodoi::train::metrics::{Best, Merit};
use endodoi::train::progress::{Progress, Show};
use endodoi::train::run::{Ending, Run};
use serde_json::Value;
use train_program::rules;

/// A run of a few seconds that measures its agent all the time.
fn config(steps: u64) -> Config {
    let mut config = train_program::config(steps);
    config.evaluation.every = 1e-3;
    config.evaluation.games = 4;
    config.evaluation.regret_positions = 50;
    config
}

fn train(run: &mut Run) {
    assert_eq!(train_program::train(run), Ending::Finished);
}

fn reports(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path.join("metrics.jsonl")).expect("written");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn record(path: &Path) -> Best {
    let bytes = fs::read(path.join("best.json")).expect("written");
    serde_json::from_slice(&bytes).expect("JSON")
}

#[test]
fn a_measurement_takes_one_thread_while_it_lasts() {
    let folder = tempfile::tempdir().expect("folder");
    let config = config(1);
    let run = RunFolder::create(&folder.path().join("run"), &config).expect("created");
    let mut background = Background::start(&config, &run);
    // The positions of the regret are solved at first.
    let unasked = AtomicBool::new(false);
    background.wait_unless(&unasked).expect("solved");
    assert_eq!(background.threads(), 0);
    let mut without = config.clone();
    without.evaluation.every = 0.0;
    assert_eq!(Background::start(&without, &run).threads(), 0);

    let mut long = config;
    long.ruleset = rules(5);
    long.evaluation.regret_positions = 100_000;
    let run = RunFolder::create(&folder.path().join("long"), &long).expect("created");
    assert_eq!(Background::start(&long, &run).threads(), 1);
}

#[test]
fn regret_is_measured_beside_training_and_the_best_agent_kept() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("run");
    let mut run = Run::start(config(60), &path).expect("started");
    train(&mut run);
    let reports = reports(&path);
    let measured: Vec<&Value> = reports
        .iter()
        .filter(|report| report["regret"].is_object())
        .collect();
    // The last agent is measured whatever the clock says.
    let at_the_end = &measured.last().expect("measured")["regret"];
    assert_eq!(at_the_end["step"], 60);
    for report in &measured {
        let regret = &report["regret"];
        assert_eq!(regret["positions"], 50);
        assert_eq!(regret["reference"], "perfect");
        let optimal = regret["optimal"].as_f64().expect("a number");
        assert!((0.0..=1.0).contains(&optimal));
        assert!((optimal < 1.0) == (regret["seeds_lost"].as_f64() > Some(0.0)));
        assert_eq!(report["scores"]["games"], 4);
        assert_eq!(report["scores"]["step"], regret["step"]);
    }
    // The best is the one that lost the fewest seeds, the later of two alike.
    let mut best: Option<(f64, u64)> = None;
    for report in &measured {
        let lost = report["regret"]["seeds_lost"].as_f64().expect("a number");
        if best.is_none_or(|(least, _)| lost <= least) {
            best = Some((lost, report["regret"]["step"].as_u64().expect("a step")));
        }
        let told = &report["best"];
        assert_eq!(
            (told["value"].as_f64(), told["step"].as_u64()),
            best.map_or((None, None), |(lost, step)| (Some(lost), Some(step)))
        );
    }
    let found = run.best().expect("measured");
    assert_eq!(Some((found.value, found.step)), best);
    assert_eq!((found.by, found.count), (Merit::SeedsLost, 50));
    assert_eq!(record(&path), found);
    let agent = Agent::load(&path, AgentSearch::Default).expect("an agent");
    assert_eq!(agent.metadata().step, found.step);
}

#[test]
fn a_run_that_goes_on_keeps_its_positions_and_its_best_agent() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("run");
    train(&mut Run::start(config(10), &path).expect("started"));
    let exam = fs::read(path.join("exam.json")).expect("written");
    let agent = AgentFile::read(&path.join("best.safetensors")).expect("an agent");
    // Nothing that training finds is better than no seed lost at all.
    let unbeaten = Best {
        value: -1.0,
        ..record(&path)
    };
    let text = serde_json::to_string(&unbeaten).expect("JSON");
    fs::write(path.join("best.json"), &text).expect("written");
    // The positions are read, not solved again: made-up margins stay.
    let mut made_up: Value = serde_json::from_slice(&exam).expect("JSON");
    for asked in made_up["questions"].as_array_mut().expect("a list") {
        asked["margins"][0] = 1000.into();
    }
    fs::write(path.join("exam.json"), made_up.to_string()).expect("written");
    let mut resumed = Run::resume(config(20), &path).expect("resumed");
    assert_eq!(resumed.best(), Some(unbeaten));
    train(&mut resumed);
    assert_eq!(resumed.best(), Some(unbeaten));
    assert_eq!(
        AgentFile::read(&path.join("best.safetensors")).expect("an agent"),
        agent
    );
    let exam = |run: &Path| -> Value {
        let text = fs::read_to_string(run.join("exam.json")).expect("there");
        serde_json::from_str(&text).expect("JSON")
    };
    assert_eq!(exam(&path), made_up);
    let reports = reports(&path);
    let latest = reports
        .iter()
        .rev()
        .find(|report| report["regret"].is_object());
    let lost = latest.expect("measured")["regret"]["seeds_lost"].as_f64();
    assert!(lost.expect("a number") > 100.0);
    // A run beside it takes them over.
    let beside = folder.path().join("beside");
    train(&mut Run::start(config(3), &beside).expect("started"));
    assert_eq!(exam(&beside), made_up);
    // A record of another agent than the file is not believed.
    let other = Best {
        step: unbeaten.step + 1,
        ..unbeaten
    };
    let text = serde_json::to_string(&other).expect("JSON");
    fs::write(path.join("best.json"), &text).expect("written");
    assert_eq!(
        Run::resume(config(20), &path).expect("resumed").best(),
        None
    );
}

#[test]
fn the_final_table_shows_the_best_and_the_last_agent() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("run");
    let mut run = Run::start(config(10), &path).expect("started");
    train(&mut run);
    let unbeaten = Best {
        value: -1.0,
        ..record(&path)
    };
    let text = serde_json::to_string(&unbeaten).expect("JSON");
    fs::write(path.join("best.json"), &text).expect("written");
    let mut run = Run::resume(config(20), &path).expect("resumed");
    train(&mut run);
    let table = run.evaluate(&AtomicBool::new(false), &mut Progress::new(Show::None));
    let table = table.expect("played").expect("a table").to_string();
    let text = fs::read_to_string(path.join("evaluation.json")).expect("written");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(document["step"], unbeaten.step);
    assert_eq!(document["other"]["step"], 20);
    for agent in [&document, &document["other"]] {
        assert_eq!(agent["results"].as_array().map(Vec::len), Some(3));
        assert_eq!(agent["regret"]["positions"], 50);
    }
    assert!(table.contains("step 20: "), "{table}");
    assert!(table.contains("best.safetensors"), "{table}");
    assert_eq!(table.matches("regret: ").count(), 2, "{table}");
}

#[test]
fn without_regret_the_best_agent_is_that_of_the_highest_score() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("run");
    let mut config = config(30);
    config.evaluation.regret_positions = 0;
    let mut run = Run::start(config, &path).expect("started");
    train(&mut run);
    assert!(!path.join("exam.json").exists());
    let best = run.best().expect("measured");
    assert_eq!((best.by, best.count), (Merit::Score, 4));
    let mut highest: f64 = 0.0;
    for report in reports(&path) {
        assert!(report["regret"].is_null());
        if let Some(score) = report["scores"]["score"].as_object() {
            assert_eq!(score.len(), 3);
            let sum: f64 = score.values().filter_map(Value::as_f64).sum();
            highest = highest.max(sum / 3.0);
        }
    }
    assert!((best.value - highest).abs() < 1e-12);
    // The table, of more games, decides between the best and the last.
    let table = run.evaluate(&AtomicBool::new(false), &mut Progress::new(Show::None));
    let table = table.expect("played").expect("a table");
    let best = run.best().expect("measured");
    assert_eq!(table.first.agent.metadata.step, best.step);
    if let Some(other) = &table.other {
        let (first, other) = (&table.first.evaluation, &other.evaluation);
        assert!(first.mean_score() >= other.mean_score());
    }
    let agent = Agent::load(&path, AgentSearch::Default).expect("an agent");
    assert_eq!(agent.metadata().step, best.step);
}

#[test]
fn measurements_change_nothing_in_training() {
    let folder = tempfile::tempdir().expect("folder");
    let agent = |every: f64, name: &str| {
        let mut config = config(15);
        config.evaluation.every = every;
        let path = folder.path().join(name);
        train(&mut Run::start(config, &path).expect("started"));
        fs::read(path.join("agent.safetensors")).expect("an agent")
    };
    assert_eq!(agent(1e-3, "measured"), agent(0.0, "not"));
    assert!(!folder.path().join("not/best.safetensors").exists());
    assert!(!folder.path().join("not/exam.json").exists());
}

#[test]
fn a_board_with_few_positions_asks_all_of_them() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("run");
    let mut few = config(3);
    few.ruleset = rules(2);
    few.evaluation.regret_positions = 100_000;
    train(&mut Run::start(few, &path).expect("started"));
    let reports = reports(&path);
    let regret = reports
        .iter()
        .rev()
        .find(|report| report["regret"].is_object());
    let positions = regret.expect("measured")["regret"]["positions"].as_u64();
    assert!((5..50_000).contains(&positions.expect("a number")));
}

/// Reads the events of a folder: step and numbers by name, every checksum compared.
fn events(path: &Path) -> Vec<(u64, BTreeMap<String, f32>)> {
    let mut files: Vec<PathBuf> = fs::read_dir(path)
        .expect("a folder")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|file| file.to_string_lossy().contains("events.out.tfevents."))
        .collect();
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let bytes = fs::read(file).expect("a file");
        let mut rest = bytes.as_slice();
        let mut first = true;
        while !rest.is_empty() {
            let (length, after) = rest.split_at(8);
            assert_eq!(after[..4], checksum(length));
            let size = u64::from_le_bytes(length.try_into().expect("eight")) as usize;
            let data = &after[4..4 + size];
            assert_eq!(after[4 + size..8 + size], checksum(data));
            rest = &after[8 + size..];
            let fields = fields(data);
            if first {
                assert_eq!(fields[2], (3, b"brain.Event:2".to_vec()));
                first = false;
                continue;
            }
            let step = fields.iter().find(|(number, _)| *number == 2);
            let step = varint(&step.expect("a step").1).0;
            if fields.iter().any(|(number, _)| *number == 7) {
                // A part begins here: TensorBoard drops this step and those behind it.
                found.retain(|(earlier, _)| *earlier < step);
                continue;
            }
            let summary = fields.iter().find(|(number, _)| *number == 5);
            let summary = &summary.expect("a summary").1;
            let values = self::fields(summary).into_iter().map(|(_, value)| {
                let parts = self::fields(&value);
                let name = String::from_utf8(parts[0].1.clone()).expect("text");
                let number = parts[1].1.as_slice().try_into().expect("four bytes");
                (name, f32::from_le_bytes(number))
            });
            found.push((step, values.collect()));
        }
    }
    found
}

/// The masked checksum of Castagnoli, bit by bit.
fn checksum(data: &[u8]) -> [u8; 4] {
    let mut crc = !0_u32;
    for &byte in data {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0x82F6_3B78 * (crc & 1));
        }
    }
    (!crc)
        .rotate_right(15)
        .wrapping_add(0xA282_EAD8)
        .to_le_bytes()
}

/// Splits a protocol buffer into its fields.
fn fields(mut data: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut found = Vec::new();
    while !data.is_empty() {
        let (key, used) = varint(data);
        data = &data[used..];
        let (skip, size) = match key & 7 {
            0 => (0, varint(data).1),
            1 => (0, 8),
            2 => {
                let (size, used) = varint(data);
                (used, size as usize)
            }
            5 => (0, 4),
            kind => panic!("a field of kind {kind}"),
        };
        found.push((key >> 3, data[skip..skip + size].to_vec()));
        data = &data[skip + size..];
    }
    found
}

fn varint(data: &[u8]) -> (u64, usize) {
    let mut number = 0;
    for (place, byte) in data.iter().enumerate() {
        number |= u64::from(byte & 0x7F) << (7 * place);
        if byte & 0x80 == 0 {
            return (number, place + 1);
        }
    }
    panic!("a number without an end");
}

#[test]
fn events_for_tensorboard_hold_what_the_lines_do() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("run");
    let checkpoint = path.join("checkpoint.safetensors");
    train(&mut Run::start(config(6), &path).expect("started"));
    let early = fs::read(&checkpoint).expect("a checkpoint");
    train(&mut Run::resume(config(10), &path).expect("resumed"));
    // As after a kill: measured until iteration 10, but the checkpoint is that of iteration 6.
    fs::write(&checkpoint, early).expect("written");
    train(&mut Run::resume(config(14), &path).expect("resumed"));
    let (events, reports) = (events(&path), reports(&path));
    assert_eq!(events.len(), reports.len());
    for ((step, numbers), report) in events.iter().zip(&reports) {
        assert_eq!(report["step"], *step);
        let same = |name: &str, value: &Value| {
            let wanted = value.as_f64().map(|number| number as f32);
            assert_eq!(numbers.get(name).copied(), wanted, "{name}");
        };
        same("run/games", &report["games"]);
        same("learning/policy_loss", &report["policy_loss"]);
        same("selfplay/entropy", &report["entropy"]);
        same(
            "speed/positions_per_second",
            &report["positions_per_second"],
        );
        same("score/greedy", &report["scores"]["score"]["greedy"]);
        same("regret/seeds_lost", &report["regret"]["seeds_lost"]);
        same("best/value", &report["best"]["value"]);
    }
    assert!(
        events
            .iter()
            .any(|(_, numbers)| numbers.contains_key("regret/optimal"))
    );

    let mut without = config(2);
    without.output.tensorboard = false;
    let path = folder.path().join("without");
    train(&mut Run::start(without, &path).expect("started"));
    assert!(self::events(&path).is_empty());
}

#[test]
fn a_program_that_listens_hears_every_report() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("short.toml");
    fs::write(&file, config(5).to_toml().expect("TOML")).expect("written");
    let path = folder.path().join("run");
    let output = Command::new(env!("CARGO_BIN_EXE_endodoi-train"))
        .args(["--progress", "json", "--config"])
        .arg(file)
        .arg("--out")
        .arg(&path)
        .output()
        .expect("started");
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).expect("text");
    let (mut heard, mut told) = (Vec::new(), 0);
    for line in said.lines().filter(|line| line.starts_with('{')) {
        let line: Value = serde_json::from_str(line).expect("JSON");
        match line.get("report") {
            Some(report) => heard.push(report.clone()),
            None => told += usize::from(line["say"].is_string()),
        }
    }
    assert_eq!(heard, reports(&path));
    assert!(told >= 2, "{said}");
    assert!(output.stderr.is_empty());
    let best = record(&path);
    assert!(said.contains(&format!("best agent:     {best}")), "{said}");
    assert!(said.contains("agent:          "), "{said}");
    assert!(said.contains("best.safetensors"), "{said}");
}

#[test]
fn any_setting_can_be_given_as_an_option() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("short.toml");
    fs::write(&file, config(2).to_toml().expect("TOML")).expect("written");
    let path = folder.path().join("run");
    let program = |more: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_endodoi-train"))
            .args(more)
            .output()
            .expect("started");
        (
            output.status.code(),
            String::from_utf8(output.stderr).expect("text"),
        )
    };
    let (file, out) = (file.to_string_lossy(), path.to_string_lossy());
    let (status, said) = program(&[
        "--set=optimiser.batch=16",
        "--set",
        "output.tensorboard = false",
        "--set=ruleset.direction=parity",
        "--set=evaluation={ every = 0.0, final_games = 0 }",
        "--config",
        &file,
        "--out",
        &out,
    ]);
    assert_eq!(status, Some(0), "{said}");
    let used = Config::load(Some(&path.join("config.toml")), toml::Table::new()).expect("read");
    assert_eq!(used.optimiser.batch, 16);
    assert!(!used.output.tensorboard);
    assert_eq!(used.ruleset.direction().name(), "parity");
    assert_eq!((used.evaluation.games, used.evaluation.final_games), (4, 0));
    for (option, message) in [
        (
            "--set=optimiser.batch=0",
            "optimiser.batch is 0, expected 1 to",
        ),
        ("--set=optimiser.bach=9", "unknown field `bach`"),
        ("--set=batch", "expected KEY=VALUE"),
    ] {
        let other = folder.path().join("other");
        let (status, said) = program(&[option, "--out", &other.to_string_lossy()]);
        assert_eq!(status, Some(2));
        assert!(said.contains(message), "{said}");
        assert!(!other.exists());
    }
    let (status, said) = program(&["--set=network.channels=9", "--resume", &out]);
    assert_eq!(status, Some(2));
    assert!(said.contains("--set is network"), "{said}");
}

#[test]
fn where_there_is_no_terminal_every_measurement_has_a_plain_line() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("short.toml");
    fs::write(&file, config(5).to_toml().expect("TOML")).expect("written");
    let path = folder.path().join("run");
    let output = Command::new(env!("CARGO_BIN_EXE_endodoi-train"))
        .arg("--config")
        .arg(file)
        .arg("--out")
        .arg(&path)
        .output()
        .expect("started");
    let said = String::from_utf8(output.stderr).expect("text");
    assert!(!said.contains('\x1b'), "{said}");
    let measured = reports(&path)
        .iter()
        .filter(|report| report["regret"].is_object())
        .count();
    assert!(measured > 0);
    // A slow machine shows lines for the time passed as well.
    assert!(said.matches("regret: ").count() >= measured, "{said}");
    let last = said.lines().rfind(|line| line.contains("regret: "));
    let last = last.expect("shown");
    assert!(last.contains("step 5 | "), "{last}");
    assert!(last.contains("best agent: step "), "{last}");
}
