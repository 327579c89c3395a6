//! A program that measures what a learner publishes.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::TrainError;
use super::background::{Background, Job, Measured};
use super::best::BestAgent;
use super::config::{Config, EvaluationConfig};
use super::evaluate::EvaluationPlan;
use super::folder::{RunFolder, lock};
use super::metrics::{Best, RegretScore, Scores};
use super::progress::Progress;
use super::queue::Queue;
use crate::policy::agent_file::AgentFile;

/// How often it looks for a new agent.
const POLLED_EVERY: Duration = Duration::from_millis(200);

/// A line of `evaluations.jsonl`.
#[derive(Serialize)]
struct Line {
    seconds: f64,
    step: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    scores: Option<Scores>,
    #[serde(skip_serializing_if = "Option::is_none")]
    regret: Option<RegretScore>,
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<Best>,
}

/// Measures the agents of a run that another program trains.
#[derive(Debug)]
pub struct Follower {
    config: Config,
    run: RunFolder,
    queue: Queue,
    best: BestAgent,
    path: PathBuf,
    file: File,
    /// The step of the agent measured last.
    last: Option<u64>,
    /// Keeps other programs from measuring the same run.
    _lock: File,
}

impl Follower {
    /// Goes on with the measurements of a run.
    ///
    /// # Errors
    /// [`TrainError::Setting`] when the learner measures itself or nothing is to be measured,
    /// [`TrainError::RunBusy`] when another program measures, [`TrainError::File`] when a file
    /// cannot be used.
    pub fn open(config: &Config, run: &RunFolder) -> Result<Follower, TrainError> {
        check(config)?;
        let lock = lock(&run.path().join("follow.lock"))?;
        let lock = lock.ok_or_else(|| TrainError::RunBusy {
            path: run.path().to_path_buf(),
        })?;
        let path = run.path().join("evaluations.jsonl");
        let (file, last) = open_lines(&path).map_err(|error| TrainError::file(&path, error))?;
        Ok(Follower {
            // Whatever is published is measured.
            config: Config {
                evaluation: EvaluationConfig {
                    every: f64::MIN_POSITIVE,
                    ..config.evaluation
                },
                ..config.clone()
            },
            queue: Queue::open(run)?,
            best: BestAgent::open(run),
            run: run.clone(),
            path,
            file,
            last,
            _lock: lock,
        })
    }

    /// Measures every agent that is published, those left out that are followed by another
    /// meanwhile, until the last one of the run is measured or `stop` is set.
    ///
    /// # Errors
    /// [`TrainError`] when a file cannot be used or the agent fails.
    pub fn measure(
        &mut self,
        stop: &AtomicBool,
        progress: &mut Progress,
    ) -> Result<(), TrainError> {
        let mut background = Background::start(&self.config, &self.run);
        while !stop.load(Ordering::Relaxed) {
            if let Some(measured) = background.take()? {
                self.write(measured, progress)?;
            }
            if background.is_due() {
                let news = self.queue.news()?;
                let agent = self.newest_agent()?;
                if self.last != Some(agent.metadata.step) {
                    self.last = Some(agent.metadata.step);
                    let job = Job {
                        plan: EvaluationPlan::running(&self.config),
                        agent,
                        seconds: news.seconds,
                    };
                    background.measure(job, self.config.threads());
                } else if news.finished {
                    break;
                }
            }
            thread::sleep(POLLED_EVERY);
        }
        Ok(())
    }

    fn newest_agent(&self) -> Result<AgentFile, TrainError> {
        let path = self.run.agent();
        AgentFile::read(&path).map_err(|error| TrainError::checkpoint(path, &error))
    }

    /// Keeps what was found, and the agent if it is the best one so far.
    fn write(&mut self, measured: Measured, progress: &mut Progress) -> Result<(), TrainError> {
        let best = self.best.offer(&measured)?;
        let step = measured.agent.metadata.step;
        let about = measured.regret.as_ref().map(|found| found.seconds);
        let seconds = about.or(measured.scores.as_ref().map(|found| found.seconds));
        let line = Line {
            seconds: seconds.unwrap_or(0.0),
            step,
            scores: measured.scores,
            regret: measured.regret,
            best,
        };
        progress.say(&line.to_string());
        let text = serde_json::to_string(&line).map_err(std::io::Error::from);
        text.and_then(|text| self.file.write_all((text + "\n").as_bytes()))
            .map_err(|error| TrainError::file(&self.path, error))
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {}", self.step)?;
        if let Some(scores) = &self.scores {
            for (name, score) in &scores.score {
                write!(f, ", {name} {score:.2}")?;
            }
        }
        if let Some(regret) = &self.regret {
            let optimal = 100.0 * regret.optimal;
            write!(
                f,
                ", {optimal:.1} % optimal, {:.2} seeds lost",
                regret.seeds_lost
            )?;
        }
        match &self.best {
            Some(best) => write!(f, "; best agent: {best}"),
            None => Ok(()),
        }
    }
}

/// Checks that there is something to measure, and that the learner leaves it to others.
fn check(config: &Config) -> Result<(), TrainError> {
    let evaluation = &config.evaluation;
    if evaluation.every > 0.0 {
        return Err(TrainError::Setting {
            field: "evaluation.every",
            value: evaluation.every.to_string(),
            expected: "0 in a run that another program measures: above, the learner does".into(),
        });
    }
    if evaluation.games == 0 && evaluation.regret_positions == 0 {
        return Err(TrainError::Setting {
            field: "evaluation.games",
            value: "0".to_owned(),
            expected: "games or evaluation.regret_positions to measure".to_owned(),
        });
    }
    Ok(())
}

/// Opens a file of measurements, without a last line that was not finished, and returns the step of
/// the last one.
fn open_lines(path: &Path) -> std::io::Result<(File, Option<u64>)> {
    #[derive(Deserialize)]
    struct Step {
        step: u64,
    }
    let mut options = OpenOptions::new();
    let mut file = options.create(true).read(true).append(true).open(path)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let whole = bytes.iter().rposition(|&byte| byte == b'\n');
    let whole = whole.map_or(0, |last| last + 1);
    if whole < bytes.len() {
        file.set_len(whole as u64)?;
    }
    let mut newest_first = bytes
        .get(..whole)
        .unwrap_or(&[])
        .rsplit(|&byte| byte == b'\n');
    let last = newest_first.find_map(|line| serde_json::from_slice::<Step>(line).ok());
    Ok((file, last.map(|line| line.step)))
}
