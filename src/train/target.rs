//! Value targets: the lambda return of a game's searched values, mixed with its end.

use super::config::ValueTargetConfig;
use crate::position::{Outcome, Position};
use crate::side::Side;

/// What a search said of one position of a game, from the view of its side to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Searched {
    /// The side to move.
    pub side: Side,
    /// The mover's captured seeds less the other side's.
    pub lead: i32,
    /// Searched probabilities of win, draw and loss.
    pub chances: [f32; 3],
    /// Searched future margin in seeds.
    pub margin: f32,
    /// Whether the move played says how the position is to be played: what follows a move drawn at
    /// random says nothing of its value.
    pub followed: bool,
}

/// Targets of one position, from the view of its side to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueTarget {
    /// Probabilities of win, draw and loss.
    pub chances: [f32; 3],
    /// Future margin in seeds.
    pub margin: f32,
}

impl ValueTarget {
    /// Returns what a position's target says of an earlier one, `lead` being the lead of the
    /// earlier position's side to move then and `other_side` whether the sides to move differ.
    fn seen_from(self, from: &Searched, at: (Side, i32)) -> ValueTarget {
        let (side, lead) = at;
        let gained = |lead: i32| (lead - from.lead) as f32;
        if side == from.side {
            return ValueTarget {
                margin: gained(lead) + self.margin,
                ..self
            };
        }
        let [win, draw, loss] = self.chances;
        ValueTarget {
            chances: [loss, draw, win],
            margin: gained(-lead) - self.margin,
        }
    }

    /// Moves every number towards `other` by `share`.
    fn mixed(self, other: ValueTarget, share: f32) -> ValueTarget {
        let mix = |a: f32, b: f32| a + share * (b - a);
        let [mine, theirs] = [self.chances, other.chances];
        ValueTarget {
            chances: [0, 1, 2].map(|at| mix(mine[at], theirs[at])),
            margin: mix(self.margin, other.margin),
        }
    }
}

impl Searched {
    fn target(&self) -> ValueTarget {
        ValueTarget {
            chances: self.chances,
            margin: self.margin,
        }
    }
}

/// Returns the target of every position of a finished game from its `end`.
///
/// With `G` the lambda return and `V` the searched value, all seen from the mover of `t`:
/// `G_t = (1 - lambda) V_t + lambda G_(t+1)`, the end in place of `G` after the last move (after
/// Sutton 1988; a searched value looks ahead itself, so the position's own counts as the first).
/// After a move that was drawn at random `G_t = V_t`. The seeds taken between the two positions are added to the margin. The target is `G_t` moved
/// towards the end by `outcome`.
pub fn finished(game: &[Searched], end: &Position, config: &ValueTargetConfig) -> Vec<ValueTarget> {
    let Some(outcome) = end.outcome() else {
        return Vec::new();
    };
    let side = end.to_move();
    let settled = ValueTarget {
        chances: chances_of(outcome, side),
        margin: 0.0,
    };
    let lead = end.board().lead(side);
    let returns = lambda_returns(game, settled, (side, lead), config.lambda);
    game.iter()
        .zip(returns)
        .map(|(searched, value)| {
            value.mixed(settled.seen_from(searched, (side, lead)), config.outcome)
        })
        .collect()
}

/// Returns the targets of the positions of a game that goes on, all but the last, whose searched
/// value stands for what is to come.
pub fn unfinished(game: &[Searched], lambda: f32) -> Vec<ValueTarget> {
    match game.split_last() {
        Some((last, before)) => {
            lambda_returns(before, last.target(), (last.side, last.lead), lambda)
        }
        None => Vec::new(),
    }
}

fn lambda_returns(
    game: &[Searched],
    end: ValueTarget,
    end_at: (Side, i32),
    lambda: f32,
) -> Vec<ValueTarget> {
    let mut returns = vec![end; game.len()];
    let (mut later, mut at) = (end, end_at);
    for (searched, slot) in game.iter().zip(&mut returns).rev() {
        later = searched.target().mixed(
            later.seen_from(searched, at),
            if searched.followed { lambda } else { 0.0 },
        );
        *slot = later;
        at = (searched.side, searched.lead);
    }
    returns
}

/// Returns win, draw and loss of a finished game as seen by `side`.
fn chances_of(outcome: Outcome, side: Side) -> [f32; 3] {
    match outcome {
        Outcome::Win(winner) if winner == side => [1.0, 0.0, 0.0],
        Outcome::Win(_) => [0.0, 0.0, 1.0],
        Outcome::Draw => [0.0, 1.0, 0.0],
    }
}
