//! The folder of a run: its files, and what was left there by a run that was ended.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::TrainError;
use super::checkpoint;
use super::config::Config;
use crate::policy::agent_file::replace_file;
use crate::whole_file::TEMPORARY;

/// The folder of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

/// What is known of a run's program, written to `run.json`.
#[derive(Debug, Serialize)]
struct Origin<'a> {
    version: &'a str,
    commit: &'a str,
    seed: u64,
    workers: usize,
    arguments: Vec<String>,
}

impl RunFolder {
    /// Makes a folder for a new run and writes `config.toml` and `run.json` into it.
    ///
    /// # Errors
    /// [`TrainError::RunExists`] when the folder holds a run, [`TrainError::RunBusy`] when another
    /// program is about to begin one there, [`TrainError::File`] when it cannot be made.
    pub fn create(path: &Path, config: &Config) -> Result<RunFolder, TrainError> {
        let folder = RunFolder {
            path: path.to_path_buf(),
        };
        if folder.config().exists() || folder.checkpoint().exists() {
            return Err(TrainError::RunExists {
                path: path.to_path_buf(),
            });
        }
        fs::create_dir_all(path).map_err(|error| TrainError::file(path, error))?;
        folder.remove_leftovers()?;
        folder.describe(config)?;
        Ok(folder)
    }

    /// Names the folder of a run that another program trains in.
    pub fn of_other(path: &Path) -> RunFolder {
        RunFolder {
            path: path.to_path_buf(),
        }
    }

    /// Opens the folder of a run that is to go on.
    ///
    /// # Errors
    /// [`TrainError::File`] when there is no run, [`TrainError::RunBusy`] when it still goes on.
    pub fn open(path: &Path) -> Result<RunFolder, TrainError> {
        let folder = RunFolder {
            path: path.to_path_buf(),
        };
        let config = folder.config();
        fs::metadata(&config).map_err(|error| TrainError::file(config, error))?;
        folder.remove_leftovers()?;
        Ok(folder)
    }

    /// Finds a free name `runs/VARIANT-2xC-NUMBER` for a new run.
    pub fn free_name(config: &Config) -> PathBuf {
        let rules = &config.ruleset;
        let stem = format!("{}-2x{}", rules.variant(), rules.columns());
        let taken = |path: &PathBuf| path.exists();
        let mut names =
            (1..).map(|number: u32| Path::new("runs").join(format!("{stem}-{number:03}")));
        names
            .find(|path| !taken(path))
            .unwrap_or_else(|| Path::new("runs").join(stem))
    }

    /// Writes the settings and the program's version beside the results.
    ///
    /// # Errors
    /// [`TrainError::File`] when the folder cannot be written to.
    pub fn describe(&self, config: &Config) -> Result<(), TrainError> {
        self.replace("config.toml", config.to_toml()?.as_bytes())?;
        let origin = Origin {
            version: env!("CARGO_PKG_VERSION"),
            commit: env!("ENDODOI_COMMIT"),
            seed: config.seed,
            workers: config.threads(),
            arguments: std::env::args().collect(),
        };
        self.replace_json("run.json", &origin)
    }

    /// Keeps other programs from training into the folder while the file returned is open; the
    /// system lets go of it when a program is killed.
    ///
    /// # Errors
    /// [`TrainError::RunBusy`] when another program trains into it, [`TrainError::File`] when the
    /// folder cannot be written to.
    pub fn claim(&self) -> Result<File, TrainError> {
        lock(&self.path.join("run.lock"))?.ok_or_else(|| TrainError::RunBusy {
            path: self.path.clone(),
        })
    }

    /// Removes files that an ended run had not finished writing.
    fn remove_leftovers(&self) -> Result<(), TrainError> {
        let _claimed = self.claim()?;
        remove_temporary(&self.path)
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file of the settings.
    pub fn config(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// Returns the file of the run's state.
    pub fn checkpoint(&self) -> PathBuf {
        self.path.join(checkpoint::FILE_NAME)
    }

    /// Returns the file of the agent.
    pub fn agent(&self) -> PathBuf {
        self.path.join("agent.safetensors")
    }

    /// Returns the file of the best agent.
    pub fn best(&self) -> PathBuf {
        self.path.join("best.safetensors")
    }

    /// Returns the file of what the best agent was measured by.
    pub fn best_record(&self) -> PathBuf {
        self.path.join("best.json")
    }

    /// Returns the file of the positions that the regret is measured in.
    pub fn exam(&self) -> PathBuf {
        self.path.join("exam.json")
    }

    /// Returns the file of the measurements.
    pub fn metrics(&self) -> PathBuf {
        self.path.join("metrics.jsonl")
    }

    /// Replaces a file of the folder.
    ///
    /// # Errors
    /// [`TrainError::File`] when it cannot be written.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), TrainError> {
        let path = self.path.join(name);
        replace_file(&path, bytes).map_err(|error| TrainError::file(path, error))
    }

    /// Replaces a file of the folder by an object in JSON.
    ///
    /// # Errors
    /// [`TrainError::File`] when it cannot be written.
    pub fn replace_json(&self, name: &str, value: &impl Serialize) -> Result<(), TrainError> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|error| TrainError::file(self.path.join(name), error.into()))?;
        self.replace(name, (text + "\n").as_bytes())
    }
}

/// Locks a file for as long as it is open, unless another program holds it; a file system without
/// locks trusts its users.
///
/// # Errors
/// [`TrainError::File`] when it cannot be made.
pub(super) fn lock(path: &Path) -> Result<Option<File>, TrainError> {
    let file = File::create(path).map_err(|error| TrainError::file(path, error))?;
    let held = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    Ok((!held).then_some(file))
}

/// Removes files of a folder that a killed program had not finished writing.
///
/// # Errors
/// [`TrainError::File`] when the folder cannot be read or a file not be removed.
pub(super) fn remove_temporary(folder: &Path) -> Result<(), TrainError> {
    let entries = fs::read_dir(folder).map_err(|error| TrainError::file(folder, error))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.to_string_lossy().ends_with(TEMPORARY) {
            fs::remove_file(&path).map_err(|error| TrainError::file(path, error))?;
        }
    }
    Ok(())
}
