//! Matches in pairs: fairness, failures, records, intervals.

// A helper of a test fails as loudly as a test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
// Exact halves and ends are what is tested.
#![allow(clippy::float_cmp)]

use endodoi::arena::{ArenaError, PairConfig, paired_interval, play_pairs, table};
use endodoi::policy::{AlphaBeta, Greedy, Policy, PolicyError, Random};
use endodoi::rng::{self, Purpose, Xoshiro128PlusPlus};
use endodoi::simulate::EndCode;
use endodoi::{GameRecord, Position, Ruleset, RulesetFields, Side, Variant};

fn two_by_six() -> Ruleset {
    let fields = RulesetFields {
        columns: Some(6),
        ..RulesetFields::default()
    };
    Ruleset::new(Variant::EnDodoi, &fields).unwrap()
}

/// Plays the lowest legal column, except where it was told to misbehave.
struct Misbehaving {
    /// Chooses an empty pit where its row holds this many seeds.
    illegal_at: Option<u32>,
    /// Fails where its row holds this many seeds.
    failing_at: Option<u32>,
}

impl Policy for Misbehaving {
    fn name(&self) -> String {
        "misbehaving".to_owned()
    }

    fn choose(
        &mut self,
        positions: &[Position],
        _streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
    ) -> Result<(), PolicyError> {
        for (position, column) in positions.iter().zip(moves) {
            let row = position.board().row(position.to_move());
            let seeds = Some(row.iter().map(|&seeds| u32::from(seeds)).sum::<u32>());
            if seeds == self.failing_at {
                return Err(PolicyError::Failed {
                    name: self.name(),
                    message: "lost its nerve".to_owned(),
                });
            }
            *column = position.legal_moves().nth(0).unwrap() as u8;
            if seeds == self.illegal_at {
                *column = 200;
            }
        }
        Ok(())
    }
}

#[test]
fn the_same_player_against_itself_scores_exactly_one_half() {
    let config = PairConfig::new(two_by_six(), 100);
    let random = play_pairs(&mut Random, &mut Random, &config).unwrap();
    let greedy = play_pairs(&mut Greedy::default(), &mut Greedy::default(), &config).unwrap();
    let mut deep = AlphaBeta::new(3).unwrap();
    let searched = play_pairs(&mut deep.clone(), &mut deep, &config).unwrap();
    for result in [random, greedy, searched] {
        assert_eq!(result.score, 0.5);
        assert_eq!(result.margin, 0.0);
        assert_eq!(result.wins, result.losses);
        assert!(result.interval.0 < 0.5 && result.interval.1 > 0.5);
        for pair in result.games.chunks(2) {
            assert_eq!(pair[0].moves, pair[1].moves);
            assert_eq!(pair[0].result, -pair[1].result);
        }
        assert!(result.distinct <= 50);
    }
}

#[test]
fn pairs_share_their_opening_and_swap_the_sides() {
    let config = PairConfig {
        seed: 11,
        ..PairConfig::new(two_by_six(), 60)
    };
    let result = play_pairs(&mut Greedy::default(), &mut Random, &config).unwrap();
    for (index, pair) in result.games.chunks(2).enumerate() {
        assert_eq!(pair[0].moves[..4], pair[1].moves[..4]);
        assert_eq!((pair[0].side, pair[1].side), (Side::South, Side::North));
        assert_eq!((pair[0].pair, pair[1].pair), (index as u32, index as u32));
    }
    let openings: std::collections::HashSet<_> = result
        .games
        .iter()
        .map(|game| game.moves[..4].to_vec())
        .collect();
    assert!(openings.len() > 25);
    assert!(result.score > 0.7, "{}", result.score);
    assert!(result.margin > 5.0 && result.margin_half < 6.0);
    let mean = f64::midpoint(result.score_as[0], result.score_as[1]);
    assert!((mean - result.score).abs() < 1e-12);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let config = PairConfig::new(two_by_six(), 40);
    let play = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| play_pairs(&mut AlphaBeta::new(2).unwrap(), &mut Random, &config).unwrap())
    };
    assert_eq!(play(1), play(3));
}

#[test]
fn a_player_that_fails_or_plays_illegally_loses_that_game_alone() {
    let config = PairConfig::new(two_by_six(), 200);
    let mut bad = Misbehaving {
        illegal_at: Some(17),
        failing_at: Some(13),
    };
    let result = play_pairs(&mut bad, &mut Random, &config).unwrap();
    let [own, other] = result.forfeits;
    assert!(own.illegal > 5 && own.error > 5, "{own:?}");
    assert_eq!((other.illegal, other.error), (0, 0));
    let lost = |end| result.games.iter().filter(|game| game.end == end).count() as u32;
    assert_eq!(
        (lost(EndCode::Illegal), lost(EndCode::Error)),
        (own.illegal, own.error)
    );
    assert!(lost(EndCode::Stuck) > 20);
    for game in &result.games {
        match game.end {
            EndCode::Illegal => {
                let text = game.failure.clone().unwrap();
                assert_eq!(
                    (game.result, text.as_str()),
                    (-1, "column is 200, expected 0 to 5")
                );
            }
            EndCode::Error => {
                let text = game.failure.clone().unwrap();
                assert_eq!(
                    (game.result, text.as_str()),
                    (-1, "player misbehaving: lost its nerve")
                );
            }
            _ => assert_eq!(game.failure, None),
        }
    }
    let text = table(&[("random", &result)]);
    assert!(text.contains("lost by misbehaving (illegal)"), "{text}");
}

/// Is interrupted whenever it is asked.
struct Interrupted;

impl Policy for Interrupted {
    fn name(&self) -> String {
        "interrupted".to_owned()
    }

    fn choose(
        &mut self,
        _positions: &[Position],
        _streams: &mut [Xoshiro128PlusPlus],
        _moves: &mut [u8],
    ) -> Result<(), PolicyError> {
        Err(PolicyError::Interrupted { name: self.name() })
    }
}

#[test]
fn an_interrupted_player_loses_its_games_and_the_match_ends() {
    let config = PairConfig::new(two_by_six(), 20);
    let result = play_pairs(&mut Interrupted, &mut Random, &config).unwrap();
    assert_eq!(result.forfeits[0].error, 20);
    for game in &result.games {
        let text = game.failure.clone().unwrap();
        assert_eq!(text, "player interrupted was interrupted");
    }
}

#[test]
fn records_replay_to_the_recorded_ends() {
    let config = PairConfig {
        max_plies: Some(30),
        ..PairConfig::new(two_by_six(), 40)
    };
    let mut bad = Misbehaving {
        illegal_at: Some(17),
        failing_at: None,
    };
    let result = play_pairs(&mut bad, &mut Random, &config).unwrap();
    assert!(result.cut > 0 && result.forfeits[0].illegal > 0);
    assert_eq!(result.wins + result.draws + result.losses + result.cut, 40);
    let records: Vec<GameRecord> = result.records().collect();
    assert_eq!(records.len(), 40);
    for (record, game) in records.iter().zip(&result.games) {
        let line = record.to_json().unwrap();
        assert_eq!(&GameRecord::from_json(&line).unwrap(), record);
        assert_eq!(record.players[game.side.index()], "misbehaving");
        assert_eq!(record.outcome.is_none(), game.end == EndCode::MaxPlies);
    }
}

#[test]
fn settings_outside_their_range_are_refused_by_name() {
    let good = PairConfig::new(two_by_six(), 10);
    let refused = |config: PairConfig| {
        play_pairs(&mut Random, &mut Random, &config)
            .unwrap_err()
            .to_string()
    };
    for games in [0, 1, 7, 10_000_001] {
        let text = refused(PairConfig { games, ..good });
        assert_eq!(
            text,
            format!("games is {games}, expected an even number from 2 to 10000000")
        );
    }
    let text = refused(PairConfig {
        max_plies: Some(0),
        ..good
    });
    assert_eq!(text, "max_plies is 0, expected 1 to 2147483647");
    let text = refused(PairConfig {
        max_plies: Some(4),
        ..good
    });
    assert_eq!(text, "opening_plies is 4, expected 0 to 3");
    // At 2x1 with one seed a pit no game lasts 50 plies of random play.
    let fields = RulesetFields {
        columns: Some(1),
        seeds_per_pit: Some(1),
        quiet_limit: Some(3),
        ..RulesetFields::default()
    };
    let tiny = PairConfig {
        ruleset: Ruleset::new(Variant::EnDodoi, &fields).unwrap(),
        opening_plies: 50,
        ..good
    };
    let error = play_pairs(&mut Random, &mut Random, &tiny).unwrap_err();
    assert_eq!(error, ArenaError::NoOpening { plies: 50 });
}

#[test]
fn the_interval_covers_the_true_score_as_often_as_it_says() {
    let mut rng = rng::stream(1, 0, Purpose::Policy);
    for (lost, drawn, pairs) in [(0.1, 0.1, 20), (0.4, 0.2, 50), (0.02, 0.01, 200)] {
        let truth = 1.0 - lost - drawn / 2.0;
        let mut covered = 0;
        for _ in 0..4000 {
            let mut game = || match f64::from(rng::unit(&mut rng)) {
                u if u < lost => 0.0,
                u if u < lost + drawn => 0.5,
                _ => 1.0,
            };
            let scores: Vec<f64> = (0..pairs).map(|_| f64::midpoint(game(), game())).collect();
            let (low, high) = paired_interval(&scores);
            covered += u32::from(low <= truth && truth <= high);
        }
        let share = f64::from(covered) / 4000.0;
        assert!(
            (0.93..=0.995).contains(&share),
            "{lost} {drawn} {pairs}: {share}"
        );
    }
}

#[test]
fn intervals_stay_sensible_at_the_ends() {
    for pairs in [1, 2, 10, 200, 5000] {
        let (low, high) = paired_interval(&vec![1.0; pairs]);
        assert!(high == 1.0 && low < 1.0 && low > 0.0);
        let (mirrored_low, mirrored_high) = paired_interval(&vec![0.0; pairs]);
        assert!(mirrored_low == 0.0 && (mirrored_high - (1.0 - low)).abs() < 1e-12);
        let (low, high) = paired_interval(&vec![0.5; pairs]);
        assert!(low < 0.5 && high > 0.5);
    }
    assert_eq!(paired_interval(&[]), (0.0, 1.0));
}

#[test]
fn the_table_has_one_line_for_each_match() {
    let config = PairConfig::new(two_by_six(), 20);
    let result = play_pairs(&mut Greedy::default(), &mut Random, &config).unwrap();
    let text = table(&[("random", &result), ("the same again", &result)]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].starts_with("opponent        ") && lines[0].ends_with("as North"));
    assert!(
        lines
            .iter()
            .all(|line| line.chars().count() == lines[0].chars().count())
    );
    let score = format!("{:.3}", result.score);
    assert!(lines[1].contains(&score) && lines[2].starts_with("the same again"));
}
