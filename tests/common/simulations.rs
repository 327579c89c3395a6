//! What tests of simulations share.

// Every test program compiles this module and uses a part of it.
#![allow(dead_code)]
// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used)]

use std::ops::ControlFlow;

use endodoi::policy::PolicySpec;
use endodoi::simulate::{GameTable, Instructions, SimulateConfig, simulate};
use endodoi::{Ruleset, RulesetFields};

/// Reads a rule set from the fields that differ from the default.
pub(crate) fn ruleset_of(json: &str) -> Ruleset {
    let fields: RulesetFields = serde_json::from_str(json).expect("fields");
    Ruleset::try_from(fields).expect("valid fields")
}

/// Never stops a simulation.
pub(crate) fn go_on(_: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Plays games between two random players.
pub(crate) fn random_games(config: &SimulateConfig) -> GameTable {
    let random = PolicySpec::Random;
    simulate(config, &random, &random, &mut go_on).expect("valid settings")
}

/// Plays them with given instructions.
pub(crate) fn random_games_with(config: &SimulateConfig, instructions: Instructions) -> GameTable {
    random_games(&SimulateConfig {
        instructions: Some(instructions),
        ..*config
    })
}

/// Compares the games of every set of instructions with those of the scalar twin, and returns
/// them.
pub(crate) fn assert_same_games(config: &SimulateConfig) -> GameTable {
    let expected = random_games_with(config, Instructions::Scalar);
    for instructions in Instructions::ALL {
        if !instructions.is_available() {
            continue;
        }
        let got = random_games_with(config, instructions);
        assert_eq!(got.len(), expected.len());
        for game in 0..expected.len() {
            let (got, expected) = (got.row(game), expected.row(game));
            let name = instructions.name();
            assert_eq!(got, expected, "{name}: game {game} of {config:?}");
        }
    }
    expected
}
