//! Games in pairs: one opening, both sides.

use std::collections::HashSet;

use thiserror::Error;

use crate::arena::interval::{mean_and_half, paired_interval};
use crate::batch::opening;
use crate::notation::GameRecord;
use crate::policy::{Policy, PolicyError};
use crate::position::Position;
use crate::rng::{self, Purpose};
use crate::ruleset::Ruleset;
use crate::side::Side;
use crate::simulate::EndCode;
use crate::simulate::lockstep::{self, Game, Limits};

/// The most games of one match.
pub(super) const MAX_GAMES: u32 = 10_000_000;

/// The most random plies of an opening.
pub(super) const MAX_OPENING_PLIES: u32 = 10_000;

/// Games that advance together; more would only take more memory.
const TOGETHER: usize = 1 << 13;

/// The settings of a match in pairs.
///
/// | field | default of [`PairConfig::new`] | range |
/// |---|---|---|
/// | `ruleset` | given | |
/// | `games` | given | an even number, 2 to 10,000,000 |
/// | `opening_plies` | 4 | 0 to 10,000, less than `max_plies` |
/// | `seed` | 0 | |
/// | `max_plies` | `None` (never cut) | 1 to 2,147,483,647 plies, the opening's included |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairConfig {
    /// The rules of every game.
    pub ruleset: Ruleset,
    /// Games in all, two of each opening.
    pub games: u32,
    /// Random legal plies at the start of each pair; an opening that ends the game is drawn again.
    pub opening_plies: u32,
    /// Pair `p` depends on ([`rng::mix`]`(seed, p)`, episode 0) alone.
    pub seed: u64,
    /// Plies after which a game is cut (E4).
    pub max_plies: Option<u32>,
}

impl PairConfig {
    /// Starts from the defaults for `games` games under `ruleset`.
    pub const fn new(ruleset: Ruleset, games: u32) -> PairConfig {
        PairConfig {
            ruleset,
            games,
            opening_plies: 4,
            seed: 0,
            max_plies: None,
        }
    }

    /// Checks every field against its range.
    ///
    /// # Errors
    /// [`ArenaError`] names the first field outside its range.
    pub fn check(&self) -> Result<(), ArenaError> {
        if !(2..=MAX_GAMES).contains(&self.games) || !self.games.is_multiple_of(2) {
            return Err(ArenaError::Games { games: self.games });
        }
        let most = self.max_plies.unwrap_or(i32::MAX as u32);
        if !(1..=i32::MAX as u32).contains(&most) {
            return Err(ArenaError::MaxPlies { max_plies: most });
        }
        if self.opening_plies > MAX_OPENING_PLIES || self.opening_plies >= most {
            return Err(ArenaError::OpeningPlies {
                plies: self.opening_plies,
                last: MAX_OPENING_PLIES.min(most - 1),
            });
        }
        Ok(())
    }
}

/// Why a match cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ArenaError {
    /// Not a number of games that can be paired.
    #[error("games is {games}, expected an even number from 2 to {MAX_GAMES}")]
    Games {
        /// The number given.
        games: u32,
    },
    /// A cap outside its range.
    #[error("max_plies is {max_plies}, expected 1 to 2147483647")]
    MaxPlies {
        /// The number given.
        max_plies: u32,
    },
    /// An opening that is too long, or leaves no ply before the cap.
    #[error("opening_plies is {plies}, expected 0 to {last}")]
    OpeningPlies {
        /// The number given.
        plies: u32,
        /// The most that would be accepted.
        last: u32,
    },
    /// A player that cannot play by the rules.
    #[error(transparent)]
    Player(#[from] PolicyError),
    /// The game hardly ever lasts as long as the opening.
    #[error("opening_plies is {plies}: no opening of 10000 drawn left the game open")]
    NoOpening {
        /// The number given.
        plies: u32,
    },
}

/// One game of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairedGame {
    /// The pair, from 0: two games in a row share it.
    pub pair: u32,
    /// The side of the player under test.
    pub side: Side,
    /// 1 where the player under test won, -1 where it lost, 0 for a draw or a cut game.
    pub result: i8,
    /// How the game ended; [`EndCode::is_forfeit`] tells whether a player lost it by its fault.
    pub end: EndCode,
    /// What went wrong in a game lost by an illegal move or a failure.
    pub failure: Option<String>,
    /// Seeds captured by (South, North).
    pub captured: [u16; 2],
    /// The columns played from the start, the opening included, `u8[T]`.
    pub moves: Vec<u8>,
}

impl PairedGame {
    fn of(game: Game, index: usize) -> PairedGame {
        let side = Side::BOTH[index % 2];
        let row = game.row();
        PairedGame {
            pair: (index / 2) as u32,
            side,
            result: row.winner * side.sign(),
            end: game.end.unwrap_or(EndCode::MaxPlies),
            failure: game.failure,
            captured: game.position.board().captured(),
            moves: game.moves,
        }
    }

    /// Returns 1 for a win of the player under test, 1/2 for a draw or a cut game, 0 for a loss.
    pub fn score(&self) -> f64 {
        f64::midpoint(f64::from(self.result), 1.0)
    }

    /// Returns the seeds captured by the player under test less those of its opponent.
    pub fn margin(&self) -> i32 {
        let [south, north] = self.captured;
        i32::from(self.side.sign()) * (i32::from(south) - i32::from(north))
    }
}

/// Games lost by a player's own fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forfeits {
    /// By an illegal move.
    pub illegal: u32,
    /// By a failure to choose.
    pub error: u32,
}

/// What a match in pairs came to, seen from the player under test.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchResult {
    /// The names of the player under test and its opponent.
    pub names: [String; 2],
    /// The settings.
    pub config: PairConfig,
    /// All games in order: pair by pair, the player under test as South first.
    pub games: Vec<PairedGame>,
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
    /// Games cut by `max_plies`: no outcome, half a point each (E4).
    pub cut: u32,
    /// Mean score, 0 to 1.
    pub score: f64,
    /// The 95 % interval of the score, from [`paired_interval`].
    pub interval: (f64, f64),
    /// Mean score in the games played as (South, North).
    pub score_as: [f64; 2],
    /// Mean seeds captured less those of the opponent.
    pub margin: f64,
    /// Half-width of the margin's normal 95 % interval, from the means of the pairs.
    pub margin_half: f64,
    /// Games lost by the fault of (the player under test, its opponent).
    pub forfeits: [Forfeits; 2],
    /// Games that differ from each other in at least one move.
    pub distinct: u32,
}

/// Plays `config.games` games between `a`, the player under test, and `b`.
///
/// Each opening is played twice, `a` as South first and as North next. All games advance together,
/// so that a player chooses for many positions at once. In both games of a pair South's player
/// draws from `stream(mix(seed, pair), 0, South)` and North's from the stream of `North`: a player
/// against itself scores exactly one half. A player that chooses illegally or fails loses that
/// game, the others go on.
///
/// # Errors
/// [`ArenaError`] when the settings are out of range or no opening leaves the game open.
pub fn play_pairs(
    a: &mut dyn Policy,
    b: &mut dyn Policy,
    config: &PairConfig,
) -> Result<MatchResult, ArenaError> {
    config.check()?;
    a.check(&config.ruleset)?;
    b.check(&config.ruleset)?;
    let names = [a.name(), b.name()];
    let mut players: [&mut dyn Policy; 2] = [a, b];
    let mut games = Vec::with_capacity(config.games as usize);
    let limits = Limits {
        max_plies: config.max_plies,
        offers: false,
        clock: None,
    };
    while games.len() < config.games as usize {
        let first = games.len();
        let last = (first + TOGETHER).min(config.games as usize);
        let mut together = Vec::with_capacity(last - first);
        for pair in first / 2..last / 2 {
            together.extend(open_pair(config, pair as u64, limits)?);
        }
        lockstep::play(&mut together, &mut players, limits, None);
        for game in together {
            let index = games.len();
            games.push(PairedGame::of(game, index));
        }
    }
    Ok(MatchResult::of_games(names, *config, games))
}

fn open_pair(config: &PairConfig, pair: u64, limits: Limits) -> Result<[Game; 2], ArenaError> {
    let start = Position::start(&config.ruleset);
    let row_seed = rng::mix(config.seed, pair);
    let no_opening = ArenaError::NoOpening {
        plies: config.opening_plies,
    };
    let (_, moves) =
        opening::draw_moves(&start, config.opening_plies, row_seed, 0).ok_or(no_opening)?;
    let stream = rng::stream(row_seed, 0, Purpose::Play);
    Ok([[0, 1], [1, 0]].map(|players| Game::open(&start, &moves, players, stream.clone(), limits)))
}

impl MatchResult {
    fn of_games(names: [String; 2], config: PairConfig, games: Vec<PairedGame>) -> MatchResult {
        let count = |wanted: fn(&PairedGame) -> bool| {
            games.iter().filter(|game| wanted(game)).count() as u32
        };
        let mean_score_as = |side: Side| {
            let own = games.iter().filter(|game| game.side == side);
            own.map(PairedGame::score).sum::<f64>() / (games.len() as f64 / 2.0)
        };
        let pair_scores: Vec<f64> = games
            .chunks(2)
            .map(|pair| f64::midpoint(pair[0].score(), pair[1].score()))
            .collect();
        let pair_margins: Vec<f64> = games
            .chunks(2)
            .map(|pair| f64::midpoint(pair[0].margin().into(), pair[1].margin().into()))
            .collect();
        let (margin, margin_half) = mean_and_half(&pair_margins);
        let distinct: HashSet<&[u8]> = games.iter().map(|game| game.moves.as_slice()).collect();
        MatchResult {
            names,
            config,
            wins: count(|game| game.result > 0),
            draws: count(|game| game.result == 0 && game.end != EndCode::MaxPlies),
            losses: count(|game| game.result < 0),
            cut: count(|game| game.end == EndCode::MaxPlies),
            score: mean_and_half(&pair_scores).0,
            interval: paired_interval(&pair_scores),
            score_as: Side::BOTH.map(mean_score_as),
            margin,
            margin_half,
            forfeits: [-1, 1].map(|result| forfeits(&games, result)),
            distinct: distinct.len() as u32,
            games,
        }
    }

    /// Returns the records of all games, in order; each replays from the start of the game.
    ///
    /// A game lost by a player's fault is recorded up to there, with the reason `illegal` or
    /// `error`.
    pub fn records(&self) -> impl Iterator<Item = GameRecord> + '_ {
        let start = Position::start(&self.config.ruleset).to_string();
        self.games.iter().map(move |game| {
            let [tested, opponent] = &self.names;
            let players = match game.side {
                Side::South => [tested.clone(), opponent.clone()],
                Side::North => [opponent.clone(), tested.clone()],
            };
            let outcome = match game.result * game.side.sign() {
                1 => Some("south"),
                -1 => Some("north"),
                _ => (game.end != EndCode::MaxPlies).then_some("draw"),
            };
            GameRecord {
                ruleset: self.config.ruleset,
                start: start.clone(),
                players,
                moves: game.moves.clone(),
                captured: game.captured,
                outcome: outcome.map(str::to_owned),
                end_reason: Some(game.end.name().to_owned()),
            }
        })
    }
}

/// Counts the forfeits among the games with this result: -1 those of the player under test.
fn forfeits(games: &[PairedGame], result: i8) -> Forfeits {
    let count = |end| {
        games
            .iter()
            .filter(|game| game.result == result && game.end == end)
            .count() as u32
    };
    Forfeits {
        illegal: count(EndCode::Illegal),
        error: count(EndCode::Error),
    }
}
