//! The text that names a player.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::policy::agent::AlphaBetaForm;
use crate::policy::committee::{self, Committee, Member};
use crate::policy::{
    Agent, AgentSearch, AlphaBeta, Greedy, Mcts, Perfect, Policy, PolicyError, Random, members,
};
use crate::search::{AlphaBetaConfig, MAX_DEPTH, MAX_SIMULATIONS};

/// The forms that [`PolicySpec`] reads.
const FORMS: &str = "random, greedy, perfect[@table=FILE], alphabeta:N with N from 1 to 64, alphabeta:nodes=N, alphabeta:seconds=S, mcts:N with N from 1 to 1000000, agent:FILE|RUN_DIR|NAME[@depth=N|@nodes=N|@seconds=S|@sims=N|@mcts=N|@none], or committee:PLAYER+PLAYER+... of up to 100 players, each as [Nx][WEIGHT*]PLAYER or [Nx][WEIGHT*]{PLAYER}";

/// A player as users name it: `random`, `greedy`, `alphabeta:4`, `mcts:800`,
/// `agent:runs/x@sims=32`.
///
/// ```
/// use endodoi::policy::{Policy, PolicySpec};
/// use endodoi::search::AlphaBetaConfig;
///
/// let spec: PolicySpec = "alphabeta:4".parse()?;
/// assert_eq!(spec, PolicySpec::AlphaBeta(AlphaBetaConfig::of_depth(4)));
/// assert_eq!(spec.build()?.name(), "alphabeta:4");
/// let error = "alphabeta:65".parse::<PolicySpec>().unwrap_err();
/// assert!(error.to_string().starts_with("player is \"alphabeta:65\", expected"));
/// # Ok::<(), endodoi::policy::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicySpec {
    /// `random`: uniform over the legal moves.
    Random,
    /// `greedy`: the same as `alphabeta:1`.
    Greedy,
    /// `alphabeta:N`, a search of fixed depth; `alphabeta:nodes=N` or `alphabeta:seconds=S`; with
    /// `@table=BYTES` or `@threads=N` for what it may use.
    AlphaBeta(AlphaBetaConfig),
    /// `perfect`: a best move of the exact solver; `perfect@table=FILE` with an endgame table.
    Perfect {
        /// The file of a table in place of those that the solver builds by itself.
        table: Option<PathBuf>,
    },
    /// `mcts:N`: a tree search by random games.
    Mcts {
        /// Simulations for each move, 1 to [`MAX_SIMULATIONS`].
        simulations: u32,
    },
    /// `agent:FILE_RUN_OR_NAME`, with `@depth=N`, `@nodes=N`, `@seconds=S`, `@sims=N`, `@mcts=N` or
    /// `@none` for how it searches.
    Agent {
        /// The agent file, or the folder of a training run.
        path: PathBuf,
        /// How it chooses its moves.
        search: AgentSearch,
    },
    /// `committee:greedy+8x2*mcts:20+{agent:a+b}`: players that vote; `8x` stands for eight of
    /// them, `2*` for the weight of the vote of each, braces keep a player together.
    Committee(Vec<MemberSpec>),
}

/// A member of a committee as users name it.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberSpec {
    /// The player.
    pub spec: PolicySpec,
    /// What its vote counts; a number.
    pub weight: f64,
}

// A weight is compared as the number that it is.
impl Eq for MemberSpec {}

impl PolicySpec {
    /// Makes the player.
    ///
    /// # Errors
    /// [`PolicyError`] when depth or simulations are out of range or the file of an agent or a table cannot be
    /// used.
    pub fn build(&self) -> Result<Box<dyn Policy>, PolicyError> {
        match self {
            PolicySpec::Random => Ok(Box::new(Random)),
            PolicySpec::Greedy => Ok(Box::<Greedy>::default()),
            PolicySpec::AlphaBeta(config) => match AlphaBeta::with(*config) {
                Ok(policy) => Ok(Box::new(policy)),
                Err(_) => Err(refuse(&self.to_string())),
            },
            PolicySpec::Perfect { table: None } => Ok(Box::<Perfect>::default()),
            PolicySpec::Perfect { table: Some(path) } => {
                Ok(Box::new(Perfect::default().with_table(path)?))
            }
            PolicySpec::Mcts { simulations } => match Mcts::new(*simulations) {
                Ok(policy) => Ok(Box::new(policy)),
                Err(_) => Err(refuse(&self.to_string())),
            },
            PolicySpec::Agent { path, search } => Ok(Box::new(Agent::load(path, *search)?)),
            PolicySpec::Committee(members) => {
                let build = |member: &MemberSpec| {
                    let (policy, weight) = (member.spec.build()?, member.weight);
                    Ok(Member { policy, weight })
                };
                let members = members
                    .iter()
                    .map(build)
                    .collect::<Result<_, PolicyError>>()?;
                Ok(Box::new(Committee::new(members)?))
            }
        }
    }

    /// Returns the players that it stands for, members of members included.
    pub(super) fn players(&self) -> usize {
        match self {
            PolicySpec::Committee(members) => {
                members.iter().map(|member| member.spec.players()).sum()
            }
            _ => 1,
        }
    }
}

impl FromStr for PolicySpec {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<PolicySpec, PolicyError> {
        if let Some(path) = text.strip_prefix("perfect@table=") {
            return if path.is_empty() {
                Err(refuse(text))
            } else {
                let table = Some(PathBuf::from(path));
                Ok(PolicySpec::Perfect { table })
            };
        }
        match text.split_once(':') {
            None if text == "random" => Ok(PolicySpec::Random),
            None if text == "greedy" => Ok(PolicySpec::Greedy),
            None if text == "perfect" => Ok(PolicySpec::Perfect { table: None }),
            Some(("alphabeta", settings)) => AlphaBetaConfig::parse(settings)
                .map(PolicySpec::AlphaBeta)
                .ok_or_else(|| refuse(text)),
            Some(("mcts", simulations)) => count(simulations, MAX_SIMULATIONS)
                .map(|simulations| PolicySpec::Mcts { simulations })
                .ok_or_else(|| refuse(text)),
            Some(("agent", rest)) => parse_agent(rest).ok_or_else(|| refuse(text)),
            Some(("committee", members)) => members::read(text, members).map(PolicySpec::Committee),
            _ => Err(refuse(text)),
        }
    }
}

impl fmt::Display for PolicySpec {
    /// Writes the text that [`PolicySpec::from_str`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PolicySpec::Random => f.write_str("random"),
            PolicySpec::Greedy => f.write_str("greedy"),
            PolicySpec::AlphaBeta(config) => write!(f, "alphabeta:{config}"),
            PolicySpec::Perfect { table: None } => f.write_str("perfect"),
            PolicySpec::Perfect { table: Some(path) } => {
                write!(f, "perfect@table={}", path.display())
            }
            PolicySpec::Mcts { simulations } => write!(f, "mcts:{simulations}"),
            PolicySpec::Agent { path, search } => {
                write!(f, "agent:{}", path.display())?;
                match search {
                    AgentSearch::Default => Ok(()),
                    AgentSearch::AlphaBeta(config) => write!(f, "@{}", AlphaBetaForm(config)),
                    AgentSearch::Simulations(count) => write!(f, "@sims={count}"),
                    AgentSearch::Mcts(count) => write!(f, "@mcts={count}"),
                    AgentSearch::None => f.write_str("@none"),
                }
            }
            PolicySpec::Committee(members) => {
                let names: Vec<String> = members.iter().map(|m| m.spec.to_string()).collect();
                let names = names.iter().map(String::as_str);
                let weights = members.iter().map(|member| member.weight);
                f.write_str(&committee::name_of(names.zip(weights)))
            }
        }
    }
}

fn refuse(text: &str) -> PolicyError {
    PolicyError::Spec {
        spec: text.to_owned(),
        expected: FORMS.to_owned(),
    }
}

/// Reads a whole number from 1 to `most`, digits only.
pub(super) fn count(text: &str, most: u32) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok()?;
    (digits && (1..=most).contains(&number)).then_some(number)
}

/// Reads `PATH`, or `PATH@` and how the agent searches.
///
/// What follows the last `@` is an option if it is `none` or holds `=` but no path separator;
/// any other `@` belongs to the path.
fn parse_agent(text: &str) -> Option<PolicySpec> {
    let (path, search) = match text.rsplit_once('@') {
        Some((path, "none")) => (path, AgentSearch::None),
        Some((path, option)) if option.contains('=') && !option.contains(['/', '\\']) => {
            let (name, number) = option.split_once('=')?;
            let search = match name {
                "sims" => AgentSearch::Simulations(count(number, MAX_SIMULATIONS)?),
                "mcts" => AgentSearch::Mcts(count(number, MAX_SIMULATIONS)?),
                "depth" => {
                    AgentSearch::AlphaBeta(AlphaBetaConfig::of_depth(count(number, MAX_DEPTH)?))
                }
                "nodes" | "seconds" => AgentSearch::AlphaBeta(AlphaBetaConfig::parse(option)?),
                _ => return None,
            };
            (path, search)
        }
        _ => (text, AgentSearch::Default),
    };
    (!path.is_empty()).then(|| PolicySpec::Agent {
        path: PathBuf::from(path),
        search,
    })
}
