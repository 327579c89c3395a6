//! What a batch is told when it is made.

use crate::batch::Instructions;
use serde::{Deserialize, Serialize};

use crate::batch::error::BatchError;
use crate::rng;
use crate::ruleset::Ruleset;

/// The most rows a batch may have.
pub(super) const MAX_ROWS: usize = 1 << 24;
/// The most opening plies that may be asked for.
const MAX_OPENING_PLIES: u32 = 10_000;
/// The most threads a batch may be given.
const MAX_THREADS: usize = 1024;

/// What an illegal action does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IllegalMove {
    /// The whole step is refused with [`BatchError::IllegalAction`] and nothing changes.
    Raise,
    /// The game ends there: the mover loses, the board and the ply count stay.
    Loss,
}

/// When a finished game is replaced by the next one of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Autoreset {
    /// By the step after the one in which it finished; that step's action is ignored unchecked.
    NextStep,
    /// Never: stepping a finished row is refused with [`BatchError::Finished`].
    Disabled,
}

/// The settings of a [`Batch`](super::Batch).
///
/// | field | default of [`BatchConfig::new`] | range |
/// |---|---|---|
/// | `rows` | given | 1 to 16,777,216 games |
/// | `ruleset` | given | |
/// | `max_plies` | `None` (never cut) | 1 to 2,147,483,647 plies, opening plies included |
/// | `random_opening_plies` | 0 | 0 to 10,000 plies, less than `max_plies` |
/// | `illegal` | [`IllegalMove::Raise`] | |
/// | `autoreset` | [`Autoreset::NextStep`] | |
/// | `num_threads` | `None` (one thread for small batches, every core the process may use for those that gain by it, from 65,536 pits of own rows on) | 1 to 1,024 threads |
/// | `instructions` | `None` (`ENDODOI_INSTRUCTIONS`, else the fastest there are) | those of this processor |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchConfig {
    /// `B`, the games in the batch.
    pub rows: usize,
    /// The rules of every game.
    pub ruleset: Ruleset,
    /// Plies after which a game is cut (E4), opening plies included.
    pub max_plies: Option<u32>,
    /// Plies drawn uniformly over legal moves before a game is handed over.
    ///
    /// An opening that would end the game is drawn again from the same stream.
    pub random_opening_plies: u32,
    /// What an illegal action does.
    pub illegal: IllegalMove,
    /// When a finished game is replaced.
    pub autoreset: Autoreset,
    /// Threads of this batch; `None` for as many as the affinity and cgroup of the process allow.
    /// Results never depend on it.
    pub num_threads: Option<usize>,
    /// Instructions that boards are sown with; results never depend on them. Not part of a
    /// snapshot.
    #[serde(skip)]
    pub instructions: Option<Instructions>,
}

impl BatchConfig {
    /// Starts from the defaults for `rows` games under `ruleset`.
    pub const fn new(rows: usize, ruleset: Ruleset) -> BatchConfig {
        BatchConfig {
            rows,
            ruleset,
            max_plies: None,
            random_opening_plies: 0,
            illegal: IllegalMove::Raise,
            autoreset: Autoreset::NextStep,
            num_threads: None,
            instructions: None,
        }
    }

    /// Checks every field against its range.
    ///
    /// # Errors
    /// [`BatchError::OutOfRange`] names the first field outside its range;
    /// [`BatchError::OpeningCut`] says that the cap leaves no ply after the opening.
    pub fn check(&self) -> Result<(), BatchError> {
        let fields = [
            ("rows", self.rows as u64, 1, MAX_ROWS as u64),
            (
                "max_plies",
                u64::from(self.max_plies.unwrap_or(1)),
                1,
                i32::MAX as u64,
            ),
            (
                "random_opening_plies",
                u64::from(self.random_opening_plies),
                0,
                u64::from(MAX_OPENING_PLIES),
            ),
            (
                "num_threads",
                self.num_threads.unwrap_or(1) as u64,
                1,
                MAX_THREADS as u64,
            ),
        ];
        for (field, value, low, high) in fields {
            if !(low..=high).contains(&value) {
                return Err(BatchError::OutOfRange {
                    field,
                    value,
                    low,
                    high,
                });
            }
        }
        match self.max_plies {
            Some(max_plies) if self.random_opening_plies >= max_plies => {
                Err(BatchError::OpeningCut {
                    random_opening_plies: self.random_opening_plies,
                    max_plies,
                })
            }
            _ => Ok(()),
        }
    }
}

/// The seeds a reset is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seeds {
    /// Row `i` gets the row seed [`rng::mix`]`(s, i)`.
    Integer(u64),
    /// The row seeds themselves, `u64[B]`.
    Rows(Vec<u64>),
    /// The row seeds of some rows, `[B]`; the others go on with their next episode.
    Some(Vec<Option<u64>>),
}

impl Seeds {
    /// Returns the row seed of `row`, `None` past the end of a list and for rows
    /// without a seed.
    pub fn row_seed(&self, row: usize) -> Option<u64> {
        match self {
            Seeds::Integer(seed) => Some(rng::mix(*seed, row as u64)),
            Seeds::Rows(seeds) => seeds.get(row).copied(),
            Seeds::Some(seeds) => seeds.get(row).copied().flatten(),
        }
    }
}
