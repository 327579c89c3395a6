//! A table of exact values.

use std::path::{Path, PathBuf};

use crate::position::Position;
use crate::ruleset::{Direction, LoneCapture, Ruleset};
use crate::search::endgame::TableError;
use crate::search::endgame::build::{self, WatchTable, Work};
use crate::search::endgame::file::{self, TableFile};
use crate::search::endgame::ranking::Ranking;
use crate::search::endgame::verify::{self, VerifyTable};
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
    values: Values,
}

/// The values, in memory or in a file.
#[derive(Debug)]
enum Values {
    Owned(Vec<u8>),
    Mapped(TableFile),
}

impl Values {
    #[inline]
    fn bytes(&self) -> &[u8] {
        match self {
            Values::Owned(values) => values,
            Values::Mapped(file) => file.values(),
        }
    }
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
            values: Values::Owned(values),
        })
    }

    /// Opens the file of a table, for a rule set that it must hold under.
    ///
    /// The header and the length are checked at once, the values are read when they are looked at;
    /// [`EndgameTable::verify`] checks them. The file must not be changed in place while it is
    /// open: a system ends a process that reads where a file was cut off. Writing a table again
    /// replaces the file as a whole and does no harm.
    ///
    /// # Errors
    /// [`TableError::Io`], [`TableError::NotATable`], [`TableError::FormatVersion`],
    /// [`TableError::Length`], [`TableError::Header`], and [`TableError::FileRuleset`] for a table
    /// of other rules.
    pub fn open(path: &Path, ruleset: &Ruleset) -> Result<EndgameTable, TableError> {
        build::check_rules(ruleset)?;
        let table = EndgameTable::open_any(path)?;
        if table.is_for(ruleset) {
            return Ok(table);
        }
        Err(TableError::FileRuleset {
            path: path.to_owned(),
            found: describe(&table.ruleset),
            expected: describe(ruleset),
        })
    }

    /// Opens the file of a table of any rules, as [`EndgameTable::open`] does.
    ///
    /// # Errors
    /// As [`EndgameTable::open`].
    pub fn open_any(path: &Path) -> Result<EndgameTable, TableError> {
        let file = TableFile::open(path)?;
        Ok(EndgameTable {
            ruleset: file.ruleset,
            ranking: file.ranking.clone(),
            values: Values::Mapped(file),
        })
    }

    /// Writes the table to a file, under a temporary name that becomes its own at the end.
    ///
    /// # Errors
    /// [`TableError::Exists`] for a file that is there already, unless `replace` is true;
    /// [`TableError::Io`], as when the disk is full, and [`TableError::Stopped`] when `watch`
    /// breaks: nothing is left behind, and an older file stays.
    pub fn save(
        &self,
        path: &Path,
        replace: bool,
        watch: &mut WatchTable<'_>,
    ) -> Result<(), TableError> {
        let rules = (&self.ruleset, &self.ranking);
        file::save(path, rules, self.values.bytes(), replace, watch)
    }

    /// Checks every checksum of a table in a file, and values against the moves of their positions.
    ///
    /// # Errors
    /// [`TableError::Damaged`] names a block, [`TableError::Inconsistent`] a position;
    /// [`TableError::OutOfRange`] for `num_threads`, [`TableError::Threads`], and
    /// [`TableError::Stopped`] when `watch` breaks.
    pub fn verify(
        &self,
        which: VerifyTable,
        num_threads: Option<usize>,
        watch: &mut WatchTable<'_>,
    ) -> Result<(), TableError> {
        let pool = build::pool(num_threads)?;
        Work::watched(&pool, self.positions(), watch, |work| {
            work.enter(self.max_seeds());
            if let Values::Mapped(file) = &self.values {
                verify::check_blocks(file, work)?;
            }
            let values = self.values.bytes();
            verify::check_moves(&self.ruleset, &self.ranking, values, which, work)
        })?
    }

    /// Returns the file that the table lies in, `None` for one in memory.
    pub fn path(&self) -> Option<&Path> {
        match &self.values {
            Values::Owned(_) => None,
            Values::Mapped(file) => Some(&file.path),
        }
    }

    /// Returns the name that a table's file has unless another is given, as
    /// `en-dodoi-2x6-stays-16.edt`: variant, size, lone capture, seeds; direction and lap limit
    /// where they are not the variant's.
    pub fn file_name(ruleset: &Ruleset, max_seeds: u32) -> PathBuf {
        let preset = ruleset.variant().ruleset();
        let direction = match ruleset.direction() {
            direction if direction == preset.direction() => String::new(),
            direction => format!("-{}", direction.name()),
        };
        let laps = match ruleset.lap_limit() {
            laps if laps == preset.lap_limit() => String::new(),
            laps => format!("-laps{laps}"),
        };
        let (variant, columns) = (ruleset.variant(), ruleset.columns());
        let lone = ruleset.lone_capture().name();
        PathBuf::from(format!(
            "{variant}-2x{columns}-{lone}{direction}{laps}-{max_seeds}.edt"
        ))
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
        let value = self.values.bytes().get(index as usize);
        value.map_or(0, |&value| value as i8)
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
