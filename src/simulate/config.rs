//! The settings of a simulation.

use thiserror::Error;

use crate::policy::PolicyError;
use crate::ruleset::Ruleset;
use crate::simulate::{Instructions, InstructionsError};

/// The most games of one simulation.
const MAX_GAMES: u64 = 1_000_000_000_000;

/// The most random plies of an opening.
const MAX_OPENING_PLIES: u32 = 10_000;

/// The most threads that may be asked for.
const MAX_THREADS: usize = 1024;

/// The settings of [`simulate`](super::simulate).
///
/// | field | default of [`SimulateConfig::new`] | range |
/// |---|---|---|
/// | `ruleset` | given | |
/// | `games` | given | 0 to 1,000,000,000,000 |
/// | `first` | 0 | 0 to 9,223,372,036,854,775,807 |
/// | `seed` | 0 | |
/// | `random_opening_plies` | 0 | 0 to 10,000, less than `max_plies` |
/// | `max_plies` | `None` (never cut) | 1 to 2,147,483,647 plies, opening plies included |
/// | `offers` | false | |
/// | `sample` | 0 | [`sample_size`](super::sample_size) suits every board |
/// | `num_threads` | `None` (every core the process may use) | 1 to 1,024 |
/// | `instructions` | `None` (`ENDODOI_INSTRUCTIONS`, else the fastest there are) | those of this processor |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulateConfig {
    /// The rules of every game.
    pub ruleset: Ruleset,
    /// Games to play.
    pub games: u64,
    /// The number of the first game: games `first..first + games` are played, so that a part of a
    /// larger simulation can be played alone.
    pub first: u64,
    /// Game `i` depends on ([`crate::rng::mix`]`(seed, i)`, episode 0) alone.
    pub seed: u64,
    /// Random legal plies at the start of each game, drawn from the stream of
    /// [`Opening`](crate::rng::Purpose::Opening) as a [`Batch`](crate::batch::Batch) draws them;
    /// an opening that ends the game is drawn again.
    pub random_opening_plies: u32,
    /// Plies after which a game is cut (E4).
    pub max_plies: Option<u32>,
    /// Count the turns that offer an endless sowing, which means to simulate every move.
    pub offers: bool,
    /// Games, the first ones, that are followed move by move for [`GameTable::detail`], which means
    /// to simulate every move of theirs; all games where `offers` is true.
    ///
    /// [`GameTable::detail`]: super::GameTable::detail
    pub sample: u64,
    /// Threads; the results never depend on it.
    pub num_threads: Option<usize>,
    /// Instructions that games of two random players are played with; the results never depend
    /// on them.
    pub instructions: Option<Instructions>,
}

/// Why a simulation cannot be run.
#[derive(Debug, Error)]
pub enum SimulateError {
    /// A number outside its range.
    #[error("{field} is {value}, expected {low} to {high}")]
    OutOfRange {
        /// The field's name.
        field: &'static str,
        /// The value given.
        value: u64,
        /// The smallest value allowed.
        low: u64,
        /// The largest value allowed.
        high: u64,
    },
    /// The game hardly ever lasts as long as the opening.
    #[error("random_opening_plies is {plies}: no opening of 10000 drawn left the game open")]
    NoOpening {
        /// The plies asked for.
        plies: u32,
    },
    /// A player cannot be made.
    #[error(transparent)]
    Player(#[from] PolicyError),
    /// Instructions that do not exist or that this processor does not have.
    #[error(transparent)]
    Instructions(#[from] InstructionsError),
    /// The threads cannot be started.
    #[error("the threads cannot be started: {message}")]
    Threads {
        /// What the system says.
        message: String,
    },
}

impl SimulateConfig {
    /// Starts from the defaults for `games` games under `ruleset`.
    pub const fn new(ruleset: Ruleset, games: u64) -> SimulateConfig {
        SimulateConfig {
            ruleset,
            games,
            first: 0,
            seed: 0,
            random_opening_plies: 0,
            max_plies: None,
            offers: false,
            sample: 0,
            num_threads: None,
            instructions: None,
        }
    }

    /// Returns the smallest and the largest value of the field of this name, whatever the others
    /// are; all of 64 bits for any other name.
    pub fn range(field: &str) -> (u64, u64) {
        match field {
            "games" => (0, MAX_GAMES),
            "first" => (0, i64::MAX as u64),
            "max_plies" => (1, i32::MAX as u64),
            "random_opening_plies" => (0, MAX_OPENING_PLIES.into()),
            "num_threads" => (1, MAX_THREADS as u64),
            _ => (0, u64::MAX),
        }
    }

    /// Checks every field against its range.
    ///
    /// # Errors
    /// [`SimulateError::OutOfRange`] names the first field outside its range.
    pub fn check(&self) -> Result<(), SimulateError> {
        let cap = self.max_plies.map_or(i32::MAX as u64, u64::from);
        let threads = self.num_threads.map_or(1, |threads| threads as u64);
        let opening = u64::from(self.random_opening_plies);
        for (field, value) in [
            ("games", self.games),
            ("first", self.first),
            ("max_plies", cap),
            ("random_opening_plies", opening),
            ("num_threads", threads),
        ] {
            let (low, mut high) = SimulateConfig::range(field);
            if field == "random_opening_plies" {
                high = high.min(cap.saturating_sub(1));
            }
            if !(low..=high).contains(&value) {
                return Err(SimulateError::OutOfRange {
                    field,
                    value,
                    low,
                    high,
                });
            }
        }
        Ok(())
    }
}
