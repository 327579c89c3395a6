//! Plies of some rows only, for callers that play more than one in a step.

use crate::batch::block::Block;
use crate::batch::buffers::StepBuffers;
use crate::batch::config::{Autoreset, IllegalMove};
use crate::batch::engine::Batch;
use crate::batch::error::BatchError;
use crate::batch::{EndCode, LANES};
use crate::pit::PitSet;
use crate::position::Position;
use crate::side::Side;

/// A set of rows: the lanes of every block.
pub(crate) type RowSet = Vec<u64>;

/// Iterates over the rows of a set.
pub(crate) fn rows_of(set: &[u64]) -> impl Iterator<Item = usize> {
    set.iter()
        .enumerate()
        .flat_map(|(block, &lanes)| super::lanes_of(lanes).map(move |lane| block * LANES + lane))
}

/// Tells whether a set holds no row.
pub(crate) fn is_empty(set: &[u64]) -> bool {
    set.iter().all(|&lanes| lanes == 0)
}

/// Tells whether a set holds a row.
pub(crate) fn contains(set: &[u64], row: usize) -> bool {
    set[row / LANES] >> (row % LANES) & 1 == 1
}

/// Puts a row into a set, or takes it out.
pub(crate) fn put(set: &mut [u64], row: usize, inside: bool) {
    let bit = 1 << (row % LANES);
    set[row / LANES] = set[row / LANES] & !bit | if inside { bit } else { 0 };
}

/// What is known of a game that is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ended {
    /// Why.
    pub(crate) end: EndCode,
    /// 1 South won, -1 North won, 0 drawn or cut.
    pub(crate) outcome: i8,
    /// For the side that moved last.
    pub(crate) reward: f32,
    /// Seeds captured by South and North.
    pub(crate) captured: [u16; 2],
    /// Opening plies included.
    pub(crate) plies: u32,
    /// Whose turn it would be.
    pub(crate) to_move: Side,
}

/// The games of a batch at one moment.
pub(crate) struct Checkpoint(Vec<Block>);

impl Batch {
    /// Returns all rows.
    pub(crate) fn all_rows(&self) -> RowSet {
        let lanes = |block: &Block| u64::MAX >> (LANES - block.rows);
        self.blocks().iter().map(lanes).collect()
    }

    /// Returns the rows whose game goes on.
    pub(crate) fn open_rows(&self) -> RowSet {
        self.blocks().iter().map(Block::open).collect()
    }

    /// Returns the rows whose game is over.
    pub(crate) fn finished_rows(&self) -> RowSet {
        self.blocks().iter().map(Block::finished).collect()
    }

    /// Returns the rows in which it is North's turn, or would be.
    pub(crate) fn north_rows(&self) -> RowSet {
        self.blocks().iter().map(Block::north).collect()
    }

    /// Finds the first row that was never reset.
    pub(crate) fn first_not_reset(&self) -> Option<usize> {
        let mut blocks = self.blocks().iter().enumerate();
        blocks.find_map(|(index, block)| Some(index * LANES + block.first_not_reset()?))
    }

    /// Returns the legal columns of a row, none where its game is over.
    pub(crate) fn legal(&self, row: usize) -> PitSet {
        self.blocks()[row / LANES].legal(row % LANES)
    }

    /// Writes the view of one row, `i16[2C+3]`.
    pub(crate) fn observe_row(&self, row: usize, out: &mut [i16]) {
        self.blocks()[row / LANES].observe_lane(row % LANES, out);
    }

    /// Returns the row seed and episode of the game after the present one.
    pub(crate) fn next_game(&self, row: usize) -> (u64, u64) {
        self.blocks()[row / LANES].next_game(row % LANES)
    }

    /// Returns the row seed and episode of the present game.
    pub(crate) fn present_game(&self, row: usize) -> (u64, u64) {
        let block = &self.blocks()[row / LANES];
        (block.row_seed(row % LANES), block.episode(row % LANES))
    }

    /// Returns the position that the game of (row seed, episode) is handed over in.
    pub(crate) fn handed_over(&self, row_seed: u64, episode: u64) -> Option<Position> {
        let terms = self.terms();
        super::opening::draw(&terms.start, terms.opening_plies, row_seed, episode)
    }

    /// Says that the next game of a row finds no opening.
    pub(crate) const fn no_opening(&self, row: usize) -> BatchError {
        BatchError::Opening {
            row,
            random_opening_plies: self.config().random_opening_plies,
            tries: super::opening::MAX_TRIES,
        }
    }

    /// Describes the end of a row whose game is over.
    pub(crate) fn ended(&self, row: usize) -> Option<Ended> {
        let (block, lane) = self.lane(row).ok()?;
        let end = self.end(row).ok()??;
        Some(Ended {
            end,
            outcome: block.outcome(lane),
            reward: block.reward(lane),
            captured: block.captured(lane),
            plies: block.plies(lane),
            to_move: block.to_move(lane),
        })
    }

    /// Reads the actions (`i64[B]`) of the open rows of a set, which [`Batch::play_turns`] plays.
    ///
    /// # Errors
    /// [`BatchError::IllegalAction`] where the settings refuse illegal actions.
    pub(crate) fn choose_turns(&mut self, actions: &[i64], rows: &[u64]) -> Result<(), BatchError> {
        let terms = self.terms().clone();
        let parts = self.blocks_mut().iter_mut().zip(actions.chunks(LANES));
        let mut illegal = None;
        for (index, ((block, actions), &lanes)) in parts.zip(rows).enumerate() {
            if !block.choose(actions, lanes, &terms) && illegal.is_none() {
                illegal = block
                    .first_illegal()
                    .map(|(lane, legal)| (index * LANES + lane, actions[lane], legal));
            }
        }
        match illegal {
            Some((row, action, legal)) if terms.illegal == IllegalMove::Raise => {
                Err(self.describe_illegal(row, action, legal))
            }
            _ => Ok(()),
        }
    }

    /// Plays what was chosen, in a batch that starts no game by itself.
    pub(crate) fn play_turns(&mut self) {
        debug_assert_eq!(self.config().autoreset, Autoreset::Disabled);
        self.advance_quietly();
    }

    /// Writes the arrays of a step in which the games of the rows `ended` came to an end.
    ///
    /// # Errors
    /// [`BatchError::BufferLength`].
    pub(crate) fn write_ended(
        &self,
        ended: &[u64],
        out: &mut StepBuffers<'_>,
    ) -> Result<(), BatchError> {
        let columns = self.ruleset().columns();
        out.check(self.rows(), columns)?;
        for (index, (block, &lanes)) in self.blocks().iter().zip(ended).enumerate() {
            let mut part = out.part(index * LANES, block.rows, columns);
            block.write_ended(lanes, self.terms(), &mut part);
        }
        Ok(())
    }

    /// Keeps the games, to go back to them.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        Checkpoint(self.blocks().to_vec())
    }

    /// Goes back to the games of a checkpoint.
    pub(crate) fn go_back(&mut self, checkpoint: Checkpoint) {
        self.replace_blocks(checkpoint.0);
    }
}
