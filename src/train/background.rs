//! Running scores, measured on a thread of their own while training goes on.

use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::TrainError;
use super::config::Config;
use super::evaluate::{Evaluation, EvaluationPlan, RUNNING_OPPONENTS, on_threads};
use super::metrics::Scores;
use super::tasks::message_of;
use crate::policy::AgentSearch;
use crate::policy::agent_file::AgentFile;

/// An agent to be measured.
#[derive(Debug)]
pub struct ScoreJob {
    /// The agent as it is now.
    pub agent: AgentFile,
    /// The games.
    pub plan: EvaluationPlan,
    /// Seconds of training of this agent.
    pub seconds: f64,
}

/// Measures one agent at a time; training is the same whether it is measured or not.
#[derive(Debug)]
pub struct BackgroundScores {
    every: Option<Duration>,
    last: Instant,
    running: Option<JoinHandle<Result<Scores, TrainError>>>,
}

impl BackgroundScores {
    /// Prepares the measurements that the settings ask for.
    pub fn new(config: &Config) -> BackgroundScores {
        let evaluation = &config.evaluation;
        let wanted = evaluation.every > 0.0 && evaluation.games > 0;
        BackgroundScores {
            every: wanted.then(|| Duration::from_secs_f64(evaluation.every)),
            last: Instant::now(),
            running: None,
        }
    }

    /// Tells whether it is time for the next measurement and none is going on.
    pub fn is_due(&self) -> bool {
        self.running.is_none() && self.every.is_some_and(|every| self.last.elapsed() >= every)
    }

    /// Starts a measurement.
    pub fn start(&mut self, job: ScoreJob) {
        self.last = Instant::now();
        self.running = Some(thread::spawn(move || measure(&job)));
    }

    /// Returns the scores if a measurement has ended; after one that failed there are no more.
    ///
    /// # Errors
    /// [`TrainError`] of the measurement.
    pub fn take(&mut self) -> Result<Option<Scores>, TrainError> {
        match &self.running {
            Some(running) if running.is_finished() => self.wait(),
            _ => Ok(None),
        }
    }

    /// Waits for the measurement that goes on, if any, and returns its scores.
    ///
    /// # Errors
    /// [`TrainError`] of the measurement.
    pub fn wait(&mut self) -> Result<Option<Scores>, TrainError> {
        let Some(running) = self.running.take() else {
            return Ok(None);
        };
        let measured = running.join().unwrap_or_else(|payload| {
            Err(TrainError::Thread {
                message: message_of(payload.as_ref()),
            })
        });
        if measured.is_err() {
            self.every = None;
        }
        measured.map(Some)
    }
}

/// Plays the games of one measurement on a single thread.
fn measure(job: &ScoreJob) -> Result<Scores, TrainError> {
    let evaluation = on_threads(1, || {
        Evaluation::play(
            "agent",
            &job.agent,
            AgentSearch::Default,
            &RUNNING_OPPONENTS,
            &job.plan,
            |_, _| {},
        )
    })?;
    Ok(Scores {
        seconds: job.seconds,
        step: job.agent.metadata.step,
        games: job.plan.games,
        score: evaluation
            .scores()
            .map(|(name, score)| (name.to_owned(), score))
            .collect(),
    })
}
