//! `simulate`: many games between two players.

use std::ffi::CString;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyException, PyRuntimeWarning};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::actions::read_actions;
use super::arguments::{index, seed, text, truth};
use super::errors::exception;
use super::game_table::{PyGameTable, columns_of, summary_texts};
use super::opponent::{failure_of, function_name};
use super::ruleset::PyRuleset;
use crate::policy::{Committee, Member, Policy, PolicyError, PolicySpec, committee};
use crate::position::Position;
use crate::rng::Xoshiro128PlusPlus;
use crate::simulate as core;
use crate::simulate::lockstep;
use crate::simulate::{GameTable, Players, Progress, SimulateConfig, SimulateError, Statistics};

/// Parts that wait to be written while the next games are played.
const WAITING_PARTS: usize = 1;

/// Play many games between two players.
///
/// Parameters
/// ----------
/// games : int
/// ruleset : Ruleset
/// south, north : str or callable
///     A specification, or a function (observations, action_masks) -> actions.
/// first : int
///     Number of the first game.
/// seed : int
/// random_opening_plies : int
/// max_plies, num_threads : int or None
/// offers : bool
///     Count the turns that offer an endless sowing.
/// sample : int or None
///     Games followed move by move; None takes as many as suit the board.
/// follow : bool
///     False follows none of them: the sample is only checked.
/// progress : callable or None
///     Called with the games finished, several times a second.
/// sink : callable or None
///     Called on a thread of its own with the columns of every `rows` games, and at the end with
///     those that are left.
/// rows : int
///     Games of a part.
///
/// Returns
/// -------
/// result : GameTable or tuple of str
///     With a sink the summary, as JSON and as text.
/// interruption : BaseException or None
///     What stopped the games early: the result is that of the games finished before.
#[pyfunction]
#[pyo3(signature = (games, ruleset, south, north, *, first, seed, random_opening_plies, max_plies,
                    num_threads, offers, sample, progress, follow=true, sink=None, rows=1))]
#[allow(clippy::too_many_arguments)] // One for each setting.
pub(super) fn simulate<'py>(
    py: Python<'py>,
    games: &Bound<'py, PyAny>,
    ruleset: &PyRuleset,
    south: &Bound<'py, PyAny>,
    north: &Bound<'py, PyAny>,
    first: &Bound<'py, PyAny>,
    seed: &Bound<'py, PyAny>,
    random_opening_plies: &Bound<'py, PyAny>,
    max_plies: Option<&Bound<'py, PyAny>>,
    num_threads: Option<&Bound<'py, PyAny>>,
    offers: &Bound<'py, PyAny>,
    sample: Option<&Bound<'py, PyAny>>,
    progress: Option<Bound<'py, PyAny>>,
    follow: bool,
    sink: Option<Bound<'py, PyAny>>,
    rows: usize,
) -> PyResult<(Bound<'py, PyAny>, Option<PyErr>)> {
    let sample = match sample {
        Some(games) => count(games, "sample")?,
        None => core::sample_size(&ruleset.0),
    };
    let config = SimulateConfig {
        first: count(first, "first")?,
        seed: self::seed(seed, "seed")?,
        random_opening_plies: count(random_opening_plies, "random_opening_plies")?,
        max_plies: max_plies
            .map(|plies| count(plies, "max_plies"))
            .transpose()?,
        num_threads: num_threads.map(|n| count(n, "num_threads")).transpose()?,
        offers: truth(offers, "offers")?,
        sample: if follow { sample } else { 0 },
        ..SimulateConfig::new(ruleset.0, count(games, "games")?)
    };
    let interruption = Interruption::default();
    let contestants = [
        Contestant::read(south, &interruption)?,
        Contestant::read(north, &interruption)?,
    ];
    let progress = progress.map(Bound::unbind);
    let mut watch = |finished| interruption.watch(finished, progress.as_ref());
    let result = if let Some(sink) = sink {
        let sink = (sink.unbind(), rows);
        let played =
            py.detach(|| play_in_parts(&config, contestants, &mut watch, &interruption, &sink));
        summary_texts(&played?.summary())?.into_bound_py_any(py)?
    } else {
        let played = py.detach(|| play(&config, contestants, &mut watch));
        Bound::new(py, PyGameTable(played?))?.into_any()
    };
    // A Ctrl-C while the last games were written, or a warning that is an error, loses no games.
    if let Err(error) = interruption
        .warn_of_failure(py)
        .and_then(|()| py.check_signals())
    {
        interruption.set(error);
    }
    Ok((result, interruption.take()))
}

/// Return how many games of a simulation are followed move by move by default.
#[pyfunction]
pub(super) fn sample_size(ruleset: &PyRuleset) -> u64 {
    core::sample_size(&ruleset.0)
}

fn play(
    config: &SimulateConfig,
    contestants: [Contestant; 2],
    watch: &mut Progress<'_>,
) -> Result<GameTable, SimulateError> {
    match contestants {
        [Contestant::Spec(south), Contestant::Spec(north)] => {
            core::simulate(config, &south, &north, watch)
        }
        [south, north] => {
            let (mut south, mut north) = (south.build()?, north.build()?);
            core::simulate_between(config, &mut *south, &mut *north, watch)
        }
    }
}

/// Plays on while a thread passes the parts on, where Ctrl-C cannot tear a part apart: it goes to
/// the main thread, which listens in the watch.
fn play_in_parts(
    config: &SimulateConfig,
    contestants: [Contestant; 2],
    watch: &mut Progress<'_>,
    interruption: &Interruption,
    (sink, rows): &(Py<PyAny>, usize),
) -> Result<Statistics, SimulateError> {
    let (sender, parts) = mpsc::sync_channel::<GameTable>(WAITING_PARTS);
    // The sender goes with this function, so that the thread ends however it is left.
    thread::scope(move |scope| {
        let pass_parts_on = move || {
            for part in parts {
                let passed = Python::attach(|py| {
                    let columns = columns_of(py, part)?;
                    sink.call1(py, (columns,)).map(|_| ())
                });
                if let Err(error) = passed {
                    interruption.set(error);
                    return;
                }
            }
        };
        thread::Builder::new()
            .spawn_scoped(scope, pass_parts_on)
            .map_err(|error| SimulateError::Threads {
                message: error.to_string(),
            })?;
        let mut pass_on = |part| match sender.send(part) {
            Ok(()) => ControlFlow::Continue(()),
            // The sink has failed.
            Err(_) => ControlFlow::Break(()),
        };
        match contestants {
            [Contestant::Spec(south), Contestant::Spec(north)] => {
                let players = Players::Specs(&south, &north);
                core::simulate_in_parts(config, players, watch, *rows, &mut pass_on)
            }
            [south, north] => {
                let (mut south, mut north) = (south.build()?, north.build()?);
                let players = Players::Policies(&mut *south, &mut *north);
                core::simulate_in_parts(config, players, watch, *rows, &mut pass_on)
            }
        }
    })
}

/// Reads a count within the range of its field.
fn count<T: TryFrom<i128>>(value: &Bound<'_, PyAny>, field: &'static str) -> PyResult<T> {
    let number = index(value, field)?;
    let (low, high) = SimulateConfig::range(field);
    number
        .extract::<i128>()
        .ok()
        .filter(|number| (i128::from(low)..=i128::from(high)).contains(number))
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| {
            let message = format!("{field} is {number}, expected {low} to {high}");
            exception("SimulationError", &message, |fields| {
                fields
                    .set("field", field)?
                    .set("value", number.clone().unbind())
            })
        })
}

/// What stopped a simulation: an interrupt, or what a player or the progress function raised; and
/// the first failure that only lost games.
#[derive(Clone, Default)]
pub(super) struct Interruption(Arc<Mutex<Option<PyErr>>>, Arc<Mutex<Option<String>>>);

impl Interruption {
    fn slot(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self, error: PyErr) {
        self.slot().get_or_insert(error);
    }

    /// Keeps what a player raised, the first time.
    fn note_failure(&self, name: &str, error: &PyErr) {
        let mut first = self.1.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| {
            format!("player {name} failed and lost the games it failed in; at first: {error}")
        });
    }

    /// Warns of the first failure, so that lost games are no riddle.
    pub(super) fn warn_of_failure(&self, py: Python<'_>) -> PyResult<()> {
        let mut first = self.1.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(message) = first.take() else {
            return Ok(());
        };
        let message = CString::new(message.replace('\0', " "))?;
        PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &message, 2)
    }

    pub(super) fn is_set(&self) -> bool {
        self.slot().is_some()
    }

    pub(super) fn take(&self) -> Option<PyErr> {
        self.slot().take()
    }

    /// Listens for Ctrl-C and tells the caller how many games are finished.
    pub(super) fn watch(&self, finished: u64, progress: Option<&Py<PyAny>>) -> ControlFlow<()> {
        if !self.is_set() {
            let told = Python::attach(|py| {
                py.check_signals()?;
                progress.map_or(Ok(()), |told| told.call1(py, (finished,)).map(|_| ()))
            });
            if let Err(error) = told {
                self.set(error);
            }
        }
        if self.is_set() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Return the name of a committee, its members counted and their weights written.
///
/// Parameters
/// ----------
/// names : list of str
/// weights : list of float
///
/// Raises
/// ------
/// PolicyError
///     If there are no or too many members, or a weight is out of range.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // As Python lists are read.
pub(super) fn committee_name(names: Vec<String>, weights: Vec<f64>) -> PyResult<String> {
    committee::check_weights(&weights)?;
    let names = names.iter().map(String::as_str);
    Ok(committee::name_of(names.zip(weights)))
}

/// A player of a simulation as a user gives it.
pub(super) enum Contestant {
    Spec(PolicySpec),
    Function(PyPolicy),
    /// Members with their weights.
    Committee(Vec<(Contestant, f64)>),
}

impl Contestant {
    pub(super) fn read(
        value: &Bound<'_, PyAny>,
        interruption: &Interruption,
    ) -> PyResult<Contestant> {
        if value.is_instance_of::<PyString>() {
            return Ok(Contestant::Spec(text(value, "player")?.parse()?));
        }
        let committee = value
            .py()
            .import("endodoi.committee")?
            .getattr("Committee")?;
        if value.is_instance(&committee)? {
            let votes = value.getattr("_votes")?;
            let votes: Vec<(Bound<'_, PyAny>, f64)> = votes.extract()?;
            let read = |(member, weight): (Bound<'_, PyAny>, f64)| {
                Ok((Contestant::read(&member, interruption)?, weight))
            };
            let members = votes.into_iter().map(read).collect::<PyResult<_>>()?;
            return Ok(Contestant::Committee(members));
        }
        let name = function_name(value)?;
        Ok(Contestant::Function(PyPolicy {
            function: value.clone().unbind(),
            name,
            interruption: interruption.clone(),
        }))
    }

    pub(super) fn build(self) -> Result<Box<dyn Policy>, PolicyError> {
        match self {
            Contestant::Spec(spec) => spec.build(),
            Contestant::Function(policy) => Ok(Box::new(policy)),
            Contestant::Committee(members) => {
                let build = |(member, weight): (Contestant, f64)| {
                    let policy = member.build()?;
                    Ok(Member { policy, weight })
                };
                let members = members
                    .into_iter()
                    .map(build)
                    .collect::<Result<_, PolicyError>>()?;
                Ok(Box::new(Committee::new(members)?))
            }
        }
    }
}

/// A Python function as a player.
pub(super) struct PyPolicy {
    function: Py<PyAny>,
    name: String,
    interruption: Interruption,
}

impl PyPolicy {
    fn call(&self, py: Python<'_>, positions: &[Position], moves: &mut [u8]) -> PyResult<()> {
        let columns = positions
            .first()
            .map_or(0, |position| position.board().columns());
        let views: Vec<i16> = positions.iter().flat_map(Position::observation).collect();
        let masks: Vec<i8> = positions
            .iter()
            .flat_map(|position| {
                let legal = position.legal_moves();
                (0..columns).map(move |column| legal.contains(column).into())
            })
            .collect();
        let rows = positions.len();
        let views = PyArray1::from_vec(py, views).reshape([rows, 2 * columns + 3])?;
        let masks = PyArray1::from_vec(py, masks).reshape([rows, columns])?;
        let mut actions = Vec::with_capacity(rows);
        read_actions(&self.function.bind(py).call1((views, masks))?, &mut actions)?;
        if actions.len() != rows {
            let message = format!("{} actions for {rows} games", actions.len());
            return Err(exception("PolicyError", &message, |fields| Ok(fields)));
        }
        for (column, action) in moves.iter_mut().zip(actions) {
            *column = u8::try_from(action).unwrap_or(lockstep::OFF_BOARD);
        }
        Ok(())
    }
}

impl Policy for PyPolicy {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn choose(
        &mut self,
        positions: &[Position],
        _streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
    ) -> Result<(), PolicyError> {
        let name = self.name.clone();
        if self.interruption.is_set() {
            return Err(PolicyError::Interrupted { name });
        }
        Python::attach(|py| {
            self.call(py, positions, moves).map_err(|error| {
                let error = failure_of(py, &self.name, error);
                if error.is_instance_of::<PyException>(py) {
                    self.interruption.note_failure(&self.name, &error);
                    let message = error.to_string();
                    return PolicyError::Failed { name, message };
                }
                self.interruption.set(error);
                PolicyError::Interrupted { name }
            })
        })
    }
}
