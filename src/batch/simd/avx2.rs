//! The vector operations on AVX2: two registers hold a byte of all 64 lanes.
//!
//! Unsafe code is needed to call instructions that not every processor has. A value of
//! [`Avx2`] exists only where [`Avx2::detect`] found them.
#![allow(unsafe_code)]
// The intrinsics are the vocabulary of this file; rows are aligned to 64 by their type.
#![allow(clippy::wildcard_imports, clippy::cast_ptr_alignment)]

use std::arch::x86_64::*;

use super::vector::{Kernel, LANES, Prefixes, Row, Steps, Streams, Vector, deal_each, pack_each};

/// Proof that the processor has AVX2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// Returns the proof if the processor has the instructions.
    pub(crate) fn detect() -> Option<Avx2> {
        is_x86_feature_detected!("avx2").then_some(Avx2(()))
    }

    /// Runs a kernel with these instructions.
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { run(self, kernel) }
    }
}

/// Compiles a kernel with the instructions switched on.
#[target_feature(enable = "avx2")]
fn run<K: Kernel>(v: Avx2, kernel: K) -> K::Output {
    kernel.run(v)
}

type Two = [__m256i; 2];

/// The most pits whose laps are looked up by shuffling 16 bytes.
const SHUFFLED: usize = 16;

/// Where the seeds of a lap fall.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lap {
    /// A bit for every pit that gets no seed.
    Free([Two; 2]),
    /// On rings too large to be looked up.
    Steps(Steps<Avx2>),
}

/// Returns a byte of 255 for every bit that is set.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn spread_bits(bits: u32) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe {
        let (third, second) = (0x0303_0303_0303_0303, 0x0202_0202_0202_0202);
        let of_byte = _mm256_set_epi64x(third, second, 0x0101_0101_0101_0101, 0);
        let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(bits as i32), of_byte);
        let bit = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
        _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit)
    }
}

/// Looks bytes up in the first 16 entries of a row, whose numbers are taken modulo 16.
#[inline(always)]
fn look_up(row: &Row, at: Two) -> Two {
    // SAFETY: called with values that exist only where the processor has AVX2.
    unsafe {
        let table = _mm_load_si128(row.0.as_ptr().cast());
        let table = _mm256_broadcastsi128_si256(table);
        [
            _mm256_shuffle_epi8(table, at[0]),
            _mm256_shuffle_epi8(table, at[1]),
        ]
    }
}

// SAFETY of every block below: `self` proves that the processor has the instructions, and loads
// and stores go through references to rows of 64 bytes that are aligned to 64.
impl Vector for Avx2 {
    type Bytes = Two;
    type Mask = Two;
    type Lap = Lap;
    type Choice = Two;

    const BURST: usize = 3;
    const FEW: u32 = 4;

    #[inline(always)]
    fn load(self, row: &Row) -> Two {
        let at: *const __m256i = row.0.as_ptr().cast();
        unsafe { [_mm256_load_si256(at), _mm256_load_si256(at.add(1))] }
    }

    #[inline(always)]
    fn store(self, bytes: Two, row: &mut Row) {
        let at: *mut __m256i = row.0.as_mut_ptr().cast();
        unsafe {
            _mm256_store_si256(at, bytes[0]);
            _mm256_store_si256(at.add(1), bytes[1]);
        }
    }

    #[inline(always)]
    fn splat(self, byte: u8) -> Two {
        unsafe { [_mm256_set1_epi8(byte as i8); 2] }
    }

    #[inline(always)]
    fn add(self, a: Two, b: Two) -> Two {
        unsafe { [_mm256_add_epi8(a[0], b[0]), _mm256_add_epi8(a[1], b[1])] }
    }

    #[inline(always)]
    fn sub(self, a: Two, b: Two) -> Two {
        unsafe { [_mm256_sub_epi8(a[0], b[0]), _mm256_sub_epi8(a[1], b[1])] }
    }

    #[inline(always)]
    fn min(self, a: Two, b: Two) -> Two {
        unsafe { [_mm256_min_epu8(a[0], b[0]), _mm256_min_epu8(a[1], b[1])] }
    }

    #[inline(always)]
    fn max(self, a: Two, b: Two) -> Two {
        unsafe { [_mm256_max_epu8(a[0], b[0]), _mm256_max_epu8(a[1], b[1])] }
    }

    #[inline(always)]
    fn eq(self, a: Two, b: Two) -> Two {
        unsafe { [_mm256_cmpeq_epi8(a[0], b[0]), _mm256_cmpeq_epi8(a[1], b[1])] }
    }

    #[inline(always)]
    fn lt(self, a: Two, b: Two) -> Two {
        // a < b where the larger of both is not a.
        let at_least = self.eq(self.max(a, b), a);
        self.xor(at_least, self.splat(255))
    }

    #[inline(always)]
    fn lt_small(self, a: Two, b: Two) -> Two {
        unsafe { [_mm256_cmpgt_epi8(b[0], a[0]), _mm256_cmpgt_epi8(b[1], a[1])] }
    }

    #[inline(always)]
    fn some(self, a: Two) -> Two {
        self.xor(self.eq(a, self.splat(0)), self.splat(255))
    }

    #[inline(always)]
    fn odd(self, a: Two) -> Two {
        let one = self.splat(1);
        self.eq(self.and(a, one), one)
    }

    #[inline(always)]
    fn and(self, a: Two, b: Two) -> Two {
        unsafe { [_mm256_and_si256(a[0], b[0]), _mm256_and_si256(a[1], b[1])] }
    }

    #[inline(always)]
    fn without(self, a: Two, b: Two) -> Two {
        unsafe {
            [
                _mm256_andnot_si256(b[0], a[0]),
                _mm256_andnot_si256(b[1], a[1]),
            ]
        }
    }

    #[inline(always)]
    fn xor(self, a: Two, b: Two) -> Two {
        unsafe { [_mm256_xor_si256(a[0], b[0]), _mm256_xor_si256(a[1], b[1])] }
    }

    #[inline(always)]
    fn select(self, mask: Two, a: Two, b: Two) -> Two {
        unsafe {
            [
                _mm256_blendv_epi8(b[0], a[0], mask[0]),
                _mm256_blendv_epi8(b[1], a[1], mask[1]),
            ]
        }
    }

    #[inline(always)]
    fn increment(self, a: Two, mask: Two) -> Two {
        self.sub(a, mask)
    }

    #[inline(always)]
    fn clear(self, a: Two, mask: Two) -> Two {
        self.without(a, mask)
    }

    #[inline(always)]
    fn add_where(self, a: Two, mask: Two, b: Two) -> Two {
        self.add(a, self.and(mask, b))
    }

    #[inline(always)]
    fn keep(self, a: Two, mask: Two) -> Two {
        self.and(a, mask)
    }

    /// Brings the bit to the top of its byte, which is all that `choose` looks at.
    #[inline(always)]
    fn by_bit(self, a: Two, bit: u32) -> Two {
        unsafe {
            let places = _mm_cvtsi32_si128(7 - bit as i32);
            [
                _mm256_sll_epi16(a[0], places),
                _mm256_sll_epi16(a[1], places),
            ]
        }
    }

    #[inline(always)]
    fn choose(self, choice: Two, one: Two, zero: Two) -> Two {
        self.select(choice, one, zero)
    }

    #[inline(always)]
    fn bits(self, mask: Two) -> u64 {
        let (low, high) = unsafe {
            (
                _mm256_movemask_epi8(mask[0]) as u32,
                _mm256_movemask_epi8(mask[1]) as u32,
            )
        };
        u64::from(high) << 32 | u64::from(low)
    }

    #[inline(always)]
    fn mask(self, bits: u64) -> Two {
        unsafe { [spread_bits(bits as u32), spread_bits((bits >> 32) as u32)] }
    }

    #[inline(always)]
    fn of_lanes(self, row: &Row, lanes: Two) -> Two {
        // SAFETY: as above.
        unsafe { [of_lanes_32(row, lanes[0]), of_lanes_32(row, lanes[1])] }
    }

    #[inline(always)]
    fn deal(self, queue: &[u8], lanes: u64, old: Two) -> Two {
        deal_each(self, queue, lanes, old)
    }

    #[inline(always)]
    fn pack(self, bytes: Two, lanes: u64, out: &mut [u8]) {
        pack_each(self, bytes, lanes, out);
    }

    #[inline(always)]
    fn begin_lap(self, prefixes: &Prefixes, pits: usize, first: Two, rest: Two) -> Lap {
        if pits > SHUFFLED {
            return Lap::Steps(Steps::new(self, pits, first, rest));
        }
        let count = self.splat(pits as u8);
        let first = self.min(first, self.sub(first, count));
        let end = self.add(first, rest);
        let wrapped = self.min(end, self.sub(end, count));
        // Marked are the pits between both, or all others where the lap goes round the end.
        let straight = self.eq(end, wrapped);
        let mut free = [straight; 2];
        for (free, prefix) in free.iter_mut().zip(&prefixes.0).take(pits.div_ceil(8)) {
            let before = look_up(prefix, first);
            *free = self.xor(*free, self.xor(before, look_up(prefix, wrapped)));
        }
        Lap::Free(free)
    }

    #[inline(always)]
    fn drop_seed(self, lap: &mut Lap, pit: usize, seeds: Two) -> Two {
        match lap {
            Lap::Steps(steps) => steps.drop_seed(self, seeds),
            Lap::Free(free) => {
                let bit = self.and(free[pit / 8], self.splat(1 << (pit % 8)));
                self.sub(seeds, self.eq(bit, self.splat(0)))
            }
        }
    }

    #[inline(always)]
    fn below(self, streams: &mut Streams, lanes: u64, bounds: Two) -> Two {
        let (mut bytes, mut drawn) = (Row::ZERO, Row::ZERO);
        self.store(bounds, &mut bytes);
        for first in (0..LANES).step_by(8) {
            if lanes >> first & 255 != 0 {
                // SAFETY: `self` proves that the processor has AVX2; `first + 8` is at most 64.
                unsafe { below_8(streams, first, lanes, &bytes, &mut drawn) };
            }
        }
        self.load(&drawn)
    }
}

/// Takes 32 bytes of a row by their numbers, below 64.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn of_lanes_32(row: &Row, lanes: __m256i) -> __m256i {
    // SAFETY: the caller's promise; the row has four aligned quarters of 16 bytes.
    unsafe {
        let at: *const __m128i = row.0.as_ptr().cast();
        let (a, b) = (_mm_load_si128(at), _mm_load_si128(at.add(1)));
        let (c, d) = (_mm_load_si128(at.add(2)), _mm_load_si128(at.add(3)));
        // Bits 4 and 5 of a number choose a quarter.
        let odd = _mm256_slli_epi16(lanes, 3);
        let upper = _mm256_slli_epi16(lanes, 2);
        let within = _mm256_and_si256(lanes, _mm256_set1_epi8(15));
        let a = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(a), within);
        let b = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(b), within);
        let c = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(c), within);
        let d = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(d), within);
        let low = _mm256_blendv_epi8(a, b, odd);
        let high = _mm256_blendv_epi8(c, d, odd);
        _mm256_blendv_epi8(low, high, upper)
    }
}

/// Draws in the eight lanes from `first` on.
///
/// # Safety
/// The processor has AVX2, and `first + 8` is at most 64.
#[inline(always)]
unsafe fn below_8(streams: &mut Streams, first: usize, lanes: u64, bounds: &Row, drawn: &mut Row) {
    // SAFETY: the caller's promise; each word's row has 64 numbers aligned to 64, `first` is a
    // multiple of 8.
    unsafe {
        let bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        let lanes = _mm256_set1_epi32((lanes >> first & 255) as i32);
        let lanes = _mm256_cmpeq_epi32(_mm256_and_si256(lanes, bit), bit);
        let [w0, w1, w2, w3] = &mut streams.0;
        let at = |word: &mut [u32; LANES]| word.as_mut_ptr().add(first).cast::<__m256i>();
        let (p0, p1, p2, p3) = (at(w0), at(w1), at(w2), at(w3));
        let (s0, s1) = (_mm256_load_si256(p0), _mm256_load_si256(p1));
        let (s2, s3) = (_mm256_load_si256(p2), _mm256_load_si256(p3));
        let sum = _mm256_add_epi32(s0, s3);
        let turned = _mm256_or_si256(_mm256_slli_epi32(sum, 7), _mm256_srli_epi32(sum, 25));
        let word = _mm256_add_epi32(turned, s0);
        let shifted = _mm256_slli_epi32(s1, 9);
        let t2 = _mm256_xor_si256(s2, s0);
        let t3 = _mm256_xor_si256(s3, s1);
        let n1 = _mm256_xor_si256(s1, t2);
        let n0 = _mm256_xor_si256(s0, t3);
        let n2 = _mm256_xor_si256(t2, shifted);
        let n3 = _mm256_or_si256(_mm256_slli_epi32(t3, 11), _mm256_srli_epi32(t3, 21));
        _mm256_store_si256(p0, _mm256_blendv_epi8(s0, n0, lanes));
        _mm256_store_si256(p1, _mm256_blendv_epi8(s1, n1, lanes));
        _mm256_store_si256(p2, _mm256_blendv_epi8(s2, n2, lanes));
        _mm256_store_si256(p3, _mm256_blendv_epi8(s3, n3, lanes));
        let eight = _mm_loadl_epi64(bounds.0.as_ptr().add(first).cast());
        let bounds = _mm256_cvtepu8_epi32(eight);
        let even = _mm256_srli_epi64(_mm256_mul_epu32(word, bounds), 32);
        let odd = _mm256_mul_epu32(_mm256_srli_epi64(word, 32), _mm256_srli_epi64(bounds, 32));
        let numbers = _mm256_and_si256(_mm256_blend_epi32(even, odd, 0b1010_1010), lanes);
        let words = _mm256_packus_epi32(numbers, numbers);
        let eight = _mm256_packus_epi16(words, words);
        // The low four bytes of each half are the lanes in order.
        let low = _mm256_castsi256_si128(eight);
        let high = _mm256_extracti128_si256(eight, 1);
        let joined = _mm_unpacklo_epi32(low, high);
        _mm_storel_epi64(drawn.0.as_mut_ptr().add(first).cast(), joined);
    }
}
