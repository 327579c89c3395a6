//! The operations on boards in rows on AVX2 and on AVX-512.
//!
//! Unsafe code is needed to call instructions that not every processor has. Values of
//! [`Avx2Rows`] and [`Avx512Rows`] exist only where `detect` found them.
#![allow(unsafe_code)]
// The intrinsics are the vocabulary of this file; loads and stores are the unaligned ones.
#![allow(clippy::wildcard_imports, clippy::cast_ptr_alignment)]

use std::arch::x86_64::*;

use super::rows::{PAD, RowBoard, RowKernel, RowVector, WINDOW, Window};

/// Proof that the processor has AVX2 and BMI2, and that its bit deposit is fast.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2Rows(());

/// Proof that the processor has AVX-512 F, BW and VL, and BMI2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512Rows(());

/// Tells whether the processor deposits bits with one instruction.
///
/// Those of AMD's family 17h have it as a slow routine, which plain Rust beats.
fn has_fast_deposit() -> bool {
    let found = is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("lzcnt");
    let signature = __cpuid(1).eax;
    let family = (signature >> 8 & 0xF) + (signature >> 20 & 0xFF);
    let amd = __cpuid(0).ebx == u32::from_le_bytes(*b"Auth");
    found && !(amd && family == 0x17)
}

impl Avx2Rows {
    /// Returns the proof if the processor has the instructions.
    pub(super) fn detect() -> Option<Avx2Rows> {
        (is_x86_feature_detected!("avx2") && has_fast_deposit()).then_some(Avx2Rows(()))
    }

    /// Runs a kernel with these instructions.
    pub(super) fn run<K: RowKernel>(self, kernel: K) -> K::Output {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { run_avx2(self, kernel) }
    }
}

impl Avx512Rows {
    /// Returns the proof if the processor has the instructions.
    pub(super) fn detect() -> Option<Avx512Rows> {
        let found = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi");
        (found && has_fast_deposit()).then_some(Avx512Rows(()))
    }

    /// Runs a kernel with these instructions.
    pub(super) fn run<K: RowKernel>(self, kernel: K) -> K::Output {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { run_avx512(self, kernel) }
    }
}

/// Compiles a kernel with the instructions switched on.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn run_avx2<K: RowKernel>(r: Avx2Rows, kernel: K) -> K::Output {
    kernel.run(r)
}

/// Compiles a kernel with the instructions switched on.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx2,bmi1,bmi2,popcnt,lzcnt")]
fn run_avx512<K: RowKernel>(r: Avx512Rows, kernel: K) -> K::Output {
    kernel.run(r)
}

/// Adds a window of 32 bytes.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn add_window(board: &mut RowBoard, start: usize, window: &Window) {
    let bytes = &mut board.0[start..start + WINDOW];
    // SAFETY: the caller's promise; the slice and the window are 32 bytes long.
    unsafe {
        let at = bytes.as_mut_ptr().cast();
        let add = _mm256_load_si256(window.0.as_ptr().cast());
        _mm256_storeu_si256(at, _mm256_add_epi8(_mm256_loadu_si256(at), add));
    }
}

/// Returns the bit of rank `rank`.
///
/// # Safety
/// The processor has BMI2.
#[inline(always)]
unsafe fn nth(bits: u64, rank: u32) -> usize {
    // SAFETY: the caller's promise.
    let bit = unsafe { _pdep_u64(1 << (rank % 64), bits) };
    bit.trailing_zeros() as usize
}

impl RowVector for Avx2Rows {
    #[inline(always)]
    fn add_window(self, board: &mut RowBoard, start: usize, window: &Window) {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { add_window(board, start, window) }
    }

    #[inline(always)]
    fn occupied(self, board: &RowBoard, first: usize) -> u64 {
        let bytes = &board.0[PAD + first..PAD + first + 64];
        // SAFETY: `self` proves that the processor has AVX2; the slice is 64 bytes long.
        let empty = unsafe {
            let at = bytes.as_ptr().cast::<__m256i>();
            [at, at.add(1)].map(|at| {
                let empty = _mm256_cmpeq_epi8(_mm256_loadu_si256(at), _mm256_setzero_si256());
                _mm256_movemask_epi8(empty) as u32
            })
        };
        !(u64::from(empty[1]) << 32 | u64::from(empty[0]))
    }

    #[inline(always)]
    fn heavy(self, board: &RowBoard, first: usize) -> u64 {
        let bytes = &board.0[PAD + first..PAD + first + 64];
        // SAFETY: `self` proves that the processor has AVX2; the slice is 64 bytes long.
        let heavy = unsafe {
            let at = bytes.as_ptr().cast::<__m256i>();
            [at, at.add(1)].map(|at| _mm256_movemask_epi8(_mm256_loadu_si256(at)) as u32)
        };
        u64::from(heavy[1]) << 32 | u64::from(heavy[0])
    }

    #[inline(always)]
    fn nth(self, bits: u64, rank: u32) -> usize {
        // SAFETY: `self` proves that the processor has BMI2.
        unsafe { nth(bits, rank) }
    }
}

impl RowVector for Avx512Rows {
    #[inline(always)]
    fn add_window(self, board: &mut RowBoard, start: usize, window: &Window) {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { add_window(board, start, window) }
    }

    #[inline(always)]
    fn occupied(self, board: &RowBoard, first: usize) -> u64 {
        let bytes = &board.0[PAD + first..PAD + first + 64];
        // SAFETY: `self` proves that the processor has the instructions; the slice is 64 bytes
        // long.
        unsafe {
            let bytes = _mm512_loadu_si512(bytes.as_ptr().cast());
            _mm512_test_epi8_mask(bytes, bytes)
        }
    }

    #[inline(always)]
    fn heavy(self, board: &RowBoard, first: usize) -> u64 {
        let bytes = &board.0[PAD + first..PAD + first + 64];
        // SAFETY: `self` proves that the processor has the instructions; the slice is 64 bytes
        // long.
        unsafe { _mm512_movepi8_mask(_mm512_loadu_si512(bytes.as_ptr().cast())) }
    }

    #[inline(always)]
    fn nth(self, bits: u64, rank: u32) -> usize {
        // SAFETY: `self` proves that the processor has BMI2.
        unsafe { nth(bits, rank) }
    }
}
