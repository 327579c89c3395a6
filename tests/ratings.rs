//! Ratings: a simulated league is recovered, order and names do not matter, ends stay finite.

#![allow(clippy::expect_used, clippy::panic)]

use endodoi::arena::{
    Estimate, PairOutcome, RatingConfig, RatingError, RatingFlag, Ratings, fit_ratings,
};
use endodoi::rng::{self, Purpose, RngCore, Xoshiro128PlusPlus};

/// Elo points of a strength whose odds are e to 1.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// A league whose strengths are known.
struct League {
    /// Elo points, of mean 0.
    ratings: Vec<f64>,
    /// What the first move is worth, in Elo points.
    first_move: f64,
    /// Draws for every win between players of equal chances.
    draws: f64,
    /// The share of openings that decide both games alike, whoever plays them.
    alike: f64,
}

impl League {
    /// Returns what South's game comes to at a place in `[0, 1)` between its best and its worst.
    fn result(&self, south: usize, north: usize, place: f64) -> i8 {
        let ahead = (self.ratings[south] - self.ratings[north] + self.first_move) / ELO;
        let [win, loss] = [(ahead / 2.0).exp(), (-ahead / 2.0).exp()];
        let sum = win + self.draws + loss;
        if place < win / sum {
            1
        } else if place < (win + self.draws) / sum {
            0
        } else {
            -1
        }
    }

    /// Plays a round robin of so many pairs of games.
    fn play(&self, pairs: usize, stream: &mut Xoshiro128PlusPlus) -> Vec<PairOutcome> {
        let mut place = || f64::from(stream.next_u32()) / 2_f64.powi(32);
        let mut played = Vec::new();
        for first in 0..self.ratings.len() {
            for second in 0..first {
                for _ in 0..pairs {
                    let (one, alike) = (place(), place() < self.alike);
                    let other = if alike { one } else { place() };
                    played.push(PairOutcome {
                        players: [first as u32, second as u32],
                        results: [
                            self.result(first, second, one),
                            -self.result(second, first, other),
                        ],
                    });
                }
            }
        }
        played
    }
}

fn fit(players: usize, pairs: &[PairOutcome]) -> Ratings {
    fit_ratings(players, pairs, &RatingConfig::default()).expect("ratings")
}

fn holds(estimate: &Estimate, truth: f64) -> bool {
    (estimate.low..=estimate.high).contains(&truth)
}

fn pair(first: u32, second: u32, south: i8, north: i8) -> PairOutcome {
    PairOutcome {
        players: [first, second],
        results: [south, north],
    }
}

/// Each of the 95 % intervals of 1000 leagues holds the truth in 93 % to 97 %, also where the games
/// of a pair depend on each other, where pairs are few and where strengths are far apart.
#[test]
fn a_simulated_league_is_recovered_within_its_intervals() {
    const LEAGUES: u64 = 1000;
    for (pairs, alike, spread) in [(10, 0.6, 1.0), (50, 0.0, 1.0), (50, 0.6, 3.0)] {
        let league = League {
            ratings: [-200.0, -90.0, -10.0, 20.0, 80.0, 200.0]
                .map(|rating| rating * spread)
                .to_vec(),
            first_move: 40.0,
            draws: 0.15,
            alike,
        };
        let ahead = (league.first_move / ELO / 2.0).exp();
        let score = (ahead + league.draws / 2.0) / (ahead + league.draws + 1.0 / ahead);
        let mut held = [0; 9];
        for seed in 0..LEAGUES {
            let mut stream = rng::stream(seed, 0, Purpose::Play);
            let found = fit(6, &league.play(pairs, &mut stream));
            let strengths = found.players.iter().zip(&league.ratings);
            let other = [
                (&found.first_move.elo, league.first_move),
                (&found.first_move.score, score),
                (&found.draws.parameter, league.draws),
            ];
            let all = strengths
                .map(|(player, &truth)| (&player.rating, truth))
                .chain(other);
            for (held, (estimate, truth)) in held.iter_mut().zip(all) {
                *held += u32::from(holds(estimate, truth));
            }
        }
        let right = held.iter().all(|held| (930..=970).contains(held));
        assert!(right, "{pairs} pairs, alike {alike}: {held:?} of {LEAGUES}");
    }
}

/// Were the games of a pair taken as independent, the first-move term would look surer than it is.
#[test]
fn the_pair_is_the_unit_of_the_intervals() {
    let width = |alike| {
        let league = League {
            ratings: vec![0.0; 4],
            first_move: 0.0,
            draws: 0.1,
            alike,
        };
        let mut stream = rng::stream(7, 0, Purpose::Play);
        let found = fit(4, &league.play(400, &mut stream));
        let spread = |estimate: Estimate| estimate.high - estimate.low;
        (
            spread(found.first_move.elo),
            spread(found.players[0].rating),
        )
    };
    let (apart, together) = (width(0.0), width(1.0));
    assert!(together.0 > 1.3 * apart.0, "{apart:?} {together:?}");
    assert!(together.1 < 0.8 * apart.1, "{apart:?} {together:?}");
}

#[test]
fn ratings_do_not_depend_on_the_order_of_pairs_or_players() {
    let league = League {
        ratings: vec![-120.0, 0.0, 30.0, 90.0],
        first_move: 25.0,
        draws: 0.3,
        alike: 0.5,
    };
    let played = league.play(20, &mut rng::stream(3, 0, Purpose::Play));
    let found = fit(4, &played);

    let backwards: Vec<PairOutcome> = played.iter().rev().copied().collect();
    assert_eq!(fit(4, &backwards), found);

    let named_otherwise: Vec<PairOutcome> = played
        .iter()
        .map(|one| {
            let [south, north] = one.results;
            pair(one.players[1], one.players[0], -north, -south)
        })
        .collect();
    assert_eq!(fit(4, &named_otherwise), found);

    let places = [2, 0, 3, 1];
    let renamed: Vec<PairOutcome> = played
        .iter()
        .map(|one| PairOutcome {
            players: one.players.map(|player| places[player as usize]),
            ..*one
        })
        .collect();
    let again = fit(4, &renamed);
    for (player, place) in found.players.iter().zip(places) {
        let other = &again.players[place as usize];
        for (one, other) in [
            (player.rating.value, other.rating.value),
            (player.rating.low, other.rating.low),
            (player.rating.high, other.rating.high),
        ] {
            assert!((one - other).abs() < 1e-8, "{one} {other}");
        }
        assert_eq!(player.wins, other.wins);
    }
}

#[test]
fn an_undefeated_player_has_a_finite_flagged_rating() {
    let mut played = vec![pair(0, 1, 1, -1), pair(0, 1, -1, 1), pair(0, 1, 0, 1)];
    for other in [0, 1] {
        played.extend([pair(2, other, 1, 1); 200]);
    }
    let found = fit(3, &played);
    let flags: Vec<_> = found.players.iter().map(|player| player.flag).collect();
    assert_eq!(flags, [None, None, Some(RatingFlag::Undefeated)]);
    let best = &found.players[2];
    assert!(best.rating.value > 600.0 && best.rating.value < 2000.0);
    // The games do not bound it from above, and the interval says so.
    assert!(best.rating.high.is_finite() && best.rating.high > best.rating.value + 400.0);
    assert!(best.rating.low > found.players[0].rating.value + 300.0);
    assert!(found.superiority[2][0] > 0.99);
    assert_eq!((best.games, best.wins, best.losses), (800, 800, 0));
}

#[test]
fn players_that_nobody_links_are_flagged() {
    let even = |one, other| {
        [
            pair(one, other, 1, -1),
            pair(one, other, 0, 1),
            pair(one, other, -1, 0),
        ]
    };
    let mut played: Vec<PairOutcome> = [even(0, 1), even(2, 3)].concat();
    let flags = |players, played: &[PairOutcome]| {
        let found = fit(players, played);
        assert!(
            found
                .players
                .iter()
                .all(|player| player.rating.value.is_finite())
        );
        let flags = found.players.iter().map(|player| player.flag);
        flags.collect::<Vec<_>>()
    };
    assert_eq!(flags(4, &played), [Some(RatingFlag::Separate); 4]);
    // The larger group is the one that ratings are read from.
    played.extend(even(3, 4));
    let two_groups = flags(6, &played);
    assert_eq!(two_groups[..2], [Some(RatingFlag::Separate); 2]);
    assert_eq!(two_groups[2..5], [None; 3]);
    assert_eq!(two_groups[5], Some(RatingFlag::Unplayed));
    // A draw between them joins the groups.
    played.push(pair(1, 4, 0, -1));
    assert_eq!(flags(5, &played), [None; 5]);
    // Beaten always, by one of the others.
    played.extend([pair(5, 0, -1, -1); 3]);
    assert_eq!(flags(6, &played)[5], Some(RatingFlag::Winless));
}

#[test]
fn nothing_played_or_only_draws_gives_finite_ratings() {
    let found = fit(2, &[]);
    for player in &found.players {
        assert_eq!(
            (player.rating.value, player.flag),
            (0.0, Some(RatingFlag::Unplayed))
        );
        assert!(player.rating.low < -100.0 && player.rating.low.is_finite());
    }
    assert!((found.draws.between_equals.value - 0.5).abs() < 1e-12);

    let drawn = fit(2, &[pair(0, 1, 0, 0); 50]);
    assert!(
        drawn
            .players
            .iter()
            .all(|player| player.rating.value.abs() < 1e-12)
    );
    assert!((drawn.draws.rate.value - 1.0).abs() < 1e-12);
    assert!(drawn.draws.parameter.high.is_finite() && drawn.first_move.elo.value.abs() < 1e-12);

    let south_wins = fit(2, &[pair(0, 1, 1, -1); 100]);
    assert!(south_wins.first_move.elo.value > 600.0);
    assert!(south_wins.first_move.score.value > 0.95);
    assert!(south_wins.players[0].rating.value.abs() < 1e-9);
}

#[test]
fn a_weaker_prior_lets_ratings_go_further() {
    let played = [pair(0, 1, 1, 1); 20];
    let ahead = |prior| {
        let found = fit_ratings(2, &played, &RatingConfig { prior }).expect("ratings");
        found.players[0].rating.value
    };
    assert!(ahead(0.1) > ahead(1.0) + 100.0 && ahead(1.0) > ahead(10.0) + 100.0);
}

#[test]
fn what_is_out_of_range_is_refused_by_its_name() {
    let config = RatingConfig::default();
    let refused = |players, played: &[PairOutcome], config| {
        let error = fit_ratings(players, played, config).expect_err("refused");
        error.to_string()
    };
    assert_eq!(refused(0, &[], &config), "players is 0, expected 1 to 2000");
    assert_eq!(
        refused(2, &[pair(0, 1, 1, 1), pair(1, 2, 1, 1)], &config),
        "pair 1 is between players 1 and 2, expected two of 2"
    );
    assert_eq!(
        refused(2, &[pair(1, 1, 1, 1)], &config),
        "pair 0 is between players 1 and 1, expected two of 2"
    );
    assert_eq!(
        refused(2, &[pair(0, 1, 1, 2)], &config),
        "result of pair 0 is 2, expected -1, 0 or 1"
    );
    for prior in [0.0, f64::NAN, 1001.0, -1.0] {
        let error = fit_ratings(2, &[], &RatingConfig { prior });
        assert!(matches!(error, Err(RatingError::Prior { .. })));
    }
}
