//! What an agent's network says of positions, without a search.

use std::sync::Arc;

use crate::policy::network::{Network, NetworkEvaluator, check_columns};
use crate::policy::value::ValueNetwork;
use crate::position::Position;
use crate::search::{Evaluations, Evaluator, EvaluatorError};

/// The network of an agent, shared with its player.
#[derive(Clone, Debug)]
pub enum AgentNetwork {
    /// Policy and value, of a Gumbel agent.
    Gumbel(Arc<Network>),
    /// Value alone, of a value agent.
    Value(Arc<ValueNetwork>),
}

impl AgentNetwork {
    /// Returns the network of a Gumbel agent, `None` for that of a value agent.
    pub fn gumbel(self) -> Option<Arc<Network>> {
        match self {
            AgentNetwork::Gumbel(network) => Some(network),
            AgentNetwork::Value(_) => None,
        }
    }

    /// Evaluates open positions, which share their number of columns.
    ///
    /// A value network fills the margins alone, with its weights as they are: its player rounds
    /// them ([`ValueNetwork::margin`]).
    ///
    /// # Errors
    /// [`EvaluatorError`] when the positions are of another size than the network.
    pub fn evaluate(
        &self,
        positions: &[Position],
        out: &mut Evaluations,
    ) -> Result<(), EvaluatorError> {
        match self {
            AgentNetwork::Gumbel(network) => {
                NetworkEvaluator::new(Arc::clone(network)).evaluate(positions, out)
            }
            AgentNetwork::Value(network) => margins(network, positions, out),
        }
    }
}

fn margins(
    network: &ValueNetwork,
    positions: &[Position],
    out: &mut Evaluations,
) -> Result<(), EvaluatorError> {
    *out = Evaluations::default();
    let expected = network.sizes().columns;
    match check_columns(positions)? {
        Some(columns) if columns != expected => {
            return Err(EvaluatorError {
                message: format!("the positions have {columns} columns, expected {expected}"),
            });
        }
        _ => {}
    }
    out.margin.extend(positions.iter().map(|position| {
        let (board, mover) = (position.board(), position.to_move());
        network.plain(&[board.row(mover), board.row(mover.other())].concat())
    }));
    Ok(())
}
