//! Sowings in progress in lanes, to be read lane by lane.

// Kernels call these: they must be inlined into the functions that switch the instructions on.
#![allow(clippy::inline_always)]

use crate::batch::pending::{Sowing, Turned};
use crate::batch::simd::{Hand, MAX_PITS, Row, Vector};

/// Sowings in progress, out of registers.
pub(super) struct Stopped {
    pits: usize,
    boards: [Row; MAX_PITS],
    at: Row,
}

impl Stopped {
    #[inline(always)]
    pub(super) fn new<V: Vector>(
        v: V,
        boards: &[V::Bytes; MAX_PITS],
        pits: usize,
        hand: &Hand<V>,
    ) -> Stopped {
        let mut rows = [Row::ZERO; MAX_PITS];
        for (row, &seeds) in rows.iter_mut().zip(&boards[..pits]) {
            v.store(seeds, row);
        }
        Stopped {
            pits,
            boards: rows,
            at: row_of(v, hand.at),
        }
    }

    /// Describes the sowing in one lane, which began at `column` of `start` and goes on after
    /// `laps` laps.
    pub(super) fn sowing(
        &self,
        start: Turned,
        column: usize,
        lane: usize,
        laps: u32,
        id: u32,
    ) -> Sowing {
        let at = usize::from(self.at.0[lane]);
        Sowing {
            start,
            board: turned(&self.boards[..self.pits], lane, at),
            laps,
            turned: if at < column { at + self.pits } else { at } - column,
            id,
        }
    }
}

/// Copies a byte of every lane out of registers.
#[inline(always)]
pub(super) fn row_of<V: Vector>(v: V, bytes: V::Bytes) -> Row {
    let mut row = Row::ZERO;
    v.store(bytes, &mut row);
    row
}

/// Copies one lane's board out, turned to a pit.
pub(super) fn turned(boards: &[Row], lane: usize, pit: usize) -> Turned {
    let mut board = [0; MAX_PITS];
    let (before, from) = boards.split_at(pit);
    let (first, second) = board.split_at_mut(from.len());
    for (seeds, row) in first.iter_mut().zip(from) {
        *seeds = row.0[lane];
    }
    for (seeds, row) in second.iter_mut().zip(before) {
        *seeds = row.0[lane];
    }
    board
}
