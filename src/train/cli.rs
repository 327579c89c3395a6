//! The command line of `endodoi-train`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::TrainError;
use super::about::About;
use super::actor::{self, Actor, ActorLimits};
use super::config::{Config, merge};
use super::evaluate::{Evaluation, EvaluationPlan, FINAL_OPPONENTS};
use super::folder::RunFolder;
use super::follow::Follower;
use super::progress::{Progress, Show};
use super::run::{Ending, Run};
use crate::policy::AgentSearch;
use crate::policy::agent_file::{AgentFile, Learner};
use crate::ruleset::{Ruleset, RulesetFields};
use crate::search::{AlphaBetaConfig, SearchLimit};

/// Status of a program that a second Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// Trains an agent by self-play.
#[derive(Debug, Parser)]
#[command(
    name = "endodoi-train",
    version,
    about = "Trains an agent for En Dodoi, En Gehé or Cross-Endodoi by self-play",
    args_conflicts_with_subcommands = true,
    allow_negative_numbers = true
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Train an agent, then show how well it plays (the default)
    Run(Box<RunArgs>),
    /// Train on what actors play: take their positions, publish weights for them
    Learn(Box<LearnArgs>),
    /// Play as an actor for a run that `learn` trains
    Selfplay(SelfPlayArgs),
    /// Show how well an agent plays against random, greedy and alphabeta:4
    Evaluate(EvaluateArgs),
    /// Say what this program is built of and what it finds on this machine
    About {
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Clone, Debug, Default, Args)]
struct RulesArgs {
    /// The game: en-dodoi, en-gehe or cross-endodoi
    #[arg(long)]
    variant: Option<String>,
    /// Pits in a row, 1 to 64
    #[arg(long)]
    columns: Option<i64>,
    /// Seeds in every pit at the start, 1 to 64
    #[arg(long)]
    seeds_per_pit: Option<i64>,
}

#[derive(Debug, Args)]
struct SettingArgs {
    /// Configuration file in TOML; the options below win over it
    #[arg(long)]
    config: Option<PathBuf>,
    /// What is learnt: gumbel (policy and value, for tree search) or value (for alpha-beta)
    #[arg(long)]
    learner: Option<Learner>,
    #[command(flatten)]
    rules: RulesArgs,
    /// Start from the weights of this agent: its file, or the folder of its run
    #[arg(long, value_name = "AGENT")]
    start: Option<String>,
    /// Minutes of training
    #[arg(long)]
    minutes: Option<f64>,
    /// Optimiser steps after which training ends
    #[arg(long, value_parser = whole_number())]
    steps: Option<u64>,
    /// Games of self-play after which training ends
    #[arg(long, value_parser = whole_number())]
    games: Option<u64>,
    /// Seed of the first weights, of self-play and of the batches
    #[arg(long, value_parser = whole_number())]
    seed: Option<u64>,
    /// Threads; 0 takes one for every core
    #[arg(long)]
    workers: Option<usize>,
    /// Games against each opponent in the final table, even; 0 leaves it out
    #[arg(long, value_parser = whole_number())]
    final_games: Option<u64>,
    /// Any setting of the configuration, as optimiser.batch=256; as often as wanted
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = one_setting)]
    settings: Vec<toml::Table>,
    #[command(flatten)]
    shown: ShownArgs,
}

#[derive(Debug, Args)]
struct ShownArgs {
    /// How progress is shown
    #[arg(long, value_enum, default_value_t)]
    progress: Show,
    /// Show no progress: --progress none
    #[arg(long, conflicts_with = "progress")]
    quiet: bool,
}

#[derive(Debug, Args)]
struct AttachedArgs {
    /// End when the standard input is closed, as when the program that started this one is gone
    #[arg(long)]
    attached: bool,
}

#[derive(Debug, Args)]
struct RunArgs {
    #[command(flatten)]
    given: SettingArgs,
    /// Folder of the run; runs/VARIANT-2xC-NUMBER by default
    #[arg(long, conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Go on with the run of this folder
    #[arg(
        long,
        value_name = "RUN",
        conflicts_with_all = ["config", "learner", "variant", "columns", "seeds_per_pit", "seed", "start"]
    )]
    resume: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct LearnArgs {
    /// Folder of the run, which starts or goes on
    #[arg(long)]
    run: PathBuf,
    #[command(flatten)]
    given: SettingArgs,
    #[command(flatten)]
    life: AttachedArgs,
}

#[derive(Debug, Args)]
struct SelfPlayArgs {
    /// Folder of the run
    #[arg(long)]
    run: PathBuf,
    /// Number of this actor; the first that no program has by default
    #[arg(long)]
    actor: Option<u32>,
    /// Threads; 0 takes one for every core, those of the run's settings by default
    #[arg(long)]
    workers: Option<usize>,
    /// Games after which it ends, if the run goes on
    #[arg(long, value_parser = whole_number())]
    games: Option<u64>,
    /// Minutes after which it ends, if the run goes on
    #[arg(long)]
    minutes: Option<f64>,
    /// Seconds to wait for the run to begin
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    wait: u64,
    #[command(flatten)]
    shown: ShownArgs,
    #[command(flatten)]
    life: AttachedArgs,
}

#[derive(Debug, Args)]
struct EvaluateArgs {
    /// Agent file, or the folder of a run
    #[arg(long)]
    agent: PathBuf,
    /// Measure every agent that `learn` publishes in this run, as its settings say
    #[arg(
        long,
        conflicts_with_all = [
            "games", "simulations", "depth", "no_search", "openings", "seed", "against", "variant",
            "columns", "seeds_per_pit"
        ]
    )]
    follow: bool,
    /// Games against each opponent, even
    #[arg(long, default_value_t = 400)]
    games: u64,
    /// Simulations of a move; those named by the agent's file by default
    #[arg(long)]
    simulations: Option<u32>,
    /// Plies that a value agent looks ahead; those named by its file by default
    #[arg(long, conflicts_with = "simulations")]
    depth: Option<u32>,
    /// The network alone, without search
    #[arg(long, conflicts_with_all = ["simulations", "depth"])]
    no_search: bool,
    /// Random plies of each opening
    #[arg(long, default_value_t = 4)]
    openings: u32,
    /// Seed of the openings
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Opponents, as many as wanted
    #[arg(long, num_args = 1.., default_values_t = FINAL_OPPONENTS.map(str::to_owned))]
    against: Vec<String>,
    #[command(flatten)]
    rules: RulesArgs,
}

impl Cli {
    /// Does what the command line asks for.
    ///
    /// # Errors
    /// [`TrainError`] to be shown to the user.
    pub fn execute(self) -> Result<(), TrainError> {
        match self.command {
            Some(Command::Run(args)) => train(&args),
            Some(Command::Learn(args)) => learn(&args),
            Some(Command::Selfplay(args)) => self_play(&args),
            Some(Command::Evaluate(args)) => evaluate(&args),
            Some(Command::About { json }) => about(json),
            None => train(&self.run),
        }
    }
}

/// Reads the whole numbers that TOML can hold.
fn whole_number() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(..=i64::MAX as u64)
}

/// Reads a setting as a line of a configuration file; a text needs no quotation marks.
fn one_setting(text: &str) -> Result<toml::Table, String> {
    let quoted = || {
        let (key, value) = text.split_once('=')?;
        let value = toml::Value::String(value.trim().to_owned());
        format!("{key} = {value}").parse().ok()
    };
    let read = text.parse::<toml::Table>().ok().or_else(quoted);
    read.filter(|table| !table.is_empty())
        .ok_or_else(|| "expected KEY=VALUE, as optimiser.batch=256".to_owned())
}

impl AttachedArgs {
    /// Sets a flag when the standard input is closed, if that is asked for.
    fn stop_with_input(&self, stop: &Arc<AtomicBool>) {
        if !self.attached {
            return;
        }
        let flag = Arc::clone(stop);
        thread::spawn(move || {
            // An input that cannot be read is as good as closed.
            let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
            flag.store(true, Ordering::Relaxed);
        });
    }
}

impl ShownArgs {
    fn progress(&self) -> Progress {
        Progress::new(if self.quiet {
            Show::None
        } else {
            self.progress
        })
    }
}

impl SettingArgs {
    /// Refuses settings that a run that goes on cannot change.
    fn check_resumed(&self) -> Result<(), TrainError> {
        for key in ["seed", "ruleset", "network", "learner", "start"] {
            if self.settings.iter().any(|table| table.contains_key(key)) {
                return Err(TrainError::Setting {
                    field: "--set",
                    value: key.to_owned(),
                    expected: "a setting that can change while a run goes on".to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Returns the settings for the run of a file, which goes on with the same command that started
    /// it, or with changes that a run that goes on allows.
    fn of_run(&self, file: &Path) -> Result<Config, TrainError> {
        let before = Config::load(Some(file), toml::Table::new())?;
        let from = self.config.as_deref().unwrap_or(file);
        let now = before.reload(Some(from), self.table())?;
        let same = [
            ("learner", before.learner == now.learner),
            ("seed", before.seed == now.seed),
            ("ruleset", before.ruleset == now.ruleset),
            ("network", before.shape() == now.shape()),
            ("start", before.start == now.start),
        ];
        match same.into_iter().find(|&(_, same)| !same) {
            Some((key, _)) => Err(TrainError::Setting {
                field: "--run",
                value: file.with_file_name("").display().to_string(),
                expected: format!("a folder without a run, or a run of the same {key}"),
            }),
            None => Ok(now),
        }
    }

    /// Returns the options given as a table like that of a configuration file.
    fn table(&self) -> toml::Table {
        let mut table = toml::Table::new();
        let mut budget = toml::Table::new();
        let mut rules = toml::Table::new();
        let whole = |value: u64| toml::Value::Integer(value as i64);
        let put = |table: &mut toml::Table, key: &str, value: Option<toml::Value>| {
            if let Some(value) = value {
                table.insert(key.to_owned(), value);
            }
        };
        put(&mut budget, "minutes", self.minutes.map(Into::into));
        put(&mut budget, "steps", self.steps.map(whole));
        put(&mut budget, "games", self.games.map(whole));
        let given = &self.rules;
        put(&mut rules, "variant", given.variant.clone().map(Into::into));
        put(&mut rules, "columns", given.columns.map(Into::into));
        put(
            &mut rules,
            "seeds_per_pit",
            given.seeds_per_pit.map(Into::into),
        );
        let learner = self.learner.map(|learner| learner.name().into());
        put(&mut table, "learner", learner);
        put(&mut table, "seed", self.seed.map(whole));
        put(&mut table, "start", self.start.clone().map(Into::into));
        put(&mut table, "workers", self.workers.map(|n| whole(n as u64)));
        if let Some(games) = self.final_games {
            let mut evaluation = toml::Table::new();
            evaluation.insert("final_games".to_owned(), whole(games));
            table.insert("evaluation".to_owned(), evaluation.into());
        }
        for (key, part) in [("budget", budget), ("ruleset", rules)] {
            if !part.is_empty() {
                table.insert(key.to_owned(), part.into());
            }
        }
        for setting in &self.settings {
            merge(&mut table, setting.clone());
        }
        table
    }
}

fn train(args: &RunArgs) -> Result<(), TrainError> {
    let stop = stop_on_interrupt()?;
    let given = &args.given;
    let run = if let Some(path) = &args.resume {
        given.check_resumed()?;
        let file = path.join("config.toml");
        Run::resume(Config::load(Some(&file), given.table())?, path)?
    } else {
        let config = Config::begin(given.config.as_deref(), given.table())?;
        let path = args.out.clone();
        let path = path.unwrap_or_else(|| RunFolder::free_name(&config));
        Run::start(config, &path)?
    };
    train_and_show(run, "--resume", given.shown.progress(), &stop)
}

/// Starts a run for which actors play, or goes on with it.
fn learn(args: &LearnArgs) -> Result<(), TrainError> {
    let stop = stop_on_interrupt()?;
    args.life.stop_with_input(&stop);
    let (path, given) = (&args.run, &args.given);
    let file = path.join("config.toml");
    let mut run = if file.exists() {
        Run::resume(given.of_run(&file)?, path)?
    } else {
        let config = Config::begin(given.config.as_deref(), given.table())?;
        Run::start(config, path)?
    };
    run.learn_from_queue()?;
    train_and_show(run, "learn --run", given.shown.progress(), &stop)
}

/// Trains, says how to go on if it was stopped, else shows what the agent is worth.
fn train_and_show(
    mut run: Run,
    resume: &str,
    mut progress: Progress,
    stop: &AtomicBool,
) -> Result<(), TrainError> {
    for note in run.notes() {
        progress.say(note);
    }
    progress.say(&run.describe());
    let ending = run.train(stop, &mut progress)?;
    let folder = run.folder().path().display();
    if ending == Ending::Stopped {
        let program = std::env::args().next();
        let program = quoted(&program.unwrap_or_else(|| "endodoi-train".to_owned()));
        return print(&format!("stopped; go on with: {program} {resume} {folder}"));
    }
    match run.evaluate(stop, &mut progress) {
        Ok(Some(table)) => print(&table.to_string())?,
        Ok(None) if stop.load(Ordering::Relaxed) => print("no table: stopped")?,
        Ok(None) => {}
        // On the smallest boards no opening leaves a game open: the agent is there all the same.
        Err(TrainError::Arena(error)) => print(&format!("no table: {error}"))?,
        Err(error) => return Err(error),
    }
    let folder = run.folder();
    let mut lines = Vec::new();
    let agent = match run.best() {
        Some(best) => {
            lines.push(format!("best agent:     {best}"));
            folder.best()
        }
        None => folder.agent(),
    };
    lines.push(format!("agent:          {}", agent.display()));
    lines.push(format!("measurements:   {}", folder.metrics().display()));
    print(&lines.join("\n"))
}

/// Plays for a run until it is finished.
fn self_play(args: &SelfPlayArgs) -> Result<(), TrainError> {
    let stop = stop_on_interrupt()?;
    args.life.stop_with_input(&stop);
    let folder = joined(&args.run, Duration::from_secs(args.wait), &stop)?;
    let mut options = toml::Table::new();
    if let Some(workers) = args.workers {
        let workers = toml::Value::Integer(workers as i64);
        options.insert("workers".to_owned(), workers);
    }
    let config = Config::load(Some(&folder.config()), options)?;
    let limits = ActorLimits {
        games: args.games,
        minutes: args.minutes,
    };
    let mut actor = Actor::join(config, &folder, args.actor)?;
    let mut progress = args.shown.progress();
    let work = actor.play(&limits, &stop, &mut progress)?;
    print(&format!(
        "actor {}: {} games, {} positions",
        actor.number(),
        work.games,
        work.positions
    ))
}

/// Says what the program is built of and what it finds.
fn about(json: bool) -> Result<(), TrainError> {
    let about = About::program();
    if !json {
        return print(&about.to_string());
    }
    let text = serde_json::to_string(&about);
    print(&text.map_err(|error| TrainError::file("the standard output", error.into()))?)
}

/// Writes a line for the user to the standard output.
fn print(text: &str) -> Result<(), TrainError> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")
        .and_then(|()| out.flush())
        .map_err(|error| TrainError::file("the standard output", error))
}

/// Writes a word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    if word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Sets a flag at the first Ctrl-C or request to end; the second one ends the program at once.
fn stop_on_interrupt() -> Result<Arc<AtomicBool>, TrainError> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let signals = Signals::new([SIGINT, SIGTERM, SIGHUP]);
    let mut signals = signals.map_err(|error| TrainError::file("signals", error))?;
    thread::spawn(move || {
        for _ in signals.forever() {
            if flag.swap(true, Ordering::Relaxed) {
                // Clears nothing up: the threads of libtorch are still at work.
                signal_hook::low_level::exit(INTERRUPTED);
            }
            // That the error output is gone is no reason to end before the checkpoint.
            let _ = writeln!(std::io::stderr(), "\nstopping; once more ends at once");
        }
    });
    Ok(stop)
}

fn evaluate(args: &EvaluateArgs) -> Result<(), TrainError> {
    if args.follow {
        return follow(&args.agent);
    }
    let search = match (args.no_search, args.simulations, args.depth) {
        (true, ..) => AgentSearch::None,
        (_, Some(count), _) => AgentSearch::Simulations(count),
        (_, _, Some(depth)) => {
            AgentSearch::AlphaBeta(AlphaBetaConfig::new(SearchLimit::Depth(depth)))
        }
        _ => AgentSearch::Default,
    };
    let path = crate::policy::agent::agent_file(&args.agent)?;
    let file = AgentFile::read(&path).map_err(|error| TrainError::checkpoint(&path, &error))?;
    let plan = EvaluationPlan {
        ruleset: args.rules.ruleset(&file.metadata.ruleset)?,
        games: args.games,
        openings: args.openings,
        seed: args.seed,
    };
    let opponents: Vec<&str> = args.against.iter().map(String::as_str).collect();
    let label = path.display().to_string();
    let evaluation = Evaluation::play(&label, &file, search, &opponents, &plan, |_, _| {})?;
    print(&evaluation.table())
}

/// Measures what a learner publishes until its run is finished.
fn follow(path: &Path) -> Result<(), TrainError> {
    let stop = stop_on_interrupt()?;
    let run = joined(path, Duration::from_secs(60), &stop)?;
    let config = Config::load(Some(&run.config()), toml::Table::new())?;
    let mut progress = Progress::new(Show::Plain);
    Follower::open(&config, &run)?.measure(&stop, &mut progress)
}

/// Waits until a learner has begun a run.
fn joined(path: &Path, patience: Duration, stop: &AtomicBool) -> Result<RunFolder, TrainError> {
    let run = RunFolder::of_other(path);
    if actor::wait_for_run(&run, patience, stop) {
        Ok(run)
    } else {
        Err(TrainError::NoRun {
            path: path.to_path_buf(),
        })
    }
}

impl RulesArgs {
    /// Returns the rules given, those of the agent where none are given.
    fn ruleset(&self, of_agent: &Ruleset) -> Result<Ruleset, TrainError> {
        let variant = match &self.variant {
            Some(name) => name.parse()?,
            None => of_agent.variant(),
        };
        if self.variant.is_none() && self.columns.is_none() && self.seeds_per_pit.is_none() {
            return Ok(*of_agent);
        }
        let base = match self.variant {
            Some(_) => RulesetFields::default(),
            None => RulesetFields {
                quiet_limit: None,
                ..(*of_agent).into()
            },
        };
        let fields = RulesetFields {
            columns: self.columns.or(base.columns),
            seeds_per_pit: self.seeds_per_pit.or(base.seeds_per_pit),
            ..base
        };
        Ok(Ruleset::new(variant, &fields)?)
    }
}
