//! Monte Carlo tree search: by random games, or over an [`Evaluator`](super::Evaluator).
//!
//! A simulation walks down the tree by PUCT to a position that is not in it, values that position
//! and backs the value up. The shares that PUCT starts from are the evaluator's; random games start
//! from one share for each move and one for each seed it captures. Ends of the game are exact, and so is a game that captures have decided
//! (E1, E2, E3, S6): both are backed up as proofs (Winands, Björnsson and Saito, "Monte-Carlo tree
//! search solver", 2008), and what is proven is not visited again. The quiet count is a part of
//! every position, so that proofs hold under the rules as they are, E3 included.
//!
//! | file | holds |
//! |---|---|
//! | `bounds` | what is proven of an outcome |
//! | `playout` | random games to the end |
//! | `select` | the move to visit next, the move to play |
//! | `tree` | positions and moves, descent and backup |
//! | `result` | what users see |
//! | `game` | one tree, kept from move to move |
//! | `lockstep` | many trees over one evaluator |

mod bounds;
mod config;
mod game;
mod lockstep;
mod playout;
mod result;
mod select;
mod tree;

pub use bounds::Proven;
pub use config::{MAX_PLAYOUT_PLIES, MAX_SIMULATIONS, MctsConfig, MctsError};
pub use game::MctsTree;
pub use lockstep::MctsSearch;
pub use playout::Playouts;
pub use result::{MctsMove, MctsResult};
