//! `Statistics`: what the games of several tables say together.

use pyo3::prelude::*;

use super::Reduced;
use super::errors::exception;
use super::game_table::{not_written, summary_texts};
use crate::simulate::Statistics;

/// Exact counts over games: parts added in any order and grouping say the same.
#[pyclass(name = "Statistics", module = "endodoi._core", eq)]
#[derive(PartialEq)]
pub(super) struct PyStatistics(pub(super) Statistics);

#[pymethods]
impl PyStatistics {
    #[new]
    fn new() -> PyStatistics {
        PyStatistics(Statistics::default())
    }

    /// Rebuild counts from the text that :meth:`to_text` gives.
    ///
    /// Raises
    /// ------
    /// SimulationError
    ///     If the text holds no counts.
    #[staticmethod]
    fn from_text(text: &str) -> PyResult<PyStatistics> {
        serde_json::from_str(text)
            .map(PyStatistics)
            .map_err(|error| {
                let message = format!("the counts cannot be read: {error}");
                exception("SimulationError", &message, |fields| {
                    fields.set("field", "text")
                })
            })
    }

    /// Return all counts as text that :meth:`from_text` reads.
    fn to_text(&self) -> PyResult<String> {
        serde_json::to_string(&self.0).map_err(|error| not_written(&error))
    }

    /// Add the games of other counts.
    fn add(&mut self, other: &PyStatistics) {
        self.0 += &other.0;
    }

    /// What following games move by move has shown, as text that `GameTable.from_numpy` reads.
    #[getter]
    fn detail(&self) -> PyResult<String> {
        serde_json::to_string(self.0.detail()).map_err(|error| not_written(&error))
    }

    /// Return what the games say together: the numbers as JSON, and as text.
    fn summary(&self) -> PyResult<(String, String)> {
        summary_texts(&self.0.summary())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, (String,)>> {
        let from_text = py.get_type::<PyStatistics>().getattr("from_text")?;
        Ok((from_text, (self.to_text()?,)))
    }
}
