//! A training run: iterations of self-play and learning side by side, until the budget is used.
//!
//! In an iteration every group of games moves on with the weights of the iteration's start while
//! the learner trains on the positions of the iterations before. Then the new positions enter the
//! replay ring and the new weights are published. What a run learns depends on its settings and
//! seed alone, not on threads or their speed; but under a time limit the moment at which it ends,
//! and the learning rate, which falls with the time used, follow the clock. A run that is stopped, or
//! killed, and goes on from its checkpoint learns what it would have learnt at one go.

mod measured;
mod queued;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use measured::Outputs;
use queued::Queued;

use super::TrainError;
use super::background::Background;
use super::best::BestAgent;
use super::checkpoint::{Checkpoint, Counters, Moment};
use super::config::Config;
use super::folder::RunFolder;
use super::learner::{Learner, Losses};
use super::metrics::{Best, MetricsFile, Report};
use super::parts::{self, Parts};
use super::progress::Progress;
use super::replay::Replay;
use super::selfplay::{self, Group, Played, play_all};
use crate::arena::Exam;
use crate::policy::agent_file::{AgentFile, AgentMetadata, Learner as LearnerName};
use crate::policy::weights::Weights;

/// Time between two checkpoints, at the least, in units of the time that writing one takes.
const LEAST_PAUSE: f64 = 50.0;

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The budget is used.
    Finished,
    /// It was asked to stop.
    Stopped,
}

/// A run between two iterations.
#[derive(Debug)]
pub struct Run {
    config: Config,
    folder: RunFolder,
    counters: Counters,
    learner: Learner,
    replay: Replay,
    groups: Vec<Group>,
    /// The published weights: the running average, with which self-play goes on.
    weights: Weights,
    started: Instant,
    /// Seconds of earlier parts of the run.
    before: f64,
    learning_rate: f64,
    /// Positions and evaluations each second, as reported last.
    rates: [f64; 2],
    best: BestAgent,
    /// The positions of the regret, once they are solved.
    exam: Option<Arc<Exam>>,
    /// Where positions come from if actors play, and then there are no groups.
    queued: Option<Queued>,
    notes: Vec<String>,
}

/// What happened since the last report.
#[derive(Debug, Default)]
struct Since {
    seconds: f64,
    games: u64,
    plies: u64,
    positions: u64,
    evaluations: u64,
    policies: u64,
    entropy: f64,
    losses: Losses,
    learn_seconds: f64,
    play_seconds: f64,
}

impl Run {
    /// Starts a run in a folder of its own.
    ///
    /// # Errors
    /// [`TrainError`] when the folder holds a run already or a setting is impossible.
    pub fn start(config: Config, path: &Path) -> Result<Run, TrainError> {
        selfplay::check_start(&config.ruleset)?;
        config.device.find()?;
        let parts = Parts::start(&config)?;
        let folder = RunFolder::create(path, &config)?;
        Run::of_parts(config, folder, parts)
    }

    /// Goes on with the run of a folder from its checkpoint, or from the beginning if it has none
    /// yet.
    ///
    /// # Errors
    /// [`TrainError`] when there is no run or its checkpoint cannot be used.
    pub fn resume(config: Config, path: &Path) -> Result<Run, TrainError> {
        let folder = RunFolder::open(path)?;
        let file = folder.checkpoint();
        let parts = if file.exists() {
            let checkpoint = Checkpoint::read(&file)?;
            Parts::take(checkpoint.state()?, &config, &checkpoint.moment)
                .map_err(|error| checkpoint.refuse(&error))?
        } else {
            Parts::start(&config)?
        };
        folder.describe(&config)?;
        Run::of_parts(config, folder, parts)
    }

    fn of_parts(config: Config, folder: RunFolder, parts: Parts) -> Result<Run, TrainError> {
        let Parts {
            counters,
            learner,
            replay,
            groups,
            notes,
        } = parts;
        let mut groups = groups;
        parts::give_table(&config, &mut groups)?;
        Ok(Run {
            learner: Learner::new(&config, &learner)?,
            replay,
            groups,
            weights: learner.average,
            started: Instant::now(),
            before: counters.seconds,
            learning_rate: 0.0,
            rates: [0.0; 2],
            best: BestAgent::open(&folder),
            exam: None,
            queued: None,
            notes,
            counters,
            folder,
            config,
        })
    }

    /// Says in one line what is going to be trained.
    pub fn describe(&self) -> String {
        let budget = &self.config.budget;
        let limits = [
            budget.minutes.map(|minutes| match minutes {
                1.0 => "1 minute".to_owned(),
                _ => format!("{minutes} minutes"),
            }),
            budget.steps.map(|steps| format!("{steps} steps")),
            budget.games.map(|games| format!("{games} games")),
        ];
        let limits: Vec<String> = limits.into_iter().flatten().collect();
        let games = self.config.selfplay.groups * self.config.selfplay.games;
        let played = match self.queued {
            Some(_) => "positions of actors".to_owned(),
            None => format!("{games} games at once"),
        };
        format!(
            "training on {} for {} on {} threads: {} weights, {played}, into {}",
            self.config.ruleset,
            limits.join(" or "),
            self.threads(),
            self.weights.count(),
            self.folder.path().display(),
        )
    }

    /// Returns what the user should know of the checkpoint that the run goes on from.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the run's folder.
    pub const fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// Returns what the run has done so far.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns what is known of the best agent so far, if one was measured.
    pub const fn best(&self) -> Option<Best> {
        self.best.best()
    }

    /// Trains until the budget is used or `stop` is set, then writes a checkpoint and the agent.
    ///
    /// # Errors
    /// [`TrainError`] when another program trains into the folder, a file cannot be written or the
    /// loss is not finite; the checkpoint written last stays.
    pub fn train(
        &mut self,
        stop: &AtomicBool,
        progress: &mut Progress,
    ) -> Result<Ending, TrainError> {
        let _claimed = self.folder.claim()?;
        let metrics = self.open_metrics()?;
        let mut out = Outputs { metrics, progress };
        if !self.folder.checkpoint().exists() {
            // What is killed or finds the disk full early leaves an agent as well.
            self.save()?;
        }
        self.open_queue()?;
        let mut since = Since::default();
        let (mut reported, mut saved) = (Instant::now(), Instant::now());
        let mut pause = self.config.output.checkpoint;
        let mut background = Background::start(&self.config, &self.folder);
        let before = self.counters.iteration;
        while self.progress() < 1.0 && !stop.load(Ordering::Relaxed) {
            // What measures takes the place of one that trains.
            let threads = self.threads().saturating_sub(background.threads()).max(1);
            self.iterate(threads, &mut since)?;
            self.serve_queue(&mut out)?;
            if background.is_due() {
                background.measure(self.job(self.seconds()), 1);
            }
            let passed = reported.elapsed().as_secs_f64();
            if passed >= self.config.output.report {
                since.seconds = passed;
                let at = (self.seconds(), self.progress());
                self.tell(&since, background.take(), at, &mut out)?;
                (since, reported) = (Since::default(), Instant::now());
            }
            // After the report: one that is killed in between reports these iterations again.
            if saved.elapsed().as_secs_f64() >= pause {
                let begun = Instant::now();
                self.save()?;
                saved = Instant::now();
                pause = self.pause_after((saved - begun).as_secs_f64());
            }
        }
        self.save()?;
        since.seconds = reported.elapsed().as_secs_f64();
        let trained = self.counters.iteration > before;
        self.measure_last(&since, &mut background, trained, stop, &mut out)?;
        out.progress.close();
        Ok(if self.progress() < 1.0 {
            Ending::Stopped
        } else {
            Ending::Finished
        })
    }

    /// Returns the seconds until the next checkpoint is due after one that took `writing` seconds:
    /// a large ring on a slow disk does not hold up training.
    fn pause_after(&self, writing: f64) -> f64 {
        match self.config.output.checkpoint {
            0.0 => 0.0,
            asked => asked.max(LEAST_PAUSE * writing),
        }
    }

    /// Returns the share of the budget used, 1 or more at the end.
    fn progress(&self) -> f64 {
        let budget = &self.config.budget;
        let used = |done: f64, all: Option<f64>| all.map_or(0.0, |all| done / all);
        let counts = |count: Option<u64>| count.map(|count| count as f64);
        used(self.seconds(), budget.minutes.map(|minutes| 60.0 * minutes))
            .max(used(self.learner.step() as f64, counts(budget.steps)))
            .max(used(self.counters.games as f64, counts(budget.games)))
    }

    fn seconds(&self) -> f64 {
        self.before + self.started.elapsed().as_secs_f64()
    }

    /// Returns the learning rate: a rise from zero, then half a cosine down to its last share.
    fn rate_at(&self, progress: f64) -> f64 {
        let optimiser = &self.config.optimiser;
        if progress < optimiser.warm_up {
            return optimiser.learning_rate * (progress / optimiser.warm_up).max(1e-3);
        }
        let cosine = f64::midpoint(1.0, (std::f64::consts::PI * progress.min(1.0)).cos());
        optimiser.learning_rate * (optimiser.final_rate + (1.0 - optimiser.final_rate) * cosine)
    }

    /// Plays and learns for one iteration on some threads and publishes the weights.
    fn iterate(&mut self, threads: usize, since: &mut Since) -> Result<(), TrainError> {
        let steps = self.steps_due();
        let progress = self.progress();
        let rate = self.rate_at(progress);
        let (losses, mut played) =
            self.run_side_by_side(steps, rate, (threads, progress), since)?;
        played.extend(self.take_chunk()?);
        if played.is_empty() && steps == 0 {
            queued::wait_a_moment();
            return Ok(());
        }
        for group in played {
            for sample in &group.samples {
                self.replay.push(sample);
            }
            self.counters.due += group.samples.len() as f64 * self.config.replay.ratio;
            self.counters.games += group.games;
            self.counters.positions += group.positions;
            self.counters.evaluations += group.evaluations;
            since.add(&group);
        }
        since.losses.add(&losses);
        let next = self.groups.iter().map(|group| group.episode() + 1).max();
        self.counters.episode = next.unwrap_or(self.counters.episode);
        self.counters.iteration += 1;
        self.weights = self.learner.average()?;
        self.learning_rate = rate;
        Ok(())
    }

    /// Opens the measurements behind those of the iterations that are finished.
    fn open_metrics(&self) -> Result<MetricsFile, TrainError> {
        let iteration = self.counters.iteration;
        let first = match iteration {
            0 => 0,
            _ => self.learner.step() + 1,
        };
        let events_from = self.config.output.tensorboard.then_some(first);
        MetricsFile::open(&self.folder.metrics(), iteration, events_from)
    }

    /// Takes from the draws that are due as many whole batches as there are.
    fn steps_due(&mut self) -> u64 {
        if self.replay.len() < self.config.replay.minimum {
            return 0;
        }
        let batch = self.config.optimiser.batch as f64;
        let mut steps = (self.counters.due / batch).floor();
        if let Some(most) = self.config.budget.steps {
            steps = steps.min(most.saturating_sub(self.learner.step()) as f64);
        }
        self.counters.due -= steps * batch;
        steps as u64
    }

    fn run_side_by_side(
        &mut self,
        steps: u64,
        rate: f64,
        (threads, progress): (usize, f64),
        since: &mut Since,
    ) -> Result<(Losses, Vec<Played>), TrainError> {
        let (learner, replay, weights) = (&mut self.learner, &self.replay, &self.weights);
        let mut learnt = Ok(Losses::default());
        let (result, seconds) = (&mut learnt, &mut since.learn_seconds);
        // The learner, the longest task, goes first.
        let learn = Box::new(move || {
            let begun = Instant::now();
            *result = learner.learn(replay, steps, rate);
            *seconds += begun.elapsed().as_secs_f64();
        });
        let at = (weights, progress);
        let played = play_all(&mut self.groups, at, threads, Some(learn))?;
        Ok((learnt?, played))
    }

    fn report(&mut self, since: &Since) -> Report {
        // A report of the last scores alone repeats the rates.
        if since.positions > 0 {
            let rate = |count: u64| count as f64 / since.seconds.max(1e-9);
            self.rates = [rate(since.positions), rate(since.evaluations)];
        }
        let counters = &self.counters;
        let mean = |sum: f64, count: u64| (count > 0).then(|| sum / count as f64);
        let steps = since.losses.steps;
        // Learner `value` has neither a policy nor chances.
        let tree = self.config.learner == LearnerName::Gumbel;
        Report {
            seconds: self.seconds(),
            progress: self.progress(),
            iteration: counters.iteration,
            games: counters.games,
            positions: counters.positions,
            evaluations: counters.evaluations,
            step: self.learner.step(),
            replay: self.replay.len() as u64,
            positions_per_second: self.rates[0],
            evaluations_per_second: self.rates[1],
            learn_seconds: since.learn_seconds,
            play_seconds: since.play_seconds,
            plies: mean(since.plies as f64, since.games),
            entropy: mean(since.entropy, since.policies),
            learning_rate: self.learning_rate,
            loss: mean(since.losses.total, steps),
            policy_loss: mean(since.losses.policy, if tree { steps } else { 0 }),
            value_loss: mean(since.losses.value, if tree { steps } else { 0 }),
            margin_loss: mean(since.losses.margin, steps),
            queue: None,
            scores: None,
            regret: None,
            best: None,
        }
    }

    /// Writes the checkpoint and the agent.
    fn save(&mut self) -> Result<(), TrainError> {
        self.counters.seconds = self.seconds();
        let moment = Moment {
            counters: self.counters.clone(),
            step: self.learner.step(),
            ruleset: Some(self.config.ruleset),
        };
        let learner = self.learner.state()?;
        parts::write(
            &self.folder.checkpoint(),
            &moment,
            &learner,
            &self.replay,
            &self.groups,
            &self.config,
        )?;
        self.settle_queue()?;
        self.publish()
    }

    /// Writes the agent and tells actors how far the run is.
    fn publish(&self) -> Result<(), TrainError> {
        let bytes = self.agent().to_bytes();
        let bytes = bytes.map_err(|error| TrainError::checkpoint(self.folder.agent(), &error))?;
        self.folder.replace("agent.safetensors", &bytes)?;
        self.tell_actors()
    }

    /// Returns the agent of the published weights.
    pub fn agent(&self) -> AgentFile {
        let evaluation = &self.config.evaluation;
        let (simulations, depth) = match self.config.learner {
            LearnerName::Gumbel => (evaluation.simulations, 0),
            LearnerName::Value => (0, evaluation.depth),
        };
        AgentFile {
            metadata: AgentMetadata {
                learner: self.config.learner,
                ruleset: self.config.ruleset,
                network: self.config.shape(),
                step: self.learner.step(),
                games: self.counters.games,
                simulations,
                depth,
            },
            weights: self.weights.clone(),
        }
    }
}

impl Since {
    fn add(&mut self, played: &Played) {
        self.games += played.games;
        self.plies += played.plies;
        self.positions += played.positions;
        self.evaluations += played.evaluations;
        self.policies += played.policies;
        self.entropy += played.entropy;
        self.play_seconds += played.seconds;
    }
}
