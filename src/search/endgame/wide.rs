//! Boards of more than 16 pits, pit by pit: slower, for few seeds.

use crate::pit::{MAX_PITS, opposite};
use crate::ruleset::{Direction, LoneCapture, Ruleset};
use crate::search::endgame::ranking::Ranking;
use crate::search::endgame::ring::Ring;
use crate::sowing;

/// Steps from one board to the next that cost as much as finding the board of a number.
const STEPS: u64 = 16;

/// Boards of any size.
#[derive(Debug)]
pub(super) struct Wide<'a> {
    ruleset: Ruleset,
    ranking: &'a Ranking,
}

/// The seeds of every pit.
pub(super) type WideBoard = [u8; MAX_PITS];

/// A place among the boards.
pub(super) struct WideWalk {
    index: u64,
    board: WideBoard,
}

/// A sowing that is being taken back.
#[derive(Clone, Copy)]
pub(super) struct WideBack {
    board: WideBoard,
    /// The pit of the last seed of the lap before.
    last: usize,
    /// Laps taken back.
    laps: u32,
}

impl<'a> Wide<'a> {
    /// Prepares the boards of a ranking.
    pub(super) const fn new(ruleset: Ruleset, ranking: &'a Ranking) -> Wide<'a> {
        Wide { ruleset, ranking }
    }

    fn find(&self, index: u64) -> WideBoard {
        let mut board = [0; MAX_PITS];
        self.ranking.fill(index, |pit, seeds| board[pit] = seeds);
        board
    }

    /// Goes on to the board with the next number.
    fn step(&self, board: &mut WideBoard) {
        let pits = self.ruleset.pits();
        let first = std::mem::take(&mut board[0]);
        match board[..pits].iter().position(|&seeds| seeds > 0) {
            Some(pit) => {
                board[pit] -= 1;
                board[pit - 1] += first + 1;
            }
            None => board[pits - 1] = first + 1,
        }
    }

    /// Returns the other side's view.
    fn turn(&self, board: &WideBoard) -> WideBoard {
        let mut turned = *board;
        turned[..self.ruleset.pits()].rotate_left(self.ruleset.columns());
        turned
    }

    /// Takes back the lap that ended in `last`, as far as it was sown in the direction asked for.
    fn unsow(&self, back: &WideBack, clockwise: bool) -> Option<WideBack> {
        let pits = self.ruleset.pits();
        let stride = if clockwise { 1 } else { pits - 1 };
        let WideBack {
            mut board,
            last: mut at,
            laps,
        } = *back;
        let mut seeds = 0;
        while board[at] > 0 {
            board[at] -= 1;
            seeds += 1;
            at = (at + stride) % pits;
        }
        if self.ruleset.direction() == Direction::Parity && (seeds % 2 == 1) != clockwise {
            return None;
        }
        board[at] = seeds;
        Some(WideBack {
            board,
            last: at,
            laps: laps + 1,
        })
    }

    /// Tells whether a quiet move may have ended in `pit`, seen by the other side.
    fn is_quiet_end(&self, board: &WideBoard, pit: usize) -> bool {
        let columns = self.ruleset.columns();
        board[pit] == 1
            && (pit < columns
                || self.ruleset.lone_capture() == LoneCapture::Stays
                    && board[opposite(pit, columns)] == 0)
    }
}

impl Ring for Wide<'_> {
    type Board = WideBoard;
    type Walk = WideWalk;
    type Stack = Vec<WideBack>;

    fn walk(&self, index: u64) -> WideWalk {
        WideWalk {
            index,
            board: self.find(index),
        }
    }

    fn at(&self, walk: &mut WideWalk, index: u64) -> WideBoard {
        if index > walk.index + STEPS {
            *walk = self.walk(index);
        }
        while walk.index < index {
            self.step(&mut walk.board);
            walk.index += 1;
        }
        walk.board
    }

    fn index(&self, board: WideBoard) -> u64 {
        self.ranking.index_of(board.into_iter())
    }

    fn moves(&self, board: WideBoard, mut each: impl FnMut(WideBoard, u8)) {
        let columns = self.ruleset.columns();
        for column in (0..columns).filter(|&column| board[column] > 0) {
            let mut pits = board.map(u16::from);
            let ring = &mut pits[..2 * columns];
            let Some(last) = sowing::relay(ring, column, &self.ruleset) else {
                continue;
            };
            let mut captured = 0;
            if last < columns {
                let facing = opposite(last, columns);
                if ring[facing] > 0 || self.ruleset.lone_capture() == LoneCapture::Taken {
                    captured = (ring[facing] + ring[last]) as u8;
                    ring[facing] = 0;
                    ring[last] = 0;
                }
            }
            each(self.turn(&pits.map(|seeds| seeds as u8)), captured);
        }
    }

    fn predecessors(
        &self,
        board: WideBoard,
        stack: &mut Vec<WideBack>,
        mut each: impl FnMut(WideBoard),
    ) {
        let columns = self.ruleset.columns();
        for last in (0..2 * columns).filter(|&pit| self.is_quiet_end(&board, pit)) {
            stack.push(WideBack {
                board,
                last,
                laps: 0,
            });
            while let Some(back) = stack.pop() {
                for clockwise in [false, true] {
                    if clockwise && self.ruleset.direction() == Direction::Anticlockwise {
                        continue;
                    }
                    let Some(before) = self.unsow(&back, clockwise) else {
                        continue;
                    };
                    if before.last >= columns {
                        each(self.turn(&before.board));
                    }
                    // A relay lifts at least two seeds.
                    if before.board[before.last] > 1 && before.laps < self.ruleset.lap_limit() {
                        stack.push(before);
                    }
                }
            }
        }
    }
}
