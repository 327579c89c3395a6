//! The parts of a run: made for one that begins, and written to and taken out of checkpoints.

use std::path::Path;

use super::TrainError;
use super::checkpoint::{Checkpoint, Counters, Moment};
use super::config::Config;
use super::learner::LearnerState;
use super::replay::Replay;
use super::saved_games::{put_games, take_games};
use super::selfplay::Group;
use super::state::{State, StateError};

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
    /// [`TrainError::Weights`] of a network width out of range.
    pub(super) fn start(config: &Config) -> Result<Parts, TrainError> {
        Ok(Parts {
            counters: Counters::default(),
            learner: LearnerState::start(config)?,
            replay: Replay::new(config.ruleset, config.replay.capacity),
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
            replay = Replay::take(&mut state, config.ruleset, config.replay.capacity)?;
            groups = take_games(&mut state, config)?.unwrap_or_else(|games| {
                notes.push(format!(
                    "the checkpoint has {games} games in progress, the settings ask for {}: they \
                     start anew",
                    config.selfplay.groups * config.selfplay.games
                ));
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
            replay = Replay::new(config.ruleset, config.replay.capacity);
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
) -> Result<(), TrainError> {
    let mut state = State::default();
    learner.put(&mut state);
    replay.put(&mut state);
    put_games(groups, replay.ruleset().columns(), &mut state).map_err(|error| {
        TrainError::Checkpoint {
            path: path.to_path_buf(),
            message: error.to_string(),
        }
    })?;
    Checkpoint::write(path, moment, &state)
}
