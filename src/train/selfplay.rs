//! Self-play: groups of games in lockstep.
//!
//! Learner `gumbel` searches the games of a group together, learner `value` one after another.

use std::sync::Arc;
use std::time::Instant;

use super::TrainError;
use super::config::{Config, Device};
use super::network::TorchEvaluator;
use super::replay::Sample;
use super::target::{self, Searched, ValueTarget};
use super::tasks::{Task, run_tasks};
use crate::batch::opening::draw_moves;
use crate::policy::agent_file::Learner;
use crate::policy::network::{Network, NetworkEvaluator};
use crate::policy::value::{ValueLeaf, ValueNetwork};
use crate::policy::weights::Weights;
use crate::position::Position;
use crate::rng::{self, Purpose, Xoshiro128PlusPlus};
use crate::ruleset::Ruleset;
use crate::search::{
    AlphaBetaConfig, AlphaBetaSearch, CachedEvaluator, EndgameTable, Evaluator, GumbelConfig,
    GumbelSearch, LeafEvaluator, RootResult, SearchLimit, SearchResult,
};

/// Bytes of the table of an alpha-beta search of self-play, which is shallow.
const SEARCH_TABLE: u64 = 1 << 18;

/// What a group has played since it was last asked.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// Positions with their targets.
    pub samples: Vec<Sample>,
    /// Games finished.
    pub games: u64,
    /// Plies of the games finished, opening plies included.
    pub plies: u64,
    /// Positions searched.
    pub positions: u64,
    /// Positions evaluated by the network; of learner `value`, those that the searches visited.
    pub evaluations: u64,
    /// Positions whose evaluation was known.
    pub known: u64,
    /// Positions whose policy is learnt.
    pub policies: u64,
    /// Entropy of the improved policies in nats, summed over them.
    pub entropy: f64,
    /// Seconds that playing took on its thread.
    pub seconds: f64,
}

impl Played {
    /// Adds what was played after this, or beside it.
    pub fn add(&mut self, mut more: Played) {
        self.samples.append(&mut more.samples);
        self.games += more.games;
        self.plies += more.plies;
        self.positions += more.positions;
        self.evaluations += more.evaluations;
        self.known += more.known;
        self.policies += more.policies;
        self.entropy += more.entropy;
        self.seconds += more.seconds;
    }
}

/// Games that move in lockstep.
///
/// What a group plays depends on the seed, its own number and the weights it is given: not on
/// threads, nor on other groups.
#[derive(Debug)]
pub struct Group {
    games: Vec<Game>,
    search: Search,
    config: Config,
}

/// How the games of a group are searched.
#[derive(Debug)]
enum Search {
    Gumbel(Box<GumbelSearch>),
    /// By alpha-beta, with exact values from a table.
    Value(Option<Arc<EndgameTable>>),
}

#[derive(Debug)]
pub(super) struct Game {
    pub(super) row_seed: u64,
    pub(super) episode: u64,
    pub(super) position: Position,
    pub(super) stream: Xoshiro128PlusPlus,
    /// Plies played, opening plies included.
    pub(super) plies: u64,
    /// Positions searched and not yet handed out.
    pub(super) waiting: Vec<(Sample, Searched)>,
}

impl Group {
    /// Starts the games of every group, the first of which are episode `episode` of their rows.
    pub fn all(config: &Config, episode: u64) -> Vec<Group> {
        (0..config.selfplay.groups)
            .map(|number| Group::new(config, number, episode))
            .collect()
    }

    /// Starts the games of group `number`, the first of which is episode `episode` of its row.
    pub fn new(config: &Config, number: usize, episode: u64) -> Group {
        let games = (0..config.selfplay.games)
            .map(|game| Game::start(config, Group::row_seed(config, number, game), episode))
            .collect();
        Group::of_games(config, games)
    }

    /// Returns the seed of one game of group `number`.
    pub(super) fn row_seed(config: &Config, number: usize, game: usize) -> u64 {
        rng::mix(config.seed, (number * config.selfplay.games + game) as u64)
    }

    /// Goes on with games in progress.
    pub(super) fn of_games(config: &Config, games: Vec<Game>) -> Group {
        let play = &config.selfplay;
        let search = match config.learner {
            Learner::Gumbel => Search::Gumbel(Box::new(GumbelSearch::new(GumbelConfig {
                simulations: play.simulations,
                max_considered: play.max_considered,
                c_visit: play.c_visit,
                c_scale: play.c_scale,
                gumbel_scale: 1.0,
                margin_weight: play.margin_weight,
            }))),
            Learner::Value => Search::Value(None),
        };
        Group {
            games,
            search,
            config: config.clone(),
        }
    }

    /// Lets the searches of learner `value` take exact values from a table of the same rules.
    pub fn use_table(&mut self, table: &Arc<EndgameTable>) {
        if let Search::Value(used) = &mut self.search {
            *used = Some(Arc::clone(table));
        }
    }

    /// Returns the games in progress.
    pub(super) fn games(&self) -> &[Game] {
        &self.games
    }

    /// Returns the largest episode number of the games.
    pub fn episode(&self) -> u64 {
        self.games
            .iter()
            .map(|game| game.episode)
            .max()
            .unwrap_or(0)
    }

    /// Iterates over the positions that the games stand at.
    pub fn positions(&self) -> impl Iterator<Item = Position> {
        self.games.iter().map(|game| game.position)
    }

    /// Plays as many plies of every game as an iteration has, with the weights given, when a share
    /// `progress` of the budget is used; a game that ends is followed by the next one.
    ///
    /// # Errors
    /// [`TrainError::Evaluator`] when the network fails.
    pub fn play(&mut self, weights: &Weights, progress: f64) -> Result<Played, TrainError> {
        let begun = Instant::now();
        let (games, config) = (&mut self.games, &self.config);
        let mut played = match &mut self.search {
            Search::Gumbel(search) => play_gumbel(games, search, weights, (config, progress))?,
            Search::Value(table) => play_value(games, table.as_ref(), weights, config)?,
        };
        for game in &mut self.games {
            game.hand_out_old(&self.config, &mut played);
        }
        played.seconds = begun.elapsed().as_secs_f64();
        Ok(played)
    }
}

/// Plays the plies of an iteration in every one of these groups, with the weights and the share of
/// the budget given, on a few threads beside a task that goes first.
///
/// # Errors
/// [`TrainError`] of the first group that fails.
pub fn play_all(
    groups: &mut [Group],
    (weights, progress): (&Weights, f64),
    threads: usize,
    beside: Option<Task<'_>>,
) -> Result<Vec<Played>, TrainError> {
    let mut played: Vec<Result<Played, TrainError>> = Vec::new();
    played.resize_with(groups.len(), || Ok(Played::default()));
    let mut tasks: Vec<Task<'_>> = Vec::with_capacity(1 + groups.len());
    tasks.extend(beside);
    for (group, result) in groups.iter_mut().zip(&mut played) {
        tasks.push(Box::new(move || *result = group.play(weights, progress)));
    }
    run_tasks(threads, tasks)?;
    played.into_iter().collect()
}

/// Returns the simulations of a move when a share of the budget is used.
fn simulations_at(config: &Config, progress: f64) -> u32 {
    let (first, last) = (
        f64::from(config.selfplay.first_simulations),
        f64::from(config.selfplay.simulations),
    );
    (first + (last - first) * (2.0 * progress).clamp(0.0, 1.0)).round() as u32
}

/// Returns the network that plays: without torch on the processor, which is faster there for the
/// few positions of a call, and by torch on a GPU.
fn evaluator_of(weights: &Weights, device: Device) -> Result<Box<dyn Evaluator>, TrainError> {
    Ok(match device {
        Device::Cpu => {
            let network = Network::new(weights.clone())?;
            Box::new(NetworkEvaluator::new(Arc::new(network)))
        }
        Device::Cuda => Box::new(TorchEvaluator::new(weights, device.find()?)?),
    })
}

/// Plays the plies of an iteration by Gumbel search, all games of a group together.
///
/// Whether a ply is quick is drawn from the stream of the group's first game. Positions met again
/// with the same weights are evaluated once: most of a tree comes back in that of the next ply.
fn play_gumbel(
    games: &mut [Game],
    search: &mut GumbelSearch,
    weights: &Weights,
    (config, progress): (&Config, f64),
) -> Result<Played, TrainError> {
    let mut evaluator = CachedEvaluator::new(evaluator_of(weights, config.device)?);
    let mut played = Played::default();
    let play = &config.selfplay;
    for _ in 0..play.plies {
        let quick = play.quick_share > 0.0
            && games
                .first_mut()
                .is_some_and(|game| rng::unit(&mut game.stream) < play.quick_share);
        search.set_simulations(if quick {
            play.quick_simulations
        } else {
            simulations_at(config, progress)
        });
        let roots: Vec<Position> = games.iter().map(|game| game.position).collect();
        let mut streams: Vec<Xoshiro128PlusPlus> =
            games.iter().map(|game| game.stream.clone()).collect();
        let results = search.run(&roots, &mut evaluator, &mut streams)?;
        for ((game, result), stream) in games.iter_mut().zip(results).zip(streams) {
            game.stream = stream;
            game.advance(result, quick, config, &mut played);
        }
    }
    played.evaluations = evaluator.misses();
    played.known = evaluator.hits();
    Ok(played)
}

/// Plays the plies of an iteration by alpha-beta over the value network.
fn play_value(
    games: &mut [Game],
    table: Option<&Arc<EndgameTable>>,
    weights: &Weights,
    config: &Config,
) -> Result<Played, TrainError> {
    let mut leaf = ValueLeaf::new(Arc::new(ValueNetwork::new(weights.clone())?));
    if let Some(table) = table {
        leaf = leaf.with_table(Arc::clone(table));
    }
    let limits = AlphaBetaConfig {
        table_bytes: Some(SEARCH_TABLE),
        ..AlphaBetaConfig::new(SearchLimit::Depth(config.value.depth))
    };
    let mut search = AlphaBetaSearch::with_evaluator(limits, leaf)?;
    let mut played = Played::default();
    for _ in 0..config.selfplay.plies {
        for game in &mut *games {
            let found = search.value(&game.position)?;
            played.evaluations += found.nodes;
            game.advance_value(&found, config, &mut played);
        }
    }
    Ok(played)
}

impl Game {
    fn start(config: &Config, row_seed: u64, episode: u64) -> Game {
        let mut stream = rng::stream(row_seed, episode, Purpose::SelfPlay);
        let (position, plies) = opening(config, row_seed, episode, &mut stream);
        Game {
            row_seed,
            episode,
            position,
            stream,
            plies,
            waiting: Vec::new(),
        }
    }

    /// Plays the column found, keeps the position for training, and starts the next game if this
    /// one has ended.
    fn advance(&mut self, result: RootResult, quick: bool, config: &Config, played: &mut Played) {
        let position = self.position;
        let entropy = |share: &f32| f64::from(-share * share.max(1e-30).ln());
        if !quick {
            played.entropy += result.policy.iter().map(entropy).sum::<f64>();
            played.policies += 1;
        }
        played.positions += 1;
        let draw = (1.0 - result.win - result.loss).max(0.0);
        let searched = Searched {
            side: position.to_move(),
            lead: position.board().lead(position.to_move()),
            chances: [result.win, draw, result.loss],
            margin: result.margin,
            followed: true,
        };
        let sample = Sample {
            observation: position.observation(),
            policy: if quick {
                // A target of zeros has no loss.
                vec![0.0; result.policy.len()]
            } else {
                result.policy
            },
            chances: searched.chances,
            margin: 0.0,
        };
        self.waiting.push((sample, searched));
        self.play(usize::from(result.column), config, played);
    }

    /// Plays the column found, or a random one, keeps the position for training, and starts the
    /// next game if this one has ended.
    fn advance_value(&mut self, found: &SearchResult, config: &Config, played: &mut Played) {
        let position = self.position;
        let legal = position.legal_moves();
        let drawn = rng::unit(&mut self.stream) < config.value.explore;
        let random = drawn.then(|| rng::below(&mut self.stream, legal.len() as u32) as usize);
        let column = random.and_then(|nth| legal.nth(nth));
        let column = column.unwrap_or(found.column);
        let lead = position.board().lead(position.to_move());
        let searched = Searched {
            side: position.to_move(),
            lead,
            chances: [0.0; 3],
            margin: found.value as f32 / ValueLeaf::UNITS as f32 - lead as f32,
            followed: column == found.column,
        };
        let sample = Sample {
            observation: position.observation(),
            policy: Vec::new(),
            chances: [0.0; 3],
            margin: 0.0,
        };
        played.positions += 1;
        self.waiting.push((sample, searched));
        self.play(column, config, played);
    }

    /// Plays a column and starts the next game if this one has ended.
    fn play(&mut self, column: usize, config: &Config, played: &mut Played) {
        // The search chooses among legal columns only.
        self.position = self.position.play_legal(column).0;
        self.plies += 1;
        if self.position.is_over() {
            self.finish(config, played);
        }
    }

    fn finish(&mut self, config: &Config, played: &mut Played) {
        let values: Vec<Searched> = self.waiting.iter().map(|(_, value)| *value).collect();
        let targets = target::finished(&values, &self.position, &config.value_target);
        hand_out(self.waiting.drain(..), targets, played);
        played.games += 1;
        played.plies += self.plies;
        *self = Game::start(config, self.row_seed, self.episode + 1);
    }

    /// Hands out the positions of a game in progress that are older than the horizon.
    fn hand_out_old(&mut self, config: &Config, played: &mut Played) {
        let target = &config.value_target;
        if target.horizon == 0 || target.outcome > 0.0 || self.waiting.len() <= target.horizon {
            return;
        }
        let values: Vec<Searched> = self.waiting.iter().map(|(_, value)| *value).collect();
        let targets = target::unfinished(&values, target.lambda);
        let old = self.waiting.len() - target.horizon;
        hand_out(self.waiting.drain(..old), targets, played);
    }
}

fn hand_out(
    positions: impl Iterator<Item = (Sample, Searched)>,
    targets: Vec<ValueTarget>,
    played: &mut Played,
) {
    for ((mut sample, _), target) in positions.zip(targets) {
        sample.chances = target.chances;
        sample.margin = target.margin;
        played.samples.push(sample);
    }
}

/// Draws whether an episode starts with random plies and how many, and plays them.
fn opening(
    config: &Config,
    row_seed: u64,
    episode: u64,
    stream: &mut Xoshiro128PlusPlus,
) -> (Position, u64) {
    let play = &config.selfplay;
    let start = Position::start(&config.ruleset);
    if play.opening_plies == 0 || rng::unit(stream) >= play.opening_share {
        return (start, 0);
    }
    let plies = 1 + rng::below(stream, play.opening_plies);
    // On the smallest boards every opening may end the game.
    match draw_moves(&start, plies, row_seed, episode) {
        Some((position, _)) => (position, plies.into()),
        None => (start, 0),
    }
}

/// Tells whether a game of these rules can be started at all.
///
/// # Errors
/// [`TrainError::Setting`] when the first side to move is stuck in the starting position.
pub fn check_start(ruleset: &Ruleset) -> Result<(), TrainError> {
    if Position::start(ruleset).is_over() {
        return Err(TrainError::Setting {
            field: "ruleset",
            value: ruleset.to_string(),
            expected: "rules under which the starting position has a legal move".to_owned(),
        });
    }
    Ok(())
}
