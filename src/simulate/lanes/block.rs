//! One block: 64 random games side by side, each in a lane of its own.

use crate::batch::simd::{LANES, MAX_PITS, Ring, Row, Streams, WideRow, next_word};
use crate::board::Board;
use crate::rng::{self, Purpose};
use crate::ruleset::{Direction, Endless, LoneCapture, Ruleset};
use crate::side::Side;
use crate::simulate::EndCode;
use crate::simulate::lockstep::Limits;
use crate::simulate::random_games::RandomGame;
use crate::simulate::table::Columns;
use crate::simulate::tally::Tally;

/// Laps after which a sowing is watched for the return of an earlier state.
const WATCH_FROM: u32 = 32;

/// Laps between two looks at a long sowing: fewer than a byte holds.
const LOOK_EVERY: u32 = 224;

/// Ply counts from which a game is finished outside the lanes, by their upper byte.
pub(super) const MANY_PLIES: u8 = 255;

/// The rules as the lanes need them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) ruleset: Ruleset,
    pub(super) ring: Ring,
    pub(super) lone_taken: bool,
    /// Laps of the first look at a sowing.
    pub(super) first_look: u8,
    /// Plies after which a game is cut, if a count of two bytes can tell.
    pub(super) cap: Option<u16>,
}

impl Rules {
    /// Returns the rules for lanes, `None` where the board or its seeds do not fit.
    pub(super) fn of(ruleset: &Ruleset, max_plies: Option<u32>) -> Option<Rules> {
        Some(Rules {
            ruleset: *ruleset,
            ring: Ring::of(ruleset)?,
            lone_taken: ruleset.lone_capture() == LoneCapture::Taken,
            first_look: ruleset.lap_limit().min(WATCH_FROM) as u8,
            cap: max_plies.and_then(|cap| u16::try_from(cap).ok()),
        })
    }
}

/// 64 games in progress.
pub(super) struct Block {
    /// Seeds of every pit; a lane's pit that was just lifted is empty.
    pub(super) pits: [Row; MAX_PITS],
    /// The pits when the sowing in progress began, before its lift.
    pub(super) saved: [Row; MAX_PITS],
    /// An earlier state of a watched sowing, before the lift of `watch_at`.
    pub(super) watch: [Row; MAX_PITS],
    pub(super) watch_at: Row,
    /// The pit lifted from.
    pub(super) at: Row,
    /// Seeds in hand; 0 in a lane whose sowing has ended.
    pub(super) held: Row,
    /// The pit that the sowing in progress began with.
    pub(super) origin: Row,
    /// 0 where South moves, 1 where North does.
    pub(super) side: Row,
    /// Laps of the sowing in progress since the last look at it.
    pub(super) laps: Row,
    /// The number of these laps at which to look at it next.
    pub(super) look_at: Row,
    pub(super) quiet: [Row; 2],
    pub(super) plies: [Row; 2],
    pub(super) captured: [Row; 2],
    pub(super) captures: Row,
    pub(super) longest: Row,
    /// Sums over all sowings of a lane, modulo 2^16.
    pub(super) seeds_sum: WideRow,
    pub(super) laps_sum: WideRow,
    /// `seeds_sum` when the sowing in progress began, or at the last look at it.
    pub(super) seeds_before: WideRow,
    /// What of the sums is already in `seeds` and `all_laps`.
    seeds_taken: WideRow,
    laps_taken: WideRow,
    seeds: [u64; LANES],
    all_laps: [u64; LANES],
    /// Laps and seeds of the sowing in progress up to the last look at it.
    long_laps: [u32; LANES],
    long_seeds: [u64; LANES],
    longest_long: [u32; LANES],
    endless_met: [u32; LANES],
    /// Lanes whose sowing in progress has been looked at.
    pub(super) long: u64,
    /// Lanes whose sowing in progress is compared with `watch`.
    pub(super) watched: u64,
    /// Lanes that hold a game.
    pub(super) live: u64,
    /// Lanes whose game is over and written, to be filled with the next one.
    pub(super) fresh: u64,
    pub(super) streams: Streams,
    game: [usize; LANES],
    next_game: usize,
}

/// The games that a block plays and the rows it writes.
pub(super) struct Games<'a> {
    pub(super) seed: u64,
    /// The number of the first game.
    pub(super) first: u64,
    pub(super) rows: Columns<'a>,
    pub(super) max_plies: Option<u32>,
}

impl Block {
    /// Makes a block of lanes that all wait for a game.
    pub(super) fn new() -> Box<Block> {
        Box::new(Block {
            pits: [Row::ZERO; MAX_PITS],
            saved: [Row::ZERO; MAX_PITS],
            watch: [Row::ZERO; MAX_PITS],
            watch_at: Row::ZERO,
            at: Row([u8::MAX; LANES]),
            held: Row::ZERO,
            origin: Row::ZERO,
            side: Row::ZERO,
            laps: Row::ZERO,
            look_at: Row::ZERO,
            quiet: [Row::ZERO; 2],
            plies: [Row::ZERO; 2],
            captured: [Row::ZERO; 2],
            captures: Row::ZERO,
            longest: Row::ZERO,
            seeds_sum: WideRow([0; LANES]),
            laps_sum: WideRow([0; LANES]),
            seeds_before: WideRow([0; LANES]),
            seeds_taken: WideRow([0; LANES]),
            laps_taken: WideRow([0; LANES]),
            seeds: [0; LANES],
            all_laps: [0; LANES],
            long_laps: [0; LANES],
            long_seeds: [0; LANES],
            longest_long: [0; LANES],
            endless_met: [0; LANES],
            long: 0,
            watched: 0,
            live: u64::MAX,
            fresh: u64::MAX,
            streams: Streams([[0; LANES]; 4]),
            game: [0; LANES],
            next_game: 0,
        })
    }

    /// Takes over the sums of all lanes before they can wrap: at least every 256 laps.
    pub(super) fn take_sums(&mut self) {
        for lane in 0..LANES {
            self.take_lane_sums(lane);
        }
    }

    fn take_lane_sums(&mut self, lane: usize) {
        let seeds = self.seeds_sum.0[lane].wrapping_sub(self.seeds_taken.0[lane]);
        self.seeds[lane] += u64::from(seeds);
        self.seeds_taken.0[lane] = self.seeds_sum.0[lane];
        let laps = self.laps_sum.0[lane].wrapping_sub(self.laps_taken.0[lane]);
        self.all_laps[lane] += u64::from(laps);
        self.laps_taken.0[lane] = self.laps_sum.0[lane];
    }

    /// Gives a waiting lane its next game; returns false, and the lane rests, when none is left.
    ///
    /// The caller resets the lane's bytes.
    pub(super) fn next_game(&mut self, lane: usize, games: &Games<'_>) -> bool {
        if self.next_game >= games.rows.len() {
            self.live &= !(1 << lane);
            self.rest(lane);
            return false;
        }
        let game = self.next_game;
        self.next_game += 1;
        self.game[lane] = game;
        let row_seed = rng::mix(games.seed, games.first + game as u64);
        let words = rng::stream_words(row_seed, 0, Purpose::Play);
        for (of_lane, word) in self.streams.0.iter_mut().zip(words) {
            of_lane[lane] = word;
        }
        self.take_lane_sums(lane);
        self.seeds[lane] = 0;
        self.all_laps[lane] = 0;
        self.longest_long[lane] = 0;
        self.endless_met[lane] = 0;
        true
    }

    /// Lets a lane stand at no pit with nothing in hand: laps leave it alone.
    fn rest(&mut self, lane: usize) {
        self.held.0[lane] = 0;
        self.at.0[lane] = u8::MAX;
    }

    /// Counts the laps of a long sowing that has ended.
    pub(super) fn close_long(&mut self, lane: usize) {
        self.long &= !(1 << lane);
        let before = std::mem::take(&mut self.long_laps[lane]);
        self.long_seeds[lane] = 0;
        self.all_laps[lane] += u64::from(before);
        let laps = before + u32::from(self.laps.0[lane]);
        self.longest_long[lane] = self.longest_long[lane].max(laps);
    }

    /// Looks at a sowing that goes on and on: ends it at the lap limit, else keeps a state whose
    /// return it is watched for (Brent 1980; without S5 the first state itself returns).
    pub(super) fn look(&mut self, lane: usize, rules: &Rules, games: &mut Games<'_>) {
        let laps = self.long_laps[lane] + u32::from(self.laps.0[lane]);
        let limit = rules.ruleset.lap_limit();
        if laps >= limit {
            self.end_endless(lane, rules, games);
            return;
        }
        self.long |= 1 << lane;
        self.long_laps[lane] = laps;
        self.laps.0[lane] = 0;
        let seeds = self.seeds_sum.0[lane].wrapping_sub(self.seeds_before.0[lane]);
        self.long_seeds[lane] += u64::from(seeds);
        self.seeds_before.0[lane] = self.seeds_sum.0[lane];
        let mut next = LOOK_EVERY.min(limit - laps);
        if rules.ruleset.direction() == Direction::Parity {
            if laps.is_power_of_two() {
                self.keep_state(lane, rules);
            }
            next = next.min((laps + 1).next_power_of_two() - laps);
        } else if self.watched >> lane & 1 == 0 {
            for (watch, saved) in self.watch.iter_mut().zip(&self.saved).take(rules.ring.pits) {
                watch.0[lane] = saved.0[lane];
            }
            self.watch_at.0[lane] = self.origin.0[lane];
            self.watched |= 1 << lane;
        }
        self.look_at.0[lane] = next as u8;
    }

    fn keep_state(&mut self, lane: usize, rules: &Rules) {
        for (watch, pits) in self.watch.iter_mut().zip(&self.pits).take(rules.ring.pits) {
            watch.0[lane] = pits.0[lane];
        }
        let at = self.at.0[lane];
        self.watch[usize::from(at)].0[lane] = self.held.0[lane];
        self.watch_at.0[lane] = at;
        self.watched |= 1 << lane;
    }

    /// Tells whether a lane that lifts from `watch_at` is in the state kept of it.
    pub(super) fn has_returned(&self, lane: usize, pits: usize) -> bool {
        let at = usize::from(self.at.0[lane]);
        self.watch[at].0[lane] == self.held.0[lane]
            && (0..pits).all(|pit| pit == at || self.watch[pit].0[lane] == self.pits[pit].0[lane])
    }

    /// Takes back an endless sowing: where it draws, the game is over, else the side draws again
    /// among its other pits and is stuck if none is left (S6, E1).
    pub(super) fn end_endless(&mut self, lane: usize, rules: &Rules, games: &mut Games<'_>) {
        self.take_lane_sums(lane);
        let last = self.seeds_sum.0[lane].wrapping_sub(self.seeds_before.0[lane]);
        self.seeds[lane] -= self.long_seeds[lane] + u64::from(last);
        self.long &= !(1 << lane);
        self.watched &= !(1 << lane);
        self.long_laps[lane] = 0;
        self.long_seeds[lane] = 0;
        self.laps.0[lane] = 0;
        for (pits, saved) in self.pits.iter_mut().zip(&self.saved).take(rules.ring.pits) {
            pits.0[lane] = saved.0[lane];
        }
        let mut tally = self.tally(lane);
        if rules.ruleset.endless() == Endless::Draw {
            tally.plies += 1;
            tally.endless_met += 1;
            self.write(lane, rules, games, &tally, EndCode::Endless);
            return;
        }
        match self.draw_again(lane, rules) {
            Some((pit, refused)) => {
                self.endless_met[lane] += refused;
                self.origin.0[lane] = pit as u8;
                self.at.0[lane] = pit as u8;
                self.held.0[lane] = std::mem::take(&mut self.pits[pit].0[lane]);
                self.look_at.0[lane] = rules.first_look;
                self.seeds_before.0[lane] = self.seeds_sum.0[lane];
            }
            None => self.write(lane, rules, games, &tally, EndCode::Stuck),
        }
    }

    /// Draws among the pits of the side to move, less the one just refused, until a sowing ends.
    ///
    /// Returns the pit and the number of sowings refused, the one before included.
    fn draw_again(&mut self, lane: usize, rules: &Rules) -> Option<(usize, u32)> {
        let board = self.board(lane, rules);
        let side = self.to_move(lane);
        let columns = rules.ring.pits / 2;
        let mut pits = crate::policy::random::non_empty(board.row(side));
        pits.remove(usize::from(self.origin.0[lane]) % columns);
        let mut refused = 1;
        while !pits.is_empty() {
            let word = u64::from(next_word(&mut self.streams, lane));
            let rank = (word * pits.len() as u64) >> 32;
            let column = pits.nth(rank as usize)?;
            if !crate::sowing::is_endless(&board, &rules.ruleset, side, column) {
                return Some((crate::pit::ring_index(side, column, columns), refused));
            }
            pits.remove(column);
            refused += 1;
        }
        None
    }

    fn to_move(&self, lane: usize) -> Side {
        Side::BOTH[usize::from(self.side.0[lane] & 1)]
    }

    /// Returns a lane's pits and captures; nothing of it is in hand.
    pub(super) fn board(&self, lane: usize, rules: &Rules) -> Board {
        let mut board = Board::empty(rules.ring.pits / 2);
        for (seeds, pit) in board.pits_mut().iter_mut().zip(&self.pits) {
            *seeds = pit.0[lane].into();
        }
        *board.captured_mut() = [0, 1].map(|side: usize| self.captured[side].0[lane].into());
        board
    }

    fn tally(&self, lane: usize) -> Tally {
        let wide = |bytes: &[Row; 2]| {
            u32::from(u16::from_le_bytes([0, 1].map(|i: usize| bytes[i].0[lane])))
        };
        Tally {
            plies: wide(&self.plies),
            laps: self.all_laps[lane],
            seeds_sown: self.seeds[lane],
            captures: self.captures.0[lane].into(),
            longest_sowing: u32::from(self.longest.0[lane]).max(self.longest_long[lane]),
            endless_met: self.endless_met[lane].into(),
            offers: 0,
        }
    }

    /// Writes the row of a game that the side to move cannot go on with (E1).
    pub(super) fn finish_stuck(&mut self, lane: usize, rules: &Rules, games: &mut Games<'_>) {
        self.take_lane_sums(lane);
        let tally = self.tally(lane);
        self.write(lane, rules, games, &tally, EndCode::Stuck);
    }

    /// Finishes a game outside the lanes, where its end may be due for more than one reason.
    pub(super) fn finish_alone(&mut self, lane: usize, rules: &Rules, games: &mut Games<'_>) {
        self.take_lane_sums(lane);
        let quiet = u16::from_le_bytes([0, 1].map(|i: usize| self.quiet[i].0[lane]));
        let words = [0, 1, 2, 3].map(|word: usize| self.streams.0[word][lane]);
        let game = RandomGame {
            board: self.board(lane, rules),
            to_move: self.to_move(lane),
            quiet,
            tally: self.tally(lane),
        };
        let limits = Limits {
            max_plies: games.max_plies,
            offers: false,
        };
        let stream = rng::stream_of_words(words);
        let row = game.go_on(&rules.ruleset, stream, limits);
        games.rows.set(self.game[lane], &row);
        self.rest(lane);
        self.fresh |= 1 << lane;
    }

    /// Writes the row of a game that is over and lets the lane wait for the next one.
    fn write(
        &mut self,
        lane: usize,
        rules: &Rules,
        games: &mut Games<'_>,
        tally: &Tally,
        end: EndCode,
    ) {
        let mut board = self.board(lane, rules);
        if end == EndCode::Stuck {
            board.take_rest(self.to_move(lane).other());
        }
        let row = tally.finish(&board, end, 0);
        games.rows.set(self.game[lane], &row);
        self.rest(lane);
        self.fresh |= 1 << lane;
    }
}
