//! A tournament: who meets whom, from which openings, and the games of it.
//!
//! The schedule is fixed by the settings: players, openings and seed. A [`Chunk`], some pairs of
//! games of one pairing, is the unit of work; any split into chunks, played in any order, on any
//! number of threads or machines, gives the same games.

use std::collections::HashSet;
use std::time::Duration;

use rayon::ThreadPoolBuilder;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::arena::openings::{Drawer, Opening, Openings};
use crate::arena::pairs::{MAX_GAMES, MAX_OPENING_PLIES};
use crate::arena::played::TournamentGame;
use crate::arena::ratings::RatingError;
use crate::policy::{Policy, PolicyError};
use crate::rng::{self, Purpose};
use crate::ruleset::Ruleset;
use crate::simulate::lockstep::{self, Game, Limits, Watch};
use crate::simulate::{Progress, SimulateConfig};

/// The most players of a tournament.
const MAX_PLAYERS: i64 = 1000;

/// Pairs that advance together, and where every move is timed alone: more would gain nothing.
const TOGETHER: [usize; 2] = [1 << 12, 1 << 5];

/// The longest time for a move, in seconds.
const MAX_SECONDS: f64 = 1e6;

/// The settings of a tournament.
///
/// | field | default of [`TournamentConfig::new`] | range |
/// |---|---|---|
/// | `ruleset` | given | |
/// | `games` | given | an even number, 2 to 10,000,000, for each pairing |
/// | `gauntlet` | `None` (everybody meets everybody) | 1 to one less than the players |
/// | `openings` | 4 random plies | fewer than `max_plies`; a book of these rules, a position for each pair |
/// | `seed` | 0 | |
/// | `max_plies` | `None` (never cut) | 1 to 2,147,483,647 plies, the opening's included |
/// | `seconds_per_move` | `None` (no clock) | more than 0, at most 1,000,000 |
#[derive(Clone, Debug, PartialEq)]
pub struct TournamentConfig {
    /// The rules of every game.
    pub ruleset: Ruleset,
    /// Games of each pairing, two of each opening.
    pub games: u32,
    /// The first players, so many, meet all that come after them; others do not meet.
    pub gauntlet: Option<u32>,
    /// What the pairs of games start from.
    pub openings: Openings,
    /// Opening `p` and what is drawn in its games depend on the seed and `p` alone.
    pub seed: u64,
    /// Plies after which a game is cut (E4).
    pub max_plies: Option<u32>,
    /// The time for each move; a player that takes longer loses the game. Moves are asked for one
    /// by one then.
    pub seconds_per_move: Option<f64>,
}

/// Why a tournament cannot be played, or its games not be summed up.
#[derive(Debug, Error)]
pub enum TournamentError {
    /// A number outside its range.
    #[error("{field} is {value}, expected {low} to {high}")]
    OutOfRange {
        /// The field's name.
        field: &'static str,
        /// The value given.
        value: i64,
        /// The smallest value allowed.
        low: i64,
        /// The largest value allowed.
        high: i64,
    },
    /// Not a number of games that can be paired.
    #[error("games is {games}, expected an even number from 2 to {MAX_GAMES}")]
    Games {
        /// The number given.
        games: i64,
    },
    /// A time that is none.
    #[error("seconds_per_move is {seconds}, expected more than 0 and at most {MAX_SECONDS}")]
    Seconds {
        /// The number given.
        seconds: f64,
    },
    /// The book has fewer positions than pairs are to be played.
    #[error(
        "the book holds {positions} positions, but {games} games for each pairing take {pairs}, one for every two games"
    )]
    ShortBook {
        /// The positions of the book.
        positions: usize,
        /// Games of each pairing.
        games: u32,
        /// The pairs that they are.
        pairs: u32,
    },
    /// The book is one of other rules.
    #[error("the book holds positions of {got}, the tournament is one of {expected}")]
    BookRules {
        /// The rules of the book.
        got: String,
        /// The rules of the tournament.
        expected: String,
    },
    /// The game hardly ever lasts as long as the opening.
    #[error("openings is {plies}: no opening of 10000 drawn left the game open")]
    NoOpening {
        /// The plies given.
        plies: u32,
    },
    /// A chunk that is no part of the schedule.
    #[error("players {pairing:?}, pairs {first} to {last}: no chunk of this tournament")]
    Chunk {
        /// The players.
        pairing: [u32; 2],
        /// The first pair.
        first: u32,
        /// The pair after the last.
        last: u32,
    },
    /// Games that are there twice, or no pair.
    #[error("players {pairing:?}, pair {pair}: expected two games, one for each side")]
    Unpaired {
        /// The players.
        pairing: [u32; 2],
        /// The pair.
        pair: u32,
    },
    /// A player that cannot play by the rules.
    #[error(transparent)]
    Player(#[from] PolicyError),
    /// The players cannot be rated.
    #[error(transparent)]
    Rating(#[from] RatingError),
    /// The threads cannot be started.
    #[error("the threads cannot be started: {message}")]
    Threads {
        /// What the system says.
        message: String,
    },
}

/// Some pairs of games of one pairing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Chunk {
    /// The players: indices in the order given.
    pub pairing: [u32; 2],
    /// The first pair.
    pub first: u32,
    /// The pair after the last.
    pub last: u32,
}

impl TournamentConfig {
    /// Starts from the defaults for `games` games of each pairing under `ruleset`.
    pub const fn new(ruleset: Ruleset, games: u32) -> TournamentConfig {
        TournamentConfig {
            ruleset,
            games,
            gauntlet: None,
            openings: Openings::Random { plies: 4 },
            seed: 0,
            max_plies: None,
            seconds_per_move: None,
        }
    }

    /// Checks every field against its range, for so many players.
    ///
    /// # Errors
    /// [`TournamentError`] names the first field outside its range.
    pub fn check(&self, players: usize) -> Result<(), TournamentError> {
        in_range("players", players as i64, 2, MAX_PLAYERS)?;
        if let Some(first) = self.gauntlet {
            in_range("gauntlet", first.into(), 1, players as i64 - 1)?;
        }
        if !(2..=MAX_GAMES).contains(&self.games) || !self.games.is_multiple_of(2) {
            return Err(TournamentError::Games {
                games: self.games.into(),
            });
        }
        let most = self.max_plies.unwrap_or(i32::MAX as u32);
        in_range("max_plies", most.into(), 1, i32::MAX.into())?;
        if let Some(seconds) = self.seconds_per_move
            && !(seconds > 0.0 && seconds <= MAX_SECONDS)
        {
            return Err(TournamentError::Seconds { seconds });
        }
        self.check_openings(most)
    }

    fn check_openings(&self, most: u32) -> Result<(), TournamentError> {
        let pairs = self.pairs();
        match &self.openings {
            Openings::Random { plies } => {
                let high = MAX_OPENING_PLIES.min(most - 1);
                in_range("openings", (*plies).into(), 0, high.into())
            }
            Openings::Book(book) if *book.ruleset() != self.ruleset => {
                Err(TournamentError::BookRules {
                    got: book.ruleset().to_string(),
                    expected: self.ruleset.to_string(),
                })
            }
            Openings::Book(book) if book.positions().len() < pairs as usize => {
                Err(TournamentError::ShortBook {
                    positions: book.positions().len(),
                    games: self.games,
                    pairs,
                })
            }
            Openings::Book(_) => Ok(()),
        }
    }

    /// Returns the pairs of games of each pairing.
    pub const fn pairs(&self) -> u32 {
        self.games / 2
    }

    /// Returns the smallest and the largest value of the field of this name, whatever the others
    /// are.
    pub fn range(field: &str) -> (i64, i64) {
        match field {
            "players" => (2, MAX_PLAYERS),
            "gauntlet" => (1, MAX_PLAYERS - 1),
            "pairs" => (1, u32::MAX.into()),
            "openings" => (0, MAX_OPENING_PLIES.into()),
            "max_plies" => (1, i32::MAX.into()),
            "num_threads" => {
                let (low, high) = SimulateConfig::range("num_threads");
                (low as i64, high as i64)
            }
            _ => (0, u32::MAX.into()),
        }
    }

    /// Lists who meets whom, as indices of the players: the first of two is listed first.
    pub fn pairings(&self, players: usize) -> Vec<[u32; 2]> {
        let players = players as u32;
        let firsts = self.gauntlet.unwrap_or(players);
        let seconds = |a: u32| self.gauntlet.unwrap_or(a + 1)..players;
        (0..firsts.min(players))
            .flat_map(|a| seconds(a).map(move |b| [a, b]))
            .collect()
    }

    /// Splits the tournament into chunks of at most so many pairs, at least one: the first pairs of
    /// every pairing come first, so that what is played up to any moment is a fair part.
    pub fn chunks(&self, players: usize, pairs: u32) -> Vec<Chunk> {
        let pairings = self.pairings(players);
        let all = self.pairs();
        (0..all)
            .step_by(pairs.max(1) as usize)
            .flat_map(|first| {
                let last = all.min(first.saturating_add(pairs.max(1)));
                pairings.iter().map(move |&pairing| Chunk {
                    pairing,
                    first,
                    last,
                })
            })
            .collect()
    }

    /// Refuses a chunk that is no part of the schedule.
    fn check_chunk(&self, players: usize, chunk: &Chunk) -> Result<(), TournamentError> {
        let &Chunk {
            pairing: [a, b],
            first,
            last,
        } = chunk;
        let firsts = self.gauntlet.unwrap_or(players as u32);
        let met = a < firsts && b > a && (b as usize) < players;
        let met = met && self.gauntlet.is_none_or(|first| b >= first);
        if met && first < last && last <= self.pairs() {
            return Ok(());
        }
        Err(TournamentError::Chunk {
            pairing: [a, b],
            first,
            last,
        })
    }

    /// Draws the opening of a pair: the same one for every pairing.
    ///
    /// # Errors
    /// [`TournamentError`] when the book is too short, or no opening leaves the game open.
    pub fn opening(&self, pair: u32) -> Result<Opening, TournamentError> {
        self.drawn(&self.drawer(), pair)
    }

    pub(super) fn drawer(&self) -> Drawer {
        Drawer::new(&self.openings, &self.ruleset, self.seed)
    }

    pub(super) fn drawn(&self, drawer: &Drawer, pair: u32) -> Result<Opening, TournamentError> {
        drawer.opening(pair).ok_or_else(|| match &self.openings {
            Openings::Random { plies } => TournamentError::NoOpening { plies: *plies },
            Openings::Book(book) => TournamentError::ShortBook {
                positions: book.positions().len(),
                games: self.games,
                pairs: pair + 1,
            },
        })
    }
}

fn in_range(field: &'static str, value: i64, low: i64, high: i64) -> Result<(), TournamentError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(TournamentError::OutOfRange {
        field,
        value,
        low,
        high,
    })
}

/// Makes the names of players different: the second of a name gets `#2`, the third `#3`.
///
/// ```
/// use endodoi::arena::different_names;
/// assert_eq!(different_names(&["greedy", "random", "greedy"]), ["greedy", "random", "greedy#2"]);
/// ```
pub fn different_names(names: &[impl AsRef<str>]) -> Vec<String> {
    let mut different: Vec<String> = Vec::with_capacity(names.len());
    for name in names {
        let name = name.as_ref();
        let numbered = (2..).map(|number| format!("{name}#{number}"));
        let free = std::iter::once(name.to_owned())
            .chain(numbered)
            .find(|candidate| !different.contains(candidate));
        different.extend(free);
    }
    different
}

/// Plays chunks of a tournament and returns their games, chunk by chunk, pair by pair, the first
/// of the two players as South first.
///
/// The games of all chunks advance together, so that a player chooses for many positions at once;
/// with `seconds_per_move` each position is asked alone. In both games of a pair whoever draws
/// does so from `stream(mix(seed, pair), 0, Play)`: a player against itself scores exactly one
/// half. A player that chooses illegally, fails or is late loses that game, the others go on.
///
/// When `progress`, which is told the games finished, breaks, the games of the chunks end where
/// the first unfinished pair of each is.
///
/// # Errors
/// [`TournamentError`] when a setting or a chunk is out of range, a player cannot play by the
/// rules, or no opening leaves the game open.
pub fn play_chunks(
    config: &TournamentConfig,
    players: &mut [&mut dyn Policy],
    chunks: &[Chunk],
    num_threads: Option<usize>,
    progress: &mut Progress<'_>,
) -> Result<Vec<TournamentGame>, TournamentError> {
    check_call(config, players, chunks, num_threads)?;
    let pool = ThreadPoolBuilder::new()
        .num_threads(num_threads.unwrap_or(0))
        .build()
        .map_err(|error| TournamentError::Threads {
            message: error.to_string(),
        })?;
    let wanted: Vec<Wanted> = chunks
        .iter()
        .flat_map(|chunk| (chunk.first..chunk.last).map(|pair| (chunk.pairing, pair)))
        .collect();
    let together = TOGETHER[usize::from(config.seconds_per_move.is_some())];
    let drawer = config.drawer();
    let mut played = Vec::with_capacity(2 * wanted.len());
    let mut broken = false;
    for wanted in wanted.chunks(together) {
        let before = played.len() as u64;
        let mut told = |finished| {
            let answer = progress(before + finished);
            broken |= answer.is_break();
            answer
        };
        let watch = Watch {
            pool: &pool,
            progress: &mut told,
        };
        let (games, whole) = play_together(config, players, wanted, &drawer, watch)?;
        played.extend(games);
        if broken || !whole {
            break;
        }
    }
    Ok(played)
}

/// A pair to be played: the players and its number.
type Wanted = ([u32; 2], u32);

/// Checks all that a call is given before anything is played.
fn check_call(
    config: &TournamentConfig,
    players: &mut [&mut dyn Policy],
    chunks: &[Chunk],
    num_threads: Option<usize>,
) -> Result<(), TournamentError> {
    config.check(players.len())?;
    let (low, high) = SimulateConfig::range("num_threads");
    let threads = num_threads.unwrap_or(1) as i64;
    in_range("num_threads", threads, low as i64, high as i64)?;
    for chunk in chunks {
        config.check_chunk(players.len(), chunk)?;
    }
    for player in players {
        player.check(&config.ruleset)?;
    }
    Ok(())
}

/// Plays pairs together; returns the games of those that are finished, and whether all are.
fn play_together(
    config: &TournamentConfig,
    players: &mut [&mut dyn Policy],
    wanted: &[Wanted],
    drawer: &Drawer,
    watch: Watch<'_, '_>,
) -> Result<(Vec<TournamentGame>, bool), TournamentError> {
    let limits = Limits {
        max_plies: config.max_plies,
        offers: false,
        clock: config.seconds_per_move.map(Duration::from_secs_f64),
    };
    let mut games = Vec::with_capacity(2 * wanted.len());
    let mut plies = Vec::with_capacity(wanted.len());
    for &(pairing, pair) in wanted {
        let opening = config.drawn(drawer, pair)?;
        games.extend(open_pair(config, pairing, pair, &opening, limits));
        plies.push(opening.moves.len() as u32);
    }
    lockstep::play(&mut games, players, limits, Some(watch));
    let whole = games.iter().all(|game| game.end.is_some());
    Ok((finished_pairs(wanted, &plies, games), whole))
}

fn open_pair(
    config: &TournamentConfig,
    [a, b]: [u32; 2],
    pair: u32,
    opening: &Opening,
    limits: Limits,
) -> [Game; 2] {
    let stream = rng::stream(rng::mix(config.seed, pair.into()), 0, Purpose::Play);
    [[a, b], [b, a]].map(|players| {
        let players = players.map(|player| player as usize);
        Game::open(
            &opening.start,
            &opening.moves,
            players,
            stream.clone(),
            limits,
        )
    })
}

/// Returns the games of the pairs that are finished, of each pairing those before the first pair
/// that is not.
fn finished_pairs(wanted: &[Wanted], plies: &[u32], games: Vec<Game>) -> Vec<TournamentGame> {
    let mut open = HashSet::new();
    let mut finished = Vec::with_capacity(games.len());
    let mut games = games.into_iter();
    for (&(pairing, pair), &plies) in wanted.iter().zip(plies) {
        let two = [games.next(), games.next()];
        let over = |game: &Option<Game>| game.as_ref().is_some_and(|game| game.end.is_some());
        if open.contains(&pairing) || !two.iter().all(over) {
            open.insert(pairing);
            continue;
        }
        for (south, game) in two.into_iter().flatten().enumerate() {
            finished.push(TournamentGame::of(game, pairing, pair, south, plies));
        }
    }
    finished
}
