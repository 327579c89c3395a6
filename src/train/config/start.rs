//! Runs that start from the weights of an agent.

use std::path::Path;

use super::text::{given, merge};
use super::{Config, TrainError, setting};
use crate::policy::agent::agent_file;
use crate::policy::agent_file::{AgentFile, Learner};
use crate::policy::weights::NetworkShape;

impl Config {
    /// Reads the settings of a run that begins, as [`Config::load`] does; where `start` names an
    /// agent, its learner and the widths of its network are the defaults.
    ///
    /// # Errors
    /// As [`Config::load`], and [`TrainError::Setting`] when the agent cannot be read or its network
    /// is not that of the settings.
    pub fn begin(file: Option<&Path>, options: toml::Table) -> Result<Config, TrainError> {
        let given = given(file, options)?;
        // Another type is refused by name where the settings are read.
        let Some(toml::Value::String(start)) = given.get("start") else {
            return Config::load_table(file, given);
        };
        let network = read_agent(start)?.metadata.network;
        let config = Config::load_table(file, over(network, given))?;
        config.start_agent()?;
        Ok(config)
    }

    /// Reads settings for a run that began with these, whose network is the default as that of the
    /// agent was in [`Config::begin`].
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn reload(&self, file: Option<&Path>, options: toml::Table) -> Result<Config, TrainError> {
        let given = given(file, options)?;
        match self.start {
            Some(_) => Config::load_table(file, over(self.shape(), given)),
            None => Config::load_table(file, given),
        }
    }

    /// Returns the agent that the run starts from, if there is one.
    ///
    /// # Errors
    /// [`TrainError::Setting`] when it cannot be read or its network is not that of the settings.
    pub fn start_agent(&self) -> Result<Option<AgentFile>, TrainError> {
        let Some(start) = &self.start else {
            return Ok(None);
        };
        let agent = read_agent(start)?;
        let (found, wanted) = (agent.metadata.network, self.shape());
        if found != wanted {
            return Err(setting(
                "start",
                &format!("{start}, whose network is {}", described(found)),
                &format!(
                    "an agent with the network of the settings, {}",
                    described(wanted)
                ),
            ));
        }
        Ok(Some(agent))
    }
}

fn read_agent(start: &str) -> Result<AgentFile, TrainError> {
    let path = agent_file(Path::new(start))?;
    AgentFile::read(&path).map_err(|error| {
        let expected = format!("the file of an agent or the folder of a run: {error}");
        setting("start", &start, &expected)
    })
}

/// Returns a learner and the widths of its network as settings.
fn widths(network: NetworkShape) -> toml::Table {
    let (learner, part, widths) = match network {
        NetworkShape::Gumbel(sizes) => (
            Learner::Gumbel,
            "network",
            vec![
                ("channels", sizes.channels),
                ("blocks", sizes.blocks),
                ("policy_units", sizes.policy_units),
                ("value_units", sizes.value_units),
            ],
        ),
        NetworkShape::Value(sizes) => (
            Learner::Value,
            "value",
            vec![
                ("levels", sizes.levels),
                ("units", sizes.units),
                ("hidden", sizes.hidden),
            ],
        ),
    };
    let numbers = widths.into_iter();
    let numbers = numbers.map(|(key, width)| (key.to_owned(), toml::Value::from(width as i64)));
    let mut table = toml::Table::new();
    table.insert("learner".to_owned(), learner.name().into());
    table.insert(part.to_owned(), numbers.collect::<toml::Table>().into());
    table
}

/// Lays settings on a learner and its widths, unless they name the other learner.
fn over(network: NetworkShape, given: toml::Table) -> toml::Table {
    let mut table = widths(network);
    let other = |learner| Some(learner) != table.get("learner");
    if given.get("learner").is_some_and(other) {
        return given;
    }
    merge(&mut table, given);
    table
}

fn described(network: NetworkShape) -> String {
    match network {
        NetworkShape::Gumbel(sizes) => format!(
            "gumbel with {} channels, {} blocks, {} policy_units and {} value_units",
            sizes.channels, sizes.blocks, sizes.policy_units, sizes.value_units
        ),
        NetworkShape::Value(sizes) => format!(
            "value on {} columns with {} levels, {} units and {} hidden",
            sizes.columns, sizes.levels, sizes.units, sizes.hidden
        ),
    }
}
