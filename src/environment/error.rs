//! Why an environment refuses something.

use thiserror::Error;

use crate::batch::{BatchError, SnapshotError};
use crate::policy::PolicyError;

/// Why an environment refuses its settings, seeds, actions, arrays or a snapshot, or why its
/// opponents could not answer.
///
/// Whatever is refused changes nothing, plies of the agent that were not answered included.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EnvironmentError {
    /// The batch refuses it.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// An opponent failed.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// An opponent chose what the settings refuse.
    #[error("opponent {name}: {error}")]
    Answer {
        /// The opponent's name.
        name: String,
        /// What it did.
        error: BatchError,
    },
    /// An opponent gave another number of actions than there were rows to move.
    #[error("opponent {name} gave {got} actions, expected {expected} (one for each row to move)")]
    AnswersLength {
        /// The opponent's name.
        name: String,
        /// The actions given.
        got: usize,
        /// The rows to move.
        expected: usize,
    },
    /// The caller broke off while an opponent was choosing.
    #[error("interrupted while opponent {name} was choosing")]
    Interrupted {
        /// The opponent's name.
        name: String,
    },
    /// A list of opponents without any.
    #[error("opponent is an empty list, expected at least one opponent")]
    NoOpponents,
    /// Opponents where there were none, or none where there were some.
    #[error("opponent: an environment {} cannot be changed into one {}",
        if *.had { "with opponents" } else { "of self-play" },
        if *.had { "of self-play" } else { "with opponents" })]
    Kind {
        /// Whether it had opponents.
        had: bool,
    },
}

impl From<SnapshotError> for EnvironmentError {
    fn from(error: SnapshotError) -> EnvironmentError {
        EnvironmentError::Batch(error.into())
    }
}
