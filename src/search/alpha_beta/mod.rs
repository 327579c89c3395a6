//! Alpha-beta with a transposition table.
//!
//! The move of a search of fixed depth is defined without the algorithm: every line of `N` plies
//! is valued by the captured difference at its end, ends of the game are exact, each side
//! maximises its own difference, and among equal moves the lowest column is played. Ordering,
//! pruning, the table and threads never change move or value.
//!
//! Limits by positions or by time search one ply, then two and so on, and give the move of the
//! deepest iteration that was finished.

mod boards;
mod config;
mod leaf;
mod root;
mod stop;
mod tree;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

pub use config::{
    AlphaBetaConfig, MAX_DEPTH, MAX_TABLE_BYTES, MAX_THREADS, MAX_TIME, SearchError, SearchLimit,
};
pub use leaf::{LeafEvaluator, SeedCount};

use crate::pit::MAX_PITS;
use crate::position::Position;
use crate::ruleset::Ruleset;
use crate::search::table::Table;
use boards::{Boards, PackedBoards, WideBoards};
use root::{Best, Root};
use stop::{Stop, Stopped};
use tree::{Node, Tree};

/// Positions that may be visited to find a line again, beside an eighth of those of the search.
const LINE_NODES: u64 = 4096;

/// Pits of the middle size of boards.
const MIDDLE_PITS: usize = 32;

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchResult {
    /// The best column, the lowest one among equals.
    pub column: usize,
    /// Seeds captured by the side to move less those captured by the other side at the end of the
    /// best line, what is captured already included; in the units of the leaf evaluator, which
    /// are seeds for [`SeedCount`]. A draw by an endless sowing counts 0 whatever was captured
    /// (S6); after E1 the rest of the board is counted, after E3 it is nobody's.
    pub value: i32,
    /// The plies searched.
    pub depth: u32,
    /// Positions visited, the root excluded, those of all threads and iterations together.
    pub nodes: u64,
    /// Columns of a line of best play, the best column first. It ends after `depth` plies or with
    /// the game, or earlier where finding the rest would take long.
    pub principal_variation: Vec<u8>,
}

/// Searches `depth` plies ahead and returns the best move with its value.
///
/// # Errors
/// [`SearchError`] when the depth is not 1 to [`MAX_DEPTH`] or the game is over.
///
/// ```
/// use endodoi::{search, Position, Variant};
/// let start = Position::start(&Variant::CrossEndodoi.ruleset());
/// let best = search::alpha_beta(&start, 1)?;
/// // Column 3 captures five seeds, more than any other opening move.
/// assert_eq!((best.column, best.value), (3, 5));
/// # Ok::<(), search::SearchError>(())
/// ```
pub fn alpha_beta(position: &Position, depth: u32) -> Result<SearchResult, SearchError> {
    AlphaBetaSearch::new(depth)?.search(position)
}

/// A search that keeps its table and its buffers from one position to the next, but nothing that
/// could change what it finds.
#[derive(Debug)]
pub struct AlphaBetaSearch<E = SeedCount> {
    config: AlphaBetaConfig,
    leaves: E,
    table: Table,
    /// The rules of the last position with a small board.
    packed: Option<(Ruleset, PackedBoards)>,
    interrupt: Arc<AtomicBool>,
}

impl Default for AlphaBetaSearch {
    /// Prepares searches of one ply.
    fn default() -> AlphaBetaSearch {
        AlphaBetaSearch::of_config(AlphaBetaConfig::of_depth(1), SeedCount)
    }
}

impl AlphaBetaSearch {
    /// Prepares searches of `depth` plies.
    ///
    /// # Errors
    /// [`SearchError::DepthRange`] when the depth is not 1 to [`MAX_DEPTH`].
    pub fn new(depth: u32) -> Result<AlphaBetaSearch, SearchError> {
        AlphaBetaSearch::with(AlphaBetaConfig::of_depth(depth))
    }

    /// Prepares searches with the captured difference at their leaves.
    ///
    /// # Errors
    /// [`SearchError`] names the first setting out of its range.
    ///
    /// ```
    /// use endodoi::search::{AlphaBetaConfig, AlphaBetaSearch, SearchLimit};
    /// use endodoi::{Position, Variant};
    ///
    /// let start = Position::start(&Variant::EnDodoi.ruleset());
    /// let config = AlphaBetaConfig::new(SearchLimit::Nodes(10_000));
    /// let found = AlphaBetaSearch::with(config)?.search(&start)?;
    /// assert!(found.nodes < 20_000 && found.depth >= 4);
    /// assert_eq!(usize::from(found.principal_variation[0]), found.column);
    /// # Ok::<(), endodoi::search::SearchError>(())
    /// ```
    pub fn with(config: AlphaBetaConfig) -> Result<AlphaBetaSearch, SearchError> {
        AlphaBetaSearch::with_evaluator(config, SeedCount)
    }
}

impl<E: LeafEvaluator> AlphaBetaSearch<E> {
    /// Prepares searches with an evaluator at their leaves.
    ///
    /// # Errors
    /// [`SearchError`] names the first setting out of its range.
    pub fn with_evaluator(
        config: AlphaBetaConfig,
        leaves: E,
    ) -> Result<AlphaBetaSearch<E>, SearchError> {
        config.check()?;
        if !(1..=256).contains(&E::UNITS) {
            return Err(SearchError::UnitsRange { units: E::UNITS });
        }
        Ok(AlphaBetaSearch::of_config(config, leaves))
    }

    fn of_config(config: AlphaBetaConfig, leaves: E) -> AlphaBetaSearch<E> {
        AlphaBetaSearch {
            config,
            leaves,
            table: Table::new(config.table_size() as usize),
            packed: None,
            interrupt: Arc::default(),
        }
    }

    /// Returns the settings.
    pub const fn config(&self) -> &AlphaBetaConfig {
        &self.config
    }

    /// Watches `flag` from now on: a search ends with [`SearchError::Interrupted`] soon after it
    /// is set.
    pub fn set_interrupt(&mut self, flag: Arc<AtomicBool>) {
        self.interrupt = flag;
    }

    /// Searches a position.
    ///
    /// # Errors
    /// [`SearchError::Over`] when the game is over, [`SearchError::Interrupted`] when the
    /// interrupt flag is set.
    pub fn search(&mut self, position: &Position) -> Result<SearchResult, SearchError> {
        self.run(position, true)
    }

    /// Searches a position for its best column alone, without the line.
    pub(crate) fn choose(&mut self, position: &Position) -> Result<usize, SearchError> {
        let legal = position.legal_moves();
        match legal.nth(0) {
            Some(only) if legal.len() == 1 => Ok(only),
            _ => Ok(self.run(position, false)?.column),
        }
    }

    /// Searches a position as [`AlphaBetaSearch::search`] does, without the line.
    ///
    /// # Errors
    /// As [`AlphaBetaSearch::search`].
    #[cfg_attr(not(feature = "train"), allow(dead_code))]
    pub(crate) fn value(&mut self, position: &Position) -> Result<SearchResult, SearchError> {
        self.run(position, false)
    }

    fn run(&mut self, position: &Position, line: bool) -> Result<SearchResult, SearchError> {
        if let Some(reason) = position.end_reason() {
            return Err(SearchError::Over { reason });
        }
        let ruleset = position.ruleset();
        self.table.clear();
        if self.packed.as_ref().is_none_or(|(of, _)| of != ruleset) {
            self.packed = PackedBoards::new(ruleset).map(|boards| (*ruleset, boards));
        }
        if let Some((_, boards)) = &self.packed
            && PackedBoards::fit(position.board())
        {
            self.run_on(boards, position, line)
        } else if ruleset.pits() <= MIDDLE_PITS {
            self.run_on(&WideBoards::<MIDDLE_PITS>::new(ruleset), position, line)
        } else {
            self.run_on(&WideBoards::<MAX_PITS>::new(ruleset), position, line)
        }
    }

    fn run_on<B: Boards>(
        &self,
        boards: &B,
        position: &Position,
        line: bool,
    ) -> Result<SearchResult, SearchError> {
        let finished = AtomicBool::new(false);
        let walk = || {
            let stop = Stop::new(&self.interrupt, &finished);
            let leaves = self.leaves.clone();
            Tree::new(boards, position.ruleset(), &self.table, leaves, stop)
        };
        let limit = self.config.limit;
        let mut tree = walk();
        let root = Root::new(&tree, Node::of(boards, position));
        let others: Vec<_> = (1..self.config.threads)
            .map(|number| (walk(), root.rotated(number as usize)))
            .collect();
        let mut root = root;
        let (best, helped) = thread::scope(|scope| {
            let helpers: Vec<_> = others
                .into_iter()
                .filter_map(|(mut tree, mut root)| {
                    let help = move || {
                        let _ = deepen(limit, &mut tree, &mut root);
                        tree.nodes
                    };
                    thread::Builder::new().spawn_scoped(scope, help).ok()
                })
                .collect();
            let best = deepen(limit, &mut tree, &mut root);
            finished.store(true, Ordering::Relaxed);
            let helped = helpers.into_iter().map(|helper| helper.join().unwrap_or(0));
            (best, helped.sum::<u64>())
        });
        let best = best.map_err(|_| SearchError::Interrupted)?;
        let nodes = tree.nodes + helped;
        let mut principal_variation = Vec::new();
        if line {
            finished.store(false, Ordering::Relaxed);
            tree.stop.limit(nodes + nodes / 8 + LINE_NODES, None);
            principal_variation = root.line(&mut tree, best);
        }
        Ok(SearchResult {
            column: best.column.into(),
            value: position.board().lead(position.to_move()) * E::UNITS + best.value,
            depth: best.depth,
            nodes,
            principal_variation,
        })
    }
}

/// Searches deeper and deeper until the limit is reached.
fn deepen<B: Boards, E: LeafEvaluator>(
    limit: SearchLimit,
    tree: &mut Tree<'_, B, E>,
    root: &mut Root<B::Board>,
) -> Result<Best, Stopped> {
    let began = Instant::now();
    let (most_nodes, deadline) = match limit {
        SearchLimit::Depth(depth) => {
            // Shallow searches of the same parity put the likely best moves first.
            let mut best = root.search(tree, 2 - depth % 2)?;
            for depth in (1..=depth)
                .filter(|d| (depth - d).is_multiple_of(2))
                .skip(1)
            {
                best = root.search(tree, depth)?;
            }
            return Ok(best);
        }
        SearchLimit::Nodes(nodes) => (nodes, None),
        SearchLimit::Time(time) => (u64::MAX, began.checked_add(time)),
    };
    let mut best = root.search(tree, 1)?;
    tree.stop.limit(most_nodes, deadline);
    for depth in 2..=MAX_DEPTH {
        match root.search(tree, depth) {
            Ok(deeper) => best = deeper,
            Err(Stopped::Spent) => break,
            Err(Stopped::Interrupted) => return Err(Stopped::Interrupted),
        }
    }
    Ok(best)
}
