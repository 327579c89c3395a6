//! One lap of one board that is turned to the pit lifted, on AVX2.
//!
//! Unsafe code is needed to call instructions that not every processor has; a value of [`Avx2`]
//! proves that they are there. The slow twin is `sowing.rs`.
#![allow(unsafe_code)]
// The intrinsics are the vocabulary of this file.
#![allow(clippy::wildcard_imports)]

use std::arch::x86_64::*;

use super::avx2::Avx2;
use crate::batch::pending::{MAX_PITS, Turned};

/// What a lap of some seeds does.
pub(super) trait Lap: Copy {
    type Board: Copy;

    fn load(v: Avx2, bytes: &Turned) -> Self::Board;
    fn store(v: Avx2, board: Self::Board) -> Turned;
    /// Sows the lap and turns the board to the pit of the last seed.
    fn sow(&self, v: Avx2, board: Self::Board) -> Self::Board;
    /// Returns the pits that the lap turns the board by.
    fn turns(&self) -> usize;
    /// Returns the first eight pits; the first is in the lowest byte.
    fn front(v: Avx2, board: Self::Board) -> u64;
    fn same(v: Avx2, a: Self::Board, b: Self::Board) -> bool;
    fn select(v: Avx2, first: bool, a: Self::Board, b: Self::Board) -> Self::Board;
}

/// Returns what a lap of `seeds` from pit 0 adds to every pit, modulo 256, and the pit of its last
/// seed (S1, S2, S5).
fn lap_of(pits: usize, seeds: u8, parity: bool) -> (Turned, usize) {
    let mut add = [0_u8; MAX_PITS];
    add[0] = seeds.wrapping_neg();
    let stride = if parity && seeds % 2 == 1 {
        pits - 1
    } else {
        1
    };
    let mut at = 0;
    for _ in 0..seeds {
        at = (at + stride) % pits;
        add[at] = add[at].wrapping_add(1);
    }
    (add, at)
}

/// A lap on boards of up to 16 pits.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct ShortLap {
    add: [u8; 16],
    /// The pit that each pit takes its seeds from.
    from: [u8; 16],
    turns: u8,
}

impl ShortLap {
    pub(super) fn of(pits: usize, seeds: u8, parity: bool) -> ShortLap {
        let (add, last) = lap_of(pits, seeds, parity);
        let from = |pit: usize| {
            if pit < pits {
                ((pit + last) % pits) as u8
            } else {
                pit as u8
            }
        };
        ShortLap {
            add: std::array::from_fn(|pit| add[pit]),
            from: std::array::from_fn(from),
            turns: last as u8,
        }
    }
}

// SAFETY of every block below: a value of `Avx2` proves that the processor has the instructions;
// loads and stores are unaligned and go through references to arrays of at least their size.
impl Lap for ShortLap {
    type Board = __m128i;

    #[inline(always)]
    fn load(_: Avx2, bytes: &Turned) -> __m128i {
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(_: Avx2, board: __m128i) -> Turned {
        let mut bytes = [0; MAX_PITS];
        unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), board) };
        bytes
    }

    #[inline(always)]
    fn sow(&self, _: Avx2, board: __m128i) -> __m128i {
        unsafe {
            let add = _mm_loadu_si128(self.add.as_ptr().cast());
            let from = _mm_loadu_si128(self.from.as_ptr().cast());
            _mm_shuffle_epi8(_mm_add_epi8(board, add), from)
        }
    }

    #[inline(always)]
    fn turns(&self) -> usize {
        self.turns.into()
    }

    #[inline(always)]
    fn front(_: Avx2, board: __m128i) -> u64 {
        unsafe { _mm_cvtsi128_si64(board) as u64 }
    }

    #[inline(always)]
    fn same(_: Avx2, a: __m128i, b: __m128i) -> bool {
        unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) == 0xFFFF }
    }

    #[inline(always)]
    fn select(_: Avx2, first: bool, a: __m128i, b: __m128i) -> __m128i {
        unsafe { _mm_blendv_epi8(b, a, _mm_set1_epi8(-i8::from(first))) }
    }
}

/// A lap on boards of 17 to 32 pits.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct LongLap {
    add: [u8; 32],
    /// The pit of the same half that each pit takes its seeds from, 128 for none.
    near: [u8; 32],
    /// The pit of the other half.
    far: [u8; 32],
    turns: u8,
}

impl LongLap {
    pub(super) fn of(pits: usize, seeds: u8, parity: bool) -> LongLap {
        let (add, last) = lap_of(pits, seeds, parity);
        let (mut near, mut far) = ([128; 32], [128; 32]);
        for pit in 0..pits {
            let from = (pit + last) % pits;
            let side = if from / 16 == pit / 16 {
                &mut near
            } else {
                &mut far
            };
            side[pit] = (from % 16) as u8;
        }
        LongLap {
            add,
            near,
            far,
            turns: last as u8,
        }
    }
}

impl Lap for LongLap {
    type Board = __m256i;

    #[inline(always)]
    fn load(_: Avx2, bytes: &Turned) -> __m256i {
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(_: Avx2, board: __m256i) -> Turned {
        let mut bytes = [0; MAX_PITS];
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), board) };
        bytes
    }

    #[inline(always)]
    fn sow(&self, _: Avx2, board: __m256i) -> __m256i {
        unsafe {
            let add = _mm256_loadu_si256(self.add.as_ptr().cast());
            let near = _mm256_loadu_si256(self.near.as_ptr().cast());
            let far = _mm256_loadu_si256(self.far.as_ptr().cast());
            let sown = _mm256_add_epi8(board, add);
            let exchanged = _mm256_permute2x128_si256(sown, sown, 1);
            let near = _mm256_shuffle_epi8(sown, near);
            _mm256_or_si256(near, _mm256_shuffle_epi8(exchanged, far))
        }
    }

    #[inline(always)]
    fn turns(&self) -> usize {
        self.turns.into()
    }

    #[inline(always)]
    fn front(_: Avx2, board: __m256i) -> u64 {
        unsafe { _mm_cvtsi128_si64(_mm256_castsi256_si128(board)) as u64 }
    }

    #[inline(always)]
    fn same(_: Avx2, a: __m256i, b: __m256i) -> bool {
        unsafe { _mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b)) == -1 }
    }

    #[inline(always)]
    fn select(_: Avx2, first: bool, a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_blendv_epi8(b, a, _mm256_set1_epi8(-i8::from(first))) }
    }
}
