//! Boards of up to 32 pits and 255 seeds, a byte a pit, packed into words.
//!
//! One lap is a table look-up and one addition a word: the table holds, for every pit and number
//! of seeds lifted, what the lap adds to each word (the lifted seeds taken from the origin, S1,
//! S2, S5) and the pit of the last seed. Every byte of the sum is a true count between 0 and 255,
//! so that no byte carries into the next, whatever the order of the additions.

use std::sync::Arc;

use crate::batch::LANES;
use crate::batch::boards::{Boards, MAX_PACKED_SEEDS, Sown, lanes_of};
use crate::batch::pending::{Follow, Landed, MAX_PITS, Pending, Sowing};
use crate::ruleset::{Direction, Ruleset};

/// Lanes in flight at once; more spill out of the registers (measured, 3 to 12).
const FLIGHT: usize = 4;
/// Laps between two looks at the lanes in flight.
const LOOK: usize = 16;
/// Looks that a sowing may stay in flight before it is handed to the careful loop.
const PATIENCE: u8 = 4;
/// The most laps that a sowing in flight can have played when it ends there.
const MAX_FLIGHT_LAPS: u32 = LOOK as u32 * (PATIENCE as u32 + 2);
/// Candidates below which a flight is not worth its start (measured).
const MIN_FLIGHT: usize = 32;
/// Sowings left when the flight is broken off for the careful loop.
const STRAGGLERS: usize = 1;
/// Laps after which the careful loop watches for the return of a later state than the start.
const WATCH_FROM: u32 = 32;

/// A board packed into words, pit `p` in byte `p % 8` of word `p / 8`.
type Word<const W: usize> = [u64; W];

/// What every lap does, by pit and seeds lifted.
#[derive(Debug)]
pub(super) struct LapTable<const W: usize> {
    pits: usize,
    lap_limit: u32,
    /// The first lap after which an earlier state is kept to notice its return: none without S5,
    /// where a sowing without end returns to its start (S6).
    watch_from: u32,
    /// Entry `pit << 8 | seeds`: what the lap adds to the words, modulo 2^64.
    add: Vec<Word<W>>,
    /// Entry `pit << 8 | seeds`: the pit of the last seed.
    last: Vec<u8>,
}

/// One pit to sow: `lane << 16 | pit << 8 | seeds`; the lower half is the entry of its first lap.
type Candidate = u32;

/// What keeps an idle place in flight busy: the single seed of the board behind the lanes.
const IDLE: Candidate = (LANES as u32) << 16 | 1;

const fn lane_of(candidate: Candidate) -> usize {
    (candidate >> 16) as usize
}

const fn entry_of(candidate: Candidate) -> usize {
    (candidate & 0xFFFF) as usize
}

/// The candidates of a block, the first `len` entries, and room for one [`IDLE`].
#[derive(Clone, Debug, Default)]
struct Queue {
    entries: Vec<Candidate>,
    len: usize,
}

impl Queue {
    /// Makes a queue for `columns` candidates of every lane.
    fn new(columns: usize) -> Queue {
        Queue {
            entries: vec![IDLE; columns * LANES + 1],
            len: 0,
        }
    }

    /// Appends a candidate and keeps it if told to, without a branch.
    fn push_if(&mut self, keep: bool, lane: usize, entry: usize) {
        self.entries[self.len] = (lane << 16 | entry) as u32;
        self.len += usize::from(keep);
    }
}

/// Returns the seeds of one pit; the word is selected, not indexed, so that it stays in registers.
#[inline]
fn seeds_of<const W: usize>(board: &Word<W>, pit: usize) -> usize {
    let mut chosen = board[0];
    for (index, &word) in board.iter().enumerate().skip(1) {
        chosen = if pit >> 3 == index { word } else { chosen };
    }
    (chosen >> ((pit & 7) * 8) & 0xFF) as usize
}

impl<const W: usize> LapTable<W> {
    /// Computes every lap of the boards of a rule set.
    pub(super) fn new(ruleset: &Ruleset) -> LapTable<W> {
        let pits = ruleset.pits();
        let mut add = vec![[0_u64; W]; pits << 8];
        let mut last = vec![0; pits << 8];
        let ways: &[usize] = match ruleset.direction() {
            Direction::Anticlockwise => &[1],
            Direction::Parity => &[1, pits - 1],
        };
        for origin in 0..pits {
            for (way, stride) in ways.iter().enumerate() {
                let mut words = [0_u64; W];
                let mut at = origin;
                for seeds in 1..=MAX_PACKED_SEEDS as usize {
                    at = (at + stride) % pits;
                    words[at >> 3] = words[at >> 3].wrapping_add(1 << ((at & 7) * 8));
                    if seeds % ways.len() == way {
                        let entry = origin << 8 | seeds;
                        let lifted = (seeds as u64) << ((origin & 7) * 8);
                        add[entry] = words;
                        add[entry][origin >> 3] = words[origin >> 3].wrapping_sub(lifted);
                        last[entry] = at as u8;
                    }
                }
            }
        }
        LapTable {
            pits,
            lap_limit: ruleset.lap_limit(),
            watch_from: match ruleset.direction() {
                Direction::Anticlockwise => u32::MAX,
                Direction::Parity => WATCH_FROM,
            },
            add,
            last,
        }
    }

    /// Sows one lap and returns the board, the pit of the last seed and the seeds in it.
    fn lap(&self, mut board: Word<W>, entry: usize) -> (Word<W>, usize, usize) {
        for (word, add) in board.iter_mut().zip(&self.add[entry]) {
            *word = word.wrapping_add(*add);
        }
        let last = usize::from(self.last[entry]);
        let seeds = seeds_of(&board, last);
        (board, last, seeds)
    }

    /// Sows until the sowing ends; `None` when it is endless (S6).
    ///
    /// Slow twin: `run_laps` in `sowing.rs`, which explains the watch for an earlier state.
    fn relay(&self, mut board: Word<W>, mut entry: usize) -> Option<(Word<W>, usize)> {
        let mut earlier = (board, entry);
        let mut laps = 0;
        let mut next_watch = self.watch_from;
        loop {
            let (next, last, seeds) = self.lap(board, entry);
            laps += 1;
            if seeds == 1 {
                return Some((next, last));
            }
            board = next;
            entry = last << 8 | seeds;
            if laps == self.lap_limit || (board, entry) == earlier {
                return None;
            }
            if laps == next_watch {
                earlier = (board, entry);
                next_watch = next_watch.saturating_mul(2);
            }
        }
    }
}

impl<const W: usize> LapTable<W> {
    /// Sows a sowing from its start, one of few that are left.
    fn follow(&self, sowing: &Sowing) -> Option<(Word<W>, usize)> {
        let mut words = [0; W];
        for (word, bytes) in words.iter_mut().zip(sowing.start.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        // The board is turned so that the pit lifted first is pit 0.
        self.relay(words, sowing.start[0].into())
    }
}

impl<const W: usize> Follow for LapTable<W> {
    fn find_endless(&self, queue: &mut Vec<Sowing>, endless: &mut dyn FnMut(u32)) {
        for sowing in queue.drain(..) {
            if self.follow(&sowing).is_none() {
                endless(sowing.id);
            }
        }
    }

    fn finish(&self, queue: &[Sowing], ended: &mut dyn FnMut(u32, Option<Landed>)) {
        for sowing in queue {
            let landed = self.follow(sowing).map(|(words, last)| {
                let mut board = [0; MAX_PITS];
                for (pit, seeds) in board.iter_mut().take(self.pits).enumerate() {
                    *seeds = seeds_of(&words, (last + pit) % self.pits) as u8;
                }
                Landed {
                    board,
                    turned: last,
                }
            });
            ended(sowing.id, landed);
        }
    }
}

/// Returns what follows sowings one at a time under a rule set, `None` for more than 32 pits.
pub(super) fn follower_of(ruleset: &Ruleset) -> Option<Box<dyn Follow>> {
    Some(match ruleset.pits().div_ceil(8) {
        1 => Box::new(LapTable::<1>::new(ruleset)),
        2 => Box::new(LapTable::<2>::new(ruleset)),
        3 => Box::new(LapTable::<3>::new(ruleset)),
        4 => Box::new(LapTable::<4>::new(ruleset)),
        _ => return None,
    })
}

/// The boards of 64 lanes, each packed into `W` words.
#[derive(Clone, Debug)]
pub(super) struct Packed<const W: usize> {
    table: Arc<LapTable<W>>,
    /// One more than the lanes: a single seed that keeps idle places in flight busy.
    boards: [Word<W>; LANES + 1],
    /// Kept to be used again; empty between calls.
    queue: Queue,
}

impl<const W: usize> Packed<W> {
    /// Makes 64 empty boards.
    pub(super) fn new(table: Arc<LapTable<W>>) -> Packed<W> {
        let mut boards = [[0; W]; LANES + 1];
        boards[LANES][0] = 1;
        Packed {
            queue: Queue::new(table.pits / 2),
            table,
            boards,
        }
    }

    /// Sows the candidates of a queue, [`FLIGHT`] at once, each place going on to the next
    /// candidate as soon as its sowing ends, without a branch on when that is.
    ///
    /// With `RECORD`, `landed` gets the board and the last pit of every lane that ended. The
    /// sowings that take long are moved to the front of the queue for [`LapTable::relay`]; the
    /// number of them is returned.
    fn fly<const RECORD: bool>(&self, queue: &mut Queue, landed: &mut [(Word<W>, u8)]) -> usize {
        if queue.len < MIN_FLIGHT || self.table.lap_limit <= MAX_FLIGHT_LAPS {
            return queue.len;
        }
        queue.entries[queue.len] = IDLE;
        let mut flight = Flight::new();
        for place in 0..FLIGHT {
            flight.board(place, queue, &self.boards);
        }
        loop {
            for _ in 0..LOOK {
                flight.lap::<RECORD>(&self.table, queue, &self.boards, landed);
            }
            if flight.look(queue, &self.boards) <= STRAGGLERS {
                return flight.break_off(queue);
            }
        }
    }

    fn take_queue(&mut self) -> Queue {
        let mut queue = std::mem::take(&mut self.queue);
        queue.len = 0;
        queue
    }

    fn relay(&self, candidate: Candidate) -> Option<(Word<W>, usize)> {
        self.table
            .relay(self.boards[lane_of(candidate)], entry_of(candidate))
    }

    /// Lists the columns of one lane that hold seeds, and queues those whose first lap does not
    /// show that they end.
    fn list(&self, lane: usize, queue: &mut Queue) -> u64 {
        let board = &self.boards[lane];
        let mut occupied = 0;
        for column in 0..self.table.pits / 2 {
            let seeds = seeds_of(board, column);
            let entry = column << 8 | seeds;
            let last = usize::from(self.table.last[entry]);
            let ends = seeds < self.table.pits && seeds_of(board, last) == 0;
            occupied |= u64::from(seeds > 0) << column;
            queue.push_if(seeds > 0 && !ends, lane, entry);
        }
        occupied
    }
}

/// The sowings in flight.
struct Flight<const W: usize> {
    boards: [Word<W>; FLIGHT],
    entries: [usize; FLIGHT],
    candidates: [Candidate; FLIGHT],
    /// The candidates at the last look.
    seen: [Candidate; FLIGHT],
    looks: [u8; FLIGHT],
    /// The next candidate of the queue.
    head: usize,
    /// Candidates handed back.
    late: usize,
}

impl<const W: usize> Flight<W> {
    const fn new() -> Flight<W> {
        Flight {
            boards: [[0; W]; FLIGHT],
            entries: [0; FLIGHT],
            candidates: [IDLE; FLIGHT],
            seen: [IDLE; FLIGHT],
            looks: [0; FLIGHT],
            head: 0,
            late: 0,
        }
    }

    /// Takes the next candidate of the queue into a place.
    fn board(&mut self, place: usize, queue: &Queue, boards: &[Word<W>; LANES + 1]) {
        let candidate = queue.entries[self.head];
        self.boards[place] = boards[lane_of(candidate)];
        self.entries[place] = entry_of(candidate);
        self.candidates[place] = candidate;
        self.head = (self.head + 1).min(queue.len);
    }

    /// Sows one lap in every place.
    #[inline]
    fn lap<const RECORD: bool>(
        &mut self,
        table: &LapTable<W>,
        queue: &Queue,
        boards: &[Word<W>; LANES + 1],
        landed: &mut [(Word<W>, u8)],
    ) {
        for place in 0..FLIGHT {
            let (board, last, seeds) = table.lap(self.boards[place], self.entries[place]);
            if RECORD {
                // Only the last lap of a sowing stays: every later one overwrites it.
                landed[lane_of(self.candidates[place])] = (board, last as u8);
            }
            let ended = seeds == 1;
            let next = queue.entries[self.head];
            let fresh = &boards[lane_of(next)];
            let keep = u64::from(ended).wrapping_sub(1);
            for word in 0..W {
                self.boards[place][word] = (board[word] & keep) | (fresh[word] & !keep);
            }
            self.entries[place] = if ended {
                entry_of(next)
            } else {
                last << 8 | seeds
            };
            self.candidates[place] = if ended { next } else { self.candidates[place] };
            self.head = (self.head + usize::from(ended)).min(queue.len);
        }
    }

    /// Hands back the sowings that take too long, and returns how many are in flight.
    fn look(&mut self, queue: &mut Queue, boards: &[Word<W>; LANES + 1]) -> usize {
        let mut flying = 0;
        for place in 0..FLIGHT {
            let candidate = self.candidates[place];
            let same = candidate == self.seen[place] && candidate != IDLE;
            self.looks[place] = if same { self.looks[place] + 1 } else { 0 };
            if self.looks[place] == PATIENCE {
                self.hand_back(candidate, queue);
                self.board(place, queue, boards);
                self.looks[place] = 0;
            }
            self.seen[place] = self.candidates[place];
            flying += usize::from(self.candidates[place] != IDLE);
        }
        flying
    }

    /// Puts a candidate to the front of the queue, where all others have been taken.
    fn hand_back(&mut self, candidate: Candidate, queue: &mut Queue) {
        queue.entries[self.late] = candidate;
        self.late += 1;
    }

    /// Hands back all that is in flight and returns how many candidates were handed back.
    fn break_off(mut self, queue: &mut Queue) -> usize {
        for candidate in self.candidates {
            if candidate != IDLE {
                self.hand_back(candidate, queue);
            }
        }
        self.late
    }
}

impl<const W: usize> Boards for Packed<W> {
    fn copy(&self) -> Box<dyn Boards> {
        Box::new(self.clone())
    }

    fn store(&mut self, lane: usize, board: &[u16]) -> bool {
        let seeds: u32 = board.iter().map(|&seeds| u32::from(seeds)).sum();
        if seeds > MAX_PACKED_SEEDS {
            return false;
        }
        let words = &mut self.boards[lane];
        *words = [0; W];
        for (pit, &seeds) in board.iter().enumerate() {
            words[pit >> 3] |= u64::from(seeds) << ((pit & 7) * 8);
        }
        true
    }

    fn load(&self, lane: usize, board: &mut [u16]) {
        for (pit, seeds) in board.iter_mut().enumerate() {
            *seeds = self.get(lane, pit);
        }
    }

    fn get(&self, lane: usize, pit: usize) -> u16 {
        seeds_of(&self.boards[lane], pit) as u16
    }

    fn lift(&mut self, lane: usize, pit: usize) -> u16 {
        let seeds = self.get(lane, pit);
        self.boards[lane][pit >> 3] &= !(0xFF << ((pit & 7) * 8));
        seeds
    }

    fn lift_all(&mut self, lane: usize) -> u16 {
        let words = std::mem::replace(&mut self.boards[lane], [0; W]);
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        bytes.map(u16::from).sum()
    }

    fn turn(&mut self, lanes: u64) {
        let bits = 8 * (self.table.pits / 2);
        for lane in lanes_of(lanes) {
            self.boards[lane] = exchange(&self.boards[lane], bits);
        }
    }

    fn sow(&mut self, lanes: u64, columns: &[u8; LANES], _: &mut Pending) -> Sown {
        let mut queue = self.take_queue();
        for lane in lanes_of(lanes) {
            let column = usize::from(columns[lane]);
            let entry = column << 8 | seeds_of(&self.boards[lane], column);
            queue.push_if(true, lane, entry);
        }
        let mut landed = [([0; W], 0); LANES + 1];
        let late = self.fly::<true>(&mut queue, &mut landed);
        let mut endless = 0;
        for &candidate in &queue.entries[..late] {
            match self.relay(candidate) {
                Some((board, last)) => landed[lane_of(candidate)] = (board, last as u8),
                None => endless |= 1 << lane_of(candidate),
            }
        }
        self.queue = queue;
        let mut last = [0; LANES];
        for lane in lanes_of(lanes & !endless) {
            (self.boards[lane], last[lane]) = landed[lane];
        }
        Sown { last, endless }
    }

    fn occupied(&self, lanes: u64, out: &mut [u64; LANES]) {
        for lane in lanes_of(lanes) {
            out[lane] = (0..self.table.pits / 2).fold(0, |set, column| {
                set | u64::from(self.get(lane, column) > 0) << column
            });
        }
    }

    fn legal(&mut self, lanes: u64, out: &mut [u64; LANES], _: &mut Pending) {
        let mut queue = self.take_queue();
        for lane in lanes_of(lanes) {
            out[lane] = self.list(lane, &mut queue);
        }
        let late = self.fly::<false>(&mut queue, &mut []);
        for &candidate in &queue.entries[..late] {
            if self.relay(candidate).is_none() {
                out[lane_of(candidate)] &= !(1 << (entry_of(candidate) >> 8));
            }
        }
        self.queue = queue;
    }

    fn observe(&self, out: &mut [i16], length: usize) {
        let pits = self.table.pits;
        for (out, board) in out.chunks_exact_mut(length).zip(&self.boards) {
            for (out, word) in out[..pits].chunks_mut(8).zip(board) {
                for (out, byte) in out.iter_mut().zip(word.to_le_bytes()) {
                    *out = byte.into();
                }
            }
        }
    }
}

/// Exchanges the first `bits` (at most `32 W`) of a board with the next as many.
fn exchange<const W: usize>(board: &Word<W>, bits: usize) -> Word<W> {
    let up = shift_up(board, bits);
    let mut out = shift_down(board, bits);
    for (word, (out, up)) in out.iter_mut().zip(up).enumerate() {
        let end = (2 * bits).saturating_sub(64 * word);
        let mask = if end >= 64 { u64::MAX } else { (1 << end) - 1 };
        *out |= up & mask;
    }
    out
}

fn shift_up<const W: usize>(board: &Word<W>, bits: usize) -> Word<W> {
    let (words, bits) = (bits / 64, bits % 64);
    std::array::from_fn(|word| {
        let from = |back: usize| word.checked_sub(back).map_or(0, |index| board[index]);
        let carried = if bits == 0 {
            0
        } else {
            from(words + 1) >> (64 - bits)
        };
        from(words) << bits | carried
    })
}

fn shift_down<const W: usize>(board: &Word<W>, bits: usize) -> Word<W> {
    let (words, bits) = (bits / 64, bits % 64);
    std::array::from_fn(|word| {
        let from = |ahead: usize| board.get(word + ahead).copied().unwrap_or(0);
        let carried = if bits == 0 {
            0
        } else {
            from(words + 1) << (64 - bits)
        };
        from(words) >> bits | carried
    })
}
