//! Search: alpha-beta, and Gumbel tree search over an [`Evaluator`].

mod evaluator;

pub use evaluator::{Evaluations, Evaluator, EvaluatorError};
