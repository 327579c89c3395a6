//! Sixty-four games side by side, and one ply of them.

use crate::batch::boards::{Boards, Shape, lanes_of};
use crate::batch::buffers::StepBuffers;
use crate::batch::config::{Autoreset, IllegalMove};
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
#[derive(Debug)]
pub(super) struct Block {
    /// Rows in use, 64 but in the last block.
    pub(super) rows: usize,
    pits: Box<dyn Boards>,
    /// Seeds captured by South and North.
    captured: [[u16; LANES]; 2],
    to_move: [Side; LANES],
    quiet: [u16; LANES],
    plies: [u32; LANES],
    /// Legal columns as bits; none where the game is over.
    legal: [u64; LANES],
    status: [Status; LANES],
    outcome: [i8; LANES],
    row_seed: [u64; LANES],
    episode: [u64; LANES],
    staged: Vec<Staged>,
}

impl Block {
    pub(super) fn new(rows: usize, terms: &Terms) -> Block {
        let mut block = Block {
            rows,
            pits: terms.shape.boards(&terms.ruleset),
            captured: [[0; LANES]; 2],
            to_move: [Side::South; LANES],
            quiet: [0; LANES],
            plies: [0; LANES],
            legal: [0; LANES],
            status: [Status::NotReset; LANES],
            outcome: [0; LANES],
            row_seed: [0; LANES],
            episode: [0; LANES],
            staged: Vec::new(),
        };
        for lane in 0..rows {
            block.place(lane, &terms.start);
        }
        block
    }

    fn lanes_where(&self, test: impl Fn(usize) -> bool) -> u64 {
        (0..self.rows).fold(0, |set, lane| set | u64::from(test(lane)) << lane)
    }

    /// Finds the first lane that has no game yet.
    pub(super) fn first_not_reset(&self) -> Option<usize> {
        self.status[..self.rows]
            .iter()
            .position(|&status| status == Status::NotReset)
    }

    /// Finds the first lane whose game is over.
    pub(super) fn first_finished(&self) -> Option<usize> {
        self.status[..self.rows]
            .iter()
            .position(|status| matches!(status, Status::Finished(_)))
    }

    /// Finds the first open lane whose action is not a legal column, and its legal columns.
    pub(super) fn first_illegal(&self, actions: &[i64]) -> Option<(usize, PitSet)> {
        (0..self.rows)
            .find(|&lane| self.status[lane] == Status::Open && !self.is_legal(lane, actions[lane]))
            .map(|lane| (lane, PitSet::from_bits(self.legal[lane])))
    }

    /// Returns the seeds in the mover's pit of `column`.
    pub(super) fn own_seeds(&self, lane: usize, column: usize) -> u16 {
        self.pits.get(lane, column)
    }

    fn is_legal(&self, lane: usize, action: i64) -> bool {
        (0..64).contains(&action) && self.legal[lane] >> action & 1 == 1
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
        let finished = self.lanes_where(|lane| matches!(self.status[lane], Status::Finished(_)));
        for lane in lanes_of(finished) {
            let (row_seed, episode) = self.next_game(lane);
            if !self.stage(lane, row_seed, episode, terms) {
                return Err(lane);
            }
        }
        Ok(())
    }

    /// Returns the row seed and episode of the game after the present one.
    pub(super) fn next_game(&self, lane: usize) -> (u64, u64) {
        let episode = match self.status[lane] {
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
            None => {
                self.status[lane] = Status::Open;
                self.outcome[lane] = 0;
            }
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
        self.to_move[lane] = position.to_move();
        self.quiet[lane] = position.quiet();
        self.legal[lane] = position.legal_moves().bits();
    }

    /// Plays one ply in every open lane, starts the games prepared, and writes all arrays.
    ///
    /// The actions have been checked unless illegal ones lose.
    pub(super) fn advance(&mut self, actions: &[i64], terms: &Terms, out: &mut StepBuffers<'_>) {
        let open = self.lanes_where(|lane| self.status[lane] == Status::Open);
        let legal = lanes_of(open).fold(0, |set, lane| {
            set | u64::from(self.is_legal(lane, actions[lane])) << lane
        });
        let movers = self.to_move;
        self.commit(terms);
        self.play(legal, actions, terms);
        for lane in lanes_of(open & !legal) {
            self.finish(lane, EndCode::Illegal);
        }
        self.write(open, &movers, out);
    }

    /// Plays the legal actions of the lanes given.
    fn play(&mut self, lanes: u64, actions: &[i64], terms: &Terms) {
        let mut columns = [0; LANES];
        for lane in lanes_of(lanes) {
            columns[lane] = actions[lane] as u8;
        }
        let sown = self.pits.sow(lanes, &columns);
        let ended = lanes & !sown.endless;
        for lane in lanes_of(lanes) {
            self.plies[lane] += 1;
        }
        for lane in lanes_of(sown.endless & lanes) {
            self.finish(lane, EndCode::Endless);
        }
        let taken = self.pits.capture(ended, &sown.last, &terms.ruleset);
        for lane in lanes_of(ended) {
            let seeds = taken[lane];
            self.captured[self.to_move[lane].index()][lane] += seeds;
            self.quiet[lane] = if seeds > 0 { 0 } else { self.quiet[lane] + 1 };
            self.to_move[lane] = self.to_move[lane].other();
        }
        self.pits.turn(ended);
        self.settle(ended, terms);
    }

    /// Finds the legal columns of the lanes given and ends their games by E1, E3 and E4.
    fn settle(&mut self, lanes: u64, terms: &Terms) {
        let ruleset = &terms.ruleset;
        match ruleset.endless() {
            Endless::Illegal => self.pits.legal(lanes, &mut self.legal),
            Endless::Draw => self.pits.occupied(lanes, &mut self.legal),
        }
        for lane in lanes_of(lanes) {
            if self.legal[lane] == 0 {
                let rest = self.pits.lift_all(lane);
                self.captured[self.to_move[lane].other().index()][lane] += rest;
                self.finish(lane, EndCode::Stuck);
            } else if self.quiet[lane] >= ruleset.quiet_limit() {
                self.finish(lane, EndCode::Quiet);
            } else if self.plies[lane] >= terms.max_plies {
                self.finish(lane, EndCode::MaxPlies);
            }
        }
    }

    fn leader(&self, lane: usize) -> i8 {
        Outcome::of_captured([self.captured[0][lane], self.captured[1][lane]]).sign()
    }

    fn finish(&mut self, lane: usize, end: EndCode) {
        self.status[lane] = Status::Finished(end);
        self.outcome[lane] = self.result_of(lane, end);
        self.legal[lane] = 0;
    }

    /// Writes the arrays of a step in which the lanes of `stepped` were to move.
    fn write(&self, stepped: u64, movers: &[Side; LANES], out: &mut StepBuffers<'_>) {
        for (lane, mover) in movers.iter().enumerate().take(self.rows) {
            let end = match self.status[lane] {
                Status::Finished(end) if stepped >> lane & 1 == 1 => Some(end),
                _ => None,
            };
            let truncated = end == Some(EndCode::MaxPlies);
            out.ended[lane] = end.is_some();
            out.truncated[lane] = truncated;
            out.terminated[lane] = end.is_some() && !truncated;
            out.end_reason[lane] = end.map_or(-1, EndCode::code);
            let outcome = if end.is_some() { self.outcome[lane] } else { 0 };
            out.outcome[lane] = outcome;
            out.rewards[lane] = f32::from(outcome * mover.sign());
            out.captured[2 * lane] = self.captured[0][lane] as i16;
            out.captured[2 * lane + 1] = self.captured[1][lane] as i16;
            out.plies[lane] = self.plies[lane] as i32;
        }
        self.observe(out.observations);
        self.write_masks(out.masks);
        self.write_to_play(out.to_play);
    }

    /// Writes the views of the sides to move, `i16[rows, 2C+3]`.
    pub(super) fn observe(&self, out: &mut [i16]) {
        let length = out.len() / self.rows;
        self.pits.observe(out, length);
        for (lane, out) in out.chunks_exact_mut(length).enumerate() {
            let own = self.to_move[lane];
            let rest = &mut out[length - 3..];
            rest[0] = self.captured[own.index()][lane] as i16;
            rest[1] = self.captured[own.other().index()][lane] as i16;
            rest[2] = self.quiet[lane] as i16;
        }
    }

    /// Writes the legal columns, `i8[rows, C]`.
    pub(super) fn write_masks(&self, out: &mut [i8]) {
        let columns = out.len() / self.rows;
        for (out, &legal) in out.chunks_exact_mut(columns).zip(&self.legal) {
            for (column, out) in out.iter_mut().enumerate() {
                *out = (legal >> column & 1) as i8;
            }
        }
    }

    /// Writes whose turn it is, `i8[rows]`.
    pub(super) fn write_to_play(&self, out: &mut [i8]) {
        for (out, side) in out.iter_mut().zip(&self.to_move) {
            *out = side.index() as i8;
        }
    }

    pub(super) fn status(&self, lane: usize) -> Status {
        self.status[lane]
    }

    pub(super) fn plies(&self, lane: usize) -> u32 {
        self.plies[lane]
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
        let own = self.to_move[lane];
        board.pits_mut().rotate_left(own.index() * columns);
        *board.captured_mut() = [self.captured[0][lane], self.captured[1][lane]];
        let position = Position::enter(*ruleset, board, own, self.quiet[lane]);
        if self.status[lane] == Status::Finished(EndCode::Endless) {
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
        pits[..count].rotate_left(self.to_move[lane].index() * count / 2);
        Row {
            status: self.status[lane],
            to_move: self.to_move[lane],
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
        self.to_move[lane] = row.to_move;
        self.quiet[lane] = row.quiet;
        self.plies[lane] = row.plies;
        self.row_seed[lane] = row.row_seed;
        self.episode[lane] = row.episode;
        self.legal[lane] = row.legal.bits();
        match row.status {
            Status::Finished(end) => self.finish(lane, end),
            status => self.status[lane] = status,
        }
    }

    /// Returns the sign of the outcome of a lane that ended so; the mover stays when it loses by
    /// an illegal action.
    fn result_of(&self, lane: usize, end: EndCode) -> i8 {
        match end {
            EndCode::Stuck | EndCode::Quiet => self.leader(lane),
            EndCode::Endless | EndCode::MaxPlies => 0,
            EndCode::Illegal | EndCode::Error | EndCode::Late => -self.to_move[lane].sign(),
        }
    }
}
