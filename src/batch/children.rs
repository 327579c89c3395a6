//! What every legal move of a batch leads to.

use rayon::iter::{IndexedParallelIterator, ParallelIterator};
use rayon::slice::{ParallelSlice, ParallelSliceMut};

use crate::batch::LANES;
use crate::batch::block::{Block, Status, Terms};
use crate::batch::boards::lanes_of;
use crate::batch::buffers::{check_length, observation_length};
use crate::batch::engine::{Batch, GROUP};
use crate::batch::error::BatchError;
use crate::batch::pending::Pending;

/// Borrowed arrays that [`Batch::children`] fills.
///
/// | array | dtype and shape | holds |
/// |---|---|---|
/// | `observations` | `i16[B, C, 2C+3]` | the view of the side whose turn it is after the move: own row, other row, own captured, other captured, quiet plies |
/// | `captured` | `i16[B, C]` | seeds the move brings its mover, the rest taken at the end included (E1) |
/// | `end_reason` | `i8[B, C]` | code of [`EndCode`](super::EndCode) where the move ends the game, else -1 |
///
/// Where a column is not legal they hold zeros, and -1 in `end_reason`; the masks of the batch tell
/// which are.
#[derive(Debug)]
pub struct ChildBuffers<'a> {
    /// `i16[B, C, 2C+3]`.
    pub observations: &'a mut [i16],
    /// `i16[B, C]`.
    pub captured: &'a mut [i16],
    /// `i8[B, C]`.
    pub end_reason: &'a mut [i8],
}

/// Owned arrays of the right lengths for [`ChildBuffers`], of which the fields tell the contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildArrays {
    /// `i16[B, C, 2C+3]`.
    pub observations: Vec<i16>,
    /// `i16[B, C]`.
    pub captured: Vec<i16>,
    /// `i8[B, C]`.
    pub end_reason: Vec<i8>,
}

impl ChildArrays {
    /// Makes arrays for the rows and columns of `batch`, without a child.
    pub fn new(batch: &Batch) -> ChildArrays {
        let columns = batch.ruleset().columns();
        let children = batch.rows() * columns;
        ChildArrays {
            observations: vec![0; children * observation_length(columns)],
            captured: vec![0; children],
            end_reason: vec![-1; children],
        }
    }

    /// Lends the arrays to [`Batch::children`].
    pub fn buffers(&mut self) -> ChildBuffers<'_> {
        ChildBuffers {
            observations: &mut self.observations,
            captured: &mut self.captured,
            end_reason: &mut self.end_reason,
        }
    }
}

impl Batch {
    /// Plays every legal column of every row on a copy and writes what each leads to.
    ///
    /// Ends are settled as a step settles them: a side without a legal move (E1), the quiet limit
    /// (E3), an endless sowing played (S6; the turn stays with its mover), `max_plies` (E4).
    /// Nothing of the batch changes. Rows whose game is over have no children.
    ///
    /// ```
    /// use endodoi::batch::{Batch, BatchConfig, ChildArrays};
    /// use endodoi::Variant;
    /// let mut batch = Batch::new(BatchConfig::new(1, Variant::CrossEndodoi.ruleset()))?;
    /// batch.reset(None, None)?;
    /// let mut children = ChildArrays::new(&batch);
    /// batch.children(children.buffers())?;
    /// // Column 3 captures 5 seeds; North would see its own row first.
    /// assert_eq!(children.captured[3], 5);
    /// assert_eq!(children.observations[3 * 15..4 * 15], [4, 4, 0, 4, 4, 0, 0, 5, 5, 1, 0, 4, 0, 5, 0]);
    /// assert_eq!(children.end_reason, [-1; 6]);
    /// # Ok::<(), endodoi::batch::BatchError>(())
    /// ```
    ///
    /// # Errors
    /// [`BatchError::BufferLength`] for an array of the wrong length, [`BatchError::NotReset`] for a
    /// row that was never reset. The arrays are unchanged then.
    pub fn children(&self, out: ChildBuffers<'_>) -> Result<(), BatchError> {
        let ChildBuffers {
            observations,
            captured,
            end_reason,
        } = out;
        let columns = self.ruleset().columns();
        let children = self.rows() * columns;
        let length = observation_length(columns);
        check_length("observations", observations.len(), children * length)?;
        check_length("captured", captured.len(), children)?;
        check_length("end_reason", end_reason.len(), children)?;
        if let Some(row) = self.first_not_reset() {
            return Err(BatchError::NotReset { row });
        }
        // The children of these blocks are followed together.
        let blocks = (GROUP / columns).max(1);
        let some = blocks * LANES * columns;
        let write = |((observations, captured), (end_reason, blocks)): ((&mut _, &mut _), _)| {
            let out = ChildBuffers {
                observations,
                captured,
                end_reason,
            };
            write_children(blocks, self.terms(), out);
        };
        match self.pool() {
            None => {
                let views = observations.chunks_mut(some * length);
                let ends = end_reason.chunks_mut(some);
                views
                    .zip(captured.chunks_mut(some))
                    .zip(ends.zip(self.blocks().chunks(blocks)))
                    .for_each(write);
            }
            Some(pool) => pool.install(|| {
                let views = observations.par_chunks_mut(some * length);
                let ends = end_reason.par_chunks_mut(some);
                views
                    .zip(captured.par_chunks_mut(some))
                    .zip(ends.zip(self.blocks().par_chunks(blocks)))
                    .for_each(write);
            }),
        }
        Ok(())
    }
}

/// Writes the children of some blocks.
fn write_children(blocks: &[Block], terms: &Terms, mut out: ChildBuffers<'_>) {
    let columns = terms.ruleset.columns();
    let mut pending = Pending::default();
    let mut children: Vec<Block> = blocks
        .iter()
        .flat_map(|block| (0..columns).map(|column| block.with_column(column)))
        .collect();
    for (child, number) in children.iter_mut().zip(0..) {
        pending.block = number;
        child.play_chosen(terms, &mut pending);
    }
    terms
        .shape
        .find_endless(&mut pending, |child, lane, column| {
            children[child].forbid(lane, column);
        });
    out.observations.fill(0);
    out.captured.fill(0);
    out.end_reason.fill(-1);
    let mut views = vec![0; LANES * observation_length(columns)];
    let mut first = 0;
    for (before, children) in blocks.iter().zip(children.chunks_mut(columns)) {
        for (child, column) in children.iter_mut().zip(0..) {
            child.settle(terms);
            let views = &mut views[..child.rows * observation_length(columns)];
            child.observe(terms, views);
            let place = (first * columns + column, columns);
            write_block(child, before, views, place, &mut out);
        }
        first += before.rows;
    }
}

/// Writes the children of one column of a block, whose views are `views`.
///
/// `first` is the place of the first row's child; those of the next rows follow `columns` apart.
fn write_block(
    child: &Block,
    before: &Block,
    views: &[i16],
    (first, columns): (usize, usize),
    out: &mut ChildBuffers<'_>,
) {
    let length = observation_length(columns);
    for lane in lanes_of(child.chosen()) {
        let place = first + lane * columns;
        let view = &views[lane * length..][..length];
        out.observations[place * length..][..length].copy_from_slice(view);
        out.captured[place] = child.captured_since(before, lane) as i16;
        if let Status::Finished(end) = child.status(lane) {
            out.end_reason[place] = end.code();
        }
    }
}
