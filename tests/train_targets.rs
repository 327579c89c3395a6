//! Targets of the value head and losses: always from the side to move, over legal columns only.

// A helper of a test fails as loudly as a test.
#![allow(clippy::unwrap_used, clippy::expect_used)]
// Hidden columns get a gradient of exactly zero.
#![allow(clippy::float_cmp)]

use endodoi::policy::features::{FEATURES, GLOBALS};
use endodoi::train::config::{Config, ValueTargetConfig};
use endodoi::train::learner::{Batch, Learner, LearnerState};
use endodoi::train::replay::{Replay, Sample, position_of};
use endodoi::train::target::{Searched, ValueTarget, finished, unfinished};
use endodoi::{Outcome, Position, Ruleset, RulesetFields, Side, Variant};
use tch::{Kind, Tensor};

fn ruleset(columns: i64) -> Ruleset {
    let fields = RulesetFields {
        columns: Some(columns),
        ..RulesetFields::default()
    };
    Ruleset::new(Variant::EnDodoi, &fields).unwrap()
}

fn target_config(outcome: f32, lambda: f32) -> ValueTargetConfig {
    ValueTargetConfig {
        outcome,
        lambda,
        horizon: 0,
    }
}

/// What a search that knows nothing says of a position.
fn unknown(position: &Position) -> Searched {
    Searched {
        side: position.to_move(),
        lead: position.board().lead(position.to_move()),
        chances: [1.0 / 3.0; 3],
        margin: 0.0,
        followed: true,
    }
}

fn close(target: ValueTarget, chances: [f32; 3], margin: f32) {
    let near = |a: f32, b: f32| (a - b).abs() < 1e-5;
    let same = (0..3).all(|at| near(target.chances[at], chances[at]));
    assert!(same && near(target.margin, margin), "{target:?}");
}

#[test]
fn a_win_in_one_is_a_win_for_either_side() {
    // The mover captures and leaves the other side without a seed.
    for (text, winner) in [
        ("1,0,1/0,1,0 S 5-5 0", Side::South),
        ("0,1,0/1,0,1 N 5-5 0", Side::North),
    ] {
        let before = Position::from_text(text, &ruleset(3)).unwrap();
        let end = before.play(0).unwrap();
        assert_eq!(end.outcome(), Some(Outcome::Win(winner)));
        let gained = end.board().lead(winner) as f32;
        for (outcome, lambda) in [(0.0, 1.0), (1.0, 0.0)] {
            let config = target_config(outcome, lambda);
            let targets = finished(&[unknown(&before)], &end, &config);
            assert_eq!(targets.len(), 1);
            close(targets[0], [1.0, 0.0, 0.0], gained);
        }
        // What the search did not see counts by the share that lambda leaves it.
        let targets = finished(&[unknown(&before)], &end, &target_config(0.0, 0.7));
        close(targets[0], [0.8, 0.1, 0.1], 0.7 * gained);
    }
}

#[test]
fn a_position_that_allows_a_win_in_one_is_a_loss() {
    // Whoever moves first here hands the other side the winning capture.
    for (text, column) in [("0,1,0/1,0,1 S 5-5 0", 1), ("1,0,1/0,1,0 N 5-5 0", 1)] {
        let first = Position::from_text(text, &ruleset(3)).unwrap();
        let second = first.play(column).unwrap();
        let mut game = vec![unknown(&first), unknown(&second)];
        let mut end = second;
        while !end.is_over() {
            let column = end.legal_moves().nth(0).unwrap();
            end = end.play(column).unwrap();
            if !end.is_over() {
                game.push(unknown(&end));
            }
        }
        let targets = finished(&game, &end, &target_config(0.0, 1.0));
        for (searched, target) in game.iter().zip(targets) {
            let gained = end.board().lead(searched.side) - searched.lead;
            let chances = match end.outcome().unwrap() {
                Outcome::Win(side) if side == searched.side => [1.0, 0.0, 0.0],
                Outcome::Win(_) => [0.0, 0.0, 1.0],
                Outcome::Draw => [0.0, 1.0, 0.0],
            };
            close(target, chances, gained as f32);
        }
        // The two sides see the opposite.
        assert_ne!(game[0].side, game[1].side);
    }
}

#[test]
fn the_lambda_return_mixes_what_both_sides_saw() {
    let seen = |side, lead, win: f32, margin| Searched {
        side,
        lead,
        chances: [win, 0.0, 1.0 - win],
        margin,
        followed: true,
    };
    // South takes 2 with its first move, North 3 with its answer.
    let game = [
        seen(Side::South, 0, 0.5, 0.0),
        seen(Side::North, -2, 0.4, 1.0),
        seen(Side::South, -1, 0.2, -4.0),
    ];
    let targets = unfinished(&game, 0.5);
    assert_eq!(targets.len(), 2);
    // North's position: half its own value, half what South sees next, turned round, with the 3
    // seeds.
    close(targets[1], [0.6, 0.0, 0.4], f32::midpoint(1.0, 3.0 + 4.0));
    // South's: half its own value, half North's return, turned round, with the 2 seeds.
    close(targets[0], [0.45, 0.0, 0.55], f32::midpoint(0.0, 2.0 - 4.0));
    assert!(unfinished(&[], 0.5).is_empty());
}

#[test]
fn the_share_of_the_end_moves_every_target_towards_it() {
    let start = Position::start(&ruleset(2));
    let mut game = vec![unknown(&start)];
    let mut end = start.play(start.legal_moves().nth(0).unwrap()).unwrap();
    while !end.is_over() {
        game.push(unknown(&end));
        end = end.play(end.legal_moves().nth(0).unwrap()).unwrap();
    }
    assert!(game.len() > 2);
    let with = |outcome| finished(&game, &end, &target_config(outcome, 0.5));
    let (none, half, all) = (with(0.0), with(0.5), with(1.0));
    for row in 0..game.len() {
        let middle = |a: f32, b: f32| f32::midpoint(a, b);
        let chances = [0, 1, 2].map(|at| middle(none[row].chances[at], all[row].chances[at]));
        close(
            half[row],
            chances,
            middle(none[row].margin, all[row].margin),
        );
    }
    assert!(finished(&game, &start, &target_config(0.0, 0.5)).is_empty());
}

fn batch(illegal: &[bool], policy: &[f32]) -> Batch {
    let columns = policy.len() as i64;
    let options = (Kind::Float, tch::Device::Cpu);
    Batch {
        features: Tensor::zeros([1, 2 * columns, FEATURES as i64], options),
        globals: Tensor::zeros([1, GLOBALS as i64], options),
        illegal: Tensor::from_slice(illegal).reshape([1, columns]),
        policy: Tensor::from_slice(policy).reshape([1, columns]),
        chances: Tensor::from_slice(&[0.7_f32, 0.1, 0.2]).reshape([1, 3]),
        margin: Tensor::from_slice(&[0.3_f32]),
    }
}

fn numbers(tensor: &Tensor) -> Vec<f32> {
    let mut out = vec![0.0; tensor.numel()];
    tensor.copy_data(&mut out, tensor.numel());
    out
}

#[test]
fn illegal_columns_get_no_gradient_and_change_nothing() {
    let batch = batch(&[false, true, false, true], &[0.25, 0.0, 0.75, 0.0]);
    let values = Tensor::from_slice(&[0.0_f32, 0.0, 0.0, 0.3]).reshape([1, 4]);
    let mut losses = Vec::new();
    for illegal in [-1e4_f32, 0.0, 1e4] {
        let logits = Tensor::from_slice(&[1.0_f32, illegal, -2.0, -illegal])
            .reshape([1, 4])
            .set_requires_grad(true);
        let [policy, value, margin] = batch.losses(&logits, &values).unwrap();
        policy.backward();
        let gradient = numbers(&logits.grad());
        assert_eq!((gradient[1], gradient[3]), (0.0, 0.0));
        assert!((gradient[0] + gradient[2]).abs() < 1e-6 && gradient[0].abs() > 0.1);
        assert!((value.double_value(&[]) - 3.0_f64.ln()).abs() < 1e-6);
        assert!(margin.double_value(&[]).abs() < 1e-12);
        losses.push(policy.double_value(&[]));
    }
    assert!(losses.iter().all(|loss| (loss - losses[0]).abs() < 1e-9));
    // -log softmax of (1, -2), weighed with the target.
    let normaliser = (1.0_f64.exp() + (-2.0_f64).exp()).ln();
    let expected = 0.25 * (normaliser - 1.0) + 0.75 * (normaliser + 2.0);
    assert!((losses[0] - expected).abs() < 1e-6);
}

#[test]
fn huge_preferences_give_finite_losses_and_gradients() {
    let batch = batch(&[false, true, false, false], &[1.0, 0.0, 0.0, 0.0]);
    let logits = Tensor::from_slice(&[-1e4_f32, 1e4, 1e4, 0.0])
        .reshape([1, 4])
        .set_requires_grad(true);
    let values = Tensor::from_slice(&[1e4_f32, -1e4, 0.0, 1e4])
        .reshape([1, 4])
        .set_requires_grad(true);
    let [policy, value, margin] = batch.losses(&logits, &values).unwrap();
    let total = &policy + &value + &margin;
    assert!(total.double_value(&[]).is_finite());
    assert!((policy.double_value(&[]) - 2e4).abs() < 1.0);
    total.backward();
    for tensor in [&logits, &values] {
        assert!(numbers(&tensor.grad()).iter().all(|g| g.is_finite()));
    }
}

fn sample(position: &Position, column: usize) -> Sample {
    let mut policy = vec![0.0; position.ruleset().columns()];
    policy[column] = 1.0;
    Sample {
        observation: position.observation(),
        policy,
        chances: [1.0, 0.0, 0.0],
        margin: 6.0,
    }
}

#[test]
fn the_ring_keeps_the_newest_positions() {
    let rules = ruleset(6);
    let mut replay = Replay::new(rules, 6, 3);
    assert!(replay.is_empty() && replay.get(0).is_none());
    let mut position = Position::start(&rules);
    let mut seen = Vec::new();
    for _ in 0..5 {
        let column = position.legal_moves().nth(0).unwrap();
        replay.push(&sample(&position, column));
        seen.push((position, column));
        position = position.play(column).unwrap();
    }
    assert_eq!(replay.len(), 3);
    for (row, kept) in [(0, 3), (1, 4), (2, 2)] {
        let (found, stored) = replay.get(row).unwrap();
        let (original, column) = seen[kept];
        assert_eq!(stored, sample(&original, column));
        assert_eq!(found.observation(), original.observation());
        assert_eq!(found.legal_moves(), original.legal_moves());
    }
    assert!(replay.get(3).is_none());
}

#[test]
fn an_observation_sets_up_the_position_it_shows() {
    let mut position = Position::start(&ruleset(10));
    while !position.is_over() {
        let found = position_of(&position.observation(), &ruleset(10)).unwrap();
        assert_eq!(found.observation(), position.observation());
        assert_eq!(found.legal_moves(), position.legal_moves());
        position = position
            .play(position.legal_moves().nth(0).unwrap())
            .unwrap();
    }
    assert!(position_of(&[1, 2, 3], &ruleset(10)).is_err());
}

#[test]
fn learning_brings_the_network_to_its_targets() {
    let mut config = Config::of_ruleset(ruleset(3));
    config.optimiser.batch = 16;
    config.network.channels = 8;
    let mut replay = Replay::new(config.ruleset, 3, 10);
    let start = Position::start(&config.ruleset);
    for column in start.legal_moves() {
        replay.push(&sample(&start, 0));
        let next = start.play(column).unwrap();
        let answer = next.legal_moves().nth(0).unwrap();
        replay.push(&Sample {
            chances: [0.0, 0.0, 1.0],
            margin: -6.0,
            ..sample(&next, answer)
        });
    }
    let state = LearnerState::start(&config).unwrap();
    let mut learner = Learner::new(&config, &state).unwrap();
    let first = learner.learn(&replay, 1, 1e-2).unwrap();
    let _ = learner.learn(&replay, 200, 1e-2).unwrap();
    let last = learner.learn(&replay, 1, 1e-2).unwrap();
    assert!((first.value - 3.0_f64.ln()).abs() < 0.1, "{first:?}");
    assert!(
        last.value < 0.05 && last.policy < 0.05 && last.margin < 0.01,
        "{last:?}"
    );
    assert_eq!(learner.step(), 202);
    // The state is complete: two learners that go on from it learn the same.
    let state = learner.state().unwrap();
    let mut twin = Learner::new(&config, &state).unwrap();
    let ours = learner.learn(&replay, 3, 1e-3).unwrap();
    assert_eq!(twin.learn(&replay, 3, 1e-3).unwrap(), ours);
    assert_eq!(twin.state().unwrap(), learner.state().unwrap());
}
