//! Search: alpha-beta, and Gumbel tree search over an [`Evaluator`].

mod evaluator;
mod gumbel;
mod tree;

pub use evaluator::{Evaluations, Evaluator, EvaluatorError};
pub use gumbel::{GumbelConfig, GumbelSearch, RootResult};
