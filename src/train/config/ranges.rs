//! The ranges of all settings.

use super::{Config, TrainError, setting};
use crate::search::{MAX_DEPTH, MAX_SIMULATIONS};

impl Config {
    /// Checks every setting.
    ///
    /// # Errors
    /// [`TrainError::Setting`] names the first setting out of range, its value and the range.
    pub fn check(&self) -> Result<(), TrainError> {
        self.shape().check()?;
        self.check_counts()?;
        self.check_numbers()?;
        let budget = &self.budget;
        if budget.minutes.is_none() && budget.steps.is_none() && budget.games.is_none() {
            return Err(setting("budget", &"empty", "minutes, steps or games"));
        }
        for (field, games) in [
            ("evaluation.games", self.evaluation.games),
            ("evaluation.final_games", self.evaluation.final_games),
        ] {
            if games % 2 == 1 {
                return Err(setting(field, &games, "an even number"));
            }
        }
        if self.value_target.lambda >= 1.0 && self.value_target.horizon > 0 {
            return Err(setting(
                "value_target.horizon",
                &self.value_target.horizon,
                "0 with a lambda of 1: without searched values only the end counts",
            ));
        }
        if self.replay.minimum > self.replay.capacity {
            return Err(setting(
                "replay.minimum",
                &self.replay.minimum,
                &format!("at most replay.capacity, {}", self.replay.capacity),
            ));
        }
        Ok(())
    }

    fn check_counts(&self) -> Result<(), TrainError> {
        let (play, replay, evaluation) = (&self.selfplay, &self.replay, &self.evaluation);
        let most = u64::from(MAX_SIMULATIONS);
        let budget = &self.budget;
        let counts: [(&'static str, u64, u64, u64); 26] = [
            ("seed", self.seed, 0, i64::MAX as u64),
            ("workers", self.workers as u64, 0, 256),
            ("budget.steps", budget.steps.unwrap_or(1), 1, 1 << 40),
            ("budget.games", budget.games.unwrap_or(1), 1, 1 << 40),
            ("selfplay.groups", play.groups as u64, 1, 1024),
            ("selfplay.games", play.games as u64, 1, 65_536),
            ("selfplay.plies", play.plies as u64, 1, 1_000_000),
            ("selfplay.simulations", play.simulations.into(), 1, most),
            (
                "selfplay.first_simulations",
                play.first_simulations.into(),
                1,
                most,
            ),
            (
                "selfplay.quick_simulations",
                play.quick_simulations.into(),
                1,
                most,
            ),
            ("selfplay.max_considered", play.max_considered as u64, 1, 64),
            ("selfplay.opening_plies", play.opening_plies.into(), 0, 1000),
            ("replay.capacity", replay.capacity as u64, 1, 1 << 28),
            ("replay.minimum", replay.minimum as u64, 1, 1 << 28),
            ("optimiser.batch", self.optimiser.batch as u64, 1, 65_536),
            (
                "evaluation.simulations",
                evaluation.simulations.into(),
                1,
                most,
            ),
            ("value.depth", self.value.depth.into(), 1, MAX_DEPTH.into()),
            ("value.table_seeds", self.value.table_seeds.into(), 0, 255),
            (
                "evaluation.depth",
                evaluation.depth.into(),
                1,
                MAX_DEPTH.into(),
            ),
            ("evaluation.games", evaluation.games, 0, 10_000_000),
            ("queue.chunks", self.queue.chunks as u64, 1, 10_000),
            ("queue.positions", self.queue.positions as u64, 1, 1 << 28),
            ("queue.staleness", self.queue.staleness, 0, 1 << 40),
            (
                "evaluation.final_games",
                evaluation.final_games,
                0,
                10_000_000,
            ),
            ("evaluation.openings", evaluation.openings.into(), 0, 1000),
            (
                "evaluation.regret_positions",
                evaluation.regret_positions.into(),
                0,
                1_000_000,
            ),
        ];
        let outside = |&(_, value, low, high): &(&str, u64, u64, u64)| value < low || value > high;
        match counts.into_iter().find(outside) {
            Some((field, value, low, high)) => {
                Err(setting(field, &value, &format!("{low} to {high}")))
            }
            None => Ok(()),
        }
    }

    fn check_numbers(&self) -> Result<(), TrainError> {
        let (play, target) = (&self.selfplay, &self.value_target);
        let (optimiser, loss) = (&self.optimiser, &self.loss);
        let numbers: [(&'static str, f64, f64, f64); 18] = [
            (
                "budget.minutes",
                self.budget.minutes.unwrap_or(1.0),
                1e-3,
                1e6,
            ),
            ("selfplay.c_visit", play.c_visit.into(), 0.0, 1e6),
            ("selfplay.c_scale", play.c_scale.into(), 0.0, 1e3),
            (
                "selfplay.margin_weight",
                play.margin_weight.into(),
                0.0,
                1.0,
            ),
            (
                "selfplay.opening_share",
                play.opening_share.into(),
                0.0,
                1.0,
            ),
            ("value_target.outcome", target.outcome.into(), 0.0, 1.0),
            ("value_target.lambda", target.lambda.into(), 0.0, 1.0),
            ("replay.ratio", self.replay.ratio, 0.0, 1e3),
            (
                "optimiser.learning_rate",
                optimiser.learning_rate,
                1e-9,
                1.0,
            ),
            ("optimiser.warm_up", optimiser.warm_up, 0.0, 1.0),
            ("optimiser.final_rate", optimiser.final_rate, 0.0, 1.0),
            ("optimiser.weight_decay", optimiser.weight_decay, 0.0, 10.0),
            ("optimiser.clip", optimiser.clip, 1e-6, 1e9),
            ("optimiser.average", optimiser.average, 0.0, 1.0),
            ("loss.policy", loss.policy, 0.0, 1e3),
            ("loss.value", loss.value, 0.0, 1e3),
            ("loss.margin", loss.margin, 0.0, 1e3),
            ("evaluation.every", self.evaluation.every, 0.0, 1e9),
        ];
        let more = [
            (
                "selfplay.quick_share",
                self.selfplay.quick_share.into(),
                0.0,
                1.0,
            ),
            ("value.explore", self.value.explore.into(), 0.0, 1.0),
            ("output.report", self.output.report, 0.0, 1e9),
            ("output.checkpoint", self.output.checkpoint, 0.0, 1e9),
            ("queue.publish", self.queue.publish, 0.0, 1e9),
        ];
        let outside =
            |&(_, value, low, high): &(&str, f64, f64, f64)| !(low..=high).contains(&value);
        match numbers.into_iter().chain(more).find(outside) {
            Some((field, value, low, high)) => {
                Err(setting(field, &value, &format!("{low} to {high}")))
            }
            None => Ok(()),
        }
    }
}
