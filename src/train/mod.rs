//! The self-play trainer on libtorch.

mod error;
pub mod network;

use std::process::ExitCode;

pub use error::TrainError;

/// Runs the program `endodoi-train` with the arguments of the process.
pub fn main() -> ExitCode {
    ExitCode::FAILURE
}
