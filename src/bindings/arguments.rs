//! Arguments as Python users type them, checked at the door.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyString};

use super::errors::{exception, type_error};

/// Reads a whole number: an `int`, a NumPy integer, or a 0-d array of one.
///
/// # Errors
/// `ArgumentTypeError` for a bool, a float or anything else, `ArgumentValueError` for a number
/// beyond 64 bits; both name `field` and the value.
pub(super) fn whole(value: &Bound<'_, PyAny>, field: &str) -> PyResult<i64> {
    if let Ok(number) = value.cast_exact::<PyInt>() {
        return int(number.as_any(), field);
    }
    int(&index(value, field)?, field)
}

/// Turns a value that may stand for a whole number into a Python `int`.
pub(super) fn index<'py>(value: &Bound<'py, PyAny>, field: &str) -> PyResult<Bound<'py, PyAny>> {
    let expected = "a whole number";
    if is_bool(value) {
        return Err(type_error(field, value, expected));
    }
    let operator = value.py().import("operator")?;
    operator
        .call_method1("index", (value,))
        .map_err(|_| type_error(field, value, expected))
}

/// Reads a Python `int` of at most 64 bits.
fn int(number: &Bound<'_, PyAny>, field: &str) -> PyResult<i64> {
    number.extract::<i64>().or_else(|_| {
        let message = format!("{field} is {}, expected a number of 64 bits", number.str()?);
        let given = number.clone().unbind();
        Err(exception("ArgumentValueError", &message, |fields| {
            fields
                .set("field", field)?
                .set("value", given)?
                .set("low", i64::MIN)?
                .set("high", i64::MAX)
        }))
    })
}

/// Reads a Python or NumPy integer as a seed, 0 to 2^64 - 1.
///
/// # Errors
/// `ArgumentTypeError` as [`whole`]; `ArgumentValueError` for a number outside the range.
pub(super) fn seed(value: &Bound<'_, PyAny>, field: &str) -> PyResult<u64> {
    let index = index(value, field)?;
    index.extract::<u64>().or_else(|_| {
        let message = format!("{field} is {}, expected 0 to {}", index.str()?, u64::MAX);
        let given = index.clone().unbind();
        Err(exception("ArgumentValueError", &message, |fields| {
            fields
                .set("field", field)?
                .set("value", given)?
                .set("low", 0)?
                .set("high", u64::MAX)
        }))
    })
}

/// Reads a truth value: Python's or NumPy's bool.
///
/// # Errors
/// `ArgumentTypeError` for anything else, naming `field` and the value.
pub(super) fn truth(value: &Bound<'_, PyAny>, field: &str) -> PyResult<bool> {
    value
        .extract()
        .map_err(|_| type_error(field, value, "True or False"))
}

/// Reads an optional whole number as [`whole`] does.
pub(super) fn optional_whole(
    value: Option<&Bound<'_, PyAny>>,
    field: &str,
) -> PyResult<Option<i64>> {
    value.map(|value| whole(value, field)).transpose()
}

/// Reads a text; a lone surrogate, which no text of ours holds, becomes U+FFFD.
///
/// # Errors
/// `ArgumentTypeError` for anything but a `str`, naming `field` and the value.
pub(super) fn text(value: &Bound<'_, PyAny>, field: &str) -> PyResult<String> {
    match value.cast::<PyString>() {
        Ok(text) => Ok(text.to_string_lossy().into_owned()),
        Err(_) => Err(type_error(field, value, "a text")),
    }
}

/// Reads a sequence of whole numbers; items are named `field[i]` in errors.
pub(super) fn whole_numbers(value: &Bound<'_, PyAny>, field: &str) -> PyResult<Vec<i64>> {
    let expected = "a sequence of whole numbers";
    if value.is_instance_of::<PyString>() {
        return Err(type_error(field, value, expected));
    }
    let items = value
        .try_iter()
        .map_err(|_| type_error(field, value, expected))?;
    items
        .enumerate()
        .map(|(place, item)| {
            let item = item?;
            match item.cast_exact::<PyInt>().map(|int| int.extract()) {
                Ok(Ok(number)) => Ok(number),
                _ => whole(&item, &format!("{field}[{place}]")),
            }
        })
        .collect()
}

/// Tells whether a value is Python's or NumPy's bool.
fn is_bool(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyBool>()
        || value
            .get_type()
            .name()
            .is_ok_and(|name| name == "bool" || name == "bool_")
}
