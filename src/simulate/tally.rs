//! What is counted in one game.

use crate::board::Board;
use crate::position::Outcome;
use crate::simulate::EndCode;
use crate::sowing::{Sowing, SowingEnd};

/// Counts of a game that goes on.
///
/// They are wider than the columns of a table: one game of `lap_limit` 1,000,000 on a full board
/// can pass 32 bits, and is written as the largest number a column holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) plies: u32,
    pub(crate) laps: u64,
    pub(crate) seeds_sown: u64,
    pub(crate) captures: u32,
    pub(crate) longest_sowing: u32,
    pub(crate) endless_met: u64,
    pub(crate) offers: u32,
}

impl Tally {
    /// Counts a ply. An endless sowing was met, but adds no laps and no seeds (S6).
    pub(crate) fn count(&mut self, sowing: &Sowing) {
        self.plies += 1;
        if sowing.end == SowingEnd::Endless {
            self.endless_met += 1;
            return;
        }
        self.laps += u64::from(sowing.laps);
        self.seeds_sown += sowing.seeds_sown;
        self.captures += u32::from(sowing.captured > 0);
        self.longest_sowing = self.longest_sowing.max(sowing.laps);
    }

    /// Closes the game; `at_fault` is the sign of the side that loses in a forfeit.
    pub(crate) fn finish(&self, board: &Board, end: EndCode, at_fault: i8) -> GameRow {
        self.row(board.captured(), end, at_fault)
    }

    /// Closes a game with the seeds that South and North have captured.
    pub(crate) fn row(&self, captured: [u16; 2], end: EndCode, at_fault: i8) -> GameRow {
        let winner = match end {
            EndCode::Stuck | EndCode::Quiet => Outcome::of_captured(captured).sign(),
            EndCode::Endless | EndCode::MaxPlies => 0,
            EndCode::Illegal | EndCode::Error | EndCode::Late => -at_fault,
        };
        GameRow {
            winner,
            captured_south: captured[0] as i16,
            captured_north: captured[1] as i16,
            plies: narrow(self.plies.into()),
            laps: narrow(self.laps),
            seeds_sown: narrow(self.seeds_sown),
            captures: narrow(self.captures.into()),
            longest_sowing: narrow(self.longest_sowing.into()),
            endless_met: narrow(self.endless_met),
            end_reason: end.code(),
            offers: narrow(self.offers.into()),
        }
    }
}

/// Narrows a count to a column's width; a count beyond it stays at the largest number.
fn narrow(count: u64) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// One finished game: a row of a [`GameTable`](super::GameTable), whose columns it documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GameRow {
    /// 1 South, -1 North, 0 a draw or a cut game.
    pub winner: i8,
    /// Seeds captured by South at the end.
    pub captured_south: i16,
    /// Seeds captured by North at the end.
    pub captured_north: i16,
    /// Plies played, opening plies included.
    pub plies: i32,
    /// Laps of all sowings; an endless sowing adds none.
    pub laps: i32,
    /// Seeds dropped in all sowings; an endless sowing adds none.
    pub seeds_sown: i32,
    /// Plies that captured.
    pub captures: i32,
    /// Laps of the longest sowing; an endless sowing does not count.
    pub longest_sowing: i32,
    /// Endless sowings drawn and refused by a random player, or played where they draw (S6).
    pub endless_met: i32,
    /// The code of an [`EndCode`].
    pub end_reason: i8,
    /// Turns on which the side to move had an endless sowing among its pits; counted on request.
    pub offers: i32,
}
