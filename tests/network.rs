//! The network without torch, agent files, and the agent as a player.

// A helper of a test fails as loudly as a test.
#![allow(clippy::unwrap_used, clippy::expect_used)]
// Batches and single positions agree to the last bit.
#![allow(clippy::float_cmp)]

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;

use endodoi::policy::agent_file::{AgentFile, AgentFileError, AgentMetadata, Learner};
use endodoi::policy::network::{Network, NetworkEvaluator};
use endodoi::policy::weights::{NamedTensor, NetworkSizes, Weights, WeightsError};
use endodoi::policy::{Agent, AgentSearch, Policy, PolicyError};
use endodoi::rng::{self, Purpose};
use endodoi::search::{Evaluations, Evaluator, MctsConfig, MctsSearch};
use endodoi::{Position, Ruleset, RulesetFields, Variant};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

fn ruleset(columns: i64) -> Ruleset {
    let fields = RulesetFields {
        columns: Some(columns),
        ..RulesetFields::default()
    };
    Ruleset::new(Variant::EnDodoi, &fields).unwrap()
}

fn small() -> NetworkSizes {
    NetworkSizes {
        channels: 8,
        blocks: 2,
        policy_units: 6,
        value_units: 10,
    }
}

/// Weights of which none is zero, so that every part of the network counts.
fn full_weights(sizes: NetworkSizes, seed: u64) -> Weights {
    let mut stream = rng::stream(seed, 0, Purpose::Policy);
    let tensors = sizes.layout().into_iter().map(|(name, shape)| {
        let bound = 1.0 / (shape[0] as f32).sqrt();
        let data = (0..shape.iter().product())
            .map(|_| bound * (2.0 * rng::unit(&mut stream) - 1.0))
            .collect();
        NamedTensor { name, shape, data }
    });
    Weights::new(sizes, tensors.collect()).unwrap()
}

fn agent(seed: u64) -> AgentFile {
    AgentFile {
        metadata: AgentMetadata {
            learner: Learner::Gumbel,
            ruleset: ruleset(6),
            network: small().into(),
            step: 12,
            games: 34,
            simulations: 8,
            depth: 0,
        },
        weights: full_weights(small(), seed),
    }
}

/// Open positions of random games.
fn positions(columns: i64, count: usize) -> Vec<Position> {
    let start = Position::start(&ruleset(columns));
    let mut stream = rng::stream(5, 0, Purpose::Opening);
    let mut found = Vec::new();
    let mut position = start;
    while found.len() < count {
        if position.is_over() {
            position = start;
        }
        found.push(position);
        let legal = position.legal_moves();
        let rank = rng::below(&mut stream, legal.len() as u32) as usize;
        position = position.play(legal.nth(rank).unwrap()).unwrap();
    }
    found
}

fn evaluate(evaluator: &mut NetworkEvaluator, positions: &[Position]) -> Evaluations {
    let mut out = Evaluations::default();
    evaluator.evaluate(positions, &mut out).unwrap();
    out
}

fn evaluator(weights: Weights) -> NetworkEvaluator {
    NetworkEvaluator::new(Arc::new(Network::new(weights).unwrap()))
}

#[test]
fn a_batch_gives_every_position_what_it_gets_alone() {
    for columns in [1, 2, 6, 50] {
        let sizes = NetworkSizes {
            channels: 48,
            ..NetworkSizes::default()
        };
        let mut evaluator = evaluator(full_weights(sizes, 3));
        let positions = positions(columns, 70);
        let together = evaluate(&mut evaluator, &positions);
        let columns = columns as usize;
        for (row, position) in positions.iter().enumerate() {
            let alone = evaluate(&mut evaluator, &[*position]);
            assert_eq!(
                together.logits[row * columns..(row + 1) * columns],
                alone.logits
            );
            assert_eq!(together.win[row], alone.win[0]);
            assert_eq!(together.loss[row], alone.loss[0]);
            assert_eq!(together.margin[row], alone.margin[0]);
        }
    }
}

#[test]
fn values_are_of_the_side_to_move_and_bounded() {
    let mut evaluator = evaluator(full_weights(small(), 4));
    let positions = positions(6, 50);
    let swapped: Vec<Position> = positions.iter().map(Position::swap_sides).collect();
    let out = evaluate(&mut evaluator, &positions);
    assert_eq!(out, evaluate(&mut evaluator, &swapped));
    for (row, position) in positions.iter().enumerate() {
        let left = position.board().seeds_on_board() as f32;
        assert!(out.win[row] >= 0.0 && out.loss[row] >= 0.0);
        assert!(out.win[row] + out.loss[row] <= 1.0 + 1e-6);
        assert!(out.margin[row].abs() <= left);
    }
    // Positions differ, and so do their values.
    assert!(out.win.iter().any(|win| (win - out.win[0]).abs() > 1e-3));
}

#[test]
fn first_weights_have_no_preference() {
    let weights = Weights::random(NetworkSizes::default(), 1).unwrap();
    assert_eq!(
        weights,
        Weights::random(NetworkSizes::default(), 1).unwrap()
    );
    assert_ne!(
        weights,
        Weights::random(NetworkSizes::default(), 2).unwrap()
    );
    let out = evaluate(&mut evaluator(weights), &positions(6, 5));
    assert!(out.logits.iter().all(|&logit| logit == 0.0));
    assert!(out.margin.iter().all(|&margin| margin == 0.0));
    assert!(out.win.iter().all(|&win| (win - 1.0 / 3.0).abs() < 1e-6));
}

#[test]
fn positions_of_two_sizes_are_refused() {
    let mut evaluator = evaluator(full_weights(small(), 4));
    let mixed = [positions(6, 1)[0], positions(5, 1)[0]];
    let error = evaluator.evaluate(&mixed, &mut Evaluations::default());
    assert_eq!(
        error.unwrap_err().message,
        "position 1 has 5 columns, the first one 6"
    );
}

#[test]
fn a_file_gives_back_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.safetensors");
    let file = agent(1);
    file.write(&path).unwrap();
    assert_eq!(AgentFile::read(&path).unwrap(), file);
    assert_eq!(fs::read(&path).unwrap(), file.to_bytes().unwrap());
    // A second one takes its place and nothing else is left in the folder.
    agent(2).write(&path).unwrap();
    assert_eq!(AgentFile::read(&path).unwrap(), agent(2));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_file_that_cannot_be_written_leaves_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("no-such-folder").join("agent");
    assert!(matches!(agent(1).write(&path), Err(AgentFileError::Io(_))));
}

/// Changes the header's JSON of an agent file.
fn with_header(bytes: &[u8], change: impl Fn(String) -> String) -> Vec<u8> {
    let (_, header) = SafeTensors::read_metadata(bytes).unwrap();
    let json = header.metadata().as_ref().unwrap()["endodoi"].clone();
    let file = SafeTensors::deserialize(bytes).unwrap();
    let changed = HashMap::from([("endodoi".to_owned(), change(json))]);
    safetensors::serialize(file.iter(), Some(changed)).unwrap()
}

fn refusal(bytes: &[u8]) -> String {
    AgentFile::from_bytes(bytes).unwrap_err().to_string()
}

#[test]
fn other_headers_are_refused_by_name() {
    let bytes = agent(1).to_bytes().unwrap();
    let replaced = |from: &'static str, to: &'static str| {
        let changed = with_header(&bytes, |json| {
            assert!(json.contains(from), "{json}");
            json.replace(from, to)
        });
        refusal(&changed)
    };
    assert_eq!(
        replaced("\"format_version\":1", "\"format_version\":2"),
        "format version 2, this program reads 1"
    );
    assert!(replaced("endodoi-agent", "endodoi-other").contains("endodoi-other"));
    assert!(replaced("\"version\":1,\"pit\"", "\"version\":99,\"pit\"").contains("version 99"));
    assert!(replaced("gumbel", "oracle").contains("oracle"));
    assert!(replaced("\"columns\":6", "\"columns\":65").contains("columns is 65"));
    assert!(replaced("\"channels\":8", "\"channels\":0").contains("network.channels is 0"));
    assert!(replaced("\"step\"", "\"stop\"").contains("stop"));
    let plain = SafeTensors::deserialize(&bytes).unwrap();
    let without = safetensors::serialize(plain.iter(), None).unwrap();
    assert!(refusal(&without).contains("without the metadata of an agent"));
}

#[test]
fn other_tensors_are_refused_by_name() {
    let refuse = |change: &dyn Fn(&mut Vec<NamedTensor>)| {
        let mut tensors = agent(1).weights.tensors().to_vec();
        change(&mut tensors);
        Weights::new(small(), tensors).unwrap_err()
    };
    assert_eq!(
        refuse(&|tensors| {
            tensors.remove(3);
        })
        .to_string(),
        "tensor block0.taps is missing"
    );
    assert_eq!(
        refuse(&|tensors| tensors[2].shape = vec![4, 2]).to_string(),
        "tensor stem.bias has shape [4, 2], expected [8]"
    );
    assert!(matches!(
        refuse(&|tensors| tensors[2].data[1] = f32::NAN),
        WeightsError::NotFinite { .. }
    ));
    let extra = refuse(&|tensors| {
        let mut more = tensors[0].clone();
        more.name = "block7.taps".to_owned();
        tensors.push(more);
    });
    assert_eq!(extra.to_string(), "tensor block7.taps is unknown");
}

#[test]
fn another_number_type_is_refused_by_name() {
    let bytes = agent(1).to_bytes().unwrap();
    let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let views = file.iter().map(|(name, view)| {
        let view = if name == "stem.bias" {
            TensorView::new(Dtype::I32, view.shape().to_vec(), view.data()).unwrap()
        } else {
            view
        };
        (name, view)
    });
    let changed = safetensors::serialize(views, header.metadata().clone()).unwrap();
    assert_eq!(
        refusal(&changed),
        "tensor stem.bias holds I32, expected F32"
    );
}

#[test]
fn a_part_of_a_file_is_refused() {
    let bytes = agent(1).to_bytes().unwrap();
    for len in [0, 1, 7, 8, 9, 100, bytes.len() / 2, bytes.len() - 1] {
        assert!(
            refusal(&bytes[..len]).starts_with("not a complete safetensors file"),
            "{len} bytes"
        );
    }
    assert!(refusal(b"these are not the weights you are looking for").contains("not a complete"));
}

#[test]
fn an_agent_is_loaded_from_a_file_or_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let refused = Agent::load(folder.path(), AgentSearch::Default).unwrap_err();
    assert!(refused.to_string().contains("no agent.safetensors"));
    let missing = folder.path().join("agent.safetensors");
    assert!(matches!(
        Agent::load(&missing, AgentSearch::Default),
        Err(PolicyError::File { .. })
    ));
    agent(1).write(&missing).unwrap();
    let load = |search| Agent::load(folder.path(), search).unwrap();
    assert_eq!(load(AgentSearch::Default).simulations(), 8);
    assert_eq!(load(AgentSearch::Simulations(5)).simulations(), 5);
    assert_eq!(load(AgentSearch::None).simulations(), 0);
    assert!(load(AgentSearch::None).name().ends_with("@none"));
    assert_eq!(load(AgentSearch::Mcts(7)).simulations(), 7);
    assert!(load(AgentSearch::Mcts(7)).name().ends_with("@mcts=7"));
    for search in [AgentSearch::Simulations(0), AgentSearch::Mcts(0)] {
        assert!(Agent::load(folder.path(), search).is_err());
    }
    // The best agent goes before the latest.
    let mut best = agent(2);
    best.metadata.simulations = 9;
    best.write(&folder.path().join("best.safetensors")).unwrap();
    assert_eq!(load(AgentSearch::Default).simulations(), 9);
}

#[test]
fn moves_depend_on_the_position_alone() {
    for (columns, search) in [
        (6, AgentSearch::Default),
        (6, AgentSearch::None),
        (6, AgentSearch::Mcts(9)),
        // Another board than the one it was trained on.
        (11, AgentSearch::Simulations(3)),
    ] {
        let mut agent = Agent::new("test", agent(1), search).unwrap();
        let positions = positions(columns, 150);
        let streams = |seed: u64, count: usize| -> Vec<_> {
            (0..count as u64)
                .map(|row| rng::stream(seed + row, 0, Purpose::Policy))
                .collect()
        };
        let mut together = vec![0; positions.len()];
        agent
            .choose(&positions, &mut streams(1, positions.len()), &mut together)
            .unwrap();
        for (position, &column) in positions.iter().zip(&together) {
            assert!(position.legal_moves().contains(column.into()));
            let mut alone = [0];
            agent
                .choose(&[*position], &mut streams(99, 1), &mut alone)
                .unwrap();
            assert_eq!(alone[0], column);
        }
    }
}

#[test]
fn an_agent_searches_by_monte_carlo_over_its_network() {
    let config = MctsConfig {
        simulations: 30,
        ..MctsConfig::default()
    };
    let mut agent = Agent::new("test", agent(1), AgentSearch::Mcts(30)).unwrap();
    let mut evaluator = NetworkEvaluator::new(agent.network().gumbel().expect("a Gumbel agent"));
    let positions = positions(6, 40);
    let mut search = MctsSearch::new(config).unwrap();
    let found = search.run(&positions, &mut evaluator).unwrap();
    let mut streams = vec![rng::stream(1, 0, Purpose::Policy); positions.len()];
    let mut moves = vec![255; positions.len()];
    agent.choose(&positions, &mut streams, &mut moves).unwrap();
    let columns: Vec<u8> = found.iter().map(|result| result.column).collect();
    assert_eq!(moves, columns);
}

#[test]
fn an_agent_plays_a_whole_game() {
    let mut agent = Agent::new("test", agent(1), AgentSearch::Default).unwrap();
    let mut position = Position::start(&ruleset(6));
    let mut streams = [rng::stream(1, 0, Purpose::Policy)];
    while !position.is_over() {
        let mut column = [0];
        agent
            .choose(&[position], &mut streams, &mut column)
            .unwrap();
        position = position.play(column[0].into()).unwrap();
    }
    assert_eq!(position.board().total(), 48);
}
