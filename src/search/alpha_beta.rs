//! Alpha-beta to a fixed depth, with the captured difference at its leaves.
//!
//! The move is defined without the algorithm: every line of `N` plies is valued by the captured
//! difference at its end, ends of the game are exact, each side maximises its own difference, and
//! among equal moves the lowest column is played. Ordering and pruning never change move or value.

use thiserror::Error;

use crate::board::Board;
use crate::position::{EndReason, Position, has_legal_move};
use crate::ruleset::{Endless, Ruleset};
use crate::side::Side;
use crate::sowing::{self, SowingEnd};

/// The deepest search that may be asked for, in plies.
pub const MAX_DEPTH: u32 = 64;

/// Larger than any captured difference (E2 allows 32,767 seeds).
const INFINITY: i32 = 1 << 20;

/// Why a search is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SearchError {
    /// No such depth.
    #[error("depth is {depth}, expected 1 to {MAX_DEPTH}")]
    DepthRange {
        /// The depth given.
        depth: u32,
    },
    /// There is nothing to search.
    #[error("the game is over ({reason}): there is no move to search", reason = reason.name())]
    Over {
        /// How it ended.
        reason: EndReason,
    },
}

/// What a search of fixed depth found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchResult {
    /// The best column, the lowest one among equals.
    pub column: usize,
    /// Seeds captured by the side to move less those captured by the other side at the end of the
    /// best line, what is captured already included. A draw by an endless sowing counts 0 whatever
    /// was captured (S6); after E1 the rest of the board is counted, after E3 it is nobody's.
    pub value: i32,
    /// Positions visited, the root excluded.
    pub nodes: u64,
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

/// A search of fixed depth that keeps its buffers from one position to the next.
#[derive(Clone, Debug)]
pub struct AlphaBetaSearch {
    depth: u32,
    children: Vec<Child>,
    /// The column that last refuted a position with so many plies left.
    refutations: [u8; MAX_DEPTH as usize + 1],
    nodes: u64,
}

/// An open position inside the tree; whether it is settled is found out when it is visited.
#[derive(Clone, Copy, Debug)]
struct Node {
    board: Board,
    to_move: Side,
    quiet: u16,
}

#[derive(Clone, Copy, Debug)]
struct Child {
    node: Node,
    column: u8,
    captured: u16,
}

/// What every node of one tree shares.
#[derive(Clone, Copy)]
struct Rules {
    ruleset: Ruleset,
    /// Seeds on the board and captured, constant in a game (E2).
    total: i32,
}

impl Rules {
    fn rest(&self, board: &Board) -> i32 {
        let [south, north] = board.captured();
        self.total - i32::from(south) - i32::from(north)
    }

    fn endless_is_draw(&self) -> bool {
        self.ruleset.endless() == Endless::Draw
    }
}

impl Default for AlphaBetaSearch {
    /// Prepares searches of one ply.
    fn default() -> AlphaBetaSearch {
        AlphaBetaSearch::of_depth(1)
    }
}

impl AlphaBetaSearch {
    fn of_depth(depth: u32) -> AlphaBetaSearch {
        AlphaBetaSearch {
            depth,
            children: Vec::new(),
            refutations: [0; MAX_DEPTH as usize + 1],
            nodes: 0,
        }
    }

    /// Prepares searches of `depth` plies.
    ///
    /// # Errors
    /// [`SearchError::DepthRange`] when the depth is not 1 to [`MAX_DEPTH`].
    pub fn new(depth: u32) -> Result<AlphaBetaSearch, SearchError> {
        if (1..=MAX_DEPTH).contains(&depth) {
            Ok(AlphaBetaSearch::of_depth(depth))
        } else {
            Err(SearchError::DepthRange { depth })
        }
    }

    /// Searches a position.
    ///
    /// # Errors
    /// [`SearchError::Over`] when the game is over.
    pub fn search(&mut self, position: &Position) -> Result<SearchResult, SearchError> {
        if let Some(reason) = position.end_reason() {
            return Err(SearchError::Over { reason });
        }
        self.nodes = 0;
        self.children.clear();
        self.refutations = [0; MAX_DEPTH as usize + 1];
        let rules = Rules {
            ruleset: *position.ruleset(),
            total: position.board().total() as i32,
        };
        let root = Node {
            board: *position.board(),
            to_move: position.to_move(),
            quiet: position.quiet(),
        };
        let drawing = self.push_children(&rules, &root);
        let mut order: Vec<(i32, usize)> = self
            .children
            .iter()
            .enumerate()
            .map(|(index, child)| (i32::from(child.captured), index))
            .collect();
        let mut best = (-INFINITY, 0);
        // Shallow searches of the same parity put the likely best move first.
        let full = self.depth;
        for depth in (1..=full).filter(|depth| (full - depth).is_multiple_of(2)) {
            order.sort_by_key(|&(value, index)| (-value, index));
            best = self.best_of(&rules, &mut order, drawing, depth);
        }
        Ok(SearchResult {
            column: best.1,
            value: best.0,
            nodes: self.nodes,
        })
    }

    /// Returns value and column of the best move at the root, and notes each move's bound.
    ///
    /// The window of a column lower than the best one so far lets an equal value through, so that
    /// ties go to the lowest column.
    fn best_of(
        &mut self,
        rules: &Rules,
        order: &mut [(i32, usize)],
        drawing: Option<usize>,
        depth: u32,
    ) -> (i32, usize) {
        let mut best = drawing.map_or((-INFINITY, usize::MAX), |column| (0, column));
        for (bound, index) in order {
            let child = self.children[*index];
            let column = usize::from(child.column);
            let alpha = best.0 - i32::from(column < best.1);
            let value = if best.0 == -INFINITY {
                -self.value(rules, &child.node, depth - 1, -INFINITY, INFINITY)
            } else {
                self.scout(rules, &child.node, depth, alpha, INFINITY)
            };
            *bound = value;
            if value > alpha {
                best = (value, column);
            }
        }
        best
    }

    /// Values a child with a null window first, and with the whole window only if it is better.
    fn scout(&mut self, rules: &Rules, node: &Node, depth: u32, alpha: i32, beta: i32) -> i32 {
        let value = -self.value(rules, node, depth - 1, -alpha - 1, -alpha);
        if alpha < value && value < beta {
            return -self.value(rules, node, depth - 1, -beta, -alpha);
        }
        value
    }

    /// Values a position from the view of its side to move, exactly if inside the window.
    fn value(&mut self, rules: &Rules, node: &Node, depth: u32, alpha: i32, beta: i32) -> i32 {
        self.nodes += 1;
        let lead = node.board.lead(node.to_move);
        // A stuck side only loses by E1: below alpha it need not be found out.
        if depth == 0 && lead <= alpha {
            return lead;
        }
        let rest = rules.rest(&node.board);
        if depth == 0 || node.quiet >= rules.ruleset.quiet_limit() {
            let open = has_legal_move(&node.board, &rules.ruleset, node.to_move);
            return if open { lead } else { lead - rest };
        }
        // No line can win more than all that lies on the board.
        let (mut low, mut high) = (lead - rest, lead + rest);
        if rules.endless_is_draw() {
            (low, high) = (low.min(0), high.max(0));
        }
        if high <= alpha {
            return high;
        }
        if low >= beta {
            return low;
        }
        if depth == 1 {
            self.frontier(rules, node, alpha, beta)
        } else {
            self.interior(rules, node, depth, alpha, beta)
        }
    }

    /// Values a position with one ply left: the best capture, and E1's rest where it is won.
    fn frontier(&mut self, rules: &Rules, node: &Node, alpha: i32, beta: i32) -> i32 {
        let lead = node.board.lead(node.to_move);
        let row = node.board.row(node.to_move);
        let first = usize::from(self.refutations[1]);
        let columns = std::iter::once(first).chain((0..row.len()).filter(|&c| c != first));
        let mut best = -INFINITY;
        for column in columns.filter(|&column| row[column] > 0) {
            let mut board = node.board;
            let sowing =
                sowing::sow_scratch(&mut board, &rules.ruleset, node.to_move, column, false);
            let value = if sowing.end != SowingEnd::Endless {
                let value = lead + i32::from(sowing.captured);
                let most = value + rules.rest(&board);
                // E1's rest is looked for only where it could change the result: below the window
                // the most that the move can be worth is a bound that holds.
                let stuck = || !has_legal_move(&board, &rules.ruleset, node.to_move.other());
                if value < beta && (most <= best.max(alpha) || stuck()) {
                    most
                } else {
                    value
                }
            } else if rules.endless_is_draw() {
                0
            } else {
                continue;
            };
            self.nodes += 1;
            best = best.max(value);
            if best >= beta {
                self.refutations[1] = column as u8;
                return best;
            }
        }
        if best == -INFINITY {
            return lead - rules.rest(&node.board);
        }
        best
    }

    /// Values a position with two plies or more left.
    fn interior(
        &mut self,
        rules: &Rules,
        node: &Node,
        depth: u32,
        mut alpha: i32,
        beta: i32,
    ) -> i32 {
        let base = self.children.len();
        let drawing = self.push_children(rules, node);
        let mut best = if drawing.is_some() { 0 } else { -INFINITY };
        let refutation = self.refutations[depth as usize];
        let mut keys = [0_u32; crate::pit::MAX_COLUMNS];
        let count = self.children.len() - base;
        for (index, (key, child)) in keys.iter_mut().zip(&self.children[base..]).enumerate() {
            let first = u32::from(child.column == refutation);
            *key = (first << 31) | (u32::from(child.captured) << 8) | (63 - index as u32);
        }
        keys[..count].sort_unstable_by(|a, b| b.cmp(a));
        for key in &keys[..count] {
            if best >= beta {
                break;
            }
            alpha = alpha.max(best);
            let child = self.children[base + 63 - (key & 63) as usize];
            let value = if best == -INFINITY {
                -self.value(rules, &child.node, depth - 1, -beta, -alpha)
            } else {
                self.scout(rules, &child.node, depth, alpha, beta)
            };
            if value > best {
                best = value;
                if best >= beta {
                    self.refutations[depth as usize] = child.column;
                }
            }
        }
        self.children.truncate(base);
        if best == -INFINITY {
            return node.board.lead(node.to_move) - rules.rest(&node.board);
        }
        best
    }

    /// Adds the children of a position in ascending order of columns.
    ///
    /// Endless sowings make no child; where they draw, the lowest such column is returned (S6).
    fn push_children(&mut self, rules: &Rules, node: &Node) -> Option<usize> {
        let mut drawing = None;
        for (column, &seeds) in node.board.row(node.to_move).iter().enumerate() {
            if seeds == 0 {
                continue;
            }
            let mut board = node.board;
            let sowing =
                sowing::sow_scratch(&mut board, &rules.ruleset, node.to_move, column, false);
            if sowing.end == SowingEnd::Endless {
                if rules.endless_is_draw() {
                    drawing = drawing.or(Some(column));
                }
                continue;
            }
            self.children.push(Child {
                node: Node {
                    board,
                    to_move: node.to_move.other(),
                    quiet: if sowing.captured > 0 {
                        0
                    } else {
                        node.quiet + 1
                    },
                },
                column: column as u8,
                captured: sowing.captured,
            });
        }
        drawing
    }
}
