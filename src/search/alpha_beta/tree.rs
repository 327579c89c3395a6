//! The tree below the root.
//!
//! A position is worth what its mover still takes less what the other side still takes, in units
//! of the leaf evaluator: what was captured before does not count, so that equal boards are worth
//! the same whatever led to them. Two things more can matter, and belong to the key of the table
//! where they do: the quiet plies where the limit lies within the depth left (E3), and the
//! difference captured where an endless sowing draws (S6).

use crate::pit::{MAX_COLUMNS, PitSet};
use crate::position::Position;
use crate::ruleset::{Endless, Ruleset};
use crate::search::alpha_beta::MAX_DEPTH;
use crate::search::alpha_beta::boards::{Boards, mix};
use crate::search::alpha_beta::leaf::LeafEvaluator;
use crate::search::alpha_beta::stop::{Stop, Stopped};
use crate::search::table::{Entry, Table};

/// Below any value.
pub(super) const LOWEST: i32 = i32::MIN / 2;

/// Above any value.
pub(super) const HIGHEST: i32 = i32::MAX / 2;

/// No column.
const NONE: u8 = u8::MAX;

/// The fewest plies left at which a position is looked up and kept.
const TABLE_FROM: u32 = 2;

/// An open position inside the tree; whether it is settled is found out when it is visited.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<B> {
    pub(super) board: B,
    /// Seeds on the board.
    pub(super) rest: u16,
    /// Seeds captured by the mover less those captured by the other side.
    pub(super) lead: i16,
    pub(super) quiet: u16,
}

impl<B> Node<B> {
    /// Takes an open position.
    pub(super) fn of(boards: &impl Boards<Board = B>, position: &Position) -> Node<B> {
        let (board, side) = (position.board(), position.to_move());
        Node {
            board: boards.of(board, side),
            rest: board.seeds_on_board() as u16,
            lead: board.lead(side) as i16,
            quiet: position.quiet(),
        }
    }

    /// Returns what playing an endless sowing is worth where it draws (S6): the game ends level.
    pub(super) fn draw(&self, units: i32) -> i32 {
        -i32::from(self.lead) * units
    }
}

/// A position after a move, the move, and what it captured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child<B> {
    pub(super) node: Node<B>,
    pub(super) captured: u16,
    pub(super) column: u8,
}

/// A column, and the position after it unless its sowing is endless.
type Reply<B> = (u8, Option<Child<B>>);

/// One thread's walk through the tree of one position.
pub(super) struct Tree<'a, B: Boards, E> {
    pub(super) boards: &'a B,
    pub(super) table: &'a Table,
    pub(super) leaves: E,
    pub(super) stop: Stop<'a>,
    pub(super) quiet_limit: u16,
    pub(super) endless_is_draw: bool,
    /// Positions visited.
    pub(super) nodes: u64,
    /// Children of the positions on the line that is looked at.
    children: Vec<Child<B::Board>>,
    /// The column that last refuted a position with so many plies left.
    refutations: [u8; MAX_DEPTH as usize + 1],
    pits: Vec<u16>,
}

impl<'a, B: Boards, E: LeafEvaluator> Tree<'a, B, E> {
    pub(super) fn new(
        boards: &'a B,
        ruleset: &Ruleset,
        table: &'a Table,
        leaves: E,
        stop: Stop<'a>,
    ) -> Tree<'a, B, E> {
        Tree {
            boards,
            table,
            leaves,
            stop,
            quiet_limit: ruleset.quiet_limit(),
            endless_is_draw: ruleset.endless() == Endless::Draw,
            nodes: 0,
            children: Vec::new(),
            refutations: [0; MAX_DEPTH as usize + 1],
            pits: vec![0; ruleset.pits()],
        }
    }

    /// Plays a column; `None` for an endless sowing.
    #[inline]
    pub(super) fn play(&self, node: &Node<B::Board>, column: usize) -> Option<Child<B::Board>> {
        let (board, captured) = self.boards.sow(&node.board, column)?;
        Some(Child {
            node: Node {
                board,
                rest: node.rest - captured,
                lead: -(node.lead + captured as i16),
                quiet: if captured > 0 { 0 } else { node.quiet + 1 },
            },
            captured,
            column: column as u8,
        })
    }

    /// Values a move with a null window first, and with the whole window only if it is better.
    pub(super) fn scout(
        &mut self,
        child: &Child<B::Board>,
        depth: u32,
        alpha: i32,
        beta: i32,
    ) -> Result<i32, Stopped> {
        let value = self.after(child, depth, alpha, alpha + 1)?;
        if alpha < value && value < beta {
            return self.after(child, depth, alpha, beta);
        }
        Ok(value)
    }

    /// Values a move exactly, with a window of `seeds` on either side of a guess first, and with
    /// all on one side of it where the value lies outside.
    pub(super) fn around(
        &mut self,
        child: &Child<B::Board>,
        depth: u32,
        guess: i32,
        seeds: i32,
    ) -> Result<i32, Stopped> {
        let (low, high) = (guess - seeds * E::UNITS, guess + seeds * E::UNITS);
        let value = self.after(child, depth, low, high)?;
        if value <= low {
            return self.after(child, depth, LOWEST, value + 1);
        }
        if value >= high {
            return self.after(child, depth, value - 1, HIGHEST);
        }
        Ok(value)
    }

    /// Values a move that leaves `depth` plies, from the view of who makes it.
    #[inline]
    pub(super) fn after(
        &mut self,
        child: &Child<B::Board>,
        depth: u32,
        alpha: i32,
        beta: i32,
    ) -> Result<i32, Stopped> {
        let captured = i32::from(child.captured) * E::UNITS;
        let value = self.value(&child.node, depth, captured - beta, captured - alpha)?;
        Ok(captured - value)
    }

    /// Values a position from the view of its mover, exactly if inside the window, else by a
    /// bound on the same side of it.
    fn value(
        &mut self,
        node: &Node<B::Board>,
        depth: u32,
        alpha: i32,
        beta: i32,
    ) -> Result<i32, Stopped> {
        self.nodes += 1;
        self.stop.check(self.nodes)?;
        let rest = i32::from(node.rest) * E::UNITS;
        if node.quiet >= self.quiet_limit || (depth == 0 && E::ALWAYS_ZERO) {
            // A stuck side only loses by E1: below alpha it need not be found out.
            let open = alpha >= 0 || self.boards.can_move(&node.board);
            return Ok(if open { 0 } else { -rest });
        }
        if depth == 0 {
            return Ok(self.judge(node, rest));
        }
        let (low, high) = self.range(node);
        if high <= alpha {
            return Ok(high);
        }
        if low >= beta {
            return Ok(low);
        }
        if depth == 1 && E::ALWAYS_ZERO {
            return Ok(self.frontier(node, alpha, beta));
        }
        self.interior(node, depth, alpha, beta)
    }

    /// Returns the least and the most that a position can be worth: no line wins more than all
    /// that lies on the board, and a draw is worth nothing in the end whatever was captured (S6).
    pub(super) fn range(&self, node: &Node<B::Board>) -> (i32, i32) {
        let rest = i32::from(node.rest) * E::UNITS;
        if self.endless_is_draw {
            let draw = node.draw(E::UNITS);
            return (draw.min(-rest), draw.max(rest));
        }
        (-rest, rest)
    }

    /// Values an open leaf.
    fn judge(&mut self, node: &Node<B::Board>, rest: i32) -> i32 {
        if !self.boards.can_move(&node.board) {
            return -rest;
        }
        self.boards.write(&node.board, &mut self.pits);
        self.leaves.margin(&self.pits).clamp(-rest, rest)
    }

    /// Values a position with one ply left: the best capture, and E1's rest where it is won.
    fn frontier(&mut self, node: &Node<B::Board>, alpha: i32, beta: i32) -> i32 {
        let occupied = self.boards.occupied(&node.board);
        let first = occupied & (1 << self.refutations[1]);
        let mut best = LOWEST;
        for set in [first, occupied ^ first] {
            let mut left = set;
            while left != 0 {
                let column = left.trailing_zeros();
                left &= left - 1;
                let value = match self.play(node, column as usize) {
                    Some(child) => self.last_ply(&child, best.max(alpha), beta),
                    None if self.endless_is_draw => node.draw(E::UNITS),
                    None => continue,
                };
                self.nodes += 1;
                best = best.max(value);
                if best >= beta {
                    self.refutations[1] = column as u8;
                    return best;
                }
            }
        }
        if best == LOWEST {
            return -i32::from(node.rest) * E::UNITS;
        }
        best
    }

    /// Values a move after which the search stops.
    #[inline]
    fn last_ply(&self, child: &Child<B::Board>, floor: i32, beta: i32) -> i32 {
        let captured = i32::from(child.captured) * E::UNITS;
        let most = captured + i32::from(child.node.rest) * E::UNITS;
        // E1's rest is looked for only where it could change the result: below the window the
        // most that the move can be worth is a bound that holds.
        if captured < beta && (most <= floor || !self.boards.can_move(&child.node.board)) {
            most
        } else {
            captured
        }
    }

    /// Values a position with plies left for both sides.
    fn interior(
        &mut self,
        node: &Node<B::Board>,
        depth: u32,
        alpha: i32,
        beta: i32,
    ) -> Result<i32, Stopped> {
        let (mut lower, mut upper) = self.range(node);
        let key = self.key(node, depth);
        let mut hint = NONE;
        let kept = depth >= TABLE_FROM || !E::ALWAYS_ZERO;
        if kept && let Some(entry) = self.table.get(key) {
            hint = entry.column;
            if u32::from(entry.depth) == depth {
                (lower, upper) = (entry.lower, entry.upper);
                if lower >= beta || lower == upper {
                    return Ok(lower);
                }
                if upper <= alpha {
                    return Ok(upper);
                }
            }
        }
        if depth == 1 && !E::ALWAYS_ZERO {
            self.boards.write(&node.board, &mut self.pits);
            self.leaves.approach(&self.pits);
        }
        let window = (alpha.max(lower), beta.min(upper));
        let (best, column) = self.best_of(node, depth, window, hint)?;
        if best > window.0 {
            lower = lower.max(best);
        }
        if best < window.1 {
            upper = upper.min(best);
        }
        if kept {
            let depth = depth as u8;
            self.table.put(
                key,
                Entry {
                    lower,
                    upper,
                    depth,
                    column,
                },
            );
        }
        Ok(best)
    }

    /// Values the moves of a position in the order of their promise, and returns the best value
    /// and its column.
    fn best_of(
        &mut self,
        node: &Node<B::Board>,
        depth: u32,
        (alpha, beta): (i32, i32),
        hint: u8,
    ) -> Result<(i32, u8), Stopped> {
        let mut occupied = self.boards.occupied(&node.board);
        let mut best = (LOWEST, if hint == NONE { 0 } else { hint });
        if hint != NONE
            && occupied & (1 << hint) != 0
            && let Some(child) = self.play(node, hint.into())
        {
            occupied &= !(1 << hint);
            best = (self.after(&child, depth - 1, alpha, beta)?, hint);
            if best.0 >= beta {
                return Ok(best);
            }
        }
        let base = self.children.len();
        let draws = self.push_children(node, occupied);
        if draws && node.draw(E::UNITS) > best.0 {
            best.0 = node.draw(E::UNITS);
        }
        let mut order = [0_u32; MAX_COLUMNS];
        let count = self.order(base, depth, &mut order);
        for key in &order[..count] {
            if best.0 >= beta {
                break;
            }
            let child = self.children[base + 63 - (key & 63) as usize];
            let value = if best.0 == LOWEST {
                self.after(&child, depth - 1, alpha, beta)?
            } else {
                self.scout(&child, depth - 1, alpha.max(best.0), beta)?
            };
            if value > best.0 {
                best = (value, child.column);
                if value >= beta {
                    self.refutations[depth as usize] = child.column;
                }
            }
        }
        self.children.truncate(base);
        if best.0 == LOWEST {
            best.0 = -i32::from(node.rest) * E::UNITS;
        }
        Ok(best)
    }

    /// Sorts the children from `base` on by promise, the best first: what refuted another
    /// position at this depth, then the larger capture, then the lower column.
    fn order(&self, base: usize, depth: u32, order: &mut [u32; MAX_COLUMNS]) -> usize {
        let refutation = self.refutations[depth as usize];
        let children = &self.children[base..];
        for (index, (key, child)) in order.iter_mut().zip(children).enumerate() {
            let first = u32::from(child.column == refutation);
            *key = (first << 31) | (u32::from(child.captured) << 8) | (63 - index as u32);
        }
        order[..children.len()].sort_unstable_by(|a, b| b.cmp(a));
        children.len()
    }

    /// Adds the positions after the moves of some columns, in ascending order, and tells whether
    /// there is an endless sowing that draws (S6).
    pub(super) fn push_children(&mut self, node: &Node<B::Board>, columns: u64) -> bool {
        let mut draws = false;
        let mut left = columns;
        while left != 0 {
            let column = left.trailing_zeros() as usize;
            left &= left - 1;
            match self.play(node, column) {
                Some(child) => self.children.push(child),
                None => draws |= self.endless_is_draw,
            }
        }
        draws
    }

    /// Finds a move that reaches the known value of a position, and where it leads; `None` where
    /// the search or the game ends.
    pub(super) fn reply(
        &mut self,
        node: &Node<B::Board>,
        depth: u32,
        value: i32,
    ) -> Result<Option<Reply<B::Board>>, Stopped> {
        if depth == 0 || node.quiet >= self.quiet_limit {
            return Ok(None);
        }
        let occupied = self.boards.occupied(&node.board);
        let hint = self.table.get(self.key(node, depth));
        let first = hint.map_or(0, |entry| occupied & (1 << entry.column));
        for set in [first, occupied ^ first] {
            for column in PitSet::from_bits(set) {
                let child = self.play(node, column);
                let reached = match &child {
                    Some(child) => self.after(child, depth - 1, value - 1, value)? >= value,
                    None => self.endless_is_draw && node.draw(E::UNITS) == value,
                };
                if reached {
                    return Ok(Some((column as u8, child)));
                }
            }
        }
        Ok(None)
    }

    /// Returns the key of a position with so many plies left.
    #[inline]
    fn key(&self, node: &Node<B::Board>, depth: u32) -> u64 {
        let mut key = self.boards.key(&node.board);
        if u32::from(self.quiet_limit) <= u32::from(node.quiet) + depth {
            key = mix(key, 1 << 16 | u64::from(node.quiet));
        }
        if self.endless_is_draw {
            key = mix(key, 1 << 17 | u64::from(node.lead as u16));
        }
        key
    }
}
