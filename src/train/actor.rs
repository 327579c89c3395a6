//! An actor: a program that plays games for a run and puts their positions into its queue.
//!
//! The games in progress are kept in `actors/NUMBER/`, so that an actor that comes back, however it
//! ended, goes on with them and plays none of its games a second time.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::TrainError;
use super::chunk::{Chunk, ChunkName};
use super::config::Config;
use super::folder::{RunFolder, lock, remove_temporary};
use super::parts;
use super::progress::Progress;
use super::queue::{News, Queue};
use super::saved_games::{put_games, take_games};
use super::sealed::Format;
use super::selfplay::{Group, Played, play_all};
use super::state::{State, StateError};
use crate::policy::agent_file::{AgentFile, Learner, replace_file};
use crate::policy::weights::Weights;
use crate::rng;
use crate::ruleset::Ruleset;

const FORMAT: Format = Format {
    name: "endodoi-actor",
    version: 2,
    oldest: 1,
};

/// Index of actor 0's seed under the run's seed, above those of the run's own games.
const FIRST_SEED: u64 = 1 << 32;

/// The largest number of an actor.
pub const LARGEST_NUMBER: u32 = 9999;

/// How often an actor looks whether it may go on.
const POLLED_EVERY: Duration = Duration::from_millis(5);

/// Time between two lines of progress.
const SAID_EVERY: Duration = Duration::from_secs(10);

/// When an actor ends, unless its run ends before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ActorLimits {
    /// Games finished.
    pub games: Option<u64>,
    /// Minutes, waiting included.
    pub minutes: Option<f64>,
}

/// What an actor did, since its program started.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ActorWork {
    /// Chunks put into the queue.
    pub chunks: u64,
    /// Positions searched.
    pub positions: u64,
    /// Games finished.
    pub games: u64,
    /// Seconds spent waiting for room in the queue.
    pub waited: f64,
}

/// What the file of an actor's games says beside them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    learner: Learner,
    ruleset: Ruleset,
    /// The run's seed.
    seed: u64,
    /// The number of the next chunk.
    next: u64,
    /// The first episode that no game has begun.
    episode: u64,
    /// Positions searched, in the chunks before the next one.
    positions: u64,
    /// Games finished, in the same.
    games: u64,
    /// The group whose turn it is; version 1 played all of them for every chunk.
    #[serde(default)]
    turn: usize,
}

/// A program that plays for a run.
#[derive(Debug)]
pub struct Actor {
    number: u32,
    /// The run's settings.
    config: Config,
    /// The same under the seed of this actor's games.
    own: Config,
    run: RunFolder,
    queue: Queue,
    folder: PathBuf,
    groups: Vec<Group>,
    /// The group whose turn it is.
    turn: usize,
    /// The number of the next chunk.
    next: u64,
    /// Positions searched and games finished in the chunks before.
    before: [u64; 2],
    work: ActorWork,
    notes: Vec<String>,
    /// Keeps other programs from playing as this actor.
    _lock: File,
}

impl Actor {
    /// Joins a run, as the actor of a number or of the first that is free, with the games that the
    /// actor of this number had in progress.
    ///
    /// # Errors
    /// [`TrainError::ActorBusy`] when another program plays as this actor, [`TrainError::Setting`]
    /// of a number out of range, [`TrainError`] when a file cannot be used.
    pub fn join(config: Config, run: &RunFolder, number: Option<u32>) -> Result<Actor, TrainError> {
        let queue = Queue::open(run)?;
        let (number, folder, lock) = match number {
            Some(number) => claim(run, number)?,
            None => claim_free(run)?,
        };
        remove_temporary(&folder)?;
        let seed = rng::mix(config.seed, FIRST_SEED + u64::from(number));
        let own = Config {
            seed,
            ..config.clone()
        };
        let mut actor = Actor {
            number,
            own,
            run: run.clone(),
            queue,
            folder,
            groups: Vec::new(),
            turn: 0,
            next: 0,
            before: [0; 2],
            work: ActorWork::default(),
            notes: Vec::new(),
            _lock: lock,
            config,
        };
        actor.take_up_games()?;
        parts::give_table(&actor.config, &mut actor.groups)?;
        Ok(actor)
    }

    /// Returns the actor's number.
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// Plays until the run is finished, a limit is reached or `stop` is set.
    ///
    /// # Errors
    /// [`TrainError`] when a file cannot be used or a search fails; the games are kept as they were
    /// at the last chunk.
    pub fn play(
        &mut self,
        limits: &ActorLimits,
        stop: &AtomicBool,
        progress: &mut Progress,
    ) -> Result<ActorWork, TrainError> {
        let (started, mut said) = (Instant::now(), Instant::now());
        for note in std::mem::take(&mut self.notes) {
            progress.say(&note);
        }
        let ended = |games: u64| {
            let minutes = started.elapsed().as_secs_f64() / 60.0;
            stop.load(Ordering::Relaxed)
                || limits.games.is_some_and(|most| games >= most)
                || limits.minutes.is_some_and(|most| minutes >= most)
        };
        // The last chunk of a program that found no room for it.
        self.deliver(&|| ended(0))?;
        loop {
            let games = self.work.games;
            let Some(news) = self.wait_for_room(&|| ended(games))? else {
                break;
            };
            let agent = self.newest_agent()?;
            let at = (&agent.weights, news.progress);
            let played = self.play_chunk(at, &|more| ended(games + more))?;
            self.commit(agent.metadata.step, played)?;
            let games = self.work.games;
            self.deliver(&|| ended(games))?;
            if said.elapsed() >= SAID_EVERY {
                progress.say(&self.describe(agent.metadata.step, started));
                said = Instant::now();
            }
        }
        Ok(self.work)
    }

    fn describe(&self, step: u64, started: Instant) -> String {
        let ActorWork {
            chunks,
            positions,
            games,
            waited,
        } = self.work;
        let seconds = started.elapsed().as_secs_f64();
        format!(
            "actor {}: {games} games, {positions} positions in {chunks} chunks, {:.0} positions/s, \
             {:.0} % of the time waiting, weights of step {step}",
            self.number,
            positions as f64 / seconds,
            100.0 * waited / seconds,
        )
    }

    /// Reads the weights that the learner published last.
    fn newest_agent(&self) -> Result<AgentFile, TrainError> {
        let path = self.run.agent();
        let refuse = |message: String| TrainError::checkpoint(&path, &message);
        let agent = AgentFile::read(&path).map_err(|error| refuse(error.to_string()))?;
        let about = &agent.metadata;
        if about.learner != self.config.learner || about.network != self.config.shape() {
            return Err(refuse(format!(
                "its network is not that of {}",
                self.run.config().display()
            )));
        }
        Ok(agent)
    }

    /// Waits until there is room in the queue, so that what is played then is of the newest weights,
    /// and returns how far the run is; `None` if it is finished or `ended` says so before.
    fn wait_for_room(&mut self, ended: &dyn Fn() -> bool) -> Result<Option<News>, TrainError> {
        let begun = Instant::now();
        loop {
            let news = self.queue.news()?;
            if news.finished || ended() {
                return Ok(None);
            }
            if self.queue.len()? < self.config.queue.chunks {
                self.work.waited += begun.elapsed().as_secs_f64();
                return Ok(Some(news));
            }
            thread::sleep(POLLED_EVERY);
        }
    }

    /// Plays groups in turn, as many at once as there are threads, until they have brought about as
    /// many positions as a chunk is to have, or `ended` says so of the games finished.
    fn play_chunk(
        &mut self,
        at: (&Weights, f64),
        ended: &dyn Fn(u64) -> bool,
    ) -> Result<Played, TrainError> {
        let (wanted, play) = (self.config.queue.positions, self.config.selfplay);
        let mut sum = Played::default();
        loop {
            let end = self.groups.len().min(self.turn + self.config.threads());
            let turn = &mut self.groups[self.turn..end];
            let usual = turn.len() * play.games * play.plies;
            for played in play_all(turn, at, self.config.threads(), None)? {
                sum.add(played);
            }
            self.turn = end % self.groups.len();
            // Half a turn too many is as near as half a turn too few.
            if sum.samples.len() + usual / 2 >= wanted || ended(sum.games) {
                return Ok(sum);
            }
        }
    }

    /// Keeps a chunk and the games after it, both or neither.
    ///
    /// The chunk counts from the moment at which the games after it are kept.
    fn commit(&mut self, step: u64, played: Played) -> Result<(), TrainError> {
        let name = ChunkName {
            actor: self.number,
            number: self.next,
        };
        let path = self.folder.join(name.file());
        let more = [played.positions, played.games];
        let chunk = Chunk { name, step, played };
        let bytes = chunk.to_bytes(&self.config);
        let bytes = bytes.map_err(|error| TrainError::checkpoint(&path, &error))?;
        replace_file(&path, &bytes).map_err(|error| TrainError::file(&path, error))?;
        let (next, [positions, games]) = (self.next, self.before);
        (self.next, self.before) = (next + 1, [positions + more[0], games + more[1]]);
        self.keep_games()?;
        self.work.positions += more[0];
        self.work.games += more[1];
        Ok(())
    }

    /// Puts the last chunk into the queue as soon as there is room, unless the run is finished or
    /// `ended` says so meanwhile: it is then put there when the actor comes back.
    fn deliver(&mut self, ended: &dyn Fn() -> bool) -> Result<(), TrainError> {
        let Some(number) = self.next.checked_sub(1) else {
            return Ok(());
        };
        let name = ChunkName {
            actor: self.number,
            number,
        };
        let path = self.folder.join(name.file());
        if !path.exists() {
            return Ok(());
        }
        let begun = Instant::now();
        while !self.queue.deliver(&path, name, self.config.queue.chunks)? {
            if ended() || self.queue.news()?.finished {
                return Ok(());
            }
            thread::sleep(POLLED_EVERY);
        }
        self.work.chunks += 1;
        self.work.waited += begun.elapsed().as_secs_f64();
        Ok(())
    }

    fn games_file(&self) -> PathBuf {
        self.folder.join("games.safetensors")
    }

    /// Writes the games in progress.
    fn keep_games(&self) -> Result<(), TrainError> {
        let path = self.games_file();
        let about = About {
            learner: self.config.learner,
            ruleset: self.config.ruleset,
            seed: self.config.seed,
            next: self.next,
            positions: self.before[0],
            games: self.before[1],
            turn: self.turn,
            episode: self.groups.iter().map(Group::episode).max().unwrap_or(0) + 1,
        };
        let mut state = State::default();
        let bytes = put_games(&self.groups, &self.own, &mut state)
            .and_then(|()| FORMAT.seal(&about, &state))
            .map_err(|error| TrainError::checkpoint(&path, &error))?;
        replace_file(&path, &bytes).map_err(|error| TrainError::file(path, error))
    }

    /// Takes the games in progress out of their file, or starts games.
    fn take_up_games(&mut self) -> Result<(), TrainError> {
        let path = self.games_file();
        if !path.exists() {
            self.groups = Group::all(&self.own, 0);
            return self.drop_uncounted();
        }
        let bytes = fs::read(&path).map_err(|error| TrainError::file(&path, error))?;
        let (about, groups) = self
            .games_of(&bytes)
            .map_err(|error| TrainError::checkpoint(&path, &error))?;
        if groups.is_none() {
            self.notes.push(format!(
                "{} is of other settings: the games start anew",
                path.display()
            ));
        }
        self.groups = groups.unwrap_or_else(|| Group::all(&self.own, about.episode));
        self.turn = about.turn % self.groups.len();
        self.next = about.next;
        self.before = [about.positions, about.games];
        self.drop_uncounted()
    }

    /// Reads the games, which are `None` if the settings ask for others.
    fn games_of(&self, bytes: &[u8]) -> Result<(About, Option<Vec<Group>>), StateError> {
        let (about, mut state) = FORMAT.open::<About>(bytes)?;
        if about.seed != self.config.seed {
            return Err(StateError::Foreign {
                field: "seed",
                got: about.seed.to_string(),
                expected: self.config.seed.to_string(),
            });
        }
        if about.ruleset != self.config.ruleset || about.learner != self.config.learner {
            return Ok((about, None));
        }
        let groups = take_games(&mut state, &self.own)?.ok();
        state.finish()?;
        Ok((about, groups))
    }

    /// Removes a chunk whose games after it were not kept: its plies are going to be played again.
    fn drop_uncounted(&self) -> Result<(), TrainError> {
        let name = ChunkName {
            actor: self.number,
            number: self.next,
        };
        let path = self.folder.join(name.file());
        if path.exists() {
            fs::remove_file(&path).map_err(|error| TrainError::file(path, error))?;
        }
        Ok(())
    }
}

/// Waits until a learner has begun a run, and tells whether it has before `patience` and `stop`.
pub fn wait_for_run(run: &RunFolder, patience: Duration, stop: &AtomicBool) -> bool {
    let begun = Instant::now();
    let there = || run.config().exists() && run.agent().exists();
    while !there() && begun.elapsed() < patience && !stop.load(Ordering::Relaxed) {
        thread::sleep(POLLED_EVERY);
    }
    there()
}

/// Claims the folder of an actor.
fn claim(run: &RunFolder, number: u32) -> Result<(u32, PathBuf, File), TrainError> {
    if number > LARGEST_NUMBER {
        return Err(TrainError::Setting {
            field: "--actor",
            value: number.to_string(),
            expected: format!("0 to {LARGEST_NUMBER}"),
        });
    }
    let folder = run.path().join("actors").join(format!("{number:04}"));
    fs::create_dir_all(&folder).map_err(|error| TrainError::file(&folder, error))?;
    match lock(&folder.join("lock"))? {
        Some(file) => Ok((number, folder, file)),
        None => Err(TrainError::ActorBusy {
            actor: number,
            path: run.path().to_path_buf(),
        }),
    }
}

/// Claims the folder of the first actor that no program plays as.
fn claim_free(run: &RunFolder) -> Result<(u32, PathBuf, File), TrainError> {
    for number in 0..LARGEST_NUMBER {
        match claim(run, number) {
            Err(TrainError::ActorBusy { .. }) => {}
            claimed => return claimed,
        }
    }
    claim(run, LARGEST_NUMBER)
}
