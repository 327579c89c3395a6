//! What keeps the positions of actors fresh: publications, the size of chunks, and when they are
//! played.

// A helper of a test fails as loudly as a test.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod train_program;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use endodoi::policy::agent_file::{AgentFile, Learner};
use endodoi::train::actor::{Actor, ActorLimits};
use endodoi::train::chunk::{Chunk, ChunkName};
use endodoi::train::config::Config;
use endodoi::train::folder::RunFolder;
use endodoi::train::progress::{Progress, Show};
use endodoi::train::queue::QueueConfig;
use endodoi::train::run::Run;
use endodoi::train::state::State;
use serde_json::Value;
use train_program::{rules, wait_until};

/// Groups of a run, games of a group, plies of a turn, and the positions that it brings.
const GROUPS: usize = 4;
const GAMES: usize = 8;
const PLIES: usize = 4;
const TURN: usize = GAMES * PLIES;

/// A run of small groups.
fn small() -> Config {
    let mut config = Config::of_learner(Learner::Value, rules(4));
    config.budget.minutes = None;
    config.budget.steps = Some(100);
    config.value.units = 16;
    config.value.hidden = 8;
    config.selfplay.groups = GROUPS;
    config.selfplay.games = GAMES;
    config.selfplay.plies = PLIES;
    config.evaluation.every = 0.0;
    config.evaluation.final_games = 0;
    config.output.tensorboard = false;
    config.workers = 1;
    config.queue.chunks = 1000;
    config
}

/// Begins a run, which publishes its first weights.
fn begun(folder: &Path, config: &Config) -> RunFolder {
    let run = folder.join("run");
    let mut learning = Run::start(config.clone(), &run).unwrap();
    learning.learn_from_queue().unwrap();
    let stop = AtomicBool::new(true);
    learning
        .train(&stop, &mut Progress::new(Show::None))
        .unwrap();
    RunFolder::of_other(&run)
}

/// Lets actor 0 play so many games.
fn play(run: &RunFolder, config: &Config, games: u64) {
    let mut playing = Actor::join(config.clone(), run, Some(0)).unwrap();
    let limits = ActorLimits {
        games: Some(games),
        minutes: None,
    };
    let stop = AtomicBool::new(false);
    playing
        .play(&limits, &stop, &mut Progress::new(Show::None))
        .unwrap();
}

/// Chunks in a folder, in their order.
fn chunks_in(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| ChunkName::of_file(&path.file_name().unwrap().to_string_lossy()).is_some())
        .collect();
    found.sort();
    found
}

fn chunk(path: &Path, config: &Config) -> Chunk {
    let name = ChunkName::of_file(&path.file_name().unwrap().to_string_lossy()).unwrap();
    Chunk::from_bytes(&fs::read(path).unwrap(), name, config).unwrap()
}

fn queue_of(run: &RunFolder) -> PathBuf {
    run.path().join("queue")
}

fn games_of(run: &RunFolder) -> PathBuf {
    run.path().join("actors/0000/games.safetensors")
}

#[test]
fn the_pause_between_publications_grows_with_the_run_up_to_the_setting() {
    let pause = |publish: f64, seconds: f64| {
        let queue = QueueConfig {
            publish,
            ..QueueConfig::default()
        };
        queue.pause_at(seconds)
    };
    for (publish, seconds, expected) in [
        (2.0, 0.0, 0.1),
        (2.0, 9.0, 0.1),
        (2.0, 60.0, 0.6),
        (2.0, 200.0, 2.0),
        (2.0, 1e6, 2.0),
        (30.0, 1e6, 30.0),
        (0.05, 0.0, 0.05),
        (0.0, 1e6, 0.0),
    ] {
        let found: f64 = pause(publish, seconds);
        assert!((found - expected).abs() < 1e-12, "{publish} {seconds}");
    }
}

#[test]
fn a_chunk_has_about_the_positions_asked_for_and_every_group_its_turn() {
    for turns in [1, 2, 6] {
        let mut config = small();
        config.queue.positions = turns * TURN;
        let folder = tempfile::tempdir().unwrap();
        let run = begun(folder.path(), &config);
        play(&run, &config, 200);
        let mut chunks = chunks_in(&queue_of(&run));
        // The last one ended with the games.
        chunks.pop();
        assert!(chunks.len() > 3);
        let mut samples = 0;
        for path in &chunks {
            let played = chunk(path, &config).played;
            assert!(played.samples.len() + TURN / 2 >= config.queue.positions);
            assert_eq!(played.positions % TURN as u64, 0);
            samples += played.samples.len();
        }
        let (mean, wanted) = (samples / chunks.len(), turns * TURN);
        assert!(mean <= wanted + TURN, "{mean} of {wanted}");

        let bytes = fs::read(games_of(&run)).unwrap();
        let (mut state, _) = State::from_bytes(&bytes).unwrap();
        let counts: Vec<u64> = state.take("games/counts", &[2]).unwrap();
        // Every game has ended and been followed by another.
        let least = counts.chunks_exact(2).map(|count| count[0]).min();
        assert!(least > Some(0), "{counts:?}");
    }
}

#[test]
fn an_actor_that_waited_plays_with_the_newest_weights() {
    let mut config = small();
    config.queue.chunks = 1;
    config.queue.positions = TURN;
    let folder = tempfile::tempdir().unwrap();
    let run = begun(folder.path(), &config);
    let queue = queue_of(&run);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let playing = scope.spawn(|| {
            let mut playing = Actor::join(config.clone(), &run, Some(0)).unwrap();
            let limits = ActorLimits::default();
            playing.play(&limits, &stop, &mut Progress::new(Show::None))
        });
        for step in 0..5 {
            wait_until("a chunk", || chunks_in(&queue).len() == 1);
            let first = chunks_in(&queue).remove(0);
            assert_eq!(chunk(&first, &config).step, step);
            // Nothing is played that nobody has room for.
            assert!(chunks_in(&run.path().join("actors/0000")).is_empty());
            let mut agent = AgentFile::read(&run.agent()).unwrap();
            agent.metadata.step = step + 1;
            run.replace("agent.safetensors", &agent.to_bytes().unwrap())
                .unwrap();
            fs::remove_file(first).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
        playing.join().unwrap().unwrap();
    });
}

/// Rewrites the header of an actor's games.
fn rewrite(file: &Path, change: impl FnOnce(&mut Value)) {
    let bytes = fs::read(file).unwrap();
    let (state, header) = State::from_bytes(&bytes).unwrap();
    let mut header: Value = serde_json::from_str(&header).unwrap();
    change(&mut header);
    let changed = state.to_bytes(header.to_string()).unwrap();
    fs::write(file, changed).unwrap();
}

#[test]
fn games_of_version_1_go_on_and_those_of_a_later_version_are_refused() {
    let mut config = small();
    config.queue.positions = TURN;
    let folder = tempfile::tempdir().unwrap();
    let run = begun(folder.path(), &config);
    play(&run, &config, 30);
    let before = chunks_in(&queue_of(&run)).len() as u64;
    let games = games_of(&run);
    rewrite(&games, |header| {
        header["format_version"] = 1.into();
        header["about"].as_object_mut().unwrap().remove("turn");
    });
    play(&run, &config, 30);
    let chunks = chunks_in(&queue_of(&run));
    let name = chunks.last().unwrap().file_name().unwrap();
    let last = ChunkName::of_file(&name.to_string_lossy()).unwrap();
    assert!(last.number > before);
    assert_eq!(last.number + 1, chunks.len() as u64);

    rewrite(&games, |header| header["format_version"] = 3.into());
    let error = Actor::join(config, &run, Some(0)).unwrap_err().to_string();
    assert!(error.contains("endodoi-actor version 3"), "{error}");
    assert!(error.contains("reads endodoi-actor version 2"), "{error}");
}
