//! Games of two random players, without a mask of legal moves.

use rand_xoshiro::Xoshiro128PlusPlus;

use crate::board::Board;
use crate::pit::PitSet;
use crate::policy::random::{draw_column, non_empty};
use crate::position::has_legal_move;
use crate::ruleset::{Endless, Ruleset};
use crate::side::Side;
use crate::simulate::EndCode;
use crate::simulate::lockstep::{Game, Limits};
use crate::simulate::tally::{GameRow, Tally};
use crate::sowing::{self, SowingEnd};

/// A game between two random players that goes on.
pub(super) struct RandomGame {
    pub(super) board: Board,
    pub(super) to_move: Side,
    pub(super) quiet: u16,
    pub(super) tally: Tally,
}

/// Plays on from the position that `game` has reached, both sides at random, to the end.
///
/// The slow twin is [`super::lockstep::play`] with two [`Random`](crate::policy::Random) players,
/// which settles every position. Here a side draws among its non-empty pits and draws again where
/// the sowing is endless and illegal, which is uniform over the legal moves; E1 shows when no pit
/// is left to draw. A stuck side has no turn: what it drew is not counted.
pub(super) fn finish(game: &Game, limits: Limits) -> GameRow {
    let position = &game.position;
    if let Some(end) = game.end {
        return game.tally.finish(position.board(), end, 0);
    }
    let random = RandomGame {
        board: *position.board(),
        to_move: position.to_move(),
        quiet: position.quiet(),
        tally: game.tally,
    };
    random.go_on(position.ruleset(), game.stream.clone(), limits)
}

impl RandomGame {
    /// Plays on to the end.
    pub(super) fn go_on(
        mut self,
        ruleset: &Ruleset,
        mut stream: Xoshiro128PlusPlus,
        limits: Limits,
    ) -> GameRow {
        loop {
            if let Some(end) = self.turn(ruleset, &mut stream, limits) {
                return self.tally.finish(&self.board, end, 0);
            }
        }
    }

    /// Plays one turn, or says how the game has ended: E1 first, then E3, then the cap (E4).
    pub(super) fn turn(
        &mut self,
        ruleset: &Ruleset,
        stream: &mut Xoshiro128PlusPlus,
        limits: Limits,
    ) -> Option<EndCode> {
        let quiet = self.quiet >= ruleset.quiet_limit();
        let capped = limits
            .max_plies
            .is_some_and(|most| self.tally.plies >= most);
        if (quiet || capped) && has_legal_move(&self.board, ruleset, self.to_move) {
            return Some(if quiet {
                EndCode::Quiet
            } else {
                EndCode::MaxPlies
            });
        }
        let pits = non_empty(self.board.row(self.to_move));
        let may_play = ruleset.endless() == Endless::Draw;
        let draw = draw_column(pits, stream, |column| {
            let mut next = self.board;
            let sowing = sowing::sow_scratch(&mut next, ruleset, self.to_move, column, false);
            let legal = sowing.end != SowingEnd::Endless || may_play;
            legal.then_some((next, sowing))
        });
        let Some(draw) = draw else {
            self.board.take_rest(self.to_move.other());
            return Some(EndCode::Stuck);
        };
        if limits.offers {
            self.tally.offers += u32::from(self.offers_endless(ruleset, pits));
        }
        let (next, sowing) = draw.tried;
        self.tally.count(&sowing);
        self.tally.endless_met += u64::from(draw.refused);
        if sowing.end == SowingEnd::Endless {
            return Some(EndCode::Endless);
        }
        self.board = next;
        self.quiet = if sowing.captured > 0 {
            0
        } else {
            self.quiet + 1
        };
        self.to_move = self.to_move.other();
        None
    }

    fn offers_endless(&self, ruleset: &Ruleset, pits: PitSet) -> bool {
        pits.iter()
            .any(|column| sowing::is_endless(&self.board, ruleset, self.to_move, column))
    }
}
