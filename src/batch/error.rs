//! Why a batch refuses something.

use crate::batch::InstructionsError;
use thiserror::Error;

use crate::pit::PitSet;
use crate::position::SetupError;

/// Why an action is illegal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum IllegalReason {
    /// No such column.
    #[error("no such column, expected 0 to {last}")]
    Range {
        /// The last column of the board.
        last: usize,
    },
    /// The pit is empty (S1).
    #[error("its pit is empty")]
    EmptyPit,
    /// The sowing is endless and the rule set calls that illegal (S6).
    #[error("its sowing is endless")]
    EndlessSowing,
}

/// Why bytes are not a snapshot of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SnapshotError {
    /// The bytes do not start as a snapshot does.
    #[error("the bytes are not a batch snapshot")]
    NotASnapshot,
    /// The snapshot was written in another format.
    #[error("format version is {got}, expected {expected}")]
    Version {
        /// The version found.
        got: u32,
        /// The version this build reads and writes.
        expected: u32,
    },
    /// The snapshot is cut short or too long.
    #[error("{got} bytes, expected {expected}")]
    Length {
        /// The bytes found.
        got: usize,
        /// The bytes expected.
        expected: usize,
    },
    /// Some byte was changed.
    #[error("the checksum does not agree: the bytes were changed")]
    Checksum,
    /// The settings cannot be read.
    #[error("the settings cannot be read: {0}")]
    Settings(String),
    /// The board of a row is impossible.
    #[error("row {row}: {error}")]
    Position {
        /// The row.
        row: usize,
        /// What is wrong with it.
        error: SetupError,
    },
    /// A field of a row holds an impossible value.
    #[error("row {row}: {field} is {value}, which no game can have")]
    Field {
        /// The row.
        row: usize,
        /// The field's name.
        field: &'static str,
        /// The value found.
        value: u64,
    },
}

/// Why a batch refuses its settings, seeds, actions, arrays or a snapshot.
///
/// Whatever is refused changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BatchError {
    /// A setting outside its range.
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
    /// The cap leaves no ply after the opening.
    #[error(
        "random_opening_plies is {random_opening_plies}, expected less than max_plies ({max_plies})"
    )]
    OpeningCut {
        /// The opening plies asked for.
        random_opening_plies: u32,
        /// The ply cap.
        max_plies: u32,
    },
    /// No opening of that many plies leaves an open game.
    #[error(
        "random_opening_plies is {random_opening_plies}: {tries} openings of row {row} all ended the game; expected fewer plies"
    )]
    Opening {
        /// The row whose opening was drawn.
        row: usize,
        /// The opening plies asked for.
        random_opening_plies: u32,
        /// How many openings were drawn.
        tries: u32,
    },
    /// Instructions that do not exist or that this processor does not have.
    #[error(transparent)]
    Instructions(#[from] InstructionsError),
    /// The threads cannot be started.
    #[error("num_threads is {num_threads}, but they cannot be started: {reason}")]
    Threads {
        /// The threads asked for.
        num_threads: usize,
        /// What the system said.
        reason: String,
    },
    /// The number of actions is not the number of rows.
    #[error("actions has {got} entries, expected {expected} (one for each row)")]
    ActionsLength {
        /// The entries given.
        got: usize,
        /// The rows of the batch.
        expected: usize,
    },
    /// An action is not legal ([`IllegalMove::Raise`](super::IllegalMove::Raise)).
    #[error("row {row}: action {action} is illegal: {reason}; legal columns: {legal:?}")]
    IllegalAction {
        /// The row.
        row: usize,
        /// The action given.
        action: i64,
        /// The legal columns of that row.
        legal: Vec<usize>,
        /// Why it is illegal.
        reason: IllegalReason,
    },
    /// A finished row was stepped with autoreset disabled.
    #[error("row {row}: the game is over and autoreset is disabled; reset the row first")]
    Finished {
        /// The row.
        row: usize,
    },
    /// A row was stepped before its first reset.
    #[error("row {row} has not been reset yet; reset comes before step")]
    NotReset {
        /// The row.
        row: usize,
    },
    /// An array has the wrong length.
    #[error("{field} has {got} entries, expected {expected}")]
    BufferLength {
        /// The array's name.
        field: &'static str,
        /// The entries given.
        got: usize,
        /// The entries expected.
        expected: usize,
    },
    /// No such row.
    #[error("row is {row}, expected 0 to {last}")]
    RowRange {
        /// The row given.
        row: usize,
        /// The last row of the batch.
        last: usize,
    },
    /// A position under other rules than those of the batch.
    #[error("the position is of {got}, but the batch plays {expected}")]
    Ruleset {
        /// The rules of the position.
        got: String,
        /// The rules of the batch.
        expected: String,
    },
    /// The bytes are not a snapshot this build can restore.
    #[error("snapshot: {0}")]
    Snapshot(#[from] SnapshotError),
}

impl BatchError {
    /// Describes an action that is not among the `legal` columns of a row, by the seeds in the
    /// mover's pits.
    pub(crate) fn illegal_action(
        row: usize,
        action: i64,
        legal: PitSet,
        columns: usize,
        seeds: impl Fn(usize) -> u16,
    ) -> BatchError {
        let column = usize::try_from(action).ok().filter(|&c| c < columns);
        let reason = match column {
            None => IllegalReason::Range { last: columns - 1 },
            Some(column) if seeds(column) == 0 => IllegalReason::EmptyPit,
            Some(_) => IllegalReason::EndlessSowing,
        };
        BatchError::IllegalAction {
            row,
            action,
            legal: legal.iter().collect(),
            reason,
        }
    }
}
