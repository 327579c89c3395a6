//! The configuration: defaults, precedence, refusals.

// A helper of a test fails as loudly as a test.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;

use endodoi::policy::agent_file::Learner;
use endodoi::train::TrainError;
use endodoi::train::config::Config;
use endodoi::{Ruleset, RulesetFields, Variant};

fn table(text: &str) -> toml::Table {
    text.parse().unwrap()
}

/// Reads settings of learner `gumbel`, unless they name the other one.
fn load(text: &str) -> Result<Config, TrainError> {
    let mut given = table(text);
    given.entry("learner").or_insert_with(|| "gumbel".into());
    Config::load(None, given)
}

fn refusal(text: &str) -> String {
    load(text).unwrap_err().to_string()
}

#[test]
fn nothing_given_means_the_defaults_of_the_variant() {
    assert_eq!(
        Config::load(None, toml::Table::new()).unwrap(),
        Config::of_learner(Learner::Value, Variant::EnDodoi.ruleset())
    );
    assert_eq!(
        load("").unwrap(),
        Config::of_ruleset(Variant::EnDodoi.ruleset())
    );
    let large = load("ruleset = { variant = \"en-gehe\" }").unwrap();
    assert_eq!(large, Config::of_ruleset(Variant::EnGehe.ruleset()));
    assert_ne!(large.network, load("").unwrap().network);
    assert_eq!(large.ruleset.columns(), 50);
    assert!(large.threads() >= 1);
}

#[test]
fn every_default_is_within_its_range() {
    for variant in Variant::ALL {
        for columns in [1, 6, 16, 17, 64] {
            let fields = RulesetFields {
                columns: Some(columns),
                ..RulesetFields::default()
            };
            let config = Config::of_ruleset(Ruleset::new(variant, &fields).unwrap());
            config.check().unwrap();
            let text = config.to_toml().unwrap();
            assert_eq!(load(&text).unwrap(), config);
        }
    }
}

#[test]
fn options_win_over_the_file_and_the_file_over_defaults() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.toml");
    let text = "seed = 5\n[ruleset]\ncolumns = 7\nseeds_per_pit = 3\n[budget]\nminutes = 2\n\
                [replay]\nratio = 1\n";
    std::fs::write(&path, text).unwrap();
    let config = Config::load(
        Some(&path),
        table("seed = 6\n[ruleset]\ncolumns = 6\n[budget]\nminutes = 0.5"),
    )
    .unwrap();
    assert_eq!(config.seed, 6);
    assert_eq!(config.ruleset.columns(), 6);
    assert_eq!(config.ruleset.seeds_per_pit(), 3);
    assert_eq!(config.budget.minutes, Some(0.5));
    assert!((config.replay.ratio - 1.0).abs() < 1e-12);
    let defaults = Config::of_learner(Learner::Value, config.ruleset);
    assert_eq!(config.optimiser, defaults.optimiser);
}

#[test]
fn a_limit_of_steps_takes_the_place_of_the_default_minutes() {
    let config = load("[budget]\nsteps = 10").unwrap();
    assert_eq!(
        (config.budget.minutes, config.budget.steps),
        (None, Some(10))
    );
    let both = load("[budget]\ngames = 10\nminutes = 1").unwrap();
    assert_eq!(
        (both.budget.minutes, both.budget.games),
        (Some(1.0), Some(10))
    );
}

#[test]
fn unknown_keys_are_refused_by_name() {
    assert!(refusal("sed = 1").contains("sed"));
    assert!(refusal("[selfplay]\nsimulation = 1").contains("simulation"));
    assert!(refusal("[ruleset]\ncolumn = 6").contains("column"));
    assert!(refusal("[network]\nlayers = 6").contains("layers"));
    assert!(refusal("learner = \"oracle\"").contains("oracle"));
    assert!(refusal("ruleset = 6").contains("expected a table"));
}

#[test]
fn numbers_out_of_range_are_refused_with_field_value_and_range() {
    for (text, parts) in [
        ("[ruleset]\ncolumns = 65", ["columns", "65", "1 to 64"]),
        (
            "[ruleset]\nseeds_per_pit = 0",
            ["seeds_per_pit", "0", "1 to 64"],
        ),
        ("workers = 257", ["workers", "257", "0 to 256"]),
        ("[budget]\nminutes = 0", ["budget.minutes", "0", "0.001 to"]),
        ("[budget]\nsteps = 0", ["budget.steps", "0", "1 to"]),
        (
            "[network]\nchannels = 0",
            ["network.channels", "0", "1 to 512"],
        ),
        (
            "[selfplay]\ngames = 0",
            ["selfplay.games", "0", "1 to 65536"],
        ),
        (
            "[selfplay]\nsimulations = 0",
            ["selfplay.simulations", "0", "1 to 1000000"],
        ),
        (
            "[selfplay]\nmargin_weight = 1.5",
            ["selfplay.margin_weight", "1.5", "0 to 1"],
        ),
        (
            "[value_target]\nlambda = -0.5",
            ["value_target.lambda", "-0.5", "0 to 1"],
        ),
        (
            "[optimiser]\nlearning_rate = 0.0",
            ["optimiser.learning_rate", "0", "0.000000001 to 1"],
        ),
        (
            "[optimiser]\nlearning_rate = nan",
            ["optimiser.learning_rate", "NaN", "to 1"],
        ),
        ("[loss]\nvalue = -1.0", ["loss.value", "-1", "0 to 1000"]),
        (
            "[evaluation]\nfinal_games = 3",
            ["evaluation.final_games", "3", "even"],
        ),
        ("[output]\nreport = -1.0", ["output.report", "-1", "0 to"]),
        (
            "[replay]\ncapacity = 10",
            ["replay.minimum", "4000", "at most replay.capacity, 10"],
        ),
        (
            "[value_target]\nlambda = 1.0",
            ["value_target.horizon", "24", "lambda of 1"],
        ),
    ] {
        let message = refusal(text);
        for part in parts {
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}

#[test]
fn values_of_another_kind_are_refused_in_words_of_the_user() {
    for (text, message) in [
        (
            "[selfplay]\ngames = -1",
            "integer `-1`, expected a whole number, 0 or more in `selfplay.games`",
        ),
        (
            "[loss]\nvalue = true",
            "boolean `true`, expected a number in `loss.value`",
        ),
        (
            "[ruleset]\ncolumns = \"x\"",
            "string \"x\", expected a whole number in `columns`",
        ),
        (
            "selfplay = 3",
            "integer `3`, expected a table in `selfplay`",
        ),
    ] {
        let refused = refusal(text);
        assert!(refused.contains(message), "{refused}");
    }
}

#[test]
fn a_file_that_is_not_toml_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.toml");
    std::fs::write(&path, "seed = 1\nworkers = = 2\n").unwrap();
    let message = Config::load(Some(&path), toml::Table::new())
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("x.toml") && message.contains("line 2"),
        "{message}"
    );
    let missing = Config::load(Some(Path::new("no/such.toml")), toml::Table::new());
    assert!(matches!(missing, Err(TrainError::Config { .. })));
}

#[test]
fn every_preset_is_a_configuration() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/endodoi/presets");
    let mut presets = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|kind| kind == "toml") {
            Config::load(Some(&path), toml::Table::new()).unwrap();
            presets += 1;
        }
    }
    assert!(presets >= 2);
}
