//! Boards of any size: one row of `u16` a lane.

use crate::batch::LANES;
use crate::batch::boards::{Boards, Sown, lanes_of};
use crate::batch::light::Light;
use crate::batch::pending::Pending;
use crate::pit::MAX_PITS;
use crate::ruleset::Ruleset;
use crate::sowing;

/// The boards of 64 lanes, one after the other, sown by the scalar rules of `sowing.rs`.
#[derive(Clone, Debug)]
pub(super) struct Wide {
    ruleset: Ruleset,
    count: usize,
    seeds: Vec<u16>,
}

impl Wide {
    /// Makes 64 empty boards.
    pub(super) fn new(ruleset: &Ruleset) -> Wide {
        let count = ruleset.pits();
        Wide {
            ruleset: *ruleset,
            count,
            seeds: vec![0; count * LANES],
        }
    }

    /// Replaces the board of one lane, `u16[N]`.
    pub(super) fn replace(&mut self, lane: usize, board: &[u16]) {
        self.board_mut(lane).copy_from_slice(board);
    }

    fn ends_carefully(&self, board: &[u16], column: usize) -> bool {
        let mut scratch = [0; MAX_PITS];
        let scratch = &mut scratch[..self.count];
        scratch.copy_from_slice(board);
        sowing::relay(scratch, column, &self.ruleset).is_some()
    }

    fn board(&self, lane: usize) -> &[u16] {
        &self.seeds[lane * self.count..(lane + 1) * self.count]
    }

    fn board_mut(&mut self, lane: usize) -> &mut [u16] {
        &mut self.seeds[lane * self.count..(lane + 1) * self.count]
    }
}

impl Boards for Wide {
    fn copy(&self) -> Box<dyn Boards> {
        Box::new(self.clone())
    }

    fn store(&mut self, lane: usize, board: &[u16]) -> bool {
        self.replace(lane, board);
        true
    }

    fn load(&self, lane: usize, board: &mut [u16]) {
        board.copy_from_slice(self.board(lane));
    }

    fn get(&self, lane: usize, pit: usize) -> u16 {
        self.board(lane)[pit]
    }

    fn lift(&mut self, lane: usize, pit: usize) -> u16 {
        std::mem::take(&mut self.board_mut(lane)[pit])
    }

    fn lift_all(&mut self, lane: usize) -> u16 {
        let board = self.board_mut(lane);
        let seeds = board.iter().sum();
        board.fill(0);
        seeds
    }

    fn turn(&mut self, lanes: u64) {
        let columns = self.count / 2;
        for lane in lanes_of(lanes) {
            self.board_mut(lane).rotate_left(columns);
        }
    }

    fn sow(&mut self, lanes: u64, columns: &[u8; LANES], _: &mut Pending) -> Sown {
        let ruleset = self.ruleset;
        let mut sown = Sown {
            last: [0; LANES],
            endless: 0,
        };
        let mut before = [0; MAX_PITS];
        let before = &mut before[..self.count];
        for lane in lanes_of(lanes) {
            let board = self.board_mut(lane);
            before.copy_from_slice(board);
            if let Some(last) = sowing::relay(board, usize::from(columns[lane]), &ruleset) {
                sown.last[lane] = last as u8;
            } else {
                board.copy_from_slice(before);
                sown.endless |= 1 << lane;
            }
        }
        sown
    }

    fn occupied(&self, lanes: u64, out: &mut [u64; LANES]) {
        let columns = self.count / 2;
        for lane in lanes_of(lanes) {
            let row = &self.board(lane)[..columns];
            out[lane] = row.iter().enumerate().fold(0, |set, (column, &seeds)| {
                set | u64::from(seeds > 0) << column
            });
        }
    }

    fn legal(&mut self, lanes: u64, out: &mut [u64; LANES], _: &mut Pending) {
        self.occupied(lanes, out);
        for lane in lanes_of(lanes) {
            let board = self.board(lane);
            let light = Light::of(board);
            for column in lanes_of(out[lane]) {
                let ends = sowing::ends_in_one_lap(board, column, self.ruleset.direction())
                    || light.is_some_and(|light| light.ends(column, &self.ruleset))
                    || self.ends_carefully(board, column);
                if !ends {
                    out[lane] &= !(1 << column);
                }
            }
        }
    }

    fn observe(&self, out: &mut [i16], length: usize) {
        let boards = self.seeds.chunks_exact(self.count);
        for (out, board) in out.chunks_exact_mut(length).zip(boards) {
            for (out, &seeds) in out.iter_mut().zip(board) {
                *out = seeds as i16;
            }
        }
    }
}
