//! `Exam`: what a player's moves lose.

use std::sync::Arc;

use pyo3::prelude::*;

use super::Reduced;
use super::arguments::{seed, text, whole};
use super::errors::exception;
use super::position::PyPosition;
use super::ruleset::PyRuleset;
use super::simulate::{Contestant, Interruption};
use super::solver::{seconds_of, solver_options};
use super::tables::PyEndgameTable;
use crate::arena::{Exam, ExamConfig, ExamProgress, Regret, RegretError, regret_table};

/// Columns and what they are worth.
type Worths = Vec<(u8, i32)>;

/// Column, seeds lost, whether the outcome changes, and the phase.
type Answered = (u8, i32, bool, &'static str);

/// Numbers as JSON, the same as a table, answers.
type Graded = (String, String, Vec<Answered>);

/// What an exam is rebuilt from: its text, ruleset, positions, seed, reference, threads.
type Remade = (String, PyRuleset, u32, u64, String, Option<usize>);

/// Positions with the worth of every move; users take ``endodoi.arena.Exam``.
///
/// Parameters
/// ----------
/// ruleset : Ruleset
/// positions, seed : int
/// reference : str or None
/// seconds : float or None
/// memory, num_threads : int or None
/// table : EndgameTable or None
/// progress : callable or None
///     Called with the positions done, several times a second.
/// places : tuple of int or None
///     The first position and the one after the last, of a part of the exam.
#[pyclass(name = "Exam", module = "endodoi._core", frozen)]
pub(super) struct PyExam(Exam);

#[pymethods]
impl PyExam {
    #[new]
    #[pyo3(signature = (ruleset, positions, seed, *, reference=None, seconds=None, memory=None,
                        num_threads=None, table=None, progress=None, places=None))]
    #[allow(clippy::too_many_arguments)] // One for each setting.
    fn new(
        py: Python<'_>,
        ruleset: &PyRuleset,
        positions: &Bound<'_, PyAny>,
        seed: &Bound<'_, PyAny>,
        reference: Option<&Bound<'_, PyAny>>,
        seconds: Option<&Bound<'_, PyAny>>,
        memory: Option<&Bound<'_, PyAny>>,
        num_threads: Option<&Bound<'_, PyAny>>,
        table: Option<&PyEndgameTable>,
        progress: Option<Bound<'_, PyAny>>,
        places: Option<(u32, u32)>,
    ) -> PyResult<PyExam> {
        let mut config = ExamConfig::new(ruleset.0);
        let count = whole(positions, "positions")?;
        config.positions =
            u32::try_from(count).map_err(|_| RegretError::Positions { positions: count })?;
        config.seed = self::seed(seed, "seed")?;
        if let Some(reference) = reference {
            config.reference = text(reference, "reference")?.parse()?;
        }
        if let Some(seconds) = seconds {
            config.seconds = Some(seconds_of(seconds)?);
        }
        config.solver = solver_options(memory, num_threads)?;
        let table = table.map(|table| Arc::clone(&table.0));
        let progress = progress.map(Bound::unbind);
        let interruption = Interruption::default();
        let drawn = py.detach(|| {
            let mut watch =
                |now: ExamProgress| interruption.watch(now.done.into(), progress.as_ref());
            let (first, last) = places.unwrap_or((0, config.positions));
            Exam::draw_part(&config, first..last, table, &mut watch)
        });
        finished(drawn, &interruption).map(PyExam)
    }

    /// Join parts of an exam, in order, to the whole.
    ///
    /// Raises
    /// ------
    /// RegretError
    ///     If they do not follow one another.
    #[staticmethod]
    #[allow(clippy::needless_pass_by_value)] // Sequences come as a vector.
    fn join(parts: Vec<PyRef<'_, PyExam>>) -> PyResult<PyExam> {
        Ok(PyExam(Exam::join(parts.iter().map(|part| part.0.clone()))?))
    }

    /// Rebuild an exam from its rules and what :meth:`to_text` gives.
    #[staticmethod]
    #[pyo3(signature = (text, ruleset, positions, seed, reference, num_threads=None))]
    fn from_text(
        text: &str,
        ruleset: &PyRuleset,
        positions: u32,
        seed: u64,
        reference: &str,
        num_threads: Option<usize>,
    ) -> PyResult<PyExam> {
        let mut config = ExamConfig {
            positions,
            seed,
            reference: reference.parse()?,
            ..ExamConfig::new(ruleset.0)
        };
        config.solver.num_threads = num_threads;
        Ok(PyExam(Exam::from_json(&config, text)?))
    }

    /// Return the positions and their worths as text.
    fn to_text(&self) -> PyResult<String> {
        Ok(self.0.to_json()?)
    }

    /// What valued the moves.
    #[getter]
    fn reference(&self) -> String {
        self.0.reference()
    }

    /// The positions.
    #[getter]
    fn positions(&self) -> Vec<PyPosition> {
        let questions = self.0.questions().iter();
        questions.map(|asked| PyPosition(asked.position)).collect()
    }

    /// For each position the legal columns and the captured difference each of them leads to.
    #[getter]
    fn margins(&self) -> Vec<Worths> {
        let worths = |asked: &crate::arena::Question| -> Worths {
            let moves = asked.moves.iter();
            moves.map(|worth| (worth.column, worth.margin)).collect()
        };
        self.0.questions().iter().map(worths).collect()
    }

    /// Let a player choose in every position.
    ///
    /// Parameters
    /// ----------
    /// player : str or callable
    /// progress : callable or None
    ///     Called with the positions answered.
    ///
    /// Returns
    /// -------
    /// numbers : str
    ///     What the answers say together, as JSON.
    /// text : str
    ///     The same as a table.
    /// answers : list of (int, int, bool, str)
    ///     For each position the column, the seeds lost, whether the outcome changes, the phase.
    #[pyo3(signature = (player, *, progress=None))]
    fn grade(
        &self,
        py: Python<'_>,
        player: &Bound<'_, PyAny>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Graded> {
        let progress = progress.map(Bound::unbind);
        let interruption = Interruption::default();
        let mut policy = Contestant::read(player, &interruption)?.build()?;
        let graded = py.detach(|| {
            let mut watch =
                |now: ExamProgress| interruption.watch(now.done.into(), progress.as_ref());
            self.0.grade(&mut *policy, &mut watch)
        });
        regret_texts(&finished(graded, &interruption)?)
    }

    /// Sum up the columns that a player chose, as `grade` does with those it asks for.
    ///
    /// Raises
    /// ------
    /// RegretError
    ///     If a column is not legal, or missing.
    #[allow(clippy::needless_pass_by_value)] // Sequences come as a vector.
    fn grade_columns(&self, player: &str, columns: Vec<u8>) -> PyResult<Graded> {
        regret_texts(&self.0.sum_up_columns(player, &columns)?)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, Remade>> {
        let from_text = py.get_type::<PyExam>().getattr("from_text")?;
        let config = self.0.config();
        let arguments = (
            self.0.to_json()?,
            PyRuleset(config.ruleset),
            config.positions,
            config.seed,
            config.reference.to_string(),
            config.solver.num_threads,
        );
        Ok((from_text, arguments))
    }
}

/// Writes a regret as JSON and as a table, with its answers.
fn regret_texts(regret: &Regret) -> PyResult<Graded> {
    let numbers = serde_json::to_string(regret).map_err(|error| {
        exception("RegretError", &error.to_string(), |fields| {
            fields.set("field", "json")
        })
    })?;
    let text = regret_table(std::slice::from_ref(regret));
    let answers = regret.answers.iter();
    let answers = answers
        .map(|a| (a.column, a.lost, a.changes_outcome, a.phase.name()))
        .collect();
    Ok((numbers, text, answers))
}

/// Returns what was done, or raises what stopped it.
fn finished<T>(result: Result<T, RegretError>, interruption: &Interruption) -> PyResult<T> {
    match interruption.take() {
        Some(error) => Err(error),
        None => Ok(result?),
    }
}

impl From<RegretError> for PyErr {
    fn from(error: RegretError) -> PyErr {
        let message = error.to_string();
        match error {
            RegretError::Solve(error) => error.into(),
            RegretError::Player(error) => error.into(),
            RegretError::Positions { positions } => exception("RegretError", &message, |fields| {
                fields.set("field", "positions")?.set("value", positions)
            }),
            RegretError::Part { first, .. } => exception("RegretError", &message, |fields| {
                fields.set("field", "places")?.set("value", first)
            }),
            RegretError::TooFew { wanted, .. } => exception("RegretError", &message, |fields| {
                fields.set("field", "positions")?.set("value", wanted)
            }),
            RegretError::Seconds { seconds } => exception("RegretError", &message, |fields| {
                fields.set("field", "seconds")?.set("value", seconds)
            }),
            RegretError::Reference { reference } => exception("RegretError", &message, |fields| {
                fields.set("field", "reference")?.set("value", reference)
            }),
            RegretError::Illegal { name, column, .. } => {
                exception("RegretError", &message, |fields| {
                    fields
                        .set("field", "policy")?
                        .set("player", name)?
                        .set("value", column)
                })
            }
            RegretError::Threads { .. } => exception("RegretError", &message, |fields| {
                fields.set("field", "num_threads")
            }),
            RegretError::Search(_) | RegretError::File { .. } | RegretError::Stopped { .. } => {
                exception("RegretError", &message, |fields| Ok(fields))
            }
        }
    }
}
