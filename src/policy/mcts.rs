//! The player that searches by random games.

use rand_xoshiro::Xoshiro128PlusPlus;
use rayon::prelude::*;

use crate::policy::{Policy, PolicyError};
use crate::position::Position;
use crate::search::{MctsConfig, MctsError, MctsTree};

/// Plays the best move of a Monte Carlo tree search by random games, drawn from the game's own
/// stream.
///
/// Positions are searched in parallel in the current rayon pool, each in a tree of its own that
/// is not kept: a choice depends on the position and the stream alone. Which move is played is
/// told in [`crate::search::MctsResult`]. The same search over a network is an
/// [`Agent`](crate::policy::Agent) with [`AgentSearch::Mcts`](crate::policy::AgentSearch::Mcts).
///
/// ```
/// use endodoi::policy::{Mcts, Policy};
/// use endodoi::rng::{self, Purpose};
/// use endodoi::{Position, Variant};
///
/// let positions = [Position::start(&Variant::CrossEndodoi.ruleset())];
/// let mut streams = [rng::stream(1, 0, Purpose::Play)];
/// let mut moves = [0];
/// Mcts::new(400)?.choose(&positions, &mut streams, &mut moves)?;
/// assert_eq!(moves, [3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Mcts {
    config: MctsConfig,
}

impl Mcts {
    /// Makes the player that makes `simulations` simulations for each move.
    ///
    /// # Errors
    /// [`MctsError::Simulations`] when the number is not 1 to 1,000,000.
    pub fn new(simulations: u32) -> Result<Mcts, MctsError> {
        Mcts::with(MctsConfig {
            simulations,
            ..MctsConfig::default()
        })
    }

    /// Makes the player of these settings.
    ///
    /// # Errors
    /// [`MctsError`] when a setting is out of range.
    pub fn with(config: MctsConfig) -> Result<Mcts, MctsError> {
        config.check()?;
        Ok(Mcts { config })
    }

    /// Returns the settings.
    pub const fn config(&self) -> &MctsConfig {
        &self.config
    }
}

impl Policy for Mcts {
    fn name(&self) -> String {
        format!("mcts:{}", self.config.simulations)
    }

    fn choose(
        &mut self,
        positions: &[Position],
        streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
    ) -> Result<(), PolicyError> {
        let config = self.config;
        positions
            .par_iter()
            .zip(streams.par_iter_mut())
            .zip(moves.par_iter_mut())
            .try_for_each(|((position, stream), column)| {
                let mut tree = MctsTree::new(position, config)?;
                tree.grow(config.simulations, stream)?;
                *column = tree.result()?.column;
                Ok(())
            })
            .map_err(|error: MctsError| PolicyError::Failed {
                name: self.name(),
                message: error.to_string(),
            })
    }
}
