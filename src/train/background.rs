//! Running scores and regret, measured on a thread of their own while training goes on.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::TrainError;
use super::config::Config;
use super::evaluate::{Evaluation, EvaluationPlan, RUNNING_OPPONENTS, on_threads};
use super::folder::RunFolder;
use super::metrics::{RegretScore, Scores};
use super::tasks::message_of;
use crate::arena::{Exam, ExamConfig, RegretError};
use crate::policy::AgentSearch;
use crate::policy::agent::Agent;
use crate::policy::agent_file::AgentFile;
use crate::search::SolverOptions;

/// Seed of the positions: the same for all runs, so that their curves can be compared, and that of
/// no other measurement unless asked for.
const EXAM_SEED: u64 = 1_000_001;

/// Exams as solved once and for all, of the boards that take longest.
const SOLVED: [&str; 2] = [
    include_str!("exams/en-dodoi-2x6.json"),
    include_str!("exams/cross-endodoi-2x6.json"),
];

/// Seconds after which a search stands in for the solver.
const SOLVER_SECONDS: f64 = 20.0;

/// Bytes of the solver's transposition table.
const SOLVER_MEMORY: u64 = 128 << 20;

/// How often a measurement that is waited for is looked at.
const POLLED_EVERY: Duration = Duration::from_millis(20);

/// An agent to be measured.
#[derive(Debug)]
pub struct Job {
    /// The agent as it is now.
    pub agent: AgentFile,
    /// The games; none are played where there are 0.
    pub plan: EvaluationPlan,
    /// Seconds of training of this agent.
    pub seconds: f64,
}

/// An agent and what was found.
#[derive(Debug)]
pub struct Measured {
    /// The agent.
    pub agent: AgentFile,
    /// Its scores, where games are played.
    pub scores: Option<Scores>,
    /// Its regret, where there is an exam.
    pub regret: Option<RegretScore>,
}

/// What the thread is doing.
#[derive(Debug)]
enum Work {
    Exam(JoinHandle<Result<Exam, TrainError>>),
    Agent(JoinHandle<Result<Measured, TrainError>>),
}

/// Measures one agent at a time; training is the same whether it is measured or not.
#[derive(Debug)]
pub struct Background {
    every: Option<Duration>,
    last: Instant,
    exam: Option<Arc<Exam>>,
    running: Option<Work>,
    /// Tells the thread that nobody waits for the exam any more.
    stop: Arc<AtomicBool>,
}

impl Background {
    /// Prepares the measurements that the settings ask for; the positions of the regret are solved
    /// at once, or read from the folder of a run that has them.
    pub fn start(config: &Config, folder: &RunFolder) -> Background {
        let evaluation = &config.evaluation;
        let regret = evaluation.regret_positions > 0;
        let wanted = evaluation.every > 0.0 && (evaluation.games > 0 || regret);
        let stop = Arc::new(AtomicBool::new(false));
        let running = (wanted && regret).then(|| {
            let (config, folder, stop) = (exam_config(config), folder.clone(), Arc::clone(&stop));
            Work::Exam(thread::spawn(move || find_exam(config, &folder, &stop)))
        });
        Background {
            every: wanted.then(|| Duration::from_secs_f64(evaluation.every)),
            last: Instant::now(),
            exam: None,
            running,
            stop,
        }
    }

    /// Returns the positions of the regret, once they are solved.
    pub fn exam(&self) -> Option<Arc<Exam>> {
        self.exam.clone()
    }

    /// Tells whether it is time for the next measurement and the thread is free.
    pub fn is_due(&self) -> bool {
        self.running.is_none() && self.every.is_some_and(|every| self.last.elapsed() >= every)
    }

    /// Tells whether measurements are taken at all.
    pub const fn is_on(&self) -> bool {
        self.every.is_some()
    }

    /// Starts a measurement on `threads` threads.
    pub fn measure(&mut self, job: Job, threads: usize) {
        self.last = Instant::now();
        let exam = self.exam();
        self.running = Some(Work::Agent(thread::spawn(move || {
            measure(job, exam.as_deref(), threads)
        })));
    }

    /// Returns the threads at work now, 0 or 1: a measurement beside training has one.
    pub fn threads(&self) -> usize {
        usize::from(self.running.is_some() && !self.has_ended())
    }

    /// Returns what was found if a measurement has ended; after one that failed there are no more.
    ///
    /// # Errors
    /// [`TrainError`] of the measurement.
    pub fn take(&mut self) -> Result<Option<Measured>, TrainError> {
        if self.has_ended() {
            self.wait()
        } else {
            Ok(None)
        }
    }

    /// Waits for the measurement that goes on, if any, and returns what was found.
    ///
    /// # Errors
    /// [`TrainError`] of the measurement.
    fn wait(&mut self) -> Result<Option<Measured>, TrainError> {
        match self.running.take() {
            Some(Work::Exam(thread)) => {
                self.exam = Some(Arc::new(joined(thread)?));
                Ok(None)
            }
            Some(Work::Agent(thread)) => {
                let measured = joined(thread);
                if measured.is_err() {
                    self.every = None;
                }
                measured.map(Some)
            }
            None => Ok(None),
        }
    }

    /// Tells whether the positions of the regret are still being solved.
    pub const fn is_solving(&self) -> bool {
        matches!(self.running, Some(Work::Exam(_)))
    }

    /// Waits for what goes on, unless `stop` is set meanwhile: it then goes on unheard until the
    /// program ends.
    ///
    /// # Errors
    /// [`TrainError`] of the measurement.
    pub fn wait_unless(&mut self, stop: &AtomicBool) -> Result<Option<Measured>, TrainError> {
        while !self.has_ended() && self.running.is_some() {
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            thread::sleep(POLLED_EVERY);
        }
        self.wait()
    }

    fn has_ended(&self) -> bool {
        match &self.running {
            Some(Work::Exam(thread)) => thread.is_finished(),
            Some(Work::Agent(thread)) => thread.is_finished(),
            None => false,
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn joined<T>(thread: JoinHandle<Result<T, TrainError>>) -> Result<T, TrainError> {
    thread.join().unwrap_or_else(|payload| {
        Err(TrainError::Thread {
            message: message_of(payload.as_ref()),
        })
    })
}

fn exam_config(config: &Config) -> ExamConfig {
    ExamConfig {
        positions: config.evaluation.regret_positions,
        seed: EXAM_SEED,
        seconds: Some(SOLVER_SECONDS),
        solver: SolverOptions {
            memory: SOLVER_MEMORY,
            num_threads: Some(1),
        },
        ..ExamConfig::new(config.ruleset)
    }
}

/// Finds the exam among those that are solved, or solves it on this thread; it is then in the run's
/// folder.
fn find_exam(
    config: ExamConfig,
    folder: &RunFolder,
    stop: &AtomicBool,
) -> Result<Exam, TrainError> {
    let mut watch = |_| {
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let find = |config: &ExamConfig| read_exam(config, folder);
    let exam = match find(&config) {
        Some(exam) => exam,
        None => match Exam::draw(&config, None, &mut watch) {
            // A small board has fewer: all of them are asked.
            Err(RegretError::TooFew { found, .. }) if found > 0 => {
                let config = ExamConfig {
                    positions: found,
                    ..config
                };
                match find(&config) {
                    Some(exam) => exam,
                    None => Exam::draw(&config, None, &mut watch)?,
                }
            }
            drawn => drawn?,
        },
    };
    folder.replace("exam.json", exam.to_json()?.as_bytes())?;
    Ok(exam)
}

/// Returns the exam of the folder, of those that come with the program, or of a run beside it, if
/// one is the one asked for.
fn read_exam(config: &ExamConfig, folder: &RunFolder) -> Option<Exam> {
    let parse = |text: &str| Exam::from_json(config, text).ok();
    let read = |path: PathBuf| parse(&fs::read_to_string(path).ok()?);
    let known = || SOLVED.into_iter().find_map(parse);
    let beside = || {
        let runs = folder.path().parent()?.read_dir().ok()?;
        runs.flatten()
            .find_map(|run| read(run.path().join("exam.json")))
    };
    read(folder.exam()).or_else(known).or_else(beside)
}

/// Plays the games of one measurement and lets the agent choose in the positions of the exam.
fn measure(job: Job, exam: Option<&Exam>, threads: usize) -> Result<Measured, TrainError> {
    let (seconds, step) = (job.seconds, job.agent.metadata.step);
    let regret = match exam {
        Some(exam) => Some(RegretScore {
            seconds,
            step,
            ..regret_of(&job.agent, exam)?
        }),
        None => None,
    };
    let mut scores = None;
    if job.plan.games > 0 {
        let evaluation = on_threads(threads, || {
            Evaluation::play(
                "agent",
                &job.agent,
                AgentSearch::Default,
                &RUNNING_OPPONENTS,
                &job.plan,
                |_, _| {},
            )
        })?;
        let score = evaluation.scores();
        scores = Some(Scores {
            seconds,
            step,
            games: job.plan.games,
            score: score
                .map(|(name, score)| (name.to_owned(), score))
                .collect(),
        });
    }
    Ok(Measured {
        agent: job.agent,
        scores,
        regret,
    })
}

/// Sums up what an agent's moves lose in the positions of an exam.
///
/// # Errors
/// [`TrainError`] when the agent cannot be made or fails.
pub fn regret_of(agent: &AgentFile, exam: &Exam) -> Result<RegretScore, TrainError> {
    let mut player = Agent::new("agent", agent.clone(), AgentSearch::Default)?;
    let regret = exam.grade(&mut player, &mut |_| ControlFlow::Continue(()))?;
    let half = regret.all.seeds_lost.half;
    Ok(RegretScore {
        seconds: 0.0,
        step: agent.metadata.step,
        positions: regret.all.positions,
        reference: regret.reference,
        optimal: regret.all.optimal.share,
        outcome_changing: regret.all.outcome_changing.share,
        seeds_lost: regret.all.seeds_lost.mean,
        seeds_lost_half: half.is_finite().then_some(half),
    })
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use crate::arena::Reference;
    use crate::ruleset::Variant;
    use crate::ruleset::{Ruleset, RulesetFields};
    use crate::search::EndgameTable;

    fn quietly(_: crate::arena::ExamProgress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// The exams that come with the program, with the settings that ask for them.
    fn solved() -> impl Iterator<Item = (ExamConfig, Exam)> {
        let six = |variant| {
            let fields = RulesetFields {
                columns: Some(6),
                ..RulesetFields::default()
            };
            Ruleset::new(variant, &fields).expect("in range")
        };
        let boards = [six(Variant::EnDodoi), six(Variant::CrossEndodoi)];
        SOLVED.into_iter().zip(boards).map(|(text, ruleset)| {
            let config = exam_config(&Config::of_ruleset(ruleset));
            let exam = Exam::from_json(&config, text).expect("the exam of the defaults");
            (config, exam)
        })
    }

    #[test]
    fn exams_that_come_with_the_program_have_the_positions_that_are_drawn() {
        for (config, exam) in solved() {
            let quick = ExamConfig {
                reference: Reference::AlphaBeta { depth: 1 },
                ..config
            };
            let drawn = Exam::draw(&quick, None, &mut quietly).expect("drawn");
            for (asked, drawn) in exam.questions().iter().zip(drawn.questions()) {
                assert_eq!(asked.position, drawn.position);
                assert!(asked.proven);
            }
            assert_eq!(exam.questions().len(), drawn.questions().len());
        }
    }

    #[test]
    fn exams_that_come_with_the_program_have_the_worths_of_a_table() {
        for (config, exam) in solved() {
            let most = 10;
            let mut watch = |_| ControlFlow::Continue(());
            let table = EndgameTable::build(&config.ruleset, most, Some(1), &mut watch);
            let table = table.expect("built");
            let few = exam
                .questions()
                .iter()
                .filter(|asked| asked.position.board().seeds_on_board() <= most);
            let mut compared = 0;
            for asked in few {
                for worth in &asked.moves {
                    let child = asked.position.play(worth.column.into()).expect("legal");
                    let rest = i32::from(table.value(&child).expect("in the table"));
                    let lead = child.board().lead(asked.position.to_move());
                    assert_eq!(worth.margin, lead - rest, "{}", asked.position);
                    compared += 1;
                }
            }
            assert!(compared > 50, "{compared}");
        }
    }

    #[test]
    #[ignore = "solves every position again, for half a minute"]
    fn exams_that_come_with_the_program_are_those_of_the_solver() {
        for (config, exam) in solved() {
            let drawn = Exam::draw(&config, None, &mut quietly).expect("drawn");
            assert_eq!(exam.questions(), drawn.questions());
        }
    }
}
