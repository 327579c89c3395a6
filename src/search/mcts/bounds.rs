//! What is proven of a position's outcome.

use std::cmp::Ordering;

use crate::board::Board;
use crate::position::Outcome;
use crate::ruleset::Endless;
use crate::side::Side;

/// The outcome of a game with perfect play, for one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Proven {
    /// The side loses.
    Loss,
    /// Nobody wins.
    Draw,
    /// The side wins.
    Win,
}

impl Proven {
    /// Returns `"win"`, `"draw"` or `"loss"`.
    pub const fn name(self) -> &'static str {
        match self {
            Proven::Win => "win",
            Proven::Draw => "draw",
            Proven::Loss => "loss",
        }
    }

    /// Returns the value of the outcome: 1, 0 or -1.
    pub const fn value(self) -> i8 {
        match self {
            Proven::Win => 1,
            Proven::Draw => 0,
            Proven::Loss => -1,
        }
    }
}

/// The least and the most that a side's outcome can be, each -1 (loss), 0 (draw) or 1 (win).
///
/// Bounds instead of a proven value let draws be backed up as wins and losses are (Cazenave and
/// Saffidine, "Score bounded Monte-Carlo tree search", 2010).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) low: i8,
    pub(super) high: i8,
}

impl Bounds {
    /// Nothing is known.
    pub(super) const OPEN: Bounds = Bounds { low: -1, high: 1 };

    /// Bounds that meet in one value.
    pub(super) const fn exactly(value: i8) -> Bounds {
        Bounds {
            low: value,
            high: value,
        }
    }

    /// Bounds the outcome for `side` by what is captured: half of all `total` seeds cannot lose,
    /// more than half has won, unless an endless sowing may draw the game (E2, S6).
    pub(super) fn of_captured(board: &Board, side: Side, total: u32, endless: Endless) -> Bounds {
        let least = |side: Side| {
            let twice = 2 * u32::from(board.captured()[side.index()]);
            match twice.cmp(&total) {
                Ordering::Less => -1,
                Ordering::Greater if endless == Endless::Illegal => 1,
                Ordering::Equal | Ordering::Greater => 0,
            }
        };
        Bounds {
            low: least(side),
            high: -least(side.other()),
        }
    }

    /// Returns the bounds of an ended game for `side`.
    pub(super) fn of_outcome(outcome: Outcome, side: Side) -> Bounds {
        Bounds::exactly(outcome.sign() * side.sign())
    }

    /// Returns the same bounds for the other side.
    pub(super) const fn flipped(self) -> Bounds {
        Bounds {
            low: -self.high,
            high: -self.low,
        }
    }

    /// Bounds the better of two moves.
    pub(super) fn better(self, other: Bounds) -> Bounds {
        Bounds {
            low: self.low.max(other.low),
            high: self.high.max(other.high),
        }
    }

    /// Keeps only what `other` allows too, and tells whether that is less than before.
    pub(super) fn narrow(&mut self, other: Bounds) -> bool {
        let before = *self;
        self.low = self.low.max(other.low);
        self.high = self.high.min(other.high);
        *self != before
    }

    /// Tells whether the outcome is known.
    pub(super) const fn is_exact(self) -> bool {
        self.low == self.high
    }

    /// Returns the outcome if it is known.
    pub(super) const fn proven(self) -> Option<Proven> {
        match (self.low, self.high) {
            (1, 1) => Some(Proven::Win),
            (0, 0) => Some(Proven::Draw),
            (-1, -1) => Some(Proven::Loss),
            _ => None,
        }
    }

    /// Moves a value into the bounds.
    pub(super) fn clamp(self, value: f64) -> f64 {
        value.max(self.low.into()).min(self.high.into())
    }
}
