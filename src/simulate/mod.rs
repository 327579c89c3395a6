//! Many games between two players, one row a game, and what they say together.

mod config;
mod end;
mod lanes;
pub(crate) mod lockstep;
mod random_games;
mod run;
mod summary;
mod table;
mod tally;

pub use config::{SimulateConfig, SimulateError};
pub use end::EndCode;
pub use lanes::Instructions;
pub use run::{Progress, simulate, simulate_between};
pub use summary::{Mean, Share, Summary};
pub use table::GameTable;
pub use tally::GameRow;
