//! A number for every board with few seeds, without gaps.

use crate::pit::MAX_COLUMNS;
use crate::search::endgame::TableError;
use crate::search::packed::{MAX_PACKED_PITS, Packed};

/// The most seeds of a board in a table: a margin must fit into one signed byte.
pub const MAX_TABLE_SEEDS: u32 = 127;

/// The most positions of a table, 16 GiB.
pub const MAX_TABLE_POSITIONS: u64 = 1 << 34;

/// Every byte of a word is 1: multiplying by it adds up the bytes from the lowest on.
const ONES: u64 = 0x0101_0101_0101_0101;

/// What each pit adds to the number, by the seeds in it and in the pits before it.
///
/// One for each count that a byte of a table can stand for, and 8 more so that the lines in use of
/// several pits do not compete for the same places of the cache.
type Terms = [u64; MAX_TABLE_SEEDS as usize + 9];

/// Reads the term of a count without a check of its range.
#[inline]
const fn term(terms: &Terms, seeds: u8) -> u64 {
    terms[(seeds & MAX_TABLE_SEEDS as u8) as usize]
}

/// The numbers of all boards of `N` pits with at most some seeds.
///
/// A board has pits `0..N`, the mover's row first, and `s(i)` seeds in its first `i` pits. Its
/// number is the sum of `binomial(s(i) + i - 1, i)` over `i = 1..=N`: the numbers are `0, 1, 2, ...`
/// without a gap, boards with fewer seeds come first, and among boards with equally many those
/// that have fewer in their last pits come later.
///
/// ```
/// use endodoi::search::{Packed, Ranking};
/// let ranking = Ranking::new(6, 16)?;
/// assert_eq!(ranking.positions(), 30_421_755);
/// // The empty board, then one seed in the last pit.
/// assert_eq!(ranking.index(Packed(0)), 0);
/// assert_eq!(ranking.index(Packed(1 << 88)), 1);
/// assert_eq!(ranking.board(1), Packed(1 << 88));
/// # Ok::<(), endodoi::search::TableError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ranking {
    pits: usize,
    max_seeds: u32,
    /// The terms of the pits that fit into a word; those that a board lacks add nothing.
    terms: Box<[Terms; MAX_PACKED_PITS]>,
    /// The terms of the pits after them.
    beyond: Vec<Terms>,
    /// Boards with fewer than `n` seeds, for `n` of 0 to `max_seeds + 1`.
    starts: Vec<u64>,
}

impl Ranking {
    /// Prepares the numbers of boards of `columns` (1 to 64) with at most `max_seeds` seeds.
    ///
    /// # Errors
    /// [`TableError::OutOfRange`] for `columns` or `max_seeds` (at most [`MAX_TABLE_SEEDS`]),
    /// [`TableError::TooLarge`] for more than [`MAX_TABLE_POSITIONS`] positions.
    pub fn new(columns: usize, max_seeds: u32) -> Result<Ranking, TableError> {
        check_range("columns", columns as u64, 1, MAX_COLUMNS as u64)?;
        check_range("seeds", max_seeds.into(), 0, MAX_TABLE_SEEDS.into())?;
        let pits = 2 * columns;
        let too_large = |positions| TableError::TooLarge {
            columns,
            seeds: max_seeds,
            positions,
            limit: MAX_TABLE_POSITIONS,
        };
        let mut starts = vec![0];
        for seeds in 0..=max_seeds {
            let positions = binomial(u64::from(seeds) + pits as u64, pits as u64)
                .filter(|&positions| positions <= MAX_TABLE_POSITIONS);
            let whole = binomial(u64::from(max_seeds) + pits as u64, pits as u64);
            starts.push(positions.ok_or_else(|| too_large(whole))?);
        }
        let row = |pit| {
            std::array::from_fn(|seeds| {
                if pit >= pits || seeds > max_seeds as usize {
                    return 0;
                }
                // At most the positions of the table, which fit.
                binomial((seeds + pit) as u64, pit as u64 + 1).unwrap_or(0)
            })
        };
        Ok(Ranking {
            pits,
            max_seeds,
            terms: Box::new(std::array::from_fn(row)),
            beyond: (MAX_PACKED_PITS..pits).map(row).collect(),
            starts,
        })
    }

    /// Returns `N`, the pits of a board.
    pub const fn pits(&self) -> usize {
        self.pits
    }

    /// Returns the most seeds that a board may have.
    pub const fn max_seeds(&self) -> u32 {
        self.max_seeds
    }

    /// Returns how many boards have a number.
    pub fn positions(&self) -> u64 {
        self.start(self.max_seeds + 1)
    }

    /// Returns the lowest number of a board with `seeds` seeds; beyond the most seeds, how many
    /// boards there are.
    pub fn start(&self, seeds: u32) -> u64 {
        let last = self.starts.len() - 1;
        self.starts[last.min(seeds as usize)]
    }

    /// Returns the seeds of the board of a number below [`Ranking::positions`].
    pub fn seeds_of(&self, index: u64) -> u32 {
        self.starts.partition_point(|&start| start <= index) as u32 - 1
    }

    /// Returns the number of a board that has the pits and at most the seeds of the ranking.
    ///
    /// For any other board the answer means nothing.
    #[inline]
    pub fn index(&self, board: Packed) -> u64 {
        let low = (board.0 as u64).wrapping_mul(ONES);
        let high = ((board.0 >> 64) as u64)
            .wrapping_add(low >> 56)
            .wrapping_mul(ONES);
        let mut index = 0;
        for (terms, seeds) in self.terms.iter().zip(low.to_le_bytes()) {
            index += term(terms, seeds);
        }
        if self.pits > 8 {
            let beyond = self.pits.min(MAX_PACKED_PITS) - 8;
            for (terms, seeds) in self.terms[8..].iter().zip(high.to_le_bytes()).take(beyond) {
                index += term(terms, seeds);
            }
        }
        index
    }

    /// Returns the number of a board given pit by pit, as [`Ranking::index`] does.
    pub fn index_of(&self, pits: impl Iterator<Item = u8>) -> u64 {
        let mut seeds = 0_u8;
        (0..self.pits)
            .zip(pits)
            .map(|(pit, held)| {
                seeds = seeds.wrapping_add(held);
                term(self.row(pit), seeds)
            })
            .sum()
    }

    /// Returns the board of a number below [`Ranking::positions`], whose pits fit into a word.
    pub fn board(&self, index: u64) -> Packed {
        let mut word = 0;
        self.fill(index, |pit, seeds| {
            if pit < MAX_PACKED_PITS {
                word |= u128::from(seeds) << (8 * pit);
            }
        });
        Packed(word)
    }

    /// Tells the seeds of every pit of the board of a number, from the last pit to the first.
    pub fn fill(&self, index: u64, mut each: impl FnMut(usize, u8)) {
        let mut rest = index;
        let mut seeds = self.max_seeds as usize;
        let mut up_to: Option<usize> = None;
        for pit in (0..self.pits).rev() {
            let terms = self.row(pit);
            // The most seeds up to this pit whose term is not too much.
            while terms[seeds] > rest {
                seeds -= 1;
            }
            rest -= terms[seeds];
            if let Some(up_to) = up_to {
                each(pit + 1, (up_to - seeds) as u8);
            }
            up_to = Some(seeds);
        }
        each(0, seeds as u8);
    }

    fn row(&self, pit: usize) -> &Terms {
        match self.terms.get(pit) {
            Some(terms) => terms,
            None => &self.beyond[pit - MAX_PACKED_PITS],
        }
    }
}

/// Checks a number against its range.
pub(super) fn check_range(
    field: &'static str,
    value: u64,
    low: u64,
    high: u64,
) -> Result<(), TableError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(TableError::OutOfRange {
        field,
        value,
        low,
        high,
    })
}

/// Returns how many ways there are to choose `k` of `n`; `None` if they do not fit.
pub(super) fn binomial(n: u64, k: u64) -> Option<u64> {
    let k = k.min(n.checked_sub(k)?);
    let mut ways = 1_u128;
    for i in 1..=u128::from(k) {
        ways = ways.checked_mul(u128::from(n) - u128::from(k) + i)? / i;
    }
    u64::try_from(ways).ok()
}
