//! Building a table, one seed count after the other.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::ruleset::{Endless, Ruleset};
use crate::search::endgame::TableError;
use crate::search::endgame::level::{Level, Room};
use crate::search::endgame::memory;
use crate::search::endgame::narrow::Narrow;
use crate::search::endgame::ranking::{Ranking, check_range};
use crate::search::endgame::ring::Ring;
use crate::search::endgame::wide::Wide;

/// The most threads that may be asked for.
const MAX_THREADS: usize = 1024;

/// How often the caller hears of the work.
const TOLD_EVERY: Duration = Duration::from_millis(100);

/// How far the work on a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableProgress {
    /// The seed count at hand.
    pub seeds: u32,
    /// Positions done; a position that waits for others of its seed count is half done.
    pub done: u64,
    /// Positions of the whole table.
    pub positions: u64,
}

impl TableProgress {
    /// Returns the error of work that was stopped here.
    pub(super) const fn stopped(self) -> TableError {
        TableError::Stopped {
            seeds: self.seeds,
            done: self.done,
            positions: self.positions,
        }
    }
}

/// What a caller is told while a table is worked on, several times a second and on the thread that
/// called, and how it stops the work: by a break.
pub type WatchTable<'a> = dyn FnMut(TableProgress) -> ControlFlow<()> + 'a;

/// What the threads know of the whole work.
#[derive(Debug, Default)]
pub(super) struct Work {
    stopped: AtomicBool,
    seeds: AtomicU32,
    /// Twice the positions done.
    halves: AtomicU64,
}

impl Work {
    /// Counts positions that have been looked at one of two times.
    pub(super) fn add(&self, positions: u64) {
        self.halves.fetch_add(positions, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Begins with a seed count.
    pub(super) fn enter(&self, seeds: u32) {
        self.seeds.store(seeds, Ordering::Relaxed);
    }

    fn progress(&self, positions: u64) -> TableProgress {
        TableProgress {
            seeds: self.seeds.load(Ordering::Relaxed),
            done: self.halves.load(Ordering::Relaxed) / 2,
            positions,
        }
    }

    /// Does the work on other threads and watches it from this one.
    pub(super) fn watched<T: Send>(
        pool: &ThreadPool,
        positions: u64,
        watch: &mut WatchTable<'_>,
        run: impl FnOnce(&Work) -> T + Send,
    ) -> Result<T, TableError> {
        let work = &Work::default();
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            let task = move || {
                let result = pool.install(|| run(work));
                // Whoever waits has not gone away.
                let _ = sender.send(result);
            };
            thread::Builder::new()
                .spawn_scoped(scope, task)
                .map_err(|error| threads(&error))?;
            let result = loop {
                match receiver.recv_timeout(TOLD_EVERY) {
                    Ok(result) => break result,
                    Err(mpsc::RecvTimeoutError::Timeout) => {
                        if !work.is_stopped() && watch(work.progress(positions)).is_break() {
                            work.stopped.store(true, Ordering::Relaxed);
                        }
                    }
                    Err(mpsc::RecvTimeoutError::Disconnected) => {
                        return Err(threads(&"a thread ended before its work"));
                    }
                }
            };
            if work.is_stopped() {
                return Err(work.progress(positions).stopped());
            }
            Ok(result)
        })
    }
}

fn threads(error: &impl ToString) -> TableError {
    TableError::Threads {
        message: error.to_string(),
    }
}

/// Starts as many threads as asked for, else one for every core the process may use.
pub(super) fn pool(num_threads: Option<usize>) -> Result<ThreadPool, TableError> {
    let mut builder = ThreadPoolBuilder::new();
    if let Some(threads) = num_threads {
        check_range("num_threads", threads as u64, 1, MAX_THREADS as u64)?;
        builder = builder.num_threads(threads);
    }
    builder.build().map_err(|error| threads(&error))
}

/// Refuses the rule sets that no table can be built for.
pub(super) fn check_rules(ruleset: &Ruleset) -> Result<(), TableError> {
    match ruleset.endless() {
        Endless::Illegal => Ok(()),
        Endless::Draw => Err(TableError::EndlessDraw),
    }
}

/// Works out the values of all boards of a ranking, one byte each in the order of their numbers.
pub(super) fn build(
    ruleset: &Ruleset,
    ranking: &Ranking,
    num_threads: Option<usize>,
    watch: &mut WatchTable<'_>,
) -> Result<Vec<u8>, TableError> {
    check_rules(ruleset)?;
    let pool = pool(num_threads)?;
    let positions = ranking.positions();
    let largest = positions - ranking.start(ranking.max_seeds());
    // One byte of the table, two of the level at hand.
    let needed = positions + 2 * largest;
    let available = memory::available();
    let too_little = |available| TableError::Memory {
        positions,
        needed,
        available,
    };
    if needed > available {
        return Err(too_little(available));
    }
    let mut values = Vec::new();
    let room = values
        .try_reserve_exact(positions as usize)
        .ok()
        .and_then(|()| Room::new(largest as usize))
        .ok_or_else(|| too_little(available))?;
    values.resize(positions as usize, 0);
    Work::watched(&pool, positions, watch, |work| {
        if let Some(narrow) = Narrow::new(ruleset, ranking) {
            build_levels(&narrow, ranking, room, values, work)
        } else {
            build_levels(&Wide::new(*ruleset, ranking), ranking, room, values, work)
        }
    })
}

fn build_levels<R: Ring>(
    ring: &R,
    ranking: &Ranking,
    mut room: Room,
    mut values: Vec<u8>,
    work: &Work,
) -> Vec<u8> {
    for seeds in 0..=ranking.max_seeds() {
        if work.is_stopped() {
            break;
        }
        work.enter(seeds);
        let start = ranking.start(seeds);
        let end = ranking.start(seeds + 1) as usize;
        let (smaller, level) = values[..end].split_at_mut(start as usize);
        Level::solve(ring, seeds, start, &mut room, (smaller, level), work);
    }
    values
}
