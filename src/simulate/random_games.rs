//! Games of two random players, without a mask of legal moves.

use rand_xoshiro::Xoshiro128PlusPlus;

use crate::board::Board;
use crate::draw::{draw_column, non_empty};
use crate::pit::PitSet;
use crate::position::has_legal_move;
use crate::ruleset::{Endless, Ruleset};
use crate::side::Side;
use crate::simulate::EndCode;
use crate::simulate::follow::Followed;
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
/// A game that is followed counts its turns there.
pub(super) fn finish(game: &mut Game, limits: Limits) -> GameRow {
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
    let followed = game.followed.as_deref_mut();
    random.play(position.ruleset(), game.stream.clone(), limits, followed)
}

impl RandomGame {
    /// Plays on to the end.
    pub(super) fn go_on(
        self,
        ruleset: &Ruleset,
        stream: Xoshiro128PlusPlus,
        limits: Limits,
    ) -> GameRow {
        self.play(ruleset, stream, limits, None)
    }

    fn play(
        mut self,
        ruleset: &Ruleset,
        mut stream: Xoshiro128PlusPlus,
        limits: Limits,
        mut followed: Option<&mut Followed>,
    ) -> GameRow {
        loop {
            let end = self.follow_turn(ruleset, &mut stream, limits, followed.as_deref_mut());
            if let Some(end) = end {
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
        self.follow_turn(ruleset, stream, limits, None)
    }

    /// Plays one turn and counts it in `followed`.
    fn follow_turn(
        &mut self,
        ruleset: &Ruleset,
        stream: &mut Xoshiro128PlusPlus,
        limits: Limits,
        followed: Option<&mut Followed>,
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
        let (next, sowing) = draw.tried;
        if limits.offers || followed.is_some() {
            let endless = self.endless_columns(ruleset, pits);
            self.tally.offers += u32::from(limits.offers && !endless.is_empty());
            if let Some(followed) = followed {
                let refused = if may_play { 0 } else { endless.bits() };
                let legal = PitSet::from_bits(pits.bits() & !refused);
                followed.turn(self.to_move, legal, &sowing, draw.refused);
            }
        }
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

    fn endless_columns(&self, ruleset: &Ruleset, pits: PitSet) -> PitSet {
        let mut endless = PitSet::EMPTY;
        for column in pits {
            if sowing::is_endless(&self.board, ruleset, self.to_move, column) {
                endless.insert(column);
            }
        }
        endless
    }
}
