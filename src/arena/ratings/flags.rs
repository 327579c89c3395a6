//! Players whose rating leans on the prior.

use serde::Serialize;

use super::model::Cell;

/// What a rating leans on the prior for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RatingFlag {
    /// It has not played.
    Unplayed,
    /// It has won and never lost.
    Undefeated,
    /// It has lost and never won.
    Winless,
    /// It belongs to a group that has not played against the others, or never lost a point to
    /// them, or never won one: only differences inside the group are known.
    Separate,
}

impl RatingFlag {
    /// Returns the name in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            RatingFlag::Unplayed => "unplayed",
            RatingFlag::Undefeated => "undefeated",
            RatingFlag::Winless => "winless",
            RatingFlag::Separate => "separate",
        }
    }
}

/// Who has taken a point or half a point of whom.
struct Points {
    /// Row by row: whether the player of the row has taken something from that of the column.
    taken: Vec<Vec<bool>>,
    played: Vec<bool>,
    won: Vec<bool>,
    lost: Vec<bool>,
}

impl Points {
    fn of(players: usize, cells: &[Cell]) -> Points {
        let mut points = Points {
            taken: vec![vec![false; players]; players],
            played: vec![false; players],
            won: vec![false; players],
            lost: vec![false; players],
        };
        for cell in cells {
            let [first, second] = cell.players;
            for result in cell.results {
                points.taken[first][second] |= result >= 0;
                points.taken[second][first] |= result <= 0;
                for (player, result) in [(first, result), (second, -result)] {
                    points.played[player] = true;
                    points.won[player] |= result > 0;
                    points.lost[player] |= result < 0;
                }
            }
        }
        points
    }

    /// Returns who is reached from a player by steps along `taken`, or against them.
    fn reached(&self, from: usize, against: bool) -> Vec<bool> {
        let mut reached = vec![false; self.taken.len()];
        let mut waiting = vec![from];
        reached[from] = true;
        while let Some(player) = waiting.pop() {
            for (other, reached) in reached.iter_mut().enumerate() {
                let (row, column) = if against {
                    (other, player)
                } else {
                    (player, other)
                };
                if self.taken[row][column] && !*reached {
                    *reached = true;
                    waiting.push(other);
                }
            }
        }
        reached
    }

    /// Returns the group of each player: all who have taken points of each other, by way of others
    /// if need be. Inside a group the games bound all differences (Ford 1957).
    fn groups(&self) -> Vec<usize> {
        let players = self.taken.len();
        let mut group = vec![usize::MAX; players];
        for first in 0..players {
            if group[first] != usize::MAX {
                continue;
            }
            let (above, below) = (self.reached(first, false), self.reached(first, true));
            for player in first..players {
                if above[player] && below[player] {
                    group[player] = first;
                }
            }
        }
        group
    }
}

/// Flags the players that have not played, never lost or never won, and every other one outside
/// the one largest group; all of them if no group is the largest.
pub(super) fn find(players: usize, cells: &[Cell]) -> Vec<Option<RatingFlag>> {
    let points = Points::of(players, cells);
    let groups = points.groups();
    let mut sizes = vec![0; players];
    for &group in &groups {
        sizes[group] += 1;
    }
    let most = sizes.iter().copied().max().unwrap_or(0);
    let one_largest = sizes.iter().filter(|&&size| size == most).count() == 1;
    let flag = |player: usize| match (points.won[player], points.lost[player]) {
        _ if !points.played[player] => Some(RatingFlag::Unplayed),
        (true, false) => Some(RatingFlag::Undefeated),
        (false, true) => Some(RatingFlag::Winless),
        _ if one_largest && sizes[groups[player]] == most => None,
        _ => Some(RatingFlag::Separate),
    };
    (0..players).map(flag).collect()
}
