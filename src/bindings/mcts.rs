//! `analyse_mcts`: what a Monte Carlo tree search finds out about a position.

use numpy::PyArray1;
use pyo3::prelude::*;

use super::errors::exception;
use super::player::PyPlayer;
use super::position::PyPosition;
use crate::policy::network::NetworkEvaluator;
use crate::policy::{AgentSearch, PolicySpec};
use crate::rng::{self, Purpose, Xoshiro128PlusPlus};
use crate::search::{MctsConfig, MctsError, MctsResult, MctsTree, Proven};

/// Simulations between two looks for Ctrl-C: by random games, and over a network.
const SLICES: [u32; 2] = [1024, 32];

/// Column, value, proof, simulations; visits, values and proofs of all columns; the line.
type Found<'py> = (
    u8,
    f64,
    Option<&'static str>,
    u32,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
    Vec<Option<&'static str>>,
    Vec<usize>,
);

/// Search a position with the settings of a player that searches by Monte Carlo.
///
/// Parameters
/// ----------
/// player : Player
///     ``mcts:N`` or ``agent:FILE_RUN_OR_NAME@mcts=N``.
/// position : Position
/// seed : int
///     The random games are drawn from the stream of the row seed mix(seed, 0) and episode 0.
///
/// Returns
/// -------
/// column, value, proven, simulations, visits int64 [C], values float64 [C], proofs, line : tuple
///
/// Raises
/// ------
/// PolicyError
///     If the player does not search by Monte Carlo, the game is over, or the network fails.
#[pyfunction]
pub(super) fn analyse_mcts<'py>(
    py: Python<'py>,
    player: &PyPlayer,
    position: &PyPosition,
    seed: u64,
) -> PyResult<Found<'py>> {
    let refuse = |message: String| {
        let message = format!("player {}: {message}", player.name());
        exception("PolicyError", &message, |fields| {
            fields.set("player", player.name())
        })
    };
    let (simulations, slice) = match player.spec {
        PolicySpec::Mcts { simulations } => (simulations, SLICES[0]),
        PolicySpec::Agent {
            search: AgentSearch::Mcts(simulations),
            ..
        } => (simulations, SLICES[1]),
        _ => return Err(refuse("it does not search by Monte Carlo".to_owned())),
    };
    let config = MctsConfig {
        simulations,
        ..MctsConfig::default()
    };
    let failed = |error: MctsError| refuse(error.to_string());
    let mut tree = MctsTree::new(&position.0, config).map_err(failed)?;
    let mut evaluator = player.gumbel().map(NetworkEvaluator::new);
    let mut stream = rng::stream(rng::mix(seed, 0), 0, Purpose::Policy);
    let mut left = simulations;
    while left > 0 {
        let count = left.min(slice);
        py.detach(|| grow(&mut tree, count, evaluator.as_mut(), &mut stream))
            .map_err(failed)?;
        py.check_signals()?;
        left -= count;
    }
    let found = tree.result().map_err(failed)?;
    Ok(to_python(py, &found, position.0.ruleset().columns()))
}

fn grow(
    tree: &mut MctsTree,
    simulations: u32,
    evaluator: Option<&mut NetworkEvaluator>,
    stream: &mut Xoshiro128PlusPlus,
) -> Result<(), MctsError> {
    match evaluator {
        Some(evaluator) => tree.grow_with(simulations, evaluator),
        None => tree.grow(simulations, stream),
    }
}

fn to_python<'py>(py: Python<'py>, found: &MctsResult, columns: usize) -> Found<'py> {
    let mut visits = vec![0; columns];
    let mut values = vec![f64::NAN; columns];
    let mut proofs = vec![None; columns];
    for one in &found.moves {
        let column = usize::from(one.column);
        visits[column] = i64::from(one.visits);
        values[column] = one.value.unwrap_or(f64::NAN);
        proofs[column] = one.proven.map(Proven::name);
    }
    let line = &found.principal_variation;
    (
        found.column,
        found.value,
        found.proven.map(Proven::name),
        found.visits,
        PyArray1::from_vec(py, visits),
        PyArray1::from_vec(py, values),
        proofs,
        line.iter().copied().map(usize::from).collect(),
    )
}
