//! Names, shapes and first values of the networks' weights.

use rand_xoshiro::Xoshiro128PlusPlus;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::features::{FEATURES, GLOBALS};
use super::value::ValueSizes;
use crate::rng;

/// Pits looked at around each pit: itself and its two neighbours on the ring, and the same around
/// the opposite pit.
pub const TAPS: usize = 6;

/// Summaries pooled from a board: mean and maximum of the mover's row and of the other row.
pub const POOLS: usize = 4;

/// Numbers of the value head: win, draw and loss before the softmax, and the margin.
pub const VALUES: usize = 4;

/// Widths of the network, which do not depend on the size of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkSizes {
    /// Numbers kept for every pit, 1 to 512.
    pub channels: usize,
    /// Residual blocks, 0 to 64.
    pub blocks: usize,
    /// Hidden numbers of the policy head, for every pit of the mover, 1 to 512.
    pub policy_units: usize,
    /// Hidden numbers of the value head, 1 to 4096.
    pub value_units: usize,
}

impl Default for NetworkSizes {
    fn default() -> NetworkSizes {
        NetworkSizes {
            channels: 32,
            blocks: 3,
            policy_units: 32,
            value_units: 64,
        }
    }
}

/// Which network weights are for, and its widths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum NetworkShape {
    /// Policy and value for tree search, of any size of board: [`crate::policy::network`].
    Gumbel(NetworkSizes),
    /// Value alone for alpha-beta, of one size of board: [`crate::policy::value`].
    Value(ValueSizes),
}

impl From<NetworkSizes> for NetworkShape {
    fn from(sizes: NetworkSizes) -> NetworkShape {
        NetworkShape::Gumbel(sizes)
    }
}

impl From<ValueSizes> for NetworkShape {
    fn from(sizes: ValueSizes) -> NetworkShape {
        NetworkShape::Value(sizes)
    }
}

impl NetworkShape {
    /// Checks every width.
    ///
    /// # Errors
    /// [`WeightsError::Width`] names the first width outside its range.
    pub fn check(&self) -> Result<(), WeightsError> {
        match self {
            NetworkShape::Gumbel(sizes) => sizes.check(),
            NetworkShape::Value(sizes) => sizes.check(),
        }
    }

    /// Lists the name and shape of every tensor, in the order in which files and optimisers keep
    /// them.
    pub fn layout(&self) -> Vec<(String, Vec<usize>)> {
        match self {
            NetworkShape::Gumbel(sizes) => sizes.layout(),
            NetworkShape::Value(sizes) => sizes.layout(),
        }
    }
}

/// Why weights do not make a network.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WeightsError {
    /// A width outside its range.
    #[error("network.{field} is {value}, expected {low} to {high}")]
    Width {
        /// The width's name.
        field: &'static str,
        /// The value given.
        value: usize,
        /// The smallest value allowed.
        low: usize,
        /// The largest value allowed.
        high: usize,
    },
    /// Weights of another kind of network.
    #[error("the weights are not those of a {expected} network")]
    Kind {
        /// The network asked for.
        expected: &'static str,
    },
    /// A tensor is not there.
    #[error("tensor {name} is missing")]
    Missing {
        /// The tensor's name.
        name: String,
    },
    /// A tensor that no network of these widths has.
    #[error("tensor {name} is unknown")]
    Unknown {
        /// The tensor's name.
        name: String,
    },
    /// A tensor of the wrong shape.
    #[error("tensor {name} has shape {got:?}, expected {expected:?}")]
    Shape {
        /// The tensor's name.
        name: String,
        /// The shape found.
        got: Vec<usize>,
        /// The shape needed.
        expected: Vec<usize>,
    },
    /// A tensor of another type than `f32`.
    #[error("tensor {name} holds {got}, expected F32")]
    Type {
        /// The tensor's name.
        name: String,
        /// The type found.
        got: String,
    },
    /// Weights beyond what whole numbers of 16 and 32 bits hold.
    #[error("tensor {name} can add up to {value}, expected less than {most}")]
    TooLarge {
        /// The tensor's name.
        name: &'static str,
        /// What the weights can add up to, as text.
        value: String,
        /// The limit.
        most: u32,
    },
    /// A weight that is no finite number.
    #[error("tensor {name} holds {value}, expected finite numbers")]
    NotFinite {
        /// The tensor's name.
        name: String,
        /// The first such weight, as text.
        value: String,
    },
}

/// Checks widths, given as (name, value, lowest, highest).
///
/// # Errors
/// [`WeightsError::Width`] names the first width outside its range.
pub(super) fn check_widths(
    fields: [(&'static str, usize, usize, usize); 4],
) -> Result<(), WeightsError> {
    let outside =
        |&(_, value, low, high): &(&str, usize, usize, usize)| value < low || value > high;
    match fields.into_iter().find(outside) {
        Some((field, value, low, high)) => Err(WeightsError::Width {
            field,
            value,
            low,
            high,
        }),
        None => Ok(()),
    }
}

impl NetworkSizes {
    /// Checks every width.
    ///
    /// # Errors
    /// [`WeightsError::Width`] names the first width outside its range.
    pub fn check(&self) -> Result<(), WeightsError> {
        let fields = [
            ("channels", self.channels, 1, 512),
            ("blocks", self.blocks, 0, 64),
            ("policy_units", self.policy_units, 1, 512),
            ("value_units", self.value_units, 1, 4096),
        ];
        check_widths(fields)
    }

    /// Lists the name and shape of every tensor, in the order in which files and optimisers keep
    /// them.
    pub fn layout(&self) -> Vec<(String, Vec<usize>)> {
        let (width, policy, value) = (self.channels, self.policy_units, self.value_units);
        let mut layout = vec![
            ("stem.taps".to_owned(), vec![TAPS * FEATURES, width]),
            ("stem.globals".to_owned(), vec![GLOBALS, width]),
            ("stem.bias".to_owned(), vec![width]),
        ];
        for block in 0..self.blocks {
            layout.extend([
                (format!("block{block}.taps"), vec![TAPS * width, width]),
                (format!("block{block}.pool"), vec![POOLS * width, width]),
                (format!("block{block}.bias"), vec![width]),
                (format!("block{block}.out"), vec![width, width]),
                (format!("block{block}.out_bias"), vec![width]),
            ]);
        }
        layout.extend([
            ("policy.pit".to_owned(), vec![width, policy]),
            ("policy.pool".to_owned(), vec![POOLS * width, policy]),
            ("policy.bias".to_owned(), vec![policy]),
            ("policy.out".to_owned(), vec![policy, 1]),
            ("policy.features".to_owned(), vec![FEATURES, 1]),
            ("value.pool".to_owned(), vec![POOLS * width, value]),
            ("value.globals".to_owned(), vec![GLOBALS, value]),
            ("value.bias".to_owned(), vec![value]),
            ("value.out".to_owned(), vec![value, VALUES]),
            ("value.out_bias".to_owned(), vec![VALUES]),
        ]);
        layout
    }

    fn first_weights(&self, seed: u64) -> Vec<NamedTensor> {
        let mut stream = rng::stream(seed, 0, rng::Purpose::Policy);
        let inputs = |name: &str| match name.split_once('.') {
            Some(("stem", _)) => TAPS * FEATURES + GLOBALS,
            Some(("policy", _)) => (1 + POOLS) * self.channels,
            Some(("value", _)) => POOLS * self.channels + GLOBALS,
            _ => (TAPS + POOLS) * self.channels,
        };
        self.layout()
            .into_iter()
            .map(|(name, shape)| {
                let zero = shape.len() == 1 || name.contains("out") || name == "policy.features";
                let bound = (6.0 / inputs(&name) as f32).sqrt();
                let data = draw_even(&mut stream, shape.iter().product(), bound, zero);
                NamedTensor { name, shape, data }
            })
            .collect()
    }
}

/// A named array of numbers, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTensor {
    /// Its name in the layout.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its numbers.
    pub data: Vec<f32>,
}

/// All weights of a network, in the order of [`NetworkShape::layout`].
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    shape: NetworkShape,
    tensors: Vec<NamedTensor>,
}

impl Weights {
    /// Puts tensors, given in any order, in the order of the layout.
    ///
    /// # Errors
    /// [`WeightsError`] names the first tensor that is missing, unknown, of the wrong shape, or
    /// not finite.
    pub fn new(
        shape: impl Into<NetworkShape>,
        tensors: Vec<NamedTensor>,
    ) -> Result<Weights, WeightsError> {
        let shape = shape.into();
        shape.check()?;
        let mut given = tensors;
        let mut ordered = Vec::with_capacity(given.len());
        for (name, expected) in shape.layout() {
            let Some(at) = given.iter().position(|tensor| tensor.name == name) else {
                return Err(WeightsError::Missing { name });
            };
            let tensor = given.swap_remove(at);
            if tensor.shape != expected || tensor.data.len() != expected.iter().product::<usize>() {
                return Err(WeightsError::Shape {
                    name,
                    got: tensor.shape,
                    expected,
                });
            }
            if let Some(value) = tensor.data.iter().find(|number| !number.is_finite()) {
                return Err(WeightsError::NotFinite {
                    name,
                    value: value.to_string(),
                });
            }
            ordered.push(tensor);
        }
        match given.into_iter().next() {
            Some(tensor) => Err(WeightsError::Unknown { name: tensor.name }),
            None => Ok(Weights {
                shape,
                tensors: ordered,
            }),
        }
    }

    /// Draws first weights.
    ///
    /// Those before a rectifier of the Gumbel network lie evenly within `sqrt(6 / inputs)` (He,
    /// Zhang, Ren and Sun 2015), zero where a block or head writes its result, so that the first
    /// policy is even and every block starts as the identity.
    ///
    /// # Errors
    /// [`WeightsError::Width`] of a width outside its range.
    pub fn random(shape: impl Into<NetworkShape>, seed: u64) -> Result<Weights, WeightsError> {
        let shape = shape.into();
        shape.check()?;
        let tensors = match shape {
            NetworkShape::Gumbel(sizes) => sizes.first_weights(seed),
            NetworkShape::Value(sizes) => sizes.first_weights(seed),
        };
        Ok(Weights { shape, tensors })
    }

    /// Returns which network they are for.
    pub const fn shape(&self) -> &NetworkShape {
        &self.shape
    }

    /// Returns the tensors in the order of the layout.
    pub fn tensors(&self) -> &[NamedTensor] {
        &self.tensors
    }

    /// Returns the numbers of all tensors together.
    pub fn count(&self) -> usize {
        self.tensors.iter().map(|tensor| tensor.data.len()).sum()
    }
}

pub(super) fn draw_even(
    stream: &mut Xoshiro128PlusPlus,
    len: usize,
    bound: f32,
    zero: bool,
) -> Vec<f32> {
    if zero {
        return vec![0.0; len];
    }
    (0..len)
        .map(|_| bound * (2.0 * rng::unit(stream) - 1.0))
        .collect()
}
