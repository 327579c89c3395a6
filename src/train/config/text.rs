//! Configurations as text: TOML over defaults, options over TOML.

use std::path::{Path, PathBuf};

use super::{Config, Learner, Ruleset, TrainError};
use crate::ruleset::Variant;

/// Settings that learner `gumbel` alone has.
const GUMBEL_ONLY: [&str; 12] = [
    "network",
    "loss",
    "selfplay.simulations",
    "selfplay.first_simulations",
    "selfplay.quick_simulations",
    "selfplay.quick_share",
    "selfplay.max_considered",
    "selfplay.c_visit",
    "selfplay.c_scale",
    "selfplay.margin_weight",
    "value_target.outcome",
    "evaluation.simulations",
];

/// Settings that learner `value` alone has.
const VALUE_ONLY: [&str; 2] = ["value", "evaluation.depth"];

impl Config {
    /// Merges a configuration file with options of the command line and fills in the defaults.
    ///
    /// # Errors
    /// [`TrainError::Config`] when the file cannot be read or a key is unknown,
    /// [`TrainError::Setting`] when a setting is out of range.
    pub fn load(file: Option<&Path>, options: toml::Table) -> Result<Config, TrainError> {
        Config::load_table(file, given(file, options)?)
    }

    /// Fills in the defaults of the settings that `given` leaves out; `file` is named in errors.
    pub(super) fn load_table(
        file: Option<&Path>,
        mut given: toml::Table,
    ) -> Result<Config, TrainError> {
        let path = file.map_or_else(|| PathBuf::from("of the command line"), Path::to_path_buf);
        let refuse = |message: String| TrainError::Config {
            path: path.clone(),
            message,
        };
        let rules = given
            .remove("ruleset")
            .unwrap_or_else(|| toml::Table::new().into());
        let mut rules = match rules {
            toml::Value::Table(rules) => rules,
            other => return Err(refuse(format!("ruleset is {other}, expected a table"))),
        };
        rules
            .entry("variant")
            .or_insert_with(|| Variant::EnDodoi.id().into());
        let ruleset: Ruleset = rules
            .try_into()
            .map_err(|error| refuse(format!("ruleset: {}", tidy(&error))))?;
        let learner = match given.get("learner") {
            None => Learner::Value,
            Some(toml::Value::String(name)) => name.parse().map_err(refuse)?,
            Some(other) => return Err(refuse(format!("learner is {other}, expected a text"))),
        };
        for key in foreign(learner) {
            if let Some(value) = find(&given, key) {
                return Err(refuse(format!(
                    "{key} is {value}, but learner {} has no such setting",
                    learner.name()
                )));
            }
        }
        let mut all = toml::Table::try_from(Config::of_learner(learner, ruleset))
            .map_err(|error| refuse(error.to_string()))?;
        if let Some(budget) = given.get("budget").and_then(toml::Value::as_table) {
            // The default time limit is there only for want of any limit.
            if budget.contains_key("steps") || budget.contains_key("games") {
                all.insert("budget".to_owned(), toml::Table::new().into());
            }
        }
        merge(&mut all, given);
        let config: Config = all.try_into().map_err(|error| refuse(tidy(&error)))?;
        config.check()?;
        Ok(config)
    }

    /// Returns the text of a configuration file with every setting that the learner has.
    ///
    /// # Errors
    /// [`TrainError::Config`] when a setting cannot be written as TOML.
    pub fn to_toml(&self) -> Result<String, TrainError> {
        let refuse = |error: toml::ser::Error| TrainError::Config {
            path: "of this run".into(),
            message: error.to_string(),
        };
        let mut table = toml::Table::try_from(self).map_err(refuse)?;
        for key in foreign(self.learner) {
            remove(&mut table, key);
        }
        toml::to_string(&table).map_err(refuse)
    }
}

/// Returns the settings that belong to the other learner.
fn foreign(learner: Learner) -> &'static [&'static str] {
    match learner {
        Learner::Gumbel => &VALUE_ONLY,
        Learner::Value => &GUMBEL_ONLY,
    }
}

/// Looks up `key` or `table.key`.
fn find<'a>(table: &'a toml::Table, key: &str) -> Option<&'a toml::Value> {
    match key.split_once('.') {
        None => table.get(key),
        Some((outer, inner)) => table.get(outer)?.get(inner),
    }
}

/// Removes `key` or `table.key`.
fn remove(table: &mut toml::Table, key: &str) {
    match key.split_once('.') {
        None => drop(table.remove(key)),
        Some((outer, inner)) => {
            if let Some(toml::Value::Table(table)) = table.get_mut(outer) {
                table.remove(inner);
            }
        }
    }
}

/// What serde calls the kinds of values, and what a user calls them.
const KINDS: [(&str, &str); 6] = [
    ("usize", "a whole number, 0 or more"),
    ("u64", "a whole number, 0 or more"),
    ("u32", "a whole number, 0 or more"),
    ("i64", "a whole number"),
    ("f64", "a number"),
    ("f32", "a number"),
];

/// Writes a TOML error on one line.
fn tidy(error: &toml::de::Error) -> String {
    let text = error.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut text = lines.join(" ").trim().to_owned();
    // serde tells the kinds of values by the names of Rust.
    for (name, kind) in KINDS {
        text = text.replace(&format!("expected {name}"), &format!("expected {kind}"));
    }
    match text.split_once("expected struct ") {
        Some((before, after)) => {
            let rest = after.split_once(' ').map_or("", |(_, rest)| rest);
            format!("{before}expected a table {rest}").trim_end().into()
        }
        None => text,
    }
}

/// Returns what a configuration file and options, which win over it, name.
pub(super) fn given(file: Option<&Path>, options: toml::Table) -> Result<toml::Table, TrainError> {
    let mut given = file.map_or_else(|| Ok(toml::Table::new()), read_table)?;
    merge(&mut given, options);
    Ok(given)
}

fn read_table(path: &Path) -> Result<toml::Table, TrainError> {
    let refuse = |message: String| TrainError::Config {
        path: path.to_path_buf(),
        message,
    };
    let text = std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
    text.parse().map_err(|error| refuse(tidy(&error)))
}

/// Lays `over` on `table`: tables are merged, anything else is replaced.
pub(in crate::train) fn merge(table: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (table.get_mut(&key), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(above)) => merge(below, above),
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
}
