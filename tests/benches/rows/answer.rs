//! What makes the rows comparable: the same choices of moves, the same checksums.
//!
//! `tests/benches/ours.py` does the same in Python.

/// Rows of a batch whose steps enter the answer.
pub(crate) const PROBES: usize = 64;

/// Steps after which the choices of a row repeat.
pub(crate) const PERIOD: usize = 64;

/// CRC-32 of the format of zip and gzip.
#[derive(Clone, Copy)]
pub(crate) struct Crc(u32);

impl Crc {
    pub(crate) const NEW: Crc = Crc(u32::MAX);

    pub(crate) fn add(&mut self, bytes: impl IntoIterator<Item = u8>) {
        for byte in bytes {
            self.0 ^= u32::from(byte);
            for _ in 0..8 {
                let low = self.0 & 1;
                self.0 = (self.0 >> 1) ^ (low * 0xedb8_8320);
            }
        }
    }

    pub(crate) const fn finish(self) -> u32 {
        !self.0
    }
}

/// Returns the rows of a batch that are looked at: 64, from the first to the last one.
pub(crate) fn probes(rows: usize) -> Vec<usize> {
    let count = rows.min(PROBES);
    (0..count)
        .map(|probe| probe * (rows - 1) / (count - 1).max(1))
        .collect()
}

/// Returns a number of 16 bits that decides what `row` plays in step `step`.
pub(crate) fn draw(row: usize, step: usize) -> u32 {
    let mut bits = (row as u32)
        .wrapping_mul(0x9e37_79b1)
        .wrapping_add(((step % PERIOD) as u32).wrapping_mul(0x85eb_ca77));
    bits ^= bits >> 15;
    bits = bits.wrapping_mul(0x2c1b_3c6d);
    bits ^= bits >> 12;
    bits = bits.wrapping_mul(0x297a_2d39);
    bits >> 16
}

/// Returns the legal column of a mask that a number of 16 bits stands for, 0 without any.
pub(crate) fn choose(mask: &[i8], draw: u32) -> usize {
    let legal: u32 = mask.iter().map(|&bit| bit as u32).sum();
    let mut rank = (draw * legal) >> 16;
    for (column, &bit) in mask.iter().enumerate() {
        if bit == 1 {
            if rank == 0 {
                return column;
            }
            rank -= 1;
        }
    }
    0
}
