//! Checkpoints: everything a run needs to go on, at one moment, in one safetensors file.
//!
//! A run that goes on from a checkpoint learns what it would have learnt without a stop: the file
//! holds the weights, their running average, the optimiser's moments, the replay ring, the games in
//! progress with their generators, and the counters, on which the schedule depends.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::TrainError;
use super::queue::Taken;
use super::state::{State, StateError};
use crate::policy::agent_file::replace_file;
use crate::policy::features::FEATURES_VERSION;
use crate::ruleset::Ruleset;

/// The name of the file in a run's folder.
pub const FILE_NAME: &str = "checkpoint.safetensors";

const FORMAT: &str = "endodoi-checkpoint";

/// Version 1 has neither the replay ring nor the games in progress.
const FORMAT_VERSION: u32 = 2;

/// What a run has done so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counters {
    /// Iterations finished.
    pub iteration: u64,
    /// Games of self-play finished.
    pub games: u64,
    /// Positions searched.
    pub positions: u64,
    /// Positions evaluated by the network.
    pub evaluations: u64,
    /// Seconds of training, earlier parts of the run included.
    pub seconds: f64,
    /// Draws from the replay ring that are due and were not made yet.
    pub due: f64,
    /// The first episode that no game of self-play has begun.
    pub episode: u64,
    /// What was taken from the queue, if actors play for the run.
    #[serde(default, skip_serializing_if = "Taken::is_empty")]
    pub taken: Taken,
}

/// What a checkpoint says of its run, beside the arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// What the run has done.
    pub counters: Counters,
    /// Optimiser steps taken.
    pub step: u64,
    /// The rules of the replay ring and of the games in progress; `None` in files of version 1,
    /// which hold neither.
    pub ruleset: Option<Ruleset>,
}

/// A checkpoint as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// What it says of its run.
    pub moment: Moment,
    path: PathBuf,
    bytes: Vec<u8>,
}

#[derive(Deserialize)]
struct Envelope {
    format: String,
    format_version: u32,
    features_version: u32,
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    format_version: u32,
    features_version: u32,
    step: u64,
    counters: Counters,
    #[serde(default)]
    ruleset: Option<Ruleset>,
    /// CRC-32 of the arrays.
    #[serde(default)]
    checksum: Option<u32>,
}

impl Checkpoint {
    /// Writes a checkpoint under a temporary name and renames it.
    ///
    /// # Errors
    /// [`TrainError::File`] when the folder cannot be written to; an older checkpoint stays.
    pub fn write(path: &Path, moment: &Moment, state: &State<'_>) -> Result<(), TrainError> {
        let header = Header {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            features_version: FEATURES_VERSION,
            step: moment.step,
            counters: moment.counters.clone(),
            ruleset: moment.ruleset,
            checksum: Some(state.checksum()),
        };
        let bytes = serde_json::to_string(&header)
            .map_err(StateError::from)
            .and_then(|json| state.to_bytes(json))
            .map_err(|error| TrainError::checkpoint(path, &error))?;
        replace_file(path, &bytes).map_err(|error| TrainError::file(path, error))
    }

    /// Reads a checkpoint.
    ///
    /// # Errors
    /// [`TrainError::File`] when it cannot be read, [`TrainError::Checkpoint`] when it is broken or
    /// of another format version.
    pub fn read(path: &Path) -> Result<Checkpoint, TrainError> {
        let bytes = std::fs::read(path).map_err(|error| TrainError::file(path, error))?;
        let (state, json) =
            State::from_bytes(&bytes).map_err(|error| TrainError::checkpoint(path, &error))?;
        let envelope: Envelope =
            serde_json::from_str(&json).map_err(|error| TrainError::checkpoint(path, &error))?;
        let (format, version) = (envelope.format.as_str(), envelope.format_version);
        if format != FORMAT || !(1..=FORMAT_VERSION).contains(&version) {
            let message = format!(
                "{format} version {version}, this program reads {FORMAT} version 1 to {FORMAT_VERSION}"
            );
            return Err(TrainError::checkpoint(path, &message));
        }
        if envelope.features_version != FEATURES_VERSION {
            let got = envelope.features_version;
            let message = format!("features version {got}, this program has {FEATURES_VERSION}");
            return Err(TrainError::checkpoint(path, &message));
        }
        let header: Header =
            serde_json::from_str(&json).map_err(|error| TrainError::checkpoint(path, &error))?;
        let got = state.checksum();
        match header.checksum {
            Some(expected) if expected != got => {
                return Err(TrainError::checkpoint(
                    path,
                    &StateError::Checksum { got, expected },
                ));
            }
            _ => {}
        }
        Ok(Checkpoint {
            moment: Moment {
                counters: header.counters,
                step: header.step,
                ruleset: header.ruleset,
            },
            path: path.to_path_buf(),
            bytes,
        })
    }

    /// Returns the arrays.
    ///
    /// # Errors
    /// [`TrainError::Checkpoint`], which [`Checkpoint::read`] has ruled out.
    pub fn state(&self) -> Result<State<'_>, TrainError> {
        match State::from_bytes(&self.bytes) {
            Ok((state, _)) => Ok(state),
            Err(error) => Err(self.refuse(&error)),
        }
    }

    /// Names the file in what is wrong with its arrays.
    pub fn refuse(&self, error: &StateError) -> TrainError {
        TrainError::checkpoint(&self.path, error)
    }
}
