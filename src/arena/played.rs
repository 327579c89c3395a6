//! One game of a tournament, as it is kept, sent and recorded.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::notation::GameRecord;
use crate::position::Position;
use crate::ruleset::Ruleset;
use crate::simulate::EndCode;
use crate::simulate::lockstep::Game;

/// The time that one player's moves in a game took, where the moves were made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoveTimes {
    /// Moves asked for.
    pub moves: u32,
    /// Seconds of all of them; of moves that were asked for together each has the same share.
    pub seconds: f64,
    /// Seconds of the longest one.
    pub longest: f64,
}

/// What a game of a tournament is beside its record: the line of its notes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameNote {
    /// The players: indices in the order given.
    pub pairing: [u32; 2],
    /// The pair, from 0.
    pub pair: u32,
    /// Which of the two played South: 0 or 1.
    pub south: u8,
    /// Plies of the opening.
    pub opening: u32,
    /// What went wrong in a game that a player lost by its fault.
    pub failure: Option<String>,
    /// What the moves of the two players took.
    pub times: [MoveTimes; 2],
}

/// One game of a tournament.
///
/// It says nothing of the rules and the opening, which the settings of the tournament tell.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TournamentGame {
    /// The players: indices in the order given.
    pub pairing: [u32; 2],
    /// The pair, from 0: two games of a pairing share it.
    pub pair: u32,
    /// Which of the two played South: 0 or 1.
    pub south: u8,
    /// 1 South won, -1 North won, 0 a draw or a cut game.
    pub winner: i8,
    /// How the game ended; [`EndCode::is_forfeit`] tells whether a player lost it by its fault.
    #[serde(serialize_with = "write_end", deserialize_with = "read_end")]
    pub end: EndCode,
    /// What went wrong in a game that a player lost by its fault.
    pub failure: Option<String>,
    /// Seeds captured by (South, North).
    pub captured: [u16; 2],
    /// Plies of the opening.
    pub opening: u32,
    /// The columns played, the opening included, `u8[T]`.
    pub moves: Vec<u8>,
    /// What the moves of the two players took. Times differ from run to run: games are compared
    /// without them.
    pub times: [MoveTimes; 2],
}

impl PartialEq for TournamentGame {
    fn eq(&self, other: &TournamentGame) -> bool {
        self.key() == other.key()
            && (self.winner, self.end, self.captured, self.opening)
                == (other.winner, other.end, other.captured, other.opening)
            && self.moves == other.moves
            && (self.end == EndCode::Late || self.failure == other.failure)
    }
}

impl Eq for TournamentGame {}

impl TournamentGame {
    pub(super) fn of(
        game: Game,
        pairing: [u32; 2],
        pair: u32,
        south: usize,
        opening: u32,
    ) -> TournamentGame {
        let times = |player: usize| {
            // The first player is South in the first game and North in the second.
            let spent = game.spent[player ^ south];
            MoveTimes {
                moves: spent.moves,
                seconds: spent.total.as_secs_f64(),
                longest: spent.longest.as_secs_f64(),
            }
        };
        TournamentGame {
            pairing,
            pair,
            south: south as u8,
            winner: game.row().winner,
            end: game.end.unwrap_or(EndCode::MaxPlies),
            times: [times(0), times(1)],
            captured: game.position.board().captured(),
            opening,
            failure: game.failure,
            moves: game.moves,
        }
    }

    /// Returns what tells the game from all others of its tournament.
    pub(super) fn key(&self) -> ([u32; 2], u32, u8) {
        (self.pairing, self.pair, self.south)
    }

    /// Returns 1 for a win of the first player, -1 for a loss, 0 for a draw or a cut game.
    pub fn result(&self) -> i8 {
        if self.south == 0 {
            self.winner
        } else {
            -self.winner
        }
    }

    /// Returns the seeds captured by the first player less those of the second.
    pub fn margin(&self) -> i32 {
        let [south, north] = self.captured.map(i32::from);
        if self.south == 0 {
            south - north
        } else {
            north - south
        }
    }

    /// Returns which of the two players, 0 or 1, lost the game by its fault, if one did.
    pub fn at_fault(&self) -> Option<usize> {
        self.end
            .is_forfeit()
            .then_some(usize::from(self.result() > 0))
    }

    /// Returns what is not in the record of the game.
    pub fn note(&self) -> GameNote {
        GameNote {
            pairing: self.pairing,
            pair: self.pair,
            south: self.south,
            opening: self.opening,
            failure: self.failure.clone(),
            times: self.times,
        }
    }

    /// Puts a game together again from its record and its note; `None` where the record's end has
    /// no name that is known.
    pub fn of_record(record: GameRecord, note: GameNote) -> Option<TournamentGame> {
        let end = end_of(record.end_reason.as_deref()?)?;
        let winner = match record.outcome.as_deref() {
            Some("south") => 1,
            Some("north") => -1,
            _ => 0,
        };
        Some(TournamentGame {
            pairing: note.pairing,
            pair: note.pair,
            south: note.south,
            winner,
            end,
            failure: note.failure,
            captured: record.captured,
            opening: note.opening,
            moves: record.moves,
            times: note.times,
        })
    }

    /// Returns the record of the game; it replays from `start`, where its opening starts.
    pub fn record(&self, ruleset: &Ruleset, start: &Position, names: &[String]) -> GameRecord {
        let name = |player: usize| {
            let index = self.pairing[player] as usize;
            names.get(index).cloned().unwrap_or_default()
        };
        let south = usize::from(self.south);
        let outcome = match self.winner {
            1 => Some("south"),
            -1 => Some("north"),
            _ => (self.end != EndCode::MaxPlies).then_some("draw"),
        };
        GameRecord {
            ruleset: *ruleset,
            start: start.to_string(),
            players: [name(south), name(1 - south)],
            moves: self.moves.clone(),
            captured: self.captured,
            outcome: outcome.map(str::to_owned),
            end_reason: Some(self.end.name().to_owned()),
        }
    }
}

/// Finds the end of a name.
fn end_of(name: &str) -> Option<EndCode> {
    EndCode::ALL.into_iter().find(|end| end.name() == name)
}

#[allow(clippy::trivially_copy_pass_by_ref)] // As serde calls it.
fn write_end<S: Serializer>(end: &EndCode, serializer: S) -> Result<S::Ok, S::Error> {
    end.name().serialize(serializer)
}

fn read_end<'de, D: Deserializer<'de>>(deserializer: D) -> Result<EndCode, D::Error> {
    let name = String::deserialize(deserializer)?;
    end_of(&name)
        .ok_or_else(|| serde::de::Error::custom(format_args!("{name:?} is no end of a game")))
}
