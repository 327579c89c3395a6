//! Exact values of small boards, by a table of all positions that play can reach.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

mod common;

use std::collections::HashMap;

use common::{changed, dodoi, golden, set_up};
use endodoi::{Direction, LoneCapture, Position, Ruleset};

/// One move: seeds gained at once, and the position it leads to (`None`: the game is over and
/// the gain counts everything).
type Edge = (i64, Option<usize>);

/// Lists every position reachable from the start, as seen by the side to move: its seeds on the
/// board and its moves.
fn graph(rules: &Ruleset) -> (Vec<i64>, Vec<Vec<Edge>>) {
    let start = common::ring(&Position::start(rules));
    let mut index = HashMap::from([(start.clone(), 0)]);
    let mut boards = vec![start];
    let mut edges: Vec<Vec<Edge>> = Vec::new();
    while edges.len() < boards.len() {
        let position = set_up(rules, &boards[edges.len()], 0, [0, 0], 0);
        assert!(!position.is_over());
        let mut moves = Vec::new();
        for column in position.legal_moves() {
            let next = position.play(column).expect("legal");
            let [mine, theirs] = common::captured(&next);
            if next.is_over() {
                moves.push((mine - theirs, None));
                continue;
            }
            let board = common::ring(&next.swap_sides());
            let child = *index.entry(board.clone()).or_insert_with(|| {
                boards.push(board);
                boards.len() - 1
            });
            moves.push((mine, Some(child)));
        }
        edges.push(moves);
    }
    let seeds = boards.iter().map(|board| board.iter().sum()).collect();
    (seeds, edges)
}

/// Solves the start, positions with fewer seeds first.
///
/// Among positions of equally many seeds, `most` is what the side to move can force to gain and
/// `least` what it cannot help losing, each by play that comes to a capture or an end. Both grow
/// from 0 until nothing changes, so that play without end gains nothing for either side.
fn solve(rules: &Ruleset) -> i64 {
    let (seeds, graph) = graph(rules);
    let mut values: Vec<Option<i64>> = vec![None; graph.len()];
    for total in 0..=seeds[0] {
        let layer: Vec<usize> = (0..graph.len()).filter(|&n| seeds[n] == total).collect();
        let mut most = vec![0; graph.len()];
        let mut least = vec![0; graph.len()];
        let mut settled = false;
        while !settled {
            settled = true;
            for &node in &layer {
                let (mut gain, mut loss) = (0, i64::MAX);
                for &(at_once, child) in &graph[node] {
                    let exit = match child {
                        None => Some(at_once),
                        Some(child) => values[child].map(|value| at_once - value),
                    };
                    gain = gain.max(exit.unwrap_or_else(|| least[child.expect("no exit")]));
                    loss = loss.min(exit.map_or_else(|| most[child.expect("no exit")], |x| -x));
                }
                settled &= (gain, loss.max(0)) == (most[node], least[node]);
                (most[node], least[node]) = (gain, loss.max(0));
            }
        }
        for node in layer {
            values[node] = Some(most[node] - least[node]);
        }
    }
    values[0].expect("the start is solved")
}

#[test]
fn golden_values_of_boards_of_up_to_three_columns_and_of_four_with_one_seed() {
    let mut checked = 0;
    for wanted in golden().values {
        if wanted.columns > 3 && wanted.seeds > 1 {
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
        assert_eq!(solve(&rules), wanted.value, "{wanted:?}");
        checked += 1;
    }
    assert_eq!(checked, 27);
}
