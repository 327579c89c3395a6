//! What the games of a tournament come to.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use crate::arena::interval::{mean_and_half, paired_interval_of};
use crate::arena::played::TournamentGame;
use crate::arena::ratings::{
    Estimate, PairOutcome, PlayerRating, RatingConfig, RatingFlag, Ratings, fit_ratings,
};
use crate::arena::tournament::{TournamentConfig, TournamentError};
use crate::position::Position;
use crate::simulate::EndCode;

/// A player's games against all others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlayerStanding {
    /// The name.
    pub name: String,
    /// Games played.
    pub games: u32,
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
    /// The rating in Elo points from [`fit_ratings`]; the mean of all players is 0.
    pub rating: f64,
    /// The lower end of the rating's 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Why the rating leans on the prior, if it does.
    pub flag: Option<RatingFlag>,
    /// Mean seeds captured less those of the opponent.
    pub margin: f64,
    /// Games lost by an illegal move.
    pub illegal: u32,
    /// Games lost by a failure to choose.
    pub error: u32,
    /// Games lost because a move came late.
    pub late: u32,
    /// What went wrong the first time.
    pub failure: Option<String>,
    /// Mean seconds of a move, measured where it is made.
    pub seconds_per_move: f64,
    /// Seconds of the longest move; of moves asked for together each has the same share.
    pub longest_move: f64,
}

/// The games of two players against each other, seen from the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairingStanding {
    /// The name of the first player.
    pub a: String,
    /// The name of the second.
    pub b: String,
    /// Games played.
    pub games: u32,
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
    /// Games cut by `max_plies`.
    pub cut: u32,
    /// Mean score, 0 to 1.
    pub score: f64,
    /// The lower end of the score's 95 % interval, from [`paired_interval_of`].
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Mean seeds captured less those of the opponent.
    pub margin: f64,
    /// Half-width of the margin's normal 95 % interval, `None` for fewer than two pairs.
    pub margin_half: Option<f64>,
    /// Games that differ from each other after the opening.
    pub distinct: u32,
    /// Pairs that differ from each other after the opening: what the intervals rest on.
    pub distinct_pairs: u32,
}

/// How South, who moves first, fares in all games.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SouthStanding {
    /// Games that South won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games that South lost.
    pub losses: u32,
    /// Mean score of South, 0 to 1; cut games count half.
    pub score: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// What moving first is worth in Elo points, fitted together with the ratings.
    pub elo: Estimate,
}

/// What the games of a tournament come to.
///
/// Two pairs of one pairing are the same where both games go on from the same position, after the
/// opening, by the same moves: the second is no new evidence. Scores are those of all games; their
/// intervals are as wide as if the same pairs had been played once, and ratings rest on these. Equal standings are those of
/// equal games: times are not compared.
#[derive(Clone, Debug, Serialize)]
pub struct Standings {
    /// The players in the order given.
    pub players: Vec<PlayerStanding>,
    /// The pairings in the order of the schedule.
    pub pairings: Vec<PairingStanding>,
    /// Games played.
    pub games: u32,
    /// Games that differ from each other after the opening, whoever played them.
    pub distinct: u32,
    /// Games cut by `max_plies`.
    pub cut: u32,
    /// Share of drawn games among those that have an outcome, 0 where there are none.
    pub draw_rate: f64,
    /// How South fares.
    pub first_move: SouthStanding,
    /// The likelihood that the player of the row is stronger than that of the column.
    pub superiority: Vec<Vec<f64>>,
}

impl PartialEq for Standings {
    fn eq(&self, other: &Standings) -> bool {
        let untimed = |standings: &Standings| -> Vec<PlayerStanding> {
            let players = standings.players.iter().cloned();
            players
                .map(|player| PlayerStanding {
                    seconds_per_move: 0.0,
                    longest_move: 0.0,
                    ..player
                })
                .collect()
        };
        untimed(self) == untimed(other)
            && self.pairings == other.pairings
            && (self.games, self.distinct, self.cut) == (other.games, other.distinct, other.cut)
            && self.first_move == other.first_move
    }
}

/// Two games from one opening: the first player as South, then as North.
type Pair<'a> = [&'a TournamentGame; 2];

impl Standings {
    /// Sums up games of a tournament, whatever their order and however many of them there are yet.
    ///
    /// # Errors
    /// [`TournamentError::Unpaired`] where a game is there twice or its twin is missing, and as
    /// [`TournamentConfig::check`].
    pub fn of(
        config: &TournamentConfig,
        names: &[String],
        games: &[TournamentGame],
    ) -> Result<Standings, TournamentError> {
        config.check(names.len())?;
        let pairings = sorted_pairs(config, names.len(), games)?;
        let mut openings = Openings::new(config);
        let mut first_moves = HashSet::new();
        let mut distinct = HashSet::new();
        let mut outcomes = Vec::new();
        let mut standings = Vec::with_capacity(pairings.len());
        for (&[a, b], pairs) in &pairings {
            let mut alike = HashSet::new();
            let mut of_pairing = HashSet::new();
            for pair in pairs {
                let opening = openings.number(pair[0].pair)?;
                let [one, other] = pair.map(|game| (opening, after_opening(game)));
                if alike.insert((one, other)) {
                    outcomes.push(PairOutcome {
                        players: [a, b],
                        results: pair.map(TournamentGame::result),
                    });
                }
                first_moves.insert((a, b, one, other));
                of_pairing.extend([one, other]);
                distinct.extend([one, other]);
            }
            let names = [a, b].map(|player| names[player as usize].clone());
            standings.push(pairing_standing(
                names,
                pairs,
                of_pairing.len(),
                alike.len(),
            ));
        }
        let all: Vec<&Pair<'_>> = pairings.values().flatten().collect();
        let games: Vec<&TournamentGame> = all.iter().copied().flatten().copied().collect();
        let ratings = fit_ratings(names.len(), &outcomes, &RatingConfig::default())?;
        let cut = count(&games, |game| game.end == EndCode::MaxPlies);
        let draws = count(&games, is_draw);
        Ok(Standings {
            players: player_standings(names, &games, &ratings),
            pairings: standings,
            games: games.len() as u32,
            distinct: distinct.len() as u32,
            cut,
            draw_rate: f64::from(draws) / f64::from((games.len() as u32 - cut).max(1)),
            first_move: first_move(&all, first_moves.len(), ratings.first_move.elo),
            superiority: ratings.superiority,
        })
    }
}

/// Numbers the positions that games go on from after their openings.
struct Openings<'a> {
    config: &'a TournamentConfig,
    drawer: crate::arena::openings::Drawer,
    of_pair: HashMap<u32, u32>,
    numbers: HashMap<Position, u32>,
}

impl<'a> Openings<'a> {
    fn new(config: &'a TournamentConfig) -> Openings<'a> {
        Openings {
            config,
            drawer: config.drawer(),
            of_pair: HashMap::new(),
            numbers: HashMap::new(),
        }
    }

    fn number(&mut self, pair: u32) -> Result<u32, TournamentError> {
        if let Some(&number) = self.of_pair.get(&pair) {
            return Ok(number);
        }
        let position = self.config.drawn(&self.drawer, pair)?.position;
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(position).or_insert(next);
        self.of_pair.insert(pair, number);
        Ok(number)
    }
}

fn after_opening(game: &TournamentGame) -> &[u8] {
    game.moves.get(game.opening as usize..).unwrap_or(&[])
}

/// Puts the games in order: pairing by pairing, pair by pair.
fn sorted_pairs<'a>(
    config: &TournamentConfig,
    players: usize,
    games: &'a [TournamentGame],
) -> Result<BTreeMap<[u32; 2], Vec<Pair<'a>>>, TournamentError> {
    let mut pairings: BTreeMap<[u32; 2], Vec<Pair<'a>>> = config
        .pairings(players)
        .into_iter()
        .map(|pairing| (pairing, Vec::new()))
        .collect();
    let mut sorted: Vec<&TournamentGame> = games.iter().collect();
    sorted.sort_unstable_by_key(|game| game.key());
    for two in sorted.chunk_by(|a, b| (a.pairing, a.pair) == (b.pairing, b.pair)) {
        let (pairing, pair) = (two[0].pairing, two[0].pair);
        let unpaired = TournamentError::Unpaired { pairing, pair };
        let Some(pairs) = pairings.get_mut(&pairing) else {
            return Err(unpaired);
        };
        match *two {
            [first, second] if (first.south, second.south) == (0, 1) && pair < config.pairs() => {
                pairs.push([first, second]);
            }
            _ => return Err(unpaired),
        }
    }
    Ok(pairings)
}

fn count(games: &[&TournamentGame], wanted: impl Fn(&TournamentGame) -> bool) -> u32 {
    games.iter().filter(|game| wanted(game)).count() as u32
}

fn is_draw(game: &TournamentGame) -> bool {
    game.winner == 0 && game.end != EndCode::MaxPlies
}

fn score_of(result: i8) -> f64 {
    f64::midpoint(f64::from(result), 1.0)
}

fn pairing_standing(
    [a, b]: [String; 2],
    pairs: &[Pair<'_>],
    distinct: usize,
    distinct_pairs: usize,
) -> PairingStanding {
    let games: Vec<&TournamentGame> = pairs.iter().flatten().copied().collect();
    let scores: Vec<f64> = pairs
        .iter()
        .map(|[one, other]| f64::midpoint(score_of(one.result()), score_of(other.result())))
        .collect();
    let margins: Vec<f64> = pairs
        .iter()
        .map(|[one, other]| f64::midpoint(one.margin().into(), other.margin().into()))
        .collect();
    let (low, high) = paired_interval_of(&scores, distinct_pairs);
    let (margin, half) = mean_and_half(&margins);
    let repeated = (pairs.len() as f64 / (distinct_pairs as f64).max(1.0)).sqrt();
    PairingStanding {
        a,
        b,
        games: games.len() as u32,
        wins: count(&games, |game| game.result() > 0),
        draws: count(&games, is_draw),
        losses: count(&games, |game| game.result() < 0),
        cut: count(&games, |game| game.end == EndCode::MaxPlies),
        score: mean_or(&scores, 0.5),
        low,
        high,
        margin,
        margin_half: (distinct_pairs > 1).then_some(half * repeated),
        distinct: distinct as u32,
        distinct_pairs: distinct_pairs as u32,
    }
}

fn mean_or(values: &[f64], nothing: f64) -> f64 {
    if values.is_empty() {
        return nothing;
    }
    mean_and_half(values).0
}

fn player_standings(
    names: &[String],
    games: &[&TournamentGame],
    ratings: &Ratings,
) -> Vec<PlayerStanding> {
    let mut own: Vec<Vec<(&TournamentGame, usize)>> = vec![Vec::new(); names.len()];
    for &game in games {
        for (place, &player) in game.pairing.iter().enumerate() {
            own[player as usize].push((game, place));
        }
    }
    let all = names.iter().zip(own).zip(&ratings.players);
    all.map(|((name, own), rated)| player_standing(name, &own, rated))
        .collect()
}

/// Sums up a player's games, each with its place among the two: 0 or 1.
fn player_standing(
    name: &str,
    own: &[(&TournamentGame, usize)],
    rated: &PlayerRating,
) -> PlayerStanding {
    let sign = |place: usize| if place == 0 { 1 } else { -1 };
    let results: Vec<i8> = own
        .iter()
        .map(|&(game, place)| sign(place) * game.result())
        .collect();
    let margins: Vec<f64> = own
        .iter()
        .map(|&(game, place)| f64::from(i32::from(sign(place)) * game.margin()))
        .collect();
    let forfeits = |end: EndCode| {
        let lost = |&&(game, place): &&(&TournamentGame, usize)| {
            game.end == end && game.at_fault() == Some(place)
        };
        own.iter().filter(lost).count() as u32
    };
    let failure = own
        .iter()
        .find(|&&(game, place)| game.at_fault() == Some(place))
        .and_then(|(game, _)| game.failure.clone());
    let times = own.iter().map(|&(game, place)| game.times[place]);
    let moves: u64 = times.clone().map(|spent| u64::from(spent.moves)).sum();
    let seconds: f64 = times.clone().map(|spent| spent.seconds).sum();
    let scores: Vec<f64> = results.iter().map(|&result| score_of(result)).collect();
    let cut = own.iter().filter(|(game, _)| game.end == EndCode::MaxPlies);
    let of_result = |wanted: i8| results.iter().filter(|&&result| result == wanted).count() as u32;
    let cut = cut.count() as u32;
    PlayerStanding {
        name: name.to_owned(),
        games: own.len() as u32,
        wins: of_result(1),
        draws: of_result(0) - cut,
        losses: of_result(-1),
        cut,
        score: mean_or(&scores, 0.5),
        rating: rated.rating.value,
        low: rated.rating.low,
        high: rated.rating.high,
        flag: rated.flag,
        margin: mean_or(&margins, 0.0),
        illegal: forfeits(EndCode::Illegal),
        error: forfeits(EndCode::Error),
        late: forfeits(EndCode::Late),
        failure,
        seconds_per_move: seconds / (moves as f64).max(1.0),
        longest_move: times.map(|spent| spent.longest).fold(0.0, f64::max),
    }
}

fn first_move(pairs: &[&Pair<'_>], distinct: usize, elo: Estimate) -> SouthStanding {
    let winners = pairs.iter().flat_map(|pair| pair.map(|game| game.winner));
    let of = |wanted: i8| winners.clone().filter(|&winner| winner == wanted).count() as u32;
    let games = pairs.iter().flat_map(|pair| pair.iter().copied());
    let scores: Vec<f64> = pairs
        .iter()
        .map(|[one, other]| f64::midpoint(score_of(one.winner), score_of(other.winner)))
        .collect();
    let (low, high) = paired_interval_of(&scores, distinct);
    SouthStanding {
        wins: of(1),
        draws: games.filter(|game| is_draw(game)).count() as u32,
        losses: of(-1),
        score: mean_or(&scores, 0.5),
        low,
        high,
        elo,
    }
}
