//! How well an agent plays: paired games against fixed opponents.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde::Serialize;

use super::TrainError;
use super::config::Config;
use super::tasks::message_of;
use crate::arena::{MatchResult, PairConfig, play_pairs, table};
use crate::policy::agent_file::AgentFile;
use crate::policy::{Agent, AgentSearch, PolicySpec};
use crate::rng;
use crate::ruleset::Ruleset;

/// The opponents of the final table.
pub const FINAL_OPPONENTS: [&str; 3] = ["random", "greedy", "alphabeta:4"];

/// The opponents of the running scores.
pub const RUNNING_OPPONENTS: [&str; 3] = ["greedy", "alphabeta:2", "alphabeta:4"];

/// Index of the seed of the running scores' openings under the run's seed: others than those of the
/// final table.
const RUNNING_OPENINGS: u64 = 1;

/// Does some work on a pool of `threads` threads: the players' own threads are among them.
///
/// # Errors
/// [`TrainError::Thread`] when the threads cannot be started, otherwise those of the work.
pub fn on_threads<T: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<T, TrainError> + Send,
) -> Result<T, TrainError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| TrainError::Thread {
        message: error.to_string(),
    })?;
    pool.install(work)
}

/// Plays an agent against the opponents of the final table on `threads` threads of their own;
/// `told` hears of each score. Returns `None` soon after `stop` is set: the games then go on
/// unheard until the program ends.
///
/// # Errors
/// [`TrainError`] when a player cannot be made or the plan is out of range.
pub fn play_until_stopped(
    label: String,
    agent: AgentFile,
    plan: EvaluationPlan,
    threads: usize,
    stop: &AtomicBool,
    mut told: impl FnMut(&str, f64),
) -> Result<Option<Evaluation>, TrainError> {
    let (sender, receiver) = mpsc::channel();
    let games = thread::spawn(move || {
        on_threads(threads, move || {
            // Nobody listens any more after a stop.
            let told = |name: &str, result: &MatchResult| {
                let _ = sender.send((name.to_owned(), result.score));
            };
            let search = AgentSearch::Default;
            Evaluation::play(&label, &agent, search, &FINAL_OPPONENTS, &plan, told)
        })
    });
    loop {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        match receiver.recv_timeout(Duration::from_millis(100)) {
            Ok((name, score)) => told(&name, score),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let evaluation = games.join().map_err(|payload| TrainError::Thread {
        message: message_of(payload.as_ref()),
    })?;
    evaluation.map(Some)
}

/// What the games of an evaluation have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvaluationPlan {
    /// The rules.
    pub ruleset: Ruleset,
    /// Games against each opponent, even.
    pub games: u64,
    /// Random plies of each opening.
    pub openings: u32,
    /// Seed of the openings.
    pub seed: u64,
}

impl EvaluationPlan {
    /// Returns the plan of a run's running scores, from other openings than those of its final
    /// table.
    pub fn running(config: &Config) -> EvaluationPlan {
        EvaluationPlan {
            games: config.evaluation.games,
            seed: rng::mix(config.seed, RUNNING_OPENINGS),
            ..EvaluationPlan::last(config)
        }
    }

    /// Returns the plan of a run's final table.
    pub const fn last(config: &Config) -> EvaluationPlan {
        EvaluationPlan {
            ruleset: config.ruleset,
            games: config.evaluation.final_games,
            openings: config.evaluation.openings,
            seed: config.seed,
        }
    }
}

/// The agent's results, one for each opponent.
#[derive(Debug)]
pub struct Evaluation {
    /// The agent's name.
    pub agent: String,
    /// How it searched, in words.
    pub search: String,
    plan: EvaluationPlan,
    results: Vec<(String, MatchResult)>,
}

/// A result as it is written to `evaluation.json`.
#[derive(Debug, Serialize)]
struct Row<'a> {
    opponent: &'a str,
    games: usize,
    wins: u32,
    draws: u32,
    losses: u32,
    score: f64,
    low: f64,
    high: f64,
    margin: f64,
    margin_half: f64,
    score_as_south: f64,
    score_as_north: f64,
    distinct: u32,
}

/// What `evaluation.json` says of an agent's games.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    agent: &'a str,
    search: &'a str,
    ruleset: Ruleset,
    openings: u32,
    seed: u64,
    results: Vec<Row<'a>>,
}

impl Evaluation {
    /// Plays an agent against each of `opponents`, given as specifications, on the threads of the
    /// current rayon pool; `told` hears of each result.
    ///
    /// # Errors
    /// [`TrainError`] when a player cannot be made or the plan is out of range.
    pub fn play(
        label: &str,
        file: &AgentFile,
        search: AgentSearch,
        opponents: &[&str],
        plan: &EvaluationPlan,
        mut told: impl FnMut(&str, &MatchResult),
    ) -> Result<Evaluation, TrainError> {
        let mut agent = Agent::new(label, file.clone(), search)?;
        let config = PairConfig {
            opening_plies: plan.openings,
            seed: plan.seed,
            ..PairConfig::new(plan.ruleset, u32::try_from(plan.games).unwrap_or(u32::MAX))
        };
        let mut results = Vec::with_capacity(opponents.len());
        for &name in opponents {
            let mut opponent = name.parse::<PolicySpec>()?.build()?;
            let result = play_pairs(&mut agent, opponent.as_mut(), &config)?;
            told(name, &result);
            results.push((name.to_owned(), result));
        }
        Ok(Evaluation {
            agent: label.to_owned(),
            search: agent.search_in_words(),
            plan: *plan,
            results,
        })
    }

    /// Iterates over the opponents and the agent's scores (0 to 1) against them.
    pub fn scores(&self) -> impl Iterator<Item = (&str, f64)> {
        self.results
            .iter()
            .map(|(name, result)| (name.as_str(), result.score))
    }

    /// Writes the table that a user reads.
    pub fn table(&self) -> String {
        let rows: Vec<(&str, &MatchResult)> = self
            .results
            .iter()
            .map(|(name, result)| (name.as_str(), result))
            .collect();
        format!(
            "{} with {} on {}, openings of {} random plies, both sides\n{}",
            self.agent,
            self.search,
            self.plan.ruleset,
            self.plan.openings,
            table(&rows)
        )
    }

    /// Returns the mean of the scores against all opponents.
    pub fn mean_score(&self) -> f64 {
        self.scores().map(|(_, score)| score).sum::<f64>() / self.results.len().max(1) as f64
    }

    /// Returns the results as they are written to `evaluation.json`.
    pub fn document(&self) -> Document<'_> {
        Document {
            agent: &self.agent,
            search: &self.search,
            ruleset: self.plan.ruleset,
            openings: self.plan.openings,
            seed: self.plan.seed,
            results: self.results.iter().map(Row::of).collect(),
        }
    }
}

impl Row<'_> {
    fn of((opponent, result): &(String, MatchResult)) -> Row<'_> {
        Row {
            opponent,
            games: result.games.len(),
            wins: result.wins,
            draws: result.draws,
            losses: result.losses,
            score: result.score,
            low: result.interval.0,
            high: result.interval.1,
            margin: result.margin,
            margin_half: result.margin_half,
            score_as_south: result.score_as[0],
            score_as_north: result.score_as[1],
            distinct: result.distinct,
        }
    }
}
