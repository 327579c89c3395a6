//! Boards of 64 lanes from one pit a row to one board a row.

// Kernels call these: they must be inlined into the functions that switch the instructions on.
#![allow(clippy::inline_always)]

use crate::batch::LANES;
use crate::batch::simd::Row;

/// Sixty-four bytes as words.
type Words = [u64; LANES / 8];

/// Returns a word for each lane with its bytes of up to eight rows, in order; the others are 0.
///
/// A plain loop over words: in a kernel it is compiled to a few vector instructions a row.
#[inline(always)]
pub(super) fn words_of_lanes(rows: &[Row]) -> [u64; LANES] {
    let mut words = [[0; LANES / 8]; 8];
    for (words, row) in words.iter_mut().zip(rows) {
        for (word, bytes) in words.iter_mut().zip(row.0.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
    }
    exchange::<4>(&mut words, 0x0000_0000_FFFF_FFFF);
    exchange::<2>(&mut words, 0x0000_FFFF_0000_FFFF);
    exchange::<1>(&mut words, 0x00FF_00FF_00FF_00FF);
    let mut lanes = [0; LANES];
    for (lane, word) in lanes.iter_mut().enumerate() {
        *word = words[lane % 8][lane / 8];
    }
    lanes
}

/// Exchanges squares of `SIZE` bytes across the diagonal, in every two rows that are `SIZE` apart.
#[inline(always)]
fn exchange<const SIZE: usize>(words: &mut [Words; 8], low: u64) {
    for first in 0..8 {
        if first & SIZE == 0 {
            let (upper, lower) = words.split_at_mut(first + SIZE);
            for (a, b) in upper[first].iter_mut().zip(&mut lower[0]) {
                let moved = (*a >> (8 * SIZE) ^ *b) & low;
                *a ^= moved << (8 * SIZE);
                *b ^= moved;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::words_of_lanes;
    use crate::batch::simd::Row;

    #[test]
    fn every_byte_of_a_row_goes_to_its_lane() {
        let rows: [Row; 7] = std::array::from_fn(|row| {
            Row(std::array::from_fn(|lane| (row * 64 + lane) as u8 ^ 0x5B))
        });
        for (lane, word) in words_of_lanes(&rows).iter().enumerate() {
            let bytes = word.to_le_bytes();
            for (row, byte) in bytes[..7].iter().enumerate() {
                assert_eq!(*byte, rows[row].0[lane], "row {row}, lane {lane}");
            }
            assert_eq!(bytes[7], 0);
        }
    }
}
