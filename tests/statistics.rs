//! Statistics of simulations: exact sums in any grouping, games in parts, games followed.

// A helper of a test fails as loudly as a test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::ops::ControlFlow;

use endodoi::Position;
use endodoi::policy::{Policy, PolicyError, PolicySpec, Random};
use endodoi::rng::{self, Purpose, Xoshiro128PlusPlus};
use endodoi::search::AlphaBetaConfig;
use endodoi::simulate::{
    Detail, EndCode, GameTable, Players, SimulateConfig, Statistics, sample_size, simulate,
    simulate_between, simulate_in_parts,
};
use serde_json::Value;

#[path = "common/simulations.rs"]
mod simulations;

use simulations::{go_on, random_games, ruleset_of};

const RULESETS: [&str; 6] = [
    r#"{"columns":6}"#,
    r#"{"columns":6,"lone_capture":"taken","endless":"draw"}"#,
    r#"{"variant":"cross-endodoi"}"#,
    r#"{"variant":"cross-endodoi","columns":3,"endless":"draw","lap_limit":12}"#,
    r#"{"columns":3,"seeds_per_pit":3,"lap_limit":8,"quiet_limit":5}"#,
    r#"{"columns":1,"seeds_per_pit":4,"quiet_limit":3}"#,
];

/// The sum over both sides of what the followed games counted.
fn total(detail: &Detail, count: &str) -> i64 {
    let value: Value = serde_json::to_value(detail).unwrap();
    (0..2)
        .map(|side| value["sides"][side][count]["y"].as_i64().unwrap())
        .sum()
}

fn sum(column: &[i32]) -> i64 {
    column.iter().map(|&x| i64::from(x)).sum()
}

fn assert_totals(table: &GameTable, what: &str) {
    let detail = &table.detail;
    assert_eq!(detail.games(), table.len() as u64, "{what}");
    for (count, column) in [
        ("turns", &table.plies),
        ("laps", &table.laps),
        ("seeds", &table.seeds_sown),
        ("captures", &table.captures),
        ("endless_met", &table.endless_met),
    ] {
        assert_eq!(total(detail, count), sum(column), "{what}: {count}");
    }
}

#[test]
fn followed_games_add_up_to_their_columns() {
    for json in RULESETS {
        for (opening, max_plies, offers) in [(0, None, false), (2, Some(9), false), (0, None, true)]
        {
            let mut config = SimulateConfig::new(ruleset_of(json), 400);
            config.seed = 3;
            config.random_opening_plies = opening;
            config.max_plies = max_plies;
            config.offers = offers;
            config.sample = if offers { 0 } else { 400 };
            let random = simulate(
                &config,
                &PolicySpec::Random,
                &PolicySpec::Random,
                &mut go_on,
            );
            let Ok(random) = random else {
                assert!(opening > 0, "{json}");
                continue;
            };
            assert_totals(&random, json);
            // The lockstep path follows the same games to the same numbers.
            let slow = simulate_between(&config, &mut Random, &mut Random, &mut go_on).unwrap();
            assert_eq!(random.detail, slow.detail, "{json}");
            let greedy = simulate(
                &config,
                &PolicySpec::Greedy,
                &PolicySpec::Random,
                &mut go_on,
            );
            assert_totals(&greedy.unwrap(), json);
        }
    }
}

#[test]
fn following_games_changes_none_and_stops_after_the_sample() {
    let mut config = SimulateConfig::new(ruleset_of(RULESETS[0]), 3000);
    let plain = random_games(&config);
    assert_eq!(plain.detail, Detail::default());
    assert_eq!(plain.summary().sample, None);
    config.sample = 700;
    let followed = random_games(&config);
    assert_eq!(followed, plain);
    let sample = followed.summary().sample.unwrap();
    assert_eq!(sample.games, 700);
    let turns = 700.0 * (sample.south.turns.mean + sample.north.turns.mean);
    assert!((turns - sum(&plain.plies[..700]) as f64).abs() < 1e-6);
}

/// Plays the games of `config` once more through [`Position`] and returns the sums of legal moves
/// and the games by ply.
fn legal_moves_by_ply(config: &SimulateConfig) -> Vec<(u64, usize)> {
    let mut by_ply: Vec<(u64, usize)> = Vec::new();
    for game in 0..config.games {
        let row_seed = rng::mix(config.seed, config.first + game);
        let mut stream = [rng::stream(row_seed, 0, Purpose::Play)];
        let mut position = Position::start(&config.ruleset);
        let mut ply = 0;
        while !position.is_over() {
            if by_ply.len() == ply {
                by_ply.push((0, 0));
            }
            by_ply[ply].0 += 1;
            by_ply[ply].1 += position.legal_moves().len();
            let mut moves = [0];
            Random.choose(&[position], &mut stream, &mut moves).unwrap();
            position = position.play(moves[0].into()).unwrap();
            ply += 1;
        }
    }
    by_ply
}

#[test]
fn branching_is_the_mean_number_of_legal_moves_of_each_ply() {
    for json in RULESETS {
        let mut config = SimulateConfig::new(ruleset_of(json), 200);
        config.first = 50;
        config.sample = 200;
        let sample = random_games(&config).summary().sample.unwrap();
        let expected = legal_moves_by_ply(&config);
        assert_eq!(sample.branching.len(), expected.len());
        for (ply, (games, legal)) in expected.iter().enumerate() {
            let got = &sample.branching[ply];
            let sum = got.mean * got.games as f64;
            assert_eq!(got.games, *games, "{json} ply {ply}");
            assert!((sum - *legal as f64).abs() < 1e-6, "{json} ply {ply}");
        }
        let legal: usize = expected.iter().map(|(_, legal)| legal).sum();
        let turns: u64 = expected.iter().map(|(games, _)| games).sum();
        let factor = legal as f64 / turns.max(1) as f64;
        assert!((sample.legal_moves.mean - factor).abs() < 1e-9, "{json}");
    }
}

/// Puts the parts of a simulation together again.
fn in_parts(config: &SimulateConfig, players: Players<'_>, rows: usize) -> (GameTable, Statistics) {
    let mut whole = GameTable::default();
    let mut sizes = Vec::new();
    let statistics = simulate_in_parts(config, players, &mut go_on, rows, &mut |part| {
        sizes.push(part.len());
        whole.winner.extend(&part.winner);
        whole.captured_south.extend(&part.captured_south);
        whole.captured_north.extend(&part.captured_north);
        whole.plies.extend(&part.plies);
        whole.laps.extend(&part.laps);
        whole.seeds_sown.extend(&part.seeds_sown);
        whole.captures.extend(&part.captures);
        whole.longest_sowing.extend(&part.longest_sowing);
        whole.endless_met.extend(&part.endless_met);
        whole.end_reason.extend(&part.end_reason);
        whole.offers.extend(&part.offers);
        ControlFlow::Continue(())
    });
    let last = sizes.pop().unwrap_or(0);
    assert!(sizes.iter().all(|&size| size == rows) && last <= rows);
    (whole, statistics.unwrap())
}

#[test]
fn parts_are_the_whole_table_and_say_the_same() {
    for (offers, max_plies, opening) in [(false, None, 0), (true, Some(40), 0), (false, None, 3)] {
        let mut config = SimulateConfig::new(ruleset_of(RULESETS[0]), 20_000);
        config.seed = 8;
        config.sample = 1000;
        config.offers = offers;
        config.max_plies = max_plies;
        config.random_opening_plies = opening;
        let table = random_games(&config);
        let mut expected = Statistics::default();
        expected.add(&table);
        for (threads, rows) in [(1, 1000), (2, 1000), (5, 7777), (2, 50_000), (2, 20_000)] {
            config.num_threads = Some(threads);
            let players = Players::Specs(&PolicySpec::Random, &PolicySpec::Random);
            let (whole, statistics) = in_parts(&config, players, rows);
            assert_eq!(whole, table);
            assert_eq!(statistics, expected);
            assert_eq!(statistics.summary(), table.summary());
        }
    }
}

#[test]
fn parts_of_games_between_players_say_the_same() {
    let mut config = SimulateConfig::new(ruleset_of(RULESETS[2]), 500);
    config.sample = 300;
    let (south, north) = (
        PolicySpec::AlphaBeta(AlphaBetaConfig::of_depth(2)),
        PolicySpec::Greedy,
    );
    config.random_opening_plies = 4;
    let table = simulate(&config, &south, &north, &mut go_on).unwrap();
    for threads in [1, 2] {
        config.num_threads = Some(threads);
        let (whole, statistics) = in_parts(&config, Players::Specs(&south, &north), 64);
        assert_eq!(
            (whole, statistics.summary()),
            (table.clone(), table.summary())
        );
    }
}

#[test]
fn statistics_of_parts_add_up() {
    let mut config = SimulateConfig::new(ruleset_of(RULESETS[3]), 3000);
    config.sample = 3000;
    let mut whole = Statistics::default();
    whole.add(&random_games(&config));
    let mut sum = Statistics::default();
    for first in [2000, 0, 1000] {
        config.first = first;
        config.games = 1000;
        let mut part = Statistics::default();
        part.add(&random_games(&config));
        sum += &part;
    }
    assert_eq!(sum, whole);
    let kept = serde_json::to_string(&whole).unwrap();
    assert_eq!(serde_json::from_str::<Statistics>(&kept).unwrap(), whole);
}

#[test]
fn numbers_of_a_summary_are_those_of_the_columns() {
    let mut config = SimulateConfig::new(ruleset_of(RULESETS[1]), 2000);
    config.max_plies = Some(50);
    let table = random_games(&config);
    let summary = table.summary();
    let games = table.len() as f64;
    let mean = sum(&table.plies) as f64 / games;
    let squares: f64 = table
        .plies
        .iter()
        .map(|&plies| (f64::from(plies) - mean).powi(2))
        .sum();
    let half = 1.959_964 * (squares / (games - 1.0) / games).sqrt();
    assert!((summary.plies.mean - mean).abs() < 1e-9);
    assert!((summary.plies.half - half).abs() < 1e-9);
    let margins: Vec<i32> = (0..table.len())
        .map(|game| i32::from(table.captured_south[game]) - i32::from(table.captured_north[game]))
        .collect();
    assert!((summary.margin.mean - sum(&margins) as f64 / games).abs() < 1e-9);
    assert!((summary.laps.mean - sum(&table.laps) as f64 / games).abs() < 1e-9);
    let endless = table
        .end_reason
        .iter()
        .filter(|&&end| end == EndCode::Endless.code());
    let sowings = sum(&table.plies) - endless.count() as i64;
    let laps = sum(&table.laps) as f64 / sowings as f64;
    assert!((summary.laps_per_sowing.mean - laps).abs() < 1e-9);
    assert_eq!(
        Some(&summary.longest_sowing),
        table.longest_sowing.iter().max()
    );
    for (histogram, values) in [
        (&summary.histograms.plies, &table.plies),
        (&summary.histograms.margin, &margins),
        (&summary.histograms.longest_sowing, &table.longest_sowing),
    ] {
        assert_eq!(histogram.total(), 2000);
        for value in [values[0], values[1], 17] {
            let met = values.iter().filter(|&&x| x == value).count() as u64;
            let index = usize::try_from(value - histogram.first);
            let counted = index.ok().and_then(|index| histogram.counts.get(index));
            assert_eq!(counted.copied().unwrap_or(0), met);
        }
        let mut sorted = values.clone();
        sorted.sort_unstable();
        assert_eq!(histogram.quantile(0.5), Some(sorted[999]));
    }
    let text = summary.to_string();
    for line in ["margin of South", "laps a game", "median", "endless "] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn no_games_and_one_game_have_a_summary() {
    let mut config = SimulateConfig::new(ruleset_of(RULESETS[0]), 0);
    config.sample = 10;
    let none = random_games(&config).summary();
    assert_eq!((none.games, none.sample.is_none()), (0, true));
    config.games = 1;
    let one = random_games(&config).summary();
    assert!(one.plies.half.is_infinite() && one.sample.is_some());
    assert!(serde_json::to_string(&one).unwrap().contains("null"));
    for text in [none.to_string(), one.to_string()] {
        assert!(!text.contains("inf") && !text.contains("NaN"), "{text}");
    }
}

#[test]
fn a_stopped_simulation_hands_on_what_it_counts() {
    let mut config = SimulateConfig::new(ruleset_of(RULESETS[0]), 1_000_000_000);
    config.sample = 100;
    let players = || Players::Specs(&PolicySpec::Random, &PolicySpec::Random);
    let mut stop = |finished| {
        if finished > 3000 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let mut given = 0;
    let statistics = simulate_in_parts(&config, players(), &mut stop, 1000, &mut |part| {
        given += part.len() as u64;
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(given > 3000);
    assert_eq!(statistics.summary().games, given);
    // A sink that has enough is not called again.
    let mut parts = 0;
    simulate_in_parts(&config, players(), &mut go_on, 100, &mut |_| {
        parts += 1;
        if parts == 3 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })
    .unwrap();
    assert_eq!(parts, 3);
    let refused = simulate_in_parts(&config, players(), &mut go_on, 0, &mut |_| {
        ControlFlow::Continue(())
    });
    assert!(refused.unwrap_err().to_string().starts_with("rows is 0"));
}

/// Draws as the random player does and is interrupted at its call of a given number.
struct Interrupted(usize);

impl Policy for Interrupted {
    fn name(&self) -> String {
        "interrupted".to_owned()
    }

    fn choose(
        &mut self,
        positions: &[Position],
        streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
    ) -> Result<(), PolicyError> {
        if self.0 == 0 {
            return Err(PolicyError::Interrupted { name: self.name() });
        }
        self.0 -= 1;
        Random.choose(positions, streams, moves)
    }
}

#[test]
fn an_interrupted_player_ends_the_simulation_and_loses_no_game() {
    let mut config = SimulateConfig::new(ruleset_of(RULESETS[4]), 3000);
    config.sample = 3000;
    let whole = random_games(&config);
    config.games = 10_000_000;
    let mut lengths = Vec::new();
    for calls in [0, 30] {
        let mut player = Interrupted(calls);
        let part = simulate_between(&config, &mut player, &mut Random, &mut go_on).unwrap();
        for game in 0..part.len().min(3000) {
            let (got, expected) = (part.row(game).unwrap(), whole.row(game).unwrap());
            assert_eq!((got.plies, got.winner), (expected.plies, expected.winner));
        }
        assert_eq!(part.detail.games(), part.len().min(3000) as u64);
        lengths.push(part.len());
    }
    assert_eq!(lengths[0], 0);
    assert!(lengths[1] < 10_000_000, "{lengths:?}");
}

#[test]
fn samples_are_smaller_where_games_are_longer() {
    for (json, games) in [
        (r#"{"columns":6}"#, 4096),
        (r#"{"columns":10}"#, 4096),
        (r#"{"columns":20}"#, 2621),
        (r#"{"columns":64,"seeds_per_pit":64}"#, 16),
    ] {
        assert_eq!(sample_size(&ruleset_of(json)), games);
    }
}
