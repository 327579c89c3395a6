//! Random games in lanes: 64 games side by side, one byte of a vector for each.
//!
//! What a game does depends on its number alone, so the rows are those of the slow twin for every
//! set of instructions.

// The kernel must be inlined into the function that switches the instructions on.
#![allow(clippy::inline_always)]

mod block;
mod kernel;

use block::{Block, Games, Rules};

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
    };
    let play = Play {
        block: &mut Block::new(),
        rules: &rules,
        games: &mut games,
    };
    instructions.run(play).is_some()
}

/// All games of a part of a simulation.
struct Play<'a, 'b> {
    block: &'a mut Block,
    rules: &'a Rules,
    games: &'a mut Games<'b>,
}

impl Kernel for Play<'_, '_> {
    type Output = ();

    /// Plays with code of its own for the traditional sizes.
    #[inline(always)]
    fn run<V: Vector>(self, v: V) {
        let Play {
            block,
            rules,
            games,
        } = self;
        match rules.ring.pits {
            12 => kernel::play::<V, 12>(v, block, rules, games),
            16 => kernel::play::<V, 16>(v, block, rules, games),
            20 => kernel::play::<V, 20>(v, block, rules, games),
            _ => kernel::play::<V, 0>(v, block, rules, games),
        }
    }
}
