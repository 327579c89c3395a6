//! What many games say together, with 95 % intervals.

use std::fmt;

use crate::simulate::{EndCode, GameTable};

/// The 97.5 % point of the normal distribution.
const Z: f64 = 1.959_964;

/// A share of all games with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Games of this kind.
    pub count: u64,
    /// Their share, 0 to 1; 0 without games.
    pub share: f64,
    /// Lower end of the Wilson interval.
    pub low: f64,
    /// Upper end of the Wilson interval.
    pub high: f64,
}

impl Share {
    /// Computes a share and its Wilson score interval (Wilson 1927); `(0, 1)` without games.
    ///
    /// ```
    /// use endodoi::simulate::Share;
    /// let share = Share::of(0, 100);
    /// assert!(share.low == 0.0 && share.high > 0.036 && share.high < 0.038);
    /// ```
    pub fn of(count: u64, games: u64) -> Share {
        if games == 0 {
            return Share {
                count,
                share: 0.0,
                low: 0.0,
                high: 1.0,
            };
        }
        let n = games as f64;
        let share = count as f64 / n;
        let scale = 1.0 + Z * Z / n;
        let centre = (share + Z * Z / (2.0 * n)) / scale;
        let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt() / scale;
        // At the ends rounding must not leave a sliver beside 0 or 1.
        let low = if count == 0 { 0.0 } else { centre - half };
        let high = if count == games { 1.0 } else { centre + half };
        Share {
            count,
            share,
            low,
            high,
        }
    }
}

/// A mean with the half-width of its normal 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean; 0 without games.
    pub mean: f64,
    /// The half-width; infinite with fewer than two games.
    pub half: f64,
}

impl Mean {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Mean {
        Mean::of_ratio(values.map(|value| (value, 1.0)))
    }

    /// Returns the sum of the numerators over that of the denominators, and its half-width by the
    /// usual linearisation (the residuals `y - r x` of the games).
    fn of_ratio(pairs: impl Iterator<Item = (f64, f64)> + Clone) -> Mean {
        let (mut n, mut sum, mut base) = (0_u64, 0.0, 0.0);
        for (y, x) in pairs.clone() {
            (n, sum, base) = (n + 1, sum + y, base + x);
        }
        let mean = if base == 0.0 { 0.0 } else { sum / base };
        if n < 2 || base == 0.0 {
            return Mean {
                mean,
                half: f64::INFINITY,
            };
        }
        let n = n as f64;
        let squares: f64 = pairs.map(|(y, x)| (y - mean * x).powi(2)).sum();
        Mean {
            mean,
            half: Z * (squares / (n - 1.0) / n).sqrt() / (base / n),
        }
    }
}

/// What the games of a table say together.
#[derive(Clone, Debug, PartialEq)]
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
    /// Games by the code of their end, in the order of [`GameTable::END_REASONS`].
    pub end_reasons: [u64; 7],
    /// Plies a game.
    pub plies: Mean,
    /// Seeds captured by South at the end.
    pub captured_south: Mean,
    /// Seeds captured by North at the end.
    pub captured_north: Mean,
    /// Plies with a capture, a game.
    pub captures: Mean,
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
}

impl GameTable {
    /// Computes what the games say together.
    ///
    /// ```
    /// use endodoi::simulate::GameTable;
    /// assert_eq!(GameTable::default().summary().games, 0);
    /// ```
    pub fn summary(&self) -> Summary {
        let games = self.len() as u64;
        let is_cut = |&end: &i8| end == EndCode::MaxPlies.code();
        let won = |by: i8| self.winner.iter().filter(|&&winner| winner == by).count() as u64;
        let cut = self.end_reason.iter().filter(|end| is_cut(end)).count() as u64;
        let end_reasons = EndCode::ALL.map(|end| {
            let same = self.end_reason.iter().filter(|&&code| code == end.code());
            same.count() as u64
        });
        let offering = self.offers.iter().filter(|&&turns| turns > 0).count() as u64;
        let counted = self.offers.len() == self.len() && !self.is_empty();
        Summary {
            games,
            south_wins: Share::of(won(1), games),
            north_wins: Share::of(won(-1), games),
            draws: Share::of(won(0) - cut, games),
            cut: Share::of(cut, games),
            end_reasons,
            plies: Mean::of(self.plies.iter().map(|&x| x.into())),
            captured_south: Mean::of(self.captured_south.iter().map(|&x| x.into())),
            captured_north: Mean::of(self.captured_north.iter().map(|&x| x.into())),
            captures: Mean::of(self.captures.iter().map(|&x| x.into())),
            laps_per_sowing: self.per_sowing(&self.laps),
            seeds_per_sowing: self.per_sowing(&self.seeds_sown),
            longest_sowing: self.longest_sowing.iter().copied().max().unwrap_or(0),
            endless_met: Mean::of(self.endless_met.iter().map(|&x| x.into())),
            offers: counted.then(|| Share::of(offering, games)),
        }
    }

    /// Divides a column by the sowings of each game that ended.
    fn per_sowing(&self, column: &[i32]) -> Mean {
        let sowings = self
            .plies
            .iter()
            .zip(&self.end_reason)
            .map(|(&plies, &end)| f64::from(plies - i32::from(end == EndCode::Endless.code())));
        Mean::of_ratio(column.iter().map(|&y| f64::from(y)).zip(sowings))
    }
}

impl fmt::Display for Share {
    /// Writes per cent, as in `51.00 % (50.84 to 51.16)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [share, low, high] = [self.share, self.low, self.high].map(|x| 100.0 * x);
        write!(f, "{share:.2} % ({low:.2} to {high:.2})")
    }
}

impl fmt::Display for Mean {
    /// Writes the mean and its half-width, as in `33.15 ± 0.03`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} ± {:.3}", self.mean, self.half)
    }
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
        writeln!(f, "plies             {}", self.plies)?;
        writeln!(f, "captured by South {}", self.captured_south)?;
        writeln!(f, "captured by North {}", self.captured_north)?;
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
        Ok(())
    }
}
