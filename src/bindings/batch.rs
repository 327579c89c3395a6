//! `Batch`: the lockstep engine behind the environments.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use super::actions::read_actions;
use super::arguments::{optional_whole, whole};
use super::arrays::{Infos, Views};
use super::entered::{entered, looked_at};
use super::errors::exception;
use super::finals::finals_of;
use super::opponent::{Raised, read_opponents};
use super::out::Out;
use super::position::PyPosition;
use super::ruleset::PyRuleset;
use super::seeds::{RowSeeds, seeds_of_reset};
use crate::batch::{BatchConfig, BatchError, ChildArrays, IllegalMove, StepArrays, StepBuffers};
use crate::environment::{
    AgentSide, AutoresetMode, Environment, EnvironmentConfig, EnvironmentError,
};
use crate::render;

/// A batch of ``B`` games that the environments step; users make an ``endodoi.VectorEnv``.
///
/// Parameters
/// ----------
/// rows : int
///     ``B``, the games, 1 to 16,777,216.
/// ruleset : Ruleset
///     The rules of every game.
/// autoreset : {"next_step", "same_step", "disabled"}
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
/// opponents : list of (str or callable)
///     Who plays the other side, drawn for each game; none for self-play. A specification, or a
///     function (observations, action_masks) -> actions.
/// agent_side : {"south", "north", "alternate"}
///     The side that actions are for where there are opponents.
/// out : dict or None
///     Arrays that every call fills and returns.
#[pyclass(name = "Batch", module = "endodoi._core")]
pub(super) struct PyBatch {
    environment: Environment,
    /// The opponents as they were given.
    opponents: Py<PyList>,
    raised: Raised,
    out: Out,
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
                        random_opening_plies=None, num_threads=None, copy=true, opponents=None,
                        agent_side="alternate", out=None),
           text_signature = "(rows, ruleset, *, autoreset='next_step', illegal='raise', \
                             max_plies=None, random_opening_plies=0, num_threads=None, copy=True, \
                             opponents=None, agent_side='alternate', out=None)")]
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
        opponents: Option<Bound<'_, PyList>>,
        agent_side: &str,
        out: Option<&Bound<'_, PyAny>>,
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
            num_threads: optional_whole(num_threads, "num_threads")?
                .map(|threads| count(threads, "num_threads", 1))
                .transpose()?,
            ..BatchConfig::new(rows, ruleset.0)
        };
        config.check().map_err(in_users_words)?;
        let config = EnvironmentConfig {
            batch: config,
            autoreset: match autoreset {
                "next_step" => AutoresetMode::NextStep,
                "same_step" => AutoresetMode::SameStep,
                "disabled" => AutoresetMode::Disabled,
                _ => {
                    let expected = "\"next_step\", \"same_step\" or \"disabled\"";
                    return Err(unknown_name("autoreset_mode", autoreset, expected));
                }
            },
            agent_side: AgentSide::ALL
                .into_iter()
                .find(|side| side.name() == agent_side)
                .ok_or_else(|| {
                    let expected = "\"south\", \"north\" or \"alternate\"";
                    unknown_name("agent_side", agent_side, expected)
                })?,
        };
        let out = Out::read(out, rows, ruleset.0.columns())?;
        PyBatch::make(py, opponents, copy, out, |opponents| {
            Environment::new(config, opponents)
        })
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
        slf: &Bound<'_, Self>,
        py: Python<'py>,
        seed: Option<&Bound<'py, PyAny>>,
        mask: Option<&Bound<'py, PyArray1<bool>>>,
        first_seed: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let mut this = entered(slf)?;
        let this = &mut *this;
        this.start_threads_after_fork()?;
        let rows = this.rows();
        let given = |value: Option<&Bound<'py, PyAny>>| {
            value.map(|value| RowSeeds::read(value, rows)).transpose()
        };
        let (seeds, first_seeds) = (given(seed)?, given(first_seed)?);
        let seeds = seeds_of_reset(
            this.environment.batch(),
            seeds.as_ref(),
            first_seeds.as_ref(),
        );
        let mask = mask.map(PyArrayMethods::to_vec).transpose()?;
        let (environment, raised) = (&mut this.environment, &this.raised);
        let started =
            py.detach(|| environment.reset(Some(&seeds), mask.as_deref(), &mut || raised.listen()));
        started.map_err(|error| this.explain(error))?;
        let views = this.views(py);
        {
            let mut observations = views.observations.bind(py).try_readwrite()?;
            let mut masks = views.masks.bind(py).try_readwrite()?;
            let mut to_play = views.to_play.bind(py).try_readwrite()?;
            let batch = this.environment.batch();
            batch.observe(observations.as_slice_mut()?)?;
            batch.masks(masks.as_slice_mut()?)?;
            batch.to_play(to_play.as_slice_mut()?)?;
        }
        let infos = match &mut this.shared {
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
        slf: &Bound<'_, Self>,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let mut this = entered(slf)?;
        let this = &mut *this;
        this.start_threads_after_fork()?;
        read_actions(actions, &mut this.actions)?;
        let views = this.views(py);
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
                ..this.scratch.buffers()
            };
            let (environment, actions) = (&mut this.environment, &this.actions[..]);
            let raised = &this.raised;
            let played = py.detach(|| environment.step(actions, out, &mut || raised.listen()));
            played.map_err(|error| this.explain(error))?;
        }
        let mut fresh = None;
        let reused = match &mut this.shared {
            Some((_, reused)) => reused,
            None => fresh.insert(Infos::new(py, this.environment.batch().rows())),
        };
        let infos = reused.of_all(py, &views)?;
        if this.environment.finals().rows.is_empty() {
            reused.add_ends(&infos, &this.scratch)?;
        }
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
        self.environment.batch().rows()
    }

    /// The rules of every game.
    #[getter]
    fn ruleset(&self) -> PyRuleset {
        PyRuleset(*self.environment.batch().ruleset())
    }

    /// Threads that steps use.
    #[getter]
    fn num_threads(&self) -> usize {
        self.environment.batch().num_threads()
    }

    /// Return the position of one row.
    fn position(slf: &Bound<'_, Self>, row: &Bound<'_, PyAny>) -> PyResult<PyPosition> {
        let this = looked_at(slf)?;
        Ok(PyPosition(
            this.environment.batch().position(read_row(row)?)?,
        ))
    }

    /// Return the plies of the game in one row, opening plies included.
    fn plies(slf: &Bound<'_, Self>, row: &Bound<'_, PyAny>) -> PyResult<u32> {
        let this = looked_at(slf)?;
        Ok(this.environment.batch().plies(read_row(row)?)?)
    }

    /// Return the episode of one row, counted from 0.
    fn episode(slf: &Bound<'_, Self>, row: &Bound<'_, PyAny>) -> PyResult<u64> {
        let this = looked_at(slf)?;
        Ok(this.environment.batch().episode(read_row(row)?)?)
    }

    /// Return the row seed of one row.
    fn row_seed(slf: &Bound<'_, Self>, row: &Bound<'_, PyAny>) -> PyResult<u64> {
        let this = looked_at(slf)?;
        Ok(this.environment.batch().row_seed(read_row(row)?)?)
    }

    /// Return the boards of all rows as text, with the end of finished games.
    fn render(slf: &Bound<'_, Self>) -> PyResult<Vec<String>> {
        let this = looked_at(slf)?;
        (0..this.rows()).map(|row| this.render_row(row)).collect()
    }

    /// Return everything that the next steps depend on, settings included, as bytes.
    fn save<'py>(slf: &Bound<'_, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let this = looked_at(slf)?;
        Ok(PyBytes::new(py, &this.environment.save().map_err(plainly)?))
    }

    /// Make the batch that :meth:`save` wrote; with the same opponents it goes on exactly as the
    /// saved one.
    ///
    /// Raises
    /// ------
    /// BatchError
    ///     If the bytes are not a whole, unchanged snapshot of this format version.
    #[staticmethod]
    #[pyo3(signature = (state, copy, opponents=None, out=None))]
    fn restore(
        py: Python<'_>,
        state: &[u8],
        copy: bool,
        opponents: Option<Bound<'_, PyList>>,
        out: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyBatch> {
        let mut batch = PyBatch::make(py, opponents, copy, Out::default(), |opponents| {
            Environment::restore(state, opponents)
        })?;
        let columns = batch.environment.batch().ruleset().columns();
        batch.out = Out::read(out, batch.rows(), columns)?;
        Ok(batch)
    }

    /// Go on as the batch that :meth:`save` wrote, which had the same settings.
    ///
    /// Raises
    /// ------
    /// BatchError
    ///     If the bytes are no snapshot, or one with other settings; nothing has changed then.
    fn set_state(slf: &Bound<'_, Self>, state: &[u8]) -> PyResult<()> {
        let mut this = entered(slf)?;
        let this = &mut *this;
        this.start_threads_after_fork()?;
        this.environment.set_state(state).map_err(plainly)
    }

    /// Replace the opponents, from their next ply on.
    ///
    /// Parameters
    /// ----------
    /// opponents : list of (str or callable)
    fn set_opponents(
        slf: &Bound<'_, Self>,
        py: Python<'_>,
        opponents: Bound<'_, PyList>,
    ) -> PyResult<()> {
        let mut this = entered(slf)?;
        let this = &mut *this;
        this.start_threads_after_fork()?;
        let players = read_opponents(Some(&opponents), &this.raised)?;
        let environment = &mut this.environment;
        py.detach(|| environment.set_opponents(players))
            .map_err(plainly)?;
        this.opponents = opponents.unbind();
        Ok(())
    }

    /// The opponents as they were given; an empty list in self-play.
    #[getter]
    fn opponents<'py>(&self, py: Python<'py>) -> Bound<'py, PyList> {
        self.opponents.bind(py).clone()
    }

    /// The arrays that calls fill, as they were given.
    #[getter]
    fn out<'py>(slf: &Bound<'_, Self>, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let this = looked_at(slf)?;
        this.out.as_dict(py)
    }

    /// Return which opponent plays each row, int32 [B].
    fn playing<'py>(slf: &Bound<'_, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let this = looked_at(slf)?;
        let playing = this.environment.playing().iter();
        Ok(PyArray1::from_iter(
            py,
            playing.map(|&playing| playing as i32),
        ))
    }

    /// Return the agent's side in one row, "south" or "north"; None in self-play.
    fn agent_side(slf: &Bound<'_, Self>, row: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
        let this = looked_at(slf)?;
        let side = this.environment.agent_side(read_row(row)?)?;
        Ok(side.map(crate::side::Side::name))
    }

    /// Return what every legal column of every row leads to, as one ply would settle it.
    ///
    /// Returns
    /// -------
    /// observations : int16 [B, C, 2C+3]
    ///     The view of the side whose turn it is after the ply; zeros where a column is not legal.
    /// captured : int16 [B, C]
    ///     Seeds the mover captures, E1's rest included.
    /// end_reason : int8 [B, C]
    ///     How the ply ends the game, -1 where it goes on.
    fn children<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let batch = self.environment.batch();
        let (rows, columns) = (batch.rows(), batch.ruleset().columns());
        let mut arrays = ChildArrays::new(batch);
        py.detach(|| batch.children(arrays.buffers()))?;
        let views = PyArray1::from_vec(py, arrays.observations);
        let captured = PyArray1::from_vec(py, arrays.captured);
        let ends = PyArray1::from_vec(py, arrays.end_reason);
        let parts = (
            views.reshape([rows, columns, 2 * columns + 3])?,
            captured.reshape([rows, columns])?,
            ends.reshape([rows, columns])?,
        );
        parts.into_pyobject(py)
    }

    /// Return what the games ended with that the last step replaced, None where there are none.
    ///
    /// Returns
    /// -------
    /// rows : int64 [E]
    /// observations : int16 [E, 2C+3]
    /// infos : dict of str to array
    ///     ``to_play`` int8 [E], ``outcome`` int8 [E], ``captured`` int16 [E, 2], ``plies`` int32
    ///     [E], ``end_reason`` int8 [E], and with opponents ``opponent`` int32 [E].
    fn finals<'py>(
        slf: &Bound<'_, Self>,
        py: Python<'py>,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let this = looked_at(slf)?;
        finals_of(py, this.environment.finals())
    }

    #[allow(clippy::type_complexity)] // The arguments of `restore`.
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
        py: Python<'py>,
    ) -> PyResult<
        super::Reduced<
            'py,
            (
                Bound<'py, PyBytes>,
                bool,
                Bound<'py, PyList>,
                Option<Bound<'py, PyDict>>,
            ),
        >,
    > {
        let restore = py.get_type::<PyBatch>().getattr("restore")?;
        let copy = looked_at(slf)?.shared.is_none();
        Ok((
            restore,
            (
                PyBatch::save(slf, py)?,
                copy,
                looked_at(slf)?.opponents(py),
                PyBatch::out(slf, py)?,
            ),
        ))
    }
}

impl PyBatch {
    fn make(
        py: Python<'_>,
        opponents: Option<Bound<'_, PyList>>,
        copy: bool,
        out: Out,
        make: impl FnOnce(Vec<crate::environment::Opponent>) -> Result<Environment, EnvironmentError>,
    ) -> PyResult<PyBatch> {
        let raised = Raised::default();
        let players = read_opponents(opponents.as_ref(), &raised)?;
        let environment = make(players).map_err(plainly)?;
        let batch = environment.batch();
        let (rows, columns) = (batch.rows(), batch.ruleset().columns());
        Ok(PyBatch {
            actions: Vec::with_capacity(rows),
            scratch: StepArrays::new(batch),
            shared: (!copy).then(|| (Views::new(py, rows, columns), Infos::new(py, rows))),
            process: std::process::id(),
            opponents: opponents.unwrap_or_else(|| PyList::empty(py)).unbind(),
            environment,
            raised,
            out,
        })
    }

    /// Makes an exception of an error: what a function raised, or the signal that broke the step
    /// off, where it was that.
    fn explain(&self, error: EnvironmentError) -> PyErr {
        self.raised.take().unwrap_or_else(|| plainly(error))
    }

    /// Starts the threads anew in a process that was forked from their own, where they do not
    /// exist.
    fn start_threads_after_fork(&mut self) -> PyResult<()> {
        let process = std::process::id();
        if process != self.process {
            self.environment.restart_threads().map_err(plainly)?;
            self.process = process;
        }
        Ok(())
    }

    fn views(&self, py: Python<'_>) -> Views {
        let batch = self.environment.batch();
        let mut views = match &self.shared {
            Some((views, _)) => views.clone_ref(py),
            None => Views::new(py, batch.rows(), batch.ruleset().columns()),
        };
        self.out.place(py, &mut views);
        views
    }

    fn render_row(&self, row: usize) -> PyResult<String> {
        let position = self.environment.batch().position(row)?;
        let text = render::ansi(&position);
        Ok(match self.environment.batch().end(row)? {
            Some(end) if !position.is_over() => format!("{text}; over ({})", end.name()),
            _ => text,
        })
    }
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

fn plainly(error: EnvironmentError) -> PyErr {
    error.into()
}
