//! Counting move sequences, and the digest of fixed games: the checks of the rules' behaviour.

use std::convert::Infallible;

use crate::position::Position;
use crate::rng::{self, Purpose};
use crate::ruleset::Ruleset;

/// Counts the move sequences of exactly `depth` plies; a finished game has none.
///
/// ```
/// use endodoi::{perft, Position, Variant};
/// let start = Position::start(&Variant::EnDodoi.ruleset());
/// assert_eq!((perft(&start, 0), perft(&start, 1), perft(&start, 2)), (1, 8, 58));
/// ```
pub fn perft(position: &Position, depth: u32) -> u64 {
    let Ok(count) = watched_perft(position, depth, || Ok::<(), Infallible>(()));
    count
}

/// Positions entered between two calls of a watch.
const WATCH_EVERY: u32 = 1024;

/// Counts as [`perft`] does, and stops with the error that `watch` returns.
///
/// `watch` is called every thousand positions or so.
pub(crate) fn watched_perft<E>(
    position: &Position,
    depth: u32,
    mut watch: impl FnMut() -> Result<(), E>,
) -> Result<u64, E> {
    if depth == 0 {
        return Ok(1);
    }
    let mut count = 0;
    let mut entered = 0_u32;
    // The path is a list, not a recursion: on the smallest boards a game can be longer than a
    // thread's stack is deep.
    let mut path = vec![(*position, position.legal_moves().iter())];
    loop {
        let plies = path.len() as u64;
        let Some((position, columns)) = path.last_mut() else {
            return Ok(count);
        };
        if plies == u64::from(depth) {
            count += position.legal_moves().len() as u64;
            path.pop();
        } else if let Some(column) = columns.next() {
            let next = position.play_legal(column).0;
            path.push((next, next.legal_moves().iter()));
            entered += 1;
            if entered == WATCH_EVERY {
                entered = 0;
                watch()?;
            }
        } else {
            path.pop();
        }
    }
}

/// Plays `games` seeded random games and hashes every position, lap count and capture in them.
///
/// The hash is 64-bit FNV-1a over little-endian words, so it is the same on every platform. It
/// moves exactly when the rules, the random streams or the choice among legal moves change.
/// Each game is cut after `max_plies`.
pub fn digest(ruleset: &Ruleset, games: u64, seed: u64, max_plies: u32) -> u64 {
    let mut hash = Fnv::new();
    for game in 0..games {
        let mut rng = rng::stream(rng::mix(seed, game), 0, Purpose::Play);
        let mut position = Position::start(ruleset);
        hash.position(&position);
        for _ in 0..max_plies {
            if position.is_over() {
                break;
            }
            let legal = position.legal_moves();
            let rank = rng::below(&mut rng, legal.len() as u32) as usize;
            let Some(column) = legal.nth(rank) else { break };
            let (next, sowing) = position.play_legal(column);
            position = next;
            hash.word(legal.bits());
            hash.word(column as u64);
            hash.word(sowing.laps.into());
            hash.word(sowing.seeds_sown);
            hash.word(sowing.captured.into());
            hash.position(&position);
        }
    }
    hash.0
}

struct Fnv(u64);

impl Fnv {
    const fn new() -> Fnv {
        Fnv(0xCBF2_9CE4_8422_2325)
    }

    /// Hashes what the side to move sees, and how the game stands.
    fn position(&mut self, position: &Position) {
        for value in position.observation() {
            self.word(value as u64);
        }
        self.word(position.end_reason().map_or(0, |reason| 1 + reason as u64));
    }

    fn word(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }
}
