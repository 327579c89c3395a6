//! Players: each chooses legal columns for a whole batch of positions.

pub mod agent;
pub mod agent_file;
mod alpha_beta;
pub(crate) mod committee;
pub mod features;
mod greedy;
mod mcts;
mod members;
pub mod network;
mod outlook;
mod perfect;
mod random;
pub mod shipped;
mod spec;
pub mod value;
pub(crate) mod watched;
pub mod weights;

pub use agent::{Agent, AgentNetwork, AgentSearch};
pub use alpha_beta::AlphaBeta;
pub use committee::{Committee, MAX_MEMBERS, MAX_WEIGHT, MIN_WEIGHT, Member};
pub use greedy::Greedy;
pub use mcts::Mcts;
pub use perfect::Perfect;
pub use random::Random;
pub use spec::{MemberSpec, PolicySpec};

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rand_xoshiro::Xoshiro128PlusPlus;
use thiserror::Error;

use crate::position::Position;
use crate::ruleset::Ruleset;

/// Why a policy could not choose, or could not be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PolicyError {
    /// The specification is not one of the known forms.
    #[error("player is {spec:?}, expected {expected}")]
    Spec {
        /// The text given.
        spec: String,
        /// What would be accepted.
        expected: String,
    },
    /// A member in the specification of a committee is not one of the known forms.
    #[error("player is {spec:?}: {message}")]
    Members {
        /// The text given.
        spec: String,
        /// Which member, and what is wrong with it.
        message: String,
    },
    /// A file of an agent cannot be used.
    #[error("agent file {path}: {message}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// A file of an endgame table cannot be used.
    #[error("table file {message}")]
    Table {
        /// The file.
        path: String,
        /// The file and what is wrong with it.
        message: String,
    },
    /// A committee of no or too many members, or one with a weight out of range.
    #[error("committee: {message}")]
    Committee {
        /// What is wrong.
        message: String,
    },
    /// The policy cannot play by these rules.
    #[error("player {name} cannot play {ruleset}: {message}")]
    Rules {
        /// The policy's name.
        name: String,
        /// The rules.
        ruleset: String,
        /// Why not.
        message: String,
    },
    /// The policy was interrupted: a simulation ends, and the games that wait for the policy are
    /// not played on.
    #[error("player {name} was interrupted")]
    Interrupted {
        /// The policy's name.
        name: String,
    },
    /// The policy failed while it was choosing.
    #[error("player {name}: {message}")]
    Failed {
        /// The policy's name.
        name: String,
        /// What went wrong.
        message: String,
    },
}

/// A player of any number of games at once.
///
/// A choice may depend only on the position and on that game's own stream, so that results never
/// depend on how games are grouped.
pub trait Policy: Send {
    /// Returns the name shown in tables, usually the specification.
    fn name(&self) -> String;

    /// Checks that it can play by these rules.
    ///
    /// # Errors
    /// [`PolicyError::Rules`] when it cannot; most players know every rule.
    fn check(&mut self, _ruleset: &Ruleset) -> Result<(), PolicyError> {
        Ok(())
    }

    /// Chooses a legal column for each of `B` open positions, writing `moves`, `u8[B]`.
    ///
    /// `streams[i]` is the stream of the game of `positions[i]`; only policies that draw use it.
    ///
    /// # Errors
    /// [`PolicyError::Failed`] when the policy cannot choose.
    fn choose(
        &mut self,
        positions: &[Position],
        streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
    ) -> Result<(), PolicyError>;

    /// Watches `flag` from now on: a choice ends with [`PolicyError::Interrupted`] soon after it is
    /// set, even inside one position.
    ///
    /// Only players that may think long about one position listen; the others keep this default.
    fn set_interrupt(&mut self, _flag: &Arc<AtomicBool>) {}

    /// Chooses as [`Policy::choose`] does and adds the endless moves that were drawn and refused
    /// for each game to `refused`, `u32[B]` (S6).
    ///
    /// Only players that draw before they look meet any; the others keep this default.
    ///
    /// # Errors
    /// As [`Policy::choose`].
    fn choose_counting(
        &mut self,
        positions: &[Position],
        streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
        _refused: &mut [u32],
    ) -> Result<(), PolicyError> {
        self.choose(positions, streams, moves)
    }
}
