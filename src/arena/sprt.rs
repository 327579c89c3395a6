//! The sequential probability ratio test on pairs of games.

use std::f64::consts::LN_10;

use serde::Serialize;
use thiserror::Error;

use crate::arena::interval::paired_interval;

/// Points of normalised Elo of a score that is one standard deviation of a game above one half.
const NORMALISED: f64 = 800.0 / LN_10;

/// What stands for a kind of result that has not come up: no logarithm of nothing.
const UNSEEN: f64 = 1e-3;

/// The largest difference that can be tested, in Elo points.
const MAX_ELO: f64 = 200.0;

/// Chances that differ by less are the same.
const SAME: f64 = 1e-9;

/// The most steps of a search for the most likely chances.
const MAX_STEPS: u32 = 500;

/// Which difference of strength is tested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EloModel {
    /// The expected score: `1 / (1 + 10^(-elo / 400))`.
    #[default]
    Logistic,
    /// The expected score above one half in standard deviations of a game, times `800 / ln 10`: as
    /// hard to show whether many or few games are drawn (Van den Bergh 2020).
    Normalized,
}

impl EloModel {
    /// Returns the model of a name, `logistic` or `normalized`.
    pub fn of_name(name: &str) -> Option<EloModel> {
        [EloModel::Logistic, EloModel::Normalized]
            .into_iter()
            .find(|model| model.name() == name)
    }

    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            EloModel::Logistic => "logistic",
            EloModel::Normalized => "normalized",
        }
    }
}

/// The hypotheses of a test and the errors that are allowed.
///
/// | field | default of [`SprtConfig::new`] | range |
/// |---|---|---|
/// | `elo0` | given | -200 to 200 points, less than `elo1` |
/// | `elo1` | given | -200 to 200 points |
/// | `alpha` | 0.05 | above 0, below 0.5 |
/// | `beta` | 0.05 | above 0, below 0.5 |
/// | `model` | logistic | |
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SprtConfig {
    /// H0: the first player is stronger by so much.
    pub elo0: f64,
    /// H1: the first player is stronger by so much.
    pub elo1: f64,
    /// The chance to accept H1 where H0 is true.
    pub alpha: f64,
    /// The chance to accept H0 where H1 is true.
    pub beta: f64,
    /// Which difference the hypotheses mean.
    pub model: EloModel,
}

/// Why a test cannot be made.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SprtError {
    /// A number outside its range.
    #[error("{field} is {value}, expected {expected}")]
    OutOfRange {
        /// The field's name.
        field: &'static str,
        /// The number given.
        value: f64,
        /// What would be accepted.
        expected: &'static str,
    },
    /// Hypotheses in the wrong order.
    #[error("elo0 is {elo0} and elo1 {elo1}, expected elo0 below elo1")]
    Order {
        /// H0.
        elo0: f64,
        /// H1.
        elo1: f64,
    },
    /// Counts that are neither of games nor of pairs.
    #[error("{got} counts, expected 3 of games (lost, drawn, won) or 5 of pairs (0 to 2 points)")]
    Counts {
        /// How many counts were given.
        got: usize,
    },
    /// A score of a pair that is none.
    #[error("pair {pair} scored {half_points} half points, expected 0 to 4")]
    Score {
        /// The pair, from 0.
        pair: usize,
        /// The half points given.
        half_points: i64,
    },
    /// The most likely chances under a hypothesis were not found, which no results are known to
    /// make happen.
    #[error("no chances found that make the difference {elo}")]
    NotConverged {
        /// The hypothesis.
        elo: f64,
    },
}

/// The hypothesis that a test has accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Hypothesis {
    /// The difference is `elo0`, or less.
    H0,
    /// The difference is `elo1`, or more.
    H1,
}

/// What results say about the hypotheses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SprtResult {
    /// The hypothesis whose bound was reached, `None` while the test goes on.
    pub accepted: Option<Hypothesis>,
    /// The log-likelihood ratio of H1 against H0.
    pub llr: f64,
    /// H0 is accepted at this ratio or below it.
    pub lower: f64,
    /// H1 is accepted at this ratio or above it.
    pub upper: f64,
    /// Results by points: of pairs with 0, 1/2, 1, 3/2 and 2 points, or of games lost, drawn, won.
    pub counts: Vec<u64>,
    /// Games in all.
    pub games: u64,
    /// The mean score of a game, 0 to 1; 1/2 without games.
    pub score: f64,
    /// Its 95 % interval, as if the number of games had been fixed before.
    pub interval: (f64, f64),
    /// The score as a difference in Elo points of the model; infinite where everything was won.
    pub elo: f64,
    /// The interval in these points.
    pub elo_interval: (f64, f64),
    /// The settings.
    pub config: SprtConfig,
}

impl SprtConfig {
    /// Tests `elo1` against `elo0` with errors of 5 % each.
    pub const fn new(elo0: f64, elo1: f64) -> SprtConfig {
        SprtConfig {
            elo0,
            elo1,
            alpha: 0.05,
            beta: 0.05,
            model: EloModel::Logistic,
        }
    }

    /// Checks every field against its range.
    ///
    /// # Errors
    /// [`SprtError`] names the first field outside its range.
    pub fn check(&self) -> Result<(), SprtError> {
        for (field, value) in [("elo0", self.elo0), ("elo1", self.elo1)] {
            if !(-MAX_ELO..=MAX_ELO).contains(&value) {
                let expected = "-200 to 200";
                return Err(SprtError::OutOfRange {
                    field,
                    value,
                    expected,
                });
            }
        }
        for (field, value) in [("alpha", self.alpha), ("beta", self.beta)] {
            // No rounding makes such a chance 0 or 1.
            if !(1e-12..0.5).contains(&value) {
                let expected = "more than 0 and less than 0.5";
                return Err(SprtError::OutOfRange {
                    field,
                    value,
                    expected,
                });
            }
        }
        if self.elo0 < self.elo1 {
            return Ok(());
        }
        Err(SprtError::Order {
            elo0: self.elo0,
            elo1: self.elo1,
        })
    }

    /// Returns the bounds of the log-likelihood ratio (Wald 1945): below the first H0 is accepted,
    /// above the second H1.
    pub fn bounds(&self) -> (f64, f64) {
        let lower = (self.beta / (1.0 - self.alpha)).ln();
        let upper = ((1.0 - self.beta) / self.alpha).ln();
        (lower, upper)
    }

    /// Returns the log-likelihood ratio of H1 against H0 for counts of results, worst first: of
    /// pairs with 0, 1/2, 1, 3/2 and 2 points, or of single games lost, drawn and won.
    ///
    /// It is the generalised ratio: under either hypothesis the chances of the results are the most
    /// likely ones among all that make the difference (Van den Bergh, "A practical introduction to
    /// the GSPRT" and "Comments on normalized Elo"). A kind of result that has not come up counts
    /// as a thousandth of one.
    ///
    /// ```
    /// use endodoi::arena::{EloModel, SprtConfig};
    ///
    /// let config = SprtConfig { model: EloModel::Normalized, ..SprtConfig::new(0.0, 2.0) };
    /// let llr = config.llr(&[365, 16618, 36229, 16974, 390])?;
    /// assert!((llr - 2.25).abs() < 0.005);
    /// # Ok::<(), endodoi::arena::SprtError>(())
    /// ```
    ///
    /// # Errors
    /// [`SprtError`] where a setting is out of range, or there are not 3 or 5 counts.
    pub fn llr(&self, counts: &[u64]) -> Result<f64, SprtError> {
        self.check()?;
        let results = Results::of(counts)?;
        if counts.iter().all(|&count| count == 0) {
            return Ok(0.0);
        }
        let chances = |elo: f64| {
            let found = match self.model {
                EloModel::Logistic => results.with_mean(score_of(elo)),
                EloModel::Normalized => {
                    // The points of a pair deviate less than those of a game by a root of two.
                    let games = f64::from(results.games_each).sqrt();
                    results.with_deviation(elo / NORMALISED * games)
                }
            };
            found.ok_or(SprtError::NotConverged { elo })
        };
        let (null, other) = (chances(self.elo0)?, chances(self.elo1)?);
        let ratio = null
            .iter()
            .zip(&other)
            .map(|(null, other)| (other / null).ln());
        Ok(ratio
            .zip(&results.counts)
            .map(|(ratio, count)| ratio * count)
            .sum())
    }

    /// Returns what counts say about the hypotheses; the counts are those of [`SprtConfig::llr`].
    ///
    /// # Errors
    /// As [`SprtConfig::llr`].
    pub fn result(&self, counts: &[u64]) -> Result<SprtResult, SprtError> {
        let llr = self.llr(counts)?;
        let (lower, upper) = self.bounds();
        let accepted = if llr >= upper {
            Some(Hypothesis::H1)
        } else {
            (llr <= lower).then_some(Hypothesis::H0)
        };
        let top = (counts.len() - 1) as f64;
        let scores: Vec<f64> = counts
            .iter()
            .enumerate()
            .flat_map(|(points, &count)| (0..count).map(move |_| points as f64 / top))
            .collect();
        let games_each = counts.len() as u64 / 2;
        let score = if scores.is_empty() {
            0.5
        } else {
            scores.iter().sum::<f64>() / scores.len() as f64
        };
        let interval = paired_interval(&scores);
        let variance =
            scores.iter().map(|s| (s - score).powi(2)).sum::<f64>() / scores.len().max(1) as f64;
        let elo = |score: f64| match self.model {
            EloModel::Logistic => -400.0 * (1.0 / score - 1.0).log10(),
            EloModel::Normalized => {
                let ahead = (score - 0.5) / (variance * games_each as f64).sqrt();
                // Nothing deviates where all results are the same.
                if ahead.is_nan() {
                    0.0
                } else {
                    ahead * NORMALISED
                }
            }
        };
        Ok(SprtResult {
            accepted,
            llr,
            lower,
            upper,
            counts: counts.to_vec(),
            games: scores.len() as u64 * games_each,
            score,
            interval,
            elo: elo(score),
            elo_interval: (elo(interval.0), elo(interval.1)),
            config: *self,
        })
    }

    /// Tests after each of these pairs in turn, given as the half points of the first player (0 to
    /// 4), and returns the pairs up to the decision: all of them if there is none.
    ///
    /// # Errors
    /// As [`SprtConfig::llr`], or where a pair has more than four half points.
    pub fn decide(&self, counts: &mut [u64; 5], pairs: &[i64]) -> Result<usize, SprtError> {
        self.check()?;
        let (lower, upper) = self.bounds();
        for (pair, &half_points) in pairs.iter().enumerate() {
            let place = usize::try_from(half_points).ok();
            let Some(count) = place.and_then(|place| counts.get_mut(place)) else {
                return Err(SprtError::Score { pair, half_points });
            };
            *count += 1;
            let llr = self.llr(counts)?;
            if llr <= lower || llr >= upper {
                return Ok(pair + 1);
            }
        }
        Ok(pairs.len())
    }
}

/// Returns the expected score of a difference in logistic Elo.
fn score_of(elo: f64) -> f64 {
    1.0 / (1.0 + (-elo / 400.0 * LN_10).exp())
}

/// Results of games or pairs, by points.
struct Results {
    /// Points of a result, 0 to 1.
    points: Vec<f64>,
    counts: Vec<f64>,
    /// The share of each kind of result.
    shares: Vec<f64>,
    /// Games of one result.
    games_each: u32,
}

impl Results {
    fn of(counts: &[u64]) -> Result<Results, SprtError> {
        if ![3, 5].contains(&counts.len()) {
            return Err(SprtError::Counts { got: counts.len() });
        }
        let seen = |&count: &u64| if count == 0 { UNSEEN } else { count as f64 };
        let counts: Vec<f64> = counts.iter().map(seen).collect();
        let (sum, top) = (counts.iter().sum::<f64>(), counts.len() as f64 - 1.0);
        Ok(Results {
            points: (0..counts.len()).map(|place| place as f64 / top).collect(),
            shares: counts.iter().map(|count| count / sum).collect(),
            games_each: counts.len() as u32 / 2,
            counts,
        })
    }

    /// Returns the most likely chances whose mean is `mean`.
    fn with_mean(&self, mean: f64) -> Option<Vec<f64>> {
        let offsets: Vec<f64> = self.points.iter().map(|points| points - mean).collect();
        self.balanced(&offsets)
    }

    /// Returns the most likely chances whose mean is so many of their standard deviations above one
    /// half.
    ///
    /// The condition is replaced by a linear one at the chances found so far, again and again.
    fn with_deviation(&self, deviations: f64) -> Option<Vec<f64>> {
        let mut chances = vec![1.0 / self.points.len() as f64; self.points.len()];
        for _ in 0..MAX_STEPS {
            let mean: f64 = self.points.iter().zip(&chances).map(|(x, p)| x * p).sum();
            let square = |(x, p): (&f64, &f64)| p * (x - mean).powi(2);
            let deviation = self
                .points
                .iter()
                .zip(&chances)
                .map(square)
                .sum::<f64>()
                .sqrt();
            let offset = |x: &f64| {
                let away = (mean - x) / deviation;
                x - 0.5 - deviations * deviation * (1.0 + away * away) / 2.0
            };
            let offsets: Vec<f64> = self.points.iter().map(offset).collect();
            let next = self.balanced(&offsets)?;
            let moved = next
                .iter()
                .zip(&chances)
                .map(|(new, old)| (new - old).abs());
            let moved = moved.fold(0.0, f64::max);
            chances = next;
            if moved < SAME {
                return Some(chances);
            }
        }
        None
    }

    /// Returns the most likely chances under which these offsets have the mean 0 (Van den Bergh,
    /// "The maximum likelihood estimate of a multinomial distribution"): `share / (1 + x offset)`
    /// where `x` solves one equation; `None` if all offsets have one sign.
    fn balanced(&self, offsets: &[f64]) -> Option<Vec<f64>> {
        let (least, most) = offsets
            .iter()
            .fold((0.0, 0.0), |(least, most): (f64, f64), &x| {
                (least.min(x), most.max(x))
            });
        if !(least < 0.0 && most > 0.0) {
            return None;
        }
        // The sum falls from infinity to minus infinity between these ends.
        let (mut low, mut high) = (-1.0 / most, -1.0 / least);
        let mut x = 0.0;
        for _ in 0..MAX_STEPS {
            let (mut sum, mut slope) = (0.0, 0.0);
            for (share, offset) in self.shares.iter().zip(offsets) {
                let part = offset / (1.0 + x * offset);
                sum += share * part;
                slope -= share * part * part;
            }
            if sum > 0.0 {
                low = x;
            } else {
                high = x;
            }
            let newton = x - sum / slope;
            let next = if newton > low && newton < high {
                newton
            } else {
                f64::midpoint(low, high)
            };
            let moved = (next - x).abs();
            x = next;
            if moved <= 1e-15 * (1.0 + x.abs()) {
                break;
            }
        }
        let chances = self.shares.iter().zip(offsets);
        Some(
            chances
                .map(|(share, offset)| share / (1.0 + x * offset))
                .collect(),
        )
    }
}
