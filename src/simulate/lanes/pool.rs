//! Sowings that go on and on, taken out of their lanes and sown together.
//!
//! Nearly all of them are endless (S6) and run for hundreds or thousands of laps, so that their
//! games would keep lanes from others. Here a lane does nothing but sow and look for the return of
//! an earlier state.

use super::block::Course;
use super::game::{Game, Next, Pits, sow_out};
use super::rules::Rules;
use crate::batch::lanes_of;
use crate::batch::simd::{Hand, LANES, MAX_PITS, Row, Vector, sow_next};
use crate::simulate::table::Columns;
use crate::sowing;

/// Laps between two looks at the lanes.
const LOOK_EVERY: u32 = 128;

/// 64 sowings, and the games that wait for a lane.
pub(super) struct Pool {
    pits: [Row; MAX_PITS],
    at: Row,
    held: Row,
    /// An earlier state of every sowing.
    watch: [Row; MAX_PITS],
    watch_at: Row,
    /// The laps at which that state was kept.
    watch_laps: [u32; LANES],
    laps: [u32; LANES],
    games: [Option<Game>; LANES],
    busy: u64,
    /// Games whose sowing is decided.
    pub(super) ready: Vec<Game>,
}

impl Pool {
    pub(super) fn new() -> Box<Pool> {
        Box::new(Pool {
            pits: [Row::ZERO; MAX_PITS],
            at: Row::ZERO,
            held: Row::ZERO,
            watch: [Row::ZERO; MAX_PITS],
            watch_at: Row::ZERO,
            watch_laps: [0; LANES],
            laps: [0; LANES],
            games: [const { None }; LANES],
            busy: 0,
            ready: Vec::new(),
        })
    }

    pub(super) fn is_full(&self) -> bool {
        self.busy == u64::MAX
    }

    pub(super) fn is_empty(&self) -> bool {
        self.busy == 0
    }

    /// Takes a sowing over, unless it has sown as many laps as there may be.
    pub(super) fn add(
        &mut self,
        (game, course): (Game, Course),
        rules: &Rules,
        rows: &mut Columns<'_>,
    ) {
        if course.laps >= rules.ruleset.lap_limit() {
            self.refuse(game, rules, rows);
            return;
        }
        let lane = (!self.busy).trailing_zeros() as usize;
        self.busy |= 1 << lane;
        for (row, &seeds) in self.pits.iter_mut().zip(&course.pits) {
            row.0[lane] = seeds;
        }
        self.at.0[lane] = course.at;
        self.held.0[lane] = course.pits[usize::from(course.at)];
        self.laps[lane] = course.laps;
        self.games[lane] = Some(game);
        self.keep_state(lane);
    }

    fn refuse(&mut self, game: Game, rules: &Rules, rows: &mut Columns<'_>) {
        if let Next::Sows(game) = game.refuse(rules, rows) {
            self.ready.push(game);
        }
    }

    fn keep_state(&mut self, lane: usize) {
        for (watch, pits) in self.watch.iter_mut().zip(&self.pits) {
            watch.0[lane] = pits.0[lane];
        }
        self.watch_at.0[lane] = self.at.0[lane];
        self.watch_laps[lane] = self.laps[lane];
    }

    /// Sows until at most `left` sowings are undecided.
    #[inline(always)]
    pub(super) fn run<V: Vector, const PITS: usize>(
        &mut self,
        v: V,
        left: u32,
        rules: &Rules,
        rows: &mut Columns<'_>,
    ) {
        let limit = rules.ruleset.lap_limit();
        while self.busy.count_ones() > left {
            if self.busy.count_ones() <= V::FEW {
                self.sow_alone(rules, rows);
                continue;
            }
            let laps = lanes_of(self.busy)
                .fold(LOOK_EVERY, |laps, lane| laps.min(limit - self.laps[lane]));
            let returned = self.sow::<V, PITS>(v, rules, laps);
            for lane in lanes_of(self.busy) {
                self.laps[lane] += laps;
                let returned = returned >> lane & 1 == 1;
                self.look(lane, returned, rules, rows);
            }
        }
    }

    /// Decides the first sowing from its beginning, board by board.
    fn sow_alone(&mut self, rules: &Rules, rows: &mut Columns<'_>) {
        let lane = self.busy.trailing_zeros() as usize;
        self.busy &= !(1 << lane);
        self.held.0[lane] = 0;
        let Some(game) = self.games[lane].take() else {
            return;
        };
        let mut board = game.pits.map(u16::from);
        let board = &mut board[..rules.pits()];
        match sowing::relay(board, game.at.into(), &rules.ruleset) {
            None => self.refuse(game, rules, rows),
            Some(last) => {
                let mut pits = [0; MAX_PITS];
                for (pit, &seeds) in pits.iter_mut().zip(&*board) {
                    *pit = seeds as u8;
                }
                self.accept(game, (pits, last as u8), rules);
            }
        }
    }

    /// Gives a game the board after its sowing and the pit of the last seed.
    fn accept(&mut self, mut game: Game, (pits, last): (Pits, u8), rules: &Rules) {
        // Few sowings as long as these end: their laps are counted over again.
        let (laps, seeds) = sow_out(&game.pits, rules, game.at);
        game.pits = pits;
        game.at = last;
        game.sown = true;
        game.tally.laps += u64::from(laps);
        game.tally.seeds_sown += seeds;
        game.tally.longest_sowing = game.tally.longest_sowing.max(laps);
        game.count_refused();
        self.ready.push(game);
    }

    /// Sows a number of laps in every lane and returns those whose earlier state came back.
    #[inline(always)]
    fn sow<V: Vector, const PITS: usize>(&mut self, v: V, rules: &Rules, laps: u32) -> u64 {
        let pits = if PITS > 0 { PITS } else { rules.pits() };
        let mut rows = [v.splat(0); MAX_PITS];
        let board = &mut rows[..pits];
        for (seeds, row) in board.iter_mut().zip(&self.pits) {
            *seeds = v.load(row);
        }
        let mut hand: Hand<V> = Hand {
            at: v.load(&self.at),
            held: v.load(&self.held),
        };
        let watch_at = v.load(&self.watch_at);
        let mut returned = 0;
        for _ in 0..laps {
            let relays = sow_next::<V, PITS>(v, &rules.ring, board, &mut hand);
            // Three pits tell nearly all states apart.
            let mut same = v.and(relays, v.eq(hand.at, watch_at));
            for pit in [0, pits / 3, 2 * pits / 3] {
                same = v.and(same, v.eq(board[pit], v.load(&self.watch[pit])));
            }
            if v.bits(same) & !returned != 0 {
                for (seeds, row) in board.iter().zip(&self.watch) {
                    same = v.and(same, v.eq(*seeds, v.load(row)));
                }
                returned |= v.bits(same);
            }
        }
        for (seeds, row) in board.iter().zip(&mut self.pits) {
            v.store(*seeds, row);
        }
        v.store(hand.at, &mut self.at);
        v.store(hand.held, &mut self.held);
        returned
    }

    /// Decides a sowing that has ended, or is known never to end within the lap limit; of others a
    /// later state is kept now and then (Brent 1980: with S5 the first ones need not return).
    fn look(&mut self, lane: usize, returned: bool, rules: &Rules, rows: &mut Columns<'_>) {
        let laps = self.laps[lane];
        let ended = self.held.0[lane] == 0;
        let endless = returned || laps >= rules.ruleset.lap_limit();
        if !ended && !endless {
            if laps >= self.watch_laps[lane].saturating_mul(2) {
                self.keep_state(lane);
            }
            return;
        }
        self.busy &= !(1 << lane);
        self.held.0[lane] = 0;
        let Some(game) = self.games[lane].take() else {
            return;
        };
        if ended {
            let pits = self.pits.map(|row| row.0[lane]);
            self.accept(game, (pits, self.at.0[lane]), rules);
        } else {
            self.refuse(game, rules, rows);
        }
    }
}
