//! Boards of up to 32 pits and 255 seeds, lane-wise: one row of bytes holds one pit of 64 boards.
//!
//! All lanes sow lap by lap together. Where moves are tried, a lane whose sowing has ended takes
//! its board's next candidate as soon as enough others wait with it, so that a long sowing holds
//! up nothing. The few sowings left at the end are followed one by one.

// The kernels must be inlined into the functions that switch the instructions on.
#![allow(clippy::inline_always)]

use std::sync::Arc;

use crate::batch::LANES;
use crate::batch::boards::{Boards, Sown, lanes_of};
use crate::batch::packed::Relay;
use crate::batch::simd::{Instructions, Kernel, MAX_PITS, Ring, Row, Vector, sow_lap};
use crate::ruleset::{LoneCapture, Ruleset};

/// Laps that all lanes sow together before those left are followed one by one.
const MAX_LAPS: u32 = 64;
/// Lanes left that are not worth a lap of all 64 (measured).
const STRAGGLERS: u32 = 3;
/// Lanes that wait before they take their next candidates together (measured).
const WAITING: u32 = 16;
/// Lanes below which sowings are followed one by one from the start (measured).
const MIN_LANES: u32 = 16;

/// What lane-wise boards share.
#[derive(Debug)]
pub(super) struct Shared {
    instructions: Instructions,
    ring: Ring,
    lap_limit: u32,
    relay: Box<dyn Relay>,
}

impl Shared {
    /// Returns what boards of a rule set share, `None` where they do not fit lanes.
    pub(super) fn new(ruleset: &Ruleset, instructions: Instructions) -> Option<Shared> {
        if instructions == Instructions::Scalar {
            return None;
        }
        Some(Shared {
            instructions,
            ring: Ring::of(ruleset)?,
            lap_limit: ruleset.lap_limit(),
            relay: super::packed::relay_of(ruleset)?,
        })
    }

    fn columns(&self) -> usize {
        self.ring.pits / 2
    }
}

/// The boards of 64 lanes, and room to sow on.
#[derive(Debug)]
pub(super) struct LaneBoards {
    shared: Arc<Shared>,
    pits: [Row; MAX_PITS],
    hands: Hands,
}

/// Sowings in progress on copies of the boards.
#[derive(Debug)]
struct Hands {
    pits: [Row; MAX_PITS],
    /// The pit lifted from; 255 in a lane that has nothing to do.
    at: Row,
    /// Seeds in hand.
    held: Row,
    /// The first column that a lane has not tried.
    next: Row,
}

impl LaneBoards {
    /// Makes 64 empty boards.
    pub(super) fn new(shared: Arc<Shared>) -> LaneBoards {
        let none = Row([u8::MAX; LANES]);
        LaneBoards {
            shared,
            pits: [Row::ZERO; MAX_PITS],
            hands: Hands {
                pits: [Row::ZERO; MAX_PITS],
                at: none,
                held: Row::ZERO,
                next: Row::ZERO,
            },
        }
    }

    fn board(&self, lane: usize) -> [u8; MAX_PITS] {
        let mut board = [0; MAX_PITS];
        for (seeds, row) in board.iter_mut().zip(&self.pits[..self.shared.ring.pits]) {
            *seeds = row.0[lane];
        }
        board
    }

    /// Takes the endless ones of a lane's occupied columns from `first` on out of the set.
    fn follow(&self, lane: usize, first: usize, out: &mut [u64; LANES]) {
        let board = self.board(lane);
        for column in lanes_of(out[lane] & u64::MAX << first) {
            if self
                .shared
                .relay
                .relay(&mut board.clone(), column)
                .is_none()
            {
                out[lane] &= !(1 << column);
            }
        }
    }

    fn together(&self, lanes: u64) -> bool {
        lanes.count_ones() >= MIN_LANES && self.shared.lap_limit > MAX_LAPS
    }
}

/// Tries the columns of the lanes; returns the lanes whose sowings are to be followed.
struct Try<'a> {
    ring: &'a Ring,
    pits: &'a [Row; MAX_PITS],
    hands: &'a mut Hands,
    lanes: u64,
}

impl Kernel for Try<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<V: Vector>(self, v: V) -> u64 {
        match self.ring.pits {
            12 => self.try_all::<V, 12>(v),
            16 => self.try_all::<V, 16>(v),
            20 => self.try_all::<V, 20>(v),
            _ => self.try_all::<V, 0>(v),
        }
    }
}

impl Try<'_> {
    #[inline(always)]
    fn try_all<V: Vector, const PITS: usize>(self, v: V) -> u64 {
        let pits = if PITS > 0 { PITS } else { self.ring.pits };
        let Try {
            ring,
            pits: boards,
            hands,
            lanes,
        } = self;
        hands.next = Row::ZERO;
        hands.held = Row::ZERO;
        hands.at = Row([u8::MAX; LANES]);
        let mut trying = take_candidates(v, pits, boards, hands, lanes);
        for _ in 0..MAX_LAPS {
            if trying.count_ones() <= STRAGGLERS {
                break;
            }
            let (at, held) = (&mut hands.at, &mut hands.held);
            let next = sow_lap(v, pits, ring, &mut hands.pits, at, held);
            let waiting = trying & !v.bits(v.some(next));
            if waiting.count_ones() >= WAITING.min(trying.count_ones().div_ceil(2)) {
                trying &= !waiting | take_candidates(v, pits, boards, hands, waiting);
            }
        }
        trying
    }
}

/// Lets the waiting lanes lift their next occupied pits and returns those that had one.
#[inline(always)]
fn take_candidates<V: Vector>(
    v: V,
    pits: usize,
    boards: &[Row; MAX_PITS],
    hands: &mut Hands,
    waiting: u64,
) -> u64 {
    let mask = v.mask(waiting);
    let first = v.load(&hands.next);
    let (mut column, mut held) = (v.splat(u8::MAX), v.splat(0));
    for number in (0..pits / 2).rev() {
        let here = v.splat(number as u8);
        let seeds = v.load(&boards[number]);
        let untried = v.without(v.and(mask, v.some(seeds)), v.lt_small(here, first));
        column = v.select(untried, here, column);
        held = v.select(untried, seeds, held);
    }
    let found = v.some(held);
    for (pit, (copy, row)) in hands.pits[..pits].iter_mut().zip(boards).enumerate() {
        let mut seeds = v.load(row);
        if pit < pits / 2 {
            seeds = v.clear(seeds, v.eq(column, v.splat(pit as u8)));
        }
        v.store(v.select(found, seeds, v.load(copy)), copy);
    }
    for (row, new) in [
        (&mut hands.at, column),
        (&mut hands.held, held),
        (&mut hands.next, v.add(column, v.splat(1))),
    ] {
        v.store(v.select(mask, new, v.load(row)), row);
    }
    v.bits(found)
}

/// Sows one column in every lane; returns the lanes whose sowings are to be followed.
struct SowAll<'a> {
    ring: &'a Ring,
    hands: &'a mut Hands,
    lanes: u64,
}

impl Kernel for SowAll<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<V: Vector>(self, v: V) -> u64 {
        let SowAll { ring, hands, lanes } = self;
        let mut sowing = lanes;
        for _ in 0..MAX_LAPS {
            if sowing.count_ones() <= STRAGGLERS {
                break;
            }
            let (at, held) = (&mut hands.at, &mut hands.held);
            let next = sow_lap(v, ring.pits, ring, &mut hands.pits, at, held);
            sowing &= v.bits(v.some(next));
        }
        sowing
    }
}

/// Exchanges the rows of the lanes in a set.
struct Turn<'a> {
    pits: &'a mut [Row],
    lanes: u64,
}

impl Kernel for Turn<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, v: V) {
        let mask = v.mask(self.lanes);
        let columns = self.pits.len() / 2;
        let (own, other) = self.pits.split_at_mut(columns);
        for (own, other) in own.iter_mut().zip(other) {
            let (a, b) = (v.load(own), v.load(other));
            v.store(v.select(mask, b, a), own);
            v.store(v.select(mask, a, b), other);
        }
    }
}

/// Finds the occupied pits of the first rows: eight columns to a row of bits.
struct Occupied<'a> {
    pits: &'a [Row],
}

impl Kernel for Occupied<'_> {
    type Output = [Row; MAX_PITS / 16];

    #[inline(always)]
    fn run<V: Vector>(self, v: V) -> [Row; MAX_PITS / 16] {
        let mut sets = [Row::ZERO; MAX_PITS / 16];
        for (eight, set) in self.pits.chunks(8).zip(&mut sets) {
            let mut bits = v.splat(0);
            for (column, row) in eight.iter().enumerate() {
                let bit = v.select(v.some(v.load(row)), v.splat(1 << column), v.splat(0));
                bits = v.add(bits, bit);
            }
            v.store(bits, set);
        }
        sets
    }
}

/// Captures after the sowings of a set (C1 to C3); returns the seeds taken.
struct Capture<'a> {
    pits: &'a mut [Row],
    last: &'a [u8; LANES],
    lanes: u64,
    lone_stays: bool,
}

impl Kernel for Capture<'_> {
    type Output = Row;

    #[inline(always)]
    fn run<V: Vector>(self, v: V) -> Row {
        let mask = v.mask(self.lanes);
        let last = v.load(&Row(*self.last));
        let one = v.splat(1);
        let columns = self.pits.len() / 2;
        let (own, other) = self.pits.split_at_mut(columns);
        let mut taken = v.splat(0);
        for (column, (own, facing)) in own.iter_mut().zip(other.iter_mut().rev()).enumerate() {
            let (a, b) = (v.load(own), v.load(facing));
            let both = v.add(a, b);
            let mut captures = v.and(mask, v.eq(last, v.splat(column as u8)));
            if self.lone_stays {
                captures = v.and(captures, v.lt(one, both));
            }
            taken = v.select(captures, both, taken);
            v.store(v.clear(a, captures), own);
            v.store(v.clear(b, captures), facing);
        }
        let mut row = Row::ZERO;
        v.store(taken, &mut row);
        row
    }
}

impl Boards for LaneBoards {
    fn store(&mut self, lane: usize, board: &[u16]) -> bool {
        let seeds: u32 = board.iter().map(|&seeds| u32::from(seeds)).sum();
        if seeds > super::boards::MAX_PACKED_SEEDS {
            return false;
        }
        for (row, &seeds) in self.pits.iter_mut().zip(board) {
            row.0[lane] = seeds as u8;
        }
        true
    }

    fn load(&self, lane: usize, board: &mut [u16]) {
        for (row, seeds) in self.pits.iter().zip(board) {
            *seeds = row.0[lane].into();
        }
    }

    fn get(&self, lane: usize, pit: usize) -> u16 {
        self.pits[pit].0[lane].into()
    }

    fn lift(&mut self, lane: usize, pit: usize) -> u16 {
        std::mem::take(&mut self.pits[pit].0[lane]).into()
    }

    fn lift_all(&mut self, lane: usize) -> u16 {
        (0..self.shared.ring.pits)
            .map(|pit| self.lift(lane, pit))
            .sum()
    }

    fn turn(&mut self, lanes: u64) {
        let pits = &mut self.pits[..self.shared.ring.pits];
        let _ = self.shared.instructions.run(Turn { pits, lanes });
    }

    fn sow(&mut self, lanes: u64, columns: &[u8; LANES]) -> Sown {
        let shared = self.shared.clone();
        let mut last = [0; LANES];
        let mut left = lanes;
        if self.together(lanes) {
            self.hands.pits = self.pits;
            self.hands.at = Row([u8::MAX; LANES]);
            self.hands.held = Row::ZERO;
            for lane in lanes_of(lanes) {
                let column = usize::from(columns[lane]);
                self.hands.at.0[lane] = columns[lane];
                self.hands.held.0[lane] = std::mem::take(&mut self.hands.pits[column].0[lane]);
            }
            let (ring, hands) = (&shared.ring, &mut self.hands);
            let sow = SowAll { ring, hands, lanes };
            left = shared.instructions.run(sow).unwrap_or(lanes);
            last = self.hands.at.0;
            let before = self.pits;
            self.pits = self.hands.pits;
            for lane in lanes_of(left) {
                for (row, before) in self.pits[..shared.ring.pits].iter_mut().zip(&before) {
                    row.0[lane] = before.0[lane];
                }
            }
        }
        let mut endless = 0;
        for lane in lanes_of(left) {
            let mut board = self.board(lane);
            match shared.relay.relay(&mut board, columns[lane].into()) {
                Some(pit) => {
                    last[lane] = pit;
                    for (row, seeds) in self.pits[..shared.ring.pits].iter_mut().zip(board) {
                        row.0[lane] = seeds;
                    }
                }
                None => endless |= 1 << lane,
            }
        }
        Sown { last, endless }
    }

    fn occupied(&self, lanes: u64, out: &mut [u64; LANES]) {
        let pits = &self.pits[..self.shared.columns()];
        if let Some([low, high]) = self.shared.instructions.run(Occupied { pits }) {
            for lane in lanes_of(lanes) {
                out[lane] = u64::from(u16::from_le_bytes([low.0[lane], high.0[lane]]));
            }
        }
    }

    fn legal(&mut self, lanes: u64, out: &mut [u64; LANES]) {
        self.occupied(lanes, out);
        let mut left = lanes;
        let together = self.together(lanes);
        if together {
            let tried = Try {
                ring: &self.shared.ring,
                pits: &self.pits,
                hands: &mut self.hands,
                lanes,
            };
            left = self.shared.instructions.run(tried).unwrap_or(lanes);
        }
        for lane in lanes_of(left) {
            // The candidate in hand is the one before the first that was not tried.
            let next = if together {
                usize::from(self.hands.next.0[lane])
            } else {
                0
            };
            self.follow(lane, next.saturating_sub(1), out);
        }
    }

    fn observe(&self, out: &mut [i16], length: usize) {
        let pits = &self.pits[..self.shared.ring.pits];
        for (lane, out) in out.chunks_exact_mut(length).enumerate() {
            for (seeds, row) in out.iter_mut().zip(pits) {
                *seeds = row.0[lane].into();
            }
        }
    }

    fn capture(&mut self, lanes: u64, last: &[u8; LANES], ruleset: &Ruleset) -> [u16; LANES] {
        let capture = Capture {
            pits: &mut self.pits[..self.shared.ring.pits],
            last,
            lanes,
            lone_stays: ruleset.lone_capture() == LoneCapture::Stays,
        };
        let taken = self.shared.instructions.run(capture).unwrap_or(Row::ZERO);
        taken.0.map(u16::from)
    }
}
