//! Endgame tables against a slow twin, against games played move by move, and damaged files.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

mod common;

use std::collections::HashMap;
use std::ops::ControlFlow;

use common::{changed, dodoi, golden, set_up};
use endodoi::reference;
use endodoi::search::{EndgameTable, MAX_PACKED_PITS, Packed, Ranking, TableError, TableProgress};
use endodoi::{Direction, Endless, LoneCapture, Position, Ruleset, RulesetFields, Side, Variant};
use serde::Deserialize;

fn quietly(_: TableProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn build(rules: &Ruleset, seeds: u32) -> EndgameTable {
    EndgameTable::build(rules, seeds, Some(2), &mut quietly).expect("small")
}

/// Lists all boards of `pits` with `seeds` seeds.
fn boards(pits: usize, seeds: i64) -> Vec<Vec<i64>> {
    if pits == 1 {
        return vec![vec![seeds]];
    }
    (0..=seeds)
        .flat_map(|first| {
            boards(pits - 1, seeds - first)
                .into_iter()
                .map(move |mut rest| {
                    rest.insert(0, first);
                    rest
                })
        })
        .collect()
}

fn bytes(board: &[i64]) -> impl Iterator<Item = u8> + '_ {
    board.iter().map(|&seeds| u8::try_from(seeds).expect("few"))
}

fn packed(board: &[i64]) -> Packed {
    Packed(bytes(board).enumerate().fold(0, |word, (pit, seeds)| {
        word | u128::from(seeds) << (8 * pit)
    }))
}

/// One move of the slow twin: seeds gained, and where it leads to.
enum Edge {
    /// To a board with fewer seeds, or an end: the margin from here on.
    Exit(i64),
    /// To a board with as many seeds.
    Quiet(usize),
}

/// The values of all boards with up to `most` seeds as the mover sees them, by the reference rules
/// and by going over every level until nothing changes.
fn slow_values(rules: &Ruleset, most: i64) -> HashMap<Vec<i64>, i64> {
    let columns = rules.columns();
    let mut values: HashMap<Vec<i64>, i64> = HashMap::new();
    for seeds in 0..=most {
        let level = boards(2 * columns, seeds);
        let index: HashMap<&Vec<i64>, usize> = level
            .iter()
            .enumerate()
            .map(|(at, board)| (board, at))
            .collect();
        let edges: Vec<Vec<Edge>> = level
            .iter()
            .map(|board| {
                let moves = reference::s6_legal(rules, board, 0);
                if moves.is_empty() {
                    return vec![Edge::Exit(-seeds)];
                }
                let edge = |column| {
                    let mut after = board.clone();
                    let laps = reference::s6_laps(rules, &mut after, column);
                    let last = laps.last.expect("legal");
                    let gain = reference::c1_capture(rules, &mut after, 0, last);
                    after.rotate_left(columns);
                    match gain {
                        0 => Edge::Quiet(index[&after]),
                        gain => Edge::Exit(gain - values[&after]),
                    }
                };
                moves.into_iter().map(edge).collect()
            })
            .collect();
        let mut now = vec![0; level.len()];
        loop {
            let mut settled = true;
            for (at, moves) in edges.iter().enumerate() {
                let best = moves
                    .iter()
                    .map(|edge| match edge {
                        Edge::Exit(margin) => *margin,
                        Edge::Quiet(child) => -now[*child],
                    })
                    .max()
                    .expect("an exit at least");
                settled &= best == now[at];
                now[at] = best;
            }
            if settled {
                break;
            }
        }
        values.extend(level.into_iter().zip(now));
    }
    values
}

/// The rule sets that tables are compared under.
fn rule_sets(columns: i64) -> Vec<Ruleset> {
    let mut sets = Vec::new();
    for direction in [Direction::Anticlockwise, Direction::Parity] {
        for lone_capture in [LoneCapture::Stays, LoneCapture::Taken] {
            for lap_limit in [1, 2, 3, 5, 10_000] {
                let fields = RulesetFields {
                    columns: Some(columns),
                    direction: Some(direction),
                    lone_capture: Some(lone_capture),
                    lap_limit: Some(lap_limit),
                    ..RulesetFields::default()
                };
                sets.push(Ruleset::new(Variant::EnDodoi, &fields).expect("valid"));
            }
        }
    }
    sets
}

#[test]
fn every_board_has_a_number_and_every_number_a_board() {
    for (columns, most) in [(1, 30), (2, 12), (3, 8), (4, 6), (8, 4), (9, 3), (20, 2)] {
        let ranking = Ranking::new(columns, most).expect("small");
        let mut seen = vec![false; usize::try_from(ranking.positions()).expect("few")];
        for seeds in 0..=most {
            for board in boards(2 * columns, seeds.into()) {
                let index = ranking.index_of(bytes(&board));
                assert!(index >= ranking.start(seeds) && index < ranking.start(seeds + 1));
                let before = std::mem::replace(&mut seen[index as usize], true);
                assert!(!before, "{board:?} is number {index} as another board is");
                let mut found = vec![0; 2 * columns];
                ranking.fill(index, |pit, seeds| found[pit] = seeds.into());
                assert_eq!(found, board);
                if 2 * columns <= MAX_PACKED_PITS {
                    assert_eq!(ranking.index(packed(&board)), index);
                    assert_eq!(ranking.board(index), packed(&board));
                }
            }
        }
        assert!(seen.into_iter().all(|seen| seen));
    }
}

#[test]
fn values_are_those_of_the_slow_twin() {
    for (columns, most) in [(1, 20), (2, 12), (3, 8), (4, 6)] {
        for rules in rule_sets(columns) {
            let table = build(&rules, most);
            let slow = slow_values(&rules, most.into());
            assert_eq!(table.positions(), slow.len() as u64);
            for (board, value) in slow {
                let index = table.ranking().index_of(bytes(&board));
                assert_eq!(i64::from(table.value_at(index)), value, "{rules} {board:?}");
            }
        }
    }
}

#[test]
fn values_of_wide_boards_are_those_of_the_slow_twin() {
    for rules in rule_sets(9) {
        let table = build(&rules, 3);
        for (board, value) in slow_values(&rules, 3) {
            let index = table.ranking().index_of(bytes(&board));
            assert_eq!(i64::from(table.value_at(index)), value, "{rules} {board:?}");
        }
    }
}

#[test]
fn values_do_not_depend_on_threads() {
    let rules = dodoi(5);
    let tables = [1, 2, 5].map(|threads| {
        EndgameTable::build(&rules, 10, Some(threads), &mut quietly).expect("small")
    });
    for index in 0..tables[0].positions() {
        let value = tables[0].value_at(index);
        assert!(tables.iter().all(|table| table.value_at(index) == value));
    }
}

#[test]
fn starts_have_their_golden_values() {
    let mut checked = 0;
    for wanted in golden().values {
        let seeds = u32::try_from(2 * wanted.columns * wanted.seeds).expect("few");
        if wanted.columns > 4 || wanted.columns == 4 && seeds > 16 {
            continue;
        }
        let rules = changed(&dodoi(wanted.columns), |fields| {
            fields.seeds_per_pit = Some(wanted.seeds);
            match wanted.rules.as_str() {
                "stays" => {}
                "taken" => fields.lone_capture = Some(LoneCapture::Taken),
                "cross" => fields.direction = Some(Direction::Parity),
                other => panic!("unknown rules {other}"),
            }
        });
        let value = build(&rules, seeds).value(&Position::start(&rules));
        assert_eq!(i64::from(value.expect("fits")), wanted.value, "{wanted:?}");
        checked += 1;
    }
    assert_eq!(checked, 30);
}

/// A line of the exam: moves of the mover, South, and the margin each leads to.
#[derive(Deserialize)]
struct Exam {
    board: Vec<i64>,
    moves: Vec<usize>,
    values: Vec<i64>,
}

#[test]
fn moves_of_the_exam_have_their_values() {
    let rules = dodoi(6);
    let table = build(&rules, 12);
    let mut checked = 0;
    for line in include_str!("data/exam-2x6.jsonl").lines() {
        let exam: Exam = serde_json::from_str(line).expect("a line of the exam");
        let before = set_up(&rules, &exam.board, 0, [0, 0], 0);
        for (&column, &value) in exam.moves.iter().zip(&exam.values) {
            let (after, _) = before.play_sowing(column).expect("legal");
            if after.board().seeds_on_board() <= 12 {
                let rest = table.value(&after).expect("fits");
                let margin = after.board().lead(Side::South) - i32::from(rest);
                assert_eq!(i64::from(margin), value, "{line} column {column}");
                checked += 1;
            }
        }
        if exam.board.iter().sum::<i64>() <= 12 {
            let value = table.value(&before).expect("fits");
            assert_eq!(exam.values.iter().max(), Some(&i64::from(value)), "{line}");
        }
    }
    assert!(checked > 50, "{checked} moves");
}

#[test]
fn positions_are_refused_where_the_table_has_no_value() {
    let rules = dodoi(3);
    let table = build(&rules, 5);
    let value = |rules: &Ruleset, board: &[i64]| table.value(&set_up(rules, board, 1, [3, 4], 9));
    // The view of North, who moves.
    let seen = packed(&[1, 2, 0, 0, 1, 1]);
    assert_eq!(
        value(&rules, &[0, 1, 1, 1, 2, 0]).expect("fits"),
        table.probe(seen)
    );
    // Over: nothing more is taken, although the other side took what lay there.
    assert_eq!(value(&rules, &[1, 1, 1, 0, 0, 0]).expect("fits"), 0);
    let error = value(&rules, &[1, 1, 1, 1, 1, 1]).expect_err("six seeds");
    assert_eq!(
        error.to_string(),
        "the board holds 6 seeds, expected at most 5"
    );
    let other = changed(&rules, |fields| fields.lap_limit = Some(9));
    let error = value(&other, &[0, 0, 1, 1, 0, 0]).expect_err("other laps");
    assert!(matches!(error, TableError::Ruleset { .. }));
    assert!(error.to_string().contains("lap_limit=10000"), "{error}");
    // What no value depends on may differ.
    let same = changed(&rules, |fields| {
        fields.seeds_per_pit = Some(9);
        fields.quiet_limit = Some(17);
        fields.variant = Some(Variant::EnGehe);
    });
    assert!(value(&same, &[0, 0, 1, 1, 0, 0]).is_ok());
}

#[test]
fn tables_that_cannot_be_are_refused_before_anything_is_done() {
    let refused = |rules: &Ruleset, seeds, threads| {
        let mut never = |_: TableProgress| panic!("work was begun");
        let error = EndgameTable::build(rules, seeds, threads, &mut never).expect_err("refused");
        error.to_string()
    };
    let draw = changed(&dodoi(3), |fields| fields.endless = Some(Endless::Draw));
    assert!(refused(&draw, 3, None).contains("endless"));
    assert_eq!(
        refused(&dodoi(3), 128, None),
        "seeds is 128, expected 0 to 127"
    );
    assert_eq!(
        refused(&dodoi(3), 3, Some(0)),
        "num_threads is 0, expected 1 to 1024"
    );
    let large = refused(&dodoi(8), 30, None);
    assert_eq!(
        large,
        "all positions with up to 30 seeds on 2x8 are 991493848554, expected at most 17179869184"
    );
    assert!(refused(&dodoi(64), 127, None).contains("more than 2^64"));
}

#[test]
fn building_is_watched_and_stopped() {
    let rules = dodoi(6);
    let mut told = Vec::new();
    let mut watch = |progress: TableProgress| {
        told.push(progress);
        if told.len() == 3 {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    let error = EndgameTable::build(&rules, 18, Some(1), &mut watch).expect_err("stopped");
    let TableError::Stopped {
        done, positions, ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(positions, 86_493_225);
    assert!(done < positions);
    assert_eq!(told.len(), 3);
    assert!(told.windows(2).all(|pair| pair[0].done <= pair[1].done));
    assert!(told.iter().all(|progress| progress.positions == positions));
}
