//! The network on libtorch: the twin of [`crate::policy::network`], for batches and gradients.

use std::collections::HashMap;

use tch::{Device, Kind, Tensor};

use super::TrainError;
use crate::policy::features::{FEATURES, FeatureWriter, GLOBALS, write_globals};
use crate::policy::network::{check_columns, store_value};
use crate::policy::weights::{
    NamedTensor, NetworkShape, NetworkSizes, VALUES, Weights, WeightsError,
};
use crate::position::Position;
use crate::search::{Evaluations, Evaluator, EvaluatorError};

/// The network's weights as tensors, in the order of [`NetworkSizes::layout`].
///
/// A value belongs to one thread; threads share weights as [`Weights`].
#[derive(Debug)]
pub struct TorchNetwork {
    sizes: NetworkSizes,
    tensors: Vec<Tensor>,
    /// The gather's indices, `i64[6N]`, for every `N` met.
    taps: HashMap<i64, Tensor>,
}

/// What the network says of `B` positions.
#[derive(Debug)]
pub struct Heads {
    /// Preferences before the softmax, `f32[B, C]`, illegal columns included.
    pub logits: Tensor,
    /// Win, draw and loss before the softmax, and the margin in its unit, `f32[B, 4]`.
    pub values: Tensor,
}

impl TorchNetwork {
    /// Copies weights into tensors of a device, which ask for gradients if `trainable`, and keeps
    /// libtorch on the calling thread: the trainer has one thread for every core itself.
    ///
    /// # Errors
    /// [`TrainError::Torch`] when libtorch cannot make a tensor.
    pub fn new(
        weights: &Weights,
        trainable: bool,
        device: Device,
    ) -> Result<TorchNetwork, TrainError> {
        let NetworkShape::Gumbel(sizes) = *weights.shape() else {
            return Err(WeightsError::Kind { expected: "gumbel" }.into());
        };
        Ok(TorchNetwork {
            sizes,
            tensors: device_tensors(weights, trainable, device)?,
            taps: HashMap::new(),
        })
    }

    /// Copies the tensors into weights.
    ///
    /// # Errors
    /// [`TrainError`] when a weight is no longer finite.
    pub fn weights(&self) -> Result<Weights, TrainError> {
        let shape = NetworkShape::Gumbel(self.sizes);
        Ok(Weights::new(shape, named_tensors(&shape, &self.tensors)?)?)
    }

    /// Returns where the tensors lie.
    pub fn device(&self) -> Device {
        self.tensors.first().map_or(Device::Cpu, Tensor::device)
    }

    /// Returns the tensors in the order of the layout.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// Takes `features`, `f32[B, N, FEATURES]`, and `globals`, `f32[B, GLOBALS]`, through the
    /// network.
    ///
    /// # Errors
    /// [`TrainError::Torch`] when libtorch refuses, for instance for want of memory.
    pub fn forward(&mut self, features: &Tensor, globals: &Tensor) -> Result<Heads, TrainError> {
        let (boards, pits, _) = features.size3()?;
        let device = self.device();
        let (features, globals) = (
            &features.f_to_device(device)?,
            &globals.f_to_device(device)?,
        );
        let taps = self.taps(pits)?;
        let mut weights = self.tensors.iter();
        // The layout fixes how many tensors there are.
        let mut next = || weights.next().ok_or(TrainError::Layout);
        let gather = |x: &Tensor, width: i64| -> Result<Tensor, tch::TchError> {
            x.f_index_select(1, &taps)?
                .f_reshape([boards, pits, 6 * width])
        };
        let gathered = gather(features, FEATURES as i64)?;
        let mut x = layer(&gathered, globals, next()?, next()?, next()?)?;
        let width = self.sizes.channels as i64;
        for _ in 0..self.sizes.blocks {
            let gathered = gather(&x, width)?;
            let h = layer(&gathered, &pool(&x)?, next()?, next()?, next()?)?;
            let change = linear(&h, next()?, next()?)?;
            x = x.f_add(&change)?;
        }
        let pooled = pool(&x)?;
        let own = x.f_narrow(1, 0, pits / 2)?;
        let hidden = layer(&own, &pooled, next()?, next()?, next()?)?;
        let own_features = features.f_narrow(1, 0, pits / 2)?;
        let logits = hidden
            .f_matmul(next()?)?
            .f_add(&own_features.f_matmul(next()?)?)?
            .f_squeeze_dim(2)?;
        let hidden = pooled
            .f_mm(next()?)?
            .f_add(&globals.f_mm(next()?)?)?
            .f_add(next()?)?
            .f_relu()?;
        let values = linear(&hidden, next()?, next()?)?;
        Ok(Heads { logits, values })
    }

    fn taps(&mut self, pits: i64) -> Result<Tensor, TrainError> {
        if let Some(taps) = self.taps.get(&pits) {
            return Ok(taps.shallow_clone());
        }
        let indices: Vec<i64> = (0..pits)
            .flat_map(|pit| [(pit + pits - 1) % pits, pit, (pit + 1) % pits])
            .flat_map(|tap| [tap, pits - 1 - tap])
            .collect();
        let taps = Tensor::f_from_slice(&indices)?.f_to_device(self.device())?;
        self.taps.insert(pits, taps.shallow_clone());
        Ok(taps)
    }
}

/// Copies weights into tensors of a device, which ask for gradients if `trainable`, and keeps
/// libtorch on the calling thread.
pub(super) fn device_tensors(
    weights: &Weights,
    trainable: bool,
    device: Device,
) -> Result<Vec<Tensor>, tch::TchError> {
    tch::set_num_threads(1);
    let tensors = weights.tensors().iter().map(|tensor| {
        let shape: Vec<i64> = tensor.shape.iter().map(|&len| len as i64).collect();
        let copy = Tensor::f_from_slice(&tensor.data)?.f_reshape(&shape)?;
        copy.f_to_device(device)?.f_set_requires_grad(trainable)
    });
    tensors.collect()
}

/// Copies tensors, given in the order of the layout.
pub(super) fn named_tensors(
    shape: &NetworkShape,
    tensors: &[Tensor],
) -> Result<Vec<NamedTensor>, tch::TchError> {
    shape
        .layout()
        .into_iter()
        .zip(tensors)
        .map(|((name, shape), tensor)| {
            let mut data = vec![0.0; tensor.numel()];
            let len = data.len();
            tensor.f_copy_data(&mut data, len)?;
            Ok(NamedTensor { name, shape, data })
        })
        .collect()
}

/// Returns `x A + b` over the last axis.
fn linear(x: &Tensor, matrix: &Tensor, bias: &Tensor) -> Result<Tensor, tch::TchError> {
    x.f_matmul(matrix)?.f_add(bias)
}

/// Returns `relu(pits A + board B + b)`, `f32[B, pits, W]`.
fn layer(
    pits: &Tensor,
    board: &Tensor,
    of_pits: &Tensor,
    of_board: &Tensor,
    bias: &Tensor,
) -> Result<Tensor, tch::TchError> {
    let board = linear(board, of_board, bias)?.f_unsqueeze(1)?;
    pits.f_matmul(of_pits)?.f_add(&board)?.f_relu()
}

/// Pools the mean and maximum of the mover's row and of the other row, `f32[B, 4W]`.
fn pool(x: &Tensor) -> Result<Tensor, tch::TchError> {
    let (boards, pits, width) = x.size3()?;
    let rows = x.f_reshape([boards, 2, pits / 2, width])?;
    let means = rows.f_mean_dim(2, false, Kind::Float)?;
    let maxima = rows.f_amax(2, false)?;
    Tensor::f_stack(&[means, maxima], 2)?.f_reshape([boards, 4 * width])
}

/// Evaluates positions with a [`TorchNetwork`] on the calling thread: one tensor in and one copy
/// out for every call.
#[derive(Debug)]
pub struct TorchEvaluator {
    network: TorchNetwork,
    inputs: Inputs,
    outputs: Vec<f32>,
    evaluated: u64,
}

impl TorchEvaluator {
    /// Copies weights into an evaluator of the calling thread.
    ///
    /// # Errors
    /// [`TrainError::Torch`] when libtorch cannot make a tensor.
    pub fn new(weights: &Weights, device: Device) -> Result<TorchEvaluator, TrainError> {
        Ok(TorchEvaluator {
            network: TorchNetwork::new(weights, false, device)?,
            inputs: Inputs::default(),
            outputs: Vec::new(),
            evaluated: 0,
        })
    }

    /// Returns how many positions have been evaluated so far.
    pub const fn evaluated(&self) -> u64 {
        self.evaluated
    }

    fn run(&mut self, positions: &[Position], columns: usize) -> Result<(), TrainError> {
        let boards = positions.len();
        let (features, globals) = self.inputs.of(positions, columns)?;
        // Gradients are switched off for each thread by itself.
        let heads = tch::no_grad(|| self.network.forward(&features, &globals))?;
        let out = Tensor::f_cat(&[&heads.logits, &heads.values], 1)?;
        let len = boards * (columns + VALUES);
        self.outputs.resize(len, 0.0);
        out.f_copy_data(&mut self.outputs, len)?;
        self.evaluated += boards as u64;
        Ok(())
    }
}

/// What the network is shown, and the buffers that it takes.
#[derive(Debug, Default)]
pub struct Inputs {
    writer: FeatureWriter,
    /// The features of all positions, and then the globals of all positions.
    numbers: Vec<f32>,
}

impl Inputs {
    /// Returns the features and the globals of open positions on boards of so many columns.
    ///
    /// # Errors
    /// [`tch::TchError`] when libtorch cannot make a tensor.
    pub(super) fn of(
        &mut self,
        positions: &[Position],
        columns: usize,
    ) -> Result<(Tensor, Tensor), tch::TchError> {
        let pits = 2 * columns;
        let split = positions.len() * pits * FEATURES;
        self.numbers.resize(split + positions.len() * GLOBALS, 0.0);
        let (features, globals) = self.numbers.split_at_mut(split);
        let rows = features.chunks_exact_mut(pits * FEATURES);
        for ((position, features), globals) in positions
            .iter()
            .zip(rows)
            .zip(globals.chunks_exact_mut(GLOBALS))
        {
            self.writer.write(position, features);
            write_globals(position, globals);
        }
        let all = Tensor::f_from_slice(&self.numbers)?;
        let (boards, split) = (positions.len() as i64, split as i64);
        let features = all
            .f_narrow(0, 0, split)?
            .f_view([boards, pits as i64, FEATURES as i64])?;
        let globals = all
            .f_narrow(0, split, boards * GLOBALS as i64)?
            .f_view([boards, GLOBALS as i64])?;
        Ok((features, globals))
    }
}

impl Evaluator for TorchEvaluator {
    fn evaluate(
        &mut self,
        positions: &[Position],
        out: &mut Evaluations,
    ) -> Result<(), EvaluatorError> {
        let Some(columns) = check_columns(positions)? else {
            out.clear(0, 0);
            return Ok(());
        };
        self.run(positions, columns)
            .map_err(|error| EvaluatorError {
                message: error.to_string(),
            })?;
        out.clear(positions.len(), columns);
        for (row, numbers) in self.outputs.chunks_exact(columns + VALUES).enumerate() {
            let (logits, values) = numbers.split_at(columns);
            out.logits[row * columns..(row + 1) * columns].copy_from_slice(logits);
            let values = [values[0], values[1], values[2], values[3]];
            store_value(&positions[row], values, row, out);
        }
        Ok(())
    }
}
