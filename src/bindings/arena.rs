//! `Tournament`: players, a schedule and the games of it.

use std::sync::{Mutex, PoisonError};

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use super::arguments::{seed, text, whole};
use super::errors::exception;
use super::position::PyPosition;
use super::ruleset::PyRuleset;
use super::simulate::{Contestant, Interruption};
use crate::arena::{
    Book, BookError, Chunk, GameNote, Openings, Standings, TournamentConfig, TournamentError,
    TournamentGame, different_names, play_chunks,
};
use crate::notation::GameRecord;
use crate::policy::Policy;

/// A chunk as Python sees it: the two players, the first pair, the pair after the last.
type PyChunk = (u32, u32, u32, u32);

/// A tournament; users take ``endodoi.arena.Tournament``.
///
/// Parameters
/// ----------
/// ruleset : Ruleset
/// players : list of str or callable
/// names : list of str
/// games : int
///     Of each pairing.
/// openings : int or list of Position
///     Random plies, or a book.
/// gauntlet : int or None
/// seed : int
/// max_plies : int or None
/// seconds_per_move : float or None
#[pyclass(name = "Tournament", module = "endodoi._core", frozen)]
pub(super) struct PyTournament {
    config: TournamentConfig,
    names: Vec<String>,
    interruption: Interruption,
    players: Mutex<Vec<Box<dyn Policy>>>,
}

#[pymethods]
impl PyTournament {
    #[new]
    #[pyo3(signature = (ruleset, players, names, games, *, openings, gauntlet=None, seed, max_plies=None,
                        seconds_per_move=None))]
    #[allow(clippy::too_many_arguments)] // One for each setting.
    fn new(
        ruleset: &PyRuleset,
        players: &Bound<'_, PyList>,
        names: Vec<String>,
        games: &Bound<'_, PyAny>,
        openings: &Bound<'_, PyAny>,
        gauntlet: Option<&Bound<'_, PyAny>>,
        seed: &Bound<'_, PyAny>,
        max_plies: Option<&Bound<'_, PyAny>>,
        seconds_per_move: Option<f64>,
    ) -> PyResult<PyTournament> {
        let optional = |value: Option<&Bound<'_, PyAny>>, field| {
            value.map(|value| number(value, field)).transpose()
        };
        let games = whole(games, "games")?;
        let config = TournamentConfig {
            gauntlet: optional(gauntlet, "gauntlet")?,
            openings: read_openings(openings)?,
            seed: self::seed(seed, "seed")?,
            max_plies: optional(max_plies, "max_plies")?,
            seconds_per_move,
            ..TournamentConfig::new(
                ruleset.0,
                u32::try_from(games).map_err(|_| TournamentError::Games { games })?,
            )
        };
        config.check(players.len())?;
        let interruption = Interruption::default();
        let built = players.iter().map(|player| {
            let mut policy = Contestant::read(&player, &interruption)?.build()?;
            policy.check(&config.ruleset)?;
            Ok(policy)
        });
        let players = Mutex::new(built.collect::<PyResult<_>>()?);
        Ok(PyTournament {
            config,
            names,
            interruption,
            players,
        })
    }

    /// Split the tournament into chunks of at most so many pairs of games.
    ///
    /// Returns
    /// -------
    /// chunks : list of (int, int, int, int)
    ///     The two players, the first pair, the pair after the last.
    fn chunks(&self, pairs: &Bound<'_, PyAny>) -> PyResult<Vec<PyChunk>> {
        let pairs = number(pairs, "pairs")?;
        let chunks = self.config.chunks(self.names.len(), pairs).into_iter();
        Ok(chunks
            .map(|chunk| {
                let [a, b] = chunk.pairing;
                (a, b, chunk.first, chunk.last)
            })
            .collect())
    }

    /// Play chunks; all their games advance together.
    ///
    /// Returns
    /// -------
    /// games : Games
    /// interruption : BaseException or None
    ///     What stopped the games early: they are those of the pairs finished before.
    #[pyo3(signature = (chunks, *, num_threads=None, progress=None))]
    fn play(
        &self,
        py: Python<'_>,
        chunks: Vec<PyChunk>,
        num_threads: Option<&Bound<'_, PyAny>>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(PyTournamentGames, Option<PyErr>)> {
        let num_threads = num_threads.map(|n| number(n, "num_threads")).transpose()?;
        let progress = progress.map(Bound::unbind);
        let chunks: Vec<Chunk> = chunks
            .into_iter()
            .map(|(a, b, first, last)| Chunk {
                pairing: [a, b],
                first,
                last,
            })
            .collect();
        let played = py.detach(|| {
            let mut players = self.players.lock().unwrap_or_else(PoisonError::into_inner);
            let mut players: Vec<&mut dyn Policy> = players
                .iter_mut()
                .map(|player| &mut **player as _)
                .collect();
            let mut watch = |finished| self.interruption.watch(finished, progress.as_ref());
            let threads = num_threads.map(|threads: u32| threads as usize);
            play_chunks(&self.config, &mut players, &chunks, threads, &mut watch)
        });
        if let Err(error) = py.check_signals() {
            self.interruption.set(error);
        }
        let interruption = self.interruption.take();
        Ok((PyTournamentGames(played?), interruption))
    }

    /// Sum games up.
    ///
    /// Returns
    /// -------
    /// numbers : str
    ///     As JSON.
    /// text, markdown : str
    ///     As tables.
    fn standings(
        &self,
        py: Python<'_>,
        games: &PyTournamentGames,
    ) -> PyResult<(String, String, String)> {
        let clocked = self.config.seconds_per_move.is_some();
        let standings = py.detach(|| Standings::of(&self.config, &self.names, &games.0))?;
        let numbers = serde_json::to_string(&standings).map_err(|error| unwritten(&error))?;
        Ok((
            numbers,
            standings.to_text(clocked),
            standings.to_markdown(clocked),
        ))
    }

    /// Return where the games of a pair start, and the columns of the opening.
    fn opening(&self, pair: &Bound<'_, PyAny>) -> PyResult<(PyPosition, Vec<usize>)> {
        let opening = self.config.opening(number(pair, "pair")?)?;
        let moves = opening.moves.into_iter().map(usize::from);
        Ok((PyPosition(opening.start), moves.collect()))
    }

    /// Return the records of games, and what is not in the records, as lines of JSON.
    fn records(&self, games: &PyTournamentGames) -> PyResult<(Vec<String>, Vec<String>)> {
        let mut both = (Vec::new(), Vec::new());
        let mut start = None;
        for game in &games.0 {
            let position = match start {
                Some((pair, position)) if pair == game.pair => position,
                _ => self.config.opening(game.pair)?.start,
            };
            start = Some((game.pair, position));
            let record = game.record(&self.config.ruleset, &position, &self.names);
            both.0.push(record.to_json()?);
            both.1
                .push(serde_json::to_string(&game.note()).map_err(|error| unwritten(&error))?);
        }
        Ok(both)
    }
}

/// Games of a tournament; users take ``endodoi.arena.Games``.
#[pyclass(name = "Games", module = "endodoi._core", frozen, eq)]
#[derive(Clone, Default, PartialEq)]
pub(super) struct PyTournamentGames(Vec<TournamentGame>);

#[pymethods]
impl PyTournamentGames {
    /// Put games of several parts together.
    #[staticmethod]
    fn join(parts: Vec<PyRef<'_, PyTournamentGames>>) -> PyTournamentGames {
        let games = parts.into_iter().flat_map(|part| part.0.clone());
        PyTournamentGames(games.collect())
    }

    /// Read games from the lines of their records and of their notes.
    ///
    /// Raises
    /// ------
    /// RecordError, ArenaError
    ///     If a line is damaged or a record does not lead to its end.
    #[staticmethod]
    fn of_records(records: Vec<String>, notes: Vec<String>) -> PyResult<PyTournamentGames> {
        if records.len() != notes.len() {
            let message = format!("{} records with {} notes", records.len(), notes.len());
            return Err(damaged(&message));
        }
        let read = |(record, note): (String, String)| {
            let note: GameNote =
                serde_json::from_str(&note).map_err(|error| damaged(&error.to_string()))?;
            let record = GameRecord::from_json(&record)?;
            TournamentGame::of_record(record, note)
                .ok_or_else(|| damaged("a record without an end"))
        };
        let games: PyResult<Vec<_>> = records.into_iter().zip(notes).map(read).collect();
        Ok(PyTournamentGames(games?))
    }

    /// The games as columns, new arrays [B] by name.
    fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        let games = || self.0.iter();
        let whole =
            |number: fn(&TournamentGame) -> i32| PyArray1::from_iter(py, games().map(number));
        columns.set_item("a", whole(|game| game.pairing[0] as i32))?;
        columns.set_item("b", whole(|game| game.pairing[1] as i32))?;
        columns.set_item("pair", whole(|game| game.pair as i32))?;
        let south = games().map(|game| game.south as i8);
        columns.set_item("south", PyArray1::from_iter(py, south))?;
        columns.set_item(
            "winner",
            PyArray1::from_iter(py, games().map(|game| game.winner)),
        )?;
        let captured = |side: usize| games().map(move |game| game.captured[side] as i16);
        columns.set_item("captured_south", PyArray1::from_iter(py, captured(0)))?;
        columns.set_item("captured_north", PyArray1::from_iter(py, captured(1)))?;
        columns.set_item("plies", whole(|game| game.moves.len() as i32))?;
        columns.set_item("opening_plies", whole(|game| game.opening as i32))?;
        let ends = games().map(|game| game.end.code());
        columns.set_item("end_reason", PyArray1::from_iter(py, ends))?;
        let seconds = |player: usize| games().map(move |game| game.times[player].seconds);
        columns.set_item("seconds_a", PyArray1::from_iter(py, seconds(0)))?;
        columns.set_item("seconds_b", PyArray1::from_iter(py, seconds(1)))?;
        Ok(columns)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<super::Reduced<'py, (Bound<'py, PyBytes>,)>> {
        let bytes = serde_json::to_vec(&self.0).map_err(|error| unwritten(&error))?;
        let restore = py.get_type::<PyTournamentGames>().getattr("_restore")?;
        Ok((restore, (PyBytes::new(py, &bytes),)))
    }

    #[staticmethod]
    fn _restore(text: &[u8]) -> PyResult<PyTournamentGames> {
        let games = serde_json::from_slice(text).map_err(|error| damaged(&error.to_string()))?;
        Ok(PyTournamentGames(games))
    }
}

/// Read the positions of a book from its text.
///
/// Raises
/// ------
/// BookError
///     If a line is no position, or a position is over or there twice.
#[pyfunction]
pub(super) fn read_book(text: &Bound<'_, PyAny>, ruleset: &PyRuleset) -> PyResult<Vec<PyPosition>> {
    let text = self::text(text, "book")?;
    let book = Book::parse(&text, &ruleset.0)?;
    Ok(book.positions().iter().copied().map(PyPosition).collect())
}

/// Return names that are all different: the second of a name gets ``#2``.
#[pyfunction]
#[pyo3(name = "different_names")]
#[allow(clippy::needless_pass_by_value)] // As Python passes it.
pub(super) fn different(names: Vec<String>) -> Vec<String> {
    different_names(&names)
}

fn read_openings(value: &Bound<'_, PyAny>) -> PyResult<Openings> {
    if let Ok(list) = value.cast::<PyList>() {
        let positions = list.extract::<Vec<PyRef<'_, PyPosition>>>()?;
        let positions = positions.iter().map(|position| position.0).collect();
        return Ok(Openings::Book(Book::new(positions)?));
    }
    let plies = number(value, "openings")?;
    Ok(Openings::Random { plies })
}

/// Reads a whole number in the range of its field.
fn number(value: &Bound<'_, PyAny>, field: &'static str) -> PyResult<u32> {
    let value = whole(value, field)?;
    let (low, high) = TournamentConfig::range(field);
    u32::try_from(value)
        .ok()
        .filter(|_| (low..=high).contains(&value))
        .ok_or_else(|| {
            TournamentError::OutOfRange {
                field,
                value,
                low,
                high,
            }
            .into()
        })
}

fn unwritten(error: &serde_json::Error) -> PyErr {
    exception("ArenaError", &error.to_string(), |fields| Ok(fields))
}

fn damaged(what: &str) -> PyErr {
    let message = format!("the games cannot be read: {what}");
    exception("ArenaError", &message, |fields| Ok(fields))
}

impl From<TournamentError> for PyErr {
    fn from(error: TournamentError) -> PyErr {
        let message = error.to_string();
        match error {
            TournamentError::Player(error) => error.into(),
            TournamentError::OutOfRange {
                field,
                value,
                low,
                high,
            } => exception("ArenaError", &message, |fields| {
                fields
                    .set("field", field)?
                    .set("value", value)?
                    .set("low", low)?
                    .set("high", high)
            }),
            TournamentError::Games { games } => exception("ArenaError", &message, |fields| {
                fields.set("field", "games")?.set("value", games)
            }),
            TournamentError::Seconds { seconds } => exception("ArenaError", &message, |fields| {
                fields
                    .set("field", "seconds_per_move")?
                    .set("value", seconds)
            }),
            TournamentError::ShortBook { positions, .. } => {
                exception("ArenaError", &message, |fields| {
                    fields.set("field", "openings")?.set("value", positions)
                })
            }
            TournamentError::BookRules { got, .. } => exception("ArenaError", &message, |fields| {
                fields.set("field", "openings")?.set("value", got)
            }),
            TournamentError::NoOpening { plies } => exception("ArenaError", &message, |fields| {
                fields.set("field", "openings")?.set("value", plies)
            }),
            TournamentError::Chunk { .. }
            | TournamentError::Unpaired { .. }
            | TournamentError::Rating(_) => exception("ArenaError", &message, |fields| Ok(fields)),
            TournamentError::Threads { .. } => exception("ArenaError", &message, |fields| {
                fields.set("field", "num_threads")
            }),
        }
    }
}

impl From<BookError> for PyErr {
    fn from(error: BookError) -> PyErr {
        let message = error.to_string();
        exception("BookError", &message, |fields| match error {
            BookError::Line { line, .. } => fields.set("line", line),
            BookError::Over { index, .. }
            | BookError::Twice { index, .. }
            | BookError::Rules { index, .. } => fields.set("index", index),
            BookError::Size { positions } => fields.set("value", positions),
        })
    }
}
