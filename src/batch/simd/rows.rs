//! The operations on boards that lie in one row of bytes, pit after pit.
//!
//! A lap of few seeds touches neighbouring pits: one addition of 32 bytes at the pit that is
//! lifted from sows it, lift included. That makes large boards cheap, whose laps are as short as
//! those of small ones.

use super::Instructions;
use super::rows_lap::RowRing;
#[cfg(target_arch = "x86_64")]
use super::rows_x86::{Avx2Rows, Avx512Rows};
use crate::batch::lanes_of;

/// The most pits of a board in a row.
pub(crate) const MAX_ROW_PITS: usize = 128;

/// Pits of one addition.
pub(crate) const WINDOW: usize = 32;

/// Bytes before pit 0, so that a window may end at it.
pub(crate) const PAD: usize = WINDOW;

/// The seeds of every pit in ring order from byte [`PAD`] on, a byte a pit.
///
/// What lies before and after the pits is room for windows and never read as seeds.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct RowBoard(pub(crate) [u8; PAD + MAX_ROW_PITS + WINDOW]);

impl RowBoard {
    pub(crate) const EMPTY: RowBoard = RowBoard([0; PAD + MAX_ROW_PITS + WINDOW]);

    /// Returns the seeds of a pit below 128.
    #[inline(always)]
    pub(crate) fn get(&self, pit: usize) -> u8 {
        self.0[PAD + pit % MAX_ROW_PITS]
    }

    /// Sets the seeds of a pit below 128.
    #[inline(always)]
    pub(crate) fn set(&mut self, pit: usize, seeds: u8) {
        self.0[PAD + pit % MAX_ROW_PITS] = seeds;
    }

    /// Returns the seeds of the first `pits` pits.
    #[inline(always)]
    pub(crate) fn pits(&self, pits: usize) -> &[u8] {
        &self.0[PAD..PAD + pits.min(MAX_ROW_PITS)]
    }

    /// Returns the seeds of the first `pits` pits.
    #[inline(always)]
    pub(crate) fn pits_mut(&mut self, pits: usize) -> &mut [u8] {
        &mut self.0[PAD..PAD + pits.min(MAX_ROW_PITS)]
    }

    /// Exchanges the first `columns` pits (at most 64) with the next as many.
    #[inline(always)]
    pub(crate) fn exchange_rows(&mut self, columns: usize) {
        const ROW: usize = MAX_ROW_PITS / 2;
        let second = PAD + columns;
        let mut rows = [[0; ROW]; 2];
        rows[0].copy_from_slice(&self.0[PAD..PAD + ROW]);
        rows[1].copy_from_slice(&self.0[second..second + ROW]);
        // What is written too much belongs to the other row, which comes next, or to no pit.
        self.0[PAD..PAD + ROW].copy_from_slice(&rows[1]);
        self.0[second..second + ROW].copy_from_slice(&rows[0]);
    }
}

/// What a lap adds to 32 pits in a row, modulo 256.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Window(pub(crate) [u8; WINDOW]);

/// Work that is written once for every set of instructions.
///
/// Implementations of `run` are marked `#[inline(always)]`, as those of
/// [`Kernel`](super::Kernel).
pub(crate) trait RowKernel {
    type Output;

    fn run<R: RowVector>(self, r: R) -> Self::Output;
}

/// A set of instructions for boards in rows; a value proves that the processor has them.
///
/// The twin of every implementation is [`PortableRows`], which is plain Rust.
pub(crate) trait RowVector: Copy {
    /// Adds a window to the bytes from `start` on, which is at most `PAD + 128`.
    fn add_window(self, board: &mut RowBoard, start: usize, window: &Window);

    /// Finds the pits that hold seeds among the 64 from `first` (at most 64) on.
    fn occupied(self, board: &RowBoard, first: usize) -> u64;

    /// Finds the pits with at least 128 seeds among the 64 from `first` (at most 64) on.
    fn heavy(self, board: &RowBoard, first: usize) -> u64;

    /// Returns the bit of rank `rank` in a word that has more bits than that.
    fn nth(self, bits: u64, rank: u32) -> usize;

    /// Finds the pits among the first 64 whose sowing is seen to end within `laps` laps, without
    /// sowing it (S1 to S5). All pits are below 128; those of `pits` are asked about and occupied.
    ///
    /// Which of them are seen depends on the instructions, but never one that does not end.
    #[inline(always)]
    fn ends_soon(self, ring: &RowRing, board: &RowBoard, pits: u64, laps: usize) -> u64 {
        lanes_of(pits).fold(0, |ended, pit| {
            ended | u64::from(ends_in_two_laps(ring, board, pit, laps)) << pit
        })
    }
}

/// Tells whether a sowing ends within two laps, and within `laps`.
#[inline(always)]
fn ends_in_two_laps(ring: &RowRing, board: &RowBoard, pit: usize, laps: usize) -> bool {
    let pits = ring.pits;
    let wrap = |pit: usize| if pit >= pits { pit - pits } else { pit };
    let seeds = |pit: usize| usize::from(board.get(pit));
    // Seeds to drop, clockwise ones as those that go round the other way (S5).
    let steps = |held: usize| {
        if ring.parity && held % 2 == 1 {
            pits - held
        } else {
            held
        }
    };
    let held = seeds(pit);
    if held >= pits {
        return held == pits;
    }
    let last = wrap(pit + steps(held));
    let found = seeds(last);
    if found == 0 || laps < 2 {
        return found == 0;
    }
    let held_then = found + 1;
    if held_then >= pits {
        return held_then == pits;
    }
    let last_then = wrap(last + steps(held_then));
    let clockwise = steps(held) != held;
    let first = if clockwise { last } else { wrap(pit + 1) };
    let dropped = wrap(last_then + pits - first) < held;
    last_then == pit || (seeds(last_then) == 0 && !dropped)
}

/// Works on every processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortableRows;

const HIGH: u64 = 0x8080_8080_8080_8080;

/// Gathers the high bits of eight bytes in the low bits of a word.
#[inline(always)]
const fn high_bits(word: u64) -> u64 {
    ((word & HIGH) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Gathers one bit of each of the 64 bytes from `first` on.
#[inline(always)]
fn gather(board: &RowBoard, first: usize, high: impl Fn(u64) -> u64) -> u64 {
    let bytes = &board.0[PAD + first..PAD + first + 64];
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().enumerate().fold(0, |bits, (index, word)| {
        bits | high_bits(high(u64::from_le_bytes(*word))) << (8 * index)
    })
}

impl RowVector for PortableRows {
    #[inline(always)]
    fn add_window(self, board: &mut RowBoard, start: usize, window: &Window) {
        for (seeds, add) in board.0[start..start + WINDOW].iter_mut().zip(window.0) {
            *seeds = seeds.wrapping_add(add);
        }
    }

    #[inline(always)]
    fn occupied(self, board: &RowBoard, first: usize) -> u64 {
        gather(board, first, |word| ((word & !HIGH) + !HIGH) | word)
    }

    #[inline(always)]
    fn heavy(self, board: &RowBoard, first: usize) -> u64 {
        gather(board, first, |word| word)
    }

    #[inline(always)]
    fn nth(self, bits: u64, rank: u32) -> usize {
        const ONES: u64 = 0x0101_0101_0101_0101;
        // Bits in each byte, then in it and all bytes below it (Vigna 2008).
        let pairs = bits - (bits >> 1 & 0x5555_5555_5555_5555);
        let fours = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
        let counts = ((fours + (fours >> 4)) & 0x0F0F_0F0F_0F0F_0F0F).wrapping_mul(ONES);
        let ranks = u64::from(rank) * ONES;
        let passed = (((ranks | HIGH) - counts) & HIGH).count_ones();
        let byte = 8 * passed;
        let below = (counts << 8) >> byte & 0xFF;
        let mut rest = bits >> byte & 0xFF;
        for _ in below..u64::from(rank) {
            rest &= rest - 1;
        }
        (byte + rest.trailing_zeros()) as usize
    }
}

impl Instructions {
    /// Runs a kernel for boards in rows with these instructions, `None` where they are not there.
    ///
    /// [`Instructions::Scalar`] has none and runs nothing.
    pub(crate) fn run_rows<K: RowKernel>(self, kernel: K) -> Option<K::Output> {
        match self {
            Instructions::Scalar => None,
            Instructions::Portable => Some(kernel.run(PortableRows)),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => Some(match Avx2Rows::detect() {
                Some(rows) => rows.run(kernel),
                None => kernel.run(PortableRows),
            }),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => Some(match Avx512Rows::detect() {
                Some(rows) => rows.run(kernel),
                None => kernel.run(PortableRows),
            }),
            #[cfg(not(target_arch = "x86_64"))]
            Instructions::Avx2 | Instructions::Avx512 => None,
        }
    }
}

#[cfg(test)]
// A test fails loudly.
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::rng::{self, Purpose, RngCore, Xoshiro128PlusPlus};
    use crate::ruleset::{Ruleset, RulesetFields, Variant};
    use crate::side::Side;
    use crate::sowing::{self, SowingEnd};

    /// Asks one set of instructions everything there is to ask.
    struct Ask<'a> {
        board: RowBoard,
        window: &'a Window,
        start: usize,
        first: usize,
        bits: u64,
    }

    impl RowKernel for Ask<'_> {
        type Output = (Vec<u8>, u64, u64, Vec<usize>);

        #[inline(always)]
        fn run<R: RowVector>(mut self, r: R) -> Self::Output {
            r.add_window(&mut self.board, self.start, self.window);
            (
                self.board.0.to_vec(),
                r.occupied(&self.board, self.first),
                r.heavy(&self.board, self.first),
                (0..self.bits.count_ones())
                    .map(|rank| r.nth(self.bits, rank))
                    .collect(),
            )
        }
    }

    fn bytes<const N: usize>(rng: &mut Xoshiro128PlusPlus) -> [u8; N] {
        std::array::from_fn(|_| match rng::below(rng, 3) {
            0 => 0,
            1 => rng::below(rng, 4) as u8,
            _ => rng.next_u32() as u8,
        })
    }

    #[test]
    fn every_set_of_instructions_does_the_same_to_rows() {
        let mut rng = rng::stream(1, 0, Purpose::Policy);
        for _ in 0..2_000 {
            let board = RowBoard(bytes(&mut rng));
            let window = Window(bytes(&mut rng));
            let start = rng::below(&mut rng, (PAD + MAX_ROW_PITS + 1) as u32) as usize;
            let first = rng::below(&mut rng, 65) as usize;
            let mut bits = u64::from(rng.next_u32()) << 32 | u64::from(rng.next_u32());
            if rng::below(&mut rng, 4) == 0 {
                bits |= u64::from(rng.next_u32()) * 0x1_0000_0001;
            }
            let ask = || Ask {
                board,
                window: &window,
                start,
                first,
                bits,
            };
            let mut after = board;
            for (pit, add) in window.0.iter().enumerate() {
                after.0[start + pit] = after.0[start + pit].wrapping_add(*add);
            }
            let set = |test: fn(u8) -> bool| {
                (0..64).fold(0, |set, pit| {
                    set | u64::from(test(after.0[PAD + first + pit])) << pit
                })
            };
            let (occupied, heavy) = (set(|seeds| seeds > 0), set(|seeds| seeds > 127));
            let nth: Vec<usize> = (0..64).filter(|&bit| bits >> bit & 1 == 1).collect();
            let expected = (after.0.to_vec(), occupied, heavy, nth);
            for instructions in Instructions::ALL {
                if instructions != Instructions::Scalar && instructions.is_available() {
                    let got = instructions.run_rows(ask());
                    assert_eq!(got.as_ref(), Some(&expected), "{}", instructions.name());
                }
            }
        }
    }

    /// Asks which sowings of a board are seen to end.
    struct AskEnds<'a> {
        ring: &'a RowRing,
        board: &'a RowBoard,
        pits: u64,
        laps: usize,
    }

    impl RowKernel for AskEnds<'_> {
        type Output = u64;

        #[inline(always)]
        fn run<R: RowVector>(self, r: R) -> u64 {
            r.ends_soon(self.ring, self.board, self.pits, self.laps)
        }
    }

    /// Returns the laps of a sowing that ends within `lap_limit` laps.
    fn laps_of(board: &RowBoard, pit: usize, ruleset: &Ruleset) -> Option<u32> {
        let mut twin = Board::empty(ruleset.columns());
        for (seeds, &byte) in twin.pits_mut().iter_mut().zip(board.pits(ruleset.pits())) {
            *seeds = byte.into();
        }
        let sowing = sowing::sow(&mut twin, ruleset, Side::South, pit);
        (sowing.end != SowingEnd::Endless).then_some(sowing.laps)
    }

    #[test]
    fn sowings_are_seen_to_end_when_they_do() {
        let mut rng = rng::stream(2, 0, Purpose::Policy);
        for round in 0..600 {
            let cross = rng::below(&mut rng, 2) == 1;
            let fields = RulesetFields {
                columns: Some(4 + i64::from(rng::below(&mut rng, 61))),
                seeds_per_pit: Some(4),
                lap_limit: Some(i64::from([1 + rng::below(&mut rng, 12), 500][round % 2])),
                ..RulesetFields::default()
            };
            let variant = [Variant::EnDodoi, Variant::CrossEndodoi][usize::from(cross)];
            let ruleset = Ruleset::new(variant, &fields).expect("valid");
            let lap_ring = RowRing::of(&ruleset).expect("fits a row");
            let most = [2, 6, 30, 128][rng::below(&mut rng, 4) as usize];
            let mut board = RowBoard(std::array::from_fn(|_| rng.next_u32() as u8));
            for seeds in board.pits_mut(ruleset.pits()) {
                *seeds = rng::below(&mut rng, most) as u8;
            }
            let all = (0..ruleset.columns()).filter(|&pit| board.get(pit) > 0);
            let pits = all.clone().fold(0, |set, pit| set | 1 << pit);
            for instructions in Instructions::ALL {
                if instructions == Instructions::Scalar || !instructions.is_available() {
                    continue;
                }
                let ask = AskEnds {
                    ring: &lap_ring,
                    board: &board,
                    pits,
                    laps: ruleset.lap_limit() as usize,
                };
                let seen = instructions.run_rows(ask).expect("available");
                assert_eq!(seen & !pits, 0);
                for pit in all.clone() {
                    let laps = laps_of(&board, pit, &ruleset);
                    let about = format!("{} {ruleset} {laps:?}", instructions.name());
                    let found = seen >> pit & 1 == 1;
                    assert!(!found || laps.is_some(), "{about}");
                    let short = most <= 6 && laps.is_some_and(|laps| laps < 3);
                    assert!(!short || ruleset.columns() < 8 || found, "{about}");
                }
            }
        }
    }
}
