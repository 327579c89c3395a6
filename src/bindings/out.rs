//! The arrays that users give an environment to fill.

use numpy::ndarray::Dimension;
use numpy::{
    Element, PyArray, PyArray1, PyArray2, PyArrayDescrMethods, PyArrayMethods, PyReadwriteArray,
    PyUntypedArray, PyUntypedArrayMethods, dtype,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::arrays::Views;
use super::errors::{exception, type_error};

/// Arrays of the user that every call fills, `None` where the environment makes them.
#[derive(Default)]
pub(super) struct Out {
    observations: Option<Py<PyArray2<i16>>>,
    rewards: Option<Py<PyArray1<f32>>>,
    terminated: Option<Py<PyArray1<bool>>>,
    truncated: Option<Py<PyArray1<bool>>>,
    action_mask: Option<Py<PyArray2<i8>>>,
    to_play: Option<Py<PyArray1<i8>>>,
}

/// The names of the arrays.
const NAMES: [&str; 6] = [
    "observations",
    "rewards",
    "terminated",
    "truncated",
    "action_mask",
    "to_play",
];

impl Out {
    /// Reads a mapping of names to arrays for `rows` games on boards of `columns`.
    pub(super) fn read(
        value: Option<&Bound<'_, PyAny>>,
        rows: usize,
        columns: usize,
    ) -> PyResult<Out> {
        let Some(value) = value else {
            return Ok(Out::default());
        };
        let py = value.py();
        let given = PyDict::new(py);
        if given.as_mapping().is_empty().is_err() || given.call_method1("update", (value,)).is_err()
        {
            return Err(type_error("out", value, "a dictionary of arrays"));
        }
        for key in given.keys() {
            let name = key.str()?.to_string();
            if !NAMES.contains(&name.as_str()) {
                let message =
                    format!("out has the unknown key {name:?}, expected some of {NAMES:?}");
                return Err(exception("BatchError", &message, |fields| {
                    fields.set("field", "out")?.set("value", name.as_str())
                }));
            }
        }
        let out = Out {
            observations: array(&given, NAMES[0], &[rows, 2 * columns + 3])?,
            rewards: array(&given, NAMES[1], &[rows])?,
            terminated: array(&given, NAMES[2], &[rows])?,
            truncated: array(&given, NAMES[3], &[rows])?,
            action_mask: array(&given, NAMES[4], &[rows, columns])?,
            to_play: array(&given, NAMES[5], &[rows])?,
        };
        out.refuse_overlap(py)?;
        Ok(out)
    }

    /// Puts the user's arrays in the place of those of `views`.
    pub(super) fn place(&self, py: Python<'_>, views: &mut Views) {
        put(py, &mut views.observations, self.observations.as_ref());
        put(py, &mut views.rewards, self.rewards.as_ref());
        put(py, &mut views.terminated, self.terminated.as_ref());
        put(py, &mut views.truncated, self.truncated.as_ref());
        put(py, &mut views.masks, self.action_mask.as_ref());
        put(py, &mut views.to_play, self.to_play.as_ref());
    }

    /// Returns the arrays as a dictionary, None where there are none.
    pub(super) fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let dict = PyDict::new(py);
        let set = |name: &str, array: Option<&Py<PyAny>>| match array {
            Some(array) => dict.set_item(name, array),
            None => Ok(()),
        };
        set(NAMES[0], self.observations.as_ref().map(Py::as_any))?;
        set(NAMES[1], self.rewards.as_ref().map(Py::as_any))?;
        set(NAMES[2], self.terminated.as_ref().map(Py::as_any))?;
        set(NAMES[3], self.truncated.as_ref().map(Py::as_any))?;
        set(NAMES[4], self.action_mask.as_ref().map(Py::as_any))?;
        set(NAMES[5], self.to_play.as_ref().map(Py::as_any))?;
        Ok((!dict.is_empty()).then_some(dict))
    }

    /// Refuses arrays that share memory: all are written at once.
    fn refuse_overlap(&self, py: Python<'_>) -> PyResult<()> {
        let _observations = lock(py, self.observations.as_ref(), NAMES[0])?;
        let _rewards = lock(py, self.rewards.as_ref(), NAMES[1])?;
        let _terminated = lock(py, self.terminated.as_ref(), NAMES[2])?;
        let _truncated = lock(py, self.truncated.as_ref(), NAMES[3])?;
        let _action_mask = lock(py, self.action_mask.as_ref(), NAMES[4])?;
        let _to_play = lock(py, self.to_play.as_ref(), NAMES[5])?;
        Ok(())
    }
}

/// Takes an array to write to, refused while one that shares its memory is taken.
fn lock<'py, T: Element, D: Dimension>(
    py: Python<'py>,
    array: Option<&Py<PyArray<T, D>>>,
    name: &str,
) -> PyResult<Option<PyReadwriteArray<'py, T, D>>> {
    let taken = array.map(|array| array.bind(py).try_readwrite());
    let what = "shares memory with another array of out";
    taken
        .transpose()
        .map_err(|_| refuse(&format!("out[{name:?}]"), what))
}

fn put<T>(py: Python<'_>, slot: &mut Py<T>, array: Option<&Py<T>>) {
    if let Some(array) = array {
        *slot = array.clone_ref(py);
    }
}

/// Reads one array of a mapping and says what is expected where it is another.
fn array<T: Element, D: Dimension>(
    given: &Bound<'_, PyDict>,
    name: &str,
    shape: &[usize],
) -> PyResult<Option<Py<PyArray<T, D>>>> {
    let Some(value) = given.get_item(name)? else {
        return Ok(None);
    };
    let field = format!("out[{name:?}]");
    let expected = dtype::<T>(given.py());
    let Ok(untyped) = value.cast::<PyUntypedArray>() else {
        return Err(type_error(&field, &value, "a NumPy array"));
    };
    let (got, form) = (untyped.dtype(), untyped.shape());
    if !got.is_equiv_to(&expected) || form != shape {
        return Err(refuse(
            &field,
            &format!("has dtype {got} and shape {form:?}, expected {expected} and {shape:?}"),
        ));
    }
    if !untyped.is_c_contiguous() {
        return Err(refuse(
            &field,
            "is not in C order without gaps, as expected",
        ));
    }
    if !value.getattr("flags")?.getattr("writeable")?.is_truthy()? {
        return Err(refuse(
            &field,
            "is read-only, expected an array to write to",
        ));
    }
    Ok(Some(value.cast::<PyArray<T, D>>()?.clone().unbind()))
}

fn refuse(field: &str, what: &str) -> PyErr {
    let message = format!("{field} {what}");
    exception("BatchError", &message, |fields| fields.set("field", field))
}
