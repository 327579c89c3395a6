//! Search: alpha-beta, endgame tables, Monte Carlo tree search, and Gumbel tree search over an
//! [`Evaluator`].

mod alpha_beta;
mod cached;
mod endgame;
mod evaluator;
mod gumbel;
mod mcts;
mod packed;
mod solver;
mod table;
mod tree;

pub use alpha_beta::{
    AlphaBetaConfig, AlphaBetaSearch, LeafEvaluator, MAX_DEPTH, MAX_TABLE_BYTES, MAX_THREADS,
    MAX_TIME, SearchError, SearchLimit, SearchResult, SeedCount, alpha_beta,
};
pub use cached::CachedEvaluator;
pub use endgame::{
    EndgameTable, MAX_TABLE_POSITIONS, MAX_TABLE_SEEDS, Ranking, TABLE_FORMAT_VERSION, TableError,
    TableProgress, VerifyTable, WatchTable,
};
pub use evaluator::{Evaluations, Evaluator, EvaluatorError};
pub use gumbel::{GumbelConfig, GumbelSearch, RootResult};
pub use mcts::{
    MAX_PLAYOUT_PLIES, MAX_SIMULATIONS, MctsConfig, MctsError, MctsMove, MctsResult, MctsSearch,
    MctsTree, Playouts, Proven,
};
pub use packed::{MAX_PACKED_PITS, MAX_PACKED_SEEDS, Packed, PackedChild, PackedRules};
pub use solver::{
    Analysis, MoveValue, Solution, SolveError, SolveLimits, SolveProgress, Solver, SolverOptions,
    WatchSolve,
};
