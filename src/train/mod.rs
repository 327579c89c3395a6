//! The self-play trainer on libtorch, and its program `endodoi-train`.
//!
//! | module | holds |
//! |---|---|
//! | [`config`] | all settings, their defaults and ranges |
//! | [`network`] | the Gumbel network on libtorch and the evaluator of its self-play |
//! | [`value_network`] | the value network on libtorch |
//! | [`model`] | either of them, with its losses |
//! | [`target`] | value targets from searched values and the game's end |
//! | [`replay`] | the ring of positions that training draws from |
//! | [`selfplay`] | groups of games in lockstep |
//! | [`learner`] | batches, losses, optimiser, running average of the weights |
//! | [`tasks`] | the threads of an iteration |
//! | [`queue`], [`chunk`] | positions on their way from actors to the learner, as files |
//! | [`actor`], [`follow`] | programs that play for a run, and measure it |
//! | [`state`], [`sealed`], [`checkpoint`], [`folder`] | a run's state and files |
//! | `parts` | the parts of a run, into its state and out of it |
//! | [`saved_games`] | games in progress as arrays of a run's state |
//! | [`metrics`], [`tensorboard`], [`progress`] | measurements as JSON lines and events, and what the user sees |
//! | [`evaluate`], [`background`] | games against fixed opponents, and regret beside training |
//! | [`best`], [`final_table`] | the best agent, and its games at the end |
//! | [`run`] | the loop that joins them |
//! | [`about`] | what the program is built of and finds |
//! | [`cli`] | the command line |

pub mod about;
pub mod actor;
pub mod background;
pub mod best;
pub mod checkpoint;
pub mod chunk;
pub mod cli;
pub mod config;
mod error;
pub mod evaluate;
pub mod final_table;
pub mod folder;
pub mod follow;
pub mod learner;
pub mod metrics;
pub mod model;
pub mod network;
mod parts;
pub mod progress;
pub mod queue;
pub mod replay;
pub mod run;
pub mod saved_games;
pub mod sealed;
pub mod selfplay;
pub mod state;
pub mod target;
pub mod tasks;
pub mod tensorboard;
pub mod value_network;

use std::process::ExitCode;

use clap::Parser;

pub use error::TrainError;

/// Runs the program `endodoi-train` with the arguments of the process.
pub fn main() -> ExitCode {
    match cli::Cli::parse().execute() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.status())
        }
    }
}
