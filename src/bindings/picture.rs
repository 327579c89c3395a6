//! `pixels` and `svg_of_game`.

use numpy::{PyArray1, PyArray3, PyArrayMethods};
use pyo3::prelude::*;

use super::arguments::{whole, whole_numbers};
use super::position::PyPosition;
use super::sowing::PySowing;
use crate::position::MoveError;
use crate::render;

/// Draw a position as pixels, or the one that a sowing leads to with its way.
///
/// Parameters
/// ----------
/// position : Position or Sowing
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
/// MoveError
///     If the rules forbid the sowing.
#[pyfunction]
#[pyo3(signature = (position, *, scale=None, status=None))]
pub(super) fn pixels<'py>(
    py: Python<'py>,
    position: Shown<'py>,
    scale: Option<&Bound<'py, PyAny>>,
    status: Option<&str>,
) -> PyResult<Bound<'py, PyArray3<u8>>> {
    let scale = scale.map_or(Ok(1), |scale| whole(scale, "scale"))?;
    let picture = match position {
        Shown::Position(position) => {
            let position = position.get().0;
            py.detach(|| render::pixels(&position, status, scale))?
        }
        Shown::Sowing(sowing) => {
            let (from, column) = (sowing.get().from, sowing.get().column);
            py.detach(|| render::pixels_of_move(&from, column, status, scale))?
        }
    };
    PyArray1::from_vec(py, picture.rgb).reshape([picture.height, picture.width, 3])
}

/// What is drawn.
#[derive(FromPyObject)]
pub(super) enum Shown<'py> {
    Position(Bound<'py, PyPosition>),
    Sowing(Bound<'py, PySowing>),
}

/// Draw a whole game as one SVG that moves.
///
/// Parameters
/// ----------
/// start : Position
/// moves : sequence of int
///     The columns played, the first by the side to move at the start.
/// end : str, optional
///     The last line, for games that ended by something else than the rules.
///
/// Returns
/// -------
/// str
///     SVG with animation of its own; it needs no script.
///
/// Raises
/// ------
/// MoveError
///     If a move is not legal.
#[pyfunction]
#[pyo3(signature = (start, moves, *, end=None))]
pub(super) fn svg_of_game(
    py: Python<'_>,
    start: &PyPosition,
    moves: &Bound<'_, PyAny>,
    end: Option<&str>,
) -> PyResult<String> {
    let last = start.0.board().columns() - 1;
    let columns: Vec<usize> = whole_numbers(moves, "moves")?
        .into_iter()
        .map(|column| usize::try_from(column).map_err(|_| MoveError::ColumnRange { column, last }))
        .collect::<Result<_, MoveError>>()?;
    let start = start.0;
    Ok(py.detach(|| render::svg_of_game(&start, &columns, end))?)
}
