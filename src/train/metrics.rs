//! Measurements of a run: one JSON object a line, written as they come.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::TrainError;
use super::queue::QueueReport;
use super::tensorboard::EventFile;

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
    /// Seconds that threads spent on optimiser steps.
    pub learn_seconds: f64,
    /// Seconds that threads spent on self-play, those of actors included.
    pub play_seconds: f64,
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
    /// The queue, where actors play for the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueReport>,
    /// Running scores (0 to 1) by opponent, in the first report after they were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores: Option<Scores>,
    /// Regret, in the first report after it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regret: Option<RegretScore>,
    /// The best agent so far, in the first report after a measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<Best>,
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

/// What the moves of the agent as it was at one moment lose against the best moves.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RegretScore {
    /// Seconds of training of the agent measured.
    pub seconds: f64,
    /// Optimiser steps of the agent measured.
    pub step: u64,
    /// Positions in which it chose.
    pub positions: u64,
    /// What the moves were compared with, `perfect` or a search.
    pub reference: String,
    /// Share of moves that lose nothing, 0 to 1.
    pub optimal: f64,
    /// Share of moves that give away a win or a draw, 0 to 1.
    pub outcome_changing: f64,
    /// Mean seeds lost a move.
    pub seeds_lost: f64,
    /// Half-width of the 95 % interval of that mean, absent where there is none.
    pub seeds_lost_half: Option<f64>,
}

/// What agents are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Merit {
    /// The fewest seeds lost a move, where regret is measured.
    SeedsLost,
    /// The highest mean of the scores against all opponents.
    Score,
}

/// The best agent of a run, as far as it was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Best {
    /// Seconds of training of the agent.
    pub seconds: f64,
    /// Optimiser steps of the agent.
    pub step: u64,
    /// What it is the best by.
    pub by: Merit,
    /// Its mean seeds lost, or its mean score.
    pub value: f64,
    /// Positions, or games against each opponent, that this was measured in.
    pub count: u64,
}

/// Appends reports to `metrics.jsonl` and, if wanted, to the events that `TensorBoard` reads.
#[derive(Debug)]
pub struct MetricsFile {
    path: PathBuf,
    file: File,
    events: Option<EventFile>,
}

impl MetricsFile {
    /// Opens the file of a run that goes on after `iteration`, keeping what an earlier part of it
    /// wrote, except the lines of later iterations, which are going to be played again, and a last
    /// line that it could not finish; with `events_from` a file of events is made beside it that
    /// begins at this step of the optimiser.
    ///
    /// # Errors
    /// [`TrainError::File`] when one cannot be opened.
    pub fn open(
        path: &Path,
        iteration: u64,
        events_from: Option<u64>,
    ) -> Result<MetricsFile, TrainError> {
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
        let folder = path.parent().unwrap_or_else(|| Path::new("."));
        Ok(MetricsFile {
            path: path.to_path_buf(),
            file,
            events: events_from
                .map(|first| EventFile::create(folder, first))
                .transpose()?,
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
            .map_err(|error| TrainError::file(&self.path, error))?;
        let Some(events) = &mut self.events else {
            return Ok(());
        };
        let values = serde_json::to_value(report)
            .map_err(|error| TrainError::file(&self.path, error.into()))?;
        events.write(report.step, &scalars(&values))
    }
}

/// What a measurement says of itself.
const ABOUT: [&str; 4] = ["seconds", "step", "positions", "count"];

/// Returns every number of a report with the name it has in `TensorBoard`, whose part before the
/// stroke is the group it is shown in.
///
/// Whatever a learner measures is there; its steps are the axis.
fn scalars(report: &Value) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    for (key, value) in report.as_object().into_iter().flatten() {
        match value.as_f64() {
            Some(_) if key == "step" => {}
            Some(number) => found.push((format!("{}/{key}", group_of(key)), number)),
            None => {
                // Of scores, those by opponent; of what agent and in how much is no curve.
                let inner = value.get("score").unwrap_or(value);
                let group = if key == "scores" { "score" } else { key };
                for (name, value) in inner.as_object().into_iter().flatten() {
                    if let (Some(number), false) = (value.as_f64(), ABOUT.contains(&&**name)) {
                        found.push((format!("{group}/{name}"), number));
                    }
                }
            }
        }
    }
    found
}

fn group_of(key: &str) -> &'static str {
    match key {
        "loss" | "learning_rate" => "learning",
        "plies" | "entropy" => "selfplay",
        _ if key.ends_with("_loss") => "learning",
        _ if key.ends_with("_per_second") => "speed",
        _ => "run",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_a_report_has_a_name_in_tensorboard() {
        let report = Report {
            step: 7,
            entropy: Some(0.5),
            policy_loss: Some(1.5),
            scores: Some(Scores {
                step: 6,
                score: [("greedy".to_owned(), 0.75)].into(),
                ..Scores::default()
            }),
            regret: Some(RegretScore {
                optimal: 0.9,
                seeds_lost: 0.25,
                ..RegretScore::default()
            }),
            best: None,
            ..Report::default()
        };
        let found = scalars(&serde_json::to_value(&report).unwrap_or_default());
        let value = |name: &str| found.iter().find(|(key, _)| key == name).map(|&(_, x)| x);
        assert_eq!(value("selfplay/entropy"), Some(0.5));
        assert_eq!(value("learning/policy_loss"), Some(1.5));
        assert_eq!(value("score/greedy"), Some(0.75));
        assert_eq!(value("regret/optimal"), Some(0.9));
        assert_eq!(value("regret/seeds_lost"), Some(0.25));
        assert_eq!(value("regret/positions"), None);
        assert_eq!(value("run/games"), Some(0.0));
        assert_eq!(value("speed/positions_per_second"), Some(0.0));
        // What is not known is left out, and nothing stands there twice.
        assert_eq!(value("learning/loss"), None);
        let names: std::collections::BTreeSet<&String> = found.iter().map(|(key, _)| key).collect();
        assert_eq!(names.len(), found.len());
    }
}
