//! What a user sees while a run goes on.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde_json::json;

use super::metrics::{Best, Merit, RegretScore, Report, Scores};
use super::queue::QueueReport;

/// Time between two lines where the output is no terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// How a run is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Show {
    /// On the error output: a few lines that are written over on a terminal, and elsewhere one plain
    /// line every ten seconds and after a measurement
    #[default]
    Auto,
    /// On the error output: one plain line every ten seconds and after a measurement
    Plain,
    /// On the standard output, for programs: a line {"report": ...} for every line of
    /// metrics.jsonl, and {"say": ...} for what is said
    Json,
    /// Not at all
    None,
}

/// Shows reports.
#[derive(Debug)]
pub struct Progress {
    how: Show,
    live: bool,
    last: Option<Instant>,
    /// What was measured last stays in sight until it is measured again.
    scores: Option<Scores>,
    regret: Option<RegretScore>,
    best: Option<Best>,
    /// The report before, for what is not known anew.
    before: Report,
    /// Lines on the terminal that are to be written over.
    open: usize,
}

impl Progress {
    /// Starts showing.
    pub fn new(how: Show) -> Progress {
        Progress {
            how,
            live: how == Show::Auto && std::io::stderr().is_terminal(),
            last: None,
            scores: None,
            regret: None,
            best: None,
            before: Report::default(),
            open: 0,
        }
    }

    /// Says something once, on a line of its own.
    pub fn say(&mut self, text: &str) {
        match self.how {
            Show::None => {}
            Show::Json => print_json(&json!({ "say": text })),
            Show::Auto | Show::Plain => {
                self.close();
                show(&format!("{text}\n"));
            }
        }
    }

    /// Shows a report, unless a plain line was written a moment ago and nothing was measured.
    pub fn show(&mut self, report: &Report) {
        keep(&mut self.scores, report.scores.as_ref());
        keep(&mut self.regret, report.regret.as_ref());
        keep(&mut self.best, report.best.as_ref());
        match self.how {
            Show::None => return,
            Show::Json => return print_json(&json!({ "report": report })),
            Show::Auto | Show::Plain => {}
        }
        let report = self.filled(report);
        let measured = report.scores.is_some() || report.regret.is_some();
        let waited = self.last.is_none_or(|last| last.elapsed() >= PLAIN_EVERY);
        let due = self.live || measured || waited;
        if !due {
            return;
        }
        self.last = Some(Instant::now());
        let parts = self.parts_of(&report);
        if self.live {
            show(&written_over(&parts, self.open));
            self.open = parts.len();
        } else {
            show(&(parts.join(" | ") + "\n"));
        }
    }

    /// Returns a report in which what was not measured since the one before is as it was there, as
    /// in those at the end that tell of a measurement alone.
    fn filled(&mut self, report: &Report) -> Report {
        let before = std::mem::take(&mut self.before);
        self.before = Report {
            plies: report.plies.or(before.plies),
            entropy: report.entropy.or(before.entropy),
            loss: report.loss.or(before.loss),
            policy_loss: report.policy_loss.or(before.policy_loss),
            value_loss: report.value_loss.or(before.value_loss),
            margin_loss: report.margin_loss.or(before.margin_loss),
            ..report.clone()
        };
        self.before.clone()
    }

    /// Leaves the lines on the terminal as they are.
    pub const fn close(&mut self) {
        self.open = 0;
    }

    /// Writes a report as a few short texts: time and games, speed, losses, and what was measured
    /// last. What a learner does not have is left out.
    fn parts_of(&self, report: &Report) -> Vec<String> {
        let mut parts = vec![time_of(report), speed_of(report)];
        parts.extend(losses_of(report));
        parts.extend(report.queue.as_ref().map(queue_of));
        if let Some(scores) = &self.scores {
            let each = scores.score.iter();
            let each: Vec<String> = each
                .map(|(name, score)| format!("{name} {score:.2}"))
                .collect();
            parts.push(format!("score: {}", each.join(", ")));
        }
        if let Some(regret) = &self.regret {
            parts.push(format!(
                "regret: {:.1} % optimal, {:.2} seeds lost",
                100.0 * regret.optimal,
                regret.seeds_lost
            ));
        }
        if let Some(best) = &self.best {
            parts.push(format!("best agent: {best}"));
        }
        parts
    }
}

impl std::fmt::Display for Best {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Best { step, value, .. } = self;
        match self.by {
            Merit::SeedsLost => write!(f, "step {step}, {value:.2} seeds lost"),
            Merit::Score => write!(f, "step {step}, mean score {value:.2}"),
        }
    }
}

fn keep<T: Clone>(kept: &mut Option<T>, new: Option<&T>) {
    if let Some(new) = new {
        *kept = Some(new.clone());
    }
}

/// Writes a line for a program that listens; that it is gone is no reason to stop training.
fn print_json(value: &serde_json::Value) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{value}").and_then(|()| out.flush());
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

fn time_of(report: &Report) -> String {
    let left = if report.progress > 0.0 {
        report.seconds * (1.0 - report.progress).max(0.0) / report.progress
    } else {
        0.0
    };
    format!(
        "{} gone, {} left ({:.0} %), {} games, step {}",
        clock(report.seconds),
        clock(left),
        100.0 * report.progress.min(1.0),
        report.games,
        report.step
    )
}

fn speed_of(report: &Report) -> String {
    let mut text = format!(
        "{:.0} plies/s, {:.1}k evaluations/s",
        report.positions_per_second,
        report.evaluations_per_second / 1000.0
    );
    // Writing to a String cannot fail.
    if let Some(plies) = report.plies {
        let _ = write!(text, ", {plies:.0} plies a game");
    }
    if let Some(entropy) = report.entropy {
        let _ = write!(text, ", entropy {entropy:.2}");
    }
    text
}

/// Writes the losses that there are, nothing before the first step.
fn losses_of(report: &Report) -> Option<String> {
    let parts = [
        ("policy", report.policy_loss),
        ("value", report.value_loss),
        ("margin", report.margin_loss),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter_map(|(name, loss)| loss.map(|loss| format!("{name} {loss:.3}")))
        .collect();
    match report.loss {
        Some(loss) if parts.is_empty() => Some(format!("loss {loss:.3}")),
        Some(loss) => Some(format!("loss {loss:.3}: {}", parts.join(", "))),
        None => None,
    }
}

/// Writes how the queue stands, and how old the weights of its chunks were.
fn queue_of(queue: &QueueReport) -> String {
    let mut text = format!(
        "queue: {} actors, {} chunks waiting",
        queue.actors, queue.waiting
    );
    // Writing to a String cannot fail.
    if let (Some(mean), Some(most)) = (queue.staleness, queue.staleness_max) {
        let _ = write!(text, ", {mean:.0} steps old, at most {most}");
    }
    for (count, what) in [(queue.stale, "dropped"), (queue.refused, "refused")] {
        if count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    }
    text
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

    fn parts(reports: &[Report]) -> Vec<String> {
        let mut progress = Progress::new(Show::None);
        let mut filled = Report::default();
        for report in reports {
            progress.show(report);
            filled = progress.filled(report);
        }
        progress.parts_of(&filled)
    }

    #[test]
    fn a_report_tells_time_speed_losses_and_what_was_measured() {
        assert_eq!(
            parts(&[report()]).join(" | "),
            "01:30 gone, 04:30 left (25 %), 12 games, step 34 | 812 plies/s, 21.4k evaluations/s"
        );
        let learning = Report {
            loss: Some(1.75),
            policy_loss: Some(1.0),
            value_loss: Some(0.5),
            margin_loss: Some(0.25),
            entropy: Some(0.8),
            plies: Some(34.4),
            ..report()
        };
        let measured = Report {
            scores: Some(Scores {
                score: [("greedy".to_owned(), 0.5)].into(),
                ..Scores::default()
            }),
            regret: Some(RegretScore {
                optimal: 0.843,
                seeds_lost: 0.4,
                ..RegretScore::default()
            }),
            best: Some(Best {
                seconds: 60.0,
                step: 30,
                by: Merit::SeedsLost,
                value: 0.4,
                count: 200,
            }),
            ..learning.clone()
        };
        // What was measured stays in sight.
        assert_eq!(
            parts(&[measured, learning, report()])[1..],
            [
                "812 plies/s, 21.4k evaluations/s, 34 plies a game, entropy 0.80",
                "loss 1.750: policy 1.000, value 0.500, margin 0.250",
                "score: greedy 0.50",
                "regret: 84.3 % optimal, 0.40 seeds lost",
                "best agent: step 30, 0.40 seeds lost",
            ]
        );
    }

    #[test]
    fn a_learner_without_a_policy_shows_the_losses_it_has() {
        let value = Report {
            loss: Some(0.5),
            margin_loss: Some(0.5),
            ..report()
        };
        assert_eq!(parts(&[value])[2..], ["loss 0.500: margin 0.500"]);
        let plain = Report {
            loss: Some(0.5),
            ..report()
        };
        assert_eq!(parts(&[plain])[2..], ["loss 0.500"]);
    }

    #[test]
    fn a_learner_of_a_queue_shows_how_it_stands() {
        let queue = QueueReport {
            waiting: 3,
            actors: 2,
            chunks: 40,
            ..QueueReport::default()
        };
        let shown = |queue: QueueReport| {
            let report = Report {
                queue: Some(queue),
                ..report()
            };
            parts(&[report])[2].clone()
        };
        assert_eq!(shown(queue.clone()), "queue: 2 actors, 3 chunks waiting");
        let aged = QueueReport {
            stale: 4,
            refused: 1,
            staleness: Some(96.6),
            staleness_max: Some(210),
            ..queue
        };
        assert_eq!(
            shown(aged),
            "queue: 2 actors, 3 chunks waiting, 97 steps old, at most 210, 4 dropped, 1 refused"
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
