//! What every sowing of a position would do, and what the other side could answer to each.
//!
//! Two ways to the same numbers: [`Outlook::take_by_rules`], one sowing after another, and
//! [`OutlookFinder`], 64 sowings lap by lap together. A position of 2x50 asks for up to 2,600 of them.
//!
//! Where a sowing goes is decided by the seeds of the pits that it lifts from and of the one it ends
//! in; what it captures, by the pit opposite to that one as well. An answer none of whose deciding
//! pits the move before has changed is what it was, and is not sown again.

// The kernel must be inlined into the functions that switch the instructions on.
#![allow(clippy::inline_always)]

use crate::batch::lanes_of;
use crate::batch::simd::{
    Instructions, LANES, LIGHT, RowBoard, RowKernel, RowRing, RowVector, Sowings,
};
use crate::board::Board;
use crate::pit::{MAX_COLUMNS, opposite, ring_index};
use crate::position::Position;
use crate::ruleset::{Endless, LoneCapture, Ruleset};
use crate::side::Side;
use crate::sowing::{self, Sowing, SowingEnd};

/// The fewest columns at which rows are faster than one sowing after another (measured).
const MIN_COLUMNS: usize = 11;

/// What the other side could answer to a move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Answers {
    /// Playable pits.
    pub(super) count: u32,
    /// The most seeds that one of them captures.
    pub(super) best: u32,
    /// The seeds that they capture in all.
    pub(super) sum: u32,
}

impl Answers {
    /// Adds a playable pit.
    #[inline(always)]
    fn add(&mut self, captured: u16) {
        self.count += 1;
        self.best = self.best.max(captured.into());
        self.sum += u32::from(captured);
    }

    /// Adds other playable pits.
    #[inline(always)]
    fn join(&mut self, others: Answers) {
        self.count += others.count;
        self.best = self.best.max(others.best);
        self.sum += others.sum;
    }
}

/// What sowing each pit of an open position now would do.
///
/// Pits are counted from the mover's left, the last one of a sowing too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outlook {
    /// The sowing of every pit, `[N]`; `None` where the pit is empty.
    pub(super) sowings: Vec<Option<Sowing>>,
    /// What the other side could answer to the mover's sowings that end, `[C]`.
    pub(super) answers: Vec<Answers>,
}

impl Outlook {
    /// Takes every sowing by the rules of [`sowing`], one after another.
    pub(super) fn take_by_rules(&mut self, position: &Position) {
        let (ruleset, board, mover) = (position.ruleset(), position.board(), position.to_move());
        let columns = ruleset.columns();
        self.clear(columns);
        for side in [mover, mover.other()] {
            for column in 0..columns {
                if board.row(side)[column] == 0 {
                    continue;
                }
                let (found, after) = sow(board, ruleset, side, column, mover);
                let pit = from_left(mover, ring_index(side, column, columns), columns);
                self.sowings[pit] = Some(found);
                if side == mover && found.end != SowingEnd::Endless {
                    self.answers[column] = answers(&after, ruleset, side.other());
                }
            }
        }
    }

    fn clear(&mut self, columns: usize) {
        self.sowings.clear();
        self.sowings.resize(2 * columns, None);
        self.answers.clear();
        self.answers.resize(columns, Answers::default());
    }
}

/// Counts a ring index from the mover's left.
fn from_left(mover: Side, ring: usize, columns: usize) -> usize {
    (ring + ring_index(mover, 0, columns)) % (2 * columns)
}

/// Sows an occupied pit of `side` on a copy of a board; the last pit is counted from the mover's
/// left.
fn sow(
    board: &Board,
    ruleset: &Ruleset,
    side: Side,
    column: usize,
    mover: Side,
) -> (Sowing, Board) {
    let mut after = *board;
    let mut found = sowing::sow_scratch(&mut after, ruleset, side, column, true);
    let last = found.last.map(usize::from);
    found.last = last.map(|last| from_left(mover, last, ruleset.columns()) as u8);
    (found, after)
}

/// Sows every pit of `side` on a board.
fn answers(board: &Board, ruleset: &Ruleset, side: Side) -> Answers {
    let mut found = Answers::default();
    for column in 0..ruleset.columns() {
        if board.row(side)[column] == 0 {
            continue;
        }
        let mut after = *board;
        let sowing = sowing::sow_scratch(&mut after, ruleset, side, column, false);
        if sowing.end != SowingEnd::Endless || ruleset.endless() == Endless::Draw {
            found.add(sowing.captured);
        }
    }
    found
}

/// Finds what [`Outlook::take_by_rules`] finds, many sowings together where boards fit in rows.
#[derive(Debug)]
pub(super) struct OutlookFinder {
    instructions: Instructions,
    /// The rules asked about last, and their ring where rows serve them.
    rules: Option<(Ruleset, Option<Box<RowRing>>)>,
    hands: Box<Hands>,
    outlook: Outlook,
}

impl OutlookFinder {
    /// Makes a finder that uses a set of instructions.
    pub(super) fn new(instructions: Instructions) -> OutlookFinder {
        OutlookFinder {
            instructions,
            rules: None,
            hands: Box::new(Hands::NONE),
            outlook: Outlook::default(),
        }
    }

    /// Finds the outlook of an open position.
    pub(super) fn find(&mut self, position: &Position) -> &Outlook {
        let ruleset = position.ruleset();
        let ring = match &self.rules {
            Some((known, ring)) if known == ruleset => ring,
            _ => &self.rules.insert((*ruleset, ring_of(ruleset))).1,
        };
        let found = ring.as_ref().and_then(|ring| {
            let board = as_row(position)?;
            self.outlook.clear(ruleset.columns());
            self.instructions.run_rows(Find {
                position,
                ring,
                board: &board,
                hands: &mut self.hands,
                outlook: &mut self.outlook,
            })
        });
        if found.is_none() {
            self.outlook.take_by_rules(position);
        }
        &self.outlook
    }
}

/// Returns the ring of a rule set, `None` where boards do not fit in rows or are too small.
fn ring_of(ruleset: &Ruleset) -> Option<Box<RowRing>> {
    if ruleset.columns() < MIN_COLUMNS {
        return None;
    }
    let mut ring = RowRing::of(ruleset)?;
    // Positions may hold more seeds than the start.
    ring.fills = true;
    Some(Box::new(ring))
}

/// Returns the seeds of all pits from the mover's left, `None` where one is heavy.
fn as_row(position: &Position) -> Option<RowBoard> {
    let (board, mover) = (position.board(), position.to_move());
    let mut row = RowBoard::EMPTY;
    let pits = row.pits_mut(position.ruleset().pits());
    let rows = board.row(mover).iter().chain(board.row(mover.other()));
    for (byte, &seeds) in pits.iter_mut().zip(rows) {
        *byte = u8::try_from(seeds).ok().filter(|&seeds| seeds < LIGHT)?;
    }
    Some(row)
}

/// Boards that are sown together.
#[derive(Debug)]
struct Hands {
    boards: [RowBoard; LANES],
    sowings: Sowings,
    count: usize,
    /// The mover's column that came before, and the pit sown now.
    of: [(usize, usize); LANES],
    /// The boards after the mover's moves.
    after: [RowBoard; MAX_COLUMNS],
    /// The pits that decide what sowing the other row's pits does, as bits; all of them where that
    /// is not known.
    deciding: [u128; MAX_COLUMNS],
}

impl Hands {
    const NONE: Hands = Hands {
        boards: [RowBoard::EMPTY; LANES],
        sowings: Sowings::NONE,
        count: 0,
        of: [(0, 0); LANES],
        after: [RowBoard::EMPTY; MAX_COLUMNS],
        deciding: [u128::MAX; MAX_COLUMNS],
    };

    /// Adds a board and a pit of it to be sown, and tells whether there is no room for more.
    #[inline(always)]
    fn push(&mut self, board: RowBoard, column: usize, pit: usize) -> bool {
        self.boards[self.count % LANES] = board;
        self.of[self.count % LANES] = (column, pit);
        self.count += 1;
        self.count >= LANES
    }

    /// Sows them all; returns how many they are, and those that were not sown to the end.
    #[inline(always)]
    fn sow<R: RowVector>(&mut self, r: R, ring: &RowRing) -> (usize, u64) {
        let count = std::mem::take(&mut self.count).min(LANES);
        if count == 0 {
            return (0, 0);
        }
        let all = u64::MAX >> (LANES - count);
        let of = &self.of;
        let begin = |hand: usize| of[hand].1;
        let left = self.sowings.sow(r, ring, &mut self.boards, all, begin);
        (count, left)
    }
}

/// Finds the outlook of a position whose board lies in a row.
struct Find<'a> {
    position: &'a Position,
    ring: &'a RowRing,
    board: &'a RowBoard,
    hands: &'a mut Hands,
    outlook: &'a mut Outlook,
}

impl RowKernel for Find<'_> {
    type Output = ();

    #[inline(always)]
    fn run<R: RowVector>(mut self, r: R) {
        let columns = self.ring.pits / 2;
        let row = u64::MAX >> (MAX_COLUMNS - columns);
        // A pit that is empty now may have seeds after a move.
        self.hands.deciding = [u128::MAX; MAX_COLUMNS];
        for first in [0, columns] {
            for column in lanes_of(r.occupied(self.board, first) & row) {
                if self.hands.push(*self.board, 0, first + column) {
                    self.settle_moves(r);
                }
            }
        }
        self.settle_moves(r);
        for column in lanes_of(r.occupied(self.board, 0) & row) {
            let found = self.outlook.sowings[column];
            if found.is_none_or(|found| found.end == SowingEnd::Endless) {
                continue;
            }
            let after = self.hands.after[column];
            if (r.heavy(&after, 0) | r.heavy(&after, columns)) & row != 0 {
                self.answer_by_rules(column);
                continue;
            }
            let changed = changed(r, self.board, &after);
            let mut answers = Answers::default();
            for pit in lanes_of(r.occupied(&after, columns) & row) {
                if self.hands.deciding[pit] & changed == 0 {
                    let known = self.outlook.sowings[columns + pit];
                    answers.add(known.map_or(0, |sowing| sowing.captured));
                } else if self.hands.push(after, column, columns + pit) {
                    self.settle_answers(r);
                }
            }
            self.outlook.answers[column].join(answers);
        }
        self.settle_answers(r);
    }
}

impl Find<'_> {
    /// Sows the pits of the position itself.
    #[inline(always)]
    fn settle_moves<R: RowVector>(&mut self, r: R) {
        let columns = self.ring.pits / 2;
        let lone_taken = self.position.ruleset().lone_capture() == LoneCapture::Taken;
        let (count, left) = self.hands.sow(r, self.ring);
        for hand in 0..count {
            let pit = self.hands.of[hand].1;
            if left >> hand & 1 == 1 {
                self.sow_by_rules(pit);
                continue;
            }
            let sowings = &self.hands.sowings;
            let last = usize::from(sowings.last(hand));
            let board = &mut self.hands.boards[hand];
            let (captured, end) = capture(board, pit, last, columns, lone_taken);
            self.outlook.sowings[pit] = Some(Sowing {
                laps: sowings.laps(hand).into(),
                seeds_sown: sowings.seeds(hand).into(),
                last: Some(last as u8),
                captured,
                end,
            });
            if pit < columns {
                self.hands.after[pit] = *board;
            } else {
                let ends = 1 << last | 1 << opposite(last, columns);
                let lifted = sowings.lifted(hand);
                self.hands.deciding[pit - columns] = lifted.fold(ends, |set, pit| set | 1 << pit);
            }
        }
    }

    /// Sows what the other side could answer.
    #[inline(always)]
    fn settle_answers<R: RowVector>(&mut self, r: R) {
        let columns = self.ring.pits / 2;
        let lone_taken = self.position.ruleset().lone_capture() == LoneCapture::Taken;
        let (count, left) = self.hands.sow(r, self.ring);
        for hand in 0..count {
            let (column, pit) = self.hands.of[hand];
            if left >> hand & 1 == 1 {
                self.answer_once_by_rules(column, pit);
                continue;
            }
            let last = usize::from(self.hands.sowings.last(hand));
            let board = &mut self.hands.boards[hand];
            let (captured, _) = capture(board, pit, last, columns, lone_taken);
            self.outlook.answers[column].add(captured);
        }
    }

    /// Sows a pit of the position by the scalar rules.
    #[cold]
    fn sow_by_rules(&mut self, pit: usize) {
        let (ruleset, mover) = (self.position.ruleset(), self.position.to_move());
        let columns = ruleset.columns();
        let side = if pit < columns { mover } else { mover.other() };
        let (found, after) = sow(self.position.board(), ruleset, side, pit % columns, mover);
        self.outlook.sowings[pit] = Some(found);
        if pit < columns {
            let rows = after.row(mover).iter().chain(after.row(mover.other()));
            let bytes = self.hands.after[pit].pits_mut(2 * columns);
            for (byte, &seeds) in bytes.iter_mut().zip(rows) {
                // More than a byte holds is as heavy as what it holds.
                *byte = seeds.min(u8::MAX.into()) as u8;
            }
        }
    }

    /// Sows all answers to a move by the scalar rules.
    #[cold]
    fn answer_by_rules(&mut self, column: usize) {
        let (ruleset, mover) = (self.position.ruleset(), self.position.to_move());
        let (_, after) = sow(self.position.board(), ruleset, mover, column, mover);
        self.outlook.answers[column] = answers(&after, ruleset, mover.other());
    }

    /// Sows one answer to a move by the scalar rules.
    #[cold]
    fn answer_once_by_rules(&mut self, column: usize, pit: usize) {
        let ruleset = self.position.ruleset();
        let columns = ruleset.columns();
        // Seen by the mover, who sits South on this board.
        let mut board = Board::empty(columns);
        let bytes = self.hands.after[column].pits(2 * columns);
        for (seeds, &byte) in board.pits_mut().iter_mut().zip(bytes) {
            *seeds = byte.into();
        }
        let side = Side::North;
        let found = sowing::sow_scratch(&mut board, ruleset, side, pit - columns, false);
        if found.end != SowingEnd::Endless || ruleset.endless() == Endless::Draw {
            self.outlook.answers[column].add(found.captured);
        }
    }
}

/// Finds the pits in which two boards differ, as bits.
#[inline(always)]
fn changed<R: RowVector>(r: R, before: &RowBoard, after: &RowBoard) -> u128 {
    let mut differ = RowBoard::EMPTY;
    let pairs = before.0.iter().zip(&after.0);
    for (byte, (before, after)) in differ.0.iter_mut().zip(pairs) {
        *byte = before ^ after;
    }
    u128::from(r.occupied(&differ, 0)) | u128::from(r.occupied(&differ, MAX_COLUMNS)) << MAX_COLUMNS
}

/// Captures after a sowing of `pit` whose last seed fell into the empty pit `last` (C1 to C3).
#[inline(always)]
fn capture(
    board: &mut RowBoard,
    pit: usize,
    last: usize,
    columns: usize,
    lone_taken: bool,
) -> (u16, SowingEnd) {
    if (pit < columns) != (last < columns) {
        return (0, SowingEnd::Opponent);
    }
    let facing = opposite(last, columns);
    let seeds = board.get(facing);
    if seeds == 0 && !lone_taken {
        return (0, SowingEnd::Empty);
    }
    board.set(facing, 0);
    board.set(last, 0);
    (u16::from(seeds) + 1, SowingEnd::Captured)
}
