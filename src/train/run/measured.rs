//! What a run measures: reports, running scores and regret, the final table.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{Run, Since};
use crate::policy::agent_file::AgentFile;
use crate::train::TrainError;
use crate::train::background::{Background, Job, Measured, regret_of};
use crate::train::evaluate::{EvaluationPlan, FINAL_OPPONENTS, play_until_stopped};
use crate::train::final_table::{FinalTable, Finalist};
use crate::train::metrics::{MetricsFile, Report};
use crate::train::progress::Progress;

/// Where reports go.
pub(super) struct Outputs<'a> {
    pub(super) metrics: MetricsFile,
    pub(super) progress: &'a mut Progress,
}

impl Run {
    /// Reports what is left to report at the end: the measurement that goes on and, of a run that
    /// has trained and was not stopped, one of the last agent.
    pub(super) fn measure_last(
        &mut self,
        since: &Since,
        background: &mut Background,
        trained: bool,
        stop: &AtomicBool,
        out: &mut Outputs<'_>,
    ) -> Result<(), TrainError> {
        // Measuring takes time that is not training.
        let at = (self.seconds(), self.progress());
        let stopped = stop.load(Ordering::Relaxed);
        let found = if stopped {
            background.take()
        } else {
            if background.is_solving() {
                out.progress.say("solving the positions of the regret ...");
            }
            background.wait_unless(stop)
        };
        self.tell(since, found, at, out)?;
        if trained && !stopped && background.is_on() {
            background.measure(self.job(at.0), self.config.threads());
            let found = background.wait_unless(stop);
            self.tell(&Since::default(), found, at, out)?;
        }
        self.exam = background.exam();
        Ok(())
    }

    /// Keeps an agent that a measurement found the best and reports, if there is anything to say,
    /// as of the seconds of training and the share of the budget given.
    ///
    /// A measurement that failed is told of: training goes on without.
    pub(super) fn tell(
        &mut self,
        since: &Since,
        found: Result<Option<Measured>, TrainError>,
        (seconds, progress): (f64, f64),
        out: &mut Outputs<'_>,
    ) -> Result<(), TrainError> {
        let found = found.unwrap_or_else(|error| {
            out.progress.say(&format!("a measurement failed: {error}"));
            None
        });
        if since.positions == 0 && found.is_none() {
            return Ok(());
        }
        let mut report = Report {
            seconds,
            progress,
            ..self.report(since)
        };
        if let Some(measured) = found {
            report.best = self.best.offer(&measured)?;
            (report.scores, report.regret) = (measured.scores, measured.regret);
        }
        report.queue = self.queue_report()?;
        out.metrics.write(&report)?;
        out.progress.show(&report);
        Ok(())
    }

    /// Makes a job of the agent as it is after these seconds of training.
    pub(super) fn job(&self, seconds: f64) -> Job {
        Job {
            agent: self.agent(),
            plan: EvaluationPlan::running(&self.config),
            seconds,
        }
    }

    /// Plays the games of the final table, of the best agent and of the last one, and writes
    /// `evaluation.json`; `None` if the settings leave the table out or `stop` is set meanwhile.
    ///
    /// Agents that were compared by running scores, of few games, are compared again by those of
    /// the table: the last one is kept as the best if it is as good.
    ///
    /// # Errors
    /// [`TrainError`] when the file cannot be written.
    pub fn evaluate(
        &mut self,
        stop: &AtomicBool,
        progress: &mut Progress,
    ) -> Result<Option<FinalTable>, TrainError> {
        let plan = EvaluationPlan::last(&self.config);
        if plan.games == 0 {
            return Ok(None);
        }
        self.heed_follower();
        let last = (self.folder.agent(), self.agent());
        let best = self.best.other_than(last.1.metadata.step);
        let mut finalists = Vec::with_capacity(2);
        for (file, agent) in best.into_iter().chain([last]) {
            let label = file.display().to_string();
            let Some(finalist) = self.play_final(label, agent, plan, stop, progress)? else {
                return Ok(None);
            };
            finalists.push(finalist);
        }
        let mut finalists = finalists.into_iter();
        let Some(first) = finalists.next() else {
            return Ok(None);
        };
        let other = finalists.next();
        let mut table = FinalTable { first, other };
        self.best.decide(&mut table)?;
        let document = table.document();
        self.folder.replace_json("evaluation.json", &document)?;
        Ok(Some(table))
    }

    fn play_final(
        &self,
        label: String,
        agent: AgentFile,
        plan: EvaluationPlan,
        stop: &AtomicBool,
        progress: &mut Progress,
    ) -> Result<Option<Finalist>, TrainError> {
        progress.say(&format!(
            "playing {} games of {label} against each of {} ...",
            plan.games,
            FINAL_OPPONENTS.join(", ")
        ));
        let regret = self.exam.as_ref().map(|exam| regret_of(&agent, exam));
        let regret = regret.transpose()?;
        let told = |name: &str, score: f64| progress.say(&format!("  {name}: {score:.3}"));
        let threads = self.config.threads();
        let evaluation = play_until_stopped(label, agent.clone(), plan, threads, stop, told)?;
        Ok(evaluation.map(|evaluation| Finalist {
            agent,
            evaluation,
            regret,
        }))
    }
}
