//! The sequential test: published values, an independent computation, its error rates.

#![allow(clippy::expect_used, clippy::panic)]

use endodoi::arena::{EloModel, Hypothesis, SprtConfig, SprtError};
use endodoi::rng::{self, Purpose, RngCore};

fn config(model: EloModel, elo0: f64, elo1: f64) -> SprtConfig {
    SprtConfig {
        model,
        ..SprtConfig::new(elo0, elo1)
    }
}

fn llr(config: &SprtConfig, counts: &[u64]) -> f64 {
    config.llr(counts).expect("a ratio")
}

/// Tells whether a ratio is the published one, which is rounded to two places; large ones are less
/// exact, for the results are then all of one kind.
fn near(found: f64, published: f64) -> bool {
    (found - published).abs() < 0.006 + 3e-4 * published.abs()
}

/// The values that the test manager fastchess pins: its counts of (LL, LD, WL, DD, WD, WW) and of
/// (W, L, D), its ratios to two places.
#[test]
fn the_published_ratios_of_a_test_manager_are_reproduced() {
    use EloModel::{Logistic, Normalized};
    let pairs = [
        (
            Normalized,
            0.0,
            2.0,
            [365, 16618, 36029 + 200, 16974, 390],
            2.25,
        ),
        (
            Normalized,
            -1.75,
            0.25,
            [127, 4883, 10311 + 401, 5150, 104],
            3.01,
        ),
        (Normalized, 0.0, 5.0, [0, 0, 0, 0, 5550], 111.82),
        (
            Logistic,
            0.5,
            2.5,
            [223, 9863, 20279 + 1000, 10037, 246],
            -3.07,
        ),
        (
            Logistic,
            0.0,
            2.0,
            [871, 26175, 55003 + 980, 26678, 821],
            -4.98,
        ),
    ];
    for (model, elo0, elo1, counts, expected) in pairs {
        let found = llr(&config(model, elo0, elo1), &counts);
        assert!(near(found, expected), "{counts:?}: {found}");
    }
    let games = [
        (Normalized, 0.0, 2.0, [36433, 36027, 68692], 0.92),
        (Normalized, -1.75, 0.25, [10871, 10650, 20431], 2.30),
        (Normalized, 0.0, 10.0, [4250, 0, 0], 120.56),
        (Logistic, 0.5, 2.5, [21404, 21184, 40708], -1.57),
        (Logistic, 0.0, 2.0, [57433, 57030, 106_593], -2.59),
    ];
    for (model, elo0, elo1, [wins, losses, draws], expected) in games {
        let found = llr(&config(model, elo0, elo1), &[losses, draws, wins]);
        assert!(near(found, expected), "{wins} {losses} {draws}: {found}");
    }
}

/// The likeliest chances by blind search: no chances that make the difference are likelier.
#[test]
fn the_ratio_is_that_of_the_likeliest_chances() {
    let counts = [7_u64, 20, 31, 25, 11];
    let total: u64 = counts.iter().sum();
    for model in [EloModel::Logistic, EloModel::Normalized] {
        let test = config(model, -10.0, 35.0);
        let found = llr(&test, &counts);
        let searched = [test.elo1, test.elo0].map(|elo| {
            let mut chances = counts.map(|count| count as f64 / total as f64);
            search(&mut chances, &counts, model, elo)
        });
        let expected = searched[0] - searched[1];
        assert!(
            (found - expected).abs() < 1e-4,
            "{model:?} {found} {expected}"
        );
    }
}

/// Returns how far chances are from a difference.
fn miss(chances: &[f64; 5], model: EloModel, elo: f64) -> f64 {
    let mean: f64 = (0..5).map(|i| chances[i] * i as f64 / 4.0).sum();
    let variance: f64 = (0..5)
        .map(|i| chances[i] * (i as f64 / 4.0 - mean).powi(2))
        .sum();
    match model {
        EloModel::Logistic => mean - 1.0 / (1.0 + 10_f64.powf(-elo / 400.0)),
        // In standard deviations of one game: a pair has half the variance of a game.
        EloModel::Normalized => (mean - 0.5) / (2.0 * variance).sqrt() - elo * 10_f64.ln() / 800.0,
    }
}

/// Climbs to the likeliest chances with a penalty for missing the difference, by steps along random
/// directions; returns their log-likelihood.
fn search(chances: &mut [f64; 5], counts: &[u64; 5], model: EloModel, elo: f64) -> f64 {
    let likelihood =
        |chances: &[f64; 5]| -> f64 { (0..5).map(|i| counts[i] as f64 * chances[i].ln()).sum() };
    let mut stream = rng::stream(1, 0, Purpose::Play);
    let mut uniform = || f64::from(stream.next_u32()) / 2_f64.powi(32) - 0.5;
    for penalty in [1e3, 1e5, 1e7, 1e9] {
        let worth =
            |chances: &[f64; 5]| likelihood(chances) - penalty * miss(chances, model, elo).powi(2);
        let mut size = 0.05;
        for _ in 0..60_000 {
            let mut next = *chances;
            for chance in &mut next {
                *chance = (*chance + size * uniform()).max(1e-9);
            }
            let sum: f64 = next.iter().sum();
            let next = next.map(|chance| chance / sum);
            if worth(&next) > worth(chances) {
                *chances = next;
                size *= 1.5;
            } else {
                size = (size * 0.98).max(1e-9);
            }
        }
    }
    likelihood(chances)
}

/// Errors stay near those allowed when the truth is on either hypothesis.
#[test]
fn the_error_rates_are_those_asked_for() {
    const TESTS: u64 = 1000;
    let test = SprtConfig {
        alpha: 0.1,
        beta: 0.1,
        ..SprtConfig::new(0.0, 60.0)
    };
    let mut wrong = [0; 2];
    for (hypothesis, wrong) in wrong.iter_mut().enumerate() {
        // Chances of 0 to 4 half points with the score of the hypothesis.
        let elo = [test.elo0, test.elo1][hypothesis];
        let score = 1.0 / (1.0 + 10_f64.powf(-elo / 400.0));
        let tilt = 2.0 * (score - 0.5);
        let chances = [0.2, 0.2, 0.2, 0.2, 0.2]
            .iter()
            .zip([-2.0, -1.0, 0.0, 1.0, 2.0])
            .map(|(chance, place)| chance + tilt * place / 5.0)
            .collect::<Vec<f64>>();
        for seed in 0..TESTS {
            let mut stream = rng::stream(seed, hypothesis as u64, Purpose::Play);
            let pairs: Vec<i64> = (0..20_000)
                .map(|_| {
                    let mut place = f64::from(stream.next_u32()) / 2_f64.powi(32);
                    let past = |chance: &&f64| {
                        place -= **chance;
                        place >= 0.0
                    };
                    chances.iter().take_while(past).count().min(4) as i64
                })
                .collect();
            let mut counts = [0; 5];
            let played = test.decide(&mut counts, &pairs).expect("a test");
            assert!(played < pairs.len(), "no decision");
            let accepted = test.result(&counts).expect("a result").accepted;
            let right = [Hypothesis::H0, Hypothesis::H1][hypothesis];
            *wrong += u32::from(accepted != Some(right));
        }
    }
    // The test stops a little past its bounds, so that errors are rarer than allowed.
    assert!(
        wrong.iter().all(|wrong| (40..=130).contains(wrong)),
        "{wrong:?}"
    );
}

#[test]
fn a_decision_is_made_after_the_first_pair_that_reaches_a_bound() {
    let test = SprtConfig::new(0.0, 100.0);
    let pairs = [3_i64, 4, 2, 4, 3].repeat(20);
    let mut counts = [0; 5];
    let played = test.decide(&mut counts, &pairs).expect("a test");
    assert!(played < pairs.len());
    assert_eq!(counts.iter().sum::<u64>(), played as u64);
    assert_eq!(
        test.result(&counts).expect("a result").accepted,
        Some(Hypothesis::H1)
    );
    // One pair less leaves it open; in two parts it stops at the same pair.
    let mut before = [0; 5];
    assert_eq!(
        test.decide(&mut before, &pairs[..played - 1]),
        Ok(played - 1)
    );
    assert_eq!(test.result(&before).expect("a result").accepted, None);
    assert_eq!(test.decide(&mut before, &pairs[played - 1..]), Ok(1));
    assert_eq!(before, counts);
}

#[test]
fn results_say_what_was_played() {
    let test = SprtConfig::new(0.0, 10.0);
    let nothing = test.result(&[0; 5]).expect("a result");
    assert!(nothing.llr.abs() < f64::EPSILON && nothing.accepted.is_none());
    assert_eq!((nothing.games, nothing.interval), (0, (0.0, 1.0)));

    let (lower, upper) = test.bounds();
    assert!((upper - 19_f64.ln()).abs() < 1e-12 && (lower + upper).abs() < 1e-12);
    let even = test.result(&[10, 20, 30, 20, 10]).expect("a result");
    assert_eq!(even.games, 180);
    assert!(even.elo.abs() < 1e-9 && even.llr < 0.0);
    assert!(even.interval.0 < 0.5 && even.interval.1 > 0.5);

    let won = test.result(&[0, 0, 0, 0, 40]).expect("a result");
    assert!(won.elo.is_infinite() && won.elo_interval.0 > 100.0);
    let normalized = config(EloModel::Normalized, 0.0, 10.0);
    // All results alike: nothing to measure the difference by.
    assert!(
        !normalized
            .result(&[0, 0, 9, 0, 0])
            .expect("a result")
            .elo
            .is_nan()
    );
}

/// Both models give a ratio for whatever can be asked.
#[test]
fn every_difference_in_range_has_a_ratio() {
    for counts in [
        [1, 0, 0, 0, 0],
        [0, 0, 0, 0, 900],
        [0, 0, 50, 0, 0],
        [5, 9, 2, 1, 0],
        [300, 0, 0, 0, 300],
    ] {
        for model in [EloModel::Logistic, EloModel::Normalized] {
            for (elo0, elo1) in [
                (-200.0, 200.0),
                (-200.0, -199.0),
                (0.0, 0.001),
                (150.0, 200.0),
            ] {
                let found = config(model, elo0, elo1).llr(&counts);
                assert!(
                    found.as_ref().is_ok_and(|llr| llr.is_finite()),
                    "{model:?} {counts:?} {elo0} {elo1} {found:?}"
                );
            }
        }
    }
}

#[test]
fn what_is_out_of_range_is_refused_by_its_name() {
    let refused = |test: SprtConfig| test.check().expect_err("refused").to_string();
    let good = SprtConfig::new(0.0, 10.0);
    assert_eq!(
        refused(SprtConfig {
            elo1: 201.0,
            ..good
        }),
        "elo1 is 201, expected -200 to 200"
    );
    assert_eq!(
        refused(SprtConfig {
            elo0: f64::NAN,
            ..good
        }),
        "elo0 is NaN, expected -200 to 200"
    );
    assert_eq!(
        refused(SprtConfig { alpha: 0.5, ..good }),
        "alpha is 0.5, expected more than 0 and less than 0.5"
    );
    assert_eq!(
        refused(SprtConfig { beta: 0.0, ..good }),
        "beta is 0, expected more than 0 and less than 0.5"
    );
    assert_eq!(
        refused(SprtConfig::new(10.0, 10.0)),
        "elo0 is 10 and elo1 10, expected elo0 below elo1"
    );
    assert_eq!(good.llr(&[1, 2]), Err(SprtError::Counts { got: 2 }));
    assert_eq!(
        good.decide(&mut [0; 5], &[4, 5]),
        Err(SprtError::Score {
            pair: 1,
            half_points: 5
        })
    );
}
