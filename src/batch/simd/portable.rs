//! The vector operations in plain Rust, which compilers turn into what the processor has.

use crate::rng;

use super::vector::{LANES, Prefixes, Row, Steps, Streams, Vector, deal_each, pack_each};

/// Works on every processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

type Bytes = [u8; LANES];

#[inline(always)]
fn zip(a: Bytes, b: Bytes, of: impl Fn(u8, u8) -> u8) -> Bytes {
    let mut out = a;
    for (out, b) in out.iter_mut().zip(b) {
        *out = of(*out, b);
    }
    out
}

/// Masks hold 255 where the flag is set.
const fn flag(set: bool) -> u8 {
    if set { 255 } else { 0 }
}

impl Vector for Portable {
    type Bytes = Bytes;
    type Mask = Bytes;
    type Lap = Steps<Portable>;
    type Choice = Bytes;

    const BURST: usize = 3;
    const FEW: u32 = 24;

    #[inline(always)]
    fn load(self, row: &Row) -> Bytes {
        row.0
    }

    #[inline(always)]
    fn store(self, bytes: Bytes, row: &mut Row) {
        row.0 = bytes;
    }

    #[inline(always)]
    fn splat(self, byte: u8) -> Bytes {
        [byte; LANES]
    }

    #[inline(always)]
    fn add(self, a: Bytes, b: Bytes) -> Bytes {
        zip(a, b, u8::wrapping_add)
    }

    #[inline(always)]
    fn sub(self, a: Bytes, b: Bytes) -> Bytes {
        zip(a, b, u8::wrapping_sub)
    }

    #[inline(always)]
    fn min(self, a: Bytes, b: Bytes) -> Bytes {
        zip(a, b, u8::min)
    }

    #[inline(always)]
    fn max(self, a: Bytes, b: Bytes) -> Bytes {
        zip(a, b, u8::max)
    }

    #[inline(always)]
    fn eq(self, a: Bytes, b: Bytes) -> Bytes {
        zip(a, b, |a, b| flag(a == b))
    }

    #[inline(always)]
    fn lt(self, a: Bytes, b: Bytes) -> Bytes {
        zip(a, b, |a, b| flag(a < b))
    }

    #[inline(always)]
    fn lt_small(self, a: Bytes, b: Bytes) -> Bytes {
        zip(a, b, |a, b| flag((a as i8) < b as i8))
    }

    #[inline(always)]
    fn some(self, a: Bytes) -> Bytes {
        a.map(|byte| flag(byte != 0))
    }

    #[inline(always)]
    fn odd(self, a: Bytes) -> Bytes {
        a.map(|byte| flag(byte & 1 == 1))
    }

    #[inline(always)]
    fn and(self, a: Bytes, b: Bytes) -> Bytes {
        zip(a, b, |a, b| a & b)
    }

    #[inline(always)]
    fn without(self, a: Bytes, b: Bytes) -> Bytes {
        zip(a, b, |a, b| a & !b)
    }

    #[inline(always)]
    fn xor(self, a: Bytes, b: Bytes) -> Bytes {
        zip(a, b, |a, b| a ^ b)
    }

    #[inline(always)]
    fn select(self, mask: Bytes, a: Bytes, b: Bytes) -> Bytes {
        let mut out = mask;
        for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
            *out = (a & *out) | (b & !*out);
        }
        out
    }

    #[inline(always)]
    fn increment(self, a: Bytes, mask: Bytes) -> Bytes {
        self.sub(a, mask)
    }

    #[inline(always)]
    fn clear(self, a: Bytes, mask: Bytes) -> Bytes {
        self.without(a, mask)
    }

    #[inline(always)]
    fn add_where(self, a: Bytes, mask: Bytes, b: Bytes) -> Bytes {
        self.add(a, self.and(mask, b))
    }

    #[inline(always)]
    fn keep(self, a: Bytes, mask: Bytes) -> Bytes {
        self.and(a, mask)
    }

    #[inline(always)]
    fn by_bit(self, a: Bytes, bit: u32) -> Bytes {
        a.map(|byte| flag(byte >> bit & 1 == 1))
    }

    #[inline(always)]
    fn choose(self, choice: Bytes, one: Bytes, zero: Bytes) -> Bytes {
        self.select(choice, one, zero)
    }

    #[inline(always)]
    fn bits(self, mask: Bytes) -> u64 {
        let mut bits = 0;
        for (eight, part) in mask.chunks_exact(8).enumerate() {
            let mut word = 0_u64;
            for (at, &byte) in part.iter().enumerate() {
                word |= u64::from(byte & 1) << at;
            }
            bits |= word << (8 * eight);
        }
        bits
    }

    #[inline(always)]
    fn mask(self, bits: u64) -> Bytes {
        let mut mask = [0; LANES];
        for (lane, byte) in mask.iter_mut().enumerate() {
            *byte = flag(bits >> lane & 1 == 1);
        }
        mask
    }

    #[inline(always)]
    fn of_lanes(self, row: &Row, lanes: Bytes) -> Bytes {
        lanes.map(|lane| row.0[usize::from(lane) % LANES])
    }

    #[inline(always)]
    fn deal(self, queue: &[u8], lanes: u64, old: Bytes) -> Bytes {
        deal_each(self, queue, lanes, old)
    }

    #[inline(always)]
    fn pack(self, bytes: Bytes, lanes: u64, out: &mut [u8]) {
        pack_each(self, bytes, lanes, out);
    }

    #[inline(always)]
    fn begin_lap(self, _: &Prefixes, pits: usize, first: Bytes, rest: Bytes) -> Steps<Portable> {
        Steps::new(self, pits, first, rest)
    }

    #[inline(always)]
    fn drop_seed(self, lap: &mut Steps<Portable>, _: usize, seeds: Bytes) -> Bytes {
        lap.drop_seed(self, seeds)
    }

    #[inline(always)]
    fn below(self, streams: &mut Streams, lanes: u64, bounds: Bytes) -> Bytes {
        let mut drawn = [0; LANES];
        let mut left = lanes;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let word = next_word(streams, lane);
            drawn[lane] = ((u64::from(word) * u64::from(bounds[lane])) >> 32) as u8;
        }
        drawn
    }
}

/// Advances one lane's stream.
#[inline(always)]
fn next_word(streams: &mut Streams, lane: usize) -> u32 {
    let [s0, s1, s2, s3] = &mut streams.0;
    rng::next_word([&mut s0[lane], &mut s1[lane], &mut s2[lane], &mut s3[lane]])
}
