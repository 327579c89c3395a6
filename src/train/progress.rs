//! What a user sees while a run goes on.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::time::{Duration, Instant};

use super::metrics::{Report, Scores};

/// Time between two lines where the output is no terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// Shows reports on the error output: a few lines that are written over on a terminal, and one
/// plain line every ten seconds elsewhere.
#[derive(Debug)]
pub struct Progress {
    quiet: bool,
    live: bool,
    last: Option<Instant>,
    scores: Option<Scores>,
    /// Lines on the terminal that are to be written over.
    open: usize,
}

impl Progress {
    /// Starts showing; `quiet` shows nothing.
    pub fn new(quiet: bool) -> Progress {
        Progress {
            quiet,
            live: std::io::stderr().is_terminal(),
            last: None,
            scores: None,
            open: 0,
        }
    }

    /// Says something once, on a line of its own.
    pub fn say(&mut self, text: &str) {
        if !self.quiet {
            self.close();
            show(&format!("{text}\n"));
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
        let parts = parts_of(report, self.scores.as_ref());
        if self.live {
            show(&written_over(&parts, self.open));
            self.open = parts.len();
        } else {
            show(&(parts.join(" | ") + "\n"));
        }
    }

    /// Leaves the lines on the terminal as they are.
    pub const fn close(&mut self) {
        self.open = 0;
    }
}

/// Writes to the error output; that it is gone is no reason to stop training.
fn show(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Returns what writes lines over the `open` lines above the cursor of a terminal.
///
/// Line wrapping is off meanwhile: a line wider than the terminal would take two.
fn written_over(lines: &[String], open: usize) -> String {
    let mut text = String::from("\x1b[?7l");
    if open > 0 {
        // Writing to a String cannot fail.
        let _ = write!(text, "\x1b[{open}A");
    }
    for line in lines {
        let _ = writeln!(text, "\r\x1b[K{line}");
    }
    text + "\x1b[?7h"
}

/// Writes a report as a few short texts: time and games, speed, losses, scores.
fn parts_of(report: &Report, scores: Option<&Scores>) -> Vec<String> {
    let left = if report.progress > 0.0 {
        report.seconds * (1.0 - report.progress).max(0.0) / report.progress
    } else {
        0.0
    };
    let mut parts = vec![
        format!(
            "{} gone, {} left, {} games, step {}",
            clock(report.seconds),
            clock(left),
            report.games,
            report.step
        ),
        format!(
            "{:.0} positions/s, {:.1}k evaluations/s",
            report.positions_per_second,
            report.evaluations_per_second / 1000.0
        ),
    ];
    if let (Some(policy), Some(value), Some(margin)) =
        (report.policy_loss, report.value_loss, report.margin_loss)
    {
        parts.push(format!(
            "loss: policy {policy:.3}, value {value:.3}, margin {margin:.3}"
        ));
    }
    if let Some(scores) = scores {
        let each: Vec<String> = scores
            .score
            .iter()
            .map(|(name, score)| format!("{name} {score:.2}"))
            .collect();
        parts.push(format!("score: {}", each.join(", ")));
    }
    parts
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

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        Report {
            seconds: 90.0,
            progress: 0.25,
            games: 12,
            step: 34,
            positions_per_second: 812.4,
            evaluations_per_second: 21_400.0,
            ..Report::default()
        }
    }

    #[test]
    fn a_report_tells_time_speed_losses_and_scores() {
        assert_eq!(
            parts_of(&report(), None).join(" | "),
            "01:30 gone, 04:30 left, 12 games, step 34 | 812 positions/s, 21.4k evaluations/s"
        );
        let learning = Report {
            policy_loss: Some(1.0),
            value_loss: Some(0.5),
            margin_loss: Some(0.25),
            ..report()
        };
        let scores = Scores {
            score: [("greedy".to_owned(), 0.5)].into(),
            ..Scores::default()
        };
        assert_eq!(
            parts_of(&learning, Some(&scores))[2..],
            [
                "loss: policy 1.000, value 0.500, margin 0.250",
                "score: greedy 0.50"
            ]
        );
    }

    #[test]
    fn lines_on_a_terminal_are_written_over() {
        let lines = ["a".to_owned(), "b".to_owned()];
        assert!(!written_over(&lines, 0).contains('A'));
        let text = written_over(&lines, 2);
        assert!(text.starts_with("\x1b[?7l\x1b[2A"), "{text:?}");
        assert_eq!(text.matches('\n').count(), 2);
    }

    #[test]
    fn long_runs_are_told_in_hours() {
        assert_eq!(
            (clock(59.6), clock(3725.0)),
            ("01:00".into(), "1:02:05".into())
        );
    }
}
