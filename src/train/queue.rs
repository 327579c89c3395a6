//! The queue of a run whose roles are programs of their own: chunks from actors to the learner.
//!
//! A chunk is a file that lies in `queue/` until the learner takes it; it then lies in
//! `queue/taken/` until a checkpoint holds what it brought. Every move is a rename, so that a
//! program that is killed neither loses a chunk nor lets one count twice.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::TrainError;
use super::chunk::{Chunk, ChunkName, EXTENSION};
use super::config::Config;
use super::folder::{RunFolder, lock};
use super::selfplay::Played;
use crate::policy::agent_file::replace_file;

/// Settings of the queue between actors and learner.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueConfig {
    /// Chunks that wait for the learner, of all actors together; actors wait when there are as
    /// many.
    pub chunks: usize,
    /// Positions of a chunk, about: an actor plays its groups of games in turn until it has them.
    pub positions: usize,
    /// Seconds between two publications of weights, later in a run; see [`QueueConfig::pause_at`].
    pub publish: f64,
    /// Optimiser steps since the weights of a chunk, above which it is dropped.
    pub staleness: u64,
}

impl Default for QueueConfig {
    fn default() -> QueueConfig {
        QueueConfig {
            chunks: 2,
            positions: 1024,
            publish: 2.0,
            staleness: 10_000,
        }
    }
}

impl QueueConfig {
    /// Seconds between two publications at the beginning of a run.
    pub const FIRST_PAUSE: f64 = 0.1;

    /// The pause as a share of the time trained, until it has grown to `publish`.
    pub const PAUSE_SHARE: f64 = 0.01;

    /// Returns the seconds between two publications of weights after so many seconds of training: a
    /// short run, or the beginning of a long one, has learnt much in the seconds that are little to
    /// a long one.
    pub fn pause_at(&self, seconds: f64) -> f64 {
        let grown = QueueConfig::PAUSE_SHARE * seconds;
        self.publish.min(grown.max(QueueConfig::FIRST_PAUSE))
    }
}

/// What the learner has taken from the queue, as its checkpoint tells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taken {
    /// The number of the next chunk of every actor heard of.
    pub next: BTreeMap<u32, u64>,
    /// Chunks whose positions entered the replay ring.
    pub chunks: u64,
    /// Chunks dropped because their weights were too old.
    pub stale: u64,
}

impl Taken {
    /// Tells whether nothing was taken.
    pub fn is_empty(&self) -> bool {
        self.next.is_empty()
    }

    fn holds(&self, name: ChunkName) -> bool {
        self.next
            .get(&name.actor)
            .is_some_and(|&next| name.number < next)
    }
}

/// What a learner tells actors, beside the weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct News {
    /// Seconds of training.
    pub seconds: f64,
    /// Share of the budget used.
    pub progress: f64,
    /// Whether the run needs no more positions.
    pub finished: bool,
}

/// The queue in a run's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    folder: PathBuf,
}

impl Queue {
    /// Makes the folders of a run's queue.
    ///
    /// # Errors
    /// [`TrainError::File`] when they cannot be made.
    pub fn open(run: &RunFolder) -> Result<Queue, TrainError> {
        let queue = Queue {
            folder: run.path().join("queue"),
        };
        for folder in [queue.taken(), queue.refused()] {
            fs::create_dir_all(&folder).map_err(|error| TrainError::file(folder, error))?;
        }
        Ok(queue)
    }

    fn taken(&self) -> PathBuf {
        self.folder.join("taken")
    }

    fn refused(&self) -> PathBuf {
        self.folder.join("refused")
    }

    fn news_file(&self) -> PathBuf {
        self.folder.join("news.json")
    }

    /// Counts the chunks that wait.
    ///
    /// # Errors
    /// [`TrainError::File`] when the folder cannot be read.
    pub fn len(&self) -> Result<usize, TrainError> {
        Ok(files(&self.folder)?.len())
    }

    /// Tells whether no chunk waits.
    ///
    /// # Errors
    /// [`TrainError::File`] when the folder cannot be read.
    pub fn is_empty(&self) -> Result<bool, TrainError> {
        Ok(self.len()? == 0)
    }

    /// Puts a finished chunk into the queue unless `most` chunks wait, and tells whether it did.
    ///
    /// # Errors
    /// [`TrainError::File`] when the folder cannot be written to.
    pub fn deliver(&self, file: &Path, name: ChunkName, most: usize) -> Result<bool, TrainError> {
        // Two actors that count at the same time would both find room for one.
        let Some(_held) = lock(&self.folder.join("lock"))? else {
            return Ok(false);
        };
        if self.len()? >= most {
            return Ok(false);
        }
        rename(file, &self.folder.join(name.file()))?;
        Ok(true)
    }

    /// Tells actors how far the run is.
    ///
    /// # Errors
    /// [`TrainError::File`] when the folder cannot be written to.
    pub fn tell(&self, news: News) -> Result<(), TrainError> {
        let path = self.news_file();
        serde_json::to_vec(&news)
            .map_err(Into::into)
            .and_then(|bytes| replace_file(&path, &bytes))
            .map_err(|error| TrainError::file(path, error))
    }

    /// Returns how far the run is; at the beginning where nothing was told.
    ///
    /// # Errors
    /// [`TrainError::File`] when the file cannot be read.
    pub fn news(&self) -> Result<News, TrainError> {
        let path = self.news_file();
        match fs::read(&path) {
            Ok(bytes) => {
                serde_json::from_slice(&bytes).map_err(|error| TrainError::file(path, error.into()))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(News::default()),
            Err(error) => Err(TrainError::file(path, error)),
        }
    }
}

/// What the learner's reports tell of the queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct QueueReport {
    /// Chunks that wait.
    pub waiting: u64,
    /// Actors heard of so far.
    pub actors: u64,
    /// Chunks taken so far.
    pub chunks: u64,
    /// Chunks dropped so far because their weights were too old.
    pub stale: u64,
    /// Chunks refused so far: damaged, or of another run.
    pub refused: u64,
    /// Mean optimiser steps since the weights of the chunks taken, absent when there are none.
    pub staleness: Option<f64>,
    /// The most of these steps.
    pub staleness_max: Option<u64>,
}

/// The learner's end of the queue.
#[derive(Debug)]
pub struct Intake {
    queue: Queue,
    /// Chunks taken that the checkpoint does not hold, the next one last.
    again: Vec<ChunkName>,
    refused: u64,
    /// Staleness of the chunks taken since the last report.
    ages: Vec<u64>,
    notes: Vec<String>,
}

impl Intake {
    /// Opens the queue of a run whose checkpoint tells what was taken: what was taken after it is
    /// going to be taken again.
    ///
    /// # Errors
    /// [`TrainError::File`] when the folder cannot be used.
    pub fn open(run: &RunFolder, taken: &Taken) -> Result<Intake, TrainError> {
        let queue = Queue::open(run)?;
        let refused = count(&queue.refused())?;
        let mut intake = Intake {
            queue,
            again: Vec::new(),
            refused,
            ages: Vec::new(),
            notes: Vec::new(),
        };
        intake.settle(taken)?;
        let (mut again, _) = in_order(&files(&intake.queue.taken())?);
        again.reverse();
        intake.again = again;
        Ok(intake)
    }

    /// Returns the queue.
    pub const fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Takes the next chunk that is new, whole and not too old for a learner of `step` steps.
    ///
    /// # Errors
    /// [`TrainError::File`] when a file cannot be read or moved.
    pub fn next(
        &mut self,
        config: &Config,
        step: u64,
        taken: &mut Taken,
    ) -> Result<Option<Played>, TrainError> {
        while let Some((path, name)) = self.first()? {
            let bytes = fs::read(&path).map_err(|error| TrainError::file(&path, error))?;
            let chunk = match Chunk::from_bytes(&bytes, name, config) {
                Ok(_) if taken.holds(name) => {
                    self.refuse(&path, "a chunk of this number was taken before")?;
                    continue;
                }
                Ok(chunk) => chunk,
                Err(error) => {
                    self.refuse(&path, &error.to_string())?;
                    continue;
                }
            };
            rename(&path, &self.queue.taken().join(name.file()))?;
            taken.next.insert(name.actor, name.number + 1);
            let age = step.saturating_sub(chunk.step);
            if age > config.queue.staleness {
                taken.stale += 1;
                continue;
            }
            taken.chunks += 1;
            self.ages.push(age);
            return Ok(Some(chunk.played));
        }
        Ok(None)
    }

    /// Returns the chunk that is taken next.
    fn first(&mut self) -> Result<Option<(PathBuf, ChunkName)>, TrainError> {
        if let Some(name) = self.again.pop() {
            return Ok(Some((self.queue.taken().join(name.file()), name)));
        }
        let (names, others) = in_order(&files(&self.queue.folder)?);
        for path in others {
            self.refuse(&path, "no chunk has such a name")?;
        }
        let first = names.first();
        Ok(first.map(|&name| (self.queue.folder.join(name.file()), name)))
    }

    /// Moves a file aside and says why.
    fn refuse(&mut self, path: &Path, why: &str) -> Result<(), TrainError> {
        let name = path.file_name().unwrap_or_default();
        let aside = self.queue.refused().join(name);
        rename(path, &aside)?;
        self.refused += 1;
        let name = name.to_string_lossy();
        self.notes.push(format!(
            "chunk {name} is refused: {why}; it is now {}",
            aside.display()
        ));
        Ok(())
    }

    /// Removes the chunks that a checkpoint holds.
    ///
    /// # Errors
    /// [`TrainError::File`] when one cannot be removed.
    pub fn settle(&mut self, taken: &Taken) -> Result<(), TrainError> {
        let (names, _) = in_order(&files(&self.queue.taken())?);
        for name in names.into_iter().filter(|&name| taken.holds(name)) {
            let path = self.queue.taken().join(name.file());
            fs::remove_file(&path).map_err(|error| TrainError::file(path, error))?;
        }
        Ok(())
    }

    /// Returns what the user should know and was not told yet.
    pub fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Sums up the time since the last report.
    ///
    /// # Errors
    /// [`TrainError::File`] when the folder cannot be read.
    pub fn report(&mut self, taken: &Taken) -> Result<QueueReport, TrainError> {
        let ages = std::mem::take(&mut self.ages);
        let sum: u64 = ages.iter().sum();
        Ok(QueueReport {
            waiting: self.queue.len()? as u64,
            actors: taken.next.len() as u64,
            chunks: taken.chunks,
            stale: taken.stale,
            refused: self.refused,
            staleness: (!ages.is_empty()).then(|| sum as f64 / ages.len() as f64),
            staleness_max: ages.into_iter().max(),
        })
    }
}

/// Returns the files of a folder that are chunks by the end of their names, and when they were
/// written.
fn files(folder: &Path) -> Result<Vec<(PathBuf, SystemTime)>, TrainError> {
    let refuse = |error| TrainError::file(folder, error);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(refuse)? {
        let path = entry.map_err(refuse)?.path();
        // One that was taken meanwhile is there no more.
        if let (true, Ok(about)) = (
            path.to_string_lossy().ends_with(EXTENSION),
            fs::metadata(&path),
        ) {
            found.push((path, about.modified().unwrap_or(SystemTime::UNIX_EPOCH)));
        }
    }
    Ok(found)
}

fn count(folder: &Path) -> Result<u64, TrainError> {
    let entries = fs::read_dir(folder).map_err(|error| TrainError::file(folder, error))?;
    Ok(entries.count() as u64)
}

/// Returns the chunks as they came, those of one actor by their numbers, and files that are none.
fn in_order(files: &[(PathBuf, SystemTime)]) -> (Vec<ChunkName>, Vec<PathBuf>) {
    let mut others = Vec::new();
    let mut chunks: BTreeMap<ChunkName, SystemTime> = BTreeMap::new();
    for (path, written) in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match ChunkName::of_file(&name) {
            Some(name) => {
                chunks.insert(name, *written);
            }
            None => others.push(path.clone()),
        }
    }
    // An actor's clock that was set back does not put its later chunks before its earlier ones.
    let mut latest: BTreeMap<u32, SystemTime> = BTreeMap::new();
    let mut ordered: Vec<(SystemTime, ChunkName)> = Vec::with_capacity(chunks.len());
    for (name, written) in chunks {
        let last = latest.entry(name.actor).or_insert(written);
        *last = written.max(*last);
        ordered.push((*last, name));
    }
    ordered.sort_unstable();
    (ordered.into_iter().map(|(_, name)| name).collect(), others)
}

fn rename(from: &Path, to: &Path) -> Result<(), TrainError> {
    if from == to {
        return Ok(());
    }
    fs::rename(from, to).map_err(|error| TrainError::file(from, error))
}
