//! The positions of an exam.

use std::collections::HashSet;

use crate::arena::regret::RegretError;
use crate::policy::{Policy, Random};
use crate::position::Position;
use crate::rng::{self, Purpose};
use crate::ruleset::Ruleset;

/// Plies after which a game is not followed further; with a high quiet limit the last seeds could
/// wander about for long.
const MAX_PLIES: usize = 1 << 16;

/// Games in a row that bring nothing new before there is taken to be nothing.
const VAIN_GAMES: u64 = 10_000;

/// Draws positions with a choice, no two of them alike, each from a random game of its own.
pub(super) fn draw(ruleset: &Ruleset, count: u32, seed: u64) -> Result<Vec<Position>, RegretError> {
    let mut taken = HashSet::new();
    let mut positions = Vec::new();
    let (mut game, mut vain) = (0, 0);
    while positions.len() < count as usize {
        if vain == VAIN_GAMES {
            return Err(RegretError::TooFew {
                wanted: count,
                found: positions.len() as u32,
                games: game,
            });
        }
        let drawn = draw_one(ruleset, rng::mix(seed, game))?;
        game += 1;
        match drawn.filter(|position| taken.insert(asked(position))) {
            Some(position) => {
                positions.push(position);
                vain = 0;
            }
            None => vain += 1,
        }
    }
    Ok(positions)
}

/// Plays a random game and draws one of its positions with a choice, if there is any.
fn draw_one(ruleset: &Ruleset, row_seed: u64) -> Result<Option<Position>, RegretError> {
    let mut stream = rng::stream(row_seed, 0, Purpose::Exam);
    let mut position = Position::start(ruleset);
    let mut choices = Vec::new();
    let mut column = [0];
    while !position.is_over() && choices.len() < MAX_PLIES {
        if position.legal_moves().len() > 1 {
            choices.push(position);
        }
        let streams = std::slice::from_mut(&mut stream);
        Random.choose(&[position], streams, &mut column)?;
        match position.play(column[0].into()) {
            Ok(next) => position = next,
            // The random player's moves are legal.
            Err(_) => break,
        }
    }
    if choices.is_empty() {
        return Ok(None);
    }
    let drawn = rng::below(&mut stream, choices.len() as u32);
    Ok(Some(choices[drawn as usize]))
}

/// Returns what makes two questions the same: the view of the mover without the quiet plies.
fn asked(position: &Position) -> Vec<i16> {
    let mut view = position.observation();
    view.pop();
    view
}
