//! Alpha-beta against plain minimax over the public rules.

// A helper of a test fails as loudly as a test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use endodoi::rng::{self, Purpose};
use endodoi::search::{
    AlphaBetaConfig, AlphaBetaSearch, LeafEvaluator, MAX_DEPTH, MAX_TABLE_BYTES, MAX_THREADS,
    MAX_TIME, SearchError, SearchLimit, SearchResult, SeedCount, alpha_beta,
};
use endodoi::{EndReason, Position, Ruleset, RulesetFields, Setup, Side, Variant};

fn ruleset(json: &str) -> Ruleset {
    let fields: RulesetFields = serde_json::from_str(json).unwrap();
    Ruleset::try_from(fields).unwrap()
}

/// Values a position from the view of `side`, whole lines, no pruning, in units of `leaves`.
fn minimax<E: LeafEvaluator>(position: &Position, depth: u32, side: Side, leaves: &mut E) -> i32 {
    let board = position.board();
    if position.end_reason() == Some(EndReason::Endless) {
        return 0;
    }
    if position.is_over() {
        return board.lead(side) * E::UNITS;
    }
    if depth == 0 {
        let mover = position.to_move();
        let rows = board.row(mover).iter().chain(board.row(mover.other()));
        let rest = board.seeds_on_board() as i32 * E::UNITS;
        let pits: Vec<u16> = rows.copied().collect();
        let future = leaves.margin(&pits).clamp(-rest, rest);
        let future = if mover == side { future } else { -future };
        return board.lead(side) * E::UNITS + future;
    }
    let legal = position.legal_moves().iter();
    let values =
        legal.map(|column| minimax(&position.play(column).unwrap(), depth - 1, side, leaves));
    if position.to_move() == side {
        values.max().unwrap()
    } else {
        values.min().unwrap()
    }
}

/// The definition: the lowest column among those of the greatest value.
fn plain_best(position: &Position, depth: u32) -> (usize, i32) {
    plain_best_with(position, depth, &mut SeedCount)
}

fn plain_best_with<E: LeafEvaluator>(
    position: &Position,
    depth: u32,
    leaves: &mut E,
) -> (usize, i32) {
    let side = position.to_move();
    let mut best: Option<(usize, i32)> = None;
    for column in position.legal_moves() {
        let value = minimax(&position.play(column).unwrap(), depth - 1, side, leaves);
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

fn search_with(limit: SearchLimit, table_bytes: u64, threads: u32) -> AlphaBetaSearch {
    AlphaBetaSearch::with(AlphaBetaConfig {
        limit,
        table_bytes: Some(table_bytes),
        threads,
    })
    .unwrap()
}

fn found(result: &SearchResult) -> (usize, i32) {
    (result.column, result.value)
}

#[test]
fn tables_of_any_size_and_threads_change_neither_move_nor_value() {
    let more = [
        r#"{"columns":3,"quiet_limit":8}"#,
        r#"{"columns":3,"quiet_limit":7,"endless":"draw","lone_capture":"taken"}"#,
        r#"{"columns":9,"quiet_limit":5}"#,
        r#"{"columns":17,"seeds_per_pit":1}"#,
    ];
    let mut compared = 0;
    for (index, json) in RULESETS.iter().chain(&more).enumerate() {
        let rules = ruleset(json);
        let mut rng = rng::stream(index as u64, 1, Purpose::Policy);
        let depth = match rules.columns() {
            1..=3 => 7,
            4..=8 => 5,
            _ => 3,
        };
        let limit = SearchLimit::Depth(depth);
        let mut searches = [
            (0, 1),
            (1 << 14, 1),
            (1 << 24, 1),
            (1 << 14, 2),
            (1 << 20, 2),
        ]
        .map(|(bytes, threads)| search_with(limit, bytes, threads));
        for _ in 0..40 {
            let position = random_position(&rules, &mut rng);
            if position.is_over() {
                continue;
            }
            let expected = plain_best(&position, depth);
            for search in &mut searches {
                let result = search.search(&position).unwrap();
                assert_eq!(found(&result), expected, "{json}: {position}");
                compared += 1;
            }
        }
    }
    assert!(compared > 2_000, "only {compared} searches");
}

#[test]
fn boards_of_thousands_of_seeds_are_searched_exactly() {
    for json in [
        r#"{"columns":3}"#,
        r#"{"columns":6,"endless":"draw"}"#,
        r#"{"variant":"cross-endodoi","columns":8,"lone_capture":"taken"}"#,
        r#"{"columns":64}"#,
    ] {
        let rules = ruleset(json);
        let mut rng = rng::stream(6, 0, Purpose::Policy);
        for most in [40, 250, 32_767 / (2 * rules.columns() as u32)] {
            for _ in 0..6 {
                let mut row = || -> Vec<i64> {
                    let seeds = (0..rules.columns()).map(|_| rng::below(&mut rng, most + 1));
                    seeds.map(i64::from).collect()
                };
                let setup = Setup {
                    south: row(),
                    north: row(),
                    ..Setup::default()
                };
                let position = setup.position(&rules).unwrap();
                let depth = if rules.columns() > 10 { 1 } else { 3 };
                if !position.is_over() {
                    let result = alpha_beta(&position, depth).unwrap();
                    assert_eq!(found(&result), plain_best(&position, depth), "{position}");
                }
            }
        }
    }
}

#[test]
fn a_line_of_best_play_leads_to_the_value() {
    let mut whole = 0;
    for (index, json) in RULESETS.iter().enumerate() {
        let rules = ruleset(json);
        let mut rng = rng::stream(index as u64, 2, Purpose::Policy);
        let mut search = AlphaBetaSearch::new(5).unwrap();
        for _ in 0..60 {
            let position = random_position(&rules, &mut rng);
            if position.is_over() {
                continue;
            }
            let result = search.search(&position).unwrap();
            let line = &result.principal_variation;
            assert_eq!(usize::from(line[0]), result.column);
            let mut at = position;
            for &column in line {
                at = at.play(column.into()).unwrap();
            }
            assert!(
                line.len() == 5 || at.is_over(),
                "{json}: {position} {line:?}"
            );
            whole += 1;
            let reached = match at.end_reason() {
                Some(EndReason::Endless) => 0,
                _ => at.board().lead(position.to_move()),
            };
            assert_eq!(reached, result.value, "{json}: {position} {line:?}");
        }
    }
    assert!(whole > 300);
}

#[test]
fn limits_by_nodes_and_seconds_give_the_move_of_the_depth_they_reached() {
    for json in [RULESETS[0], RULESETS[3], RULESETS[6], RULESETS[8]] {
        let rules = ruleset(json);
        let mut rng = rng::stream(4, 0, Purpose::Policy);
        for nodes in [1, 30, 1000, 20_000] {
            let mut kept = search_with(SearchLimit::Nodes(nodes), 1 << 16, 1);
            for _ in 0..6 {
                let position = random_position(&rules, &mut rng);
                if position.is_over() {
                    continue;
                }
                let result = kept.search(&position).unwrap();
                let mut fresh = search_with(SearchLimit::Nodes(nodes), 1 << 16, 1);
                assert_eq!(fresh.search(&position).unwrap(), result, "{position}");
                assert!(result.nodes <= nodes + 2 * rules.columns() as u64);
                let deep = alpha_beta(&position, result.depth).unwrap();
                assert_eq!(found(&deep), found(&result), "{position}");
            }
        }
    }
    let start = Position::start(&ruleset(RULESETS[6]));
    for threads in [1, 2] {
        let limit = SearchLimit::Time(Duration::from_millis(30));
        let result = search_with(limit, 1 << 20, threads).search(&start).unwrap();
        let deep = alpha_beta(&start, result.depth).unwrap();
        assert_eq!(found(&deep), found(&result));
    }
}

#[test]
fn an_interrupted_search_ends_inside_a_position() {
    let start = Position::start(&ruleset(r#"{"columns":10}"#));
    for threads in [1, 2] {
        let mut search = search_with(SearchLimit::Depth(MAX_DEPTH), 1 << 20, threads);
        let flag = Arc::new(AtomicBool::new(false));
        search.set_interrupt(Arc::clone(&flag));
        let result = std::thread::scope(|scope| {
            let searching = scope.spawn(|| search.search(&start));
            std::thread::sleep(Duration::from_millis(20));
            flag.store(true, Ordering::Relaxed);
            searching.join().unwrap()
        });
        assert_eq!(result, Err(SearchError::Interrupted));
    }
}

/// Counts a quarter of the seeds that lie before each side, more in the mover's first pit.
#[derive(Clone)]
struct Quarters;

impl LeafEvaluator for Quarters {
    const UNITS: i32 = 4;

    fn margin(&mut self, pits: &[u16]) -> i32 {
        let seeds = |row: &[u16]| row.iter().map(|&seeds| i32::from(seeds)).sum::<i32>();
        let (own, other) = pits.split_at(pits.len() / 2);
        seeds(own) - seeds(other) + 9 * i32::from(own[0])
    }
}

#[test]
fn an_evaluator_takes_the_place_of_the_seed_count() {
    for (index, json) in RULESETS.iter().enumerate() {
        let rules = ruleset(json);
        let mut rng = rng::stream(index as u64, 3, Purpose::Policy);
        let deepest = if rules.columns() > 4 { 3 } else { 5 };
        for depth in 1..=deepest {
            let config = AlphaBetaConfig::of_depth(depth);
            let mut search = AlphaBetaSearch::with_evaluator(config, Quarters).unwrap();
            for _ in 0..40 {
                let position = random_position(&rules, &mut rng);
                if !position.is_over() {
                    let result = search.search(&position).unwrap();
                    let expected = plain_best_with(&position, depth, &mut Quarters);
                    assert_eq!(found(&result), expected, "{json} depth {depth}: {position}");
                }
            }
        }
    }
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
    let refused = |limit, table_bytes, threads| {
        let config = AlphaBetaConfig {
            limit,
            table_bytes,
            threads,
        };
        AlphaBetaSearch::with(config).unwrap_err().to_string()
    };
    let time = SearchLimit::Time;
    let long = MAX_TIME + Duration::from_millis(1);
    let messages = [
        refused(SearchLimit::Nodes(0), None, 1),
        refused(time(Duration::ZERO), None, 1),
        refused(time(long), None, 1),
        refused(SearchLimit::Depth(1), Some(MAX_TABLE_BYTES + 1), 1),
        refused(SearchLimit::Depth(1), None, 0),
        refused(SearchLimit::Depth(1), None, MAX_THREADS + 1),
        refused(SearchLimit::Nodes(9), None, 2),
    ];
    let expected = [
        "nodes is 0, expected 1 or more",
        "seconds is 0, expected more than 0 and at most 1000000",
        "seconds is 1000000.001, expected more than 0 and at most 1000000",
        "table_bytes is 1099511627777, expected 0 to 1099511627776",
        "threads is 0, expected 1 to 256",
        "threads is 257, expected 1 to 256",
        "threads is 2, expected 1 where nodes limits the search",
    ];
    assert_eq!(messages, expected);
    let rules = ruleset(r#"{"columns":2}"#);
    let over = Position::from_text("0,0/1,1 S 3-3 0", &rules).unwrap();
    assert_eq!(
        alpha_beta(&over, 2),
        Err(SearchError::Over {
            reason: EndReason::Stuck
        })
    );
}
