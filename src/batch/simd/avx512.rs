//! The vector operations on AVX-512 (F, BW, DQ, VL, VBMI, VBMI2, GFNI): one register holds a byte of
//! all 64 lanes.
//!
//! Unsafe code is needed to call instructions that not every processor has. A value of
//! [`Avx512`] exists only where [`Avx512::detect`] found them.
#![allow(unsafe_code)]
// The intrinsics are the vocabulary of this file; rows are aligned to 64 by their type.
#![allow(clippy::wildcard_imports, clippy::cast_ptr_alignment)]

use std::arch::x86_64::*;

use super::vector::{Kernel, LANES, Prefixes, Row, Streams, Vector};

/// Proof that the processor has AVX-512 F, BW, DQ, VL, VBMI, VBMI2 and GFNI.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// Returns the proof if the processor has the instructions.
    pub(crate) fn detect() -> Option<Avx512> {
        let found = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("gfni")
            && is_x86_feature_detected!("popcnt");
        found.then_some(Avx512(()))
    }

    /// Runs a kernel with these instructions.
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { run(self, kernel) }
    }
}

/// Compiles a kernel with the instructions switched on.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,popcnt")]
fn run<K: Kernel>(v: Avx512, kernel: K) -> K::Output {
    kernel.run(v)
}

// SAFETY of every block below: `self` proves that the processor has the instructions, and loads
// and stores go through references to rows of 64 bytes that are aligned to 64.
impl Vector for Avx512 {
    type Bytes = __m512i;
    type Mask = __mmask64;
    /// A bit for every pit that gets a seed.
    type Lap = [__m512i; 4];
    type Choice = __mmask64;

    const BURST: usize = 3;
    const FEW: u32 = 2;

    #[inline(always)]
    fn load(self, row: &Row) -> __m512i {
        unsafe { _mm512_load_si512(row.0.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(self, bytes: __m512i, row: &mut Row) {
        unsafe { _mm512_store_si512(row.0.as_mut_ptr().cast(), bytes) }
    }

    #[inline(always)]
    fn splat(self, byte: u8) -> __m512i {
        unsafe { _mm512_set1_epi8(byte as i8) }
    }

    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_add_epi8(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_sub_epi8(a, b) }
    }

    #[inline(always)]
    fn min(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_min_epu8(a, b) }
    }

    #[inline(always)]
    fn max(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_max_epu8(a, b) }
    }

    #[inline(always)]
    fn eq(self, a: __m512i, b: __m512i) -> __mmask64 {
        unsafe { _mm512_cmpeq_epu8_mask(a, b) }
    }

    #[inline(always)]
    fn lt(self, a: __m512i, b: __m512i) -> __mmask64 {
        unsafe { _mm512_cmplt_epu8_mask(a, b) }
    }

    #[inline(always)]
    fn lt_small(self, a: __m512i, b: __m512i) -> __mmask64 {
        self.lt(a, b)
    }

    #[inline(always)]
    fn some(self, a: __m512i) -> __mmask64 {
        unsafe { _mm512_test_epi8_mask(a, a) }
    }

    #[inline(always)]
    fn odd(self, a: __m512i) -> __mmask64 {
        unsafe { _mm512_test_epi8_mask(a, _mm512_set1_epi8(1)) }
    }

    #[inline(always)]
    fn and(self, a: __mmask64, b: __mmask64) -> __mmask64 {
        a & b
    }

    #[inline(always)]
    fn without(self, a: __mmask64, b: __mmask64) -> __mmask64 {
        a & !b
    }

    #[inline(always)]
    fn xor(self, a: __mmask64, b: __mmask64) -> __mmask64 {
        a ^ b
    }

    #[inline(always)]
    fn select(self, mask: __mmask64, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_mask_mov_epi8(b, mask, a) }
    }

    #[inline(always)]
    fn increment(self, a: __m512i, mask: __mmask64) -> __m512i {
        unsafe { _mm512_mask_add_epi8(a, mask, a, _mm512_set1_epi8(1)) }
    }

    #[inline(always)]
    fn clear(self, a: __m512i, mask: __mmask64) -> __m512i {
        unsafe { _mm512_mask_mov_epi8(a, mask, _mm512_setzero_si512()) }
    }

    #[inline(always)]
    fn add_where(self, a: __m512i, mask: __mmask64, b: __m512i) -> __m512i {
        unsafe { _mm512_mask_add_epi8(a, mask, a, b) }
    }

    #[inline(always)]
    fn keep(self, a: __m512i, mask: __mmask64) -> __m512i {
        unsafe { _mm512_maskz_mov_epi8(mask, a) }
    }

    #[inline(always)]
    fn by_bit(self, a: __m512i, bit: u32) -> __mmask64 {
        unsafe { _mm512_test_epi8_mask(a, _mm512_set1_epi8(1 << bit)) }
    }

    #[inline(always)]
    fn choose(self, choice: __mmask64, one: __m512i, zero: __m512i) -> __m512i {
        self.select(choice, one, zero)
    }

    #[inline(always)]
    fn bits(self, mask: __mmask64) -> u64 {
        mask
    }

    #[inline(always)]
    fn mask(self, bits: u64) -> __mmask64 {
        bits
    }

    #[inline(always)]
    fn of_lanes(self, row: &Row, lanes: __m512i) -> __m512i {
        unsafe { _mm512_permutexvar_epi8(lanes, self.load(row)) }
    }

    #[inline(always)]
    fn deal(self, queue: &[u8], lanes: u64, old: __m512i) -> __m512i {
        let queue = &queue[..LANES];
        unsafe {
            let queue = _mm512_loadu_si512(queue.as_ptr().cast());
            _mm512_mask_expand_epi8(old, lanes, queue)
        }
    }

    #[inline(always)]
    fn pack(self, bytes: __m512i, lanes: u64, out: &mut [u8]) {
        let out = &mut out[..LANES];
        unsafe {
            let packed = _mm512_maskz_compress_epi8(lanes, bytes);
            _mm512_storeu_si512(out.as_mut_ptr().cast(), packed);
        }
    }

    #[inline(always)]
    fn begin_lap(
        self,
        prefixes: &Prefixes,
        pits: usize,
        first: __m512i,
        rest: __m512i,
    ) -> [__m512i; 4] {
        let end = self.add(first, rest);
        let mut marks = [self.splat(0); 4];
        for (mark, prefix) in marks.iter_mut().zip(&prefixes.0).take(pits.div_ceil(8)) {
            let prefix = self.load(prefix);
            *mark = unsafe {
                let before = _mm512_permutexvar_epi8(first, prefix);
                _mm512_xor_si512(_mm512_permutexvar_epi8(end, prefix), before)
            };
        }
        marks
    }

    #[inline(always)]
    fn drop_seed(self, lap: &mut [__m512i; 4], pit: usize, seeds: __m512i) -> __m512i {
        self.add(seeds, seed_of(lap, pit))
    }

    #[inline(always)]
    fn lift_and_drop(
        self,
        lap: &mut [__m512i; 4],
        pit: usize,
        seeds: __m512i,
        lift: __m512i,
    ) -> __m512i {
        let seed = seed_of(lap, pit);
        unsafe {
            let stays = _mm512_cmpneq_epu8_mask(lift, _mm512_set1_epi8(pit as i8));
            _mm512_mask_add_epi8(seed, stays, seed, seeds)
        }
    }

    #[inline(always)]
    fn below(self, streams: &mut Streams, lanes: u64, bounds: __m512i) -> __m512i {
        // SAFETY: as above; the parts of 16 lanes end at 64.
        unsafe {
            let [a, b, c, d] = [0, 1, 2, 3];
            let a = product_16(draw_16(streams, a, lanes), bounds, a);
            let b = product_16(draw_16(streams, b, lanes), bounds, b);
            let c = product_16(draw_16(streams, c, lanes), bounds, c);
            let d = product_16(draw_16(streams, d, lanes), bounds, d);
            let pack = self.load(&PACK);
            let low = _mm512_permutex2var_epi8(a, pack, b);
            let high = _mm512_permutex2var_epi8(c, pack, d);
            let drawn = _mm512_inserti64x4(low, _mm512_castsi512_si256(high), 1);
            _mm512_maskz_mov_epi8(lanes, drawn)
        }
    }
}

/// Returns the seed that a lap drops into `pit`: bit `pit % 8` of its marks.
#[inline(always)]
fn seed_of(lap: &[__m512i; 4], pit: usize) -> __m512i {
    // Bit 0 of the product is the bit that the last byte of the matrix picks, the others are 0.
    let matrix = 1_u64 << (56 + pit % 8);
    // SAFETY: a lap exists only where the processor has the instructions.
    unsafe { _mm512_gf2p8affine_epi64_epi8::<0>(lap[pit / 8], _mm512_set1_epi64(matrix as i64)) }
}

/// For every 16 lanes: their bytes, each in both halves of a 32-bit number.
const SPREAD: [Row; 4] = {
    let mut rows = [Row::ZERO; 4];
    let mut lane = 0;
    while lane < LANES {
        let row = &mut rows[lane / 16];
        row.0[lane % 16 * 4] = lane as u8;
        row.0[lane % 16 * 4 + 2] = lane as u8;
        lane += 1;
    }
    rows
};

/// The third byte of all 32-bit numbers of one register and then of another.
const PACK: Row = {
    let mut row = Row::ZERO;
    let mut lane = 0;
    while lane < 32 {
        row.0[lane] = 4 * lane as u8 + 2;
        lane += 1;
    }
    row
};

/// Draws a word in the 16 lanes of part `part` that are in `lanes`; other streams stay.
///
/// # Safety
/// The processor has AVX-512 F, BW and VL, and `part` is at most 3.
#[inline(always)]
unsafe fn draw_16(streams: &mut Streams, part: usize, lanes: u64) -> __m512i {
    let first = 16 * part;
    debug_assert!(first + 16 <= LANES);
    let lanes = (lanes >> first) as __mmask16;
    // SAFETY: the caller's promise; each word's row has 64 aligned numbers, `first` is a
    // multiple of 16.
    unsafe {
        let [w0, w1, w2, w3] = &mut streams.0;
        let at = |word: &mut [u32; LANES]| word.as_mut_ptr().add(first).cast::<__m512i>();
        let (p0, p1, p2, p3) = (at(w0), at(w1), at(w2), at(w3));
        let (s0, s1) = (_mm512_load_si512(p0), _mm512_load_si512(p1));
        let (s2, s3) = (_mm512_load_si512(p2), _mm512_load_si512(p3));
        let word = _mm512_add_epi32(_mm512_rol_epi32(_mm512_add_epi32(s0, s3), 7), s0);
        let shifted = _mm512_slli_epi32(s1, 9);
        let t2 = _mm512_xor_si512(s2, s0);
        let t3 = _mm512_xor_si512(s3, s1);
        let n1 = _mm512_xor_si512(s1, t2);
        let n0 = _mm512_xor_si512(s0, t3);
        let n2 = _mm512_xor_si512(t2, shifted);
        let n3 = _mm512_rol_epi32(t3, 11);
        _mm512_store_si512(p0, _mm512_mask_mov_epi32(s0, lanes, n0));
        _mm512_store_si512(p1, _mm512_mask_mov_epi32(s1, lanes, n1));
        _mm512_store_si512(p2, _mm512_mask_mov_epi32(s2, lanes, n2));
        _mm512_store_si512(p3, _mm512_mask_mov_epi32(s3, lanes, n3));
        word
    }
}

/// Multiplies words by the bounds of 16 lanes; the upper halves of the products, which fit a byte,
/// lie in the third byte of each number.
///
/// # Safety
/// The processor has AVX-512 F, BW, VL and VBMI, and `part` is at most 3.
#[inline(always)]
unsafe fn product_16(words: __m512i, bounds: __m512i, part: usize) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe {
        // The product by halves: (high b + (low b >> 16)) >> 16.
        let spread = _mm512_load_si512(SPREAD[part].0.as_ptr().cast());
        let bounds = _mm512_maskz_permutexvar_epi8(0x5555_5555_5555_5555, spread, bounds);
        let upper = _mm512_mulhi_epu16(words, bounds);
        let lower = _mm512_mullo_epi16(words, bounds);
        let sum = _mm512_add_epi16(lower, _mm512_slli_epi32(upper, 16));
        let carry = _mm512_cmplt_epu16_mask(sum, lower);
        _mm512_mask_add_epi16(upper, carry, upper, _mm512_set1_epi16(1))
    }
}
