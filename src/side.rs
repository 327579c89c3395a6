//! The two sides of the board.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A player, named after the row that player owns (B1, B3).
///
/// ```
/// use endodoi::Side;
/// assert_eq!(Side::South.other(), Side::North);
/// assert_eq!(Side::North.index(), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Owner of ring pits `0..C`; moves first.
    South,
    /// Owner of ring pits `C..2C`.
    North,
}

impl Side {
    /// Both sides, South first.
    pub const BOTH: [Side; 2] = [Side::South, Side::North];

    /// Returns the opponent of this side.
    #[must_use]
    pub const fn other(self) -> Side {
        match self {
            Side::South => Side::North,
            Side::North => Side::South,
        }
    }

    /// Returns 0 for South and 1 for North: the row index in every array.
    pub const fn index(self) -> usize {
        match self {
            Side::South => 0,
            Side::North => 1,
        }
    }

    /// Returns the lower-case name, `"south"` or `"north"`.
    pub const fn name(self) -> &'static str {
        match self {
            Side::South => "south",
            Side::North => "north",
        }
    }

    /// Returns `+1` for South and `-1` for North: the sign of a win.
    pub const fn sign(self) -> i8 {
        match self {
            Side::South => 1,
            Side::North => -1,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
