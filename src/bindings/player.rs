//! `Player`: a player of the core, behind the classes of `endodoi.policies`.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::arguments::{optional_whole, text};
use super::errors::exception;
use super::opponent::Raised;
use super::ruleset::PyRuleset;
use crate::pit::PitSet;
use crate::policy::agent_file::AgentMetadata;
use crate::policy::network::Network;
use crate::policy::{Agent, AgentNetwork, AgentSearch, Policy, PolicyError, PolicySpec, watched};
use crate::position::{Position, Setup};
use crate::rng::{self, Purpose, Xoshiro128PlusPlus};
use crate::ruleset::Ruleset;
use crate::search::{AlphaBetaConfig, SearchLimit};
use crate::side::Side;

/// A player made from its specification; users take the classes of ``endodoi.policies``.
///
/// Parameters
/// ----------
/// spec : str
///     ``random``, ``greedy``, ``perfect[@table=FILE]``, ``alphabeta:N|nodes=N|seconds=S``,
///     ``mcts:N``,
///     ``agent:FILE|RUN_DIR|NAME[@sims=N|@mcts=N|@depth=N|@nodes=N|@seconds=S|@none]``.
#[pyclass(name = "Player", module = "endodoi._core")]
pub(super) struct PyPlayer {
    pub(super) spec: PolicySpec,
    name: String,
    /// A policy may not be used by two threads at once.
    policy: Mutex<Box<dyn Policy>>,
    metadata: Option<AgentMetadata>,
    /// The network of an agent.
    pub(super) network: Option<AgentNetwork>,
    /// The threads that search, and the process that started them.
    threads: Option<(u32, ThreadPool)>,
}

#[pymethods]
impl PyPlayer {
    #[new]
    fn new(spec: &Bound<'_, PyAny>) -> PyResult<PyPlayer> {
        let spec: PolicySpec = text(spec, "player")?.parse()?;
        PyPlayer::of_spec(spec)
    }

    /// Make an agent of a file, the folder of a run, or the name of a shipped agent.
    ///
    /// Parameters
    /// ----------
    /// path : str
    ///     An agent file, the folder of a training run, or a name.
    /// simulations : int or None
    ///     Simulations for each move; None for the agent's own number, 0 for none.
    /// depth : int or None
    ///     Plies of alpha-beta for each move; None for the agent's own number, 0 for none.
    #[staticmethod]
    #[pyo3(signature = (path, simulations=None, depth=None))]
    fn agent(
        path: &str,
        simulations: Option<&Bound<'_, PyAny>>,
        depth: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyPlayer> {
        let refuse =
            |message: &str| exception("PolicyError", message, |fields| fields.set("player", path));
        let whole = |given, name| -> PyResult<Option<u32>> {
            let count = optional_whole(given, name)?;
            count
                .map(|count| {
                    u32::try_from(count)
                        .map_err(|_| refuse(&format!("{name} is {count}, expected 0 or more")))
                })
                .transpose()
        };
        let search = match (whole(simulations, "simulations")?, whole(depth, "depth")?) {
            (None, None) => AgentSearch::Default,
            (Some(0), None) | (None, Some(0)) => AgentSearch::None,
            (Some(count), None) => AgentSearch::Simulations(count),
            (None, Some(depth)) => {
                AgentSearch::AlphaBeta(AlphaBetaConfig::new(SearchLimit::Depth(depth)))
            }
            (Some(_), Some(_)) => {
                return Err(refuse("simulations and depth are both given, expected one"));
            }
        };
        let path = path.into();
        PyPlayer::of_spec(PolicySpec::Agent { path, search })
    }

    /// The name shown in tables.
    #[getter]
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The specification that makes this player again.
    #[getter]
    fn spec(&self) -> String {
        self.spec.to_string()
    }

    /// The rules that an agent was trained on, None for other players.
    #[getter]
    fn ruleset(&self) -> Option<PyRuleset> {
        self.metadata.as_ref().map(|agent| PyRuleset(agent.ruleset))
    }

    /// What an agent's file says of it, None for other players.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(agent) = &self.metadata else {
            return Ok(None);
        };
        let fields = PyDict::new(py);
        fields.set_item("ruleset", PyRuleset(agent.ruleset))?;
        fields.set_item("step", agent.step)?;
        fields.set_item("games", agent.games)?;
        fields.set_item("learner", agent.learner.name())?;
        fields.set_item("simulations", agent.simulations)?;
        fields.set_item("depth", agent.depth)?;
        Ok(Some(fields))
    }

    /// Choose a column for every row whose mask holds one; finished rows get 0.
    ///
    /// Parameters
    /// ----------
    /// observations : int16 array [B, 2C+3]
    /// action_masks : int8 array [B, C]
    /// ruleset : Ruleset
    ///     The rules of the games.
    /// seed, call : int
    ///     Row i draws from the stream of the row seed mix(seed, i) and episode `call`.
    ///
    /// Returns
    /// -------
    /// actions : int64 [B]
    ///
    /// Raises
    /// ------
    /// PolicyError
    ///     If an observation is no position of these rules, a mask is not the one that they give,
    ///     or the player fails.
    fn choose<'py>(
        &mut self,
        py: Python<'py>,
        observations: &Bound<'py, PyArray2<i16>>,
        action_masks: &Bound<'py, PyArray2<i8>>,
        ruleset: &PyRuleset,
        seed: u64,
        call: u64,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (observations, rows) = rows_of(observations, 2 * ruleset.0.columns() + 3)?;
        let (masks, mask_rows) = rows_of(action_masks, ruleset.0.columns())?;
        if rows != mask_rows {
            let message = format!("observations has {rows} rows, but action_masks {mask_rows}");
            return Err(refuse(&message));
        }
        let threads = threads_of_this_process(&mut self.threads)?;
        let name = &self.name;
        let policy = self.policy.get_mut();
        let policy = policy.unwrap_or_else(PoisonError::into_inner);
        let raised = Raised::default();
        let chosen = py.detach(|| {
            let open = open_positions(name, &ruleset.0, &observations, &masks)?;
            let (places, positions): (Vec<usize>, Vec<Position>) = open.into_iter().unzip();
            let mut streams: Vec<Xoshiro128PlusPlus> = places
                .iter()
                .map(|&row| rng::stream(rng::mix(seed, row as u64), call, Purpose::Policy))
                .collect();
            let mut moves = vec![0; positions.len()];
            let choose =
                |policy: &mut dyn Policy| policy.choose(&positions, &mut streams, &mut moves);
            watched::think(
                Some(threads),
                &mut **policy,
                &mut || raised.listen(),
                choose,
            )?;
            let mut actions = vec![0; rows];
            for (row, column) in places.into_iter().zip(moves) {
                actions[row] = i64::from(column);
            }
            Ok::<_, PolicyError>(actions)
        });
        match raised.take() {
            Some(error) => Err(error),
            None => Ok(PyArray1::from_vec(py, chosen?)),
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> super::Reduced<'py, (String,)> {
        (py.get_type::<PyPlayer>().into_any(), (self.spec(),))
    }
}

impl PyPlayer {
    /// Returns the network of a Gumbel agent.
    pub(super) fn gumbel(&self) -> Option<Arc<Network>> {
        self.network.clone().and_then(AgentNetwork::gumbel)
    }

    /// Returns the threads that search.
    pub(super) fn threads(&mut self) -> PyResult<&ThreadPool> {
        threads_of_this_process(&mut self.threads)
    }

    fn of_spec(spec: PolicySpec) -> PyResult<PyPlayer> {
        let (policy, agent): (Box<dyn Policy>, _) = match &spec {
            PolicySpec::Agent { path, search } => {
                let agent = Agent::load(path, *search)?;
                let parts = (agent.metadata().clone(), agent.network());
                (Box::new(agent), Some(parts))
            }
            _ => (spec.build()?, None),
        };
        let (metadata, network) = agent.unzip();
        Ok(PyPlayer {
            name: policy.name(),
            spec,
            policy: Mutex::new(policy),
            metadata,
            network,
            threads: None,
        })
    }
}

/// Returns the threads of a player, new ones in a process that was forked from theirs, where they
/// do not exist.
fn threads_of_this_process(slot: &mut Option<(u32, ThreadPool)>) -> PyResult<&ThreadPool> {
    let process = std::process::id();
    if let Some((_, lost)) = slot.take_if(|(starter, _)| *starter != process) {
        // Threads that are not there cannot be told to end.
        std::mem::forget(lost);
    }
    if slot.is_none() {
        let threads = ThreadPoolBuilder::new().build();
        let threads = threads.map_err(|error| refuse(&format!("no threads: {error}")))?;
        *slot = Some((process, threads));
    }
    let started = slot.as_ref().map(|(_, threads)| threads);
    started.ok_or_else(|| refuse("no threads"))
}

/// Draws a column uniformly among those of every row's mask; rows without one get 0.
///
/// Row i draws from the stream of the row seed mix(seed, i) and episode `call`.
///
/// Parameters
/// ----------
/// action_masks : int8 array [B, C]
/// seed, call : int
///
/// Returns
/// -------
/// actions : int64 [B]
#[pyfunction]
pub(super) fn random_actions<'py>(
    py: Python<'py>,
    action_masks: &Bound<'py, PyArray2<i8>>,
    seed: u64,
    call: u64,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let columns = action_masks.shape()[1];
    let (masks, rows) = rows_of(action_masks, columns)?;
    let draw = |row: usize| {
        let mask = mask_set(&masks[row * columns..(row + 1) * columns]);
        let mut stream = rng::stream(rng::mix(seed, row as u64), call, Purpose::Policy);
        let rank = rng::below(&mut stream, mask.len() as u32) as usize;
        mask.nth(rank).unwrap_or(0) as i64
    };
    Ok(PyArray1::from_vec(py, (0..rows).map(draw).collect()))
}

pub(super) fn refuse(message: &str) -> PyErr {
    exception("PolicyError", message, |fields| Ok(fields))
}

/// Copies an array whose rows have `length` entries, and counts its rows.
pub(super) fn rows_of<T>(array: &Bound<'_, PyArray2<T>>, length: usize) -> PyResult<(Vec<T>, usize)>
where
    T: numpy::Element + Copy,
{
    let &[rows, got] = array.shape() else {
        return Err(refuse("expected two axes"));
    };
    if got != length {
        let message = format!(
            "an array of shape [{rows}, {got}] was given where [{rows}, {length}] belongs: \
             is the ruleset that of the games?"
        );
        return Err(refuse(&message));
    }
    let items = array.try_readonly()?.as_array().iter().copied().collect();
    Ok((items, rows))
}

fn mask_set(mask: &[i8]) -> PitSet {
    let mut set = PitSet::EMPTY;
    for (column, &legal) in mask.iter().enumerate() {
        if legal != 0 {
            set.insert(column);
        }
    }
    set
}

/// Reads the positions of all rows with a legal move, with their rows.
///
/// An observation does not tell the side to move, and no rule depends on it (B4): the mover is
/// taken for South.
fn open_positions(
    name: &str,
    ruleset: &Ruleset,
    observations: &[i16],
    masks: &[i8],
) -> Result<Vec<(usize, Position)>, PolicyError> {
    let columns = ruleset.columns();
    let rows = observations
        .chunks(2 * columns + 3)
        .zip(masks.chunks(columns));
    let mut open = Vec::new();
    for (row, (observation, mask)) in rows.enumerate() {
        let mask = mask_set(mask);
        if mask.is_empty() {
            continue;
        }
        let fail = |message: String| PolicyError::Failed {
            name: name.to_owned(),
            message: format!("row {row}: {message}"),
        };
        let position = view_position(ruleset, observation).map_err(fail)?;
        if position.legal_moves() != mask {
            return Err(fail(format!(
                "the mask allows columns {:?}, but under {ruleset} {:?} are legal; is the ruleset \
                 that of the games?",
                mask.iter().collect::<Vec<_>>(),
                position.legal_moves().iter().collect::<Vec<_>>(),
            )));
        }
        open.push((row, position));
    }
    Ok(open)
}

/// Makes the position that an observation shows, with its mover as South.
pub(super) fn view_position(ruleset: &Ruleset, observation: &[i16]) -> Result<Position, String> {
    let columns = ruleset.columns();
    let numbers: Vec<i64> = observation.iter().map(|&number| number.into()).collect();
    let (rows, rest) = numbers.split_at(2 * columns);
    let &[own, other, quiet] = rest else {
        return Err(format!("the observation has {} entries", observation.len()));
    };
    let setup = Setup {
        south: rows[..columns].to_vec(),
        north: rows[columns..].to_vec(),
        to_move: Side::South,
        captured: [own, other],
        quiet,
    };
    setup.position(ruleset).map_err(|error| error.to_string())
}
