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
    const fn after(self, held: usize, last: usize) -> State {
        State((self.0 & !0xFF) + (1 << 24 | (held as u32) << 8 | last as u32))
    }

    /// Adds a lap of `held` seeds that does not go past the end of the row.
    #[inline(always)]
    const fn after_short(self, held: usize, back: bool) -> State {
        let sown = (held as u32) << 8;
        let moved = if back {
            sown - held as u32
        } else {
            sown + held as u32
        };
        State(self.0 + moved + (1 << 24))
    }
}

/// What one lap did.
struct Lap {
    after: State,
    /// Seeds in the last pit, 1 where the sowing ends.
    found: u8,
    /// A pit got too full to go on in bytes.
    full: bool,
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

    /// Sows a pit, which `begin` tells, in every lane of a set (S1 to S5); the boards are light.
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
        begin: impl Fn(usize) -> usize,
    ) -> u64 {
        match (ring.parity, ring.fills) {
            (false, false) => self.sow_laps::<R, false, false>(r, ring, boards, lanes, begin),
            (false, true) => self.sow_laps::<R, false, true>(r, ring, boards, lanes, begin),
            (true, false) => self.sow_laps::<R, true, false>(r, ring, boards, lanes, begin),
            (true, true) => self.sow_laps::<R, true, true>(r, ring, boards, lanes, begin),
        }
    }

    #[inline(always)]
    fn sow_laps<R: RowVector, const PARITY: bool, const FILLS: bool>(
        &mut self,
        r: R,
        ring: &RowRing,
        boards: &mut [RowBoard; LANES],
        lanes: u64,
        begin: impl Fn(usize) -> usize,
    ) -> u64 {
        self.full = 0;
        let mut going = 0;
        let mut lap = 0;
        if lanes == u64::MAX {
            for (lane, board) in boards.iter_mut().enumerate() {
                let state = State(begin(lane) as u32);
                let done = sow_one::<R, PARITY, FILLS>(r, ring, board, state);
                going = self.go_on(0, lane, state, &done, going);
            }
            lap = 1;
        } else {
            for (place, lane) in self.going.iter_mut().zip(lanes_of(lanes)) {
                *place = lane as u8;
                self.states[lane] = State(begin(lane) as u32);
                going += 1;
            }
        }
        while going > 0 && lap < ring.laps {
            let before = going;
            going = 0;
            for index in 0..before {
                let lane = usize::from(self.going[index % LANES]) % LANES;
                let state = self.states[lane];
                let done = sow_one::<R, PARITY, FILLS>(r, ring, &mut boards[lane], state);
                going = self.go_on(lap, lane, state, &done, going);
            }
            lap += 1;
        }
        let left = self.going[..going.min(LANES)].iter();
        left.fold(self.full, |left, lane| left | 1 << (lane % 64))
    }

    /// Notes a lap of a lane, and the lane, if it goes on, after the first `going` that do;
    /// returns how many do now.
    #[inline(always)]
    fn go_on(&mut self, lap: usize, lane: usize, before: State, done: &Lap, going: usize) -> usize {
        if done.full {
            self.full |= 1 << lane;
        }
        self.log[lap % MAX_LAPS][lane] = before;
        self.states[lane] = done.after;
        self.going[going % LANES] = lane as u8;
        going + usize::from(done.found != 1)
    }

    /// Returns the pits that were lifted from, lap after lap.
    #[inline(always)]
    pub(crate) fn lifted(&self, lane: usize) -> impl Iterator<Item = u8> {
        let laps = usize::from(self.laps(lane)).min(MAX_LAPS);
        self.log[..laps].iter().map(move |log| log[lane].last())
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

/// Lifts the seeds of the pit in `state` and drops them into the following pits (S1, S2, S5).
///
/// The slow twin is `sow_lap` in `sowing.rs`.
#[inline(always)]
fn sow_one<R: RowVector, const PARITY: bool, const FILLS: bool>(
    r: R,
    ring: &RowRing,
    board: &mut RowBoard,
    state: State,
) -> Lap {
    let pits = ring.pits.min(MAX_ROW_PITS);
    let at = usize::from(state.last()) % MAX_ROW_PITS;
    let held = usize::from(board.get(at));
    let back = PARITY && held % 2 == 1;
    let last = if back {
        at.wrapping_sub(held)
    } else {
        at + held
    };
    if last < pits && held < WINDOW {
        // Read before the window is written: a byte of what is still being written stalls.
        let found = board.get(last).wrapping_add(1);
        let start = if back {
            at + PAD + 1 - WINDOW
        } else {
            at + PAD
        };
        r.add_window(board, start, &ring.windows[held]);
        return Lap {
            after: state.after_short(held, back),
            found,
            full: false,
        };
    }
    sow_long::<R, FILLS>(r, ring, board, state, back)
}

/// Sows a lap that goes past the end of the row or is longer than a window.
#[inline(always)]
fn sow_long<R: RowVector, const FILLS: bool>(
    r: R,
    ring: &RowRing,
    board: &mut RowBoard,
    state: State,
    back: bool,
) -> Lap {
    let pits = ring.pits.min(MAX_ROW_PITS);
    let at = usize::from(state.last()) % MAX_ROW_PITS;
    let held = usize::from(board.get(at));
    board.set(at, 0);
    let mut rest = held;
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
    // No other laps add more than one seed to a pit.
    let long = FILLS && held >= pits.min(WINDOW);
    Lap {
        after: state.after(held, last),
        found: board.get(last),
        full: long && board.pits(pits).iter().any(|&seeds| seeds >= FULL),
    }
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
