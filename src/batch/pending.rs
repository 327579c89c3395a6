//! Moves of many boards that wait to be tried together, and sowings that wait to be followed.

use std::fmt::Debug;

use crate::batch::simd::Row;

/// The most pits of a board whose sowings are collected.
pub(super) const MAX_PITS: usize = 32;

/// The most laps that a sowing may have played before it is followed one by one.
pub(super) const MAX_LAPS: u32 = 64;

/// A board turned to one of its pits, which is in the first byte; bytes past the ring are 0.
///
/// A lap looks the same from every pit of the ring.
pub(super) type Turned = [u8; MAX_PITS];

/// A sowing to be followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sowing {
    /// The board before the first lap, turned to the pit lifted first.
    pub(super) start: Turned,
    /// The board after `laps` laps, turned to the pit to be lifted.
    pub(super) board: Turned,
    pub(super) laps: u32,
    /// Pits from the one of `start` to the one of `board`, on the ring.
    pub(super) turned: usize,
    /// What the caller knows it by.
    pub(super) id: u32,
}

impl Sowing {
    /// Describes a sowing before its first lap.
    pub(super) const fn new(start: Turned, id: u32) -> Sowing {
        Sowing {
            start,
            board: start,
            laps: 0,
            turned: 0,
            id,
        }
    }
}

/// How a sowing ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Landed {
    /// The board turned to the pit of the last seed.
    pub(super) board: Turned,
    /// Pits from the one lifted first to the one of the last seed, on the ring.
    pub(super) turned: usize,
}

/// Follows sowings to their end.
pub(super) trait Follow: Debug + Send + Sync {
    /// Calls `endless` with every sowing of the queue that is (S6), in no order, and empties it.
    fn find_endless(&self, queue: &mut Vec<Sowing>, endless: &mut dyn FnMut(u32));

    /// Calls `ended` with how each sowing ended, `None` for endless ones, in no order.
    fn finish(&self, queue: &[Sowing], ended: &mut dyn FnMut(u32, Option<Landed>));
}

/// The boards of many blocks whose moves are still to be tried.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Sowings to be followed one by one.
    pub(super) sowings: Vec<Sowing>,
    /// Boards of lanes, a row for each pit, block after block.
    pub(super) boards: Vec<Row>,
    /// For each of these blocks, its number and the lanes whose columns are to be tried.
    pub(super) waiting: Vec<(u32, u64)>,
    /// The block whose sowings are added.
    pub(super) block: u32,
}

impl Pending {
    /// Returns what a sowing of the present block is known by.
    pub(super) const fn id(&self, lane: usize, column: usize) -> u32 {
        id_of(self.block, lane, column)
    }

    /// Returns the block, lane and column of a sowing.
    pub(super) const fn place(id: u32) -> (usize, usize, usize) {
        (
            (id >> 16) as usize,
            (id >> 8 & 0xFF) as usize,
            (id & 0xFF) as usize,
        )
    }
}

/// Returns what a sowing is known by; the inverse of [`Pending::place`].
pub(super) const fn id_of(block: u32, lane: usize, column: usize) -> u32 {
    block << 16 | (lane as u32) << 8 | column as u32
}

#[cfg(test)]
mod tests {
    use super::{Follow, Landed, MAX_LAPS, Pending, Sowing, Turned, id_of};
    use crate::batch::packed::follower_of;
    use crate::rng::{self, Purpose, Xoshiro128PlusPlus};
    use crate::ruleset::{Direction, Ruleset, RulesetFields, Variant};
    use crate::sowing;

    /// Makes every follower that this processor has for a rule set.
    fn followers(ruleset: &Ruleset) -> Vec<Box<dyn Follow>> {
        let mut all: Vec<Box<dyn Follow>> = Vec::new();
        all.extend(follower_of(ruleset));
        #[cfg(target_arch = "x86_64")]
        if let Some(flight) = crate::batch::simd::Flight::new(ruleset) {
            all.push(Box::new(flight));
        }
        all
    }

    /// Draws a board of `most` seeds at the most in a pit, the first pit not empty.
    fn random_board(pits: usize, most: u32, rng: &mut Xoshiro128PlusPlus) -> Turned {
        let mut board = [0; super::MAX_PITS];
        for seeds in &mut board[..pits] {
            *seeds = rng::below(rng, most + 1) as u8;
        }
        board[0] = board[0].max(1);
        board
    }

    /// Sows one lap of a turned board and turns it; false where the sowing has ended.
    fn sow_lap(board: &mut [u8], parity: bool, turned: &mut usize) -> bool {
        let pits = board.len();
        let seeds = std::mem::take(&mut board[0]);
        let stride = if parity && seeds % 2 == 1 {
            pits - 1
        } else {
            1
        };
        let mut at = 0;
        for _ in 0..seeds {
            at = (at + stride) % pits;
            board[at] += 1;
        }
        board.rotate_left(at);
        *turned = (*turned + at) % pits;
        board[0] > 1
    }

    /// Describes a random sowing, a few laps on where it goes on so long.
    fn random_sowing(
        ruleset: &Ruleset,
        start: Turned,
        id: u32,
        rng: &mut Xoshiro128PlusPlus,
    ) -> Sowing {
        let parity = ruleset.direction() == Direction::Parity;
        let mut sowing = Sowing::new(start, id);
        let most = MAX_LAPS.min(ruleset.lap_limit() - 1);
        let ahead = rng::below(rng, 2) * rng::below(rng, most + 1);
        let mut next = sowing;
        for _ in 0..ahead {
            if !sow_lap(&mut next.board[..ruleset.pits()], parity, &mut next.turned) {
                break;
            }
            next.laps += 1;
            sowing = next;
        }
        sowing
    }

    /// Sows as the scalar rules do.
    fn expected(ruleset: &Ruleset, start: &Turned) -> Option<Landed> {
        let pits = ruleset.pits();
        let mut board: Vec<u16> = start[..pits].iter().map(|&seeds| seeds.into()).collect();
        let turned = sowing::relay(&mut board, 0, ruleset)?;
        board.rotate_left(turned);
        let mut bytes = [0; super::MAX_PITS];
        for (byte, seeds) in bytes.iter_mut().zip(board) {
            *byte = seeds as u8;
        }
        Some(Landed {
            board: bytes,
            turned,
        })
    }

    fn rulesets() -> Vec<Ruleset> {
        let mut all = Vec::new();
        for columns in [2, 3, 4, 6, 8, 9, 10, 13, 16] {
            for direction in [Direction::Anticlockwise, Direction::Parity] {
                for lap_limit in [1, 2, 30, 64, 65, 129, 200, 10_000] {
                    let fields = RulesetFields {
                        columns: Some(columns),
                        direction: Some(direction),
                        lap_limit: Some(lap_limit),
                        ..RulesetFields::default()
                    };
                    all.extend(Ruleset::new(Variant::EnDodoi, &fields));
                }
            }
        }
        all
    }

    #[test]
    fn sowings_are_followed_as_the_scalar_rules_sow_them() {
        let mut rng = rng::stream(3, 0, Purpose::Policy);
        let mut found = 0;
        for ruleset in rulesets() {
            for follower in followers(&ruleset) {
                // The second time, endless sowings are known.
                let starts: Vec<Turned> = (0..300)
                    .map(|_| {
                        let most = 1 + rng::below(&mut rng, 255 / ruleset.pits() as u32).min(12);
                        random_board(ruleset.pits(), most, &mut rng)
                    })
                    .collect();
                let answers: Vec<_> = starts
                    .iter()
                    .map(|start| expected(&ruleset, start))
                    .collect();
                for _ in 0..2 {
                    let mut queue: Vec<Sowing> = (0..)
                        .zip(&starts)
                        .map(|(id, &start)| random_sowing(&ruleset, start, id, &mut rng))
                        .collect();
                    let mut ended = vec![false; queue.len()];
                    follower.finish(&queue, &mut |id, landed| {
                        assert_eq!(
                            landed, answers[id as usize],
                            "{ruleset}: {:?}",
                            starts[id as usize]
                        );
                        assert!(!std::mem::replace(&mut ended[id as usize], true));
                    });
                    assert!(ended.iter().all(|&ended| ended));
                    let mut endless = vec![false; queue.len()];
                    follower.find_endless(&mut queue, &mut |id| {
                        assert!(!std::mem::replace(&mut endless[id as usize], true));
                    });
                    assert!(queue.is_empty());
                    for ((start, answer), endless) in starts.iter().zip(&answers).zip(endless) {
                        assert_eq!(endless, answer.is_none(), "{ruleset}: {start:?}");
                        found += usize::from(endless);
                    }
                }
            }
        }
        assert!(found > 1000, "only {found} endless sowings");
    }

    #[test]
    fn an_id_names_block_lane_and_column() {
        assert_eq!(Pending::place(id_of(63, 62, 15)), (63, 62, 15));
    }
}
