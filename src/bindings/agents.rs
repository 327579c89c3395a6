//! Agent files, the shipped ones among them, and what their networks see and say.

use std::path::{Path, PathBuf};

use numpy::{
    PyArray1, PyArray2, PyArray3, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::player::{PyPlayer, refuse, rows_of, view_position};
use super::ruleset::PyRuleset;
use crate::policy::agent_file::AgentFile;
use crate::policy::features::{FEATURES, FeatureWriter, GLOBALS, write_globals};
use crate::policy::weights::{NamedTensor, Weights};
use crate::policy::{Agent, AgentNetwork, AgentSearch, PolicyError, agent, shipped};
use crate::position::{Outcome, Position};
use crate::ruleset::Ruleset;
use crate::search::Evaluations;
use crate::side::Side;

/// Pit features [B, N, F] and board features [B, G].
type Features<'py> = (Bound<'py, PyArray3<f32>>, Bound<'py, PyArray2<f32>>);

/// Margins [B], chances to win, draw and lose [B, 3], logits [B, C].
type Said<'py> = (
    Bound<'py, PyArray1<f32>>,
    Option<Bound<'py, PyArray2<f32>>>,
    Option<Bound<'py, PyArray2<f32>>>,
);

/// Name the folder whose agents are found by name; None for no folder.
///
/// Returns
/// -------
/// before : path or None
#[pyfunction]
#[pyo3(signature = (folder))]
pub(super) fn set_agents_folder(folder: Option<PathBuf>) -> Option<PathBuf> {
    shipped::set_agents_folder(folder)
}

/// List the names of the agents in that folder.
#[pyfunction]
pub(super) fn shipped_names() -> Vec<String> {
    shipped::shipped_agents()
}

/// Return the file that an agent's path or name means.
///
/// Raises
/// ------
/// AgentError
///     If a folder holds no agent, or nothing has that name.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Paths of any kind come as a `PathBuf`.
pub(super) fn agent_file(path: PathBuf) -> PyResult<PathBuf> {
    Ok(agent::agent_file(&path)?)
}

/// Read the file of an agent.
///
/// Parameters
/// ----------
/// path : path
///     An agent file, the folder of a training run, or a name.
///
/// Returns
/// -------
/// metadata : str
///     What the file says of its weights, as JSON.
/// tensors : dict of str to float32 array
///     The weights, in the order of the layout.
///
/// Raises
/// ------
/// AgentError
///     If the file cannot be used.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Paths of any kind come as a `PathBuf`.
pub(super) fn read_agent(py: Python<'_>, path: PathBuf) -> PyResult<(String, Bound<'_, PyDict>)> {
    let file = agent::agent_file(&path)?;
    let read = AgentFile::read(&file).map_err(|error| failed(&file, &error.to_string()))?;
    let metadata = serde_json::to_string(&read.metadata);
    let metadata = metadata.map_err(|error| failed(&file, &error.to_string()))?;
    let tensors = PyDict::new(py);
    for tensor in read.weights.tensors() {
        let numbers = PyArray1::from_slice(py, &tensor.data).reshape(tensor.shape.clone())?;
        tensors.set_item(&tensor.name, numbers)?;
    }
    Ok((metadata, tensors))
}

/// Write the file of an agent that can play, as a whole or not at all.
///
/// Parameters
/// ----------
/// path : path
/// metadata : str
///     As `read_agent` gives it.
/// tensors : dict of str to float32 array
///     In any order.
///
/// Raises
/// ------
/// AgentError
///     If they make no agent, or the file cannot be written; an older file stays.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Paths of any kind come as a `PathBuf`.
pub(super) fn write_agent(
    py: Python<'_>,
    path: PathBuf,
    metadata: &str,
    tensors: &Bound<'_, PyDict>,
) -> PyResult<()> {
    let metadata = serde_json::from_str(metadata);
    let metadata: crate::policy::agent_file::AgentMetadata =
        metadata.map_err(|error| failed(&path, &error.to_string()))?;
    let mut named = Vec::with_capacity(tensors.len());
    for (name, numbers) in tensors {
        let numbers: PyReadonlyArrayDyn<'_, f32> =
            numbers.cast::<PyArrayDyn<f32>>()?.try_readonly()?;
        named.push(NamedTensor {
            name: name.extract()?,
            shape: numbers.shape().to_vec(),
            data: numbers.as_array().iter().copied().collect(),
        });
    }
    let written = py.detach(|| {
        let weights = Weights::new(metadata.network, named).map_err(|error| error.to_string())?;
        let file = AgentFile { metadata, weights };
        // What could not be read or played is not written.
        let bytes = file.to_bytes().map_err(|error| error.to_string())?;
        let read = AgentFile::from_bytes(&bytes).map_err(|error| error.to_string())?;
        Agent::new("", read, AgentSearch::Default).map_err(|error| match error {
            PolicyError::File { message, .. } => message,
            other => other.to_string(),
        })?;
        file.write(&path).map_err(|error| error.to_string())
    });
    written.map_err(|message| failed(&path, &message))
}

/// Return what the network of a Gumbel agent sees of positions.
///
/// Parameters
/// ----------
/// observations : int16 array [B, 2C+3]
/// ruleset : Ruleset
///     The rules of the games.
///
/// Returns
/// -------
/// pits : float32 [B, 2C, F]
///     Features of each pit, counted from the mover's left around the ring.
/// board : float32 [B, G]
///     Features of the board. Both are zero on games that are over.
///
/// Raises
/// ------
/// PolicyError
///     If an observation is no position of these rules.
#[pyfunction]
pub(super) fn agent_features<'py>(
    py: Python<'py>,
    observations: &Bound<'py, PyArray2<i16>>,
    ruleset: &PyRuleset,
) -> PyResult<Features<'py>> {
    let pits = 2 * ruleset.0.columns();
    let (views, rows) = rows_of(observations, pits + 3)?;
    let mut features = vec![0.0; rows * pits * FEATURES];
    let mut globals = vec![0.0; rows * GLOBALS];
    let mut writer = FeatureWriter::default();
    py.detach(|| {
        for (row, position) in positions_of("agent", &ruleset.0, &views)?
            .iter()
            .enumerate()
        {
            if !position.is_over() {
                writer.write(position, &mut features[row * pits * FEATURES..]);
                write_globals(position, &mut globals[row * GLOBALS..]);
            }
        }
        Ok::<_, PolicyError>(())
    })?;
    Ok((
        PyArray1::from_vec(py, features).reshape([rows, pits, FEATURES])?,
        PyArray1::from_vec(py, globals).reshape([rows, GLOBALS])?,
    ))
}

/// Return what an agent's network says of positions, without a search.
///
/// Parameters
/// ----------
/// player : Player
///     An agent.
/// observations : int16 array [B, 2C+3]
/// ruleset : Ruleset
///     The rules of the games.
///
/// Returns
/// -------
/// margin : float32 [B]
/// chances : float32 [B, 3] or None
/// logits : float32 [B, C] or None
///
/// Raises
/// ------
/// PolicyError
///     If the player is no agent, or an observation is no position of these rules or of another
///     size than the network.
#[pyfunction]
pub(super) fn evaluate_agent<'py>(
    py: Python<'py>,
    player: &PyPlayer,
    observations: &Bound<'py, PyArray2<i16>>,
    ruleset: &PyRuleset,
) -> PyResult<Said<'py>> {
    let Some(network) = &player.network else {
        return Err(refuse(&format!("player {} has no network", player.name())));
    };
    let columns = ruleset.0.columns();
    let (views, rows) = rows_of(observations, 2 * columns + 3)?;
    let mut said = Evaluations::default();
    let positions = py.detach(|| {
        let positions = positions_of(player.name(), &ruleset.0, &views)?;
        let evaluated = network.evaluate(&positions, &mut said);
        evaluated.map_err(|error| PolicyError::Failed {
            name: player.name().to_owned(),
            message: error.message,
        })?;
        Ok::<_, PolicyError>(positions)
    })?;
    // An end needs no opinion.
    let mut chances: Vec<f32> = (said.win.iter().zip(&said.loss))
        .flat_map(|(win, loss)| [*win, 1.0 - win - loss, *loss])
        .collect();
    for (row, position) in positions.iter().enumerate() {
        if let Some(outcome) = position.outcome() {
            said.margin[row] = 0.0;
            if let Some(known) = chances.get_mut(3 * row..3 * row + 3) {
                known.copy_from_slice(&certain(outcome, position.to_move()));
            }
            if let Some(logits) = said.logits.get_mut(columns * row..columns * (row + 1)) {
                logits.fill(0.0);
            }
        }
    }
    let margins = PyArray1::from_vec(py, said.margin);
    if matches!(network, AgentNetwork::Value(_)) {
        return Ok((margins, None, None));
    }
    Ok((
        margins,
        Some(PyArray1::from_vec(py, chances).reshape([rows, 3])?),
        Some(PyArray1::from_vec(py, said.logits).reshape([rows, columns])?),
    ))
}

/// Returns the chances to win, draw and lose of a game that is over.
const fn certain(outcome: Outcome, side: Side) -> [f32; 3] {
    match outcome {
        Outcome::Draw => [0.0, 1.0, 0.0],
        Outcome::Win(winner) if winner.index() == side.index() => [1.0, 0.0, 0.0],
        Outcome::Win(_) => [0.0, 0.0, 1.0],
    }
}

/// Reads the positions of all rows.
fn positions_of(
    name: &str,
    ruleset: &Ruleset,
    observations: &[i16],
) -> Result<Vec<Position>, PolicyError> {
    let rows = observations.chunks(2 * ruleset.columns() + 3).enumerate();
    rows.map(|(row, observation)| {
        view_position(ruleset, observation).map_err(|message| PolicyError::Failed {
            name: name.to_owned(),
            message: format!("row {row}: {message}"),
        })
    })
    .collect()
}

fn failed(path: &Path, message: &str) -> PyErr {
    let path = path.display().to_string();
    let message = message.to_owned();
    PolicyError::File { path, message }.into()
}
