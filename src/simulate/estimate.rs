//! Shares and means with 95 % intervals, from exact sums.

use std::fmt;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// The 97.5 % point of the normal distribution.
const Z: f64 = 1.959_964;

/// A share of all games with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Mean {
    /// The mean; 0 without games.
    pub mean: f64,
    /// The half-width; infinite with fewer than two games.
    pub half: f64,
}

/// Exact sums over games of a count `y` and of what it is divided by, `x`; 1 for a plain mean.
///
/// Sums of whole numbers: they are the same however games are grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sums {
    pub(super) games: u64,
    pub(super) x: i128,
    pub(super) y: i128,
    pub(super) xx: i128,
    pub(super) xy: i128,
    pub(super) yy: i128,
}

impl Sums {
    /// Adds `games` games that all have the same `y` and `x`.
    pub(super) fn add(&mut self, games: u64, y: i64, x: i64) {
        let (n, y, x) = (i128::from(games), i128::from(y), i128::from(x));
        self.games += games;
        self.x += n * x;
        self.y += n * y;
        self.xx += n * x * x;
        self.xy += n * x * y;
        self.yy += n * y * y;
    }

    /// Returns the sum of `y` over that of `x`, and its half-width by the usual linearisation
    /// (the residuals `y - r x` of the games).
    pub(super) fn mean(&self) -> Mean {
        let [x, y, xx, xy, yy] = [self.x, self.y, self.xx, self.xy, self.yy].map(|sum| sum as f64);
        let mean = if self.x == 0 { 0.0 } else { y / x };
        if self.games < 2 || self.x == 0 {
            return Mean {
                mean,
                half: f64::INFINITY,
            };
        }
        let squares = yy - 2.0 * mean * xy + mean * mean * xx;
        // What is left of the squares where all games are alike is rounding.
        let squares = if squares < 1e-12 * yy { 0.0 } else { squares };
        let n = self.games as f64;
        Mean {
            mean,
            half: Z * (squares / (n - 1.0) / n).sqrt() / (x / n),
        }
    }
}

impl AddAssign<&Sums> for Sums {
    fn add_assign(&mut self, other: &Sums) {
        self.games += other.games;
        self.x += other.x;
        self.y += other.y;
        self.xx += other.xx;
        self.xy += other.xy;
        self.yy += other.yy;
    }
}

impl fmt::Display for Share {
    /// Writes per cent, as in `51.00 % (50.84 to 51.16)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [share, low, high] = [self.share, self.low, self.high].map(|x| 100.0 * x);
        f.pad(&format!("{share:.2} % ({low:.2} to {high:.2})"))
    }
}

impl fmt::Display for Mean {
    /// Writes the mean and its half-width, as in `33.150 ± 0.030`, with more digits where the
    /// half-width is small; only the mean where it is infinite.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mean { mean, half } = self;
        if half.is_finite() {
            let digits = if *half > 0.0 {
                (1.0 - half.log10().floor()).clamp(3.0, 6.0) as usize
            } else {
                3
            };
            f.pad(&format!("{mean:.digits$} ± {half:.digits$}"))
        } else {
            f.pad(&format!("{mean:.3}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_of_sums_is_that_of_the_residuals() {
        let pairs = [(3_i64, 1_i64), (5, 2), (10, 3), (8, 4)];
        let mut sums = Sums::default();
        for (y, x) in pairs {
            sums.add(1, y, x);
        }
        let ratio = 26.0 / 10.0;
        let squares: f64 = pairs
            .iter()
            .map(|&(y, x)| (y as f64 - ratio * x as f64).powi(2))
            .sum();
        let half = Z * (squares / 3.0 / 4.0).sqrt() / 2.5;
        let mean = sums.mean();
        assert!((mean.mean - ratio).abs() < 1e-12 && (mean.half - half).abs() < 1e-12);
    }

    #[test]
    fn games_that_are_all_alike_have_no_width() {
        let mut sums = Sums::default();
        sums.add(1_000_000, 77, 33);
        assert_eq!(
            sums.mean(),
            Mean {
                mean: 77.0 / 33.0,
                half: 0.0
            }
        );
        let one = Sums {
            games: 0,
            ..Sums::default()
        };
        assert!(one.mean().half.is_infinite());
    }

    #[test]
    fn means_show_two_digits_of_their_half_width() {
        for (half, text) in [
            (0.25, "1.500 ± 0.250"),
            (0.0012, "1.5000 ± 0.0012"),
            (1e-9, "1.500000 ± 0.000000"),
            (0.0, "1.500 ± 0.000"),
            (f64::INFINITY, "1.500"),
        ] {
            assert_eq!(Mean { mean: 1.5, half }.to_string(), text);
        }
    }

    #[test]
    fn sums_do_not_depend_on_grouping() {
        let (mut whole, mut left, mut right) = (Sums::default(), Sums::default(), Sums::default());
        for game in 0..100 {
            whole.add(1, game * 7 - 50, game);
            let part = if game % 3 == 0 { &mut left } else { &mut right };
            part.add(1, game * 7 - 50, game);
        }
        left += &right;
        assert_eq!(left, whole);
    }
}
