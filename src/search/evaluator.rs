//! What a tree search asks of a network.

use thiserror::Error;

use crate::position::Position;

/// Why an evaluator could not answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct EvaluatorError {
    /// What went wrong, for the user.
    pub message: String,
}

/// Evaluations of `B` positions, each from the view of its side to move.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluations {
    /// Preference for each column, `f32[B, C]`, before the softmax; illegal columns hold any
    /// finite number and are never read.
    pub logits: Vec<f32>,
    /// Probability that the side to move wins, `f32[B]`.
    pub win: Vec<f32>,
    /// Probability that the side to move loses, `f32[B]`.
    pub loss: Vec<f32>,
    /// Expected seeds that the side to move still takes less those the other side still takes,
    /// `f32[B]`.
    pub margin: Vec<f32>,
}

impl Evaluations {
    /// Makes room for `rows` positions of `columns` and sets every number to zero.
    pub fn clear(&mut self, rows: usize, columns: usize) {
        for (field, len) in [
            (&mut self.logits, rows * columns),
            (&mut self.win, rows),
            (&mut self.loss, rows),
            (&mut self.margin, rows),
        ] {
            field.clear();
            field.resize(len, 0.0);
        }
    }
}

/// Evaluates many open positions at once.
pub trait Evaluator {
    /// Fills `out` with the evaluations of `positions`, which share their number of columns.
    ///
    /// # Errors
    /// [`EvaluatorError`] when the positions do not fit the network or the network fails.
    fn evaluate(
        &mut self,
        positions: &[Position],
        out: &mut Evaluations,
    ) -> Result<(), EvaluatorError>;
}

impl<E: Evaluator + ?Sized> Evaluator for Box<E> {
    fn evaluate(
        &mut self,
        positions: &[Position],
        out: &mut Evaluations,
    ) -> Result<(), EvaluatorError> {
        (**self).evaluate(positions, out)
    }
}
