//! An evaluator that asks another one only once about the same position.

use std::collections::HashMap;

use crate::position::Position;
use crate::search::evaluator::{Evaluations, Evaluator, EvaluatorError};

/// Positions kept, at most; then all are forgotten.
const MOST: usize = 1 << 18;

/// Remembers what an evaluator said: positions that come again, within a call or in a later one,
/// are evaluated once.
///
/// It belongs to the evaluator and so to one version of its weights. Positions are told apart by
/// what their side to move sees ([`Position::observation`]), which is all that an evaluation may
/// depend on (B4), and by the number of columns. The rules must stay the same.
///
/// ```
/// use endodoi::search::{CachedEvaluator, Evaluations, Evaluator, EvaluatorError};
/// use endodoi::{Position, Variant};
///
/// /// Counts the positions that it is asked about.
/// struct Counter(usize);
///
/// impl Evaluator for Counter {
///     fn evaluate(
///         &mut self,
///         positions: &[Position],
///         out: &mut Evaluations,
///     ) -> Result<(), EvaluatorError> {
///         self.0 += positions.len();
///         out.clear(positions.len(), 8);
///         Ok(())
///     }
/// }
///
/// let start = Position::start(&Variant::EnDodoi.ruleset());
/// let mut cached = CachedEvaluator::new(Counter(0));
/// cached.evaluate(&[start, start], &mut Evaluations::default())?;
/// cached.evaluate(&[start], &mut Evaluations::default())?;
/// assert_eq!((cached.inner().0, cached.misses(), cached.hits()), (1, 1, 2));
/// # Ok::<(), EvaluatorError>(())
/// ```
#[derive(Debug)]
pub struct CachedEvaluator<E> {
    inner: E,
    rows: HashMap<Box<[i16]>, usize>,
    known: Evaluations,
    /// Rows of `known` that the positions of a call have.
    wanted: Vec<usize>,
    new: Vec<Position>,
    found: Evaluations,
    hits: u64,
    misses: u64,
}

impl<E: Evaluator> CachedEvaluator<E> {
    /// Starts with nothing known.
    pub fn new(inner: E) -> CachedEvaluator<E> {
        CachedEvaluator {
            inner,
            rows: HashMap::new(),
            known: Evaluations::default(),
            wanted: Vec::new(),
            new: Vec::new(),
            found: Evaluations::default(),
            hits: 0,
            misses: 0,
        }
    }

    /// Returns the evaluator that is asked.
    pub const fn inner(&self) -> &E {
        &self.inner
    }

    /// Returns how many positions were known when they were asked about.
    pub const fn hits(&self) -> u64 {
        self.hits
    }

    /// Returns how many positions the evaluator was asked about.
    pub const fn misses(&self) -> u64 {
        self.misses
    }

    fn forget(&mut self) {
        self.rows.clear();
        self.known.clear(0, 0);
    }
}

impl<E: Evaluator> Evaluator for CachedEvaluator<E> {
    fn evaluate(
        &mut self,
        positions: &[Position],
        out: &mut Evaluations,
    ) -> Result<(), EvaluatorError> {
        let Some(columns) = positions.first().map(|first| first.ruleset().columns()) else {
            out.clear(0, 0);
            return Ok(());
        };
        if self.rows.len() + positions.len() > MOST
            || self.known.logits.len() != self.rows.len() * columns
        {
            self.forget();
        }
        self.new.clear();
        self.wanted.clear();
        for position in positions {
            let next = self.rows.len();
            let row = *self
                .rows
                .entry(position.observation().into())
                .or_insert(next);
            if row == next {
                self.new.push(*position);
            } else {
                self.hits += 1;
            }
            self.wanted.push(row);
        }
        if !self.new.is_empty()
            && let Err(error) = self.inner.evaluate(&self.new, &mut self.found)
        {
            self.forget();
            return Err(error);
        }
        self.misses += self.new.len() as u64;
        if !self.new.is_empty() {
            self.known.logits.extend(&self.found.logits);
            self.known.win.extend(&self.found.win);
            self.known.loss.extend(&self.found.loss);
            self.known.margin.extend(&self.found.margin);
        }
        out.clear(positions.len(), columns);
        for (at, &row) in self.wanted.iter().enumerate() {
            out.logits[at * columns..(at + 1) * columns]
                .copy_from_slice(&self.known.logits[row * columns..(row + 1) * columns]);
            out.win[at] = self.known.win[row];
            out.loss[at] = self.known.loss[row];
            out.margin[at] = self.known.margin[row];
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ruleset::{Ruleset, RulesetFields, Variant};

    /// Says of a position what its seeds say.
    struct Seeds(usize);

    impl Evaluator for Seeds {
        fn evaluate(
            &mut self,
            positions: &[Position],
            out: &mut Evaluations,
        ) -> Result<(), EvaluatorError> {
            if self.0 > 1_000_000 {
                let message = "tired".to_owned();
                return Err(EvaluatorError { message });
            }
            self.0 += positions.len();
            let columns = positions[0].ruleset().columns();
            out.clear(positions.len(), columns);
            for (row, position) in positions.iter().enumerate() {
                let view = position.observation();
                let logits = &mut out.logits[row * columns..(row + 1) * columns];
                for (logit, &seeds) in logits.iter_mut().zip(&view) {
                    *logit = f32::from(seeds);
                }
                out.win[row] = f32::from(view[2 * columns]);
                out.loss[row] = f32::from(view[2 * columns + 1]);
                out.margin[row] = f32::from(view[columns]);
            }
            Ok(())
        }
    }

    fn games(columns: i64) -> Vec<Position> {
        let fields = RulesetFields {
            columns: Some(columns),
            ..RulesetFields::default()
        };
        let start = Position::start(&Ruleset::new(Variant::EnDodoi, &fields).unwrap());
        let firsts = start.legal_moves().iter();
        firsts
            .flat_map(|column| {
                let next = start.play(column).unwrap();
                let replies = next.legal_moves().iter();
                replies.map(move |column| next.play(column).unwrap())
            })
            .filter(|position| !position.is_over())
            .collect()
    }

    #[test]
    fn what_is_remembered_is_what_was_said() {
        let mut cached = CachedEvaluator::new(Seeds(0));
        let mut asked = 0;
        for columns in [6, 3, 6] {
            let positions = games(columns);
            for some in positions.windows(4) {
                let (mut out, mut expected) = Default::default();
                cached.evaluate(some, &mut out).unwrap();
                Seeds(0).evaluate(some, &mut expected).unwrap();
                assert_eq!(out, expected);
                asked += some.len();
            }
        }
        let (inner, hits) = (cached.inner().0, cached.hits() as usize);
        assert!(inner > 0 && hits > asked / 2);
        assert_eq!(inner + hits, asked);
    }

    #[test]
    fn a_failure_leaves_nothing_behind_that_was_not_said() {
        let positions = games(6);
        let mut cached = CachedEvaluator::new(Seeds(0));
        let mut out = Evaluations::default();
        cached.evaluate(&positions[..2], &mut out).unwrap();
        cached.inner.0 = 2_000_000;
        cached.evaluate(&positions, &mut out).unwrap_err();
        cached.inner.0 = 0;
        cached.evaluate(&positions, &mut out).unwrap();
        let mut expected = Evaluations::default();
        Seeds(0).evaluate(&positions, &mut expected).unwrap();
        assert_eq!(out, expected);
    }
}
