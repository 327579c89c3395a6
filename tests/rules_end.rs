//! Capture and end: clauses C1 to C3 and E1 to E4.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

mod common;

use common::{changed, dodoi, set_up, twins};
use endodoi::{
    EndReason, Endless, GameRecord, LoneCapture, MoveError, Outcome, Position, Ruleset, Side,
    SowingEnd, Variant,
};

fn taken(rules: &Ruleset) -> Ruleset {
    changed(rules, |fields| {
        fields.lone_capture = Some(LoneCapture::Taken);
    })
}

fn quiet_limit(rules: &Ruleset, plies: i64) -> Ruleset {
    changed(rules, |fields| fields.quiet_limit = Some(plies))
}

#[test]
fn c1_own_empty_pit_takes_the_opposite_seeds_and_the_capturing_seed() {
    // South's seed lands in pit 1; opposite on a ring of 8 is pit 6.
    let south = set_up(&dodoi(4), &[1, 0, 0, 2, 0, 1, 5, 0], 0, [3, 4], 9);
    let (next, sowing) = south.play_sowing(0).expect("legal");
    assert_eq!((sowing.captured, sowing.end), (6, SowingEnd::Captured));
    assert_eq!(next.board().pits(), [0, 0, 0, 2, 0, 1, 0, 0]);
    assert_eq!(next.board().captured(), [3 + 6, 4]);
    assert_eq!(next.quiet(), 0);
}

#[test]
fn c1_north_captures_in_its_own_row() {
    let north = set_up(&dodoi(4), &[0, 3, 0, 1, 0, 1, 0, 2], 1, [0, 0], 0);
    let (next, sowing) = north.play_sowing(1).expect("legal");
    assert_eq!((sowing.last, sowing.captured), (Some(6), 4));
    assert_eq!(next.board().pits(), [0, 0, 0, 1, 0, 0, 0, 2]);
    assert_eq!(next.board().captured(), [0, 4]);
    assert_eq!(next.quiet(), 0);
}

#[test]
fn c1_seeds_of_the_same_sowing_count_in_the_opposite_pit() {
    // A lap of N ends in its origin; the opposite pit holds 1 + 1 by then.
    let position = set_up(&dodoi(2), &[4, 0, 0, 1], 0, [0, 0], 0);
    let (sowing, board) = position.sow(0).expect("seeds");
    assert_eq!((sowing.laps, sowing.captured), (1, 3));
    assert_eq!(board.pits(), [0, 1, 1, 0]);
}

#[test]
fn c2_stays_leaves_a_lone_seed() {
    let position = set_up(&dodoi(4), &[1, 0, 0, 0, 0, 1, 0, 0], 0, [0, 0], 5);
    let (next, sowing) = position.play_sowing(0).expect("legal");
    assert_eq!((sowing.captured, sowing.end), (0, SowingEnd::Empty));
    assert_eq!(next.board().pits(), [0, 1, 0, 0, 0, 1, 0, 0]);
    assert_eq!(next.quiet(), 6);
}

#[test]
fn c2_taken_takes_the_capturing_seed_alone() {
    let position = set_up(&taken(&dodoi(4)), &[1, 0, 1, 0, 0, 1, 0, 0], 0, [0, 0], 5);
    let (next, sowing) = position.play_sowing(0).expect("legal");
    assert_eq!((sowing.captured, sowing.end), (1, SowingEnd::Captured));
    assert_eq!(next.board().pits(), [0, 0, 1, 0, 0, 1, 0, 0]);
    assert_eq!(next.board().captured(), [1, 0]);
}

#[test]
fn c2_all_variants_stay_by_default() {
    for variant in Variant::ALL {
        assert_eq!(variant.ruleset().lone_capture(), LoneCapture::Stays);
    }
}

#[test]
fn c3_ending_in_the_opponents_row_captures_nothing() {
    for rules in [dodoi(4), taken(&dodoi(4))] {
        for facing in [0, 3] {
            // Into pit 5, North's, opposite to South's pit 2; `facing` seeds lie there.
            let board = [1, 0, facing, 2, 0, 0, 1, 0];
            let position = set_up(&rules, &board, 0, [0, 0], 0);
            let (sowing, after) = position.sow(3).expect("seeds");
            assert_eq!(
                (sowing.last, sowing.captured, sowing.end),
                (Some(5), 0, SowingEnd::Opponent)
            );
            let facing = facing as u16;
            assert_eq!(after.pits(), [1, 0, facing, 0, 1, 1, 1, 0]);
        }
    }
}

#[test]
fn e1_no_seeds_in_the_own_row_gives_all_to_the_other_side() {
    for (side, captured) in [(0, [1, 2 + 7]), (1, [1 + 7, 2])] {
        let mut board = [0; 6];
        board[3 - 3 * side + 1] = 7;
        let position = set_up(&dodoi(3), &board, side, [1, 2], 4);
        assert_eq!(position.end_reason(), Some(EndReason::Stuck));
        assert_eq!(common::captured(&position), captured);
        assert_eq!(position.board().seeds_on_board(), 0);
        assert_eq!((position.quiet(), position.to_move().index()), (4, side));
        let reason = EndReason::Stuck;
        assert_eq!(position.play(0), Err(MoveError::Over { reason }));
    }
}

#[test]
fn e1_a_side_whose_every_move_is_endless_is_stuck() {
    let position = set_up(&dodoi(2), &[2, 0, 2, 1], 0, [0, 0], 0);
    assert_eq!(position.end_reason(), Some(EndReason::Stuck));
    assert_eq!(position.board().captured(), [0, 5]);
    assert_eq!(position.outcome(), Some(Outcome::Win(Side::North)));
    // Under `draw` the same move is legal and the game goes on.
    let drawn = changed(&dodoi(2), |fields| fields.endless = Some(Endless::Draw));
    let position = set_up(&drawn, &[2, 0, 2, 1], 0, [0, 0], 0);
    assert_eq!(common::legal(&position), [0]);
    assert!(!position.is_over());
}

#[test]
fn e1_a_start_can_be_stuck_under_a_small_lap_limit() {
    let rules = common::with_lap_limit(&dodoi(6), 1);
    let (position, _) = twins(&rules, &[4; 12], 0, [0, 0], 0);
    assert_eq!(position, Position::start(&rules));
    assert_eq!(position.end_reason(), Some(EndReason::Stuck));
    assert_eq!(position.board().captured(), [0, 48]);
}

#[test]
fn e1_there_is_no_duty_to_feed_the_opponent() {
    // South captures North's last seeds; North is stuck at once and South takes the rest.
    let position = set_up(&dodoi(4), &[1, 0, 0, 1, 0, 0, 5, 0], 0, [0, 0], 0);
    assert_eq!(common::legal(&position), [0, 3]);
    let next = position.play(0).expect("legal");
    assert_eq!(next.end_reason(), Some(EndReason::Stuck));
    assert_eq!(next.board().captured(), [6 + 1, 0]);
}

#[test]
fn e1_is_tested_at_the_start_of_a_turn_only() {
    // South empties its own row and North plays on.
    let position = set_up(&dodoi(4), &[0, 0, 0, 1, 0, 0, 2, 0], 0, [0, 0], 0);
    let next = position.play(3).expect("legal");
    assert!(!next.is_over());
    assert_eq!(next.board().row(Side::South), [0; 4]);
}

#[test]
fn e1_no_early_end_at_a_majority() {
    let position = set_up(&dodoi(4), &[1, 0, 0, 1, 0, 1, 0, 0], 0, [29, 0], 0);
    assert!(!position.is_over());
    assert_eq!(position.outcome(), None);
}

#[test]
fn e1_an_empty_board_is_over() {
    for side in [0, 1] {
        let position = set_up(&dodoi(4), &[0; 8], side, [5, 5], 0);
        assert_eq!(position.end_reason(), Some(EndReason::Stuck));
        assert_eq!(position.outcome(), Some(Outcome::Draw));
    }
}

#[test]
fn e2_more_captured_seeds_win_equal_is_a_draw() {
    for (captured, outcome) in [
        ([3, 2], Outcome::Win(Side::South)),
        ([2, 3], Outcome::Win(Side::North)),
        ([3, 3], Outcome::Draw),
        ([0, 0], Outcome::Draw),
    ] {
        let position = set_up(&dodoi(2), &[0; 4], 0, captured, 0);
        assert_eq!(position.outcome(), Some(outcome));
    }
}

#[test]
fn e2_seeds_are_conserved_through_a_game() {
    for variant in Variant::ALL {
        let rules = variant.ruleset();
        let mut position = Position::start(&rules);
        let total = u32::from(rules.seeds_per_pit()) * rules.pits() as u32;
        while let Some(column) = position.legal_moves().nth(0) {
            position = position.play(column).expect("legal");
            assert_eq!(position.board().total(), total);
        }
    }
}

#[test]
fn e2_the_largest_total_is_sown_and_captured_without_overflow() {
    let (position, game) = twins(&dodoi(2), &[1, 0, 32_000, 766], 0, [0, 0], 0);
    let (next, sowing) = position.play_sowing(0).expect("legal");
    assert_eq!(sowing.captured, 32_001);
    common::assert_same(&next, &game.play(0).expect("legal").0);
    let (position, game) = twins(&dodoi(1), &[32_767, 0], 0, [0, 0], 0);
    for column in position.legal_moves() {
        let next = position.play(column).expect("legal");
        assert_eq!(next.board().total(), 32_767);
        common::assert_same(&next, &game.play(column).expect("legal").0);
    }
}

#[test]
fn e3_quiet_plies_end_the_game_and_nobody_takes_the_rest() {
    let rules = quiet_limit(&dodoi(4), 3);
    let mut position = set_up(&rules, &[0, 0, 1, 0, 0, 0, 1, 0], 0, [2, 1], 0);
    for (ply, column) in [2, 2, 3].into_iter().enumerate() {
        assert_eq!(usize::from(position.quiet()), ply);
        assert!(!position.is_over());
        position = position.play(column).expect("legal");
    }
    assert_eq!(position.end_reason(), Some(EndReason::Quiet));
    assert_eq!(position.quiet(), 3);
    assert_eq!(position.board().captured(), [2, 1]);
    assert_eq!(position.board().seeds_on_board(), 2);
    assert_eq!(position.outcome(), Some(Outcome::Win(Side::South)));
    assert!(position.legal_moves().is_empty());
    let reason = EndReason::Quiet;
    assert_eq!(position.play(0), Err(MoveError::Over { reason }));
}

#[test]
fn e3_a_capture_starts_the_count_again() {
    let rules = quiet_limit(&dodoi(4), 6);
    let position = set_up(&rules, &[1, 0, 0, 0, 0, 1, 2, 0], 0, [0, 0], 5);
    let next = position.play(0).expect("legal");
    assert_eq!((next.quiet(), next.is_over()), (0, false));
}

#[test]
fn e3_a_lone_seed_taken_is_a_capture() {
    let rules = quiet_limit(&dodoi(4), 6);
    let board = [1, 0, 0, 1, 0, 1, 0, 0];
    let stays = set_up(&rules, &board, 0, [0, 0], 5).play(0).expect("legal");
    assert_eq!(stays.end_reason(), Some(EndReason::Quiet));
    let next = set_up(&taken(&rules), &board, 0, [0, 0], 5)
        .play(0)
        .expect("legal");
    assert_eq!((next.quiet(), next.is_over()), (0, false));
}

#[test]
fn e3_limit_of_one_and_of_the_most() {
    let one = quiet_limit(&dodoi(4), 1);
    let board = [1, 0, 0, 0, 0, 1, 0, 0];
    let next = set_up(&one, &board, 0, [0, 0], 0).play(0).expect("legal");
    assert_eq!(next.end_reason(), Some(EndReason::Quiet));
    let most = quiet_limit(&dodoi(4), 32_767);
    let next = set_up(&most, &board, 0, [0, 0], 32_766)
        .play(0)
        .expect("legal");
    assert_eq!(next.end_reason(), Some(EndReason::Quiet));
    assert_eq!(next.observation().last(), Some(&32_767));
    let set = set_up(&most, &board, 0, [0, 0], 32_767);
    assert_eq!(set.end_reason(), Some(EndReason::Quiet));
}

#[test]
fn e1_is_tested_before_e3() {
    let rules = quiet_limit(&dodoi(4), 6);
    // North is stuck on the very ply that reaches the quiet limit.
    let position = set_up(&rules, &[1, 0, 0, 0, 0, 0, 0, 0], 0, [0, 0], 5);
    let next = position.play(0).expect("legal");
    assert_eq!(next.quiet(), 6);
    assert_eq!(next.end_reason(), Some(EndReason::Stuck));
    assert_eq!(next.board().captured(), [1, 0]);
    // The same for a set-up.
    let set = set_up(&rules, &[1, 0, 0, 0, 0, 0, 0, 0], 1, [0, 0], 6);
    assert_eq!(set.end_reason(), Some(EndReason::Stuck));
    let set = set_up(&rules, &[1, 0, 0, 0, 0, 1, 0, 0], 1, [0, 0], 6);
    assert_eq!(set.end_reason(), Some(EndReason::Quiet));
}

#[test]
fn e3_an_endless_sowing_played_comes_before_the_quiet_limit() {
    // The endless ply does not count as a quiet one: the game ends by S6, not by E3.
    let rules = changed(&dodoi(2), |fields| {
        fields.endless = Some(Endless::Draw);
        fields.quiet_limit = Some(6);
    });
    let position = set_up(&rules, &[2, 0, 2, 1], 0, [9, 0], 5);
    let next = position.play(0).expect("legal");
    assert_eq!(next.end_reason(), Some(EndReason::Endless));
    assert_eq!((next.quiet(), next.outcome()), (5, Some(Outcome::Draw)));
}

#[test]
fn e4_a_cut_game_has_no_outcome() {
    let start = Position::start(&dodoi(6));
    let record = GameRecord::of_moves(&start, ["a".into(), "b".into()], &[0, 1]).expect("legal");
    assert_eq!(record.outcome, None);
    assert_eq!(record.end_reason.as_deref(), Some("max_plies"));
}
