//! The lockstep engine: many games advanced together, ply by ply.
//!
//! Axis letters of every array: `B` rows (games), `N = 2C` pits, `C` columns (actions), `T` plies.
//!
//! A [`Batch`] holds `B` games as lanes of blocks of 64. [`Batch::step`] plays one column in every
//! game and writes rewards, ends, observations and exact masks of legal moves into arrays of the
//! caller. [`Batch::children`] plays every legal column of every game on a copy, with the same
//! kernels, and writes what each leads to. A game depends on (row seed, episode) and the actions
//! alone: never on the number of threads or on how rows are split into batches.
//!
//! ```
//! use endodoi::batch::{Batch, BatchConfig, Seeds, StepArrays};
//! use endodoi::Variant;
//!
//! let mut batch = Batch::new(BatchConfig::new(3, Variant::CrossEndodoi.ruleset()))?;
//! batch.reset(Some(&Seeds::Integer(7)), None)?;
//! let mut arrays = StepArrays::new(&batch);
//! batch.step(&[3, 0, 5], arrays.buffers())?;
//! // Row 0 captured 5 seeds; North sees its own row first.
//! assert_eq!(arrays.observations[..12], [4, 4, 0, 4, 4, 0, 0, 5, 5, 1, 0, 4]);
//! assert_eq!(arrays.captured[..2], [5, 0]);
//! assert_eq!(arrays.to_play, [1, 1, 1]);
//! # Ok::<(), endodoi::batch::BatchError>(())
//! ```
//!
//! # Shape
//!
//! A block keeps one array for each thing it knows of its 64 games, and their boards in the shape
//! that was measured to be fastest:
//!
//! - *Lanes*, with vector instructions, for boards of up to 32 pits and 255 seeds: a row of bytes
//!   holds one pit of all 64 boards, and all lanes sow lap by lap together. Masks are found for
//!   many blocks at once: a lane whose sowing has ended takes the next candidate of any board, and
//!   long sowings leave their lanes to be followed several at a time, so that none holds up others.
//! - *Packed*, the same boards on every processor: a byte a pit in one to four words, where a lap
//!   is a table look-up and an addition, four candidates in flight.
//! - *Rows*, on every processor, for larger boards and up to 12 seeds a pit: a row of bytes
//!   holds one board, and one addition of 32 bytes sows a lap. 64 sowings go lap by lap together;
//!   those of a few laps are seen to end without being sown.
//! - *Wide*, all other boards: rows of `u16`, whose candidates are followed on a copy of a byte a
//!   pit.
//!
//! What a shape cannot tell is left to the scalar rules of [`sowing`](crate::sowing), so that the
//! answer is the same for every lap limit and every set of instructions. Steps allocate nothing
//! unless random openings are drawn.

mod block;
mod boards;
mod buffers;
mod children;
mod config;
mod end;
mod engine;
mod error;
mod known;
mod lanes;
mod light;
pub(crate) mod opening;
mod packed;
mod pending;
mod ply;
mod rows;
pub(crate) mod simd;
pub(crate) mod snapshot;
mod stopped;
mod transpose;
mod trial;
pub(crate) mod turns;
mod wide;

pub(crate) use boards::lanes_of;
pub use buffers::{StepArrays, StepBuffers};
pub use children::{ChildArrays, ChildBuffers};
pub use config::{Autoreset, BatchConfig, IllegalMove, Seeds};
pub use end::EndCode;
pub use engine::Batch;
pub use error::{BatchError, IllegalReason, SnapshotError};
pub use simd::{Instructions, InstructionsError};

/// Lanes in a block: one bit of a word each.
const LANES: usize = 64;
