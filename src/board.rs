//! Seeds in pits and seeds captured; no turn and no rules.

use crate::pit::{MAX_PITS, ring_index};
use crate::ruleset::Ruleset;
use crate::side::Side;

/// The most seeds a board and its captures may hold together (E2).
pub const MAX_SEEDS: u32 = 32_767;

/// The seeds of every pit in ring order (B2), and those each side has captured.
///
/// A board holds at most [`MAX_SEEDS`] seeds with its captures, so no count can overflow.
///
/// ```
/// use endodoi::{Board, Side, Variant};
/// let board = Board::start(&Variant::CrossEndodoi.ruleset());
/// assert_eq!(board.pits(), [3; 12]);
/// assert_eq!(board.row(Side::North), [3; 6]);
/// assert_eq!(board.total(), 36);
/// ```
#[derive(Clone, Copy)]
pub struct Board {
    pits: [u16; MAX_PITS],
    columns: u8,
    captured: [u16; 2],
}

impl Board {
    /// Sets up the start of a game: every pit holds `seeds_per_pit` seeds (B1).
    pub fn start(ruleset: &Ruleset) -> Board {
        let mut board = Board::empty(ruleset.columns());
        board.pits_mut().fill(ruleset.seeds_per_pit());
        board
    }

    /// Makes a board of `columns` (at most 64) without a seed.
    pub(crate) fn empty(columns: usize) -> Board {
        Board {
            pits: [0; MAX_PITS],
            columns: columns as u8,
            captured: [0; 2],
        }
    }

    /// Returns `C`, the pits in a row.
    pub const fn columns(&self) -> usize {
        self.columns as usize
    }

    /// Returns the seeds of all pits in ring order, `u16[N]` (B2).
    pub fn pits(&self) -> &[u16] {
        &self.pits[..2 * self.columns()]
    }

    pub(crate) fn pits_mut(&mut self) -> &mut [u16] {
        let pits = 2 * self.columns();
        &mut self.pits[..pits]
    }

    /// Returns one side's row from its owner's left, `u16[C]` (B2).
    pub fn row(&self, side: Side) -> &[u16] {
        let first = ring_index(side, 0, self.columns());
        &self.pits[first..first + self.columns()]
    }

    /// Returns the seeds captured by (South, North).
    pub const fn captured(&self) -> [u16; 2] {
        self.captured
    }

    pub(crate) fn captured_mut(&mut self) -> &mut [u16; 2] {
        &mut self.captured
    }

    /// Returns the seeds captured by `side` less those captured by its opponent.
    pub fn lead(&self, side: Side) -> i32 {
        i32::from(self.captured[side.index()]) - i32::from(self.captured[side.other().index()])
    }

    /// Returns the seeds that lie in pits.
    pub fn seeds_on_board(&self) -> u32 {
        self.pits().iter().map(|&seeds| u32::from(seeds)).sum()
    }

    /// Returns the seeds on the board and captured, which never change in a game (E2).
    pub fn total(&self) -> u32 {
        self.seeds_on_board() + u32::from(self.captured[0]) + u32::from(self.captured[1])
    }

    /// Gives all seeds on the board to `side` and empties the pits (E1).
    pub(crate) fn take_rest(&mut self, side: Side) {
        self.captured[side.index()] += self.seeds_on_board() as u16;
        self.pits_mut().fill(0);
    }
}

impl PartialEq for Board {
    fn eq(&self, other: &Board) -> bool {
        self.captured == other.captured && self.pits() == other.pits()
    }
}

impl Eq for Board {}

impl std::hash::Hash for Board {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.pits().hash(state);
        self.captured.hash(state);
    }
}

impl std::fmt::Debug for Board {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Board")
            .field("south", &self.row(Side::South))
            .field("north", &self.row(Side::North))
            .field("captured", &self.captured)
            .finish_non_exhaustive()
    }
}
