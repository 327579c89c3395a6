//! The Maasai mancala games En Dodoi and En Gehé: exact rules, lockstep simulation, search and
//! self-play training.
//!
//! # Quick start
//!
//! ```
//! use endodoi::{Position, Variant};
//!
//! let mut position = Position::start(&Variant::EnDodoi.ruleset());
//! while let Some(column) = position.legal_moves().nth(0) {
//!     position = position.play(column)?;
//! }
//! println!("{position} {:?}", position.outcome());
//! # Ok::<(), endodoi::MoveError>(())
//! ```
//!
//! # Layers
//!
//! Each module uses only modules named before it.
//!
//! | module | holds |
//! |---|---|
//! | [`side`], [`pit`] | the two sides; ring indices, opposite pits, sets of columns |
//! | [`rng`] | random streams from (row seed, episode) |
//! | [`ruleset`] | sizes and options of the rules, variants |
//! | [`board`] | seeds in pits and captured |
//! | [`sowing`] | one move: laps, relay, capture |
//! | [`position`] | set-up, legal moves, play, outcome |
//! | [`notation`] | text of positions, game records |
//! | [`render`] | pictures of positions: text, SVG, pixels |
//! | [`mod@perft`] | counts of move sequences, digest of fixed games |
//! | [`mod@reference`] | the rules once more, slowly, one function a clause |
//! | [`batch`] | the lockstep engine: lanes of boards, step, masks, autoreset, observations |
//! | [`search`] | alpha-beta; endgame tables; Monte Carlo and Gumbel tree search over an [`search::Evaluator`] |
//! | [`policy`] | players: random, greedy, alpha-beta, Monte Carlo, agent, committee; the network without torch |
//! | [`environment`] | games as an agent meets them: opponents inside `step`, every autoreset |
//! | [`simulate`] | many games between two players, statistics |
//! | [`arena`] | paired matches with intervals |
//!
//! # Features
//!
//! None by default: the crate is plain Rust. `python` builds the extension module
//! `endodoi._core`; `train` builds the trainer on libtorch and its program `endodoi-train`.

pub mod arena;
pub mod batch;
#[cfg(feature = "python")]
mod bindings;
pub mod board;
mod draw;
pub mod environment;
pub mod notation;
pub mod perft;
pub mod pit;
pub mod policy;
pub mod position;
pub mod reference;
pub mod render;
pub mod rng;
pub mod ruleset;
pub mod search;
pub mod side;
pub mod simulate;
pub mod sowing;
#[cfg(feature = "train")]
pub mod train;
mod whole_file;

pub use board::Board;
pub use notation::{GameRecord, NotationError, RecordError};
pub use perft::perft;
pub use pit::PitSet;
pub use position::{EndReason, MoveError, Outcome, Position, Setup, SetupError};
pub use ruleset::{Direction, Endless, LoneCapture, Ruleset, RulesetError, RulesetFields, Variant};
pub use side::Side;
pub use sowing::{Sowing, SowingEnd};
