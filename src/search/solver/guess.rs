//! A guess of a value, so that questions begin next to it.

use crate::position::Position;
use crate::search::alpha_beta::{AlphaBetaConfig, AlphaBetaSearch, SearchLimit};

/// Positions that the deeper of the two searches may visit: the guess is then 0.9 seeds off on
/// average, and never more than 2.5, for the solved starts from 2x6 with two seeds in a pit on.
const NODES: u64 = 1 << 15;

/// What two searches say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Guess {
    /// The likely value, of the parity of the seeds on the board.
    pub(super) value: i32,
    /// Positions visited for it.
    pub(super) nodes: u64,
}

/// Guesses the value of a position that is not over; `None` if it cannot be searched.
///
/// The captured difference favours who moved last, so that the guess is the mean of two alpha-beta
/// searches, the second a ply less deep.
pub(super) fn guess(position: &Position) -> Option<Guess> {
    let search = |limit: SearchLimit| {
        let mut search = AlphaBetaSearch::with(AlphaBetaConfig::new(limit)).ok()?;
        search.value(position).ok()
    };
    let deep = search(SearchLimit::Nodes(NODES))?;
    let less = deep.depth.saturating_sub(1).max(1);
    let shallow = search(SearchLimit::Depth(less))?;
    let board = position.board();
    let twice = deep.value + shallow.value - 2 * board.lead(position.to_move());
    Some(Guess {
        value: nearest(twice, board.seeds_on_board() % 2 == 1),
        nodes: deep.nodes + shallow.nodes,
    })
}

/// Returns the odd or even number next to half of `twice`, the higher of two.
fn nearest(twice: i32, odd: bool) -> i32 {
    let odd = i32::from(odd);
    2 * (twice + 2 - 2 * odd).div_euclid(4) + odd
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_number_has_the_parity_of_the_seeds() {
        for twice in -20..=20 {
            for odd in [false, true] {
                let near = nearest(twice, odd);
                assert_eq!(near.rem_euclid(2) == 1, odd, "{twice}");
                let far = 2 * near - twice;
                assert!((-1..=2).contains(&far), "{twice}: {near}");
            }
        }
    }
}
