//! Regret: the seeds that a player's moves lose against the best moves.
//!
//! An [`Exam`] is a set of positions with the value of every legal move, from the [`Solver`] or,
//! where that is out of reach, from a deep alpha-beta search. It depends on the rules, the seed and
//! the reference alone, so that players are compared on the same questions. [`Exam::grade`] lets a
//! player choose in every position and sums up what its moves lose.
//!
//! The positions come from streams of a purpose of their own, [`Purpose::Exam`], which no game,
//! environment or training run draws from: a position that training meets as well is there by
//! chance, as the first few plies of a game are bound to be.
//!
//! ```
//! use endodoi::arena::{Exam, ExamConfig};
//! use endodoi::policy::Greedy;
//! use endodoi::{Ruleset, RulesetFields, Variant};
//! use std::ops::ControlFlow;
//!
//! let fields = RulesetFields { columns: Some(3), seeds_per_pit: Some(2), ..RulesetFields::default() };
//! let ruleset = Ruleset::new(Variant::EnDodoi, &fields)?;
//! let config = ExamConfig { positions: 50, ..ExamConfig::new(ruleset) };
//! let mut quietly = |_| ControlFlow::Continue(());
//! let exam = Exam::draw(&config, None, &mut quietly)?;
//! let regret = exam.grade(&mut Greedy::default(), &mut quietly)?;
//! assert_eq!(regret.all.positions, 50);
//! assert!(regret.all.optimal.share > 0.4 && regret.all.seeds_lost.mean > 0.0);
//! println!("{regret}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Solver`]: crate::search::Solver
//! [`Purpose::Exam`]: crate::rng::Purpose::Exam

mod file;
mod grade;
mod positions;
mod reference;

pub use grade::{Answer, Phase, Regret, RegretPart, regret_table};
pub use reference::Reference;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use thiserror::Error;

use crate::policy::{Perfect, PolicyError};
use crate::position::Position;
use crate::ruleset::Ruleset;
use crate::search::{EndgameTable, SearchError, SolveError, SolverOptions};

/// The most positions of an exam.
const MAX_POSITIONS: u32 = 1_000_000;

/// What an exam asks.
///
/// | field | default of [`ExamConfig::new`] | range |
/// |---|---|---|
/// | `ruleset` | given | |
/// | `positions` | 500 | 1 to 1,000,000 |
/// | `seed` | 0 | |
/// | `reference` | [`Reference::suited`] to the rules | |
/// | `seconds` | [`Perfect::suited_seconds`] to the rules, for each position | more than 0 |
/// | `solver` | its default | |
#[derive(Clone, Copy, Debug)]
pub struct ExamConfig {
    /// The rules.
    pub ruleset: Ruleset,
    /// Positions, all different.
    pub positions: u32,
    /// The seed that the positions are drawn with.
    pub seed: u64,
    /// What values the moves.
    pub reference: Reference,
    /// Seconds after which the solver leaves a position to a search of
    /// [`Reference::UNSOLVED_DEPTH`] plies; with `None` it takes the time it needs.
    pub seconds: Option<f64>,
    /// Memory and threads.
    pub solver: SolverOptions,
}

impl ExamConfig {
    /// Starts from the defaults for the rules.
    pub fn new(ruleset: Ruleset) -> ExamConfig {
        ExamConfig {
            ruleset,
            positions: 500,
            seed: 0,
            reference: Reference::suited(&ruleset),
            seconds: Perfect::suited_seconds(&ruleset),
            solver: SolverOptions::default(),
        }
    }

    /// Checks every field against its range.
    ///
    /// # Errors
    /// [`RegretError`] names the first field outside its range.
    pub fn check(&self) -> Result<(), RegretError> {
        if !(1..=MAX_POSITIONS).contains(&self.positions) {
            return Err(RegretError::Positions {
                positions: self.positions.into(),
            });
        }
        match self.seconds {
            Some(seconds) if seconds.is_nan() || seconds <= 0.0 => {
                Err(RegretError::Seconds { seconds })
            }
            _ => Ok(()),
        }
    }
}

/// Why an exam cannot be drawn or graded.
#[derive(Debug, Error)]
pub enum RegretError {
    /// A number of positions outside its range.
    #[error("positions is {positions}, expected 1 to {MAX_POSITIONS}")]
    Positions {
        /// The number given.
        positions: i64,
    },
    /// No time to solve a position.
    #[error("seconds is {seconds}, expected more than 0")]
    Seconds {
        /// The number given.
        seconds: f64,
    },
    /// Not a reference.
    #[error("reference is {reference:?}, expected perfect or alphabeta:N with N from 1 to 64")]
    Reference {
        /// The text given.
        reference: String,
    },
    /// Random games hold fewer different positions with a choice.
    #[error(
        "positions is {wanted}, but {games} random games under these rules held only {found} \
         different positions with a choice"
    )]
    TooFew {
        /// Positions asked for.
        wanted: u32,
        /// Positions found.
        found: u32,
        /// Games played for them.
        games: u64,
    },
    /// The solver refuses the rules or cannot work.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// The search of the reference fails.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The player fails.
    #[error(transparent)]
    Player(#[from] PolicyError),
    /// No part of the exam, or not the next one.
    #[error("positions {first} to {last}: expected the next part of an exam of {positions}")]
    Part {
        /// The first position.
        first: u32,
        /// The position after the last.
        last: u32,
        /// Positions of the exam.
        positions: u32,
    },
    /// The player chose a column that is not legal.
    #[error("player {name} chose column {column} in {position}, where {legal:?} are legal")]
    Illegal {
        /// The player.
        name: String,
        /// The column it chose.
        column: u8,
        /// The position, as text.
        position: String,
        /// The legal columns, ascending.
        legal: Vec<usize>,
    },
    /// A text that is not the exam asked for.
    #[error("not the exam asked for: {message}")]
    File {
        /// What is wrong with it.
        message: String,
    },
    /// The threads cannot be started.
    #[error("the threads cannot be started: {message}")]
    Threads {
        /// What the system says.
        message: String,
    },
    /// The caller stopped the work.
    #[error("stopped after {done} of {positions} positions")]
    Stopped {
        /// Positions done.
        done: u32,
        /// Positions of the exam.
        positions: u32,
    },
}

/// How far an exam is, in positions; while it is graded, those that were answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExamProgress {
    /// Positions done.
    pub done: u32,
    /// Positions of the exam.
    pub positions: u32,
}

/// What a caller is told while an exam is drawn or graded, several times a second and on the
/// thread that called, and how it stops the work: by a break.
pub type WatchExam<'a> = dyn FnMut(ExamProgress) -> ControlFlow<()> + 'a;

/// A position with the worth of every legal move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The position; two moves or more are legal.
    pub position: Position,
    /// The legal moves, ascending.
    pub moves: Vec<MoveWorth>,
    /// Whether the solver proved the worths; else they are those of a search.
    pub proven: bool,
}

/// What a move is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveWorth {
    /// The column.
    pub column: u8,
    /// The captured difference from the mover's view that the move leads to when both sides go on
    /// as well as the reference can.
    pub margin: i32,
}

impl Question {
    /// Returns the most that a move is worth.
    pub fn best_margin(&self) -> i32 {
        let margins = self.moves.iter().map(|worth| worth.margin);
        margins.max().unwrap_or(0)
    }
}

/// Positions with the worth of every move, to examine players on.
#[derive(Clone, Debug)]
pub struct Exam {
    config: ExamConfig,
    /// The place of the first question, in a part of an exam.
    first: u32,
    questions: Vec<Question>,
}

impl Exam {
    /// Draws the positions and values every move of them.
    ///
    /// Position `i` is drawn from the random games of `seed`: each game is played to its end, and
    /// one of its positions with two legal moves or more is taken, all of them alike. One that was
    /// taken before, of either side, is left out and the next game is played.
    ///
    /// Without a `table` one is built for the solver. The worths depend on nothing but the rules
    /// and the reference, unless the solver leaves positions after `seconds`.
    ///
    /// # Errors
    /// [`RegretError`]: the fields of `config` before anything is done; [`RegretError::TooFew`],
    /// [`RegretError::Solve`] for rules that cannot be solved or a table of others, and
    /// [`RegretError::Stopped`] when `watch` breaks.
    pub fn draw(
        config: &ExamConfig,
        table: Option<Arc<EndgameTable>>,
        watch: &mut WatchExam<'_>,
    ) -> Result<Exam, RegretError> {
        Exam::draw_part(config, 0..config.positions, table, watch)
    }

    /// Draws an exam as [`Exam::draw`] does and values some of its positions, so that several
    /// machines can value it together: [`Exam::join`] makes it whole.
    ///
    /// # Errors
    /// As [`Exam::draw`]; [`RegretError::Part`] when there are no such positions.
    pub fn draw_part(
        config: &ExamConfig,
        places: Range<u32>,
        table: Option<Arc<EndgameTable>>,
        watch: &mut WatchExam<'_>,
    ) -> Result<Exam, RegretError> {
        config.check()?;
        if places.is_empty() || places.end > config.positions {
            return Err(RegretError::Part {
                first: places.start,
                last: places.end,
                positions: config.positions,
            });
        }
        let mut positions = positions::draw(&config.ruleset, places.end, config.seed)?;
        positions.drain(..places.start as usize);
        Ok(Exam {
            config: *config,
            first: places.start,
            questions: reference::value(config, table, &positions, watch)?,
        })
    }

    /// Joins parts of an exam, in order and without a gap, to one.
    ///
    /// # Errors
    /// [`RegretError::Part`] for the first part that does not begin where the one before ends, or
    /// is of another exam; the part of no positions where there is none.
    pub fn join(parts: impl IntoIterator<Item = Exam>) -> Result<Exam, RegretError> {
        let mut parts = parts.into_iter();
        let nothing = RegretError::Part {
            first: 0,
            last: 0,
            positions: 0,
        };
        let mut whole = parts.next().ok_or(nothing)?;
        for part in parts {
            let next = whole.first + whole.questions.len() as u32;
            if part.first != next || !part.is_of(&whole) {
                return Err(RegretError::Part {
                    first: part.first,
                    last: part.first + part.questions.len() as u32,
                    positions: whole.config.positions,
                });
            }
            whole.questions.extend(part.questions);
        }
        Ok(whole)
    }

    /// Tells whether both ask the same of their players.
    fn is_of(&self, other: &Exam) -> bool {
        let asked = |exam: &Exam| {
            let config = &exam.config;
            (
                config.ruleset,
                config.positions,
                config.seed,
                config.reference,
            )
        };
        asked(self) == asked(other)
    }

    /// Returns the place of the first position among those of the whole exam.
    pub const fn first(&self) -> u32 {
        self.first
    }

    /// Returns what was asked for.
    pub const fn config(&self) -> &ExamConfig {
        &self.config
    }

    /// Returns the positions with the worth of every move.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// Names what valued the moves: the reference, and for how many positions a search stood in.
    pub fn reference(&self) -> String {
        let reference = self.config.reference;
        match self.unproven() {
            searched if searched > 0 && reference == Reference::Perfect => format!(
                "{reference}, alphabeta:{} where it took too long ({searched} of {})",
                Reference::UNSOLVED_DEPTH,
                self.questions.len()
            ),
            _ => reference.to_string(),
        }
    }

    /// Counts the positions whose worths are those of a search.
    pub fn unproven(&self) -> usize {
        self.questions.iter().filter(|asked| !asked.proven).count()
    }
}
