//! A table of exact values.

use crate::position::Position;
use crate::ruleset::{Direction, LoneCapture, Ruleset};
use crate::search::endgame::TableError;
use crate::search::endgame::build::{self, WatchTable};
use crate::search::endgame::ranking::Ranking;
use crate::search::packed::Packed;

/// The exact values of all positions with up to some seeds on a board.
///
/// A value is what the side to move still takes less what the other side still takes, with perfect
/// play: the rest that the other side takes when a side is stuck counts (E1), play without end
/// gains nothing for either side, and the quiet limit (E3) is not looked at.
///
/// ```
/// use endodoi::search::EndgameTable;
/// use endodoi::{Position, Ruleset, RulesetFields, Variant};
/// let fields = RulesetFields { columns: Some(2), ..RulesetFields::default() };
/// let ruleset = Ruleset::new(Variant::EnDodoi, &fields)?;
/// let mut quietly = |_| std::ops::ControlFlow::Continue(());
/// let table = EndgameTable::build(&ruleset, 16, None, &mut quietly)?;
/// assert_eq!(table.positions(), 4845);
/// assert_eq!(table.value(&Position::start(&ruleset))?, 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct EndgameTable {
    ruleset: Ruleset,
    ranking: Ranking,
    values: Vec<u8>,
}

/// Tells whether the values of one rule set are those of another: the same columns, direction,
/// lone capture and lap limit.
pub(super) fn same_values(one: &Ruleset, other: &Ruleset) -> bool {
    let matters = |rules: &Ruleset| -> (usize, Direction, LoneCapture, u32) {
        (
            rules.columns(),
            rules.direction(),
            rules.lone_capture(),
            rules.lap_limit(),
        )
    };
    matters(one) == matters(other) && one.endless() == other.endless()
}

impl EndgameTable {
    /// Works out the values of all positions with up to `max_seeds` seeds.
    ///
    /// `num_threads` is 1 to 1,024, `None` for every core the process may use; the values do not
    /// depend on it. The memory taken is one byte a position, and two more for each one with
    /// exactly `max_seeds` seeds.
    ///
    /// # Errors
    /// [`TableError::EndlessDraw`], [`TableError::OutOfRange`], [`TableError::TooLarge`],
    /// [`TableError::Memory`] before anything is done, [`TableError::Threads`], and
    /// [`TableError::Stopped`] when `watch` breaks.
    pub fn build(
        ruleset: &Ruleset,
        max_seeds: u32,
        num_threads: Option<usize>,
        watch: &mut WatchTable<'_>,
    ) -> Result<EndgameTable, TableError> {
        let ranking = Ranking::new(ruleset.columns(), max_seeds)?;
        let values = build::build(ruleset, &ranking, num_threads, watch)?;
        Ok(EndgameTable {
            ruleset: *ruleset,
            ranking,
            values,
        })
    }

    /// Returns the rules that the table was built for.
    pub const fn ruleset(&self) -> &Ruleset {
        &self.ruleset
    }

    /// Returns the most seeds of a position in the table.
    pub const fn max_seeds(&self) -> u32 {
        self.ranking.max_seeds()
    }

    /// Returns how many positions the table has.
    pub fn positions(&self) -> u64 {
        self.ranking.positions()
    }

    /// Returns the numbers of the positions.
    pub const fn ranking(&self) -> &Ranking {
        &self.ranking
    }

    /// Tells whether the values hold under a rule set: columns, direction, lone capture, lap limit
    /// and endless sowings are the same.
    pub fn is_for(&self, ruleset: &Ruleset) -> bool {
        same_values(&self.ruleset, ruleset)
    }

    /// Returns the value of the position of a number, 0 for a number that no position has.
    #[inline]
    pub fn value_at(&self, index: u64) -> i8 {
        self.values
            .get(index as usize)
            .map_or(0, |&value| value as i8)
    }

    /// Returns the value of a board seen by its mover, which has at most [`EndgameTable::max_seeds`]
    /// seeds; for any other board the answer means nothing.
    #[inline]
    pub fn probe(&self, board: Packed) -> i8 {
        self.value_at(self.ranking.index(board))
    }

    /// Returns the value of a position: what the side to move still takes less what the other side
    /// still takes, 0 when the game is over.
    ///
    /// # Errors
    /// [`TableError::Ruleset`] for a position of other rules, [`TableError::TooManySeeds`] for one
    /// with more seeds on the board than the table has.
    pub fn value(&self, position: &Position) -> Result<i8, TableError> {
        if !self.is_for(position.ruleset()) {
            return Err(TableError::Ruleset {
                found: describe(&self.ruleset),
                expected: describe(position.ruleset()),
            });
        }
        if position.is_over() {
            return Ok(0);
        }
        let board = position.board();
        let seeds = board.seeds_on_board();
        if seeds > self.max_seeds() {
            return Err(TableError::TooManySeeds {
                seeds,
                max_seeds: self.max_seeds(),
            });
        }
        let own = position.to_move();
        let pits = board.row(own).iter().chain(board.row(own.other()));
        Ok(self.value_at(self.ranking.index_of(pits.map(|&seeds| seeds as u8))))
    }
}

/// Names what matters to a table of a rule set.
pub(super) fn describe(ruleset: &Ruleset) -> String {
    format!(
        "2x{} direction={} lone_capture={} endless={} lap_limit={}",
        ruleset.columns(),
        ruleset.direction().name(),
        ruleset.lone_capture().name(),
        ruleset.endless().name(),
        ruleset.lap_limit()
    )
}
