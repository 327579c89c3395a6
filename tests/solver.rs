//! The exact solver against golden values, tables, and itself.

#![allow(clippy::expect_used, clippy::panic)]

mod common;

use std::ops::ControlFlow;
use std::sync::Arc;

use endodoi::search::{
    EndgameTable, Solution, SolveError, SolveLimits, SolveProgress, Solver, SolverOptions,
};
use endodoi::{
    Direction, LoneCapture, Position, Ruleset, RulesetFields, Setup, Side, Variant, rng,
};
use rand::RngExt;

fn ruleset(columns: i64, seeds: i64, kind: &str) -> Ruleset {
    let fields = RulesetFields {
        columns: Some(columns),
        seeds_per_pit: Some(seeds),
        direction: Some(if kind == "cross" {
            Direction::Parity
        } else {
            Direction::Anticlockwise
        }),
        lone_capture: Some(if kind == "taken" {
            LoneCapture::Taken
        } else {
            LoneCapture::Stays
        }),
        ..RulesetFields::default()
    };
    common::with(Variant::EnDodoi, &fields)
}

fn solver(ruleset: &Ruleset, threads: usize) -> Solver {
    let options = SolverOptions {
        memory: 1 << 22,
        num_threads: Some(threads),
    };
    Solver::new(ruleset, &options).expect("endless moves are illegal")
}

fn quietly(_: &SolveProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn solve(solver: &mut Solver, position: &Position) -> Solution {
    solver
        .solve(position, &SolveLimits::default(), &mut quietly)
        .expect("a position of the solver's rules")
}

fn table(ruleset: &Ruleset, seeds: u32) -> EndgameTable {
    EndgameTable::build(ruleset, seeds, Some(1), &mut |_| ControlFlow::Continue(()))
        .expect("a small table")
}

/// A random position of a rule set with at most so many seeds.
fn random_position(ruleset: &Ruleset, seeds: u32, random: &mut impl rand::Rng) -> Position {
    loop {
        let mut pits = vec![0; ruleset.pits()];
        for _ in 0..random.random_range(1..=seeds) {
            pits[random.random_range(0..ruleset.pits())] += 1;
        }
        let setup = Setup {
            south: pits[..ruleset.columns()].to_vec(),
            north: pits[ruleset.columns()..].to_vec(),
            to_move: if random.random_bool(0.5) {
                Side::South
            } else {
                Side::North
            },
            ..Setup::default()
        };
        let position = setup.position(ruleset).expect("a board within the rules");
        if !position.is_over() {
            return position;
        }
    }
}

#[test]
fn golden_values_of_starts_are_proven() {
    let data: serde_json::Value =
        serde_json::from_str(include_str!("data/golden.json")).expect("golden data");
    let values = data["values"].as_array().expect("values");
    let mut proven = 0;
    for value in values {
        let number = |name: &str| value[name].as_i64().expect("a number");
        if number("columns") > 5 {
            continue;
        }
        let kind = value["rules"].as_str().expect("a name");
        let ruleset = ruleset(number("columns"), number("seeds"), kind);
        let solution = solve(&mut solver(&ruleset, 1), &Position::start(&ruleset));
        assert_eq!(
            solution.value().map(i64::from),
            Some(number("value")),
            "{value}"
        );
        assert!(solution.is_exact());
        proven += 1;
    }
    assert!(proven >= 39, "only {proven} values");
}

#[test]
fn search_above_a_tiny_table_agrees_with_the_whole_table() {
    // The two know nothing of each other: one is a search with verdicts about loops, the other
    // retrograde. Tables of one seed leave every loop to the search.
    let mut random = rng::stream(3, 0, rng::Purpose::Play);
    for columns in 1..=4 {
        for kind in ["stays", "taken", "cross"] {
            let ruleset = ruleset(columns, 2, kind);
            let seeds = if columns == 4 { 9 } else { 12 };
            let whole = table(&ruleset, seeds);
            for held in [1, 3] {
                let mut solver = solver(&ruleset, 1 + held as usize / 3);
                solver
                    .use_table(Arc::new(table(&ruleset, held)))
                    .expect("a table of these rules");
                for _ in 0..150 {
                    let position = random_position(&ruleset, seeds, &mut random);
                    let solution = solve(&mut solver, &position);
                    let value = i32::from(whole.value(&position).expect("in the table"));
                    assert_eq!(solution.value(), Some(value), "{position} {kind}");
                    let best: Vec<u8> = position
                        .legal_moves()
                        .iter()
                        .filter(|&column| worth(&whole, &position, column) == value)
                        .map(|column| column as u8)
                        .collect();
                    assert_eq!(solution.best_moves, best, "{position} {kind}");
                }
            }
        }
    }
}

/// What the mover takes more after a move, by the table.
fn worth(table: &EndgameTable, position: &Position, column: usize) -> i32 {
    let lead = |position: &Position| position.board().lead(Side::South);
    let next = position.play(column).expect("a legal move");
    let sign = if position.to_move() == Side::South {
        1
    } else {
        -1
    };
    // E1's rest is captured when the position is entered.
    sign * (lead(&next) - lead(position)) - i32::from(table.value(&next).expect("in the table"))
}

#[test]
fn boards_pit_by_pit_have_the_values_of_boards_in_a_word() {
    // A total of 128 seeds and more does not fit a word with its number; few seeds on 2x9 do not
    // either. The second is compared with the whole table.
    let mut random = rng::stream(4, 0, rng::Purpose::Play);
    let ruleset = ruleset(9, 4, "stays");
    let whole = table(&ruleset, 5);
    let mut solver = solver(&ruleset, 1);
    solver
        .use_table(Arc::new(table(&ruleset, 2)))
        .expect("a table of these rules");
    for _ in 0..100 {
        let position = random_position(&ruleset, 5, &mut random);
        let value = i32::from(whole.value(&position).expect("in the table"));
        assert_eq!(
            solve(&mut solver, &position).value(),
            Some(value),
            "{position}"
        );
    }
}

#[test]
fn analysis_gives_the_exam_values_of_every_move() {
    let ruleset = ruleset(6, 4, "stays");
    let mut solver = solver(&ruleset, 2);
    for line in include_str!("data/exam-2x6.jsonl").lines().step_by(25) {
        let exam: serde_json::Value = serde_json::from_str(line).expect("a JSON line");
        let list = |name: &str| -> Vec<i64> {
            let numbers = exam[name].as_array().expect("a list");
            numbers
                .iter()
                .filter_map(serde_json::Value::as_i64)
                .collect()
        };
        let board = list("board");
        let setup = Setup {
            south: board[..6].to_vec(),
            north: board[6..].to_vec(),
            ..Setup::default()
        };
        let position = setup.position(&ruleset).expect("a position");
        let analysis = solver
            .analyse(&position, &SolveLimits::default(), &mut quietly)
            .expect("a position of these rules");
        let columns: Vec<i64> = analysis.moves.iter().map(|m| i64::from(m.column)).collect();
        let lower: Vec<i64> = analysis.moves.iter().map(|m| i64::from(m.lower)).collect();
        let upper: Vec<i64> = analysis.moves.iter().map(|m| i64::from(m.upper)).collect();
        assert_eq!(columns, list("moves"), "{line}");
        assert_eq!((lower, upper), (list("values"), list("values")), "{line}");
    }
}

#[test]
fn a_stopped_solve_keeps_valid_bounds_and_goes_on_later() {
    let ruleset = ruleset(6, 4, "stays");
    let start = Position::start(&ruleset);
    let mut solver = solver(&ruleset, 1);
    let mut calls = 0;
    let stopped = solver
        .solve(&start, &SolveLimits::default(), &mut |progress| {
            calls += 1;
            assert!(progress.lower <= 8 && 8 <= progress.upper);
            if progress.lower >= 2 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .expect("bounds");
    assert!(calls > 0);
    assert!(stopped.lower <= 8 && 8 <= stopped.upper);
    let at_once = SolveLimits {
        seconds: Some(0.0),
        ..SolveLimits::default()
    };
    let bounds = solver
        .solve(&start, &at_once, &mut quietly)
        .expect("bounds");
    assert!(bounds.lower >= stopped.lower && bounds.upper <= stopped.upper);
    assert_eq!(solve(&mut solver, &start).value(), Some(8));
}

#[test]
fn bounds_after_few_positions_hold_and_only_narrow() {
    let data: serde_json::Value =
        serde_json::from_str(include_str!("data/golden.json")).expect("golden data");
    let mut open = 0;
    for value in data["values"].as_array().expect("values") {
        let number = |name: &str| value[name].as_i64().expect("a number");
        if number("columns") > 5 || number("seeds") < 2 {
            continue;
        }
        let ruleset = ruleset(
            number("columns"),
            number("seeds"),
            value["rules"].as_str().expect("a name"),
        );
        let small = Arc::new(table(&ruleset, 2));
        let start = Position::start(&ruleset);
        let exact = number("value") as i32;
        let mut kept = solver(&ruleset, 1);
        kept.use_table(Arc::clone(&small)).expect("a table");
        let mut last = [(i32::MIN, i32::MAX); 2];
        for nodes in [0, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18] {
            let limits = SolveLimits {
                nodes: Some(nodes),
                ..SolveLimits::default()
            };
            let mut fresh = solver(&ruleset, 1);
            fresh.use_table(Arc::clone(&small)).expect("a table");
            for (solver, last) in [&mut fresh, &mut kept].into_iter().zip(&mut last) {
                let found = solver.solve(&start, &limits, &mut quietly).expect("bounds");
                assert!(found.lower <= exact && exact <= found.upper, "{value}");
                assert!(found.nodes <= nodes + 102_048, "{} {nodes}", found.nodes);
                assert!(last.0 <= found.lower && found.upper <= last.1, "{value}");
                *last = (found.lower, found.upper);
                open += u32::from(found.lower < found.upper);
            }
        }
    }
    assert!(open >= 60, "only {open} were stopped");
}

#[test]
fn a_solver_goes_on_from_a_file_and_refuses_damaged_ones() {
    let rules = ruleset(6, 4, "stays");
    let start = Position::start(&rules);
    let mut first = solver(&rules, 1);
    let part = first
        .solve(&start, &SolveLimits::default(), &mut |progress| {
            if progress.lower >= 2 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .expect("bounds");
    let folder = std::env::temp_dir().join(format!("endodoi-solver-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("proofs.edp");
    first.save(&path).expect("it is written");
    let mut second = solver(&rules, 1);
    second.load(&path).expect("it is read");
    let at_once = SolveLimits {
        seconds: Some(0.0),
        ..SolveLimits::default()
    };
    let bounds = second
        .solve(&start, &at_once, &mut quietly)
        .expect("bounds");
    assert!(bounds.lower >= part.lower && bounds.upper <= part.upper);
    assert_eq!(solve(&mut second, &start).value(), Some(8));

    let error = solver(&ruleset(6, 4, "taken"), 1)
        .load(&path)
        .expect_err("other rules");
    assert!(matches!(error, SolveError::Ruleset { .. }));
    let whole = std::fs::read(&path).expect("bytes");
    let damaged = folder.join("damaged.edp");
    let middle = whole.len() / 2;
    let places = [0, 8, 12, 20, 200, whole.len() - 1];
    for at in places.into_iter().chain(middle..middle + 32) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xFF;
        std::fs::write(&damaged, &bytes).expect("written");
        assert!(solver(&rules, 1).load(&damaged).is_err(), "byte {at}");
    }
    for end in [0, 7, 15, 100, whole.len() - 1] {
        std::fs::write(&damaged, &whole[..end]).expect("written");
        let error = solver(&rules, 1).load(&damaged).expect_err("cut");
        assert!(error.to_string().contains("damaged.edp"), "{error}");
    }
    let missing = solver(&rules, 1)
        .load(&folder.join("none"))
        .expect_err("no file");
    assert!(matches!(missing, SolveError::Io { .. }));
    std::fs::remove_dir_all(&folder).expect("it goes");
}

#[test]
fn a_game_that_is_over_is_worth_nothing_more() {
    let ruleset = ruleset(2, 1, "stays");
    let setup = Setup {
        south: vec![0, 0],
        north: vec![3, 1],
        ..Setup::default()
    };
    let position = setup.position(&ruleset).expect("a position");
    assert!(position.is_over());
    let solution = solve(&mut solver(&ruleset, 1), &position);
    assert_eq!((solution.value(), solution.best_moves), (Some(0), vec![]));
}

#[test]
fn refusals_name_what_is_wrong() {
    let draw = RulesetFields {
        endless: Some(endodoi::Endless::Draw),
        ..RulesetFields::default()
    };
    let draw = common::with(Variant::EnDodoi, &draw);
    let options = SolverOptions::default();
    assert!(matches!(
        Solver::new(&draw, &options),
        Err(SolveError::EndlessDraw)
    ));
    let rules = ruleset(4, 4, "stays");
    for (memory, threads, field) in [(1, None, "memory"), (1 << 20, Some(0), "num_threads")] {
        let options = SolverOptions {
            memory,
            num_threads: threads,
        };
        let error = Solver::new(&rules, &options).expect_err("out of range");
        assert!(error.to_string().contains(field), "{error}");
    }
    let mut four = solver(&rules, 1);
    let other = ruleset(4, 4, "taken");
    let error = four
        .solve(
            &Position::start(&other),
            &SolveLimits::default(),
            &mut quietly,
        )
        .expect_err("other rules");
    assert!(matches!(error, SolveError::Ruleset { .. }));
    assert!(matches!(
        four.use_table(Arc::new(table(&other, 3))),
        Err(SolveError::Ruleset { .. })
    ));
    let late = SolveLimits {
        seconds: Some(-1.0),
        ..SolveLimits::default()
    };
    let error = four
        .solve(&Position::start(&rules), &late, &mut quietly)
        .expect_err("seconds below 0");
    assert!(error.to_string().contains("seconds is -1"), "{error}");
}
