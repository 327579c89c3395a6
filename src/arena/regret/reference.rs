//! What every move of a position is worth.

use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::arena::regret::{ExamConfig, ExamProgress, MoveWorth, Question, RegretError, WatchExam};
use crate::policy::Perfect;
use crate::position::{Outcome, Position};
use crate::ruleset::Ruleset;
use crate::search::{
    AlphaBetaSearch, EndgameTable, MAX_DEPTH, Ranking, SolveLimits, Solver, SolverOptions,
    TableError,
};

/// The most positions of the table that is built for the solver: 16 seeds on a 2x6 board.
const LARGE_TABLE: u64 = 31_000_000;

/// The same where a larger table would take longer than it saves: 12 seeds on a 2x6 board.
const SMALL_TABLE: u64 = 3_000_000;

/// How often the caller hears of the work.
const TOLD_EVERY: Duration = Duration::from_millis(50);

/// What values the moves of an exam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// Perfect play, by the solver: play without end gains nothing for either side, the quiet
    /// limit (E3) is not looked at.
    Perfect,
    /// A search of fixed depth, under the rules as they are.
    AlphaBeta {
        /// Plies, 1 to [`MAX_DEPTH`], the move itself included.
        depth: u32,
    },
}

impl Reference {
    /// The depth of the search that values a position which the solver does not finish in time.
    pub const UNSOLVED_DEPTH: u32 = 12;

    /// Returns what suits the rules: perfect play where the solver is sure to be quick, up to 2x6
    /// with endless sowings illegal; else a search of 8 plies, of 4 beyond 16 columns.
    pub fn suited(ruleset: &Ruleset) -> Reference {
        match ruleset.columns() {
            _ if Perfect::is_sure(ruleset) => Reference::Perfect,
            ..=16 => Reference::AlphaBeta { depth: 8 },
            _ => Reference::AlphaBeta { depth: 4 },
        }
    }
}

impl fmt::Display for Reference {
    /// Writes the text that [`Reference::from_str`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reference::Perfect => f.write_str("perfect"),
            Reference::AlphaBeta { depth } => write!(f, "alphabeta:{depth}"),
        }
    }
}

impl FromStr for Reference {
    type Err = RegretError;

    /// Reads `perfect` or `alphabeta:N`.
    fn from_str(text: &str) -> Result<Reference, RegretError> {
        let depth = |digits: &str| {
            let depth = digits.parse().ok()?;
            (1..=MAX_DEPTH).contains(&depth).then_some(depth)
        };
        match text.split_once(':') {
            None if text == "perfect" => Some(Reference::Perfect),
            Some(("alphabeta", digits)) => {
                depth(digits).map(|depth| Reference::AlphaBeta { depth })
            }
            _ => None,
        }
        .ok_or_else(|| RegretError::Reference {
            reference: text.to_owned(),
        })
    }
}

/// Values every move of the positions, on several threads.
pub(super) fn value(
    config: &ExamConfig,
    table: Option<Arc<EndgameTable>>,
    positions: &[Position],
    watch: &mut WatchExam<'_>,
) -> Result<Vec<Question>, RegretError> {
    let threads = config
        .solver
        .num_threads
        .unwrap_or_else(rayon::current_num_threads)
        .max(1);
    let threads = threads.min(positions.len());
    let table = match (config.reference, table) {
        (Reference::Perfect, None) => Some(Arc::new(build_table(config, watch)?)),
        (_, table) => table,
    };
    let mut workers = Vec::new();
    for _ in 0..threads {
        workers.push(Worker::new(config, table.as_ref(), threads as u64)?);
    }
    let work = Work::new(config, positions);
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for worker in workers {
            let sender = sender.clone();
            let work = &work;
            let run = move || work.run(worker, &sender);
            thread::Builder::new()
                .spawn_scoped(scope, run)
                .map_err(|error| {
                    work.stopped.store(true, Ordering::Relaxed);
                    RegretError::Threads {
                        message: error.to_string(),
                    }
                })?;
        }
        drop(sender);
        work.gather(&receiver, watch)
    })
}

/// Builds the largest table that takes a few seconds, at most that of all seeds.
fn build_table(
    config: &ExamConfig,
    watch: &mut WatchExam<'_>,
) -> Result<EndgameTable, RegretError> {
    let ruleset = &config.ruleset;
    let all = ruleset.pits() as u32 * u32::from(ruleset.seeds_per_pit());
    let most = if ruleset.columns() > 5 && config.positions >= 50 {
        LARGE_TABLE
    } else {
        SMALL_TABLE
    };
    let fits = |seeds: &u32| {
        Ranking::new(ruleset.columns(), *seeds).is_ok_and(|ranking| ranking.positions() <= most)
    };
    let seeds = (0..=all).take_while(fits).last().unwrap_or(0);
    let nothing = ExamProgress {
        done: 0,
        positions: config.positions,
    };
    let mut building = |_| watch(nothing);
    let threads = config.solver.num_threads;
    EndgameTable::build(ruleset, seeds, threads, &mut building).map_err(|error| match error {
        TableError::Stopped { .. } => RegretError::Stopped {
            done: 0,
            positions: config.positions,
        },
        error => RegretError::Solve(error.into()),
    })
}

/// The positions to be valued, and what the threads share.
struct Work<'a> {
    config: &'a ExamConfig,
    positions: &'a [Position],
    next: AtomicUsize,
    done: AtomicU32,
    stopped: AtomicBool,
}

type Valued = (usize, Result<Question, RegretError>);

impl<'a> Work<'a> {
    fn new(config: &'a ExamConfig, positions: &'a [Position]) -> Work<'a> {
        Work {
            config,
            positions,
            next: AtomicUsize::new(0),
            done: AtomicU32::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// Values one position after the other until none is left or the work is stopped.
    fn run(&self, mut worker: Worker, sender: &mpsc::Sender<Valued>) {
        while !self.stopped.load(Ordering::Relaxed) {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(position) = self.positions.get(place) else {
                return;
            };
            let question = worker.value(position, self.config.seconds, &self.stopped);
            self.done.fetch_add(1, Ordering::Relaxed);
            if sender.send((place, question)).is_err() {
                return;
            }
        }
    }

    /// Gathers the questions in their order, and tells the caller how far the work is.
    fn gather(
        &self,
        receiver: &mpsc::Receiver<Valued>,
        watch: &mut WatchExam<'_>,
    ) -> Result<Vec<Question>, RegretError> {
        let mut questions = vec![None; self.positions.len()];
        let mut stopped = None;
        loop {
            match receiver.recv_timeout(TOLD_EVERY) {
                Ok((place, Ok(question))) => questions[place] = Some(question),
                Ok((_, Err(error))) => {
                    stopped.get_or_insert(error);
                    self.stopped.store(true, Ordering::Relaxed);
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            let progress = ExamProgress {
                done: self.done.load(Ordering::Relaxed),
                positions: self.positions.len() as u32,
            };
            if stopped.is_none() && watch(progress).is_break() {
                self.stopped.store(true, Ordering::Relaxed);
                stopped = Some(RegretError::Stopped {
                    done: progress.done,
                    positions: progress.positions,
                });
            }
        }
        match stopped {
            Some(error) => Err(error),
            None => Ok(questions.into_iter().flatten().collect()),
        }
    }
}

/// One thread's means of valuing moves.
struct Worker {
    solver: Option<Solver>,
    /// Values the position after a move.
    search: Option<AlphaBetaSearch>,
}

impl Worker {
    fn new(
        config: &ExamConfig,
        table: Option<&Arc<EndgameTable>>,
        workers: u64,
    ) -> Result<Worker, RegretError> {
        let (solver, depth) = match config.reference {
            Reference::Perfect => {
                let options = SolverOptions {
                    memory: config.solver.memory / workers,
                    num_threads: Some(1),
                };
                let mut solver = Solver::new(&config.ruleset, &options)?;
                if let Some(table) = table {
                    solver.use_table(Arc::clone(table))?;
                }
                (Some(solver), Reference::UNSOLVED_DEPTH)
            }
            Reference::AlphaBeta { depth } => (None, depth),
        };
        let search = match depth {
            1 => None,
            _ => Some(AlphaBetaSearch::new(depth - 1)?),
        };
        Ok(Worker { solver, search })
    }

    /// Values every move of a position, by a search if the solver does not finish in time.
    fn value(
        &mut self,
        position: &Position,
        seconds: Option<f64>,
        stopped: &AtomicBool,
    ) -> Result<Question, RegretError> {
        let solved = self.solve(position, seconds, stopped)?;
        let proven = solved.is_some();
        let moves = match solved {
            Some(moves) => moves,
            // Nobody wants it any more.
            None if stopped.load(Ordering::Relaxed) => Vec::new(),
            None => self.search(position)?,
        };
        Ok(Question {
            position: *position,
            moves,
            proven,
        })
    }

    fn solve(
        &mut self,
        position: &Position,
        seconds: Option<f64>,
        stopped: &AtomicBool,
    ) -> Result<Option<Vec<MoveWorth>>, RegretError> {
        let Some(solver) = &mut self.solver else {
            return Ok(None);
        };
        let limits = SolveLimits {
            seconds,
            ..SolveLimits::default()
        };
        let mut listen = |_: &_| {
            if stopped.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let analysis = solver.analyse(position, &limits, &mut listen)?;
        let lead = position.board().lead(position.to_move());
        let worth = |value: &crate::search::MoveValue| {
            (value.lower == value.upper).then_some(MoveWorth {
                column: value.column,
                margin: lead + value.lower,
            })
        };
        Ok(analysis.moves.iter().map(worth).collect())
    }

    fn search(&mut self, position: &Position) -> Result<Vec<MoveWorth>, RegretError> {
        let mover = position.to_move();
        let mut worths = Vec::new();
        for column in position.legal_moves() {
            let Ok(child) = position.play(column) else {
                continue;
            };
            let margin = match &mut self.search {
                Some(search) if !child.is_over() => -search.search(&child)?.value,
                // A draw by an endless sowing leaves the captured seeds as they were (S6).
                _ if child.outcome() == Some(Outcome::Draw) => 0,
                _ => child.board().lead(mover),
            };
            worths.push(MoveWorth {
                column: column as u8,
                margin,
            });
        }
        Ok(worths)
    }
}
