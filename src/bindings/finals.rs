//! What games ended with that a step has replaced, as arrays.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::environment::Finals;

/// Makes the rows, the last observations and the last infos of games, None where there are none.
pub(super) fn finals_of<'py>(
    py: Python<'py>,
    finals: &Finals,
) -> PyResult<Option<Bound<'py, PyTuple>>> {
    let count = finals.rows.len();
    if count == 0 {
        return Ok(None);
    }
    let rows = PyArray1::from_iter(py, finals.rows.iter().map(|&row| row as i64));
    let length = finals.observations.len() / count;
    let views = PyArray1::from_slice(py, &finals.observations).reshape([count, length])?;
    let infos = PyDict::new(py);
    infos.set_item("to_play", PyArray1::from_slice(py, &finals.to_play))?;
    infos.set_item("outcome", PyArray1::from_slice(py, &finals.outcome))?;
    let captured = PyArray1::from_slice(py, &finals.captured).reshape([count, 2])?;
    infos.set_item("captured", captured)?;
    infos.set_item("plies", PyArray1::from_slice(py, &finals.plies))?;
    infos.set_item("end_reason", PyArray1::from_slice(py, &finals.end_reason))?;
    if !finals.opponent.is_empty() {
        infos.set_item("opponent", PyArray1::from_slice(py, &finals.opponent))?;
    }
    (rows, views, infos).into_pyobject(py).map(Some)
}
