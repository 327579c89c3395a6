//! The caller's arrays that a step writes.

use crate::batch::engine::Batch;
use crate::batch::error::BatchError;

/// Borrowed arrays that [`Batch::step`] fills, all of them for every row.
///
/// | array | dtype and shape | holds |
/// |---|---|---|
/// | `rewards` | `f32[B]` | for the side that just moved: +1, 0, -1 at the end, else 0 |
/// | `terminated` | `bool[B]` | the game ended by the rules, or by an illegal action |
/// | `truncated` | `bool[B]` | the game was cut by `max_plies` (E4) |
/// | `observations` | `i16[B, 2C+3]` | own row, other row, own captured, other captured, quiet plies of the side to move |
/// | `masks` | `i8[B, C]` | 1 for every legal column; all 0 where the game is over |
/// | `to_play` | `i8[B]` | 0 South, 1 North: whose turn it is, or would be |
/// | `outcome` | `i8[B]` | 1 South won, -1 North won, 0 drawn, cut or open |
/// | `captured` | `i16[B, 2]` | seeds captured by South and North |
/// | `plies` | `i32[B]` | plies of the game, opening plies included |
/// | `end_reason` | `i8[B]` | code of [`EndCode`](super::EndCode), -1 where no game ended |
/// | `ended` | `bool[B]` | terminated or truncated in this step |
///
/// A row that this step reset shows its new game: reward 0, nothing ended.
#[derive(Debug)]
pub struct StepBuffers<'a> {
    /// `f32[B]`.
    pub rewards: &'a mut [f32],
    /// `bool[B]`.
    pub terminated: &'a mut [bool],
    /// `bool[B]`.
    pub truncated: &'a mut [bool],
    /// `i16[B, 2C+3]`.
    pub observations: &'a mut [i16],
    /// `i8[B, C]`.
    pub masks: &'a mut [i8],
    /// `i8[B]`.
    pub to_play: &'a mut [i8],
    /// `i8[B]`.
    pub outcome: &'a mut [i8],
    /// `i16[B, 2]`.
    pub captured: &'a mut [i16],
    /// `i32[B]`.
    pub plies: &'a mut [i32],
    /// `i8[B]`.
    pub end_reason: &'a mut [i8],
    /// `bool[B]`.
    pub ended: &'a mut [bool],
}

impl<'a> StepBuffers<'a> {
    /// Checks every length for `rows` games on boards of `columns`.
    pub(crate) fn check(&self, rows: usize, columns: usize) -> Result<(), BatchError> {
        let lengths = [
            ("rewards", self.rewards.len(), rows),
            ("terminated", self.terminated.len(), rows),
            ("truncated", self.truncated.len(), rows),
            (
                "observations",
                self.observations.len(),
                rows * observation_length(columns),
            ),
            ("masks", self.masks.len(), rows * columns),
            ("to_play", self.to_play.len(), rows),
            ("outcome", self.outcome.len(), rows),
            ("captured", self.captured.len(), 2 * rows),
            ("plies", self.plies.len(), rows),
            ("end_reason", self.end_reason.len(), rows),
            ("ended", self.ended.len(), rows),
        ];
        for (field, got, expected) in lengths {
            check_length(field, got, expected)?;
        }
        Ok(())
    }

    /// Splits every array before row `rows`; the lengths have been checked.
    pub(super) fn split_at(
        self,
        rows: usize,
        columns: usize,
    ) -> (StepBuffers<'a>, StepBuffers<'a>) {
        let rewards = self.rewards.split_at_mut(rows);
        let terminated = self.terminated.split_at_mut(rows);
        let truncated = self.truncated.split_at_mut(rows);
        let observations = self
            .observations
            .split_at_mut(rows * observation_length(columns));
        let masks = self.masks.split_at_mut(rows * columns);
        let to_play = self.to_play.split_at_mut(rows);
        let outcome = self.outcome.split_at_mut(rows);
        let captured = self.captured.split_at_mut(2 * rows);
        let plies = self.plies.split_at_mut(rows);
        let end_reason = self.end_reason.split_at_mut(rows);
        let ended = self.ended.split_at_mut(rows);
        (
            StepBuffers {
                rewards: rewards.0,
                terminated: terminated.0,
                truncated: truncated.0,
                observations: observations.0,
                masks: masks.0,
                to_play: to_play.0,
                outcome: outcome.0,
                captured: captured.0,
                plies: plies.0,
                end_reason: end_reason.0,
                ended: ended.0,
            },
            StepBuffers {
                rewards: rewards.1,
                terminated: terminated.1,
                truncated: truncated.1,
                observations: observations.1,
                masks: masks.1,
                to_play: to_play.1,
                outcome: outcome.1,
                captured: captured.1,
                plies: plies.1,
                end_reason: end_reason.1,
                ended: ended.1,
            },
        )
    }

    /// Lends rows `first..first + rows` of every array; the lengths have been checked.
    pub(super) fn part(&mut self, first: usize, rows: usize, columns: usize) -> StepBuffers<'_> {
        let end = first + rows;
        let length = observation_length(columns);
        StepBuffers {
            rewards: &mut self.rewards[first..end],
            terminated: &mut self.terminated[first..end],
            truncated: &mut self.truncated[first..end],
            observations: &mut self.observations[first * length..end * length],
            masks: &mut self.masks[first * columns..end * columns],
            to_play: &mut self.to_play[first..end],
            outcome: &mut self.outcome[first..end],
            captured: &mut self.captured[2 * first..2 * end],
            plies: &mut self.plies[first..end],
            end_reason: &mut self.end_reason[first..end],
            ended: &mut self.ended[first..end],
        }
    }
}

/// Returns the numbers in one observation, `2C + 3`.
pub(super) const fn observation_length(columns: usize) -> usize {
    2 * columns + 3
}

/// Refuses an array of another length than `expected`.
pub(super) fn check_length(
    field: &'static str,
    got: usize,
    expected: usize,
) -> Result<(), BatchError> {
    if got == expected {
        Ok(())
    } else {
        Err(BatchError::BufferLength {
            field,
            got,
            expected,
        })
    }
}

/// Owned arrays of the right lengths for [`StepBuffers`], of which the fields tell the contents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepArrays {
    /// `f32[B]`.
    pub rewards: Vec<f32>,
    /// `bool[B]`.
    pub terminated: Vec<bool>,
    /// `bool[B]`.
    pub truncated: Vec<bool>,
    /// `i16[B, 2C+3]`.
    pub observations: Vec<i16>,
    /// `i8[B, C]`.
    pub masks: Vec<i8>,
    /// `i8[B]`.
    pub to_play: Vec<i8>,
    /// `i8[B]`.
    pub outcome: Vec<i8>,
    /// `i16[B, 2]`.
    pub captured: Vec<i16>,
    /// `i32[B]`.
    pub plies: Vec<i32>,
    /// `i8[B]`.
    pub end_reason: Vec<i8>,
    /// `bool[B]`.
    pub ended: Vec<bool>,
}

impl StepArrays {
    /// Makes arrays for the rows and columns of `batch`, filled with zeros.
    pub fn new(batch: &Batch) -> StepArrays {
        let rows = batch.rows();
        let columns = batch.ruleset().columns();
        StepArrays {
            rewards: vec![0.0; rows],
            terminated: vec![false; rows],
            truncated: vec![false; rows],
            observations: vec![0; rows * observation_length(columns)],
            masks: vec![0; rows * columns],
            to_play: vec![0; rows],
            outcome: vec![0; rows],
            captured: vec![0; 2 * rows],
            plies: vec![0; rows],
            end_reason: vec![-1; rows],
            ended: vec![false; rows],
        }
    }

    /// Lends the arrays to a step.
    pub fn buffers(&mut self) -> StepBuffers<'_> {
        StepBuffers {
            rewards: &mut self.rewards,
            terminated: &mut self.terminated,
            truncated: &mut self.truncated,
            observations: &mut self.observations,
            masks: &mut self.masks,
            to_play: &mut self.to_play,
            outcome: &mut self.outcome,
            captured: &mut self.captured,
            plies: &mut self.plies,
            end_reason: &mut self.end_reason,
            ended: &mut self.ended,
        }
    }
}
