//! The Rust rows of `make bench`: measures one row at a time, whichever it is asked for.
//!
//! Requests are JSON objects, one a line on standard input, answered in order by one line each.
//! An argument that is such an object is answered alone. `tests/benches/bench.py` asks.
//!
//! | `do` | fields | answer |
//! |---|---|---|
//! | `sets` | | `sets`: the sets of instructions of this processor; `version` |
//! | `check` | `row` | `answer`: checksums that every row of the same games must give |
//! | `time` | `row`, `seconds` | `plies` played in `seconds`, of about the time asked for |
//! | `work` | `row`, `size` | `plies` and `laps` of `size` games, or `plies` of `size` steps, from the start |
//! | `state` | `row`, `path` | the batch that `time` starts from, written as a snapshot |
//! | `drop` | | forgets the batches made so far |

// A bench fails loudly.
#![allow(clippy::expect_used, clippy::panic)]

mod answer;
mod games;
mod steps;

use std::io::{BufRead, Write};

use endodoi::simulate::Instructions;
use endodoi::{Ruleset, RulesetFields, Variant};
use serde::Deserialize;
use serde_json::{Value, json};

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
enum What {
    Games,
    Steps,
}

/// How a random move is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Draw {
    /// Among non-empty pits, and again where the sowing is endless.
    Pits,
    /// From the exact mask: every move is sown on every ply.
    Mask,
}

/// One row and column of the table.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    what: What,
    variant: String,
    columns: i64,
    /// `twin` or the name of a set of instructions.
    engine: String,
    threads: usize,
    draw: Draw,
    /// `B` of steps; games have none and give 0.
    batch: usize,
}

impl Row {
    fn ruleset(&self) -> Ruleset {
        let variant = [Variant::EnDodoi, Variant::EnGehe, Variant::CrossEndodoi]
            .into_iter()
            .find(|variant| variant.id() == self.variant)
            .expect("a variant");
        let fields = RulesetFields {
            columns: Some(self.columns),
            ..RulesetFields::default()
        };
        Ruleset::new(variant, &fields).expect("valid fields")
    }

    /// The set of instructions, `None` for the twin.
    fn instructions(&self) -> Option<Instructions> {
        (self.engine != "twin")
            .then(|| Instructions::named(&self.engine).expect("a set of instructions"))
    }
}

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
enum Request {
    Sets,
    Check { row: Row },
    Time { row: Row, seconds: f64 },
    Work { row: Row, size: usize },
    State { row: Row, path: String },
    Drop,
}

/// What is kept between requests.
#[derive(Default)]
struct Bench {
    games: games::Games,
    steps: steps::Steps,
}

impl Bench {
    fn answer(&mut self, request: &str) -> Value {
        let request = serde_json::from_str(request).expect("a request");
        match request {
            Request::Sets => {
                let sets = Instructions::ALL
                    .into_iter()
                    .filter(|set| set.is_available());
                let sets: Vec<&str> = sets.map(Instructions::name).collect();
                json!({ "sets": sets, "version": env!("CARGO_PKG_VERSION") })
            }
            Request::Check { row } => {
                let answer = match row.what {
                    What::Games => games::check(&row),
                    What::Steps => self.steps.check(&row),
                };
                json!({ "answer": answer })
            }
            Request::Time { row, seconds } => {
                let (plies, seconds) = match row.what {
                    What::Games => self.games.time(&row, seconds),
                    What::Steps => self.steps.time(&row, seconds),
                };
                json!({ "plies": plies, "seconds": seconds })
            }
            Request::Work { row, size } => match row.what {
                What::Games => {
                    let (plies, laps) = games::work(&row, size as u64);
                    json!({ "plies": plies, "laps": laps })
                }
                What::Steps => json!({ "plies": steps::work(&row, size) }),
            },
            Request::State { row, path } => {
                std::fs::write(path, self.steps.state(&row)).expect("a file");
                json!({})
            }
            Request::Drop => {
                *self = Bench::default();
                json!({})
            }
        }
    }
}

fn main() {
    let mut bench = Bench::default();
    let mut argument = std::env::args()
        .skip(1)
        .filter(|word| word.starts_with('{'));
    if let Some(request) = argument.next() {
        println!("{}", bench.answer(&request));
        return;
    }
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let answer = bench.answer(&line.expect("text"));
        // Who asked may have gone.
        if writeln!(out, "{answer}")
            .and_then(|()| out.flush())
            .is_err()
        {
            return;
        }
    }
}
