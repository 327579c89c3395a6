//! What a search found.

use super::bounds::Proven;
use super::tree::Tree;
use crate::position::Position;

/// What the tree knows of one legal move of its root, from the view of the side to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MctsMove {
    /// The column.
    pub column: u8,
    /// Simulations that went through the move; none where the game is decided already.
    pub visits: u32,
    /// Mean of the simulations, -1 for a loss to 1 for a win, or what is proven; `None` of a move
    /// that was never visited.
    pub value: Option<f64>,
    /// The outcome with perfect play, where it is proven.
    pub proven: Option<Proven>,
}

/// What a search found, from the view of the side to move.
#[derive(Clone, Debug, PartialEq)]
pub struct MctsResult {
    /// The column to play.
    ///
    /// A proven outcome is played for: a win if there is one, never a loss if anything else is
    /// there. Else the most visited move is played, or a proven draw where that move promises less.
    /// Ties go to the lowest column. In a game that captures have decided, the move that takes the
    /// most seeds is played, as `greedy` does.
    pub column: u8,
    /// The value of that move, -1 for a loss to 1 for a win; 0 where nothing is known of it.
    pub value: f64,
    /// The outcome of the position with perfect play, where it is proven.
    pub proven: Option<Proven>,
    /// Simulations in the tree, those kept of earlier searches included.
    pub visits: u32,
    /// All legal moves in ascending columns.
    pub moves: Vec<MctsMove>,
    /// The columns that both sides play if each makes its best move, as far as the tree goes.
    pub principal_variation: Vec<u8>,
}

impl MctsResult {
    /// Reads a tree whose root is open.
    pub(super) fn of_tree(tree: &Tree) -> MctsResult {
        let Some(best) = tree.best() else {
            return MctsResult::unsearched(tree);
        };
        let edges = tree.root_edges();
        let moves = edges.iter().map(|edge| MctsMove {
            column: edge.column,
            visits: edge.visits,
            value: edge.value(),
            proven: edge.bounds.proven(),
        });
        MctsResult {
            column: edges[best].column,
            value: edges[best].value().unwrap_or(0.0),
            proven: tree.root_bounds().proven(),
            visits: edges.iter().map(|edge| edge.visits).sum(),
            moves: moves.collect(),
            principal_variation: tree.principal_variation(),
        }
    }

    /// Reads a tree that was not searched: nothing is known, or captures have decided the game,
    /// whatever is played.
    fn unsearched(tree: &Tree) -> MctsResult {
        let proven = tree.root_bounds().proven();
        let value = proven.map(|proven| f64::from(proven.value()));
        let legal = tree.root().legal_moves().iter();
        let moves = legal.map(|column| MctsMove {
            column: column as u8,
            visits: 0,
            value,
            proven,
        });
        let column = most_seeds(tree.root());
        MctsResult {
            column,
            value: value.unwrap_or(0.0),
            proven,
            visits: 0,
            moves: moves.collect(),
            principal_variation: Vec::new(),
        }
    }
}

/// Returns the column after which the captured difference is greatest, E1's rest included, the
/// lowest one among equals.
fn most_seeds(position: &Position) -> u8 {
    let lead = |column: usize| {
        let (next, _) = position.play_legal(column);
        next.board().lead(position.to_move())
    };
    let moves = position
        .legal_moves()
        .iter()
        .map(|column| (lead(column), column));
    let best = moves.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map_or(0, |(_, column)| column as u8)
}
