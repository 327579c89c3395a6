//! How a game between players ended.

use crate::position::EndReason;

/// The codes of a game's end in a [`GameTable`](super::GameTable).
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
