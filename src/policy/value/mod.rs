//! The value network: how many seeds a side still wins, by sums over the pits.
//!
//! For every pit and every number of seeds in it the network keeps a row of `U` numbers. A board
//! is worth
//!
//! - *sums*: `a = clamp(b + sum over the pits of their rows, 0, 1)`, `f32[U]`;
//! - *hidden*: `h = relu(a H + c)`;
//! - *out*: `h o + d` in units of `2 sqrt(seeds on the board)`.
//!
//! Pits are those of the side to move from its left, then those of the other side from its own
//! left, so that one set of weights serves both. Nothing that is already captured counts: the
//! same network and the same table of positions serve every score.
//!
//! A move changes few pits of a large board, so the sums of a position are made from those of the
//! position before it where that is shorter (an idea of Nasu's, 2018). They are whole numbers,
//! so that the way they were made does not show, and that every set of instructions gives the
//! same value; [`ValueNetwork::plain`] is the slow twin in floating point.

mod leaf;
mod sizes;

pub use leaf::ValueLeaf;
pub use sizes::ValueSizes;

use crate::batch::Instructions;
use crate::batch::simd::{Kernel, Vector};
use crate::policy::network::margin_unit;
use crate::policy::weights::{NetworkShape, Weights, WeightsError};

/// Binary places of the sums, at most.
const SUM_PLACES: u32 = 10;

/// Binary places of the hidden layer's weights, at most.
const HIDDEN_PLACES: u32 = 10;

/// A value network ready to be evaluated; it is never changed and may be shared.
#[derive(Clone, Debug)]
pub struct ValueNetwork {
    weights: Weights,
    sizes: ValueSizes,
    instructions: Instructions,
    /// `i16[pits, levels, units]`, the sums' places after the binary point.
    rows: Vec<i16>,
    bias: Vec<i16>,
    /// The clamp's upper end, one with the sums' places.
    one: i16,
    /// `i16[hidden, units]`.
    hidden: Vec<i16>,
    hidden_bias: Vec<i32>,
    /// Weights of the output, with the places of the hidden numbers taken off.
    out: Vec<f32>,
    out_bias: f32,
}

/// The sums of one position.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    pits: Vec<u16>,
    sums: Vec<i16>,
}

impl ValueNetwork {
    /// Arranges weights for the forward pass.
    ///
    /// # Errors
    /// [`WeightsError::Kind`] for the weights of another network, [`WeightsError::TooLarge`] for
    /// weights whose sums could exceed whole numbers.
    pub fn new(weights: Weights) -> Result<ValueNetwork, WeightsError> {
        let NetworkShape::Value(sizes) = *weights.shape() else {
            return Err(WeightsError::Kind { expected: "value" });
        };
        let [pits, bias, hidden, hidden_bias, out, out_bias] =
            std::array::from_fn(|at| weights.tensors()[at].data.as_slice());
        let sum_places = places(
            "pits",
            &bounds(&sizes, pits, bias),
            i16::MAX as u32,
            SUM_PLACES,
        )?;
        let turned: Vec<f32> = (0..sizes.hidden)
            .flat_map(|to| (0..sizes.units).map(move |from| hidden[from * sizes.hidden + to]))
            .collect();
        let narrow = places("hidden", &turned, i16::MAX as u32, HIDDEN_PLACES)?;
        let reach: Vec<f32> = turned
            .chunks(sizes.units)
            .zip(hidden_bias)
            .map(|(row, bias)| bias.abs() + row.iter().map(|weight| weight.abs()).sum::<f32>())
            .collect();
        let most = i32::MAX as u32 >> sum_places;
        let hidden_places = places("hidden", &reach, most, narrow)?;
        let both = (1_u64 << (sum_places + hidden_places)) as f32;
        Ok(ValueNetwork {
            sizes,
            instructions: Instructions::best(),
            rows: fixed(pits, sum_places),
            bias: fixed(bias, sum_places),
            one: 1 << sum_places,
            hidden: fixed(&turned, hidden_places),
            hidden_bias: hidden_bias
                .iter()
                .map(|bias| (bias * both).round() as i32)
                .collect(),
            out: out.iter().map(|weight| weight / both).collect(),
            out_bias: out_bias[0],
            weights,
        })
    }

    /// Uses another set of instructions than the fastest one; the values stay the same.
    ///
    /// One that this processor does not have is the same as [`Instructions::Scalar`].
    #[must_use]
    pub fn with_instructions(mut self, instructions: Instructions) -> ValueNetwork {
        self.instructions = instructions;
        self
    }

    /// Returns the weights.
    pub const fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Returns the widths and the board's size.
    pub const fn sizes(&self) -> &ValueSizes {
        &self.sizes
    }

    /// Makes the sums of a position: `pits` is `u16[2C]` from the view of the side to move.
    pub fn sum(&self, pits: &[u16], sums: &mut Sums) {
        sums.pits.clear();
        sums.pits.extend_from_slice(pits);
        sums.sums.resize(self.sizes.units, 0);
        let work = Work {
            network: self,
            from: None,
            pits,
            sums: &mut sums.sums,
            sums_alone: true,
        };
        self.run(work);
    }

    /// Values a position: the seeds that the side to move still takes less those that the other
    /// side still takes.
    ///
    /// `pits` is `u16[2C]` from the view of the side to move. The sums start from those of a
    /// position `near` it where that takes fewer rows than starting from nothing; the value is
    /// the same. `scratch` is used again from call to call.
    pub fn margin(&self, pits: &[u16], near: Option<&Sums>, scratch: &mut Vec<i16>) -> f32 {
        scratch.resize(self.sizes.units, 0);
        let from = near.filter(|near| {
            let changed = near.pits.iter().zip(pits).filter(|(a, b)| a != b).count();
            near.pits.len() == pits.len() && 2 * changed + 1 < pits.len()
        });
        let out = self.run(Work {
            network: self,
            from,
            pits,
            sums: scratch,
            sums_alone: false,
        });
        let left: u32 = pits.iter().map(|&seeds| u32::from(seeds)).sum();
        out * margin_unit(left as f32)
    }

    /// Values a position with the weights as they are, in floating point: the slow twin of
    /// [`ValueNetwork::margin`], which rounds them.
    pub fn plain(&self, pits: &[u16]) -> f32 {
        let [rows, bias, hidden, hidden_bias, out, out_bias] =
            std::array::from_fn(|at| self.weights.tensors()[at].data.as_slice());
        let mut sums = bias.to_vec();
        for (pit, &seeds) in pits.iter().enumerate() {
            let row = self.row_of(pit, seeds);
            for (sum, weight) in sums.iter_mut().zip(&rows[row..]) {
                *sum += weight;
            }
        }
        let mut value = out_bias[0];
        for (to, (bias, weight)) in hidden_bias.iter().zip(out).enumerate() {
            let inputs = sums
                .iter()
                .zip(hidden[to..].iter().step_by(self.sizes.hidden));
            let sum: f32 = inputs
                .map(|(sum, weight)| sum.clamp(0.0, 1.0) * weight)
                .sum();
            value += (bias + sum).max(0.0) * weight;
        }
        let left: u32 = pits.iter().map(|&seeds| u32::from(seeds)).sum();
        value * margin_unit(left as f32)
    }

    /// Returns where the row of a pit begins.
    #[inline]
    fn row_of(&self, pit: usize, seeds: u16) -> usize {
        let level = usize::from(seeds).min(self.sizes.levels - 1);
        (pit * self.sizes.levels + level) * self.sizes.units
    }

    fn run(&self, work: Work<'_>) -> f32 {
        match self.instructions {
            Instructions::Scalar => work.value(),
            other if other.is_available() => other.run(work).unwrap_or_default(),
            _ => work.value(),
        }
    }
}

/// The forward pass of one position, compiled for every set of instructions.
struct Work<'a> {
    network: &'a ValueNetwork,
    /// The sums to start from.
    from: Option<&'a Sums>,
    pits: &'a [u16],
    /// Where the sums are written; those of a value are clamped there.
    sums: &'a mut [i16],
    /// Whether no value is asked for.
    sums_alone: bool,
}

impl Kernel for Work<'_> {
    type Output = f32;

    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of a kernel, which has instructions of its own.
    fn run<V: Vector>(self, _: V) -> f32 {
        self.value()
    }
}

impl Work<'_> {
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of a kernel.
    fn value(self) -> f32 {
        let Work {
            network,
            from,
            pits,
            sums,
            sums_alone,
        } = self;
        let units = sums.len();
        if let Some(near) = from {
            sums.copy_from_slice(&near.sums);
            for (pit, (&now, &then)) in pits.iter().zip(&near.pits).enumerate() {
                if now != then {
                    let gone = &network.rows[network.row_of(pit, then)..][..units];
                    let come = &network.rows[network.row_of(pit, now)..][..units];
                    for ((sum, gone), come) in sums.iter_mut().zip(gone).zip(come) {
                        *sum = sum.wrapping_sub(*gone).wrapping_add(*come);
                    }
                }
            }
        } else {
            sums.copy_from_slice(&network.bias);
            for (pit, &seeds) in pits.iter().enumerate() {
                let row = &network.rows[network.row_of(pit, seeds)..][..units];
                for (sum, weight) in sums.iter_mut().zip(row) {
                    *sum = sum.wrapping_add(*weight);
                }
            }
        }
        if sums_alone {
            return 0.0;
        }
        // Once for all hidden numbers: their products are then one instruction for each vector.
        for sum in sums.iter_mut() {
            *sum = (*sum).clamp(0, network.one);
        }
        let mut value = network.out_bias;
        let rows = network.hidden.chunks_exact(units);
        let rest = network.hidden_bias.iter().zip(&network.out);
        for (row, (bias, out)) in rows.zip(rest) {
            let products = sums
                .iter()
                .zip(row)
                .map(|(&sum, &weight)| i32::from(sum) * i32::from(weight));
            let sum = products.fold(*bias, i32::wrapping_add);
            value += sum.max(0) as f32 * out;
        }
        value
    }
}

/// Returns the most that each sum can be, over all boards.
fn bounds(sizes: &ValueSizes, pits: &[f32], bias: &[f32]) -> Vec<f32> {
    let mut bounds: Vec<f32> = bias.iter().map(|bias| bias.abs()).collect();
    for pit in pits.chunks(sizes.levels * sizes.units) {
        for (unit, bound) in bounds.iter_mut().enumerate() {
            let weights = pit[unit..].iter().step_by(sizes.units);
            *bound += weights.fold(0.0_f32, |most, weight| most.max(weight.abs()));
        }
    }
    bounds
}

/// Returns the binary places, at most `most_places`, with which no number reaches `most`; what
/// rounding some hundred terms may add is left to spare.
fn places(
    name: &'static str,
    numbers: &[f32],
    most: u32,
    most_places: u32,
) -> Result<u32, WeightsError> {
    let largest = numbers
        .iter()
        .fold(0.0_f32, |most, number| most.max(number.abs()));
    let fits = |places: &u32| (largest * (1_u64 << places) as f32) < 0.99 * most as f32 - 128.0;
    let found = (0..=most_places).rev().find(fits);
    found.ok_or_else(|| WeightsError::TooLarge {
        name,
        value: largest.to_string(),
        most,
    })
}

/// Rounds numbers to so many binary places.
fn fixed(numbers: &[f32], places: u32) -> Vec<i16> {
    let scale = (1_u64 << places) as f32;
    let round = |number: &f32| (number * scale).round() as i16;
    numbers.iter().map(round).collect()
}
