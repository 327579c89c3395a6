//! The core against its slow twin: every field after every ply.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

mod common;

use common::{
    assert_same, assert_same_sowing, draw, pick, random_board, random_ruleset, stream, twins,
};
use endodoi::reference::{self, Game};
use endodoi::rng::Xoshiro128PlusPlus;
use endodoi::{Position, Ruleset, SowingEnd};

/// Compares the sowing of every column, also of those that are not legal.
fn compare_all_sowings(position: &Position, game: &Game) {
    for column in 0..game.rules.columns() {
        if !reference::s1_may_lift(&game.rules, &game.board, game.side, column) {
            assert!(position.sow(column).is_err());
            continue;
        }
        let mut board = game.board.clone();
        let from = reference::b4_pit(&game.rules, game.side, column);
        let slow = reference::s6_laps(&game.rules, &mut board, from);
        let (fast, after) = position.sow(column).expect("a pit with seeds");
        let about = format!("{game:?} column {column}");
        assert_eq!(i64::from(fast.laps), slow.laps, "{about}");
        assert_eq!(fast.seeds_sown as i64, slow.seeds, "{about}");
        assert_eq!(fast.last.map(usize::from), slow.last, "{about}");
        match slow.last {
            None => {
                assert_eq!(fast.end, SowingEnd::Endless, "{about}");
                assert_eq!(after, *position.board(), "{about}");
            }
            Some(last) => {
                let gain = reference::c1_capture(&game.rules, &mut board, game.side, last);
                let end = match (gain, reference::c3_nothing(&game.rules, game.side, last)) {
                    (_, true) => SowingEnd::Opponent,
                    (0, false) => SowingEnd::Empty,
                    (_, false) => SowingEnd::Captured,
                };
                assert_eq!(fast.end, end, "{about}");
                let pits: Vec<i64> = after.pits().iter().map(|&n| i64::from(n)).collect();
                assert_eq!(pits, board, "{about}");
            }
        }
    }
}

/// Plays both twins by the same random moves to the end or for `plies`, comparing each ply.
fn play_out(
    rng: &mut Xoshiro128PlusPlus,
    (mut position, mut game): (Position, Game),
    plies: usize,
) -> usize {
    let total = game.e2_total();
    for ply in 0..plies {
        let legal = common::legal(&position);
        if legal.is_empty() {
            return ply;
        }
        let column = pick(rng, &legal);
        let (next, sowing) = position.play_sowing(column).expect("legal");
        let (slow_next, sown) = game.play(column).expect("legal");
        assert_same(&next, &slow_next);
        assert_same_sowing(&sowing, &sown, &format!("{game:?} column {column}"));
        assert_eq!(i64::from(next.board().total()), total);
        position = next;
        game = slow_next;
    }
    plies
}

fn games(seed: u64, count: u64, columns: (i64, i64), most: i64, plies: usize) {
    let mut played = 0;
    for number in 0..count {
        let mut rng = stream(seed, number);
        let rules = random_ruleset(&mut rng, columns, most);
        let start = (Position::start(&rules), Game::start(&rules));
        assert_same(&start.0, &start.1);
        compare_all_sowings(&start.0, &start.1);
        played += play_out(&mut rng, start, plies);
    }
    assert!(played as u64 > count, "{played} plies in {count} games");
}

/// Draws a set-up position: rows, side, captures and quiet count as a user could give them.
fn random_set_up(rng: &mut Xoshiro128PlusPlus, rules: &Ruleset, most: i64) -> (Position, Game) {
    let board = random_board(rng, rules.pits(), most);
    let side = draw(rng, 0, 1) as usize;
    let captured = [draw(rng, 0, 300), draw(rng, 0, 300)];
    let quiet = draw(rng, 0, i64::from(rules.quiet_limit()));
    twins(rules, &board, side, captured, quiet)
}

fn set_ups(seed: u64, count: u64, columns: (i64, i64), most: i64, plies: usize) {
    for number in 0..count {
        let mut rng = stream(seed, number);
        let rules = random_ruleset(&mut rng, columns, 64);
        let pair = random_set_up(&mut rng, &rules, most);
        compare_all_sowings(&pair.0, &pair.1);
        play_out(&mut rng, pair, plies);
    }
}

#[test]
fn games_on_small_boards() {
    games(1, 6_000, (1, 6), 6, 400);
}

#[test]
fn games_on_middle_boards() {
    games(2, 500, (7, 16), 12, 400);
}

#[test]
fn games_on_large_boards() {
    games(3, 30, (17, 64), 64, 60);
}

#[test]
fn set_ups_on_small_boards() {
    set_ups(4, 20_000, (1, 6), 9, 6);
}

#[test]
fn set_ups_with_many_seeds_in_few_pits() {
    set_ups(5, 1_500, (1, 12), 1_300, 4);
}

#[test]
fn set_ups_on_large_boards() {
    set_ups(6, 60, (17, 64), 20, 6);
}

#[test]
fn set_ups_of_one_lump_of_all_seeds() {
    for number in 0..300 {
        let mut rng = stream(7, number);
        let rules = random_ruleset(&mut rng, (1, 64), 64);
        let mut board = vec![0; rules.pits()];
        let side = draw(&mut rng, 0, 1) as usize;
        let column = draw(&mut rng, 0, rules.columns() as i64 - 1) as usize;
        let seeds = pick(&mut rng, &[1, 2, 128, 1_000, 32_766, 32_767]);
        board[reference::b4_pit(&rules, side, column)] = seeds;
        let rules = common::with_lap_limit(&rules, draw(&mut rng, 1, 60));
        let pair = twins(&rules, &board, side, [0, 0], 0);
        compare_all_sowings(&pair.0, &pair.1);
        play_out(&mut rng, pair, 2);
    }
}
