//! Checkpoints: everything a run needs to go on, in one safetensors file.
//!
//! Restored are the weights, their running average, the optimiser's moments, the counters and the
//! time used. The replay ring fills again and games in progress start anew, with episodes that
//! were not played before.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::TrainError;
use super::config::Config;
use super::learner::LearnerState;
use crate::policy::agent_file::{read_tensors, replace_file, write_tensors};
use crate::policy::features::FEATURES_VERSION;
use crate::policy::weights::{NamedTensor, Weights};

/// The name of the file in a run's folder.
pub const FILE_NAME: &str = "checkpoint.safetensors";

const FORMAT: &str = "endodoi-checkpoint";

const FORMAT_VERSION: u32 = 1;

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
}

/// A run's state between two iterations.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// What the run has done.
    pub counters: Counters,
    /// The network and its optimiser.
    pub learner: LearnerState,
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    format_version: u32,
    features_version: u32,
    step: u64,
    counters: Counters,
}

const PARTS: [&str; 4] = ["weights/", "average/", "first/", "second/"];

impl Checkpoint {
    /// Writes the checkpoint under a temporary name and renames it.
    ///
    /// # Errors
    /// [`TrainError::File`] when the folder cannot be written to; an older checkpoint stays.
    pub fn write(&self, path: &Path) -> Result<(), TrainError> {
        let header = Header {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            features_version: FEATURES_VERSION,
            step: self.learner.step,
            counters: self.counters.clone(),
        };
        let refuse = |message: String| refused(path, message);
        let json = serde_json::to_string(&header).map_err(|error| refuse(error.to_string()))?;
        let learner = &self.learner;
        let parts = [
            learner.weights.tensors(),
            learner.average.tensors(),
            &learner.first,
            &learner.second,
        ];
        let named: Vec<(String, &NamedTensor)> = PARTS
            .iter()
            .zip(parts)
            .flat_map(|(part, tensors)| {
                tensors
                    .iter()
                    .map(move |tensor| (format!("{part}{}", tensor.name), tensor))
            })
            .collect();
        let tensors = named
            .iter()
            .map(|(name, tensor)| (name.as_str(), &*tensor.shape, &*tensor.data));
        let bytes = write_tensors(tensors, json).map_err(|error| refuse(error.to_string()))?;
        replace_file(path, &bytes).map_err(|error| TrainError::file(path, error))
    }

    /// Reads a checkpoint of a run with the settings given.
    ///
    /// # Errors
    /// [`TrainError::File`] when it cannot be read, [`TrainError::Checkpoint`] when it is broken,
    /// of another format version, or of another network.
    pub fn read(path: &Path, config: &Config) -> Result<Checkpoint, TrainError> {
        let bytes = std::fs::read(path).map_err(|error| TrainError::file(path, error))?;
        let refuse = |message: String| refused(path, message);
        let (tensors, json) = read_tensors(&bytes).map_err(|error| refuse(error.to_string()))?;
        let header: Header =
            serde_json::from_str(&json).map_err(|error| refuse(error.to_string()))?;
        let got = (header.format.as_str(), header.format_version);
        if got != (FORMAT, FORMAT_VERSION) {
            return Err(refuse(format!(
                "{} version {}, this program reads {FORMAT} version {FORMAT_VERSION}",
                got.0, got.1
            )));
        }
        if header.features_version != FEATURES_VERSION {
            return Err(refuse(format!(
                "features version {}, this program has {FEATURES_VERSION}",
                header.features_version
            )));
        }
        let mut parts = PARTS.map(|_| Vec::new());
        for tensor in tensors {
            let part = PARTS
                .iter()
                .position(|part| tensor.name.starts_with(part))
                .ok_or_else(|| refuse(format!("tensor {} is unknown", tensor.name)))?;
            let name = tensor.name[PARTS[part].len()..].to_owned();
            parts[part].push(NamedTensor { name, ..tensor });
        }
        // The moments have the shapes of the weights and are checked in the same way.
        let [weights, average, first, second] =
            parts.map(|tensors| Weights::new(config.network, tensors));
        let broken = |error: crate::policy::weights::WeightsError| refuse(error.to_string());
        Ok(Checkpoint {
            counters: header.counters,
            learner: LearnerState {
                weights: weights.map_err(broken)?,
                average: average.map_err(broken)?,
                first: first.map_err(broken)?.tensors().to_vec(),
                second: second.map_err(broken)?.tensors().to_vec(),
                step: header.step,
            },
        })
    }
}

fn refused(path: &Path, message: String) -> TrainError {
    TrainError::Checkpoint {
        path: path.to_path_buf(),
        message,
    }
}
