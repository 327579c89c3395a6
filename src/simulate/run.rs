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
use crate::simulate::tally::GameRow;
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
    config.check()?;
    if (south, north) == (&PolicySpec::Random, &PolicySpec::Random) {
        return simulate_random(config, progress);
    }
    let (mut south, mut north) = (south.build()?, north.build()?);
    simulate_between(config, &mut *south, &mut *north, progress)
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
    config.check()?;
    let run = Run::new(config)?;
    let mut players: [&mut dyn Policy; 2] = [south, north];
    run.chunks(
        LOCKSTEP_CHUNK,
        LOCKSTEP_TIME,
        progress,
        |games, progress| {
            let mut games = run.open_games(games)?;
            let watch = Watch {
                pool: &run.pool,
                progress,
            };
            lockstep::play(&mut games, &mut players, run.limits, Some(watch));
            let finished = games.iter().take_while(|game| game.end.is_some());
            Ok(finished.map(Game::row).collect())
        },
    )
}

fn simulate_random(
    config: &SimulateConfig,
    progress: &mut Progress<'_>,
) -> Result<GameTable, SimulateError> {
    let run = Run::new(config)?;
    let instructions = Instructions::chosen(config.instructions)?;
    let in_lanes = config.random_opening_plies == 0 && !config.offers;
    run.chunks(RANDOM_CHUNK, CHUNK_TIME, progress, |games, _| {
        if in_lanes && let Some(rows) = run.play_in_lanes(instructions, &games) {
            return Ok(rows);
        }
        let count = (games.end - games.start) as usize;
        run.pool.install(|| {
            (0..count)
                .into_par_iter()
                .with_min_len(16)
                .map(|i| {
                    let game = run.open_game(games.start + i as u64)?;
                    Ok(random_games::finish(&game, run.limits))
                })
                .collect()
        })
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

    /// Plays random games in lanes, `None` where the board does not fit them.
    fn play_in_lanes(
        &self,
        instructions: Instructions,
        games: &std::ops::Range<u64>,
    ) -> Option<Vec<GameRow>> {
        let mut rows = vec![GameRow::default(); (games.end - games.start) as usize];
        // A block is full until its last games: long parts waste little.
        let part = rows
            .len()
            .div_ceil(2 * self.pool.current_num_threads())
            .max(1024);
        let played = self.pool.install(|| {
            rows.par_chunks_mut(part).enumerate().all(|(number, rows)| {
                let first = games.start + (number * part) as u64;
                let ruleset = &self.config.ruleset;
                lanes::play(
                    instructions,
                    ruleset,
                    (self.config.seed, first),
                    self.config.max_plies,
                    rows,
                )
            })
        });
        played.then_some(rows)
    }

    /// Plays chunk after chunk until all games are played or the caller has had enough.
    ///
    /// The size of the chunks follows the time they take; no result depends on it.
    fn chunks(
        &self,
        [smallest, largest]: [u64; 2],
        time: Duration,
        progress: &mut Progress<'_>,
        mut play: impl FnMut(
            std::ops::Range<u64>,
            &mut Progress<'_>,
        ) -> Result<Vec<GameRow>, SimulateError>,
    ) -> Result<GameTable, SimulateError> {
        let mut table = GameTable::default();
        let mut size = smallest;
        let mut first = 0;
        while first < self.config.games && progress(first).is_continue() {
            let last = (first + size).min(self.config.games);
            let began = Instant::now();
            let mut within = |finished| progress(first + finished);
            let rows = play(first..last, &mut within)?;
            for row in &rows {
                table.push(row, self.config.offers);
            }
            if (rows.len() as u64) < last - first {
                return Ok(table);
            }
            first = last;
            size = match began.elapsed() {
                took if took < time / 2 => (size * 2).min(largest),
                took if took > time => (size / 2).max(1),
                _ => size,
            };
        }
        // Where the last word is "stop", all games are finished all the same.
        let _ = progress(first);
        Ok(table)
    }

    fn open_games(&self, games: std::ops::Range<u64>) -> Result<Vec<Game>, SimulateError> {
        self.pool.install(|| {
            (0..(games.end - games.start) as usize)
                .into_par_iter()
                .with_min_len(16)
                .map(|i| self.open_game(games.start + i as u64))
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
