//! A position of a game: whose turn it is, what is legal, how it ends.

use thiserror::Error;

use crate::board::{Board, MAX_SEEDS};
use crate::pit::PitSet;
use crate::ruleset::{Endless, Ruleset};
use crate::side::Side;
use crate::sowing::{self, Sowing, SowingEnd};

/// The result of a finished game (E2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// One side has captured more seeds.
    Win(Side),
    /// Both sides have captured the same, or an endless sowing was played (S6).
    Draw,
}

impl Outcome {
    /// Compares the seeds captured by (South, North) (E2).
    pub fn of_captured(captured: [u16; 2]) -> Outcome {
        match captured[0].cmp(&captured[1]) {
            std::cmp::Ordering::Greater => Outcome::Win(Side::South),
            std::cmp::Ordering::Less => Outcome::Win(Side::North),
            std::cmp::Ordering::Equal => Outcome::Draw,
        }
    }

    /// Returns `"south"`, `"north"` or `"draw"`.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Win(side) => side.name(),
            Outcome::Draw => "draw",
        }
    }

    /// Returns +1 for a win of South, -1 for a win of North, 0 for a draw.
    pub const fn sign(self) -> i8 {
        match self {
            Outcome::Win(side) => side.sign(),
            Outcome::Draw => 0,
        }
    }
}

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// The side to move had no legal move (E1).
    Stuck,
    /// `quiet_limit` plies went by without a capture (E3).
    Quiet,
    /// An endless sowing was played (S6).
    Endless,
}

impl EndReason {
    /// Returns `"stuck"`, `"quiet"` or `"endless"`.
    pub const fn name(self) -> &'static str {
        match self {
            EndReason::Stuck => "stuck",
            EndReason::Quiet => "quiet",
            EndReason::Endless => "endless",
        }
    }
}

/// Why a move is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MoveError {
    /// The game is over.
    #[error("the game is over ({reason}): no move is legal", reason = reason.name())]
    Over {
        /// How it ended.
        reason: EndReason,
    },
    /// No such column.
    #[error("column is {column}, expected 0 to {last}")]
    ColumnRange {
        /// The column given.
        column: i64,
        /// The last column of the board.
        last: usize,
    },
    /// The pit is empty.
    #[error("column {column} of {side} is empty; legal columns: {legal:?}")]
    EmptyPit {
        /// The column given.
        column: usize,
        /// The side to move.
        side: Side,
        /// The legal columns.
        legal: Vec<usize>,
    },
    /// The sowing is endless and the rule set calls that illegal.
    #[error(
        "column {column} of {side} is an endless sowing (over {lap_limit} laps); legal columns: {legal:?}"
    )]
    EndlessSowing {
        /// The column given.
        column: usize,
        /// The side to move.
        side: Side,
        /// The lap limit of the rule set.
        lap_limit: u32,
        /// The legal columns.
        legal: Vec<usize>,
    },
}

/// Why a set-up is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SetupError {
    /// A row of the wrong length.
    #[error("the row of {side} has {got} pits, expected {expected}")]
    RowLength {
        /// The owner of the row.
        side: Side,
        /// Pits given.
        got: usize,
        /// Columns of the rule set.
        expected: usize,
    },
    /// A pit with an impossible number of seeds.
    #[error("column {column} of {side} holds {value} seeds, expected 0 to {MAX_SEEDS}")]
    PitRange {
        /// The owner of the pit.
        side: Side,
        /// The column of the pit.
        column: usize,
        /// The seeds given.
        value: i64,
    },
    /// An impossible number of captured seeds.
    #[error("captured by {side} is {value}, expected 0 to {MAX_SEEDS}")]
    CapturedRange {
        /// The side.
        side: Side,
        /// The seeds given.
        value: i64,
    },
    /// More seeds than counts can hold.
    #[error("the seeds on the board and captured are {total}, expected at most {MAX_SEEDS}")]
    TotalRange {
        /// The seeds given in all.
        total: i64,
    },
    /// A quiet count outside the rule set's limit.
    #[error("quiet is {value}, expected 0 to {limit} (the quiet_limit)")]
    QuietRange {
        /// The plies given.
        value: i64,
        /// The quiet limit of the rule set.
        limit: u16,
    },
}

/// A position as a user describes it, not yet checked.
///
/// ```
/// use endodoi::{Outcome, Ruleset, RulesetFields, Setup, Side, Variant};
/// let fields = RulesetFields { columns: Some(2), ..RulesetFields::default() };
/// let ruleset = Ruleset::new(Variant::EnDodoi, &fields)?;
/// // Every move of South is endless: South is stuck, North takes the rest (S6, E1).
/// let setup = Setup { south: vec![2, 0], north: vec![2, 1], ..Setup::default() };
/// let position = setup.position(&ruleset)?;
/// assert_eq!(position.outcome(), Some(Outcome::Win(Side::North)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// South's row from South's left.
    pub south: Vec<i64>,
    /// North's row from North's left.
    pub north: Vec<i64>,
    /// The side to move.
    pub to_move: Side,
    /// Seeds captured by (South, North).
    pub captured: [i64; 2],
    /// Plies since the last capture.
    pub quiet: i64,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            south: Vec::new(),
            north: Vec::new(),
            to_move: Side::South,
            captured: [0; 2],
            quiet: 0,
        }
    }
}

impl Setup {
    /// Checks the description and enters the position, which settles it by E1 and E3.
    ///
    /// # Errors
    /// [`SetupError`] names the first field outside its range.
    pub fn position(&self, ruleset: &Ruleset) -> Result<Position, SetupError> {
        let mut board = Board::empty(ruleset.columns());
        let mut total = 0;
        for (side, row) in [(Side::South, &self.south), (Side::North, &self.north)] {
            total += Setup::place_row(&mut board, side, row)?;
        }
        for side in Side::BOTH {
            let value = self.captured[side.index()];
            if !(0..=i64::from(MAX_SEEDS)).contains(&value) {
                return Err(SetupError::CapturedRange { side, value });
            }
            board.captured_mut()[side.index()] = value as u16;
            total += value;
        }
        if total > i64::from(MAX_SEEDS) {
            return Err(SetupError::TotalRange { total });
        }
        let limit = ruleset.quiet_limit();
        if !(0..=i64::from(limit)).contains(&self.quiet) {
            return Err(SetupError::QuietRange {
                value: self.quiet,
                limit,
            });
        }
        Ok(Position::enter(
            *ruleset,
            board,
            self.to_move,
            self.quiet as u16,
        ))
    }

    fn place_row(board: &mut Board, side: Side, row: &[i64]) -> Result<i64, SetupError> {
        let columns = board.columns();
        if row.len() != columns {
            return Err(SetupError::RowLength {
                side,
                got: row.len(),
                expected: columns,
            });
        }
        let first = crate::pit::ring_index(side, 0, columns);
        for (column, &value) in row.iter().enumerate() {
            if !(0..=i64::from(MAX_SEEDS)).contains(&value) {
                return Err(SetupError::PitRange {
                    side,
                    column,
                    value,
                });
            }
            board.pits_mut()[first + column] = value as u16;
        }
        Ok(row.iter().sum())
    }
}

/// A settled position: the board, the side to move, the quiet count, and how the game stands.
///
/// It is immutable; [`Position::play`] returns the next one.
///
/// ```
/// use endodoi::{Position, Side, Variant};
/// let start = Position::start(&Variant::CrossEndodoi.ruleset());
/// let next = start.play(3)?;
/// assert_eq!(next.board().row(Side::South), [0, 5, 5, 1, 0, 4]);
/// assert_eq!(next.board().captured(), [5, 0]);
/// assert_eq!(next.to_move(), Side::North);
/// # Ok::<(), endodoi::MoveError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    ruleset: Ruleset,
    board: Board,
    to_move: Side,
    quiet: u16,
    legal: PitSet,
    end: Option<EndReason>,
}

impl Position {
    /// Sets up the start of a game; South moves first (B1, B3).
    pub fn start(ruleset: &Ruleset) -> Position {
        Position::enter(*ruleset, Board::start(ruleset), Side::South, 0)
    }

    /// Settles a board that a side is about to move on: E1 first, then E3.
    pub(crate) fn enter(ruleset: Ruleset, board: Board, to_move: Side, quiet: u16) -> Position {
        let legal = legal_columns(&board, &ruleset, to_move);
        let mut position = Position {
            ruleset,
            board,
            to_move,
            quiet,
            legal,
            end: None,
        };
        if legal.is_empty() {
            position.board.take_rest(to_move.other());
            position.end = Some(EndReason::Stuck);
        } else if quiet >= ruleset.quiet_limit() {
            position.legal = PitSet::EMPTY;
            position.end = Some(EndReason::Quiet);
        }
        position
    }

    /// Goes on from an open position that was settled before, whose legal columns are known.
    pub(crate) fn resume(
        ruleset: Ruleset,
        board: Board,
        to_move: Side,
        quiet: u16,
        legal: PitSet,
    ) -> Position {
        Position {
            ruleset,
            board,
            to_move,
            quiet,
            legal,
            end: None,
        }
    }

    /// Returns the same position as ended by an endless sowing (S6), as records keep it.
    #[must_use]
    pub fn ended_by_endless(mut self) -> Position {
        self.legal = PitSet::EMPTY;
        self.end = Some(EndReason::Endless);
        self
    }

    /// Returns the rules of the game.
    pub const fn ruleset(&self) -> &Ruleset {
        &self.ruleset
    }

    /// Returns the seeds in pits and captured.
    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// Returns the side whose turn it is, or would be if the game were not over.
    pub const fn to_move(&self) -> Side {
        self.to_move
    }

    /// Returns the plies since the last capture (E3).
    pub const fn quiet(&self) -> u16 {
        self.quiet
    }

    /// Returns the legal columns; none when the game is over.
    pub const fn legal_moves(&self) -> PitSet {
        self.legal
    }

    /// Tells whether the game is over.
    pub const fn is_over(&self) -> bool {
        self.end.is_some()
    }

    /// Returns why the game ended, `None` while it goes on.
    pub const fn end_reason(&self) -> Option<EndReason> {
        self.end
    }

    /// Returns the result, `None` while the game goes on (E2, S6).
    pub fn outcome(&self) -> Option<Outcome> {
        self.end.map(|reason| match reason {
            EndReason::Endless => Outcome::Draw,
            EndReason::Stuck | EndReason::Quiet => Outcome::of_captured(self.board.captured()),
        })
    }

    /// Plays the side to move's pit in `column`.
    ///
    /// # Errors
    /// [`MoveError`] when the game is over, the column does not exist, its pit is empty, or its
    /// sowing is endless under `endless = "illegal"`.
    pub fn play(&self, column: usize) -> Result<Position, MoveError> {
        self.play_sowing(column).map(|(position, _)| position)
    }

    /// Plays as [`Position::play`] does and returns what the sowing did as well.
    ///
    /// # Errors
    /// As [`Position::play`].
    pub fn play_sowing(&self, column: usize) -> Result<(Position, Sowing), MoveError> {
        if let Some(reason) = self.end {
            return Err(MoveError::Over { reason });
        }
        self.check_pit(column)?;
        if !self.legal.contains(column) {
            return Err(MoveError::EndlessSowing {
                column,
                side: self.to_move,
                lap_limit: self.ruleset.lap_limit(),
                legal: self.legal.iter().collect(),
            });
        }
        Ok(self.play_legal(column))
    }

    /// Plays a column that is known to be legal.
    pub(crate) fn play_legal(&self, column: usize) -> (Position, Sowing) {
        let mut board = self.board;
        let sowing = sowing::sow(&mut board, &self.ruleset, self.to_move, column);
        if sowing.end == SowingEnd::Endless {
            return (self.ended_by_endless(), sowing);
        }
        let quiet = if sowing.captured > 0 {
            0
        } else {
            self.quiet + 1
        };
        (
            Position::enter(self.ruleset, board, self.to_move.other(), quiet),
            sowing,
        )
    }

    /// Sows a column without playing it; endless sowings can be looked at.
    ///
    /// Returns the sowing and the board after it, which is unchanged if the sowing is endless.
    ///
    /// # Errors
    /// [`MoveError`] only for a column out of range or an empty pit.
    pub fn sow(&self, column: usize) -> Result<(Sowing, Board), MoveError> {
        self.check_pit(column)?;
        let mut board = self.board;
        let sowing = sowing::sow(&mut board, &self.ruleset, self.to_move, column);
        Ok((sowing, board))
    }

    /// Returns the view of the side to move, `i16[2C+3]`: own row, other row, own captured,
    /// other captured, quiet plies.
    pub fn observation(&self) -> Vec<i16> {
        let own = self.to_move;
        let other = own.other();
        let captured = self.board.captured();
        let row = |side| self.board.row(side).iter().map(|&seeds| seeds as i16);
        row(own)
            .chain(row(other))
            .chain([
                captured[own.index()] as i16,
                captured[other.index()] as i16,
                self.quiet as i16,
            ])
            .collect()
    }

    /// Returns the position with the sides exchanged: rows, captures and the side to move.
    ///
    /// Legal moves and observation are the same, the outcome is mirrored (B4).
    #[must_use]
    pub fn swap_sides(&self) -> Position {
        let mut swapped = *self;
        let columns = self.board.columns();
        swapped.board.pits_mut().rotate_left(columns);
        swapped.board.captured_mut().swap(0, 1);
        swapped.to_move = self.to_move.other();
        swapped
    }

    fn check_pit(&self, column: usize) -> Result<(), MoveError> {
        let columns = self.board.columns();
        if column >= columns {
            return Err(MoveError::ColumnRange {
                column: i64::try_from(column).unwrap_or(i64::MAX),
                last: columns - 1,
            });
        }
        if self.board.row(self.to_move)[column] == 0 {
            return Err(MoveError::EmptyPit {
                column,
                side: self.to_move,
                legal: self.legal.iter().collect(),
            });
        }
        Ok(())
    }
}

/// Returns the columns that `side` may play: non-empty pits whose sowing ends, or all non-empty
/// pits under `endless = "draw"` (S1, S6).
pub(crate) fn legal_columns(board: &Board, ruleset: &Ruleset, side: Side) -> PitSet {
    let mut legal = PitSet::EMPTY;
    let first = crate::pit::ring_index(side, 0, board.columns());
    let direction = ruleset.direction();
    for (column, &seeds) in board.row(side).iter().enumerate() {
        // A sowing of one lap is legal under every `lap_limit`.
        let playable = seeds > 0
            && (ruleset.endless() == Endless::Draw
                || sowing::ends_in_one_lap(board.pits(), first + column, direction)
                || !sowing::is_endless(board, ruleset, side, column));
        if playable {
            legal.insert(column);
        }
    }
    legal
}

/// Tells whether `side` has a legal move, stopping at the first one found (E1).
///
/// The slow twin is [`legal_columns`]. A sowing of one lap is legal under every `lap_limit`, so
/// that relays are only sown where no pit ends its first lap in an empty pit.
pub(crate) fn has_legal_move(board: &Board, ruleset: &Ruleset, side: Side) -> bool {
    let row = board.row(side);
    if ruleset.endless() == Endless::Draw {
        return row.iter().any(|&seeds| seeds > 0);
    }
    let occupied = || row.iter().enumerate().filter(|&(_, &seeds)| seeds > 0);
    let first = crate::pit::ring_index(side, 0, board.columns());
    let direction = ruleset.direction();
    occupied().any(|(column, _)| sowing::ends_in_one_lap(board.pits(), first + column, direction))
        || occupied().any(|(column, _)| !sowing::is_endless(board, ruleset, side, column))
}
