//! Intervals of a score whose unit is a pair of games.

/// The 97.5 % point of the normal distribution.
pub(crate) const Z: f64 = 1.959_964;

/// Imagined pairs that are added on either end, lost and won.
const IMAGINED: f64 = 2.0;

/// Returns the 95 % interval of the mean of `scores`, each the mean of one pair in `[0, 1]`.
///
/// It is the normal interval of the mean after two lost and two won pairs are added (the "plus
/// four" rule of Agresti and Coull 1998, here with the sample variance of the pairs), so that it
/// keeps a sensible width when all pairs came out the same. It lies in `[0, 1]` and holds the
/// mean. Without pairs it is `(0, 1)`.
///
/// ```
/// use endodoi::arena::paired_interval;
/// let (low, high) = paired_interval(&[1.0; 200]);
/// assert!(low > 0.97 && low < 0.99 && high == 1.0);
/// ```
pub fn paired_interval(scores: &[f64]) -> (f64, f64) {
    paired_interval_of(scores, scores.len())
}

/// Returns the interval of [`paired_interval`] as wide as if there were only `distinct` pairs:
/// pairs that repeat others are no new evidence.
///
/// ```
/// use endodoi::arena::{paired_interval, paired_interval_of};
/// let scores = [0.5, 1.0, 0.0, 0.5].repeat(25);
/// let (low, high) = paired_interval_of(&scores, 50);
/// assert!(low < paired_interval(&scores).0 && high > paired_interval(&scores).1);
/// ```
pub fn paired_interval_of(scores: &[f64], distinct: usize) -> (f64, f64) {
    if scores.is_empty() {
        return (0.0, 1.0);
    }
    // Each pair weighs less where several are the same.
    let weight = distinct as f64 / scores.len() as f64;
    let count = distinct as f64 + 2.0 * IMAGINED;
    let sum: f64 = scores.iter().sum();
    let centre = (weight * sum + IMAGINED) / count;
    let squares: f64 = scores.iter().map(|score| (score - centre).powi(2)).sum();
    let ends = IMAGINED * (centre.powi(2) + (1.0 - centre).powi(2));
    let half = Z * ((weight * squares + ends) / count / count).sqrt();
    let mean = sum / scores.len() as f64;
    let low = (centre - half).max(0.0).min(mean);
    let high = (centre + half).min(1.0).max(mean);
    (low, high)
}

/// Returns the mean of `values` and the half-width of its normal 95 % interval.
///
/// The mean of no values is 0; the half-width of fewer than two is infinite.
pub(crate) fn mean_and_half(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    // The sum of no floats is -0.
    let sum = values.iter().fold(0.0, |sum, value| sum + value);
    let mean = sum / count.max(1.0);
    if values.len() < 2 {
        return (mean, f64::INFINITY);
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, Z * (squares / (count - 1.0) / count).sqrt())
}
