//! Runs for which actors play: the queue, its programs, and what a kill leaves.

// A helper of a test fails as loudly as a test.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod train_program;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use endodoi::policy::agent_file::{AgentFile, Learner};
use endodoi::policy::{Agent, AgentSearch};
use endodoi::train::TrainError;
use endodoi::train::actor::{Actor, ActorLimits, ActorWork};
use endodoi::train::checkpoint::{Checkpoint, Counters};
use endodoi::train::chunk::{Chunk, ChunkName};
use endodoi::train::config::Config;
use endodoi::train::folder::RunFolder;
use endodoi::train::progress::{Progress, Show};
use endodoi::train::queue::{Intake, Queue, Taken};
use endodoi::train::replay::Sample;
use endodoi::train::run::{Ending, Run};
use endodoi::train::state::State;
use serde_json::Value;
use train_program::{config, rules, wait_until};

/// A run that takes a few seconds, in small chunks.
fn small(learner: Learner, steps: u64) -> Config {
    let gumbel = config(steps);
    let mut small = match learner {
        Learner::Gumbel => gumbel.clone(),
        Learner::Value => Config::of_learner(learner, rules(4)),
    };
    small.budget = gumbel.budget;
    small.value.units = 16;
    small.value.hidden = 8;
    small.selfplay.groups = 2;
    small.selfplay.games = 4;
    small.selfplay.plies = 4;
    small.replay = gumbel.replay;
    small.optimiser.batch = gumbel.optimiser.batch;
    small.evaluation = gumbel.evaluation;
    small.evaluation.final_games = 0;
    small.output = gumbel.output;
    small.output.tensorboard = false;
    small.workers = 1;
    small.queue.chunks = 4;
    small.queue.positions = 60;
    small.queue.publish = 0.0;
    small
}

fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_endodoi-train"))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn learner(folder: &Path, config: &Config) -> Child {
    let file = folder.join("config.toml");
    fs::write(&file, config.to_toml().unwrap()).unwrap();
    let (file, run) = (file.display().to_string(), run_of(folder));
    start(&["learn", "--run", &run, "--config", &file])
}

fn actor(folder: &Path, number: &str) -> Child {
    start(&["selfplay", "--run", &run_of(folder), "--actor", number])
}

fn run_of(folder: &Path) -> String {
    folder.join("run").display().to_string()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Waits for a program that is to end well.
fn ended_well(program: Child) -> Output {
    let output = program.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    output
}

/// Ends a program as `kill -9` does.
fn kill(mut program: Child) {
    program.kill().unwrap();
    program.wait().unwrap();
}

fn header_of(path: &Path) -> Value {
    let bytes = fs::read(path).unwrap();
    serde_json::from_str(&State::from_bytes(&bytes).unwrap().1).unwrap()
}

fn counters_of(run: &Path) -> Counters {
    let checkpoint = Checkpoint::read(&run.join("checkpoint.safetensors")).unwrap();
    checkpoint.moment.counters
}

fn measurements(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let read = |line: &str| serde_json::from_str(line).unwrap();
    text.lines().map(read).collect()
}

/// Chunks in a folder.
fn chunks_in(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_chunk = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        ChunkName::of_file(&name).is_some()
    };
    let mut found: Vec<PathBuf> = paths.filter(is_chunk).collect();
    found.sort();
    found
}

/// Positions and games that the actors of a run count, less those in chunks that the learner has
/// not taken.
fn played_and_taken(run: &Path, actors: u32) -> [u64; 2] {
    let mut counts = [0, 0];
    let mut left = chunks_in(&run.join("queue"));
    for number in 0..actors {
        let folder = run.join(format!("actors/{number:04}"));
        let about = &header_of(&folder.join("games.safetensors"))["about"];
        counts[0] += about["positions"].as_u64().unwrap();
        counts[1] += about["games"].as_u64().unwrap();
        // One that was killed before it kept the games after the chunk plays it again.
        let next = about["next"].as_u64().unwrap();
        let counts = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy();
            ChunkName::of_file(&name).unwrap().number < next
        };
        left.extend(chunks_in(&folder).into_iter().filter(counts));
    }
    for path in left {
        let about = &header_of(&path)["about"];
        counts[0] -= about["positions"].as_u64().unwrap();
        counts[1] -= about["games"].as_u64().unwrap();
    }
    counts
}

#[test]
fn a_learner_and_two_actors_reach_the_steps_and_leave_an_agent() {
    for learnt in [Learner::Gumbel, Learner::Value] {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        let config = small(learnt, 600);
        let actors = ["0", "1"].map(|number| actor(folder.path(), number));
        let learning = ended_well(learner(folder.path(), &config));
        for (number, playing) in actors.into_iter().enumerate() {
            let said = text(&ended_well(playing).stdout);
            assert!(said.starts_with(&format!("actor {number}: ")), "{said}");
        }
        assert!(text(&learning.stdout).contains("agent:"));
        let agent = AgentFile::read(&run.join("agent.safetensors")).unwrap();
        assert_eq!(agent.metadata.step, 600);
        let counters = counters_of(&run);
        assert_eq!(agent.metadata.games, counters.games);
        Agent::new("agent", agent, AgentSearch::Default).unwrap();
        assert_eq!(
            played_and_taken(&run, 2),
            [counters.positions, counters.games]
        );
        assert_eq!(counters.taken.next.len(), 2);
        let taken: u64 = counters.taken.next.values().sum();
        assert_eq!((counters.taken.chunks, counters.taken.stale), (taken, 0));
        let last = measurements(&run).pop().unwrap();
        assert_eq!(last["queue"]["actors"], 2);
        assert_eq!(last["queue"]["chunks"], taken);
        assert!(last["play_seconds"].as_f64().unwrap() > 0.0);
        let oldest = |line: &Value| line["queue"]["staleness_max"].as_u64();
        let ages = measurements(&run);
        assert!(ages.iter().filter_map(oldest).any(|age| age > 0));
        assert!(chunks_in(&run.join("queue/taken")).is_empty());
    }
}

/// A checkpoint only at the beginning and the end, and one after every iteration.
#[test]
fn killed_programs_lose_no_chunk_and_count_none_twice() {
    for pause in [1e9, 0.0] {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        let mut config = small(Learner::Gumbel, 1200);
        config.output.checkpoint = pause;
        let mut learning = learner(folder.path(), &config);
        let mut actors = ["0", "1"].map(|number| actor(folder.path(), number));
        let lines =
            || fs::read_to_string(run.join("metrics.jsonl")).map_or(0, |text| text.lines().count());
        for round in 0..3 {
            let before = lines();
            wait_until("measurements", || lines() > before + 3);
            let at = round % 2;
            actors[at].kill().unwrap();
            actors[at].wait().unwrap();
            actors[at] = actor(folder.path(), ["0", "1"][at]);
            let before = lines();
            wait_until("measurements", || lines() > before + 3);
            kill(learning);
            let taken = chunks_in(&run.join("queue/taken"));
            // What was taken and is in no checkpoint is still there.
            assert!(pause == 0.0 || taken.len() >= 3, "{taken:?}");
            learning = learner(folder.path(), &config);
        }
        ended_well(learning);
        for playing in actors {
            ended_well(playing);
        }
        let counters = counters_of(&run);
        let agent = AgentFile::read(&run.join("agent.safetensors")).unwrap();
        assert_eq!(agent.metadata.step, 1200);
        assert_eq!(
            played_and_taken(&run, 2),
            [counters.positions, counters.games]
        );
        let taken: u64 = counters.taken.next.values().sum();
        assert_eq!((counters.taken.chunks, counters.taken.stale), (taken, 0));
        assert!(chunks_in(&run.join("queue/taken")).is_empty());
        assert_eq!(measurements(&run).pop().unwrap()["queue"]["refused"], 0);
    }
}

/// A run that has published its first weights, for actors of this process.
fn begun(folder: &Path, config: &Config) -> RunFolder {
    let run = folder.join("run");
    let mut learning = Run::start(config.clone(), &run).unwrap();
    learning.learn_from_queue().unwrap();
    let stop = AtomicBool::new(true);
    let ending = learning.train(&stop, &mut Progress::new(Show::None));
    assert_eq!(ending.unwrap(), Ending::Stopped);
    RunFolder::of_other(&run)
}

/// Lets an actor join and play so many games.
fn play(run: &RunFolder, config: &Config, number: u32, games: u64) -> ActorWork {
    let mut playing = Actor::join(config.clone(), run, Some(number)).unwrap();
    let limits = ActorLimits {
        games: Some(games),
        minutes: None,
    };
    let stop = AtomicBool::new(false);
    let work = playing.play(&limits, &stop, &mut Progress::new(Show::None));
    work.unwrap()
}

/// Reads the chunks of an actor in the queue, one after another.
fn samples_of(run: &RunFolder, config: &Config, number: u32) -> Vec<Sample> {
    let mut samples = Vec::new();
    for path in chunks_in(&run.path().join("queue")) {
        let name = ChunkName::of_file(&path.file_name().unwrap().to_string_lossy()).unwrap();
        if name.actor == number {
            let chunk = Chunk::from_bytes(&fs::read(&path).unwrap(), name, config).unwrap();
            samples.extend(chunk.played.samples);
        }
    }
    samples
}

#[test]
fn an_actor_that_comes_back_goes_on_as_if_it_had_never_gone() {
    for learnt in [Learner::Gumbel, Learner::Value] {
        let mut config = small(learnt, 100);
        config.queue.chunks = 1000;
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let runs = folders
            .each_ref()
            .map(|folder| begun(folder.path(), &config));
        play(&runs[0], &config, 3, 120);
        for games in [1, 20, 7, 50] {
            play(&runs[1], &config, 3, games);
        }
        let [whole, parts] = runs.each_ref().map(|run| samples_of(run, &config, 3));
        let length = whole.len().min(parts.len());
        assert!(length > 500);
        assert!(whole[..length] == parts[..length]);
    }
}

#[test]
fn an_actor_of_other_settings_starts_its_games_anew_and_broken_ones_are_refused() {
    let mut config = small(Learner::Gumbel, 100);
    config.queue.chunks = 1000;
    let folder = tempfile::tempdir().unwrap();
    let run = begun(folder.path(), &config);
    let games = run.path().join("actors/0002/games.safetensors");
    play(&run, &config, 2, 20);
    let about = |key: &str| header_of(&games)["about"][key].as_u64().unwrap();
    let [next, episode, positions] = ["next", "episode", "positions"].map(about);
    assert!(next > 0 && positions > 0);
    config.selfplay.games = 7;
    play(&run, &config, 2, 0);
    assert_eq!(about("next"), next);
    play(&run, &config, 2, 20);
    assert!(about("next") > next);
    assert!(about("episode") > episode);
    assert!(about("positions") > positions);
    assert_eq!(
        chunks_in(&run.path().join("queue")).len() as u64,
        about("next")
    );

    let refusal = |config: &Config| {
        let error = Actor::join(config.clone(), &run, Some(2)).unwrap_err();
        assert!(error.to_string().contains("games.safetensors: "), "{error}");
        error.to_string()
    };
    let mut other = config.clone();
    other.seed = 3;
    assert!(refusal(&other).contains("its seed is 0, expected 3"));
    let mut bytes = fs::read(&games).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&games, &bytes).unwrap();
    assert!(refusal(&config).contains("the file is damaged"));
    let chunk = chunks_in(&run.path().join("queue")).remove(0);
    fs::copy(&chunk, &games).unwrap();
    assert!(refusal(&config).contains("this program reads endodoi-actor version 2"));
}

#[test]
fn actors_never_play_the_same_games() {
    let mut config = small(Learner::Gumbel, 100);
    config.ruleset = rules(6);
    config.queue.chunks = 1000;
    let folder = tempfile::tempdir().unwrap();
    let run = begun(folder.path(), &config);
    let mut seen = BTreeSet::new();
    let mut count = 0;
    for number in [0, 1, 7] {
        // The second time it goes on with what the first has begun.
        play(&run, &config, number, 8);
        play(&run, &config, number, 8);
        let samples = samples_of(&run, &config, number);
        for plies in samples.chunks_exact(8) {
            let shown = plies.iter().flat_map(|sample| sample.observation.clone());
            seen.insert(shown.collect::<Vec<i16>>());
            count += 1;
        }
    }
    assert!(count > 60, "{count}");
    assert_eq!(seen.len(), count);
}

#[test]
fn the_queue_never_holds_more_chunks_than_the_settings_allow() {
    let mut config = small(Learner::Gumbel, 100);
    config.queue.chunks = 3;
    config.queue.positions = 1;
    let folder = tempfile::tempdir().unwrap();
    let run = begun(folder.path(), &config);
    let queue = Queue::open(&run).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for number in 0..3 {
            let (run, config, stop) = (&run, &config, &stop);
            scope.spawn(move || {
                let mut playing = Actor::join(config.clone(), run, Some(number)).unwrap();
                let limits = ActorLimits::default();
                let work = playing.play(&limits, stop, &mut Progress::new(Show::None));
                work.unwrap()
            });
        }
        let mut taken = Taken::default();
        let mut intake = Intake::open(&run, &taken).unwrap();
        for _ in 0..20 {
            wait_until("a full queue", || queue.len().unwrap() == 3);
            for _ in 0..10 {
                assert!(queue.len().unwrap() <= 3);
                thread::sleep(Duration::from_millis(1));
            }
            assert!(intake.next(&config, 0, &mut taken).unwrap().is_some());
        }
        assert_eq!(taken.chunks, 20);
        wait_until("a full queue", || queue.len().unwrap() == 3);
        stop.store(true, Ordering::Relaxed);
    });
    // What found no room comes when there is some, and the numbers have no gap.
    let mut taken = Taken::default();
    let mut intake = Intake::open(&run, &taken).unwrap();
    while intake.next(&config, 0, &mut taken).unwrap().is_some() {}
    assert_eq!(taken.chunks, 23);
    for number in 0..3 {
        play(&run, &config, number, 0);
        let folder = run.path().join(format!("actors/{number:04}"));
        assert!(chunks_in(&folder).is_empty());
    }
    while intake.next(&config, 0, &mut taken).unwrap().is_some() {}
    assert_eq!(taken.next.values().sum::<u64>(), taken.chunks);
}

#[test]
fn damaged_and_foreign_chunks_are_moved_aside_by_name() {
    let mut config = small(Learner::Gumbel, 5);
    config.queue.chunks = 1000;
    let folder = tempfile::tempdir().unwrap();
    let run = begun(folder.path(), &config);
    play(&run, &config, 0, 60);
    let other = tempfile::tempdir().unwrap();
    let mut another = config.clone();
    another.seed = 99;
    let foreign = begun(other.path(), &another);
    play(&foreign, &another, 5, 10);

    let queue = run.path().join("queue");
    let chunks = chunks_in(&queue);
    assert!(chunks.len() >= 6);
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let mut bytes = fs::read(&chunks[0]).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&chunks[0], &bytes).unwrap();
    let bytes = fs::read(&chunks[1]).unwrap();
    fs::write(&chunks[1], &bytes[..bytes.len() / 2]).unwrap();
    let strange = queue.join("strange.safetensors");
    fs::copy(&chunks[2], &strange).unwrap();
    let renamed = queue.join("actor-0008-00000000.safetensors");
    fs::copy(&chunks[2], &renamed).unwrap();
    let of_other = chunks_in(&foreign.path().join("queue")).remove(0);
    let copied = queue.join(name(&of_other));
    fs::copy(&of_other, &copied).unwrap();
    let again = fs::read(&chunks[3]).unwrap();

    let mut taken = Taken::default();
    let mut intake = Intake::open(&run, &taken).unwrap();
    while intake.next(&config, 0, &mut taken).unwrap().is_some() {}
    assert_eq!(taken.chunks, chunks.len() as u64 - 2);
    fs::write(&chunks[3], &again).unwrap();
    assert!(intake.next(&config, 0, &mut taken).unwrap().is_none());
    let notes = intake.notes().join("\n");
    for (path, why) in [
        (&chunks[0], "the file is damaged"),
        (&chunks[1], "not a complete safetensors file"),
        (&strange, "no chunk has such a name"),
        (&renamed, "its actor is 0, expected 8"),
        (&copied, "its seed is 99, expected 0"),
        (&chunks[3], "was taken before"),
    ] {
        let line = notes
            .lines()
            .find(|line| line.contains(&name(path)) && line.contains(why));
        assert!(line.is_some(), "{} {why}: {notes}", path.display());
        assert!(queue.join("refused").join(name(path)).exists());
        assert!(!path.exists());
    }
    let report = intake.report(&taken).unwrap();
    assert_eq!((report.refused, report.waiting), (6, 0));

    // The learner goes on past such a chunk.
    let mut learning = Run::resume(config.clone(), run.path()).unwrap();
    fs::write(&chunks[0], b"no chunk").unwrap();
    learning.learn_from_queue().unwrap();
    let ending = learning.train(&AtomicBool::new(false), &mut Progress::new(Show::None));
    assert_eq!(ending.unwrap(), Ending::Finished);
    assert_eq!(learning.agent().metadata.step, 5);
}

#[test]
fn chunks_of_old_weights_are_dropped_and_counted() {
    let mut config = small(Learner::Value, 100);
    config.queue.chunks = 1000;
    config.queue.staleness = 10;
    let folder = tempfile::tempdir().unwrap();
    let run = begun(folder.path(), &config);
    play(&run, &config, 0, 60);
    let chunks = chunks_in(&run.path().join("queue")).len() as u64;
    assert!(chunks > 2);
    let mut taken = Taken::default();
    let mut intake = Intake::open(&run, &taken).unwrap();
    assert!(intake.next(&config, 10, &mut taken).unwrap().is_some());
    assert!(intake.next(&config, 11, &mut taken).unwrap().is_none());
    assert_eq!((taken.chunks, taken.stale), (1, chunks - 1));
    assert_eq!(taken.next[&0], chunks);
    let report = intake.report(&taken).unwrap();
    assert_eq!(
        (report.staleness, report.staleness_max),
        (Some(10.0), Some(10))
    );
    assert_eq!((report.stale, report.refused), (chunks - 1, 0));
    let quiet = intake.report(&taken).unwrap();
    assert_eq!((quiet.staleness, quiet.staleness_max), (None, None));
}

#[test]
fn a_number_is_played_by_one_program_and_a_run_learnt_by_one() {
    let config = small(Learner::Gumbel, 100);
    let folder = tempfile::tempdir().unwrap();
    let run = begun(folder.path(), &config);
    let first = Actor::join(config.clone(), &run, Some(0)).unwrap();
    let error = Actor::join(config.clone(), &run, Some(0)).unwrap_err();
    assert!(matches!(error, TrainError::ActorBusy { actor: 0, .. }));
    assert!(error.to_string().contains("as actor 0 of"), "{error}");
    assert_eq!(error.status(), 2);
    let second = Actor::join(config.clone(), &run, None).unwrap();
    assert_eq!((first.number(), second.number()), (0, 1));
    drop(first);
    assert_eq!(Actor::join(config.clone(), &run, None).unwrap().number(), 0);
    let error = Actor::join(config, &run, Some(10_000)).unwrap_err();
    assert!(matches!(
        error,
        TrainError::Setting {
            field: "--actor",
            ..
        }
    ));

    let missing = folder.path().join("none").display().to_string();
    let output = start(&["selfplay", "--run", &missing, "--wait", "0"]);
    let output = output.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("holds no run with an agent"));
    let claimed = run.claim().unwrap();
    let output = start(&["learn", "--run", &run_of(folder.path())]);
    let output = output.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("another program trains into"));
    drop(claimed);
    let output = start(&["learn", "--run", &run_of(folder.path()), "--seed", "4"]);
    let output = output.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("a run of the same seed"));
}

#[test]
fn a_run_goes_on_alone_after_actors_and_with_actors_after_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = small(Learner::Value, 20);
    config.queue.chunks = 1000;
    let run = begun(folder.path(), &config);
    play(&run, &config, 0, 60);
    let silent = || Progress::new(Show::None);
    let go_on = |steps: u64, actors: bool| {
        let mut config = config.clone();
        config.budget.steps = Some(steps);
        let mut learning = Run::resume(config, run.path()).unwrap();
        assert!(learning.notes().is_empty(), "{:?}", learning.notes());
        if actors {
            learning.learn_from_queue().unwrap();
        }
        let ending = learning.train(&AtomicBool::new(false), &mut silent());
        assert_eq!(ending.unwrap(), Ending::Finished);
        assert_eq!(learning.agent().metadata.step, steps);
        learning.counters().clone()
    };
    let queue = Queue::open(&run).unwrap();
    let first = go_on(20, true);
    assert!(queue.news().unwrap().finished);
    let alone = go_on(40, false);
    assert!(alone.positions > first.positions);
    assert_eq!(alone.taken, first.taken);
    let last = go_on(60, true);
    assert!(last.taken.chunks > first.taken.chunks);
    assert_eq!(play(&run, &config, 1, 1), ActorWork::default());
}

#[test]
fn a_program_of_its_own_measures_what_a_learner_publishes() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let mut config = small(Learner::Gumbel, 300);
    config.evaluation.games = 2;
    config.evaluation.regret_positions = 5;
    let path = run_of(folder.path());
    let follow = ["evaluate", "--follow", "--agent", &path];
    let following = start(&follow);
    let playing = actor(folder.path(), "0");
    ended_well(learner(folder.path(), &config));
    ended_well(playing);
    let said = text(&ended_well(following).stderr);
    assert!(said.contains("step 300, alphabeta:2 "), "{said}");
    let evaluations = || -> Vec<Value> {
        let text = fs::read_to_string(run.join("evaluations.jsonl")).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let found = evaluations();
    let steps: Vec<u64> = found
        .iter()
        .map(|line| line["step"].as_u64().unwrap())
        .collect();
    assert!(steps.is_sorted_by(|a, b| a < b), "{steps:?}");
    let newest = found.last().unwrap();
    assert_eq!(newest["step"], 300);
    assert!(newest["seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(newest["scores"]["games"], 2);
    assert_eq!(newest["regret"]["positions"], 5);
    let lost = |line: &Value| line["regret"]["seeds_lost"].as_f64().unwrap();
    let least = found.iter().map(lost).fold(f64::INFINITY, f64::min);
    assert_eq!(newest["best"]["value"], least);
    let best = AgentFile::read(&run.join("best.safetensors")).unwrap();
    assert_eq!(newest["best"]["step"], best.metadata.step);

    // What was measured is not measured again, and a line cut short is cut off.
    let file = run.join("evaluations.jsonl");
    let whole = fs::read_to_string(&file).unwrap();
    fs::write(&file, whole.clone() + "{\"seconds\":1.0,\"st").unwrap();
    ended_well(start(&follow));
    assert_eq!(fs::read_to_string(&file).unwrap(), whole);

    let settings = fs::read_to_string(run.join("config.toml")).unwrap();
    let measuring = settings.replace("every = 0.0", "every = 5.0");
    assert_ne!(measuring, settings);
    fs::write(run.join("config.toml"), measuring).unwrap();
    let output = start(&follow).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("evaluation.every is 5"));
}
