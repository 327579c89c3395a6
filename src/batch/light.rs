//! A quick answer for single sowings on large boards: counts of a byte, eight pits a word.
//!
//! At 2x50 a mask takes about 70 laps, nearly all of a few seeds that fall into one word. The
//! answer is given only while every pit holds less than 128 seeds and every lap less than `N`;
//! all else is left to the careful rules of `sowing.rs`.

use crate::pit::MAX_PITS;
use crate::ruleset::{Direction, Ruleset};

/// The most laps followed here.
const MAX_LAPS: u32 = 512;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Words of a board, and one more for the patterns that reach past the last.
const WORDS: usize = MAX_PITS / 8 + 1;

/// A board with light pits, pit `p` in byte `p % 8` of word `p / 8`.
///
/// Words are always read and written whole: a word read while a part of it is still being
/// written stalls for longer than a lap takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Light {
    words: [u64; WORDS],
}

impl Light {
    /// Packs a board, `None` where a pit is too heavy.
    pub(super) fn of(board: &[u16]) -> Option<Light> {
        let mut words = [0; WORDS];
        let mut all = 0;
        for (word, pits) in words.iter_mut().zip(board.chunks(8)) {
            for (index, &seeds) in pits.iter().enumerate() {
                *word |= u64::from(seeds as u8) << (8 * index);
                all |= seeds;
            }
        }
        (all < 128).then_some(Light { words })
    }

    /// Tells whether the sowing from `origin` is seen to end within `lap_limit` laps (S6).
    ///
    /// False leaves it open. Slow twin: `run_laps` in `sowing.rs`.
    pub(super) fn ends(mut self, origin: usize, ruleset: &Ruleset) -> bool {
        let count = ruleset.pits();
        let parity = ruleset.direction() == Direction::Parity;
        let mut at = origin;
        let mut lifted = self.seeds(origin);
        for _ in 0..ruleset.lap_limit().min(MAX_LAPS) {
            if lifted >= count {
                return false;
            }
            self.words[at >> 3] &= !(0xFF << (8 * (at & 7)));
            let clockwise = parity && lifted % 2 == 1;
            let first = if clockwise {
                at + count - lifted
            } else {
                at + 1
            };
            let first = if first >= count { first - count } else { first };
            let to_end = lifted.min(count - first);
            let mut high = self.drop_seeds(first, to_end);
            if to_end < lifted {
                high |= self.drop_seeds(0, lifted - to_end);
            }
            if high != 0 {
                return false;
            }
            let last = if clockwise { first } else { at + lifted };
            at = if last >= count { last - count } else { last };
            lifted = self.seeds(at);
            if lifted == 1 {
                return true;
            }
        }
        false
    }

    fn seeds(&self, pit: usize) -> usize {
        (self.words[pit >> 3] >> (8 * (pit & 7)) & 0xFF) as usize
    }

    /// Drops a seed into each of `count` pits from `first` on; not 0 when one of them got heavy.
    #[inline]
    fn drop_seeds(&mut self, mut first: usize, mut count: usize) -> u64 {
        let mut seen = 0;
        while count > 0 {
            let some = count.min(8);
            let pattern = u128::from(ONES >> (64 - 8 * some)) << (8 * (first & 7));
            let word = first >> 3;
            self.words[word] += pattern as u64;
            self.words[word + 1] += (pattern >> 64) as u64;
            seen |= self.words[word] | self.words[word + 1];
            first += some;
            count -= some;
        }
        seen & HIGH
    }
}
