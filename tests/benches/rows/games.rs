//! Random games: `simulate` with each set of instructions, and one game after another.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::Instant;

use endodoi::policy::PolicySpec;
use endodoi::simulate::{GameTable, Instructions, SimulateConfig, simulate};

use crate::answer::Crc;
use crate::{Draw, Row};

/// Games of a check.
const CHECKED: u64 = 1000;

/// How many games of each row fill a call.
#[derive(Default)]
pub(crate) struct Games {
    calls: HashMap<Row, Call>,
}

struct Call {
    games: u64,
    seed: u64,
}

impl Games {
    /// Plays games for about `seconds` and returns the plies and the seconds that they took.
    ///
    /// Every call has games of its own.
    pub(crate) fn time(&mut self, row: &Row, seconds: f64) -> (u64, f64) {
        let call = self.calls.entry(row.clone()).or_insert_with(|| Call {
            games: games_in(row, seconds),
            seed: 0,
        });
        call.seed += 1;
        play(row, call.games, call.seed)
    }
}

/// Finds how many games take about `seconds`, by doubling.
fn games_in(row: &Row, seconds: f64) -> u64 {
    let mut games = 64;
    loop {
        let (_, took) = play(row, games, 0);
        if took > seconds / 4.0 {
            return ((games as f64 * seconds / took) as u64).max(1);
        }
        games *= 2;
    }
}

/// Returns the checksum of each column of a table of fixed games.
pub(crate) fn check(row: &Row) -> Vec<u32> {
    let table = table(row, CHECKED, 1);
    let mut sums = [Crc::NEW; 10];
    for game in (0..table.len()).filter_map(|game| table.row(game)) {
        let wide = [
            game.plies,
            game.laps,
            game.seeds_sown,
            game.captures,
            game.longest_sowing,
            game.endless_met,
        ];
        let [winner, south, north, end, rest @ ..] = &mut sums;
        winner.add(game.winner.to_le_bytes());
        south.add(game.captured_south.to_le_bytes());
        north.add(game.captured_north.to_le_bytes());
        end.add(game.end_reason.to_le_bytes());
        for (sum, value) in rest.iter_mut().zip(wide) {
            sum.add(value.to_le_bytes());
        }
    }
    sums.map(Crc::finish).to_vec()
}

/// Returns the plies and laps of `games` games.
pub(crate) fn work(row: &Row, games: u64) -> (u64, u64) {
    let table = table(row, games, 1);
    (total(&table.plies), total(&table.laps))
}

fn play(row: &Row, games: u64, seed: u64) -> (u64, f64) {
    let start = Instant::now();
    let table = table(row, games, seed);
    let took = start.elapsed().as_secs_f64();
    (total(&table.plies), took)
}

fn table(row: &Row, games: u64, seed: u64) -> GameTable {
    let config = SimulateConfig {
        seed,
        num_threads: Some(row.threads),
        instructions: Some(row.instructions().unwrap_or(Instructions::Scalar)),
        offers: row.draw == Draw::Mask,
        ..SimulateConfig::new(row.ruleset(), games)
    };
    let mut quietly = |_| ControlFlow::Continue(());
    let random = PolicySpec::Random;
    simulate(&config, &random, &random, &mut quietly).expect("valid settings")
}

fn total(column: &[i32]) -> u64 {
    column.iter().map(|&value| value as u64).sum()
}
