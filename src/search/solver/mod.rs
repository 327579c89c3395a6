//! The exact solver: how many seeds perfect play still wins.
//!
//! A value is proven by searches with a null window ("does the mover take `t` seeds more than the
//! other side?") above an endgame table. Each search deepens until its answer rests on nothing but
//! tables, ends of the game and bounds proven before.
//!
//! **Loops.** Play without captures may go on for ever, which wins nothing for either side. A
//! position that repeats one on the path with the same side to move counts as 0. A verdict that
//! leans on such a repetition is kept only if the position repeated is the one judged or lies
//! below it: then whoever profits from the loop may go round it for ever, and the verdict holds
//! whatever was played before. A verdict that leans on a position above it is used where it was
//! found and forgotten. So no entry of the memory depends on a history.
//!
//! | file | holds |
//! |---|---|
//! | `field` | boards as the search sees them |
//! | `guess` | a likely value to begin with |
//! | `memory` | bounds of positions, shared by all threads |
//! | `worker` | the search of one thread |
//! | `file` | what is known, kept for another day |
//! | `prove` | all threads on one question |
//! | `solution` | what is asked and answered |
//! | `windows` | which question is asked next |
//! | `solve` | values, best moves and their bounds |

mod field;
mod file;
mod guess;
mod memory;
mod prove;
mod solution;
mod solve;
mod windows;
mod worker;

pub use solution::{
    Analysis, MoveValue, Solution, SolveError, SolveLimits, SolveProgress, SolverOptions,
    WatchSolve,
};
pub use solve::Solver;
