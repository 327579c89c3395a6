//! Endless sowings met before.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::batch::pending::{MAX_PITS, Turned};

/// Sowings remembered.
const ENTRIES: usize = 1 << 12;
/// Stands for no sowing: every pit lifted holds seeds.
const NONE: Turned = [0; MAX_PITS];

/// Remembers the boards, turned to the pit lifted first, of sowings that were found endless under
/// one rule set.
///
/// Random games meet the same ones again and again, and nothing takes longer than finding out. A
/// board takes the place of another one; the answer never depends on which are remembered.
#[derive(Debug)]
pub(super) struct Known {
    /// Empty until the first sowing.
    boards: Mutex<Vec<Turned>>,
}

impl Known {
    pub(super) const fn new() -> Known {
        Known {
            boards: Mutex::new(Vec::new()),
        }
    }

    pub(super) fn contains(&self, board: &Turned) -> bool {
        self.lock().get(place_of(board)) == Some(board)
    }

    pub(super) fn insert(&self, board: &Turned) {
        let mut boards = self.lock();
        if boards.is_empty() {
            *boards = vec![NONE; ENTRIES];
        }
        if let Some(place) = boards.get_mut(place_of(board)) {
            *place = *board;
        }
    }

    /// Boards are written whole, so that a lock is good even where its holder failed.
    fn lock(&self) -> MutexGuard<'_, Vec<Turned>> {
        self.boards.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn place_of(board: &Turned) -> usize {
    let words = board.as_chunks::<8>().0;
    let hash = words.iter().fold(0_u64, |hash, word| {
        (hash.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    });
    (hash >> 32) as usize % ENTRIES
}
