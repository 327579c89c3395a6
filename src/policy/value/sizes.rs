//! Widths, layout and first values of the value network's weights.

use serde::{Deserialize, Serialize};

use crate::pit::MAX_COLUMNS;
use crate::policy::weights::{NamedTensor, WeightsError, check_widths, draw_even};
use crate::rng;

/// Widths of a value network, and the board that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueSizes {
    /// Columns of the board, 1 to 64.
    pub columns: usize,
    /// Seed counts of a pit that are told apart, 2 to 256: from the last one on they are one.
    pub levels: usize,
    /// Numbers that are summed over the pits, 1 to 1,024.
    pub units: usize,
    /// Hidden numbers after them, 1 to 256.
    pub hidden: usize,
}

impl ValueSizes {
    /// Checks every width.
    ///
    /// # Errors
    /// [`WeightsError::Width`] names the first width outside its range.
    pub fn check(&self) -> Result<(), WeightsError> {
        let fields = [
            ("columns", self.columns, 1, MAX_COLUMNS),
            ("levels", self.levels, 2, 256),
            ("units", self.units, 1, 1024),
            ("hidden", self.hidden, 1, 256),
        ];
        check_widths(fields)
    }

    /// Lists the name and shape of every tensor, in the order in which files and optimisers keep
    /// them.
    pub fn layout(&self) -> Vec<(String, Vec<usize>)> {
        let (units, hidden) = (self.units, self.hidden);
        let rows = 2 * self.columns * self.levels;
        [
            ("pits", vec![rows, units]),
            ("bias", vec![units]),
            ("hidden", vec![units, hidden]),
            ("hidden_bias", vec![hidden]),
            ("out", vec![hidden, 1]),
            ("out_bias", vec![1]),
        ]
        .map(|(name, shape)| (name.to_owned(), shape))
        .to_vec()
    }

    /// Draws first weights: evenly, so that the sums of the pits spread over the range in which
    /// their units answer; the result starts at zero.
    pub(crate) fn first_weights(&self, seed: u64) -> Vec<NamedTensor> {
        let mut stream = rng::stream(seed, 0, rng::Purpose::Policy);
        let pits = 2.0 * self.columns as f32;
        self.layout()
            .into_iter()
            .map(|(name, shape)| {
                let bound = match name.as_str() {
                    "pits" => 0.5 * (3.0 / pits).sqrt(),
                    "bias" | "hidden_bias" => 0.1,
                    "hidden" => (3.0 / self.units as f32).sqrt(),
                    "out" => 0.3 / (self.hidden as f32).sqrt(),
                    _ => 0.0,
                };
                let zero = bound == 0.0;
                let data = draw_even(&mut stream, shape.iter().product(), bound, zero);
                NamedTensor { name, shape, data }
            })
            .collect()
    }
}
