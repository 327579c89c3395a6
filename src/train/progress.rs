//! What a user sees while a run goes on.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::time::{Duration, Instant};

use super::metrics::{Report, Scores};

/// Time between two lines where the output is no terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// Shows reports on the error output: one line that is written over on a terminal, and a plain
/// line every ten seconds elsewhere.
#[derive(Debug)]
pub struct Progress {
    quiet: bool,
    live: bool,
    last: Option<Instant>,
    scores: Option<Scores>,
    /// Whether the line on the terminal is to be written over.
    open: bool,
}

impl Progress {
    /// Starts showing; `quiet` shows nothing.
    pub fn new(quiet: bool) -> Progress {
        Progress {
            quiet,
            live: std::io::stderr().is_terminal(),
            last: None,
            scores: None,
            open: false,
        }
    }

    /// Says something once, on a line of its own.
    pub fn say(&mut self, text: &str) {
        if !self.quiet {
            self.close();
            eprintln!("{text}");
        }
    }

    /// Shows a report, unless a plain line was written a moment ago.
    pub fn show(&mut self, report: &Report) {
        if let Some(scores) = &report.scores {
            self.scores = Some(scores.clone());
        }
        let due = self.live || self.last.is_none_or(|last| last.elapsed() >= PLAIN_EVERY);
        if self.quiet || !due {
            return;
        }
        self.last = Some(Instant::now());
        let line = line_of(report, self.scores.as_ref());
        if self.live {
            eprint!("\r\x1b[K{line}");
            // A terminal that is gone is no reason to stop training.
            let _ = std::io::stderr().flush();
            self.open = true;
        } else {
            eprintln!("{line}");
        }
    }

    /// Leaves the line on the terminal as it is.
    pub fn close(&mut self) {
        if self.open {
            eprintln!();
            self.open = false;
        }
    }
}

/// Writes a report as one line of text.
pub fn line_of(report: &Report, scores: Option<&Scores>) -> String {
    let left = if report.progress > 0.0 {
        report.seconds * (1.0 - report.progress).max(0.0) / report.progress
    } else {
        0.0
    };
    let mut line = format!(
        "{} left {} | games {} | {:.0} positions/s | {:.1}k evaluations/s | step {}",
        clock(report.seconds),
        clock(left),
        report.games,
        report.positions_per_second,
        report.evaluations_per_second / 1000.0,
        report.step,
    );
    if let (Some(policy), Some(value), Some(margin)) =
        (report.policy_loss, report.value_loss, report.margin_loss)
    {
        // Writing to a String cannot fail.
        let _ = write!(
            line,
            " | loss: policy {policy:.3} value {value:.3} margin {margin:.3}"
        );
    }
    if let Some(scores) = scores {
        let each: Vec<String> = scores
            .score
            .iter()
            .map(|(name, score)| format!("{name} {score:.2}"))
            .collect();
        let _ = write!(line, " | score v {}", each.join(", "));
    }
    line
}

fn clock(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes:02}:{seconds:02}")
    }
}
