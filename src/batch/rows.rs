//! Large boards in rows of bytes: a lap is one addition, 64 sowings lap by lap together.
//!
//! A board with a heavy pit is kept among boards of any size until it is light again.

// The kernels must be inlined into the functions that switch the instructions on.
#![allow(clippy::inline_always)]

use std::sync::Arc;

use crate::batch::LANES;
use crate::batch::boards::{Boards, Sown, lanes_of};
use crate::batch::pending::Pending;
use crate::batch::simd::{Instructions, LIGHT, RowBoard, RowKernel, RowRing, RowVector, Sowings};
use crate::batch::wide::Wide;
use crate::pit::MAX_PITS;
use crate::ruleset::{LoneCapture, Ruleset};
use crate::sowing;

/// What the boards of all blocks share.
#[derive(Debug)]
pub(super) struct RowShared {
    instructions: Instructions,
    ruleset: Ruleset,
    ring: RowRing,
    /// The pits of a row, as bits.
    row: u64,
}

impl RowShared {
    /// Returns what boards of a rule set share, `None` where rows are not faster than boards of
    /// any size.
    pub(super) fn new(ruleset: &Ruleset, instructions: Instructions) -> Option<RowShared> {
        if instructions == Instructions::Scalar {
            return None;
        }
        let mut ring = RowRing::of(ruleset)?;
        // Positions may hold more seeds than the start.
        ring.fills = true;
        Some(RowShared {
            instructions,
            ruleset: *ruleset,
            ring,
            row: u64::MAX >> (64 - ruleset.columns()),
        })
    }

    /// Sows one pit of a board by the scalar rules; `None` where that is endless.
    fn relay(&self, board: &RowBoard, pit: usize, scratch: &mut [u16; MAX_PITS]) -> Option<usize> {
        let pits = &mut scratch[..self.ring.pits];
        for (seeds, &byte) in pits.iter_mut().zip(board.pits(self.ring.pits)) {
            *seeds = byte.into();
        }
        sowing::relay(pits, pit, &self.ruleset)
    }
}

/// The boards of 64 lanes.
#[derive(Clone, Debug)]
pub(super) struct RowBoards {
    shared: Arc<RowShared>,
    boards: Box<[RowBoard; LANES]>,
    /// Lanes whose board is in `wide`.
    heavy: u64,
    wide: Option<Box<Wide>>,
}

impl RowBoards {
    /// Makes 64 empty boards.
    pub(super) fn new(shared: Arc<RowShared>) -> RowBoards {
        RowBoards {
            shared,
            boards: Box::new([RowBoard::EMPTY; LANES]),
            heavy: 0,
            wide: None,
        }
    }

    fn pits(&self) -> usize {
        self.shared.ring.pits
    }

    fn is_heavy(&self, lane: usize) -> bool {
        self.heavy >> lane & 1 == 1
    }

    /// Replaces a board, as bytes where all its pits are light.
    fn replace(&mut self, lane: usize, board: &[u16]) {
        if board.iter().all(|&seeds| seeds < LIGHT.into()) {
            let bytes = self.boards[lane].pits_mut(board.len());
            for (byte, &seeds) in bytes.iter_mut().zip(board) {
                *byte = seeds as u8;
            }
            self.heavy &= !(1 << lane);
        } else {
            let ruleset = &self.shared.ruleset;
            let wide = self
                .wide
                .get_or_insert_with(|| Box::new(Wide::new(ruleset)));
            wide.replace(lane, board);
            self.heavy |= 1 << lane;
        }
    }

    /// Puts boards of a set where they belong after a sowing.
    fn sort(&mut self, lanes: u64) {
        let mut board = [0; MAX_PITS];
        for lane in lanes_of(lanes) {
            let board = &mut board[..self.pits()];
            self.load(lane, board);
            self.replace(lane, board);
        }
    }
}

/// Sows one column in every lane of a set; returns the lanes left, whose boards are as before,
/// and those that got heavy.
struct SowAll<'a> {
    ring: &'a RowRing,
    row: u64,
    boards: &'a mut [RowBoard; LANES],
    lanes: u64,
    columns: &'a [u8; LANES],
    last: &'a mut [u8; LANES],
}

impl RowKernel for SowAll<'_> {
    type Output = [u64; 2];

    #[inline(always)]
    fn run<R: RowVector>(self, r: R) -> [u64; 2] {
        let mut sowings = Sowings::NONE;
        let column = |lane: usize| self.columns[lane].into();
        let left = sowings.sow(r, self.ring, self.boards, self.lanes, column);
        for lane in lanes_of(left) {
            sowings.take_back(lane, self.ring, &mut self.boards[lane]);
        }
        let mut heavy = 0;
        for lane in lanes_of(self.lanes) {
            self.last[lane] = sowings.last(lane);
            let board = &self.boards[lane];
            let pits = r.heavy(board, 0) | r.heavy(board, self.ring.pits / 2);
            heavy |= u64::from(pits & self.row != 0) << lane;
        }
        [left, heavy]
    }
}

/// Finds the occupied pits of the first rows of all boards.
struct Occupied<'a> {
    boards: &'a [RowBoard; LANES],
    row: u64,
}

impl RowKernel for Occupied<'_> {
    type Output = [u64; LANES];

    #[inline(always)]
    fn run<R: RowVector>(self, r: R) -> [u64; LANES] {
        let mut sets = [0; LANES];
        for (set, board) in sets.iter_mut().zip(self.boards) {
            *set = r.occupied(board, 0) & self.row;
        }
        sets
    }
}

/// Takes the columns whose sowing is endless out of the sets of occupied ones.
struct Try<'a> {
    shared: &'a RowShared,
    boards: &'a [RowBoard; LANES],
    lanes: u64,
    out: &'a mut [u64; LANES],
}

/// Sowings tried on copies of their boards.
struct Tries {
    hands: [RowBoard; LANES],
    sowings: Sowings,
    count: usize,
    /// The lane and column of each.
    of: [(usize, usize); LANES],
}

impl RowKernel for Try<'_> {
    type Output = ();

    #[inline(always)]
    fn run<R: RowVector>(mut self, r: R) {
        let laps = self.shared.ruleset.lap_limit() as usize;
        let mut tries = Tries {
            hands: [RowBoard::EMPTY; LANES],
            sowings: Sowings::NONE,
            count: 0,
            of: [(0, 0); LANES],
        };
        for lane in lanes_of(self.lanes) {
            let board = &self.boards[lane];
            let columns = self.out[lane];
            let ended = r.ends_soon(&self.shared.ring, board, columns, laps);
            for column in lanes_of(columns & !ended) {
                tries.hands[tries.count] = *board;
                tries.of[tries.count] = (lane, column);
                tries.count += 1;
                if tries.count == LANES {
                    self.settle(r, &mut tries);
                }
            }
        }
        self.settle(r, &mut tries);
    }
}

impl Try<'_> {
    /// Sows the copies and takes the endless ones out.
    #[inline(always)]
    fn settle<R: RowVector>(&mut self, r: R, tries: &mut Tries) {
        if tries.count == 0 {
            return;
        }
        let all = u64::MAX >> (LANES - tries.count);
        let ring = &self.shared.ring;
        let of = &tries.of;
        let column = |hand: usize| of[hand].1;
        let left = tries.sowings.sow(r, ring, &mut tries.hands, all, column);
        for hand in lanes_of(left) {
            let (lane, column) = tries.of[hand];
            let board = &self.boards[lane];
            let mut scratch = [0; MAX_PITS];
            if self.shared.relay(board, column, &mut scratch).is_none() {
                self.out[lane] &= !(1 << column);
            }
        }
        tries.count = 0;
    }
}

/// Writes the boards of the first lanes, `i16[rows, 2C]` at the front of every `length`.
struct Observe<'a> {
    boards: &'a [RowBoard; LANES],
    pits: usize,
    out: &'a mut [i16],
    length: usize,
}

impl RowKernel for Observe<'_> {
    type Output = ();

    #[inline(always)]
    fn run<R: RowVector>(self, _: R) {
        for (out, board) in self.out.chunks_exact_mut(self.length).zip(self.boards) {
            for (out, &seeds) in out.iter_mut().zip(board.pits(self.pits)) {
                *out = seeds.into();
            }
        }
    }
}

impl Boards for RowBoards {
    fn copy(&self) -> Box<dyn Boards> {
        Box::new(self.clone())
    }

    fn store(&mut self, lane: usize, board: &[u16]) -> bool {
        self.replace(lane, board);
        true
    }

    fn load(&self, lane: usize, board: &mut [u16]) {
        if let Some(wide) = &self.wide
            && self.is_heavy(lane)
        {
            wide.load(lane, board);
            return;
        }
        let bytes = self.boards[lane].pits(board.len());
        for (seeds, &byte) in board.iter_mut().zip(bytes) {
            *seeds = byte.into();
        }
    }

    fn get(&self, lane: usize, pit: usize) -> u16 {
        match &self.wide {
            Some(wide) if self.is_heavy(lane) => wide.get(lane, pit),
            _ => self.boards[lane].get(pit).into(),
        }
    }

    fn lift(&mut self, lane: usize, pit: usize) -> u16 {
        let heavy = self.is_heavy(lane);
        match &mut self.wide {
            Some(wide) if heavy => wide.lift(lane, pit),
            _ => {
                let board = &mut self.boards[lane];
                let seeds = board.get(pit);
                board.set(pit, 0);
                seeds.into()
            }
        }
    }

    fn lift_all(&mut self, lane: usize) -> u16 {
        (0..self.pits()).map(|pit| self.lift(lane, pit)).sum()
    }

    fn turn(&mut self, lanes: u64) {
        let columns = self.pits() / 2;
        for lane in lanes_of(lanes & !self.heavy) {
            self.boards[lane].exchange_rows(columns);
        }
        if let Some(wide) = &mut self.wide {
            wide.turn(lanes & self.heavy);
        }
    }

    fn sow(&mut self, lanes: u64, columns: &[u8; LANES], pending: &mut Pending) -> Sown {
        let shared = self.shared.clone();
        let mut sown = Sown {
            last: [0; LANES],
            endless: 0,
        };
        let light = lanes & !self.heavy;
        let sow = SowAll {
            ring: &shared.ring,
            row: shared.row,
            boards: &mut self.boards,
            lanes: light,
            columns,
            last: &mut sown.last,
        };
        let [left, mut changed] = shared.instructions.run_rows(sow).unwrap_or([light, 0]);
        if let Some(wide) = &mut self.wide
            && lanes & self.heavy != 0
        {
            let of_wide = wide.sow(lanes & self.heavy, columns, pending);
            sown.endless = of_wide.endless;
            for lane in lanes_of(lanes & self.heavy) {
                sown.last[lane] = of_wide.last[lane];
            }
            changed |= lanes & self.heavy;
        }
        self.sort(changed & !left);
        let mut scratch = [0; MAX_PITS];
        for lane in lanes_of(left) {
            let column = usize::from(columns[lane]);
            match shared.relay(&self.boards[lane], column, &mut scratch) {
                Some(pit) => {
                    sown.last[lane] = pit as u8;
                    self.replace(lane, &scratch[..shared.ring.pits]);
                }
                None => sown.endless |= 1 << lane,
            }
        }
        sown
    }

    fn occupied(&self, lanes: u64, out: &mut [u64; LANES]) {
        let occupied = Occupied {
            boards: &self.boards,
            row: self.shared.row,
        };
        if let Some(sets) = self.shared.instructions.run_rows(occupied) {
            for lane in lanes_of(lanes & !self.heavy) {
                out[lane] = sets[lane];
            }
        }
        if let Some(wide) = &self.wide {
            wide.occupied(lanes & self.heavy, out);
        }
    }

    fn legal(&mut self, lanes: u64, out: &mut [u64; LANES], pending: &mut Pending) {
        self.occupied(lanes & !self.heavy, out);
        let tried = Try {
            shared: &self.shared,
            boards: &self.boards,
            lanes: lanes & !self.heavy,
            out,
        };
        let _ = self.shared.instructions.run_rows(tried);
        if let Some(wide) = &mut self.wide {
            wide.legal(lanes & self.heavy, out, pending);
        }
    }

    fn observe(&self, out: &mut [i16], length: usize) {
        let heavy = lanes_of(self.heavy).take_while(|lane| (lane + 1) * length <= out.len());
        let heavy: u64 = heavy.fold(0, |set, lane| set | 1 << lane);
        let pits = self.pits();
        let observe = Observe {
            boards: &self.boards,
            pits,
            out: &mut *out,
            length,
        };
        let _ = self.shared.instructions.run_rows(observe);
        let mut board = [0; MAX_PITS];
        for lane in lanes_of(heavy) {
            self.load(lane, &mut board[..pits]);
            let out = &mut out[lane * length..][..pits];
            for (out, &seeds) in out.iter_mut().zip(&board) {
                *out = seeds as i16;
            }
        }
    }

    fn capture(&mut self, lanes: u64, last: &[u8; LANES], ruleset: &Ruleset) -> [u16; LANES] {
        let columns = ruleset.columns();
        let lone_taken = ruleset.lone_capture() == LoneCapture::Taken;
        let mut taken = match &mut self.wide {
            Some(wide) => wide.capture(lanes & self.heavy, last, ruleset),
            None => [0; LANES],
        };
        for lane in lanes_of(lanes & !self.heavy) {
            let board = &mut self.boards[lane];
            let pit = usize::from(last[lane]);
            let facing = crate::pit::opposite(pit, columns);
            let seeds = board.get(facing);
            // Without a branch: nobody can tell beforehand which sowings capture.
            let capture = u8::from(pit < columns) & (u8::from(seeds > 0) | u8::from(lone_taken));
            let all = capture.wrapping_neg();
            board.set(pit, board.get(pit) & !all);
            board.set(facing, seeds & !all);
            taken[lane] = (u16::from(seeds) + 1) * u16::from(capture);
        }
        taken
    }
}
