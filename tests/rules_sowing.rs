//! Sowing: clauses S1 to S6.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

mod common;

use std::collections::HashSet;

use common::{changed, dodoi, draw, golden, random_board, set_up, stream, twins, with_lap_limit};
use endodoi::reference::{self, Laps};
use endodoi::sowing::{TraceStep, trace};
use endodoi::{
    Direction, EndReason, Endless, MoveError, Outcome, Position, Ruleset, Side, SowingEnd, Variant,
};

fn parity(rules: &Ruleset) -> Ruleset {
    changed(rules, |fields| fields.direction = Some(Direction::Parity))
}

fn drawn(rules: &Ruleset) -> Ruleset {
    changed(rules, |fields| fields.endless = Some(Endless::Draw))
}

/// Returns the board after sowing a column, captures made.
fn after(position: &Position, column: usize) -> Vec<i64> {
    let (_, board) = position.sow(column).expect("a pit with seeds");
    board.pits().iter().map(|&n| i64::from(n)).collect()
}

#[test]
fn worked_examples_of_the_rules_page() {
    let start = Position::start(&dodoi(6));
    let (next, sowing) = start.play_sowing(0).expect("legal");
    assert_eq!(
        (
            sowing.laps,
            sowing.seeds_sown,
            sowing.last,
            sowing.captured,
            sowing.end
        ),
        (5, 26, Some(2), 2, SowingEnd::Captured)
    );
    assert_eq!(next.board().row(Side::South), [2, 7, 0, 6, 1, 6]);
    assert_eq!(next.board().row(Side::North), [6, 6, 0, 0, 6, 6]);

    let (next, sowing) = start.play_sowing(4).expect("legal");
    assert_eq!(
        (
            sowing.laps,
            sowing.seeds_sown,
            sowing.last,
            sowing.captured,
            sowing.end
        ),
        (5, 26, Some(6), 0, SowingEnd::Opponent)
    );
    assert_eq!(next.board().row(Side::South), [0, 1, 6, 6, 2, 7]);
    assert_eq!(next.board().row(Side::North), [1, 6, 1, 6, 6, 6]);

    let start = Position::start(&Variant::CrossEndodoi.ruleset());
    let (next, sowing) = start.play_sowing(3).expect("legal");
    assert_eq!(
        (
            sowing.laps,
            sowing.seeds_sown,
            sowing.last,
            sowing.captured,
            sowing.end
        ),
        (4, 15, Some(0), 5, SowingEnd::Captured)
    );
    assert_eq!(next.board().row(Side::South), [0, 5, 5, 1, 0, 4]);
    assert_eq!(next.board().row(Side::North), [4, 4, 0, 4, 4, 0]);
}

#[test]
fn s1_all_seeds_are_lifted_and_dropped_one_by_one() {
    let position = set_up(&dodoi(4), &[0, 3, 0, 0, 0, 0, 1, 0], 0, [0, 0], 0);
    assert_eq!(after(&position, 1), [0, 0, 1, 1, 1, 0, 1, 0]);
}

#[test]
fn s1_a_single_seed_may_be_moved() {
    let position = set_up(&dodoi(4), &[1, 0, 0, 0, 0, 0, 0, 1], 0, [0, 0], 0);
    assert_eq!(common::legal(&position), [0]);
    assert_eq!(after(&position, 0), [0, 1, 0, 0, 0, 0, 0, 1]);
}

#[test]
fn s1_an_empty_pit_is_refused_with_the_legal_columns() {
    let position = set_up(&dodoi(4), &[1, 0, 0, 2, 0, 0, 0, 1], 0, [0, 0], 0);
    let error = MoveError::EmptyPit {
        column: 2,
        side: Side::South,
        legal: vec![0, 3],
    };
    assert_eq!(position.play(2), Err(error.clone()));
    assert_eq!(position.sow(2), Err(error.clone()));
    assert_eq!(
        error.to_string(),
        "column 2 of south is empty; legal columns: [0, 3]"
    );
}

/// Sows a lump of `seeds` alone on the board and checks its first lap pit by pit.
fn check_lump(rules: &Ruleset, side: Side, column: usize, seeds: i64) {
    let pits = rules.pits();
    let origin = endodoi::pit::ring_index(side, column, rules.columns());
    let mut board = vec![0; pits];
    board[origin] = seeds;
    // Under `draw` any lump is legal, so that the position stays open.
    let (position, game) = twins(rules, &board, side.index(), [0, 0], 0);
    let steps = trace(position.board(), rules, side, column, 1);
    let about = format!("{rules}, {side} {column}, {seeds} seeds");
    assert_eq!(steps.len() as i64, 1 + seeds, "{about}");
    let lift = TraceStep {
        lap: 1,
        pit: origin as u8,
        seeds: 0,
    };
    assert_eq!(steps[0], lift, "{about}");
    let back = rules.direction() == Direction::Parity && seeds % 2 == 1;
    for (drop, step) in (1..=seeds as usize).zip(&steps[1..]) {
        let pit = if back {
            (origin + pits * seeds as usize - drop) % pits
        } else {
            (origin + drop) % pits
        };
        let round = (drop - 1) / pits + 1;
        assert_eq!(
            (usize::from(step.pit), usize::from(step.seeds)),
            (pit, round),
            "{about}"
        );
    }
    let (_, sowing) = position.play_sowing(column).expect("legal under draw");
    let (_, sown) = game.play(column).expect("legal under draw");
    common::assert_same_sowing(&sowing, &sown, &about);
    if seeds <= pits as i64 {
        assert_eq!(sowing.laps, 1, "{about}");
        assert_eq!(
            usize::from(sowing.last.expect("ends")),
            usize::from(steps[seeds as usize].pit)
        );
    } else {
        assert!(sowing.laps > 1, "{about}");
    }
}

fn check_lumps(seeds: impl Fn(i64) -> Vec<i64>) {
    for columns in 1..=64 {
        let plain = drawn(&with_lap_limit(&dodoi(columns), 500));
        for rules in [plain, parity(&plain)] {
            for side in Side::BOTH {
                for column in [0, columns as usize / 2, columns as usize - 1] {
                    for count in seeds(2 * columns) {
                        check_lump(&rules, side, column, count);
                    }
                }
            }
        }
    }
}

#[test]
fn s2_lap_of_n_minus_1_stops_before_the_origin_on_every_board() {
    check_lumps(|pits| vec![1, pits - 1]);
}

#[test]
fn s2_origin_is_not_skipped_by_laps_over_n_on_every_board() {
    check_lumps(|pits| vec![pits + 1, pits + 2, 2 * pits - 1, 2 * pits, 2 * pits + 1]);
}

#[test]
fn s2_laps_of_4n_on_every_board() {
    check_lumps(|pits| vec![4 * pits - 1, 4 * pits, 4 * pits + 1]);
}

#[test]
fn s4_lap_of_exactly_n_ends_in_its_own_origin_on_every_board() {
    check_lumps(|pits| vec![pits]);
    for columns in 1..=64_i64 {
        for rules in [dodoi(columns), parity(&dodoi(columns))] {
            let mut board = vec![0; rules.pits()];
            board[0] = 2 * columns;
            let position = set_up(&rules, &board, 0, [0, 0], 0);
            let (sowing, after) = position.sow(0).expect("seeds");
            assert_eq!((sowing.laps, sowing.last), (1, Some(0)));
            // The origin held nothing, its opposite pit one seed of this lap: both are taken.
            assert_eq!((sowing.captured, sowing.end), (2, SowingEnd::Captured));
            assert_eq!(after.pits()[0], 0);
        }
    }
}

#[test]
fn s3_relay_goes_on_from_either_row() {
    // From an own pit: 1 seed into a pit of 2, which are sown on.
    let own = set_up(&dodoi(4), &[1, 2, 0, 0, 0, 0, 0, 0], 0, [0, 0], 0);
    let (sowing, board) = own.sow(0).expect("seeds");
    assert_eq!(
        (sowing.laps, sowing.seeds_sown, sowing.last),
        (2, 4, Some(4))
    );
    assert_eq!(board.pits(), [0, 0, 1, 1, 1, 0, 0, 0]);
    // From the opponent's: the same from South's last pit into North's first.
    let other = set_up(&dodoi(4), &[0, 0, 0, 1, 2, 0, 0, 0], 0, [0, 0], 0);
    let (sowing, board) = other.sow(3).expect("seeds");
    assert_eq!(
        (sowing.laps, sowing.seeds_sown, sowing.last),
        (2, 4, Some(7))
    );
    assert_eq!(board.pits(), [0, 0, 0, 0, 0, 1, 1, 1]);
}

#[test]
fn s4_sowing_ends_in_an_empty_pit() {
    let position = set_up(&dodoi(4), &[2, 5, 0, 5, 5, 5, 0, 5], 0, [0, 0], 0);
    let (sowing, _) = position.sow(0).expect("seeds");
    assert_eq!(
        (sowing.laps, sowing.last, sowing.end),
        (1, Some(2), SowingEnd::Captured)
    );
}

#[test]
fn s5_odd_laps_go_clockwise_even_ones_anticlockwise() {
    let rules = parity(&dodoi(4));
    let odd = set_up(&rules, &[0, 3, 0, 0, 0, 0, 0, 0], 0, [0, 0], 0);
    assert_eq!(odd.sow(1).expect("seeds").0.last, Some(6));
    assert_eq!(after(&odd, 1), [1, 0, 0, 0, 0, 0, 1, 1]);
    let even = set_up(&rules, &[0, 4, 0, 0, 0, 0, 0, 0], 0, [0, 0], 0);
    assert_eq!(after(&even, 1), [0, 0, 1, 1, 1, 1, 0, 0]);
}

#[test]
fn s5_direction_is_decided_anew_for_every_lap() {
    // 2 anticlockwise into a pit of 2, 3 clockwise from there into an empty pit.
    let rules = parity(&dodoi(4));
    let position = set_up(&rules, &[0, 2, 0, 2, 0, 0, 0, 0], 0, [0, 0], 0);
    let (sowing, board) = position.sow(1).expect("seeds");
    assert_eq!(
        (sowing.laps, sowing.seeds_sown, sowing.last),
        (2, 5, Some(0))
    );
    assert_eq!(board.pits(), [1, 1, 2, 0, 0, 0, 0, 0]);
}

#[test]
fn s5_only_under_parity() {
    let position = set_up(&dodoi(4), &[0, 3, 0, 0, 0, 0, 0, 0], 0, [0, 0], 0);
    assert_eq!(position.sow(1).expect("seeds").0.last, Some(4));
}

/// A sowing counted lap by lap, as far as `most` laps: the seeds dropped after each lap, and
/// the last pit if it ended.
struct Counted {
    seeds: Vec<i64>,
    last: Option<usize>,
}

fn count_laps(rules: &Ruleset, board: &[i64], pit: usize, most: usize) -> Counted {
    let mut board = board.to_vec();
    let mut from = pit;
    let mut seeds = Vec::new();
    while seeds.len() < most {
        let (last, lifted) = reference::s1_s2_lap(rules, &mut board, from);
        seeds.push(seeds.last().unwrap_or(&0) + lifted);
        if reference::s4_ends(&board, last) {
            let last = Some(last);
            return Counted { seeds, last };
        }
        from = last;
    }
    Counted { seeds, last: None }
}

/// Compares every `lap_limit` from 1 to `most` with the naive count.
fn check_every_limit(rules: &Ruleset, board: &[i64], side: usize, column: usize, most: usize) {
    let pit = reference::b4_pit(rules, side, column);
    let counted = count_laps(rules, board, pit, most);
    for limit in 1..=most {
        let rules = drawn(&with_lap_limit(rules, limit as i64));
        let (sowing, _) = set_up(&rules, board, side, [0, 0], 0)
            .sow(column)
            .expect("seeds");
        let ended = counted.last.is_some() && counted.seeds.len() <= limit;
        let laps = if ended { counted.seeds.len() } else { limit };
        let wanted = Laps {
            laps: laps as i64,
            seeds: counted.seeds[laps - 1],
            last: counted.last.filter(|_| ended),
        };
        let got = Laps {
            laps: sowing.laps.into(),
            seeds: sowing.seeds_sown as i64,
            last: sowing.last.map(usize::from),
        };
        assert_eq!(got, wanted, "{rules} {board:?} {side} {column}");
        assert_eq!(sowing.end == SowingEnd::Endless, !ended);
        // Legality, which looks at the sowing without counting seeds, says the same.
        let strict = changed(&rules, |fields| fields.endless = Some(Endless::Illegal));
        let position = set_up(&strict, board, side, [0, 0], 0);
        assert_eq!(position.legal_moves().contains(column), ended);
    }
}

#[test]
fn s6_every_lap_limit_agrees_with_the_naive_count() {
    for set in golden().endless.values() {
        let rules = set.rules.ruleset();
        for position in &set.positions {
            for &column in &position.endless {
                check_every_limit(&rules, &position.board, position.side, column, 300);
            }
        }
    }
    let golden = golden();
    for wanted in &golden.lap_limits {
        let rules = golden.sets[&wanted.set].rules.ruleset();
        check_every_limit(&rules, &wanted.board, wanted.side, wanted.col, 60);
    }
}

#[test]
fn s6_every_lap_limit_on_random_small_boards() {
    let mut endless = 0;
    for number in 0..4_000 {
        let mut rng = stream(11, number);
        let columns = draw(&mut rng, 1, 4);
        let mut rules = dodoi(columns);
        if draw(&mut rng, 0, 1) == 1 {
            rules = parity(&rules);
        }
        let board = random_board(&mut rng, rules.pits(), 6);
        let side = draw(&mut rng, 0, 1) as usize;
        let column = draw(&mut rng, 0, columns - 1) as usize;
        let pit = reference::b4_pit(&rules, side, column);
        if board[pit] == 0 {
            continue;
        }
        // Long sowings are the interesting ones: cycles, tails, late ends.
        let laps = count_laps(&rules, &board, pit, 300).seeds.len();
        if laps >= 25 {
            check_every_limit(&rules, &board, side, column, 300);
            endless += i32::from(laps == 300);
        }
    }
    assert!(endless > 50, "{endless}");
}

#[test]
fn s6_the_largest_lap_limit_counts_every_lap() {
    for set in golden().endless.values() {
        let rules = drawn(&with_lap_limit(&set.rules.ruleset(), 1_000_000));
        let Some(position) = set.positions.first().filter(|_| rules.columns() <= 6) else {
            continue;
        };
        let column = position.endless[0];
        let (sowing, _) = set_up(&rules, &position.board, position.side, [0, 0], 0)
            .sow(column)
            .expect("seeds");
        let mut board = position.board.clone();
        let pit = reference::b4_pit(&rules, position.side, column);
        let slow = reference::s6_laps(&rules, &mut board, pit);
        assert_eq!(i64::from(sowing.laps), slow.laps);
        assert_eq!(sowing.seeds_sown as i64, slow.seeds, "{rules}");
        assert_eq!(sowing.last.map(usize::from), slow.last);
    }
}

#[test]
fn s6_default_limit_is_ten_thousand_laps_the_first_counts() {
    let position = set_up(&dodoi(2), &[2, 1, 2, 0], 0, [0, 0], 0);
    let one = with_lap_limit(&dodoi(2), 1);
    for column in [0, 1] {
        let (sowing, _) = position.sow(column).expect("seeds");
        let legal = set_up(&drawn(&one), &[2, 1, 2, 0], 0, [0, 0], 0)
            .sow(column)
            .is_ok_and(|(s, _)| s.end != SowingEnd::Endless);
        assert_eq!(legal, sowing.laps == 1);
    }
    assert_eq!(dodoi(2).lap_limit(), 10_000);
}

/// Sows lap after lap until a state (board, pit to lift) comes back; returns the laps before
/// its first visit and the laps between the visits, or `None` if the sowing ends.
fn cycle(rules: &Ruleset, board: &[i64], pit: usize) -> Option<(usize, usize)> {
    let mut board = board.to_vec();
    let mut at = pit;
    let mut seen = vec![(board.clone(), at)];
    let mut visited: HashSet<(Vec<i64>, usize)> = seen.iter().cloned().collect();
    loop {
        let (last, _) = reference::s1_s2_lap(rules, &mut board, at);
        if reference::s4_ends(&board, last) {
            return None;
        }
        at = last;
        let state = (board.clone(), at);
        if !visited.insert(state.clone()) {
            let first = seen.iter().position(|earlier| *earlier == state)?;
            return Some((first, seen.len() - first));
        }
        seen.push(state);
    }
}

/// Calls `check` for every board of `pits` pits with exactly `seeds` seeds.
fn every_board(pits: usize, seeds: i64, check: &mut impl FnMut(&[i64])) {
    fn fill(board: &mut Vec<i64>, pits: usize, rest: i64, check: &mut impl FnMut(&[i64])) {
        if board.len() + 1 == pits {
            board.push(rest);
            check(board);
            board.pop();
            return;
        }
        for seeds in 0..=rest {
            board.push(seeds);
            fill(board, pits, rest - seeds, check);
            board.pop();
        }
    }
    fill(&mut Vec::new(), pits, seeds, check);
}

#[test]
fn s6_without_s5_an_endless_sowing_comes_back_to_its_start() {
    let mut endless = 0;
    for (columns, most) in [(1, 12), (2, 10), (3, 7)] {
        let rules = dodoi(columns);
        for seeds in 1..=most {
            every_board(rules.pits(), seeds, &mut |board| {
                for (pit, _) in board.iter().enumerate().filter(|&(_, &n)| n > 0) {
                    let Some((tail, _)) = cycle(&rules, board, pit) else {
                        continue;
                    };
                    assert_eq!(tail, 0, "{board:?} {pit}");
                    endless += 1;
                }
            });
        }
    }
    assert!(endless > 50, "{endless}");
}

#[test]
fn s6_without_s5_a_single_seed_never_starts_an_endless_sowing() {
    let mut singles = 0;
    for (columns, most) in [(1, 30), (2, 12), (3, 8), (4, 6)] {
        let rules = dodoi(columns);
        for seeds in 1..=most {
            every_board(rules.pits(), seeds, &mut |board| {
                for (pit, _) in board.iter().enumerate().filter(|&(_, &n)| n == 1) {
                    assert_eq!(cycle(&rules, board, pit), None, "{board:?} {pit}");
                    singles += 1;
                }
            });
        }
    }
    assert!(singles > 1_000, "{singles}");
}

#[test]
fn s6_a_single_seed_may_pass_a_small_lap_limit() {
    let board = [1, 2, 0, 0, 0, 0, 0, 3];
    let enough = set_up(&with_lap_limit(&dodoi(4), 2), &board, 0, [0, 0], 0);
    assert!(enough.legal_moves().contains(0));
    let short = set_up(&with_lap_limit(&dodoi(4), 1), &board, 0, [0, 0], 0);
    assert_eq!(
        short.play(0),
        Err(MoveError::EndlessSowing {
            column: 0,
            side: Side::South,
            lap_limit: 1,
            legal: vec![1]
        })
    );
}

#[test]
fn s6_with_s5_the_example_of_the_rules_page_is_endless() {
    let rules = parity(&dodoi(2));
    let board = [3, 2, 1, 0];
    let position = set_up(&rules, &board, 0, [0, 0], 0);
    assert_eq!(common::legal(&position), [1]);
    let (sowing, after) = position.sow(0).expect("seeds");
    assert_eq!(
        (sowing.laps, sowing.last, sowing.end),
        (10_000, None, SowingEnd::Endless)
    );
    assert_eq!(sowing.seeds_sown, 30_000);
    assert_eq!(after, *position.board());
    check_every_limit(&rules, &board, 0, 0, 300);
}

#[test]
fn s6_with_s5_cycles_can_have_a_tail() {
    let rules = parity(&dodoi(2));
    let (mut without, mut with) = (0, 0);
    for seeds in 1..=12 {
        every_board(rules.pits(), seeds, &mut |board| {
            for column in [0, 1].into_iter().filter(|&column| board[column] > 0) {
                match cycle(&rules, board, column) {
                    None => continue,
                    Some((0, _)) => without += 1,
                    Some(_) => with += 1,
                }
                check_every_limit(&rules, board, 0, column, 300);
            }
        });
    }
    assert!(without > 0 && with > 0, "{without} {with}");
}

#[test]
fn s6_endless_illegal_is_not_legal_and_refused_by_name() {
    let position = set_up(&parity(&dodoi(2)), &[3, 2, 1, 0], 0, [0, 0], 0);
    let error = position.play(0).expect_err("endless");
    assert_eq!(
        error.to_string(),
        "column 0 of south is an endless sowing (over 10000 laps); legal columns: [1]"
    );
}

#[test]
fn s6_endless_draw_ends_the_game_and_changes_nothing_else() {
    let rules = drawn(&parity(&dodoi(2)));
    for captured in [[0, 0], [10, 0], [0, 10]] {
        let position = set_up(&rules, &[3, 2, 1, 0], 0, captured, 5);
        assert_eq!(common::legal(&position), [0, 1]);
        let (next, sowing) = position.play_sowing(0).expect("legal");
        assert_eq!((sowing.end, sowing.captured), (SowingEnd::Endless, 0));
        assert_eq!(next.board(), position.board());
        assert_eq!(next.to_move(), position.to_move());
        assert_eq!(next.quiet(), 5);
        assert_eq!(next.observation(), position.observation());
        assert_eq!(next.end_reason(), Some(EndReason::Endless));
        assert_eq!(next.outcome(), Some(Outcome::Draw));
        assert!(next.is_over() && next.legal_moves().is_empty());
        let reason = EndReason::Endless;
        assert_eq!(next.play(1), Err(MoveError::Over { reason }));
    }
}

#[test]
fn s6_endless_sowings_can_be_looked_at() {
    let position = set_up(&dodoi(2), &[2, 0, 2, 1], 0, [0, 0], 0);
    assert!(position.is_over(), "stuck, so its board is empty");
    let open = set_up(&drawn(&dodoi(2)), &[2, 0, 2, 1], 0, [0, 0], 0);
    let (sowing, board) = open.sow(0).expect("seeds");
    assert_eq!(
        (sowing.laps, sowing.last, sowing.end),
        (10_000, None, SowingEnd::Endless)
    );
    assert_eq!(board.pits(), [2, 0, 2, 1]);
    let steps = trace(open.board(), open.ruleset(), Side::South, 0, 7);
    assert_eq!(steps.iter().map(|step| step.lap).max(), Some(7));
}
