//! The best agent of a run: the one that a measurement beside training found the strongest.

use std::fs;
use std::path::PathBuf;

use super::TrainError;
use super::background::Measured;
use super::final_table::FinalTable;
use super::folder::RunFolder;
use super::metrics::{Best, Merit};
use crate::policy::agent_file::AgentFile;

impl Best {
    /// Returns what a measurement says of its agent: by regret where it was measured, else by the
    /// mean score; `None` where nothing was.
    pub fn of(measured: &Measured) -> Option<Best> {
        if let Some(regret) = &measured.regret {
            return Some(Best {
                seconds: regret.seconds,
                step: regret.step,
                by: Merit::SeedsLost,
                value: regret.seeds_lost,
                count: regret.positions,
            });
        }
        let scores = measured.scores.as_ref()?;
        let count = scores.score.len();
        (count > 0).then(|| Best {
            seconds: scores.seconds,
            step: scores.step,
            by: Merit::Score,
            value: scores.score.values().sum::<f64>() / count as f64,
            count: scores.games,
        })
    }

    /// Tells whether this agent takes the place of `other`: it is as good, and was trained longer,
    /// or the two were not measured alike.
    pub fn replaces(&self, other: &Best) -> bool {
        if (self.by, self.count) != (other.by, other.count) {
            return true;
        }
        match self.by {
            Merit::SeedsLost => self.value <= other.value,
            Merit::Score => self.value >= other.value,
        }
    }
}

/// Keeps the best agent in `best.safetensors` and what it was measured by in `best.json`.
#[derive(Clone, Debug)]
pub struct BestAgent {
    folder: RunFolder,
    best: Option<Best>,
    /// The agent measured last.
    latest: Option<Best>,
}

impl BestAgent {
    /// Reads what an earlier part of the run found the best.
    ///
    /// A record of another agent than the file beside it, as a run that was killed between the two
    /// leaves it, is as good as none.
    pub fn open(folder: &RunFolder) -> BestAgent {
        let record = fs::read(folder.best_record()).ok();
        let record = record.and_then(|bytes| serde_json::from_slice::<Best>(&bytes).ok());
        let agent = AgentFile::read(&folder.best()).ok();
        let same = |best: &Best| agent.is_some_and(|agent| agent.metadata.step == best.step);
        BestAgent {
            folder: folder.clone(),
            best: record.filter(same),
            latest: None,
        }
    }

    /// Returns the best agent so far.
    pub const fn best(&self) -> Option<Best> {
        self.best
    }

    /// Keeps an agent if it takes the place of the best one so far.
    ///
    /// # Errors
    /// [`TrainError`] when a file cannot be written.
    pub fn offer(&mut self, measured: &Measured) -> Result<Option<Best>, TrainError> {
        self.latest = Best::of(measured);
        if let Some(found) = self.latest
            && self.best.is_none_or(|best| found.replaces(&best))
        {
            self.keep(&measured.agent, found)?;
        }
        Ok(self.best)
    }

    /// Returns the best agent with its file unless it is that of `step`.
    pub fn other_than(&self, step: u64) -> Option<(PathBuf, AgentFile)> {
        let best = self.best.filter(|best| best.step != step)?;
        let path = self.folder.best();
        let agent = AgentFile::read(&path).ok()?;
        (agent.metadata.step == best.step).then_some((path, agent))
    }

    /// Compares agents that were compared by running scores, of few games, by those of the final
    /// table: the last agent takes the place of the best one, and is the table's first, if it is as
    /// good.
    ///
    /// # Errors
    /// [`TrainError`] when a file cannot be written.
    pub fn decide(&mut self, table: &mut FinalTable) -> Result<(), TrainError> {
        let (Some(best), Some(latest), Some(last)) = (self.best, self.latest, &table.other) else {
            return Ok(());
        };
        let measured = latest.step == last.agent.metadata.step;
        let as_good = last.evaluation.mean_score() >= table.first.evaluation.mean_score();
        if best.by == Merit::Score && measured && as_good {
            self.keep(&last.agent, latest)?;
            table.swap();
            table.first.evaluation.agent = self.folder.best().display().to_string();
            if let Some(before) = &mut table.other {
                before.evaluation.agent = String::from("the best one of the running scores");
            }
        }
        Ok(())
    }

    /// Makes an agent the best one.
    fn keep(&mut self, agent: &AgentFile, best: Best) -> Result<(), TrainError> {
        let bytes = agent
            .to_bytes()
            .map_err(|error| TrainError::checkpoint(self.folder.best(), &error))?;
        self.folder.replace("best.safetensors", &bytes)?;
        self.folder.replace_json("best.json", &best)?;
        self.best = Some(best);
        Ok(())
    }
}
