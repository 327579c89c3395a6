//! Texts of positions and game records: what is accepted and how the rest is refused.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

mod common;

use common::{changed, dodoi, set_up};
use endodoi::{
    Endless, GameRecord, NotationError, Position, RecordError, Setup, SetupError, Side, Variant,
};
use serde_json::{Value, json};

#[test]
fn text_of_the_start() {
    let start = Position::start(&dodoi(6));
    let text = "4,4,4,4,4,4/4,4,4,4,4,4 S 0-0 0";
    assert_eq!(start.to_string(), text);
    assert_eq!(Position::from_text(text, start.ruleset()), Ok(start));
}

#[test]
fn text_rows_are_read_from_their_owners_left() {
    let position = Position::from_text("1,2,3/4,0,6 N 7-8 9", &dodoi(3)).expect("a position");
    assert_eq!(common::ring(&position), [1, 2, 3, 4, 0, 6]);
    assert_eq!(position.to_move(), Side::North);
    assert_eq!(position.board().captured(), [7, 8]);
    assert_eq!(position.quiet(), 9);
}

#[test]
fn text_of_one_column_and_of_sixty_four() {
    for columns in [1, 64] {
        for side in [0, 1] {
            let board = vec![1; 2 * columns as usize];
            let position = set_up(&dodoi(columns), &board, side, [3, 4], 5);
            let read = Position::from_text(&position.to_string(), position.ruleset());
            assert_eq!(read, Ok(position));
        }
    }
}

#[test]
fn text_of_a_stuck_position_is_settled_when_it_is_read() {
    let position = Position::from_text("0,0/2,1 S 0-0 3", &dodoi(2)).expect("a position");
    assert!(position.is_over());
    assert_eq!(position.to_string(), "0,0/0,0 S 0-3 3");
    let read = Position::from_text("0,0/0,0 S 0-3 3", &dodoi(2)).expect("a position");
    assert_eq!(read, position);
}

#[test]
fn an_end_by_an_endless_sowing_is_not_in_the_text() {
    let drawn = changed(&dodoi(2), |fields| fields.endless = Some(Endless::Draw));
    let ended = set_up(&drawn, &[2, 0, 2, 1], 0, [0, 0], 0)
        .play(0)
        .expect("legal");
    assert!(ended.is_over());
    let read = Position::from_text(&ended.to_string(), &drawn).expect("a position");
    assert!(!read.is_over());
    assert_eq!(read.ended_by_endless(), ended);
}

#[test]
fn refused_texts_name_field_value_and_what_is_expected() {
    let table = [
        ("", "the text has 1 fields, expected 4"),
        ("4,4/4,4 S 0-0", "the text has 3 fields, expected 4"),
        ("4,4/4,4  S 0-0 0", "the text has 5 fields, expected 4"),
        ("4,4/4,4 S 0-0 0 ", "the text has 5 fields, expected 4"),
        ("4,4 S 0-0 0", "the board has 1 rows, expected 2"),
        ("4,4/4,4/4,4 S 0-0 0", "the board has 3 rows, expected 2"),
        (
            "4,x/4,4 S 0-0 0",
            "South's row is \"x\", expected a whole number from 0 to 32767",
        ),
        (
            "4,4/4, S 0-0 0",
            "North's row is \"\", expected a whole number from 0 to 32767",
        ),
        (
            "4,-4/4,4 S 0-0 0",
            "South's row is \"-4\", expected a whole number",
        ),
        (
            "4,+4/4,4 S 0-0 0",
            "South's row is \"+4\", expected a whole number",
        ),
        (
            "4,04/4,4 S 0-0 0",
            "South's row is \"04\", expected a whole number",
        ),
        (
            "4,4.0/4,4 S 0-0 0",
            "South's row is \"4.0\", expected a whole number",
        ),
        (
            "4,٤/4,4 S 0-0 0",
            "South's row is \"٤\", expected a whole number",
        ),
        (
            "4,99999999999999999999/4,4 S 0-0 0",
            "South's row is \"99999999999999999999\"",
        ),
        ("4,4/4,4 s 0-0 0", "side to move is \"s\", expected S or N"),
        (
            "4,4/4,4 South 0-0 0",
            "side to move is \"South\", expected S or N",
        ),
        (
            "4,4/4,4 S 00 0",
            "captured is \"00\", expected South's and North's seeds",
        ),
        (
            "4,4/4,4 S -1-0 0",
            "captured by South is \"\", expected a whole number",
        ),
        (
            "4,4/4,4 S 0-0-0 0",
            "captured by North is \"0-0\", expected a whole number",
        ),
        (
            "4,4/4,4 S 0-0 0\n",
            "quiet plies is \"0\\n\", expected a whole number",
        ),
        (
            "4,4/4,4 S 0-0 ",
            "quiet plies is \"\", expected a whole number",
        ),
        ("4/4,4 S 0-0 0", "the row of south has 1 pits, expected 2"),
        (
            "4,4/4,4,4 S 0-0 0",
            "the row of north has 3 pits, expected 2",
        ),
        (
            "4,4/4,32768 S 0-0 0",
            "column 1 of north holds 32768 seeds, expected 0 to 32767",
        ),
        (
            "4,4/4,4 S 0-40000 0",
            "captured by north is 40000, expected 0 to 32767",
        ),
        (
            "4,4/4,4 S 0-32767 0",
            "the seeds on the board and captured are 32783, expected at most 32767",
        ),
        (
            "4,4/4,4 S 0-0 81",
            "quiet is 81, expected 0 to 80 (the quiet_limit)",
        ),
    ];
    for (text, wanted) in table {
        let error = Position::from_text(text, &dodoi(2))
            .expect_err(text)
            .to_string();
        assert!(error.starts_with(wanted), "{text:?}: {error}");
    }
}

#[test]
fn errors_of_texts_are_values_with_fields() {
    let read = |text: &str| Position::from_text(text, &dodoi(2)).expect_err(text);
    assert_eq!(read("1 2"), NotationError::Fields { got: 2 });
    assert_eq!(read("1,1 S 0-0 0"), NotationError::Rows { got: 1 });
    assert!(matches!(
        read("1,1/1,1 X 0-0 0"),
        NotationError::Field {
            field: "side to move",
            ..
        }
    ));
    assert!(matches!(
        read("1,1/1,1 S 0-0 99"),
        NotationError::Setup(SetupError::QuietRange {
            value: 99,
            limit: 80
        })
    ));
    // A text is checked for its form before the rule set is known.
    let setup: Setup = "1/2,3 S 0-0 99".parse().expect("the form is right");
    assert_eq!(
        (setup.south, setup.north, setup.quiet),
        (vec![1], vec![2, 3], 99)
    );
}

fn players() -> [String; 2] {
    ["south's".to_owned(), "north's".to_owned()]
}

/// Records the first golden game of En Dodoi 2x6, a finished one, as JSON.
fn finished() -> Value {
    let golden = common::golden();
    let set = &golden.sets["dodoi-6"];
    let moves: Vec<u8> = set.games[0]
        .moves
        .iter()
        .map(|&column| column as u8)
        .collect();
    let start = Position::start(&set.rules.ruleset());
    let record = GameRecord::of_moves(&start, players(), &moves).expect("legal");
    serde_json::to_value(&record).expect("serialisable")
}

fn read(record: &Value) -> Result<GameRecord, RecordError> {
    GameRecord::from_json(&record.to_string())
}

#[test]
fn record_keys_are_those_of_the_format() {
    let record = finished();
    let keys: Vec<&str> = record
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    let mut wanted = [
        "ruleset",
        "start",
        "players",
        "moves",
        "captured",
        "outcome",
        "end_reason",
    ];
    wanted.sort_unstable();
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, wanted);
    assert_eq!(record["captured"], json!([28, 20]));
    assert_eq!(record["outcome"], "south");
    assert_eq!(record["end_reason"], "stuck");
    assert_eq!(record["start"], "4,4,4,4,4,4/4,4,4,4,4,4 S 0-0 0");
}

#[test]
fn record_of_a_finished_game_reads_back() {
    let record = read(&finished()).expect("its own record");
    assert!(record.replay().expect("legal").is_over());
}

#[test]
fn record_of_a_game_that_an_endless_sowing_ended_reads_back() {
    let golden = common::golden();
    let set = &golden.sets["dodoi-4-draw"];
    let game = &set.games[0];
    assert_eq!(game.end, "endless");
    let moves: Vec<u8> = game.moves.iter().map(|&column| column as u8).collect();
    let start = Position::start(&set.rules.ruleset());
    let record = GameRecord::of_moves(&start, players(), &moves).expect("legal");
    assert_eq!(record.outcome.as_deref(), Some("draw"));
    assert_eq!(record.end_reason.as_deref(), Some("endless"));
    let line = record.to_json().expect("serialisable");
    assert_eq!(GameRecord::from_json(&line).expect("its own line"), record);
    // Its end is no start: the text would be that of an open position.
    let end = record.replay().expect("legal");
    let error = GameRecord::of_moves(&end, players(), &[]).expect_err("ended");
    assert_eq!(
        error.to_string(),
        "move 0: the game is over (endless): no move is legal"
    );
}

#[test]
fn record_of_a_cut_game_and_of_none_at_all() {
    let start = Position::start(&Variant::CrossEndodoi.ruleset());
    for moves in [&[][..], &[3], &[3, 0, 1]] {
        let record = GameRecord::of_moves(&start, players(), moves).expect("legal");
        assert_eq!(
            (record.outcome.as_deref(), record.end_reason.as_deref()),
            (None, Some("max_plies"))
        );
        let line = record.to_json().expect("serialisable");
        assert_eq!(GameRecord::from_json(&line).expect("its own line"), record);
    }
}

#[test]
fn record_from_north_to_move_and_from_a_finished_start() {
    let north = set_up(&dodoi(3), &[1, 2, 3, 0, 2, 0], 1, [5, 5], 2);
    let record = GameRecord::of_moves(&north, players(), &[1]).expect("legal");
    assert_eq!(record.start, "1,2,3/0,2,0 N 5-5 2");
    assert_eq!(
        read(&serde_json::to_value(&record).expect("json")).expect("own"),
        record
    );
    let over = set_up(&dodoi(3), &[0, 0, 0, 0, 2, 0], 0, [5, 5], 2);
    let record = GameRecord::of_moves(&over, players(), &[]).expect("no move");
    assert_eq!(record.outcome.as_deref(), Some("north"));
    assert_eq!(
        read(&serde_json::to_value(&record).expect("json")).expect("own"),
        record
    );
    assert!(GameRecord::of_moves(&over, players(), &[1]).is_err());
}

#[test]
fn refused_records_name_what_is_wrong() {
    let refuse = |change: &dyn Fn(&mut Value), wanted: &str| {
        let mut record = finished();
        change(&mut record);
        let error = read(&record).expect_err(wanted).to_string();
        assert!(error.contains(wanted), "wanted {wanted:?}, got {error:?}");
    };
    refuse(&|r| r["winner"] = json!("south"), "unknown field `winner`");
    refuse(
        &|r| r["ruleset"]["colums"] = json!(6),
        "unknown field `colums`",
    );
    refuse(
        &|r| r["ruleset"]["columns"] = json!(65),
        "columns is 65, expected 1 to 64",
    );
    refuse(
        &|r| r["ruleset"]["columns"] = json!(5),
        "the row of south has 6 pits, expected 5",
    );
    refuse(
        &|r| r["start"] = json!("4,4/4,4 S 0-0"),
        "start: the text has 3 fields",
    );
    refuse(&|r| r["players"] = json!(["one"]), "invalid length 1");
    refuse(
        &|r| r["moves"][2] = json!(300),
        "moves[2] is 300, expected 0 to 63",
    );
    refuse(
        &|r| r["moves"][2] = json!(-1),
        "moves[2] is -1, expected 0 to 63",
    );
    refuse(
        &|r| r["moves"][2] = json!(6),
        "move 2: column is 6, expected 0 to 5",
    );
    refuse(
        &|r| r["moves"][2] = json!("1"),
        "invalid type: string \"1\"",
    );
    refuse(
        &|r| r["moves"][1] = json!(2),
        "move 1: column 2 of north is empty; legal columns: ",
    );
    refuse(
        &|r| r["moves"].as_array_mut().expect("a list").push(json!(0)),
        "move 25: the game is over (stuck): no move is legal",
    );
    refuse(
        &|r| {
            r["moves"].as_array_mut().expect("a list").pop();
        },
        "but the moves give",
    );
    refuse(
        &|r| r["captured"] = json!([27, 21]),
        "captured is [27,21], but the moves give [28,20]",
    );
    refuse(
        &|r| r["captured"] = json!([28, 40_000]),
        "captured[1] is 40000, expected 0 to 32767",
    );
    refuse(
        &|r| r["captured"] = json!([28]),
        "captured has 1 numbers, expected 2",
    );
    refuse(
        &|r| r["outcome"] = json!("north"),
        "outcome is \"north\", but the moves give \"south\"",
    );
    refuse(
        &|r| r["outcome"] = json!(null),
        "outcome is null, but the moves give \"south\"",
    );
    refuse(
        &|r| r["end_reason"] = json!("quiet"),
        "end_reason is \"quiet\", but the moves give \"stuck\"",
    );
    refuse(
        &|r| r["end_reason"] = json!("max_plies"),
        "but the moves give \"stuck\"",
    );
    refuse(
        &|r| r["end_reason"] = json!("late"),
        "end_reason is \"late\", but the moves give \"stuck\"",
    );
    for text in ["", "{}", "[]", "null", "not json", "{\"moves\": []}"] {
        assert!(
            matches!(GameRecord::from_json(text), Err(RecordError::Json(_))),
            "{text}"
        );
    }
}

#[test]
fn a_cut_record_with_an_outcome_is_refused() {
    let start = Position::start(&dodoi(6));
    let record = GameRecord::of_moves(&start, players(), &[0, 1]).expect("legal");
    for outcome in ["south", "draw", "none", ""] {
        let mut changed = serde_json::to_value(&record).expect("json");
        changed["outcome"] = json!(outcome);
        let error = read(&changed).expect_err("an open game").to_string();
        assert!(error.ends_with("but the moves give null"), "{error}");
    }
}

#[test]
fn a_forfeit_is_an_open_game_lost_by_the_side_to_move() {
    let start = Position::start(&dodoi(6));
    for (moves, winner, loser) in [(&[0_u8][..], "south", "north"), (&[0, 1], "north", "south")] {
        let record = GameRecord::of_moves(&start, players(), moves).expect("legal");
        for reason in ["illegal", "error", "late"] {
            let mut changed = serde_json::to_value(&record).expect("json");
            changed["end_reason"] = json!(reason);
            for wrong in [json!(loser), json!("draw"), json!("banana"), json!(null)] {
                changed["outcome"] = wrong;
                let error = read(&changed).expect_err("not the winner").to_string();
                assert!(error.contains("outcome"), "{error}");
            }
            changed["outcome"] = json!(winner);
            let read = read(&changed).expect("a forfeit");
            assert_eq!(read.end_reason.as_deref(), Some(reason));
        }
    }
}
