//! The player that solves every position.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rand_xoshiro::Xoshiro128PlusPlus;

use crate::policy::{Policy, PolicyError};
use crate::position::Position;
use crate::ruleset::{Endless, Ruleset};
use crate::search::{EndgameTable, SolveLimits, Solver, SolverOptions};

/// The most columns of a board that a game can be solved on from its start.
const MAX_COLUMNS: usize = 8;

/// The most columns, and seeds at the start, of a board that is solved for sure.
const SURE_COLUMNS: usize = 6;
const SURE_SEEDS: usize = 48;

/// Seconds for each position of larger boards.
const SECONDS: f64 = 60.0;

/// Plays a best move of the exact [`Solver`], the lowest column among equals.
///
/// It refuses rules that the solver refuses, and boards that are too large for it. Up to 2x6 with
/// four seeds in a pit it is sure to finish ([`Perfect::is_sure`]) and takes the time it needs; on
/// larger boards it finishes once few enough seeds are left, and a position that is not solved
/// within 60 seconds makes it fail, which loses that game. A move it does play never depends on
/// time, memory or threads.
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
    /// For each position; where there are none, they depend on the rules.
    seconds: Option<f64>,
    interrupt: Arc<AtomicBool>,
    /// A table in place of those that the solver builds by itself, and its file.
    table: Option<(PathBuf, Arc<EndgameTable>)>,
    /// The solver of the rules met last, with all it remembers.
    solver: Option<(Ruleset, Solver)>,
}

impl Default for Perfect {
    /// Makes the player with the solver's default memory and threads.
    fn default() -> Perfect {
        Perfect::new(SolverOptions::default(), None)
    }
}

impl Perfect {
    /// Makes the player that gives up a position after so many seconds; with `None` after those
    /// that suit the rules ([`Perfect::suited_seconds`]).
    pub fn new(options: SolverOptions, seconds: Option<f64>) -> Perfect {
        Perfect {
            options,
            seconds,
            interrupt: Arc::default(),
            table: None,
            solver: None,
        }
    }

    /// Uses the endgame table of a file in place of those that the solver builds by itself: it
    /// saves their time and changes no move. Games of other rules are refused then.
    ///
    /// # Errors
    /// [`PolicyError::Table`] for a file that is no table, is damaged or cannot be read.
    pub fn with_table(mut self, path: &Path) -> Result<Perfect, PolicyError> {
        let table = EndgameTable::open_any(path).map_err(|error| PolicyError::Table {
            path: path.display().to_string(),
            message: error.to_string(),
        })?;
        self.table = Some((path.to_owned(), Arc::new(table)));
        self.solver = None;
        Ok(self)
    }

    /// Returns whether every position of these rules is solved soon: up to 2x6 with four seeds in a
    /// pit, endless sowings illegal.
    pub fn is_sure(ruleset: &Ruleset) -> bool {
        let seeds = ruleset.pits() * usize::from(ruleset.seeds_per_pit());
        ruleset.columns() <= SURE_COLUMNS
            && seeds <= SURE_SEEDS
            && ruleset.endless() == Endless::Illegal
    }

    /// Returns the seconds after which a position of these rules is given up: 60, and none where
    /// it is sure to be solved, however busy the machine is.
    pub fn suited_seconds(ruleset: &Ruleset) -> Option<f64> {
        (!Perfect::is_sure(ruleset)).then_some(SECONDS)
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
            (*ruleset, self.solver_of(ruleset)?)
        };
        Ok(&mut self.solver.insert(ready).1)
    }

    fn solver_of(&self, ruleset: &Ruleset) -> Result<Solver, PolicyError> {
        let solver = Solver::new(ruleset, &self.options);
        let mut solver = solver.map_err(|error| self.refuse(ruleset, error.to_string()))?;
        if let Some((path, table)) = &self.table {
            let used = solver.use_table(Arc::clone(table));
            used.map_err(|error| {
                self.refuse(ruleset, format!("table file {}: {error}", path.display()))
            })?;
        }
        Ok(solver)
    }

    fn best_move(&mut self, position: &Position) -> Result<usize, PolicyError> {
        let legal = position.legal_moves();
        if let (1, Some(only)) = (legal.len(), legal.nth(0)) {
            return Ok(only);
        }
        let name = self.name();
        let rules = position.ruleset();
        let seconds = self.seconds.or_else(|| Perfect::suited_seconds(rules));
        let interrupt = Arc::clone(&self.interrupt);
        let mut watch = |_: &_| {
            if interrupt.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let solver = self.prepare(rules)?;
        let fail = |message: String| PolicyError::Failed {
            name: name.clone(),
            message,
        };
        let limits = SolveLimits {
            seconds,
            ..SolveLimits::default()
        };
        let found = solver.solve(position, &limits, &mut watch);
        let found = found.map_err(|error| fail(error.to_string()))?;
        if found.is_exact() {
            let best = found.best_moves.first().map(|&column| column.into());
            return best.ok_or_else(|| fail(format!("no legal move in {position}")));
        }
        if interrupt.load(Ordering::Relaxed) {
            return Err(PolicyError::Interrupted { name });
        }
        Err(fail(format!(
            "{position} is not solved within {} seconds: the value is {} to {}",
            seconds.unwrap_or(f64::INFINITY),
            found.lower,
            found.upper
        )))
    }
}

impl Policy for Perfect {
    fn name(&self) -> String {
        match &self.table {
            None => "perfect".to_owned(),
            Some((path, _)) => format!("perfect@table={}", path.display()),
        }
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

    fn set_interrupt(&mut self, flag: &Arc<AtomicBool>) {
        self.interrupt = Arc::clone(flag);
    }
}
