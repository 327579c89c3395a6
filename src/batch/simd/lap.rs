//! One lap of 64 sowings.

use super::vector::{MAX_PITS, Prefixes, Row, Vector};
use crate::ruleset::{Direction, Ruleset};

/// The most seeds of a board that lies in lanes: every count of seeds fits a byte.
const MAX_SEEDS: usize = 255;

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

/// Sows one lap in every lane that holds seeds and lifts the next one where the last seed fell
/// into an occupied pit (S1 to S5). Returns what the lanes hold then, 0 where no lap is to come.
///
/// `board` is a row for each of the `pits` pits of the ring, `at` the pit lifted from. A lane that
/// holds nothing stays as it is if it stands at a pit with at most one seed, or at no pit (255).
#[inline(always)]
pub(crate) fn sow_lap<V: Vector>(
    v: V,
    pits: usize,
    ring: &Ring,
    board: &mut [Row],
    at: &mut Row,
    held: &mut Row,
) -> V::Bytes {
    let (zero, one) = (v.splat(0), v.splat(1));
    let count = v.splat(pits as u8);
    let wrap = |at: V::Bytes| v.min(at, v.sub(at, count));
    let lifted_from = v.load(at);
    let in_hand = v.load(held);
    let sown = v.some(in_hand);
    let rest = drop_rounds(v, pits, board, in_hand);
    let forward = wrap(v.add(lifted_from, rest));
    let (mut first, mut last) = (wrap(v.add(lifted_from, one)), forward);
    if ring.parity {
        let back = v.sub(lifted_from, rest);
        let back = v.min(back, v.add(back, count));
        let odd = v.odd(in_hand);
        first = v.select(odd, back, first);
        last = v.select(odd, back, forward);
    }
    let mut lap = v.begin_lap(&ring.prefixes, pits, first, rest);
    let mut next = zero;
    for (pit, row) in board[..pits].iter_mut().enumerate() {
        let seeds = v.drop_seed(&mut lap, pit, v.load(row));
        let here = v.eq(last, v.splat(pit as u8));
        let lifted = v.and(here, v.lt(one, seeds));
        next = v.select(lifted, seeds, next);
        v.store(v.clear(seeds, lifted), row);
    }
    // A lane that rests keeps its place: going round once more would bring it to a pit.
    v.store(v.select(sown, last, lifted_from), at);
    v.store(next, held);
    next
}

/// Drops one seed into every pit for each full round of a lap and returns the seeds left (S2).
#[inline(always)]
fn drop_rounds<V: Vector>(v: V, pits: usize, board: &mut [Row], held: V::Bytes) -> V::Bytes {
    let most = v.splat(pits as u8 - 1);
    let mut rest = held;
    loop {
        let full = v.lt(most, rest);
        if v.bits(full) == 0 {
            return rest;
        }
        rest = v.select(full, v.sub(rest, v.splat(pits as u8)), rest);
        for row in &mut board[..pits] {
            v.store(v.increment(v.load(row), full), row);
        }
    }
}
