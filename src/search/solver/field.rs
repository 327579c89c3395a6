//! Boards as the solver's search sees them.

use std::sync::Arc;

use crate::board::Board;
use crate::position::Position;
use crate::ruleset::Ruleset;
use crate::search::endgame::EndgameTable;
use crate::search::packed::{MAX_PACKED_PITS, Packed, PackedRules};
use crate::side::Side;
use crate::sowing::{self, SowingEnd};

/// What names a board in the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key {
    /// Where it is looked for; all 64 bits are well mixed.
    pub(super) place: u64,
    /// What tells it from others in the same place.
    pub(super) tag: u64,
}

/// A position inside the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<B> {
    pub(super) board: B,
    pub(super) key: Key,
    pub(super) seeds: i32,
}

/// The moves of boards seen by the side to move.
pub(super) trait Field: Sync {
    /// The seeds of a board.
    type Board: Copy + Send + Sync;

    /// Returns the board of a position, `None` if it does not fit.
    fn board(&self, position: &Position) -> Option<Self::Board>;

    /// Returns a position as a node, `None` if it does not fit.
    fn node(&self, position: &Position) -> Option<Node<Self::Board>> {
        let board = self.board(position)?;
        Some(Node {
            key: self.key(&board),
            board,
            seeds: position.board().seeds_on_board() as i32,
        })
    }

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

/// The boards of a rule set with up to some seeds.
#[derive(Clone, Debug)]
pub(super) enum Fields {
    /// In one word.
    Packed(Arc<PackedField>),
    /// Pit by pit.
    Wide(Arc<WideField>),
}

impl Fields {
    /// Prepares boards with up to `seeds` seeds, and with all seeds of a game if that is possible.
    pub(super) fn new(ruleset: &Ruleset, seeds: u32) -> Fields {
        let start = u32::from(ruleset.seeds_per_pit()) * ruleset.pits() as u32;
        let packed = PackedField::new(ruleset, seeds.max(start));
        match packed.or_else(|| PackedField::new(ruleset, seeds)) {
            Some(field) => Fields::Packed(Arc::new(field)),
            None => Fields::Wide(Arc::new(WideField::new(ruleset, seeds))),
        }
    }

    /// Returns the place of a tag.
    pub(super) fn place(&self, tag: u64) -> u64 {
        match self {
            Fields::Packed(field) => field.place(tag),
            Fields::Wide(field) => field.place(tag),
        }
    }

    /// Returns the most seeds that a board may have.
    pub(super) fn seeds(&self) -> u32 {
        match self {
            Fields::Packed(field) => field.numbers.seeds,
            Fields::Wide(field) => field.seeds,
        }
    }
}

/// The most seeds of a board that has a number.
const MAX_SEEDS: usize = 127;

/// A number for every board with up to some seeds, in 64 bits.
///
/// `terms[i][s]` is `binomial(s + i, i + 1)`, see [`crate::search::Ranking`].
#[derive(Debug)]
struct Numbers {
    terms: Vec<[u64; MAX_SEEDS + 1]>,
    seeds: u32,
}

impl Numbers {
    /// Returns `None` if some number does not fit.
    fn new(pits: usize, seeds: u32) -> Option<Numbers> {
        if seeds as usize > MAX_SEEDS {
            return None;
        }
        // Pits that a small board lacks add nothing.
        let mut terms = vec![[0_u64; MAX_SEEDS + 1]; pits.max(MAX_PACKED_PITS)];
        for pit in 0..pits {
            for s in 1..=seeds as usize {
                let fewer_pits = if pit == 0 { 1 } else { terms[pit - 1][s] };
                terms[pit][s] = terms[pit][s - 1].checked_add(fewer_pits)?;
            }
        }
        // The boards with at most so many seeds: one more than the highest number.
        let fewer = u128::from(terms[pits - 1][seeds as usize]);
        let boards = fewer * (u128::from(seeds) + pits as u128) / u128::from(seeds.max(1));
        u64::try_from(boards).ok()?;
        Some(Numbers { terms, seeds })
    }

    #[inline]
    fn term(&self, pit: usize, seeds_up_to: u8) -> u64 {
        self.terms[pit][usize::from(seeds_up_to) & MAX_SEEDS]
    }
}

/// Boards of up to 16 pits in a word; the tag is the number of the board, so that no two boards
/// share it.
#[derive(Debug)]
pub(super) struct PackedField {
    rules: PackedRules,
    numbers: Numbers,
}

impl PackedField {
    /// Prepares boards with up to `seeds` seeds; `None` if they do not fit into a word or their
    /// numbers not into another.
    fn new(ruleset: &Ruleset, seeds: u32) -> Option<PackedField> {
        Some(PackedField {
            rules: PackedRules::new(ruleset)?,
            numbers: Numbers::new(ruleset.pits(), seeds)?,
        })
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
        let mut tag = 0_u64;
        for (pit, seeds) in low.to_le_bytes().into_iter().enumerate() {
            tag = tag.wrapping_add(self.numbers.term(pit, seeds));
        }
        if self.rules.pits() > 8 {
            for (pit, seeds) in high.to_le_bytes().into_iter().enumerate() {
                tag = tag.wrapping_add(self.numbers.term(8 + pit, seeds));
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

/// A board of any size and the side to move.
#[derive(Clone, Copy, Debug)]
pub(super) struct WideBoard {
    board: Board,
    side: Side,
}

impl WideBoard {
    /// Returns the pits as the mover sees them, his row first.
    fn pits(&self) -> impl Iterator<Item = u16> {
        let rows = [self.side, self.side.other()].map(|side| self.board.row(side));
        rows.into_iter().flatten().copied()
    }
}

/// Boards of any size, pit by pit.
///
/// The tag is the number of the board where 64 bits hold it (2x50 with up to 16 seeds), else a
/// hash of 64 bits: among a hundred million boards two share one with a chance of 1 in 3,000.
#[derive(Debug)]
pub(super) struct WideField {
    ruleset: Ruleset,
    numbers: Option<Numbers>,
    seeds: u32,
}

impl WideField {
    fn new(ruleset: &Ruleset, seeds: u32) -> WideField {
        WideField {
            ruleset: *ruleset,
            numbers: Numbers::new(ruleset.pits(), seeds),
            seeds,
        }
    }
}

impl Field for WideField {
    type Board = WideBoard;

    fn board(&self, position: &Position) -> Option<WideBoard> {
        Some(WideBoard {
            board: *position.board(),
            side: position.to_move(),
        })
    }

    fn candidates(&self, board: &WideBoard) -> u64 {
        let row = board.board.row(board.side).iter().enumerate();
        row.fold(0, |bits, (column, &seeds)| {
            bits | u64::from(seeds > 0) << column
        })
    }

    fn sow(&self, board: &WideBoard, column: usize) -> Option<(WideBoard, i32)> {
        let mut after = *board;
        let sowing =
            sowing::sow_scratch(&mut after.board, &self.ruleset, board.side, column, false);
        after.side = board.side.other();
        (sowing.end != SowingEnd::Endless).then_some((after, i32::from(sowing.captured)))
    }

    fn key(&self, board: &WideBoard) -> Key {
        let mut tag = 0_u64;
        if let Some(numbers) = &self.numbers {
            let mut seeds = 0;
            for (pit, held) in board.pits().enumerate() {
                seeds += held as u8;
                tag = tag.wrapping_add(numbers.term(pit, seeds));
            }
        } else {
            for held in board.pits() {
                tag = mix(tag.wrapping_add(u64::from(held) + 1)) ^ (tag >> 7);
            }
        }
        Key {
            place: mix(tag),
            tag,
        }
    }

    fn place(&self, tag: u64) -> u64 {
        mix(tag)
    }

    fn table_value(&self, table: &EndgameTable, board: &WideBoard) -> i32 {
        let index = table
            .ranking()
            .index_of(board.pits().map(|held| held as u8));
        i32::from(table.value_at(index))
    }
}

/// Mixes the bits of a number, so that its high bits depend on all of them (one-to-one).
#[inline]
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^= mixed >> 32;
    mixed.wrapping_mul(0xD6E8_FEB8_6659_FD93)
}
