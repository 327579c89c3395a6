//! The tree of one game: positions, moves, what visits and proofs say of them.

use super::bounds::Bounds;
use super::select::{best_move, next_move};
use crate::board::Board;
use crate::pit::PitSet;
use crate::position::Position;
use crate::side::Side;
use crate::sowing;

/// No such node or edge yet.
const NONE: u32 = u32::MAX;

/// A legal move of a node; values and bounds are for the side that makes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// The sum of the values of all visits.
    pub(super) sum: f64,
    pub(super) visits: u32,
    /// The share of the visits that the move is given before anything is known of it.
    pub(super) prior: f32,
    child: u32,
    pub(super) bounds: Bounds,
    pub(super) column: u8,
}

impl Edge {
    /// Returns the mean value of the visits, as far as it is not proven otherwise.
    pub(super) fn value(&self) -> Option<f64> {
        let mean = self.sum / f64::from(self.visits);
        if self.bounds.is_exact() {
            Some(self.bounds.low.into())
        } else {
            (self.visits > 0).then(|| self.bounds.clamp(mean))
        }
    }
}

/// An open, undecided position; its pits are kept apart.
#[derive(Clone, Copy, Debug)]
struct Node {
    legal: PitSet,
    /// The edge of the lowest legal column; [`NONE`] until the node is left for the first time.
    first: u32,
    /// The sum of the values of all visits, its own first one included, for its side to move.
    sum: f64,
    /// The visits of its moves.
    visits: u32,
    captured: [u16; 2],
    quiet: u16,
    to_move: Side,
    bounds: Bounds,
}

impl Node {
    fn edges(&self) -> std::ops::Range<usize> {
        match self.first {
            NONE => 0..0,
            first => first as usize..first as usize + self.legal.len(),
        }
    }
}

/// The positions reached from one root and the statistics of their moves.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    root: Position,
    nodes: Vec<Node>,
    /// The pits of every node, `u16[nodes, N]`.
    pits: Vec<u16>,
    edges: Vec<Edge>,
    /// Nodes and edges walked from the root by the simulation in progress.
    path: Vec<(u32, u32)>,
}

impl Tree {
    /// Starts a tree that holds its root alone.
    pub(super) fn new(root: &Position) -> Tree {
        let mut tree = Tree {
            root: *root,
            nodes: Vec::new(),
            pits: Vec::new(),
            edges: Vec::new(),
            path: Vec::new(),
        };
        tree.start(root);
        tree
    }

    /// Forgets everything and starts again at another root.
    pub(super) fn start(&mut self, root: &Position) {
        self.root = *root;
        self.nodes.clear();
        self.pits.clear();
        self.edges.clear();
        self.path.clear();
        self.push_node(root, 0.0);
    }

    pub(super) const fn root(&self) -> &Position {
        &self.root
    }

    pub(super) fn root_bounds(&self) -> Bounds {
        self.nodes.first().map_or(Bounds::OPEN, |root| root.bounds)
    }

    /// Returns the moves of the root in ascending columns, none before the first visit.
    pub(super) fn root_edges(&self) -> &[Edge] {
        let root = self.nodes.first();
        root.map_or(&[], |root| &self.edges[root.edges()])
    }

    /// Returns the rank of the move to play at the root, `None` before the first visit.
    pub(super) fn best(&self) -> Option<usize> {
        best_move(self.root_edges(), self.root_bounds())
    }

    /// Tells whether the root's moves have their priors.
    pub(super) fn is_open(&self) -> bool {
        !self.root_edges().is_empty()
    }

    /// Returns the columns that both sides play if each makes its best move, as far as the tree
    /// knows.
    pub(super) fn principal_variation(&self) -> Vec<u8> {
        let mut columns = Vec::new();
        let mut next = 0;
        while let Some(node) = self.nodes.get(next) {
            let edges = &self.edges[node.edges()];
            let best = best_move(edges, node.bounds).map(|rank| edges[rank]);
            let Some(edge) = best.filter(|edge| edge.visits > 0) else {
                break;
            };
            columns.push(edge.column);
            next = edge.child as usize;
        }
        columns
    }

    /// Bounds the outcome of `position`, for its side to move, by its end or by its captures.
    fn bounds_of(&self, position: &Position) -> Bounds {
        let side = position.to_move();
        match position.outcome() {
            Some(outcome) => Bounds::of_outcome(outcome, side),
            None => Bounds::of_captured(
                position.board(),
                side,
                self.root.board().total(),
                self.root.ruleset().endless(),
            ),
        }
    }

    fn push_node(&mut self, position: &Position, value: f64) -> u32 {
        let board = position.board();
        self.nodes.push(Node {
            legal: position.legal_moves(),
            first: NONE,
            sum: value,
            visits: 0,
            captured: board.captured(),
            quiet: position.quiet(),
            to_move: position.to_move(),
            bounds: self.bounds_of(position),
        });
        self.pits.extend_from_slice(board.pits());
        self.nodes.len() as u32 - 1
    }

    /// Gives the moves of a node their priors: the softmax of `logits`, `f32[C]`, over its legal
    /// columns; without logits one share for each move and one for each seed it captures.
    fn open(&mut self, node: u32, logits: Option<&[f32]>) {
        let Node { legal, bounds, .. } = self.nodes[node as usize];
        let position = self.position(node);
        let logit = |column: usize| logits.map_or(0.0, |logits| logits[column]);
        let top = legal.iter().map(logit).fold(f32::NEG_INFINITY, f32::max);
        let weight = |column: usize| match logits {
            Some(_) => (logit(column) - top).exp(),
            None => 1.0 + f32::from(captured_by(&position, column)),
        };
        let first = self.edges.len();
        self.edges.extend(legal.iter().map(|column| Edge {
            sum: 0.0,
            visits: 0,
            prior: weight(column),
            child: NONE,
            bounds,
            column: column as u8,
        }));
        let opened = &mut self.edges[first..];
        let sum: f32 = opened.iter().map(|edge| edge.prior).sum();
        for edge in opened {
            edge.prior /= sum;
        }
        self.nodes[node as usize].first = first as u32;
    }

    /// Gives the root the value and the priors of its evaluation.
    pub(super) fn open_root(&mut self, value: f64, logits: &[f32]) {
        self.nodes[0].sum = value;
        self.open(0, Some(logits));
    }

    /// Walks from the root down to a position that is not in the tree.
    ///
    /// Returns that position if its value is to be found out; one whose outcome is certain is
    /// backed up at once. The root must not be proven.
    pub(super) fn descend(&mut self, exploration: f64) -> Option<Position> {
        self.path.clear();
        let mut node = 0;
        loop {
            if self.nodes[node as usize].first == NONE {
                self.open(node, None);
            }
            let kept = &self.nodes[node as usize];
            let all = 1.0 + f64::from(kept.visits);
            let weight = exploration * all.sqrt();
            let edges = &self.edges[kept.edges()];
            let rank = next_move(edges, kept.bounds, kept.sum / all, weight)?;
            let edge = kept.first + rank as u32;
            self.path.push((node, edge));
            let Edge { column, child, .. } = self.edges[edge as usize];
            if child != NONE {
                node = child;
                continue;
            }
            let (next, _) = self.position(node).play_legal(usize::from(column));
            let bounds = self.bounds_of(&next);
            if !bounds.is_exact() {
                return Some(next);
            }
            self.back_up(bounds.low.into(), bounds);
            return None;
        }
    }

    /// Adds the position that the last descent came to, with its value for its side to move, and
    /// backs the value up.
    pub(super) fn add(&mut self, leaf: &Position, value: f64, logits: Option<&[f32]>) {
        let node = self.push_node(leaf, value);
        if logits.is_some() {
            self.open(node, logits);
        }
        if let Some(&(_, edge)) = self.path.last() {
            self.edges[edge as usize].child = node;
        }
        let bounds = self.nodes[node as usize].bounds;
        self.back_up(bounds.clamp(value), bounds);
    }

    /// Adds a value and bounds, both for the side to move at the end of the path, to every move
    /// on it.
    ///
    /// A value outside what is proven of a node goes on upwards as the nearest one that is
    /// possible.
    fn back_up(&mut self, value: f64, bounds: Bounds) {
        let (mut value, mut news) = (value, Some(bounds));
        for &(node, edge) in self.path.iter().rev() {
            let edge = &mut self.edges[edge as usize];
            news = news.filter(|bounds| edge.bounds.narrow(bounds.flipped()));
            value = edge.bounds.clamp(-value);
            edge.visits += 1;
            edge.sum += value;
            let node = &mut self.nodes[node as usize];
            node.visits += 1;
            node.sum += value;
            if news.is_some() {
                let moves = self.edges[node.edges()].iter().map(|edge| edge.bounds);
                let best = moves.reduce(Bounds::better);
                let narrower = best.is_some_and(|best| node.bounds.narrow(best));
                news = narrower.then_some(node.bounds);
            }
            value = node.bounds.clamp(value);
        }
    }

    fn position(&self, node: u32) -> Position {
        let kept = &self.nodes[node as usize];
        let count = self.root.board().pits().len();
        let first = node as usize * count;
        let mut board = Board::empty(self.root.board().columns());
        board
            .pits_mut()
            .copy_from_slice(&self.pits[first..first + count]);
        *board.captured_mut() = kept.captured;
        Position::resume(
            *self.root.ruleset(),
            board,
            kept.to_move,
            kept.quiet,
            kept.legal,
        )
    }

    /// Makes `root`, which the root's move in `column` leads to, the root, and keeps what the tree
    /// knows below it.
    pub(super) fn advance(&mut self, column: usize, root: Position) {
        let mut edges = self.root_edges().iter();
        let child = edges
            .find(|edge| usize::from(edge.column) == column)
            .map_or(NONE, |edge| edge.child);
        if child == NONE {
            self.start(&root);
        } else {
            self.root = root;
            self.keep_below(child);
        }
    }

    /// Drops every node that is not below `top`, which becomes the first one.
    fn keep_below(&mut self, top: u32) {
        let count = self.root.board().pits().len();
        let (mut nodes, mut edges, mut pits) = (Vec::new(), Vec::new(), Vec::new());
        let mut order = vec![top];
        let mut next = 0;
        while let Some(&old) = order.get(next) {
            next += 1;
            let mut node = self.nodes[old as usize];
            let kept = edges.len();
            edges.extend_from_slice(&self.edges[node.edges()]);
            for edge in edges[kept..].iter_mut().filter(|edge| edge.child != NONE) {
                order.push(edge.child);
                edge.child = order.len() as u32 - 1;
            }
            if node.first != NONE {
                node.first = kept as u32;
            }
            nodes.push(node);
            let first = old as usize * count;
            pits.extend_from_slice(&self.pits[first..first + count]);
        }
        (self.nodes, self.edges, self.pits) = (nodes, edges, pits);
        self.path.clear();
    }
}

/// Returns the seeds that the move in `column` captures.
fn captured_by(position: &Position, column: usize) -> u16 {
    let mut board = *position.board();
    let (ruleset, side) = (position.ruleset(), position.to_move());
    sowing::sow_scratch(&mut board, ruleset, side, column, false).captured
}
