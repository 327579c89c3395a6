//! The NumPy arrays that environments return.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::batch::StepArrays;

/// The arrays of every row that a step returns, and a reset but for the first three.
pub(super) struct Views {
    pub(super) rewards: Py<PyArray1<f32>>,
    pub(super) terminated: Py<PyArray1<bool>>,
    pub(super) truncated: Py<PyArray1<bool>>,
    pub(super) observations: Py<PyArray2<i16>>,
    pub(super) masks: Py<PyArray2<i8>>,
    pub(super) to_play: Py<PyArray1<i8>>,
}

impl Views {
    /// Makes arrays of zeros for `rows` games on boards of `columns`.
    pub(super) fn new(py: Python<'_>, rows: usize, columns: usize) -> Views {
        Views {
            rewards: PyArray1::zeros(py, rows, false).unbind(),
            terminated: PyArray1::zeros(py, rows, false).unbind(),
            truncated: PyArray1::zeros(py, rows, false).unbind(),
            observations: PyArray2::zeros(py, [rows, 2 * columns + 3], false).unbind(),
            masks: PyArray2::zeros(py, [rows, columns], false).unbind(),
            to_play: PyArray1::zeros(py, rows, false).unbind(),
        }
    }

    /// Refers to the same arrays once more.
    pub(super) fn clone_ref(&self, py: Python<'_>) -> Views {
        Views {
            rewards: self.rewards.clone_ref(py),
            terminated: self.terminated.clone_ref(py),
            truncated: self.truncated.clone_ref(py),
            observations: self.observations.clone_ref(py),
            masks: self.masks.clone_ref(py),
            to_play: self.to_play.clone_ref(py),
        }
    }

    /// Makes the infos of all rows: `action_mask` and `to_play`, each with its mask of rows.
    pub(super) fn infos<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let infos = PyDict::new(py);
        let rows = self.to_play.bind(py).len()?;
        let all = || PyArray1::from_vec(py, vec![true; rows]);
        infos.set_item(intern!(py, "action_mask"), &self.masks)?;
        infos.set_item(intern!(py, "_action_mask"), all())?;
        infos.set_item(intern!(py, "to_play"), &self.to_play)?;
        infos.set_item(intern!(py, "_to_play"), all())?;
        Ok(infos)
    }
}

/// Adds what ended to the infos: `outcome`, `captured`, `plies`, `end_reason`, each with its mask
/// of rows. Rows whose game goes on hold zeros, as Gymnasium's own vector environments give them.
pub(super) fn add_ends(infos: &Bound<'_, PyDict>, arrays: &StepArrays) -> PyResult<()> {
    if !arrays.ended.contains(&true) {
        return Ok(());
    }
    let py = infos.py();
    let ended = &arrays.ended;
    let pairs: Vec<i16> = arrays
        .captured
        .chunks_exact(2)
        .zip(ended)
        .flat_map(|(pair, &over)| pair.iter().map(move |&seeds| if over { seeds } else { 0 }))
        .collect();
    let captured = PyArray1::from_vec(py, pairs).reshape([ended.len(), 2])?;
    infos.set_item(intern!(py, "outcome"), of_ended(py, &arrays.outcome, ended))?;
    infos.set_item(intern!(py, "captured"), captured)?;
    infos.set_item(intern!(py, "plies"), of_ended(py, &arrays.plies, ended))?;
    infos.set_item(
        intern!(py, "end_reason"),
        of_ended(py, &arrays.end_reason, ended),
    )?;
    for key in [
        intern!(py, "_outcome"),
        intern!(py, "_captured"),
        intern!(py, "_plies"),
        intern!(py, "_end_reason"),
    ] {
        infos.set_item(key, PyArray1::from_slice(py, ended))?;
    }
    Ok(())
}

/// Copies the values of ended rows and leaves zeros elsewhere.
fn of_ended<'py, T>(py: Python<'py>, values: &[T], ended: &[bool]) -> Bound<'py, PyArray1<T>>
where
    T: numpy::Element + Copy + Default,
{
    let rows = values.iter().zip(ended);
    let kept = rows.map(|(&value, &over)| if over { value } else { T::default() });
    PyArray1::from_vec(py, kept.collect())
}
