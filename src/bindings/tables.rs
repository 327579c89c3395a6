//! `EndgameTable`: exact values of positions with few seeds.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;

use super::Reduced;
use super::arguments::whole;
use super::errors::exception;
use super::position::PyPosition;
use super::ruleset::PyRuleset;
use crate::search::{EndgameTable, TableError, TableProgress, VerifyTable, WatchTable};

/// The exact values of all positions with few seeds; made by the functions of
/// ``endodoi.tables``.
///
/// A value is what the side to move still takes less what the other side still takes, with perfect
/// play: the rest that goes to the other side when a side is stuck counts (E1), play without end
/// gains nothing for either side, and the quiet limit (E3) is not looked at.
#[pyclass(name = "EndgameTable", module = "endodoi.tables", frozen)]
pub(super) struct PyEndgameTable(pub(super) Arc<EndgameTable>);

#[pymethods]
impl PyEndgameTable {
    /// Work out the values of all positions with up to ``max_seeds`` seeds.
    ///
    /// Parameters
    /// ----------
    /// ruleset : Ruleset
    /// max_seeds : int
    /// num_threads : int or None
    /// progress : callable or None
    ///     Called with the positions done, several times a second.
    #[staticmethod]
    #[pyo3(signature = (ruleset, max_seeds, *, num_threads=None, progress=None))]
    fn build(
        py: Python<'_>,
        ruleset: &PyRuleset,
        max_seeds: &Bound<'_, PyAny>,
        num_threads: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyEndgameTable> {
        let max_seeds = count(max_seeds, "seeds", 127)? as u32;
        let num_threads = threads(num_threads)?;
        watched(py, progress, |watch| {
            EndgameTable::build(&ruleset.0, max_seeds, num_threads, watch)
        })
        .map(|table| PyEndgameTable(Arc::new(table)))
    }

    /// Open the file of a table; with a rule set, only if its values hold under that.
    #[staticmethod]
    #[pyo3(signature = (path, ruleset=None))]
    #[allow(clippy::needless_pass_by_value)] // Paths of any kind come as a `PathBuf`.
    fn open(path: PathBuf, ruleset: Option<&PyRuleset>) -> PyResult<PyEndgameTable> {
        let table = match ruleset {
            Some(ruleset) => EndgameTable::open(&path, &ruleset.0),
            None => EndgameTable::open_any(&path),
        };
        Ok(PyEndgameTable(Arc::new(table?)))
    }

    /// Return the name that a table's file has unless another is given.
    #[staticmethod]
    fn file_name(ruleset: &PyRuleset, max_seeds: &Bound<'_, PyAny>) -> PyResult<String> {
        let max_seeds = count(max_seeds, "seeds", 127)? as u32;
        let name = EndgameTable::file_name(&ruleset.0, max_seeds);
        Ok(name.to_string_lossy().into_owned())
    }

    /// Write the table to a file, as a whole or not at all.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     The file.
    /// replace : bool
    ///     Whether it takes the place of a file that is there already.
    /// progress : callable or None
    ///     Called with the positions written.
    ///
    /// Raises
    /// ------
    /// TableError
    ///     If there is such a file already, or it cannot be written, as when the disk is full.
    #[pyo3(signature = (path, *, replace=false, progress=None))]
    #[allow(clippy::needless_pass_by_value)] // Paths of any kind come as a `PathBuf`.
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        replace: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mut written = 0;
        watched(py, progress, |watch| {
            // Told of every block, many times a second.
            self.0.save(&path, replace, &mut |progress| {
                written += 1;
                if written % 64 == 0 {
                    watch(progress)
                } else {
                    ControlFlow::Continue(())
                }
            })
        })
    }

    /// Check every checksum of the file, and values against the moves of their positions.
    ///
    /// Parameters
    /// ----------
    /// all_positions : bool
    ///     Whether the values of all positions are checked against the positions that their moves
    ///     lead to, or those of a sample.
    /// num_threads : int or None
    /// progress : callable or None
    ///     Called with the positions done, several times a second.
    ///
    /// Raises
    /// ------
    /// TableError
    ///     Which block is damaged, or which position contradicts its moves.
    #[pyo3(signature = (*, all_positions=false, num_threads=None, progress=None))]
    fn verify(
        &self,
        py: Python<'_>,
        all_positions: bool,
        num_threads: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let num_threads = threads(num_threads)?;
        let which = if all_positions {
            VerifyTable::All
        } else {
            VerifyTable::Sample
        };
        watched(py, progress, |watch| {
            self.0.verify(which, num_threads, watch)
        })
    }

    /// Return the value of a position for its side to move; 0 when the game is over.
    ///
    /// Raises
    /// ------
    /// TableError
    ///     If the position has other rules (columns, direction, lone capture, lap limit, endless
    ///     sowings), or more seeds on the board than the table.
    fn value(&self, position: &PyPosition) -> PyResult<i8> {
        Ok(self.0.value(&position.0)?)
    }

    /// The rules that the table was built for.
    #[getter]
    fn ruleset(&self) -> PyRuleset {
        PyRuleset(*self.0.ruleset())
    }

    /// The most seeds on the board of a position in the table.
    #[getter]
    fn max_seeds(&self) -> u32 {
        self.0.max_seeds()
    }

    /// How many positions the table has: the bytes of its values.
    #[getter]
    fn positions(&self) -> u64 {
        self.0.positions()
    }

    /// The file that the table lies in; ``None`` for one in memory.
    #[getter]
    fn path(&self) -> Option<&Path> {
        self.0.path()
    }

    fn __repr__(&self) -> String {
        let place = match self.0.path() {
            Some(path) => format!(", {}", path.display()),
            None => String::new(),
        };
        format!(
            "<EndgameTable {} up to {} seeds, {} positions{place}>",
            self.0.ruleset(),
            self.0.max_seeds(),
            self.0.positions()
        )
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Reduced<'py, (PathBuf, Option<PyRuleset>)>> {
        let Some(path) = self.0.path() else {
            let message = "a table in memory cannot be pickled: save it and open its file";
            return Err(exception("TableError", message, |fields| {
                fields.set("kind", "in_memory")
            }));
        };
        let open = py.import("endodoi.tables")?.getattr("open")?;
        Ok((open, (path.to_owned(), Some(self.ruleset()))))
    }
}

/// Reads a number of 0 to `high`.
fn count(value: &Bound<'_, PyAny>, field: &'static str, high: u64) -> PyResult<u64> {
    let number = whole(value, field)?;
    u64::try_from(number)
        .ok()
        .filter(|&number| number <= high)
        .ok_or_else(|| {
            let message = format!("{field} is {number}, expected 0 to {high}");
            exception("TableError", &message, |fields| {
                fields
                    .set("kind", "out_of_range")?
                    .set("field", field)?
                    .set("value", number)?
                    .set("low", 0)?
                    .set("high", high)
            })
        })
}

fn threads(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<usize>> {
    let threads = value.map(|value| count(value, "num_threads", 1024));
    Ok(threads.transpose()?.map(|threads| threads as usize))
}

/// Does work that listens for Ctrl-C and tells a function how far it is.
fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut WatchTable<'_>) -> Result<T, TableError> + Send,
) -> PyResult<T> {
    let progress = progress.map(|told| told.clone().unbind());
    let mut raised = None;
    let result = py.detach(|| {
        work(&mut |done: TableProgress| {
            let told = Python::attach(|py| {
                py.check_signals()?;
                progress
                    .as_ref()
                    .map_or(Ok(()), |told| told.call1(py, (done.done,)).map(|_| ()))
            });
            match told {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            }
        })
    });
    match raised {
        Some(error) => Err(error),
        None => Ok(result?),
    }
}

impl From<TableError> for PyErr {
    fn from(error: TableError) -> PyErr {
        exception("TableError", &error.to_string(), |fields| match error {
            TableError::OutOfRange {
                field,
                value,
                low,
                high,
            } => fields
                .set("kind", "out_of_range")?
                .set("field", field)?
                .set("value", value)?
                .set("low", low)?
                .set("high", high),
            TableError::EndlessDraw => fields
                .set("kind", "endless_draw")?
                .set("field", "endless")?
                .set("value", "draw"),
            TableError::TooLarge {
                positions, limit, ..
            } => fields
                .set("kind", "too_large")?
                .set("field", "positions")?
                .set("value", positions)?
                .set("high", limit),
            TableError::Memory {
                needed, available, ..
            } => fields
                .set("kind", "memory")?
                .set("field", "bytes")?
                .set("value", needed)?
                .set("high", available),
            TableError::Threads { .. } => {
                fields.set("kind", "threads")?.set("field", "num_threads")
            }
            TableError::Stopped { done, .. } => fields.set("kind", "stopped")?.set("value", done),
            TableError::Ruleset { found, expected } => fields
                .set("kind", "ruleset")?
                .set("found", found)?
                .set("expected", expected),
            TableError::TooManySeeds { seeds, max_seeds } => fields
                .set("kind", "too_many_seeds")?
                .set("field", "seeds")?
                .set("value", seeds)?
                .set("high", max_seeds),
            TableError::Io { path, .. } => fields.set("kind", "io")?.set("path", path),
            TableError::Exists { path } => fields.set("kind", "exists")?.set("path", path),
            TableError::NotATable { path } => fields.set("kind", "not_a_table")?.set("path", path),
            TableError::FormatVersion { path, found } => fields
                .set("kind", "format_version")?
                .set("path", path)?
                .set("found", found)?
                .set("expected", crate::search::TABLE_FORMAT_VERSION),
            TableError::Length {
                path,
                found,
                expected,
            } => fields
                .set("kind", "length")?
                .set("path", path)?
                .set("found", found)?
                .set("expected", expected),
            TableError::Header { path, .. } => fields.set("kind", "header")?.set("path", path),
            TableError::FileRuleset {
                path,
                found,
                expected,
            } => fields
                .set("kind", "ruleset")?
                .set("path", path)?
                .set("found", found)?
                .set("expected", expected),
            TableError::Damaged { path, block, .. } => fields
                .set("kind", "damaged")?
                .set("path", path)?
                .set("block", block),
            TableError::Inconsistent {
                index,
                found,
                expected,
                ..
            } => fields
                .set("kind", "inconsistent")?
                .set("index", index)?
                .set("found", found)?
                .set("expected", expected),
        })
    }
}
