//! The replay ring: the positions that training draws from.

use crate::position::{Position, Setup, SetupError};
use crate::rng::{self, Xoshiro128PlusPlus};
use crate::ruleset::Ruleset;
use crate::side::Side;

/// A position of self-play with its targets, from the view of its side to move.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The view of the side to move, `i16[2C+3]`, as [`Position::observation`] gives it.
    pub observation: Vec<i16>,
    /// The improved policy of the search, `f32[C]`, zero on illegal columns.
    pub policy: Vec<f32>,
    /// Target probabilities of win, draw and loss.
    pub chances: [f32; 3],
    /// Target of the future margin in seeds.
    pub margin: f32,
}

/// The newest positions of self-play, up to a capacity; the oldest are overwritten.
#[derive(Clone, Debug)]
pub struct Replay {
    ruleset: Ruleset,
    capacity: usize,
    observations: Vec<i16>,
    policies: Vec<f32>,
    values: Vec<[f32; 4]>,
    /// The row that is written next.
    next: usize,
}

impl Replay {
    /// Makes an empty ring for positions of one rule set; memory is taken as it fills.
    pub const fn new(ruleset: Ruleset, capacity: usize) -> Replay {
        Replay {
            ruleset,
            capacity,
            observations: Vec::new(),
            policies: Vec::new(),
            values: Vec::new(),
            next: 0,
        }
    }

    /// Returns the positions held.
    pub const fn len(&self) -> usize {
        self.values.len()
    }

    /// Tells whether no position is held.
    pub const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Adds a position, in place of the oldest one when the ring is full.
    pub fn push(&mut self, sample: &Sample) {
        let columns = self.ruleset.columns();
        let value = [
            sample.chances[0],
            sample.chances[1],
            sample.chances[2],
            sample.margin,
        ];
        if self.values.len() < self.capacity {
            self.observations.extend(&sample.observation);
            self.policies.extend(&sample.policy);
            self.values.push(value);
        } else {
            let (row, width) = (self.next, 2 * columns + 3);
            self.observations[row * width..(row + 1) * width].copy_from_slice(&sample.observation);
            self.policies[row * columns..(row + 1) * columns].copy_from_slice(&sample.policy);
            self.values[row] = value;
        }
        self.next = (self.next + 1) % self.capacity;
    }

    /// Returns the position of a row and its targets, or `None` past the last row.
    ///
    /// The side to move is South in every position: nobody's view depends on it (B4).
    pub fn get(&self, row: usize) -> Option<(Position, Sample)> {
        let columns = self.ruleset.columns();
        let width = 2 * columns + 3;
        let observation = self.observations.get(row * width..(row + 1) * width)?;
        let policy = self.policies.get(row * columns..(row + 1) * columns)?;
        let [win, draw, loss, margin] = *self.values.get(row)?;
        let position = position_of(observation, &self.ruleset).ok()?;
        let sample = Sample {
            observation: observation.to_vec(),
            policy: policy.to_vec(),
            chances: [win, draw, loss],
            margin,
        };
        Some((position, sample))
    }

    /// Draws `count` rows evenly, with repetition.
    pub fn draw(&self, count: usize, stream: &mut Xoshiro128PlusPlus) -> Vec<usize> {
        let wide = self.len() as f64;
        (0..count)
            .map(|_| {
                let low = f64::from(rng::below(stream, 1 << 16));
                let high = f64::from(rng::below(stream, 1 << 16));
                let share = (high + low / 65_536.0) / 65_536.0;
                (share * wide) as usize
            })
            .collect()
    }
}

/// Sets up the position that an observation shows, South to move.
///
/// # Errors
/// [`SetupError`] when the observation is none of this rule set.
pub fn position_of(observation: &[i16], ruleset: &Ruleset) -> Result<Position, SetupError> {
    let columns = ruleset.columns();
    let wide = |numbers: &[i16]| numbers.iter().map(|&number| number.into()).collect();
    let at = |index: usize| observation.get(index).copied().unwrap_or(0).into();
    Setup {
        south: wide(observation.get(..columns).unwrap_or(&[])),
        north: wide(observation.get(columns..2 * columns).unwrap_or(&[])),
        to_move: Side::South,
        captured: [at(2 * columns), at(2 * columns + 1)],
        quiet: at(2 * columns + 2),
    }
    .position(ruleset)
}
