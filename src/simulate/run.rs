//! Running a simulation: who plays, and where the games go.

use std::ops::ControlFlow;
use std::time::Duration;

use rayon::ThreadPool;
use rayon::prelude::*;

use crate::policy::{Policy, PolicySpec};
use crate::simulate::chunks::{Chunk, Run, Taken};
use crate::simulate::lockstep::{self, Watch};
use crate::simulate::{GameTable, Instructions, SimulateConfig, SimulateError, Statistics};

/// What a caller is told while a simulation runs, and how it stops one.
///
/// It gets the number of games finished, on the thread that called, several times a second. When
/// it breaks, a player that searches deep is stopped inside its move, any other after it, and the
/// table holds the games finished up to there, from the first on without a gap.
pub type Progress<'a> = dyn FnMut(u64) -> ControlFlow<()> + 'a;

/// How long a chunk of games should take: short enough for a caller that wants to stop.
const CHUNK_TIME: Duration = Duration::from_millis(60);

/// Games of the first chunk of two random players, and of the largest: at the end of a chunk the
/// last endless sowings keep few lanes busy, so that large chunks waste less.
const RANDOM_CHUNK: [u64; 2] = [512, 1 << 20];

/// Games in lockstep at first, and at most: players that see more positions at once are faster,
/// but all games of a chunk end together.
const LOCKSTEP_CHUNK: [u64; 2] = [64, 1 << 12];

/// How long a chunk in lockstep should take.
const LOCKSTEP_TIME: Duration = Duration::from_secs(2);

/// Games that one task counts; fewer would cost more than they gain.
const LEAST_COUNTED: usize = 1 << 13;

/// Where the games of a simulation in parts go, in game order. When it breaks, no more games are
/// played.
pub type Sink<'a> = dyn FnMut(GameTable) -> ControlFlow<()> + 'a;

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
    play(config, players, usize::MAX, progress, &mut keep)
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
    play(config, players, usize::MAX, progress, &mut keep)
}

fn keep(_: &ThreadPool, _: &mut GameTable, _: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Plays `config.games` games as [`simulate`] does and hands them on in parts of `rows` games, the
/// last part with what is left, so that the memory needed does not grow with the games.
///
/// Returns what all games handed on say together.
///
/// # Errors
/// As [`simulate`]; the sink keeps what it has been given. [`SimulateError::OutOfRange`] when
/// `rows` is 0.
///
/// ```
/// use std::ops::ControlFlow;
/// use endodoi::Variant;
/// use endodoi::policy::PolicySpec;
/// use endodoi::simulate::{simulate_in_parts, Players, SimulateConfig};
///
/// let config = SimulateConfig::new(Variant::EnDodoi.ruleset(), 5000);
/// let mut quietly = |_| ControlFlow::Continue(());
/// let mut parts = Vec::new();
/// let statistics = simulate_in_parts(
///     &config,
///     Players::Specs(&PolicySpec::Random, &PolicySpec::Random),
///     &mut quietly,
///     2000,
///     &mut |part| {
///         parts.push(part.len());
///         ControlFlow::Continue(())
///     },
/// )?;
/// assert_eq!(parts, [2000, 2000, 1000]);
/// assert_eq!(statistics.summary().games, 5000);
/// # Ok::<(), endodoi::simulate::SimulateError>(())
/// ```
pub fn simulate_in_parts(
    config: &SimulateConfig,
    players: Players<'_>,
    progress: &mut Progress<'_>,
    rows: usize,
    sink: &mut Sink<'_>,
) -> Result<Statistics, SimulateError> {
    if rows == 0 {
        return Err(SimulateError::OutOfRange {
            field: "rows",
            value: 0,
            low: 1,
            high: usize::MAX as u64,
        });
    }
    let mut statistics = Statistics::default();
    let mut wanted = true;
    let mut left = play(
        config,
        players,
        rows,
        progress,
        &mut |pool, table, added| {
            statistics += &pool.install(|| count_last(table, added));
            if table.len() < rows {
                return ControlFlow::Continue(());
            }
            let passed = sink(std::mem::take(table));
            wanted = passed.is_continue();
            passed
        },
    )?;
    statistics.detail = std::mem::take(&mut left.detail);
    if wanted && !left.is_empty() {
        // The last word: nothing is left to be stopped.
        let _ = sink(left);
    }
    Ok(statistics)
}

/// Counts the last games of a table, in parts side by side.
fn count_last(table: &GameTable, games: usize) -> Statistics {
    let first = table.len() - games;
    let part = games
        .div_ceil(2 * rayon::current_num_threads())
        .max(LEAST_COUNTED);
    (first..table.len())
        .into_par_iter()
        .step_by(part)
        .map(|start| {
            let mut statistics = Statistics::default();
            statistics.add_rows(table, start..(start + part).min(table.len()));
            statistics
        })
        .reduce(Statistics::default, |mut all, part| {
            all += &part;
            all
        })
}

fn play(
    config: &SimulateConfig,
    players: Players<'_>,
    room: usize,
    progress: &mut Progress<'_>,
    taken: &mut Taken<'_>,
) -> Result<GameTable, SimulateError> {
    config.check()?;
    match players {
        Players::Specs(PolicySpec::Random, PolicySpec::Random) => {
            play_random(config, room, progress, taken)
        }
        Players::Specs(south, north) => {
            let (mut south, mut north) = (south.build()?, north.build()?);
            play_between(config, [&mut *south, &mut *north], room, progress, taken)
        }
        Players::Policies(south, north) => {
            play_between(config, [south, north], room, progress, taken)
        }
    }
}

fn play_between(
    config: &SimulateConfig,
    mut players: [&mut dyn Policy; 2],
    room: usize,
    progress: &mut Progress<'_>,
    taken: &mut Taken<'_>,
) -> Result<GameTable, SimulateError> {
    for player in &mut players {
        player.check(&config.ruleset)?;
    }
    let run = Run::new(config)?;
    let pace = (LOCKSTEP_CHUNK, LOCKSTEP_TIME);
    run.chunks(pace, room, progress, taken, |chunk, detail, progress| {
        let Chunk {
            first,
            mut rows,
            follow,
        } = chunk;
        let mut games = run.open_games(first, rows.len(), follow)?;
        let watch = Watch {
            pool: &run.pool,
            progress,
        };
        lockstep::play(&mut games, &mut players, run.limits, Some(watch));
        let mut finished = 0;
        for game in games.iter().take_while(|game| game.end.is_some()) {
            rows.set(finished, &game.row());
            finished += 1;
            if let Some(followed) = &game.followed {
                detail.add(followed);
            }
        }
        Ok(finished)
    })
}

fn play_random(
    config: &SimulateConfig,
    room: usize,
    progress: &mut Progress<'_>,
    taken: &mut Taken<'_>,
) -> Result<GameTable, SimulateError> {
    let run = Run::new(config)?;
    let instructions = Instructions::chosen(config.instructions)?;
    let in_lanes = config.random_opening_plies == 0;
    let pace = (RANDOM_CHUNK, CHUNK_TIME);
    run.chunks(pace, room, progress, taken, |chunk, detail, _| {
        let Chunk {
            first,
            mut rows,
            follow,
        } = chunk;
        let games = rows.len();
        if follow || !in_lanes || !run.play_side_by_side(instructions, first, rows.reborrow()) {
            *detail += &run.play_one_by_one(first, rows, follow)?;
        }
        Ok(games)
    })
}
