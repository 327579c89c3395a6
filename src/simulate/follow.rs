//! Games followed move by move: what the columns of a table do not hold.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::pit::PitSet;
use crate::ruleset::Ruleset;
use crate::side::Side;
use crate::simulate::estimate::Sums;
use crate::sowing::{Sowing, SowingEnd};

/// Turns of a game whose legal moves are kept by their ply.
const PLIES: usize = 4096;

/// The most games, and the fewest, that are followed unless the caller says otherwise.
const SAMPLE: [u64; 2] = [4096, 16];

/// Following a game means to simulate every move of every turn, which takes a time roughly
/// proportional to `columns * columns * seeds_per_pit`; this many of these units take a fraction
/// of a second.
const UNITS: u64 = 1 << 22;

/// Returns how many games of a simulation are followed move by move unless the caller says
/// otherwise: 4,194,304 divided by `columns * columns * seeds_per_pit`, between 16 and 4,096.
///
/// ```
/// use endodoi::Variant;
/// use endodoi::simulate::sample_size;
/// assert_eq!(sample_size(&Variant::EnDodoi.ruleset()), 4096);
/// assert_eq!(sample_size(&Variant::EnGehe.ruleset()), 419);
/// ```
pub fn sample_size(ruleset: &Ruleset) -> u64 {
    let columns = ruleset.columns() as u64;
    let [most, fewest] = SAMPLE;
    let units = columns * columns * u64::from(ruleset.seeds_per_pit());
    (UNITS / units).clamp(fewest, most)
}

/// What one side did in one game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct SideCounts {
    turns: u64,
    legal: u64,
    sowings: u64,
    laps: u64,
    seeds: u64,
    captures: u64,
    captured: u64,
    endless_met: u64,
}

/// One game, move by move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Followed {
    sides: [SideCounts; 2],
    /// Legal moves of the first turns.
    legal: Vec<u8>,
}

impl Followed {
    /// Counts a turn of `side` that had these legal moves, played `sowing` and drew `refused`
    /// endless sowings before.
    pub(super) fn turn(&mut self, side: Side, legal: PitSet, sowing: &Sowing, refused: u32) {
        let legal = legal.len();
        if self.legal.len() < PLIES {
            self.legal.push(legal as u8);
        }
        let counts = &mut self.sides[side.index()];
        counts.turns += 1;
        counts.legal += legal as u64;
        counts.endless_met += u64::from(refused);
        if sowing.end == SowingEnd::Endless {
            counts.endless_met += 1;
            return;
        }
        counts.sowings += 1;
        counts.laps += u64::from(sowing.laps);
        counts.seeds += sowing.seeds_sown;
        counts.captures += u64::from(sowing.captured > 0);
        counts.captured += u64::from(sowing.captured);
    }
}

/// Sums over the games of what one side did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SideSums {
    /// Turns a game.
    pub(super) turns: Sums,
    /// Legal moves a turn.
    pub(super) legal: Sums,
    /// Laps a sowing.
    pub(super) laps: Sums,
    /// Seeds a sowing.
    pub(super) seeds: Sums,
    /// Captures a sowing.
    pub(super) captures: Sums,
    /// Seeds a capture.
    pub(super) captured: Sums,
    /// Endless sowings met a game.
    pub(super) endless_met: Sums,
}

impl SideSums {
    fn add(&mut self, counts: &SideCounts) {
        let SideCounts {
            turns,
            legal,
            sowings,
            laps,
            seeds,
            captures,
            captured,
            endless_met,
        } = *counts;
        for (sums, y, x) in [
            (&mut self.turns, turns, 1),
            (&mut self.legal, legal, turns),
            (&mut self.laps, laps, sowings),
            (&mut self.seeds, seeds, sowings),
            (&mut self.captures, captures, sowings),
            (&mut self.captured, captured, captures),
            (&mut self.endless_met, endless_met, 1),
        ] {
            sums.add(1, y as i64, x as i64);
        }
    }
}

impl AddAssign<&SideSums> for SideSums {
    fn add_assign(&mut self, other: &SideSums) {
        self.turns += &other.turns;
        self.legal += &other.legal;
        self.laps += &other.laps;
        self.seeds += &other.seeds;
        self.captures += &other.captures;
        self.captured += &other.captured;
        self.endless_met += &other.endless_met;
    }
}

/// What the followed games of a simulation say together; exact sums, the same however the games
/// are grouped.
///
/// It can be kept and read again (`serde`); [`Summary::sample`](super::Summary::sample) shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detail {
    pub(super) games: u64,
    pub(super) sides: [SideSums; 2],
    /// Legal moves a turn of both sides.
    pub(super) legal: Sums,
    /// Legal moves by ply, over the games that have such a turn.
    pub(super) by_ply: Vec<Sums>,
}

impl Detail {
    /// Returns the number of games followed.
    pub fn games(&self) -> u64 {
        self.games
    }

    /// Adds a game.
    pub(super) fn add(&mut self, game: &Followed) {
        self.games += 1;
        for (sums, counts) in self.sides.iter_mut().zip(&game.sides) {
            sums.add(counts);
        }
        let [south, north] = &game.sides;
        let legal = south.legal + north.legal;
        self.legal
            .add(1, legal as i64, (south.turns + north.turns) as i64);
        if self.by_ply.len() < game.legal.len() {
            self.by_ply.resize(game.legal.len(), Sums::default());
        }
        for (sums, &legal) in self.by_ply.iter_mut().zip(&game.legal) {
            sums.add(1, legal.into(), 1);
        }
    }
}

impl AddAssign<&Detail> for Detail {
    fn add_assign(&mut self, other: &Detail) {
        self.games += other.games;
        for (sums, more) in self.sides.iter_mut().zip(&other.sides) {
            *sums += more;
        }
        self.legal += &other.legal;
        if self.by_ply.len() < other.by_ply.len() {
            self.by_ply.resize(other.by_ply.len(), Sums::default());
        }
        for (sums, more) in self.by_ply.iter_mut().zip(&other.by_ply) {
            *sums += more;
        }
    }
}
