//! One block: 64 random games side by side, each in a lane of its own.

use super::game::{Game, Pits, count_seeds, trace_back};
use super::rules::Rules;
use crate::batch::lanes_of;
use crate::batch::simd::{LANES, MAX_PITS, Row, Streams};
use crate::rng::{self, Purpose};
use crate::side::Side;
use crate::simulate::EndCode;
use crate::simulate::table::Columns;
use crate::simulate::tally::{GameRow, Tally};

/// A count of two bytes: the lower ones, the upper ones.
pub(super) type Wide = [Row; 2];

/// Games whose streams are opened together.
const OPENED: usize = 64;

/// 64 games in progress.
pub(super) struct Block {
    /// Seeds of every pit, while the kernel does not hold them in registers.
    pub(super) pits: [Row; MAX_PITS],
    /// The pit that is to be lifted; where the sowing has ended, the pit of its last seed.
    pub(super) at: Row,
    /// The seeds in that pit; 0 where the sowing has ended.
    pub(super) held: Row,
    /// 0 where South moves, 1 where North does.
    pub(super) side: Row,
    /// Laps of the sowing in progress, the one to come included.
    pub(super) laps: Row,
    pub(super) quiet: Wide,
    pub(super) plies: Wide,
    pub(super) captured: [Row; 2],
    pub(super) captures: Row,
    pub(super) longest: Row,
    pub(super) seeds: Wide,
    pub(super) all_laps: Wide,
    /// The pits and the pit lifted when the sowing in progress began, where it cannot be traced
    /// back (S5).
    pub(super) saved: [Row; MAX_PITS],
    pub(super) origin: Row,
    /// What was counted before the counts above began.
    base: [Tally; LANES],
    /// The columns refused in this turn.
    refused: [u32; LANES],
    /// Lanes that have refused a column in this turn.
    pub(super) picky: u64,
    pub(super) streams: Streams,
    number: [usize; LANES],
    /// Lanes with a game that goes on.
    pub(super) playing: u64,
    /// Lanes with a game that is over and not written.
    pub(super) over: u64,
    /// Lanes that wait for a game.
    pub(super) idle: u64,
    /// The streams of the games from a multiple of `OPENED` on.
    opened: [[u64; OPENED]; 2],
}

/// The games that a block plays and the rows it writes.
pub(super) struct Games<'a> {
    pub(super) seed: u64,
    /// The number of the first game.
    pub(super) first: u64,
    pub(super) rows: Columns<'a>,
    pub(super) max_plies: Option<u32>,
    /// The row of the next game to begin.
    pub(super) next: usize,
}

/// A sowing in mid-course.
pub(super) struct Course {
    pub(super) pits: Pits,
    pub(super) at: u8,
    /// Laps and seeds sown so far.
    pub(super) laps: u32,
    pub(super) seeds: u64,
}

impl Block {
    /// Makes a block of lanes that all wait for a game.
    pub(super) fn new() -> Box<Block> {
        Box::new(Block {
            pits: [Row::ZERO; MAX_PITS],
            at: Row::ZERO,
            held: Row::ZERO,
            side: Row::ZERO,
            laps: Row::ZERO,
            quiet: [Row::ZERO; 2],
            plies: [Row::ZERO; 2],
            captured: [Row::ZERO; 2],
            captures: Row::ZERO,
            longest: Row::ZERO,
            seeds: [Row::ZERO; 2],
            all_laps: [Row::ZERO; 2],
            saved: [Row::ZERO; MAX_PITS],
            origin: Row::ZERO,
            base: [Tally::default(); LANES],
            refused: [0; LANES],
            picky: 0,
            streams: Streams([[0; LANES]; 4]),
            number: [0; LANES],
            playing: 0,
            over: 0,
            idle: u64::MAX,
            opened: [[0; OPENED]; 2],
        })
    }

    /// Gives a lane the next game; returns false if none is left.
    ///
    /// The caller resets the lane's bytes.
    #[inline(always)]
    pub(super) fn begin(&mut self, lane: usize, games: &mut Games<'_>) -> bool {
        let number = games.next;
        if number >= games.rows.len() {
            return false;
        }
        if number.is_multiple_of(OPENED) {
            let first = games.first + number as u64;
            self.opened = rng::open_streams(games.seed, first, Purpose::Play);
        }
        games.next += 1;
        let [low, high] = [0, 1].map(|half: usize| self.opened[half][number % OPENED]);
        self.set_stream(lane, rng::halves_to_words((low, high)));
        self.number[lane] = number;
        self.base[lane] = Tally::default();
        true
    }

    #[inline(always)]
    fn set_stream(&mut self, lane: usize, words: [u32; 4]) {
        for (of_lanes, word) in self.streams.0.iter_mut().zip(words) {
            of_lanes[lane] = word;
        }
    }

    /// Gives a lane a game that waits before or after a sowing.
    pub(super) fn put_in(&mut self, lane: usize, game: &Game) {
        for (row, &seeds) in self.pits.iter_mut().zip(&game.pits) {
            row.0[lane] = seeds;
        }
        let at = game.at;
        self.at.0[lane] = at;
        self.held.0[lane] = if game.sown {
            0
        } else {
            game.pits[usize::from(at)]
        };
        self.laps.0[lane] = u8::from(!game.sown);
        self.side.0[lane] = game.to_move.index() as u8;
        for (saved, &seeds) in self.saved.iter_mut().zip(&game.pits) {
            saved.0[lane] = seeds;
        }
        self.origin.0[lane] = at;
        let no_sums = 0_u16;
        for (wide, number) in [
            (&mut self.quiet, game.quiet),
            (&mut self.plies, game.tally.plies as u16),
            (&mut self.seeds, no_sums),
            (&mut self.all_laps, no_sums),
        ] {
            [wide[0].0[lane], wide[1].0[lane]] = number.to_le_bytes();
        }
        for (row, &captured) in self.captured.iter_mut().zip(&game.captured) {
            row.0[lane] = captured;
        }
        self.captures.0[lane] = game.tally.captures as u8;
        self.longest.0[lane] = 0;
        self.base[lane] = game.tally;
        self.refused[lane] = game.refused;
        if game.refused != 0 {
            self.picky |= 1 << lane;
        }
        self.number[lane] = game.number;
        self.set_stream(lane, game.words);
    }

    /// Copies a lane's game out, as it stands after a sowing.
    pub(super) fn copy_out(&self, lane: usize) -> Game {
        Game {
            number: self.number[lane],
            words: [0, 1, 2, 3].map(|word: usize| self.streams.0[word][lane]),
            pits: self.pits.map(|row| row.0[lane]),
            to_move: Side::BOTH[usize::from(self.side.0[lane] & 1)],
            quiet: number_of(&self.quiet, lane),
            captured: [0, 1].map(|side: usize| self.captured[side].0[lane]),
            at: self.at.0[lane],
            sown: true,
            refused: self.refused[lane],
            tally: self.tally(lane),
        }
    }

    /// Takes a lane's game out, as it stands before the sowing in progress, and that sowing.
    pub(super) fn take_out(&mut self, lane: usize, rules: &Rules) -> (Game, Course) {
        let mut game = self.copy_out(lane);
        let mut course = Course {
            pits: game.pits,
            at: game.at,
            laps: u32::from(self.laps.0[lane]) - u32::from(self.held.0[lane] > 0),
            seeds: 0,
        };
        (game.at, course.seeds) = if rules.reversible {
            trace_back(&mut game.pits, rules.pits(), game.at, course.laps)
        } else {
            game.pits = self.saved.map(|row| row.0[lane]);
            let origin = self.origin.0[lane];
            (origin, count_seeds(&game.pits, rules, origin, course.laps))
        };
        game.sown = false;
        game.tally.seeds_sown -= course.seeds;
        self.release(lane);
        (game, course)
    }

    /// Lets a lane wait for a game.
    pub(super) fn release(&mut self, lane: usize) {
        let bit = 1 << lane;
        self.playing &= !bit;
        self.over &= !bit;
        self.picky &= !bit;
        self.idle |= bit;
        self.held.0[lane] = 0;
        self.refused[lane] = 0;
    }

    /// Counts the columns that the lanes of a set have refused before they found their move.
    pub(super) fn count_refused(&mut self, lanes: u64) {
        for lane in lanes_of(lanes & self.picky) {
            let refused = std::mem::take(&mut self.refused[lane]);
            self.base[lane].endless_met += u64::from(refused.count_ones());
        }
        self.picky &= !lanes;
    }

    /// Moves the sums of all lanes to where they have room.
    pub(super) fn take_sums(&mut self) {
        for lane in 0..LANES {
            self.base[lane].seeds_sown += u64::from(number_of(&self.seeds, lane));
            self.base[lane].laps += u64::from(number_of(&self.all_laps, lane));
        }
        self.seeds = [Row::ZERO; 2];
        self.all_laps = [Row::ZERO; 2];
    }

    fn tally(&self, lane: usize) -> Tally {
        let base = &self.base[lane];
        Tally {
            plies: number_of(&self.plies, lane).into(),
            laps: base.laps + u64::from(number_of(&self.all_laps, lane)),
            seeds_sown: base.seeds_sown + u64::from(number_of(&self.seeds, lane)),
            captures: self.captures.0[lane].into(),
            longest_sowing: base.longest_sowing.max(self.longest.0[lane].into()),
            endless_met: base.endless_met,
            offers: 0,
        }
    }

    /// Writes the rows of the games that are over (E1), whose captures are final.
    pub(super) fn write_over(&mut self, games: &mut Games<'_>) {
        for lane in lanes_of(self.over) {
            let captured = [0, 1].map(|side: usize| self.captured[side].0[lane].into());
            let row: GameRow = self.tally(lane).row(captured, EndCode::Stuck, 0);
            games.rows.set(self.number[lane], &row);
        }
        self.idle |= self.over;
        self.over = 0;
    }
}

fn number_of(wide: &Wide, lane: usize) -> u16 {
    u16::from_le_bytes([wide[0].0[lane], wide[1].0[lane]])
}
