//! What an environment is told when it is made.

use serde::{Deserialize, Serialize};

use crate::batch::{Autoreset, BatchConfig};
use crate::position::Position;
use crate::side::Side;

/// When a finished game is replaced by the next one of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AutoresetMode {
    /// By the step after the one in which it finished; that step's action is ignored unchecked.
    NextStep,
    /// By the step in which it finished; what it ended with is kept in [`Finals`](super::Finals).
    SameStep,
    /// Never: stepping a finished row is refused.
    Disabled,
}

/// The side the agent plays where there are opponents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentSide {
    /// South in every game.
    South,
    /// North in every game.
    North,
    /// South where row seed + episode is even, so that a row's games take turns.
    Alternate,
}

impl AgentSide {
    /// Every choice, in the order of the names in errors.
    pub const ALL: [AgentSide; 3] = [AgentSide::South, AgentSide::North, AgentSide::Alternate];

    /// Returns the name that users see.
    pub const fn name(self) -> &'static str {
        match self {
            AgentSide::South => "south",
            AgentSide::North => "north",
            AgentSide::Alternate => "alternate",
        }
    }

    /// Returns the agent's side in the game of (row seed, episode).
    pub const fn side(self, row_seed: u64, episode: u64) -> Side {
        match self {
            AgentSide::Alternate if row_seed.wrapping_add(episode).is_multiple_of(2) => Side::South,
            AgentSide::South => Side::South,
            AgentSide::North | AgentSide::Alternate => Side::North,
        }
    }
}

/// The settings of an [`Environment`](super::Environment).
///
/// | field | default of [`EnvironmentConfig::new`] |
/// |---|---|
/// | `batch` | given; its `autoreset` is not used |
/// | `autoreset` | [`AutoresetMode::NextStep`] |
/// | `agent_side` | [`AgentSide::Alternate`] |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentConfig {
    /// The games.
    pub batch: BatchConfig,
    /// When a finished game is replaced.
    pub autoreset: AutoresetMode,
    /// The agent's side where there are opponents.
    pub agent_side: AgentSide,
}

impl EnvironmentConfig {
    /// Starts from the defaults for the games of `batch`.
    pub const fn new(batch: BatchConfig) -> EnvironmentConfig {
        EnvironmentConfig {
            batch,
            autoreset: AutoresetMode::NextStep,
            agent_side: AgentSide::Alternate,
        }
    }

    /// Tells whether the batch does all there is to do in a step: it does not report the end of a
    /// game that starts without a legal move.
    pub(super) fn is_plain(&self, opponents: usize) -> bool {
        opponents == 0
            && self.autoreset != AutoresetMode::SameStep
            && !Position::start(&self.batch.ruleset).is_over()
    }

    /// Returns the settings of the batch beside `opponents`.
    pub(super) fn of_batch(&self, opponents: usize) -> BatchConfig {
        let next_step = self.autoreset == AutoresetMode::NextStep;
        let autoreset = if next_step && self.is_plain(opponents) {
            Autoreset::NextStep
        } else {
            Autoreset::Disabled
        };
        BatchConfig {
            autoreset,
            ..self.batch
        }
    }
}
