//! The player that searches a fixed number of plies ahead.

use rand_xoshiro::Xoshiro128PlusPlus;
use rayon::prelude::*;

use crate::policy::{Policy, PolicyError};
use crate::position::Position;
use crate::search::{AlphaBetaSearch, SearchError};

/// Plays the best move of a search of fixed depth, the lowest column among equals.
///
/// Positions are searched in parallel in the current rayon pool; each choice depends on its
/// position alone. What the search maximises is told in [`crate::search::alpha_beta`].
///
/// ```
/// use endodoi::policy::{AlphaBeta, Policy};
/// use endodoi::rng::{self, Purpose};
/// use endodoi::{Position, Variant};
///
/// let positions = [Position::start(&Variant::CrossEndodoi.ruleset())];
/// let mut streams = [rng::stream(1, 0, Purpose::Play)];
/// let mut moves = [0];
/// AlphaBeta::new(1)?.choose(&positions, &mut streams, &mut moves)?;
/// assert_eq!(moves, [3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct AlphaBeta {
    depth: u32,
    search: AlphaBetaSearch,
}

impl AlphaBeta {
    /// Makes the player that looks `depth` plies ahead.
    ///
    /// # Errors
    /// [`SearchError::DepthRange`] when the depth is not 1 to [`crate::search::MAX_DEPTH`].
    pub fn new(depth: u32) -> Result<AlphaBeta, SearchError> {
        Ok(AlphaBeta {
            depth,
            search: AlphaBetaSearch::new(depth)?,
        })
    }

    /// Returns the plies it looks ahead.
    pub const fn depth(&self) -> u32 {
        self.depth
    }
}

impl Policy for AlphaBeta {
    fn name(&self) -> String {
        format!("alphabeta:{}", self.depth)
    }

    fn choose(
        &mut self,
        positions: &[Position],
        _streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
    ) -> Result<(), PolicyError> {
        choose_by_search(&self.search, &self.name(), positions, moves)
    }
}

/// Searches every position and writes the best columns, in parallel.
pub(super) fn choose_by_search(
    search: &AlphaBetaSearch,
    name: &str,
    positions: &[Position],
    moves: &mut [u8],
) -> Result<(), PolicyError> {
    positions
        .par_iter()
        .zip(moves.par_iter_mut())
        .try_for_each_init(
            || search.clone(),
            |search, (position, column)| {
                let result = search
                    .search(position)
                    .map_err(|error| PolicyError::Failed {
                        name: name.to_owned(),
                        message: error.to_string(),
                    })?;
                *column = result.column as u8;
                Ok(())
            },
        )
}
