//! The value network: its twins, its agents, and alpha-beta over it.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

use std::sync::Arc;

use endodoi::batch::Instructions;
use endodoi::policy::agent_file::{AgentFile, AgentFileError, AgentMetadata, Learner};
use endodoi::policy::network::margin_unit;
use endodoi::policy::value::{Sums, ValueLeaf, ValueNetwork, ValueSizes};
use endodoi::policy::weights::{NamedTensor, NetworkSizes, Weights, WeightsError};
use endodoi::policy::{Agent, AgentSearch, Policy, PolicyError, PolicySpec};
use endodoi::rng::{self, Purpose};
use endodoi::search::{AlphaBetaConfig, AlphaBetaSearch, EndgameTable, LeafEvaluator, SearchLimit};
use endodoi::{Outcome, Position, Ruleset, RulesetFields, Variant};

fn ruleset(columns: usize) -> Ruleset {
    let fields = RulesetFields {
        columns: Some(columns as i64),
        ..RulesetFields::default()
    };
    Ruleset::new(Variant::EnDodoi, &fields).unwrap()
}

/// Weights of which none is zero; `scale` makes them large.
fn weights(sizes: ValueSizes, seed: u64, scale: f32) -> Weights {
    let mut stream = rng::stream(seed, 0, Purpose::Policy);
    let tensors = sizes.layout().into_iter().map(|(name, shape)| {
        let bound = scale / (shape[0] as f32 / sizes.levels as f32).max(4.0).sqrt();
        let data = (0..shape.iter().product())
            .map(|_| bound * (2.0 * rng::unit(&mut stream) - 1.0))
            .collect();
        NamedTensor { name, shape, data }
    });
    Weights::new(sizes, tensors.collect()).unwrap()
}

fn sizes(columns: usize) -> ValueSizes {
    ValueSizes {
        columns,
        levels: 7,
        units: 33,
        hidden: 5,
    }
}

fn network(columns: usize, seed: u64, scale: f32) -> ValueNetwork {
    ValueNetwork::new(weights(sizes(columns), seed, scale)).unwrap()
}

/// Open positions of random games.
fn positions(columns: usize, count: usize) -> Vec<Position> {
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
        let column = legal.nth(rng::below(&mut stream, legal.len() as u32) as usize);
        position = position.play(column.unwrap()).unwrap();
    }
    found
}

fn pits(position: &Position) -> Vec<u16> {
    let observation = position.observation();
    let pits = position.ruleset().pits();
    observation[..pits]
        .iter()
        .map(|&seeds| seeds as u16)
        .collect()
}

#[test]
fn the_rounded_network_is_close_to_its_twin_in_floating_point() {
    for (columns, scale) in [
        (1, 1.0),
        (6, 1.0),
        (6, 4.0),
        (10, 1.0),
        (50, 1.0),
        (64, 2.0),
    ] {
        let network = network(columns, 3, scale);
        let mut scratch = Vec::new();
        let mut widest = 0.0_f32;
        for position in positions(columns, 60) {
            let pits = pits(&position);
            let (rounded, plain) = (
                network.margin(&pits, None, &mut scratch),
                network.plain(&pits),
            );
            widest = widest.max(plain.abs());
            // Rounding errors of the pits add up like a random walk, and count in units of the margin.
            let seeds: u16 = pits.iter().sum();
            let unit = margin_unit(f32::from(seeds));
            let close = 1e-3 * scale * unit * (pits.len() as f32).sqrt();
            assert!(
                (rounded - plain).abs() < close,
                "{columns}: {rounded} {plain} {close}"
            );
        }
        assert!(widest > 0.1, "{columns}: every position is worth nothing");
    }
}

#[test]
fn every_set_of_instructions_gives_the_same_value() {
    for columns in [1, 6, 50] {
        let scalar = network(columns, 1, 2.0).with_instructions(Instructions::Scalar);
        let mut scratch = Vec::new();
        for set in Instructions::ALL {
            let other = network(columns, 1, 2.0).with_instructions(set);
            for position in positions(columns, 40) {
                let pits = pits(&position);
                let mut value =
                    |network: &ValueNetwork| network.margin(&pits, None, &mut scratch).to_bits();
                assert_eq!(value(&other), value(&scalar), "{}", set.name());
            }
        }
    }
}

#[test]
fn sums_made_from_those_of_a_near_position_give_the_same_value() {
    for columns in [6, 20, 50] {
        let network = network(columns, 9, 3.0);
        let (mut near, mut scratch, mut used) = (Sums::default(), Vec::new(), 0);
        for position in positions(columns, 200) {
            let board = pits(&position);
            network.sum(&board, &mut near);
            for pit in 0..board.len() {
                let mut other = board.clone();
                other[pit] += 1;
                other[(pit + 1) % board.len()] += 300;
                let alone = network.margin(&other, None, &mut scratch);
                let from_near = network.margin(&other, Some(&near), &mut scratch);
                assert_eq!(from_near.to_bits(), alone.to_bits());
                used += 1;
            }
        }
        assert!(used > 0);
    }
}

fn even_weights(pits: f32, hidden: f32) -> Weights {
    let sizes = sizes(64);
    let tensors = sizes.layout().into_iter().map(|(name, shape)| {
        let value = match name.as_str() {
            "pits" => pits,
            "hidden" => hidden,
            _ => 1.0,
        };
        let data = vec![value; shape.iter().product()];
        NamedTensor { name, shape, data }
    });
    Weights::new(sizes, tensors.collect()).unwrap()
}

#[test]
fn sums_never_wrap_around_however_large_the_weights() {
    for (pits, hidden) in [(200.0, 1.0), (1.0, 200.0), (240.0, 500.0)] {
        let network = ValueNetwork::new(even_weights(pits, hidden)).unwrap();
        let value = network.margin(&[1; 128], None, &mut Vec::new());
        // All units are full: five hidden numbers of 33 weights and a bias, and the last bias.
        let expected = (5.0 * (33.0 * hidden + 1.0) + 1.0) * 2.0 * 128.0_f32.sqrt();
        assert!(
            (value - expected).abs() < 1e-3 * expected,
            "{value} {expected}"
        );
    }
    for (pits, hidden, name) in [(300.0, 1.0, "pits"), (0.1, 40_000.0, "hidden")] {
        let error = ValueNetwork::new(even_weights(pits, hidden)).unwrap_err();
        assert!(matches!(&error, WeightsError::TooLarge { name: found, .. } if *found == name));
    }
}

/// Values a line of `depth` plies by trying every move.
fn minimax(position: &Position, depth: u32, leaf: &mut ValueLeaf) -> i32 {
    let mover = position.to_move();
    match position.outcome() {
        Some(Outcome::Draw) if position.board().lead(mover) != 0 => return 0,
        Some(_) => return position.board().lead(mover) * ValueLeaf::UNITS,
        None => {}
    }
    if depth == 0 {
        let rest = position.board().seeds_on_board() as i32 * ValueLeaf::UNITS;
        let before = position.board().lead(mover) * ValueLeaf::UNITS;
        return before + leaf.margin(&pits(position)).clamp(-rest, rest);
    }
    let replies = position.legal_moves().iter();
    let values = replies.map(|column| -minimax(&position.play(column).unwrap(), depth - 1, leaf));
    values.max().unwrap()
}

#[test]
fn alpha_beta_over_the_network_is_minimax_over_it() {
    for (columns, depths) in [(2, 1..=5), (6, 1..=3), (10, 1..=2), (20, 1..=2)] {
        let network = Arc::new(network(columns, 4, 2.0));
        for depth in depths {
            let config = AlphaBetaConfig::new(SearchLimit::Depth(depth));
            let leaf = ValueLeaf::new(Arc::clone(&network));
            let mut search = AlphaBetaSearch::with_evaluator(config, leaf.clone()).unwrap();
            for position in positions(columns, 25) {
                let found = search.search(&position).unwrap();
                let expected = minimax(&position, depth, &mut leaf.clone());
                assert_eq!(found.value, expected, "{columns} {depth} {position}");
            }
        }
    }
}

#[test]
fn a_table_gives_the_exact_value_of_the_leaves_it_has() {
    let ruleset = ruleset(3);
    let mut quietly = |_| std::ops::ControlFlow::Continue(());
    let table = EndgameTable::build(&ruleset, 5, Some(1), &mut quietly).unwrap();
    let table = Arc::new(table);
    let network = Arc::new(network(3, 4, 2.0));
    let mut leaf = ValueLeaf::new(Arc::clone(&network)).with_table(Arc::clone(&table));
    let mut in_table = 0;
    for position in positions(3, 200) {
        let value = leaf.margin(&pits(&position));
        if position.board().seeds_on_board() <= 5 {
            in_table += 1;
            let exact = i32::from(table.value(&position).unwrap());
            assert_eq!(value, exact * ValueLeaf::UNITS);
        } else {
            let alone = ValueLeaf::new(Arc::clone(&network)).margin(&pits(&position));
            assert_eq!(value, alone);
        }
    }
    assert!(in_table > 10, "{in_table}");
}

fn agent(columns: usize) -> AgentFile {
    AgentFile {
        metadata: AgentMetadata {
            learner: Learner::Value,
            ruleset: ruleset(columns),
            network: sizes(columns).into(),
            step: 12,
            games: 34,
            simulations: 0,
            depth: 3,
        },
        weights: weights(sizes(columns), 2, 1.0),
    }
}

#[test]
fn a_value_agent_is_read_as_it_was_written() {
    let written = agent(6);
    let bytes = written.to_bytes().unwrap();
    assert_eq!(AgentFile::from_bytes(&bytes).unwrap(), written);
    for cut in [0, 9, bytes.len() / 2, bytes.len() - 1] {
        AgentFile::from_bytes(&bytes[..cut]).unwrap_err();
    }
}

#[test]
fn a_network_of_another_board_or_learner_is_refused() {
    let mut other = agent(6);
    other.metadata.ruleset = ruleset(7);
    let error = AgentFile::from_bytes(&other.to_bytes().unwrap()).unwrap_err();
    assert!(matches!(error, AgentFileError::Network { columns: 7, .. }));
    assert_eq!(
        error.to_string(),
        "the network does not fit learner value on 7 columns"
    );
    let mut other = agent(6);
    other.metadata.learner = Learner::Gumbel;
    let error = AgentFile::from_bytes(&other.to_bytes().unwrap()).unwrap_err();
    assert!(error.to_string().contains("does not fit learner gumbel"));
    let gumbel = Weights::random(NetworkSizes::default(), 1).unwrap();
    assert_eq!(
        ValueNetwork::new(gumbel).unwrap_err(),
        WeightsError::Kind { expected: "value" }
    );
}

#[test]
fn a_value_agent_plays_by_alpha_beta_over_its_network() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a@b.safetensors");
    agent(6).write(&path).unwrap();
    let plays = |search: &str| {
        let spec = format!("agent:{}{search}", path.display());
        let spec: PolicySpec = spec.parse().unwrap();
        let mut policy = spec.build().unwrap();
        let positions = positions(6, 30);
        let mut streams: Vec<_> = (0..30)
            .map(|at| rng::stream(at, 0, Purpose::Play))
            .collect();
        let mut moves = vec![0; 30];
        policy.choose(&positions, &mut streams, &mut moves).unwrap();
        moves
    };
    let network = Arc::new(ValueNetwork::new(agent(6).weights).unwrap());
    for (search, depth) in [("", 3), ("@depth=3", 3), ("@none", 1), ("@depth=5", 5)] {
        let config = AlphaBetaConfig::new(SearchLimit::Depth(depth));
        let leaf = ValueLeaf::new(Arc::clone(&network));
        let mut alone = AlphaBetaSearch::with_evaluator(config, leaf).unwrap();
        let expected = positions(6, 30);
        let expected = expected
            .iter()
            .map(|p| alone.search(p).unwrap().column as u8);
        assert_eq!(plays(search), expected.collect::<Vec<u8>>(), "{search}");
    }
    assert_eq!(plays("@nodes=100").len(), 30);
}

#[test]
fn a_value_agent_refuses_other_searches_and_boards() {
    let load = |search| Agent::new("x", agent(6), search);
    for search in [AgentSearch::Simulations(8), AgentSearch::Mcts(8)] {
        let error = load(search).unwrap_err();
        assert!(matches!(error, PolicyError::Spec { .. }));
        assert!(
            error.to_string().contains("the agent's learner is value"),
            "{error}"
        );
    }
    let deep = AlphaBetaConfig::new(SearchLimit::Depth(65));
    let error = load(AgentSearch::AlphaBeta(deep)).unwrap_err();
    assert!(error.to_string().contains("depth is 65"), "{error}");
    let mut agent = load(AgentSearch::Default).unwrap();
    let error = agent.check(&ruleset(7)).unwrap_err();
    assert!(
        error.to_string().contains("columns is 7, expected 6"),
        "{error}"
    );
    let mut moves = [0];
    let mut streams = [rng::stream(1, 0, Purpose::Play)];
    let other = [Position::start(&ruleset(7))];
    agent.choose(&other, &mut streams, &mut moves).unwrap_err();
    for text in [
        "agent:x@depth=0",
        "agent:x@depth=65",
        "agent:x@depth=nodes=5",
        "agent:x@deep=3",
    ] {
        text.parse::<PolicySpec>().unwrap_err();
    }
}
