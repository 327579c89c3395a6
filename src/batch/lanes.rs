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
use crate::batch::packed::follower_of;
use crate::batch::pending::{Follow, MAX_LAPS, Pending, Sowing};
#[cfg(target_arch = "x86_64")]
use crate::batch::simd::Flight;
use crate::batch::simd::{Hand, Instructions, Kernel, MAX_PITS, Ring, Row, Vector, sow_next};
use crate::batch::stopped::{Stopped, row_of, turned};
use crate::batch::transpose::words_of_lanes;
use crate::batch::trial::Try;
use crate::ruleset::{LoneCapture, Ruleset};

/// Lanes left that are not worth a lap of all 64.
const STRAGGLERS: u32 = 3;
/// Lanes below which sowings are followed one by one from the start (measured).
const MIN_LANES: u32 = 16;

/// What lane-wise boards share.
#[derive(Debug)]
pub(super) struct Shared {
    instructions: Instructions,
    ring: Ring,
    lap_limit: u32,
    follower: Box<dyn Follow>,
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
            follower: fastest_follower(ruleset, instructions)?,
        })
    }

    fn columns(&self) -> usize {
        self.ring.pits / 2
    }

    /// Tells whether the sowings of some lanes are sown together at first.
    fn together(&self, lanes: u64) -> bool {
        lanes.count_ones() >= MIN_LANES && self.lap_limit > MAX_LAPS
    }

    /// Calls `endless` with every sowing of `pending` that is (S6), and empties it.
    pub(super) fn find_endless(&self, pending: &mut Pending, endless: &mut dyn FnMut(u32)) {
        if !pending.waiting.is_empty() {
            let tried = Try {
                ring: &self.ring,
                boards: &pending.boards,
                waiting: &pending.waiting,
                sowings: &mut pending.sowings,
            };
            self.instructions.run(tried);
            pending.boards.clear();
            pending.waiting.clear();
        }
        self.follower.find_endless(&mut pending.sowings, endless);
    }
}

#[cfg(target_arch = "x86_64")]
fn fastest_follower(ruleset: &Ruleset, instructions: Instructions) -> Option<Box<dyn Follow>> {
    if matches!(instructions, Instructions::Avx2 | Instructions::Avx512)
        && let Some(flight) = Flight::new(ruleset)
    {
        return Some(Box::new(flight));
    }
    follower_of(ruleset)
}

#[cfg(not(target_arch = "x86_64"))]
fn fastest_follower(ruleset: &Ruleset, _: Instructions) -> Option<Box<dyn Follow>> {
    follower_of(ruleset)
}

/// The boards of 64 lanes.
#[derive(Clone, Debug)]
pub(super) struct LaneBoards {
    shared: Arc<Shared>,
    /// A row for each pit.
    pits: Box<[Row]>,
}

impl LaneBoards {
    /// Makes 64 empty boards.
    pub(super) fn new(shared: Arc<Shared>) -> LaneBoards {
        let pits = vec![Row::ZERO; shared.ring.pits].into_boxed_slice();
        LaneBoards { shared, pits }
    }

    /// Adds the columns of a lane to those to be followed.
    fn follow(&self, lane: usize, columns: u64, pending: &mut Pending) {
        for column in lanes_of(columns) {
            let id = pending.id(lane, column);
            pending
                .sowings
                .push(Sowing::new(turned(&self.pits, lane, column), id));
        }
    }

    /// Finishes the sowings of `pending` from `first` on and takes them out.
    fn land(&mut self, pending: &mut Pending, first: usize, sown: &mut Sown) {
        let (pits, shared) = (&mut self.pits, &self.shared);
        let count = pits.len();
        shared
            .follower
            .finish(&pending.sowings[first..], &mut |id, landed| {
                let (_, lane, column) = Pending::place(id);
                let Some(landed) = landed else {
                    sown.endless |= 1 << lane;
                    return;
                };
                let last = (column + landed.turned) % count;
                sown.last[lane] = last as u8;
                let (before, from) = pits.split_at_mut(last);
                for (row, seeds) in from.iter_mut().chain(before).zip(landed.board) {
                    row.0[lane] = seeds;
                }
            });
        pending.sowings.truncate(first);
    }
}

/// Sows one column in every lane and adds the sowings that take long to `pending`.
struct SowAll<'a> {
    ring: &'a Ring,
    pits: &'a mut [Row],
    lanes: u64,
    columns: &'a [u8; LANES],
    pending: &'a mut Pending,
}

impl Kernel for SowAll<'_> {
    /// The pits of the last seeds.
    type Output = [u8; LANES];

    #[inline(always)]
    fn run<V: Vector>(self, v: V) -> [u8; LANES] {
        match self.ring.pits {
            12 => self.sow_all::<V, 12>(v),
            16 => self.sow_all::<V, 16>(v),
            20 => self.sow_all::<V, 20>(v),
            _ => self.sow_all::<V, 0>(v),
        }
    }
}

impl SowAll<'_> {
    #[inline(always)]
    fn sow_all<V: Vector, const PITS: usize>(self, v: V) -> [u8; LANES] {
        let pits = if PITS > 0 { PITS } else { self.ring.pits };
        let boards = &mut self.pits[..pits];
        let mut copies = [v.splat(0); MAX_PITS];
        let mut hand = choose_pits(v, boards, &mut copies, self.lanes, self.columns);
        let (mut sowing, mut laps) = (self.lanes, 0);
        while sowing.count_ones() > STRAGGLERS && laps < MAX_LAPS {
            let relays = sow_next::<V, PITS>(v, self.ring, &mut copies[..pits], &mut hand);
            sowing &= v.bits(relays);
            laps += 1;
        }
        if sowing != 0 {
            let stopped = Stopped::new(v, &copies, pits, &hand);
            for lane in lanes_of(sowing) {
                let column = usize::from(self.columns[lane]);
                let id = self.pending.id(lane, column);
                let start = turned(boards, lane, column);
                let sowing = stopped.sowing(start, column, lane, laps, id);
                self.pending.sowings.push(sowing);
            }
        }
        let landed = v.mask(self.lanes & !sowing);
        for (row, &seeds) in boards.iter_mut().zip(&copies) {
            v.store(v.select(landed, seeds, v.load(row)), row);
        }
        row_of(v, hand.at).0
    }
}

/// Chooses one pit of the own row in every lane of a set; the other lanes are empty.
#[inline(always)]
fn choose_pits<V: Vector>(
    v: V,
    boards: &[Row],
    copies: &mut [V::Bytes; MAX_PITS],
    lanes: u64,
    columns: &[u8; LANES],
) -> Hand<V> {
    let mask = v.mask(lanes);
    let at = v.keep(v.load(&Row(*columns)), mask);
    let mut held = v.splat(0);
    for (pit, (copy, row)) in copies.iter_mut().zip(boards).enumerate() {
        *copy = v.keep(v.load(row), mask);
        if pit < boards.len() / 2 {
            held = v.select(v.eq(at, v.splat(pit as u8)), *copy, held);
        }
    }
    Hand { at, held }
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

/// Writes the boards of the first lanes, `i16[rows, 2C]` at the front of every `length`.
struct Observe<'a> {
    pits: &'a [Row],
    out: &'a mut [i16],
    length: usize,
}

impl Kernel for Observe<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, _: V) {
        for (number, pits) in self.pits.chunks(8).enumerate() {
            let words = words_of_lanes(pits);
            let first = 8 * number;
            for (out, word) in self.out.chunks_exact_mut(self.length).zip(words) {
                let seeds = word.to_le_bytes().map(i16::from);
                // Of fixed length, so that it is one store.
                match (out.get_mut(first..first + 8), pits.len()) {
                    (Some(out), 8) => out.copy_from_slice(&seeds),
                    (Some(out), 4) => out[..4].copy_from_slice(&seeds[..4]),
                    _ => out[first..first + pits.len()].copy_from_slice(&seeds[..pits.len()]),
                }
            }
        }
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
    fn copy(&self) -> Box<dyn Boards> {
        Box::new(self.clone())
    }

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
        let pits = &mut self.pits;
        let _ = self.shared.instructions.run(Turn { pits, lanes });
    }

    fn sow(&mut self, lanes: u64, columns: &[u8; LANES], pending: &mut Pending) -> Sown {
        let first = pending.sowings.len();
        let mut sown = Sown {
            last: [0; LANES],
            endless: 0,
        };
        if self.shared.together(lanes) {
            let sow = SowAll {
                ring: &self.shared.ring,
                pits: &mut self.pits,
                lanes,
                columns,
                pending,
            };
            sown.last = self.shared.instructions.run(sow).unwrap_or(sown.last);
        } else {
            for lane in lanes_of(lanes) {
                self.follow(lane, 1 << columns[lane], pending);
            }
        }
        if pending.sowings.len() > first {
            self.land(pending, first, &mut sown);
        }
        sown
    }

    fn occupied(&self, lanes: u64, out: &mut [u64; LANES]) {
        let pits = &self.pits[..self.shared.columns()];
        if let Some([low, high]) = self.shared.instructions.run(Occupied { pits }) {
            for lane in lanes_of(lanes) {
                out[lane] = u64::from(u16::from_le_bytes([low.0[lane], high.0[lane]]));
            }
        }
    }

    fn legal(&mut self, lanes: u64, out: &mut [u64; LANES], pending: &mut Pending) {
        self.occupied(lanes, out);
        if self.shared.together(lanes) {
            pending.boards.extend_from_slice(&self.pits);
            pending.waiting.push((pending.block, lanes));
            return;
        }
        for lane in lanes_of(lanes) {
            self.follow(lane, out[lane], pending);
        }
    }

    fn observe(&self, out: &mut [i16], length: usize) {
        let pits = &self.pits;
        let observe = Observe { pits, out, length };
        self.shared.instructions.run(observe);
    }

    fn capture(&mut self, lanes: u64, last: &[u8; LANES], ruleset: &Ruleset) -> [u16; LANES] {
        let capture = Capture {
            pits: &mut self.pits,
            last,
            lanes,
            lone_stays: ruleset.lone_capture() == LoneCapture::Stays,
        };
        let taken = self.shared.instructions.run(capture).unwrap_or(Row::ZERO);
        taken.0.map(u16::from)
    }
}
