//! The parts of a run: made for one that begins, and written to and taken out of checkpoints.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use super::TrainError;
use super::checkpoint::{Checkpoint, Counters, Moment};
use super::config::Config;
use super::learner::LearnerState;
use super::replay::Replay;
use super::saved_games::{put_games, take_games};
use super::selfplay::Group;
use super::state::{State, StateError};
use crate::policy::agent_file::Learner;
use crate::search::EndgameTable;

/// What a run goes on from.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) counters: Counters,
    pub(super) learner: LearnerState,
    pub(super) replay: Replay,
    pub(super) groups: Vec<Group>,
    /// What the user should know of it.
    pub(super) notes: Vec<String>,
}

impl Parts {
    /// Returns the parts of a run that begins.
    ///
    /// # Errors
    /// As [`LearnerState::start`].
    pub(super) fn start(config: &Config) -> Result<Parts, TrainError> {
        Ok(Parts {
            counters: Counters::default(),
            learner: LearnerState::start(config)?,
            replay: empty_ring(config),
            groups: Group::all(config, 0),
            notes: Vec::new(),
        })
    }

    /// Takes everything out of a checkpoint's arrays; what does not fit the settings starts anew,
    /// with a note.
    ///
    /// # Errors
    /// [`StateError`] names what is broken.
    pub(super) fn take(
        mut state: State<'_>,
        config: &Config,
        moment: &Moment,
    ) -> Result<Parts, StateError> {
        let learner = LearnerState::take(&mut state, config, moment.step)?;
        let anew = || Group::all(config, moment.counters.episode);
        let mut notes = Vec::new();
        let (replay, groups);
        if moment.ruleset == Some(config.ruleset) {
            let columns = config.policy_columns();
            replay = Replay::take(&mut state, config.ruleset, columns, config.replay.capacity)?;
            groups = take_games(&mut state, config)?.unwrap_or_else(|games| {
                // None are in progress where actors played.
                if games > 0 {
                    notes.push(format!(
                        "the checkpoint has {games} games in progress, the settings ask for {}: \
                         they start anew",
                        config.selfplay.groups * config.selfplay.games
                    ));
                }
                anew()
            });
        } else {
            let why = match moment.ruleset {
                Some(rules) => format!("the checkpoint is of other rules ({rules})"),
                None => "the checkpoint is of format version 1".to_owned(),
            };
            notes.push(format!(
                "{why}: the replay ring fills again and games in progress start anew"
            ));
            for prefix in ["replay/", "games/", "waiting/"] {
                state.discard(prefix);
            }
            replay = empty_ring(config);
            groups = anew();
        }
        state.finish()?;
        Ok(Parts {
            counters: moment.counters.clone(),
            learner,
            replay,
            groups,
            notes,
        })
    }
}

fn empty_ring(config: &Config) -> Replay {
    Replay::new(
        config.ruleset,
        config.policy_columns(),
        config.replay.capacity,
    )
}

/// Builds the endgame table that self-play takes exact values from, if the settings ask for one, and
/// gives it to the groups.
///
/// # Errors
/// [`TrainError::Setting`] for a table that cannot be built.
pub(super) fn give_table(config: &Config, groups: &mut [Group]) -> Result<(), TrainError> {
    let seeds = config.value.table_seeds;
    if config.learner != Learner::Value || seeds == 0 {
        return Ok(());
    }
    let mut quietly = |_| ControlFlow::Continue(());
    let built = EndgameTable::build(&config.ruleset, seeds, Some(config.threads()), &mut quietly);
    let table = built.map_err(|error| TrainError::Setting {
        field: "value.table_seeds",
        value: seeds.to_string(),
        expected: format!("a table that can be built: {error}"),
    })?;
    let table = Arc::new(table);
    for group in groups {
        group.use_table(&table);
    }
    Ok(())
}

/// Writes a checkpoint of the parts as they are at one moment.
///
/// # Errors
/// [`TrainError::File`] when the folder cannot be written to; an older checkpoint stays.
pub(super) fn write(
    path: &Path,
    moment: &Moment,
    learner: &LearnerState,
    replay: &Replay,
    groups: &[Group],
    config: &Config,
) -> Result<(), TrainError> {
    let mut state = State::default();
    learner.put(&mut state);
    replay.put(&mut state);
    put_games(groups, config, &mut state).map_err(|error| TrainError::checkpoint(path, &error))?;
    Checkpoint::write(path, moment, &state)
}
