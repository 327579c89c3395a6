//! `Exam`: what a player's moves lose.

use std::sync::Arc;

use pyo3::prelude::*;

use super::arguments::{seed, text, whole};
use super::errors::exception;
use super::position::PyPosition;
use super::ruleset::PyRuleset;
use super::simulate::{Contestant, Interruption};
use super::solver::{seconds_of, solver_options};
use super::tables::PyEndgameTable;
use crate::arena::{Exam, ExamConfig, ExamProgress, RegretError, regret_table};

/// Columns and what they are worth.
type Worths = Vec<(u8, i32)>;

/// Column, seeds lost, whether the outcome changes, and the phase.
type Answered = (u8, i32, bool, &'static str);

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
#[pyclass(name = "Exam", module = "endodoi._core", frozen)]
pub(super) struct PyExam(Exam);

#[pymethods]
impl PyExam {
    #[new]
    #[pyo3(signature = (ruleset, positions, seed, *, reference=None, seconds=None, memory=None,
                        num_threads=None, table=None, progress=None))]
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
            config.seconds = seconds_of(seconds)?;
        }
        config.solver = solver_options(memory, num_threads)?;
        let table = table.map(|table| Arc::clone(&table.0));
        let progress = progress.map(Bound::unbind);
        let interruption = Interruption::default();
        let drawn = py.detach(|| {
            let mut watch =
                |now: ExamProgress| interruption.watch(now.done.into(), progress.as_ref());
            Exam::draw(&config, table, &mut watch)
        });
        finished(drawn, &interruption).map(PyExam)
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
    ) -> PyResult<(String, String, Vec<Answered>)> {
        let progress = progress.map(Bound::unbind);
        let interruption = Interruption::default();
        let mut policy = Contestant::read(player, &interruption)?.build()?;
        let graded = py.detach(|| {
            let mut watch =
                |now: ExamProgress| interruption.watch(now.done.into(), progress.as_ref());
            self.0.grade(&mut *policy, &mut watch)
        });
        let regret = finished(graded, &interruption)?;
        let numbers = serde_json::to_string(&regret).map_err(|error| {
            exception("RegretError", &error.to_string(), |fields| {
                fields.set("field", "json")
            })
        })?;
        let text = regret_table(std::slice::from_ref(&regret));
        let answers = regret.answers.iter();
        let answers = answers
            .map(|a| (a.column, a.lost, a.changes_outcome, a.phase.name()))
            .collect();
        Ok((numbers, text, answers))
    }
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
