//! Alpha-beta against plain minimax over the public rules.

// A helper of a test fails as loudly as a test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use endodoi::rng::{self, Purpose};
use endodoi::search::{AlphaBetaSearch, MAX_DEPTH, SearchError, alpha_beta};
use endodoi::{EndReason, Position, Ruleset, RulesetFields, Setup, Side, Variant};

fn ruleset(json: &str) -> Ruleset {
    let fields: RulesetFields = serde_json::from_str(json).unwrap();
    Ruleset::try_from(fields).unwrap()
}

/// Values a position from the view of `side`, whole lines, no pruning.
fn minimax(position: &Position, depth: u32, side: Side) -> i32 {
    if position.end_reason() == Some(EndReason::Endless) {
        return 0;
    }
    if depth == 0 || position.is_over() {
        return position.board().lead(side);
    }
    let values = position
        .legal_moves()
        .iter()
        .map(|column| minimax(&position.play(column).unwrap(), depth - 1, side));
    if position.to_move() == side {
        values.max().unwrap()
    } else {
        values.min().unwrap()
    }
}

/// The definition: the lowest column among those of the greatest value.
fn plain_best(position: &Position, depth: u32) -> (usize, i32) {
    let side = position.to_move();
    let mut best: Option<(usize, i32)> = None;
    for column in position.legal_moves() {
        let value = minimax(&position.play(column).unwrap(), depth - 1, side);
        if best.is_none_or(|(_, most)| value > most) {
            best = Some((column, value));
        }
    }
    best.unwrap()
}

/// Random boards: sparse and full ones, any captures, quiet counts up to the limit.
fn random_position(rules: &Ruleset, rng: &mut rng::Xoshiro128PlusPlus) -> Position {
    let most = [1, 2, 3, 5, 9][rng::below(rng, 5) as usize];
    let mut row = || -> Vec<i64> {
        (0..rules.columns())
            .map(|_| i64::from(rng::below(rng, most + 1)))
            .collect()
    };
    let (south, north) = (row(), row());
    let setup = Setup {
        south,
        north,
        to_move: if rng::below(rng, 2) == 0 {
            Side::South
        } else {
            Side::North
        },
        captured: [rng::below(rng, 12).into(), rng::below(rng, 12).into()],
        quiet: rng::below(rng, u32::from(rules.quiet_limit()).min(6) + 1).into(),
    };
    setup.position(rules).unwrap()
}

const RULESETS: [&str; 13] = [
    r#"{"columns":2}"#,
    r#"{"columns":2,"endless":"draw","quiet_limit":3}"#,
    r#"{"columns":3,"lone_capture":"taken"}"#,
    r#"{"columns":3,"endless":"draw","lap_limit":3}"#,
    r#"{"columns":3,"quiet_limit":2,"lap_limit":2}"#,
    r#"{"columns":4,"quiet_limit":4}"#,
    r#"{"columns":6}"#,
    r#"{"columns":6,"lone_capture":"taken","endless":"draw","quiet_limit":5}"#,
    r#"{"variant":"cross-endodoi"}"#,
    r#"{"variant":"cross-endodoi","columns":2,"endless":"draw"}"#,
    r#"{"variant":"cross-endodoi","columns":3,"lone_capture":"taken","lap_limit":4}"#,
    r#"{"columns":1,"quiet_limit":2}"#,
    r#"{"variant":"cross-endodoi","columns":3,"endless":"draw","lap_limit":50}"#,
];

#[test]
fn move_and_value_equal_plain_minimax() {
    let mut compared = 0;
    let mut ends = [0_u32; 3];
    for (index, json) in RULESETS.iter().enumerate() {
        let rules = ruleset(json);
        let mut rng = rng::stream(index as u64, 0, Purpose::Policy);
        let deepest = if rules.columns() > 4 { 4 } else { 6 };
        let mut searches: Vec<AlphaBetaSearch> = (1..=deepest)
            .map(|d| AlphaBetaSearch::new(d).unwrap())
            .collect();
        for _ in 0..400 {
            let position = random_position(&rules, &mut rng);
            if let Some(reason) = position.end_reason() {
                ends[reason as usize] += 1;
                continue;
            }
            for depth in 1..=deepest {
                let result = searches[depth as usize - 1].search(&position).unwrap();
                let expected = plain_best(&position, depth);
                assert_eq!(
                    (result.column, result.value),
                    expected,
                    "{json} depth {depth}: {position}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 15_000, "only {compared} searches");
    assert!(ends[EndReason::Stuck as usize] > 0 && ends[EndReason::Quiet as usize] > 0);
}

#[test]
fn move_and_value_equal_plain_minimax_on_large_boards() {
    for (json, deepest) in [(r#"{"columns":10}"#, 3), (r#"{"variant":"en-gehe"}"#, 2)] {
        let rules = ruleset(json);
        let mut rng = rng::stream(5, 0, Purpose::Policy);
        for _ in 0..20 {
            let position = random_position(&rules, &mut rng);
            if position.is_over() {
                continue;
            }
            for depth in 1..=deepest {
                let result = alpha_beta(&position, depth).unwrap();
                assert_eq!(
                    (result.column, result.value),
                    plain_best(&position, depth),
                    "{position}"
                );
            }
        }
    }
}

#[test]
fn deep_searches_equal_plain_minimax() {
    for json in [r#"{"columns":2,"quiet_limit":6}"#, RULESETS[9]] {
        let rules = ruleset(json);
        let mut rng = rng::stream(8, 0, Purpose::Policy);
        for _ in 0..40 {
            let position = random_position(&rules, &mut rng);
            if !position.is_over() {
                let result = alpha_beta(&position, 11).unwrap();
                let expected = plain_best(&position, 11);
                assert_eq!((result.column, result.value), expected, "{position}");
            }
        }
    }
}

#[test]
fn a_searcher_keeps_nothing_from_earlier_positions() {
    let rules = ruleset(r#"{"columns":6}"#);
    let mut rng = rng::stream(9, 0, Purpose::Policy);
    let mut kept = AlphaBetaSearch::new(5).unwrap();
    for _ in 0..50 {
        let position = random_position(&rules, &mut rng);
        if !position.is_over() {
            assert_eq!(kept.search(&position), alpha_beta(&position, 5));
        }
    }
}

#[test]
fn s6_playing_an_endless_sowing_is_worth_zero_whatever_was_captured() {
    let rules = ruleset(r#"{"columns":2,"endless":"draw"}"#);
    // Column 0 is endless. South is behind: the draw is better than anything else it has.
    let behind = Position::from_text("2,0/2,1 S 0-9 0", &rules).unwrap();
    let best = alpha_beta(&behind, 3).unwrap();
    assert_eq!((best.column, best.value), (0, 0));
    assert_eq!(
        behind.play(0).unwrap().end_reason(),
        Some(EndReason::Endless)
    );
}

#[test]
fn e1_the_rest_is_not_lost_in_narrow_windows_where_an_endless_sowing_draws() {
    let rules = ruleset(RULESETS[12]);
    // After column 2 North captures five, South five, and E1 gives South the last seed.
    let position = Position::from_text("1,3,3/4,0,0 S 0-6 68", &rules).unwrap();
    let best = alpha_beta(&position, 3).unwrap();
    assert_eq!((best.column, best.value), (2, -5));
}

#[test]
fn e1_the_rest_is_counted_at_the_end_of_the_line() {
    let rules = ruleset(r#"{"columns":2,"lone_capture":"stays"}"#);
    // South's only seed moves to its right pit; North has none and is stuck: South takes the rest.
    let position = Position::from_text("1,0/0,0 S 3-1 0", &rules).unwrap();
    let best = alpha_beta(&position, 1).unwrap();
    assert_eq!((best.column, best.value), (0, 3));
    let deeper = alpha_beta(&position, 64).unwrap();
    assert_eq!((deeper.column, deeper.value), (0, 3));
}

#[test]
fn swapping_the_sides_changes_neither_move_nor_value() {
    let rules = Variant::CrossEndodoi.ruleset();
    let mut rng = rng::stream(3, 0, Purpose::Policy);
    for _ in 0..50 {
        let position = random_position(&rules, &mut rng);
        if !position.is_over() {
            assert_eq!(
                alpha_beta(&position, 4),
                alpha_beta(&position.swap_sides(), 4)
            );
        }
    }
}

#[test]
fn depth_and_finished_games_are_refused() {
    let start = Position::start(&Variant::EnDodoi.ruleset());
    for depth in [0, MAX_DEPTH + 1, u32::MAX] {
        let error = alpha_beta(&start, depth).unwrap_err();
        assert_eq!(error, SearchError::DepthRange { depth });
        assert_eq!(
            error.to_string(),
            format!("depth is {depth}, expected 1 to 64")
        );
    }
    let rules = ruleset(r#"{"columns":2}"#);
    let over = Position::from_text("0,0/1,1 S 3-3 0", &rules).unwrap();
    assert_eq!(
        alpha_beta(&over, 2),
        Err(SearchError::Over {
            reason: EndReason::Stuck
        })
    );
}
