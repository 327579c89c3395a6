//! Which moves are endless: the candidates of many blocks sown together.
//!
//! The candidates of all blocks form one queue. A lane whose sowing has ended takes the next one,
//! whoever's it is, so that no lap is sown for a few lanes only. The sowings that take long leave
//! their lanes to be followed one by one.

// The kernel must be inlined into the function that switches the instructions on.
#![allow(clippy::inline_always)]

use crate::batch::LANES;
use crate::batch::boards::lanes_of;
use crate::batch::pending::{Sowing, id_of};
use crate::batch::simd::{Hand, Kernel, MAX_PITS, Ring, Row, Vector, sow_next};
use crate::batch::stopped::{Stopped, row_of, turned};

/// Laps between two looks at who has ended.
const BURST: usize = 2;
/// Laps after which a sowing leaves its lane.
const LONG: u8 = 24;
/// Lanes left at the end that are not worth a lap of all 64.
const STRAGGLERS: u32 = 8;

/// Tries all columns of the boards of many blocks and adds the sowings that take long to
/// `sowings`; all others end.
pub(super) struct Try<'a> {
    pub(super) ring: &'a Ring,
    /// A row for each pit, block after block.
    pub(super) boards: &'a [Row],
    /// The number of each block, at most 64 of them, and its lanes to be tried.
    pub(super) waiting: &'a [(u32, u64)],
    pub(super) sowings: &'a mut Vec<Sowing>,
}

impl Kernel for Try<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, v: V) {
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
    fn try_all<V: Vector, const PITS: usize>(self, v: V) {
        let pits = if PITS > 0 { PITS } else { self.ring.pits };
        let mut board = [v.splat(0); MAX_PITS];
        let mut sowing = InProgress::new(v);
        let mut queue = Queue::new();
        let (mut rows, mut blocks) = (&self.boards[..0], 0);
        let mut busy = 0;
        loop {
            while busy != u64::MAX {
                if queue.is_empty() {
                    let Some(&(_, lanes)) = self.waiting.get(blocks) else {
                        break;
                    };
                    rows = &self.boards[blocks * pits..][..pits];
                    blocks += 1;
                    queue.fill(v, rows, lanes);
                } else {
                    let lanes = queue.deal(v, !busy, &mut sowing);
                    sowing.begin(v, lanes, blocks as u8 - 1);
                    let found = v.mask(lanes);
                    for (seeds, row) in board[..pits].iter_mut().zip(rows) {
                        *seeds = v.select(found, v.of_lanes(row, sowing.lane), *seeds);
                    }
                    busy |= lanes;
                }
            }
            if busy == 0 {
                return;
            }
            let mut relays = v.mask(0);
            for _ in 0..BURST {
                let hand = &mut sowing.hand;
                relays = sow_next::<V, PITS>(v, self.ring, &mut board[..pits], hand);
                sowing.laps = v.add(sowing.laps, v.splat(1));
            }
            busy &= v.bits(relays);
            let mut leaving = busy & v.bits(v.lt(v.splat(LONG), sowing.laps));
            if busy.count_ones() <= STRAGGLERS && queue.is_empty() && blocks == self.waiting.len() {
                leaving = busy;
            }
            if leaving != 0 {
                let taken = sowing.stop(v);
                let stopped = Stopped::new(v, &board, pits, &sowing.hand);
                for lane in lanes_of(leaving) {
                    self.sowings
                        .push(taken.sowing(&stopped, lane, self.boards, self.waiting));
                }
                let mask = v.mask(leaving);
                for seeds in &mut board[..pits] {
                    *seeds = v.clear(*seeds, mask);
                }
                sowing.hand.held = v.clear(sowing.hand.held, mask);
                busy &= !leaving;
            }
        }
    }
}

/// The candidates of one block, column after column.
struct Queue {
    lanes: [u8; ROOM],
    columns: [u8; ROOM],
    /// Seeds in the pit of the candidate.
    held: [u8; ROOM],
    head: usize,
    end: usize,
}

/// Candidates of a block, and a row that is read and written past them.
const ROOM: usize = (MAX_PITS / 2 + 1) * LANES;

/// The numbers of the lanes.
const NUMBERS: Row = {
    let mut row = Row::ZERO;
    let mut lane = 0;
    while lane < LANES {
        row.0[lane] = lane as u8;
        lane += 1;
    }
    row
};

impl Queue {
    const fn new() -> Queue {
        Queue {
            lanes: [0; ROOM],
            columns: [0; ROOM],
            held: [0; ROOM],
            head: 0,
            end: 0,
        }
    }

    const fn is_empty(&self) -> bool {
        self.head == self.end
    }

    /// Lists the occupied columns of some lanes.
    #[inline(always)]
    fn fill<V: Vector>(&mut self, v: V, rows: &[Row], lanes: u64) {
        (self.head, self.end) = (0, 0);
        let numbers = v.load(&NUMBERS);
        for (column, row) in rows[..rows.len() / 2].iter().enumerate() {
            let seeds = v.load(row);
            let some = v.bits(v.some(seeds)) & lanes;
            v.pack(numbers, some, &mut self.lanes[self.end..]);
            v.pack(seeds, some, &mut self.held[self.end..]);
            self.columns[self.end..][..LANES].fill(column as u8);
            self.end += some.count_ones() as usize;
        }
    }

    /// Deals the next candidates to the lanes of a set and returns those that got one.
    #[inline(always)]
    fn deal<V: Vector>(&mut self, v: V, lanes: u64, sowing: &mut InProgress<V>) -> u64 {
        let left = self.end - self.head;
        let mut dealt = lanes;
        while dealt.count_ones() as usize > left {
            dealt &= dealt - 1;
        }
        let hand = &mut sowing.hand;
        sowing.lane = v.deal(&self.lanes[self.head..], dealt, sowing.lane);
        hand.at = v.deal(&self.columns[self.head..], dealt, hand.at);
        hand.held = v.deal(&self.held[self.head..], dealt, hand.held);
        self.head += dealt.count_ones() as usize;
        dealt
    }
}

/// Sowings in progress, one in every lane.
struct InProgress<V: Vector> {
    hand: Hand<V>,
    laps: V::Bytes,
    /// The block, lane and column tried.
    block: V::Bytes,
    lane: V::Bytes,
    column: V::Bytes,
}

impl<V: Vector> InProgress<V> {
    /// Begins with nothing in hand.
    #[inline(always)]
    fn new(v: V) -> InProgress<V> {
        let zero = v.splat(0);
        InProgress {
            hand: Hand {
                at: zero,
                held: zero,
            },
            laps: zero,
            block: zero,
            lane: zero,
            column: zero,
        }
    }

    /// Notes what was dealt to the lanes of a set.
    #[inline(always)]
    fn begin(&mut self, v: V, lanes: u64, block: u8) {
        let mask = v.mask(lanes);
        self.laps = v.clear(self.laps, mask);
        self.block = v.select(mask, v.splat(block), self.block);
        self.column = v.select(mask, self.hand.at, self.column);
    }

    #[inline(always)]
    fn stop(&self, v: V) -> Taken {
        Taken {
            laps: row_of(v, self.laps),
            block: row_of(v, self.block),
            lane: row_of(v, self.lane),
            column: row_of(v, self.column),
        }
    }
}

/// Where sowings in progress came from.
struct Taken {
    laps: Row,
    block: Row,
    lane: Row,
    column: Row,
}

impl Taken {
    /// Describes the sowing in progress in one lane.
    fn sowing(
        &self,
        stopped: &Stopped,
        lane: usize,
        boards: &[Row],
        waiting: &[(u32, u64)],
    ) -> Sowing {
        let [block, from, column] =
            [&self.block, &self.lane, &self.column].map(|row| usize::from(row.0[lane]));
        let pits = boards.len() / waiting.len();
        let start = turned(&boards[block * pits..(block + 1) * pits], from, column);
        let id = id_of(waiting[block].0, from, column);
        stopped.sowing(start, column, lane, self.laps.0[lane].into(), id)
    }
}
