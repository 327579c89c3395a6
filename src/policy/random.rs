//! The random player.

use rand_xoshiro::Xoshiro128PlusPlus;

use crate::draw::{Draw, draw_column, non_empty};
use crate::policy::{Policy, PolicyError};
use crate::position::Position;

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
