//! Values, best moves and their bounds.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crate::position::Position;
use crate::ruleset::{Endless, Ruleset};
use crate::search::endgame::{EndgameTable, TableError, TableProgress};
use crate::search::solver::field::{Field, Fields, Node};
use crate::search::solver::file::{self, Header};
use crate::search::solver::guess::guess;
use crate::search::solver::memory::{Entry, Memory};
use crate::search::solver::prove::Proof;
use crate::search::solver::solution::{
    Analysis, MoveValue, Solution, SolveError, SolveLimits, SolveProgress, SolverOptions,
    WatchSolve,
};
use crate::search::solver::windows::Windows;
use crate::search::solver::worker::Control;

/// The most threads that may be asked for.
const MAX_THREADS: usize = 1024;

/// The least memory that may be asked for.
const MIN_MEMORY: u64 = 1 << 16;

/// The memory that a solver starts with, if it may have more.
const FIRST_MEMORY: u64 = 16 << 20;

/// What a solver builds by itself: once so many nodes have been visited, a table of at most so many
/// positions.
const STAGES: [(u64, u64); 3] = [
    (0, 3_000_000),
    (20_000_000, 41_000_000),
    (60_000_000, 160_000_000),
];

/// Proves values of positions of one rule set, and keeps what it learned for the next.
///
/// The value of a position is what the side to move still takes less what the other side still
/// takes with perfect play, E1's rest included; endless play without captures is worth nothing
/// more to either side, so that `quiet_limit` (E3) plays no part.
///
/// ```
/// use endodoi::search::{SolveLimits, Solver, SolverOptions};
/// use endodoi::{Position, Ruleset, RulesetFields, Variant};
///
/// let fields = RulesetFields { columns: Some(4), ..RulesetFields::default() };
/// let ruleset = Ruleset::new(Variant::EnDodoi, &fields)?;
/// let mut solver = Solver::new(&ruleset, &SolverOptions::default())?;
/// let mut quietly = |_: &_| std::ops::ControlFlow::Continue(());
/// let start = Position::start(&ruleset);
/// let solution = solver.solve(&start, &SolveLimits::default(), &mut quietly)?;
/// assert_eq!(solution.value(), Some(8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Solver {
    ruleset: Ruleset,
    most_memory: u64,
    threads: usize,
    memory: Memory,
    table: Option<Arc<EndgameTable>>,
    /// Whether the table was built here and may give way to a larger one.
    own_table: bool,
    field: Option<Fields>,
}

/// The state of one call.
struct Call<'a> {
    /// Positions visited.
    nodes: u64,
    /// Positions visited at which the proof that goes on is given up.
    limit: u64,
    /// Positions visited at which the call stops.
    most_nodes: u64,
    depth: u32,
    started: Instant,
    deadline: Option<Instant>,
    stopped: bool,
    lower: i32,
    upper: i32,
    watch: &'a mut WatchSolve<'a>,
}

impl Call<'_> {
    /// Notes how far the threads of a proof are.
    fn look_at(&mut self, control: &Control) {
        self.nodes = control.nodes.load(Ordering::Relaxed);
        self.depth = control.depth.load(Ordering::Relaxed) as u32;
    }

    /// Tells the caller how far it is, and notes if it is to stop.
    fn tell(&mut self, threshold: i32, table_seeds: u32, building: Option<TableProgress>) -> bool {
        let progress = SolveProgress {
            lower: self.lower,
            upper: self.upper,
            threshold,
            depth: self.depth,
            nodes: self.nodes,
            seconds: self.started.elapsed().as_secs_f64(),
            table_seeds,
            building,
        };
        let late = self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline);
        if late || (self.watch)(&progress).is_break() {
            self.stopped = true;
        }
        !self.stopped
    }
}

impl Solver {
    /// Prepares a solver.
    ///
    /// # Errors
    /// [`SolveError::EndlessDraw`], [`SolveError::OutOfRange`] for memory or threads,
    /// [`SolveError::Memory`].
    pub fn new(ruleset: &Ruleset, options: &SolverOptions) -> Result<Solver, SolveError> {
        if ruleset.endless() == Endless::Draw {
            return Err(SolveError::EndlessDraw);
        }
        let most_memory = options.memory;
        if most_memory < MIN_MEMORY || usize::try_from(most_memory).is_err() {
            return Err(SolveError::OutOfRange {
                field: "memory",
                value: most_memory as f64,
                low: MIN_MEMORY as f64,
                high: usize::MAX as f64,
            });
        }
        let threads = match options.num_threads {
            Some(threads) if (1..=MAX_THREADS).contains(&threads) => threads,
            Some(threads) => {
                return Err(SolveError::OutOfRange {
                    field: "num_threads",
                    value: threads as f64,
                    low: 1.0,
                    high: MAX_THREADS as f64,
                });
            }
            None => thread::available_parallelism().map_or(1, usize::from),
        };
        let bytes = most_memory.min(FIRST_MEMORY);
        Ok(Solver {
            ruleset: *ruleset,
            most_memory,
            threads,
            memory: Memory::new(bytes).ok_or(SolveError::Memory { bytes })?,
            table: None,
            own_table: true,
            field: None,
        })
    }

    /// Returns the rules.
    pub const fn ruleset(&self) -> &Ruleset {
        &self.ruleset
    }

    /// Returns the table in use.
    pub const fn table(&self) -> Option<&Arc<EndgameTable>> {
        self.table.as_ref()
    }

    /// Uses a table in place of those that the solver builds by itself.
    ///
    /// # Errors
    /// [`SolveError::Ruleset`] for a table of other rules.
    pub fn use_table(&mut self, table: Arc<EndgameTable>) -> Result<(), SolveError> {
        if !table.is_for(&self.ruleset) {
            return Err(self.foreign(table.ruleset()));
        }
        self.table = Some(table);
        self.own_table = false;
        Ok(())
    }

    /// Writes what was proven and guessed to a file, so that [`Solver::load`] can go on from it.
    ///
    /// # Errors
    /// [`SolveError::Io`]; the file that was there is kept then.
    pub fn save(&self, path: &Path) -> Result<(), SolveError> {
        let dear = || {
            let entries = self.memory.entries();
            entries.filter(|&[_, known]| Entry::is_dear(known))
        };
        let header = Header {
            ruleset: self.ruleset,
            seeds: self.field.as_ref().map_or(0, Fields::seeds),
            entries: dear().count() as u64,
        };
        file::save(path, &header, dear())
    }

    /// Takes what [`Solver::save`] wrote in place of what the solver knows.
    ///
    /// # Errors
    /// [`SolveError::Io`], [`SolveError::File`] for a file that is damaged or another,
    /// [`SolveError::Ruleset`] for one of other rules, [`SolveError::Memory`]; the solver is
    /// unchanged then.
    pub fn load(&mut self, path: &Path) -> Result<(), SolveError> {
        let begin = |header: &Header| {
            if header.ruleset != self.ruleset {
                return Err(self.foreign(&header.ruleset));
            }
            let wanted = header.entries.saturating_mul(32).max(FIRST_MEMORY);
            let bytes = wanted.min(self.most_memory);
            let memory = Memory::new(bytes).ok_or(SolveError::Memory { bytes })?;
            Ok((memory, Fields::new(&self.ruleset, header.seeds)))
        };
        let each = |(memory, field): &(Memory, Fields), entry: [u64; 2]| {
            memory.take(field.place(entry[0]), entry);
        };
        let (memory, field) = file::load(path, begin, each)?;
        self.memory = memory;
        self.field = Some(field);
        Ok(())
    }

    /// Proves the value of a position and finds all its best moves.
    ///
    /// # Errors
    /// [`SolveError::Ruleset`] for a position of other rules, [`SolveError::TooLarge`],
    /// [`SolveError::Memory`], [`SolveError::OutOfRange`] for seconds below 0.
    pub fn solve(
        &mut self,
        position: &Position,
        limits: &SolveLimits,
        watch: &mut WatchSolve<'_>,
    ) -> Result<Solution, SolveError> {
        let mut call = self.begin(position, limits, watch)?;
        if position.is_over() {
            return Ok(self.solution(&call, (0, 0), Vec::new(), true));
        }
        match self.field(position) {
            Fields::Packed(field) => self.solve_on(&*field, position, &mut call),
            Fields::Wide(field) => self.solve_on(&*field, position, &mut call),
        }
    }

    fn solve_on<F: Field>(
        &mut self,
        field: &F,
        position: &Position,
        call: &mut Call<'_>,
    ) -> Result<Solution, SolveError> {
        let root = field.node(position).ok_or_else(|| too_large(position))?;
        let (lower, upper) = self.bounds(field, (&root, position), None, call)?;
        let mut best_moves = Vec::new();
        for (column, kid, captured) in kids(field, &root) {
            if lower < upper {
                let known = self.memory.probe(kid.key);
                let reaches = known.is_some_and(|entry| captured - entry.upper >= lower);
                if reaches && lower > -root.seeds {
                    best_moves.push(column);
                }
                continue;
            }
            let threshold = captured - lower + 1;
            match self.prove(field, &kid, threshold, call)? {
                Some(bound) if bound < threshold => best_moves.push(column),
                Some(_) => {}
                None => break,
            }
        }
        let complete = lower == upper && !call.stopped;
        Ok(self.solution(call, (lower, upper), best_moves, complete))
    }

    /// Proves the value of every legal move of a position.
    ///
    /// # Errors
    /// As [`Solver::solve`].
    pub fn analyse(
        &mut self,
        position: &Position,
        limits: &SolveLimits,
        watch: &mut WatchSolve<'_>,
    ) -> Result<Analysis, SolveError> {
        let mut call = self.begin(position, limits, watch)?;
        let moves = if position.is_over() {
            Vec::new()
        } else {
            match self.field(position) {
                Fields::Packed(field) => self.analyse_on(&*field, position, &mut call)?,
                Fields::Wide(field) => self.analyse_on(&*field, position, &mut call)?,
            }
        };
        Ok(Analysis {
            moves,
            nodes: call.nodes,
            seconds: call.started.elapsed().as_secs_f64(),
            table_seeds: self.table_seeds(),
        })
    }

    fn analyse_on<F: Field>(
        &mut self,
        field: &F,
        position: &Position,
        call: &mut Call<'_>,
    ) -> Result<Vec<MoveValue>, SolveError> {
        let root = field.node(position).ok_or_else(|| too_large(position))?;
        let mut last = None;
        let mut moves = Vec::new();
        for (column, kid, captured) in kids(field, &root) {
            let first = last.map(|last: i32| captured - last);
            let (next, _) = position.play_legal(usize::from(column));
            let (lower, upper) = self.bounds(field, (&kid, &next), first, call)?;
            last = Some(captured - lower);
            moves.push(MoveValue {
                column,
                lower: captured - upper,
                upper: captured - lower,
            });
        }
        Ok(moves)
    }

    /// Returns the boards that hold a position.
    fn field(&mut self, position: &Position) -> Fields {
        let seeds = position.board().seeds_on_board();
        let field = match self.field.take() {
            Some(field) if field.seeds() >= seeds => field,
            // Places and tags of larger boards may be others.
            _ => {
                let field = Fields::new(&self.ruleset, seeds);
                self.memory.clear();
                field
            }
        };
        self.field = Some(field.clone());
        field
    }

    fn foreign(&self, found: &Ruleset) -> SolveError {
        SolveError::Ruleset {
            found: format!("{found:?}"),
            expected: format!("{:?}", self.ruleset),
        }
    }

    fn table_seeds(&self) -> u32 {
        self.table.as_ref().map_or(0, |table| table.max_seeds())
    }

    fn begin<'a>(
        &mut self,
        position: &Position,
        limits: &SolveLimits,
        watch: &'a mut WatchSolve<'a>,
    ) -> Result<Call<'a>, SolveError> {
        if position.ruleset() != &self.ruleset {
            return Err(self.foreign(position.ruleset()));
        }
        let started = Instant::now();
        let deadline = match limits.seconds {
            None => None,
            Some(seconds) => {
                let wait = Duration::try_from_secs_f64(seconds).ok();
                let end = wait.and_then(|wait| started.checked_add(wait));
                Some(end.ok_or(SolveError::OutOfRange {
                    field: "seconds",
                    value: seconds,
                    low: 0.0,
                    high: 1e9,
                })?)
            }
        };
        Ok(Call {
            nodes: 0,
            limit: u64::MAX,
            most_nodes: limits.nodes.unwrap_or(u64::MAX),
            depth: 0,
            started,
            deadline,
            stopped: false,
            lower: 0,
            upper: 0,
            watch,
        })
    }

    /// Narrows the bounds of a node until they meet or the call is stopped, beginning next to
    /// `first`.
    fn bounds<F: Field>(
        &mut self,
        field: &F,
        (node, position): (&Node<F::Board>, &Position),
        first: Option<i32>,
        call: &mut Call<'_>,
    ) -> Result<(i32, i32), SolveError> {
        let known = self.memory.probe(node.key);
        let known = known.map_or((-node.seeds, node.seeds), |entry| {
            (entry.lower, entry.upper)
        });
        let mut windows = Windows::new(known, first.unwrap_or(1));
        while !call.stopped
            && let Some(window) = windows.ask()
        {
            (call.lower, call.upper) = windows.bounds();
            let before = call.nodes;
            call.limit = before.saturating_add(window.nodes);
            let bound = self.prove(field, node, window.threshold, call)?;
            call.limit = u64::MAX;
            if bound.is_none() && call.stopped {
                break;
            }
            windows.learn(window, bound, call.nodes - before);
            if windows.wants_guess() && !call.stopped {
                let likely = guess(position);
                call.nodes += likely.map_or(0, |likely| likely.nodes);
                windows.guess(likely.map(|likely| likely.value));
            }
        }
        let (lower, upper) = windows.bounds();
        let known = self.memory.probe(node.key);
        self.memory.store(
            node.key,
            Entry {
                lower,
                upper,
                ..known.unwrap_or(Entry::open(node.seeds))
            },
        );
        Ok((lower, upper))
    }

    /// Proves a bound on one side of the threshold; `None` if the call is stopped.
    fn prove<F: Field>(
        &mut self,
        field: &F,
        node: &Node<F::Board>,
        threshold: i32,
        call: &mut Call<'_>,
    ) -> Result<Option<i32>, SolveError> {
        if threshold > node.seeds {
            return Ok(Some(node.seeds));
        }
        if threshold <= -node.seeds {
            return Ok(Some(-node.seeds));
        }
        let reached = |stage: &&(u64, u64)| stage.0 <= call.nodes;
        let first = STAGES.iter().take_while(reached).count().saturating_sub(1);
        for stage in first..STAGES.len() {
            if !self.prepare(field, (stage, node.seeds, threshold), call)? {
                return Ok(None);
            }
            if let (Some(table), true) = (&self.table, node.seeds <= self.table_seeds() as i32) {
                return Ok(Some(field.table_value(table, &node.board)));
            }
            let proof = Proof {
                field,
                table: self.table.as_deref(),
                memory: &self.memory,
                threads: self.threads,
            };
            let end = STAGES.get(stage + 1).map_or(u64::MAX, |next| next.0);
            let seeds = self.table_seeds();
            let control = Control::new(call.nodes, call.limit.min(call.most_nodes).min(end));
            let bound = proof.run(node, threshold, &control, &mut || {
                call.look_at(&control);
                call.tell(threshold, seeds, None)
            });
            call.look_at(&control);
            call.stopped |= bound.is_none() && call.nodes >= call.most_nodes;
            if bound.is_some() || call.stopped || call.nodes >= call.limit {
                return Ok(bound);
            }
        }
        Ok(None)
    }

    /// Makes ready for a stage: the larger memory, the larger table; `false` if stopped meanwhile.
    fn prepare<F: Field>(
        &mut self,
        field: &F,
        (stage, seeds, threshold): (usize, i32, i32),
        call: &mut Call<'_>,
    ) -> Result<bool, SolveError> {
        if stage > 0 && self.memory.bytes() < self.most_memory / 2 {
            let bytes = self.most_memory;
            let larger = Memory::new(bytes).ok_or(SolveError::Memory { bytes })?;
            for entry in self.memory.entries() {
                larger.take(field.place(entry[0]), entry);
            }
            self.memory = larger;
        }
        if !self.own_table {
            return Ok(true);
        }
        let positions = STAGES[stage].1;
        let most = seeds.saturating_sub(1).max(0) as u32;
        let wanted = seeds_within(self.ruleset.pits() as u64, positions).min(most);
        if self
            .table
            .as_ref()
            .is_some_and(|table| table.max_seeds() >= wanted)
        {
            return Ok(true);
        }
        let held = self.table_seeds();
        let built =
            EndgameTable::build(&self.ruleset, wanted, Some(self.threads), &mut |progress| {
                if call.tell(threshold, held, Some(progress)) {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            });
        match built {
            Ok(table) => {
                self.table = Some(Arc::new(table));
                Ok(true)
            }
            Err(TableError::Stopped { .. }) => Ok(false),
            // A larger table only helps; what there is goes on.
            Err(TableError::Memory { .. }) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    fn solution(
        &self,
        call: &Call<'_>,
        (lower, upper): (i32, i32),
        best_moves: Vec<u8>,
        complete: bool,
    ) -> Solution {
        Solution {
            lower,
            upper,
            best_moves,
            complete,
            nodes: call.nodes,
            seconds: call.started.elapsed().as_secs_f64(),
            table_seeds: self.table_seeds(),
        }
    }
}

/// Lists the legal moves of a node: column, where it leads, what it captures.
fn kids<F: Field>(field: &F, node: &Node<F::Board>) -> Vec<(u8, Node<F::Board>, i32)> {
    let candidates = field.candidates(&node.board);
    (0..64_u8)
        .filter(|column| candidates >> column & 1 == 1)
        .filter_map(|column| {
            let (board, captured) = field.sow(&node.board, usize::from(column))?;
            let kid = Node {
                key: field.key(&board),
                board,
                seeds: node.seeds - captured,
            };
            Some((column, kid, captured))
        })
        .collect()
}

fn too_large(position: &Position) -> SolveError {
    SolveError::TooLarge {
        columns: position.board().columns(),
        seeds: position.board().seeds_on_board(),
    }
}

/// Returns the most seeds whose boards of `pits` are at most so many, up to 127.
fn seeds_within(pits: u64, positions: u64) -> u32 {
    let mut boards: u128 = 1;
    for seeds in 1..=127_u32 {
        boards = boards * (u128::from(pits) + u128::from(seeds)) / u128::from(seeds);
        if boards > u128::from(positions) {
            return seeds - 1;
        }
    }
    127
}
