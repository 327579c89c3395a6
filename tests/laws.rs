//! Laws that hold for every rule set and position.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

mod common;

use std::collections::HashSet;

use common::{changed, dodoi};
use endodoi::reference;
use endodoi::sowing::{sow, trace};
use endodoi::{
    Board, Direction, EndReason, Endless, GameRecord, LoneCapture, MoveError, Outcome, Position,
    Ruleset, RulesetFields, Setup, Side, SowingEnd, Variant,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Any rule set; small boards more often than large ones.
fn rulesets() -> impl Strategy<Value = Ruleset> {
    let columns = prop_oneof![6 => 1..=8_i64, 3 => 9..=20_i64, 1 => 21..=64_i64];
    let lap_limit = prop_oneof![2 => 1..=40_i64, 1 => 41..=300_i64, 3 => Just(10_000)];
    (
        select(&Variant::ALL[..]),
        columns,
        1..=64_i64,
        select(&[Direction::Anticlockwise, Direction::Parity][..]),
        select(&[LoneCapture::Stays, LoneCapture::Taken][..]),
        select(&[Endless::Illegal, Endless::Draw][..]),
        lap_limit,
        option::of(prop_oneof![1..=10_i64, 11..=32_767_i64]),
    )
        .prop_map(
            |(variant, columns, k, direction, lone, endless, laps, quiet)| {
                let fields = RulesetFields {
                    columns: Some(columns),
                    seeds_per_pit: Some(k),
                    direction: Some(direction),
                    lone_capture: Some(lone),
                    endless: Some(endless),
                    lap_limit: Some(laps),
                    quiet_limit: quiet,
                    ..RulesetFields::default()
                };
                common::with(variant, &fields)
            },
        )
}

/// Any set-up of a rule set.
fn setups() -> impl Strategy<Value = (Ruleset, Setup)> {
    let pit = prop_oneof![4 => Just(0), 5 => 1..=8_i64, 1 => 9..=200_i64];
    (
        rulesets(),
        vec(pit, 128),
        any::<bool>(),
        [0..=999_i64, 0..=999_i64],
        0..=32_767_i64,
    )
        .prop_map(|(rules, pits, north, captured, quiet)| {
            let columns = rules.columns();
            let setup = Setup {
                south: pits[..columns].to_vec(),
                north: pits[columns..2 * columns].to_vec(),
                to_move: if north { Side::North } else { Side::South },
                captured,
                quiet: quiet % (i64::from(rules.quiet_limit()) + 1),
            };
            (rules, setup)
        })
}

/// Any position: a start or a set-up, and some random plies after it.
fn positions() -> impl Strategy<Value = Position> {
    (setups(), any::<bool>(), vec(any::<u16>(), 0..12)).prop_map(
        |((rules, setup), from_start, choices)| {
            let mut position = if from_start {
                Position::start(&rules)
            } else {
                setup.position(&rules).expect("a valid set-up")
            };
            for choice in choices {
                let legal = common::legal(&position);
                if legal.is_empty() {
                    break;
                }
                position = position
                    .play(legal[usize::from(choice) % legal.len()])
                    .expect("legal");
            }
            position
        },
    )
}

proptest! {
    #[test]
    fn seeds_are_conserved(position in positions()) {
        for column in position.legal_moves() {
            let next = position.play(column).expect("legal");
            prop_assert_eq!(next.board().total(), position.board().total());
            let (_, board) = position.sow(column).expect("legal");
            prop_assert_eq!(board.total(), position.board().total());
        }
    }

    #[test]
    fn mask_iff_play_succeeds(position in positions()) {
        let columns = position.board().columns();
        let row = position.board().row(position.to_move());
        for column in 0..columns + 3 {
            let played = position.play(column);
            prop_assert_eq!(position.legal_moves().contains(column), played.is_ok());
            let Err(error) = played else { continue };
            let right = match error {
                MoveError::Over { reason } => position.end_reason() == Some(reason),
                MoveError::ColumnRange { last, .. } => column > last && last == columns - 1,
                MoveError::EmptyPit { ref legal, .. } => {
                    row.get(column) == Some(&0) && *legal == common::legal(&position)
                }
                MoveError::EndlessSowing { ref legal, .. } => {
                    let (sowing, _) = position.sow(column).expect("a pit with seeds");
                    sowing.end == SowingEnd::Endless && *legal == common::legal(&position)
                }
            };
            prop_assert!(right, "{} of {:?}", error, position);
        }
        prop_assert_eq!(position.is_over(), position.legal_moves().is_empty());
    }

    #[test]
    fn swapping_the_sides_changes_neither_observation_nor_legality(position in positions()) {
        let swapped = position.swap_sides();
        prop_assert_eq!(swapped.observation(), position.observation());
        prop_assert_eq!(swapped.legal_moves(), position.legal_moves());
        prop_assert_eq!(swapped.end_reason(), position.end_reason());
        prop_assert_eq!(swapped.to_move(), position.to_move().other());
        let mirrored = position.outcome().map(|outcome| match outcome {
            Outcome::Win(side) => Outcome::Win(side.other()),
            Outcome::Draw => Outcome::Draw,
        });
        prop_assert_eq!(swapped.outcome(), mirrored);
        prop_assert_eq!(swapped.swap_sides(), position);
        for column in position.legal_moves() {
            let (next, sowing) = position.play_sowing(column).expect("legal");
            let (swapped_next, swapped_sowing) = swapped.play_sowing(column).expect("legal");
            prop_assert_eq!(swapped_next, next.swap_sides());
            prop_assert_eq!(swapped_sowing.laps, sowing.laps);
            prop_assert_eq!(swapped_sowing.seeds_sown, sowing.seeds_sown);
            prop_assert_eq!(swapped_sowing.captured, sowing.captured);
            prop_assert_eq!(swapped_sowing.end, sowing.end);
        }
    }

    #[test]
    fn a_swapped_set_up_is_the_swapped_position((rules, setup) in setups()) {
        let swapped = Setup {
            south: setup.north.clone(),
            north: setup.south.clone(),
            to_move: setup.to_move.other(),
            captured: [setup.captured[1], setup.captured[0]],
            quiet: setup.quiet,
        };
        let position = setup.position(&rules).expect("valid");
        prop_assert_eq!(swapped.position(&rules).expect("valid"), position.swap_sides());
    }

    #[test]
    fn text_round_trip_of_settled_positions(position in positions()) {
        prop_assume!(position.end_reason() != Some(EndReason::Endless));
        let text = position.to_string();
        let read = Position::from_text(&text, position.ruleset()).expect("own text");
        prop_assert_eq!(read, position);
        prop_assert_eq!(read.to_string(), text);
    }

    #[test]
    fn sow_and_play_agree(position in positions()) {
        for column in 0..position.board().columns() {
            let Ok((sowing, board)) = position.sow(column) else {
                prop_assert!(position.play(column).is_err());
                continue;
            };
            let Ok((next, played)) = position.play_sowing(column) else { continue };
            prop_assert_eq!(played, sowing);
            if next.end_reason() == Some(EndReason::Stuck) {
                let rest = board.seeds_on_board() as u16;
                let mut captured = board.captured();
                captured[position.to_move().index()] += rest;
                prop_assert_eq!(next.board().captured(), captured);
            } else {
                prop_assert_eq!(next.board(), &board);
            }
        }
    }

    #[test]
    fn trace_is_the_sowing_pit_by_pit(position in positions()) {
        let rules = position.ruleset();
        let side = position.to_move();
        for column in 0..rules.columns() {
            let Ok((sowing, after)) = position.sow(column) else { continue };
            let steps = trace(position.board(), rules, side, column, u32::MAX);
            let lifts = steps.iter().filter(|step| step.seeds == 0).count();
            prop_assert_eq!(lifts, sowing.laps as usize);
            prop_assert_eq!((steps.len() - lifts) as u64, sowing.seeds_sown);
            prop_assert_eq!(steps.last().map(|step| step.lap), Some(sowing.laps));
            let Some(last) = sowing.last else { continue };
            prop_assert_eq!(steps.last().map(|step| step.pit), Some(last));
            let mut pits = position.board().pits().to_vec();
            for step in &steps {
                pits[usize::from(step.pit)] = step.seeds;
            }
            if sowing.end == SowingEnd::Captured {
                pits[usize::from(last)] = 0;
                pits[endodoi::pit::opposite(last.into(), rules.columns())] = 0;
            }
            prop_assert_eq!(&pits[..], after.pits());
            let first_lap = trace(position.board(), rules, side, column, 1);
            prop_assert_eq!(&steps[..first_lap.len()], &first_lap[..]);
        }
    }

    #[test]
    fn the_reference_agrees((rules, setup) in setups()) {
        let position = setup.position(&rules).expect("valid");
        let board: Vec<i64> = setup.south.iter().chain(&setup.north).copied().collect();
        let side = setup.to_move.index();
        let game = reference::Game::enter(rules, board, side, setup.captured, setup.quiet);
        common::assert_same(&position, &game);
    }

    #[test]
    fn one_lap_without_s5_can_be_taken_back(
        columns in 1..=64_i64,
        pits in vec(0..=300_i64, 128),
        pit in any::<usize>(),
    ) {
        let rules = dodoi(columns);
        let before = &pits[..rules.pits()];
        let pit = pit % rules.pits();
        prop_assume!(before[pit] > 0);
        let mut board = before.to_vec();
        let (last, _) = reference::s1_s2_lap(&rules, &mut board, pit);
        prop_assert_eq!(take_back(&rules, &mut board, last), pit);
        prop_assert_eq!(&board[..], before);
    }

    #[test]
    fn a_set_up_of_any_numbers_is_accepted_or_refused(
        rules in rulesets(),
        rows in [vec(any_number(), 0..70), vec(any_number(), 0..70)],
        right_length in any::<bool>(),
        captured in [any_number(), any_number()],
        quiet in any_number(),
        north in any::<bool>(),
    ) {
        let [mut south, mut other] = rows;
        if right_length {
            south.resize(rules.columns(), 1);
            other.resize(rules.columns(), 1);
        }
        let setup = Setup {
            south,
            north: other,
            to_move: if north { Side::North } else { Side::South },
            captured,
            quiet,
        };
        match setup.position(&rules) {
            Ok(position) => {
                let all = setup.south.iter().chain(&setup.north).chain(&captured);
                prop_assert_eq!(i64::from(position.board().total()), all.sum::<i64>());
            }
            Err(error) => prop_assert!(error.to_string().contains("expected")),
        }
    }

    #[test]
    fn a_ruleset_of_any_numbers_is_accepted_or_refused(
        numbers in [option::of(any_number()), option::of(any_number()),
            option::of(any_number()), option::of(any_number())],
    ) {
        let [columns, seeds_per_pit, lap_limit, quiet_limit] = numbers;
        let fields = RulesetFields {
            columns,
            seeds_per_pit,
            lap_limit,
            quiet_limit,
            ..RulesetFields::default()
        };
        let inside = [(columns, 64), (seeds_per_pit, 64), (lap_limit, 1_000_000), (quiet_limit, 32_767)]
            .iter()
            .all(|&(value, high)| value.is_none_or(|value| (1..=high).contains(&value)));
        let made = Ruleset::new(Variant::EnDodoi, &fields);
        prop_assert_eq!(made.is_ok(), inside);
        if let Ok(rules) = made {
            let text = serde_json::to_string(&rules).expect("serialisable");
            prop_assert_eq!(serde_json::from_str::<Ruleset>(&text).expect("own text"), rules);
        }
    }

    #[test]
    fn any_text_is_a_position_or_refused(rules in rulesets(), text in "\\PC{0,60}") {
        check_text(&text, &rules);
    }

    #[test]
    fn any_text_of_the_right_letters_is_a_position_or_refused(
        text in "[0-9]{0,3}(,[0-9]{0,6}){0,3}/?[0-9,]{0,12} ?[SNsn]? [0-9-]{0,8} [0-9]{0,6}",
    ) {
        check_text(&text, &dodoi(2));
    }

    #[test]
    fn a_changed_text_is_a_position_or_refused(
        position in positions(),
        at in any::<prop::sample::Index>(),
        cut in 0..4_usize,
        new in "[0-9,/ SN\\-a\u{e9}\u{1F600}]{0,4}",
    ) {
        let mut letters: Vec<char> = position.to_string().chars().collect();
        let at = at.index(letters.len());
        let to = (at + cut).min(letters.len());
        letters.splice(at..to, new.chars());
        let text: String = letters.into_iter().collect();
        check_text(&text, position.ruleset());
    }

    #[test]
    fn game_records_round_trip(position in positions(), choices in vec(any::<u16>(), 0..40)) {
        prop_assume!(position.end_reason() != Some(EndReason::Endless));
        let record = random_record(&position, &choices);
        let line = record.to_json().expect("serialisable");
        prop_assert!(!line.contains('\n'));
        let read = GameRecord::from_json(&line).expect("own line");
        prop_assert_eq!(&read, &record);
        let end = read.replay().expect("legal");
        prop_assert_eq!(end.board().captured(), record.captured);
    }

    #[test]
    fn a_changed_record_is_a_record_or_refused(
        position in positions(),
        choices in vec(any::<u16>(), 0..6),
        at in any::<prop::sample::Index>(),
        cut in 0..4_usize,
        new in "[0-9,:\"\\[\\]{} a-z\u{e9}]{0,4}",
    ) {
        prop_assume!(position.end_reason() != Some(EndReason::Endless));
        let line = random_record(&position, &choices).to_json().expect("serialisable");
        let mut letters: Vec<char> = line.chars().collect();
        let at = at.index(letters.len());
        let to = (at + cut).min(letters.len());
        letters.splice(at..to, new.chars());
        let text: String = letters.into_iter().collect();
        if let Ok(record) = GameRecord::from_json(&text) {
            let again = record.to_json().expect("serialisable");
            prop_assert_eq!(GameRecord::from_json(&again).expect("own line"), record);
        }
    }
}

/// Numbers inside, at and far outside every range.
fn any_number() -> impl Strategy<Value = i64> {
    prop_oneof![
        8 => 0..=6_i64,
        2 => -2..=70_i64,
        1 => select(&[32_766, 32_767, 32_768, 65_536, 999_999, 1_000_000, 1_000_001][..]),
        1 => any::<i64>(),
        1 => select(&[i64::MIN, i64::MAX][..]),
    ]
}

/// Reads a text; what is accepted must have a text of its own that reads the same.
fn check_text(text: &str, rules: &Ruleset) {
    match Position::from_text(text, rules) {
        Ok(position) => {
            let own = position.to_string();
            assert_eq!(Position::from_text(&own, rules), Ok(position), "{text}");
            if !position.is_over() {
                assert_eq!(own, text);
            }
        }
        Err(error) => assert!(error.to_string().contains("expected"), "{error}"),
    }
}

/// Records a game of random moves from `position`.
fn random_record(position: &Position, choices: &[u16]) -> GameRecord {
    let mut at = *position;
    let mut moves = Vec::new();
    for &choice in choices {
        let legal = common::legal(&at);
        if legal.is_empty() {
            break;
        }
        let column = legal[usize::from(choice) % legal.len()];
        moves.push(column as u8);
        at = at.play(column).expect("legal");
    }
    let players = ["random \"one\"".to_owned(), "zwei\n".to_owned()];
    GameRecord::of_moves(position, players, &moves).expect("legal moves")
}

/// Takes one anticlockwise lap back: walks backwards from its last pit and picks up one seed a
/// pit; the first empty pit is the one that was lifted from.
fn take_back(rules: &Ruleset, board: &mut [i64], last: usize) -> usize {
    let mut at = last;
    let mut seeds = 0;
    while board[at] > 0 {
        board[at] -= 1;
        seeds += 1;
        at = reference::b2_next(rules, at, false);
    }
    board[at] = seeds;
    at
}

/// Sows one lap from every state (board, pit with seeds) of a small size and counts the states
/// before and after.
fn count_lap_images(rules: &Ruleset, seeds: i64) -> (usize, usize) {
    let mut boards = vec![Vec::new()];
    for pit in 0..rules.pits() {
        boards = boards
            .into_iter()
            .flat_map(|board: Vec<i64>| {
                let rest = seeds - board.iter().sum::<i64>();
                let low = if pit + 1 == rules.pits() { rest } else { 0 };
                (low..=rest).map(move |next| [&board[..], &[next]].concat())
            })
            .collect();
    }
    let mut before = 0;
    let mut after = HashSet::new();
    for board in boards {
        for pit in (0..board.len()).filter(|&pit| board[pit] > 0) {
            let mut sown = board.clone();
            let (last, _) = reference::s1_s2_lap(rules, &mut sown, pit);
            before += 1;
            after.insert((sown, last));
        }
    }
    (before, after.len())
}

#[test]
fn one_lap_is_a_bijection_without_s5_and_none_with_it() {
    for (columns, most) in [(1, 20), (2, 12), (3, 8)] {
        let rules = dodoi(columns);
        let parity = changed(&rules, |fields| fields.direction = Some(Direction::Parity));
        let mut lost = 0;
        for seeds in 1..=most {
            let (before, after) = count_lap_images(&rules, seeds);
            assert_eq!(before, after, "{rules}, {seeds} seeds");
            let (before, after) = count_lap_images(&parity, seeds);
            lost += before - after;
        }
        // On the ring of two pits both directions are the same.
        assert_eq!(lost > 0, columns > 1, "{lost}");
    }
}

#[test]
fn every_opening_move_has_the_same_laps_for_every_size() {
    for columns in 1..=64 {
        for k in 1..=64 {
            let rules = changed(&dodoi(columns), |fields| fields.seeds_per_pit = Some(k));
            let turn = |side: Side, column: usize| {
                let mut board = Board::start(&rules);
                let sowing = sow(&mut board, &rules, side, column);
                let origin = endodoi::pit::ring_index(side, column, rules.columns());
                let way = sowing
                    .last
                    .map(|last| (usize::from(last) + rules.pits() - origin) % rules.pits());
                (sowing.laps, sowing.seeds_sown, way)
            };
            let first = turn(Side::South, 0);
            for column in 0..rules.columns() {
                for side in Side::BOTH {
                    assert_eq!(turn(side, column), first, "{rules}, {side} {column}");
                }
            }
        }
    }
}
