//! `pixels`.

use numpy::{PyArray1, PyArray3, PyArrayMethods};
use pyo3::prelude::*;

use super::arguments::whole;
use super::position::PyPosition;
use crate::render;

/// Draw a position as pixels.
///
/// Parameters
/// ----------
/// position : Position
/// scale : int, default 1
///     Pixels for each unit of the picture, 1 to 4.
/// status : str, optional
///     Replaces the line that says whose turn it is or how the game ended.
///
/// Returns
/// -------
/// ndarray of uint8 [H, W, 3]
///     Red, green and blue, a new array. ``H`` and ``W`` are even; at scale 1 a board of 6 columns
///     has 352 times 448 pixels, one of 50 columns 976 times 896.
///
/// Raises
/// ------
/// ArgumentValueError
///     If `scale` is outside its range.
#[pyfunction]
#[pyo3(signature = (position, *, scale=None, status=None))]
pub(super) fn pixels<'py>(
    py: Python<'py>,
    position: &PyPosition,
    scale: Option<&Bound<'py, PyAny>>,
    status: Option<&str>,
) -> PyResult<Bound<'py, PyArray3<u8>>> {
    let scale = scale.map_or(Ok(1), |scale| whole(scale, "scale"))?;
    let position = position.0;
    let picture = py.detach(|| render::pixels(&position, status, scale))?;
    PyArray1::from_vec(py, picture.rgb).reshape([picture.height, picture.width, 3])
}
