//! Chunks: finished positions of one actor, as files of the queue.

use serde::{Deserialize, Serialize};

use super::config::Config;
use super::replay::Replay;
use super::sealed::Format;
use super::selfplay::Played;
use super::state::{State, StateError};
use crate::policy::agent_file::Learner;
use crate::ruleset::Ruleset;

const FORMAT: Format = Format {
    name: "endodoi-chunk",
    version: 1,
    oldest: 1,
};

/// The end of the names of chunks.
pub const EXTENSION: &str = ".safetensors";

/// Names a chunk: its actor and how many chunks the actor wrote before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChunkName {
    /// The actor's number.
    pub actor: u32,
    /// The chunk's number among those of its actor, from 0.
    pub number: u64,
}

impl ChunkName {
    /// Returns the name of the file.
    pub fn file(&self) -> String {
        format!("actor-{:04}-{:08}{EXTENSION}", self.actor, self.number)
    }

    /// Reads the name of a file, `None` if no chunk is named so.
    pub fn of_file(name: &str) -> Option<ChunkName> {
        let middle = name.strip_prefix("actor-")?.strip_suffix(EXTENSION)?;
        let (actor, number) = middle.split_once('-')?;
        let found = ChunkName {
            actor: actor.parse().ok()?,
            number: number.parse().ok()?,
        };
        // One name for one chunk.
        (found.file() == name).then_some(found)
    }
}

/// What an actor played between two takings of weights.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// Its name.
    pub name: ChunkName,
    /// Optimiser steps of the weights it was played with.
    pub step: u64,
    /// Positions with their targets, and counts.
    pub played: Played,
}

/// What a chunk's header says.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    learner: Learner,
    ruleset: Ruleset,
    /// The run's seed.
    seed: u64,
    actor: u32,
    number: u64,
    step: u64,
    games: u64,
    plies: u64,
    positions: u64,
    evaluations: u64,
    known: u64,
    policies: u64,
    entropy: f64,
    seconds: f64,
}

impl Chunk {
    /// Returns the bytes of a chunk of a run.
    ///
    /// # Errors
    /// [`StateError`] when a number cannot be written.
    pub fn to_bytes(&self, config: &Config) -> Result<Vec<u8>, StateError> {
        let played = &self.played;
        let about = About {
            learner: config.learner,
            ruleset: config.ruleset,
            seed: config.seed,
            actor: self.name.actor,
            number: self.name.number,
            step: self.step,
            games: played.games,
            plies: played.plies,
            positions: played.positions,
            evaluations: played.evaluations,
            known: played.known,
            policies: played.policies,
            entropy: played.entropy,
            seconds: played.seconds,
        };
        let capacity = played.samples.len() + 1;
        let mut samples = Replay::new(config.ruleset, config.policy_columns(), capacity);
        for sample in &played.samples {
            samples.push(sample);
        }
        let mut state = State::default();
        samples.put(&mut state);
        FORMAT.seal(&about, &state)
    }

    /// Reads a chunk, which is to have this name and to be of this run.
    ///
    /// # Errors
    /// [`StateError`] when it is damaged, of another run or holds what is no position of the rules.
    pub fn from_bytes(bytes: &[u8], name: ChunkName, config: &Config) -> Result<Chunk, StateError> {
        let (about, mut state) = FORMAT.open::<About>(bytes)?;
        about.check(name, config)?;
        let columns = config.policy_columns();
        let ring = Replay::take(&mut state, config.ruleset, columns, usize::MAX)?;
        state.finish()?;
        let sample = |row: usize| {
            let found = ring.get(row).map(|(_, sample)| sample);
            found.ok_or_else(|| StateError::Row {
                name: "replay/observations".to_owned(),
                row,
                message: "is no position of the rules".to_owned(),
            })
        };
        let samples = (0..ring.len()).map(sample).collect::<Result<_, _>>()?;
        Ok(Chunk {
            name,
            step: about.step,
            played: Played {
                samples,
                games: about.games,
                plies: about.plies,
                positions: about.positions,
                evaluations: about.evaluations,
                known: about.known,
                policies: about.policies,
                entropy: about.entropy,
                seconds: about.seconds,
            },
        })
    }
}

impl About {
    fn check(&self, name: ChunkName, config: &Config) -> Result<(), StateError> {
        let (learner, wanted) = (self.learner.name(), config.learner.name());
        let fields = [
            ("learner", learner.to_owned(), wanted.to_owned()),
            (
                "ruleset",
                self.ruleset.to_string(),
                config.ruleset.to_string(),
            ),
            ("seed", self.seed.to_string(), config.seed.to_string()),
            ("actor", self.actor.to_string(), name.actor.to_string()),
            ("number", self.number.to_string(), name.number.to_string()),
        ];
        let other = fields
            .into_iter()
            .find(|(_, got, expected)| got != expected);
        match other {
            Some((field, got, expected)) => Err(StateError::Foreign {
                field,
                got,
                expected,
            }),
            None => Ok(()),
        }
    }
}
