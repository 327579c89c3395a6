//! Why training cannot start or go on.

use std::path::PathBuf;

use thiserror::Error;

use crate::arena::{ArenaError, RegretError};
use crate::policy::PolicyError;
use crate::policy::weights::WeightsError;
use crate::ruleset::RulesetError;
use crate::search::{EvaluatorError, SearchError};

/// Why training cannot start or go on.
#[derive(Debug, Error)]
pub enum TrainError {
    /// A setting outside its range.
    #[error("{field} is {value}, expected {expected}")]
    Setting {
        /// The setting's name.
        field: &'static str,
        /// The value given.
        value: String,
        /// What would be accepted.
        expected: String,
    },
    /// A configuration file that cannot be read.
    #[error("configuration {path}: {message}")]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and key.
        message: String,
    },
    /// A rule set that does not exist.
    #[error(transparent)]
    Ruleset(#[from] RulesetError),
    /// A file that cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A checkpoint that cannot be used.
    #[error("checkpoint {path}: {message}")]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A folder that holds a run already.
    #[error("{path} holds a run already: go on with `--resume {path}` or choose another `--out`")]
    RunExists {
        /// The folder.
        path: PathBuf,
    },
    /// A folder into which another program trains.
    #[error("another program trains into {path}: wait for its end or stop it")]
    RunBusy {
        /// The folder.
        path: PathBuf,
    },
    /// An actor as which another program plays.
    #[error(
        "another program plays as actor {actor} of {path}: choose another --actor or leave it out"
    )]
    ActorBusy {
        /// The actor's number.
        actor: u32,
        /// The run's folder.
        path: PathBuf,
    },
    /// A folder in which no run has begun.
    #[error("{path} holds no run with an agent: start it with `learn --run {path}`")]
    NoRun {
        /// The folder.
        path: PathBuf,
    },
    /// Weights that do not make a network.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// The network has another number of tensors than its layout.
    #[error("the network has fewer tensors than its layout")]
    Layout,
    /// The search could not evaluate.
    #[error(transparent)]
    Evaluator(#[from] EvaluatorError),
    /// The alpha-beta of self-play failed.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A player of the evaluation failed.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The games of the evaluation cannot be played.
    #[error(transparent)]
    Arena(#[from] ArenaError),
    /// The agent's moves cannot be compared with the best ones.
    #[error(transparent)]
    Regret(#[from] RegretError),
    /// libtorch refused.
    #[error("libtorch: {}", first_line(.0))]
    Torch(#[from] tch::TchError),
    /// The loss is no longer a finite number.
    #[error("the loss became {loss} in step {step}: lower optimiser.learning_rate and resume")]
    Diverged {
        /// The loss.
        loss: f64,
        /// The step.
        step: u64,
    },
    /// A thread of the trainer ended by a panic.
    #[error("a thread of the trainer failed: {message}")]
    Thread {
        /// What it said.
        message: String,
    },
}

/// Leaves out the stack that libtorch tells after its message.
fn first_line(error: &tch::TchError) -> String {
    error.to_string().lines().next().unwrap_or_default().into()
}

impl TrainError {
    /// Returns the exit status of a program that ends with this error: 2 when what the user asked
    /// for is refused, before anything was changed, otherwise 1.
    pub const fn status(&self) -> u8 {
        match self {
            TrainError::Setting { .. }
            | TrainError::Config { .. }
            | TrainError::Ruleset(_)
            | TrainError::RunExists { .. }
            | TrainError::RunBusy { .. }
            | TrainError::ActorBusy { .. }
            | TrainError::NoRun { .. }
            | TrainError::Weights(WeightsError::Width { .. })
            | TrainError::Policy(_)
            | TrainError::Arena(_) => 2,
            _ => 1,
        }
    }

    /// Names the file of what is wrong with a run's state or agent.
    pub fn checkpoint(path: impl Into<PathBuf>, message: &impl ToString) -> TrainError {
        TrainError::Checkpoint {
            path: path.into(),
            message: message.to_string(),
        }
    }

    /// Names the path of an input or output error.
    pub fn file(path: impl Into<PathBuf>, source: std::io::Error) -> TrainError {
        TrainError::File {
            path: path.into(),
            source,
        }
    }
}
