//! Random games lap by lap: every iteration sows one lap in every lane.
//!
//! A lane whose sowing has ended waits, empty-handed, until enough others have joined it; then all
//! of them capture, finish their games or draw their next moves together. The slow twin is
//! `random_games.rs`, move by move.

use super::block::{Block, Games, MANY_PLIES, Rules};
use crate::batch::lanes_of;
use crate::batch::simd::{Row, Vector, sow_lap};

/// Lanes that wait before their sowings are settled together.
const WAITING: u32 = 20;

/// Laps between two calls of [`Block::take_sums`].
const LAPS_OF_SUMS: u32 = 250;

/// Plays all games of `games` in the lanes of `block`.
///
/// `PITS` is the number of pits where it is known when compiling, else 0.
#[inline(always)]
pub(super) fn play<V: Vector, const PITS: usize>(
    v: V,
    block: &mut Block,
    rules: &Rules,
    games: &mut Games<'_>,
) {
    let pits = if PITS > 0 { PITS } else { rules.ring.pits };
    let mut until_sums = LAPS_OF_SUMS;
    let mut waiting = u64::MAX;
    loop {
        settle(v, pits, block, rules, games, waiting);
        if block.live == 0 {
            return;
        }
        loop {
            let relay = count_lap(v, pits, block, rules);
            until_sums -= 1;
            if until_sums == 0 {
                block.take_sums();
                until_sums = LAPS_OF_SUMS;
            }
            watch_long(v, pits, block, rules, games, relay);
            waiting = block.live & !v.bits(v.some(v.load(&block.held)));
            // A lane that waits costs a lap; settling costs about as much as two.
            if waiting.count_ones() >= WAITING.min(block.live.count_ones().div_ceil(3)) {
                break;
            }
        }
    }
}

/// Sows one lap in every lane that holds seeds, counts it, and returns the lanes that relay.
#[inline(always)]
fn count_lap<V: Vector>(v: V, pits: usize, block: &mut Block, rules: &Rules) -> u64 {
    let held = v.load(&block.held);
    v.add_wide(&mut block.seeds_sum, held);
    let laps = v.increment(v.load(&block.laps), v.some(held));
    v.store(laps, &mut block.laps);
    let (at, held) = (&mut block.at, &mut block.held);
    let next = sow_lap(v, pits, &rules.ring, &mut block.pits, at, held);
    v.bits(v.some(next))
}

/// Looks at sowings that have gone on for long and ends those that never will (S6).
#[inline(always)]
fn watch_long<V: Vector>(
    v: V,
    pits: usize,
    block: &mut Block,
    rules: &Rules,
    games: &mut Games<'_>,
    relay: u64,
) {
    if block.watched != 0 {
        let back = v.bits(v.eq(v.load(&block.at), v.load(&block.watch_at)));
        for lane in lanes_of(back & block.watched & relay) {
            if block.has_returned(lane, pits) {
                block.end_endless(lane, rules, games);
            }
        }
    }
    let due = v.bits(v.eq(v.load(&block.laps), v.load(&block.look_at)));
    for lane in lanes_of(due & relay & block.live & !block.fresh) {
        block.look(lane, rules, games);
    }
}

/// Settles the sowings of the waiting lanes: captures, ends of games, the next games and moves.
#[inline(always)]
fn settle<V: Vector>(
    v: V,
    pits: usize,
    block: &mut Block,
    rules: &Rules,
    games: &mut Games<'_>,
    waiting: u64,
) {
    let ended = waiting & !block.fresh;
    capture(v, pits, block, rules, ended);
    for lane in lanes_of(ended & block.long) {
        block.close_long(lane);
    }
    for lane in lanes_of(due_to_end(v, block, rules, ended)) {
        block.finish_alone(lane, rules, games);
    }
    let mut choices = count_choices(v, pits, block);
    let stuck = waiting & !block.fresh & !v.bits(v.some(choices));
    for lane in lanes_of(stuck) {
        block.finish_stuck(lane, rules, games);
    }
    if block.fresh & waiting != 0 {
        restart(v, pits, block, rules, games, waiting);
        choices = count_choices(v, pits, block);
    }
    choose(v, pits, block, rules, waiting & block.live, choices);
}

/// Captures (C1 to C3) and counts the ply in the lanes of `ended`, and passes the turn.
#[inline(always)]
fn capture<V: Vector>(v: V, pits: usize, block: &mut Block, rules: &Rules, ended: u64) {
    let (zero, one) = (v.splat(0), v.splat(1));
    let mask = v.mask(ended);
    let last = v.load(&block.at);
    let north = v.some(v.load(&block.side));
    let south_row = v.lt_small(last, v.splat(pits as u8 / 2));
    let own = v.and(v.xor(south_row, north), mask);
    // A pit and the pit opposite to it are a pair, named after the one of South's row.
    let pair = v.min(last, v.sub(v.splat(pits as u8 - 1), last));
    let mut captured = zero;
    let (south_rows, north_rows) = block.pits[..pits].split_at_mut(pits / 2);
    for (column, (south, opposite)) in south_rows
        .iter_mut()
        .zip(north_rows.iter_mut().rev())
        .enumerate()
    {
        let (a, b) = (v.load(south), v.load(opposite));
        let both = v.add(a, b);
        let mut taken = v.and(own, v.eq(pair, v.splat(column as u8)));
        if !rules.lone_taken {
            taken = v.and(taken, v.lt(one, both));
        }
        captured = v.select(taken, both, captured);
        v.store(v.clear(a, taken), south);
        v.store(v.clear(b, taken), opposite);
    }
    let [by_south, by_north] = &mut block.captured;
    v.store(v.add(v.load(by_south), v.clear(captured, north)), by_south);
    let of_north = v.select(north, captured, zero);
    v.store(v.add(v.load(by_north), of_north), by_north);
    let took = v.some(captured);
    v.store(
        v.increment(v.load(&block.captures), took),
        &mut block.captures,
    );
    for (bytes, reset) in [(&mut block.quiet, Some(took)), (&mut block.plies, None)] {
        let [low, high] = bytes;
        let mut less = v.increment(v.load(low), mask);
        let carry = v.and(v.eq(less, zero), mask);
        let mut more = v.increment(v.load(high), carry);
        if let Some(reset) = reset {
            less = v.clear(less, reset);
            more = v.clear(more, reset);
        }
        v.store(less, low);
        v.store(more, high);
    }
    let laps = v.select(mask, v.load(&block.laps), zero);
    v.add_wide(&mut block.laps_sum, laps);
    v.store(v.max(v.load(&block.longest), laps), &mut block.longest);
    let side = v.load(&block.side);
    v.store(v.select(mask, v.sub(one, side), side), &mut block.side);
}

/// Returns the lanes whose game may end by E3 or E4, or is too long for their counts.
#[inline(always)]
fn due_to_end<V: Vector>(v: V, block: &Block, rules: &Rules, ended: u64) -> u64 {
    let equals = |bytes: &[Row; 2], number: u16| {
        let [low, high] = number.to_le_bytes();
        let low = v.eq(v.load(&bytes[0]), v.splat(low));
        v.bits(v.and(low, v.eq(v.load(&bytes[1]), v.splat(high))))
    };
    let quiet = equals(&block.quiet, rules.ruleset.quiet_limit());
    let cut = rules.cap.map_or(0, |cap| equals(&block.plies, cap));
    let many = v.bits(v.eq(v.load(&block.plies[1]), v.splat(MANY_PLIES)));
    ended & (quiet | cut | many)
}

/// Counts the non-empty pits of the side to move in every lane.
#[inline(always)]
fn count_choices<V: Vector>(v: V, pits: usize, block: &Block) -> V::Bytes {
    let north = v.some(v.load(&block.side));
    let (south_rows, north_rows) = block.pits[..pits].split_at(pits / 2);
    let mut choices = v.splat(0);
    for (of_south, of_north) in south_rows.iter().zip(north_rows) {
        let seeds = v.select(north, v.load(of_north), v.load(of_south));
        choices = v.increment(choices, v.some(seeds));
    }
    choices
}

/// Fills the waiting lanes whose game is over with the next games.
#[inline(always)]
fn restart<V: Vector>(
    v: V,
    pits: usize,
    block: &mut Block,
    rules: &Rules,
    games: &mut Games<'_>,
    waiting: u64,
) {
    let fresh = block.fresh & waiting;
    for lane in lanes_of(fresh) {
        // A lane without a next game leaves the live ones.
        let _ = block.next_game(lane, games);
    }
    block.fresh &= !fresh;
    let mask = v.mask(fresh);
    let seeds = v.splat(rules.ruleset.seeds_per_pit() as u8);
    for row in &mut block.pits[..pits] {
        v.store(v.select(mask, seeds, v.load(row)), row);
    }
    let [quiet, quiet_high] = &mut block.quiet;
    let [plies, plies_high] = &mut block.plies;
    let [by_south, by_north] = &mut block.captured;
    for row in [
        quiet,
        quiet_high,
        plies,
        plies_high,
        by_south,
        by_north,
        &mut block.captures,
        &mut block.longest,
        &mut block.side,
    ] {
        v.store(v.clear(v.load(row), mask), row);
    }
}

/// Draws a non-empty pit in the lanes of `drawing` and lifts its seeds.
#[inline(always)]
fn choose<V: Vector>(
    v: V,
    pits: usize,
    block: &mut Block,
    rules: &Rules,
    drawing: u64,
    choices: V::Bytes,
) {
    let mask = v.mask(drawing);
    let zero = v.splat(0);
    let rank = v.below(&mut block.streams, drawing, choices);
    let north = v.some(v.load(&block.side));
    let mut passed = zero;
    let mut held = zero;
    let mut origin = zero;
    let columns = pits / 2;
    for column in 0..columns {
        let (a, b) = (
            v.load(&block.pits[column]),
            v.load(&block.pits[columns + column]),
        );
        for (pit, seeds) in [(column, a), (columns + column, b)] {
            let saved = v.select(mask, seeds, v.load(&block.saved[pit]));
            v.store(saved, &mut block.saved[pit]);
        }
        let seeds = v.select(north, b, a);
        let some = v.some(seeds);
        let hit = v.and(v.and(some, mask), v.eq(passed, rank));
        passed = v.increment(passed, some);
        held = v.select(hit, seeds, held);
        origin = v.select(hit, v.splat(column as u8), origin);
        v.store(v.clear(a, v.without(hit, north)), &mut block.pits[column]);
        v.store(
            v.clear(b, v.and(hit, north)),
            &mut block.pits[columns + column],
        );
    }
    let origin = v.add(origin, v.select(north, v.splat(columns as u8), zero));
    for (row, new) in [
        (&mut block.held, held),
        (&mut block.at, origin),
        (&mut block.origin, origin),
        (&mut block.laps, zero),
        (&mut block.look_at, v.splat(rules.first_look)),
    ] {
        v.store(v.select(mask, new, v.load(row)), row);
    }
    v.copy_wide(&mut block.seeds_before, &block.seeds_sum, drawing);
    block.watched &= !drawing;
}
