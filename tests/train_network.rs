//! The network on libtorch agrees with the network without torch.

// A helper of a test fails as loudly as a test.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;

use endodoi::policy::network::{Network, NetworkEvaluator};
use endodoi::policy::weights::{NamedTensor, NetworkSizes, Weights};
use endodoi::rng::{self, Purpose};
use endodoi::search::{Evaluations, Evaluator};
use endodoi::train::network::{TorchEvaluator, TorchNetwork};
use endodoi::{Position, Ruleset, RulesetFields, Variant};
use tch::Device;

fn positions(variant: Variant, columns: i64, count: usize) -> Vec<Position> {
    let fields = RulesetFields {
        columns: Some(columns),
        ..RulesetFields::default()
    };
    let start = Position::start(&Ruleset::new(variant, &fields).unwrap());
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

fn full_weights(sizes: NetworkSizes) -> Weights {
    let mut stream = rng::stream(8, 0, Purpose::Policy);
    let tensors = sizes.layout().into_iter().map(|(name, shape)| {
        let bound = 1.7 / (shape[0] as f32).sqrt();
        let data = (0..shape.iter().product())
            .map(|_| bound * (2.0 * rng::unit(&mut stream) - 1.0))
            .collect();
        NamedTensor { name, shape, data }
    });
    Weights::new(sizes, tensors.collect()).unwrap()
}

#[test]
fn both_networks_agree_within_a_ten_thousandth() {
    for (variant, columns) in [
        (Variant::EnDodoi, 1),
        (Variant::EnDodoi, 2),
        (Variant::CrossEndodoi, 6),
        (Variant::EnDodoi, 10),
        (Variant::EnGehe, 50),
    ] {
        for blocks in [0, 3] {
            let sizes = NetworkSizes {
                blocks,
                ..NetworkSizes::default()
            };
            let weights = full_weights(sizes);
            let positions = positions(variant, columns, 33);
            let (mut ours, mut theirs) = (Evaluations::default(), Evaluations::default());
            let network = Arc::new(Network::new(weights.clone()).unwrap());
            NetworkEvaluator::new(network)
                .evaluate(&positions, &mut ours)
                .unwrap();
            let mut torch = TorchEvaluator::new(&weights, Device::Cpu).unwrap();
            torch.evaluate(&positions, &mut theirs).unwrap();
            assert_eq!(torch.evaluated(), 33);
            let pairs = [
                (&ours.logits, &theirs.logits),
                (&ours.win, &theirs.win),
                (&ours.loss, &theirs.loss),
                (&ours.margin, &theirs.margin),
            ];
            for (name, (a, b)) in ["logits", "win", "loss", "margin"].iter().zip(pairs) {
                assert_eq!(a.len(), b.len());
                // Something is computed at all.
                assert!(a.iter().any(|number| number.abs() > 1e-3), "{name}");
                for (a, b) in a.iter().zip(b) {
                    let scale = a.abs().max(1.0);
                    assert!((a - b).abs() <= 1e-4 * scale, "{name} 2x{columns}: {a} {b}");
                }
            }
        }
    }
}

#[test]
fn weights_survive_the_way_through_libtorch() {
    let weights = full_weights(NetworkSizes::default());
    for trainable in [false, true] {
        let network = TorchNetwork::new(&weights, trainable, Device::Cpu).unwrap();
        assert_eq!(network.weights().unwrap(), weights);
        let asks = network.tensors().iter().all(tch::Tensor::requires_grad);
        assert_eq!(asks, trainable);
    }
}
