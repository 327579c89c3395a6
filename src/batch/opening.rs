//! Random openings.

use crate::position::Position;
use crate::rng::{self, Purpose};

/// Openings drawn for one game before giving up.
pub(super) const MAX_TRIES: u32 = 10_000;

/// Draws the opening of (row seed, episode): `plies` moves uniform over the legal ones.
///
/// Returns the position after it and the columns played. An opening that ends the game is drawn
/// again from the same stream; `None` when 10,000 of them did.
pub(crate) fn draw_moves(
    start: &Position,
    plies: u32,
    row_seed: u64,
    episode: u64,
) -> Option<(Position, Vec<u8>)> {
    let mut rng = rng::stream(row_seed, episode, Purpose::Opening);
    (0..MAX_TRIES).find_map(|_| {
        let mut position = *start;
        let mut moves = Vec::with_capacity(plies as usize);
        for _ in 0..plies {
            if position.is_over() {
                return None;
            }
            let legal = position.legal_moves();
            let rank = rng::below(&mut rng, legal.len() as u32) as usize;
            let column = legal.nth(rank)?;
            moves.push(column as u8);
            position = position.play_legal(column).0;
        }
        (plies == 0 || !position.is_over()).then_some((position, moves))
    })
}

/// Draws an opening as [`draw_moves`] does and returns the position after it.
pub(super) fn draw(start: &Position, plies: u32, row_seed: u64, episode: u64) -> Option<Position> {
    draw_moves(start, plies, row_seed, episode).map(|(position, _)| position)
}
