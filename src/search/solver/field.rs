//! Boards as the solver's search sees them.

use crate::position::Position;
use crate::ruleset::Ruleset;
use crate::search::endgame::EndgameTable;
use crate::search::packed::{Packed, PackedRules};

/// What names a board in the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key {
    /// Where it is looked for; all 64 bits are well mixed.
    pub(super) place: u64,
    /// What tells it from others in the same place.
    pub(super) tag: u64,
}

/// The moves of boards seen by the side to move.
pub(super) trait Field: Sync {
    /// The seeds of a board.
    type Board: Copy + Send + Sync;

    /// Returns the board of a position, `None` if it does not fit.
    fn board(&self, position: &Position) -> Option<Self::Board>;

    /// Returns the mover's non-empty pits as bits.
    fn candidates(&self, board: &Self::Board) -> u64;

    /// Sows a non-empty pit: the board seen by the other side and the seeds captured, `None` if
    /// the sowing is endless.
    fn sow(&self, board: &Self::Board, column: usize) -> Option<(Self::Board, i32)>;

    /// Returns the name of a board.
    fn key(&self, board: &Self::Board) -> Key;

    /// Returns the place of a tag.
    fn place(&self, tag: u64) -> u64;

    /// Returns the value of a board that the table holds.
    fn table_value(&self, table: &EndgameTable, board: &Self::Board) -> i32;
}

/// The most seeds whose numbers are kept.
const MAX_SEEDS: usize = 127;

/// Boards of up to 16 pits in a word; the tag is the number of the board, so that no two boards
/// share it.
#[derive(Debug)]
pub(super) struct PackedField {
    rules: PackedRules,
    /// `terms[i][s]` is `binomial(s + i, i + 1)`, see [`crate::search::Ranking`]; zero for pits
    /// that the board lacks.
    terms: Box<[[u64; MAX_SEEDS + 1]; 16]>,
}

impl PackedField {
    /// Prepares boards with up to `seeds` seeds; `None` if they do not fit into a word or their
    /// numbers not into another.
    pub(super) fn new(ruleset: &Ruleset, seeds: u32) -> Option<PackedField> {
        let rules = PackedRules::new(ruleset)?;
        let seeds = seeds as usize;
        if seeds > MAX_SEEDS {
            return None;
        }
        let mut terms = Box::new([[0_u64; MAX_SEEDS + 1]; 16]);
        for pit in 0..rules.pits() {
            for s in 1..=seeds {
                let fewer_pits = if pit == 0 { 1 } else { terms[pit - 1][s] };
                terms[pit][s] = terms[pit][s - 1].checked_add(fewer_pits)?;
            }
        }
        // The number of a board is below the number of boards with `seeds` seeds or fewer.
        let last = &terms[rules.pits() - 1];
        last[seeds].checked_add(terms[rules.pits() - 1][seeds])?;
        Some(PackedField { rules, terms })
    }
}

impl Field for PackedField {
    type Board = Packed;

    fn board(&self, position: &Position) -> Option<Packed> {
        self.rules.pack(position.board(), position.to_move())
    }

    #[inline]
    fn candidates(&self, board: &Packed) -> u64 {
        u64::from(self.rules.candidates(*board))
    }

    #[inline]
    fn sow(&self, board: &Packed, column: usize) -> Option<(Packed, i32)> {
        let child = self.rules.sow(*board, column)?;
        Some((child.board, i32::from(child.captured)))
    }

    #[inline]
    fn key(&self, board: &Packed) -> Key {
        const ONES: u64 = 0x0101_0101_0101_0101;
        let low = (board.0 as u64).wrapping_mul(ONES);
        let high = ((board.0 >> 64) as u64)
            .wrapping_add(low >> 56)
            .wrapping_mul(ONES);
        let term = |pit: usize, seeds: u8| self.terms[pit][usize::from(seeds & 127)];
        let mut tag = 0_u64;
        for (pit, seeds) in low.to_le_bytes().into_iter().enumerate() {
            tag = tag.wrapping_add(term(pit, seeds));
        }
        if self.rules.pits() > 8 {
            for (pit, seeds) in high.to_le_bytes().into_iter().enumerate() {
                tag = tag.wrapping_add(term(8 + pit, seeds));
            }
        }
        Key {
            place: mix(tag),
            tag,
        }
    }

    #[inline]
    fn place(&self, tag: u64) -> u64 {
        mix(tag)
    }

    #[inline]
    fn table_value(&self, table: &EndgameTable, board: &Packed) -> i32 {
        i32::from(table.probe(*board))
    }
}

/// Mixes the bits of a number, so that its high bits depend on all of them (one-to-one).
#[inline]
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^= mixed >> 32;
    mixed.wrapping_mul(0xD6E8_FEB8_6659_FD93)
}
