//! `analyse_alpha_beta`: what an alpha-beta search finds out about a position.

use std::sync::Arc;

use pyo3::prelude::*;

use super::errors::exception;
use super::opponent::Raised;
use super::player::PyPlayer;
use super::position::PyPosition;
use crate::policy::{PolicySpec, watched};
use crate::search::{AlphaBetaSearch, SearchError};

/// Column, value, depth, nodes, line.
type Found = (usize, i32, u32, u64, Vec<usize>);

/// Search a position with the settings of an alpha-beta player.
///
/// Parameters
/// ----------
/// player : Player
///     ``alphabeta:N`` or another limit.
/// position : Position
///
/// Returns
/// -------
/// column, value, depth, nodes, line : tuple
///
/// Raises
/// ------
/// PolicyError
///     If the player is another one or the game is over.
#[pyfunction]
pub(super) fn analyse_alpha_beta(
    py: Python<'_>,
    player: &mut PyPlayer,
    position: &PyPosition,
) -> PyResult<Found> {
    let name = player.spec.to_string();
    let refuse = |message: &str| {
        let message = format!("player {name}: {message}");
        exception("PolicyError", &message, |fields| {
            fields.set("player", &name)
        })
    };
    let failed = |error: SearchError| refuse(&error.to_string());
    let PolicySpec::AlphaBeta(config) = player.spec else {
        return Err(refuse("it does not search by alpha-beta"));
    };
    let mut search = AlphaBetaSearch::with(config).map_err(failed)?;
    let flag = Arc::default();
    search.set_interrupt(Arc::clone(&flag));
    let threads = player.threads()?;
    let raised = Raised::default();
    let found = py.detach(|| {
        let mut go_on = || raised.listen();
        watched::watch(Some(threads), &flag, &mut go_on, || {
            search.search(&position.0)
        })
    });
    if let Some(error) = raised.take() {
        return Err(error);
    }
    let found = found
        .unwrap_or(Err(SearchError::Interrupted))
        .map_err(failed)?;
    let line = found.principal_variation.into_iter().map(usize::from);
    Ok((
        found.column,
        found.value,
        found.depth,
        found.nodes,
        line.collect(),
    ))
}
