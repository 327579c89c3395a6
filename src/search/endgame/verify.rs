//! Checking a table: its checksums, and values against the moves they stand for.

use rayon::prelude::*;

use crate::rng::mix;
use crate::ruleset::Ruleset;
use crate::search::endgame::TableError;
use crate::search::endgame::build::Work;
use crate::search::endgame::file::{BLOCK, TableFile};
use crate::search::endgame::narrow::Narrow;
use crate::search::endgame::ranking::Ranking;
use crate::search::endgame::ring::Ring;
use crate::search::endgame::wide::Wide;

/// Positions that one task looks at.
const CHUNK: u64 = 1 << 12;

/// Positions of a sample.
const SAMPLE: u64 = 1 << 18;

/// The seed of the sample.
const SEED: u64 = 0x7AB1E;

/// Which positions of a table are checked against the positions that their moves lead to.
///
/// The value of a position is the best over its moves of the seeds captured less the value of the
/// position after. Where play may go round for ever other numbers can fulfil that too, so the
/// check finds damage and errors of a builder, but is no proof by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyTable {
    /// Some 262,144 of them, the same each time.
    Sample,
    /// All of them.
    All,
}

/// Checks the checksum of every block.
pub(super) fn check_blocks(file: &TableFile, work: &Work) -> Result<(), TableError> {
    (0..file.values().len().div_ceil(BLOCK))
        .into_par_iter()
        .filter(|_| !work.is_stopped())
        .try_for_each(|block| {
            file.check_block(block)?;
            work.add(BLOCK as u64);
            Ok(())
        })
}

/// Checks values against the positions that the moves lead to.
pub(super) fn check_moves(
    ruleset: &Ruleset,
    ranking: &Ranking,
    values: &[u8],
    which: VerifyTable,
    work: &Work,
) -> Result<(), TableError> {
    if let Some(narrow) = Narrow::new(ruleset, ranking) {
        check_ring(&narrow, ranking, values, which, work)
    } else {
        let wide = Wide::new(*ruleset, ranking);
        check_ring(&wide, ranking, values, which, work)
    }
}

fn check_ring<R: Ring>(
    ring: &R,
    ranking: &Ranking,
    values: &[u8],
    which: VerifyTable,
    work: &Work,
) -> Result<(), TableError> {
    let positions = ranking.positions();
    let all = which == VerifyTable::All || positions <= SAMPLE;
    let looked_at = if all { positions } else { SAMPLE };
    (0..looked_at.div_ceil(CHUNK))
        .into_par_iter()
        .filter(|_| !work.is_stopped())
        .try_for_each(|chunk| {
            let numbers = chunk * CHUNK..looked_at.min((chunk + 1) * CHUNK);
            let mut walk = None;
            for number in numbers.clone() {
                let index = if all {
                    number
                } else {
                    walk = None;
                    mix(SEED, number) % positions
                };
                let walk = walk.get_or_insert_with(|| ring.walk(index));
                let board = ring.at(walk, index);
                let found = values[index as usize] as i8;
                let expected = best_of_moves(ring, board, ranking, index, values);
                if found != expected {
                    return Err(TableError::Inconsistent {
                        index,
                        pits: pits(ranking, index),
                        found,
                        expected,
                    });
                }
            }
            work.add(numbers.count() as u64);
            Ok(())
        })
}

/// Returns the value that the positions after every move give a position.
fn best_of_moves<R: Ring>(
    ring: &R,
    board: R::Board,
    ranking: &Ranking,
    index: u64,
    values: &[u8],
) -> i8 {
    let mut best = None;
    ring.moves(board, |child, captured| {
        let child = values[ring.index(child) as usize] as i8;
        let margin = (captured as i8).saturating_sub(child);
        best = best.max(Some(margin));
    });
    // Stuck: the other side takes all (E1).
    best.unwrap_or_else(|| -(ranking.seeds_of(index) as i8))
}

fn pits(ranking: &Ranking, index: u64) -> Vec<u8> {
    let mut pits = vec![0; ranking.pits()];
    ranking.fill(index, |pit, seeds| pits[pit] = seeds);
    pits
}
