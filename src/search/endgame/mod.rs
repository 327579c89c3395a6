//! Endgame tables: the exact values of all positions with few seeds.
//!
//! | file | holds |
//! |---|---|
//! | `error` | what can go wrong |
//! | `ranking` | a number for every board, without gaps |
//! | `ring`, `narrow`, `wide` | moves forwards and backwards, up to 16 pits in a word or pit by pit |
//! | `level` | the values of all boards with one seed count |
//! | `memory`, `build` | one seed count after the other, on all threads |
//! | `map`, `file` | tables as files, read when they are looked at |
//! | `verify` | checksums, values against moves |
//! | `table` | the table and its values |

mod build;
mod error;
mod file;
mod level;
mod map;
mod memory;
mod narrow;
mod ranking;
mod ring;
mod table;
mod verify;
mod wide;

pub use build::{TableProgress, WatchTable};
pub use error::TableError;
pub use file::TABLE_FORMAT_VERSION;
pub use ranking::{MAX_TABLE_POSITIONS, MAX_TABLE_SEEDS, Ranking};
pub use table::EndgameTable;
pub use verify::VerifyTable;
