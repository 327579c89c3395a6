//! The root: deeper and deeper iterations, ties to the lowest column, the line of best play.

use crate::pit::PitSet;
use crate::search::alpha_beta::boards::Boards;
use crate::search::alpha_beta::leaf::LeafEvaluator;
use crate::search::alpha_beta::stop::Stopped;
use crate::search::alpha_beta::tree::{Child, HIGHEST, LOWEST, Node, Tree};

/// Seeds by which the value of the likely best move may differ from that of the last iteration
/// before it is searched again: of 1, 2, 4, 8 and all the one that visited the fewest positions
/// (1 to 4 % fewer than all, on 2x6 to 2x50).
const ASPIRATION: i32 = 2;

/// The best move at the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Best {
    /// What the mover still takes less what the other side still takes, in units.
    pub(super) value: i32,
    pub(super) column: u8,
    /// The plies searched.
    pub(super) depth: u32,
}

/// The moves at the root.
#[derive(Clone)]
pub(super) struct Root<B> {
    node: Node<B>,
    moves: Vec<Move<B>>,
    /// What the lowest column with an endless sowing is worth, where that draws (S6).
    draw: Option<(i32, u8)>,
    /// Whether an iteration went before.
    searched: bool,
}

#[derive(Clone)]
struct Move<B> {
    child: Child<B>,
    /// The value or bound of the last iteration, the seeds captured before the first one.
    value: i32,
}

impl<B: Copy> Root<B> {
    pub(super) fn new<S, E>(tree: &Tree<'_, S, E>, node: Node<B>) -> Root<B>
    where
        S: Boards<Board = B>,
        E: LeafEvaluator,
    {
        let mut root = Root {
            node,
            moves: Vec::new(),
            draw: None,
            searched: false,
        };
        for column in PitSet::from_bits(tree.boards.occupied(&node.board)) {
            match tree.play(&node, column) {
                Some(child) => root.moves.push(Move {
                    child,
                    value: child.captured.into(),
                }),
                None if tree.endless_is_draw => {
                    root.draw = root.draw.or(Some((node.draw(E::UNITS), column as u8)));
                }
                None => {}
            }
        }
        root
    }

    /// Lets another thread begin with other moves, so that it runs ahead elsewhere in the tree.
    pub(super) fn rotated(&self, by: usize) -> Root<B> {
        let mut root = self.clone();
        let count = root.moves.len().max(1);
        root.moves.rotate_left(by % count);
        root
    }

    /// Searches the moves to a depth and returns the best one, the lowest column among equals.
    ///
    /// The window of a column lower than the best one so far lets an equal value through.
    pub(super) fn search<S, E>(
        &mut self,
        tree: &mut Tree<'_, S, E>,
        depth: u32,
    ) -> Result<Best, Stopped>
    where
        S: Boards<Board = B>,
        E: LeafEvaluator,
    {
        self.moves.sort_by_key(|tried| -tried.value);
        let searched = std::mem::replace(&mut self.searched, true);
        let (mut value, mut column) = self.draw.unwrap_or((LOWEST, u8::MAX));
        for tried in &mut self.moves {
            let child = &tried.child;
            let alpha = value - i32::from(child.column < column);
            tried.value = match value {
                LOWEST if searched => tree.around(child, depth - 1, tried.value, ASPIRATION)?,
                LOWEST => tree.after(child, depth - 1, LOWEST, HIGHEST)?,
                _ => tree.scout(child, depth - 1, alpha, HIGHEST)?,
            };
            if tried.value > alpha {
                (value, column) = (tried.value, child.column);
            }
        }
        Ok(Best {
            value,
            column,
            depth,
        })
    }

    /// Reads the line of best play that begins with a move of known value.
    ///
    /// It ends where the search or the game ended, or earlier where the search for it stops.
    pub(super) fn line<S, E>(&self, tree: &mut Tree<'_, S, E>, best: Best) -> Vec<u8>
    where
        S: Boards<Board = B>,
        E: LeafEvaluator,
    {
        let mut line = vec![best.column];
        let mut at = tree.play(&self.node, best.column.into());
        let mut value = best.value;
        let mut depth = best.depth - 1;
        while let Some(child) = at {
            value = i32::from(child.captured) * E::UNITS - value;
            let Ok(Some((column, next))) = tree.reply(&child.node, depth, value) else {
                break;
            };
            line.push(column);
            at = next;
            depth -= 1;
        }
        line
    }
}
