//! The results of many games as columns.

use crate::simulate::tally::GameRow;
use crate::simulate::{Detail, EndCode};

/// Names the columns once: the table, the view that games are written into, and what is done with
/// every column follow from the list.
macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident: $kind:ty,)*) => {
        /// One row a game, in game order; each column is `[B]`.
        ///
        /// Counts that pass 2,147,483,647 stay at that number. Only `laps`, `seeds_sown` and
        /// `endless_met` could, in games of millions of plies or with a `lap_limit` far above the
        /// longest sowing ever met. Tables are equal when their columns are.
        #[derive(Clone, Debug, Default)]
        pub struct GameTable {
            $($(#[$doc])* pub $name: Vec<$kind>,)*
            /// `i32[B]`: turns that offered an endless sowing; empty unless it was asked for.
            pub offers: Vec<i32>,
            /// What following the first games move by move has shown.
            pub detail: Detail,
        }

        impl PartialEq for GameTable {
            fn eq(&self, other: &GameTable) -> bool {
                $(self.$name == other.$name &&)* self.offers == other.offers
            }
        }

        impl Eq for GameTable {}

        /// Neighbouring rows of a table that games are written into, in any order.
        ///
        /// Parts of a chunk are split off, so that each can be written by a thread of its own.
        #[derive(Debug, Default)]
        pub(crate) struct Columns<'a> {
            $($name: &'a mut [$kind],)*
            offers: &'a mut [i32],
        }

        impl GameTable {
            /// Makes room for as many games in all, so that the columns need not be moved.
            pub(super) fn reserve(&mut self, games: usize) {
                $(self.$name.reserve_exact(games);)*
            }

            /// Adds `games` rows of zeros; `offers` tells whether the turns that offered an
            /// endless sowing are counted.
            pub(super) fn grow(&mut self, games: usize, offers: bool) {
                let rows = self.len() + games;
                $(self.$name.resize(rows, 0);)*
                if offers {
                    self.offers.resize(rows, 0);
                }
            }

            /// Returns the rows from `start` on, to be written.
            pub(super) fn columns_from(&mut self, start: usize) -> Columns<'_> {
                let counted = start.min(self.offers.len());
                Columns {
                    $($name: &mut self.$name[start..],)*
                    offers: &mut self.offers[counted..],
                }
            }

            /// Keeps the first `rows` games; the memory is kept too.
            pub(super) fn truncate(&mut self, rows: usize) {
                $(self.$name.truncate(rows);)*
                self.offers.truncate(rows);
            }

            /// Returns game `index` as a row, `None` past the end.
            pub fn row(&self, index: usize) -> Option<GameRow> {
                (index < self.len()).then(|| GameRow {
                    $($name: self.$name[index],)*
                    offers: self.offers.get(index).copied().unwrap_or(0),
                })
            }
        }

        impl<'a> Columns<'a> {
            /// Writes game `index`.
            pub(crate) fn set(&mut self, index: usize, row: &GameRow) {
                $(self.$name[index] = row.$name;)*
                if let Some(offers) = self.offers.get_mut(index) {
                    *offers = row.offers;
                }
            }

            /// Lends the rows for a while.
            pub(crate) fn reborrow(&mut self) -> Columns<'_> {
                Columns { $($name: &mut *self.$name,)* offers: &mut *self.offers }
            }

            /// Parts the rows before `middle` from the others.
            pub(crate) fn split_at(self, middle: usize) -> (Columns<'a>, Columns<'a>) {
                let counted = middle.min(self.offers.len());
                $(let $name = self.$name.split_at_mut(middle);)*
                let offers = self.offers.split_at_mut(counted);
                (
                    Columns { $($name: $name.0,)* offers: offers.0 },
                    Columns { $($name: $name.1,)* offers: offers.1 },
                )
            }
        }
    };
}

columns! {
    /// `i8[B]`: 1 South, -1 North, 0 a draw or a cut game.
    winner: i8,
    /// `i16[B]`: seeds captured by South at the end.
    captured_south: i16,
    /// `i16[B]`: seeds captured by North at the end.
    captured_north: i16,
    /// `i32[B]`: plies, opening plies included.
    plies: i32,
    /// `i32[B]`: laps of all sowings; an endless sowing adds none.
    laps: i32,
    /// `i32[B]`: seeds dropped in all sowings; an endless sowing adds none.
    seeds_sown: i32,
    /// `i32[B]`: plies that captured.
    captures: i32,
    /// `i32[B]`: laps of the longest sowing; an endless sowing does not count.
    longest_sowing: i32,
    /// `i32[B]`: endless sowings drawn and refused by random players, or played (S6).
    endless_met: i32,
    /// `i8[B]`: the code of an [`EndCode`].
    end_reason: i8,
}

impl GameTable {
    /// The names of the codes in `end_reason`, in order.
    pub const END_REASONS: [&'static str; 7] = [
        EndCode::Stuck.name(),
        EndCode::Quiet.name(),
        EndCode::Endless.name(),
        EndCode::MaxPlies.name(),
        EndCode::Illegal.name(),
        EndCode::Error.name(),
        EndCode::Late.name(),
    ];

    /// Returns `B`, the number of games.
    pub fn len(&self) -> usize {
        self.winner.len()
    }

    /// Tells whether there are no games.
    pub fn is_empty(&self) -> bool {
        self.winner.is_empty()
    }
}

impl<'a> Columns<'a> {
    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.winner.len()
    }

    /// Parts the rows into parts of `rows`, the last one with what is left, each with the index of
    /// its first row.
    pub(crate) fn parts(self, rows: usize) -> Vec<(usize, Columns<'a>)> {
        let mut parts = Vec::with_capacity(self.len().div_ceil(rows.max(1)));
        let (mut first, mut rest) = (0, self);
        while rest.len() > 0 {
            let size = rows.clamp(1, rest.len());
            let (part, others) = rest.split_at(size);
            let next = first + part.len();
            parts.push((first, part));
            (first, rest) = (next, others);
        }
        parts
    }
}
