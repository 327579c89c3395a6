//! `GameTable`: games as columns.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::errors::exception;
use super::statistics::PyStatistics;
use crate::simulate::{Detail, GameTable, Statistics, Summary};

/// Games as columns, one row a game; users see it as ``endodoi.GameTable``.
#[pyclass(name = "GameTable", module = "endodoi._core", frozen, eq)]
#[derive(PartialEq)]
pub(super) struct PyGameTable(pub(super) GameTable);

#[pymethods]
impl PyGameTable {
    /// Names of the codes in the column ``end_reason``, in order.
    #[classattr]
    #[pyo3(name = "END_REASONS")]
    fn end_reasons() -> [&'static str; 7] {
        GameTable::END_REASONS
    }

    /// Rebuild a table from the columns that :meth:`to_numpy` gives and, if there is one, the
    /// text that :attr:`detail` gives.
    ///
    /// Raises
    /// ------
    /// SimulationError
    ///     If a column is missing, they differ in length, or the text is no detail.
    #[staticmethod]
    #[pyo3(signature = (columns, detail = None))]
    fn from_numpy(columns: &Bound<'_, PyDict>, detail: Option<&str>) -> PyResult<PyGameTable> {
        let detail = detail.map(read_detail).transpose()?.unwrap_or_default();
        let table = GameTable {
            winner: column(columns, "winner")?,
            captured_south: column(columns, "captured_south")?,
            captured_north: column(columns, "captured_north")?,
            plies: column(columns, "plies")?,
            laps: column(columns, "laps")?,
            seeds_sown: column(columns, "seeds_sown")?,
            captures: column(columns, "captures")?,
            longest_sowing: column(columns, "longest_sowing")?,
            endless_met: column(columns, "endless_met")?,
            end_reason: column(columns, "end_reason")?,
            offers: if columns.contains("offers")? {
                column(columns, "offers")?
            } else {
                Vec::new()
            },
            detail,
        };
        Ok(PyGameTable(table))
    }

    /// Return the columns as new arrays [B], by name.
    fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        columns_of(py, self.0.clone())
    }

    /// What following the first games move by move has shown, as text that
    /// :meth:`from_numpy` reads.
    #[getter]
    fn detail(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.detail).map_err(|error| not_written(&error))
    }

    /// Return what the games say together: the numbers as JSON, and as text.
    ///
    /// Parameters
    /// ----------
    /// detail : str or None
    ///     The detail of another table, whose games were followed in the place of these.
    #[pyo3(signature = (detail = None))]
    fn summary(&self, py: Python<'_>, detail: Option<&str>) -> PyResult<(String, String)> {
        let detail = detail.map(read_detail).transpose()?;
        let summary = py.detach(|| {
            let mut statistics = Statistics::default();
            statistics.add(&self.0);
            if let Some(detail) = detail {
                statistics.set_detail(detail);
            }
            statistics.summary()
        });
        summary_texts(&summary)
    }

    /// Return the counts that `summary` sums up, to be added to those of other tables.
    fn statistics(&self, py: Python<'_>) -> PyStatistics {
        py.detach(|| {
            let mut statistics = Statistics::default();
            statistics.add(&self.0);
            PyStatistics(statistics)
        })
    }

    /// Whether the turns that offered an endless sowing were counted.
    #[getter]
    fn counted_offers(&self) -> bool {
        !self.0.is_empty() && self.0.offers.len() == self.0.len()
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<super::Reduced<'py, (Bound<'py, PyDict>, String)>> {
        let from_numpy = py.get_type::<PyGameTable>().getattr("from_numpy")?;
        Ok((from_numpy, (self.to_numpy(py)?, self.detail()?)))
    }
}

/// Turns a table into arrays [B], by name.
pub(super) fn columns_of(py: Python<'_>, table: GameTable) -> PyResult<Bound<'_, PyDict>> {
    let counted_offers = table.offers.len() == table.len() && !table.is_empty();
    let columns = PyDict::new(py);
    columns.set_item("winner", PyArray1::from_vec(py, table.winner))?;
    for (name, values) in [
        ("captured_south", table.captured_south),
        ("captured_north", table.captured_north),
    ] {
        columns.set_item(name, PyArray1::from_vec(py, values))?;
    }
    for (name, values) in [
        ("plies", table.plies),
        ("laps", table.laps),
        ("seeds_sown", table.seeds_sown),
        ("captures", table.captures),
        ("longest_sowing", table.longest_sowing),
        ("endless_met", table.endless_met),
    ] {
        columns.set_item(name, PyArray1::from_vec(py, values))?;
    }
    columns.set_item("end_reason", PyArray1::from_vec(py, table.end_reason))?;
    if counted_offers {
        columns.set_item("offers", PyArray1::from_vec(py, table.offers))?;
    }
    Ok(columns)
}

/// Writes a summary as JSON and as text.
pub(super) fn summary_texts(summary: &Summary) -> PyResult<(String, String)> {
    let numbers = serde_json::to_string(summary).map_err(|error| not_written(&error))?;
    Ok((numbers, summary.to_string()))
}

/// Copies one column of a dictionary, which must be as long as the first one.
fn column<T>(columns: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<T>>
where
    T: numpy::Element + Copy,
{
    let refuse = |message: String| refused(name, &message);
    let values = columns
        .get_item(name)?
        .ok_or_else(|| refuse(format!("the column {name} is missing")))?;
    let values = values.cast::<PyArray1<T>>()?.to_vec()?;
    let rows = columns
        .get_item("winner")?
        .map_or(Ok(0), |winner| winner.len())?;
    if values.len() == rows {
        Ok(values)
    } else {
        let got = values.len();
        Err(refuse(format!(
            "the column {name} has {got} rows, expected {rows}"
        )))
    }
}

fn read_detail(text: &str) -> PyResult<Detail> {
    serde_json::from_str(text)
        .map_err(|error| refused("detail", &format!("the detail cannot be read: {error}")))
}

fn refused(field: &str, message: &str) -> PyErr {
    exception("SimulationError", message, |fields| {
        fields.set("field", field)
    })
}

pub(super) fn not_written(error: &serde_json::Error) -> PyErr {
    refused("detail", &format!("the numbers cannot be written: {error}"))
}
