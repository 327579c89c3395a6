//! Davidson's model with a first-move term, and its most likely parameters.

use super::dense::{Factor, Symmetric};
use super::{PairOutcome, RatingError};

/// The most steps of a fit; a dozen are usual.
const MAX_STEPS: u32 = 200;

/// A step this small changes no digit that anybody reads.
const SMALL_STEP: f64 = 1e-10;

/// How the two games of pairs between `a` and `b` came out, how often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    /// The two players, the lower index first.
    pub(super) players: [usize; 2],
    /// The results of the first player, as South and as North.
    pub(super) results: [i8; 2],
    /// Pairs that came out so.
    pub(super) count: u32,
}

/// Counts pairs by what happened in them, whoever is named first.
///
/// The cells are sorted, so that a fit does not depend on the order of the pairs.
pub(super) fn count(pairs: &[PairOutcome]) -> Vec<Cell> {
    let mut sorted: Vec<PairOutcome> = pairs.iter().map(PairOutcome::lower_first).collect();
    sorted.sort_unstable_by_key(|pair| (pair.players, pair.results));
    let same = sorted.chunk_by(|one, other| one == other);
    same.map(|pairs| Cell {
        players: pairs[0].players.map(|player| player as usize),
        results: pairs[0].results,
        count: pairs.len() as u32,
    })
    .collect()
}

/// Chances of one game, seen from South, whose advantage `ahead` is a difference of strengths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chances {
    pub(super) win: f64,
    pub(super) draw: f64,
    pub(super) loss: f64,
}

impl Chances {
    /// Wins, draws and losses are as `exp(ahead / 2)`, `exp(draw)` and `exp(-ahead / 2)`.
    pub(super) fn of(ahead: f64, draw: f64) -> Chances {
        let most = (ahead.abs() / 2.0).max(draw);
        let [win, even, loss] = [ahead / 2.0, draw, -ahead / 2.0].map(|part| (part - most).exp());
        let sum = win + even + loss;
        Chances {
            win: win / sum,
            draw: even / sum,
            loss: loss / sum,
        }
    }

    /// Returns the expected score, a draw counted half.
    pub(super) fn score(self) -> f64 {
        self.win + self.draw / 2.0
    }

    /// Returns the gradient of the expected score in (ahead, draw).
    pub(super) fn score_slope(self) -> (f64, f64) {
        let [ahead, mixed, _] = self.bend();
        (ahead, mixed)
    }

    fn of_result(self, result: i8) -> f64 {
        match result {
            1 => self.win,
            0 => self.draw,
            _ => self.loss,
        }
    }

    /// Returns the gradient of the log-likelihood of a result in (ahead, draw).
    fn slope(self, result: i8) -> (f64, f64) {
        let ahead = (f64::from(result) - (self.win - self.loss)) / 2.0;
        let draw = f64::from(u8::from(result == 0)) - self.draw;
        (ahead, draw)
    }

    /// Returns what the log-likelihood of a game bends by in (ahead, ahead), (ahead, draw) and
    /// (draw, draw).
    fn bend(self) -> [f64; 3] {
        let tilt = self.win - self.loss;
        [
            (self.win + self.loss - tilt * tilt) / 4.0,
            -self.draw * tilt / 2.0,
            self.draw * (1.0 - self.draw),
        ]
    }
}

/// The strengths of `n` players, then the first-move term, then the draw parameter, as logarithms.
pub(super) struct Model<'a> {
    pub(super) players: usize,
    pub(super) cells: &'a [Cell],
    /// Players whose games do not bound their rating.
    pub(super) flagged: &'a [bool],
    /// The games that the prior is worth.
    pub(super) prior: f64,
}

/// The most likely parameters and what is needed for their errors.
pub(super) struct Fit {
    pub(super) parameters: Vec<f64>,
    /// The covariance of the parameters, with the pair as the unit.
    pub(super) covariance: Symmetric,
}

impl Model<'_> {
    fn first_move(&self) -> usize {
        self.players
    }

    fn draw(&self) -> usize {
        self.players + 1
    }

    fn size(&self) -> usize {
        self.players + 2
    }

    /// Returns the chances of a cell's two games: the first player is South in the first of them
    /// and North in the second.
    fn chances(&self, cell: &Cell, parameters: &[f64]) -> [Chances; 2] {
        let [first, second] = cell.players;
        let (ahead, bonus) = (
            parameters[first] - parameters[second],
            parameters[self.first_move()],
        );
        [ahead, -ahead].map(|ahead| Chances::of(ahead + bonus, parameters[self.draw()]))
    }

    /// Returns the log-likelihood with the prior.
    fn likelihood(&self, parameters: &[f64]) -> f64 {
        let pairs = self.cells.iter().map(|cell| {
            let [south, north] = self.chances(cell, parameters);
            let both =
                south.of_result(cell.results[0]).ln() + north.of_result(-cell.results[1]).ln();
            f64::from(cell.count) * both
        });
        let (draw, even) = (parameters[self.draw()], &parameters[..self.draw()]);
        let chances = Chances::of(0.0, draw);
        let prior = f64::midpoint(chances.draw.ln(), (1.0 - chances.draw).ln())
            - even.iter().map(|x| ln_cosh(x / 2.0)).sum::<f64>();
        pairs.sum::<f64>() + self.prior * prior
    }

    /// Returns the gradient of one pair in the parameters that it depends on.
    fn pair_slope(&self, cell: &Cell, parameters: &[f64]) -> [(usize, f64); 4] {
        let [south, north] = self.chances(cell, parameters);
        let (south, south_draw) = south.slope(cell.results[0]);
        let (north, north_draw) = north.slope(-cell.results[1]);
        let [first, second] = cell.players;
        [
            (first, south - north),
            (second, north - south),
            (self.first_move(), south + north),
            (self.draw(), south_draw + north_draw),
        ]
    }

    fn gradient(&self, parameters: &[f64]) -> Vec<f64> {
        let mut gradient = vec![0.0; self.size()];
        for cell in self.cells {
            for (index, slope) in self.pair_slope(cell, parameters) {
                gradient[index] += f64::from(cell.count) * slope;
            }
        }
        for index in 0..self.draw() {
            gradient[index] -= self.prior * (parameters[index] / 2.0).tanh() / 2.0;
        }
        let even = Chances::of(0.0, parameters[self.draw()]);
        gradient[self.draw()] += self.prior * (0.5 - even.draw);
        gradient
    }

    /// Adds what the log-likelihood of a cell bends by to a matrix of second derivatives.
    fn add_bend(&self, matrix: &mut Symmetric, cell: &Cell, parameters: &[f64]) {
        let ([first, second], count) = (cell.players, f64::from(cell.count));
        let both = self.chances(cell, parameters);
        for (chances, sign) in both.into_iter().zip([1.0, -1.0]) {
            let [ahead, mixed, draw] = chances.bend().map(|bend| count * bend);
            let direction = [(first, sign), (second, -sign), (self.first_move(), 1.0)];
            matrix.add_square(ahead, &direction);
            for (index, sign) in direction {
                matrix.add(index, self.draw(), mixed * sign);
            }
            matrix.add(self.draw(), self.draw(), draw);
        }
    }

    /// Returns the negative second derivatives of the log-likelihood with the prior.
    fn curvature(&self, parameters: &[f64]) -> Symmetric {
        let mut curvature = Symmetric::zeros(self.size());
        for cell in self.cells {
            self.add_bend(&mut curvature, cell, parameters);
        }
        for (index, parameter) in parameters[..self.draw()].iter().enumerate() {
            let tilt = (parameter / 2.0).tanh();
            curvature.add(index, index, self.prior * (1.0 - tilt * tilt) / 4.0);
        }
        let [.., draw] = Chances::of(0.0, parameters[self.draw()]).bend();
        curvature.add(self.draw(), self.draw(), self.prior * draw);
        curvature
    }

    /// Returns the sum of the squared gradients of the pairs and of the prior's games.
    ///
    /// Where the games leave a player's rating to the prior their gradients hardly differ, which
    /// says nothing: the pairs of a flagged player and its prior count by what they bend instead.
    fn scatter(&self, parameters: &[f64]) -> Symmetric {
        let mut scatter = Symmetric::zeros(self.size());
        for cell in self.cells {
            if cell.players.iter().any(|&player| self.flagged[player]) {
                self.add_bend(&mut scatter, cell, parameters);
            } else {
                scatter.add_square(cell.count.into(), &self.pair_slope(cell, parameters));
            }
        }
        for (index, parameter) in parameters[..self.draw()].iter().enumerate() {
            let tilt = (parameter / 2.0).tanh();
            let sign = if self.flagged.get(index) == Some(&true) {
                -1.0
            } else {
                1.0
            };
            scatter.add(index, index, self.prior * (1.0 + sign * tilt * tilt) / 4.0);
        }
        let even = Chances::of(0.0, parameters[self.draw()]);
        let squares = even.draw.powi(2) + (1.0 - even.draw).powi(2);
        scatter.add(self.draw(), self.draw(), self.prior * squares / 2.0);
        scatter
    }

    /// Finds the most likely parameters by Newton's method, each step halved until it gains.
    ///
    /// The function is concave, strictly with the prior: there is one maximum.
    pub(super) fn fit(&self) -> Result<Fit, RatingError> {
        let mut parameters = vec![0.0; self.size()];
        let mut now = self.likelihood(&parameters);
        let mut largest = f64::INFINITY;
        for _ in 0..MAX_STEPS {
            let Some(factor) = self.curvature(&parameters).factor() else {
                break;
            };
            let mut step = factor.solve(&self.gradient(&parameters));
            largest = step
                .iter()
                .fold(0.0, |most: f64, part| most.max(part.abs()));
            if largest < SMALL_STEP {
                return Ok(self.finish(parameters, &factor));
            }
            loop {
                let next: Vec<f64> = parameters.iter().zip(&step).map(|(x, d)| x + d).collect();
                let then = self.likelihood(&next);
                // Rounding hides the gain of the last steps.
                if then > now || largest < 1e-4 {
                    (parameters, now) = (next, then);
                    break;
                }
                largest /= 2.0;
                for part in &mut step {
                    *part /= 2.0;
                }
            }
        }
        Err(RatingError::NotConverged {
            steps: MAX_STEPS,
            largest,
        })
    }

    fn finish(&self, parameters: Vec<f64>, factor: &Factor) -> Fit {
        let covariance = factor.sandwich(&self.scatter(&parameters));
        Fit {
            parameters,
            covariance,
        }
    }
}

/// Returns the logarithm of cosh without overflow.
fn ln_cosh(x: f64) -> f64 {
    x.abs() + (-2.0 * x.abs()).exp().ln_1p() - std::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]

    use super::*;

    fn cells() -> Vec<Cell> {
        let cell = |players, results, count| Cell {
            players,
            results,
            count,
        };
        vec![
            cell([0, 1], [1, -1], 4),
            cell([0, 1], [1, 0], 3),
            cell([0, 2], [1, 1], 5),
            cell([1, 2], [0, -1], 2),
            cell([1, 2], [-1, 1], 1),
        ]
    }

    /// Slopes by small differences, and no slope at the maximum.
    #[test]
    fn the_gradient_and_the_curvature_are_those_of_the_likelihood() {
        let cells = cells();
        let model = Model {
            players: 3,
            cells: &cells,
            flagged: &[false; 3],
            prior: 0.7,
        };
        let at = [0.3, -0.2, 0.9, 0.25, -0.6];
        let slope = |index: usize, of: &dyn Fn(&[f64]) -> f64| {
            let moved = |by: f64| {
                let mut moved = at;
                moved[index] += by;
                of(&moved)
            };
            (moved(1e-5) - moved(-1e-5)) / 2e-5
        };
        let (gradient, curvature) = (model.gradient(&at), model.curvature(&at));
        for (row, found) in gradient.into_iter().enumerate() {
            let expected = slope(row, &|x| model.likelihood(x));
            assert!((found - expected).abs() < 1e-7);
            for column in 0..5 {
                let expected = -slope(row, &|x| model.gradient(x)[column]);
                let units = [row, column].map(|index| {
                    let mut unit = [0.0; 5];
                    unit[index] = 1.0;
                    unit
                });
                let found = curvature.form(&units[0], &units[1]);
                assert!((found - expected).abs() < 1e-7, "{row} {column}");
            }
        }
        let Ok(fit) = model.fit() else {
            panic!("converges");
        };
        let rest = model.gradient(&fit.parameters);
        assert!(rest.iter().all(|slope| slope.abs() < 1e-10), "{rest:?}");
    }
}
