//! Board, turn and sizes: clauses B1 to B4 and the ranges of every field.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

mod common;

use common::{changed, dodoi, set_up, with};
use endodoi::{
    Direction, Endless, LoneCapture, MoveError, Position, Ruleset, RulesetError, RulesetFields,
    SetupError, Side, Variant, pit,
};

#[test]
fn b1_every_pit_starts_with_k_seeds_in_two_rows() {
    for (columns, k) in [(1, 1), (6, 4), (64, 64)] {
        let rules = changed(&dodoi(columns), |fields| fields.seeds_per_pit = Some(k));
        let start = endodoi::Board::start(&rules);
        assert_eq!(start.pits().len() as i64, 2 * columns);
        assert!(start.pits().iter().all(|&n| i64::from(n) == k));
        assert_eq!(start.captured(), [0, 0]);
        assert_eq!(i64::from(start.total()), 2 * columns * k);
    }
}

#[test]
fn b2_ring_index_anticlockwise_is_increasing() {
    // South's left to right, then North's left to right, then South's again.
    let south = set_up(&dodoi(3), &[0, 0, 1, 0, 0, 0], 0, [0, 0], 0);
    assert_eq!(south.sow(2).expect("one seed").0.last, Some(3));
    let north = set_up(&dodoi(3), &[0, 0, 0, 0, 0, 1], 1, [0, 0], 0);
    assert_eq!(north.sow(2).expect("one seed").0.last, Some(0));
}

#[test]
fn b2_opposite_pit_is_n_minus_1_minus_i() {
    for columns in 1..=64 {
        for index in 0..2 * columns {
            let opposite = pit::opposite(index, columns);
            assert_eq!(opposite, 2 * columns - 1 - index);
            assert_eq!(
                pit::owner(opposite, columns),
                pit::owner(index, columns).other()
            );
        }
    }
}

#[test]
fn b3_south_moves_first_and_sides_alternate() {
    let mut position = Position::start(&dodoi(6));
    let mut side = Side::South;
    while !position.is_over() {
        assert_eq!(position.to_move(), side);
        position = position.play(common::legal(&position)[0]).expect("legal");
        side = side.other();
    }
}

#[test]
fn b4_column_is_counted_from_the_movers_left() {
    let board = [0, 3, 0, 0, 0, 1, 2, 0];
    let north = set_up(&dodoi(4), &board, 1, [0, 0], 0);
    assert_eq!(common::legal(&north), [1, 2]);
    let next = north.play(1).expect("legal");
    assert_eq!(common::ring(&next)[5], 0);
}

#[test]
fn b4_observation_is_the_movers_view() {
    let position = set_up(&dodoi(2), &[1, 2, 3, 4], 1, [5, 6], 7);
    assert_eq!(position.observation(), [3, 4, 1, 2, 6, 5, 7]);
    let swapped = position.swap_sides();
    assert_eq!(swapped.to_move(), Side::South);
    assert_eq!(swapped.observation(), position.observation());
    assert_eq!(swapped.legal_moves(), position.legal_moves());
}

#[test]
fn columns_out_of_range_are_refused_and_named() {
    let start = Position::start(&dodoi(6));
    for column in [6, 7, 63, 64, 128, usize::MAX] {
        let error = start.play(column).expect_err("no such column");
        assert!(matches!(error, MoveError::ColumnRange { last: 5, .. }));
        assert!(error.to_string().ends_with(", expected 0 to 5"), "{error}");
        assert_eq!(start.sow(column).expect_err("no such column"), error);
    }
    let error = start.play(usize::MAX).expect_err("no such column");
    assert!(!error.to_string().contains('-'), "no wrap-around: {error}");
}

#[test]
fn variants_have_the_defaults_of_the_rules() {
    let table = [
        (Variant::EnDodoi, 8, 4, Direction::Anticlockwise),
        (Variant::EnGehe, 50, 4, Direction::Anticlockwise),
        (Variant::CrossEndodoi, 6, 3, Direction::Parity),
    ];
    for (variant, columns, seeds, direction) in table {
        let rules = variant.ruleset();
        assert_eq!(rules.columns(), columns);
        assert_eq!(rules.seeds_per_pit(), seeds);
        assert_eq!(rules.direction(), direction);
        assert_eq!(rules.lone_capture(), LoneCapture::Stays);
        assert_eq!(rules.endless(), Endless::Illegal);
        assert_eq!(rules.lap_limit(), 10_000);
        assert_eq!(usize::from(rules.quiet_limit()), 40 * columns);
        assert_eq!(with(variant, &RulesetFields::default()), rules);
        assert_eq!(variant.id().parse(), Ok(variant));
    }
}

#[test]
fn e3_default_quiet_limit_follows_the_columns() {
    for columns in 1..=64 {
        assert_eq!(i64::from(dodoi(columns).quiet_limit()), 40 * columns);
    }
}

type Setter = fn(&mut RulesetFields, i64);
type Getter = fn(&Ruleset) -> i64;

#[test]
fn every_field_is_accepted_at_its_ends_and_refused_past_them() {
    let table: [(&str, i64, Setter, Getter); 4] = [
        (
            "columns",
            64,
            |f, v| f.columns = Some(v),
            |r| r.columns() as i64,
        ),
        (
            "seeds_per_pit",
            64,
            |f, v| f.seeds_per_pit = Some(v),
            |r| r.seeds_per_pit().into(),
        ),
        (
            "lap_limit",
            1_000_000,
            |f, v| f.lap_limit = Some(v),
            |r| r.lap_limit().into(),
        ),
        (
            "quiet_limit",
            32_767,
            |f, v| f.quiet_limit = Some(v),
            |r| r.quiet_limit().into(),
        ),
    ];
    for variant in Variant::ALL {
        for (name, highest, set, get) in table {
            for value in [1, 2, highest - 1, highest] {
                let mut fields = RulesetFields::default();
                set(&mut fields, value);
                assert_eq!(get(&with(variant, &fields)), value, "{name}");
            }
            for value in [
                0,
                -1,
                highest + 1,
                highest + 256,
                highest + 65_536,
                i64::MIN,
                i64::MAX,
            ] {
                let mut fields = RulesetFields::default();
                set(&mut fields, value);
                let error = Ruleset::new(variant, &fields).expect_err(name);
                assert_eq!(
                    error,
                    RulesetError::OutOfRange {
                        field: name,
                        value,
                        low: 1,
                        high: highest
                    }
                );
                assert_eq!(
                    error.to_string(),
                    format!("{name} is {value}, expected 1 to {highest}")
                );
            }
        }
    }
}

#[test]
fn names_of_options_are_read_or_refused_with_the_field() {
    assert_eq!("parity".parse(), Ok(Direction::Parity));
    assert_eq!("taken".parse(), Ok(LoneCapture::Taken));
    assert_eq!("draw".parse(), Ok(Endless::Draw));
    let refused = [
        (
            "direction",
            "Parity".parse::<Direction>().map(|_| ()),
            "anticlockwise, parity",
        ),
        (
            "lone_capture",
            "".parse::<LoneCapture>().map(|_| ()),
            "stays, taken",
        ),
        (
            "endless",
            "drawn".parse::<Endless>().map(|_| ()),
            "illegal, draw",
        ),
        (
            "variant",
            "endodoi".parse::<Variant>().map(|_| ()),
            "en-dodoi, en-gehe, cross-endodoi",
        ),
    ];
    for (field, result, expected) in refused {
        let text = result.expect_err("no such name").to_string();
        assert!(text.starts_with(&format!("{field} is ")), "{text}");
        assert!(
            text.ends_with(&format!("expected one of {expected}")),
            "{text}"
        );
    }
}

#[test]
fn rulesets_as_json_refuse_unknown_keys_and_values() {
    let rules = changed(&Variant::CrossEndodoi.ruleset(), |fields| {
        fields.lap_limit = Some(77);
    });
    let text = serde_json::to_string(&rules).expect("serialisable");
    assert_eq!(
        serde_json::from_str::<Ruleset>(&text).expect("round trip"),
        rules
    );
    assert_eq!(
        serde_json::from_str::<Ruleset>("{}").expect("defaults"),
        Variant::EnDodoi.ruleset()
    );
    let refused = [
        (r#"{"colums": 6}"#, "colums"),
        (r#"{"columns": 65}"#, "columns is 65, expected 1 to 64"),
        (
            r#"{"seeds_per_pit": 0}"#,
            "seeds_per_pit is 0, expected 1 to 64",
        ),
        (r#"{"direction": "left"}"#, "left"),
        (r#"{"variant": "oware"}"#, "oware"),
    ];
    for (text, wanted) in refused {
        let error = serde_json::from_str::<Ruleset>(text)
            .expect_err(text)
            .to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

fn refused(board: &[i64], captured: [i64; 2], quiet: i64) -> SetupError {
    let (south, north) = board.split_at(2);
    endodoi::Setup {
        south: south.to_vec(),
        north: north.to_vec(),
        captured,
        quiet,
        ..endodoi::Setup::default()
    }
    .position(&dodoi(2))
    .expect_err("not a position")
}

#[test]
fn set_ups_at_and_past_every_range() {
    // At the ends: 32,767 seeds in all, wherever they are (E2).
    for (board, captured) in [
        ([32_767, 0, 0, 0], [0, 0]),
        ([0, 0, 1, 1], [32_764, 1]),
        ([0, 0, 0, 0], [0, 32_767]),
        ([0, 0, 0, 0], [0, 0]),
    ] {
        for side in [0, 1] {
            let position = set_up(&dodoi(2), &board, side, captured, 0);
            let total = board.iter().sum::<i64>() + captured[0] + captured[1];
            assert_eq!(i64::from(position.board().total()), total);
        }
    }
    set_up(&dodoi(2), &[1, 1, 1, 1], 0, [0, 0], 80);

    let side = Side::North;
    assert_eq!(
        refused(&[0, 0, 0, 32_768], [0, 0], 0),
        SetupError::PitRange {
            side,
            column: 1,
            value: 32_768
        }
    );
    assert_eq!(
        refused(&[0, 0, -1, 0], [0, 0], 0).to_string(),
        "column 0 of north holds -1 seeds, expected 0 to 32767"
    );
    assert_eq!(
        refused(&[0, 0, 0, 0], [0, 32_768], 0),
        SetupError::CapturedRange {
            side,
            value: 32_768
        }
    );
    assert_eq!(
        refused(&[0, 0, 0, 0], [i64::MIN, 0], 0).to_string(),
        format!("captured by south is {}, expected 0 to 32767", i64::MIN)
    );
    assert_eq!(
        refused(&[32_767, 0, 0, 0], [1, 0], 0),
        SetupError::TotalRange { total: 32_768 }
    );
    assert_eq!(
        refused(&[32_767; 4], [32_767; 2], 0),
        SetupError::TotalRange { total: 6 * 32_767 }
    );
    assert_eq!(
        refused(&[1, 1, 1, 1], [0, 0], 81).to_string(),
        "quiet is 81, expected 0 to 80 (the quiet_limit)"
    );
    assert_eq!(
        refused(&[1, 1, 1, 1], [0, 0], -1),
        SetupError::QuietRange {
            value: -1,
            limit: 80
        }
    );
    assert_eq!(
        refused(&[1, 1, 1], [0, 0], 0),
        SetupError::RowLength {
            side,
            got: 1,
            expected: 2
        }
    );
    assert_eq!(
        refused(&[1; 200], [0, 0], 0).to_string(),
        "the row of north has 198 pits, expected 2"
    );
}
