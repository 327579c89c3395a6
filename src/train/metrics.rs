//! Measurements of a run: one JSON object a line, written as they come.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::TrainError;

/// One report. Rates and means are of the time since the report before.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Seconds of training so far.
    pub seconds: f64,
    /// Share of the budget used, 0 to 1.
    pub progress: f64,
    /// Iterations so far.
    pub iteration: u64,
    /// Games finished so far.
    pub games: u64,
    /// Positions searched so far.
    pub positions: u64,
    /// Network evaluations so far.
    pub evaluations: u64,
    /// Optimiser steps so far.
    pub step: u64,
    /// Positions in the replay ring.
    pub replay: u64,
    /// Positions searched each second.
    pub positions_per_second: f64,
    /// Network evaluations of self-play each second.
    pub evaluations_per_second: f64,
    /// Mean plies of the games finished, absent when there are none.
    pub plies: Option<f64>,
    /// Mean entropy of the search's policies in nats.
    pub entropy: Option<f64>,
    /// Learning rate of the last iteration.
    pub learning_rate: f64,
    /// Mean weighted loss, absent before the first step.
    pub loss: Option<f64>,
    /// Mean cross-entropy of the policy in nats.
    pub policy_loss: Option<f64>,
    /// Mean cross-entropy of win, draw and loss in nats.
    pub value_loss: Option<f64>,
    /// Mean Huber loss of the margin in its unit.
    pub margin_loss: Option<f64>,
    /// Running scores (0 to 1) by opponent, in the first report after they were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores: Option<Scores>,
}

/// Running scores of the agent as it was at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Scores {
    /// Seconds of training of the agent measured.
    pub seconds: f64,
    /// Optimiser steps of the agent measured.
    pub step: u64,
    /// Games against each opponent.
    pub games: u64,
    /// Score (0 to 1) by opponent.
    pub score: BTreeMap<String, f64>,
}

/// Appends reports to `metrics.jsonl`.
#[derive(Debug)]
pub struct MetricsFile {
    path: PathBuf,
    file: File,
}

impl MetricsFile {
    /// Opens the file of a run that goes on after `iteration`, keeping what an earlier part of it
    /// wrote, except the lines of later iterations, which are going to be played again, and a last
    /// line that it could not finish.
    ///
    /// # Errors
    /// [`TrainError::File`] when it cannot be opened.
    pub fn open(path: &Path, iteration: u64) -> Result<MetricsFile, TrainError> {
        let refuse = |error| TrainError::file(path, error);
        let mut options = OpenOptions::new();
        let file = options.create(true).read(true).append(true).open(path);
        let mut file = file.map_err(refuse)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(refuse)?;
        let kept = bytes_until(&bytes, iteration);
        if kept < bytes.len() {
            file.set_len(kept as u64).map_err(refuse)?;
        }
        Ok(MetricsFile {
            path: path.to_path_buf(),
            file,
        })
    }

    /// Writes one report as a line of its own.
    ///
    /// # Errors
    /// [`TrainError::File`] when it cannot be written.
    pub fn write(&mut self, report: &Report) -> Result<(), TrainError> {
        let line = serde_json::to_string(report)
            .map_err(|error| TrainError::file(&self.path, error.into()))?;
        self.file
            .write_all((line + "\n").as_bytes())
            .and_then(|()| self.file.flush())
            .map_err(|error| TrainError::file(&self.path, error))
    }
}

/// Returns the length of the whole lines that tell of no iteration later than the one given.
fn bytes_until(bytes: &[u8], iteration: u64) -> usize {
    #[derive(Deserialize)]
    struct Line {
        iteration: u64,
    }
    let later = |line: &[u8]| {
        serde_json::from_slice::<Line>(line).is_ok_and(|line| line.iteration > iteration)
    };
    bytes
        .split_inclusive(|&byte| byte == b'\n')
        .take_while(|line| line.ends_with(b"\n") && !later(line))
        .map(<[u8]>::len)
        .sum()
}
