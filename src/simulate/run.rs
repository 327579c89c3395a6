//! Running a simulation, chunk by chunk.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::batch::opening;
use crate::policy::{Policy, PolicySpec};
use crate::position::Position;
use crate::rng::{self, Purpose};
use crate::simulate::Instructions;
use crate::simulate::lanes;
use crate::simulate::lockstep::{self, Game, Limits, Watch};
use crate::simulate::random_games;
use crate::simulate::rows as board_rows;
use crate::simulate::table::Columns;
use crate::simulate::{GameTable, SimulateConfig, SimulateError};

/// What a caller is told while a simulation runs, and how it stops one.
///
/// It gets the number of games finished, on the thread that called, several times a second;
/// where a player thinks longer than that about one move, after that move. When it breaks, the
/// table holds the games finished up to there, from the first on without a gap.
pub type Progress<'a> = dyn FnMut(u64) -> ControlFlow<()> + 'a;

/// How long a chunk of games should take: short enough for a caller that wants to stop.
const CHUNK_TIME: Duration = Duration::from_millis(60);

/// Games of the first chunk of two random players, and of the largest.
const RANDOM_CHUNK: [u64; 2] = [512, 1 << 18];

/// Games in lockstep at first, and at most: players that see more positions at once are faster,
/// but all games of a chunk end together.
const LOCKSTEP_CHUNK: [u64; 2] = [64, 1 << 12];

/// How long a chunk in lockstep should take.
const LOCKSTEP_TIME: Duration = Duration::from_secs(2);

/// Games of one task where each is played by itself; fewer would cost more than they gain.
const FEW: usize = 16;

/// Where the games go while a simulation runs.
///
/// After every chunk it is given the games that it has not taken yet, in game order; what it
/// leaves in the table stays and the next games follow. When it breaks, no more games are played.
pub type Sink<'a> = dyn FnMut(&mut GameTable) -> ControlFlow<()> + 'a;

/// Who plays a simulation.
pub enum Players<'a> {
    /// South and North by their specifications.
    Specs(&'a PolicySpec, &'a PolicySpec),
    /// South and North as players of any kind.
    Policies(&'a mut dyn Policy, &'a mut dyn Policy),
}

/// Plays `config.games` games between two players.
///
/// Game `i` has the row seed `mix(seed, i)` and one stream (`Play`) that both players draw from,
/// so the table depends on neither threads nor speed. Two random players
/// take a path of their own with the same games.
///
/// # Errors
/// [`SimulateError`] when a setting is out of range, a player cannot be made, no opening leaves a
/// game open, or the threads cannot be started.
///
/// ```
/// use std::ops::ControlFlow;
/// use endodoi::Variant;
/// use endodoi::policy::PolicySpec;
/// use endodoi::simulate::{simulate, SimulateConfig};
///
/// let config = SimulateConfig::new(Variant::EnDodoi.ruleset(), 1000);
/// let mut quietly = |_| ControlFlow::Continue(());
/// let table = simulate(&config, &PolicySpec::Random, &PolicySpec::Random, &mut quietly)?;
/// assert_eq!(table.len(), 1000);
/// println!("{}", table.summary());
/// # Ok::<(), endodoi::simulate::SimulateError>(())
/// ```
pub fn simulate(
    config: &SimulateConfig,
    south: &PolicySpec,
    north: &PolicySpec,
    progress: &mut Progress<'_>,
) -> Result<GameTable, SimulateError> {
    let players = Players::Specs(south, north);
    simulate_in_chunks(config, players, progress, &mut keep_all)
}

/// Plays `config.games` games between players of any kind, as [`simulate`] does.
///
/// A player that chooses illegally or fails loses that game with the reason `illegal` or `error`.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_between(
    config: &SimulateConfig,
    south: &mut dyn Policy,
    north: &mut dyn Policy,
    progress: &mut Progress<'_>,
) -> Result<GameTable, SimulateError> {
    let players = Players::Policies(south, north);
    simulate_in_chunks(config, players, progress, &mut keep_all)
}

fn keep_all(_: &mut GameTable) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Plays `config.games` games as [`simulate`] does and hands them to `sink` chunk by chunk, so
/// that no more of them need to be in memory at a time.
///
/// Returns what the sink has left. The size of the chunks depends on how long they take.
///
/// # Errors
/// As [`simulate`]; the sink keeps what it has taken.
///
/// ```
/// use std::ops::ControlFlow;
/// use endodoi::Variant;
/// use endodoi::policy::PolicySpec;
/// use endodoi::simulate::{simulate_in_chunks, Players, SimulateConfig};
///
/// let config = SimulateConfig::new(Variant::EnDodoi.ruleset(), 5000);
/// let mut quietly = |_| ControlFlow::Continue(());
/// let mut plies = 0;
/// let left = simulate_in_chunks(
///     &config,
///     Players::Specs(&PolicySpec::Random, &PolicySpec::Random),
///     &mut quietly,
///     &mut |games| {
///         plies += games.plies.iter().map(|&x| i64::from(x)).sum::<i64>();
///         games.truncate(0);
///         ControlFlow::Continue(())
///     },
/// )?;
/// assert!(left.is_empty() && plies > 5000 * 40);
/// # Ok::<(), endodoi::simulate::SimulateError>(())
/// ```
pub fn simulate_in_chunks(
    config: &SimulateConfig,
    players: Players<'_>,
    progress: &mut Progress<'_>,
    sink: &mut Sink<'_>,
) -> Result<GameTable, SimulateError> {
    config.check()?;
    match players {
        Players::Specs(PolicySpec::Random, PolicySpec::Random) => {
            play_random(config, progress, sink)
        }
        Players::Specs(south, north) => {
            let (mut south, mut north) = (south.build()?, north.build()?);
            play_between(config, [&mut *south, &mut *north], progress, sink)
        }
        Players::Policies(south, north) => play_between(config, [south, north], progress, sink),
    }
}

fn play_between(
    config: &SimulateConfig,
    mut players: [&mut dyn Policy; 2],
    progress: &mut Progress<'_>,
    sink: &mut Sink<'_>,
) -> Result<GameTable, SimulateError> {
    let run = Run::new(config)?;
    let pace = (LOCKSTEP_CHUNK, LOCKSTEP_TIME);
    run.chunks(pace, progress, sink, |first, mut rows, progress| {
        let mut games = run.open_games(first, rows.len())?;
        let watch = Watch {
            pool: &run.pool,
            progress,
        };
        lockstep::play(&mut games, &mut players, run.limits, Some(watch));
        let finished = games.iter().take_while(|game| game.end.is_some());
        Ok(finished
            .enumerate()
            .map(|(index, game)| rows.set(index, &game.row()))
            .count())
    })
}

fn play_random(
    config: &SimulateConfig,
    progress: &mut Progress<'_>,
    sink: &mut Sink<'_>,
) -> Result<GameTable, SimulateError> {
    let run = Run::new(config)?;
    let instructions = Instructions::chosen(config.instructions)?;
    let in_lanes = config.random_opening_plies == 0 && !config.offers;
    let pace = (RANDOM_CHUNK, CHUNK_TIME);
    run.chunks(pace, progress, sink, |first, mut rows, _| {
        let games = rows.len();
        if !in_lanes || !run.play_side_by_side(instructions, first, rows.reborrow()) {
            run.play_one_by_one(first, rows)?;
        }
        Ok(games)
    })
}

/// What every chunk of a simulation shares.
struct Run {
    config: SimulateConfig,
    start: Position,
    limits: Limits,
    pool: ThreadPool,
}

impl Run {
    fn new(config: &SimulateConfig) -> Result<Run, SimulateError> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(config.num_threads.unwrap_or(0))
            .build()
            .map_err(|error| SimulateError::Threads {
                message: error.to_string(),
            })?;
        Ok(Run {
            config: *config,
            start: Position::start(&config.ruleset),
            limits: Limits {
                max_plies: config.max_plies,
                offers: config.offers,
            },
            pool,
        })
    }

    /// Plays random games in lanes or rows, from game `first` on, and writes their rows; returns
    /// false where the board fits neither.
    fn play_side_by_side(&self, instructions: Instructions, first: u64, rows: Columns<'_>) -> bool {
        // A block is full until its last games: long parts waste little.
        let part = rows
            .len()
            .div_ceil(2 * self.pool.current_num_threads())
            .max(1024);
        self.pool.install(|| {
            rows.parts(part).into_par_iter().all(|(start, mut rows)| {
                let games = (self.config.seed, first + start as u64);
                let ruleset = &self.config.ruleset;
                let max_plies = self.config.max_plies;
                lanes::play(instructions, ruleset, games, max_plies, rows.reborrow())
                    || board_rows::play(instructions, ruleset, games, max_plies, rows)
            })
        })
    }

    /// Plays random games one after the other, from game `first` on, and writes their rows.
    fn play_one_by_one(&self, first: u64, rows: Columns<'_>) -> Result<(), SimulateError> {
        self.pool.install(|| {
            rows.parts(FEW)
                .into_par_iter()
                .try_for_each(|(start, mut rows)| {
                    for index in 0..rows.len() {
                        let game = self.open_game(first + (start + index) as u64)?;
                        rows.set(index, &random_games::finish(&game, self.limits));
                    }
                    Ok(())
                })
        })
    }

    /// Plays chunk after chunk until all games are played or the caller has had enough.
    ///
    /// `play` writes the games from the given one on and returns how many it has finished; fewer
    /// than there are rows end the simulation. The size of the chunks follows the time they take;
    /// no result depends on it.
    fn chunks(
        &self,
        ([smallest, largest], time): ([u64; 2], Duration),
        progress: &mut Progress<'_>,
        sink: &mut Sink<'_>,
        mut play: impl FnMut(u64, Columns<'_>, &mut Progress<'_>) -> Result<usize, SimulateError>,
    ) -> Result<GameTable, SimulateError> {
        let mut table = GameTable::default();
        let mut size = smallest;
        let mut played = 0;
        while played < self.config.games && progress(played).is_continue() {
            let games = size.min(self.config.games - played) as usize;
            let began = Instant::now();
            let kept = table.len();
            table.grow(games, self.config.offers);
            let rows = table.columns_from(kept);
            let mut within = |finished| progress(played + finished);
            let finished = play(self.config.first + played, rows, &mut within)?;
            table.truncate(kept + finished);
            if sink(&mut table).is_break() || finished < games {
                return Ok(table);
            }
            played += games as u64;
            size = match began.elapsed() {
                took if took < time / 2 => (size * 2).min(largest),
                took if took > time => (size / 2).max(1),
                _ => size,
            };
        }
        // Where the last word is "stop", all games are finished all the same.
        let _ = progress(played);
        Ok(table)
    }

    fn open_games(&self, first: u64, games: usize) -> Result<Vec<Game>, SimulateError> {
        self.pool.install(|| {
            (0..games)
                .into_par_iter()
                .with_min_len(FEW)
                .map(|i| self.open_game(first + i as u64))
                .collect()
        })
    }

    /// Starts game `index` and plays its opening.
    fn open_game(&self, index: u64) -> Result<Game, SimulateError> {
        let row_seed = rng::mix(self.config.seed, index);
        let plies = self.config.random_opening_plies;
        let moves = if plies == 0 {
            Vec::new()
        } else {
            opening::draw_moves(&self.start, plies, row_seed, 0)
                .ok_or(SimulateError::NoOpening { plies })?
                .1
        };
        let stream = rng::stream(row_seed, 0, Purpose::Play);
        Ok(Game::open(&self.start, &moves, [0, 1], stream, self.limits))
    }
}
