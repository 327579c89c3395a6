//! A batch of games and its doors: reset, step, observe, snapshots.

use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::batch::block::{Block, Status, Terms};
use crate::batch::boards::Shape;
use crate::batch::buffers::{StepBuffers, check_length, observation_length};
use crate::batch::config::{Autoreset, BatchConfig, IllegalMove, Seeds};
use crate::batch::error::BatchError;
use crate::batch::opening::MAX_TRIES;
use crate::batch::pending::Pending;
use crate::batch::{EndCode, Instructions, LANES};
use crate::pit::PitSet;
use crate::position::{Outcome, Position};
use crate::ruleset::Ruleset;
use crate::side::Side;

/// Rows times columns below which threads that were asked for are not worth having.
const FEW_PITS: usize = 3072;
/// Rows times columns below which other threads are not used unless asked for: a ply takes about 5
/// nanoseconds a column and waking them a hundred microseconds or more, so that two threads gain
/// from about 100,000 on (measured in a virtual machine).
const PARALLEL_PITS: usize = 1 << 16;
/// Blocks whose long sowings are followed together: few are endless, and several are followed in
/// the time of one.
pub(super) const GROUP: usize = 64;
/// Parts for each thread, so that none waits long for the others.
const PARTS: usize = 4;

/// `B` games of one rule set, advanced together.
///
/// Every row holds one game at a time, its *episode*. A game depends on (row seed, episode) and
/// the actions alone. A batch that was never seeded plays the row seeds of
/// [`Seeds::Integer`]`(0)`.
///
/// # Edges
/// - **Step before reset**: refused with [`BatchError::NotReset`].
/// - **Illegal action**: all actions are checked before any game moves. Under
///   [`IllegalMove::Raise`] the step is refused and the batch unchanged; under
///   [`IllegalMove::Loss`] that game ends, its mover loses, the board, the side to move and the
///   ply count stay.
/// - **Step after the end**: with [`Autoreset::NextStep`] the step resets the row; its action is
///   ignored unchecked, the reward is 0 and nothing ends. With [`Autoreset::Disabled`] it is
///   refused with [`BatchError::Finished`].
/// - **Endless sowing** (S6): masked when illegal; when a draw, playing it ends the game with
///   reward 0, the side to move stays.
/// - **Terminal mask**: all zeros.
/// - **Ply cap** (E4): a game that ends by the rules on exactly the last ply is terminated, not
///   truncated.
/// - **A start without a legal move** (2x1 boards have some): the row is over as soon as it is
///   reset.
#[derive(Debug)]
pub struct Batch {
    config: BatchConfig,
    terms: Terms,
    blocks: Vec<Block>,
    /// Room for every part of the blocks that a thread advances at once.
    pending: Vec<Pending>,
    /// `None` where one thread does everything.
    pool: Option<ThreadPool>,
}

impl Batch {
    /// Makes a batch whose rows wait for their first reset.
    ///
    /// # Errors
    /// [`BatchError`] for a setting outside its range, or when the threads cannot be started.
    pub fn new(config: BatchConfig) -> Result<Batch, BatchError> {
        config.check()?;
        let instructions = Instructions::chosen(config.instructions)?;
        let asked = config.instructions.is_some();
        let terms = Terms {
            ruleset: config.ruleset,
            shape: Shape::of(&config.ruleset, instructions, asked),
            instructions,
            start: Position::start(&config.ruleset),
            max_plies: config.max_plies.unwrap_or(u32::MAX),
            opening_plies: config.random_opening_plies,
            illegal: config.illegal,
            autoreset: config.autoreset,
        };
        let blocks = (0..config.rows)
            .step_by(LANES)
            .map(|first| {
                let mut block = Block::new((config.rows - first).min(LANES), &terms);
                for lane in 0..block.rows {
                    block.seed(lane, crate::rng::mix(0, (first + lane) as u64));
                }
                block
            })
            .collect();
        let pool = start_threads(&config)?;
        let parts = pool
            .as_ref()
            .map_or(1, |pool: &ThreadPool| PARTS * pool.current_num_threads());
        Ok(Batch {
            config,
            terms,
            blocks,
            pending: (0..parts).map(|_| Pending::default()).collect(),
            pool,
        })
    }

    /// Starts new games in the rows of `mask` (`bool[B]`), or in all rows.
    ///
    /// With seeds those rows start at episode 0 of their row seeds, entries of other rows are not
    /// used; without seeds they go on with the next episode.
    ///
    /// # Errors
    /// [`BatchError::BufferLength`] for seeds or a mask of the wrong length,
    /// [`BatchError::Opening`] when no opening leaves an open game. Nothing changes then.
    pub fn reset(
        &mut self,
        seeds: Option<&Seeds>,
        mask: Option<&[bool]>,
    ) -> Result<(), BatchError> {
        let given = match seeds {
            None | Some(Seeds::Integer(_)) => self.config.rows,
            Some(Seeds::Rows(seeds)) => seeds.len(),
            Some(Seeds::Some(seeds)) => seeds.len(),
        };
        check_length("seeds", given, self.config.rows)?;
        if let Some(mask) = mask {
            check_length("mask", mask.len(), self.config.rows)?;
        }
        let chosen = |row: usize| mask.is_none_or(|mask| mask.get(row) == Some(&true));
        let terms = &self.terms;
        let stage = |(index, block): (usize, &mut Block)| -> Option<usize> {
            (0..block.rows).find_map(|lane| {
                let row = index * LANES + lane;
                let seeded = seeds.and_then(|seeds| seeds.row_seed(row));
                let (row_seed, episode) =
                    seeded.map_or_else(|| block.next_game(lane), |row_seed| (row_seed, 0));
                let fails = chosen(row) && !block.stage(lane, row_seed, episode, terms);
                fails.then_some(row)
            })
        };
        let failed = match &self.pool {
            Some(pool) => pool.install(|| {
                let blocks = self.blocks.par_iter_mut();
                blocks.enumerate().filter_map(stage).min()
            }),
            None => self.blocks.iter_mut().enumerate().find_map(stage),
        };
        if let Some(row) = failed {
            return Err(self.refuse_opening(row));
        }
        for block in &mut self.blocks {
            block.commit(&self.terms);
            block.unstage();
        }
        Ok(())
    }

    fn refuse_opening(&mut self, row: usize) -> BatchError {
        for block in &mut self.blocks {
            block.unstage();
        }
        BatchError::Opening {
            row,
            random_opening_plies: self.config.random_opening_plies,
            tries: MAX_TRIES,
        }
    }

    /// Plays `actions` (`i64[B]`, mover-relative columns) and fills the arrays of `out`.
    ///
    /// See [`Batch`] for the edges and [`StepBuffers`] for the arrays.
    ///
    /// # Errors
    /// [`BatchError`] for actions or arrays of the wrong length, a row that was never reset, an
    /// illegal action or a finished row where the settings refuse them, or when a new game finds
    /// no opening. The batch is unchanged then.
    pub fn step(&mut self, actions: &[i64], mut out: StepBuffers<'_>) -> Result<(), BatchError> {
        let rows = self.config.rows;
        let columns = self.terms.ruleset.columns();
        if actions.len() != rows {
            return Err(BatchError::ActionsLength {
                got: actions.len(),
                expected: rows,
            });
        }
        out.check(rows, columns)?;
        self.check_actions(actions)?;
        if self.terms.opening_plies > 0 {
            self.stage_finished()?;
        }
        let terms = &self.terms;
        match &self.pool {
            None => advance(
                &mut self.blocks,
                terms,
                Some(&mut out),
                &mut self.pending[0],
            ),
            Some(pool) => {
                let grain = self.blocks.len().div_ceil(self.pending.len());
                let (blocks, pending) = (&mut self.blocks, &mut self.pending);
                pool.install(|| advance_split(blocks, terms, Some(out), pending, grain));
            }
        }
        Ok(())
    }

    /// Plays what the blocks have chosen and writes nothing.
    pub(super) fn advance_quietly(&mut self) {
        let terms = &self.terms;
        match &self.pool {
            None => advance(&mut self.blocks, terms, None, &mut self.pending[0]),
            Some(pool) => {
                let grain = self.blocks.len().div_ceil(self.pending.len());
                let (blocks, pending) = (&mut self.blocks, &mut self.pending);
                pool.install(|| advance_split(blocks, terms, None, pending, grain));
            }
        }
    }

    /// Reads the actions into the blocks and refuses what the settings do not allow.
    fn check_actions(&mut self, actions: &[i64]) -> Result<(), BatchError> {
        let terms = &self.terms;
        let parts = self.blocks.iter_mut().zip(actions.chunks(LANES));
        for (index, (block, actions)) in parts.enumerate() {
            let first = index * LANES;
            if let Some(lane) = block.first_not_reset() {
                return Err(BatchError::NotReset { row: first + lane });
            }
            if terms.autoreset == Autoreset::Disabled
                && let Some(lane) = block.first_finished()
            {
                return Err(BatchError::Finished { row: first + lane });
            }
            if !block.choose(actions, u64::MAX, terms)
                && terms.illegal == IllegalMove::Raise
                && let Some((lane, legal)) = block.first_illegal()
            {
                let row = first + lane;
                return Err(self.describe_illegal(row, actions[lane], legal));
            }
        }
        Ok(())
    }

    pub(super) fn describe_illegal(&self, row: usize, action: i64, legal: PitSet) -> BatchError {
        let columns = self.terms.ruleset.columns();
        let block = &self.blocks[row / LANES];
        let seeds = |column| block.own_seeds(row % LANES, column);
        BatchError::illegal_action(row, action, legal, columns, seeds)
    }

    /// Prepares the next game of every finished row.
    fn stage_finished(&mut self) -> Result<(), BatchError> {
        let terms = &self.terms;
        let stage = |(index, block): (usize, &mut Block)| -> Option<usize> {
            let failed = block.stage_finished(terms).err();
            failed.map(|lane| index * LANES + lane)
        };
        let failed = match &self.pool {
            Some(pool) if terms.opening_plies > 0 => pool.install(|| {
                let blocks = self.blocks.par_iter_mut();
                blocks.enumerate().filter_map(stage).min()
            }),
            _ => self.blocks.iter_mut().enumerate().find_map(stage),
        };
        match failed {
            Some(row) => Err(self.refuse_opening(row)),
            None => Ok(()),
        }
    }

    /// Writes the views of the sides to move, `i16[B, 2C+3]`: own row, other row, own captured,
    /// other captured, quiet plies.
    ///
    /// # Errors
    /// [`BatchError::BufferLength`].
    pub fn observe(&self, out: &mut [i16]) -> Result<(), BatchError> {
        let length = observation_length(self.terms.ruleset.columns());
        check_length("observations", out.len(), self.config.rows * length)?;
        for (block, out) in self.blocks.iter().zip(out.chunks_mut(LANES * length)) {
            block.observe(&self.terms, out);
        }
        Ok(())
    }

    /// Writes the legal columns, `i8[B, C]`: 1 where legal; all zeros on finished rows.
    ///
    /// # Errors
    /// [`BatchError::BufferLength`].
    pub fn masks(&self, out: &mut [i8]) -> Result<(), BatchError> {
        let columns = self.terms.ruleset.columns();
        check_length("masks", out.len(), self.config.rows * columns)?;
        for (block, out) in self.blocks.iter().zip(out.chunks_mut(LANES * columns)) {
            block.write_masks(out);
        }
        Ok(())
    }

    /// Writes whose turn it is, `i8[B]`: 0 South, 1 North.
    ///
    /// # Errors
    /// [`BatchError::BufferLength`].
    pub fn to_play(&self, out: &mut [i8]) -> Result<(), BatchError> {
        check_length("to_play", out.len(), self.config.rows)?;
        for (block, out) in self.blocks.iter().zip(out.chunks_mut(LANES)) {
            block.write_to_play(&self.terms, out);
        }
        Ok(())
    }

    /// Returns `B`, the games in the batch.
    pub const fn rows(&self) -> usize {
        self.config.rows
    }

    /// Returns the rules of every game.
    pub const fn ruleset(&self) -> &Ruleset {
        &self.terms.ruleset
    }

    /// Returns the settings the batch was made with.
    pub const fn config(&self) -> &BatchConfig {
        &self.config
    }

    /// Returns the threads that steps use: 1 where the batch is too small to share.
    pub fn num_threads(&self) -> usize {
        self.pool
            .as_ref()
            .map_or(1, ThreadPool::current_num_threads)
    }

    pub(super) fn lane(&self, row: usize) -> Result<(&Block, usize), BatchError> {
        let last = self.config.rows - 1;
        match self.blocks.get(row / LANES) {
            Some(block) if row <= last => Ok((block, row % LANES)),
            _ => Err(BatchError::RowRange { row, last }),
        }
    }

    /// Returns the position of one row; the start of the game before the first reset.
    ///
    /// A game that was cut or lost by an illegal action has an open position.
    ///
    /// # Errors
    /// [`BatchError::RowRange`].
    pub fn position(&self, row: usize) -> Result<Position, BatchError> {
        let (block, lane) = self.lane(row)?;
        Ok(block.position(lane, &self.terms.ruleset))
    }

    /// Returns the plies of the game in one row, opening plies included.
    ///
    /// # Errors
    /// [`BatchError::RowRange`].
    pub fn plies(&self, row: usize) -> Result<u32, BatchError> {
        let (block, lane) = self.lane(row)?;
        Ok(block.plies(lane))
    }

    /// Returns the episode of one row.
    ///
    /// # Errors
    /// [`BatchError::RowRange`].
    pub fn episode(&self, row: usize) -> Result<u64, BatchError> {
        let (block, lane) = self.lane(row)?;
        Ok(block.episode(lane))
    }

    /// Returns the row seed of one row.
    ///
    /// # Errors
    /// [`BatchError::RowRange`].
    pub fn row_seed(&self, row: usize) -> Result<u64, BatchError> {
        let (block, lane) = self.lane(row)?;
        Ok(block.row_seed(lane))
    }

    /// Tells whether one row was ever reset.
    ///
    /// # Errors
    /// [`BatchError::RowRange`].
    pub fn started(&self, row: usize) -> Result<bool, BatchError> {
        let (block, lane) = self.lane(row)?;
        Ok(block.status(lane) != Status::NotReset)
    }

    /// Returns how the game in one row ended, `None` while it goes on.
    ///
    /// # Errors
    /// [`BatchError::RowRange`].
    pub fn end(&self, row: usize) -> Result<Option<EndCode>, BatchError> {
        let (block, lane) = self.lane(row)?;
        Ok(match block.status(lane) {
            Status::Finished(end) => Some(end),
            Status::NotReset | Status::Open => None,
        })
    }

    /// Returns the result of one row: `None` while the game goes on, and for a cut game (E4).
    ///
    /// # Errors
    /// [`BatchError::RowRange`].
    pub fn outcome(&self, row: usize) -> Result<Option<Outcome>, BatchError> {
        let (block, lane) = self.lane(row)?;
        Ok(match block.status(lane) {
            Status::NotReset | Status::Open | Status::Finished(EndCode::MaxPlies) => None,
            Status::Finished(_) => Some(match block.outcome(lane) {
                1 => Outcome::Win(Side::South),
                -1 => Outcome::Win(Side::North),
                _ => Outcome::Draw,
            }),
        })
    }

    /// Enters a position as the game of one row, with a ply count of 0; seed and episode stay.
    ///
    /// # Errors
    /// [`BatchError::RowRange`]; [`BatchError::Ruleset`] for a position under other rules.
    pub fn set_position(&mut self, row: usize, position: &Position) -> Result<(), BatchError> {
        self.lane(row)?;
        if position.ruleset() != self.ruleset() {
            return Err(BatchError::Ruleset {
                got: position.ruleset().to_string(),
                expected: self.ruleset().to_string(),
            });
        }
        self.blocks[row / LANES].set(row % LANES, position);
        Ok(())
    }

    pub(super) const fn terms(&self) -> &Terms {
        &self.terms
    }

    pub(super) const fn pool(&self) -> Option<&ThreadPool> {
        self.pool.as_ref()
    }

    pub(super) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    pub(super) fn blocks_mut(&mut self) -> &mut [Block] {
        &mut self.blocks
    }

    pub(super) fn replace_blocks(&mut self, blocks: Vec<Block>) {
        self.blocks = blocks;
    }
}

/// Starts the threads of a batch where it is large enough to use them.
fn start_threads(config: &BatchConfig) -> Result<Option<ThreadPool>, BatchError> {
    let num_threads = config
        .num_threads
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    let least = if config.num_threads.is_some() {
        FEW_PITS
    } else {
        PARALLEL_PITS
    };
    let small = config.rows <= LANES || config.rows * config.ruleset.columns() < least;
    if num_threads == 1 || small {
        return Ok(None);
    }
    ThreadPoolBuilder::new()
        .num_threads(num_threads)
        .thread_name(|index| format!("endodoi-batch-{index}"))
        .build()
        .map(Some)
        .map_err(|error| BatchError::Threads {
            num_threads,
            reason: error.to_string(),
        })
}

/// Advances blocks, the sowings of many blocks together where they take long.
fn advance(
    blocks: &mut [Block],
    terms: &Terms,
    mut out: Option<&mut StepBuffers<'_>>,
    pending: &mut Pending,
) {
    let columns = terms.ruleset.columns();
    let mut first = 0;
    for blocks in blocks.chunks_mut(GROUP) {
        for (block, number) in blocks.iter_mut().zip(0..) {
            pending.block = number;
            block.play(terms, pending);
        }
        terms.shape.find_endless(pending, |block, lane, column| {
            blocks[block].forbid(lane, column);
        });
        for block in blocks {
            let rows = block.rows;
            block.settle(terms);
            if let Some(out) = &mut out {
                block.write(terms, &mut out.part(first, rows, columns));
            }
            first += rows;
        }
    }
}

/// Advances blocks on the threads of the present pool, a `pending` for every `grain` of them.
fn advance_split(
    blocks: &mut [Block],
    terms: &Terms,
    mut out: Option<StepBuffers<'_>>,
    pending: &mut [Pending],
    grain: usize,
) {
    if let [pending] = pending {
        advance(blocks, terms, out.as_mut(), pending);
        return;
    }
    let (left_late, right_late) = pending.split_at_mut(pending.len() / 2);
    let half = (grain * left_late.len()).min(blocks.len());
    let (left, right) = blocks.split_at_mut(half);
    let rows = left.iter().map(|block| block.rows).sum();
    let (left_out, right_out) = out
        .map(|out| out.split_at(rows, terms.ruleset.columns()))
        .unzip();
    rayon::join(
        || advance_split(left, terms, left_out, left_late, grain),
        || advance_split(right, terms, right_out, right_late, grain),
    );
}
