//! One game outside the lanes: while its sowing goes on and on, and at its end.

use super::rules::Rules;
use crate::batch::simd::MAX_PITS;
use crate::board::Board;
use crate::pit::{PitSet, ring_index};
use crate::rng;
use crate::ruleset::{Direction, Endless};
use crate::side::Side;
use crate::simulate::EndCode;
use crate::simulate::lockstep::Limits;
use crate::simulate::random_games::RandomGame;
use crate::simulate::table::Columns;
use crate::simulate::tally::{GameRow, Tally};

/// The seeds of every pit, a byte each.
pub(super) type Pits = [u8; MAX_PITS];

/// A game at the start of a sowing, or after its last seed.
#[derive(Clone, Debug)]
pub(super) struct Game {
    /// The row to write.
    pub(super) number: usize,
    pub(super) words: [u32; 4],
    pub(super) pits: Pits,
    pub(super) to_move: Side,
    pub(super) quiet: u16,
    pub(super) captured: [u8; 2],
    /// The pit to sow, or the pit of the last seed of a sowing that has ended.
    pub(super) at: u8,
    /// Whether the sowing has ended and what follows is its capture.
    pub(super) sown: bool,
    /// The columns refused in this turn, as bits.
    pub(super) refused: u32,
    pub(super) tally: Tally,
}

/// What a game is to its lane after an endless sowing.
pub(super) enum Next {
    /// It goes on with another pit.
    Sows(Game),
    /// It is over and written.
    Over,
}

impl Game {
    fn board(&self, rules: &Rules) -> Board {
        let mut board = Board::empty(rules.columns());
        for (seeds, &pit) in board.pits_mut().iter_mut().zip(&self.pits) {
            *seeds = pit.into();
        }
        *board.captured_mut() = self.captured.map(u16::from);
        board
    }

    /// Counts the refused columns of a turn that has found its move.
    pub(super) fn count_refused(&mut self) {
        self.tally.endless_met += u64::from(self.refused.count_ones());
        self.refused = 0;
    }

    /// Takes back an endless sowing of `at`: where it draws, the game is over, else the side draws
    /// again among its other pits and is stuck if none is left (S6, E1).
    pub(super) fn refuse(mut self, rules: &Rules, rows: &mut Columns<'_>) -> Next {
        if rules.ruleset.endless() == Endless::Draw {
            self.tally.plies += 1;
            self.tally.endless_met += 1;
            self.write(rules, rows, EndCode::Endless);
            return Next::Over;
        }
        let columns = rules.columns();
        self.refused |= 1 << (usize::from(self.at) % columns);
        let board = self.board(rules);
        let pits = crate::draw::non_empty(board.row(self.to_move));
        let pits = PitSet::from_bits(pits.bits() & !u64::from(self.refused));
        if pits.is_empty() {
            self.write(rules, rows, EndCode::Stuck);
            return Next::Over;
        }
        let [a, b, c, d] = &mut self.words;
        let word = rng::next_word([a, b, c, d]);
        let rank = (u64::from(word) * pits.len() as u64) >> 32;
        let column = pits.nth(rank as usize).unwrap_or(0);
        self.at = ring_index(self.to_move, column, columns) as u8;
        Next::Sows(self)
    }

    /// Plays the rest of a game whose end may be due for more than one reason.
    pub(super) fn play_on(self, rules: &Rules, max_plies: Option<u32>, rows: &mut Columns<'_>) {
        let game = RandomGame {
            board: self.board(rules),
            to_move: self.to_move,
            quiet: self.quiet,
            tally: self.tally,
        };
        let limits = Limits {
            max_plies,
            offers: false,
            clock: None,
        };
        let stream = rng::stream_of_words(self.words);
        rows.set(self.number, &game.go_on(&rules.ruleset, stream, limits));
    }

    /// Writes the row of a game that is over.
    fn write(&self, rules: &Rules, rows: &mut Columns<'_>, end: EndCode) {
        let mut board = self.board(rules);
        if end == EndCode::Stuck {
            board.take_rest(self.to_move.other());
        }
        let row: GameRow = self.tally.finish(&board, end, 0);
        rows.set(self.number, &row);
    }
}

/// Takes back the last `laps` laps of a sowing that is about to lift `at`, or has dropped its last
/// seed there, and returns the pit that it began with and the seeds that it sowed.
///
/// Without S5 a lap is a bijection: walking back from its last seed, the first pit without a seed
/// to take is the one that the lap lifted (S6).
pub(super) fn trace_back(pits: &mut Pits, count: usize, at: u8, laps: u32) -> (u8, u64) {
    let mut pit = usize::from(at);
    let mut sown = 0;
    for _ in 0..laps {
        let mut lifted = 0;
        while pits[pit] > 0 {
            pits[pit] -= 1;
            lifted += 1;
            pit = if pit == 0 { count - 1 } else { pit - 1 };
        }
        pits[pit] = lifted;
        sown += u64::from(lifted);
    }
    (pit as u8, sown)
}

/// Counts the seeds of the first `laps` laps of a sowing from its beginning.
pub(super) fn count_seeds(pits: &Pits, rules: &Rules, origin: u8, laps: u32) -> u64 {
    let (mut pits, mut at) = (*pits, usize::from(origin));
    (0..laps).map(|_| sow_lap(&mut pits, rules, &mut at)).sum()
}

/// Counts the laps and seeds of a sowing that ends.
pub(super) fn sow_out(pits: &Pits, rules: &Rules, origin: u8) -> (u32, u64) {
    let (mut pits, mut at) = (*pits, usize::from(origin));
    let (mut laps, mut sown) = (0, 0);
    while laps < rules.ruleset.lap_limit() {
        sown += sow_lap(&mut pits, rules, &mut at);
        laps += 1;
        if pits[at] == 1 {
            break;
        }
    }
    (laps, sown)
}

/// Sows one lap seed by seed and returns how many there were.
fn sow_lap(pits: &mut Pits, rules: &Rules, at: &mut usize) -> u64 {
    let lifted = std::mem::take(&mut pits[*at]);
    let back = rules.ruleset.direction() == Direction::Parity && lifted % 2 == 1;
    let (end, turn) = if back {
        (0, rules.pits() - 1)
    } else {
        (rules.pits() - 1, 0)
    };
    for _ in 0..lifted {
        *at = match (*at == end, back) {
            (true, _) => turn,
            (false, true) => *at - 1,
            (false, false) => *at + 1,
        };
        pits[*at] += 1;
    }
    lifted.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, below, stream};

    /// Sows one lap anticlockwise and returns the pit of the last seed and the seeds.
    fn lap(pits: &mut Pits, count: usize, at: usize) -> (usize, u64) {
        let lifted = std::mem::take(&mut pits[at]);
        for step in 1..=usize::from(lifted) {
            pits[(at + step) % count] += 1;
        }
        ((at + usize::from(lifted)) % count, lifted.into())
    }

    #[test]
    fn s6_a_sowing_is_traced_back_lap_by_lap_to_where_it_began() {
        let mut rng = stream(5, 0, Purpose::Policy);
        for _ in 0..2_000 {
            let count = 2 * (1 + below(&mut rng, 16) as usize);
            let mut pits = [0; MAX_PITS];
            for _ in 0..below(&mut rng, 200) {
                pits[below(&mut rng, count as u32) as usize] += 1;
            }
            let origin = below(&mut rng, count as u32) as usize;
            if pits[origin] == 0 {
                continue;
            }
            let (start, mut at, mut seeds, mut laps) = (pits, origin, 0, 0);
            while laps < 40 {
                let (last, lifted) = lap(&mut pits, count, at);
                (at, seeds, laps) = (last, seeds + lifted, laps + 1);
                if pits[at] == 1 {
                    break;
                }
            }
            let (first, sown) = trace_back(&mut pits, count, at as u8, laps);
            assert_eq!((usize::from(first), sown, pits), (origin, seeds, start));
        }
    }
}
