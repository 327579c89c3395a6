//! The final table: the best agent of a run and, where it is another one, the last.

use std::fmt::{self, Write as _};

use serde::Serialize;

use super::evaluate::{Document, Evaluation};
use super::metrics::RegretScore;
use crate::policy::agent_file::AgentFile;

/// An agent of the final table.
#[derive(Debug)]
pub struct Finalist {
    /// The agent.
    pub agent: AgentFile,
    /// Its games.
    pub evaluation: Evaluation,
    /// Its regret, where it is measured.
    pub regret: Option<RegretScore>,
}

/// The agent that the run is about and, if it was compared with one, the other.
#[derive(Debug)]
pub struct FinalTable {
    /// The run's agent: the best one.
    pub first: Finalist,
    /// The last agent, or the one that was the best before the last one proved as good.
    pub other: Option<Finalist>,
}

/// `evaluation.json`.
#[derive(Debug, Serialize)]
pub struct FinalDocument<'a> {
    #[serde(flatten)]
    first: Row<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<Row<'a>>,
}

#[derive(Debug, Serialize)]
struct Row<'a> {
    step: u64,
    #[serde(flatten)]
    games: Document<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    regret: Option<&'a RegretScore>,
}

impl Finalist {
    fn row(&self) -> Row<'_> {
        Row {
            step: self.agent.metadata.step,
            games: self.evaluation.document(),
            regret: self.regret.as_ref(),
        }
    }
}

impl FinalTable {
    /// Puts the other agent, if there is one, in the place of the first.
    pub fn swap(&mut self) {
        if let Some(other) = &mut self.other {
            std::mem::swap(&mut self.first, other);
        }
    }

    /// Returns what `evaluation.json` holds.
    pub fn document(&self) -> FinalDocument<'_> {
        FinalDocument {
            first: self.first.row(),
            other: self.other.as_ref().map(Finalist::row),
        }
    }
}

impl fmt::Display for FinalTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for finalist in [Some(&self.first), self.other.as_ref()]
            .into_iter()
            .flatten()
        {
            let games = finalist.evaluation.table();
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "step {}: {}",
                finalist.agent.metadata.step,
                games.trim_end()
            );
            if let Some(regret) = &finalist.regret {
                let _ = writeln!(text, "{}", regret_line(regret));
            }
        }
        f.write_str(text.trim_end())
    }
}

fn regret_line(regret: &RegretScore) -> String {
    let half = regret.seeds_lost_half;
    let half = half.map_or_else(String::new, |half| format!(" ± {half:.2}"));
    format!(
        "regret: {:.1} % optimal moves, {:.2}{half} seeds lost a move, {} positions, compared with \
         {} play",
        100.0 * regret.optimal,
        regret.seeds_lost,
        regret.positions,
        regret.reference
    )
}
