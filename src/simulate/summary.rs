//! What many games say together, as numbers and as text.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::simulate::estimate::{Mean, Share};
use crate::simulate::follow::{Detail, SideSums};
use crate::simulate::statistics::Histograms;
use crate::simulate::{GameTable, Histogram, Statistics};

/// What the games of a simulation say together; its text is a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Games.
    pub games: u64,
    /// Games that South won.
    pub south_wins: Share,
    /// Games that North won.
    pub north_wins: Share,
    /// Drawn games.
    pub draws: Share,
    /// Games cut by `max_plies`: neither won nor drawn (E4).
    pub cut: Share,
    /// Plies a game.
    pub plies: Mean,
    /// South's captured seeds less North's, at the end.
    pub margin: Mean,
    /// Seeds captured by South at the end.
    pub captured_south: Mean,
    /// Seeds captured by North at the end.
    pub captured_north: Mean,
    /// Plies with a capture, a game.
    pub captures: Mean,
    /// Laps a game; endless sowings add none.
    pub laps: Mean,
    /// Laps a sowing; endless sowings are left out.
    pub laps_per_sowing: Mean,
    /// Seeds a sowing; endless sowings are left out.
    pub seeds_per_sowing: Mean,
    /// Laps of the longest sowing that ended.
    pub longest_sowing: i32,
    /// Endless sowings a game that were drawn and refused, or played (S6).
    pub endless_met: Mean,
    /// Games in which some turn offered an endless sowing; `None` unless it was counted.
    pub offers: Option<Share>,
    /// Games by the code of their end, in the order of [`GameTable::END_REASONS`].
    #[serde(serialize_with = "by_name")]
    pub end_reasons: [u64; 7],
    /// How often each value of a column occurs.
    pub histograms: Histograms,
    /// What the games that were followed move by move say; `None` where none was.
    pub sample: Option<Sample>,
}

/// What games say that were followed move by move.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// The games followed: the first ones of the simulation.
    pub games: u64,
    /// Legal moves a turn, of both sides: the branching factor.
    pub legal_moves: Mean,
    /// South's part.
    pub south: SideSummary,
    /// North's part.
    pub north: SideSummary,
    /// Legal moves by ply, the first 4,096 of them.
    pub branching: Vec<Branching>,
}

/// What one side does in the games followed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SideSummary {
    /// Turns a game.
    pub turns: Mean,
    /// Legal moves a turn.
    pub legal_moves: Mean,
    /// Laps a sowing; endless sowings are left out.
    pub laps_per_sowing: Mean,
    /// Seeds a sowing; endless sowings are left out.
    pub seeds_per_sowing: Mean,
    /// Captures a sowing, 0 to 1; endless sowings are left out.
    pub captures_per_sowing: Mean,
    /// Seeds a capture.
    pub seeds_per_capture: Mean,
    /// Endless sowings a game that were drawn and refused, or played (S6).
    pub endless_met: Mean,
}

/// The legal moves of the turn on one ply.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Branching {
    /// Followed games that have this turn.
    pub games: u64,
    /// Their mean number of legal moves.
    pub mean: f64,
    /// The half-width of the mean's 95 % interval; infinite with fewer than two games.
    pub half: f64,
}

impl GameTable {
    /// Computes what the games say together.
    ///
    /// ```
    /// use endodoi::simulate::GameTable;
    /// assert_eq!(GameTable::default().summary().games, 0);
    /// ```
    pub fn summary(&self) -> Summary {
        let mut statistics = Statistics::default();
        statistics.add(self);
        statistics.summary()
    }
}

impl Summary {
    pub(super) fn of(statistics: &Statistics) -> Summary {
        let games = statistics.games;
        let histograms = statistics.histograms.clone();
        let [south, north] = statistics.wins;
        let cut = statistics.end_reasons[3];
        let [counted, offering] = statistics.offers;
        Summary {
            games,
            south_wins: Share::of(south, games),
            north_wins: Share::of(north, games),
            draws: Share::of(games - south - north - cut, games),
            cut: Share::of(cut, games),
            plies: histograms.plies.sums().mean(),
            margin: histograms.margin.sums().mean(),
            captured_south: histograms.captured_south.sums().mean(),
            captured_north: histograms.captured_north.sums().mean(),
            captures: statistics.captures.mean(),
            laps: histograms.laps.sums().mean(),
            laps_per_sowing: statistics.laps.mean(),
            seeds_per_sowing: statistics.seeds.mean(),
            longest_sowing: statistics.longest_sowing,
            endless_met: statistics.endless_met.mean(),
            offers: (games > 0 && counted == games).then(|| Share::of(offering, games)),
            end_reasons: statistics.end_reasons,
            histograms,
            sample: Sample::of(&statistics.detail),
        }
    }
}

impl Sample {
    fn of(detail: &Detail) -> Option<Sample> {
        let [south, north] = detail.sides.map(|side| SideSummary::of(&side));
        let branching = detail.by_ply.iter().map(|sums| {
            let Mean { mean, half } = sums.mean();
            Branching {
                games: sums.games,
                mean,
                half,
            }
        });
        (detail.games > 0).then(|| Sample {
            games: detail.games,
            legal_moves: detail.legal.mean(),
            south,
            north,
            branching: branching.collect(),
        })
    }
}

impl SideSummary {
    fn of(sums: &SideSums) -> SideSummary {
        SideSummary {
            turns: sums.turns.mean(),
            legal_moves: sums.legal.mean(),
            laps_per_sowing: sums.laps.mean(),
            seeds_per_sowing: sums.seeds.mean(),
            captures_per_sowing: sums.captures.mean(),
            seeds_per_capture: sums.captured.mean(),
            endless_met: sums.endless_met.mean(),
        }
    }
}

fn by_name<S: Serializer>(counts: &[u64; 7], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(GameTable::END_REASONS.iter().zip(counts))
}

impl fmt::Display for Summary {
    /// Writes one line for each number; kinds of ends and cuts only where there are any.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "games             {}  (all intervals: 95 %)", self.games)?;
        writeln!(f, "South wins        {}", self.south_wins)?;
        writeln!(f, "North wins        {}", self.north_wins)?;
        writeln!(f, "draws             {}", self.draws)?;
        if self.cut.count > 0 {
            writeln!(f, "cut, no winner    {}", self.cut)?;
        }
        let histograms = &self.histograms;
        for (name, mean, histogram) in [
            ("plies", &self.plies, &histograms.plies),
            ("margin of South", &self.margin, &histograms.margin),
            (
                "captured by South",
                &self.captured_south,
                &histograms.captured_south,
            ),
            (
                "captured by North",
                &self.captured_north,
                &histograms.captured_north,
            ),
            ("laps a game", &self.laps, &histograms.laps),
        ] {
            writeln!(f, "{name:<17} {mean:<21}{}", Spread(histogram))?;
        }
        writeln!(f, "captures          {}", self.captures)?;
        writeln!(f, "laps a sowing     {}", self.laps_per_sowing)?;
        writeln!(f, "seeds a sowing    {}", self.seeds_per_sowing)?;
        writeln!(f, "longest sowing    {} laps", self.longest_sowing)?;
        writeln!(f, "endless met       {}", self.endless_met)?;
        if let Some(offers) = &self.offers {
            writeln!(f, "offering endless  {offers}")?;
        }
        write!(f, "ends             ")?;
        for (name, &count) in GameTable::END_REASONS.iter().zip(&self.end_reasons) {
            if count > 0 {
                write!(f, " {name} {count}")?;
            }
        }
        if let Some(sample) = &self.sample {
            write!(f, "\n\n{sample}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Sample {
    /// Writes one line for each number, with a column for each side.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sample {
            games,
            south,
            north,
            ..
        } = self;
        writeln!(f, "move by move      {games} games")?;
        writeln!(f, "legal moves       {}", self.legal_moves)?;
        write!(f, "{:<17} {:<21}North", "", "South")?;
        for (name, south, north) in [
            ("turns a game", &south.turns, &north.turns),
            ("legal moves", &south.legal_moves, &north.legal_moves),
            (
                "laps a sowing",
                &south.laps_per_sowing,
                &north.laps_per_sowing,
            ),
            (
                "seeds a sowing",
                &south.seeds_per_sowing,
                &north.seeds_per_sowing,
            ),
            (
                "captures a sowing",
                &south.captures_per_sowing,
                &north.captures_per_sowing,
            ),
            (
                "seeds a capture",
                &south.seeds_per_capture,
                &north.seeds_per_capture,
            ),
            ("endless met", &south.endless_met, &north.endless_met),
        ] {
            write!(f, "\n{name:<17} {south:<21}{north}")?;
        }
        Ok(())
    }
}

/// The middle and the ends of a distribution.
struct Spread<'a>(&'a Histogram);

impl fmt::Display for Spread<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, middle, high] = [0.05, 0.5, 0.95].map(|q| self.0.quantile(q));
        match (low, middle, high) {
            (Some(low), Some(middle), Some(high)) => {
                write!(f, "median {middle}, 90 % from {low} to {high}")
            }
            _ => Ok(()),
        }
    }
}
