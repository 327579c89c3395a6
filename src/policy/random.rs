//! The random player, and the draw that every random choice of a move goes through.

use rand_xoshiro::Xoshiro128PlusPlus;

use crate::pit::PitSet;
use crate::policy::{Policy, PolicyError};
use crate::position::Position;
use crate::rng;

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

/// Draws a legal column of an open position, and counts the endless ones refused on the way.
pub(crate) fn draw_legal(position: &Position, stream: &mut Xoshiro128PlusPlus) -> Option<Draw<()>> {
    let legal = position.legal_moves();
    let pits = non_empty(position.board().row(position.to_move()));
    draw_column(pits, stream, |column| legal.contains(column).then_some(()))
}

/// Plays every legal move with the same probability, drawn from the game's own stream.
///
/// It draws among the non-empty pits and draws again where the sowing is endless and illegal,
/// which is uniform over the legal moves: the games are those of [`crate::simulate`].
///
/// ```
/// use endodoi::policy::{Policy, Random};
/// use endodoi::rng::{self, Purpose};
/// use endodoi::{Position, Variant};
///
/// let positions = [Position::start(&Variant::EnDodoi.ruleset())];
/// let mut streams = [rng::stream(1, 0, Purpose::Play)];
/// let mut moves = [0];
/// Random.choose(&positions, &mut streams, &mut moves)?;
/// assert!(positions[0].legal_moves().contains(moves[0].into()));
/// # Ok::<(), endodoi::policy::PolicyError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Random;

impl Policy for Random {
    fn name(&self) -> String {
        "random".to_owned()
    }

    fn choose(
        &mut self,
        positions: &[Position],
        streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
    ) -> Result<(), PolicyError> {
        let mut refused = vec![0; positions.len()];
        self.choose_counting(positions, streams, moves, &mut refused)
    }

    fn choose_counting(
        &mut self,
        positions: &[Position],
        streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
        refused: &mut [u32],
    ) -> Result<(), PolicyError> {
        for (i, position) in positions.iter().enumerate() {
            let Some(draw) = draw_legal(position, &mut streams[i]) else {
                return Err(PolicyError::Failed {
                    name: self.name(),
                    message: format!("no legal move in {position}"),
                });
            };
            moves[i] = draw.column as u8;
            refused[i] += draw.refused;
        }
        Ok(())
    }
}
