//! One move: laps, relay, capture.

use crate::board::Board;
use crate::pit::{MAX_PITS, opposite, owner, ring_index};
use crate::ruleset::{Direction, LoneCapture, Ruleset};
use crate::side::Side;

/// Laps after which a sowing is watched for the return of an earlier board.
///
/// Nearly every sowing is over by then (the mean at 2x6 is 2.9 laps), so that the watch costs
/// nothing where it is not needed.
const WATCH_FROM: u32 = 32;

/// How a sowing ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SowingEnd {
    /// In the mover's own row with a capture (C1, or C2 where a lone seed is taken).
    Captured,
    /// In an empty pit of the mover's own row, nothing captured (C2).
    Empty,
    /// In an empty pit of the opponent's row (C3).
    Opponent,
    /// Never, or not within `lap_limit` laps (S6).
    Endless,
}

impl SowingEnd {
    /// Returns the name that users see: `captured`, `empty`, `opponent` or `endless`.
    pub const fn name(self) -> &'static str {
        match self {
            SowingEnd::Captured => "captured",
            SowingEnd::Empty => "empty",
            SowingEnd::Opponent => "opponent",
            SowingEnd::Endless => "endless",
        }
    }
}

/// What one sowing did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sowing {
    /// Laps played, the first included; `lap_limit` for an endless sowing.
    pub laps: u32,
    /// Seeds dropped in all laps; for an endless sowing, in its first `lap_limit` laps.
    pub seeds_sown: u64,
    /// Ring index of the last seed; `None` for an endless sowing.
    pub last: Option<u8>,
    /// Seeds captured, the capturing seed included.
    pub captured: u16,
    /// How the sowing ended.
    pub end: SowingEnd,
}

/// One step of a sowing, for looking at it pit by pit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceStep {
    /// The lap, counted from 1.
    pub lap: u32,
    /// Ring index of the pit lifted from or dropped into.
    pub pit: u8,
    /// Seeds in that pit afterwards: 0 after the lift that starts a lap.
    pub seeds: u16,
}

/// Sows the seeds of `side`'s pit in `column` and makes the capture (S1 to S6, C1 to C3).
///
/// The caller has made sure that the pit exists and holds seeds. An endless sowing leaves the
/// board as it was. The slow twin is in `reference.rs`.
///
/// ```
/// use endodoi::{sowing, Board, Ruleset, RulesetFields, Side, Variant};
/// let fields = RulesetFields { columns: Some(6), ..RulesetFields::default() };
/// let ruleset = Ruleset::new(Variant::EnDodoi, &fields)?;
/// let mut board = Board::start(&ruleset);
/// let sowing = sowing::sow(&mut board, &ruleset, Side::South, 0);
/// assert_eq!((sowing.laps, sowing.seeds_sown, sowing.last, sowing.captured), (5, 26, Some(2), 2));
/// assert_eq!(board.row(Side::South), [2, 7, 0, 6, 1, 6]);
/// assert_eq!(board.row(Side::North), [6, 6, 0, 0, 6, 6]);
/// # Ok::<(), endodoi::RulesetError>(())
/// ```
pub fn sow(board: &mut Board, ruleset: &Ruleset, side: Side, column: usize) -> Sowing {
    let before = *board;
    let sowing = sow_scratch(board, ruleset, side, column, true);
    if sowing.end == SowingEnd::Endless {
        *board = before;
    }
    sowing
}

/// Sows as [`sow`] does on a board that the caller throws away if the sowing is endless.
///
/// An endless sowing leaves the board in the middle of its laps; without `count_all` its
/// `seeds_sown` are not counted to the end.
pub(crate) fn sow_scratch(
    board: &mut Board,
    ruleset: &Ruleset,
    side: Side,
    column: usize,
    count_all: bool,
) -> Sowing {
    let origin = ring_index(side, column, board.columns());
    let relay = run_laps(board.pits_mut(), origin, ruleset, count_all);
    let (captured, end) = match relay.last {
        Some(last) => capture(board, ruleset, side, last),
        None => (0, SowingEnd::Endless),
    };
    Sowing {
        laps: relay.laps,
        seeds_sown: relay.seeds_sown,
        last: relay.last.map(|last| last as u8),
        captured,
        end,
    }
}

/// Tells whether sowing `side`'s non-empty pit in `column` is endless (S6).
pub fn is_endless(board: &Board, ruleset: &Ruleset, side: Side, column: usize) -> bool {
    let origin = ring_index(side, column, board.columns());
    let mut scratch = *board;
    run_laps(scratch.pits_mut(), origin, ruleset, false)
        .last
        .is_none()
}

/// Sows ring index `origin` until the sowing ends and returns the pit of its last seed (S1 to S6).
///
/// Nothing is captured. `None` for an endless sowing, which leaves the pits of some lap behind.
pub(crate) fn relay(pits: &mut [u16], origin: usize, ruleset: &Ruleset) -> Option<usize> {
    run_laps(pits, origin, ruleset, false).last
}

/// Tells whether the first lap from ring index `origin` ends in an empty pit, without sowing it.
pub(crate) fn ends_in_one_lap(pits: &[u16], origin: usize, direction: Direction) -> bool {
    let count = pits.len();
    let lifted = pits[origin];
    let distance = usize::from(lifted);
    if distance >= count {
        return distance == count;
    }
    let last = if clockwise(direction, lifted) {
        origin + count - distance
    } else {
        origin + distance
    };
    pits[if last >= count { last - count } else { last }] == 0
}

/// Lists the steps of a sowing, at most those of `max_laps` laps, without playing it.
///
/// Each lap starts with its lift (0 seeds left) and goes on with one step for each seed dropped.
/// The capture at the end is not a step.
pub fn trace(
    board: &Board,
    ruleset: &Ruleset,
    side: Side,
    column: usize,
    max_laps: u32,
) -> Vec<TraceStep> {
    let mut scratch = *board;
    let pits = scratch.pits_mut();
    let count = pits.len();
    let mut steps = Vec::new();
    let mut at = ring_index(side, column, count / 2);
    for lap in 1..=max_laps.min(ruleset.lap_limit()) {
        let lifted = std::mem::take(&mut pits[at]);
        steps.push(TraceStep {
            lap,
            pit: at as u8,
            seeds: 0,
        });
        let stride = if clockwise(ruleset.direction(), lifted) {
            count - 1
        } else {
            1
        };
        for _ in 0..lifted {
            at = (at + stride) % count;
            pits[at] += 1;
            steps.push(TraceStep {
                lap,
                pit: at as u8,
                seeds: pits[at],
            });
        }
        if pits[at] <= 1 {
            break;
        }
    }
    steps
}

/// Captures after a sowing whose last seed fell into the empty pit `last` (C1 to C3).
fn capture(board: &mut Board, ruleset: &Ruleset, side: Side, last: usize) -> (u16, SowingEnd) {
    let columns = board.columns();
    if owner(last, columns) != side {
        return (0, SowingEnd::Opponent);
    }
    let facing = opposite(last, columns);
    let pits = board.pits_mut();
    let lone = pits[facing] == 0;
    if lone && ruleset.lone_capture() == LoneCapture::Stays {
        return (0, SowingEnd::Empty);
    }
    let captured = pits[facing] + pits[last];
    pits[facing] = 0;
    pits[last] = 0;
    board.captured_mut()[side.index()] += captured;
    (captured, SowingEnd::Captured)
}

struct Relay {
    laps: u32,
    seeds_sown: u64,
    /// `None` when the sowing is endless.
    last: Option<usize>,
}

/// An earlier board of a sowing, kept to notice its return.
struct Snapshot {
    /// The ring from the pit to lift on.
    turned: [u16; MAX_PITS],
    laps: u32,
    seeds_sown: u64,
}

impl Snapshot {
    fn take(pits: &[u16], at: usize, laps: u32, seeds_sown: u64) -> Snapshot {
        let mut turned = [0; MAX_PITS];
        let (before, after) = pits.split_at(at);
        turned[..after.len()].copy_from_slice(after);
        turned[after.len()..pits.len()].copy_from_slice(before);
        Snapshot {
            turned,
            laps,
            seeds_sown,
        }
    }

    fn is_again(&self, pits: &[u16], at: usize) -> bool {
        let (before, after) = pits.split_at(at);
        after[0] == self.turned[0]
            && *after == self.turned[..after.len()]
            && *before == self.turned[after.len()..pits.len()]
    }
}

/// Sows lap after lap until one ends in an empty pit or the sowing is known to be endless.
///
/// A board that comes back, seen from the pit to lift, never ends, whatever `lap_limit` is: no
/// lap depends on where on the ring it starts. So the loop keeps a snapshot at every power of two
/// of laps and compares with it (Brent 1980): without S5 the start itself comes back, with S5 the
/// cycle may have a tail. With `count_all`, an endless sowing counts the seeds of exactly
/// `lap_limit` laps, whole periods by multiplication.
fn run_laps(pits: &mut [u16], origin: usize, ruleset: &Ruleset, count_all: bool) -> Relay {
    let limit = ruleset.lap_limit();
    let mut at = origin;
    let mut laps = 0;
    let mut seeds_sown = 0;
    let mut snapshot: Option<Snapshot> = None;
    let mut next_snapshot = WATCH_FROM;
    loop {
        let (last, lifted) = sow_lap(pits, at, ruleset.direction());
        laps += 1;
        seeds_sown += u64::from(lifted);
        if pits[last] == 1 {
            return Relay {
                laps,
                seeds_sown,
                last: Some(last),
            };
        }
        at = last;
        if laps == limit {
            return Relay {
                laps,
                seeds_sown,
                last: None,
            };
        }
        if laps == next_snapshot {
            snapshot = Some(Snapshot::take(pits, at, laps, seeds_sown));
            next_snapshot = next_snapshot.saturating_mul(2);
        } else if let Some(earlier) = &snapshot
            && earlier.is_again(pits, at)
        {
            let seeds_sown = if count_all {
                count_endless(pits, at, ruleset, (laps, seeds_sown), earlier)
            } else {
                seeds_sown
            };
            return Relay {
                laps: limit,
                seeds_sown,
                last: None,
            };
        }
    }
}

/// Counts the seeds of the first `lap_limit` laps of a sowing whose board just came back.
fn count_endless(
    pits: &mut [u16],
    mut at: usize,
    ruleset: &Ruleset,
    (laps, seeds_sown): (u32, u64),
    earlier: &Snapshot,
) -> u64 {
    let period = laps - earlier.laps;
    let left = ruleset.lap_limit() - laps;
    let mut total = seeds_sown + u64::from(left / period) * (seeds_sown - earlier.seeds_sown);
    for _ in 0..left % period {
        let (last, lifted) = sow_lap(pits, at, ruleset.direction());
        total += u64::from(lifted);
        at = last;
    }
    total
}

/// Tells whether a lap of `lifted` seeds is sown by decreasing ring index (S5).
const fn clockwise(direction: Direction, lifted: u16) -> bool {
    matches!(direction, Direction::Parity) && lifted % 2 == 1
}

/// Lifts the seeds of pit `at` and drops them into the following pits (S1, S2, S5).
///
/// Returns the pit of the last seed and the number of seeds.
fn sow_lap(pits: &mut [u16], at: usize, direction: Direction) -> (usize, u16) {
    let count = pits.len();
    let lifted = std::mem::take(&mut pits[at]);
    let mut rest = usize::from(lifted);
    if rest >= count {
        let rounds = (rest / count) as u16;
        rest %= count;
        for seeds in pits.iter_mut() {
            *seeds += rounds;
        }
    }
    // The pits that get one more seed are `first..first + rest` on the ring.
    let back = clockwise(direction, lifted);
    let first = if back { at + count - rest } else { at + 1 };
    let first = if first >= count { first - count } else { first };
    let to_end = rest.min(count - first);
    for seeds in &mut pits[first..first + to_end] {
        *seeds += 1;
    }
    for seeds in &mut pits[..rest - to_end] {
        *seeds += 1;
    }
    let last = if back { at + count - rest } else { at + rest };
    (if last >= count { last - count } else { last }, lifted)
}
