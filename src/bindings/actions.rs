//! Actions as users give them.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::arguments::{whole, whole_numbers};
use super::errors::exception;

/// Reads the actions of all rows into `actions`, replacing what is there.
///
/// Any integer dtype, a sequence of whole numbers, one number for one row, or what NumPy can make
/// an integer array of, as a tensor on the CPU. Floats and bools are refused.
pub(super) fn read_actions(value: &Bound<'_, PyAny>, actions: &mut Vec<i64>) -> PyResult<()> {
    actions.clear();
    if let Ok(array) = value.cast::<PyArray1<i64>>() {
        let array = array.try_readonly()?;
        match array.as_slice() {
            Ok(slice) => actions.extend_from_slice(slice),
            Err(_) => actions.extend(array.as_array().iter()),
        }
        return Ok(());
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        actions.extend(whole_numbers(value, "actions")?);
        return Ok(());
    }
    if !value.hasattr("__array__")? {
        actions.push(whole(value, "actions")?);
        return Ok(());
    }
    let py = value.py();
    let numpy = py.import("numpy")?;
    let array = numpy.call_method1("asarray", (value,))?;
    let dtype = array.getattr("dtype")?;
    let kind: String = dtype.getattr("kind")?.extract()?;
    if kind != "i" && kind != "u" {
        let message = format!("actions has dtype {}, expected whole numbers", dtype.str()?);
        let dtype = dtype.str()?.unbind();
        return Err(exception("ArgumentTypeError", &message, |fields| {
            fields.set("field", "actions")?.set("value", dtype)
        }));
    }
    if array.getattr("ndim")?.gt(1)? {
        let shape = array.getattr("shape")?.str()?.to_string();
        let message = format!("actions has shape {shape}, expected one action for each row");
        return Err(exception("BatchError", &message, |fields| {
            fields.set("field", "actions")?.set("value", shape)
        }));
    }
    // A number beyond int64 is as illegal as the largest one, but must not wrap around.
    let bounded = if kind == "u" && dtype.getattr("itemsize")?.eq(8)? {
        numpy.call_method1("minimum", (&array, i64::MAX))?
    } else {
        array
    };
    let numbers = bounded.call_method1("astype", ("int64",))?;
    let numbers = numbers.call_method1("reshape", (-1,))?;
    let numbers = numbers.cast::<PyArray1<i64>>()?.try_readonly()?;
    actions.extend(numbers.as_array().iter());
    Ok(())
}
