//! The operations on boards in rows on AVX2 and on AVX-512.
//!
//! Unsafe code is needed to call instructions that not every processor has. Values of
//! [`Avx2Rows`] and [`Avx512Rows`] exist only where `detect` found them.
#![allow(unsafe_code)]
// The intrinsics are the vocabulary of this file; loads and stores are the unaligned ones.
#![allow(clippy::wildcard_imports, clippy::cast_ptr_alignment)]

use std::arch::x86_64::*;
use std::sync::LazyLock;

use super::rows::{MAX_ROW_PITS, PAD, RowBoard, RowKernel, RowVector, WINDOW, Window};
use super::rows_lap::RowRing;

/// Proof that the processor has AVX2 and BMI2, and that its bit deposit is fast.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2Rows(());

/// Proof that the processor has AVX-512 F, BW and VL, and BMI2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512Rows(());

/// Whether the processor deposits bits with one instruction.
///
/// Those of AMD's family 17h have it as a slow routine, which plain Rust beats. Found once: to ask
/// the processor who it is takes longer than a step of 64 games where it is a virtual one.
static HAS_FAST_DEPOSIT: LazyLock<bool> = LazyLock::new(|| {
    let found = is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("lzcnt");
    let signature = __cpuid(1).eax;
    let family = (signature >> 8 & 0xF) + (signature >> 20 & 0xFF);
    let amd = __cpuid(0).ebx == u32::from_le_bytes(*b"Auth");
    found && !(amd && family == 0x17)
});

impl Avx2Rows {
    /// Returns the proof if the processor has the instructions.
    pub(super) fn detect() -> Option<Avx2Rows> {
        (is_x86_feature_detected!("avx2") && *HAS_FAST_DEPOSIT).then_some(Avx2Rows(()))
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
        (found && *HAS_FAST_DEPOSIT).then_some(Avx512Rows(()))
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

    #[inline(always)]
    fn ends_soon(self, ring: &RowRing, board: &RowBoard, pits: u64, laps: usize) -> u64 {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe {
            if ring.parity {
                ends_soon::<true>(ring, board, pits, laps)
            } else {
                ends_soon::<false>(ring, board, pits, laps)
            }
        }
    }
}

/// Laps that are looked through without sowing them (measured).
const SOON: usize = 8;

/// Follows the sowings of 64 pits, each in a byte, without sowing them: the seeds of a pit are
/// those of the board, changed by all laps before.
///
/// # Safety
/// The processor has AVX-512 F, BW and VBMI.
#[inline(always)]
unsafe fn ends_soon<const PARITY: bool>(
    ring: &RowRing,
    board: &RowBoard,
    pits: u64,
    laps: usize,
) -> u64 {
    let bytes = board.pits(MAX_ROW_PITS);
    // SAFETY: the caller's promise; `bytes` is 128 bytes long.
    unsafe {
        let low = _mm512_loadu_si512(bytes.as_ptr().cast());
        let high = _mm512_loadu_si512(bytes.as_ptr().add(64).cast());
        let count = _mm512_set1_epi8(ring.pits as i8);
        let one = _mm512_set1_epi8(1);
        // Numbers up to 2N - 1 and down to -N, on the ring of N pits.
        let wrap = |pit| _mm512_min_epu8(pit, _mm512_sub_epi8(pit, count));
        let wrap_down = |pit| _mm512_min_epu8(pit, _mm512_add_epi8(pit, count));
        let (mut at, mut held) = (_mm512_loadu_si512(PITS.as_ptr().cast()), low);
        let mut going = pits & _mm512_cmplt_epu8_mask(held, count);
        let mut ended = 0;
        // Of every lap: where it was lifted, its seeds, and the first pit they fell into.
        let mut log = [(at, held, at); SOON];
        for lap in 0..SOON {
            if lap == laps || going == 0 {
                break;
            }
            let next = wrap(_mm512_add_epi8(at, one));
            let (mut last, mut first) = (wrap(_mm512_add_epi8(at, held)), next);
            if PARITY {
                let odd = _mm512_test_epi8_mask(held, one);
                let back = wrap_down(_mm512_sub_epi8(at, held));
                last = _mm512_mask_mov_epi8(last, odd, back);
                first = _mm512_mask_mov_epi8(first, odd, back);
            }
            let mut found = _mm512_permutex2var_epi8(low, last, high);
            for &(lifted, seeds, first) in &log[..lap] {
                let kept = _mm512_cmpneq_epi8_mask(last, lifted);
                found = _mm512_maskz_mov_epi8(kept, found);
                let steps = wrap_down(_mm512_sub_epi8(last, first));
                let dropped = _mm512_cmplt_epu8_mask(steps, seeds);
                found = _mm512_mask_add_epi8(found, dropped, found, one);
            }
            let ends = going & _mm512_testn_epi8_mask(found, found);
            log[lap] = (at, held, first);
            ended |= ends;
            (at, held) = (last, _mm512_add_epi8(found, one));
            going &= !ends & _mm512_cmplt_epu8_mask(held, count);
        }
        ended
    }
}

/// The numbers of 64 pits.
const PITS: [u8; 64] = {
    let mut pits = [0; 64];
    let mut pit = 0;
    while pit < pits.len() {
        pits[pit] = pit as u8;
        pit += 1;
    }
    pits
};
