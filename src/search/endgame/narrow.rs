//! Boards of up to 16 pits, in one word.

use std::ops::ControlFlow;

use crate::ruleset::{Direction, Ruleset};
use crate::search::endgame::ranking::Ranking;
use crate::search::endgame::ring::Ring;
use crate::search::packed::{Packed, PackedRules};

/// Every byte of a word is 1.
const ONES: u128 = u128::MAX / 255;

/// The highest bit of every byte of a word.
const HIGH: u128 = ONES << 7;

/// Boards of up to 16 pits.
#[derive(Debug)]
pub(super) struct Narrow<'a> {
    rules: PackedRules,
    parity: bool,
    ranking: &'a Ranking,
    /// All rows of `C` pits with at most the seeds of the ranking, in the order of their numbers.
    rows: Vec<u64>,
    /// Where the rows with `n` seeds begin.
    row_starts: Vec<usize>,
}

/// A place among the boards: all that share the other side's row follow one another.
pub(super) struct NarrowWalk {
    start: u64,
    end: u64,
    /// The other side's row.
    other: u128,
    /// Seeds in the mover's row.
    own: usize,
}

/// A sowing that is being taken back.
#[derive(Clone, Copy)]
pub(super) struct Back {
    /// The board, turned so that the pit in question is byte 0.
    word: u128,
    /// Bits it is turned by.
    turned: u32,
    /// Laps taken back.
    laps: u32,
}

/// Marks the bytes that are zero by their highest bits.
const fn zero_bytes(word: u128) -> u128 {
    !(((word & !HIGH) + !HIGH) | word) & HIGH
}

impl<'a> Narrow<'a> {
    /// Prepares the boards of a ranking; `None` if they do not fit into a word.
    pub(super) fn new(ruleset: &Ruleset, ranking: &'a Ranking) -> Option<Narrow<'a>> {
        let rules = PackedRules::new(ruleset)?;
        let columns = rules.columns();
        let mut rows = Vec::new();
        let mut row_starts = Vec::new();
        for seeds in 0..=u64::from(ranking.max_seeds()) {
            row_starts.push(rows.len());
            let mut row = seeds << (8 * (columns - 1));
            while let Some(after) = {
                rows.push(row);
                successor(row.into())
            } {
                row = after as u64;
            }
        }
        row_starts.push(rows.len());
        Some(Narrow {
            rules,
            parity: ruleset.direction() == Direction::Parity,
            ranking,
            rows,
            row_starts,
        })
    }

    fn columns(&self) -> usize {
        self.rules.columns()
    }

    /// Places a walk on the boards that share the other row of `board`.
    fn block(&self, board: u128) -> NarrowWalk {
        let columns = self.columns();
        let row = board & (u128::MAX >> (128 - 8 * columns));
        let own = self.rules.seeds(Packed(row)) as usize;
        let other = board ^ row;
        let first = other | (own as u128) << (8 * (columns - 1));
        let start = self.ranking.index(Packed(first));
        let rows = self.row_starts[own + 1] - self.row_starts[own];
        NarrowWalk {
            start,
            end: start + rows as u64,
            other,
            own,
        }
    }

    /// Takes back the lap of a sowing whose pit of the last seed is byte 0, as far as it was sown
    /// in the direction asked for.
    #[inline]
    fn unsow(&self, back: Back, clockwise: bool) -> Option<Back> {
        let zeros = zero_bytes(back.word) & self.rules.mask;
        let seeds = if zeros == 0 {
            self.count_rounds(back.word, clockwise)
        } else if clockwise {
            zeros.trailing_zeros() / 8
        } else {
            self.rules.bits / 8 - zeros.ilog2() / 8
        };
        if self.parity && (seeds % 2 == 1) != clockwise {
            return None;
        }
        let lap = &self.rules.laps[(seeds & 0xFF) as usize];
        let by = self.rules.reduce(self.rules.bits - lap.turn);
        Some(Back {
            word: self.rules.turn(back.word, by).wrapping_sub(lap.add),
            turned: self.rules.reduce(back.turned + by),
            laps: back.laps + 1,
        })
    }

    /// Counts the seeds of a lap that went round the whole ring.
    #[cold]
    fn count_rounds(&self, mut word: u128, clockwise: bool) -> u32 {
        let pits = self.rules.bits / 8;
        let mut rounds = 0;
        loop {
            let zeros = zero_bytes(word) & self.rules.mask;
            if zeros != 0 {
                let rest = match (zeros & 0x80 != 0, clockwise) {
                    (true, _) => 0,
                    (false, true) => zeros.trailing_zeros() / 8,
                    (false, false) => pits - zeros.ilog2() / 8,
                };
                return rounds * pits + rest;
            }
            word -= ONES & self.rules.mask;
            rounds += 1;
        }
    }

    /// Tells the board before the move if the pit lifted is one of the side that moved, and
    /// whether the sowing may go further back.
    #[inline]
    fn tell(&self, back: Back, each: &mut impl FnMut(Packed)) -> ControlFlow<()> {
        let half = self.rules.bits / 2;
        if back.turned >= half {
            let by = self.rules.reduce(self.rules.bits + half - back.turned);
            each(Packed(self.rules.turn(back.word, by)));
        }
        // A relay lifts at least two seeds.
        if back.word & 0xFF == 1 || back.laps == self.rules.lap_limit {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Marks the pits where a quiet move may have ended by the highest bits of their bytes.
    #[inline]
    fn quiet_ends(&self, word: u128) -> u128 {
        let single = zero_bytes(word ^ ONES) & self.rules.mask;
        let theirs = single & (u128::MAX >> (128 - self.rules.bits / 2));
        if self.rules.lone_taken {
            return theirs;
        }
        let facing = word.swap_bytes() >> (128 - self.rules.bits);
        theirs | (single & zero_bytes(facing))
    }
}

/// Returns the next row or board with as many seeds, in the order of the numbers.
fn successor(word: u128) -> Option<u128> {
    let first = word & 0xFF;
    let rest = word ^ first;
    if rest == 0 {
        return None;
    }
    let pit = rest.trailing_zeros() / 8 * 8;
    Some(rest - (1 << pit) + ((first + 1) << (pit - 8)))
}

impl Ring for Narrow<'_> {
    type Board = Packed;
    type Walk = NarrowWalk;
    type Stack = Vec<Back>;

    fn walk(&self, index: u64) -> NarrowWalk {
        self.block(self.ranking.board(index).0)
    }

    #[inline]
    fn at(&self, walk: &mut NarrowWalk, index: u64) -> Packed {
        while index >= walk.end {
            // The last of a block has the mover's seeds in his first pit.
            let last = walk.other | walk.own as u128;
            let after = successor(last).unwrap_or_else(|| {
                let more = self.rules.seeds(Packed(last)) + 1;
                u128::from(more) << (self.rules.bits - 8)
            });
            *walk = self.block(after);
        }
        let row = self.row_starts[walk.own] + (index - walk.start) as usize;
        Packed(walk.other | u128::from(self.rows[row]))
    }

    #[inline]
    fn index(&self, board: Packed) -> u64 {
        self.ranking.index(board)
    }

    #[inline]
    fn moves(&self, board: Packed, mut each: impl FnMut(Packed, u8)) {
        let mut candidates = self.rules.candidates(board);
        while candidates != 0 {
            let column = candidates.trailing_zeros() as usize;
            candidates &= candidates - 1;
            if let Some(child) = self.rules.sow(board, column) {
                each(child.board, child.captured);
            }
        }
    }

    #[inline]
    fn predecessors(&self, board: Packed, stack: &mut Vec<Back>, mut each: impl FnMut(Packed)) {
        let mut ends = self.quiet_ends(board.0);
        while ends != 0 {
            let turned = ends.trailing_zeros() / 8 * 8;
            ends &= ends - 1;
            let mut back = Back {
                word: self.rules.turn(board.0, turned),
                turned,
                laps: 0,
            };
            if !self.parity {
                // Without S5 a lap has one origin.
                while let Some(before) = self.unsow(back, false) {
                    back = before;
                    if self.tell(back, &mut each).is_break() {
                        break;
                    }
                }
                continue;
            }
            stack.push(back);
            while let Some(back) = stack.pop() {
                for clockwise in [false, true] {
                    if let Some(before) = self.unsow(back, clockwise)
                        && self.tell(before, &mut each).is_continue()
                    {
                        stack.push(before);
                    }
                }
            }
        }
    }
}
