//! `Position`.

use std::time::{Duration, Instant};

use numpy::ndarray::Array2;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use super::arguments::{text, whole, whole_numbers};
use super::errors::{exception, type_error};
use super::ruleset::PyRuleset;
use super::sowing::PySowing;
use crate::perft::watched_perft;
use crate::position::{EndReason, MoveError, Outcome, Position, Setup};
use crate::render;
use crate::side::Side;

/// How often a long count listens for Ctrl-C.
const SIGNALS_EVERY: Duration = Duration::from_millis(100);

/// A settled position of a game; immutable.
///
/// Make one with :meth:`start`, :meth:`from_text` or :meth:`from_board`; :meth:`play` returns
/// the next one. A position without a legal move is settled by E1 when it is entered: all seeds
/// on the board go to the other side. Equality compares everything, the rules included.
///
/// Examples
/// --------
/// >>> from endodoi import Position, Ruleset
/// >>> start = Position.start(Ruleset(columns=6))
/// >>> after = start.play(0)
/// >>> after.to_text()
/// '2,7,0,6,1,6/6,6,0,0,6,6 N 2-0 0'
#[pyclass(name = "Position", module = "endodoi", frozen, eq, hash)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct PyPosition(pub(super) Position);

#[pymethods]
impl PyPosition {
    /// Set up the start of a game; South moves first (B1, B3).
    #[staticmethod]
    fn start(ruleset: &PyRuleset) -> PyPosition {
        PyPosition(Position::start(&ruleset.0))
    }

    /// Read a position from text, as ``4,4,4,4,4,4/4,4,4,4,4,4 S 0-0 0``.
    ///
    /// South's row / North's row (each from its owner's left), the side to move, the seeds
    /// captured by South and North, the plies since the last capture.
    ///
    /// Raises
    /// ------
    /// NotationError
    ///     If the text is not a position of these rules; it names the part that is wrong.
    #[staticmethod]
    fn from_text(text: &Bound<'_, PyAny>, ruleset: &PyRuleset) -> PyResult<PyPosition> {
        let text = self::text(text, "text")?;
        Ok(PyPosition(Position::from_text(&text, &ruleset.0)?))
    }

    /// Set up a position from its rows.
    ///
    /// Parameters
    /// ----------
    /// south, north : sequence of int, or int array [C]
    ///     Seeds of each row, from its owner's left (B2).
    /// to_move : {"south", "north"}
    ///     The side to move.
    /// captured : (int, int)
    ///     Seeds captured by South and North.
    /// quiet : int
    ///     Plies since the last capture (E3).
    /// ruleset : Ruleset
    ///     The rules.
    ///
    /// Raises
    /// ------
    /// SetupError
    ///     If a number is outside its range; all seeds together are at most 32,767 (E2).
    /// ArgumentTypeError
    ///     If a number is a bool or float.
    #[staticmethod]
    #[pyo3(
        signature = (south, north, *, to_move=None, captured=None, quiet=None, ruleset),
        text_signature = "(south, north, *, to_move='south', captured=(0, 0), quiet=0, ruleset)"
    )]
    fn from_board(
        south: &Bound<'_, PyAny>,
        north: &Bound<'_, PyAny>,
        to_move: Option<&Bound<'_, PyAny>>,
        captured: Option<&Bound<'_, PyAny>>,
        quiet: Option<&Bound<'_, PyAny>>,
        ruleset: &PyRuleset,
    ) -> PyResult<PyPosition> {
        let captured = match captured {
            None => [0, 0],
            Some(value) => match whole_numbers(value, "captured")?[..] {
                [south, north] => [south, north],
                _ => {
                    return Err(type_error(
                        "captured",
                        value,
                        "two numbers, South's and North's",
                    ));
                }
            },
        };
        let setup = Setup {
            south: whole_numbers(south, "south")?,
            north: whole_numbers(north, "north")?,
            to_move: match to_move {
                Some(value) => side(value)?,
                None => Side::South,
            },
            captured,
            quiet: quiet.map_or(Ok(0), |value| whole(value, "quiet"))?,
        };
        Ok(PyPosition(setup.position(&ruleset.0)?))
    }

    /// The rules of the game.
    #[getter]
    fn ruleset(&self) -> PyRuleset {
        PyRuleset(*self.0.ruleset())
    }

    /// Seeds in the pits, a new int16 array [2, C].
    ///
    /// Row 0 is South's, row 1 North's, each from its owner's left (B2).
    #[getter]
    fn board<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<i16>> {
        let columns = self.0.board().columns();
        let pits = self.0.board().pits();
        let board = Array2::from_shape_fn((2, columns), |(row, column)| {
            pits[row * columns + column] as i16
        });
        PyArray2::from_owned_array(py, board)
    }

    /// The side to move, ``"south"`` or ``"north"``; at the end, the side whose turn it would be.
    #[getter]
    fn to_move(&self) -> &'static str {
        self.0.to_move().name()
    }

    /// Seeds captured by (South, North).
    #[getter]
    fn captured(&self) -> (u16, u16) {
        let [south, north] = self.0.board().captured();
        (south, north)
    }

    /// Plies since the last capture (E3).
    #[getter]
    fn quiet(&self) -> u16 {
        self.0.quiet()
    }

    /// Whether the game is over.
    #[getter]
    fn is_over(&self) -> bool {
        self.0.is_over()
    }

    /// ``"south"``, ``"north"`` or ``"draw"``; ``None`` while the game goes on (E2).
    #[getter]
    fn outcome(&self) -> Option<&'static str> {
        self.0.outcome().map(Outcome::name)
    }

    /// ``"stuck"`` (E1), ``"quiet"`` (E3) or ``"endless"`` (S6); ``None`` while the game goes on.
    #[getter]
    fn end_reason(&self) -> Option<&'static str> {
        self.0.end_reason().map(EndReason::name)
    }

    /// Return the legal columns, ascending; none when the game is over.
    fn legal_moves(&self) -> Vec<usize> {
        self.0.legal_moves().iter().collect()
    }

    /// Play the side to move's pit in ``column`` and return the next position.
    ///
    /// Raises
    /// ------
    /// MoveError
    ///     If the game is over, the column does not exist, its pit is empty, or its sowing is
    ///     endless under ``endless="illegal"`` (S6).
    /// ArgumentTypeError
    ///     If the column is no whole number.
    fn play(&self, column: &Bound<'_, PyAny>) -> PyResult<PyPosition> {
        let column = self.column(column)?;
        Ok(PyPosition(self.0.play(column)?))
    }

    /// Look at the sowing of ``column`` without playing it.
    ///
    /// Endless sowings can be looked at too.
    ///
    /// Raises
    /// ------
    /// MoveError
    ///     If the column does not exist or its pit is empty.
    fn sow(&self, column: &Bound<'_, PyAny>) -> PyResult<PySowing> {
        let column = self.column(column)?;
        let (sowing, _) = self.0.sow(column)?;
        Ok(PySowing {
            sowing,
            from: self.0,
            column,
        })
    }

    /// Count the move sequences of exactly ``depth`` plies; a finished game has none.
    ///
    /// Other Python threads run meanwhile, and Ctrl-C stops it.
    #[allow(clippy::redundant_closure_for_method_calls)] // The path is of one lifetime only.
    fn perft(&self, py: Python<'_>, depth: &Bound<'_, PyAny>) -> PyResult<u64> {
        let value = whole(depth, "depth")?;
        let depth = u32::try_from(value).map_err(|_| {
            let message = format!("depth is {value}, expected 0 to {}", u32::MAX);
            exception("ArgumentValueError", &message, |fields| {
                fields
                    .set("field", "depth")?
                    .set("value", value)?
                    .set("low", 0)?
                    .set("high", u32::MAX)
            })
        })?;
        let position = self.0;
        let mut looked = Instant::now();
        py.detach(|| {
            watched_perft(&position, depth, || {
                if looked.elapsed() < SIGNALS_EVERY {
                    return Ok(());
                }
                looked = Instant::now();
                Python::attach(|py| py.check_signals())
            })
        })
    }

    /// Return the text that :meth:`from_text` reads.
    fn to_text(&self) -> String {
        self.0.to_string()
    }

    /// Return the view of the side to move, a new int16 array [2C+3].
    ///
    /// Own row, other row (each from its owner's left), own captured, other captured, quiet
    /// plies. The same for both sides of a mirrored position (B4).
    fn observation<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i16>> {
        PyArray1::from_vec(py, self.0.observation())
    }

    fn _repr_svg_(&self) -> String {
        render::svg(&self.0)
    }

    fn __str__(&self) -> String {
        render::ansi(&self.0)
    }

    fn __repr__(&self) -> String {
        let ruleset = self.ruleset().__repr__();
        if self.0.end_reason() == Some(EndReason::Endless) {
            return format!("Position._restore('{}', {ruleset}, True)", self.0);
        }
        format!("Position.from_text('{}', {ruleset})", self.0)
    }

    /// Restore a position with an end by S6, which its text does not tell.
    #[staticmethod]
    fn _restore(text: &str, ruleset: &PyRuleset, endless: bool) -> PyResult<PyPosition> {
        let position = Position::from_text(text, &ruleset.0)?;
        Ok(PyPosition(if endless && !position.is_over() {
            position.ended_by_endless()
        } else {
            position
        }))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<super::Reduced<'py, (String, PyRuleset, bool)>> {
        let restore = py.get_type::<PyPosition>().getattr("_restore")?;
        let endless = self.0.end_reason() == Some(EndReason::Endless);
        Ok((restore, (self.0.to_string(), self.ruleset(), endless)))
    }
}

impl PyPosition {
    /// Reads a column; one that cannot be an index is refused as out of range.
    fn column(&self, value: &Bound<'_, PyAny>) -> PyResult<usize> {
        let column = whole(value, "column")?;
        let last = self.0.board().columns() - 1;
        usize::try_from(column)
            .ok()
            .filter(|&column| column <= last)
            .ok_or_else(|| MoveError::ColumnRange { column, last }.into())
    }
}

/// Reads the name of a side.
fn side(value: &Bound<'_, PyAny>) -> PyResult<Side> {
    let name = text(value, "to_move")?;
    Side::BOTH
        .into_iter()
        .find(|side| side.name() == name)
        .ok_or_else(|| {
            let message = format!("to_move is {name:?}, expected \"south\" or \"north\"");
            exception("SetupError", &message, |fields| {
                fields.set("field", "to_move")?.set("value", name)
            })
        })
}
