//! The configuration of a training run.
//!
//! Defaults depend on the size of the board; a configuration file in TOML names only what differs
//! from them, and options of the command line win over the file. Unknown keys are refused.
//! `docs/trainer.md` holds the table of all settings with units and ranges.

mod ranges;
mod start;
mod text;

pub(super) use text::merge;

use serde::{Deserialize, Serialize};

use super::TrainError;
use super::queue::QueueConfig;
use crate::arena::Reference;
use crate::policy::agent_file::Learner;
use crate::policy::value::ValueSizes;
use crate::policy::weights::{NetworkShape, NetworkSizes};
use crate::ruleset::Ruleset;

/// All settings of a run, complete and checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// What is learnt, and how the agent plays.
    pub learner: Learner,
    /// Seed of the first weights, of self-play and of the batches.
    pub seed: u64,
    /// Threads, 1 to 256; 0 takes one for every core.
    pub workers: usize,
    /// What the networks are trained on.
    pub device: Device,
    /// The agent whose weights the run starts from: a file, or the folder of a run. Random ones
    /// without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The rules.
    pub ruleset: Ruleset,
    /// When training ends.
    pub budget: BudgetConfig,
    /// Widths of the network of learner `gumbel`.
    pub network: NetworkSizes,
    /// Network and search of learner `value`.
    pub value: ValueConfig,
    /// Self-play.
    pub selfplay: SelfPlayConfig,
    /// Targets of the value head.
    pub value_target: ValueTargetConfig,
    /// Positions kept for training.
    pub replay: ReplayConfig,
    /// The optimiser.
    pub optimiser: OptimiserConfig,
    /// Weights of the parts of the loss.
    pub loss: LossConfig,
    /// Games against fixed opponents.
    pub evaluation: EvaluationConfig,
    /// Reports and checkpoints.
    pub output: OutputConfig,
    /// Chunks between actors and learner, where these are programs of their own.
    pub queue: QueueConfig,
}

/// What computes the networks of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// The first GPU that CUDA knows, with a libtorch that knows CUDA. Learner `value` plays on the
    /// processor all the same.
    Cuda,
}

impl Device {
    /// Returns the device as libtorch names it.
    ///
    /// # Errors
    /// [`TrainError::Setting`] when libtorch finds no GPU.
    pub fn find(self) -> Result<tch::Device, TrainError> {
        match self {
            Device::Cpu => Ok(tch::Device::Cpu),
            Device::Cuda if tch::Cuda::is_available() => Ok(tch::Device::Cuda(0)),
            Device::Cuda => Err(setting(
                "device",
                &"cuda",
                "cpu: libtorch finds no GPU. It needs one with its driver, and a libtorch with CUDA: \
                 build the trainer with `CUDA=1 make train`, or with LIBTORCH naming one",
            )),
        }
    }
}

/// Network and self-play of learner `value`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueConfig {
    /// Seed counts of a pit that the network tells apart.
    pub levels: usize,
    /// Numbers that are summed over the pits.
    pub units: usize,
    /// Hidden numbers after them.
    pub hidden: usize,
    /// Plies that self-play looks ahead.
    pub depth: u32,
    /// Share of moves that are drawn at random, after which a position's own searched value is its
    /// target.
    pub explore: f32,
    /// Seeds on the board up to which self-play takes exact values from an endgame table, built
    /// when the run starts; 0 for no table.
    pub table_seeds: u32,
}

/// When training ends: at the first of these that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetConfig {
    /// Minutes of training, above 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<f64>,
    /// Optimiser steps, 1 or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Finished games of self-play, 1 or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub games: Option<u64>,
}

/// Self-play: groups of games that move in lockstep, one search for all games of a group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfPlayConfig {
    /// Groups of games; each is played by one thread at a time.
    pub groups: usize,
    /// Games of a group.
    pub games: usize,
    /// Plies of each game in an iteration, between two publications of weights.
    pub plies: usize,
    /// Simulations of a move.
    pub simulations: u32,
    /// Simulations of a move when training begins; they rise evenly to `simulations`, which are
    /// reached when half of the budget is used.
    pub first_simulations: u32,
    /// Simulations of a quick move.
    pub quick_simulations: u32,
    /// Share of the plies on which all games of a group make quick moves, whose policies are not
    /// learnt.
    pub quick_share: f32,
    /// Root moves that the search starts from, at most.
    pub max_considered: usize,
    /// Visits added to the largest count in the search's transformation of values.
    pub c_visit: f32,
    /// Logits for each of these visits and one unit of utility.
    pub c_scale: f32,
    /// Share of the final margin, in quarters of all seeds, in the search's utility.
    pub margin_weight: f32,
    /// Share of games that start with random plies.
    pub opening_share: f32,
    /// Random plies of such a game, at most.
    pub opening_plies: u32,
}

/// How the values of later positions and the game's end make a value target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueTargetConfig {
    /// Share of the game's end; the rest is the lambda return.
    pub outcome: f32,
    /// Weight of what follows a position against its own searched value.
    pub lambda: f32,
    /// Plies after which a position may be taken before its game has ended, the last searched
    /// value standing for the rest; 0 waits for the end. Not used while `outcome` is above 0.
    pub horizon: usize,
}

/// The replay ring.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayConfig {
    /// Positions kept; the oldest go first.
    pub capacity: usize,
    /// Positions before the first step.
    pub minimum: usize,
    /// Times that a position is drawn, on average.
    pub ratio: f64,
}

/// `AdamW` (Loshchilov and Hutter 2019) with clipping, warm-up and cosine decay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptimiserConfig {
    /// Positions of a batch.
    pub batch: usize,
    /// The largest learning rate.
    pub learning_rate: f64,
    /// Share of the budget over which the rate rises from zero.
    pub warm_up: f64,
    /// Share of the largest rate that is left at the end.
    pub final_rate: f64,
    /// Decay of matrices, in units of the learning rate.
    pub weight_decay: f64,
    /// Norm of the gradient above which it is scaled down.
    pub clip: f64,
    /// Weight of the old average in the running average of the weights, which is the agent.
    pub average: f64,
}

/// Weights of the parts of the loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossConfig {
    /// Cross-entropy of the policy.
    pub policy: f64,
    /// Cross-entropy of win, draw and loss.
    pub value: f64,
    /// Huber loss of the margin.
    pub margin: f64,
}

/// Games against random, greedy and alpha-beta play.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationConfig {
    /// Seconds between two running scores; 0 takes none.
    pub every: f64,
    /// Games of a running score against each opponent, even; 0 takes none.
    pub games: u64,
    /// Simulations of the agent's moves, in running scores, in the final table and in its file.
    pub simulations: u32,
    /// Plies that a value agent looks ahead in them.
    pub depth: u32,
    /// Games of the final table against each opponent, even; 0 leaves the table out.
    pub final_games: u64,
    /// Random plies of an opening.
    pub openings: u32,
    /// Positions in which the agent's moves are compared with the best ones, beside every running
    /// score; 0 takes none.
    pub regret_positions: u32,
}

/// Reports and checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputConfig {
    /// Seconds between two lines of `metrics.jsonl`; 0 writes one for every iteration.
    pub report: f64,
    /// Seconds between two checkpoints; 0 writes one after every iteration.
    pub checkpoint: f64,
    /// Whether the measurements are written for `TensorBoard` as well.
    pub tensorboard: bool,
}

impl Config {
    /// Returns the settings that suit a learner and a rule set's size, for five minutes on two
    /// cores.
    pub fn of_learner(learner: Learner, ruleset: Ruleset) -> Config {
        let config = Config::of_ruleset(ruleset);
        match learner {
            Learner::Gumbel => config,
            Learner::Value => config.for_value(),
        }
    }

    /// Changes what learner `value` needs otherwise: its positions cost little, so that there are
    /// many, and exploration is what makes them differ.
    fn for_value(self) -> Config {
        let large = self.ruleset.columns() > 16;
        Config {
            learner: Learner::Value,
            selfplay: SelfPlayConfig {
                games: pick(large, 64, 16),
                plies: pick(large, 16, 8),
                opening_plies: pick(large, 30, 100),
                ..self.selfplay
            },
            replay: ReplayConfig {
                capacity: pick(large, 500_000, 200_000),
                minimum: pick(large, 10_000, 2_000),
                ratio: 8.0,
            },
            optimiser: OptimiserConfig {
                batch: pick(large, 1024, 512),
                learning_rate: 1e-3,
                weight_decay: 0.0,
                average: 0.999,
                ..self.optimiser
            },
            ..self
        }
    }

    /// Returns the settings of learner `gumbel` that suit a rule set's size, for five minutes on
    /// two cores.
    pub fn of_ruleset(ruleset: Ruleset) -> Config {
        let large = ruleset.columns() > 16;
        Config {
            learner: Learner::Gumbel,
            seed: 0,
            workers: 0,
            device: Device::Cpu,
            start: None,
            ruleset,
            budget: BudgetConfig {
                minutes: Some(5.0),
                steps: None,
                games: None,
            },
            network: NetworkSizes {
                channels: pick(large, 32, 24),
                blocks: pick(large, 3, 2),
                policy_units: pick(large, 32, 24),
                value_units: pick(large, 64, 48),
            },
            value: ValueConfig {
                levels: pick(large, 25, 16),
                units: pick(large, 256, 64),
                hidden: 32,
                depth: pick(large, 2, 1),
                explore: pick(large, 0.2, 0.1),
                table_seeds: 0,
            },
            selfplay: SelfPlayConfig {
                groups: 4,
                games: pick(large, 64, 16),
                plies: 4,
                simulations: pick(large, 32, 16),
                first_simulations: pick(large, 32, 16),
                quick_simulations: 8,
                quick_share: 0.0,
                max_considered: 16,
                c_visit: 50.0,
                c_scale: 0.5,
                margin_weight: 0.5,
                opening_share: 1.0,
                opening_plies: 30,
            },
            value_target: ValueTargetConfig {
                outcome: 0.0,
                lambda: 0.8,
                horizon: 24,
            },
            replay: ReplayConfig {
                capacity: 100_000,
                minimum: pick(large, 4_000, 1_000),
                ratio: 6.0,
            },
            optimiser: OptimiserConfig {
                batch: pick(large, 512, 128),
                learning_rate: 3e-3,
                warm_up: 0.02,
                final_rate: 0.02,
                weight_decay: 1e-2,
                clip: 1.0,
                average: 0.995,
            },
            loss: LossConfig {
                policy: 1.0,
                value: 1.0,
                margin: 4.0,
            },
            evaluation: EvaluationConfig {
                every: pick(large, 30.0, 120.0),
                games: pick(large, 80, 20),
                simulations: 32,
                depth: pick(large, 6, 2),
                final_games: 400,
                openings: 4,
                regret_positions: match Reference::suited(&ruleset) {
                    Reference::Perfect => 200,
                    Reference::AlphaBeta { .. } => 0,
                },
            },
            output: OutputConfig {
                report: 2.0,
                checkpoint: 30.0,
                tensorboard: true,
            },
            queue: QueueConfig::default(),
        }
    }

    /// Returns the learner's network.
    pub const fn shape(&self) -> NetworkShape {
        match self.learner {
            Learner::Gumbel => NetworkShape::Gumbel(self.network),
            Learner::Value => NetworkShape::Value(ValueSizes {
                columns: self.ruleset.columns(),
                levels: self.value.levels,
                units: self.value.units,
                hidden: self.value.hidden,
            }),
        }
    }

    /// Returns the numbers of a policy that a position of the replay ring has, 0 without one.
    pub const fn policy_columns(&self) -> usize {
        match self.learner {
            Learner::Gumbel => self.ruleset.columns(),
            Learner::Value => 0,
        }
    }

    /// Returns the threads to be used.
    pub fn threads(&self) -> usize {
        match self.workers {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            workers => workers,
        }
    }
}

fn pick<T>(large: bool, of_small: T, of_large: T) -> T {
    if large { of_large } else { of_small }
}

fn setting(field: &'static str, value: &dyn std::fmt::Display, expected: &str) -> TrainError {
    TrainError::Setting {
        field,
        value: value.to_string(),
        expected: expected.to_owned(),
    }
}
