//! What a network sees of a position: numbers for each pit and for the whole board.
//!
//! Results of relay sowing are chaotic in the seed counts, so no small network can work them out;
//! the simulator gives them for free. For every pit of both rows the features say what sowing it
//! now would do, and for the mover's pits also what the other side could answer.
//!
//! Everything is from the view of the side to move and counts in shares or logarithms, so that
//! one network serves every board size.

use std::sync::LazyLock;

use super::outlook::{Answers, Outlook, OutlookFinder};
use crate::batch::Instructions;
use crate::position::Position;
use crate::ruleset::{Direction, Endless, LoneCapture};
use crate::side::Side;
use crate::sowing::{Sowing, SowingEnd};

/// Version of the meaning of the features; agents trained on another one are refused.
pub const FEATURES_VERSION: u32 = 1;

/// Features of each pit.
pub const FEATURES: usize = 32;

/// Features of the whole board.
pub const GLOBALS: usize = 16;

/// Seed counts with a feature of their own: 0 to 10, and all larger ones together.
const COUNTS: usize = 12;

const OWN: usize = 0;
const SEEDS: usize = 1;
const COUNT: usize = 2;
const PLAYABLE: usize = COUNT + COUNTS;
const CAPTURED: usize = PLAYABLE + 1;
const CAPTURES: usize = PLAYABLE + 2;
const ENDS_OPPONENT: usize = PLAYABLE + 3;
const ENDS_EMPTY: usize = PLAYABLE + 4;
const LAPS: usize = PLAYABLE + 5;
const SOWN: usize = PLAYABLE + 6;
const LANDED_BY_MOVER: usize = PLAYABLE + 7;
const LANDED_BY_OTHER: usize = PLAYABLE + 8;
const THREATENED: usize = PLAYABLE + 9;
const BEST_REPLY: usize = PLAYABLE + 10;
const MEAN_REPLY: usize = PLAYABLE + 11;
const GAIN_LESS_REPLY: usize = PLAYABLE + 12;
const REPLIES: usize = PLAYABLE + 13;
const ENDS_GAME: usize = PLAYABLE + 14;
const END_MARGIN: usize = PLAYABLE + 15;
const END_RESULT: usize = PLAYABLE + 16;
const WINS_MAJORITY: usize = PLAYABLE + 17;

/// Seeds that count as one in features of captures.
const SEED_UNIT: f32 = 8.0;

fn seeds_share(seeds: f32) -> f32 {
    (seeds / SEED_UNIT).clamp(-4.0, 4.0)
}

/// Logarithms of small counts, one above each: they are asked for some hundred times a board.
static LOGS: LazyLock<[f32; 512]> = LazyLock::new(|| std::array::from_fn(|n| (n as f32).ln_1p()));

fn log(count: u64) -> f32 {
    let known = usize::try_from(count).ok().and_then(|n| LOGS.get(n));
    known.copied().unwrap_or_else(|| (count as f32).ln_1p())
}

/// Writes the pit features of an open position, `f32[N, FEATURES]`, one sowing after another.
///
/// Row `i` of the array is ring pit `i` counted from the mover's left: `0..C` the mover's own
/// pits, `C..2C` the other row; pit `i` lies opposite to `N-1-i`. `out` must hold
/// `N * FEATURES` numbers, a longer one is filled from its start and a shorter one left alone.
///
/// This is the slow twin of [`FeatureWriter`].
pub fn write_features(position: &Position, out: &mut [f32]) {
    let mut outlook = Outlook::default();
    outlook.take_by_rules(position);
    write_outlook(position, &outlook, out);
}

/// Writes features of many positions, with vector instructions where a board allows.
///
/// ```
/// use endodoi::policy::features::{FEATURES, FeatureWriter, write_features};
/// use endodoi::{Position, Variant};
/// let position = Position::start(&Variant::EnGehe.ruleset());
/// let mut twins = [vec![0.0; 100 * FEATURES], vec![0.0; 100 * FEATURES]];
/// FeatureWriter::default().write(&position, &mut twins[0]);
/// write_features(&position, &mut twins[1]);
/// assert_eq!(twins[0], twins[1]);
/// ```
#[derive(Debug)]
pub struct FeatureWriter {
    finder: OutlookFinder,
}

impl Default for FeatureWriter {
    /// Uses the fastest instructions of this processor.
    fn default() -> FeatureWriter {
        FeatureWriter::with_instructions(Instructions::best())
    }
}

impl FeatureWriter {
    /// Uses a set of instructions; every set writes the same numbers.
    pub fn with_instructions(instructions: Instructions) -> FeatureWriter {
        FeatureWriter {
            finder: OutlookFinder::new(instructions),
        }
    }

    /// Writes the pit features of an open position as [`write_features`] does.
    pub fn write(&mut self, position: &Position, out: &mut [f32]) {
        write_outlook(position, self.finder.find(position), out);
    }
}

/// Writes the pit features of an open position of which the outlook is known.
fn write_outlook(position: &Position, outlook: &Outlook, out: &mut [f32]) {
    let ruleset = position.ruleset();
    let (pits, columns) = (ruleset.pits(), ruleset.columns());
    let Some(out) = out.get_mut(..pits * FEATURES) else {
        return;
    };
    out.fill(0.0);
    let (board, mover) = (position.board(), position.to_move());
    let seeds = board.row(mover).iter().chain(board.row(mover.other()));
    for ((pit, &seeds), row) in seeds.enumerate().zip(out.chunks_exact_mut(FEATURES)) {
        row[OWN] = f32::from(u8::from(pit < columns));
        row[SEEDS] = log(seeds.into()) / 2.0;
        row[COUNT + usize::from(seeds).min(COUNTS - 1)] = 1.0;
    }
    let left = board.seeds_on_board();
    for (pit, sowing) in outlook.sowings.iter().enumerate() {
        let Some(sowing) = sowing else { continue };
        let endless = sowing.end == SowingEnd::Endless;
        if endless && ruleset.endless() == Endless::Illegal {
            continue;
        }
        write_landing(sowing, pit < columns, pits, out);
        let row = &mut out[pit * FEATURES..(pit + 1) * FEATURES];
        write_sowing(sowing, row);
        if !endless && let Some(answers) = outlook.answers.get(pit) {
            write_answers(position, left, sowing, answers, row);
        }
    }
}

fn write_sowing(sowing: &Sowing, row: &mut [f32]) {
    row[PLAYABLE] = 1.0;
    row[CAPTURED] = seeds_share(sowing.captured.into());
    row[CAPTURES] = f32::from(u8::from(sowing.end == SowingEnd::Captured));
    row[ENDS_OPPONENT] = f32::from(u8::from(sowing.end == SowingEnd::Opponent));
    row[ENDS_EMPTY] = f32::from(u8::from(sowing.end == SowingEnd::Empty));
    row[LAPS] = log(sowing.laps.into()) / 3.0;
    row[SOWN] = log(sowing.seeds_sown) / 4.0;
}

/// Counts a landing at its pit, and the threat to the pit opposite to a capture.
fn write_landing(sowing: &Sowing, own: bool, pits: usize, out: &mut [f32]) {
    let Some(last) = sowing.last else { return };
    let last = usize::from(last);
    let plane = if own {
        LANDED_BY_MOVER
    } else {
        LANDED_BY_OTHER
    };
    let landings = &mut out[last * FEATURES + plane];
    *landings = (*landings + 0.5).min(2.0);
    if sowing.end == SowingEnd::Captured {
        out[(pits - 1 - last) * FEATURES + THREATENED] = 1.0;
    }
}

/// Writes what the other side could answer to the mover's sowing; `left` seeds lie on the board.
fn write_answers(
    position: &Position,
    left: u32,
    sowing: &Sowing,
    answers: &Answers,
    row: &mut [f32],
) {
    let (ruleset, mover) = (position.ruleset(), position.to_move());
    let lead = position.board().lead(mover);
    let decided = ruleset.endless() == Endless::Illegal;
    // More than half of all seeds: more than the other side has captured and all that is left.
    if decided && lead + 2 * i32::from(sowing.captured) > left as i32 {
        row[WINS_MAJORITY] = 1.0;
    }
    if answers.count == 0 {
        // All that lies on the board is the mover's then (E1).
        row[ENDS_GAME] = 1.0;
        row[END_MARGIN] = seeds_share(left as f32);
        row[END_RESULT] = (lead + left as i32).signum() as f32;
        row[GAIN_LESS_REPLY] = seeds_share(left as f32);
        return;
    }
    let best = answers.best as f32;
    row[BEST_REPLY] = seeds_share(best);
    row[MEAN_REPLY] = seeds_share(answers.sum as f32 / answers.count as f32);
    row[GAIN_LESS_REPLY] = seeds_share(f32::from(sowing.captured) - best);
    row[REPLIES] = answers.count as f32 / ruleset.columns() as f32;
}

/// Writes the board features of an open position, `f32[GLOBALS]`: lead, seeds left, seeds that
/// each side needs for a majority, quiet plies, legal moves, size and options.
///
/// A shorter `out` is left alone.
pub fn write_globals(position: &Position, out: &mut [f32]) {
    let Some(out) = out.get_mut(..GLOBALS) else {
        return;
    };
    let (ruleset, board) = (position.ruleset(), position.board());
    let (own, other) = (position.to_move(), position.to_move().other());
    let all = board.total();
    let total = (all as f32).max(1.0);
    let seeds = board.seeds_on_board();
    let left = seeds as f32;
    let lead = board.lead(own) as f32;
    let row_share = |side| {
        board
            .row(side)
            .iter()
            .map(|&seeds| f32::from(seeds))
            .sum::<f32>()
            / left.max(1.0)
    };
    let needed = |side: Side| {
        let captured = f32::from(board.captured()[side.index()]);
        ((total / 2.0 - captured) / left.max(1.0)).clamp(-1.0, 2.0)
    };
    let flag = |set: bool| f32::from(u8::from(set));
    out.copy_from_slice(&[
        4.0 * lead / total,
        (lead / (left + 1.0)).clamp(-2.0, 2.0),
        seeds_share(lead),
        left / total,
        log(seeds.into()) / 4.0,
        row_share(own) - row_share(other),
        needed(own),
        needed(other),
        flag(lead > left) - flag(-lead > left),
        f32::from(position.quiet()) / f32::from(ruleset.quiet_limit()),
        position.legal_moves().len() as f32 / ruleset.columns() as f32,
        log(ruleset.columns() as u64) / 3.0,
        log(all.max(1).into()) / 5.0,
        flag(ruleset.endless() == Endless::Draw),
        flag(ruleset.lone_capture() == LoneCapture::Taken),
        flag(ruleset.direction() == Direction::Parity),
    ]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ruleset::{Ruleset, RulesetFields, Variant};

    fn start() -> Position {
        let fields = RulesetFields {
            columns: Some(6),
            ..RulesetFields::default()
        };
        Position::start(&Ruleset::new(Variant::EnDodoi, &fields).unwrap())
    }

    fn features(position: &Position) -> Vec<f32> {
        let mut out = vec![7.0; position.ruleset().pits() * FEATURES];
        write_features(position, &mut out);
        out
    }

    fn globals(position: &Position) -> Vec<f32> {
        let mut out = vec![7.0; GLOBALS];
        write_globals(position, &mut out);
        out
    }

    #[test]
    fn both_sides_see_the_same_of_a_swapped_position() {
        let mut position = start();
        for column in [0, 3, 2, 5, 4, 1] {
            if position.legal_moves().contains(column) {
                position = position.play(column).unwrap();
            }
            assert_eq!(
                features(&position),
                features(&position.swap_sides()),
                "{position}"
            );
            assert_eq!(
                globals(&position),
                globals(&position.swap_sides()),
                "{position}"
            );
        }
    }

    #[test]
    fn the_move_of_the_worked_example_is_described() {
        let out = features(&start());
        // Column 0: 5 laps, 26 seeds, last in pit 2, captures 2.
        let row = &out[..FEATURES];
        assert_eq!(
            (row[PLAYABLE], row[CAPTURES], row[CAPTURED]),
            (1.0, 1.0, 2.0 / SEED_UNIT)
        );
        assert!((row[LAPS] - 6_f32.ln() / 3.0).abs() < 1e-6);
        assert!(row[COUNT + 4] > 0.0 && row[COUNT + 3] <= 0.0);
        // Column 4 ends in pit 6, North's, where North's own sowing of column 4 does not.
        assert!(out[4 * FEATURES + ENDS_OPPONENT] > 0.0);
        assert!(out[6 * FEATURES + LANDED_BY_MOVER] >= 0.5);
    }

    #[test]
    fn every_number_is_finite_on_extreme_boards() {
        for (columns, seeds) in [(1, 64), (64, 64), (2, 1)] {
            let fields = RulesetFields {
                columns: Some(columns),
                seeds_per_pit: Some(seeds),
                ..RulesetFields::default()
            };
            let mut position = Position::start(&Ruleset::new(Variant::EnDodoi, &fields).unwrap());
            while let Some(column) = position.legal_moves().nth(0) {
                assert!(features(&position).iter().all(|number| number.abs() < 10.0));
                assert!(globals(&position).iter().all(|number| number.abs() < 10.0));
                position = position.play(column).unwrap();
            }
        }
    }
}
