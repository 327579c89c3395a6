//! What a solver is asked and what it answers.

use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use thiserror::Error;

use crate::search::endgame::{TableError, TableProgress};

/// Why a position is not solved.
#[derive(Debug, Error)]
pub enum SolveError {
    /// Endless sowings draw, so that values depend on what was captured before.
    #[error("endless is draw, expected illegal: the solver values what is still to come")]
    EndlessDraw,
    /// The position is one of other rules.
    #[error("the position has another ruleset than the solver: {found}, expected {expected}")]
    Ruleset {
        /// The rules of the position or table.
        found: String,
        /// The rules of the solver.
        expected: String,
    },
    /// The boards have too many pits or seeds.
    #[error("a board of {columns} columns with {seeds} seeds is too large for the solver")]
    TooLarge {
        /// Columns of the board.
        columns: usize,
        /// Seeds on the board.
        seeds: u32,
    },
    /// A number is out of its range.
    #[error("{field} is {value}, expected {low} to {high}")]
    OutOfRange {
        /// The field.
        field: &'static str,
        /// The value given.
        value: f64,
        /// The lowest value allowed.
        low: f64,
        /// The highest value allowed.
        high: f64,
    },
    /// The system gave no memory.
    #[error("no room for a memory of {bytes} bytes")]
    Memory {
        /// What was asked for.
        bytes: u64,
    },
    /// The system refused to read or write.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file is not one that a solver wrote, or it is damaged.
    #[error("{} cannot be read as proofs: {message}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The table could not be built.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// How a solver works; nothing here changes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SolverOptions {
    /// Bytes of the transposition table, from 65,536; default 1 GiB, taken only when a search gets
    /// long.
    pub memory: u64,
    /// 1 to 1,024; `None` for every core that the process may use.
    pub num_threads: Option<usize>,
}

impl Default for SolverOptions {
    fn default() -> SolverOptions {
        SolverOptions {
            memory: 1 << 30,
            num_threads: None,
        }
    }
}

/// When a solver stops with bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolveLimits {
    /// Seconds; `None` for no limit.
    pub seconds: Option<f64>,
    /// Positions visited; `None` for no limit. It may be exceeded by a thousand for each thread, and
    /// once by the 100,000 of the search for a guess. On one thread equal limits give equal bounds.
    pub nodes: Option<u64>,
}

/// How far a solver is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveProgress {
    /// The value is at least this.
    pub lower: i32,
    /// The value is at most this.
    pub upper: i32,
    /// What is being decided: whether the value is at least this.
    pub threshold: i32,
    /// Plies searched for it.
    pub depth: u32,
    /// Positions visited so far.
    pub nodes: u64,
    /// Seconds since the start.
    pub seconds: f64,
    /// Seeds of the positions that the table in use holds.
    pub table_seeds: u32,
    /// The table that is being built, if one is.
    pub building: Option<TableProgress>,
}

/// What a caller is told several times a second on its own thread; a break stops with bounds.
pub type WatchSolve<'a> = dyn FnMut(&SolveProgress) -> ControlFlow<()> + 'a;

/// What is proven of a position.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The mover takes at least so many more of the seeds to come than the other side.
    pub lower: i32,
    /// And at most so many.
    pub upper: i32,
    /// Columns of all best moves, ascending; without an exact value those known to reach `lower`.
    pub best_moves: Vec<u8>,
    /// Whether `best_moves` has all best moves and no other.
    pub complete: bool,
    /// Positions visited.
    pub nodes: u64,
    /// Seconds taken, tables included.
    pub seconds: f64,
    /// Seeds of the positions that the table used last holds.
    pub table_seeds: u32,
}

impl Solution {
    /// Returns the value if it is exact.
    pub fn value(&self) -> Option<i32> {
        (self.lower == self.upper).then_some(self.lower)
    }

    /// Tells whether the value is proven and all best moves are known.
    pub fn is_exact(&self) -> bool {
        self.lower == self.upper && self.complete
    }
}

/// What is proven of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveValue {
    /// The column.
    pub column: u8,
    /// After it, its capture included, the mover takes at least so many more seeds.
    pub lower: i32,
    /// And at most so many.
    pub upper: i32,
}

/// What is proven of every legal move.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// The legal moves, ascending by column.
    pub moves: Vec<MoveValue>,
    /// Positions visited.
    pub nodes: u64,
    /// Seconds taken, tables included.
    pub seconds: f64,
    /// Seeds of the positions that the table used last holds.
    pub table_seeds: u32,
}
