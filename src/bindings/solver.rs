//! `Solver`: exact values of positions.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBool;

use super::arguments::whole;
use super::errors::{exception, type_error};
use super::position::PyPosition;
use super::ruleset::PyRuleset;
use super::tables::PyEndgameTable;
use crate::search::{SolveError, SolveLimits, SolveProgress, Solver, SolverOptions, WatchSolve};

/// The most threads that may be asked for.
const MAX_THREADS: i64 = 1024;

/// Lower, upper, best moves, whether these are all, nodes, seconds, and what stopped it early.
type Solved = (i32, i32, Vec<u8>, bool, u64, f64, Option<PyErr>);

/// Column, lower and upper of every move, nodes, seconds, and what stopped it early.
type Analysed = (Vec<(u8, i32, i32)>, u64, f64, Option<PyErr>);

/// The exact solver of a rule set; users take ``endodoi.Solver``.
///
/// Parameters
/// ----------
/// ruleset : Ruleset
/// memory : int or None
///     Bytes of the transposition table.
/// num_threads : int or None
/// table : EndgameTable or None
#[pyclass(name = "Solver", module = "endodoi._core")]
pub(super) struct PySolver(Solver);

#[pymethods]
impl PySolver {
    #[new]
    #[pyo3(signature = (ruleset, *, memory=None, num_threads=None, table=None))]
    fn new(
        ruleset: &PyRuleset,
        memory: Option<&Bound<'_, PyAny>>,
        num_threads: Option<&Bound<'_, PyAny>>,
        table: Option<&PyEndgameTable>,
    ) -> PyResult<PySolver> {
        let options = solver_options(memory, num_threads)?;
        let mut solver = Solver::new(&ruleset.0, &options)?;
        if let Some(table) = table {
            solver.use_table(Arc::clone(&table.0))?;
        }
        Ok(PySolver(solver))
    }

    /// Solve a position.
    ///
    /// Parameters
    /// ----------
    /// position : Position
    /// seconds : float or None
    ///     When to stop with bounds.
    /// progress : callable or None
    ///     Called with lower, upper, threshold, depth, nodes, seconds, the seeds of the table and,
    ///     while a table is built, its (seeds, done, positions), else None.
    ///
    /// Returns
    /// -------
    /// lower, upper : int
    /// best_moves : list of int
    /// complete : bool
    /// nodes : int
    /// seconds : float
    /// interruption : BaseException or None
    #[pyo3(signature = (position, *, seconds=None, progress=None))]
    fn solve(
        &mut self,
        py: Python<'_>,
        position: &PyPosition,
        seconds: Option<&Bound<'_, PyAny>>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Solved> {
        let limits = limits(seconds)?;
        let progress = progress.map(Bound::unbind);
        let (solution, stopped) = watched(py, progress.as_ref(), |watch| {
            self.0.solve(&position.0, &limits, watch)
        })?;
        Ok((
            solution.lower,
            solution.upper,
            solution.best_moves,
            solution.complete,
            solution.nodes,
            solution.seconds,
            stopped,
        ))
    }

    /// Solve the position after every legal move.
    ///
    /// Parameters
    /// ----------
    /// position : Position
    /// seconds : float or None
    /// progress : callable or None
    ///
    /// Returns
    /// -------
    /// moves : list of (int, int, int)
    ///     Column, lower, upper.
    /// nodes : int
    /// seconds : float
    /// interruption : BaseException or None
    #[pyo3(signature = (position, *, seconds=None, progress=None))]
    fn analyse(
        &mut self,
        py: Python<'_>,
        position: &PyPosition,
        seconds: Option<&Bound<'_, PyAny>>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Analysed> {
        let limits = limits(seconds)?;
        let progress = progress.map(Bound::unbind);
        let (analysis, stopped) = watched(py, progress.as_ref(), |watch| {
            self.0.analyse(&position.0, &limits, watch)
        })?;
        let moves = analysis.moves.iter();
        Ok((
            moves.map(|m| (m.column, m.lower, m.upper)).collect(),
            analysis.nodes,
            analysis.seconds,
            stopped,
        ))
    }

    /// The most seeds of a position in the table in use, 0 without one.
    #[getter]
    fn table_seeds(&self) -> u32 {
        self.0.table().map_or(0, |table| table.max_seeds())
    }

    /// Write what the solver knows to a file.
    ///
    /// Parameters
    /// ----------
    /// path : path
    #[pyo3(signature = (path))]
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        Ok(py.detach(move || self.0.save(&path))?)
    }

    /// Take what a file holds in place of what the solver knows.
    ///
    /// Parameters
    /// ----------
    /// path : path
    #[pyo3(signature = (path))]
    fn load(&mut self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        Ok(py.detach(move || self.0.load(&path))?)
    }
}

/// Reads memory and threads; `None` takes the default.
pub(super) fn solver_options(
    memory: Option<&Bound<'_, PyAny>>,
    num_threads: Option<&Bound<'_, PyAny>>,
) -> PyResult<SolverOptions> {
    let mut options = SolverOptions::default();
    if let Some(memory) = memory {
        options.memory = within(memory, "memory", i64::MAX)? as u64;
    }
    if let Some(threads) = num_threads {
        options.num_threads = Some(within(threads, "num_threads", MAX_THREADS)? as usize);
    }
    Ok(options)
}

/// Reads a whole number from 1 to `high`.
fn within(value: &Bound<'_, PyAny>, field: &str, high: i64) -> PyResult<i64> {
    let number = whole(value, field)?;
    if (1..=high).contains(&number) {
        return Ok(number);
    }
    let message = format!("{field} is {number}, expected 1 to {high}");
    Err(exception("SolveError", &message, |fields| {
        fields.set("field", field)?.set("value", number)
    }))
}

/// Reads a number of seconds.
pub(super) fn seconds_of(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let refuse = || type_error("seconds", value, "a number");
    if value.is_instance_of::<PyBool>() {
        return Err(refuse());
    }
    value.extract().map_err(|_| refuse())
}

fn limits(seconds: Option<&Bound<'_, PyAny>>) -> PyResult<SolveLimits> {
    let seconds = seconds.map(seconds_of).transpose()?;
    if let Some(number) = seconds.filter(|seconds| seconds.is_nan() || *seconds <= 0.0) {
        let message = format!("seconds is {number}, expected more than 0");
        return Err(exception("SolveError", &message, |fields| {
            fields.set("field", "seconds")?.set("value", number)
        }));
    }
    Ok(SolveLimits {
        seconds,
        ..SolveLimits::default()
    })
}

/// Does work that listens for Ctrl-C and tells a function how far it is; what stopped it early
/// comes beside what it has found by then.
fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut WatchSolve<'_>) -> Result<T, SolveError> + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let mut raised = None;
    let result = py.detach(|| {
        work(&mut |now: &SolveProgress| {
            if raised.is_some() {
                return ControlFlow::Break(());
            }
            match Python::attach(|py| tell(py, progress, now)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            }
        })
    });
    Ok((result?, raised))
}

fn tell(py: Python<'_>, progress: Option<&Py<PyAny>>, now: &SolveProgress) -> PyResult<()> {
    py.check_signals()?;
    let Some(progress) = progress else {
        return Ok(());
    };
    let building = now
        .building
        .map(|table| (table.seeds, table.done, table.positions));
    let numbers = (
        now.lower,
        now.upper,
        now.threshold,
        now.depth,
        now.nodes,
        now.seconds,
        now.table_seeds,
        building,
    );
    progress.call1(py, numbers).map(|_| ())
}

impl From<SolveError> for PyErr {
    fn from(error: SolveError) -> PyErr {
        let message = error.to_string();
        match error {
            SolveError::Table(error) => error.into(),
            SolveError::EndlessDraw => exception("SolveError", &message, |fields| {
                fields.set("field", "endless")?.set("value", "draw")
            }),
            SolveError::Ruleset { found, .. } => exception("SolveError", &message, |fields| {
                fields.set("field", "ruleset")?.set("value", found)
            }),
            SolveError::TooLarge { columns, .. } => exception("SolveError", &message, |fields| {
                fields.set("field", "columns")?.set("value", columns)
            }),
            SolveError::OutOfRange {
                field,
                value,
                low,
                high,
            } => exception("SolveError", &message, |fields| {
                fields
                    .set("field", field)?
                    .set("value", value)?
                    .set("low", low)?
                    .set("high", high)
            }),
            SolveError::Io { path, .. } | SolveError::File { path, .. } => {
                exception("SolveError", &message, |fields| {
                    fields.set("field", "path")?.set("value", path)
                })
            }
            SolveError::Memory { bytes } => exception("SolveError", &message, |fields| {
                fields.set("field", "memory")?.set("value", bytes)
            }),
        }
    }
}
