//! Opponents as users give them.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::actions::read_actions;
use super::arguments::text;
use super::errors::exception;
use crate::environment::{Function, Opponent};
use crate::policy::{PolicyError, PolicySpec};

/// What a function raised, or the signal that broke a step off.
#[derive(Clone, Default)]
pub(super) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    pub(super) fn set(&self, error: PyErr) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.get_or_insert(error);
    }

    pub(super) fn take(&self) -> Option<PyErr> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.take()
    }

    /// Listens for Ctrl-C; false where it came.
    pub(super) fn listen(&self) -> bool {
        let heard = Python::attach(|py| -> PyResult<()> { py.check_signals() });
        match heard {
            Ok(()) => true,
            Err(error) => {
                self.set(error);
                false
            }
        }
    }
}

/// Reads a list of specifications and functions.
pub(super) fn read_opponents(
    list: Option<&Bound<'_, PyList>>,
    raised: &Raised,
) -> PyResult<Vec<Opponent>> {
    let Some(list) = list else {
        return Ok(Vec::new());
    };
    let several = list.len() > 1;
    let read = |(index, value): (usize, Bound<'_, PyAny>)| {
        let field = if several {
            format!("opponent[{index}]")
        } else {
            "opponent".to_owned()
        };
        read_opponent(&value, &field, raised)
    };
    list.iter().enumerate().map(read).collect()
}

fn read_opponent(value: &Bound<'_, PyAny>, field: &str, raised: &Raised) -> PyResult<Opponent> {
    if value.is_instance_of::<PyString>() {
        let spec = text(value, field)?;
        let spec: PolicySpec = spec.parse().map_err(|error| match error {
            PolicyError::Spec { spec, expected } => {
                let message = format!("{field} is {spec:?}, expected {expected}");
                exception("PolicyError", &message, |fields| fields.set("player", spec))
            }
            PolicyError::Members { spec, message } => {
                let message = format!("{field} is {spec:?}: {message}");
                exception("PolicyError", &message, |fields| fields.set("player", spec))
            }
            other => other.into(),
        })?;
        return Ok(Opponent::of_spec(&spec)?);
    }
    Ok(Opponent::Function(Box::new(PyFunction {
        function: value.clone().unbind(),
        name: function_name(value)?,
        raised: raised.clone(),
    })))
}

/// Returns the name of a function, or that of an object's class.
pub(super) fn function_name(value: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(match value.getattr("__name__") {
        Ok(name) => name.str()?.to_string_lossy().into_owned(),
        Err(_) => value.get_type().name()?.to_string(),
    })
}

/// Returns what a function raised; a call for the end of the program is a failure of its player.
pub(super) fn failure_of(py: Python<'_>, name: &str, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PySystemExit>(py) {
        return error;
    }
    let code = error.value(py).repr();
    let code = code.map_or_else(|_| "SystemExit".to_owned(), |text| text.to_string());
    let message = format!("player {name} ends the program: {code}");
    let failure = exception("PolicyError", &message, |fields| fields.set("player", name));
    failure.set_cause(py, Some(error));
    failure
}

/// A Python function as an opponent.
struct PyFunction {
    function: Py<PyAny>,
    name: String,
    raised: Raised,
}

impl Function for PyFunction {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn choose(
        &mut self,
        views: &[i16],
        masks: &[i8],
        rows: usize,
    ) -> Result<Vec<i64>, PolicyError> {
        Python::attach(|py| {
            let call = || {
                let views = PyArray1::from_slice(py, views).reshape([rows, views.len() / rows])?;
                let masks = PyArray1::from_slice(py, masks).reshape([rows, masks.len() / rows])?;
                let mut actions = Vec::with_capacity(rows);
                let answer = self.function.bind(py).call1((views, masks))?;
                read_actions(&answer, &mut actions)?;
                Ok(actions)
            };
            call().map_err(|error: PyErr| {
                let error = failure_of(py, &self.name, error);
                let message = error.to_string();
                self.raised.set(error);
                let name = self.name.clone();
                PolicyError::Failed { name, message }
            })
        })
    }
}
