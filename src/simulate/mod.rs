//! Many games between two players, one row a game, and what they say together.

mod end;
pub(crate) mod lockstep;
mod tally;

pub use end::EndCode;
pub use tally::GameRow;
