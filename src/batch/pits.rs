//! The boards of a block of lanes, and what is done to all of them at once.

use crate::batch::LANES;
use crate::pit::MAX_PITS;
use crate::ruleset::Ruleset;
use crate::sowing;

/// The boards of 64 lanes, each in the frame of its side to move: own row in pits `0..C`, the
/// other row in `C..2C`, so that a sowing is the same arithmetic for both sides (B4).
#[derive(Clone, Debug)]
pub(super) struct Pits {
    count: usize,
    seeds: Vec<u16>,
}

/// What the sowings of a block did.
pub(super) struct Sown {
    /// The pit of the last seed of every lane that sowed to an end.
    pub(super) last: [u8; LANES],
    /// Lanes whose sowing is endless; their boards are as before.
    pub(super) endless: u64,
}

/// Iterates over the lanes of a set.
pub(super) fn lanes_of(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let lane = set.trailing_zeros() as usize;
            set &= set - 1;
            lane
        })
    })
}

impl Pits {
    /// Makes 64 empty boards.
    pub(super) fn new(ruleset: &Ruleset) -> Pits {
        let count = ruleset.pits();
        Pits {
            count,
            seeds: vec![0; count * LANES],
        }
    }

    /// Returns `N`, the pits of a board.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    fn board(&self, lane: usize) -> &[u16] {
        &self.seeds[lane * self.count..(lane + 1) * self.count]
    }

    fn board_mut(&mut self, lane: usize) -> &mut [u16] {
        &mut self.seeds[lane * self.count..(lane + 1) * self.count]
    }

    /// Copies the board of one lane out, `u16[N]`.
    pub(super) fn load(&self, lane: usize, board: &mut [u16]) {
        board.copy_from_slice(self.board(lane));
    }

    /// Replaces the board of one lane, `u16[N]`.
    pub(super) fn store(&mut self, lane: usize, board: &[u16]) {
        self.board_mut(lane).copy_from_slice(board);
    }

    /// Returns the seeds of one pit of one lane.
    pub(super) fn get(&self, lane: usize, pit: usize) -> u16 {
        self.board(lane)[pit]
    }

    /// Empties one pit of one lane and returns its seeds.
    pub(super) fn lift(&mut self, lane: usize, pit: usize) -> u16 {
        std::mem::take(&mut self.board_mut(lane)[pit])
    }

    /// Empties the board of one lane and returns its seeds (E1).
    pub(super) fn lift_all(&mut self, lane: usize) -> u16 {
        let board = self.board_mut(lane);
        let seeds = board.iter().sum();
        board.fill(0);
        seeds
    }

    /// Exchanges the rows of the lanes in a set, for the other side to move.
    pub(super) fn turn(&mut self, lanes: u64) {
        let columns = self.count / 2;
        for lane in lanes_of(lanes) {
            self.board_mut(lane).rotate_left(columns);
        }
    }

    /// Writes both rows of one lane, `i16[2C]`.
    pub(super) fn observe(&self, lane: usize, out: &mut [i16]) {
        for (out, &seeds) in out.iter_mut().zip(self.board(lane)) {
            *out = seeds as i16;
        }
    }

    /// Sows one column in every lane of a set (S1 to S6); captures are the caller's.
    pub(super) fn sow(&mut self, lanes: u64, columns: &[u8; LANES], ruleset: &Ruleset) -> Sown {
        let mut sown = Sown {
            last: [0; LANES],
            endless: 0,
        };
        let mut before = [0; MAX_PITS];
        let before = &mut before[..self.count];
        for lane in lanes_of(lanes) {
            let board = self.board_mut(lane);
            before.copy_from_slice(board);
            if let Some(last) = sowing::relay(board, usize::from(columns[lane]), ruleset) {
                sown.last[lane] = last as u8;
            } else {
                board.copy_from_slice(before);
                sown.endless |= 1 << lane;
            }
        }
        sown
    }

    /// Finds the non-empty pits of the own row of every lane in a set.
    pub(super) fn occupied(&self, lanes: u64, out: &mut [u64; LANES]) {
        let columns = self.count / 2;
        for lane in lanes_of(lanes) {
            let row = &self.board(lane)[..columns];
            out[lane] = row.iter().enumerate().fold(0, |set, (column, &seeds)| {
                set | u64::from(seeds > 0) << column
            });
        }
    }

    /// Takes the columns whose sowing is endless out of the sets of the lanes given (S6).
    pub(super) fn remove_endless(&self, lanes: u64, sets: &mut [u64; LANES], ruleset: &Ruleset) {
        let mut scratch = [0; MAX_PITS];
        let scratch = &mut scratch[..self.count];
        for lane in lanes_of(lanes) {
            let board = self.board(lane);
            for column in lanes_of(sets[lane]) {
                if sowing::ends_in_one_lap(board, column, ruleset.direction()) {
                    continue;
                }
                scratch.copy_from_slice(board);
                if sowing::relay(scratch, column, ruleset).is_none() {
                    sets[lane] &= !(1 << column);
                }
            }
        }
    }
}
