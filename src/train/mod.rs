//! The self-play trainer on libtorch.

use std::process::ExitCode;

/// Runs the program `endodoi-train` with the arguments of the process.
pub fn main() -> ExitCode {
    ExitCode::FAILURE
}
