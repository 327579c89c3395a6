//! What a player's answers lose.

use std::fmt::{self, Write as _};

use rayon::ThreadPoolBuilder;
use serde::Serialize;

use crate::arena::interval::mean_and_half;
use crate::arena::regret::{Exam, ExamProgress, Question, RegretError, WatchExam};
use crate::policy::Policy;
use crate::position::Position;
use crate::rng::{self, Purpose};
use crate::simulate::{Mean, Share};

/// Positions that a player chooses for at once: the work can be stopped between them.
const TOGETHER: usize = 64;

/// A part of the game, by the seeds left on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// More than two thirds of the seeds that a game starts with are left.
    Opening,
    /// More than a third, at most two thirds.
    Middle,
    /// At most a third.
    Endgame,
}

impl Phase {
    /// All phases in the order of a game.
    pub const ALL: [Phase; 3] = [Phase::Opening, Phase::Middle, Phase::Endgame];

    /// Returns the name, `opening`, `middle` or `endgame`.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Opening => "opening",
            Phase::Middle => "middle",
            Phase::Endgame => "endgame",
        }
    }

    /// Tells which part of its game a position belongs to.
    pub fn of(position: &Position) -> Phase {
        let (left, all) = (position.board().seeds_on_board(), position.board().total());
        if 3 * left > 2 * all {
            Phase::Opening
        } else if 3 * left > all {
            Phase::Middle
        } else {
            Phase::Endgame
        }
    }
}

/// What a player chose in one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The column.
    pub column: u8,
    /// Seeds lost against the best move, 0 for a best move.
    pub lost: i32,
    /// Whether the move gives away a win or a draw.
    pub changes_outcome: bool,
    /// The part of the game.
    pub phase: Phase,
}

/// What the answers of a part of the positions say together, with 95 % intervals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RegretPart {
    /// Positions.
    pub positions: u64,
    /// Moves that lose nothing.
    pub optimal: Share,
    /// Moves that give away a win or a draw.
    pub outcome_changing: Share,
    /// Seeds lost a move, the best moves' zeros included.
    pub seeds_lost: Mean,
}

/// What a player's moves lose against the best moves.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Regret {
    /// The player's name.
    pub player: String,
    /// What the moves were measured by: [`Exam::reference`].
    pub reference: String,
    /// All positions.
    pub all: RegretPart,
    /// Positions of [`Phase::Opening`].
    pub opening: RegretPart,
    /// Positions of [`Phase::Middle`].
    pub middle: RegretPart,
    /// Positions of [`Phase::Endgame`].
    pub endgame: RegretPart,
    /// One for each position, in order.
    #[serde(skip)]
    pub answers: Vec<Answer>,
}

impl Exam {
    /// Lets a player choose in every position and sums up what its moves lose.
    ///
    /// A player that draws does so from a stream of each position, so that its answers depend on
    /// the exam's seed alone.
    ///
    /// # Errors
    /// [`RegretError::Player`] where the player fails, [`RegretError::Illegal`] for a column that
    /// is not legal, [`RegretError::Stopped`] when `watch` breaks.
    pub fn grade(
        &self,
        policy: &mut dyn Policy,
        watch: &mut WatchExam<'_>,
    ) -> Result<Regret, RegretError> {
        policy.check(&self.config.ruleset)?;
        let threads = ThreadPoolBuilder::new()
            .num_threads(self.config.solver.num_threads.unwrap_or(0))
            .build()
            .map_err(|error| RegretError::Threads {
                message: error.to_string(),
            })?;
        let mut answers = Vec::with_capacity(self.questions.len());
        for questions in self.questions.chunks(TOGETHER) {
            let first = u64::from(self.first) + answers.len() as u64;
            let columns = threads.install(|| self.ask(policy, questions, first))?;
            for (question, column) in questions.iter().zip(columns) {
                answers.push(
                    answer(question, column)
                        .ok_or_else(|| illegal(&policy.name(), question, column))?,
                );
            }
            let progress = ExamProgress {
                done: answers.len() as u32,
                positions: self.questions.len() as u32,
            };
            if watch(progress).is_break() {
                return Err(RegretError::Stopped {
                    done: progress.done,
                    positions: progress.positions,
                });
            }
        }
        Ok(self.sum_up(policy.name(), answers))
    }

    /// Sums up what the columns lose that a player chose in the positions, as [`Exam::grade`] does
    /// with those that it asks for.
    ///
    /// # Errors
    /// [`RegretError::Illegal`] for a column that is not legal, or that is missing: it counts as
    /// column 255.
    pub fn sum_up_columns(&self, player: &str, columns: &[u8]) -> Result<Regret, RegretError> {
        let columns = columns.iter().copied().chain(std::iter::repeat(u8::MAX));
        let answers = self.questions.iter().zip(columns);
        let answers = answers.map(|(question, column)| {
            answer(question, column).ok_or_else(|| illegal(player, question, column))
        });
        Ok(self.sum_up(player.to_owned(), answers.collect::<Result<_, _>>()?))
    }

    fn ask(
        &self,
        policy: &mut dyn Policy,
        questions: &[Question],
        first: u64,
    ) -> Result<Vec<u8>, RegretError> {
        let positions: Vec<Position> = questions.iter().map(|asked| asked.position).collect();
        let mut streams: Vec<_> = (first..)
            .take(questions.len())
            .map(|place| rng::stream(rng::mix(self.config.seed, place), 1, Purpose::Exam))
            .collect();
        let mut columns = vec![0; questions.len()];
        policy.choose(&positions, &mut streams, &mut columns)?;
        Ok(columns)
    }

    fn sum_up(&self, player: String, answers: Vec<Answer>) -> Regret {
        let part = |phase: Option<Phase>| {
            RegretPart::of(
                answers
                    .iter()
                    .filter(|answer| phase.is_none_or(|phase| answer.phase == phase)),
            )
        };
        Regret {
            player,
            reference: self.reference(),
            all: part(None),
            opening: part(Some(Phase::Opening)),
            middle: part(Some(Phase::Middle)),
            endgame: part(Some(Phase::Endgame)),
            answers,
        }
    }
}

fn answer(question: &Question, column: u8) -> Option<Answer> {
    let chosen = question.moves.iter().find(|worth| worth.column == column)?;
    let best = question.best_margin();
    Some(Answer {
        column,
        lost: best - chosen.margin,
        changes_outcome: best.signum() != chosen.margin.signum(),
        phase: Phase::of(&question.position),
    })
}

fn illegal(player: &str, question: &Question, column: u8) -> RegretError {
    RegretError::Illegal {
        name: player.to_owned(),
        column,
        position: question.position.to_string(),
        legal: question.position.legal_moves().iter().collect(),
    }
}

impl RegretPart {
    fn of<'a>(answers: impl Iterator<Item = &'a Answer> + Clone) -> RegretPart {
        let lost: Vec<f64> = answers.clone().map(|answer| answer.lost.into()).collect();
        let positions = lost.len() as u64;
        let optimal = answers.clone().filter(|answer| answer.lost == 0).count();
        let changing = answers.filter(|answer| answer.changes_outcome).count();
        let (mean, half) = mean_and_half(&lost);
        RegretPart {
            positions,
            optimal: Share::of(optimal as u64, positions),
            outcome_changing: Share::of(changing as u64, positions),
            seeds_lost: Mean { mean, half },
        }
    }
}

impl fmt::Display for Regret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&regret_table(std::slice::from_ref(self)))
    }
}

/// Writes the regrets of players as one table: a line for all positions and one for each phase,
/// with the shares of optimal and of outcome-changing moves and the seeds lost a move, each with
/// its 95 % interval.
pub fn regret_table(regrets: &[Regret]) -> String {
    let names = regrets.iter().map(|regret| regret.player.chars().count());
    let width = names.max().unwrap_or(0).max("player".len());
    let mut text = format!(
        "{:width$}  {:9}  {:>9}  {:>21}  {:>21}  {:>13}\n",
        "player", "phase", "positions", "optimal moves", "change the outcome", "seeds lost"
    );
    for regret in regrets {
        let parts = [
            ("all", &regret.all),
            ("opening", &regret.opening),
            ("middle", &regret.middle),
            ("endgame", &regret.endgame),
        ];
        for (phase, part) in parts {
            let player = if phase == "all" { &*regret.player } else { "" };
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "{player:width$}  {phase:9}  {:>9}  {:>21}  {:>21}  {:>13}",
                part.positions,
                percent(&part.optimal),
                percent(&part.outcome_changing),
                seeds(&part.seeds_lost),
            );
        }
    }
    text
}

fn percent(share: &Share) -> String {
    let [share, low, high] = [share.share, share.low, share.high].map(|part| 100.0 * part);
    format!("{share:.1} % ({low:.1} to {high:.1})")
}

fn seeds(mean: &Mean) -> String {
    if mean.half.is_finite() {
        format!("{:.2} ± {:.2}", mean.mean, mean.half)
    } else {
        format!("{:.2}", mean.mean)
    }
}
