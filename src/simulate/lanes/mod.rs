//! Random games in lanes: 64 games side by side, one byte of a vector for each.
//!
//! What a game does depends on its number alone, so the rows are those of the slow twin for every
//! set of instructions.

// The kernel must be inlined into the function that switches the instructions on.
#![allow(clippy::inline_always)]

mod block;
mod game;
mod kernel;
mod pool;
mod rules;

use block::{Block, Games};
use kernel::Table;
use pool::Pool;
use rules::Rules;

use super::table::Columns;
use crate::batch::simd::{Instructions, Kernel, Vector};
use crate::ruleset::Ruleset;

/// Plays games `first..first + rows.len()` of a seed in lanes and writes their rows.
///
/// Returns false, and nothing is written, where the board does not fit the lanes or the
/// instructions are not there.
pub(super) fn play(
    instructions: Instructions,
    ruleset: &Ruleset,
    (seed, first): (u64, u64),
    max_plies: Option<u32>,
    rows: Columns<'_>,
) -> bool {
    let Some(rules) = Rules::of(ruleset, max_plies) else {
        return false;
    };
    let mut games = Games {
        seed,
        first,
        rows,
        max_plies,
        next: 0,
    };
    let table = Table {
        block: &mut Block::new(),
        pool: &mut Pool::new(),
        rules: &rules,
        games: &mut games,
    };
    instructions.run(Play(table)).is_some()
}

/// All games of a part of a simulation.
struct Play<'a, 'b>(Table<'a, 'b>);

impl Kernel for Play<'_, '_> {
    type Output = ();

    /// Plays with code of its own for the traditional sizes.
    #[inline(always)]
    fn run<V: Vector>(self, v: V) {
        match self.0.rules.pits() {
            12 => kernel::play::<V, 12>(v, self.0),
            16 => kernel::play::<V, 16>(v, self.0),
            20 => kernel::play::<V, 20>(v, self.0),
            _ => kernel::play::<V, 0>(v, self.0),
        }
    }
}
