//! `GameRecord`.

use pyo3::prelude::*;

use super::arguments::{text, whole_numbers};
use super::errors::type_error;
use super::position::PyPosition;
use super::ruleset::PyRuleset;
use crate::notation::{GameRecord, RecordError};
use crate::position::MoveError;

/// One finished or cut game: the rules, the start, the players, the moves and the result.
///
/// Make one with :meth:`of_moves` or :meth:`from_json`.
///
/// Examples
/// --------
/// >>> from endodoi import GameRecord, Position, Ruleset
/// >>> start = Position.start(Ruleset(columns=2, seeds_per_pit=1))
/// >>> record = GameRecord.of_moves(start, [0], players=("me", "you"))
/// >>> record.captured, record.outcome, record.end_reason
/// ((4, 0), 'south', 'stuck')
#[pyclass(name = "GameRecord", module = "endodoi", frozen, eq)]
#[derive(Clone, PartialEq, Eq)]
pub(super) struct PyGameRecord(GameRecord);

#[pymethods]
impl PyGameRecord {
    /// Play ``moves`` from ``start`` and record what they lead to.
    ///
    /// A game that is not over after its last move is recorded as cut (``max_plies``, E4).
    ///
    /// Parameters
    /// ----------
    /// start : Position
    ///     The first position.
    /// moves : sequence of int
    ///     The columns played, the first by the side to move at the start.
    /// players : (str, str)
    ///     Names, South's first.
    ///
    /// Raises
    /// ------
    /// RecordError
    ///     If a move is not legal.
    #[staticmethod]
    #[pyo3(
        signature = (start, moves, *, players=None),
        text_signature = "(start, moves, *, players=('south', 'north'))"
    )]
    fn of_moves(
        start: &PyPosition,
        moves: &Bound<'_, PyAny>,
        players: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyGameRecord> {
        let players = match players {
            None => ["south".to_owned(), "north".to_owned()],
            Some(value) => names(value)?,
        };
        let last = start.0.board().columns() - 1;
        let columns: Vec<u8> = whole_numbers(moves, "moves")?
            .into_iter()
            .enumerate()
            .map(|(ply, column)| {
                u8::try_from(column).map_err(|_| RecordError::Move {
                    ply,
                    error: MoveError::ColumnRange { column, last },
                })
            })
            .collect::<Result<_, RecordError>>()?;
        Ok(PyGameRecord(GameRecord::of_moves(
            &start.0, players, &columns,
        )?))
    }

    /// Read a record from one line of JSON, replay it and compare the result.
    ///
    /// Raises
    /// ------
    /// RecordError
    ///     If the line is no record, a move is not legal, or the result is not the one that the
    ///     moves lead to.
    #[staticmethod]
    fn from_json(line: &Bound<'_, PyAny>) -> PyResult<PyGameRecord> {
        let line = text(line, "line")?;
        Ok(PyGameRecord(GameRecord::from_json(&line)?))
    }

    /// Return the record as one line of JSON without a line end.
    fn to_json(&self) -> PyResult<String> {
        Ok(self.0.to_json()?)
    }

    /// Play the recorded moves and return the last position.
    fn replay(&self) -> PyResult<PyPosition> {
        Ok(PyPosition(self.0.replay()?))
    }

    /// The rules.
    #[getter]
    fn ruleset(&self) -> PyRuleset {
        PyRuleset(self.0.ruleset)
    }

    /// The first position as text.
    #[getter]
    fn start(&self) -> &str {
        &self.0.start
    }

    /// Names of (South, North).
    #[getter]
    fn players(&self) -> (&str, &str) {
        let [south, north] = &self.0.players;
        (south, north)
    }

    /// The columns played, the first by the side to move at the start.
    #[getter]
    fn moves(&self) -> Vec<usize> {
        self.0.moves.iter().map(|&column| column.into()).collect()
    }

    /// Seeds captured by (South, North) at the end.
    #[getter]
    fn captured(&self) -> (u16, u16) {
        let [south, north] = self.0.captured;
        (south, north)
    }

    /// ``"south"``, ``"north"`` or ``"draw"``; ``None`` for a cut game (E4).
    #[getter]
    fn outcome(&self) -> Option<&str> {
        self.0.outcome.as_deref()
    }

    /// ``"stuck"``, ``"quiet"``, ``"endless"``, ``"max_plies"``, or how a game was forfeited.
    #[getter]
    fn end_reason(&self) -> Option<&str> {
        self.0.end_reason.as_deref()
    }

    fn __len__(&self) -> usize {
        self.0.moves.len()
    }

    fn __repr__(&self) -> String {
        let [south, north] = &self.0.players;
        format!(
            "<GameRecord {south:?} v {north:?}, {}, {} plies, {}>",
            self.0.ruleset,
            self.0.moves.len(),
            self.0.outcome.as_deref().unwrap_or("no outcome")
        )
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<super::Reduced<'py, (String,)>> {
        let from_json = py.get_type::<PyGameRecord>().getattr("from_json")?;
        Ok((from_json, (self.to_json()?,)))
    }
}

fn names(value: &Bound<'_, PyAny>) -> PyResult<[String; 2]> {
    let wrong = || type_error("players", value, "two names, South's and North's");
    value.extract::<[String; 2]>().map_err(|_| wrong())
}
