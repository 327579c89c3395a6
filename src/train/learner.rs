//! The optimiser: batches from the replay ring, losses, `AdamW`, and the running average.

use tch::{Device, Kind, Tensor};

use super::TrainError;
use super::config::Config;
use super::model::{BatchLosses, Model};
use super::network::{Inputs, named_tensors};
use super::replay::Replay;
use super::state::{State, StateError};
use crate::policy::network::margin_unit;
use crate::policy::weights::{NamedTensor, Weights};
use crate::position::Position;
use crate::rng::{self, Purpose};

/// Decay of the first moment.
const BETA1: f64 = 0.9;

/// Decay of the second moment.
const BETA2: f64 = 0.98;

/// Added to the root of the second moment.
const EPSILON: f64 = 1e-8;

/// Stands for minus infinity where an illegal column's preference is hidden: its exponential is
/// zero, and zero times it is zero.
const HIDDEN: f64 = -1e30;

/// Mean losses of the steps of one iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    /// Steps taken.
    pub steps: u64,
    /// Weighted sum of the three parts.
    pub total: f64,
    /// Cross-entropy of the policy in nats.
    pub policy: f64,
    /// Cross-entropy of win, draw and loss in nats.
    pub value: f64,
    /// Huber loss of the margin in its unit.
    pub margin: f64,
}

impl Losses {
    /// Adds the means of other steps as sums, so that a later division by all steps gives means.
    pub fn add(&mut self, other: &Losses) {
        let steps = other.steps as f64;
        self.steps += other.steps;
        self.total += other.total * steps;
        self.policy += other.policy * steps;
        self.value += other.value * steps;
        self.margin += other.margin * steps;
    }
}

/// The network being trained with its optimiser.
#[derive(Debug)]
pub struct Learner {
    model: Model,
    first: Vec<Tensor>,
    second: Vec<Tensor>,
    average: Vec<Tensor>,
    /// Whether a tensor decays: matrices do, biases do not.
    decays: Vec<bool>,
    step: u64,
    config: Config,
}

/// Everything of a [`Learner`] that a checkpoint keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnerState {
    /// The weights.
    pub weights: Weights,
    /// The running average of the weights.
    pub average: Weights,
    /// First moments, in the order of the layout.
    pub first: Vec<NamedTensor>,
    /// Second moments, in the order of the layout.
    pub second: Vec<NamedTensor>,
    /// Steps taken.
    pub step: u64,
}

impl LearnerState {
    /// Returns the state before the first step: the weights of the agent that the settings start
    /// from, else random ones.
    ///
    /// # Errors
    /// [`TrainError::Weights`] of a network width out of range, [`TrainError::Setting`] of an agent
    /// that cannot be started from.
    pub fn start(config: &Config) -> Result<LearnerState, TrainError> {
        let weights = match config.start_agent()? {
            Some(agent) => agent.weights,
            None => Weights::random(config.shape(), config.seed)?,
        };
        let zeros = |tensor: &NamedTensor| NamedTensor {
            data: vec![0.0; tensor.data.len()],
            ..tensor.clone()
        };
        let moments: Vec<NamedTensor> = weights.tensors().iter().map(zeros).collect();
        Ok(LearnerState {
            average: weights.clone(),
            weights,
            first: moments.clone(),
            second: moments,
            step: 0,
        })
    }

    /// Puts everything but the number of steps into a run's state.
    pub fn put<'a>(&'a self, state: &mut State<'a>) {
        state.put_tensors("weights/", self.weights.tensors());
        state.put_tensors("average/", self.average.tensors());
        state.put_tensors("first/", &self.first);
        state.put_tensors("second/", &self.second);
    }

    /// Takes the state after `step` steps out of a run's state.
    ///
    /// # Errors
    /// [`StateError`] when the tensors are not those of the network of the settings.
    pub fn take(
        state: &mut State<'_>,
        config: &Config,
        step: u64,
    ) -> Result<LearnerState, StateError> {
        // The moments have the shapes of the weights and are checked in the same way.
        let mut part = |prefix: &str| -> Result<Weights, StateError> {
            Ok(Weights::new(config.shape(), state.take_tensors(prefix)?)?)
        };
        Ok(LearnerState {
            weights: part("weights/")?,
            average: part("average/")?,
            first: part("first/")?.tensors().to_vec(),
            second: part("second/")?.tensors().to_vec(),
            step,
        })
    }
}

impl Learner {
    /// Makes a learner that goes on from a state.
    ///
    /// # Errors
    /// [`TrainError::Torch`] when libtorch cannot make a tensor.
    pub fn new(config: &Config, state: &LearnerState) -> Result<Learner, TrainError> {
        let device = config.device.find()?;
        let tensors = |named: &[NamedTensor]| -> Result<Vec<Tensor>, TrainError> {
            let tensors = named.iter().map(|named| tensor_of(named, device));
            tensors.collect()
        };
        Ok(Learner {
            model: Model::new(&state.weights, device)?,
            first: tensors(&state.first)?,
            second: tensors(&state.second)?,
            average: tensors(state.average.tensors())?,
            decays: state
                .weights
                .tensors()
                .iter()
                .map(|tensor| tensor.shape.len() > 1)
                .collect(),
            step: state.step,
            config: config.clone(),
        })
    }

    /// Returns the steps taken.
    pub const fn step(&self) -> u64 {
        self.step
    }

    /// Copies the running average of the weights.
    ///
    /// # Errors
    /// [`TrainError::Weights`] when a weight is no longer finite.
    pub fn average(&self) -> Result<Weights, TrainError> {
        let shape = self.config.shape();
        Ok(Weights::new(shape, named_tensors(&shape, &self.average)?)?)
    }

    /// Copies everything that a checkpoint keeps.
    ///
    /// # Errors
    /// [`TrainError::Weights`] when a weight is no longer finite.
    pub fn state(&self) -> Result<LearnerState, TrainError> {
        let shape = self.config.shape();
        Ok(LearnerState {
            weights: self.model.weights()?,
            average: self.average()?,
            first: named_tensors(&shape, &self.first)?,
            second: named_tensors(&shape, &self.second)?,
            step: self.step,
        })
    }

    /// Takes `steps` steps at one learning rate, each on a batch drawn from the replay ring.
    ///
    /// Which rows a step draws depends on the seed, the step's number and the ring's length.
    ///
    /// # Errors
    /// [`TrainError::Diverged`] when a loss is not finite; the weights are then as they were.
    pub fn learn(
        &mut self,
        replay: &Replay,
        steps: u64,
        learning_rate: f64,
    ) -> Result<Losses, TrainError> {
        let mut sum = Losses::default();
        if replay.is_empty() {
            return Ok(sum);
        }
        for _ in 0..steps {
            let seed = rng::mix(self.config.seed, u64::MAX);
            let mut stream = rng::stream(seed, self.step, Purpose::Policy);
            let rows = replay.draw(self.config.optimiser.batch, &mut stream);
            let losses = self.take_step(replay, &rows, learning_rate)?;
            sum.add(&losses);
        }
        let share = 1.0 / sum.steps.max(1) as f64;
        Ok(Losses {
            steps: sum.steps,
            total: sum.total * share,
            policy: sum.policy * share,
            value: sum.value * share,
            margin: sum.margin * share,
        })
    }

    fn take_step(
        &mut self,
        replay: &Replay,
        rows: &[usize],
        learning_rate: f64,
    ) -> Result<Losses, TrainError> {
        let BatchLosses { total, parts } = self.model.losses(replay, rows, &self.config.loss)?;
        let [policy, value, margin] = parts;
        total.f_backward()?;
        let parts = Tensor::f_stack(&[&total, &policy, &value, &margin], 0)?;
        let mut numbers = [0.0_f32; 4];
        parts.f_detach()?.f_copy_data(&mut numbers, 4)?;
        let [total, policy, value, margin] = numbers.map(f64::from);
        if !total.is_finite() {
            return Err(TrainError::Diverged {
                loss: total,
                step: self.step,
            });
        }
        tch::no_grad(|| self.update(learning_rate))?;
        Ok(Losses {
            steps: 1,
            total,
            policy,
            value,
            margin,
        })
    }

    /// Takes one step of `AdamW` (Loshchilov and Hutter 2019) down the gradient, clipped to a
    /// norm, and moves the running average.
    fn update(&mut self, learning_rate: f64) -> Result<(), TrainError> {
        self.step += 1;
        let gradients: Vec<Tensor> = self.model.tensors().iter().map(Tensor::grad).collect();
        let scale = clip_scale(&gradients, self.config.optimiser.clip)?;
        let corrected = |beta: f64| 1.0 - beta.powf(self.step as f64);
        let (bias1, bias2) = (corrected(BETA1), corrected(BETA2));
        // The average follows closely at first: its first weights are worth nothing.
        let steps = self.step as f64;
        let kept = self.config.optimiser.average.min(steps / (steps + 10.0));
        let decay = 1.0 - learning_rate * self.config.optimiser.weight_decay;
        for (index, (gradient, tensor)) in gradients.iter().zip(self.model.tensors()).enumerate() {
            let mut weight = tensor.shallow_clone();
            let (first, second) = (&mut self.first[index], &mut self.second[index]);
            let gradient = gradient.f_mul_scalar(scale)?;
            let _ = first.f_lerp_(&gradient, 1.0 - BETA1)?;
            let square = gradient.f_square()?;
            let _ = second.f_lerp_(&square, 1.0 - BETA2)?;
            let root = second.f_sqrt()?.f_div_scalar(bias2.sqrt())?;
            let change = first.f_div(&root.f_add_scalar(EPSILON)?)?;
            if self.decays[index] {
                let _ = weight.f_mul_scalar_(decay)?;
            }
            let _ = weight.f_sub_(&change.f_mul_scalar(learning_rate / bias1)?)?;
            let _ = self.average[index].f_lerp_(&weight, 1.0 - kept)?;
            let _ = tensor.grad().f_zero_()?;
        }
        Ok(())
    }
}

fn tensor_of(named: &NamedTensor, device: Device) -> Result<Tensor, TrainError> {
    let shape: Vec<i64> = named.shape.iter().map(|&len| len as i64).collect();
    let tensor = Tensor::f_from_slice(&named.data)?.f_reshape(&shape)?;
    Ok(tensor.f_to_device(device)?)
}

/// Returns the factor that brings the gradients' joint norm down to `clip`, at most 1.
fn clip_scale(gradients: &[Tensor], clip: f64) -> Result<f64, tch::TchError> {
    let norms = gradients
        .iter()
        .map(Tensor::f_norm)
        .collect::<Result<Vec<_>, _>>()?;
    let norm = Tensor::f_stack(&norms, 0)?.f_norm()?.f_double_value(&[])?;
    Ok(if norm > clip { clip / norm } else { 1.0 })
}

/// A batch of `B` positions as tensors.
#[derive(Debug)]
pub struct Batch {
    /// Features of the pits, `f32[B, N, FEATURES]`.
    pub features: Tensor,
    /// Features of the boards, `f32[B, GLOBALS]`.
    pub globals: Tensor,
    /// Columns that are not legal, `bool[B, C]`.
    pub illegal: Tensor,
    /// Target policy, `f32[B, C]`, zero on illegal columns.
    pub policy: Tensor,
    /// Target of win, draw and loss, `f32[B, 3]`.
    pub chances: Tensor,
    /// Target of the margin in its unit, `f32[B]`.
    pub margin: Tensor,
}

impl Batch {
    /// Gathers rows of the replay ring; `inputs` has the buffers to be used again.
    ///
    /// # Errors
    /// [`TrainError::Torch`] when libtorch cannot make a tensor.
    pub fn gather(
        replay: &Replay,
        rows: &[usize],
        inputs: &mut Inputs,
    ) -> Result<Batch, TrainError> {
        let mut positions: Vec<Position> = Vec::with_capacity(rows.len());
        let (mut illegal, mut policy) = (Vec::new(), Vec::new());
        let (mut chances, mut margins) = (Vec::new(), Vec::new());
        for (position, sample) in rows.iter().filter_map(|&row| replay.get(row)) {
            let legal = position.legal_moves();
            illegal.extend((0..sample.policy.len()).map(|column| !legal.contains(column)));
            policy.extend(sample.policy);
            chances.extend(sample.chances);
            let left = position.board().seeds_on_board() as f32;
            margins.push(sample.margin / margin_unit(left));
            positions.push(position);
        }
        let boards = positions.len() as i64;
        let columns = policy.len() / positions.len().max(1);
        let (features, globals) = inputs.of(&positions, columns)?;
        let table =
            |numbers: &[f32], width: i64| Tensor::f_from_slice(numbers)?.f_reshape([boards, width]);
        Ok(Batch {
            features,
            globals,
            illegal: Tensor::f_from_slice(&illegal)?.f_reshape([boards, columns as i64])?,
            policy: table(&policy, columns as i64)?,
            chances: table(&chances, 3)?,
            margin: Tensor::f_from_slice(&margins)?,
        })
    }

    /// Moves the tensors to a device.
    ///
    /// # Errors
    /// [`TrainError::Torch`] when libtorch refuses.
    pub fn on(self, device: Device) -> Result<Batch, TrainError> {
        Ok(Batch {
            features: self.features.f_to_device(device)?,
            globals: self.globals.f_to_device(device)?,
            illegal: self.illegal.f_to_device(device)?,
            policy: self.policy.f_to_device(device)?,
            chances: self.chances.f_to_device(device)?,
            margin: self.margin.f_to_device(device)?,
        })
    }

    /// Returns the mean cross-entropy of the policy over the legal columns, the mean
    /// cross-entropy of win, draw and loss, and the mean Huber loss of the margin.
    ///
    /// Preferences of illegal columns change nothing and get no gradient, however large.
    ///
    /// # Errors
    /// [`TrainError::Torch`] when libtorch refuses.
    pub fn losses(&self, logits: &Tensor, values: &Tensor) -> Result<[Tensor; 3], TrainError> {
        let cross_entropy = |logits: &Tensor, target: &Tensor| {
            logits
                .f_log_softmax(1, Kind::Float)?
                .f_mul(target)?
                .f_sum_dim_intlist([1_i64].as_slice(), false, Kind::Float)?
                .f_mean(Kind::Float)?
                .f_neg()
        };
        let hidden = logits.f_masked_fill(&self.illegal, HIDDEN)?;
        let policy = cross_entropy(&hidden, &self.policy)?;
        let value = cross_entropy(&values.f_narrow(1, 0, 3)?, &self.chances)?;
        let margin =
            values
                .f_select(1, 3)?
                .f_huber_loss(&self.margin, tch::Reduction::Mean, 1.0)?;
        Ok([policy, value, margin])
    }
}
