//! The values of all boards with one seed count, from those with fewer seeds.
//!
//! Without its loops a level would be plain backward induction. With them, what a side can force
//! is found threshold by threshold, from the highest: for `t = n, n-1, ..., 1`, a board is worth
//! `t` if its mover captures for `t` or has a quiet move to a board worth `-t` or less to the other
//! side; it is worth `-t` if its best capture is worth that, or less and all its quiet moves lead
//! to boards worth `t` or more to the other side. Every board gets its value once, and tells the
//! boards whose quiet moves lead to it. What is left can be drawn out for ever and is worth 0.

use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};

use rayon::prelude::*;

use crate::search::endgame::build::Work;
use crate::search::endgame::ring::Ring;

/// Boards that one task looks at.
const CHUNK: usize = 1 << 12;

/// Boards that are told at once, so that the waits for memory overlap.
const TOLD: usize = 1 << 9;

/// What is known of a board, in 16 bits that threads share.
///
/// The low byte is its best capture as a margin, or [`NO_CAPTURE`], and its value once it has one.
/// Above it stand the quiet moves to boards without a value for the other side so far.
type Cell = AtomicU16;

/// The margin of a board without a capture.
const NO_CAPTURE: i8 = i8::MIN;

/// One quiet move.
const QUIET: u16 = 1 << 8;

/// The bits of the quiet moves: a board has fewer than 64.
const QUIETS: u16 = 0x3F00;

/// The value is new: the boards before it have not been told.
const NEW: u16 = 1 << 14;

/// The board has its value.
const VALUED: u16 = 1 << 15;

const fn margin(cell: u16) -> i8 {
    cell as u8 as i8
}

/// The room that levels are worked out in, and the threads' common view of one.
pub(super) struct Level<'a, R> {
    ring: &'a R,
    /// Seeds on every board.
    seeds: u32,
    /// The number of the first board.
    start: u64,
    cells: &'a [Cell],
    /// The values of all boards with fewer seeds.
    smaller: &'a [u8],
    work: &'a Work,
}

/// The room that all levels of a table share.
pub(super) struct Room {
    cells: Vec<Cell>,
    /// Chunks that hold new values, in the wave at hand and in the next one.
    marks: [Vec<AtomicBool>; 2],
}

impl Room {
    /// Makes room for levels of up to `boards` boards; `None` if memory is short.
    pub(super) fn new(boards: usize) -> Option<Room> {
        let mut cells = Vec::new();
        cells.try_reserve_exact(boards).ok()?;
        cells.resize_with(boards, Cell::default);
        let marks = || {
            let mut marks = Vec::new();
            marks.resize_with(boards.div_ceil(CHUNK), AtomicBool::default);
            marks
        };
        Some(Room {
            cells,
            marks: [marks(), marks()],
        })
    }
}

/// Boards that one task has to tell about a value.
#[derive(Default)]
struct Told<S> {
    /// Boards with a quiet move to one that is good for the other side.
    bad: Vec<usize>,
    /// Boards with a quiet move to one that is bad for the other side.
    good: Vec<usize>,
    stack: S,
}

impl<'a, R: Ring> Level<'a, R> {
    /// Works out the values of the level that starts at number `start`, and writes them.
    pub(super) fn solve(
        ring: &'a R,
        seeds: u32,
        start: u64,
        room: &'a mut Room,
        (smaller, values): (&'a [u8], &mut [u8]),
        work: &'a Work,
    ) {
        let level = Level {
            ring,
            seeds,
            start,
            cells: &room.cells[..values.len()],
            smaller,
            work,
        };
        level.look_forward();
        let [now, next] = &mut room.marks;
        for threshold in (1..=seeds as i8).rev() {
            level.settle(threshold, now, next);
        }
        level.write(values);
    }

    /// Notes every board's best capture and counts its quiet moves.
    fn look_forward(&self) {
        self.each_chunk(|first, cells| {
            let mut walk = self.ring.walk(self.start + first as u64);
            for (index, cell) in (first..).zip(cells) {
                let board = self.ring.at(&mut walk, self.start + index as u64);
                let (mut best, mut quiets) = (NO_CAPTURE, 0);
                self.ring.moves(board, |child, captured| {
                    if captured == 0 {
                        quiets += QUIET;
                    } else {
                        let child = self.smaller[self.ring.index(child) as usize] as i8;
                        best = best.max(captured as i8 - child);
                    }
                });
                if quiets == 0 && best == NO_CAPTURE {
                    // Stuck: the other side takes all (E1).
                    best = -(self.seeds as i8);
                }
                cell.store(quiets | u16::from(best as u8), Ordering::Relaxed);
            }
            self.work.add(cells.len() as u64);
        });
    }

    /// Finds every board worth `threshold` or its opposite.
    ///
    /// The first wave starts from captures and ends, each later one from the boards that got their
    /// value in the wave before.
    fn settle(&self, threshold: i8, now: &mut Vec<AtomicBool>, next: &mut Vec<AtomicBool>) {
        self.chunks()
            .for_each_init(Told::default, |told, (at, cells)| {
                self.start_chunk(threshold, at * CHUNK, cells, told, next);
            });
        loop {
            std::mem::swap(now, next);
            let any = self
                .chunks()
                .filter(|&(at, _)| now[at].swap(false, Ordering::Relaxed))
                .map_init(Told::default, |told, (at, cells)| {
                    self.go_on(threshold, at * CHUNK, cells, told, next);
                })
                .count();
            if any == 0 {
                return;
            }
        }
    }

    /// Gives the boards of a chunk their value where a capture or an end decides.
    fn start_chunk(
        &self,
        threshold: i8,
        first: usize,
        cells: &[Cell],
        told: &mut Told<R::Stack>,
        marks: &[AtomicBool],
    ) {
        let mut walk = None;
        for (index, cell) in (first..).zip(cells) {
            let seen = cell.load(Ordering::Relaxed);
            let value = margin(seen);
            let settled = value == threshold || value == -threshold && seen & QUIETS == 0;
            if !settled || seen & VALUED != 0 {
                continue;
            }
            if cell.fetch_or(VALUED, Ordering::Relaxed) & VALUED == 0 {
                self.tell(index, value, &mut walk, told);
                self.pass_on(threshold, told, marks, TOLD);
            }
        }
        self.pass_on(threshold, told, marks, 0);
    }

    /// Tells what the new values of a chunk mean.
    fn go_on(
        &self,
        threshold: i8,
        first: usize,
        cells: &[Cell],
        told: &mut Told<R::Stack>,
        marks: &[AtomicBool],
    ) {
        let mut walk = None;
        for (index, cell) in (first..).zip(cells) {
            if cell.load(Ordering::Relaxed) & NEW != 0 {
                let value = margin(cell.fetch_and(!NEW, Ordering::Relaxed));
                self.tell(index, value, &mut walk, told);
                self.pass_on(threshold, told, marks, TOLD);
            }
        }
        self.pass_on(threshold, told, marks, 0);
    }

    /// Lists the boards with a quiet move to a board that got its value.
    fn tell(&self, index: usize, value: i8, walk: &mut Option<R::Walk>, told: &mut Told<R::Stack>) {
        let number = self.start + index as u64;
        let walk = walk.get_or_insert_with(|| self.ring.walk(number));
        let board = self.ring.at(walk, number);
        let list = if value > 0 {
            &mut told.bad
        } else {
            &mut told.good
        };
        self.ring.predecessors(board, &mut told.stack, |before| {
            list.push((self.ring.index(before) - self.start) as usize);
        });
    }

    /// Passes the news on once there are more than `least`.
    fn pass_on(
        &self,
        threshold: i8,
        told: &mut Told<R::Stack>,
        marks: &[AtomicBool],
        least: usize,
    ) {
        // Looking first leaves out what is known, and fetches the rest for the exchange below.
        let open = |&index: &usize| self.cells[index].load(Ordering::Relaxed) & VALUED == 0;
        if told.good.len() > least {
            told.good.retain(open);
            for index in told.good.drain(..) {
                self.value(index, threshold, marks);
            }
        }
        if told.bad.len() > least {
            told.bad.retain(open);
            for index in told.bad.drain(..) {
                let seen = self.cells[index].fetch_sub(QUIET, Ordering::Relaxed);
                if seen & QUIETS == QUIET && margin(seen) <= -threshold {
                    self.value(index, -threshold, marks);
                }
            }
        }
    }

    /// Gives a board its value unless it has one.
    fn value(&self, index: usize, value: i8, marks: &[AtomicBool]) {
        let set = |seen: u16| {
            (seen & VALUED == 0).then_some(seen & QUIETS | VALUED | NEW | u16::from(value as u8))
        };
        let order = Ordering::Relaxed;
        if self.cells[index].fetch_update(order, order, set).is_ok() {
            let mark = &marks[index / CHUNK];
            if !mark.load(order) {
                mark.store(true, order);
            }
        }
    }

    /// Writes the values; boards without one are worth 0.
    fn write(&self, values: &mut [u8]) {
        values
            .par_chunks_mut(CHUNK)
            .zip(self.cells.par_chunks(CHUNK))
            .for_each(|(values, cells)| {
                for (value, cell) in values.iter_mut().zip(cells) {
                    let seen = cell.load(Ordering::Relaxed);
                    *value = if seen & VALUED == 0 { 0 } else { seen as u8 };
                }
            });
        self.work.add(values.len() as u64);
    }

    /// Goes over the chunks of the level on all threads, none any more once the work is stopped.
    fn chunks(&self) -> impl ParallelIterator<Item = (usize, &'a [Cell])> {
        self.cells
            .par_chunks(CHUNK)
            .enumerate()
            .filter(|_| !self.work.is_stopped())
    }

    fn each_chunk(&self, run: impl Fn(usize, &[Cell]) + Sync) {
        self.chunks().for_each(|(at, cells)| run(at * CHUNK, cells));
    }
}
