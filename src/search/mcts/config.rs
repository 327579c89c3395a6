//! Settings of Monte Carlo tree search, and why a search is refused.

use thiserror::Error;

use crate::position::{EndReason, MoveError};
use crate::search::EvaluatorError;

/// The most simulations that may be asked for at once.
pub const MAX_SIMULATIONS: u32 = 1_000_000;

/// The most plies of a random game before it is cut.
pub const MAX_PLAYOUT_PLIES: u32 = 1_000_000;

/// The largest weight of moves that were visited little.
const MAX_EXPLORATION: f64 = 1000.0;

/// Settings of [`MctsTree`](super::MctsTree) and [`MctsSearch`](super::MctsSearch).
///
/// | field | default | range |
/// |---|---|---|
/// | `simulations` | 800 | 1 to 1,000,000 |
/// | `exploration` | 2 | 0 to 1,000 |
/// | `playout_plies` | 10,000 | 1 to 1,000,000 |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MctsConfig {
    /// Simulations of each search of [`MctsSearch`](super::MctsSearch); a
    /// [`MctsTree`](super::MctsTree) is told for each call.
    pub simulations: u32,
    /// Weight of moves that were visited little, in units of a win.
    pub exploration: f64,
    /// Plies after which a random game is cut: it counts as it stands, the seeds on the board going
    /// to nobody, as after E3.
    pub playout_plies: u32,
}

impl Default for MctsConfig {
    fn default() -> MctsConfig {
        MctsConfig {
            simulations: 800,
            exploration: 2.0,
            playout_plies: 10_000,
        }
    }
}

impl MctsConfig {
    /// Checks every field against its range.
    ///
    /// # Errors
    /// [`MctsError`] names the first field outside its range.
    pub fn check(&self) -> Result<(), MctsError> {
        check_simulations(self.simulations)?;
        if !(0.0..=MAX_EXPLORATION).contains(&self.exploration) {
            return Err(MctsError::Exploration {
                exploration: self.exploration,
            });
        }
        if !(1..=MAX_PLAYOUT_PLIES).contains(&self.playout_plies) {
            return Err(MctsError::PlayoutPlies {
                playout_plies: self.playout_plies,
            });
        }
        Ok(())
    }
}

/// Checks a number of simulations against its range.
pub(super) fn check_simulations(simulations: u32) -> Result<(), MctsError> {
    if (1..=MAX_SIMULATIONS).contains(&simulations) {
        Ok(())
    } else {
        Err(MctsError::Simulations { simulations })
    }
}

/// Why a Monte Carlo tree search is refused or failed.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MctsError {
    /// Not a number of simulations.
    #[error("simulations is {simulations}, expected 1 to {MAX_SIMULATIONS}")]
    Simulations {
        /// The number given.
        simulations: u32,
    },
    /// Not a weight.
    #[error("exploration is {exploration}, expected 0 to {MAX_EXPLORATION}")]
    Exploration {
        /// The weight given.
        exploration: f64,
    },
    /// Not a number of plies.
    #[error("playout_plies is {playout_plies}, expected 1 to {MAX_PLAYOUT_PLIES}")]
    PlayoutPlies {
        /// The number given.
        playout_plies: u32,
    },
    /// There is nothing to search.
    #[error("the game is over ({reason}): there is no move to search", reason = reason.name())]
    Over {
        /// How it ended.
        reason: EndReason,
    },
    /// The move to go on with cannot be played.
    #[error(transparent)]
    Move(#[from] MoveError),
    /// The evaluator failed.
    #[error(transparent)]
    Evaluator(#[from] EvaluatorError),
}
