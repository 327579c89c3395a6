//! The value network on libtorch: the twin of [`crate::policy::value`], for gradients.

use tch::{Device, Kind, Tensor};

use super::TrainError;
use super::network::{device_tensors, named_tensors};
use super::replay::Replay;
use crate::policy::network::margin_unit;
use crate::policy::value::ValueSizes;
use crate::policy::weights::{NetworkShape, Weights};

/// The network's weights as tensors, in the order of [`ValueSizes::layout`].
#[derive(Debug)]
pub struct TorchValueNetwork {
    sizes: ValueSizes,
    tensors: Vec<Tensor>,
}

/// A batch of `B` positions.
#[derive(Debug, Default)]
pub struct ValueBatch {
    /// The row of weights of every pit, `i64[B * N]`.
    rows: Vec<i64>,
    /// Target of the margin in its unit, `f32[B]`.
    margins: Vec<f32>,
}

impl TorchValueNetwork {
    /// Copies weights into tensors of a device that ask for gradients, and keeps libtorch on the
    /// calling thread.
    ///
    /// # Errors
    /// [`TrainError::Torch`] when libtorch cannot make a tensor.
    pub fn new(
        sizes: ValueSizes,
        weights: &Weights,
        device: Device,
    ) -> Result<TorchValueNetwork, TrainError> {
        Ok(TorchValueNetwork {
            sizes,
            tensors: device_tensors(weights, true, device)?,
        })
    }

    /// Copies the tensors into weights.
    ///
    /// # Errors
    /// [`TrainError`] when a weight is no longer finite.
    pub fn weights(&self) -> Result<Weights, TrainError> {
        let shape = NetworkShape::Value(self.sizes);
        Ok(Weights::new(shape, named_tensors(&shape, &self.tensors)?)?)
    }

    /// Returns the widths and the board's size.
    pub const fn sizes(&self) -> &ValueSizes {
        &self.sizes
    }

    /// Returns the tensors in the order of the layout.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// Values a batch: the margins in their unit, `f32[B]`.
    ///
    /// # Errors
    /// [`TrainError::Torch`] when libtorch refuses, for instance for want of memory.
    pub fn forward(&self, batch: &ValueBatch) -> Result<Tensor, TrainError> {
        let [rows, bias, hidden, hidden_bias, out, out_bias] = self.tensors.as_slice() else {
            return Err(TrainError::Layout);
        };
        let pits = 2 * self.sizes.columns as i64;
        let positions = batch.rows.len() as i64 / pits;
        let device = rows.device();
        let indices = Tensor::f_from_slice(&batch.rows)?.f_to_device(device)?;
        let whole = (Kind::Int64, device);
        let offsets = Tensor::f_arange_start_step(0, positions * pits, pits, whole)?;
        let (sums, ..) = Tensor::f_embedding_bag(
            rows,
            &indices,
            &offsets,
            false,
            0,
            false,
            None::<&Tensor>,
            false,
        )?;
        let sums = sums.f_add(bias)?.f_clamp(0.0, 1.0)?;
        let units = sums.f_mm(hidden)?.f_add(hidden_bias)?.f_relu()?;
        Ok(units.f_mm(out)?.f_add(out_bias)?.f_squeeze_dim(1)?)
    }

    /// Returns the mean squared error of the margins in their unit.
    ///
    /// # Errors
    /// [`TrainError::Torch`] when libtorch refuses.
    pub fn loss(&self, batch: &ValueBatch) -> Result<Tensor, TrainError> {
        let margins = self.forward(batch)?;
        let target = Tensor::f_from_slice(&batch.margins)?.f_to_device(margins.device())?;
        Ok(margins.f_mse_loss(&target, tch::Reduction::Mean)?)
    }
}

impl ValueBatch {
    /// Gathers rows of the replay ring.
    pub fn gather(&mut self, replay: &Replay, rows: &[usize], sizes: &ValueSizes) {
        self.rows.clear();
        self.margins.clear();
        for (pits, margin) in rows.iter().filter_map(|&row| replay.margin(row)) {
            let left: i32 = pits.iter().map(|&seeds| i32::from(seeds)).sum();
            self.margins.push(margin / margin_unit(left as f32));
            self.rows
                .extend(pits.iter().enumerate().map(|(pit, &seeds)| {
                    let level = usize::from(seeds.max(0) as u16).min(sizes.levels - 1);
                    (pit * sizes.levels + level) as i64
                }));
        }
    }
}
