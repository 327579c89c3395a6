//! The trained agent as a player, without torch: a tree search over its network, or alpha-beta
//! with its network at the leaves.

mod network;

pub use network::AgentNetwork;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rand_xoshiro::Xoshiro128PlusPlus;
use rayon::prelude::*;

use super::agent_file::{AgentFile, AgentMetadata, Learner};
use super::alpha_beta::Searches;
use super::network::{Network, NetworkEvaluator};
use super::shipped::{name_of, shipped_agents, shipped_file};
use super::value::{ValueLeaf, ValueNetwork};
use super::weights::{Weights, WeightsError};
use super::{Policy, PolicyError};
use crate::position::Position;
use crate::ruleset::Ruleset;
use crate::search::{
    AlphaBetaConfig, GumbelConfig, GumbelSearch, MAX_DEPTH, MAX_SIMULATIONS, MctsConfig, MctsError,
    MctsSearch, SearchLimit,
};

/// Games searched in lockstep by one thread, at most.
const GAMES_AT_ONCE: usize = 64;

/// How an agent searches before it moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgentSearch {
    /// With the simulations or plies that its file names.
    #[default]
    Default,
    /// By alpha-beta within a limit, a value agent only.
    AlphaBeta(AlphaBetaConfig),
    /// By Gumbel search with this many simulations, 1 to [`MAX_SIMULATIONS`].
    Simulations(u32),
    /// By Monte Carlo tree search, which proves outcomes, with this many simulations, 1 to
    /// [`MAX_SIMULATIONS`].
    Mcts(u32),
    /// Not at all: the move its network likes most, for a value agent the one after which its
    /// network expects most.
    None,
}

/// A trained agent.
///
/// Its moves depend on the position alone: not on the other games of a batch, on threads or on
/// any stream. Limits by time are the exception.
#[derive(Debug)]
pub struct Agent {
    name: String,
    metadata: AgentMetadata,
    player: Player,
}

/// How an agent chooses.
#[derive(Debug)]
enum Player {
    Tree(TreePlayer),
    Value(ValuePlayer),
}

/// A tree search over policy and value.
#[derive(Debug)]
struct TreePlayer {
    network: Arc<Network>,
    simulations: u32,
    /// What each searcher starts from.
    search: Search,
    searchers: Vec<Searcher>,
}

/// Alpha-beta over the value.
#[derive(Debug)]
struct ValuePlayer {
    network: Arc<ValueNetwork>,
    config: AlphaBetaConfig,
    searches: Searches<ValueLeaf>,
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
    /// Loads an agent from its file, from the folder of a training run, or by the name of one
    /// that is shipped.
    ///
    /// Of a folder the best agent (`best.safetensors`) is taken if there is one, else the latest
    /// (`agent.safetensors`). A name means a shipped agent where there is no such file or folder
    /// ([`super::shipped`]).
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
    /// the simulations or plies are out of range, or when an agent of this learner does not
    /// search in that way.
    pub fn new(label: &str, file: AgentFile, search: AgentSearch) -> Result<Agent, PolicyError> {
        let suffix = match search {
            AgentSearch::Default => String::new(),
            AgentSearch::AlphaBeta(config) => format!("@{}", AlphaBetaForm(&config)),
            AgentSearch::Simulations(count) => format!("@sims={count}"),
            AgentSearch::Mcts(count) => format!("@mcts={count}"),
            AgentSearch::None => "@none".to_owned(),
        };
        let name = format!("agent:{label}{suffix}");
        let refuse = |refusal: Refusal| match refusal {
            Refusal::Search(expected) => PolicyError::Spec {
                spec: name.clone(),
                expected,
            },
            Refusal::Weights(error) => PolicyError::File {
                path: label.to_owned(),
                message: error.to_string(),
            },
        };
        let AgentFile { metadata, weights } = file;
        let player = match metadata.learner {
            Learner::Gumbel => TreePlayer::new(weights, search, &metadata).map(Player::Tree),
            Learner::Value => ValuePlayer::new(weights, search, &metadata).map(Player::Value),
        };
        Ok(Agent {
            player: player.map_err(refuse)?,
            name,
            metadata,
        })
    }

    /// Returns what the agent's file says of it.
    pub const fn metadata(&self) -> &AgentMetadata {
        &self.metadata
    }

    /// Returns its network, to be shared with other evaluators.
    pub fn network(&self) -> AgentNetwork {
        match &self.player {
            Player::Tree(player) => AgentNetwork::Gumbel(Arc::clone(&player.network)),
            Player::Value(player) => AgentNetwork::Value(Arc::clone(&player.network)),
        }
    }

    /// Returns the simulations made for each move, 0 without a tree.
    pub const fn simulations(&self) -> u32 {
        match &self.player {
            Player::Tree(player) => player.simulations,
            Player::Value(_) => 0,
        }
    }

    /// Returns the settings of alpha-beta, `None` for an agent that searches a tree.
    pub const fn alpha_beta(&self) -> Option<&AlphaBetaConfig> {
        match &self.player {
            Player::Tree(_) => None,
            Player::Value(player) => Some(&player.config),
        }
    }

    /// Says how it searches, for tables: `32 simulations a move`, `6 plies of alpha-beta`,
    /// `its network alone`.
    pub fn search_in_words(&self) -> String {
        match &self.player {
            Player::Tree(player) if player.simulations > 0 => {
                format!("{} simulations a move", player.simulations)
            }
            Player::Value(player) if player.config != AlphaBetaConfig::of_depth(1) => {
                match player.config.limit {
                    SearchLimit::Depth(depth) => format!("alpha-beta of {depth} plies"),
                    SearchLimit::Nodes(nodes) => format!("alpha-beta of {nodes} positions"),
                    SearchLimit::Time(time) => {
                        format!("alpha-beta of {} seconds", time.as_secs_f64())
                    }
                }
            }
            _ => "its network alone".to_owned(),
        }
    }
}

/// Why an agent cannot search as asked.
enum Refusal {
    /// What would be accepted.
    Search(String),
    Weights(WeightsError),
}

impl From<WeightsError> for Refusal {
    fn from(error: WeightsError) -> Refusal {
        Refusal::Weights(error)
    }
}

/// Writes `depth=6`, `nodes=1000` or `seconds=0.5`, with what else differs from the defaults.
pub(super) struct AlphaBetaForm<'a>(pub(super) &'a AlphaBetaConfig);

impl fmt::Display for AlphaBetaForm<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let SearchLimit::Depth(_) = self.0.limit {
            f.write_str("depth=")?;
        }
        self.0.fmt(f)
    }
}

impl TreePlayer {
    fn new(
        weights: Weights,
        search: AgentSearch,
        metadata: &AgentMetadata,
    ) -> Result<TreePlayer, Refusal> {
        let expected = |found: &str| {
            Refusal::Search(format!(
                "1 to {MAX_SIMULATIONS} simulations, not {found}: the agent's learner is gumbel"
            ))
        };
        let simulations = match search {
            AgentSearch::Default => metadata.simulations,
            AgentSearch::Simulations(count) | AgentSearch::Mcts(count) => count,
            AgentSearch::None => 0,
            AgentSearch::AlphaBeta(_) => return Err(expected("alpha-beta")),
        };
        let allowed = 1..=MAX_SIMULATIONS;
        if search != AgentSearch::None && !allowed.contains(&simulations) {
            return Err(expected(&simulations.to_string()));
        }
        let search = Search::new(search, simulations);
        Ok(TreePlayer {
            network: Arc::new(Network::new(weights)?),
            simulations,
            search: search.map_err(|_| expected(&simulations.to_string()))?,
            searchers: Vec::new(),
        })
    }

    fn make_searchers(&mut self, count: usize) {
        while self.searchers.len() < count {
            self.searchers.push(Searcher {
                search: self.search.clone(),
                evaluator: NetworkEvaluator::new(Arc::clone(&self.network)),
            });
        }
    }

    fn choose(
        &mut self,
        positions: &[Position],
        streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
    ) -> Result<(), String> {
        // Every game is searched as if it were alone, so the split changes no move.
        let share = positions.len().div_ceil(rayon::current_num_threads());
        let games = share.clamp(1, GAMES_AT_ONCE);
        self.make_searchers(positions.len().div_ceil(games));
        self.searchers
            .par_iter_mut()
            .zip(positions.par_chunks(games))
            .zip(streams.par_chunks_mut(games))
            .zip(moves.par_chunks_mut(games))
            .try_for_each(|(((searcher, positions), streams), moves)| {
                searcher.choose(positions, streams, moves)
            })
    }
}

impl ValuePlayer {
    fn new(
        weights: Weights,
        search: AgentSearch,
        metadata: &AgentMetadata,
    ) -> Result<ValuePlayer, Refusal> {
        let refuse = |found: &str| {
            Refusal::Search(format!(
                "@depth=N with N from 1 to {MAX_DEPTH}, @nodes=N, @seconds=S or @none, not {found}: \
                 the agent's learner is value"
            ))
        };
        let config = match search {
            AgentSearch::Default => AlphaBetaConfig::of_depth(metadata.depth),
            AgentSearch::AlphaBeta(config) => config,
            AgentSearch::None => AlphaBetaConfig::of_depth(1),
            AgentSearch::Simulations(_) => return Err(refuse("@sims")),
            AgentSearch::Mcts(_) => return Err(refuse("@mcts")),
        };
        config.check().map_err(|error| refuse(&error.to_string()))?;
        let network = Arc::new(ValueNetwork::new(weights)?);
        Ok(ValuePlayer {
            config,
            searches: Searches::new(ValueLeaf::new(Arc::clone(&network))),
            network,
        })
    }
}

/// Returns the agent file that `path` means: itself, the best or latest agent of a folder, or the
/// shipped agent of that name.
///
/// # Errors
/// [`PolicyError::File`] when a folder holds neither, or nothing has that name; a missing file is
/// left to its reader.
pub fn agent_file(path: &Path) -> Result<PathBuf, PolicyError> {
    let refuse = |message: String| PolicyError::File {
        path: path.display().to_string(),
        message,
    };
    if path.is_dir() {
        return ["best.safetensors", "agent.safetensors"]
            .into_iter()
            .map(|name| path.join(name))
            .find(|file| file.is_file())
            .ok_or_else(|| {
                let message = "the folder holds no best.safetensors and no agent.safetensors";
                refuse(message.to_owned())
            });
    }
    if path.exists() {
        return Ok(path.to_owned());
    }
    if let Some(file) = shipped_file(path) {
        return Ok(file);
    }
    let names = shipped_agents();
    if name_of(path).is_some() && !names.is_empty() {
        return Err(refuse(format!(
            "there is no such file or folder, and no shipped agent of that name, which are {}",
            names.join(", ")
        )));
    }
    Ok(path.to_owned())
}

impl Policy for Agent {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn check(&mut self, ruleset: &Ruleset) -> Result<(), PolicyError> {
        let columns = self.metadata.ruleset.columns();
        if self.metadata.learner == Learner::Value && ruleset.columns() != columns {
            return Err(PolicyError::Rules {
                name: self.name.clone(),
                ruleset: ruleset.to_string(),
                message: format!(
                    "columns is {}, expected {columns}: a value agent plays on the size it was \
                     trained on",
                    ruleset.columns()
                ),
            });
        }
        Ok(())
    }

    fn choose(
        &mut self,
        positions: &[Position],
        streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
    ) -> Result<(), PolicyError> {
        for position in positions {
            self.check(position.ruleset())?;
        }
        match &mut self.player {
            Player::Tree(player) => {
                let chosen = player.choose(positions, streams, moves);
                chosen.map_err(|message| PolicyError::Failed {
                    name: self.name.clone(),
                    message,
                })
            }
            Player::Value(player) => {
                player
                    .searches
                    .choose(player.config, &self.name, positions, moves)
            }
        }
    }

    fn set_interrupt(&mut self, flag: &Arc<AtomicBool>) {
        if let Player::Value(player) = &mut self.player {
            player.searches.interrupt = Arc::clone(flag);
        }
    }
}
