//! What several test programs share: golden data, twins, random rule sets and positions.

// Every test program compiles this module and uses a part of it.
#![allow(dead_code)]
// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used)]

use endodoi::reference::{Game, Sown};
use endodoi::rng::{self, Purpose, Xoshiro128PlusPlus};
use endodoi::{
    Direction, Endless, LoneCapture, Position, Ruleset, RulesetFields, Setup, Side, Sowing, Variant,
};
use serde::Deserialize;
use std::collections::BTreeMap;

/// All of `golden.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Golden {
    pub(crate) sets: BTreeMap<String, GoldenSet>,
    pub(crate) values: Vec<GoldenValue>,
    pub(crate) lap_limits: Vec<GoldenLapLimit>,
    pub(crate) endless: BTreeMap<String, GoldenEndless>,
}

/// Counts, positions and games of one rule set.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GoldenSet {
    pub(crate) rules: GoldenRules,
    pub(crate) perft: Vec<u64>,
    pub(crate) positions: Vec<GoldenPosition>,
    pub(crate) games: Vec<GoldenGame>,
}

/// Positions of one rule set that offer an endless move.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GoldenEndless {
    pub(crate) rules: GoldenRules,
    pub(crate) positions: Vec<GoldenPosition>,
}

/// The fields of a rule set as golden data name them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GoldenRules {
    pub(crate) columns: i64,
    pub(crate) seeds: i64,
    pub(crate) cross: bool,
    pub(crate) lone_capture: LoneCapture,
    pub(crate) endless: Endless,
    pub(crate) lap_limit: i64,
    pub(crate) quiet_limit: Option<i64>,
}

/// A position with all its moves.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GoldenPosition {
    pub(crate) board: Vec<i64>,
    pub(crate) side: usize,
    pub(crate) captured: [i64; 2],
    pub(crate) quiet: i64,
    pub(crate) end: Option<String>,
    pub(crate) legal: Vec<usize>,
    pub(crate) endless: Vec<usize>,
    pub(crate) moves: Vec<GoldenMove>,
}

/// What one legal move does.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GoldenMove {
    pub(crate) col: usize,
    pub(crate) laps: i64,
    pub(crate) sown: i64,
    pub(crate) last: Option<usize>,
    pub(crate) gain: i64,
    /// Where the move ends the game as stuck: before the rest was taken.
    pub(crate) board: Vec<i64>,
    /// Where the move ends the game as stuck: with the rest.
    pub(crate) captured: [i64; 2],
    pub(crate) quiet: i64,
    pub(crate) end: Option<String>,
}

/// A whole game from the start.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GoldenGame {
    pub(crate) moves: Vec<usize>,
    pub(crate) captured: [i64; 2],
    pub(crate) end: String,
}

/// A move that ends after exactly `laps` laps.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GoldenLapLimit {
    pub(crate) set: String,
    pub(crate) board: Vec<i64>,
    pub(crate) side: usize,
    pub(crate) col: usize,
    pub(crate) laps: i64,
}

/// The first player's exact final margin from the start.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GoldenValue {
    pub(crate) columns: i64,
    pub(crate) seeds: i64,
    pub(crate) rules: String,
    pub(crate) value: i64,
    pub(crate) by: String,
}

/// Reads the golden data.
pub(crate) fn golden() -> Golden {
    serde_json::from_str(include_str!("../data/golden.json")).expect("golden.json is readable")
}

impl GoldenRules {
    /// Builds the rule set that these fields describe.
    pub(crate) fn ruleset(&self) -> Ruleset {
        let (variant, direction) = if self.cross {
            (Variant::CrossEndodoi, Direction::Parity)
        } else {
            (Variant::EnDodoi, Direction::Anticlockwise)
        };
        let fields = RulesetFields {
            columns: Some(self.columns),
            seeds_per_pit: Some(self.seeds),
            direction: Some(direction),
            lone_capture: Some(self.lone_capture),
            endless: Some(self.endless),
            lap_limit: Some(self.lap_limit),
            quiet_limit: self.quiet_limit,
            ..RulesetFields::default()
        };
        Ruleset::new(variant, &fields).expect("golden rules are valid")
    }
}

/// Builds an En Dodoi rule set of `columns` with four seeds a pit.
pub(crate) fn dodoi(columns: i64) -> Ruleset {
    with(
        Variant::EnDodoi,
        &RulesetFields {
            columns: Some(columns),
            ..RulesetFields::default()
        },
    )
}

/// Builds a rule set from fields that are known to be valid.
pub(crate) fn with(variant: Variant, fields: &RulesetFields) -> Ruleset {
    Ruleset::new(variant, fields).expect("the fields are valid")
}

/// Returns `rules` with some fields changed.
pub(crate) fn changed(rules: &Ruleset, change: impl Fn(&mut RulesetFields)) -> Ruleset {
    let mut fields = RulesetFields::from(*rules);
    change(&mut fields);
    with(rules.variant(), &fields)
}

/// Returns `rules` with another lap limit.
pub(crate) fn with_lap_limit(rules: &Ruleset, laps: i64) -> Ruleset {
    changed(rules, |fields| fields.lap_limit = Some(laps))
}

/// Sets up a position from a board in ring order.
pub(crate) fn set_up(
    rules: &Ruleset,
    board: &[i64],
    side: usize,
    captured: [i64; 2],
    quiet: i64,
) -> Position {
    let (south, north) = board.split_at(rules.columns());
    Setup {
        south: south.to_vec(),
        north: north.to_vec(),
        to_move: Side::BOTH[side],
        captured,
        quiet,
    }
    .position(rules)
    .expect("the set-up is valid")
}

/// Sets up the same position in the core and in the reference.
pub(crate) fn twins(
    rules: &Ruleset,
    board: &[i64],
    side: usize,
    captured: [i64; 2],
    quiet: i64,
) -> (Position, Game) {
    let position = set_up(rules, board, side, captured, quiet);
    let game = Game::enter(*rules, board.to_vec(), side, captured, quiet);
    assert_same(&position, &game);
    (position, game)
}

/// Returns the board of a position in ring order.
pub(crate) fn ring(position: &Position) -> Vec<i64> {
    position
        .board()
        .pits()
        .iter()
        .map(|&n| i64::from(n))
        .collect()
}

/// Returns the captures of a position, South's first.
pub(crate) fn captured(position: &Position) -> [i64; 2] {
    position.board().captured().map(i64::from)
}

/// Returns the legal columns of a position.
pub(crate) fn legal(position: &Position) -> Vec<usize> {
    position.legal_moves().iter().collect()
}

/// Returns the name of the end reason.
pub(crate) fn end(position: &Position) -> Option<&'static str> {
    position
        .end_reason()
        .map(endodoi::position::EndReason::name)
}

/// Compares every field of the two twins.
#[track_caller]
pub(crate) fn assert_same(position: &Position, game: &Game) {
    let rules = position.ruleset();
    assert_eq!(ring(position), game.board, "board, {rules}, {game:?}");
    assert_eq!(
        captured(position),
        game.captured,
        "captured, {rules}, {game:?}"
    );
    assert_eq!(
        position.to_move().index(),
        game.side,
        "side, {rules}, {game:?}"
    );
    assert_eq!(
        i64::from(position.quiet()),
        game.quiet,
        "quiet, {rules}, {game:?}"
    );
    assert_eq!(
        end(position),
        game.end.map(endodoi::reference::End::name),
        "end, {rules}, {game:?}"
    );
    assert_eq!(
        position.is_over(),
        game.end.is_some(),
        "over, {rules}, {game:?}"
    );
    assert_eq!(
        position.outcome().map(endodoi::Outcome::name),
        game.outcome(),
        "outcome, {rules}, {game:?}"
    );
    let seen: Vec<i64> = position.observation().into_iter().map(i64::from).collect();
    assert_eq!(seen, game.observation(), "observation, {rules}, {game:?}");
    assert_eq!(legal(position), game.legal(), "legal, {rules}, {game:?}");
}

/// Compares what a move did in the two twins.
#[track_caller]
pub(crate) fn assert_same_sowing(sowing: &Sowing, sown: &Sown, about: &str) {
    let got = Sown {
        laps: sowing.laps.into(),
        seeds: sowing.seeds_sown as i64,
        last: sowing.last.map(usize::from),
        gain: sowing.captured.into(),
    };
    assert_eq!(&got, sown, "{about}");
}

/// Opens a random stream for a test.
pub(crate) fn stream(seed: u64, game: u64) -> Xoshiro128PlusPlus {
    rng::stream(rng::mix(seed, game), 0, Purpose::Opening)
}

/// Draws a number from `low` to `high`.
pub(crate) fn draw(rng: &mut Xoshiro128PlusPlus, low: i64, high: i64) -> i64 {
    low + i64::from(rng::below(rng, (high - low + 1) as u32))
}

/// Draws one of `list`.
pub(crate) fn pick<T: Copy>(rng: &mut Xoshiro128PlusPlus, list: &[T]) -> T {
    list[rng::below(rng, list.len() as u32) as usize]
}

/// Draws a rule set with every option, `low` to `high` columns and up to `most` seeds a pit.
pub(crate) fn random_ruleset(
    rng: &mut Xoshiro128PlusPlus,
    (low, high): (i64, i64),
    most: i64,
) -> Ruleset {
    let lap_limit = match draw(rng, 0, 4) {
        0 => draw(rng, 1, 12),
        1 => draw(rng, 13, 300),
        2 => draw(rng, 301, 30_000),
        _ => 10_000,
    };
    let quiet_limit = match draw(rng, 0, 3) {
        0 => Some(draw(rng, 1, 12)),
        1 => Some(draw(rng, 13, 400)),
        _ => None,
    };
    let fields = RulesetFields {
        columns: Some(draw(rng, low, high)),
        seeds_per_pit: Some(draw(rng, 1, most)),
        direction: Some(pick(rng, &[Direction::Anticlockwise, Direction::Parity])),
        lone_capture: Some(pick(rng, &[LoneCapture::Stays, LoneCapture::Taken])),
        endless: Some(pick(rng, &[Endless::Illegal, Endless::Draw])),
        lap_limit: Some(lap_limit),
        quiet_limit,
        ..RulesetFields::default()
    };
    with(pick(rng, &Variant::ALL), &fields)
}

/// Draws a board in ring order: each pit empty with some chance, else 1 to `most` seeds.
pub(crate) fn random_board(rng: &mut Xoshiro128PlusPlus, pits: usize, most: i64) -> Vec<i64> {
    let empty = draw(rng, 0, 9);
    (0..pits)
        .map(|_| {
            if draw(rng, 1, 10) <= empty {
                0
            } else {
                draw(rng, 1, most)
            }
        })
        .collect()
}
