//! Positions as text and games as JSON lines.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

use crate::board::MAX_SEEDS;
use crate::pit::MAX_COLUMNS;
use crate::position::{EndReason, MoveError, Outcome, Position, Setup, SetupError};
use crate::ruleset::Ruleset;
use crate::side::Side;

/// Why a text is not a position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotationError {
    /// The text does not have four fields.
    #[error(
        "the text has {got} fields, expected 4: rows, side to move, captured, quiet plies (as in \"4,4/4,4 S 0-0 0\")"
    )]
    Fields {
        /// Fields found.
        got: usize,
    },
    /// The board does not have two rows.
    #[error("the board has {got} rows, expected 2 divided by \"/\"")]
    Rows {
        /// Rows found.
        got: usize,
    },
    /// A field that is not what it should be.
    #[error("{field} is {value:?}, expected {expected}")]
    Field {
        /// The field's name.
        field: &'static str,
        /// The text found.
        value: String,
        /// What belongs there.
        expected: &'static str,
    },
    /// The numbers are read but do not make a position.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

/// Reads a decimal number without sign, spaces or superfluous zeros.
fn number(field: &'static str, text: &str) -> Result<i64, NotationError> {
    let plain = !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && (text == "0" || !text.starts_with('0'));
    let bad = || NotationError::Field {
        field,
        value: text.to_owned(),
        expected: "a whole number from 0 to 32767",
    };
    if plain {
        text.parse().map_err(|_| bad())
    } else {
        Err(bad())
    }
}

impl FromStr for Setup {
    type Err = NotationError;

    /// Reads `4,4,4,4,4,4/4,4,4,4,4,4 S 0-0 0`: South's row, North's row (each from its owner's
    /// left), side to move, captured by South and North, quiet plies.
    fn from_str(text: &str) -> Result<Setup, NotationError> {
        let fields: Vec<&str> = text.split(' ').collect();
        let [board, side, captured, quiet] = fields[..] else {
            return Err(NotationError::Fields { got: fields.len() });
        };
        let rows: Vec<&str> = board.split('/').collect();
        let [south, north] = rows[..] else {
            return Err(NotationError::Rows { got: rows.len() });
        };
        let row = |field, text: &str| -> Result<Vec<i64>, NotationError> {
            text.split(',').map(|seeds| number(field, seeds)).collect()
        };
        let to_move = match side {
            "S" => Side::South,
            "N" => Side::North,
            _ => {
                return Err(NotationError::Field {
                    field: "side to move",
                    value: side.to_owned(),
                    expected: "S or N",
                });
            }
        };
        let Some((by_south, by_north)) = captured.split_once('-') else {
            return Err(NotationError::Field {
                field: "captured",
                value: captured.to_owned(),
                expected: "South's and North's seeds as in 0-0",
            });
        };
        Ok(Setup {
            south: row("South's row", south)?,
            north: row("North's row", north)?,
            to_move,
            captured: [
                number("captured by South", by_south)?,
                number("captured by North", by_north)?,
            ],
            quiet: number("quiet plies", quiet)?,
        })
    }
}

impl Position {
    /// Reads a position from text and settles it.
    ///
    /// # Errors
    /// [`NotationError`] names the field and the value that are wrong.
    ///
    /// ```
    /// use endodoi::{Position, Variant};
    /// let ruleset = Variant::CrossEndodoi.ruleset();
    /// let text = "3,3,3,3,3,3/3,3,3,3,3,3 S 0-0 0";
    /// assert_eq!(Position::from_text(text, &ruleset)?.to_string(), text);
    /// let error = Position::from_text("3,3,3,3,3,3/3,3,x,3,3,3 S 0-0 0", &ruleset).unwrap_err();
    /// assert!(error.to_string().starts_with("North's row is \"x\""));
    /// # Ok::<(), endodoi::NotationError>(())
    /// ```
    pub fn from_text(text: &str, ruleset: &Ruleset) -> Result<Position, NotationError> {
        Ok(text.parse::<Setup>()?.position(ruleset)?)
    }
}

impl fmt::Display for Position {
    /// Writes the text that [`Position::from_text`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for side in Side::BOTH {
            for (column, seeds) in self.board().row(side).iter().enumerate() {
                let before = match (side, column) {
                    (_, 1..) => ",",
                    (Side::North, 0) => "/",
                    (Side::South, 0) => "",
                };
                write!(f, "{before}{seeds}")?;
            }
        }
        let side = if self.to_move() == Side::South {
            'S'
        } else {
            'N'
        };
        let [south, north] = self.board().captured();
        write!(f, " {side} {south}-{north} {}", self.quiet())
    }
}

/// One finished or cut game, a line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameRecord {
    /// The rules.
    pub ruleset: Ruleset,
    /// The first position as text.
    pub start: String,
    /// Names of the players, South first.
    pub players: [String; 2],
    /// The columns played, the first by the side to move at the start.
    #[serde(deserialize_with = "read_moves")]
    pub moves: Vec<u8>,
    /// Seeds captured by (South, North) at the end.
    #[serde(deserialize_with = "read_captured")]
    pub captured: [u16; 2],
    /// `"south"`, `"north"` or `"draw"`; `None` for a cut game (E4).
    pub outcome: Option<String>,
    /// `"stuck"`, `"quiet"`, `"endless"` or `"max_plies"`; `"illegal"`, `"error"` or `"late"`
    /// where the side to move lost by forfeit.
    pub end_reason: Option<String>,
}

/// Reads numbers and checks that each is at most `high`, naming the first that is not.
fn read_numbers<'de, D: Deserializer<'de>>(
    deserializer: D,
    field: &str,
    high: i64,
) -> Result<Vec<i64>, D::Error> {
    let values = Vec::<i64>::deserialize(deserializer)?;
    match values.iter().position(|value| !(0..=high).contains(value)) {
        None => Ok(values),
        Some(at) => Err(D::Error::custom(format_args!(
            "{field}[{at}] is {}, expected 0 to {high}",
            values[at]
        ))),
    }
}

fn read_moves<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let values = read_numbers(deserializer, "moves", MAX_COLUMNS as i64 - 1)?;
    Ok(values.into_iter().map(|value| value as u8).collect())
}

fn read_captured<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u16; 2], D::Error> {
    match read_numbers(deserializer, "captured", MAX_SEEDS.into())?[..] {
        [south, north] => Ok([south as u16, north as u16]),
        ref values => Err(D::Error::custom(format_args!(
            "captured has {} numbers, expected 2",
            values.len()
        ))),
    }
}

/// The end reason of a game that was cut (E4).
const CUT: &str = "max_plies";

/// The end reasons of games that the side to move lost without the rules.
const FORFEITS: [&str; 3] = ["illegal", "error", "late"];

/// Why a game record is refused.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The line is not a record.
    #[error("the line is not a game record: {0}")]
    Json(#[from] serde_json::Error),
    /// The start is not a position.
    #[error("start: {0}")]
    Start(#[from] NotationError),
    /// A move is not legal.
    #[error("move {ply}: {error}")]
    Move {
        /// The ply, counted from 0.
        ply: usize,
        /// Why it is refused.
        error: MoveError,
    },
    /// The record says something else than its moves.
    #[error("{field} is {recorded}, but the moves give {replayed}")]
    Mismatch {
        /// The field's name.
        field: &'static str,
        /// What the record says.
        recorded: String,
        /// What playing the moves gives.
        replayed: String,
    },
}

impl GameRecord {
    /// Plays `moves` from `start` and records what they lead to.
    ///
    /// A game that is not over after its last move is recorded as cut (`max_plies`).
    ///
    /// # Errors
    /// [`RecordError::Move`] for the first move that is not legal, and for a start that an
    /// endless sowing ended: its text would be that of an open position.
    pub fn of_moves(
        start: &Position,
        players: [String; 2],
        moves: &[u8],
    ) -> Result<GameRecord, RecordError> {
        if let Some(reason @ EndReason::Endless) = start.end_reason() {
            let error = MoveError::Over { reason };
            return Err(RecordError::Move { ply: 0, error });
        }
        let end = replay(start, moves)?;
        Ok(GameRecord {
            ruleset: *start.ruleset(),
            start: start.to_string(),
            players,
            moves: moves.to_vec(),
            captured: end.board().captured(),
            outcome: end.outcome().map(|outcome| outcome.name().to_owned()),
            end_reason: Some(end.end_reason().map_or(CUT, EndReason::name).to_owned()),
        })
    }

    /// Reads a record from one line of JSON and replays it.
    ///
    /// # Errors
    /// [`RecordError`] when the line is no record, a move is illegal, or the end is not the one
    /// that the moves lead to. A forfeit (`illegal`, `error`, `late`) is a game that was still
    /// open, won by the side that was not to move.
    pub fn from_json(line: &str) -> Result<GameRecord, RecordError> {
        let record: GameRecord = serde_json::from_str(line)?;
        let end = record.replay()?;
        let recorded = record.end_reason.as_deref().unwrap_or(CUT);
        let forfeit = FORFEITS.contains(&recorded) && !end.is_over();
        let (outcome, reason) = if forfeit {
            (Some(end.to_move().other().name()), recorded)
        } else {
            let outcome = end.outcome().map(Outcome::name);
            (outcome, end.end_reason().map_or(CUT, EndReason::name))
        };
        let captured = end.board().captured();
        expect("captured", &record.captured, &captured)?;
        expect("end_reason", &recorded, &reason)?;
        expect("outcome", &record.outcome.as_deref(), &outcome)?;
        Ok(record)
    }

    /// Returns the record as one line of JSON without a line end.
    ///
    /// # Errors
    /// Only if the serialiser fails, which no record is known to make it do.
    pub fn to_json(&self) -> Result<String, RecordError> {
        Ok(serde_json::to_string(self)?)
    }

    /// Plays the recorded moves and returns the last position.
    ///
    /// # Errors
    /// [`RecordError`] for a bad start or the first move that is not legal.
    pub fn replay(&self) -> Result<Position, RecordError> {
        replay(
            &Position::from_text(&self.start, &self.ruleset)?,
            &self.moves,
        )
    }
}

/// Compares what a record says with what its moves lead to.
fn expect<T: PartialEq + Serialize + ?Sized>(
    field: &'static str,
    recorded: &T,
    replayed: &T,
) -> Result<(), RecordError> {
    if recorded == replayed {
        return Ok(());
    }
    let text = |value: &T| serde_json::to_string(value).map_err(RecordError::Json);
    Err(RecordError::Mismatch {
        field,
        recorded: text(recorded)?,
        replayed: text(replayed)?,
    })
}

fn replay(start: &Position, moves: &[u8]) -> Result<Position, RecordError> {
    let mut position = *start;
    for (ply, &column) in moves.iter().enumerate() {
        position = position
            .play(usize::from(column))
            .map_err(|error| RecordError::Move { ply, error })?;
    }
    Ok(position)
}
