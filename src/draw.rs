//! The draw that every random choice of a move goes through.

use crate::pit::PitSet;
use crate::rng::{self, Xoshiro128PlusPlus};

/// What a random draw among the non-empty pits of a row came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Draw<T> {
    /// The column drawn and what trying it gave.
    pub(crate) column: usize,
    /// What trying the column gave.
    pub(crate) tried: T,
    /// Columns drawn before and refused: endless sowings where they are illegal (S6).
    pub(crate) refused: u32,
}

/// Draws a column uniformly among those of `pits` that `attempt` accepts.
///
/// The scheme is a contract: one [`rng::below`] with the number of columns left picks a rank,
/// counted from the lowest column; a refused column is taken out and the draw repeated. Given
/// that the result is uniform over the accepted columns, no column has to be tried in vain.
/// Returns `None` when `pits` is empty or every column was refused.
pub(crate) fn draw_column<T>(
    mut pits: PitSet,
    stream: &mut Xoshiro128PlusPlus,
    mut attempt: impl FnMut(usize) -> Option<T>,
) -> Option<Draw<T>> {
    let mut refused = 0;
    while !pits.is_empty() {
        let rank = rng::below(stream, pits.len() as u32) as usize;
        let column = pits.nth(rank)?;
        if let Some(tried) = attempt(column) {
            return Some(Draw {
                column,
                tried,
                refused,
            });
        }
        pits.remove(column);
        refused += 1;
    }
    None
}

/// Returns the non-empty pits of a row.
pub(crate) fn non_empty(row: &[u16]) -> PitSet {
    let bits = row.iter().enumerate().fold(0, |bits, (column, &seeds)| {
        bits | (u64::from(seeds > 0) << column)
    });
    PitSet::from_bits(bits)
}
