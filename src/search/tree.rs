//! One search tree: nodes, edges, selection below the root, backup.

use super::evaluator::Evaluations;
use crate::board::Board;
use crate::position::{EndReason, Outcome, Position};
use crate::ruleset::Endless;
use crate::side::Side;

/// What a position is worth to one side: chances and the final margin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Worth {
    pub(crate) win: f32,
    pub(crate) loss: f32,
    /// Seeds captured at the end less those of the other side.
    pub(crate) margin: f32,
}

impl Worth {
    /// Returns the same worth from the other side's view.
    pub(crate) fn flipped(self) -> Worth {
        Worth {
            win: self.loss,
            loss: self.win,
            margin: -self.margin,
        }
    }

    /// Adds another worth, scaled by `weight`.
    pub(crate) fn add(&mut self, other: Worth, weight: f32) {
        self.win += weight * other.win;
        self.loss += weight * other.loss;
        self.margin += weight * other.margin;
    }

    /// Returns every part multiplied by `factor`.
    pub(crate) fn scaled(self, factor: f32) -> Worth {
        Worth {
            win: factor * self.win,
            loss: factor * self.loss,
            margin: factor * self.margin,
        }
    }
}

/// How worth becomes one number, and how that number weighs against logits.
///
/// The margin is not cut off at any lead: whoever has won or lost already still plays for seeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// Share of the final margin in the utility, the rest is the chance to win less to lose.
    pub(crate) margin_weight: f32,
    /// Seeds of final margin that count as much as a win: a quarter of all seeds.
    pub(crate) margin_unit: f32,
    pub(crate) c_visit: f32,
    pub(crate) c_scale: f32,
}

impl Scale {
    pub(crate) fn utility(&self, worth: Worth) -> f32 {
        let margin = worth.margin / self.margin_unit;
        (1.0 - self.margin_weight) * (worth.win - worth.loss) + self.margin_weight * margin
    }

    /// Turns a utility into logits (the sigma of Danihelka et al. 2022, equation 8).
    fn sigma(&self, utility: f32, most_visits: u32) -> f32 {
        (self.c_visit + most_visits as f32) * self.c_scale * utility
    }
}

/// One legal move of a node; worth is from the view of the side that makes the move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) column: u8,
    pub(crate) logit: f32,
    child: u32,
    pub(crate) visits: u32,
    sum: Worth,
}

impl Edge {
    /// Returns the mean worth of the visits, which must be at least one.
    pub(crate) fn mean(&self) -> Worth {
        self.sum.scaled(1.0 / self.visits as f32)
    }
}

#[derive(Clone, Debug)]
struct Node {
    position: Position,
    first: u32,
    count: u32,
    raw: Worth,
}

/// No child yet.
const NONE: u32 = u32::MAX;

/// A tree over the positions reached from one root.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Edges walked from the root to the leaf of the simulation in progress.
    path: Vec<u32>,
    leaf: Option<Position>,
    scratch: Vec<f32>,
}

impl Tree {
    /// Starts a tree at an open position whose evaluation is row `row` of `evaluations`.
    pub(crate) fn start(&mut self, root: &Position, evaluations: &Evaluations, row: usize) {
        self.nodes.clear();
        self.edges.clear();
        self.path.clear();
        self.expand(*root, evaluations, row);
    }

    /// Returns the legal moves of the root, in ascending columns.
    pub(crate) fn root_edges(&self) -> &[Edge] {
        self.nodes.first().map_or(&[], |root| self.edges_of(root))
    }

    /// Returns what the evaluator said of the root.
    pub(crate) fn root_raw(&self) -> Worth {
        self.nodes.first().map_or(Worth::default(), |root| root.raw)
    }

    fn edges_of(&self, node: &Node) -> &[Edge] {
        &self.edges[node.first as usize..(node.first + node.count) as usize]
    }

    fn expand(&mut self, position: Position, evaluations: &Evaluations, row: usize) -> u32 {
        let columns = position.ruleset().columns();
        let logits = &evaluations.logits[row * columns..(row + 1) * columns];
        let first = self.edges.len() as u32;
        self.edges
            .extend(position.legal_moves().iter().map(|column| Edge {
                column: column as u8,
                logit: logits[column],
                child: NONE,
                visits: 0,
                sum: Worth::default(),
            }));
        let raw = evaluated(&position, evaluations, row);
        let count = self.edges.len() as u32 - first;
        self.nodes.push(Node {
            position,
            first,
            count,
            raw,
        });
        self.nodes.len() as u32 - 1
    }

    /// Walks from the root through its edge of rank `rank` down to a position not yet in the
    /// tree.
    ///
    /// Returns that position if it needs an evaluation; an ended one is backed up at once.
    pub(crate) fn descend(&mut self, rank: usize, scale: &Scale) -> Option<&Position> {
        self.path.clear();
        self.leaf = None;
        let mut node = 0;
        let mut edge = self.nodes.first()?.first + rank as u32;
        loop {
            self.path.push(edge);
            let Edge { column, child, .. } = self.edges[edge as usize];
            if child != NONE {
                node = child as usize;
                edge = self.select(node, scale);
                continue;
            }
            let (next, _) = self.nodes[node].position.play_legal(usize::from(column));
            if let Some(worth) = ended(&next) {
                self.back_up(worth);
                return None;
            }
            return Some(self.leaf.insert(next));
        }
    }

    /// Adds the leaf of the last descent with row `row` of its evaluations and backs it up.
    pub(crate) fn finish(&mut self, evaluations: &Evaluations, row: usize) {
        if let Some(position) = self.leaf.take()
            && let Some(&edge) = self.path.last()
        {
            let node = self.expand(position, evaluations, row);
            self.edges[edge as usize].child = node;
            self.back_up(self.nodes[node as usize].raw);
        }
    }

    /// Adds a leaf's worth (from its side to move) to every edge on the path.
    fn back_up(&mut self, worth: Worth) {
        let mut worth = worth;
        for &edge in self.path.iter().rev() {
            worth = worth.flipped();
            let edge = &mut self.edges[edge as usize];
            edge.visits += 1;
            edge.sum.add(worth, 1.0);
        }
    }

    /// Chooses the edge whose visits lag most behind the improved policy (Danihelka et al. 2022,
    /// equation 14).
    fn select(&mut self, node: usize, scale: &Scale) -> u32 {
        let node = &self.nodes[node];
        let edges = &self.edges[node.first as usize..(node.first + node.count) as usize];
        improved_policy(edges, node.raw, scale, &mut self.scratch);
        let visits: u32 = edges.iter().map(|edge| edge.visits).sum();
        let behind = |(rank, &share): (usize, &f32)| {
            (
                rank,
                share - edges[rank].visits as f32 / (1.0 + visits as f32),
            )
        };
        let best = self.scratch.iter().enumerate().map(behind);
        node.first + first_largest(best) as u32
    }
}

/// Returns the rank of the largest number, the first of equals; 0 of none.
pub(crate) fn first_largest(numbers: impl Iterator<Item = (usize, f32)>) -> usize {
    let largest = numbers.reduce(|best, next| if next.1 > best.1 { next } else { best });
    largest.map_or(0, |(rank, _)| rank)
}

/// Returns the worth of moves never visited: the evaluator's word mixed with what the visited
/// moves showed (Danihelka et al. 2022, equation 33).
fn mixed_worth(edges: &[Edge], raw: Worth) -> Worth {
    let top = edges
        .iter()
        .map(|edge| edge.logit)
        .fold(f32::NEG_INFINITY, f32::max);
    let mut seen = Worth::default();
    let mut prior = 0.0;
    let mut visits = 0;
    for edge in edges.iter().filter(|edge| edge.visits > 0) {
        let weight = (edge.logit - top).exp().max(f32::MIN_POSITIVE);
        seen.add(edge.mean(), weight);
        prior += weight;
        visits += edge.visits;
    }
    if visits == 0 {
        return raw;
    }
    let visits = visits as f32;
    let mut mixed = raw.scaled(1.0 / (1.0 + visits));
    mixed.add(seen, visits / (1.0 + visits) / prior);
    mixed
}

/// Returns the worth of each move, the mixed worth where it was never visited.
pub(crate) fn completed_worth(edges: &[Edge], raw: Worth) -> impl Iterator<Item = Worth> {
    let mixed = mixed_worth(edges, raw);
    edges
        .iter()
        .map(move |edge| if edge.visits > 0 { edge.mean() } else { mixed })
}

/// Writes logits plus scaled completed utilities of the moves: the improved logits.
pub(crate) fn improved_logits(edges: &[Edge], raw: Worth, scale: &Scale, out: &mut Vec<f32>) {
    let most = edges.iter().map(|edge| edge.visits).max().unwrap_or(0);
    out.clear();
    out.extend(
        edges
            .iter()
            .zip(completed_worth(edges, raw))
            .map(|(edge, worth)| edge.logit + scale.sigma(scale.utility(worth), most)),
    );
}

/// Writes the improved policy of the moves: the softmax of the improved logits.
pub(crate) fn improved_policy(edges: &[Edge], raw: Worth, scale: &Scale, out: &mut Vec<f32>) {
    improved_logits(edges, raw, scale, out);
    let top = out.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for share in out.iter_mut() {
        *share = (*share - top).exp();
        sum += *share;
    }
    for share in out.iter_mut() {
        *share /= sum;
    }
}

/// Returns the worth of an ended position to its side to move, `None` while the game is open.
fn ended(position: &Position) -> Option<Worth> {
    let side = position.to_move();
    let outcome = position.outcome()?;
    let margin = match position.end_reason() {
        Some(EndReason::Endless) => 0.0,
        _ => position.board().lead(side) as f32,
    };
    let (win, loss) = match outcome {
        Outcome::Draw => (0.0, 0.0),
        Outcome::Win(winner) if winner == side => (1.0, 0.0),
        Outcome::Win(_) => (0.0, 1.0),
    };
    Some(Worth { win, loss, margin })
}

/// Reads row `row` of `evaluations`; a side with more than half of all seeds has won for sure.
fn evaluated(position: &Position, evaluations: &Evaluations, row: usize) -> Worth {
    let side = position.to_move();
    let board = position.board();
    let margin = evaluations.margin[row] + board.lead(side) as f32;
    let sure = if position.ruleset().endless() == Endless::Illegal {
        majority(board)
    } else {
        None
    };
    match sure {
        None => Worth {
            win: evaluations.win[row],
            loss: evaluations.loss[row],
            margin,
        },
        Some(winner) if winner == side => Worth {
            win: 1.0,
            loss: 0.0,
            margin,
        },
        Some(_) => Worth {
            win: 0.0,
            loss: 1.0,
            margin,
        },
    }
}

/// Returns the side that has captured more than half of all seeds.
fn majority(board: &Board) -> Option<Side> {
    let total = board.total();
    let captured = board.captured();
    Side::BOTH
        .into_iter()
        .find(|side| 2 * u32::from(captured[side.index()]) > total)
}
