//! The boards that the search plays on, each seen by its mover.

use crate::board::Board;
use crate::pit::{PitSet, opposite, owner, ring_index};
use crate::ruleset::{Endless, LoneCapture, Ruleset};
use crate::search::packed::{MAX_PACKED_SEEDS, Packed, PackedRules};
use crate::side::Side;
use crate::sowing;

/// What the search asks of boards; no one knows whose turn it is (B4).
pub(super) trait Boards: Sync {
    /// Seeds in pits, the mover's row first, nothing captured.
    type Board: Copy + Send + Sync;

    /// Takes the seeds of a board, seen by `side`.
    fn of(&self, board: &Board, side: Side) -> Self::Board;

    /// Returns the mover's columns that hold seeds, as bits.
    fn occupied(&self, board: &Self::Board) -> u64;

    /// Sows an occupied column: the board as the other side sees it and the seeds captured;
    /// `None` for an endless sowing (S1 to S6, C1 to C3).
    fn sow(&self, board: &Self::Board, column: usize) -> Option<(Self::Board, u16)>;

    /// Tells whether the mover has a legal move (E1).
    fn can_move(&self, board: &Self::Board) -> bool;

    /// Mixes a board into a number; equal numbers of different boards are as rare as chance allows.
    fn key(&self, board: &Self::Board) -> u64;

    /// Writes the seeds of all pits, `u16[2C]`, the mover's row first.
    fn write(&self, board: &Self::Board, pits: &mut [u16]);
}

/// Odd constants of no pattern. A board in a word cannot cancel the first two: they hold several
/// bytes above 127, and it holds at most one.
const CONSTANTS: [u64; 3] = [
    0x9E37_79B9_7F4A_7C15,
    0xD6E8_FEB8_6659_FD93,
    0xC2B2_AE3D_27D4_EB4F,
];

/// Multiplies two words and folds the product into one.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Mixes a number into a key.
pub(super) fn mix(key: u64, number: u64) -> u64 {
    fold(
        key ^ CONSTANTS[0],
        number.wrapping_mul(CONSTANTS[1]) ^ key.rotate_left(32),
    )
}

/// Boards of up to 16 pits and 255 seeds.
#[derive(Debug)]
pub(super) struct PackedBoards {
    rules: PackedRules,
    endless_is_draw: bool,
}

impl PackedBoards {
    /// Prepares the boards of a rule set; `None` where they have more pits.
    pub(super) fn new(ruleset: &Ruleset) -> Option<PackedBoards> {
        Some(PackedBoards {
            rules: PackedRules::new(ruleset)?,
            endless_is_draw: ruleset.endless() == Endless::Draw,
        })
    }

    /// Tells whether a board has few enough seeds.
    pub(super) fn fit(board: &Board) -> bool {
        board.seeds_on_board() <= MAX_PACKED_SEEDS
    }
}

impl Boards for PackedBoards {
    type Board = Packed;

    fn of(&self, board: &Board, side: Side) -> Packed {
        self.rules.pack(board, side).unwrap_or_default()
    }

    #[inline]
    fn occupied(&self, board: &Packed) -> u64 {
        self.rules.candidates(*board).into()
    }

    #[inline]
    fn sow(&self, board: &Packed, column: usize) -> Option<(Packed, u16)> {
        let child = self.rules.sow(*board, column)?;
        Some((child.board, child.captured.into()))
    }

    #[inline]
    fn can_move(&self, board: &Packed) -> bool {
        let occupied = PitSet::from_bits(self.occupied(board));
        let ends = |column| self.endless_is_draw || self.rules.sow(*board, column).is_some();
        occupied.iter().any(ends)
    }

    #[inline]
    fn key(&self, board: &Packed) -> u64 {
        let (low, high) = (board.0 as u64, (board.0 >> 64) as u64);
        fold(fold(low ^ CONSTANTS[0], high ^ CONSTANTS[1]), CONSTANTS[2])
    }

    fn write(&self, board: &Packed, pits: &mut [u16]) {
        for (index, seeds) in pits.iter_mut().enumerate() {
            *seeds = u16::from((board.0 >> (8 * index)) as u8);
        }
    }
}

/// Boards of up to `P` pits, of any number of seeds.
pub(super) struct WideBoards<const P: usize> {
    ruleset: Ruleset,
}

/// The seeds of a board in ring order, and whose turn it is.
#[derive(Clone, Copy)]
pub(super) struct Wide<const P: usize> {
    pits: [u16; P],
    mover: Side,
}

impl<const P: usize> WideBoards<P> {
    /// Prepares the boards of a rule set of at most `P` pits.
    pub(super) fn new(ruleset: &Ruleset) -> WideBoards<P> {
        WideBoards { ruleset: *ruleset }
    }

    /// Returns the mover's row and the other one.
    fn rows<'a>(&self, board: &'a Wide<P>) -> [&'a [u16]; 2] {
        let (south, north) = board.pits[..self.ruleset.pits()].split_at(self.ruleset.columns());
        match board.mover {
            Side::South => [south, north],
            Side::North => [north, south],
        }
    }
}

impl<const P: usize> Boards for WideBoards<P> {
    type Board = Wide<P>;

    fn of(&self, board: &Board, side: Side) -> Wide<P> {
        let mut pits = [0; P];
        pits[..board.pits().len()].copy_from_slice(board.pits());
        Wide { pits, mover: side }
    }

    fn occupied(&self, board: &Wide<P>) -> u64 {
        let [row, _] = self.rows(board);
        let bits = row.iter().enumerate();
        bits.fold(0, |set, (column, &seeds)| {
            set | (u64::from(seeds > 0) << column)
        })
    }

    #[inline]
    fn sow(&self, board: &Wide<P>, column: usize) -> Option<(Wide<P>, u16)> {
        let columns = self.ruleset.columns();
        let mut after = *board;
        let pits = &mut after.pits[..2 * columns];
        let origin = ring_index(board.mover, column, columns);
        let last = sowing::relay(pits, origin, &self.ruleset)?;
        let mut captured = 0;
        if owner(last, columns) == board.mover {
            let facing = opposite(last, columns);
            if pits[facing] > 0 || self.ruleset.lone_capture() == LoneCapture::Taken {
                captured = std::mem::take(&mut pits[facing]) + std::mem::take(&mut pits[last]);
            }
        }
        after.mover = board.mover.other();
        Some((after, captured))
    }

    fn can_move(&self, board: &Wide<P>) -> bool {
        let [row, _] = self.rows(board);
        let occupied = || (0..row.len()).filter(|&column| row[column] > 0);
        if self.ruleset.endless() == Endless::Draw {
            return occupied().next().is_some();
        }
        let pits = &board.pits[..self.ruleset.pits()];
        let first = ring_index(board.mover, 0, self.ruleset.columns());
        let direction = self.ruleset.direction();
        let ends_soon = |column| sowing::ends_in_one_lap(pits, first + column, direction);
        let ends = |column| {
            let mut scratch = board.pits;
            let scratch = &mut scratch[..pits.len()];
            sowing::relay(scratch, first + column, &self.ruleset).is_some()
        };
        occupied().any(ends_soon) || occupied().any(ends)
    }

    fn key(&self, board: &Wide<P>) -> u64 {
        self.rows(board).iter().fold(CONSTANTS[2], |key, row| {
            row.chunks(4).fold(key, |key, seeds| {
                let word = seeds.iter();
                let word = word.fold(0, |word, &pit| (word << 16) | u64::from(pit));
                mix(key, word)
            })
        })
    }

    fn write(&self, board: &Wide<P>, pits: &mut [u16]) {
        let rows = self.rows(board).into_iter().flatten();
        for (pit, &seeds) in pits.iter_mut().zip(rows) {
            *pit = seeds;
        }
    }
}
