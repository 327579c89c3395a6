//! One block: 64 random games that play ply by ply together.

use crate::batch::lanes_of;
use crate::batch::simd::{LANES, LIGHT, RowBoard, RowRing, RowVector, Sowings};
use crate::board::Board;
use crate::pit::ring_index;
use crate::rng::{self, Purpose};
use crate::ruleset::{LoneCapture, Ruleset};
use crate::side::Side;
use crate::simulate::EndCode;
use crate::simulate::lockstep::Limits;
use crate::simulate::random_games::RandomGame;
use crate::simulate::rows::streams::Streams;
use crate::simulate::table::Columns;
use crate::simulate::tally::Tally;

/// The rules as rows need them.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    ruleset: Ruleset,
    ring: RowRing,
    /// The pits of a row, as bits.
    row: u64,
}

impl Rules {
    /// Returns the rules for rows, `None` where the board or its seeds do not fit.
    pub(super) fn of(ruleset: &Ruleset) -> Option<Rules> {
        Some(Rules {
            ruleset: *ruleset,
            ring: RowRing::of(ruleset)?,
            row: u64::MAX >> (64 - ruleset.columns()),
        })
    }

    fn first(&self, side: Side) -> usize {
        ring_index(side, 0, self.ruleset.columns())
    }
}

/// The games that a block plays, and where they are written.
pub(super) struct Games<'a> {
    seed: u64,
    /// The number of the first game.
    first: u64,
    /// Games started.
    started: usize,
    limits: Limits,
    rows: Columns<'a>,
}

impl<'a> Games<'a> {
    pub(super) fn new((seed, first): (u64, u64), limits: Limits, rows: Columns<'a>) -> Games<'a> {
        Games {
            seed,
            first,
            started: 0,
            limits,
            rows,
        }
    }
}

/// 64 games in progress, all with the same side to move.
#[derive(Debug)]
pub(super) struct Block {
    boards: [RowBoard; LANES],
    sowings: Sowings,
    streams: Streams,
    /// Non-empty pits of the side to move, as bits, and their number.
    pits: [u64; LANES],
    choices: [u32; LANES],
    ranks: [u32; LANES],
    /// A pit of a side to move holds more seeds than a sowing in bytes may begin with.
    is_any_heavy: bool,
    captured: [[u32; LANES]; 2],
    captures: [u32; LANES],
    laps: [u64; LANES],
    seeds: [u64; LANES],
    longest: [u32; LANES],
    endless_met: [u64; LANES],
    /// Plies of the block, modulo 2^32, and how many there had been when each game began and
    /// after its last capture.
    plies: u32,
    began: [u32; LANES],
    captured_last: [u32; LANES],
    game: [usize; LANES],
    /// Lanes that hold a game, as bits. The others play on as well, and nobody counts it: a ply
    /// has no branch for them.
    playing: u64,
    /// Lanes that play a ply apart from the others, and their boards before it.
    kept: Vec<(usize, RowBoard)>,
}

impl Block {
    /// Makes a block without a game.
    pub(super) fn new() -> Box<Block> {
        Box::new(Block {
            boards: [RowBoard::EMPTY; LANES],
            sowings: Sowings::NONE,
            streams: Streams::NONE,
            pits: [0; LANES],
            choices: [0; LANES],
            ranks: [0; LANES],
            is_any_heavy: false,
            captured: [[0; LANES]; 2],
            captures: [0; LANES],
            laps: [0; LANES],
            seeds: [0; LANES],
            longest: [0; LANES],
            endless_met: [0; LANES],
            plies: 0,
            began: [0; LANES],
            captured_last: [0; LANES],
            game: [0; LANES],
            playing: 0,
            kept: Vec::new(),
        })
    }

    /// Starts the next games in lanes without one, before a turn of South; returns whether a
    /// game goes on.
    pub(super) fn fill(&mut self, rules: &Rules, games: &mut Games<'_>) -> bool {
        for lane in lanes_of(!self.playing) {
            if games.started == games.rows.len() {
                break;
            }
            self.start(lane, rules, games);
        }
        self.playing != 0
    }

    fn start(&mut self, lane: usize, rules: &Rules, games: &mut Games<'_>) {
        let row_seed = rng::mix(games.seed, games.first + games.started as u64);
        let words = rng::stream_words(row_seed, 0, Purpose::Play);
        self.streams.set(lane, words);
        self.set_up(lane, rules);
        for captured in &mut self.captured {
            captured[lane] = 0;
        }
        self.captures[lane] = 0;
        self.laps[lane] = 0;
        self.seeds[lane] = 0;
        self.longest[lane] = 0;
        self.endless_met[lane] = 0;
        self.began[lane] = self.plies;
        self.captured_last[lane] = self.plies;
        self.game[lane] = games.started;
        self.playing |= 1 << lane;
        games.started += 1;
    }

    fn set_up(&mut self, lane: usize, rules: &Rules) {
        let pits = self.boards[lane].pits_mut(rules.ring.pits);
        pits.fill(rules.ruleset.seeds_per_pit() as u8);
    }

    /// Finds the non-empty pits of the side to move, and ends the games that are over (E1, E3,
    /// E4).
    #[inline(always)]
    pub(super) fn find_pits<R: RowVector>(
        &mut self,
        r: R,
        rules: &Rules,
        games: &mut Games<'_>,
        side: Side,
    ) {
        let first = rules.first(side);
        let mut heavy = 0;
        for (lane, board) in self.boards.iter().enumerate() {
            let pits = r.occupied(board, first) & rules.row;
            self.pits[lane] = pits;
            self.choices[lane] = pits.count_ones();
            heavy |= r.heavy(board, first);
        }
        self.is_any_heavy = heavy & rules.row != 0;
        if self.is_any_due(rules, games.limits) {
            for lane in lanes_of(self.playing) {
                if self.is_due(lane, rules, games.limits) {
                    let game = self.take_game(lane, rules, side);
                    let stream = self.streams.stream(lane);
                    let row = game.go_on(&rules.ruleset, stream, games.limits);
                    games.rows.set(self.game[lane], &row);
                }
            }
        }
        let least = self.choices.iter().copied().min();
        if least == Some(0) {
            self.end_stuck(rules, games, side);
        }
    }

    /// Ends the games whose side to move has no pit to lift (E1), and sets up their lanes.
    fn end_stuck(&mut self, rules: &Rules, games: &mut Games<'_>, side: Side) {
        for lane in 0..LANES {
            if self.choices[lane] > 0 {
                continue;
            }
            if self.playing >> lane & 1 == 1 {
                let mut game = self.take_game(lane, rules, side);
                game.board.take_rest(side.other());
                let row = game.tally.finish(&game.board, EndCode::Stuck, 0);
                games.rows.set(self.game[lane], &row);
            }
            self.set_up(lane, rules);
            self.pits[lane] = rules.row;
            self.choices[lane] = rules.row.count_ones();
        }
    }

    /// Tells whether a game of any lane, even of one without a game, ends by E3 or E4 unless it
    /// does by E1.
    #[inline(always)]
    fn is_any_due(&self, rules: &Rules, limits: Limits) -> bool {
        let mut due = 0;
        for lane in 0..LANES {
            due |= u32::from(self.is_due(lane, rules, limits));
        }
        due != 0
    }

    #[inline(always)]
    fn is_due(&self, lane: usize, rules: &Rules, limits: Limits) -> bool {
        let quiet = self.plies.wrapping_sub(self.captured_last[lane]);
        let plies = self.plies.wrapping_sub(self.began[lane]);
        // Both are compared in any case, so that a loop over lanes has no branch.
        (quiet == u32::from(rules.ruleset.quiet_limit()))
            | (plies == limits.max_plies.unwrap_or(u32::MAX))
    }

    /// Draws a non-empty pit in every lane and sows it; returns the lanes that are to play this
    /// ply apart from the others.
    #[inline(always)]
    pub(super) fn sow<R: RowVector>(&mut self, r: R, rules: &Rules, side: Side) -> u64 {
        self.streams.below(&self.choices, &mut self.ranks);
        let first = rules.first(side);
        let mut apart = 0;
        if rules.ring.fills && self.is_any_heavy {
            for (lane, board) in self.boards.iter().enumerate() {
                let heavy = r.heavy(board, first) & rules.row;
                apart |= u64::from(heavy != 0) << lane;
            }
        }
        let (ring, boards) = (&rules.ring, &mut self.boards);
        let (pits, ranks) = (&self.pits, &self.ranks);
        let draw = |lane: usize| first + r.nth(pits[lane], ranks[lane]);
        let left = self.sowings.sow(r, ring, boards, !apart, draw);
        for lane in lanes_of(left) {
            self.sowings.take_back(lane, ring, &mut boards[lane]);
        }
        apart |= left;
        for lane in lanes_of(apart) {
            self.kept.push((lane, boards[lane]));
        }
        apart
    }

    /// Plays the ply of some lanes, which the others have played, by the scalar rules from the
    /// draw on, and the rest of their games where they get too heavy for bytes.
    pub(super) fn play_apart(
        &mut self,
        rules: &Rules,
        games: &mut Games<'_>,
        side: Side,
        apart: u64,
    ) {
        if apart == 0 {
            return;
        }
        let mut kept = std::mem::take(&mut self.kept);
        let playing = self.playing;
        let plies = self.plies;
        self.plies = plies.wrapping_sub(1);
        for (lane, board) in kept.drain(..) {
            self.boards[lane] = board;
            if playing >> lane & 1 == 1 {
                self.play_ply(lane, rules, games, side);
            } else {
                self.set_up(lane, rules);
            }
        }
        self.plies = plies;
        self.kept = kept;
    }

    fn play_ply(&mut self, lane: usize, rules: &Rules, games: &mut Games<'_>, side: Side) {
        let ruleset = &rules.ruleset;
        let mut game = self.take_game(lane, rules, side);
        let mut stream = self.streams.stream_before(lane);
        let row = match game.turn(ruleset, &mut stream, games.limits) {
            Some(end) => game.tally.finish(&game.board, end, 0),
            None if rules.ring.fills && game.board.pits().iter().any(|&n| n >= LIGHT.into()) => {
                game.go_on(ruleset, stream, games.limits)
            }
            None => return self.give_game(lane, rules, &game),
        };
        games.rows.set(self.game[lane], &row);
        self.set_up(lane, rules);
    }

    /// Takes a lane's game out of the block, before a ply.
    fn take_game(&mut self, lane: usize, rules: &Rules, to_move: Side) -> RandomGame {
        self.playing &= !(1 << lane);
        let mut board = Board::empty(rules.ruleset.columns());
        let bytes = self.boards[lane].pits(rules.ring.pits);
        for (seeds, &byte) in board.pits_mut().iter_mut().zip(bytes) {
            *seeds = byte.into();
        }
        for (captured, of_lanes) in board.captured_mut().iter_mut().zip(&self.captured) {
            *captured = of_lanes[lane] as u16;
        }
        RandomGame {
            board,
            to_move,
            quiet: self.plies.wrapping_sub(self.captured_last[lane]) as u16,
            tally: Tally {
                plies: self.plies.wrapping_sub(self.began[lane]),
                laps: self.laps[lane],
                seeds_sown: self.seeds[lane],
                captures: self.captures[lane],
                longest_sowing: self.longest[lane],
                endless_met: self.endless_met[lane],
                offers: 0,
            },
        }
    }

    /// Puts a game back into its lane, which has played a ply more than the block.
    fn give_game(&mut self, lane: usize, rules: &Rules, game: &RandomGame) {
        self.playing |= 1 << lane;
        let bytes = self.boards[lane].pits_mut(rules.ring.pits);
        for (byte, &seeds) in bytes.iter_mut().zip(game.board.pits()) {
            *byte = seeds as u8;
        }
        for (of_lanes, captured) in self.captured.iter_mut().zip(game.board.captured()) {
            of_lanes[lane] = captured.into();
        }
        let plies = self.plies.wrapping_add(1);
        self.captured_last[lane] = plies.wrapping_sub(game.quiet.into());
        self.laps[lane] = game.tally.laps;
        self.seeds[lane] = game.tally.seeds_sown;
        self.captures[lane] = game.tally.captures;
        self.longest[lane] = game.tally.longest_sowing;
        // One more word was drawn for every endless sowing refused.
        for _ in self.endless_met[lane]..game.tally.endless_met {
            let _ = self.streams.step(lane);
        }
        self.endless_met[lane] = game.tally.endless_met;
    }

    /// Captures (C1 to C3) and counts the ply in all lanes but those that play apart.
    #[inline(always)]
    pub(super) fn capture(&mut self, rules: &Rules, side: Side, apart: u64) {
        let columns = rules.ruleset.columns() as u8;
        let first = rules.first(side) as u8;
        let lone_taken = u8::from(rules.ruleset.lone_capture() == LoneCapture::Taken);
        let end = rules.ring.pits - 1;
        let (mut facing, mut stays, mut taken) = ([0; LANES], [0; LANES], [0; LANES]);
        for (lane, board) in self.boards.iter().enumerate() {
            facing[lane] = board.get(end - usize::from(self.sowings.last(lane)));
        }
        for lane in 0..LANES {
            let own = u8::from(self.sowings.last(lane).wrapping_sub(first) < columns);
            let any = u8::from(facing[lane] > 0) | lone_taken;
            let all = (own & any).wrapping_neg();
            taken[lane] = facing[lane].wrapping_add(1) & all;
            facing[lane] &= !all;
            stays[lane] = 1 & !all;
        }
        for (lane, board) in self.boards.iter_mut().enumerate() {
            let last = usize::from(self.sowings.last(lane));
            board.set(last, stays[lane]);
            board.set(end - last, facing[lane]);
        }
        self.count(side, &taken, apart);
    }

    /// Counts a ply in every lane: plain loops, for many lanes at once.
    #[inline(always)]
    fn count(&mut self, side: Side, taken: &[u8; LANES], apart: u64) {
        let mut taken = *taken;
        let mut seeds: [u16; LANES] = std::array::from_fn(|lane| self.sowings.seeds(lane));
        let mut laps: [u8; LANES] = std::array::from_fn(|lane| self.sowings.laps(lane));
        for lane in lanes_of(apart) {
            (taken[lane], seeds[lane], laps[lane]) = (0, 0, 0);
        }
        let plies = self.plies.wrapping_add(1);
        self.plies = plies;
        let captured = &mut self.captured[side.index()];
        for (captured, taken) in captured.iter_mut().zip(taken) {
            *captured += u32::from(taken);
        }
        for (captures, taken) in self.captures.iter_mut().zip(taken) {
            *captures += u32::from(taken > 0);
        }
        for (captured_last, taken) in self.captured_last.iter_mut().zip(taken) {
            *captured_last = if taken > 0 { plies } else { *captured_last };
        }
        for (sum, laps) in self.laps.iter_mut().zip(laps) {
            *sum += u64::from(laps);
        }
        for (sum, seeds) in self.seeds.iter_mut().zip(seeds) {
            *sum += u64::from(seeds);
        }
        for (longest, laps) in self.longest.iter_mut().zip(laps) {
            *longest = (*longest).max(u32::from(laps));
        }
    }
}
