//! The rules once more, slowly, one function a clause, sharing nothing with [`crate::sowing`].
//!
//! This is the twin that every fast engine is compared with. It is written to be checked by eye
//! against the rules page: each function carries the id of its clause, seeds are dropped one by
//! one, laps are counted one by one up to `lap_limit`, and nothing is remembered between moves.
//! It uses plain lists of numbers and, of the rest of the crate, only the getters of
//! [`Ruleset`]. Sides are numbers here: 0 is South, 1 is North.
//!
//! ```
//! use endodoi::reference::Game;
//! use endodoi::Variant;
//! let start = Game::start(&Variant::CrossEndodoi.ruleset());
//! let (next, sown) = start.play(3).ok_or("column 3 is not legal")?;
//! assert_eq!((sown.laps, sown.seeds, sown.last, sown.gain), (4, 15, Some(0), 5));
//! assert_eq!(next.board, [0, 5, 5, 1, 0, 4, 4, 4, 0, 4, 4, 0]);
//! # Ok::<(), &str>(())
//! ```

use crate::ruleset::{Direction, Endless, LoneCapture, Ruleset};

/// Returns the number of pits on the ring, two rows of `C` (B1).
pub fn b1_pits(rules: &Ruleset) -> usize {
    rules.columns() + rules.columns()
}

/// Returns the board at the start, `[N]` in ring order: `k` seeds in every pit (B1).
pub fn b1_start(rules: &Ruleset) -> Vec<i64> {
    vec![i64::from(rules.seeds_per_pit()); b1_pits(rules)]
}

/// Returns the next pit on the ring, anticlockwise or clockwise (B2).
pub fn b2_next(rules: &Ruleset, pit: usize, anticlockwise: bool) -> usize {
    let last = b1_pits(rules) - 1;
    match (anticlockwise, pit) {
        (true, pit) if pit == last => 0,
        (true, pit) => pit + 1,
        (false, 0) => last,
        (false, pit) => pit - 1,
    }
}

/// Returns the pit opposite to `pit` (B2).
pub fn b2_opposite(rules: &Ruleset, pit: usize) -> usize {
    b1_pits(rules) - 1 - pit
}

/// Returns the side that owns `pit`: South's row comes first on the ring (B2).
pub fn b2_owner(rules: &Ruleset, pit: usize) -> usize {
    usize::from(pit >= rules.columns())
}

/// Returns the other side, whose turn comes next (B3).
pub fn b3_other(side: usize) -> usize {
    1 - side
}

/// Returns the ring index of a side's pit in `column` (B4).
pub fn b4_pit(rules: &Ruleset, side: usize, column: usize) -> usize {
    if side == 0 {
        column
    } else {
        rules.columns() + column
    }
}

/// Returns what a side sees, `[2C+3]`: its row and the other row, each from its owner's left,
/// its captures and the other's, quiet plies (B4).
pub fn b4_observation(rules: &Ruleset, game: &Game) -> Vec<i64> {
    let mut seen = Vec::new();
    for side in [game.side, b3_other(game.side)] {
        for column in 0..rules.columns() {
            seen.push(game.board[b4_pit(rules, side, column)]);
        }
    }
    seen.push(game.captured[game.side]);
    seen.push(game.captured[b3_other(game.side)]);
    seen.push(game.quiet);
    seen
}

/// Tells whether a side may lift the seeds of its pit in `column`: it holds some (S1).
pub fn s1_may_lift(rules: &Ruleset, board: &[i64], side: usize, column: usize) -> bool {
    column < rules.columns() && board[b4_pit(rules, side, column)] > 0
}

/// Sows one lap: lifts all seeds of `pit` and drops them one by one into the following pits;
/// returns the pit of the last seed and the number of seeds (S1).
///
/// The origin is not skipped, so a lap of `N` or more seeds drops into it as well (S2).
pub fn s1_s2_lap(rules: &Ruleset, board: &mut [i64], pit: usize) -> (usize, i64) {
    let lifted = board[pit];
    board[pit] = 0;
    let anticlockwise = s5_anticlockwise(rules, lifted);
    let mut at = pit;
    for _ in 0..lifted {
        at = b2_next(rules, at, anticlockwise);
        board[at] += 1;
    }
    (at, lifted)
}

/// Tells whether the sowing goes on: the last seed fell into a pit that held seeds before (S3).
pub fn s3_relay(board: &[i64], last: usize) -> bool {
    board[last] - 1 > 0
}

/// Tells whether the sowing ends: the last seed fell into an empty pit (S4).
pub fn s4_ends(board: &[i64], last: usize) -> bool {
    !s3_relay(board, last)
}

/// Tells which way a lap of `lifted` seeds is sown: by parity, an odd number goes clockwise;
/// without parity every lap goes anticlockwise (S5).
pub fn s5_anticlockwise(rules: &Ruleset, lifted: i64) -> bool {
    match rules.direction() {
        Direction::Anticlockwise => true,
        Direction::Parity => lifted % 2 == 0,
    }
}

/// The laps of one move, before any capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Laps {
    /// Laps counted, the first included.
    pub laps: i64,
    /// Seeds dropped in all of them.
    pub seeds: i64,
    /// Ring index of the last seed; `None` when the sowing is endless.
    pub last: Option<usize>,
}

/// Sows lap after lap from `pit` until one ends, or until `lap_limit` laps have not: then the
/// sowing is endless (S3, S4, S6).
pub fn s6_laps(rules: &Ruleset, board: &mut [i64], pit: usize) -> Laps {
    let mut from = pit;
    let mut seeds = 0;
    for laps in 1..=i64::from(rules.lap_limit()) {
        let (last, lifted) = s1_s2_lap(rules, board, from);
        seeds += lifted;
        if s4_ends(board, last) {
            let last = Some(last);
            return Laps { laps, seeds, last };
        }
        from = last;
    }
    Laps {
        laps: rules.lap_limit().into(),
        seeds,
        last: None,
    }
}

/// Tells whether a side's sowing from `column` is endless (S6).
pub fn s6_endless(rules: &Ruleset, board: &[i64], side: usize, column: usize) -> bool {
    let mut scratch = board.to_vec();
    s6_laps(rules, &mut scratch, b4_pit(rules, side, column))
        .last
        .is_none()
}

/// Lists the legal columns of a side, ascending: its pits with seeds, without those whose
/// sowing is endless where the rule set calls that illegal (S1, S6).
pub fn s6_legal(rules: &Ruleset, board: &[i64], side: usize) -> Vec<usize> {
    (0..rules.columns())
        .filter(|&column| s1_may_lift(rules, board, side, column))
        .filter(|&column| {
            rules.endless() == Endless::Draw || !s6_endless(rules, board, side, column)
        })
        .collect()
}

/// Takes the seeds that a sowing ending in `last` captures off the board and counts them (C1).
pub fn c1_capture(rules: &Ruleset, board: &mut [i64], side: usize, last: usize) -> i64 {
    if c3_nothing(rules, side, last) {
        return 0;
    }
    let opposite = b2_opposite(rules, last);
    if board[opposite] == 0 {
        return c2_lone(rules, board, last);
    }
    let taken = board[opposite] + board[last];
    board[opposite] = 0;
    board[last] = 0;
    taken
}

/// Takes the capturing seed alone, opposite to an empty pit, if the rule set says so (C2).
pub fn c2_lone(rules: &Ruleset, board: &mut [i64], last: usize) -> i64 {
    match rules.lone_capture() {
        LoneCapture::Stays => 0,
        LoneCapture::Taken => {
            let taken = board[last];
            board[last] = 0;
            taken
        }
    }
}

/// Tells whether a sowing captures nothing because it ended in the opponent's row (C3).
pub fn c3_nothing(rules: &Ruleset, side: usize, last: usize) -> bool {
    b2_owner(rules, last) != side
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// E1.
    Stuck,
    /// E3.
    Quiet,
    /// S6, an endless sowing played.
    Endless,
}

impl End {
    /// Returns `"stuck"`, `"quiet"` or `"endless"`.
    pub const fn name(self) -> &'static str {
        match self {
            End::Stuck => "stuck",
            End::Quiet => "quiet",
            End::Endless => "endless",
        }
    }
}

/// Ends the game if the side to move has no legal move; the other side takes all seeds (E1).
pub fn e1_stuck(game: &mut Game) {
    if s6_legal(&game.rules, &game.board, game.side).is_empty() {
        for pit in 0..game.board.len() {
            game.captured[b3_other(game.side)] += game.board[pit];
            game.board[pit] = 0;
        }
        game.end = Some(End::Stuck);
    }
}

/// Names the result of a finished game: more captured seeds win, equal is a draw (E2); a game
/// that ended by an endless sowing is a draw whatever was captured (S6).
pub fn e2_outcome(game: &Game) -> Option<&'static str> {
    let [south, north] = game.captured;
    match game.end {
        None => None,
        Some(End::Endless) => Some("draw"),
        Some(_) if south > north => Some("south"),
        Some(_) if north > south => Some("north"),
        Some(_) => Some("draw"),
    }
}

/// Ends the game after `quiet_limit` plies in a row without a capture; nobody takes the seeds on
/// the board (E3).
pub fn e3_quiet(game: &mut Game) {
    if game.quiet >= i64::from(game.rules.quiet_limit()) {
        game.end = Some(End::Quiet);
    }
}

/// What one move did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sown {
    /// Laps, the first included; `lap_limit` for an endless sowing.
    pub laps: i64,
    /// Seeds dropped in these laps.
    pub seeds: i64,
    /// Ring index of the last seed; `None` for an endless sowing.
    pub last: Option<usize>,
    /// Seeds captured, the capturing seed included.
    pub gain: i64,
}

/// A game as it stands: plain numbers, settled when entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    /// The rules.
    pub rules: Ruleset,
    /// Seeds of every pit in ring order, `[N]`.
    pub board: Vec<i64>,
    /// The side to move.
    pub side: usize,
    /// Seeds captured by South and North.
    pub captured: [i64; 2],
    /// Plies in a row without a capture.
    pub quiet: i64,
    /// How the game ended, if it did.
    pub end: Option<End>,
}

impl Game {
    /// Sets up the start; South moves first (B1, B3).
    pub fn start(rules: &Ruleset) -> Game {
        Game::enter(*rules, b1_start(rules), 0, [0, 0], 0)
    }

    /// Enters a position that `side` is about to move in: E1 is tested before E3.
    ///
    /// The caller gives a board of `N` pits and no negative number.
    pub fn enter(
        rules: Ruleset,
        board: Vec<i64>,
        side: usize,
        captured: [i64; 2],
        quiet: i64,
    ) -> Game {
        let mut game = Game {
            rules,
            board,
            side,
            captured,
            quiet,
            end: None,
        };
        e1_stuck(&mut game);
        if game.end.is_none() {
            e3_quiet(&mut game);
        }
        game
    }

    /// Lists the legal columns, ascending; none when the game is over.
    pub fn legal(&self) -> Vec<usize> {
        match self.end {
            Some(_) => Vec::new(),
            None => s6_legal(&self.rules, &self.board, self.side),
        }
    }

    /// Plays a column and returns the next position and what the move did, or `None` when the
    /// column is not legal.
    pub fn play(&self, column: usize) -> Option<(Game, Sown)> {
        if !self.legal().contains(&column) {
            return None;
        }
        let mut board = self.board.clone();
        let from = b4_pit(&self.rules, self.side, column);
        let Laps { laps, seeds, last } = s6_laps(&self.rules, &mut board, from);
        let Some(end) = last else {
            let gain = 0;
            let sown = Sown {
                laps,
                seeds,
                last,
                gain,
            };
            return Some((self.s6_end_by_endless(), sown));
        };
        let gain = c1_capture(&self.rules, &mut board, self.side, end);
        let mut captured = self.captured;
        captured[self.side] += gain;
        let quiet = if gain > 0 { 0 } else { self.quiet + 1 };
        let next = Game::enter(self.rules, board, b3_other(self.side), captured, quiet);
        let sown = Sown {
            laps,
            seeds,
            last,
            gain,
        };
        Some((next, sown))
    }

    /// Ends the game by an endless sowing: board, side and quiet count stay as they are (S6).
    fn s6_end_by_endless(&self) -> Game {
        let mut game = self.clone();
        game.end = Some(End::Endless);
        game
    }

    /// Returns the seeds on the board and captured, which never change (E2).
    pub fn e2_total(&self) -> i64 {
        self.board.iter().sum::<i64>() + self.captured[0] + self.captured[1]
    }

    /// Returns the result, `None` while the game goes on (E2, S6).
    pub fn outcome(&self) -> Option<&'static str> {
        e2_outcome(self)
    }

    /// Returns the view of the side to move, `[2C+3]` (B4).
    pub fn observation(&self) -> Vec<i64> {
        b4_observation(&self.rules, self)
    }
}
