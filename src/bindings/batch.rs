//! `Batch`: the lockstep engine behind the environments.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

use super::arguments::{optional_whole, seed, whole, whole_numbers};
use super::arrays::{Infos, Views};
use super::errors::exception;
use super::position::PyPosition;
use super::ruleset::PyRuleset;
use crate::batch::{
    Autoreset, Batch, BatchConfig, BatchError, IllegalMove, Seeds, StepArrays, StepBuffers,
};
use crate::{render, rng};

/// A batch of ``B`` games that the environments step; users make an ``endodoi.VectorEnv``.
///
/// Parameters
/// ----------
/// rows : int
///     ``B``, the games, 1 to 16,777,216.
/// ruleset : Ruleset
///     The rules of every game.
/// autoreset : {"next_step", "disabled"}
///     When a finished game is replaced by the next one of its row.
/// illegal : {"raise", "loss"}
///     What an illegal action does.
/// max_plies : int or None
///     Plies after which a game is cut (E4), opening plies included.
/// random_opening_plies : int
///     Plies drawn uniformly over legal moves before a game is handed over.
/// num_threads : int or None
///     Threads; None for as many as the process may use.
/// copy : bool
///     Whether every call returns new arrays; otherwise calls fill the same ones again.
#[pyclass(name = "Batch", module = "endodoi._core")]
pub(super) struct PyBatch {
    batch: Batch,
    /// The process that started the threads of the batch.
    process: u32,
    actions: Vec<i64>,
    scratch: StepArrays,
    /// The arrays that every call fills again; `None` with `copy=True`.
    shared: Option<(Views, Infos)>,
}

#[pymethods]
impl PyBatch {
    #[new]
    #[pyo3(signature = (rows, ruleset, *, autoreset="next_step", illegal="raise", max_plies=None,
                        random_opening_plies=None, num_threads=None, copy=true),
           text_signature = "(rows, ruleset, *, autoreset='next_step', illegal='raise', \
                             max_plies=None, random_opening_plies=0, num_threads=None, copy=True)")]
    #[allow(clippy::too_many_arguments)] // One for each setting.
    fn new(
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        ruleset: &PyRuleset,
        autoreset: &str,
        illegal: &str,
        max_plies: Option<&Bound<'_, PyAny>>,
        random_opening_plies: Option<&Bound<'_, PyAny>>,
        num_threads: Option<&Bound<'_, PyAny>>,
        copy: bool,
    ) -> PyResult<PyBatch> {
        let rows = count(whole(rows, "num_envs")?, "num_envs", 1)?;
        let config = BatchConfig {
            max_plies: optional_whole(max_plies, "max_plies")?
                .map(|plies| narrow_count(plies, "max_plies", 1))
                .transpose()?,
            random_opening_plies: optional_whole(random_opening_plies, "random_opening_plies")?
                .map_or(Ok(0), |plies| {
                    narrow_count(plies, "random_opening_plies", 0)
                })?,
            illegal: match illegal {
                "raise" => IllegalMove::Raise,
                "loss" => IllegalMove::Loss,
                _ => return Err(unknown_name("illegal", illegal, "\"raise\" or \"loss\"")),
            },
            autoreset: match autoreset {
                "next_step" => Autoreset::NextStep,
                "disabled" => Autoreset::Disabled,
                _ => {
                    let expected = "\"next_step\" or \"disabled\"";
                    return Err(unknown_name("autoreset_mode", autoreset, expected));
                }
            },
            num_threads: optional_whole(num_threads, "num_threads")?
                .map(|threads| count(threads, "num_threads", 1))
                .transpose()?,
            ..BatchConfig::new(rows, ruleset.0)
        };
        let batch = Batch::new(config).map_err(in_users_words)?;
        Ok(PyBatch::of_batch(py, batch, copy))
    }

    /// Start new games in all rows, or in those of a mask.
    ///
    /// Parameters
    /// ----------
    /// seed : int, sequence of (int or None), or None
    ///     An integer gives row i the row seed mix(seed, i); a sequence holds the row seeds
    ///     themselves. Seeded rows start at episode 0, the others go on with the next one.
    /// mask : bool array [B] or None
    ///     The rows to reset; None for all.
    /// first_seed : int, sequence of (int or None), or None
    ///     Seeds, as `seed`, of rows that have none and were never reset before.
    ///
    /// Returns
    /// -------
    /// observations : int16 [B, 2C+3]
    /// infos : dict
    ///     ``action_mask`` int8 [B, C] and ``to_play`` int8 [B] of all rows, each with its mask.
    #[pyo3(signature = (seed=None, mask=None, first_seed=None))]
    fn reset<'py>(
        &mut self,
        py: Python<'py>,
        seed: Option<&Bound<'py, PyAny>>,
        mask: Option<&Bound<'py, PyArray1<bool>>>,
        first_seed: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        self.start_threads_after_fork()?;
        let rows = self.batch.rows();
        let given = |value: Option<&Bound<'py, PyAny>>| {
            value.map(|value| read_seeds(value, rows)).transpose()
        };
        let (seeds, first_seeds) = (given(seed)?, given(first_seed)?);
        let mask = mask.map(PyArrayMethods::to_vec).transpose()?;
        let batch = &mut self.batch;
        py.detach(|| reset_rows(batch, seeds.as_ref(), first_seeds.as_ref(), mask.as_deref()))?;
        let views = self.views(py);
        {
            let mut observations = views.observations.bind(py).try_readwrite()?;
            let mut masks = views.masks.bind(py).try_readwrite()?;
            let mut to_play = views.to_play.bind(py).try_readwrite()?;
            self.batch.observe(observations.as_slice_mut()?)?;
            self.batch.masks(masks.as_slice_mut()?)?;
            self.batch.to_play(to_play.as_slice_mut()?)?;
        }
        let rows = self.batch.rows();
        let infos = match &mut self.shared {
            Some((_, reused)) => reused.of_all(py, &views)?,
            None => Infos::new(py, rows).of_all(py, &views)?,
        };
        (views.observations, infos).into_pyobject(py)
    }

    /// Play one column in every game.
    ///
    /// Parameters
    /// ----------
    /// actions : integer array [B], or sequence of int
    ///     Mover-relative columns (B4); the action of a finished row is ignored in next-step mode.
    ///
    /// Returns
    /// -------
    /// observations : int16 [B, 2C+3]
    /// rewards : float32 [B]
    /// terminated, truncated : bool [B]
    /// infos : dict
    ///
    /// Raises
    /// ------
    /// BatchError
    ///     If an action is illegal where that is refused, or a row cannot be stepped; no game has
    ///     changed then.
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        self.start_threads_after_fork()?;
        read_actions(actions, &mut self.actions)?;
        let views = self.views(py);
        {
            let mut rewards = views.rewards.bind(py).try_readwrite()?;
            let mut terminated = views.terminated.bind(py).try_readwrite()?;
            let mut truncated = views.truncated.bind(py).try_readwrite()?;
            let mut observations = views.observations.bind(py).try_readwrite()?;
            let mut masks = views.masks.bind(py).try_readwrite()?;
            let mut to_play = views.to_play.bind(py).try_readwrite()?;
            let out = StepBuffers {
                rewards: rewards.as_slice_mut()?,
                terminated: terminated.as_slice_mut()?,
                truncated: truncated.as_slice_mut()?,
                observations: observations.as_slice_mut()?,
                masks: masks.as_slice_mut()?,
                to_play: to_play.as_slice_mut()?,
                ..self.scratch.buffers()
            };
            let (batch, actions) = (&mut self.batch, &self.actions[..]);
            py.detach(|| batch.step(actions, out))?;
        }
        let mut fresh = None;
        let reused = match &mut self.shared {
            Some((_, reused)) => reused,
            None => fresh.insert(Infos::new(py, self.batch.rows())),
        };
        let infos = reused.of_all(py, &views)?;
        reused.add_ends(&infos, &self.scratch)?;
        let Views {
            rewards,
            terminated,
            truncated,
            observations,
            ..
        } = views;
        (observations, rewards, terminated, truncated, infos).into_pyobject(py)
    }

    /// ``B``, the games.
    #[getter]
    fn rows(&self) -> usize {
        self.batch.rows()
    }

    /// The rules of every game.
    #[getter]
    fn ruleset(&self) -> PyRuleset {
        PyRuleset(*self.batch.ruleset())
    }

    /// Threads that steps use.
    #[getter]
    fn num_threads(&self) -> usize {
        self.batch.num_threads()
    }

    /// Return the position of one row.
    fn position(&self, row: &Bound<'_, PyAny>) -> PyResult<PyPosition> {
        Ok(PyPosition(self.batch.position(read_row(row)?)?))
    }

    /// Return the plies of the game in one row, opening plies included.
    fn plies(&self, row: &Bound<'_, PyAny>) -> PyResult<u32> {
        Ok(self.batch.plies(read_row(row)?)?)
    }

    /// Return the episode of one row, counted from 0.
    fn episode(&self, row: &Bound<'_, PyAny>) -> PyResult<u64> {
        Ok(self.batch.episode(read_row(row)?)?)
    }

    /// Return the row seed of one row.
    fn row_seed(&self, row: &Bound<'_, PyAny>) -> PyResult<u64> {
        Ok(self.batch.row_seed(read_row(row)?)?)
    }

    /// Return the boards of all rows as text, with the end of finished games.
    fn render(&self) -> PyResult<Vec<String>> {
        (0..self.batch.rows())
            .map(|row| self.render_row(row))
            .collect()
    }

    /// Return everything that the next steps depend on, settings included, as bytes.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.batch.save()?))
    }

    /// Make the batch that :meth:`save` wrote; it goes on exactly as the saved one.
    ///
    /// Raises
    /// ------
    /// BatchError
    ///     If the bytes are not a whole, unchanged snapshot of this format version.
    #[staticmethod]
    fn restore(py: Python<'_>, state: &[u8], copy: bool) -> PyResult<PyBatch> {
        Ok(PyBatch::of_batch(py, Batch::restore(state)?, copy))
    }

    /// Go on as the batch that :meth:`save` wrote, which had the same settings.
    ///
    /// Raises
    /// ------
    /// BatchError
    ///     If the bytes are no snapshot, or one with other settings; nothing has changed then.
    fn set_state(&mut self, state: &[u8]) -> PyResult<()> {
        let restored = Batch::restore(state)?;
        let theirs = BatchConfig {
            num_threads: self.batch.config().num_threads,
            ..*restored.config()
        };
        if theirs != *self.batch.config() {
            let message = format!(
                "the snapshot is of other settings: {theirs:?}, expected {:?}",
                self.batch.config()
            );
            return Err(exception("BatchError", &message, |fields| {
                fields.set("field", "state")
            }));
        }
        self.start_threads_after_fork()?;
        self.batch = restored;
        Ok(())
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<super::Reduced<'py, (Bound<'py, PyBytes>, bool)>> {
        let restore = py.get_type::<PyBatch>().getattr("restore")?;
        Ok((restore, (self.save(py)?, self.shared.is_none())))
    }
}

impl PyBatch {
    fn of_batch(py: Python<'_>, batch: Batch, copy: bool) -> PyBatch {
        let (rows, columns) = (batch.rows(), batch.ruleset().columns());
        PyBatch {
            actions: Vec::with_capacity(rows),
            scratch: StepArrays::new(&batch),
            shared: (!copy).then(|| (Views::new(py, rows, columns), Infos::new(py, rows))),
            process: std::process::id(),
            batch,
        }
    }

    /// Replaces the batch by its copy in a process that was forked from its own, where its threads
    /// do not exist.
    fn start_threads_after_fork(&mut self) -> Result<(), BatchError> {
        let process = std::process::id();
        if process != self.process {
            let copy = Batch::restore(&self.batch.save()?)?;
            // Threads that are not there cannot be told to end.
            std::mem::forget(std::mem::replace(&mut self.batch, copy));
            self.process = process;
        }
        Ok(())
    }

    fn views(&self, py: Python<'_>) -> Views {
        match &self.shared {
            Some((views, _)) => views.clone_ref(py),
            None => Views::new(py, self.batch.rows(), self.batch.ruleset().columns()),
        }
    }

    fn render_row(&self, row: usize) -> PyResult<String> {
        let position = self.batch.position(row)?;
        let text = render::ansi(&position);
        Ok(match self.batch.end(row)? {
            Some(end) if !position.is_over() => format!("{text}; over ({})", end.name()),
            _ => text,
        })
    }
}

/// Starts new games: rows with a seed at episode 0 of it, the others with their next episode.
///
/// `first_seeds` are for rows without a seed that were never reset.
fn reset_rows(
    batch: &mut Batch,
    seeds: Option<&RowSeeds>,
    first_seeds: Option<&RowSeeds>,
    mask: Option<&[bool]>,
) -> Result<(), BatchError> {
    let rows = batch.rows();
    let chosen = |row: usize| mask.is_none_or(|mask| mask.get(row) == Some(&true));
    let mut given = vec![0; rows];
    let (mut seeded, mut unseeded) = (vec![false; rows], vec![false; rows]);
    for row in (0..rows).filter(|&row| chosen(row)) {
        let first = || match batch.started(row) {
            Ok(false) => first_seeds?.row_seed(row),
            _ => None,
        };
        match seeds.and_then(|seeds| seeds.row_seed(row)).or_else(first) {
            Some(seed) => (given[row], seeded[row]) = (seed, true),
            None => unseeded[row] = true,
        }
    }
    if seeded.contains(&true) {
        batch.reset(Some(&Seeds::Rows(given)), Some(&seeded))?;
    }
    if unseeded.contains(&true) {
        batch.reset(None, Some(&unseeded))?;
    }
    Ok(())
}

/// Seeds as a user gives them.
enum RowSeeds {
    Integer(u64),
    Rows(Vec<Option<u64>>),
}

impl RowSeeds {
    /// Returns the row seed of `row`, if it is given one.
    fn row_seed(&self, row: usize) -> Option<u64> {
        match self {
            RowSeeds::Integer(seed) => Some(rng::mix(*seed, row as u64)),
            RowSeeds::Rows(seeds) => seeds.get(row).copied().flatten(),
        }
    }
}

fn read_seeds(value: &Bound<'_, PyAny>, rows: usize) -> PyResult<RowSeeds> {
    let is_sequence = value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyTuple>()
        || value.hasattr("__array__")? && value.getattr("ndim")?.gt(0)?;
    if !is_sequence {
        return Ok(RowSeeds::Integer(seed(value, "seed")?));
    }
    let items = value.try_iter()?.enumerate().map(|(row, item)| {
        let item = item?;
        if item.is_none() {
            return Ok(None);
        }
        seed(&item, &format!("seed[{row}]")).map(Some)
    });
    let seeds: Vec<Option<u64>> = items.collect::<PyResult<_>>()?;
    if seeds.len() != rows {
        let error = BatchError::BufferLength {
            field: "seed",
            got: seeds.len(),
            expected: rows,
        };
        return Err(error.into());
    }
    Ok(RowSeeds::Rows(seeds))
}

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

/// Reads the number of a row; the batch refuses one that it does not have.
fn read_row(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    count(whole(value, "row")?, "row", 0)
}

/// Reads a count that is at least `low`.
fn count(value: i64, field: &str, low: i64) -> PyResult<usize> {
    usize::try_from(value)
        .ok()
        .filter(|_| value >= low)
        .ok_or_else(|| {
            let message = format!("{field} is {value}, expected at least {low}");
            exception("BatchError", &message, |fields| {
                fields.set("field", field)?.set("value", value)
            })
        })
}

/// Reads a count that is at least `low` and fits 32 bits; the batch knows its range.
fn narrow_count(value: i64, field: &str, low: i64) -> PyResult<u32> {
    let count = count(value, field, low)?;
    u32::try_from(count).map_err(|_| {
        let message = format!("{field} is {value}, expected {low} to {}", u32::MAX);
        exception("BatchError", &message, |fields| {
            fields.set("field", field)?.set("value", value)
        })
    })
}

fn unknown_name(field: &str, value: &str, expected: &str) -> PyErr {
    let message = format!("{field} is {value:?}, expected {expected}");
    exception("BatchError", &message, |fields| {
        fields.set("field", field)?.set("value", value)
    })
}

/// Names the rows of a batch as users of the environment do.
fn in_users_words(error: BatchError) -> BatchError {
    match error {
        BatchError::OutOfRange {
            field: "rows",
            value,
            low,
            high,
        } => BatchError::OutOfRange {
            field: "num_envs",
            value,
            low,
            high,
        },
        other => other,
    }
}
