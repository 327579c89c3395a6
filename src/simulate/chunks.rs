//! The games of a simulation, chunk by chunk.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::batch::opening;
use crate::position::Position;
use crate::rng::{self, Purpose};
use crate::simulate::lockstep::{Game, Limits};
use crate::simulate::rows as board_rows;
use crate::simulate::table::Columns;
use crate::simulate::{
    Detail, GameTable, Instructions, Progress, SimulateConfig, SimulateError, lanes, random_games,
    sample_size,
};

/// What looks at the table after every chunk, with the number of games that the chunk has added
/// at its end.
pub(super) type Taken<'a> = dyn FnMut(&ThreadPool, &mut GameTable, usize) -> ControlFlow<()> + 'a;

/// Games of one task where each is played by itself; fewer would cost more than they gain.
const FEW: usize = 16;

/// Games that room is made for before they are played, a gigabyte; more find theirs as they come.
const MOST_RESERVED: u64 = 1 << 25;

/// Games to be played and written together.
pub(super) struct Chunk<'a> {
    /// The number of the first game.
    pub(super) first: u64,
    pub(super) rows: Columns<'a>,
    /// Follow them move by move.
    pub(super) follow: bool,
}

/// What every chunk of a simulation shares.
pub(super) struct Run {
    config: SimulateConfig,
    start: Position,
    pub(super) limits: Limits,
    pub(super) pool: ThreadPool,
}

impl Run {
    pub(super) fn new(config: &SimulateConfig) -> Result<Run, SimulateError> {
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
                clock: None,
            },
            pool,
        })
    }

    /// Plays random games in lanes or rows, from game `first` on, and writes their rows; returns
    /// false where the board fits neither.
    pub(super) fn play_side_by_side(
        &self,
        instructions: Instructions,
        first: u64,
        rows: Columns<'_>,
    ) -> bool {
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
    pub(super) fn play_one_by_one(
        &self,
        first: u64,
        rows: Columns<'_>,
        follow: bool,
    ) -> Result<Detail, SimulateError> {
        let play = |mut detail: Detail, (start, mut rows): (usize, Columns<'_>)| {
            for index in 0..rows.len() {
                let mut game = self.open_game(first + (start + index) as u64, follow)?;
                rows.set(index, &random_games::finish(&mut game, self.limits));
                if let Some(followed) = &game.followed {
                    detail.add(followed);
                }
            }
            Ok(detail)
        };
        self.pool.install(|| {
            rows.parts(FEW)
                .into_par_iter()
                .try_fold(Detail::default, play)
                .try_reduce(Detail::default, |mut all, part| {
                    all += &part;
                    Ok(all)
                })
        })
    }

    /// Plays chunk after chunk until all games are played or the caller has had enough.
    ///
    /// The table never holds more than `room` games; what takes games out of it makes room.
    /// `play` returns how many games it has finished; fewer than the chunk has end the simulation.
    /// The size of the chunks follows the time they take; no result depends on it.
    pub(super) fn chunks(
        &self,
        ([smallest, largest], time): ([u64; 2], Duration),
        room: usize,
        progress: &mut Progress<'_>,
        taken: &mut Taken<'_>,
        mut play: impl FnMut(Chunk<'_>, &mut Detail, &mut Progress<'_>) -> Result<usize, SimulateError>,
    ) -> Result<GameTable, SimulateError> {
        let mut table = GameTable::default();
        table.reserve(self.config.games.min(MOST_RESERVED).min(room as u64) as usize);
        let mut detail = Detail::default();
        let followed = if self.config.offers {
            u64::MAX
        } else {
            self.config.sample
        };
        let mut size = smallest.min(sample_size(&self.config.ruleset));
        let mut played = 0;
        while played < self.config.games && progress(played).is_continue() {
            let follow = played < followed;
            let until = if follow {
                followed.min(self.config.games)
            } else {
                self.config.games
            };
            let kept = table.len();
            let games = size.min(until - played).min((room - kept) as u64) as usize;
            let began = Instant::now();
            table.grow(games, self.config.offers);
            let chunk = Chunk {
                first: self.config.first + played,
                rows: table.columns_from(kept),
                follow,
            };
            let mut within = |finished| progress(played + finished);
            let finished = play(chunk, &mut detail, &mut within)?;
            table.truncate(kept + finished);
            let enough = taken(&self.pool, &mut table, finished).is_break();
            played += finished as u64;
            if enough || finished < games {
                break;
            }
            let took = began.elapsed();
            if took > time {
                size = (size / 2).max(1);
            } else if took < time / 2 {
                // Half of what there was time for: the next chunk may take longer a game.
                let more = time.as_nanos() / (2 * took.as_nanos()).max(1);
                size = (size * more.clamp(2, 16) as u64).min(largest);
            }
        }
        if played == self.config.games {
            // Where the last word is "stop", all games are finished all the same.
            let _ = progress(played);
        }
        table.detail = detail;
        Ok(table)
    }

    pub(super) fn open_games(
        &self,
        first: u64,
        games: usize,
        follow: bool,
    ) -> Result<Vec<Game>, SimulateError> {
        self.pool.install(|| {
            (0..games)
                .into_par_iter()
                .with_min_len(FEW)
                .map(|i| self.open_game(first + i as u64, follow))
                .collect()
        })
    }

    /// Starts game `index` and plays its opening.
    fn open_game(&self, index: u64, follow: bool) -> Result<Game, SimulateError> {
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
        Ok(Game::open_followed(
            &self.start,
            &moves,
            [0, 1],
            stream,
            self.limits,
            follow.then(Box::default),
        ))
    }
}
