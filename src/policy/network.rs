//! The network's forward pass without torch, and the evaluator over it.
//!
//! The network looks at the ring of `N = 2C` pits as a circle whose two rows lie opposite to each
//! other. Every layer is a gather and a matrix product, the same for every board size. Here the
//! product comes first, one for all six places that a pit can have in a gather, and the results are
//! gathered and added up: that copies less.
//!
//!
//! - *gather*: pit `i` joins what is kept at `i-1`, `i`, `i+1` and at the pits opposite to them
//!   (`N-1-(i-1)`, `N-1-i`, `N-1-(i+1)`), in the order `i-1`, its opposite, `i`, its opposite,
//!   `i+1`, its opposite: `f32[N, 6W]`;
//! - *stem*: `x = relu(gather(features) A + globals G + b)`, `f32[N, W]`;
//! - *block*: `h = relu(gather(x) A + pool(x) P + b)`, then `x = x + h O + o`;
//! - *pool*: mean and maximum of the mover's row, mean and maximum of the other row, `f32[4W]`;
//! - *policy head*, for the mover's pits: `relu(x P + pool(x) Q + b) o + features f`, `f32[C]`;
//! - *value head*: `relu(pool(x) P + globals G + b) O + o`, `f32[4]`: win, draw and loss before
//!   the softmax, and the margin in units of `2 sqrt(seeds on the board)`.
//!
//! The margin's unit keeps its spread near one from the first move to the last and on every size,
//! and leaves out what is already captured: one network serves every lead.

use std::sync::Arc;

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2, s};

use super::features::{FEATURES, FeatureWriter, GLOBALS, write_globals};
use super::weights::{NetworkShape, NetworkSizes, POOLS, TAPS, VALUES, Weights, WeightsError};
use crate::position::Position;
use crate::search::{Evaluations, Evaluator, EvaluatorError};

/// Pits that are taken through the network together: enough for the matrix products, few enough
/// that everything kept of them stays in the cache.
const PITS_AT_ONCE: usize = 384;

/// A network ready to be evaluated; it is never changed and may be shared.
#[derive(Clone, Debug)]
pub struct Network {
    weights: Weights,
    sizes: NetworkSizes,
    stem: Layer,
    blocks: Vec<Block>,
    policy: PolicyHead,
    value: ValueHead,
}

/// A layer: what it takes from the pits, from the whole board, and its bias.
#[derive(Clone, Debug)]
struct Layer {
    /// `[W, U]`, or `[W, TAPS * U]` where it gathers: side by side what a pit is multiplied by in
    /// each of the places it can have.
    pits: Array2<f32>,
    board: Array2<f32>,
    bias: Vec<f32>,
}

#[derive(Clone, Debug)]
struct Block {
    layer: Layer,
    out: Array2<f32>,
    out_bias: Vec<f32>,
}

#[derive(Clone, Debug)]
struct PolicyHead {
    layer: Layer,
    out: Vec<f32>,
    features: Vec<f32>,
}

#[derive(Clone, Debug)]
struct ValueHead {
    pool: Array2<f32>,
    globals: Array2<f32>,
    bias: Vec<f32>,
    out: Array2<f32>,
    out_bias: Vec<f32>,
}

/// Takes tensors in the order of the layout.
struct Tensors<'a>(std::slice::Iter<'a, super::weights::NamedTensor>);

impl Tensors<'_> {
    fn vector(&mut self) -> Vec<f32> {
        self.0.next().map_or_else(Vec::new, |t| t.data.clone())
    }

    fn matrix(&mut self) -> Result<Array2<f32>, WeightsError> {
        let Some(tensor) = self.0.next() else {
            return Err(WeightsError::Missing {
                name: "at the end".to_owned(),
            });
        };
        let shape = &tensor.shape;
        let (rows, columns) = (shape[0], shape.get(1).copied().unwrap_or(1));
        Array2::from_shape_vec((rows, columns), tensor.data.clone()).map_err(|_| {
            WeightsError::Shape {
                name: tensor.name.clone(),
                got: vec![tensor.data.len()],
                expected: shape.clone(),
            }
        })
    }

    fn layer(&mut self) -> Result<Layer, WeightsError> {
        Ok(Layer {
            pits: self.matrix()?,
            board: self.matrix()?,
            bias: self.vector(),
        })
    }

    fn gathered_layer(&mut self) -> Result<Layer, WeightsError> {
        let layer = self.layer()?;
        let (width, units) = (layer.pits.nrows() / TAPS, layer.pits.ncols());
        let pits = Array2::from_shape_fn((width, TAPS * units), |(row, column)| {
            layer.pits[(column / units * width + row, column % units)]
        });
        Ok(Layer { pits, ..layer })
    }
}

impl Network {
    /// Arranges weights for the forward pass.
    ///
    /// # Errors
    /// [`WeightsError::Kind`] for the weights of another network.
    pub fn new(weights: Weights) -> Result<Network, WeightsError> {
        let NetworkShape::Gumbel(sizes) = *weights.shape() else {
            return Err(WeightsError::Kind { expected: "gumbel" });
        };
        let mut tensors = Tensors(weights.tensors().iter());
        let stem = tensors.gathered_layer()?;
        let mut blocks = Vec::with_capacity(sizes.blocks);
        for _ in 0..sizes.blocks {
            blocks.push(Block {
                layer: tensors.gathered_layer()?,
                out: tensors.matrix()?,
                out_bias: tensors.vector(),
            });
        }
        let policy = PolicyHead {
            layer: tensors.layer()?,
            out: tensors.vector(),
            features: tensors.vector(),
        };
        let value = ValueHead {
            pool: tensors.matrix()?,
            globals: tensors.matrix()?,
            bias: tensors.vector(),
            out: tensors.matrix()?,
            out_bias: tensors.vector(),
        };
        Ok(Network {
            weights,
            sizes,
            stem,
            blocks,
            policy,
            value,
        })
    }

    /// Returns the weights.
    pub const fn weights(&self) -> &Weights {
        &self.weights
    }
}

/// Buffers of the forward pass of up to `boards` boards of `pits` pits.
#[derive(Debug)]
struct Scratch {
    pits: usize,
    features: Array2<f32>,
    globals: Array2<f32>,
    /// Products of every pit for each of its places in a gather, `[rows, TAPS * W]`.
    products: Array2<f32>,
    x: Array2<f32>,
    h: Array2<f32>,
    policy: Array2<f32>,
    pool: Array2<f32>,
    board: Array2<f32>,
    value: Array2<f32>,
    value_globals: Array2<f32>,
    out: Array2<f32>,
}

impl Scratch {
    fn new(sizes: &NetworkSizes, pits: usize) -> Scratch {
        let boards = (PITS_AT_ONCE / pits).max(1);
        let rows = boards * pits;
        let width = sizes.channels;
        Scratch {
            pits,
            features: Array2::zeros((rows, FEATURES)),
            globals: Array2::zeros((boards, GLOBALS)),
            products: Array2::zeros((rows, TAPS * width)),
            x: Array2::zeros((rows, width)),
            h: Array2::zeros((rows, width)),
            policy: Array2::zeros((rows, sizes.policy_units)),
            pool: Array2::zeros((boards, POOLS * width)),
            board: Array2::zeros((boards, width.max(sizes.policy_units))),
            value: Array2::zeros((boards, sizes.value_units)),
            value_globals: Array2::zeros((boards, sizes.value_units)),
            out: Array2::zeros((boards, VALUES)),
        }
    }

    fn boards(&self) -> usize {
        self.globals.nrows()
    }

    /// Writes the features of positions, no more than the buffers hold.
    fn fill(&mut self, writer: &mut FeatureWriter, positions: &[Position]) {
        let pits = self.pits;
        for (board, position) in positions.iter().enumerate() {
            let rows = s![board * pits..(board + 1) * pits, ..];
            if let Some(rows) = self.features.slice_mut(rows).as_slice_mut() {
                writer.write(position, rows);
            }
            if let Some(row) = self.globals.row_mut(board).as_slice_mut() {
                write_globals(position, row);
            }
        }
    }
}

/// Evaluates positions with a [`Network`] on the calling thread.
///
/// The result for a position does not depend on the others in the call, to the last bit.
#[derive(Debug)]
pub struct NetworkEvaluator {
    network: Arc<Network>,
    writer: FeatureWriter,
    scratch: Option<Scratch>,
}

impl NetworkEvaluator {
    /// Makes an evaluator with buffers of its own over a shared network.
    pub fn new(network: Arc<Network>) -> NetworkEvaluator {
        NetworkEvaluator {
            network,
            writer: FeatureWriter::default(),
            scratch: None,
        }
    }
}

impl Evaluator for NetworkEvaluator {
    fn evaluate(
        &mut self,
        positions: &[Position],
        out: &mut Evaluations,
    ) -> Result<(), EvaluatorError> {
        let Some(columns) = check_columns(positions)? else {
            out.clear(0, 0);
            return Ok(());
        };
        out.clear(positions.len(), columns);
        let scratch = match &mut self.scratch {
            Some(scratch) if scratch.pits == 2 * columns => scratch,
            other => other.insert(Scratch::new(&self.network.sizes, 2 * columns)),
        };
        let mut first = 0;
        for some in positions.chunks(scratch.boards()) {
            scratch.fill(&mut self.writer, some);
            self.network.forward(scratch, some.len());
            self.network.finish(scratch, some, first, out);
            first += some.len();
        }
        Ok(())
    }
}

/// Returns the columns that all positions share, `None` without any position.
///
/// # Errors
/// [`EvaluatorError`] names the first position of another size.
pub(crate) fn check_columns(positions: &[Position]) -> Result<Option<usize>, EvaluatorError> {
    let Some(first) = positions.first() else {
        return Ok(None);
    };
    let columns = first.ruleset().columns();
    match positions
        .iter()
        .position(|position| position.ruleset().columns() != columns)
    {
        Some(row) => Err(EvaluatorError {
            message: format!(
                "position {row} has {} columns, the first one {columns}",
                positions[row].ruleset().columns()
            ),
        }),
        None => Ok(Some(columns)),
    }
}

impl Network {
    /// Takes the first `boards` boards of the buffers through the network; `scratch.x`, `pool`,
    /// `policy` and `out` hold the results.
    fn forward(&self, scratch: &mut Scratch, boards: usize) {
        let (pits, rows) = (scratch.pits, boards * scratch.pits);
        let width = self.sizes.channels;
        let units = self.sizes.policy_units;
        let globals = scratch.globals.slice(s![..boards, ..]);
        let features = scratch.features.slice(s![..rows, ..]);
        let mut products = scratch.products.slice_mut(s![..rows, ..]);
        let mut board = scratch.board.slice_mut(s![..boards, ..width]);
        let mut x = scratch.x.slice_mut(s![..rows, ..]);
        self.stem
            .gather(&features, &globals, &mut products, &mut board, &mut x, pits);
        for block in &self.blocks {
            let mut pool = scratch.pool.slice_mut(s![..boards, ..]);
            pool_rows(&x.view(), pits, &mut pool);
            let mut h = scratch.h.slice_mut(s![..rows, ..]);
            let (x_now, pool) = (x.view(), pool.view());
            block
                .layer
                .gather(&x_now, &pool, &mut products, &mut board, &mut h, pits);
            general_mat_mul(1.0, &h, &block.out, 1.0, &mut x);
            add_to_rows(&mut x, &block.out_bias);
        }
        let mut pool = scratch.pool.slice_mut(s![..boards, ..]);
        pool_rows(&x.view(), pits, &mut pool);
        let mut board = scratch.board.slice_mut(s![..boards, ..units]);
        let mut hidden = scratch.policy.slice_mut(s![..rows, ..]);
        let layer = &self.policy.layer;
        layer.apply(&x.view(), &pool.view(), &mut board, &mut hidden, pits);
        self.value.apply(
            &pool.view(),
            &globals,
            &mut scratch.value.slice_mut(s![..boards, ..]),
            &mut scratch.value_globals.slice_mut(s![..boards, ..]),
            &mut scratch.out.slice_mut(s![..boards, ..]),
        );
    }

    /// Turns the network's results into evaluations of `positions`, the first of which is row
    /// `first` of `out`.
    fn finish(
        &self,
        scratch: &Scratch,
        positions: &[Position],
        first: usize,
        out: &mut Evaluations,
    ) {
        let columns = scratch.pits / 2;
        for (board, position) in positions.iter().enumerate() {
            let row = first + board;
            let logits = &mut out.logits[row * columns..(row + 1) * columns];
            for (column, logit) in logits.iter_mut().enumerate() {
                let pit = board * scratch.pits + column;
                *logit = dot(scratch.policy.row(pit).as_slice(), &self.policy.out)
                    + dot(scratch.features.row(pit).as_slice(), &self.policy.features);
            }
            let value = scratch.out.row(board);
            store_value(position, [value[0], value[1], value[2], value[3]], row, out);
        }
    }
}

/// Turns the value head's numbers into row `row` of `out`.
pub(crate) fn store_value(
    position: &Position,
    value: [f32; VALUES],
    row: usize,
    out: &mut Evaluations,
) {
    let [win, draw, loss, margin] = value;
    let largest = win.max(draw).max(loss);
    let [win, draw, loss] = [win, draw, loss].map(|logit| (logit - largest).exp());
    let sum = win + draw + loss;
    out.win[row] = win / sum;
    out.loss[row] = loss / sum;
    let left = position.board().seeds_on_board() as f32;
    out.margin[row] = (margin * margin_unit(left)).clamp(-left, left);
}

/// Returns the seeds that one unit of the margin stands for with `left` seeds on the board.
pub fn margin_unit(left: f32) -> f32 {
    2.0 * left.max(1.0).sqrt()
}

impl Layer {
    /// Writes `board B + b`, what all pits of a board have in common.
    fn take_board(&self, board: &ArrayView2<'_, f32>, out: &mut ArrayViewMut2<'_, f32>) {
        general_mat_mul(1.0, board, &self.board, 0.0, out);
        add_to_rows(out, &self.bias);
    }

    /// Writes `relu(gather(pits) A + board B + b)` into `out`; `products` holds those of the pits,
    /// `scratch` holds `board B + b`.
    fn gather(
        &self,
        pits: &ArrayView2<'_, f32>,
        board: &ArrayView2<'_, f32>,
        products: &mut ArrayViewMut2<'_, f32>,
        scratch: &mut ArrayViewMut2<'_, f32>,
        out: &mut ArrayViewMut2<'_, f32>,
        pits_of_board: usize,
    ) {
        self.take_board(board, scratch);
        general_mat_mul(1.0, pits, &self.pits, 0.0, products);
        let units = self.bias.len();
        let (Some(products), Some(out)) = (products.as_slice(), out.as_slice_mut()) else {
            return;
        };
        let boards = products.chunks_exact(pits_of_board * TAPS * units);
        let outs = out.chunks_exact_mut(pits_of_board * units);
        for ((products, out), of_board) in boards.zip(outs).zip(scratch.rows()) {
            add_gathered(products, of_board.as_slice().unwrap_or(&[]), out);
        }
    }

    /// Writes `relu(pits A + board B + b)` into `out`; `scratch` holds `board B + b`.
    fn apply(
        &self,
        pits: &ArrayView2<'_, f32>,
        board: &ArrayView2<'_, f32>,
        scratch: &mut ArrayViewMut2<'_, f32>,
        out: &mut ArrayViewMut2<'_, f32>,
        pits_of_board: usize,
    ) {
        self.take_board(board, scratch);
        general_mat_mul(1.0, pits, &self.pits, 0.0, out);
        for (row, mut numbers) in out.rows_mut().into_iter().enumerate() {
            add_rectified(&mut numbers, &scratch.row(row / pits_of_board));
        }
    }
}

impl ValueHead {
    fn apply(
        &self,
        pool: &ArrayView2<'_, f32>,
        globals: &ArrayView2<'_, f32>,
        hidden: &mut ArrayViewMut2<'_, f32>,
        scratch: &mut ArrayViewMut2<'_, f32>,
        out: &mut ArrayViewMut2<'_, f32>,
    ) {
        general_mat_mul(1.0, pool, &self.pool, 0.0, hidden);
        general_mat_mul(1.0, globals, &self.globals, 0.0, scratch);
        add_to_rows(scratch, &self.bias);
        for (mut numbers, of_board) in hidden.rows_mut().into_iter().zip(scratch.rows()) {
            add_rectified(&mut numbers, &of_board);
        }
        general_mat_mul(1.0, &*hidden, &self.out, 0.0, out);
        add_to_rows(out, &self.out_bias);
    }
}

fn dot(a: Option<&[f32]>, b: &[f32]) -> f32 {
    a.map_or(0.0, |a| a.iter().zip(b).map(|(a, b)| a * b).sum())
}

fn add_to_rows(x: &mut ArrayViewMut2<'_, f32>, bias: &[f32]) {
    for mut numbers in x.rows_mut() {
        for (number, &bias) in numbers.iter_mut().zip(bias) {
            *number += bias;
        }
    }
}

/// Adds what a board has in common to numbers, and replaces what is negative then by zero.
fn add_rectified(numbers: &mut ArrayViewMut1<'_, f32>, of_board: &ArrayView1<'_, f32>) {
    for (number, &more) in numbers.iter_mut().zip(of_board) {
        *number = (*number + more).max(0.0);
    }
}

/// Adds up, for every pit of a board, the products of its neighbours and of the pits opposite to
/// them, each for the place that it has there.
fn add_gathered(products: &[f32], of_board: &[f32], out: &mut [f32]) {
    let units = of_board.len();
    let pits = out.len() / units;
    for (pit, out) in out.chunks_exact_mut(units).enumerate() {
        let neighbours = [(pit + pits - 1) % pits, pit, (pit + 1) % pits];
        let taps: [&[f32]; TAPS] = std::array::from_fn(|tap| {
            let neighbour = neighbours[tap / 2];
            let from = if tap % 2 == 0 {
                neighbour
            } else {
                pits - 1 - neighbour
            };
            &products[(from * TAPS + tap) * units..][..units]
        });
        for (unit, (number, &more)) in out.iter_mut().zip(of_board).enumerate() {
            let sum: f32 = taps.iter().map(|of_tap| of_tap[unit]).sum();
            *number = (sum + more).max(0.0);
        }
    }
}

/// Pools the mean and maximum of each row of the board.
fn pool_rows(x: &ArrayView2<'_, f32>, pits: usize, pool: &mut ArrayViewMut2<'_, f32>) {
    let width = x.ncols();
    let columns = pits / 2;
    let share = 1.0 / columns as f32;
    let Some(x) = x.to_slice() else { return };
    for (row, half) in x.chunks_exact(columns * width).enumerate() {
        let first = (row % 2) * 2 * width;
        let mut pool = pool.slice_mut(s![row / 2, first..first + 2 * width]);
        let Some((means, maxima)) = pool
            .as_slice_mut()
            .map(|numbers| numbers.split_at_mut(width))
        else {
            return;
        };
        means.fill(0.0);
        maxima.fill(f32::NEG_INFINITY);
        for pit in half.chunks_exact(width) {
            for ((mean, most), &number) in means.iter_mut().zip(maxima.iter_mut()).zip(pit) {
                *mean += number;
                *most = most.max(number);
            }
        }
        for mean in means {
            *mean *= share;
        }
    }
}
