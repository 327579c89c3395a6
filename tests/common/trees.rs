//! What tests of the Monte Carlo tree search share.

// Every test program compiles this module and uses a part of it.
#![allow(dead_code)]
// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used)]

use endodoi::rng::{self, Purpose, Xoshiro128PlusPlus};
use endodoi::search::{Evaluations, Evaluator, EvaluatorError, MctsConfig, MctsResult, MctsTree};
use endodoi::{Position, Ruleset};

/// Opens a random stream for a search.
pub(crate) fn stream(number: u64) -> Xoshiro128PlusPlus {
    rng::stream(number, 0, Purpose::Policy)
}

/// Reads a position.
pub(crate) fn parse(text: &str, rules: &Ruleset) -> Position {
    Position::from_text(text, rules).expect("a position")
}

/// Plants a tree.
pub(crate) fn tree(position: &Position) -> MctsTree {
    MctsTree::new(position, MctsConfig::default()).expect("an open game")
}

/// Searches by random games.
pub(crate) fn search(position: &Position, simulations: u32) -> MctsResult {
    let mut tree = tree(position);
    tree.grow(simulations, &mut stream(5)).expect("in range");
    tree.result().expect("an open game")
}

/// An evaluator that likes every move equally and guesses from the seeds of both rows, so that
/// trees grow unevenly; it counts what it is asked.
#[derive(Default)]
pub(crate) struct Guess {
    pub(crate) calls: usize,
    pub(crate) positions: usize,
}

impl Evaluator for Guess {
    fn evaluate(
        &mut self,
        positions: &[Position],
        out: &mut Evaluations,
    ) -> Result<(), EvaluatorError> {
        self.calls += 1;
        self.positions += positions.len();
        let columns = positions[0].ruleset().columns();
        out.clear(positions.len(), columns);
        for (row, position) in positions.iter().enumerate() {
            assert!(!position.is_over(), "ended positions need no evaluation");
            let board = position.board();
            let seeds = |side| board.row(side).iter().copied().map(f32::from).sum::<f32>();
            let own = seeds(position.to_move()) + 1.0;
            out.win[row] = own / (own + seeds(position.to_move().other()) + 1.0);
            out.loss[row] = 1.0 - out.win[row];
            for column in 0..columns {
                out.logits[row * columns + column] = (column as f32 * 1.7).sin();
            }
        }
        Ok(())
    }
}

/// Searches with guesses.
pub(crate) fn search_with_guess(position: &Position, simulations: u32) -> MctsResult {
    let mut tree = tree(position);
    tree.grow_with(simulations, &mut Guess::default())
        .expect("in range");
    tree.result().expect("an open game")
}
