//! Many games between two players, one row a game, and what they say together.

mod config;
mod lanes;
pub(crate) mod lockstep;
mod random_games;
mod rows;
mod run;
mod summary;
mod table;
mod tally;

pub use crate::batch::EndCode;
pub use crate::batch::{Instructions, InstructionsError};
pub use config::{SimulateConfig, SimulateError};
pub use run::{Players, Progress, Sink, simulate, simulate_between, simulate_in_chunks};
pub use summary::{Mean, Share, Summary};
pub use table::GameTable;
pub use tally::GameRow;
