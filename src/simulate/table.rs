//! The results of many games as columns.

use crate::simulate::EndCode;
use crate::simulate::tally::GameRow;

/// One row a game, in game order; each column is `[B]`.
///
/// Counts that pass 2,147,483,647 stay at that number. Only `laps`, `seeds_sown` and
/// `endless_met` could, in games of millions of plies or with a `lap_limit` far above the longest
/// sowing ever met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameTable {
    /// `i8[B]`: 1 South, -1 North, 0 a draw or a cut game.
    pub winner: Vec<i8>,
    /// `i16[B]`: seeds captured by South at the end.
    pub captured_south: Vec<i16>,
    /// `i16[B]`: seeds captured by North at the end.
    pub captured_north: Vec<i16>,
    /// `i32[B]`: plies, opening plies included.
    pub plies: Vec<i32>,
    /// `i32[B]`: laps of all sowings; an endless sowing adds none.
    pub laps: Vec<i32>,
    /// `i32[B]`: seeds dropped in all sowings; an endless sowing adds none.
    pub seeds_sown: Vec<i32>,
    /// `i32[B]`: plies that captured.
    pub captures: Vec<i32>,
    /// `i32[B]`: laps of the longest sowing; an endless sowing does not count.
    pub longest_sowing: Vec<i32>,
    /// `i32[B]`: endless sowings drawn and refused by random players, or played (S6).
    pub endless_met: Vec<i32>,
    /// `i8[B]`: the code of an [`EndCode`].
    pub end_reason: Vec<i8>,
    /// `i32[B]`: turns that offered an endless sowing; empty unless it was asked for.
    pub offers: Vec<i32>,
}

impl GameTable {
    /// The names of the codes in `end_reason`, in order.
    pub const END_REASONS: [&'static str; 7] = [
        EndCode::Stuck.name(),
        EndCode::Quiet.name(),
        EndCode::Endless.name(),
        EndCode::MaxPlies.name(),
        EndCode::Illegal.name(),
        EndCode::Error.name(),
        EndCode::Late.name(),
    ];

    /// Returns `B`, the number of games.
    pub fn len(&self) -> usize {
        self.winner.len()
    }

    /// Tells whether there are no games.
    pub fn is_empty(&self) -> bool {
        self.winner.is_empty()
    }

    /// Adds a game; `offers` tells whether the turns that offered an endless sowing were counted.
    pub(super) fn push(&mut self, row: &GameRow, offers: bool) {
        self.winner.push(row.winner);
        self.captured_south.push(row.captured_south);
        self.captured_north.push(row.captured_north);
        self.plies.push(row.plies);
        self.laps.push(row.laps);
        self.seeds_sown.push(row.seeds_sown);
        self.captures.push(row.captures);
        self.longest_sowing.push(row.longest_sowing);
        self.endless_met.push(row.endless_met);
        self.end_reason.push(row.end_reason);
        if offers {
            self.offers.push(row.offers);
        }
    }

    /// Returns game `index` as a row, `None` past the end.
    pub fn row(&self, index: usize) -> Option<GameRow> {
        (index < self.len()).then(|| GameRow {
            winner: self.winner[index],
            captured_south: self.captured_south[index],
            captured_north: self.captured_north[index],
            plies: self.plies[index],
            laps: self.laps[index],
            seeds_sown: self.seeds_sown[index],
            captures: self.captures[index],
            longest_sowing: self.longest_sowing[index],
            endless_met: self.endless_met[index],
            end_reason: self.end_reason[index],
            offers: self.offers.get(index).copied().unwrap_or(0),
        })
    }
}
