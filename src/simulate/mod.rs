//! Many games between two players, one row a game, and what they say together.

mod chunks;
mod config;
mod estimate;
mod follow;
mod histogram;
mod lanes;
pub(crate) mod lockstep;
mod random_games;
mod rows;
mod run;
mod statistics;
mod summary;
mod table;
mod tally;

pub use crate::batch::EndCode;
pub use crate::batch::{Instructions, InstructionsError};
pub use config::{SimulateConfig, SimulateError};
pub use estimate::{Mean, Share};
pub use follow::{Detail, sample_size};
pub use histogram::Histogram;
pub use run::{Players, Progress, Sink, simulate, simulate_between, simulate_in_parts};
pub use statistics::{Histograms, Statistics};
pub use summary::{Branching, Sample, SideSummary, Summary};
pub use table::GameTable;
pub use tally::GameRow;
