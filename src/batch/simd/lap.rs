//! One lap of 64 sowings.

use super::vector::{MAX_PITS, Prefixes, Vector};
use crate::ruleset::{Direction, Ruleset};

/// The most seeds of a board that lies in lanes: every count of seeds fits a byte.
const MAX_SEEDS: usize = 255;

/// Pits of a ring on which full rounds are common (measured).
const OFTEN_FULL: usize = 16;

/// What a lap needs to know of the rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ring {
    pub(crate) pits: usize,
    parity: bool,
    prefixes: Prefixes,
}

impl Ring {
    /// Returns the ring of a rule set, `None` where its board or seeds do not fit lanes.
    pub(crate) fn of(ruleset: &Ruleset) -> Option<Ring> {
        let pits = ruleset.pits();
        if pits > MAX_PITS || pits * usize::from(ruleset.seeds_per_pit()) > MAX_SEEDS {
            return None;
        }
        Some(Ring {
            pits,
            parity: ruleset.direction() == Direction::Parity,
            prefixes: Prefixes::new(pits),
        })
    }
}

/// Sowings in progress, one in every lane, each before its next lap.
pub(crate) struct Hand<V: Vector> {
    /// The pit that the next lap lifts; where a sowing has ended, the pit of its last seed.
    pub(crate) at: V::Bytes,
    /// The seeds in that pit; 0 where the sowing has ended.
    pub(crate) held: V::Bytes,
}

/// Sows the next lap of every sowing in progress and returns which go on after it (S1 to S5).
///
/// `board` has a row for each pit. `PITS` is their number where it is known when compiling, else 0.
#[inline(always)]
pub(crate) fn sow_next<V: Vector, const PITS: usize>(
    v: V,
    ring: &Ring,
    board: &mut [V::Bytes],
    hand: &mut Hand<V>,
) -> V::Mask {
    let one = v.splat(1);
    let count = v.splat(board.len() as u8);
    let lift = v.select(v.some(hand.held), hand.at, v.splat(u8::MAX));
    let often = PITS > 0 && PITS <= OFTEN_FULL;
    let (rest, rounds) = full_rounds(v, count, hand.held, often);
    let reach = v.add(hand.at, rest);
    let mut first = v.add(hand.at, one);
    let mut last = v.min(reach, v.sub(reach, count));
    if ring.parity {
        let back = v.sub(hand.at, rest);
        let back = v.min(back, v.add(back, count));
        let odd = v.odd(hand.held);
        first = v.select(odd, back, first);
        last = v.select(odd, back, last);
    }
    // The last pit is read before the seeds fall, so that both go on side by side: it gets a seed
    // of the last round, unless that is full and ends where it began, in the pit just lifted.
    let one_more = v.add(seeds_at::<V, PITS>(v, board, last), one);
    let mut seeds = v.keep(one_more, v.some(rest));
    let mut lap = v.begin_lap(&ring.prefixes, board.len(), first, rest);
    for (pit, seeds) in board.iter_mut().enumerate() {
        *seeds = v.lift_and_drop(&mut lap, pit, *seeds, lift);
    }
    if let Some(rounds) = rounds {
        for seeds in board.iter_mut() {
            *seeds = v.add(*seeds, rounds);
        }
        seeds = v.add(seeds, rounds);
    }
    let relays = v.lt(one, seeds);
    hand.at = last;
    hand.held = v.keep(seeds, relays);
    relays
}

/// Parts laps into full rounds, which drop a seed into every pit, and the seeds left (S2).
///
/// `often` tells whether one of 64 lanes has a full round more often than not: the first round is
/// taken without a branch then, which would be mispredicted.
#[inline(always)]
fn full_rounds<V: Vector>(
    v: V,
    count: V::Bytes,
    held: V::Bytes,
    often: bool,
) -> (V::Bytes, Option<V::Bytes>) {
    let most = v.sub(count, v.splat(1));
    let mut full = v.lt(most, held);
    if !often && v.bits(full) == 0 {
        return (held, None);
    }
    let mut rest = v.sub(held, v.keep(count, full));
    let mut rounds = v.increment(v.splat(0), full);
    full = v.lt(most, rest);
    while v.bits(full) != 0 {
        rest = v.sub(rest, v.keep(count, full));
        rounds = v.increment(rounds, full);
        full = v.lt(most, rest);
    }
    (rest, Some(rounds))
}

/// Returns the seeds that every lane has in the pit it names.
#[inline(always)]
pub(crate) fn seeds_at<V: Vector, const PITS: usize>(
    v: V,
    board: &[V::Bytes],
    at: V::Bytes,
) -> V::Bytes {
    if PITS == 0 {
        let mut chosen = v.splat(0);
        for (pit, &seeds) in board.iter().enumerate() {
            chosen = v.select(v.eq(at, v.splat(pit as u8)), seeds, chosen);
        }
        return chosen;
    }
    let mut left = [v.splat(0); MAX_PITS];
    left[..PITS].copy_from_slice(&board[..PITS]);
    // Every bit of the pit's number halves what is left.
    let mut width = PITS;
    for bit in 0..5 {
        if 1 << bit < PITS {
            halve(v, v.by_bit(at, bit), &mut left, width);
            width = width.div_ceil(2);
        }
    }
    left[0]
}

/// Takes one of every two neighbours.
#[inline(always)]
fn halve<V: Vector>(v: V, choice: V::Choice, left: &mut [V::Bytes; MAX_PITS], width: usize) {
    for pair in 0..MAX_PITS / 2 {
        if 2 * pair + 1 < width {
            left[pair] = v.choose(choice, left[2 * pair + 1], left[2 * pair]);
        } else if 2 * pair < width {
            left[pair] = left[2 * pair];
        }
    }
}
