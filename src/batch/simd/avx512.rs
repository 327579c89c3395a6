//! The vector operations on AVX-512 (F, BW, VL, VBMI): one register holds a byte of all 64 lanes.
//!
//! Unsafe code is needed to call instructions that not every processor has. A value of
//! [`Avx512`] exists only where [`Avx512::detect`] found them.
#![allow(unsafe_code)]
// The intrinsics are the vocabulary of this file; rows are aligned to 64 by their type.
#![allow(clippy::wildcard_imports, clippy::cast_ptr_alignment)]

use std::arch::x86_64::*;

use super::vector::{Kernel, LANES, Prefixes, Row, Streams, Vector, WideRow};

/// Proof that the processor has AVX-512 F, BW, VL and VBMI.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// Returns the proof if the processor has the instructions.
    pub(crate) fn detect() -> Option<Avx512> {
        let found = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi");
        found.then_some(Avx512(()))
    }

    /// Runs a kernel with these instructions.
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { run(self, kernel) }
    }
}

/// Compiles a kernel with the instructions switched on.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
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
    fn bits(self, mask: __mmask64) -> u64 {
        mask
    }

    #[inline(always)]
    fn mask(self, bits: u64) -> __mmask64 {
        bits
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
        let marks = &mut lap[pit / 8];
        unsafe {
            let one = _mm512_and_si512(*marks, _mm512_set1_epi8(1));
            // The bits that come from the neighbouring byte never reach the lowest place in time.
            *marks = _mm512_srli_epi16(*marks, 1);
            _mm512_add_epi8(seeds, one)
        }
    }

    #[inline(always)]
    fn add_wide(self, sums: &mut WideRow, bytes: __m512i) {
        unsafe {
            let low = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(bytes));
            let high = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(bytes, 1));
            let at: *mut __m512i = sums.0.as_mut_ptr().cast();
            _mm512_store_si512(at, _mm512_add_epi16(_mm512_load_si512(at), low));
            let at = at.add(1);
            _mm512_store_si512(at, _mm512_add_epi16(_mm512_load_si512(at), high));
        }
    }

    #[inline(always)]
    fn copy_wide(self, to: &mut WideRow, from: &WideRow, lanes: u64) {
        unsafe {
            let (to, from) = (to.0.as_mut_ptr(), from.0.as_ptr());
            let low = _mm512_load_si512(from.cast());
            let high = _mm512_load_si512(from.add(32).cast());
            _mm512_mask_storeu_epi16(to.cast(), lanes as __mmask32, low);
            _mm512_mask_storeu_epi16(to.add(32).cast(), (lanes >> 32) as __mmask32, high);
        }
    }

    #[inline(always)]
    fn below(self, streams: &mut Streams, lanes: u64, bounds: __m512i) -> __m512i {
        unsafe {
            let parts = [
                below_16(streams, 0, lanes, _mm512_extracti32x4_epi32(bounds, 0)),
                below_16(streams, 16, lanes, _mm512_extracti32x4_epi32(bounds, 1)),
                below_16(streams, 32, lanes, _mm512_extracti32x4_epi32(bounds, 2)),
                below_16(streams, 48, lanes, _mm512_extracti32x4_epi32(bounds, 3)),
            ];
            let drawn = _mm512_castsi128_si512(parts[0]);
            let drawn = _mm512_inserti32x4(drawn, parts[1], 1);
            let drawn = _mm512_inserti32x4(drawn, parts[2], 2);
            _mm512_inserti32x4(drawn, parts[3], 3)
        }
    }
}

/// Draws in the 16 lanes from `first` on.
///
/// # Safety
/// The processor has AVX-512 F, BW and VL, and `first + 16` is at most 64.
#[inline(always)]
unsafe fn below_16(streams: &mut Streams, first: usize, lanes: u64, bounds: __m128i) -> __m128i {
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
        _mm512_mask_store_epi32(p0.cast(), lanes, n0);
        _mm512_mask_store_epi32(p1.cast(), lanes, n1);
        _mm512_mask_store_epi32(p2.cast(), lanes, n2);
        _mm512_mask_store_epi32(p3.cast(), lanes, n3);
        // The upper half of a 64-bit product, for even and for odd lanes.
        let bounds = _mm512_cvtepu8_epi32(bounds);
        let even = _mm512_srli_epi64(_mm512_mul_epu32(word, bounds), 32);
        let odd = _mm512_mul_epu32(_mm512_srli_epi64(word, 32), _mm512_srli_epi64(bounds, 32));
        let drawn = _mm512_mask_mov_epi32(even, 0xAAAA, odd);
        _mm512_maskz_cvtepi32_epi8(lanes, drawn)
    }
}
