//! Ratings of players from pairs of games.

mod dense;
mod flags;
mod model;
mod normal;

use serde::Serialize;
use thiserror::Error;

use crate::arena::interval::{Z, paired_interval};
use crate::arena::ratings::dense::Symmetric;
use crate::arena::ratings::model::{Chances, Fit, Model};

pub use flags::RatingFlag;
pub(crate) use normal::normal_below;

/// The most players of one fit.
const MAX_PLAYERS: usize = 2000;

/// The most games that the prior may be worth.
const MAX_PRIOR: f64 = 1000.0;

/// The fewest games that the prior may be worth.
const MIN_PRIOR: f64 = 0.001;

/// Elo points of a strength whose odds are `e` to 1.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// How the two games of one opening came out.
///
/// The first player was South in the first game and North in the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairOutcome {
    /// The two players, as indices.
    pub players: [u32; 2],
    /// The results of the first player, as South and as North: 1 won, 0 drawn or cut, -1 lost.
    pub results: [i8; 2],
}

impl PairOutcome {
    /// Returns the same pair with the player of the lower index first.
    fn lower_first(&self) -> PairOutcome {
        let ([first, second], [south, north]) = (self.players, self.results);
        if first < second {
            return *self;
        }
        PairOutcome {
            players: [second, first],
            results: [-north, -south],
        }
    }
}

/// The settings of [`fit_ratings`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatingConfig {
    /// The games that the prior is worth for each parameter, 0.001 to 1000.
    pub prior: f64,
}

impl Default for RatingConfig {
    /// Takes a prior worth one game.
    fn default() -> RatingConfig {
        RatingConfig { prior: 1.0 }
    }
}

/// Why no ratings can be given.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RatingError {
    /// No player, or too many.
    #[error("players is {players}, expected 1 to {MAX_PLAYERS}")]
    Players {
        /// The number given.
        players: usize,
    },
    /// A pair names a player that does not exist, or one against itself.
    #[error("pair {pair} is between players {first} and {second}, expected two of {players}")]
    Pair {
        /// The pair, from 0.
        pair: usize,
        /// The first player.
        first: u32,
        /// The second player.
        second: u32,
        /// The number of players.
        players: usize,
    },
    /// A result that is none.
    #[error("result of pair {pair} is {result}, expected -1, 0 or 1")]
    Result {
        /// The pair, from 0.
        pair: usize,
        /// The number given.
        result: i8,
    },
    /// A prior out of range.
    #[error("prior is {prior}, expected {MIN_PRIOR} to {MAX_PRIOR}")]
    Prior {
        /// The number given.
        prior: f64,
    },
    /// Newton's method did not come to an end.
    #[error("no ratings after {steps} steps: the last one was {largest}")]
    NotConverged {
        /// Steps made.
        steps: u32,
        /// The largest change of a parameter in the last step.
        largest: f64,
    },
}

/// A number with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Estimate {
    fn of(value: f64, variance: f64) -> Estimate {
        let half = Z * variance.max(0.0).sqrt();
        Estimate {
            value,
            low: value - half,
            high: value + half,
        }
    }

    fn map(self, function: impl Fn(f64) -> f64) -> Estimate {
        Estimate {
            value: function(self.value),
            low: function(self.low),
            high: function(self.high),
        }
    }
}

/// What one player came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlayerRating {
    /// The rating in Elo points with its 95 % interval; the mean of all players is 0.
    #[serde(flatten)]
    pub rating: Estimate,
    /// Why the rating leans on the prior, if it does.
    pub flag: Option<RatingFlag>,
    /// Games played.
    pub games: u32,
    /// Games won.
    pub wins: u32,
    /// Games drawn or cut.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
}

/// What moving first is worth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FirstMove {
    /// In Elo points.
    pub elo: Estimate,
    /// South's expected score against an equal player, 0 to 1.
    pub score: Estimate,
}

/// How often games are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Draws {
    /// The share of all games that were drawn or cut, with the interval of [`paired_interval`].
    pub rate: Estimate,
    /// The expected share between two players whose chances to win are equal.
    pub between_equals: Estimate,
    /// Davidson's parameter: draws for every win between two such players.
    pub parameter: Estimate,
}

/// Ratings of players, fitted by [`fit_ratings`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ratings {
    /// The players in the order of their indices.
    pub players: Vec<PlayerRating>,
    /// The advantage of South.
    pub first_move: FirstMove,
    /// The draws.
    pub draws: Draws,
    /// The likelihood that the player of the row is stronger than that of the column: 1/2 for a
    /// player against itself.
    pub superiority: Vec<Vec<f64>>,
    /// Pairs of games.
    pub pairs: u32,
    /// The games that the prior is worth.
    pub prior: f64,
}

/// Rates players by the most likely strengths under Davidson's model with a first-move term.
///
/// In a game between South of strength `s` and North of strength `n` (as logarithms) wins of South,
/// draws and losses are as `exp(d/2)`, `v` and `exp(-d/2)` where `d = s - n + f`, `f` is what the
/// first move is worth and `v` tells how often games are drawn: Bradley and Terry (1952), with
/// draws by Davidson (1970), with an order of play by Davidson and Beaver (1977). A rating is a
/// strength times `400 / ln 10`: 400 points mean ten wins for each loss.
///
/// The prior keeps everything finite. It is worth [`RatingConfig::prior`] games for every
/// parameter: for each player half of them won and half of them lost against a player of strength
/// 0, for South the same against an equal, none of these drawn; and between equals half of them
/// drawn.
///
/// Intervals take the pair as the unit: the covariance is the sandwich of Huber (1967) and White
/// (1982) with the pairs as clusters, so that it holds when the two games of an opening depend on
/// each other. The prior's games count in it; and where a player is flagged its pairs count by
/// what the model expects of them, so that who won everything has a wide interval instead of none.
///
/// The pairs may come in any order; the same players under other indices get the same ratings up to
/// rounding.
///
/// ```
/// use endodoi::arena::{PairOutcome, RatingConfig, RatingFlag, fit_ratings};
///
/// let pair = |results| PairOutcome { players: [0, 1], results };
/// let pairs = [pair([1, 1]), pair([1, -1]), pair([1, 0]), pair([0, 1])];
/// let ratings = fit_ratings(2, &pairs, &RatingConfig::default())?;
/// assert!(ratings.players[0].rating.value > 0.0);
/// assert_eq!(ratings.players[0].rating.value, -ratings.players[1].rating.value);
/// assert_eq!(ratings.players[0].flag, None);
/// # Ok::<(), endodoi::arena::RatingError>(())
/// ```
///
/// # Errors
/// [`RatingError`] when an argument is out of range; and if the fit does not converge, which no
/// input is known to make happen.
pub fn fit_ratings(
    players: usize,
    pairs: &[PairOutcome],
    config: &RatingConfig,
) -> Result<Ratings, RatingError> {
    check(players, pairs, *config)?;
    let cells = model::count(pairs);
    let flags = flags::find(players, &cells);
    let flagged: Vec<bool> = flags.iter().map(Option::is_some).collect();
    let model = Model {
        players,
        cells: &cells,
        flagged: &flagged,
        prior: config.prior,
    };
    let fit = model.fit()?;
    let mut rated: Vec<PlayerRating> = ratings_of(players, &fit)
        .zip(flags)
        .map(|(rating, flag)| PlayerRating {
            rating,
            flag,
            games: 0,
            wins: 0,
            draws: 0,
            losses: 0,
        })
        .collect();
    for pair in pairs {
        for (player, sign) in pair.players.into_iter().zip([1, -1]) {
            for result in pair.results {
                rated[player as usize].count(sign * result);
            }
        }
    }
    Ok(Ratings {
        players: rated,
        first_move: first_move(&fit, players),
        draws: draws(&fit, players, pairs),
        superiority: superiority(&fit, players),
        pairs: pairs.len() as u32,
        prior: config.prior,
    })
}

fn check(players: usize, pairs: &[PairOutcome], config: RatingConfig) -> Result<(), RatingError> {
    if !(1..=MAX_PLAYERS).contains(&players) {
        return Err(RatingError::Players { players });
    }
    if !(MIN_PRIOR..=MAX_PRIOR).contains(&config.prior) {
        return Err(RatingError::Prior {
            prior: config.prior,
        });
    }
    for (index, pair) in pairs.iter().enumerate() {
        let [first, second] = pair.players;
        if first == second || first.max(second) as usize >= players {
            return Err(RatingError::Pair {
                pair: index,
                first,
                second,
                players,
            });
        }
        if let Some(&result) = pair
            .results
            .iter()
            .find(|result| !(-1..=1).contains(*result))
        {
            return Err(RatingError::Result {
                pair: index,
                result,
            });
        }
    }
    Ok(())
}

impl PlayerRating {
    fn count(&mut self, result: i8) {
        self.games += 1;
        match result {
            1 => self.wins += 1,
            0 => self.draws += 1,
            _ => self.losses += 1,
        }
    }
}

/// Returns the variance of a weighted sum of parameters.
fn variance(covariance: &Symmetric, weights: &[f64]) -> f64 {
    covariance.form(weights, weights)
}

/// Returns the ratings, as differences from their mean.
fn ratings_of(players: usize, fit: &Fit) -> impl Iterator<Item = Estimate> + '_ {
    let share = 1.0 / players as f64;
    let mean = fit.parameters[..players].iter().sum::<f64>() * share;
    (0..players).map(move |player| {
        let mut weights = vec![0.0; players + 2];
        weights[..players].fill(-share);
        weights[player] += 1.0;
        let strength = fit.parameters[player] - mean;
        Estimate::of(strength, variance(&fit.covariance, &weights)).map(|x| x * ELO)
    })
}

fn first_move(fit: &Fit, players: usize) -> FirstMove {
    let (ahead, draw) = (fit.parameters[players], fit.parameters[players + 1]);
    let mut weights = vec![0.0; players + 2];
    weights[players] = 1.0;
    let elo = Estimate::of(ahead, variance(&fit.covariance, &weights)).map(|x| x * ELO);
    let score = Chances::of(ahead, draw).score();
    let (by_ahead, by_draw) = Chances::of(ahead, draw).score_slope();
    weights[players] = by_ahead;
    weights[players + 1] = by_draw;
    let spread = variance(&fit.covariance, &weights);
    FirstMove {
        elo,
        score: Estimate::of(score, spread).map(|score| score.clamp(0.0, 1.0)),
    }
}

fn draws(fit: &Fit, players: usize, pairs: &[PairOutcome]) -> Draws {
    let mut drawn: Vec<f64> = pairs
        .iter()
        .map(|pair| pair.results.iter().filter(|&&result| result == 0).count() as f64 / 2.0)
        .collect();
    // Sums of the same numbers in another order may differ.
    drawn.sort_unstable_by(f64::total_cmp);
    let (low, high) = paired_interval(&drawn);
    let mut weights = vec![0.0; players + 2];
    weights[players + 1] = 1.0;
    let draw = Estimate::of(
        fit.parameters[players + 1],
        variance(&fit.covariance, &weights),
    );
    Draws {
        rate: Estimate {
            value: drawn.iter().sum::<f64>() / drawn.len().max(1) as f64,
            low,
            high,
        },
        between_equals: draw.map(|draw| Chances::of(0.0, draw).draw),
        parameter: draw.map(f64::exp),
    }
}

fn superiority(fit: &Fit, players: usize) -> Vec<Vec<f64>> {
    let mut chances = vec![vec![0.5; players]; players];
    for one in 0..players {
        for other in one + 1..players {
            let mut weights = vec![0.0; players + 2];
            (weights[one], weights[other]) = (1.0, -1.0);
            let error = variance(&fit.covariance, &weights).max(0.0).sqrt();
            let ahead = fit.parameters[one] - fit.parameters[other];
            let chance = if error > 0.0 {
                normal_below(ahead / error)
            } else {
                0.5
            };
            (chances[one][other], chances[other][one]) = (chance, 1.0 - chance);
        }
    }
    chances
}
