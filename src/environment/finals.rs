//! What games ended with whose row holds the next one already.

use crate::batch::turns::Ended;

/// The last view of every game that was replaced in the same step, in row order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finals {
    /// The rows, `[E]`.
    pub rows: Vec<usize>,
    /// The last observations, `i16[E, 2C+3]`.
    pub observations: Vec<i16>,
    /// Whose turn it would be, `i8[E]`: 0 South, 1 North.
    pub to_play: Vec<i8>,
    /// 1 South won, -1 North won, 0 drawn or cut, `i8[E]`.
    pub outcome: Vec<i8>,
    /// Seeds captured by South and North, `i16[E, 2]`.
    pub captured: Vec<i16>,
    /// Plies of the game, opening plies included, `i32[E]`.
    pub plies: Vec<i32>,
    /// Codes of [`EndCode`](crate::batch::EndCode), `i8[E]`.
    pub end_reason: Vec<i8>,
    /// Which of several opponents played, `i32[E]`; empty in self-play.
    pub opponent: Vec<i32>,
    /// As in a step, `f32[E]`.
    pub(super) rewards: Vec<f32>,
}

impl Finals {
    pub(super) fn clear(&mut self) {
        let Finals {
            rows,
            observations,
            to_play,
            outcome,
            captured,
            plies,
            end_reason,
            opponent,
            rewards,
        } = self;
        rows.clear();
        observations.clear();
        to_play.clear();
        outcome.clear();
        captured.clear();
        plies.clear();
        end_reason.clear();
        opponent.clear();
        rewards.clear();
    }

    pub(super) fn push(&mut self, row: usize, ended: &Ended, reward: f32) {
        self.rows.push(row);
        self.to_play.push(ended.to_move.index() as i8);
        self.outcome.push(ended.outcome);
        self.captured
            .extend(ended.captured.map(|seeds| seeds as i16));
        self.plies.push(ended.plies as i32);
        self.end_reason.push(ended.end.code());
        self.rewards.push(reward);
    }

    /// Puts the games in row order: those that the agent ended came before those that an opponent
    /// ended.
    pub(super) fn sort(&mut self) {
        if self.rows.is_sorted() {
            return;
        }
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_unstable_by_key(|&game| self.rows[game]);
        let length = self.observations.len() / self.rows.len();
        let mut sorted = Finals::default();
        for game in order {
            sorted.rows.push(self.rows[game]);
            let view = &self.observations[game * length..(game + 1) * length];
            sorted.observations.extend_from_slice(view);
            sorted.to_play.push(self.to_play[game]);
            sorted.outcome.push(self.outcome[game]);
            let pair = &self.captured[2 * game..2 * game + 2];
            sorted.captured.extend_from_slice(pair);
            sorted.plies.push(self.plies[game]);
            sorted.end_reason.push(self.end_reason[game]);
            sorted.opponent.extend(self.opponent.get(game));
            sorted.rewards.push(self.rewards[game]);
        }
        *self = sorted;
    }
}
