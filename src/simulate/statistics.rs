//! What many games say together, counted part by part.

use std::ops::{AddAssign, Range};

use serde::{Deserialize, Serialize};

use crate::simulate::estimate::Sums;
use crate::simulate::{Detail, EndCode, GameTable, Histogram, Summary};

/// Counts and exact sums over games, from which a [`Summary`] is made.
///
/// Only whole numbers are added: parts give the same in any order and grouping, and their memory
/// does not grow with the games.
///
/// ```
/// use endodoi::simulate::{GameTable, Statistics};
/// let mut statistics = Statistics::default();
/// statistics.add(&GameTable::default());
/// assert_eq!(statistics.summary().games, 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    pub(super) games: u64,
    /// Games won by South and by North.
    pub(super) wins: [u64; 2],
    pub(super) end_reasons: [u64; 7],
    pub(super) histograms: Histograms,
    pub(super) longest_sowing: i32,
    pub(super) captures: Sums,
    pub(super) endless_met: Sums,
    /// Laps and seeds of a sowing; endless sowings are left out.
    pub(super) laps: Sums,
    pub(super) seeds: Sums,
    /// Games whose turns that offered an endless sowing were counted, and those with any.
    pub(super) offers: [u64; 2],
    pub(super) detail: Detail,
}

/// The distributions over games, each named after its column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histograms {
    /// Plies a game.
    pub plies: Histogram,
    /// South's captured seeds less North's.
    pub margin: Histogram,
    /// Seeds captured by South at the end.
    pub captured_south: Histogram,
    /// Seeds captured by North at the end.
    pub captured_north: Histogram,
    /// Laps a game.
    pub laps: Histogram,
    /// Laps of the longest sowing of a game.
    pub longest_sowing: Histogram,
}

impl Statistics {
    /// Adds the games of a table and those of them that were followed.
    pub fn add(&mut self, games: &GameTable) {
        self.add_rows(games, 0..games.len());
        self.detail += &games.detail;
    }

    /// Adds some rows of a table, without what following games has shown.
    pub(super) fn add_rows(&mut self, games: &GameTable, rows: Range<usize>) {
        let count = rows.len() as u64;
        self.games += count;
        let equal =
            |column: &[i8], value: i8| column.iter().filter(|&&x| x == value).count() as u64;
        let winner = &games.winner[rows.clone()];
        self.wins[0] += equal(winner, 1);
        self.wins[1] += equal(winner, -1);
        let ends = &games.end_reason[rows.clone()];
        for end in EndCode::ALL {
            self.end_reasons[end as usize] += equal(ends, end.code());
        }
        self.histograms.add_rows(games, rows.clone());
        let longest = games.longest_sowing[rows.clone()].iter().copied().max();
        self.longest_sowing = self.longest_sowing.max(longest.unwrap_or(0));
        self.captures += &plain_sums(&games.captures[rows.clone()]);
        self.endless_met += &plain_sums(&games.endless_met[rows.clone()]);
        let sowings: Vec<i32> = games.plies[rows.clone()]
            .iter()
            .zip(ends)
            .map(|(&plies, &end)| plies - i32::from(end == EndCode::Endless.code()))
            .collect();
        self.laps += &ratio_sums(&games.laps[rows.clone()], &sowings);
        self.seeds += &ratio_sums(&games.seeds_sown[rows.clone()], &sowings);
        if games.offers.len() == games.len() {
            let turns = &games.offers[rows];
            self.offers[0] += count;
            self.offers[1] += turns.iter().filter(|&&turns| turns > 0).count() as u64;
        }
    }

    /// Replaces what following games has shown, as where the first games were played again to be
    /// followed.
    pub fn set_detail(&mut self, detail: Detail) {
        self.detail = detail;
    }

    /// Returns what following games has shown.
    pub const fn detail(&self) -> &Detail {
        &self.detail
    }

    /// Returns the numbers that all games together have.
    pub fn summary(&self) -> Summary {
        Summary::of(self)
    }
}

impl AddAssign<&Statistics> for Statistics {
    fn add_assign(&mut self, other: &Statistics) {
        self.games += other.games;
        for (sum, more) in [
            (&mut self.wins[..], &other.wins[..]),
            (&mut self.end_reasons, &other.end_reasons),
            (&mut self.offers, &other.offers),
        ] {
            for (count, more) in sum.iter_mut().zip(more) {
                *count += more;
            }
        }
        self.histograms += &other.histograms;
        self.longest_sowing = self.longest_sowing.max(other.longest_sowing);
        self.captures += &other.captures;
        self.endless_met += &other.endless_met;
        self.laps += &other.laps;
        self.seeds += &other.seeds;
        self.detail += &other.detail;
    }
}

impl Histograms {
    fn add_rows(&mut self, games: &GameTable, rows: Range<usize>) {
        let south = games.captured_south[rows.clone()]
            .iter()
            .map(|&x| i32::from(x));
        let north = games.captured_north[rows.clone()]
            .iter()
            .map(|&x| i32::from(x));
        self.margin.count(
            south
                .clone()
                .zip(north.clone())
                .map(|(south, north)| south - north),
        );
        self.captured_south.count(south);
        self.captured_north.count(north);
        self.plies.count(games.plies[rows.clone()].iter().copied());
        self.laps.count(games.laps[rows.clone()].iter().copied());
        self.longest_sowing
            .count(games.longest_sowing[rows].iter().copied());
    }
}

impl AddAssign<&Histograms> for Histograms {
    fn add_assign(&mut self, other: &Histograms) {
        self.plies += &other.plies;
        self.margin += &other.margin;
        self.captured_south += &other.captured_south;
        self.captured_north += &other.captured_north;
        self.laps += &other.laps;
        self.longest_sowing += &other.longest_sowing;
    }
}

/// Sums a column for its mean over games.
fn plain_sums(column: &[i32]) -> Sums {
    let games = column.len() as u64;
    let y = column.iter().map(|&y| i64::from(y)).sum::<i64>().into();
    let square = |&y: &i32| i128::from(i64::from(y) * i64::from(y));
    Sums {
        games,
        x: games.into(),
        xx: games.into(),
        y,
        xy: y,
        yy: column.iter().map(square).sum(),
    }
}

/// Sums a column for its mean over what `base` counts.
fn ratio_sums(column: &[i32], base: &[i32]) -> Sums {
    let mut sums = Sums {
        games: column.len() as u64,
        ..Sums::default()
    };
    for (&y, &x) in column.iter().zip(base) {
        let (y, x) = (i64::from(y), i64::from(x));
        sums.x += i128::from(x);
        sums.y += i128::from(y);
        sums.xx += i128::from(x * x);
        sums.xy += i128::from(x * y);
        sums.yy += i128::from(y * y);
    }
    sums
}
