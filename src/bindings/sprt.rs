//! `Sprt`: the sequential test on counts of results.

use pyo3::prelude::*;

use super::arguments::whole_numbers;
use super::errors::exception;
use crate::arena::{EloModel, SprtConfig, SprtError};

/// A sequential test; users take ``endodoi.arena.Sprt``.
///
/// Parameters
/// ----------
/// elo0, elo1, alpha, beta : float
/// model : str
///     ``logistic`` or ``normalized``.
#[pyclass(name = "Sprt", module = "endodoi._core", frozen)]
pub(super) struct PySprt(SprtConfig);

#[pymethods]
impl PySprt {
    #[new]
    #[pyo3(signature = (elo0, elo1, *, alpha, beta, model))]
    fn new(elo0: f64, elo1: f64, alpha: f64, beta: f64, model: &str) -> PyResult<PySprt> {
        let Some(model) = EloModel::of_name(model) else {
            let message = format!("model is {model:?}, expected \"logistic\" or \"normalized\"");
            return Err(exception("SprtError", &message, |fields| {
                fields.set("field", "model")?.set("value", model)
            }));
        };
        let config = SprtConfig {
            elo0,
            elo1,
            alpha,
            beta,
            model,
        };
        config.check()?;
        Ok(PySprt(config))
    }

    /// Return what counts of results say, as JSON; numbers that are infinite are null.
    fn result(&self, counts: &Bound<'_, PyAny>) -> PyResult<String> {
        let counts = read_counts(&whole_numbers(counts, "counts")?)?;
        let result = self.0.result(&counts)?;
        serde_json::to_string(&result).map_err(|error| {
            exception("SprtError", &error.to_string(), |fields| {
                fields.set("field", "json")
            })
        })
    }

    /// Test after each of these pairs in turn, given as half points of the first player.
    ///
    /// Returns
    /// -------
    /// counts : list of int
    ///     Those given and the pairs up to the decision.
    /// played : int
    ///     The pairs up to the decision.
    fn decide(
        &self,
        py: Python<'_>,
        counts: &Bound<'_, PyAny>,
        half_points: &Bound<'_, PyAny>,
    ) -> PyResult<([u64; 5], usize)> {
        let counts = read_counts(&whole_numbers(counts, "counts")?)?;
        let mut counts: [u64; 5] = counts
            .try_into()
            .map_err(|counts: Vec<u64>| SprtError::Counts { got: counts.len() })?;
        let half_points = whole_numbers(half_points, "half_points")?;
        let played = py.detach(|| self.0.decide(&mut counts, &half_points))?;
        Ok((counts, played))
    }
}

/// Reads counts, which are small enough to be listed one by one.
fn read_counts(numbers: &[i64]) -> PyResult<Vec<u64>> {
    const MOST: u64 = 1_000_000;
    let read = |(place, &number): (usize, &i64)| {
        let count = u64::try_from(number).ok().filter(|&count| count <= MOST);
        count.ok_or_else(|| {
            let message = format!("counts[{place}] is {number}, expected 0 to {MOST}");
            exception("SprtError", &message, |fields| {
                fields.set("field", "counts")?.set("value", number)
            })
        })
    };
    numbers.iter().enumerate().map(read).collect()
}

impl From<SprtError> for PyErr {
    fn from(error: SprtError) -> PyErr {
        let message = error.to_string();
        exception("SprtError", &message, |fields| match error {
            SprtError::OutOfRange { field, value, .. } => {
                fields.set("field", field)?.set("value", value)
            }
            SprtError::Order { elo0, .. } => fields.set("field", "elo0")?.set("value", elo0),
            SprtError::Counts { got } => fields.set("field", "counts")?.set("value", got),
            SprtError::Score { half_points, .. } => fields
                .set("field", "half_points")?
                .set("value", half_points),
            SprtError::NotConverged { elo } => fields.set("value", elo),
        })
    }
}
