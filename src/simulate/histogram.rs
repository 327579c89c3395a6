//! How often each value of a column occurs.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::simulate::estimate::Sums;

/// Values from this one on are counted together.
const TOP: i32 = 1 << 16;

/// Exact counts of whole numbers below 65,536, one for each value, and of those above.
///
/// ```
/// use endodoi::simulate::Histogram;
/// let mut plies = Histogram::default();
/// plies.count([30, 31, 33, 31].into_iter());
/// assert_eq!((plies.first, plies.counts.as_slice()), (30, [1, 2, 0, 1].as_slice()));
/// assert_eq!(plies.quantile(0.5), Some(31));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// The smallest value met below 65,536, which `counts` begins with.
    pub first: i32,
    /// How often `first`, `first + 1`, ... was met, up to the largest value below 65,536.
    pub counts: Vec<u64>,
    /// How often a value of 65,536 or more was met.
    pub above: u64,
    /// The sum of those values and of their squares.
    above_sums: [i128; 2],
}

impl Histogram {
    /// Counts values.
    pub fn count(&mut self, values: impl Iterator<Item = i32> + Clone) {
        let bounds = values
            .clone()
            .fold((i32::MAX, i32::MIN), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        let (low, high) = bounds;
        if low > high {
            return;
        }
        if high < TOP {
            self.cover(low, high);
            let first = self.first;
            for value in values {
                self.counts[(value - first) as usize] += 1;
            }
            return;
        }
        for value in values {
            self.count_one(value);
        }
    }

    /// Counts a value that may be at the top.
    fn count_one(&mut self, value: i32) {
        if value < TOP {
            self.cover(value, value);
            self.counts[(value - self.first) as usize] += 1;
            return;
        }
        self.above += 1;
        let value = i128::from(value);
        self.above_sums[0] += value;
        self.above_sums[1] += value * value;
    }

    /// Widens the counts so that they begin at `low` or before and end at `high` or after.
    fn cover(&mut self, low: i32, high: i32) {
        if self.counts.is_empty() {
            self.first = low;
        }
        if low < self.first {
            let more = (self.first - low) as usize;
            self.counts.splice(0..0, std::iter::repeat_n(0, more));
            self.first = low;
        }
        let wanted = (high - self.first) as usize + 1;
        if wanted > self.counts.len() {
            self.counts.resize(wanted, 0);
        }
    }

    /// Returns how many values were counted.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum::<u64>() + self.above
    }

    /// Returns the smallest value that a share of at least `q` of all values does not pass; `None`
    /// without values. Values from 65,536 on count as 65,536.
    pub fn quantile(&self, q: f64) -> Option<i32> {
        let total = self.total();
        let wanted = (q * total as f64).ceil().max(1.0) as u64;
        let mut passed = 0;
        for (index, count) in self.counts.iter().enumerate() {
            passed += count;
            if passed >= wanted {
                return Some(self.first + index as i32);
            }
        }
        (total > 0).then_some(TOP)
    }

    /// Returns the sums for the mean of the values.
    pub(super) fn sums(&self) -> Sums {
        let above = i128::from(self.above);
        let mut sums = Sums {
            games: self.above,
            x: above,
            xx: above,
            y: self.above_sums[0],
            xy: self.above_sums[0],
            yy: self.above_sums[1],
        };
        for (index, &count) in self.counts.iter().enumerate() {
            sums.add(count, i64::from(self.first) + index as i64, 1);
        }
        sums
    }
}

impl AddAssign<&Histogram> for Histogram {
    fn add_assign(&mut self, other: &Histogram) {
        if !other.counts.is_empty() {
            let last = other.first + (other.counts.len() as i32 - 1);
            self.cover(other.first, last);
            let from = (other.first - self.first) as usize;
            for (count, more) in self.counts[from..].iter_mut().zip(&other.counts) {
                *count += more;
            }
        }
        self.above += other.above;
        for (sum, more) in self.above_sums.iter_mut().zip(other.above_sums) {
            *sum += more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_one_by_one_and_together_above() {
        let values = [3, -2, 70_000, 3, 65_536, 65_535];
        let mut histogram = Histogram::default();
        histogram.count(values.into_iter());
        assert_eq!(
            (histogram.first, histogram.above, histogram.total()),
            (-2, 2, 6)
        );
        assert_eq!(histogram.counts.len(), 65_538);
        assert_eq!((histogram.counts[0], histogram.counts[5]), (1, 2));
        let sums = histogram.sums();
        let squares: i128 = values.iter().map(|&x| i128::from(x).pow(2)).sum();
        let sum: i128 = values.iter().map(|&x| i128::from(x)).sum();
        assert_eq!((sums.games, sums.y, sums.yy), (6, sum, squares));
        assert_eq!(histogram.quantile(0.5), Some(3));
        assert_eq!(histogram.quantile(1.0), Some(65_536));
        assert_eq!(Histogram::default().quantile(0.5), None);
    }

    #[test]
    fn parts_add_up_to_the_whole_in_any_order() {
        let values: Vec<i32> = (0..1000).map(|i| (i * 37) % 211 - 100).collect();
        let mut whole = Histogram::default();
        whole.count(values.iter().copied());
        for size in [1, 7, 300] {
            let mut sum = Histogram::default();
            for part in values.chunks(size).rev() {
                let mut counted = Histogram::default();
                counted.count(part.iter().copied());
                sum += &counted;
            }
            assert_eq!(sum, whole);
        }
    }
}
