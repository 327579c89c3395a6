//! The replay ring: the positions that training draws from.

use super::state::{State, StateError};
use crate::position::{Position, Setup, SetupError};
use crate::rng::{self, Xoshiro128PlusPlus};
use crate::ruleset::Ruleset;
use crate::side::Side;

/// A position of self-play with its targets, from the view of its side to move.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The view of the side to move, `i16[2C+3]`, as [`Position::observation`] gives it.
    pub observation: Vec<i16>,
    /// The improved policy of the search, `f32[C]`, zero on illegal columns, and zero everywhere
    /// after a quick search; empty with learner `value`.
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
    /// Numbers of a row's policy, `C` or 0.
    columns: usize,
    capacity: usize,
    observations: Vec<i16>,
    policies: Vec<f32>,
    values: Vec<[f32; 4]>,
    /// The row that is written next.
    next: usize,
}

impl Replay {
    /// Makes an empty ring for positions of one rule set, with a policy of `columns` numbers;
    /// memory is taken as it fills.
    pub const fn new(ruleset: Ruleset, columns: usize, capacity: usize) -> Replay {
        Replay {
            ruleset,
            columns,
            capacity,
            observations: Vec::new(),
            policies: Vec::new(),
            values: Vec::new(),
            next: 0,
        }
    }

    /// Returns the rules of the positions.
    pub const fn ruleset(&self) -> &Ruleset {
        &self.ruleset
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
        let columns = self.columns;
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
            let (row, width) = (self.next, self.width());
            self.observations[row * width..(row + 1) * width].copy_from_slice(&sample.observation);
            self.policies[row * columns..(row + 1) * columns].copy_from_slice(&sample.policy);
            self.values[row] = value;
        }
        self.next = (self.next + 1) % self.capacity;
    }

    /// Returns the numbers of an observation.
    const fn width(&self) -> usize {
        2 * self.ruleset.columns() + 3
    }

    /// Puts the ring into a run's state.
    pub fn put<'a>(&'a self, state: &mut State<'a>) {
        state.put("replay/observations", &[self.width()], &self.observations);
        if self.columns > 0 {
            state.put("replay/policies", &[self.columns], &self.policies);
        }
        let values: &[f32] = bytemuck::cast_slice(&self.values);
        state.put("replay/values", &[4], values);
        state.put_owned("replay/next", &[], &[self.next as u64]);
    }

    /// Takes a ring out of a run's state; of one that has another capacity, the newest positions.
    ///
    /// # Errors
    /// [`StateError`] when an array is missing or of another shape.
    pub fn take(
        state: &mut State<'_>,
        ruleset: Ruleset,
        columns: usize,
        capacity: usize,
    ) -> Result<Replay, StateError> {
        let width = 2 * ruleset.columns() + 3;
        let observations = state.take("replay/observations", &[width])?;
        let rows = observations.len() / width;
        let policies = match columns {
            0 => Vec::new(),
            _ => state.take_rows("replay/policies", rows, &[columns])?,
        };
        let values: Vec<f32> = state.take_rows("replay/values", rows, &[4])?;
        let next = state.take_rows::<u64>("replay/next", 1, &[])?;
        let next = next.first().map_or(0, |&next| next as usize);
        if next > rows {
            return Err(StateError::Row {
                name: "replay/next".to_owned(),
                row: 0,
                message: format!("is {next}, expected 0 to {rows}"),
            });
        }
        let ring = Replay {
            ruleset,
            columns,
            capacity,
            observations,
            policies,
            values: bytemuck::pod_collect_to_vec(&values),
            next,
        };
        let full = rows == capacity && next < rows;
        let filling = rows < capacity && next == rows;
        Ok(if full || filling {
            ring
        } else {
            ring.of_capacity(capacity)
        })
    }

    /// Copies the newest positions into a ring of another capacity.
    fn of_capacity(&self, capacity: usize) -> Replay {
        let mut other = Replay::new(self.ruleset, self.columns, capacity);
        let rows = self.len();
        for age in rows.saturating_sub(capacity)..rows {
            if let Some(sample) = self.sample((self.next + age) % rows) {
                other.push(&sample);
            }
        }
        other
    }

    /// Returns the position of a row and its targets, or `None` past the last row.
    ///
    /// The side to move is South in every position: nobody's view depends on it (B4).
    pub fn get(&self, row: usize) -> Option<(Position, Sample)> {
        let sample = self.sample(row)?;
        let position = position_of(&sample.observation, &self.ruleset).ok()?;
        Some((position, sample))
    }

    /// Returns the pits of a row, `i16[2C]` from the view of the side to move, and the target of
    /// its future margin in seeds, or `None` past the last row.
    pub fn margin(&self, row: usize) -> Option<(&[i16], f32)> {
        let first = row * self.width();
        let pits = self.observations.get(first..first + self.ruleset.pits())?;
        let [.., margin] = *self.values.get(row)?;
        Some((pits, margin))
    }

    fn sample(&self, row: usize) -> Option<Sample> {
        let (columns, width) = (self.columns, self.width());
        let observation = self.observations.get(row * width..(row + 1) * width)?;
        let policy = self.policies.get(row * columns..(row + 1) * columns)?;
        let [win, draw, loss, margin] = *self.values.get(row)?;
        Some(Sample {
            observation: observation.to_vec(),
            policy: policy.to_vec(),
            chances: [win, draw, loss],
            margin,
        })
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
    position_seen_by(Side::South, observation, ruleset)
}

/// Sets up the position that an observation shows, `mover` to move.
///
/// # Errors
/// [`SetupError`] when the observation is none of this rule set.
pub fn position_seen_by(
    mover: Side,
    observation: &[i16],
    ruleset: &Ruleset,
) -> Result<Position, SetupError> {
    let columns = ruleset.columns();
    let wide = |numbers: &[i16]| numbers.iter().map(|&number| number.into()).collect();
    let at = |index: usize| observation.get(index).copied().unwrap_or(0).into();
    let mut rows = [
        wide(observation.get(..columns).unwrap_or(&[])),
        wide(observation.get(columns..2 * columns).unwrap_or(&[])),
    ];
    let mut captured = [at(2 * columns), at(2 * columns + 1)];
    if mover == Side::North {
        rows.swap(0, 1);
        captured.swap(0, 1);
    }
    let [south, north] = rows;
    Setup {
        south,
        north,
        to_move: mover,
        captured,
        quiet: at(2 * columns + 2),
    }
    .position(ruleset)
}
