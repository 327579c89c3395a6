//! The player that takes the most seeds it can take at once.

use rand_xoshiro::Xoshiro128PlusPlus;

use crate::policy::alpha_beta::Searches;
use crate::policy::{Policy, PolicyError};
use crate::position::Position;
use crate::search::AlphaBetaConfig;

/// Plays the move after which its captured difference is greatest: `alphabeta:1`.
///
/// E1's rest counts as captured, and among equal moves the lowest column is played.
#[derive(Clone, Debug, Default)]
pub struct Greedy {
    searches: Searches,
}

impl Policy for Greedy {
    fn name(&self) -> String {
        "greedy".to_owned()
    }

    fn choose(
        &mut self,
        positions: &[Position],
        _streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
    ) -> Result<(), PolicyError> {
        let config = AlphaBetaConfig::of_depth(1);
        self.searches.choose(config, "greedy", positions, moves)
    }
}
