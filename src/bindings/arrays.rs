//! The NumPy arrays that environments return.

use numpy::ndarray::Dimension;
use numpy::{Element, PyArray, PyArray1, PyArray2, PyArrayMethods};
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
}

/// The arrays of infos that calls fill again.
pub(super) struct Infos {
    rows: usize,
    action_mask: Py<PyArray1<bool>>,
    to_play: Py<PyArray1<bool>>,
    /// `None` until the first game has ended.
    ends: Option<Ends>,
}

/// What is told of games that ended.
struct Ends {
    outcome: Py<PyArray1<i8>>,
    captured: Py<PyArray2<i16>>,
    plies: Py<PyArray1<i32>>,
    end_reason: Py<PyArray1<i8>>,
    /// The mask of rows of each of them.
    masks: [Py<PyArray1<bool>>; 4],
}

impl Ends {
    fn new(py: Python<'_>, rows: usize) -> Ends {
        let flags = || PyArray1::zeros(py, rows, false).unbind();
        Ends {
            outcome: PyArray1::zeros(py, rows, false).unbind(),
            captured: PyArray2::zeros(py, [rows, 2], false).unbind(),
            plies: PyArray1::zeros(py, rows, false).unbind(),
            end_reason: PyArray1::zeros(py, rows, false).unbind(),
            masks: [flags(), flags(), flags(), flags()],
        }
    }
}

impl Infos {
    /// Makes arrays of zeros for `rows` games.
    pub(super) fn new(py: Python<'_>, rows: usize) -> Infos {
        Infos {
            rows,
            action_mask: PyArray1::zeros(py, rows, false).unbind(),
            to_play: PyArray1::zeros(py, rows, false).unbind(),
            ends: None,
        }
    }

    /// Makes the infos of all rows: `action_mask` and `to_play`, each with its mask of rows.
    pub(super) fn of_all<'py>(
        &mut self,
        py: Python<'py>,
        views: &Views,
    ) -> PyResult<Bound<'py, PyDict>> {
        let infos = PyDict::new(py);
        refill(py, &mut self.action_mask, |flags| flags.fill(true))?;
        refill(py, &mut self.to_play, |flags| flags.fill(true))?;
        infos.set_item(intern!(py, "action_mask"), &views.masks)?;
        infos.set_item(intern!(py, "_action_mask"), &self.action_mask)?;
        infos.set_item(intern!(py, "to_play"), &views.to_play)?;
        infos.set_item(intern!(py, "_to_play"), &self.to_play)?;
        Ok(infos)
    }

    /// Adds what ended to the infos: `outcome`, `captured`, `plies`, `end_reason`, each with its
    /// mask of rows. Rows whose game goes on hold zeros, as Gymnasium's own vector environments
    /// give them.
    pub(super) fn add_ends(
        &mut self,
        infos: &Bound<'_, PyDict>,
        arrays: &StepArrays,
    ) -> PyResult<()> {
        if !arrays.ended.contains(&true) {
            return Ok(());
        }
        let py = infos.py();
        let ended = &arrays.ended[..];
        let rows = self.rows;
        let ends = self.ends.get_or_insert_with(|| Ends::new(py, rows));
        refill(py, &mut ends.outcome, |out| {
            keep(&arrays.outcome, ended, out);
        })?;
        refill(py, &mut ends.plies, |out| keep(&arrays.plies, ended, out))?;
        refill(py, &mut ends.end_reason, |out| {
            keep(&arrays.end_reason, ended, out);
        })?;
        refill(py, &mut ends.captured, |out| {
            let pairs = arrays.captured.as_chunks::<2>().0;
            keep(pairs, ended, out.as_chunks_mut::<2>().0);
        })?;
        for mask in &mut ends.masks {
            refill(py, mask, |out| out.copy_from_slice(ended))?;
        }
        infos.set_item(intern!(py, "outcome"), &ends.outcome)?;
        infos.set_item(intern!(py, "captured"), &ends.captured)?;
        infos.set_item(intern!(py, "plies"), &ends.plies)?;
        infos.set_item(intern!(py, "end_reason"), &ends.end_reason)?;
        let keys = [
            intern!(py, "_outcome"),
            intern!(py, "_captured"),
            intern!(py, "_plies"),
            intern!(py, "_end_reason"),
        ];
        for (key, mask) in keys.into_iter().zip(&ends.masks) {
            infos.set_item(key, mask)?;
        }
        Ok(())
    }
}

/// Writes an array anew; one that the user has made read-only is replaced.
fn refill<T, D>(
    py: Python<'_>,
    array: &mut Py<PyArray<T, D>>,
    write: impl FnOnce(&mut [T]),
) -> PyResult<()>
where
    T: Element,
    D: Dimension,
{
    let writable = array.bind(py).try_readwrite().is_ok();
    if !writable {
        let shape = array.bind(py).dims();
        *array = PyArray::zeros(py, shape, false).unbind();
    }
    write(array.bind(py).try_readwrite()?.as_slice_mut()?);
    Ok(())
}

/// Copies the values of ended rows and leaves zeros elsewhere.
fn keep<T: Copy + Default>(values: &[T], ended: &[bool], out: &mut [T]) {
    for ((out, &value), &over) in out.iter_mut().zip(values).zip(ended) {
        *out = if over { value } else { T::default() };
    }
}
