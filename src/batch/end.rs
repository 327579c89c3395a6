//! How a game between players ended.

use crate::position::EndReason;

/// How a game ended: the codes of every `end_reason` array, where -1 stands for a game that goes on.
///
/// A batch writes the first five; `error` and `late` belong to games between players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i8)]
pub enum EndCode {
    /// The side to move had no legal move (E1).
    Stuck = 0,
    /// `quiet_limit` plies went by without a capture (E3).
    Quiet = 1,
    /// An endless sowing was played (S6).
    Endless = 2,
    /// The game was cut and has no winner (E4).
    MaxPlies = 3,
    /// A player chose an illegal move and lost the game.
    Illegal = 4,
    /// A player failed to choose and lost the game.
    Error = 5,
    /// A player was late and lost the game; only where a clock runs.
    Late = 6,
}

impl EndCode {
    /// Every end, in the order of the codes.
    pub const ALL: [EndCode; 7] = [
        EndCode::Stuck,
        EndCode::Quiet,
        EndCode::Endless,
        EndCode::MaxPlies,
        EndCode::Illegal,
        EndCode::Error,
        EndCode::Late,
    ];

    /// Returns the code in `end_reason` columns.
    pub const fn code(self) -> i8 {
        self as i8
    }

    /// Returns the end of a code, `None` for -1 and for codes that do not exist.
    pub fn of_code(code: i8) -> Option<EndCode> {
        EndCode::ALL.into_iter().find(|end| end.code() == code)
    }

    /// Returns the name that users see.
    pub const fn name(self) -> &'static str {
        match self {
            EndCode::Stuck => "stuck",
            EndCode::Quiet => "quiet",
            EndCode::Endless => "endless",
            EndCode::MaxPlies => "max_plies",
            EndCode::Illegal => "illegal",
            EndCode::Error => "error",
            EndCode::Late => "late",
        }
    }

    /// Tells whether the side to move lost by its own fault, not by the rules.
    pub const fn is_forfeit(self) -> bool {
        matches!(self, EndCode::Illegal | EndCode::Error | EndCode::Late)
    }
}

impl From<EndReason> for EndCode {
    fn from(reason: EndReason) -> EndCode {
        match reason {
            EndReason::Stuck => EndCode::Stuck,
            EndReason::Quiet => EndCode::Quiet,
            EndReason::Endless => EndCode::Endless,
        }
    }
}
