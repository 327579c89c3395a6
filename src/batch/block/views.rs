//! What a block shows: views, masks and the arrays of a step.

use super::{Block, Terms, run};
use crate::batch::EndCode;
use crate::batch::boards::lanes_of;
use crate::batch::buffers::StepBuffers;
use crate::batch::ply;
use crate::pit::MAX_PITS;
use crate::side::Side;

impl Block {
    /// Writes the arrays of a step in which the lanes of the last ply took part.
    pub(in crate::batch) fn write(&self, terms: &Terms, out: &mut StepBuffers<'_>) {
        self.write_ended(self.ply.stepped & self.finished, terms, out);
    }

    /// Writes the arrays of a step in which the games of the lanes `ended` came to an end.
    pub(in crate::batch) fn write_ended(
        &self,
        ended: u64,
        terms: &Terms,
        out: &mut StepBuffers<'_>,
    ) {
        out.rewards.fill(0.0);
        out.terminated.fill(false);
        out.truncated.fill(false);
        out.ended.fill(false);
        out.outcome.fill(0);
        out.end_reason.fill(-1);
        for lane in lanes_of(ended) {
            let truncated = self.ends[lane] == EndCode::MaxPlies;
            out.ended[lane] = true;
            out.truncated[lane] = truncated;
            out.terminated[lane] = !truncated;
            out.end_reason[lane] = self.ends[lane].code();
            out.outcome[lane] = self.outcome[lane];
            out.rewards[lane] = self.reward(lane);
        }
        ply::write_captured(&self.captured, out.captured);
        for (out, &plies) in out.plies.iter_mut().zip(&self.plies) {
            *out = plies as i32;
        }
        self.observe(terms, out.observations);
        self.write_masks(out.masks);
        self.write_to_play(terms, out.to_play);
    }

    /// Returns what the side that moved last is rewarded with when the game is over.
    pub(in crate::batch) fn reward(&self, lane: usize) -> f32 {
        f32::from(self.outcome[lane] * self.mover(lane).sign())
    }

    /// Returns the side that moved in the ply being played.
    fn mover(&self, lane: usize) -> Side {
        if self.ply.turned >> lane & 1 == 1 {
            self.to_move(lane).other()
        } else {
            self.to_move(lane)
        }
    }

    /// Writes the views of the sides to move, `i16[rows, 2C+3]`.
    pub(in crate::batch) fn observe(&self, terms: &Terms, out: &mut [i16]) {
        let length = out.len() / self.rows;
        self.pits.observe(out, length);
        let rest = ply::WriteRest {
            north: self.north,
            captured: &self.captured,
            quiet: &self.quiet,
            out,
            length,
        };
        run(terms, rest);
    }

    /// Writes the view of one lane, `i16[2C+3]`.
    pub(in crate::batch) fn observe_lane(&self, lane: usize, out: &mut [i16]) {
        let mut pits = [0; MAX_PITS];
        let count = out.len() - 3;
        self.pits.load(lane, &mut pits[..count]);
        let own = self.to_move(lane);
        let rest = [
            self.captured[own.index()][lane],
            self.captured[own.other().index()][lane],
            self.quiet[lane],
        ];
        for (out, number) in out.iter_mut().zip(pits[..count].iter().chain(&rest)) {
            *out = *number as i16;
        }
    }

    /// Writes the legal columns, `i8[rows, C]`.
    pub(in crate::batch) fn write_masks(&self, out: &mut [i8]) {
        ply::write_masks(&self.legal, out.len() / self.rows, out);
    }

    /// Writes whose turn it is, `i8[rows]`.
    pub(in crate::batch) fn write_to_play(&self, terms: &Terms, out: &mut [i8]) {
        let lanes = self.north;
        run(terms, ply::WriteLanes { lanes, out });
    }
}
