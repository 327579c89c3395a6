//! Sowings of 64 boards in rows, lap by lap together.
//!
//! Each lap is a few instructions that wait for one another; 64 independent ones keep a processor
//! busy. A list holds the boards whose sowing goes on, and shrinks with every lap.

use super::rows::{MAX_ROW_PITS, PAD, RowBoard, RowVector, WINDOW, Window};
use super::vector::LANES;
use crate::batch::lanes_of;
use crate::ruleset::{Direction, Ruleset};

/// Laps that boards sow together before those left are followed one by one.
const MAX_LAPS: usize = 31;

/// Seeds that all pits of a board are below when a sowing begins, unless it holds at most 255.
pub(crate) const LIGHT: u8 = 128;

/// Seeds of a pit that end a sowing in bytes.
///
/// Looked at after laps that may add more than one seed to a pit. All others of this sowing and
/// of the one before add 64 at most, and one more lap of what a pit then holds, on 8 pits, 28.
const FULL: u8 = 160;

/// The fewest pits of a board in a row: see [`FULL`].
const MIN_PITS: usize = 8;

/// The most seeds a pit starts with: of more, pits get too full too often for rows to be faster
/// than one game after another (measured).
const MAX_SEEDS_PER_PIT: u16 = 12;

/// What a lap needs to know of the rules.
#[derive(Clone, Debug)]
pub(crate) struct RowRing {
    pub(crate) pits: usize,
    pub(crate) parity: bool,
    /// A pit may be filled beyond what a byte holds.
    pub(crate) fills: bool,
    /// Laps that are sown together: no more than `lap_limit`.
    laps: usize,
    /// What a lap of so many seeds adds to the pits from its origin on, or up to it (S5).
    windows: [Window; WINDOW],
    /// A seed for each of so many pits.
    seeds: [Window; WINDOW + 1],
}

impl RowRing {
    /// Returns the ring of a rule set, `None` where its board is too small for a row or its pits
    /// start out too heavy.
    pub(crate) fn of(ruleset: &Ruleset) -> Option<RowRing> {
        let pits = ruleset.pits();
        if pits < MIN_PITS || ruleset.seeds_per_pit() > MAX_SEEDS_PER_PIT {
            return None;
        }
        let parity = ruleset.direction() == Direction::Parity;
        let row = |held: usize| std::array::from_fn(|pit| u8::from(pit < held));
        let windows = std::array::from_fn(|held: usize| {
            let mut lap = [0; WINDOW];
            lap[1..=held.min(WINDOW - 1)].fill(1);
            lap[0] = (held as u8).wrapping_neg();
            if parity && held % 2 == 1 {
                lap.reverse();
            }
            Window(lap)
        });
        Some(RowRing {
            pits,
            parity,
            fills: pits * usize::from(ruleset.seeds_per_pit()) > usize::from(u8::MAX),
            laps: MAX_LAPS.min(ruleset.lap_limit() as usize),
            windows,
            seeds: std::array::from_fn(|held| Window(row(held))),
        })
    }
}

/// How far a sowing has come: the pit of the last seed (at first, the pit to lift) in the low
/// byte, the seeds sown in the next two, the laps in the high byte.
#[derive(Clone, Copy, Debug)]
struct State(u32);

impl State {
    #[inline(always)]
    const fn last(self) -> u8 {
        self.0 as u8
    }

    #[inline(always)]
    const fn seeds(self) -> u16 {
        (self.0 >> 8) as u16
    }

    #[inline(always)]
    const fn laps(self) -> u8 {
        (self.0 >> 24) as u8
    }

    /// Adds a lap of `held` seeds that ends in pit `last`.
    #[inline(always)]
    const fn after(self, held: u8, last: usize) -> State {
        State((self.0 & !0xFF) + (1 << 24 | (held as u32) << 8 | last as u32))
    }
}

/// What one lap did.
struct Lap {
    held: u8,
    last: usize,
    /// Seeds in the last pit, 1 where the sowing ends.
    found: u8,
}

/// Sowings in progress, and the log of their laps.
#[derive(Clone, Debug)]
pub(crate) struct Sowings {
    states: [State; LANES],
    /// The states before the first lap, before the second and so on.
    log: [[State; LANES]; MAX_LAPS],
    /// Lanes whose sowing goes on.
    going: [u8; LANES],
    /// Lanes with a pit that got too full to go on in bytes.
    full: u64,
}

impl Sowings {
    pub(crate) const NONE: Sowings = Sowings {
        states: [State(0); LANES],
        log: [[State(0); LANES]; MAX_LAPS],
        going: [0; LANES],
        full: 0,
    };

    /// Lets a lane's sowing begin with a pit.
    #[inline(always)]
    pub(crate) fn begin(&mut self, lane: usize, pit: usize) {
        self.states[lane] = State(pit as u32);
    }

    /// Returns the pit of the last seed.
    #[inline(always)]
    pub(crate) fn last(&self, lane: usize) -> u8 {
        self.states[lane].last()
    }

    /// Returns the seeds sown.
    #[inline(always)]
    pub(crate) fn seeds(&self, lane: usize) -> u16 {
        self.states[lane].seeds()
    }

    /// Returns the laps.
    #[inline(always)]
    pub(crate) fn laps(&self, lane: usize) -> u8 {
        self.states[lane].laps()
    }

    /// Sows the pits that the sowings of `lanes` begin with (S1 to S5); the boards are light.
    ///
    /// Returns the lanes whose sowing did not end in time, or filled a pit: their boards are to
    /// be [taken back](Sowings::take_back).
    #[inline(always)]
    pub(crate) fn sow<R: RowVector>(
        &mut self,
        r: R,
        ring: &RowRing,
        boards: &mut [RowBoard; LANES],
        lanes: u64,
    ) -> u64 {
        match (ring.parity, ring.fills) {
            (false, false) => self.sow_laps::<R, false, false>(r, ring, boards, lanes),
            (false, true) => self.sow_laps::<R, false, true>(r, ring, boards, lanes),
            (true, false) => self.sow_laps::<R, true, false>(r, ring, boards, lanes),
            (true, true) => self.sow_laps::<R, true, true>(r, ring, boards, lanes),
        }
    }

    #[inline(always)]
    fn sow_laps<R: RowVector, const PARITY: bool, const FILLS: bool>(
        &mut self,
        r: R,
        ring: &RowRing,
        boards: &mut [RowBoard; LANES],
        lanes: u64,
    ) -> u64 {
        let mut going = 0;
        if lanes == u64::MAX {
            self.going = std::array::from_fn(|lane| lane as u8);
            going = LANES;
        } else {
            for (place, lane) in self.going.iter_mut().zip(lanes_of(lanes)) {
                *place = lane as u8;
                going += 1;
            }
        }
        self.full = 0;
        let mut lap = 0;
        while going > 0 && lap < ring.laps {
            going = self.sow_lap::<R, PARITY, FILLS>(r, ring, boards, lap, going);
            lap += 1;
        }
        let left = self.going[..going.min(LANES)].iter();
        left.fold(self.full, |left, lane| left | 1 << (lane % 64))
    }

    /// Sows one lap of the first `going` lanes and returns how many go on.
    #[inline(always)]
    fn sow_lap<R: RowVector, const PARITY: bool, const FILLS: bool>(
        &mut self,
        r: R,
        ring: &RowRing,
        boards: &mut [RowBoard; LANES],
        lap: usize,
        going: usize,
    ) -> usize {
        let log = &mut self.log[lap % MAX_LAPS];
        let pits = ring.pits;
        let mut next = 0;
        for index in 0..going {
            let lane = usize::from(self.going[index % LANES]) % LANES;
            let board = &mut boards[lane];
            let state = self.states[lane];
            let done = sow_one::<R, PARITY>(r, ring, pits, board, state.last().into());
            if FILLS && usize::from(done.held) >= pits.min(WINDOW) {
                let full = board.pits(pits).iter().any(|&seeds| seeds >= FULL);
                self.full |= u64::from(full) << lane;
            }
            log[lane] = state;
            self.states[lane] = state.after(done.held, done.last);
            self.going[next % LANES] = lane as u8;
            next += usize::from(done.found != 1);
        }
        next
    }

    /// Takes back the laps of a lane.
    pub(crate) fn take_back(&self, lane: usize, ring: &RowRing, board: &mut RowBoard) {
        let mut after = self.states[lane];
        for log in self.log[..usize::from(after.laps())].iter().rev() {
            let before = log[lane];
            let held = after.seeds() - before.seeds();
            let stride = if ring.parity && held % 2 == 1 {
                ring.pits - 1
            } else {
                1
            };
            let mut pit = usize::from(before.last());
            for _ in 0..held {
                pit = (pit + stride) % ring.pits;
                board.set(pit, board.get(pit).wrapping_sub(1));
            }
            board.set(before.last().into(), held as u8);
            after = before;
        }
    }
}

/// Lifts the seeds of pit `at` and drops them into the following pits (S1, S2, S5).
///
/// The slow twin is `sow_lap` in `sowing.rs`.
#[inline(always)]
fn sow_one<R: RowVector, const PARITY: bool>(
    r: R,
    ring: &RowRing,
    pits: usize,
    board: &mut RowBoard,
    at: usize,
) -> Lap {
    let held = board.get(at);
    let seeds = usize::from(held);
    let back = PARITY && held % 2 == 1;
    let last = if back {
        at.wrapping_sub(seeds)
    } else {
        at + seeds
    };
    if last < pits && seeds < WINDOW {
        // Read before the window is written: a byte of what is still being written stalls.
        let found = board.get(last).wrapping_add(1);
        let start = if back {
            at + PAD + 1 - WINDOW
        } else {
            at + PAD
        };
        r.add_window(board, start, &ring.windows[seeds]);
        return Lap { held, last, found };
    }
    sow_long(r, ring, board, at, back)
}

/// Sows a lap that goes past the end of the row or is longer than a window.
#[inline(always)]
fn sow_long<R: RowVector>(
    r: R,
    ring: &RowRing,
    board: &mut RowBoard,
    at: usize,
    back: bool,
) -> Lap {
    let pits = ring.pits;
    let held = board.get(at);
    board.set(at, 0);
    let mut rest = usize::from(held);
    if rest >= pits {
        let rounds = (rest / pits) as u8;
        rest %= pits;
        for seeds in board.pits_mut(pits) {
            *seeds = seeds.wrapping_add(rounds);
        }
    }
    let wrap = |pit: usize| if pit >= pits { pit - pits } else { pit };
    let first = wrap(if back { at + pits - rest } else { at + 1 });
    let last = if back { first } else { wrap(at + rest) };
    let to_end = rest.min(pits - first);
    if rest < WINDOW {
        r.add_window(board, PAD + first % MAX_ROW_PITS, &ring.seeds[to_end]);
        r.add_window(board, PAD, &ring.seeds[rest - to_end]);
    } else {
        drop_seeds(r, ring, board, first, to_end);
        drop_seeds(r, ring, board, 0, rest - to_end);
    }
    let found = board.get(last);
    Lap { held, last, found }
}

/// Drops a seed into each of `count` pits from `first` on.
#[inline(always)]
fn drop_seeds<R: RowVector>(
    r: R,
    ring: &RowRing,
    board: &mut RowBoard,
    mut first: usize,
    mut count: usize,
) {
    while count > 0 {
        let some = count.min(WINDOW);
        r.add_window(board, PAD + first % MAX_ROW_PITS, &ring.seeds[some]);
        first += some;
        count -= some;
    }
}
