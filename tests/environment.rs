//! Environments with opponents against a slow twin: one game a row, played by `Position::play`.

#![allow(clippy::expect_used, clippy::panic)]

mod environment_twin;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use endodoi::batch::{BatchConfig, EndCode, IllegalMove, Seeds, StepArrays};
use endodoi::environment::{
    AgentSide, AutoresetMode, Environment, EnvironmentConfig, EnvironmentError, Opponent,
};
use endodoi::policy::Greedy;
use endodoi::rng::{self, Purpose};
use endodoi::{Endless, Ruleset, RulesetFields, Variant};
use environment_twin::{Calls, Twin, Who, shown_by};

/// Steps an environment and its twin side by side with random actions.
fn compare(config: EnvironmentConfig, who: &[Who], steps: usize) {
    let calls = Arc::new(Calls::default());
    let opponents = who.iter().map(|who| who.build(&calls)).collect();
    let mut environment = Environment::new(config, opponents).expect("valid settings");
    let seeds: Vec<u64> = (0..config.batch.rows)
        .map(|row| rng::mix(5, row as u64))
        .collect();
    environment
        .reset(Some(&Seeds::Rows(seeds.clone())), None, &mut || true)
        .expect("openings");
    let mut twin = Twin::new(config, who, &seeds);
    let mut arrays = StepArrays::new(environment.batch());
    let mut stream = rng::stream(9, 0, Purpose::Play);
    let mut ends = 0;
    let outside = who
        .iter()
        .filter(|who| matches!(who, Who::Highest | Who::Careless))
        .count();
    for _ in 0..steps {
        if config.autoreset == AutoresetMode::Disabled {
            let over: Vec<bool> = twin
                .games
                .iter()
                .map(|game| game.end.is_some() && !game.unreported)
                .collect();
            if over.contains(&true) {
                environment
                    .reset(None, Some(&over), &mut || true)
                    .expect("openings");
                for (row, _) in over.iter().enumerate().filter(|(_, over)| **over) {
                    let game = &twin.games[row];
                    twin.games[row] = twin.start(game.row_seed, game.episode + 1);
                }
            }
        }
        let actions: Vec<i64> = (twin.games.iter())
            .map(|game| {
                let legal: Vec<usize> = game.position.legal_moves().iter().collect();
                let illegal =
                    config.batch.illegal == IllegalMove::Loss && rng::below(&mut stream, 30) == 0;
                if legal.is_empty() || illegal {
                    return 99;
                }
                legal[rng::below(&mut stream, legal.len() as u32) as usize] as i64
            })
            .collect();
        calls.count.store(0, Ordering::Relaxed);
        environment
            .step(&actions, arrays.buffers(), &mut || true)
            .expect("legal actions");
        assert!(
            calls.count.load(Ordering::Relaxed) <= outside,
            "one call each in a step"
        );
        let finals = environment.finals();
        let mut replaced = 0;
        for (row, &action) in actions.iter().enumerate() {
            let (mut expected, last) = twin.step(row, action);
            let got = shown_by(&arrays, row);
            if let Some(last) = last {
                assert_eq!(finals.rows[replaced], row);
                let length = last.observation.len();
                let view = &finals.observations[replaced * length..(replaced + 1) * length];
                assert_eq!(view, last.observation);
                assert_eq!(finals.to_play[replaced], last.to_play);
                assert_eq!(finals.outcome[replaced], last.outcome);
                assert_eq!(finals.plies[replaced], last.plies);
                assert_eq!(
                    finals.captured[2 * replaced..2 * replaced + 2],
                    last.captured
                );
                assert_eq!(EndCode::of_code(finals.end_reason[replaced]), last.ended);
                let cut = last.ended == Some(EndCode::MaxPlies);
                assert_eq!((arrays.truncated[row], arrays.terminated[row]), (cut, !cut));
                expected.reward = last.reward;
                replaced += 1;
                ends += 1;
            } else {
                let cut = expected.ended == Some(EndCode::MaxPlies);
                let ended = expected.ended.is_some();
                assert_eq!(arrays.truncated[row], cut);
                assert_eq!(arrays.terminated[row], ended && !cut);
                ends += usize::from(ended);
            }
            assert_eq!(got, expected, "row {row} of {config:?} {who:?}");
        }
        assert_eq!(replaced, finals.rows.len());
    }
    assert!(ends > 0, "no game of {config:?} ended");
}

fn settings(ruleset: Ruleset, rows: usize) -> EnvironmentConfig {
    EnvironmentConfig::new(BatchConfig::new(rows, ruleset))
}

fn small(variant: Variant, columns: i64) -> Ruleset {
    sized(variant, columns, None, None)
}

fn sized(
    variant: Variant,
    columns: i64,
    seeds_per_pit: Option<i64>,
    endless: Option<Endless>,
) -> Ruleset {
    let fields = RulesetFields {
        columns: Some(columns),
        seeds_per_pit,
        endless,
        ..RulesetFields::default()
    };
    Ruleset::new(variant, &fields).expect("a size")
}

const MODES: [AutoresetMode; 3] = [
    AutoresetMode::NextStep,
    AutoresetMode::SameStep,
    AutoresetMode::Disabled,
];

const WHO: [&[Who]; 6] = [
    &[],
    &[Who::Random],
    &[Who::Greedy],
    &[Who::Highest],
    &[Who::Random, Who::Highest, Who::Greedy],
    &[Who::Highest, Who::Highest],
];

#[test]
fn every_mode_side_and_opponent_equals_the_twin() {
    for autoreset in MODES {
        for agent_side in AgentSide::ALL {
            for who in WHO {
                let mut config = settings(small(Variant::EnDodoi, 4), 70);
                (config.autoreset, config.agent_side) = (autoreset, agent_side);
                compare(config, who, 60);
            }
        }
    }
}

#[test]
fn openings_caps_and_losses_equal_the_twin() {
    let mut stream = rng::stream(3, 0, Purpose::Play);
    for round in 0..60 {
        let mut draw = |bound| rng::below(&mut stream, bound);
        let variant = [Variant::EnDodoi, Variant::CrossEndodoi][draw(2) as usize];
        let columns = [2, 3, 6, 8][draw(4) as usize];
        let ruleset = sized(
            variant,
            columns,
            None,
            (draw(3) == 0).then_some(Endless::Draw),
        );
        let mut config = settings(ruleset, 1 + draw(90) as usize);
        config.autoreset = MODES[draw(3) as usize];
        config.agent_side = AgentSide::ALL[draw(3) as usize];
        config.batch.random_opening_plies = draw(3);
        config.batch.max_plies =
            (draw(2) == 0).then(|| 1 + config.batch.random_opening_plies + draw(20));
        let mut who = WHO[draw(6) as usize].to_vec();
        if draw(2) == 0 {
            config.batch.illegal = IllegalMove::Loss;
            who.extend(who.clone().first().map(|_| Who::Careless));
        }
        config.batch.num_threads = Some(1 + round % 3);
        compare(config, &who, 60);
    }
}

#[test]
fn tiny_boards_whose_games_are_over_before_the_agents_turn() {
    for autoreset in MODES {
        for agent_side in AgentSide::ALL {
            for (columns, seeds) in [(1, 1), (1, 2), (1, 3), (2, 1)] {
                let ruleset = sized(Variant::EnDodoi, columns, Some(seeds), None);
                for who in [&[Who::Random][..], &[Who::Highest]] {
                    let mut config = settings(ruleset, 5);
                    (config.autoreset, config.agent_side) = (autoreset, agent_side);
                    compare(config, who, 30);
                    config.batch.max_plies = Some(1);
                    compare(config, who, 30);
                }
            }
        }
    }
}

#[test]
fn a_search_is_broken_off_between_few_games() {
    let mut environment = thinking(64);
    let before = environment.save().expect("a snapshot");
    let mut arrays = StepArrays::new(environment.batch());
    let mut asked = 0;
    let mut second = || {
        asked += 1;
        asked < 2
    };
    let step = environment.step(&[0; 64], arrays.buffers(), &mut second);
    assert!(matches!(step, Err(EnvironmentError::Interrupted { .. })));
    assert_eq!(environment.save().expect("a snapshot"), before);
}

/// Games against greedy, which is asked in parts.
fn thinking(rows: usize) -> Environment {
    let mut config = settings(small(Variant::EnDodoi, 6), rows);
    config.agent_side = AgentSide::South;
    let opponents = vec![Opponent::of_policy(Box::new(Greedy::default()))];
    let mut environment = Environment::new(config, opponents).expect("valid settings");
    let seeds = Seeds::Integer(1);
    environment
        .reset(Some(&seeds), None, &mut || true)
        .expect("a start");
    environment
}

#[test]
fn a_step_that_is_broken_off_changes_nothing() {
    let mut environment = thinking(300);
    let before = environment.save().expect("a snapshot");
    let mut arrays = StepArrays::new(environment.batch());
    let actions = vec![0; 300];
    for parts in 0..2 {
        let mut asked = 0;
        let mut watch = || {
            asked += 1;
            asked <= parts
        };
        let broken = environment.step(&actions, arrays.buffers(), &mut watch);
        assert_eq!(
            broken,
            Err(EnvironmentError::Interrupted {
                name: "greedy".to_owned()
            })
        );
        assert_eq!(environment.save().expect("a snapshot"), before);
    }
    environment
        .step(&actions, arrays.buffers(), &mut || true)
        .expect("a whole step");
    assert!(arrays.plies.iter().all(|&plies| plies == 2));
}

#[test]
fn snapshots_go_on_as_the_original_and_bad_ones_change_nothing() {
    let calls = Arc::new(Calls::default());
    let opponents = || vec![Who::Random.build(&calls), Who::Highest.build(&calls)];
    let mut config = settings(small(Variant::EnDodoi, 3), 90);
    config.autoreset = AutoresetMode::SameStep;
    let mut original = Environment::new(config, opponents()).expect("valid settings");
    let seeds = Seeds::Integer(4);
    original
        .reset(Some(&seeds), None, &mut || true)
        .expect("a start");
    let mut arrays = StepArrays::new(original.batch());
    let first = |environment: &Environment| -> Vec<i64> {
        let rows = 0..environment.batch().rows();
        let legal = rows.map(|row| {
            let position = environment.batch().position(row).expect("a row");
            position
                .legal_moves()
                .nth(0)
                .map_or(0, |column| column as i64)
        });
        legal.collect()
    };
    for _ in 0..20 {
        let actions = first(&original);
        original
            .step(&actions, arrays.buffers(), &mut || true)
            .expect("a step");
    }
    let bytes = original.save().expect("a snapshot");
    let mut restored = Environment::restore(&bytes, opponents()).expect("the same settings");
    let mut again = StepArrays::new(restored.batch());
    for _ in 0..40 {
        let actions = first(&original);
        original
            .step(&actions, arrays.buffers(), &mut || true)
            .expect("a step");
        restored
            .step(&actions, again.buffers(), &mut || true)
            .expect("a step");
        assert_eq!(arrays, again);
        assert_eq!(original.finals(), restored.finals());
    }
    let whole = original.save().expect("a snapshot");
    for place in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[place] ^= 1;
        assert!(original.set_state(&changed).is_err(), "byte {place}");
        assert!(original.set_state(&bytes[..place]).is_err());
    }
    assert!(Environment::restore(&bytes, Vec::new()).is_err());
    assert_eq!(original.save().expect("a snapshot"), whole);
    original.set_state(&bytes).expect("its own bytes");
    assert_eq!(original.save().expect("a snapshot"), bytes);
}

#[test]
fn opponents_are_replaced_but_not_taken_away() {
    let mut environment = thinking(4);
    let mut arrays = StepArrays::new(environment.batch());
    assert_eq!(
        environment.set_opponents(Vec::new()),
        Err(EnvironmentError::NoOpponents)
    );
    let calls = Arc::new(Calls::default());
    environment
        .set_opponents(vec![Who::Highest.build(&calls)])
        .expect("another opponent");
    environment
        .step(&[0; 4], arrays.buffers(), &mut || true)
        .expect("a step");
    assert_eq!(calls.count.load(Ordering::Relaxed), 1);
    assert_eq!(*calls.seen.lock().expect("no panic"), [4]);
    let alone = settings(small(Variant::EnDodoi, 6), 4);
    let mut alone = Environment::new(alone, Vec::new()).expect("valid settings");
    assert_eq!(
        alone.set_opponents(vec![Opponent::Random]),
        Err(EnvironmentError::Kind { had: false })
    );
}
