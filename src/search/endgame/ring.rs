//! What building a table asks of a board: moves forwards and backwards, and boards by number.

/// Boards of one size under one rule set, seen by the side to move.
///
/// A move is *quiet* if it captures nothing; only quiet moves lead to a board with as many seeds.
pub(super) trait Ring: Sync {
    /// The seeds of every pit, the mover's row first.
    type Board: Copy;

    /// A place among the boards, which moves to higher numbers only.
    type Walk;

    /// Room for sowings that are still to be taken back.
    type Stack: Default;

    /// Starts at the board of a number.
    fn walk(&self, index: u64) -> Self::Walk;

    /// Goes on to the board of a number, at least that of the last call, and returns it.
    fn at(&self, walk: &mut Self::Walk, index: u64) -> Self::Board;

    /// Returns the number of a board.
    fn index(&self, board: Self::Board) -> u64;

    /// Plays every legal move (S1 to S6, C1 to C3) and tells the board that the other side sees,
    /// and the seeds captured.
    fn moves(&self, board: Self::Board, each: impl FnMut(Self::Board, u8));

    /// Takes back every quiet move that leads to `board` and tells the board it was played on, as
    /// seen by the side that played it; once for each move.
    ///
    /// A quiet move ends with its last seed alone in a pit: one of the other side, or one of the
    /// mover's own opposite to an empty pit where a lone seed stays (C2). A lap goes back seed by
    /// seed to the first pit found empty, which it was lifted from. Every pit that a relay went
    /// through is an origin as well.
    fn predecessors(
        &self,
        board: Self::Board,
        stack: &mut Self::Stack,
        each: impl FnMut(Self::Board),
    );
}

#[cfg(test)]
// A helper of a test fails as loudly as a test.
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use crate::ruleset::{Direction, LoneCapture, Ruleset, RulesetFields, Variant};
    use crate::search::endgame::narrow::Narrow;
    use crate::search::endgame::ranking::Ranking;
    use crate::search::endgame::wide::Wide;

    fn rule_sets(columns: i64) -> Vec<Ruleset> {
        let mut sets = Vec::new();
        for direction in [Direction::Anticlockwise, Direction::Parity] {
            for lone_capture in [LoneCapture::Stays, LoneCapture::Taken] {
                for lap_limit in [1, 2, 3, 7, 10_000] {
                    let fields = RulesetFields {
                        columns: Some(columns),
                        direction: Some(direction),
                        lone_capture: Some(lone_capture),
                        lap_limit: Some(lap_limit),
                        ..RulesetFields::default()
                    };
                    sets.push(Ruleset::new(Variant::EnDodoi, &fields).expect("valid"));
                }
            }
        }
        sets
    }

    /// Number before, number after, seeds captured.
    type Move = (u64, u64, u8);

    /// Lists the moves of all boards, and the quiet moves as taken back, each sorted.
    fn moves<R: Ring>(ring: &R, boards: u64) -> (Vec<Move>, Vec<Move>) {
        let (mut forth, mut back) = (Vec::new(), Vec::new());
        let mut walk = ring.walk(0);
        let mut stack = R::Stack::default();
        for index in 0..boards {
            let board = ring.at(&mut walk, index);
            assert_eq!(ring.index(board), index);
            ring.moves(board, |child, captured| {
                forth.push((index, ring.index(child), captured));
            });
            ring.predecessors(board, &mut stack, |before| {
                back.push((ring.index(before), index, 0));
            });
        }
        forth.sort_unstable();
        back.sort_unstable();
        (forth, back)
    }

    #[test]
    fn quiet_moves_taken_back_are_the_quiet_moves() {
        for (columns, most) in [(1, 40), (2, 17), (3, 9), (4, 7), (8, 3)] {
            let ranking = Ranking::new(columns as usize, most).expect("small");
            for rules in rule_sets(columns) {
                let narrow = Narrow::new(&rules, &ranking).expect("fits into a word");
                let (forth, back) = moves(&narrow, ranking.positions());
                let quiet: Vec<_> = forth
                    .iter()
                    .copied()
                    .filter(|&(_, _, taken)| taken == 0)
                    .collect();
                assert_eq!(quiet, back, "{rules}");
                assert!(!quiet.is_empty());
                let wide = Wide::new(rules, &ranking);
                assert_eq!(moves(&wide, ranking.positions()), (forth, back), "{rules}");
            }
        }
    }

    #[test]
    fn quiet_moves_of_wide_boards_taken_back_are_the_quiet_moves() {
        for (columns, most) in [(9, 3), (12, 3), (64, 2)] {
            let ranking = Ranking::new(columns as usize, most).expect("small");
            for rules in rule_sets(columns) {
                assert!(Narrow::new(&rules, &ranking).is_none());
                let wide = Wide::new(rules, &ranking);
                let (forth, back) = moves(&wide, ranking.positions());
                let quiet: Vec<_> = forth
                    .into_iter()
                    .filter(|&(_, _, taken)| taken == 0)
                    .collect();
                assert_eq!(quiet, back, "{rules}");
            }
        }
    }

    #[test]
    fn a_walk_may_leave_boards_out() {
        let ranking = Ranking::new(3, 9).expect("small");
        let rules = rule_sets(3)[0];
        let narrow = Narrow::new(&rules, &ranking).expect("fits into a word");
        let wide = Wide::new(rules, &ranking);
        for stride in [1, 2, 7, 15, 16, 17, 18, 100, 1000] {
            let (mut one, mut other) = (narrow.walk(3), wide.walk(3));
            for index in (3..ranking.positions()).step_by(stride) {
                assert_eq!(narrow.index(narrow.at(&mut one, index)), index);
                assert_eq!(wide.index(wide.at(&mut other, index)), index);
            }
        }
    }
}
