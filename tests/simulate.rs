//! Simulations: known rates, both paths alike, independence of threads, interruption.

// A helper of a test fails as loudly as a test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
// Exact halves and ends are what is tested.
#![allow(clippy::float_cmp)]

use std::ops::ControlFlow;

use endodoi::policy::{AlphaBeta, Greedy, Policy, PolicyError, PolicySpec, Random};
use endodoi::rng::{self, Purpose, Xoshiro128PlusPlus};
use endodoi::search::AlphaBetaConfig;
use endodoi::simulate::{
    EndCode, GameTable, Share, SimulateConfig, Summary, simulate, simulate_between,
};
use endodoi::sowing::SowingEnd;
use endodoi::{Position, Side};

#[path = "common/simulations.rs"]
mod simulations;

use simulations::{go_on, random_games, ruleset_of};

const RULESETS: [&str; 10] = [
    r#"{"columns":6}"#,
    r#"{"columns":6,"lone_capture":"taken"}"#,
    r#"{"columns":6,"endless":"draw"}"#,
    r#"{"variant":"cross-endodoi"}"#,
    r#"{"variant":"cross-endodoi","columns":3,"endless":"draw","lap_limit":12}"#,
    r#"{"columns":3,"seeds_per_pit":3,"lap_limit":8,"quiet_limit":5}"#,
    r#"{"columns":2,"quiet_limit":2}"#,
    r#"{"columns":1,"seeds_per_pit":4,"quiet_limit":3}"#,
    r#"{"columns":4,"seeds_per_pit":9,"lap_limit":3}"#,
    r#"{"columns":12,"seeds_per_pit":2}"#,
];

/// A known rate of random play with its 95 % half-width (rules, "Known rates of random play").
fn assert_near(what: &str, got: f64, own_half: f64, known: f64, known_half: f64) {
    // Four standard errors of the difference: twice the usual width.
    let most = 2.05 * own_half.hypot(known_half);
    assert!(
        (got - known).abs() < most,
        "{what}: {got} ± {own_half}, known {known} ± {known_half}"
    );
}

fn assert_rates(json: &str, games: u64, plies: [f64; 2], shares: [f64; 3], half: f64) -> Summary {
    let mut config = SimulateConfig::new(ruleset_of(json), games);
    config.seed = 1;
    let summary = random_games(&config).summary();
    assert_eq!(summary.games, games);
    assert_near(
        json,
        summary.plies.mean,
        summary.plies.half,
        plies[0],
        plies[1],
    );
    let own = [summary.south_wins, summary.north_wins, summary.draws];
    for (share, known) in own.iter().zip(shares) {
        let own_half = 50.0 * (share.high - share.low);
        assert_near(json, 100.0 * share.share, own_half, known, half);
    }
    summary
}

#[test]
fn known_rates_of_random_play_2x6() {
    let known = [51.0, 43.5, 5.5];
    assert_rates(r#"{"columns":6}"#, 100_000, [33.15, 0.03], known, 0.18);
    let known = [50.5, 43.5, 6.0];
    assert_rates(RULESETS[1], 100_000, [28.68, 0.02], known, 0.18);
    let known = [50.2, 42.9, 7.0];
    assert_rates(RULESETS[3], 100_000, [26.63, 0.02], known, 0.18);
}

#[test]
fn known_rates_of_random_play_on_larger_boards() {
    let known = [45.9, 49.2, 4.9];
    assert_rates(r#"{"columns":8}"#, 100_000, [47.55, 0.04], known, 0.18);
    let known = [52.5, 43.1, 4.4];
    assert_rates(r#"{"columns":10}"#, 50_000, [60.22, 0.05], known, 0.18);
    let known = [51.7, 45.8, 2.5];
    assert_rates(r#"{"variant":"en-gehe"}"#, 5_000, [301.8, 0.4], known, 0.4);
}

#[test]
fn known_share_of_games_that_offer_an_endless_sowing() {
    let mut config = SimulateConfig::new(ruleset_of(r#"{"columns":6}"#), 60_000);
    config.offers = true;
    let table = random_games(&config);
    let share = table.summary().offers.unwrap();
    assert_near(
        "offers",
        100.0 * share.share,
        50.0 * (share.high - share.low),
        4.6,
        0.07,
    );
    // Counting them changes no game.
    config.offers = false;
    let plain = random_games(&config);
    assert_eq!(plain.summary().offers, None);
    assert_eq!(
        GameTable {
            offers: Vec::new(),
            ..table
        },
        plain
    );
}

#[test]
fn s6_both_paths_give_the_same_random_games() {
    let mut ends = [0; 7];
    let mut met = 0;
    for (index, json) in RULESETS.iter().enumerate() {
        for (opening, max_plies) in [(0, None), (3, Some(9)), (0, Some(1)), (1, None)] {
            let mut config = SimulateConfig::new(ruleset_of(json), 1000);
            config.seed = index as u64;
            config.max_plies = max_plies;
            config.random_opening_plies = opening;
            config.offers = true;
            let fast = simulate(
                &config,
                &PolicySpec::Random,
                &PolicySpec::Random,
                &mut go_on,
            );
            let slow = simulate_between(&config, &mut Random, &mut Random, &mut go_on);
            let (fast, slow) = match (fast, slow) {
                (Ok(fast), Ok(slow)) => (fast, slow),
                (Err(fast), Err(slow)) => {
                    assert_eq!(fast.to_string(), slow.to_string());
                    continue;
                }
                other => panic!("{json}: {other:?}"),
            };
            for game in 0..fast.len() {
                assert_eq!(fast.row(game), slow.row(game), "{json} game {game}");
            }
            assert_eq!(fast, slow);
            let summary = fast.summary();
            for (sum, count) in ends.iter_mut().zip(summary.end_reasons) {
                *sum += count;
            }
            met += fast.endless_met.iter().map(|&x| i64::from(x)).sum::<i64>();
        }
    }
    assert!(ends[..4].iter().all(|&count| count > 20), "{ends:?}");
    assert!(met > 1000, "{met}");
}

/// Plays game `index` of a simulation once more through [`Position`] and checks its row.
fn check_against_positions(config: &SimulateConfig, table: &GameTable, index: usize) {
    let row_seed = rng::mix(config.seed, index as u64);
    let mut stream = [rng::stream(row_seed, 0, Purpose::Play)];
    let mut position = Position::start(&config.ruleset);
    let (mut plies, mut laps, mut sown, mut captures, mut longest) = (0, 0, 0, 0, 0);
    while !position.is_over() {
        let mut moves = [0];
        Random.choose(&[position], &mut stream, &mut moves).unwrap();
        let (next, sowing) = position.play_sowing(moves[0].into()).unwrap();
        position = next;
        plies += 1;
        if sowing.end != SowingEnd::Endless {
            laps += sowing.laps;
            sown += sowing.seeds_sown;
            longest = longest.max(sowing.laps);
            captures += u32::from(sowing.captured > 0);
        }
    }
    let row = table.row(index).unwrap();
    let [south, north] = position.board().captured();
    assert_eq!(
        (row.captured_south as u16, row.captured_north as u16),
        (south, north)
    );
    assert_eq!(row.winner, position.outcome().unwrap().sign());
    assert_eq!(
        (row.plies, row.laps as u32, row.seeds_sown as u64),
        (plies, laps, sown)
    );
    assert_eq!(
        (row.captures as u32, row.longest_sowing as u32),
        (captures, longest)
    );
    let name = GameTable::END_REASONS[row.end_reason as usize];
    assert_eq!(name, position.end_reason().unwrap().name());
}

#[test]
fn every_column_is_what_playing_the_game_gives() {
    for json in RULESETS {
        let mut config = SimulateConfig::new(ruleset_of(json), 100);
        config.seed = 77;
        let table = random_games(&config);
        for index in 0..table.len() {
            check_against_positions(&config, &table, index);
        }
    }
}

#[test]
fn tables_do_not_depend_on_the_number_of_threads() {
    let mut config = SimulateConfig::new(ruleset_of(r#"{"columns":6}"#), 5000);
    let mut mixed = SimulateConfig::new(ruleset_of(r#"{"variant":"cross-endodoi"}"#), 300);
    mixed.random_opening_plies = 4;
    let alphabeta = PolicySpec::AlphaBeta(AlphaBetaConfig::of_depth(2));
    let mut tables = Vec::new();
    for threads in [1, 2, 5] {
        config.num_threads = Some(threads);
        mixed.num_threads = Some(threads);
        let games = simulate(&mixed, &alphabeta, &PolicySpec::Random, &mut go_on).unwrap();
        tables.push((random_games(&config), games));
    }
    assert_eq!(tables[0], tables[1]);
    assert_eq!(tables[0], tables[2]);
}

#[test]
fn a_game_depends_on_seed_and_index_alone() {
    let mut config = SimulateConfig::new(ruleset_of(r#"{"columns":6}"#), 2000);
    config.seed = 5;
    let long = random_games(&config);
    config.games = 700;
    let short = random_games(&config);
    for game in 0..700 {
        assert_eq!(long.row(game), short.row(game));
    }
    config.seed = 6;
    assert_ne!(random_games(&config), short);
}

#[test]
fn a_part_of_a_simulation_can_be_played_alone() {
    let mut config = SimulateConfig::new(ruleset_of(r#"{"columns":6}"#), 2000);
    config.seed = 5;
    let whole = random_games(&config);
    config.first = 1234;
    config.games = 500;
    let part = random_games(&config);
    let slow = simulate_between(&config, &mut Random, &mut Random, &mut go_on).unwrap();
    assert_eq!(part, slow);
    assert_eq!(part.len(), 500);
    for game in 0..500 {
        assert_eq!(part.row(game), whole.row(1234 + game));
    }
}

#[test]
fn stronger_players_win_and_openings_make_their_games_differ() {
    let mut config = SimulateConfig::new(ruleset_of(r#"{"columns":6}"#), 400);
    config.random_opening_plies = 4;
    let (mut south, mut north) = (AlphaBeta::new(4).unwrap(), Greedy::default());
    let table = simulate_between(&config, &mut south, &mut north, &mut go_on).unwrap();
    let summary = table.summary();
    assert!(summary.south_wins.low > 0.6, "{summary}");
    assert!(summary.captured_south.mean > summary.captured_north.mean + 3.0);
    let distinct: std::collections::HashSet<i32> = table.seeds_sown.iter().copied().collect();
    assert!(distinct.len() > 100);
}

#[test]
fn e4_a_cut_game_has_no_winner_and_an_end_on_the_cap_ply_is_an_end() {
    let rules = ruleset_of(r#"{"columns":6}"#);
    let free = random_games(&SimulateConfig::new(rules, 500));
    let mut config = SimulateConfig::new(rules, 500);
    config.max_plies = Some(30);
    let capped = random_games(&config);
    let mut on_the_cap = 0;
    for game in 0..500 {
        let (whole, cut) = (free.row(game).unwrap(), capped.row(game).unwrap());
        if whole.plies <= 30 {
            assert_eq!(whole, cut);
            on_the_cap += u32::from(whole.plies == 30);
        } else {
            assert_eq!((cut.plies, cut.winner), (30, 0));
            assert_eq!(cut.end_reason, EndCode::MaxPlies.code());
        }
    }
    assert!(on_the_cap > 0);
    let summary = capped.summary();
    let won = summary.south_wins.count + summary.north_wins.count + summary.draws.count;
    assert_eq!(won + summary.cut.count, 500);
    assert!(summary.cut.count > 100);
    assert!(summary.to_string().contains("cut, no winner"));
}

/// Fails or plays illegally in games whose first position after the opening it dislikes.
struct Misbehaving;

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
            let lead = position.board().lead(Side::South);
            if lead == 5 {
                return Err(PolicyError::Failed {
                    name: self.name(),
                    message: "no".to_owned(),
                });
            }
            let legal = position.legal_moves();
            *column = if lead == 9 {
                6
            } else {
                legal.nth(0).unwrap() as u8
            };
        }
        Ok(())
    }
}

#[test]
fn a_player_that_misbehaves_loses_those_games_alone() {
    let config = SimulateConfig::new(ruleset_of(r#"{"columns":6}"#), 300);
    let table = simulate_between(&config, &mut Random, &mut Misbehaving, &mut go_on).unwrap();
    let ends = table.summary().end_reasons;
    assert!(ends[0] > 10 && ends[4] > 10 && ends[5] > 10, "{ends:?}");
    for game in 0..table.len() {
        let row = table.row(game).unwrap();
        let lead = row.captured_south - row.captured_north;
        match row.end_reason {
            4 => assert_eq!((row.winner, lead), (1, 9)),
            5 => assert_eq!((row.winner, lead), (1, 5)),
            _ => assert_eq!(row.winner, lead.signum() as i8),
        }
    }
}

/// Draws as the random player does, for all positions, and fails if it dislikes one of them.
struct Nervous;

impl Policy for Nervous {
    fn name(&self) -> String {
        "nervous".to_owned()
    }

    fn choose(
        &mut self,
        positions: &[Position],
        streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
    ) -> Result<(), PolicyError> {
        Random.choose(positions, streams, moves)?;
        if positions
            .iter()
            .any(|position| position.board().lead(Side::South) == 7)
        {
            return Err(PolicyError::Failed {
                name: self.name(),
                message: "no".to_owned(),
            });
        }
        Ok(())
    }
}

#[test]
fn a_failure_in_one_game_changes_no_draw_in_the_others() {
    let config = SimulateConfig::new(ruleset_of(r#"{"columns":6}"#), 300);
    let calm = random_games(&config);
    let table = simulate_between(&config, &mut Nervous, &mut Random, &mut go_on).unwrap();
    let mut failed = 0;
    for game in 0..table.len() {
        if table.end_reason[game] == EndCode::Error.code() {
            failed += 1;
            continue;
        }
        let plain = calm.row(game).unwrap();
        // Only the random player itself reports what it refused.
        let row = table.row(game).unwrap();
        assert_eq!(
            (row.plies, row.seeds_sown, row.winner),
            (plain.plies, plain.seeds_sown, plain.winner)
        );
    }
    assert!((20..280).contains(&failed), "{failed}");
}

#[test]
fn an_interrupted_simulation_keeps_the_first_games() {
    let config = SimulateConfig::new(ruleset_of(r#"{"columns":6}"#), 100_000);
    let whole = random_games(&SimulateConfig {
        games: 20_000,
        ..config
    });
    let mut stop = |finished| {
        if finished > 3000 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let fast = simulate(&config, &PolicySpec::Random, &PolicySpec::Random, &mut stop).unwrap();
    let slow = simulate_between(&config, &mut Random, &mut Random, &mut stop).unwrap();
    for part in [fast, slow] {
        assert!((1..100_000).contains(&part.len()));
        for game in 0..part.len().min(20_000) {
            assert_eq!(part.row(game), whole.row(game));
        }
    }
    let mut at_once = |_| ControlFlow::Break(());
    let none = simulate(
        &config,
        &PolicySpec::Greedy,
        &PolicySpec::Random,
        &mut at_once,
    )
    .unwrap();
    assert!(none.is_empty());
    assert_eq!(none.summary().games, 0);
}

/// Plays the lowest legal column and counts the positions it was asked about.
struct Counting(usize);

impl Policy for Counting {
    fn name(&self) -> String {
        "counting".to_owned()
    }

    fn choose(
        &mut self,
        positions: &[Position],
        _streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
    ) -> Result<(), PolicyError> {
        self.0 += positions.len();
        for (column, position) in moves.iter_mut().zip(positions) {
            *column = position.legal_moves().iter().next().unwrap() as u8;
        }
        Ok(())
    }
}

#[test]
fn a_simulation_can_be_stopped_after_a_few_moves() {
    let config = SimulateConfig::new(ruleset_of(r#"{"columns":6}"#), 1000);
    let mut calls = 0;
    let mut stop = |_| {
        calls += 1;
        if calls > 1 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let mut south = Counting(0);
    let table = simulate_between(&config, &mut south, &mut Random, &mut stop).unwrap();
    assert!(table.is_empty());
    assert!((1..=4).contains(&south.0), "{} moves", south.0);
}

#[test]
fn progress_counts_up_to_all_games() {
    for south in [PolicySpec::Random, PolicySpec::Greedy] {
        let config = SimulateConfig::new(ruleset_of(r#"{"columns":6}"#), 2000);
        let mut seen = Vec::new();
        let mut watch = |finished| {
            seen.push(finished);
            ControlFlow::Continue(())
        };
        simulate(&config, &south, &PolicySpec::Random, &mut watch).unwrap();
        assert!(seen.is_sorted());
        assert_eq!((seen[0], seen.last()), (0, Some(&2000)));
    }
}

#[test]
fn settings_outside_their_range_are_refused_by_name() {
    let good = SimulateConfig::new(ruleset_of(r#"{"columns":6}"#), 10);
    let refused = |config: SimulateConfig| {
        let random = PolicySpec::Random;
        simulate(&config, &random, &random, &mut go_on)
            .unwrap_err()
            .to_string()
    };
    let config = SimulateConfig {
        games: u64::MAX,
        ..good
    };
    assert!(refused(config).starts_with("games is 18446744073709551615, expected 0 to"));
    let config = SimulateConfig {
        max_plies: Some(0),
        ..good
    };
    assert_eq!(refused(config), "max_plies is 0, expected 1 to 2147483647");
    let config = SimulateConfig {
        num_threads: Some(0),
        ..good
    };
    assert_eq!(refused(config), "num_threads is 0, expected 1 to 1024");
    let config = SimulateConfig {
        random_opening_plies: 8,
        max_plies: Some(8),
        ..good
    };
    assert_eq!(
        refused(config),
        "random_opening_plies is 8, expected 0 to 7"
    );
    let config = SimulateConfig {
        ruleset: ruleset_of(r#"{"columns":1,"seeds_per_pit":1,"quiet_limit":3}"#),
        random_opening_plies: 50,
        ..good
    };
    let text = refused(config);
    assert!(
        text.contains("no opening of 10000 drawn left the game open"),
        "{text}"
    );
    let agent: PolicySpec = "agent:nowhere".parse().unwrap();
    assert!(simulate(&good, &agent, &PolicySpec::Random, &mut go_on).is_err());
    let none = random_games(&SimulateConfig { games: 0, ..good });
    assert!(none.is_empty());
}

#[test]
fn a_start_that_is_over_is_a_game_of_no_plies() {
    // Every opening move takes more laps than the limit: South is stuck at once.
    let config = SimulateConfig::new(ruleset_of(r#"{"columns":6,"lap_limit":4}"#), 3);
    let fast = random_games(&config);
    let slow = simulate_between(&config, &mut Random, &mut Random, &mut go_on).unwrap();
    assert_eq!(fast, slow);
    assert_eq!(
        (fast.plies[0], fast.winner[0], fast.captured_north[0]),
        (0, -1, 48)
    );
    assert_eq!(fast.end_reason[0], EndCode::Stuck.code());
}

#[test]
fn wilson_intervals_have_their_known_values() {
    let half = Share::of(50, 100);
    assert!((half.low - 0.4038).abs() < 1e-4 && (half.high - 0.5962).abs() < 1e-4);
    let all = Share::of(10, 10);
    assert!((all.low - 0.7225).abs() < 1e-4 && all.high == 1.0);
    let none = Share::of(0, 0);
    assert_eq!((none.low, none.high), (0.0, 1.0));
}
