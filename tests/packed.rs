//! Boards in one word sow as boards in rows do.

#![allow(clippy::expect_used, clippy::panic)]

mod common;

use endodoi::search::{MAX_PACKED_SEEDS, PackedRules};
use endodoi::{
    Board, Direction, LoneCapture, Position, Ruleset, RulesetFields, Setup, Side, SowingEnd,
    Variant, rng, sowing,
};
use rand::RngExt;

fn rulesets() -> Vec<Ruleset> {
    let mut all = Vec::new();
    for columns in 1..=8 {
        for direction in [Direction::Anticlockwise, Direction::Parity] {
            for lone in [LoneCapture::Stays, LoneCapture::Taken] {
                for lap_limit in [1, 2, 7, 31, 32, 33, 64, 65, 10_000] {
                    let fields = RulesetFields {
                        columns: Some(columns),
                        direction: Some(direction),
                        lone_capture: Some(lone),
                        lap_limit: Some(lap_limit),
                        ..RulesetFields::default()
                    };
                    all.push(common::with(Variant::EnDodoi, &fields));
                }
            }
        }
    }
    all
}

/// A random board of at most 255 seeds.
fn random_board(ruleset: &Ruleset, random: &mut impl rand::Rng) -> Option<Board> {
    let most = [2, 4, 9, 30][random.random_range(0..4)];
    let mut row = || {
        (0..ruleset.columns())
            .map(|_| random.random_range(0..=most))
            .collect::<Vec<i64>>()
    };
    let setup = Setup {
        south: row(),
        north: row(),
        ..Setup::default()
    };
    // A side without a move would lose the board when entered (E1); those are left out.
    let position = setup.position(ruleset).ok()?;
    (!position.is_over()).then(|| *position.board())
}

#[test]
fn every_move_of_a_packed_board_is_that_of_the_sowing() {
    let mut random = rng::stream(11, 0, rng::Purpose::Play);
    let mut endless = 0;
    for ruleset in rulesets() {
        let rules = PackedRules::new(&ruleset).expect("16 pits at most");
        for _ in 0..150 {
            let Some(board) = random_board(&ruleset, &mut random) else {
                continue;
            };
            for side in [Side::South, Side::North] {
                if board.seeds_on_board() > MAX_PACKED_SEEDS {
                    assert_eq!(rules.pack(&board, side), None);
                    continue;
                }
                let packed = rules.pack(&board, side).expect("it fits");
                assert_eq!(rules.unpack(packed, side).pits(), board.pits());
                assert_eq!(
                    rules.swap(packed),
                    rules.pack(&board, side.other()).unwrap_or_default()
                );
                assert_eq!(rules.seeds(packed), board.seeds_on_board());
                for (column, &seeds) in board.row(side).iter().enumerate() {
                    assert_eq!(rules.candidates(packed) >> column & 1 == 1, seeds > 0);
                    if seeds == 0 {
                        continue;
                    }
                    let mut after = board;
                    let sowing = sowing::sow(&mut after, &ruleset, side, column);
                    let child = rules.sow(packed, column);
                    assert_eq!(child.is_none(), sowing.end == SowingEnd::Endless);
                    endless += usize::from(child.is_none());
                    if let Some(child) = child {
                        assert_eq!(u16::from(child.captured), sowing.captured);
                        assert_eq!(rules.unpack(child.board, side.other()).pits(), after.pits());
                    }
                }
            }
        }
    }
    assert!(endless > 1_000, "only {endless} endless sowings were met");
}

#[test]
fn only_boards_of_sixteen_pits_are_packed() {
    let of = |columns| {
        let fields = RulesetFields {
            columns: Some(columns),
            ..RulesetFields::default()
        };
        common::with(Variant::EnDodoi, &fields)
    };
    assert!(PackedRules::new(&of(8)).is_some());
    assert!(PackedRules::new(&of(9)).is_none());
    let rules = PackedRules::new(&of(8)).expect("16 pits");
    assert_eq!(
        rules.pack(Position::start(&of(7)).board(), Side::South),
        None
    );
}
