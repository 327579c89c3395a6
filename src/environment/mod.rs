//! Games as an agent meets them: both sides, or one side against opponents that answer inside
//! `step`; every way of starting the next game.
//!
//! An [`Environment`] is a [`Batch`](crate::batch::Batch) and whoever plays the other side. Without
//! opponents a step is one ply, and the next agent's turn is the other side's (self-play). With
//! opponents a step is the agent's ply and the answer to it; where the opponent begins, its first
//! ply is played before the game is handed over.
//!
//! ```
//! use endodoi::batch::{BatchConfig, Seeds, StepArrays};
//! use endodoi::environment::{AgentSide, Environment, EnvironmentConfig, Opponent};
//! use endodoi::Variant;
//!
//! let mut config = EnvironmentConfig::new(BatchConfig::new(2, Variant::EnDodoi.ruleset()));
//! config.agent_side = AgentSide::North;
//! let mut environment = Environment::new(config, vec![Opponent::Random])?;
//! environment.reset(Some(&Seeds::Integer(1)), None, &mut || true)?;
//! let mut arrays = StepArrays::new(environment.batch());
//! let action = |row: usize| environment.batch().position(row).map(|p| p.legal_moves().nth(0));
//! let actions = [action(0)?, action(1)?].map(|column| column.unwrap_or(0) as i64);
//! environment.step(&actions, arrays.buffers(), &mut || true)?;
//! assert_eq!(arrays.to_play, [1, 1]);
//! assert_eq!(arrays.plies, [3, 3]);
//! # Ok::<(), endodoi::environment::EnvironmentError>(())
//! ```
//!
//! # Randomness
//! Everything an opponent draws in the game of (row seed, episode) comes from the stream of that
//! game for [`Purpose::Opponent`](crate::rng::Purpose::Opponent): its first word chooses who of
//! several plays the game, the next ones are the moves of players that draw. So a game depends on
//! (row seed, episode), the actions and the opponents alone.

mod answers;
mod config;
mod engine;
mod error;
mod finals;
mod opponent;
mod snapshot;

pub use config::{AgentSide, AutoresetMode, EnvironmentConfig};
pub use engine::Environment;
pub use error::EnvironmentError;
pub use finals::Finals;
pub use opponent::{Function, Opponent};
