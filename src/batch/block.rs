//! Sixty-four games side by side, and one ply of them.

mod views;

use crate::batch::boards::{Boards, Shape, lanes_of};
use crate::batch::config::{Autoreset, IllegalMove};
use crate::batch::pending::Pending;
use crate::batch::ply;
use crate::batch::simd::{Instructions, Kernel};
use crate::batch::wide::Wide;
use crate::batch::{EndCode, LANES, opening};
use crate::board::Board;
use crate::pit::{MAX_PITS, PitSet};
use crate::position::{EndReason, Outcome, Position};
use crate::ruleset::{Endless, Ruleset};
use crate::side::Side;

/// Prepared games a block keeps room for: few games of a block end in the same ply.
const KEPT_STAGED: usize = 8;

/// What all blocks of a batch share.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    pub(super) ruleset: Ruleset,
    pub(super) shape: Shape,
    /// Instructions for what is done to the numbers of all lanes.
    pub(super) instructions: Instructions,
    /// The start of every game, settled.
    pub(super) start: Position,
    /// `u32::MAX` where games are never cut.
    pub(super) max_plies: u32,
    pub(super) opening_plies: u32,
    pub(super) illegal: IllegalMove,
    pub(super) autoreset: Autoreset,
}

/// How a lane stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// No game was ever started.
    NotReset,
    /// The game goes on.
    Open,
    /// The game is over.
    Finished(EndCode),
}

/// A new game that waits to replace the one of its lane.
#[derive(Clone, Debug)]
struct Staged {
    lane: usize,
    row_seed: u64,
    episode: u64,
    position: Position,
}

/// One row as a snapshot keeps it.
pub(super) struct Row {
    pub(super) status: Status,
    pub(super) to_move: Side,
    pub(super) quiet: u16,
    pub(super) captured: [u16; 2],
    pub(super) plies: u32,
    pub(super) row_seed: u64,
    pub(super) episode: u64,
    /// Seeds in ring order, the first N entries.
    pub(super) pits: [u16; MAX_PITS],
    /// The legal columns of the position; not kept.
    pub(super) legal: PitSet,
}

/// The games of 64 rows as struct of arrays.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Rows in use, 64 but in the last block.
    pub(super) rows: usize,
    pits: Box<dyn Boards>,
    /// Seeds captured by South and North.
    captured: [[u16; LANES]; 2],
    /// Lanes in which North is to move.
    north: u64,
    quiet: [u16; LANES],
    plies: [u32; LANES],
    /// Legal columns as bits; none where the game is over.
    legal: [u64; LANES],
    /// Lanes whose game goes on.
    open: u64,
    /// Lanes whose game is over, for the reason in `ends`.
    finished: u64,
    ends: [EndCode; LANES],
    outcome: [i8; LANES],
    row_seed: [u64; LANES],
    episode: [u64; LANES],
    staged: Vec<Staged>,
    ply: Ply,
}

/// The lanes that take part in the ply being played.
#[derive(Clone, Debug)]
struct Ply {
    /// The columns of the lanes of `chosen`.
    columns: [u8; LANES],
    /// Lanes whose action is legal.
    chosen: u64,
    /// Lanes that take part.
    stepped: u64,
    /// Lanes whose turn went to the other side.
    turned: u64,
}

impl Block {
    pub(super) fn new(rows: usize, terms: &Terms) -> Block {
        let mut block = Block {
            rows,
            pits: terms.shape.boards(&terms.ruleset),
            captured: [[0; LANES]; 2],
            north: 0,
            quiet: [0; LANES],
            plies: [0; LANES],
            legal: [0; LANES],
            open: 0,
            finished: 0,
            ends: [EndCode::Stuck; LANES],
            outcome: [0; LANES],
            row_seed: [0; LANES],
            episode: [0; LANES],
            staged: Vec::new(),
            ply: Ply {
                columns: [0; LANES],
                chosen: 0,
                stepped: 0,
                turned: 0,
            },
        };
        for lane in 0..rows {
            block.place(lane, &terms.start);
        }
        block
    }

    /// Returns the set of all rows in use.
    const fn all(&self) -> u64 {
        u64::MAX >> (LANES - self.rows)
    }

    /// Finds the first lane that has no game yet.
    pub(super) fn first_not_reset(&self) -> Option<usize> {
        lanes_of(self.all() & !self.open & !self.finished).next()
    }

    /// Finds the first lane whose game is over.
    pub(super) fn first_finished(&self) -> Option<usize> {
        lanes_of(self.finished).next()
    }

    /// Reads the actions of the next ply, which the open lanes of `lanes` play; false where one of
    /// them is not a legal column.
    pub(super) fn choose(&mut self, actions: &[i64], lanes: u64, terms: &Terms) -> bool {
        let choose = ply::Choose {
            actions,
            legal: &self.legal,
            columns: &mut self.ply.columns,
        };
        let legal = run(terms, choose);
        self.ply.stepped = self.open & lanes;
        self.ply.chosen = self.ply.stepped & legal;
        self.ply.chosen == self.ply.stepped
    }

    /// Returns the first lane whose action was not a legal column, and its legal columns.
    pub(super) fn first_illegal(&self) -> Option<(usize, PitSet)> {
        let lane = lanes_of(self.ply.stepped & !self.ply.chosen).next()?;
        Some((lane, self.legal(lane)))
    }

    /// Returns the legal columns of a lane, none where the game is over.
    pub(super) fn legal(&self, lane: usize) -> PitSet {
        PitSet::from_bits(self.legal[lane])
    }

    /// Returns the lanes whose game goes on.
    pub(super) fn open(&self) -> u64 {
        self.open
    }

    /// Returns the lanes whose game is over.
    pub(super) fn finished(&self) -> u64 {
        self.finished
    }

    /// Returns the lanes in which it is North's turn, or would be.
    pub(super) fn north(&self) -> u64 {
        self.north
    }

    /// Returns the seeds in the mover's pit of `column`.
    pub(super) fn own_seeds(&self, lane: usize, column: usize) -> u16 {
        self.pits.get(lane, column)
    }

    /// Prepares the game of (row seed, episode) for one lane without starting it.
    ///
    /// Returns whether an opening was found.
    pub(super) fn stage(
        &mut self,
        lane: usize,
        row_seed: u64,
        episode: u64,
        terms: &Terms,
    ) -> bool {
        let drawn = opening::draw(&terms.start, terms.opening_plies, row_seed, episode);
        if let Some(position) = drawn {
            self.staged.push(Staged {
                lane,
                row_seed,
                episode,
                position,
            });
        }
        drawn.is_some()
    }

    /// Prepares the next game of every finished lane; the first lane without an opening fails.
    pub(super) fn stage_finished(&mut self, terms: &Terms) -> Result<(), usize> {
        for lane in lanes_of(self.finished) {
            let (row_seed, episode) = self.next_game(lane);
            if !self.stage(lane, row_seed, episode, terms) {
                return Err(lane);
            }
        }
        Ok(())
    }

    /// Returns the row seed and episode of the game after the present one.
    pub(super) fn next_game(&self, lane: usize) -> (u64, u64) {
        let episode = match self.status(lane) {
            Status::NotReset => self.episode[lane],
            _ => self.episode[lane].wrapping_add(1),
        };
        (self.row_seed[lane], episode)
    }

    /// Forgets the games prepared, and most of the room that a reset of all lanes took.
    pub(super) fn unstage(&mut self) {
        self.staged.clear();
        self.staged.shrink_to(KEPT_STAGED);
    }

    /// Starts the games prepared and returns their lanes.
    pub(super) fn commit(&mut self, terms: &Terms) -> u64 {
        let mut staged = std::mem::take(&mut self.staged);
        let mut lanes = 0;
        for game in staged.drain(..) {
            lanes |= 1 << game.lane;
            self.set(game.lane, &game.position);
            self.row_seed[game.lane] = game.row_seed;
            self.episode[game.lane] = game.episode;
            self.plies[game.lane] = terms.opening_plies;
        }
        self.staged = staged;
        lanes
    }

    /// Gives a lane its first row seed without starting a game.
    pub(super) fn seed(&mut self, lane: usize, row_seed: u64) {
        self.row_seed[lane] = row_seed;
    }

    /// Enters a position as the game of one lane, with a ply count of 0.
    pub(super) fn set(&mut self, lane: usize, position: &Position) {
        self.place(lane, position);
        self.plies[lane] = 0;
        match position.end_reason() {
            None => self.enter(lane, Status::Open),
            Some(EndReason::Stuck) => self.finish(lane, EndCode::Stuck),
            Some(EndReason::Quiet) => self.finish(lane, EndCode::Quiet),
            Some(EndReason::Endless) => self.finish(lane, EndCode::Endless),
        }
    }

    /// Replaces a board, in boards of any size where it holds too many seeds for the present ones.
    fn store(&mut self, lane: usize, board: &[u16], ruleset: &Ruleset) {
        if self.pits.store(lane, board) {
            return;
        }
        let mut wide = Wide::new(ruleset);
        let mut copy = [0; MAX_PITS];
        let copy = &mut copy[..board.len()];
        for other in 0..LANES {
            self.pits.load(other, copy);
            wide.replace(other, copy);
        }
        wide.replace(lane, board);
        self.pits = Box::new(wide);
    }

    fn place(&mut self, lane: usize, position: &Position) {
        let board = position.board();
        let mut pits = [0; MAX_PITS];
        let pits = &mut pits[..2 * board.columns()];
        pits.copy_from_slice(board.pits());
        pits.rotate_left(position.to_move().index() * board.columns());
        self.store(lane, pits, position.ruleset());
        for side in Side::BOTH {
            self.captured[side.index()][lane] = board.captured()[side.index()];
        }
        self.give_turn(lane, position.to_move());
        self.quiet[lane] = position.quiet();
        self.legal[lane] = position.legal_moves().bits();
    }

    /// Starts the next games where steps do, and plays the columns chosen, except that sowings
    /// which take long wait in `pending` to be found endless.
    pub(super) fn play(&mut self, terms: &Terms, pending: &mut Pending) {
        if terms.autoreset == Autoreset::Disabled {
            // Nothing starts by itself.
        } else if terms.opening_plies > 0 {
            self.commit(terms);
        } else {
            self.restart(terms);
        }
        self.play_chosen(terms, pending);
    }

    /// Plays the columns chosen; lanes that stepped without one have lost.
    pub(super) fn play_chosen(&mut self, terms: &Terms, pending: &mut Pending) {
        let lanes = self.ply.chosen;
        let sown = self.pits.sow(lanes, &self.ply.columns, pending);
        let landed = lanes & !sown.endless;
        let taken = self.pits.capture(landed, &sown.last, &terms.ruleset);
        let count = ply::Count {
            played: lanes,
            landed,
            north: self.north,
            taken: &taken,
            captured: &mut self.captured,
            quiet: &mut self.quiet,
            plies: &mut self.plies,
        };
        run(terms, count);
        for lane in lanes_of(sown.endless) {
            self.finish(lane, EndCode::Endless);
        }
        for lane in lanes_of(self.ply.stepped & !lanes) {
            self.finish(lane, EndCode::Illegal);
        }
        self.north ^= landed;
        self.ply.turned = landed;
        self.pits.turn(landed);
        match terms.ruleset.endless() {
            Endless::Illegal => self.pits.legal(landed, &mut self.legal, pending),
            Endless::Draw => self.pits.occupied(landed, &mut self.legal),
        }
    }

    /// Takes a column whose sowing turned out to be endless out of the legal ones.
    pub(super) fn forbid(&mut self, lane: usize, column: usize) {
        self.legal[lane] &= !(1 << column);
    }

    /// Starts the next game of every finished lane, all from the same position.
    fn restart(&mut self, terms: &Terms) {
        for lane in lanes_of(self.finished) {
            self.episode[lane] = self.episode[lane].wrapping_add(1);
            self.set(lane, &terms.start);
        }
    }

    /// Copies the games, `column` chosen in every open lane where it is legal; the other lanes take
    /// no part in the ply.
    pub(super) fn with_column(&self, column: usize) -> Block {
        let mut copy = self.clone();
        let legal = self.legal.iter().enumerate();
        let chosen = legal.fold(0, |set, (lane, legal)| set | (legal >> column & 1) << lane);
        copy.ply = Ply {
            columns: [column as u8; LANES],
            chosen: self.open & chosen,
            stepped: self.open & chosen,
            turned: 0,
        };
        copy
    }

    /// Returns the lanes that play a column in this ply.
    pub(super) fn chosen(&self) -> u64 {
        self.ply.chosen
    }

    /// Returns the seeds that the side to move in `before` has captured since.
    pub(super) fn captured_since(&self, before: &Block, lane: usize) -> u16 {
        let side = before.to_move(lane).index();
        self.captured[side][lane] - before.captured[side][lane]
    }

    /// Ends the games that are over after the ply by E1, E3 and E4.
    pub(super) fn settle(&mut self, terms: &Terms) {
        let find = ply::FindOver {
            legal: &self.legal,
            quiet: &self.quiet,
            plies: &self.plies,
            quiet_limit: terms.ruleset.quiet_limit(),
            max_plies: terms.max_plies,
        };
        let over = self.ply.turned & run(terms, find);
        for lane in lanes_of(over) {
            if self.legal[lane] == 0 {
                let rest = self.pits.lift_all(lane);
                self.captured[self.to_move(lane).other().index()][lane] += rest;
                self.finish(lane, EndCode::Stuck);
            } else if self.quiet[lane] >= terms.ruleset.quiet_limit() {
                self.finish(lane, EndCode::Quiet);
            } else {
                self.finish(lane, EndCode::MaxPlies);
            }
        }
    }

    fn leader(&self, lane: usize) -> i8 {
        Outcome::of_captured([self.captured[0][lane], self.captured[1][lane]]).sign()
    }

    fn finish(&mut self, lane: usize, end: EndCode) {
        self.enter(lane, Status::Finished(end));
        self.outcome[lane] = self.result_of(lane, end);
        self.legal[lane] = 0;
    }

    /// Sets how a lane stands; nobody has won yet.
    fn enter(&mut self, lane: usize, status: Status) {
        let bit = 1 << lane;
        self.open &= !bit;
        self.finished &= !bit;
        self.outcome[lane] = 0;
        match status {
            Status::NotReset => {}
            Status::Open => self.open |= bit,
            Status::Finished(end) => {
                self.finished |= bit;
                self.ends[lane] = end;
            }
        }
    }

    pub(super) fn to_move(&self, lane: usize) -> Side {
        if self.north >> lane & 1 == 1 {
            Side::North
        } else {
            Side::South
        }
    }

    fn give_turn(&mut self, lane: usize, side: Side) {
        self.north = self.north & !(1 << lane) | (side.index() as u64) << lane;
    }

    pub(super) fn status(&self, lane: usize) -> Status {
        if self.open >> lane & 1 == 1 {
            Status::Open
        } else if self.finished >> lane & 1 == 1 {
            Status::Finished(self.ends[lane])
        } else {
            Status::NotReset
        }
    }

    pub(super) fn plies(&self, lane: usize) -> u32 {
        self.plies[lane]
    }

    pub(super) fn captured(&self, lane: usize) -> [u16; 2] {
        [self.captured[0][lane], self.captured[1][lane]]
    }

    pub(super) fn outcome(&self, lane: usize) -> i8 {
        self.outcome[lane]
    }

    pub(super) fn row_seed(&self, lane: usize) -> u64 {
        self.row_seed[lane]
    }

    pub(super) fn episode(&self, lane: usize) -> u64 {
        self.episode[lane]
    }

    /// Returns the position of one lane.
    pub(super) fn position(&self, lane: usize, ruleset: &Ruleset) -> Position {
        let columns = ruleset.columns();
        let mut board = Board::empty(columns);
        self.pits.load(lane, board.pits_mut());
        let own = self.to_move(lane);
        board.pits_mut().rotate_left(own.index() * columns);
        *board.captured_mut() = [self.captured[0][lane], self.captured[1][lane]];
        let position = Position::enter(*ruleset, board, own, self.quiet[lane]);
        if self.status(lane) == Status::Finished(EndCode::Endless) {
            position.ended_by_endless()
        } else {
            position
        }
    }

    /// Describes one lane for a snapshot.
    pub(super) fn row(&self, lane: usize, ruleset: &Ruleset) -> Row {
        let count = ruleset.pits();
        let mut pits = [0; MAX_PITS];
        self.pits.load(lane, &mut pits[..count]);
        pits[..count].rotate_left(self.to_move(lane).index() * count / 2);
        Row {
            status: self.status(lane),
            to_move: self.to_move(lane),
            quiet: self.quiet[lane],
            captured: [self.captured[0][lane], self.captured[1][lane]],
            plies: self.plies[lane],
            row_seed: self.row_seed[lane],
            episode: self.episode[lane],
            pits,
            legal: PitSet::from_bits(self.legal[lane]),
        }
    }

    /// Enters a checked row of a snapshot as the game of one lane.
    pub(super) fn restore(&mut self, lane: usize, row: &Row, ruleset: &Ruleset) {
        let count = ruleset.pits();
        let mut pits = row.pits;
        pits[..count].rotate_left(row.to_move.index() * count / 2);
        self.store(lane, &pits[..count], ruleset);
        for (captured, &seeds) in self.captured.iter_mut().zip(&row.captured) {
            captured[lane] = seeds;
        }
        self.give_turn(lane, row.to_move);
        self.quiet[lane] = row.quiet;
        self.plies[lane] = row.plies;
        self.row_seed[lane] = row.row_seed;
        self.episode[lane] = row.episode;
        self.legal[lane] = row.legal.bits();
        match row.status {
            Status::Finished(end) => self.finish(lane, end),
            status => self.enter(lane, status),
        }
    }

    /// Returns the sign of the outcome of a lane that ended so; the mover stays when it loses by
    /// an illegal action.
    fn result_of(&self, lane: usize, end: EndCode) -> i8 {
        match end {
            EndCode::Stuck | EndCode::Quiet => self.leader(lane),
            EndCode::Endless | EndCode::MaxPlies => 0,
            EndCode::Illegal | EndCode::Error | EndCode::Late => -self.to_move(lane).sign(),
        }
    }
}

/// Runs a kernel on the numbers of a block; without vector instructions, as plain Rust.
fn run<K: Kernel>(terms: &Terms, kernel: K) -> K::Output {
    terms.instructions.run_any(kernel)
}
