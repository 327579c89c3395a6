//! The rules as the lanes need them.

use crate::batch::simd::Ring;
use crate::ruleset::{Direction, LoneCapture, Ruleset};

/// Laps after which a sowing is taken out of its lane (measured: about as many as are endless).
pub(super) const LONG: u8 = 64;

/// Laps that a sowing may be in a lane at most: `LONG` and those of the burst that passes it.
const MOST_LAPS: u8 = LONG + 8;

#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) ruleset: Ruleset,
    pub(super) ring: Ring,
    pub(super) lone_taken: bool,
    /// Whether a sowing can be traced back without the board that it began on (S6).
    pub(super) reversible: bool,
    /// The laps after which a sowing is taken out of its lane.
    pub(super) long: u8,
    /// The lap limit, where a sowing can pass it inside its lane and even end after it.
    pub(super) tight: Option<u8>,
    /// Plies after which a game is cut, if a count of two bytes can tell.
    pub(super) cap: Option<u16>,
}

impl Rules {
    /// Returns the rules for lanes, `None` where the board or its seeds do not fit.
    pub(super) fn of(ruleset: &Ruleset, max_plies: Option<u32>) -> Option<Rules> {
        Some(Rules {
            ruleset: *ruleset,
            ring: Ring::of(ruleset)?,
            lone_taken: ruleset.lone_capture() == LoneCapture::Taken,
            reversible: ruleset.direction() == Direction::Anticlockwise,
            long: ruleset.lap_limit().min(u32::from(LONG)) as u8,
            tight: u8::try_from(ruleset.lap_limit())
                .ok()
                .filter(|&limit| limit <= MOST_LAPS),
            cap: max_plies.and_then(|cap| u16::try_from(cap).ok()),
        })
    }

    pub(super) fn pits(&self) -> usize {
        self.ring.pits
    }

    pub(super) fn columns(&self) -> usize {
        self.ring.pits / 2
    }
}
