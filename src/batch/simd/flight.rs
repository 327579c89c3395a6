//! Sowings followed one by one on AVX2, several in flight.
//!
//! A lap looks the same from every pit of the ring, so a board is kept *turned*: its first byte is
//! the pit to be lifted. One lap is then an addition and a shuffle, both looked up by the seeds in
//! hand alone. A sowing that comes back to an earlier board, turned by whatever number of pits,
//! repeats its laps from there and never ends (S6); that is up to `2C` times sooner than the board
//! comes back in its place.
//!
//! The slow twin is [`relay`](crate::sowing) in `sowing.rs`. Unsafe code is needed to call
//! instructions that not every processor has; a value of [`Avx2`] proves that they are there.
#![allow(unsafe_code)]

use super::avx2::Avx2;
use super::turned_lap::{Lap, LongLap, ShortLap};
use crate::batch::known::Known;
use crate::batch::pending::{self, Follow, Landed, MAX_PITS, Sowing};
use crate::ruleset::{Direction, Ruleset};

/// Sowings in flight at once.
const PLACES: usize = 4;
/// Laps between two looks at the sowings in flight.
const ROUND: u32 = 16;
/// Laps after which a sowing is followed with care: nearly all others end before.
const CAREFUL_FROM: u32 = 48;
/// The most laps of a sowing before it is followed with care.
const MAX_LAPS: u32 = pending::MAX_LAPS + CAREFUL_FROM + ROUND;
/// Laps after which the endless sowings met before are asked.
const ASK_AT: u32 = 64;
/// Laps after which a sowing by parity is watched for the return of a later board than the first.
const WATCH_FROM: u32 = 32;

/// Keeps a place in flight busy: nothing is lifted, nothing ends.
const IDLE: Sowing = Sowing::new([0; MAX_PITS], u32::MAX);

/// What a lap of every number of seeds does to turned boards.
#[derive(Debug)]
pub(in crate::batch) struct Flight {
    proof: Avx2,
    rules: Rules,
    laps: Laps,
    known: Known,
}

#[derive(Debug)]
struct Rules {
    pits: usize,
    lap_limit: u32,
    /// The first lap after which a later board than the first is watched for; never without S5,
    /// where the first itself comes back.
    watch_from: u32,
}

#[derive(Debug)]
enum Laps {
    Short(Box<[ShortLap]>),
    Long(Box<[LongLap]>),
}

impl Flight {
    /// Computes the laps of a rule set of up to 32 pits and 255 seeds, `None` without AVX2.
    pub(in crate::batch) fn new(ruleset: &Ruleset) -> Option<Flight> {
        let proof = Avx2::detect()?;
        let pits = ruleset.pits();
        let parity = ruleset.direction() == Direction::Parity;
        let laps = if pits <= 16 {
            let laps = (0..=u8::MAX).map(|seeds| ShortLap::of(pits, seeds, parity));
            Laps::Short(laps.collect())
        } else {
            let laps = (0..=u8::MAX).map(|seeds| LongLap::of(pits, seeds, parity));
            Laps::Long(laps.collect())
        };
        Some(Flight {
            proof,
            rules: Rules {
                pits,
                lap_limit: ruleset.lap_limit(),
                watch_from: if parity { WATCH_FROM } else { u32::MAX },
            },
            laps,
            known: Known::new(),
        })
    }
}

impl Follow for Flight {
    fn find_endless(&self, queue: &mut Vec<Sowing>, endless: &mut dyn FnMut(u32)) {
        let ended = |id, landed: Option<Landed>| {
            if landed.is_none() {
                endless(id);
            }
        };
        // SAFETY: the proof says that the processor has AVX2.
        unsafe {
            match &self.laps {
                Laps::Short(laps) => find_endless(self, laps, queue, ended),
                Laps::Long(laps) => find_endless(self, laps, queue, ended),
            }
        }
    }

    fn finish(&self, queue: &[Sowing], ended: &mut dyn FnMut(u32, Option<Landed>)) {
        // SAFETY: the proof says that the processor has AVX2.
        unsafe {
            match &self.laps {
                Laps::Short(laps) => finish(self, laps, queue, ended),
                Laps::Long(laps) => finish(self, laps, queue, ended),
            }
        }
    }
}

/// Sows the queue without a branch on when a sowing ends, then those that take long with care.
#[target_feature(enable = "avx2")]
fn find_endless<L: Lap>(
    flight: &Flight,
    laps: &[L],
    queue: &mut Vec<Sowing>,
    ended: impl FnMut(u32, Option<Landed>),
) {
    let waiting = queue.len();
    if flight.rules.lap_limit <= MAX_LAPS || waiting <= PLACES {
        Careful::new(flight, laps).fly::<false>(queue, ended);
        queue.clear();
        return;
    }
    queue.push(IDLE);
    let mut quick = Quick::new(flight.proof, queue, waiting);
    loop {
        for _ in 0..ROUND {
            quick.lap(laps, queue);
        }
        let last = quick.head == waiting;
        for place in 0..PLACES {
            let number = quick.numbers[place];
            if number < waiting && (last || quick.laps[place] >= CAREFUL_FROM) {
                queue.push(Sowing {
                    board: L::store(flight.proof, quick.boards[place]),
                    laps: quick.laps[place],
                    ..queue[number]
                });
                quick.take(place, queue);
            }
        }
        if last && quick.numbers.iter().all(|&number| number == waiting) {
            break;
        }
    }
    Careful::new(flight, laps).fly::<false>(&queue[waiting + 1..], ended);
    queue.clear();
}

/// Follows a queue with care.
#[target_feature(enable = "avx2")]
fn finish<L: Lap>(
    flight: &Flight,
    laps: &[L],
    queue: &[Sowing],
    ended: impl FnMut(u32, Option<Landed>),
) {
    Careful::new(flight, laps).fly::<true>(queue, ended);
}

/// Sowings in flight of which nearly all end soon.
struct Quick<L: Lap> {
    v: Avx2,
    boards: [L::Board; PLACES],
    held: [u8; PLACES],
    laps: [u32; PLACES],
    /// Which sowing of the queue is in each place.
    numbers: [usize; PLACES],
    /// The next sowing of the queue.
    head: usize,
    /// The idle sowing behind all others.
    end: usize,
}

impl<L: Lap> Quick<L> {
    #[inline(always)]
    fn new(v: Avx2, queue: &[Sowing], end: usize) -> Quick<L> {
        Quick {
            v,
            boards: std::array::from_fn(|place| L::load(v, &queue[place].board)),
            held: std::array::from_fn(|place| queue[place].board[0]),
            laps: std::array::from_fn(|place| queue[place].laps),
            numbers: std::array::from_fn(|place| place),
            head: PLACES,
            end,
        }
    }

    /// Takes the next sowing of the queue into a place.
    #[inline(always)]
    fn take(&mut self, place: usize, queue: &[Sowing]) {
        let next = &queue[self.head];
        self.boards[place] = L::load(self.v, &next.board);
        self.held[place] = next.board[0];
        self.laps[place] = next.laps;
        self.numbers[place] = self.head;
        self.head = (self.head + 1).min(self.end);
    }

    /// Sows one lap in every place; a sowing that ends makes room for the next.
    #[inline(always)]
    fn lap(&mut self, laps: &[L], queue: &[Sowing]) {
        let v = self.v;
        for place in 0..PLACES {
            let lap = &laps[usize::from(self.held[place])];
            let board = lap.sow(v, self.boards[place]);
            let seeds = L::front(v, board) as u8;
            let ended = seeds == 1;
            let next = &queue[self.head];
            self.boards[place] = L::select(v, ended, L::load(v, &next.board), board);
            self.held[place] = if ended { next.board[0] } else { seeds };
            self.laps[place] = if ended {
                next.laps
            } else {
                self.laps[place] + 1
            };
            self.numbers[place] = if ended {
                self.head
            } else {
                self.numbers[place]
            };
            self.head = (self.head + usize::from(ended)).min(self.end);
        }
    }
}

/// Sowings in flight that are watched for their return and for the lap limit.
struct Careful<'a, L: Lap> {
    flight: &'a Flight,
    laps: &'a [L],
    /// Laps of every place so far.
    clock: u64,
    places: [Place<L>; PLACES],
}

/// How a sowing in flight ended.
enum Ended {
    Landed(Landed),
    Endless,
}

struct Place<L: Lap> {
    board: L::Board,
    held: u8,
    turned: usize,
    /// The board whose return is noticed, and its first eight pits.
    watched: L::Board,
    watched_front: u64,
    /// The clock at which something else than a lap is due.
    due: u64,
    /// The clock at which the sowing would have had no lap.
    began: u64,
    /// The sowing's number in the queue, `usize::MAX` in an idle place.
    number: usize,
}

impl<'a, L: Lap> Careful<'a, L> {
    #[inline(always)]
    fn new(flight: &'a Flight, laps: &'a [L]) -> Careful<'a, L> {
        let idle = L::load(flight.proof, &IDLE.board);
        Careful {
            flight,
            laps,
            // The clock of a sowing that comes with laps began before this one.
            clock: u64::from(u32::MAX),
            places: std::array::from_fn(|_| Place {
                board: idle,
                held: 0,
                turned: 0,
                watched: idle,
                watched_front: u64::MAX,
                due: u64::MAX,
                began: 0,
                number: usize::MAX,
            }),
        }
    }

    #[inline(always)]
    fn fly<const RECORD: bool>(
        mut self,
        queue: &[Sowing],
        mut ended: impl FnMut(u32, Option<Landed>),
    ) {
        let mut head = 0;
        let mut flying = 0;
        for place in 0..PLACES {
            flying += usize::from(self.take(place, queue, &mut head, &mut ended));
        }
        while flying > 0 {
            let mut look = self.lap::<RECORD>();
            while look != 0 {
                let place = look.trailing_zeros() as usize;
                look &= look - 1;
                if let Some(end) = self.look(place, queue) {
                    let landed = match end {
                        Ended::Landed(landed) => Some(landed),
                        Ended::Endless => None,
                    };
                    ended(queue[self.places[place].number].id, landed);
                    flying -= usize::from(!self.take(place, queue, &mut head, &mut ended));
                }
            }
        }
    }

    /// Sows one lap in every place and returns the places to look at.
    #[inline(always)]
    fn lap<const RECORD: bool>(&mut self) -> u32 {
        let v = self.flight.proof;
        self.clock += 1;
        let mut look = 0;
        for (number, place) in self.places.iter_mut().enumerate() {
            let lap = &self.laps[usize::from(place.held)];
            place.board = lap.sow(v, place.board);
            let front = L::front(v, place.board);
            place.held = front as u8;
            if RECORD {
                place.turned += lap.turns();
            }
            if place.held == 1 || front == place.watched_front || self.clock == place.due {
                look |= 1 << number;
            }
        }
        look
    }

    /// Takes the next sowing of the queue that is not known to be endless into a place; false, and
    /// the place idles, where there is none.
    fn take(
        &mut self,
        place: usize,
        queue: &[Sowing],
        head: &mut usize,
        ended: &mut impl FnMut(u32, Option<Landed>),
    ) -> bool {
        let v = self.flight.proof;
        while let Some(sowing) = queue.get(*head) {
            let number = *head;
            *head += 1;
            if sowing.laps >= ASK_AT && self.flight.known.contains(&sowing.start) {
                ended(sowing.id, None);
                continue;
            }
            let board = L::load(v, &sowing.board);
            self.places[place] = Place {
                board,
                held: sowing.board[0],
                turned: sowing.turned,
                watched: board,
                watched_front: L::front(v, board),
                due: 0,
                began: self.clock - u64::from(sowing.laps),
                number,
            };
            self.plan(place, sowing.laps);
            return true;
        }
        let idle = L::load(v, &IDLE.board);
        let place = &mut self.places[place];
        (place.board, place.held, place.number) = (idle, 0, usize::MAX);
        (place.watched_front, place.due) = (u64::MAX, u64::MAX);
        false
    }

    /// Sets when a place is due next, after some laps.
    fn plan(&mut self, place: usize, laps: u32) {
        let rules = &self.flight.rules;
        let mut due = rules.lap_limit;
        if laps < ASK_AT {
            due = due.min(ASK_AT);
        }
        if rules.watch_from < u32::MAX {
            let watch = (laps + 1).next_power_of_two().max(rules.watch_from);
            due = due.min(watch);
        }
        let place = &mut self.places[place];
        place.due = place.began + u64::from(due);
    }

    /// Looks at a place and returns how its sowing ended, if it did.
    fn look(&mut self, number: usize, queue: &[Sowing]) -> Option<Ended> {
        let (v, rules) = (self.flight.proof, &self.flight.rules);
        let place = &mut self.places[number];
        if place.held == 1 {
            return Some(Ended::Landed(Landed {
                board: L::store(v, place.board),
                turned: place.turned % rules.pits,
            }));
        }
        let laps = (self.clock - place.began) as u32;
        let start = &queue[place.number].start;
        if laps == rules.lap_limit || L::same(v, place.board, place.watched) {
            self.flight.known.insert(start);
            return Some(Ended::Endless);
        }
        if self.clock == place.due {
            if laps == ASK_AT && self.flight.known.contains(start) {
                return Some(Ended::Endless);
            }
            if laps >= rules.watch_from && laps.is_power_of_two() {
                place.watched = place.board;
                place.watched_front = L::front(v, place.board);
            }
            self.plan(number, laps);
        }
        None
    }
}
