//! The boards of a block of lanes, and what is done to all of them at once.

use std::fmt::Debug;
use std::sync::Arc;

use crate::batch::LANES;
use crate::batch::lanes::{LaneBoards, Shared};
use crate::batch::packed::{LapTable, Packed};
use crate::batch::pending::Pending;
use crate::batch::rows::{RowBoards, RowShared};
use crate::batch::simd::Instructions;
use crate::batch::wide::Wide;
use crate::ruleset::{LoneCapture, Ruleset};

/// The most seeds that a packed board holds: a pit is one byte.
pub(super) const MAX_PACKED_SEEDS: u32 = 255;

/// What the sowings of a block did.
pub(super) struct Sown {
    /// The pit of the last seed of every lane that sowed to an end.
    pub(super) last: [u8; LANES],
    /// Lanes whose sowing is endless; their boards are as before.
    pub(super) endless: u64,
}

/// The boards of 64 lanes, each in the frame of its side to move: own row in pits `0..C`, the
/// other row in `C..2C`, so that a sowing is the same arithmetic for both sides (B4).
///
/// Sets of lanes are the bits of a word.
pub(super) trait Boards: Debug + Send + Sync {
    /// Copies all boards.
    fn copy(&self) -> Box<dyn Boards>;

    /// Replaces the board of one lane, `u16[N]`; false where this shape cannot hold it.
    #[must_use]
    fn store(&mut self, lane: usize, board: &[u16]) -> bool;

    /// Copies the board of one lane out, `u16[N]`.
    fn load(&self, lane: usize, board: &mut [u16]);

    /// Returns the seeds of one pit of one lane.
    fn get(&self, lane: usize, pit: usize) -> u16;

    /// Empties one pit of one lane and returns its seeds.
    fn lift(&mut self, lane: usize, pit: usize) -> u16;

    /// Empties the board of one lane and returns its seeds (E1).
    fn lift_all(&mut self, lane: usize) -> u16;

    /// Exchanges the rows of the lanes in a set, for the other side to move.
    fn turn(&mut self, lanes: u64);

    /// Sows one column in every lane of a set (S1 to S6).
    ///
    /// What is in `pending` stays as it is; it only lends its room.
    fn sow(&mut self, lanes: u64, columns: &[u8; LANES], pending: &mut Pending) -> Sown;

    /// Finds the non-empty pits of the own row of every lane in a set.
    fn occupied(&self, lanes: u64, out: &mut [u64; LANES]);

    /// Finds the pits of the own row of every lane in a set whose sowing ends (S1, S6).
    ///
    /// Sowings that take long are added to `pending` and count as ending until they have been
    /// followed: see [`Shape::find_endless`].
    fn legal(&mut self, lanes: u64, out: &mut [u64; LANES], pending: &mut Pending);

    /// Writes both rows of the first lanes, `i16[rows, 2C]` at the front of every `length`.
    fn observe(&self, out: &mut [i16], length: usize);

    /// Captures after the sowings that ended in the pits `last` (C1 to C3) and returns the seeds
    /// taken from every lane of the set; 0 elsewhere.
    fn capture(&mut self, lanes: u64, last: &[u8; LANES], ruleset: &Ruleset) -> [u16; LANES] {
        let columns = ruleset.columns();
        let stays = ruleset.lone_capture() == LoneCapture::Stays;
        let mut taken = [0; LANES];
        for lane in lanes_of(lanes) {
            let pit = usize::from(last[lane]);
            if pit >= columns {
                continue;
            }
            let facing = crate::pit::opposite(pit, columns);
            if stays && self.get(lane, facing) == 0 {
                continue;
            }
            taken[lane] = self.lift(lane, facing) + self.lift(lane, pit);
        }
        taken
    }
}

impl Clone for Box<dyn Boards> {
    fn clone(&self) -> Box<dyn Boards> {
        self.copy()
    }
}

/// The shape of boards that is fastest for a rule set, and the tables they share.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// Up to 32 pits, one pit of all boards in a row of bytes.
    Lanes(Arc<Shared>),
    /// Up to 8 pits of a byte in one word.
    Packed1(Arc<LapTable<1>>),
    /// Up to 16 pits.
    Packed2(Arc<LapTable<2>>),
    /// Up to 24 pits.
    Packed3(Arc<LapTable<3>>),
    /// Up to 32 pits.
    Packed4(Arc<LapTable<4>>),
    /// Up to 128 pits, a board in a row of bytes.
    Rows(Arc<RowShared>),
    /// Any number of pits and seeds.
    Wide,
}

impl Shape {
    /// Chooses the shape for games that start under `ruleset`.
    ///
    /// Packed boards are the twin of lanes without vector instructions, and beat lanes in plain
    /// Rust (measured): only a test has `asked` for these.
    pub(super) fn of(ruleset: &Ruleset, instructions: Instructions, asked: bool) -> Shape {
        let in_lanes = asked || instructions != Instructions::Portable;
        if in_lanes && let Some(shared) = Shared::new(ruleset, instructions) {
            return Shape::Lanes(Arc::new(shared));
        }
        let large = || match RowShared::new(ruleset, instructions) {
            Some(shared) => Shape::Rows(Arc::new(shared)),
            None => Shape::Wide,
        };
        let pits = ruleset.pits();
        if pits as u32 * u32::from(ruleset.seeds_per_pit()) > MAX_PACKED_SEEDS {
            return large();
        }
        match pits.div_ceil(8) {
            1 => Shape::Packed1(Arc::new(LapTable::new(ruleset))),
            2 => Shape::Packed2(Arc::new(LapTable::new(ruleset))),
            3 => Shape::Packed3(Arc::new(LapTable::new(ruleset))),
            4 => Shape::Packed4(Arc::new(LapTable::new(ruleset))),
            _ => large(),
        }
    }

    /// Follows the sowings that boards of this shape added to `pending`, and calls `endless` with the
    /// block, lane and column of those that are.
    pub(super) fn find_endless(
        &self,
        pending: &mut Pending,
        mut endless: impl FnMut(usize, usize, usize),
    ) {
        if let Shape::Lanes(shared) = self {
            shared.find_endless(pending, &mut |id| {
                let (block, lane, column) = Pending::place(id);
                endless(block, lane, column);
            });
        }
    }

    /// Makes 64 empty boards.
    pub(super) fn boards(&self, ruleset: &Ruleset) -> Box<dyn Boards> {
        match self {
            Shape::Lanes(shared) => Box::new(LaneBoards::new(shared.clone())),
            Shape::Packed1(table) => Box::new(Packed::new(table.clone())),
            Shape::Packed2(table) => Box::new(Packed::new(table.clone())),
            Shape::Packed3(table) => Box::new(Packed::new(table.clone())),
            Shape::Packed4(table) => Box::new(Packed::new(table.clone())),
            Shape::Rows(shared) => Box::new(RowBoards::new(shared.clone())),
            Shape::Wide => Box::new(Wide::new(ruleset)),
        }
    }
}

/// Iterates over the lanes, or columns, of a set.
#[inline]
pub(crate) fn lanes_of(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let lane = set.trailing_zeros() as usize;
            set &= set - 1;
            lane
        })
    })
}
