//! What can go wrong with endgame tables.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a table cannot be built or used.
#[derive(Debug, Error)]
pub enum TableError {
    /// A number outside its range.
    #[error("{field} is {value}, expected {low} to {high}")]
    OutOfRange {
        /// The field's name.
        field: &'static str,
        /// The value given.
        value: u64,
        /// The smallest value allowed.
        low: u64,
        /// The largest value allowed.
        high: u64,
    },
    /// Endless sowings that end the game: a table has no value for them.
    #[error("endless is \"draw\": endgame tables are for endless = \"illegal\" only")]
    EndlessDraw,
    /// More positions than a table may have.
    #[error(
        "all positions with up to {seeds} seeds on 2x{columns} are {}, expected at most {limit}",
        positions.map_or_else(|| "more than 2^64".to_owned(), |positions| positions.to_string())
    )]
    TooLarge {
        /// Pits in a row.
        columns: usize,
        /// The most seeds.
        seeds: u32,
        /// The positions there would be; `None` beyond 64 bits.
        positions: Option<u64>,
        /// The most positions allowed.
        limit: u64,
    },
    /// More memory than there is.
    #[error(
        "{positions} positions take {needed} bytes while the table is built, and {available} are available"
    )]
    Memory {
        /// The positions there would be.
        positions: u64,
        /// Bytes needed while the table is built.
        needed: u64,
        /// Bytes that the system can give.
        available: u64,
    },
    /// The threads cannot be started.
    #[error("the threads cannot be started: {message}")]
    Threads {
        /// What the system says.
        message: String,
    },
    /// The caller stopped the work.
    #[error("the table was stopped at {seeds} seeds: {done} of {positions} positions were done")]
    Stopped {
        /// The seed count that was being worked on.
        seeds: u32,
        /// Positions done.
        done: u64,
        /// Positions of the whole table.
        positions: u64,
    },
    /// A table of other rules.
    #[error("the table is for {found}, expected {expected}")]
    Ruleset {
        /// The rules of the table that matter to it.
        found: String,
        /// Those asked for.
        expected: String,
    },
    /// More seeds on the board than the table has.
    #[error("the board holds {seeds} seeds, expected at most {max_seeds}")]
    TooManySeeds {
        /// Seeds on the board.
        seeds: u32,
        /// The most seeds of the table.
        max_seeds: u32,
    },
    /// A file that cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file that would be written over.
    #[error("{}: there is such a file already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A file that does not begin as a table does.
    #[error("{}: this is no endgame table", path.display())]
    NotATable {
        /// The file.
        path: PathBuf,
    },
    /// A table of another version of the format.
    #[error("{}: the table has format version {found}, expected 1", path.display())]
    FormatVersion {
        /// The file.
        path: PathBuf,
        /// The version of the file.
        found: u32,
    },
    /// A file that is cut off, or has more bytes than a table.
    #[error("{}: the file has {found} bytes, expected {expected}", path.display())]
    Length {
        /// The file.
        path: PathBuf,
        /// Bytes of the file.
        found: u64,
        /// Bytes of the table, as far as its header is read.
        expected: u64,
    },
    /// A header that is damaged or contradicts itself.
    #[error("{}: the header of the table cannot be read: {message}", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A file with the table of other rules.
    #[error("{}: the table is for {found}, expected {expected}", path.display())]
    FileRuleset {
        /// The file.
        path: PathBuf,
        /// The rules of the table that matter to it.
        found: String,
        /// Those asked for.
        expected: String,
    },
    /// Values that are not those that were written.
    #[error(
        "{}: block {block} of the table is damaged: the values of positions {first} to {last}",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The block, counted from 0.
        block: usize,
        /// Its first position.
        first: u64,
        /// Its last position.
        last: u64,
    },
    /// A value that the moves of its position contradict.
    #[error(
        "position {index} of the table (pits from the mover's left: {pits:?}) is worth {found}, \
         but its moves give {expected}"
    )]
    Inconsistent {
        /// The number of the position.
        index: u64,
        /// Its seeds, the mover's row first.
        pits: Vec<u8>,
        /// The value of the table.
        found: i8,
        /// The best that its moves lead to.
        expected: i8,
    },
}
