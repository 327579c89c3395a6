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

/// Plays all games of a part.
///
/// `PITS` is the number of pits where it is known when compiling, else 0.
#[inline(always)]
pub(super) fn play<V: Vector, const PITS: usize>(v: V, mut table: Table<'_, '_>) {
    let pits = if PITS > 0 { PITS } else { table.rules.pits() };
    let mut rows = [v.splat(0); MAX_PITS];
    let board = &mut rows[..pits];
    let mut until_sums = SUMS_EVERY;
    loop {
        let (drawing, choices) = settle(v, board, &mut table);
        if table.block.playing == 0 {
            if table.pool.is_empty() {
                return;
            }
            let (pool, games) = (&mut *table.pool, &mut *table.games);
            pool.run::<V, PITS>(v, 0, table.rules, &mut games.rows);
            table.block.idle = u64::MAX;
            continue;
        }
        choose(v, board, &choices, table.block, table.rules, drawing);
        let relays = sow_burst::<V, PITS>(v, board, table.block, table.rules);
        take_out_long::<V, PITS>(v, board, &mut table, relays);
        until_sums -= 1;
        if until_sums == 0 {
            until_sums = SUMS_EVERY;
            let block = &mut *table.block;
            let most = v.max(v.load(&block.seeds[1]), v.load(&block.all_laps[1]));
            if v.bits(v.lt(v.splat(LARGE_SUM), most)) != 0 {
                block.take_sums();
            }
        }
    }
}

/// Sows a few laps in every lane, counts them, and returns the lanes whose sowing goes on.
#[inline(always)]
fn sow_burst<V: Vector, const PITS: usize>(
    v: V,
    board: &mut [V::Bytes],
    block: &mut Block,
    rules: &Rules,
) -> u64 {
    let mut hand: Hand<V> = Hand {
        at: v.load(&block.at),
        held: v.load(&block.held),
    };
    let mut laps = v.load(&block.laps);
    let [mut low, mut high] = [v.load(&block.seeds[0]), v.load(&block.seeds[1])];
    let mut relays = v.mask(0);
    for _ in 0..V::BURST {
        low = v.add(low, hand.held);
        high = v.increment(high, v.lt(low, hand.held));
        relays = sow_next::<V, PITS>(v, &rules.ring, board, &mut hand);
        laps = v.increment(laps, relays);
    }
    v.store(hand.at, &mut block.at);
    v.store(hand.held, &mut block.held);
    v.store(laps, &mut block.laps);
    v.store(low, &mut block.seeds[0]);
    v.store(high, &mut block.seeds[1]);
    v.bits(relays)
}

/// The own row of every side to move.
struct Choices<V: Vector> {
    seeds: [V::Bytes; MAX_PITS / 2],
    /// The non-empty pits before each column.
    before: [V::Bytes; MAX_PITS / 2],
    /// The non-empty pits of the row.
    count: V::Bytes,
}

/// Settles the sowings that have ended: captures, ends of games, new games. Returns the lanes that
/// draw a move, and from what.
#[inline(always)]
fn settle<V: Vector>(v: V, board: &mut [V::Bytes], table: &mut Table<'_, '_>) -> (u64, Choices<V>) {
    let waiting = !v.bits(v.some(v.load(&table.block.held)));
    let mut ended = waiting & table.block.playing;
    if table.rules.tight {
        ended &= !take_out_late(v, board, table, ended);
    }
    let block = &mut *table.block;
    capture(v, board, block, table.rules, ended);
    block.count_refused(ended);
    let due = due_to_end(v, block, table.rules, ended);
    if due != 0 {
        store(v, board, block);
        for lane in lanes_of(due) {
            let (rows, cap) = (&mut table.games.rows, table.games.max_plies);
            block.copy_out(lane).play_on(table.rules, cap, rows);
            block.release(lane);
        }
        ended &= !due;
    }
    let mut choices = count_choices(v, board, block);
    let stuck = ended & !v.bits(v.some(choices.count));
    block.playing &= !stuck;
    block.over |= stuck;
    let empty = block.over | block.idle;
    let mut drawing = ended & !stuck;
    if empty.count_ones() >= FILL || block.playing == 0 {
        drawing |= fill(v, board, &mut choices, table);
    }
    (drawing, choices)
}

#[inline(always)]
fn store<V: Vector>(v: V, board: &[V::Bytes], block: &mut Block) {
    for (seeds, row) in board.iter().zip(&mut block.pits) {
        v.store(*seeds, row);
    }
}

#[inline(always)]
fn load<V: Vector>(v: V, board: &mut [V::Bytes], block: &Block) {
    for (seeds, row) in board.iter_mut().zip(&block.pits) {
        *seeds = v.load(row);
    }
}

/// Takes the sowings that have passed the lap limit out of their lanes, and returns the lanes.
#[inline(always)]
fn take_out_late<V: Vector>(
    v: V,
    board: &mut [V::Bytes],
    table: &mut Table<'_, '_>,
    ended: u64,
) -> u64 {
    let Table {
        block, pool, rules, ..
    } = table;
    let laps = v.load(&block.laps);
    let late = v.bits(v.lt(v.splat(rules.long), laps)) & ended;
    if late != 0 {
        store(v, board, block);
        for lane in lanes_of(late) {
            let taken = block.take_out(lane, rules);
            pool.add(taken, rules, &mut table.games.rows);
        }
    }
    late
}

/// Takes sowings that go on and on out of their lanes.
#[inline(always)]
fn take_out_long<V: Vector, const PITS: usize>(
    v: V,
    board: &mut [V::Bytes],
    table: &mut Table<'_, '_>,
    relays: u64,
) {
    let laps = v.load(&table.block.laps);
    let long = v.bits(v.lt(v.splat(table.rules.long), laps)) & relays;
    if long == 0 {
        return;
    }
    let Table {
        block, pool, rules, ..
    } = table;
    let rows = &mut table.games.rows;
    store(v, board, block);
    for lane in lanes_of(long & block.playing) {
        if pool.is_full() {
            pool.run::<V, PITS>(v, u64::BITS - DECIDED, rules, rows);
        }
        let taken = block.take_out(lane, rules);
        pool.add(taken, rules, rows);
    }
}

/// Captures (C1 to C3) and counts the ply in the lanes of `ended`, and passes the turn.
#[inline(always)]
fn capture<V: Vector>(v: V, board: &mut [V::Bytes], block: &mut Block, rules: &Rules, ended: u64) {
    let (zero, one) = (v.splat(0), v.splat(1));
    let mask = v.mask(ended);
    let last = v.load(&block.at);
    let side = v.load(&block.side);
    let north = v.some(side);
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
    add_wide(v, &mut block.plies, ply);
    add_wide(v, &mut block.quiet, ply);
    for row in &mut block.quiet {
        v.store(v.clear(v.load(row), took), row);
    }
    let laps = v.keep(v.load(&block.laps), mask);
    add_wide(v, &mut block.all_laps, laps);
    v.store(v.max(v.load(&block.longest), laps), &mut block.longest);
    v.store(v.select(mask, v.sub(one, side), side), &mut block.side);
}

/// Adds a byte to a count of two.
#[inline(always)]
fn add_wide<V: Vector>(v: V, [low, high]: &mut Wide, amount: V::Bytes) {
    let less = v.add(v.load(low), amount);
    let carry = v.lt(less, amount);
    v.store(less, low);
    v.store(v.increment(v.load(high), carry), high);
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

/// Counts the non-empty pits of the sides to move.
#[inline(always)]
fn count_choices<V: Vector>(v: V, board: &[V::Bytes], block: &Block) -> Choices<V> {
    let zero = v.splat(0);
    let mut choices = Choices {
        seeds: [zero; MAX_PITS / 2],
        before: [zero; MAX_PITS / 2],
        count: zero,
    };
    let north = v.some(v.load(&block.side));
    let columns = board.len() / 2;
    for column in 0..columns {
        let seeds = v.select(north, board[columns + column], board[column]);
        choices.seeds[column] = seeds;
        choices.before[column] = choices.count;
        choices.count = v.increment(choices.count, v.some(seeds));
    }
    choices
}

/// Writes the games that are over and fills the lanes without a game; returns the lanes that begin
/// one.
#[inline(always)]
fn fill<V: Vector>(
    v: V,
    board: &mut [V::Bytes],
    choices: &mut Choices<V>,
    table: &mut Table<'_, '_>,
) -> u64 {
    let Table {
        block,
        pool,
        games,
        rules,
    } = table;
    if block.over != 0 {
        take_rest(v, board, block);
        block.write_over(games);
    }
    if !pool.ready.is_empty() {
        store(v, board, block);
        for lane in lanes_of(block.idle) {
            let Some(game) = pool.ready.pop() else { break };
            block.put_in(lane, &game);
            block.idle &= !(1 << lane);
            block.playing |= 1 << lane;
        }
        load(v, board, block);
    }
    let mut begun = 0;
    for lane in lanes_of(block.idle) {
        begun |= u64::from(block.begin(lane, games)) << lane;
    }
    // Lanes for which no game is left rest until the pool has one.
    block.idle = 0;
    block.playing |= begun;
    reset(v, board, choices, block, rules, begun);
    begun
}

/// Gives the seeds left on the boards of the games that are over to the other side (E1).
#[inline(always)]
fn take_rest<V: Vector>(v: V, board: &[V::Bytes], block: &mut Block) {
    let mut rest = v.splat(0);
    for &seeds in board {
        rest = v.add(rest, seeds);
    }
    let rest = v.keep(rest, v.mask(block.over));
    let north = v.some(v.load(&block.side));
    let [by_south, by_north] = &mut block.captured;
    v.store(v.add_where(v.load(by_south), north, rest), by_south);
    v.store(v.add(v.load(by_north), v.clear(rest, north)), by_north);
}

/// Sets up the start of a game in the lanes of `begun`.
#[inline(always)]
fn reset<V: Vector>(
    v: V,
    board: &mut [V::Bytes],
    choices: &mut Choices<V>,
    block: &mut Block,
    rules: &Rules,
    begun: u64,
) {
    let mask = v.mask(begun);
    let seeds = v.splat(rules.ruleset.seeds_per_pit() as u8);
    for pit in board.iter_mut() {
        *pit = v.select(mask, seeds, *pit);
    }
    let columns = board.len() / 2;
    for column in 0..columns {
        choices.seeds[column] = v.select(mask, seeds, choices.seeds[column]);
        let before = v.splat(column as u8);
        choices.before[column] = v.select(mask, before, choices.before[column]);
    }
    choices.count = v.select(mask, v.splat(columns as u8), choices.count);
    let [quiet, quiet_high] = &mut block.quiet;
    let [plies, plies_high] = &mut block.plies;
    let [laps, laps_high] = &mut block.all_laps;
    let [sown, sown_high] = &mut block.seeds;
    let [by_south, by_north] = &mut block.captured;
    for row in [
        quiet,
        quiet_high,
        plies,
        plies_high,
        laps,
        laps_high,
        sown,
        sown_high,
        by_south,
        by_north,
        &mut block.captures,
        &mut block.longest,
        &mut block.side,
    ] {
        v.store(v.clear(v.load(row), mask), row);
    }
}

/// Draws a non-empty pit in the lanes of `drawing`.
#[inline(always)]
fn choose<V: Vector>(
    v: V,
    board: &[V::Bytes],
    choices: &Choices<V>,
    block: &mut Block,
    rules: &Rules,
    drawing: u64,
) {
    let (zero, one) = (v.splat(0), v.splat(1));
    let mask = v.mask(drawing);
    let north = v.some(v.load(&block.side));
    let columns = board.len() / 2;
    let rank = v.below(&mut block.streams, drawing, choices.count);
    let (mut at, mut held) = (zero, zero);
    for column in 0..columns {
        let (seeds, before) = (choices.seeds[column], choices.before[column]);
        let hit = v.and(v.some(seeds), v.eq(before, rank));
        at = v.select(hit, v.splat(column as u8), at);
        held = v.select(hit, seeds, held);
    }
    at = v.add_where(at, north, v.splat(columns as u8));
    set(v, &mut block.at, mask, at);
    set(v, &mut block.held, mask, held);
    set(v, &mut block.laps, mask, one);
    if !rules.reversible {
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
