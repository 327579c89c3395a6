//! The trained agent as a player: a tree search over its network, without torch.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rand_xoshiro::Xoshiro128PlusPlus;
use rayon::prelude::*;

use super::agent_file::{AgentFile, AgentMetadata};
use super::network::{Network, NetworkEvaluator};
use super::{Policy, PolicyError};
use crate::position::Position;
use crate::search::{
    GumbelConfig, GumbelSearch, MAX_SIMULATIONS, MctsConfig, MctsError, MctsSearch,
};

/// Games searched in lockstep by one thread, at most.
const GAMES_AT_ONCE: usize = 64;

/// How an agent searches before it moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgentSearch {
    /// With the simulations its file names.
    #[default]
    Default,
    /// By Gumbel search with this many simulations, 1 to [`MAX_SIMULATIONS`].
    Simulations(u32),
    /// By Monte Carlo tree search, which proves outcomes, with this many simulations, 1 to
    /// [`MAX_SIMULATIONS`].
    Mcts(u32),
    /// Not at all: the move its network likes most.
    None,
}

/// A trained agent.
///
/// Its moves depend on the position alone: not on the other games of a batch, on threads or on
/// any stream.
#[derive(Debug)]
pub struct Agent {
    name: String,
    metadata: AgentMetadata,
    network: Arc<Network>,
    simulations: u32,
    /// What each searcher starts from.
    search: Search,
    searchers: Vec<Searcher>,
}

/// What one thread needs to search some of the games.
#[derive(Debug)]
struct Searcher {
    search: Search,
    evaluator: NetworkEvaluator,
}

#[derive(Clone, Debug)]
enum Search {
    Gumbel(GumbelSearch),
    Mcts(MctsSearch),
}

impl Search {
    fn new(search: AgentSearch, simulations: u32) -> Result<Search, MctsError> {
        if matches!(search, AgentSearch::Mcts(_)) {
            let config = MctsConfig {
                simulations,
                ..MctsConfig::default()
            };
            return MctsSearch::new(config).map(Search::Mcts);
        }
        Ok(Search::Gumbel(GumbelSearch::new(GumbelConfig {
            simulations,
            ..GumbelConfig::default()
        })))
    }
}

impl Searcher {
    /// Searches open positions and writes the columns to play.
    fn choose(
        &mut self,
        positions: &[Position],
        streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
    ) -> Result<(), String> {
        let evaluator = &mut self.evaluator;
        let columns: Vec<u8> = match &mut self.search {
            Search::Gumbel(search) => {
                let found = search.run(positions, evaluator, streams);
                let found = found.map_err(|error| error.to_string())?;
                found.into_iter().map(|result| result.column).collect()
            }
            Search::Mcts(search) => {
                let found = search.run(positions, evaluator);
                let found = found.map_err(|error| error.to_string())?;
                found.into_iter().map(|result| result.column).collect()
            }
        };
        moves.copy_from_slice(&columns);
        Ok(())
    }
}

impl Agent {
    /// Loads an agent from its file, or from the folder of a training run.
    ///
    /// Of a folder the best agent (`best.safetensors`) is taken if there is one, else the latest
    /// (`agent.safetensors`).
    ///
    /// # Errors
    /// [`PolicyError::File`] says what is wrong with the file; [`PolicyError::Spec`] when the
    /// simulations are out of range.
    pub fn load(path: impl AsRef<Path>, search: AgentSearch) -> Result<Agent, PolicyError> {
        let path = path.as_ref();
        let file = agent_file(path)?;
        let read = AgentFile::read(&file).map_err(|error| PolicyError::File {
            path: file.display().to_string(),
            message: error.to_string(),
        })?;
        Agent::new(&path.display().to_string(), read, search)
    }

    /// Makes a player of an agent file's contents; `label` names it in tables.
    ///
    /// # Errors
    /// [`PolicyError::File`] when the weights do not make a network; [`PolicyError::Spec`] when
    /// the simulations are out of range.
    pub fn new(label: &str, file: AgentFile, search: AgentSearch) -> Result<Agent, PolicyError> {
        let (simulations, suffix) = match search {
            AgentSearch::Default => (file.metadata.simulations, String::new()),
            AgentSearch::Simulations(count) => (count, format!("@sims={count}")),
            AgentSearch::Mcts(count) => (count, format!("@mcts={count}")),
            AgentSearch::None => (0, "@none".to_owned()),
        };
        let name = format!("agent:{label}{suffix}");
        let refuse = || PolicyError::Spec {
            spec: name.clone(),
            expected: format!("1 to {MAX_SIMULATIONS} simulations, not {simulations}"),
        };
        let allowed = 1..=MAX_SIMULATIONS;
        if search != AgentSearch::None && !allowed.contains(&simulations) {
            return Err(refuse());
        }
        let search = Search::new(search, simulations).map_err(|_| refuse())?;
        let network = Network::new(file.weights).map_err(|error| PolicyError::File {
            path: label.to_owned(),
            message: error.to_string(),
        })?;
        Ok(Agent {
            name,
            metadata: file.metadata,
            network: Arc::new(network),
            simulations,
            search,
            searchers: Vec::new(),
        })
    }

    /// Returns what the agent's file says of it.
    pub const fn metadata(&self) -> &AgentMetadata {
        &self.metadata
    }

    /// Returns the agent's network, to be shared with other evaluators.
    pub fn network(&self) -> Arc<Network> {
        Arc::clone(&self.network)
    }

    /// Returns the simulations made for each move, 0 without search.
    pub const fn simulations(&self) -> u32 {
        self.simulations
    }

    fn make_searchers(&mut self, count: usize) {
        while self.searchers.len() < count {
            self.searchers.push(Searcher {
                search: self.search.clone(),
                evaluator: NetworkEvaluator::new(Arc::clone(&self.network)),
            });
        }
    }
}

/// Returns the agent file that `path` means: itself, or the best or latest agent of a folder.
///
/// # Errors
/// [`PolicyError::File`] when a folder holds neither.
pub fn agent_file(path: &Path) -> Result<PathBuf, PolicyError> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    ["best.safetensors", "agent.safetensors"]
        .into_iter()
        .map(|name| path.join(name))
        .find(|file| file.is_file())
        .ok_or_else(|| PolicyError::File {
            path: path.display().to_string(),
            message: "the folder holds no best.safetensors and no agent.safetensors".to_owned(),
        })
}

impl Policy for Agent {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn choose(
        &mut self,
        positions: &[Position],
        streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
    ) -> Result<(), PolicyError> {
        // Every game is searched as if it were alone, so the split changes no move.
        let share = positions.len().div_ceil(rayon::current_num_threads());
        let games = share.clamp(1, GAMES_AT_ONCE);
        self.make_searchers(positions.len().div_ceil(games));
        let failed = self
            .searchers
            .par_iter_mut()
            .zip(positions.par_chunks(games))
            .zip(streams.par_chunks_mut(games))
            .zip(moves.par_chunks_mut(games))
            .try_for_each(|(((searcher, positions), streams), moves)| {
                searcher.choose(positions, streams, moves)
            });
        failed.map_err(|message| PolicyError::Failed {
            name: self.name.clone(),
            message,
        })
    }
}
