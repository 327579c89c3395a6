//! Objects that are at work when they are called again.

use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::False;

use super::errors::exception;

/// Takes an object to change it.
///
/// # Errors
/// `BatchError` while a call of it is under way: from an opponent's function, or in another thread.
pub(super) fn entered<'py, T>(object: &Bound<'py, T>) -> PyResult<PyRefMut<'py, T>>
where
    T: PyClass<Frozen = False>,
{
    object.try_borrow_mut().map_err(|_| busy())
}

/// Takes an object to look at it.
///
/// # Errors
/// As [`entered`].
pub(super) fn looked_at<'py, T: PyClass>(object: &Bound<'py, T>) -> PyResult<PyRef<'py, T>> {
    object.try_borrow().map_err(|_| busy())
}

fn busy() -> PyErr {
    let message = "the environment is in the middle of a step or reset: an opponent's function \
                   may not call it, and threads may not share it";
    exception("BatchError", message, |fields| Ok(fields))
}
