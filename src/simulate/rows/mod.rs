//! Random games on large boards: 64 games side by side, each board a row of bytes.
//!
//! All games play ply by ply together; within a ply, those whose sowing goes on sow lap by lap.
//! What a game does depends on its number alone, so the rows of the table are those of the slow
//! twin, `random_games.rs`, for every set of instructions.

// The kernel must be inlined into the function that switches the instructions on.
#![allow(clippy::inline_always)]

mod block;
mod streams;

use block::{Block, Games, Rules};

use super::lockstep::Limits;
use super::table::Columns;
use crate::batch::simd::{Instructions, RowKernel, RowVector};
use crate::ruleset::Ruleset;
use crate::side::Side;

/// Plays games of a seed, from game `first` on, in rows and writes what became of them.
///
/// Returns false, and nothing is written, where the board does not fit a row or the instructions
/// are not there.
pub(super) fn play(
    instructions: Instructions,
    ruleset: &Ruleset,
    (seed, first): (u64, u64),
    max_plies: Option<u32>,
    rows: Columns<'_>,
) -> bool {
    let Some(rules) = Rules::of(ruleset) else {
        return false;
    };
    let limits = Limits {
        max_plies,
        offers: false,
        clock: None,
    };
    let mut games = Games::new((seed, first), limits, rows);
    let play = Play {
        block: &mut Block::new(),
        rules: &rules,
        games: &mut games,
    };
    instructions.run_rows(play).is_some()
}

/// All games of a part of a simulation.
struct Play<'a, 'b> {
    block: &'a mut Block,
    rules: &'a Rules,
    games: &'a mut Games<'b>,
}

impl RowKernel for Play<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<R: RowVector>(self, r: R) {
        let Play {
            block,
            rules,
            games,
        } = self;
        while block.fill(rules, games) {
            for side in Side::BOTH {
                block.find_pits(r, rules, games, side);
                let apart = block.sow(r, rules, side);
                block.capture(rules, side, apart);
                block.play_apart(rules, games, side, apart);
            }
        }
    }
}
