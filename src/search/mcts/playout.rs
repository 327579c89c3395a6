//! Random games from a position to the end, without a mask of legal moves and without allocation.

use super::bounds::Bounds;
use crate::board::Board;
use crate::draw::{draw_column, non_empty};
use crate::pit::{MAX_PITS, PitSet};
use crate::position::{Outcome, Position, has_legal_move};
use crate::rng::Xoshiro128PlusPlus;
use crate::ruleset::{Endless, Ruleset};
use crate::search::{Packed, PackedRules};
use crate::side::Side;
use crate::sowing::{self, Sowing, SowingEnd};

/// Plays random games under one rule set.
///
/// A move is drawn among the non-empty pits, and again where its sowing is endless and illegal,
/// which is uniform over the legal moves. A game in which one side has captured more than half of
/// all seeds is won already and not played on, unless an endless sowing might draw it (S6). A game
/// that is cut after `max_plies` plies counts as it stands: the seeds on the board go to nobody, as
/// after E3.
///
/// Boards that fit are played in one word ([`PackedRules`]), others pit by pit; the draws and the
/// outcomes are the same. The slow twin is [`crate::simulate`] between two random players.
///
/// ```
/// use endodoi::rng::{self, Purpose};
/// use endodoi::search::Playouts;
/// use endodoi::{Position, Variant};
///
/// let ruleset = Variant::CrossEndodoi.ruleset();
/// let playouts = Playouts::new(&ruleset, 10_000);
/// let mut stream = rng::stream(1, 0, Purpose::Policy);
/// let start = Position::start(&ruleset);
/// let outcomes: Vec<i8> = (0..100).map(|_| playouts.outcome(&start, &mut stream)).collect();
/// assert!(outcomes.contains(&1) && outcomes.contains(&-1));
/// ```
#[derive(Clone, Debug)]
pub struct Playouts {
    ruleset: Ruleset,
    max_plies: u32,
    packed: Option<PackedRules>,
}

/// A game on a board in one word, seen by the side to move.
struct PackedGame {
    board: Packed,
    /// Seeds captured by the side to move and by the other side.
    captured: [u16; 2],
    quiet: u16,
}

impl Playouts {
    /// Prepares random games that are cut after `max_plies` plies.
    pub fn new(ruleset: &Ruleset, max_plies: u32) -> Playouts {
        Playouts {
            ruleset: *ruleset,
            max_plies,
            packed: PackedRules::new(ruleset),
        }
    }

    /// Returns the rules of the games.
    pub const fn ruleset(&self) -> &Ruleset {
        &self.ruleset
    }

    /// Plays an open position of these rules to the end, both sides at random, and returns the
    /// outcome: 1 where South wins, -1 where North wins, 0 for a draw.
    pub fn outcome(&self, position: &Position, stream: &mut Xoshiro128PlusPlus) -> i8 {
        let side = position.to_move();
        let packed = self.packed.as_ref();
        let fitting = packed.and_then(|rules| Some((rules, rules.pack(position.board(), side)?)));
        let Some((rules, board)) = fitting else {
            return self.outcome_wide(position, stream);
        };
        let captured = position.board().captured();
        let game = PackedGame {
            board,
            captured: [captured[side.index()], captured[side.other().index()]],
            quiet: position.quiet(),
        };
        side.sign() * self.outcome_packed(rules, game, stream)
    }

    const fn draws(&self) -> bool {
        matches!(self.ruleset.endless(), Endless::Draw)
    }

    /// Plays a packed game to the end; the outcome is that of the side to move.
    fn outcome_packed(
        &self,
        rules: &PackedRules,
        mut game: PackedGame,
        stream: &mut Xoshiro128PlusPlus,
    ) -> i8 {
        let limit = self.ruleset.quiet_limit();
        let rest = rules.seeds(game.board) as u16;
        let half = (rest + game.captured[0] + game.captured[1]) / 2;
        let mut sign = 1;
        for _ in 0..self.max_plies {
            let pits = PitSet::from_bits(rules.candidates(game.board).into());
            let sow = |column| {
                let child = rules.sow(game.board, column);
                (child.is_some() || self.draws()).then_some(child)
            };
            if game.quiet >= limit && pits.iter().any(|column| sow(column).is_some()) {
                break;
            }
            let Some(draw) = draw_column(pits, stream, sow) else {
                game.captured[1] += rules.seeds(game.board) as u16;
                break;
            };
            let Some(child) = draw.tried else { return 0 };
            game.board = child.board;
            game.quiet += 1;
            if child.captured > 0 {
                game.quiet = 0;
                game.captured[0] += u16::from(child.captured);
                if game.captured[0] > half && !self.draws() {
                    return sign;
                }
            }
            game.captured.swap(0, 1);
            sign = -sign;
        }
        sign * game.captured[0].cmp(&game.captured[1]) as i8
    }

    /// Plays a game on a board of any size to the end.
    fn outcome_wide(&self, position: &Position, stream: &mut Xoshiro128PlusPlus) -> i8 {
        let ruleset = &self.ruleset;
        let mut board = *position.board();
        let mut side = position.to_move();
        let mut quiet = position.quiet();
        let total = board.total();
        for _ in 0..self.max_plies {
            if quiet >= ruleset.quiet_limit() && has_legal_move(&board, ruleset, side) {
                break;
            }
            let Some(sowing) = self.sow_wide(&mut board, side, stream) else {
                board.take_rest(side.other());
                break;
            };
            if sowing.end == SowingEnd::Endless {
                return 0;
            }
            quiet += 1;
            if sowing.captured > 0 {
                quiet = 0;
                let known = Bounds::of_captured(&board, side, total, ruleset.endless());
                if known.low == 1 {
                    return side.sign();
                }
            }
            side = side.other();
        }
        Outcome::of_captured(board.captured()).sign()
    }

    /// Draws a legal move and sows it, `None` where there is none.
    fn sow_wide(
        &self,
        board: &mut Board,
        side: Side,
        stream: &mut Xoshiro128PlusPlus,
    ) -> Option<Sowing> {
        let pits = board.pits().len();
        let mut before = [0; MAX_PITS];
        before[..pits].copy_from_slice(board.pits());
        let draw = draw_column(non_empty(board.row(side)), stream, |column| {
            let sowing = sowing::sow_scratch(board, &self.ruleset, side, column, false);
            let endless = sowing.end == SowingEnd::Endless;
            if endless {
                board.pits_mut().copy_from_slice(&before[..pits]);
            }
            (!endless || self.draws()).then_some(sowing)
        });
        draw.map(|draw| draw.tried)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{self, Purpose};
    use crate::ruleset::{LoneCapture, RulesetFields, Variant};

    fn rulesets() -> impl Iterator<Item = Ruleset> {
        let changes: [fn(&mut RulesetFields); 5] = [
            |_| {},
            |fields| fields.quiet_limit = Some(4),
            |fields| fields.lone_capture = Some(LoneCapture::Taken),
            |fields| fields.lap_limit = Some(5),
            |fields| {
                fields.lap_limit = Some(5);
                fields.endless = Some(Endless::Draw);
            },
        ];
        let variants = [Variant::EnDodoi, Variant::CrossEndodoi];
        variants.into_iter().flat_map(move |variant| {
            changes
                .into_iter()
                .zip([6, 2, 8, 5, 6])
                .map(move |(change, columns)| {
                    let mut fields = RulesetFields {
                        columns: Some(columns),
                        ..RulesetFields::default()
                    };
                    change(&mut fields);
                    Ruleset::new(variant, &fields).unwrap()
                })
        })
    }

    #[test]
    fn boards_in_one_word_and_of_any_size_play_the_same_games() {
        for ruleset in rulesets() {
            let playouts = [100_000, 7].map(|plies| Playouts::new(&ruleset, plies));
            for number in 0..300 {
                let mut stream = rng::stream(number, 0, Purpose::Policy);
                let mut position = Position::start(&ruleset);
                while !position.is_over() {
                    let playouts = &playouts[usize::from(number % 2 == 0)];
                    let mut twin = stream.clone();
                    let outcome = playouts.outcome(&position, &mut twin);
                    let mut wide = stream.clone();
                    assert_eq!(outcome, playouts.outcome_wide(&position, &mut wide));
                    assert_eq!(twin, wide, "{ruleset}: the same words are drawn");
                    let legal = position.legal_moves();
                    let rank = rng::below(&mut stream, legal.len() as u32) as usize;
                    position = position.play_legal(legal.nth(rank).unwrap()).0;
                }
            }
        }
    }
}
