//! `simulate` and `GameTable`: many games between two players.

use std::ffi::CString;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyException, PyRuntimeWarning};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::arguments::{seed, whole};
use super::batch::read_actions;
use super::errors::exception;
use super::ruleset::PyRuleset;
use crate::policy::{Policy, PolicyError, PolicySpec};
use crate::position::Position;
use crate::rng::Xoshiro128PlusPlus;
use crate::simulate as core;
use crate::simulate::{EndCode, GameTable, Mean, Share, SimulateConfig, Summary};

/// Games as columns, one row a game; users see it as ``endodoi.GameTable``.
#[pyclass(name = "GameTable", module = "endodoi._core", frozen, eq)]
#[derive(PartialEq)]
pub(super) struct PyGameTable(GameTable);

#[pymethods]
impl PyGameTable {
    /// Names of the codes in the column ``end_reason``, in order.
    #[classattr]
    #[pyo3(name = "END_REASONS")]
    fn end_reasons() -> [&'static str; 7] {
        GameTable::END_REASONS
    }

    /// Rebuild a table from the columns that :meth:`to_numpy` gives.
    ///
    /// Raises
    /// ------
    /// SimulationError
    ///     If a column is missing or they differ in length.
    #[staticmethod]
    fn from_numpy(columns: &Bound<'_, PyDict>) -> PyResult<PyGameTable> {
        let table = GameTable {
            winner: column(columns, "winner")?,
            captured_south: column(columns, "captured_south")?,
            captured_north: column(columns, "captured_north")?,
            plies: column(columns, "plies")?,
            laps: column(columns, "laps")?,
            seeds_sown: column(columns, "seeds_sown")?,
            captures: column(columns, "captures")?,
            longest_sowing: column(columns, "longest_sowing")?,
            endless_met: column(columns, "endless_met")?,
            end_reason: column(columns, "end_reason")?,
            offers: if columns.contains("offers")? {
                column(columns, "offers")?
            } else {
                Vec::new()
            },
        };
        Ok(PyGameTable(table))
    }

    /// Return the columns as new arrays [B], by name.
    fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = &self.0;
        let columns = PyDict::new(py);
        columns.set_item("winner", PyArray1::from_slice(py, &table.winner))?;
        for (name, values) in [
            ("captured_south", &table.captured_south),
            ("captured_north", &table.captured_north),
        ] {
            columns.set_item(name, PyArray1::from_slice(py, values))?;
        }
        for (name, values) in [
            ("plies", &table.plies),
            ("laps", &table.laps),
            ("seeds_sown", &table.seeds_sown),
            ("captures", &table.captures),
            ("longest_sowing", &table.longest_sowing),
            ("endless_met", &table.endless_met),
        ] {
            columns.set_item(name, PyArray1::from_slice(py, values))?;
        }
        columns.set_item("end_reason", PyArray1::from_slice(py, &table.end_reason))?;
        if self.counted_offers() {
            columns.set_item("offers", PyArray1::from_slice(py, &table.offers))?;
        }
        Ok(columns)
    }

    /// Return what the games say together as a dictionary, and as text.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyDict>, String)> {
        let summary = py.detach(|| self.0.summary());
        Ok((summary_dict(py, &summary)?, summary.to_string()))
    }

    /// Whether the turns that offered an endless sowing were counted.
    #[getter]
    fn counted_offers(&self) -> bool {
        !self.0.is_empty() && self.0.offers.len() == self.0.len()
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<super::Reduced<'py, (Bound<'py, PyDict>,)>> {
        let from_numpy = py.get_type::<PyGameTable>().getattr("from_numpy")?;
        Ok((from_numpy, (self.to_numpy(py)?,)))
    }
}

/// Copies one column of a dictionary, which must be as long as the first one.
fn column<T>(columns: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<T>>
where
    T: numpy::Element + Copy,
{
    let refuse = |message: String| {
        exception("SimulationError", &message, |fields| {
            fields.set("field", name)
        })
    };
    let values = columns
        .get_item(name)?
        .ok_or_else(|| refuse(format!("the column {name} is missing")))?;
    let values = values.cast::<PyArray1<T>>()?.to_vec()?;
    let rows = columns
        .get_item("winner")?
        .map_or(Ok(0), |winner| winner.len())?;
    if values.len() == rows {
        Ok(values)
    } else {
        let got = values.len();
        Err(refuse(format!(
            "the column {name} has {got} rows, expected {rows}"
        )))
    }
}

fn summary_dict<'py>(py: Python<'py>, summary: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("games", summary.games)?;
    for (name, share) in [
        ("south_wins", &summary.south_wins),
        ("north_wins", &summary.north_wins),
        ("draws", &summary.draws),
        ("cut", &summary.cut),
    ] {
        dict.set_item(name, share_dict(py, share)?)?;
    }
    for (name, mean) in [
        ("plies", &summary.plies),
        ("captured_south", &summary.captured_south),
        ("captured_north", &summary.captured_north),
        ("captures", &summary.captures),
        ("laps_per_sowing", &summary.laps_per_sowing),
        ("seeds_per_sowing", &summary.seeds_per_sowing),
        ("endless_met", &summary.endless_met),
    ] {
        dict.set_item(name, mean_dict(py, mean)?)?;
    }
    dict.set_item("longest_sowing", summary.longest_sowing)?;
    let ends = PyDict::new(py);
    for (name, count) in GameTable::END_REASONS.iter().zip(summary.end_reasons) {
        ends.set_item(name, count)?;
    }
    dict.set_item("end_reasons", ends)?;
    let offers = summary.offers.as_ref();
    dict.set_item(
        "offers",
        offers.map(|share| share_dict(py, share)).transpose()?,
    )?;
    Ok(dict)
}

fn share_dict<'py>(py: Python<'py>, share: &Share) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("count", share.count)?;
    dict.set_item("share", share.share)?;
    dict.set_item("low", share.low)?;
    dict.set_item("high", share.high)?;
    Ok(dict)
}

fn mean_dict<'py>(py: Python<'py>, mean: &Mean) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("mean", mean.mean)?;
    dict.set_item("half", mean.half)?;
    Ok(dict)
}

/// Play many games between two players.
///
/// Parameters
/// ----------
/// games : int
/// ruleset : Ruleset
/// south, north : str or callable
///     A specification, or a function (observations, action_masks) -> actions.
/// seed : int
/// random_opening_plies : int
/// max_plies, num_threads : int or None
/// offers : bool
///     Count the turns that offer an endless sowing.
/// progress : callable or None
///     Called with the games finished, several times a second.
///
/// Returns
/// -------
/// table : GameTable
/// interruption : BaseException or None
///     What stopped the games early: the table holds those finished before.
#[pyfunction]
#[pyo3(signature = (games, ruleset, south, north, *, seed, random_opening_plies, max_plies,
                    num_threads, offers, progress))]
#[allow(clippy::too_many_arguments)] // One for each setting.
pub(super) fn simulate<'py>(
    py: Python<'py>,
    games: &Bound<'py, PyAny>,
    ruleset: &PyRuleset,
    south: &Bound<'py, PyAny>,
    north: &Bound<'py, PyAny>,
    seed: &Bound<'py, PyAny>,
    random_opening_plies: &Bound<'py, PyAny>,
    max_plies: Option<&Bound<'py, PyAny>>,
    num_threads: Option<&Bound<'py, PyAny>>,
    offers: bool,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<(PyGameTable, Option<PyErr>)> {
    let config = SimulateConfig {
        seed: self::seed(seed, "seed")?,
        random_opening_plies: count(random_opening_plies, "random_opening_plies")?,
        max_plies: max_plies
            .map(|plies| count(plies, "max_plies"))
            .transpose()?,
        num_threads: num_threads.map(|n| count(n, "num_threads")).transpose()?,
        offers,
        ..SimulateConfig::new(ruleset.0, count(games, "games")?)
    };
    let interruption = Interruption::default();
    let south = Contestant::read(south, &interruption)?;
    let north = Contestant::read(north, &interruption)?;
    let progress = progress.map(Bound::unbind);
    let played = py.detach(|| {
        let mut watch = |finished| interruption.watch(finished, progress.as_ref());
        match (south, north) {
            (Contestant::Spec(south), Contestant::Spec(north)) => {
                core::simulate(&config, &south, &north, &mut watch)
            }
            (south, north) => {
                let (mut south, mut north) = (south.build()?, north.build()?);
                core::simulate_between(&config, &mut *south, &mut *north, &mut watch)
            }
        }
    });
    let mut table = played?;
    interruption.warn_of_failure(py)?;
    if interruption.by_player() {
        // Games that the interrupted player was choosing in are not lost: they are not played.
        let lost = table
            .end_reason
            .iter()
            .position(|&end| end == EndCode::Error.code());
        table.truncate(lost.unwrap_or(usize::MAX));
    }
    Ok((PyGameTable(table), interruption.take()))
}

/// Reads a count that may be 0.
fn count<T: TryFrom<i64>>(value: &Bound<'_, PyAny>, field: &str) -> PyResult<T> {
    let number = whole(value, field)?;
    T::try_from(number).map_err(|_| {
        let expected = if number < 0 { "0 or more" } else { "less" };
        let message = format!("{field} is {number}, expected {expected}");
        exception("SimulationError", &message, |fields| {
            fields.set("field", field)?.set("value", number)
        })
    })
}

/// What stopped a simulation: an interrupt, or what a player or the progress function raised; and
/// the first failure that only lost games.
#[derive(Clone, Default)]
struct Interruption(Arc<Mutex<Option<Stop>>>, Arc<Mutex<Option<String>>>);

struct Stop {
    error: PyErr,
    by_player: bool,
}

impl Interruption {
    fn slot(&self) -> MutexGuard<'_, Option<Stop>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, error: PyErr, by_player: bool) {
        self.slot().get_or_insert(Stop { error, by_player });
    }

    /// Keeps what a player raised, the first time.
    fn note_failure(&self, name: &str, error: &PyErr) {
        let mut first = self.1.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| {
            format!("player {name} failed and lost the games it failed in; at first: {error}")
        });
    }

    /// Warns of the first failure, so that lost games are no riddle.
    fn warn_of_failure(&self, py: Python<'_>) -> PyResult<()> {
        let mut first = self.1.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(message) = first.take() else {
            return Ok(());
        };
        let message = CString::new(message.replace('\0', " "))?;
        PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &message, 2)
    }

    fn is_set(&self) -> bool {
        self.slot().is_some()
    }

    fn by_player(&self) -> bool {
        self.slot().as_ref().is_some_and(|stop| stop.by_player)
    }

    fn take(&self) -> Option<PyErr> {
        self.slot().take().map(|stop| stop.error)
    }

    /// Listens for Ctrl-C and tells the caller how many games are finished.
    fn watch(&self, finished: u64, progress: Option<&Py<PyAny>>) -> ControlFlow<()> {
        if !self.is_set() {
            let told = Python::attach(|py| {
                py.check_signals()?;
                progress.map_or(Ok(()), |told| told.call1(py, (finished,)).map(|_| ()))
            });
            if let Err(error) = told {
                self.set(error, false);
            }
        }
        if self.is_set() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// A player of a simulation as a user gives it.
enum Contestant {
    Spec(PolicySpec),
    Function(PyPolicy),
}

impl Contestant {
    fn read(value: &Bound<'_, PyAny>, interruption: &Interruption) -> PyResult<Contestant> {
        if let Ok(spec) = value.cast::<PyString>() {
            return Ok(Contestant::Spec(spec.to_cow()?.parse()?));
        }
        let name = match value.getattr("__name__") {
            Ok(name) => name.str()?.to_string(),
            Err(_) => value.get_type().name()?.to_string(),
        };
        Ok(Contestant::Function(PyPolicy {
            function: value.clone().unbind(),
            name,
            interruption: interruption.clone(),
        }))
    }

    fn build(self) -> Result<Box<dyn Policy>, PolicyError> {
        match self {
            Contestant::Spec(spec) => spec.build(),
            Contestant::Function(policy) => Ok(Box::new(policy)),
        }
    }
}

/// A Python function as a player.
struct PyPolicy {
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
            // No board has a column 255: whatever does not fit is illegal.
            *column = u8::try_from(action).unwrap_or(u8::MAX);
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
        let fail = |message: String| PolicyError::Failed {
            name: self.name.clone(),
            message,
        };
        if self.interruption.is_set() {
            return Err(fail("interrupted".to_owned()));
        }
        Python::attach(|py| {
            self.call(py, positions, moves).map_err(|error| {
                let message = error.to_string();
                if error.is_instance_of::<PyException>(py) {
                    self.interruption.note_failure(&self.name, &error);
                } else {
                    self.interruption.set(error, true);
                }
                fail(message)
            })
        })
    }
}
