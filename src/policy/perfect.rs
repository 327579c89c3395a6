//! The player that solves every position.

use std::ops::ControlFlow;

use rand_xoshiro::Xoshiro128PlusPlus;

use crate::policy::{Policy, PolicyError};
use crate::position::Position;
use crate::ruleset::Ruleset;
use crate::search::{SolveLimits, Solver, SolverOptions};

/// The most columns of a board that a game can be solved on from its start.
const MAX_COLUMNS: usize = 8;

/// Plays a best move of the exact [`Solver`], the lowest column among equals.
///
/// A position that is not solved within [`Perfect::seconds`] makes it fail, which loses that game;
/// a move it does play never depends on time, memory or threads. It refuses rules that the solver
/// refuses, and boards that are too large for it: up to 2x6 with four seeds in a pit it is sure to
/// finish, on larger boards once few enough seeds are left.
///
/// The solver takes endless play as no gain for either side and does not look at the quiet limit
/// (E3).
///
/// ```
/// use endodoi::policy::{Perfect, Policy};
/// use endodoi::rng::{self, Purpose};
/// use endodoi::{Position, Ruleset, RulesetFields, Variant};
///
/// let fields = RulesetFields { columns: Some(2), ..RulesetFields::default() };
/// let positions = [Position::start(&Ruleset::new(Variant::EnDodoi, &fields)?)];
/// let mut streams = [rng::stream(1, 0, Purpose::Play)];
/// let mut moves = [0];
/// Perfect::default().choose(&positions, &mut streams, &mut moves)?;
/// assert!(positions[0].legal_moves().contains(moves[0].into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Perfect {
    options: SolverOptions,
    seconds: f64,
    /// The solver of the rules met last, with all it remembers.
    solver: Option<(Ruleset, Solver)>,
}

impl Default for Perfect {
    /// Makes the player with the solver's default memory and threads, and 60 seconds a position.
    fn default() -> Perfect {
        Perfect::new(SolverOptions::default(), 60.0)
    }
}

impl Perfect {
    /// Makes the player that gives up a position after so many seconds.
    pub const fn new(options: SolverOptions, seconds: f64) -> Perfect {
        Perfect {
            options,
            seconds,
            solver: None,
        }
    }

    /// Returns the seconds after which it gives up a position.
    pub const fn seconds(&self) -> f64 {
        self.seconds
    }

    fn refuse(&self, ruleset: &Ruleset, message: String) -> PolicyError {
        PolicyError::Rules {
            name: self.name(),
            ruleset: ruleset.to_string(),
            message,
        }
    }

    /// Makes ready the solver of these rules.
    fn prepare(&mut self, ruleset: &Ruleset) -> Result<&mut Solver, PolicyError> {
        if ruleset.columns() > MAX_COLUMNS {
            return Err(self.refuse(
                ruleset,
                format!(
                    "columns is {}, expected at most {MAX_COLUMNS}",
                    ruleset.columns()
                ),
            ));
        }
        let kept = self.solver.take().filter(|(rules, _)| rules == ruleset);
        let ready = if let Some(ready) = kept {
            ready
        } else {
            let solver = Solver::new(ruleset, &self.options);
            let solver = solver.map_err(|error| self.refuse(ruleset, error.to_string()))?;
            (*ruleset, solver)
        };
        Ok(&mut self.solver.insert(ready).1)
    }

    fn best_move(&mut self, position: &Position) -> Result<usize, PolicyError> {
        let legal = position.legal_moves();
        if let (1, Some(only)) = (legal.len(), legal.nth(0)) {
            return Ok(only);
        }
        let (name, seconds) = (self.name(), self.seconds);
        let limits = SolveLimits {
            seconds: Some(seconds),
        };
        let fail = |message: String| PolicyError::Failed { name, message };
        let mut watch = |_: &_| ControlFlow::Continue(());
        let solver = self.prepare(position.ruleset())?;
        match solver.solve(position, &limits, &mut watch) {
            Ok(solution) if solution.is_exact() => match solution.best_moves.first() {
                Some(&column) => Ok(column.into()),
                None => Err(fail(format!("no legal move in {position}"))),
            },
            Ok(solution) => Err(fail(format!(
                "{position} is not solved within {seconds} seconds: the value is {} to {}",
                solution.lower, solution.upper
            ))),
            Err(error) => Err(fail(error.to_string())),
        }
    }
}

impl Policy for Perfect {
    fn name(&self) -> String {
        "perfect".to_owned()
    }

    fn check(&mut self, ruleset: &Ruleset) -> Result<(), PolicyError> {
        self.prepare(ruleset).map(|_| ())
    }

    fn choose(
        &mut self,
        positions: &[Position],
        _streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
    ) -> Result<(), PolicyError> {
        for (position, column) in positions.iter().zip(moves) {
            *column = self.best_move(position)? as u8;
        }
        Ok(())
    }
}
