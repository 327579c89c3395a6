//! `fit_ratings`: ratings from pairs of games.

use pyo3::prelude::*;

use super::errors::exception;
use crate::arena::{self, PairOutcome, RatingConfig, RatingError};

/// Rate players by pairs of games.
///
/// Parameters
/// ----------
/// players : int
/// pairs : list of (int, int, int, int)
///     Two players, the results of the first as South and as North: 1, 0, -1.
/// prior : float
///
/// Returns
/// -------
/// ratings : str
///     As JSON.
#[pyfunction]
#[pyo3(signature = (players, pairs, *, prior))]
pub(super) fn fit_ratings(
    py: Python<'_>,
    players: usize,
    pairs: Vec<(u32, u32, i8, i8)>,
    prior: f64,
) -> PyResult<String> {
    let pairs: Vec<PairOutcome> = pairs
        .into_iter()
        .map(|(first, second, south, north)| PairOutcome {
            players: [first, second],
            results: [south, north],
        })
        .collect();
    let ratings = py.detach(|| arena::fit_ratings(players, &pairs, &RatingConfig { prior }))?;
    serde_json::to_string(&ratings).map_err(|error| {
        exception("RatingError", &error.to_string(), |fields| {
            fields.set("field", "json")
        })
    })
}

impl From<RatingError> for PyErr {
    fn from(error: RatingError) -> PyErr {
        let message = error.to_string();
        exception("RatingError", &message, |fields| match error {
            RatingError::Players { players } => {
                fields.set("field", "players")?.set("value", players)
            }
            RatingError::Pair {
                pair,
                first,
                second,
                ..
            } => fields
                .set("field", "pairs")?
                .set("pair", pair)?
                .set("value", (first, second)),
            RatingError::Result { pair, result } => fields
                .set("field", "results")?
                .set("pair", pair)?
                .set("value", result),
            RatingError::Prior { prior } => fields.set("field", "prior")?.set("value", prior),
            RatingError::NotConverged { .. } => Ok(fields),
        })
    }
}
