//! Pits on the ring and sets of columns.

use crate::side::Side;

/// The most columns a board may have.
pub const MAX_COLUMNS: usize = 64;

/// The most pits a board may have: two rows of [`MAX_COLUMNS`].
pub const MAX_PITS: usize = 2 * MAX_COLUMNS;

/// Returns the ring index of a side's pit in `column` on a board of `columns` (B2, B4).
///
/// ```
/// use endodoi::{pit, Side};
/// assert_eq!(pit::ring_index(Side::South, 2, 6), 2);
/// assert_eq!(pit::ring_index(Side::North, 2, 6), 8);
/// ```
pub const fn ring_index(side: Side, column: usize, columns: usize) -> usize {
    side.index() * columns + column
}

/// Returns the ring index of the pit opposite to `pit` on a board of `columns` (B2).
///
/// ```
/// assert_eq!(endodoi::pit::opposite(0, 6), 11);
/// ```
pub const fn opposite(pit: usize, columns: usize) -> usize {
    2 * columns - 1 - pit
}

/// Returns the side that owns ring index `pit` on a board of `columns`.
pub const fn owner(pit: usize, columns: usize) -> Side {
    if pit < columns {
        Side::South
    } else {
        Side::North
    }
}

/// A set of columns of one row, kept as the bits of a word.
///
/// ```
/// use endodoi::PitSet;
/// let mut set = PitSet::EMPTY;
/// set.insert(3);
/// set.insert(0);
/// assert_eq!(set.iter().collect::<Vec<_>>(), [0, 3]);
/// assert_eq!(set.len(), 2);
/// assert_eq!(set.nth(1), Some(3));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PitSet(u64);

impl PitSet {
    /// The set without any column.
    pub const EMPTY: PitSet = PitSet(0);

    /// Builds a set from the bits of a word, bit `c` for column `c`.
    pub const fn from_bits(bits: u64) -> PitSet {
        PitSet(bits)
    }

    /// Returns the set as the bits of a word, bit `c` for column `c`.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Adds `column` (at most 63; a larger one is ignored) to the set.
    pub const fn insert(&mut self, column: usize) {
        if column < MAX_COLUMNS {
            self.0 |= 1 << column;
        }
    }

    /// Takes `column` out of the set.
    pub const fn remove(&mut self, column: usize) {
        if column < MAX_COLUMNS {
            self.0 &= !(1 << column);
        }
    }

    /// Tells whether `column` is in the set.
    pub const fn contains(self, column: usize) -> bool {
        column < MAX_COLUMNS && self.0 >> column & 1 == 1
    }

    /// Returns how many columns the set holds.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Tells whether the set holds no column.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the column of rank `n`, counted from the lowest, or `None` past the last one.
    pub fn nth(self, n: usize) -> Option<usize> {
        self.iter().nth(n)
    }

    /// Iterates over the columns in ascending order.
    pub const fn iter(self) -> PitSetIter {
        PitSetIter(self.0)
    }
}

impl IntoIterator for PitSet {
    type Item = usize;
    type IntoIter = PitSetIter;

    fn into_iter(self) -> PitSetIter {
        self.iter()
    }
}

/// Iterator over the columns of a [`PitSet`], ascending.
#[derive(Clone, Debug)]
pub struct PitSetIter(u64);

impl Iterator for PitSetIter {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let column = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(column)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.0.count_ones() as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for PitSetIter {}
