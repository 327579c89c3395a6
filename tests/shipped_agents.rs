//! Agents by name: the folder that a package names, paths that win over names, unknown names.

#![allow(clippy::expect_used, clippy::panic)]

use std::fs;

use endodoi::policy::agent::agent_file;
use endodoi::policy::agent_file::{AgentFile, AgentMetadata, Learner};
use endodoi::policy::shipped::{set_agents_folder, shipped_agents};
use endodoi::policy::value::ValueSizes;
use endodoi::policy::weights::Weights;
use endodoi::policy::{Agent, AgentSearch, PolicySpec};
use endodoi::ruleset::{Ruleset, RulesetFields, Variant};

fn agent() -> AgentFile {
    let fields = RulesetFields {
        columns: Some(3),
        ..RulesetFields::default()
    };
    let sizes = ValueSizes {
        columns: 3,
        levels: 4,
        units: 8,
        hidden: 4,
    };
    AgentFile {
        metadata: AgentMetadata {
            learner: Learner::Value,
            ruleset: Ruleset::new(Variant::EnDodoi, &fields).expect("rules"),
            network: sizes.into(),
            step: 1,
            games: 1,
            simulations: 0,
            depth: 2,
        },
        weights: Weights::random(sizes, 1).expect("weights"),
    }
}

/// One test: the folder is the whole process's.
#[test]
fn a_name_means_a_shipped_agent_where_there_is_no_such_path() {
    let place = std::env::temp_dir().join(format!("endodoi-shipped-{}", std::process::id()));
    fs::create_dir_all(&place).expect("a folder");
    agent()
        .write(&place.join("tiny-2x3.safetensors"))
        .expect("a file");
    assert!(shipped_agents().is_empty());
    let lost = Agent::load("tiny-2x3", AgentSearch::Default).expect_err("no folder is named");
    assert!(lost.to_string().contains("tiny-2x3"), "{lost}");

    assert_eq!(set_agents_folder(Some(place.clone())), None);
    assert_eq!(shipped_agents(), ["tiny-2x3"]);
    let spec: PolicySpec = "agent:tiny-2x3@depth=1".parse().expect("a specification");
    let player = spec.build().expect("an agent");
    assert_eq!(player.name(), "agent:tiny-2x3@depth=1");
    let refused = Agent::load("huge-2x3", AgentSearch::Default).expect_err("no such name");
    assert!(refused.to_string().ends_with("are tiny-2x3"), "{refused}");

    // What exists in the current folder wins: here the folder `src`.
    fs::copy(
        place.join("tiny-2x3.safetensors"),
        place.join("src.safetensors"),
    )
    .expect("a copy");
    let refused = agent_file("src".as_ref()).expect_err("a folder without an agent");
    assert!(refused.to_string().contains("holds no"), "{refused}");
    set_agents_folder(None);
    fs::remove_dir_all(&place).expect("removed");
}
