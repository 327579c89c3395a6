//! Boards of up to 16 pits in one word, seen by the side to move.
//!
//! Search looks at a board from the view of its mover: pit `i` is byte `i`, the mover's row is
//! `0..C` from his left, the other row is `C..2C`. Turning the ring by `C` pits swaps the sides
//! (B4), so that nothing else is needed to know whose turn it is. A lap turns the ring until the
//! pit to lift is byte 0; what it adds to every pit, less what it lifts, is one table entry and
//! one addition. The slow twin is [`crate::sowing`].

// What a lap is made of must be inlined wherever search sows.
#![allow(clippy::inline_always)]

use crate::board::Board;
use crate::pit::owner;
use crate::ruleset::{Direction, LoneCapture, Ruleset};
use crate::side::Side;

/// The most pits that fit.
pub const MAX_PACKED_PITS: usize = 16;

/// The most seeds that fit: those of one pit must stay below 256.
pub const MAX_PACKED_SEEDS: u32 = 255;

/// Laps after which a sowing is watched for the return of an earlier state.
const WATCH_FROM: u32 = 32;

/// The seeds of a board, one byte a pit, from the view of the side to move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Packed(pub u128);

/// A board after a move, seen by the side that moves next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedChild {
    /// The seeds left on the board.
    pub board: Packed,
    /// Seeds captured by the move, 0 if none.
    pub captured: u8,
}

/// One lap of a given number of seeds from pit 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lap {
    /// What every pit gains; the lifted pit loses what it held.
    pub(super) add: u128,
    /// Bits to turn the ring by, so that the pit of the last seed becomes pit 0.
    pub(super) turn: u32,
}

/// The rules of sowing for boards in a word.
#[derive(Clone, Debug)]
pub struct PackedRules {
    columns: usize,
    /// Bits of the ring, `8 * pits`.
    pub(super) bits: u32,
    pub(super) mask: u128,
    pub(super) lone_taken: bool,
    pub(super) lap_limit: u32,
    pub(super) laps: Box<[Lap; 256]>,
}

impl PackedRules {
    /// Prepares the rules; `None` if the board has more than [`MAX_PACKED_PITS`] pits.
    ///
    /// How endless sowings count (S6) and the quiet limit (E3) are the caller's to know.
    pub fn new(ruleset: &Ruleset) -> Option<PackedRules> {
        let pits = ruleset.pits();
        if pits > MAX_PACKED_PITS {
            return None;
        }
        let mut laps = Box::new([Lap::default(); 256]);
        // Where the last seed lies and what was added, anticlockwise and clockwise.
        let strides = [1, pits - 1];
        let mut reached = [(0, 0_u128); 2];
        for (seeds, lap) in laps.iter_mut().enumerate() {
            let clockwise = ruleset.direction() == Direction::Parity && seeds % 2 == 1;
            let (at, add) = reached[usize::from(clockwise)];
            lap.add = add.wrapping_sub(seeds as u128);
            lap.turn = 8 * at as u32;
            for ((at, add), stride) in reached.iter_mut().zip(strides) {
                *at = (*at + stride) % pits;
                *add += 1 << (8 * *at);
            }
        }
        Some(PackedRules {
            columns: ruleset.columns(),
            bits: 8 * pits as u32,
            mask: u128::MAX >> (128 - 8 * pits),
            lone_taken: ruleset.lone_capture() == LoneCapture::Taken,
            lap_limit: ruleset.lap_limit(),
            laps,
        })
    }

    /// Returns `C`.
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// Returns `N`, twice the columns.
    pub const fn pits(&self) -> usize {
        2 * self.columns
    }

    /// Packs a board from the view of `side`; `None` if it does not fit.
    pub fn pack(&self, board: &Board, side: Side) -> Option<Packed> {
        if board.columns() != self.columns || board.seeds_on_board() > MAX_PACKED_SEEDS {
            return None;
        }
        let rows = board.row(side).iter().chain(board.row(side.other()));
        Some(Packed(
            rows.rev()
                .fold(0, |word, &seeds| (word << 8) | u128::from(seeds)),
        ))
    }

    /// Returns the view of the other side.
    pub fn swap(&self, board: Packed) -> Packed {
        Packed(self.turn(board.0, self.bits / 2))
    }

    /// Turns the ring so that bit `by` becomes bit 0; `by` is below the bits of the ring.
    #[inline(always)]
    pub(super) fn turn(&self, word: u128, by: u32) -> u128 {
        (word >> by) | (word.unbounded_shl(self.bits - by) & self.mask)
    }

    /// Brings a turn below twice the bits of the ring below them.
    #[inline(always)]
    pub(super) const fn reduce(&self, turned: u32) -> u32 {
        if turned >= self.bits {
            turned - self.bits
        } else {
            turned
        }
    }

    /// Returns the mover's non-empty pits as bits, legal or endless.
    #[inline(always)]
    pub fn candidates(&self, board: Packed) -> u32 {
        let row = board.0 as u64 & (u64::MAX >> (64 - 8 * self.columns));
        // Bit 7 of every byte that is not zero, gathered into the low bits by multiplication.
        let low = row & 0x7F7F_7F7F_7F7F_7F7F;
        let flags = ((low + 0x7F7F_7F7F_7F7F_7F7F) | row) & 0x8080_8080_8080_8080;
        ((flags >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
    }

    /// Sows the mover's non-empty pit `column` (S1 to S6, C1 to C3); `None` if it is endless.
    #[inline]
    pub fn sow(&self, board: Packed, column: usize) -> Option<PackedChild> {
        let mut turned = 8 * column as u32;
        let mut word = self.turn(board.0, turned);
        let mut laps = 0;
        loop {
            let lap = &self.laps[(word & 0xFF) as usize];
            word = self.turn(word.wrapping_add(lap.add), lap.turn);
            turned = self.reduce(turned + lap.turn);
            laps += 1;
            if word & 0xFF == 1 {
                break;
            }
            if laps == WATCH_FROM || laps == self.lap_limit {
                (word, turned) = self.sow_on(word, turned, laps)?;
                break;
            }
        }
        Some(self.finish(word, turned as usize / 8))
    }

    /// Goes on with a long sowing and notices a board that comes back (Brent 1980).
    ///
    /// What follows depends on the board as seen from the pit to lift alone, so that it need not
    /// come back to the same pit.
    #[cold]
    fn sow_on(&self, mut word: u128, mut turned: u32, mut laps: u32) -> Option<(u128, u32)> {
        let mut earlier = word;
        let mut next = laps.saturating_mul(2);
        while laps < self.lap_limit {
            let lap = &self.laps[(word & 0xFF) as usize];
            word = self.turn(word.wrapping_add(lap.add), lap.turn);
            turned = self.reduce(turned + lap.turn);
            laps += 1;
            if word & 0xFF == 1 {
                return Some((word, turned));
            }
            if word == earlier {
                return None;
            }
            if laps == next {
                earlier = word;
                next = next.saturating_mul(2);
            }
        }
        None
    }

    /// Captures after a sowing whose last seed fell into the empty pit `last`, now byte 0.
    #[inline(always)]
    fn finish(&self, word: u128, last: usize) -> PackedChild {
        let columns = self.columns;
        // Turns from "last is byte 0" to "the other side's first pit is byte 0".
        let to_child = self.reduce(8 * (3 * columns - last) as u32);
        let mut board = self.turn(word, to_child);
        let mut captured = 0;
        if last < columns {
            // In the child's view the mover's pit is `last + C`, the one opposite `C - 1 - last`.
            let facing = 8 * (columns - 1 - last) as u32;
            let taken = (board >> facing) as u8;
            if taken > 0 || self.lone_taken {
                captured = taken + 1;
                board &= !((0xFF << facing) | (0xFF << (8 * (last + columns))));
            }
        }
        PackedChild {
            board: Packed(board),
            captured,
        }
    }

    /// Returns the seeds on a board.
    #[inline(always)]
    pub fn seeds(&self, board: Packed) -> u32 {
        let sums = |word: u64| word.wrapping_mul(0x0101_0101_0101_0101) >> 56;
        (sums(board.0 as u64) + sums((board.0 >> 64) as u64)) as u32
    }

    /// Unpacks a board seen by `side`, nothing captured.
    pub fn unpack(&self, board: Packed, side: Side) -> Board {
        let mut out = Board::empty(self.columns);
        for (pit, seeds) in out.pits_mut().iter_mut().enumerate() {
            let own = owner(pit, self.columns) == side;
            let index = pit % self.columns + if own { 0 } else { self.columns };
            *seeds = u16::from((board.0 >> (8 * index)) as u8);
        }
        out
    }
}
