//! Random games lap by lap: every iteration sows one lap in every lane.
//!
//! After a few laps all lanes whose sowing has ended capture, finish their games or draw their next
//! moves together. The slow twin is `random_games.rs`, move by move.

use super::block::{Block, Games, Wide};
use super::pool::Pool;
use super::rules::Rules;
use crate::batch::lanes_of;
use crate::batch::simd::{Hand, MAX_PITS, Row, Vector, sow_next};

/// Lanes without a game that are filled together (measured).
const FILL: u32 = 5;

/// Sowings that leave a full pool before it waits for more.
const DECIDED: u32 = 8;

/// Settlings between two looks at the sums: fewer than fill the last quarter of two bytes.
const SUMS_EVERY: u32 = 16;

/// Sums that are taken over, by their upper byte.
const LARGE_SUM: u8 = 0xBF;

/// Ply counts from which a game is finished outside the lanes, by their upper byte.
const MANY_PLIES: u8 = 255;

/// Everything that a part of a simulation is played with.
pub(super) struct Table<'a, 'b> {
    pub(super) block: &'a mut Block,
    pub(super) pool: &'a mut Pool,
    pub(super) rules: &'a Rules,
    pub(super) games: &'a mut Games<'b>,
}

/// What changes with every lap or move and stays in registers between them.
struct Lanes<V: Vector> {
    hand: Hand<V>,
    /// Laps of the sowing in progress, the one to come included.
    laps: V::Bytes,
    /// The lower and upper bytes of the seeds sown.
    seeds: [V::Bytes; 2],
    /// 0 where South moves, 1 where North does.
    side: V::Bytes,
}

/// Plays all games of a part.
///
/// `PITS` is the number of pits where it is known when compiling, else 0.
#[inline(always)]
pub(super) fn play<V: Vector, const PITS: usize>(v: V, mut table: Table<'_, '_>) {
    let pits = if PITS > 0 { PITS } else { table.rules.pits() };
    let mut rows = [v.splat(0); MAX_PITS];
    let board = &mut rows[..pits];
    let mut lanes = load(v, board, table.block);
    let mut until_sums = SUMS_EVERY;
    let mut waiting = u64::MAX;
    loop {
        let drawing = settle(v, board, &mut lanes, &mut table, waiting);
        if table.block.playing == 0 {
            if table.pool.is_empty() {
                return;
            }
            let (pool, games) = (&mut *table.pool, &mut *table.games);
            pool.run::<V, PITS>(v, 0, table.rules, &mut games.rows);
            table.block.idle = u64::MAX;
            continue;
        }
        choose(v, board, &mut lanes, &mut table, drawing);
        let relays = sow_burst::<V, PITS>(v, board, &mut lanes, table.rules);
        take_out_long::<V, PITS>(v, board, &mut lanes, &mut table, relays);
        waiting = !relays;
        until_sums -= 1;
        if until_sums == 0 {
            until_sums = SUMS_EVERY;
            take_sums(v, board, &mut lanes, table.block);
        }
    }
}

/// Sows a few laps in every lane, counts them, and returns the lanes whose sowing goes on.
#[inline(always)]
fn sow_burst<V: Vector, const PITS: usize>(
    v: V,
    board: &mut [V::Bytes],
    lanes: &mut Lanes<V>,
    rules: &Rules,
) -> u64 {
    let mut relays = v.mask(0);
    for _ in 0..V::BURST {
        let [low, high] = &mut lanes.seeds;
        *low = v.add(*low, lanes.hand.held);
        *high = v.increment(*high, v.lt(*low, lanes.hand.held));
        relays = sow_next::<V, PITS>(v, &rules.ring, board, &mut lanes.hand);
        lanes.laps = v.increment(lanes.laps, relays);
    }
    v.bits(relays)
}

/// Settles the sowings that have ended: captures, ends of games, new games. Returns the lanes that
/// draw a move.
#[inline(always)]
fn settle<V: Vector>(
    v: V,
    board: &mut [V::Bytes],
    lanes: &mut Lanes<V>,
    table: &mut Table<'_, '_>,
    waiting: u64,
) -> u64 {
    let mut ended = waiting & table.block.playing;
    if let Some(limit) = table.rules.tight {
        ended &= !take_out_late(v, board, lanes, table, ended, limit);
    }
    let block = &mut *table.block;
    capture(v, board, lanes, block, table.rules, ended);
    block.count_refused(ended);
    let due = due_to_end(v, block, table.rules, ended);
    if due != 0 {
        store(v, board, lanes, block);
        for lane in lanes_of(due) {
            let (rows, cap) = (&mut table.games.rows, table.games.max_plies);
            block.copy_out(lane).play_on(table.rules, cap, rows);
            block.release(lane);
        }
        *lanes = load(v, board, block);
        ended &= !due;
    }
    let empty = block.over | block.idle;
    if empty.count_ones() >= FILL || block.playing == 0 {
        ended |= fill(v, board, lanes, table);
    }
    ended
}

/// Writes what is in registers to the block, where lanes are looked at one by one.
#[inline(always)]
fn store<V: Vector>(v: V, board: &[V::Bytes], lanes: &Lanes<V>, block: &mut Block) {
    for (seeds, row) in board.iter().zip(&mut block.pits) {
        v.store(*seeds, row);
    }
    v.store(lanes.hand.at, &mut block.at);
    v.store(lanes.hand.held, &mut block.held);
    v.store(lanes.laps, &mut block.laps);
    store_sums(v, lanes, block);
    v.store(lanes.side, &mut block.side);
}

#[inline(always)]
fn store_sums<V: Vector>(v: V, lanes: &Lanes<V>, block: &mut Block) {
    let [low, high] = &mut block.seeds;
    v.store(lanes.seeds[0], low);
    v.store(lanes.seeds[1], high);
}

/// Reads back what [`store`] wrote.
#[inline(always)]
fn load<V: Vector>(v: V, board: &mut [V::Bytes], block: &Block) -> Lanes<V> {
    for (seeds, row) in board.iter_mut().zip(&block.pits) {
        *seeds = v.load(row);
    }
    Lanes {
        hand: Hand {
            at: v.load(&block.at),
            held: v.load(&block.held),
        },
        laps: v.load(&block.laps),
        seeds: [v.load(&block.seeds[0]), v.load(&block.seeds[1])],
        side: v.load(&block.side),
    }
}

/// Moves the sums of all lanes to where they have room, if one of them has grown large.
#[inline(always)]
fn take_sums<V: Vector>(v: V, board: &mut [V::Bytes], lanes: &mut Lanes<V>, block: &mut Block) {
    let most = v.max(lanes.seeds[1], v.load(&block.all_laps[1]));
    if v.bits(v.lt(v.splat(LARGE_SUM), most)) != 0 {
        store(v, board, lanes, block);
        block.take_sums();
        *lanes = load(v, board, block);
    }
}

/// Takes the sowings that have ended after the lap limit out of their lanes, and returns the lanes.
#[inline(always)]
fn take_out_late<V: Vector>(
    v: V,
    board: &mut [V::Bytes],
    lanes: &mut Lanes<V>,
    table: &mut Table<'_, '_>,
    ended: u64,
    limit: u8,
) -> u64 {
    let Table {
        block, pool, rules, ..
    } = table;
    let late = v.bits(v.lt(v.splat(limit), lanes.laps)) & ended;
    if late != 0 {
        store(v, board, lanes, block);
        for lane in lanes_of(late) {
            let taken = block.take_out(lane, rules);
            pool.add(taken, rules, &mut table.games.rows);
        }
        *lanes = load(v, board, block);
    }
    late
}

/// Takes sowings that go on and on out of their lanes.
#[inline(always)]
fn take_out_long<V: Vector, const PITS: usize>(
    v: V,
    board: &mut [V::Bytes],
    lanes: &mut Lanes<V>,
    table: &mut Table<'_, '_>,
    relays: u64,
) {
    let Table {
        block, pool, rules, ..
    } = table;
    let long = v.bits(v.lt(v.splat(rules.long), lanes.laps)) & relays & block.playing;
    if long == 0 {
        return;
    }
    let rows = &mut table.games.rows;
    store(v, board, lanes, block);
    for lane in lanes_of(long) {
        if pool.is_full() {
            pool.run::<V, PITS>(v, u64::BITS - DECIDED, rules, rows);
        }
        let taken = block.take_out(lane, rules);
        pool.add(taken, rules, rows);
    }
    *lanes = load(v, board, block);
}

/// Captures (C1 to C3) and counts the ply in the lanes of `ended`, and passes the turn.
#[inline(always)]
fn capture<V: Vector>(
    v: V,
    board: &mut [V::Bytes],
    lanes: &mut Lanes<V>,
    block: &mut Block,
    rules: &Rules,
    ended: u64,
) {
    let (zero, one) = (v.splat(0), v.splat(1));
    let mask = v.mask(ended);
    let last = lanes.hand.at;
    let north = v.some(lanes.side);
    let columns = board.len() / 2;
    let south_row = v.lt_small(last, v.splat(columns as u8));
    let own = v.and(v.xor(south_row, north), mask);
    // A pit and the pit opposite to it are a pair, named after the one of South's row.
    let pair = v.min(last, v.sub(v.splat(board.len() as u8 - 1), last));
    let mut captured = zero;
    for column in 0..columns {
        let opposite = board.len() - 1 - column;
        let both = v.add(board[column], board[opposite]);
        let mut taken = v.and(own, v.eq(pair, v.splat(column as u8)));
        if !rules.lone_taken {
            taken = v.and(taken, v.lt(one, both));
        }
        captured = v.select(taken, both, captured);
        board[column] = v.clear(board[column], taken);
        board[opposite] = v.clear(board[opposite], taken);
    }
    let [by_south, by_north] = &mut block.captured;
    v.store(v.add(v.load(by_south), v.clear(captured, north)), by_south);
    v.store(v.add_where(v.load(by_north), north, captured), by_north);
    let took = v.some(captured);
    let times = v.increment(v.load(&block.captures), took);
    v.store(times, &mut block.captures);
    let ply = v.keep(one, mask);
    add_few(v, &mut block.plies, ply);
    add_few(v, &mut block.quiet, ply);
    clear_few(v, &mut block.quiet, took);
    let laps = v.keep(lanes.laps, mask);
    add_wide(v, &mut block.all_laps, laps);
    v.store(v.max(v.load(&block.longest), laps), &mut block.longest);
    lanes.side = v.select(mask, v.sub(one, lanes.side), lanes.side);
}

/// Adds a byte to a count of two.
#[inline(always)]
fn add_wide<V: Vector>(v: V, [low, high]: &mut Wide, amount: V::Bytes) {
    let less = v.add(v.load(low), amount);
    let carry = v.lt(less, amount);
    v.store(less, low);
    v.store(v.increment(v.load(high), carry), high);
}

/// Adds a byte to a count of two that seldom needs its second byte.
#[inline(always)]
fn add_few<V: Vector>(v: V, [low, high]: &mut Wide, amount: V::Bytes) {
    let less = v.add(v.load(low), amount);
    let carry = v.lt(less, amount);
    v.store(less, low);
    if v.bits(carry) != 0 {
        v.store(v.increment(v.load(high), carry), high);
    }
}

/// Sets a count to zero that seldom needs its second byte.
#[inline(always)]
fn clear_few<V: Vector>(v: V, [low, high]: &mut Wide, mask: V::Mask) {
    v.store(v.clear(v.load(low), mask), low);
    let more = v.load(high);
    if v.bits(v.and(mask, v.some(more))) != 0 {
        v.store(v.clear(more, mask), high);
    }
}

/// Returns the lanes whose game may end by E3 or E4, or is too long for their counts.
#[inline(always)]
fn due_to_end<V: Vector>(v: V, block: &Block, rules: &Rules, ended: u64) -> u64 {
    let quiet = equals(v, &block.quiet, rules.ruleset.quiet_limit());
    let many = v.eq(v.load(&block.plies[1]), v.splat(MANY_PLIES));
    let mut due = v.bits(quiet) | v.bits(many);
    if let Some(cap) = rules.cap {
        due |= v.bits(equals(v, &block.plies, cap));
    }
    due & ended
}

/// Tells which counts are a number.
#[inline(always)]
fn equals<V: Vector>(v: V, [low, high]: &Wide, number: u16) -> V::Mask {
    let [less, more] = number.to_le_bytes();
    let less = v.eq(v.load(low), v.splat(less));
    v.and(less, v.eq(v.load(high), v.splat(more)))
}

/// Writes the games that are over and fills the lanes without a game; returns the lanes that begin
/// one.
#[inline(always)]
fn fill<V: Vector>(
    v: V,
    board: &mut [V::Bytes],
    lanes: &mut Lanes<V>,
    table: &mut Table<'_, '_>,
) -> u64 {
    let Table {
        block, pool, games, ..
    } = table;
    if block.over != 0 {
        take_rest(v, board, lanes, block);
        store_sums(v, lanes, block);
        block.write_over(games);
    }
    if !pool.ready.is_empty() {
        store(v, board, lanes, block);
        for lane in lanes_of(block.idle) {
            let Some(game) = pool.ready.pop() else { break };
            block.put_in(lane, &game);
            block.idle &= !(1 << lane);
            block.playing |= 1 << lane;
        }
        *lanes = load(v, board, block);
    }
    let mut begun = 0;
    for lane in lanes_of(block.idle) {
        begun |= u64::from(block.begin(lane, games)) << lane;
    }
    // Lanes for which no game is left rest until the pool has one.
    block.idle = 0;
    block.playing |= begun;
    reset(v, lanes, block, v.mask(begun));
    let seeds = v.splat(table.rules.ruleset.seeds_per_pit() as u8);
    for pit in board.iter_mut() {
        *pit = v.select(v.mask(begun), seeds, *pit);
    }
    begun
}

/// Gives the seeds left on the boards of the games that are over to the other side (E1).
#[inline(always)]
fn take_rest<V: Vector>(v: V, board: &[V::Bytes], lanes: &Lanes<V>, block: &mut Block) {
    let mut rest = v.splat(0);
    for &seeds in board {
        rest = v.add(rest, seeds);
    }
    let rest = v.keep(rest, v.mask(block.over));
    let north = v.some(lanes.side);
    let [by_south, by_north] = &mut block.captured;
    v.store(v.add_where(v.load(by_south), north, rest), by_south);
    v.store(v.add(v.load(by_north), v.clear(rest, north)), by_north);
}

/// Sets all counts to zero in the lanes that begin a game.
#[inline(always)]
fn reset<V: Vector>(v: V, lanes: &mut Lanes<V>, block: &mut Block, begun: V::Mask) {
    lanes.side = v.clear(lanes.side, begun);
    for sum in &mut lanes.seeds {
        *sum = v.clear(*sum, begun);
    }
    let [laps, more_laps] = &mut block.all_laps;
    let [by_south, by_north] = &mut block.captured;
    for row in [
        laps,
        more_laps,
        by_south,
        by_north,
        &mut block.captures,
        &mut block.longest,
    ] {
        v.store(v.clear(v.load(row), begun), row);
    }
    clear_few(v, &mut block.quiet, begun);
    clear_few(v, &mut block.plies, begun);
}

/// Draws a non-empty pit in the lanes of `drawing`; where there is none, the game is over (E1).
#[inline(always)]
fn choose<V: Vector>(
    v: V,
    board: &[V::Bytes],
    lanes: &mut Lanes<V>,
    table: &mut Table<'_, '_>,
    drawing: u64,
) {
    let (zero, one) = (v.splat(0), v.splat(1));
    let mask = v.mask(drawing);
    let block = &mut *table.block;
    let columns = board.len() / 2;
    let north = v.some(lanes.side);
    let mut choices = zero;
    for column in 0..columns {
        let seeds = v.select(north, board[columns + column], board[column]);
        choices = v.increment(choices, v.some(seeds));
    }
    let stuck = drawing & !v.bits(v.some(choices));
    block.playing &= !stuck;
    block.over |= stuck;
    let rank = v.below(&mut block.streams, drawing, choices);
    let (mut at, mut held, mut passed) = (zero, zero, zero);
    for column in 0..columns {
        let seeds = v.select(north, board[columns + column], board[column]);
        let some = v.some(seeds);
        let hit = v.and(some, v.eq(passed, rank));
        passed = v.increment(passed, some);
        at = v.select(hit, v.splat(column as u8), at);
        held = v.select(hit, seeds, held);
    }
    at = v.add_where(at, north, v.splat(columns as u8));
    lanes.hand.at = v.select(mask, at, lanes.hand.at);
    lanes.hand.held = v.select(mask, held, lanes.hand.held);
    lanes.laps = v.select(mask, one, lanes.laps);
    if !table.rules.reversible {
        set(v, &mut block.origin, mask, at);
        for (saved, &seeds) in block.saved.iter_mut().zip(board) {
            set(v, saved, mask, seeds);
        }
    }
}

/// Replaces the bytes of the lanes of `mask`.
#[inline(always)]
fn set<V: Vector>(v: V, row: &mut Row, mask: V::Mask, new: V::Bytes) {
    v.store(v.select(mask, new, v.load(row)), row);
}
