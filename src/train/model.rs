//! The network being trained, of either learner.

use tch::{Device, Tensor};

use super::TrainError;
use super::config::LossConfig;
use super::learner::Batch;
use super::network::{Inputs, TorchNetwork};
use super::replay::Replay;
use super::value_network::{TorchValueNetwork, ValueBatch};
use crate::policy::weights::{NetworkShape, Weights};

/// A network whose tensors ask for gradients.
#[derive(Debug)]
pub enum Model {
    /// Policy and value.
    Gumbel {
        /// The network.
        network: TorchNetwork,
        /// Buffers to be used again.
        inputs: Inputs,
    },
    /// Value alone.
    Value {
        /// The network.
        network: TorchValueNetwork,
        /// A buffer to be used again.
        batch: ValueBatch,
    },
}

/// Losses of a batch as tensors.
#[derive(Debug)]
pub struct BatchLosses {
    /// The weighted sum, which is made smaller.
    pub total: Tensor,
    /// Cross-entropy of the policy in nats, cross-entropy of win, draw and loss in nats, and the
    /// loss of the margin; zero where the network has no such head.
    pub parts: [Tensor; 3],
}

impl Model {
    /// Copies weights into tensors of a device that ask for gradients.
    ///
    /// # Errors
    /// [`TrainError::Torch`] when libtorch cannot make a tensor.
    pub fn new(weights: &Weights, device: Device) -> Result<Model, TrainError> {
        Ok(match *weights.shape() {
            NetworkShape::Gumbel(_) => Model::Gumbel {
                network: TorchNetwork::new(weights, true, device)?,
                inputs: Inputs::default(),
            },
            NetworkShape::Value(sizes) => Model::Value {
                network: TorchValueNetwork::new(sizes, weights, device)?,
                batch: ValueBatch::default(),
            },
        })
    }

    /// Copies the tensors into weights.
    ///
    /// # Errors
    /// [`TrainError`] when a weight is no longer finite.
    pub fn weights(&self) -> Result<Weights, TrainError> {
        match self {
            Model::Gumbel { network, .. } => network.weights(),
            Model::Value { network, .. } => network.weights(),
        }
    }

    /// Returns the tensors in the order of the layout.
    pub fn tensors(&self) -> &[Tensor] {
        match self {
            Model::Gumbel { network, .. } => network.tensors(),
            Model::Value { network, .. } => network.tensors(),
        }
    }

    /// Takes rows of the replay ring through the network and compares with their targets.
    ///
    /// # Errors
    /// [`TrainError::Torch`] when libtorch refuses.
    pub fn losses(
        &mut self,
        replay: &Replay,
        rows: &[usize],
        weights: &LossConfig,
    ) -> Result<BatchLosses, TrainError> {
        match self {
            Model::Gumbel { network, inputs } => {
                let batch = Batch::gather(replay, rows, inputs)?.on(network.device())?;
                let heads = network.forward(&batch.features, &batch.globals)?;
                let parts = batch.losses(&heads.logits, &heads.values)?;
                let [policy, value, margin] = &parts;
                let total = policy
                    .f_mul_scalar(weights.policy)?
                    .f_add(&value.f_mul_scalar(weights.value)?)?
                    .f_add(&margin.f_mul_scalar(weights.margin)?)?;
                Ok(BatchLosses { total, parts })
            }
            Model::Value { network, batch } => {
                batch.gather(replay, rows, network.sizes());
                let margin = network.loss(batch)?;
                let zero = margin.f_zeros_like()?;
                Ok(BatchLosses {
                    total: margin.shallow_clone(),
                    parts: [zero.shallow_clone(), zero, margin],
                })
            }
        }
    }
}
