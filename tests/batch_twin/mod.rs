//! The slow twin of a batch: one `Position` a row, stepped one after the other.

// Every test program compiles this module and uses a part of it.
#![allow(dead_code)]

use endodoi::batch::{Autoreset, Batch, BatchConfig, EndCode, IllegalMove, Seeds, StepArrays};
use endodoi::rng::{self, Purpose, Xoshiro128PlusPlus};
use endodoi::{EndReason, Outcome, Position};

/// One game as the twin keeps it.
#[derive(Clone)]
pub(crate) struct TwinRow {
    pub(crate) position: Position,
    pub(crate) plies: u32,
    pub(crate) end: Option<EndCode>,
    pub(crate) row_seed: u64,
    pub(crate) episode: u64,
}

/// A batch played through `Position`.
pub(crate) struct Twin {
    pub(crate) config: BatchConfig,
    pub(crate) rows: Vec<TwinRow>,
}

/// Draws an opening as the documentation of `random_opening_plies` says.
fn opening(config: &BatchConfig, row_seed: u64, episode: u64) -> Position {
    let mut rng = rng::stream(row_seed, episode, Purpose::Opening);
    loop {
        let mut position = Position::start(&config.ruleset);
        let mut plies = 0;
        while plies < config.random_opening_plies && !position.is_over() {
            position = play_random(&position, &mut rng);
            plies += 1;
        }
        if config.random_opening_plies == 0 || !position.is_over() {
            return position;
        }
    }
}

fn play_random(position: &Position, rng: &mut Xoshiro128PlusPlus) -> Position {
    let legal = position.legal_moves();
    let rank = rng::below(rng, legal.len() as u32) as usize;
    position
        .play(legal.nth(rank).expect("open"))
        .expect("legal")
}

fn end_of(position: &Position) -> Option<EndCode> {
    position.end_reason().map(|reason| match reason {
        EndReason::Stuck => EndCode::Stuck,
        EndReason::Quiet => EndCode::Quiet,
        EndReason::Endless => EndCode::Endless,
    })
}

impl TwinRow {
    fn new(config: &BatchConfig, row_seed: u64, episode: u64) -> TwinRow {
        let position = opening(config, row_seed, episode);
        TwinRow {
            position,
            plies: config.random_opening_plies,
            end: end_of(&position),
            row_seed,
            episode,
        }
    }

    /// Steps one row and returns (reward, outcome) of an end in this step.
    fn step(&mut self, config: &BatchConfig, action: i64) -> (f32, i8, bool) {
        if self.end.is_some() {
            *self = TwinRow::new(config, self.row_seed, self.episode + 1);
            return (0.0, 0, false);
        }
        let mover = self.position.to_move();
        let column = usize::try_from(action).unwrap_or(usize::MAX);
        if !self.position.legal_moves().contains(column) {
            assert_eq!(config.illegal, IllegalMove::Loss);
            self.end = Some(EndCode::Illegal);
            return (-1.0, -mover.sign(), true);
        }
        self.position = self.position.play(column).expect("legal");
        self.plies += 1;
        self.end = end_of(&self.position);
        if self.end.is_none() && config.max_plies.is_some_and(|cap| self.plies >= cap) {
            self.end = Some(EndCode::MaxPlies);
        }
        let outcome = self.position.outcome().map_or(0, Outcome::sign);
        (
            f32::from(outcome * mover.sign()),
            outcome,
            self.end.is_some(),
        )
    }

    /// Returns the legal columns, none when the game is over in any way.
    pub(crate) fn legal(&self) -> Vec<usize> {
        if self.end.is_some() {
            return Vec::new();
        }
        self.position.legal_moves().iter().collect()
    }
}

impl Twin {
    /// Resets every row as a seeded reset of a batch does.
    pub(crate) fn new(config: BatchConfig, seed: u64) -> Twin {
        let rows = (0..config.rows)
            .map(|row| TwinRow::new(&config, rng::mix(seed, row as u64), 0))
            .collect();
        Twin { config, rows }
    }

    /// Steps every row and returns all arrays of a step.
    pub(crate) fn step(&mut self, actions: &[i64]) -> StepArrays {
        let mut arrays = StepArrays::default();
        for (row, &action) in self.rows.iter_mut().zip(actions) {
            let (reward, outcome, ended) = row.step(&self.config, action);
            let truncated = ended && row.end == Some(EndCode::MaxPlies);
            arrays.rewards.push(reward);
            arrays.outcome.push(outcome);
            arrays.ended.push(ended);
            arrays.truncated.push(truncated);
            arrays.terminated.push(ended && !truncated);
            let end = row.end.filter(|_| ended);
            arrays.end_reason.push(end.map_or(-1, EndCode::code));
            arrays.plies.push(row.plies as i32);
            let captured = row.position.board().captured();
            arrays.captured.extend(captured.map(|n| n as i16));
            arrays.to_play.push(row.position.to_move().index() as i8);
            arrays.observations.extend(row.position.observation());
            let legal = row.legal();
            let columns = self.config.ruleset.columns();
            arrays
                .masks
                .extend((0..columns).map(|c| i8::from(legal.contains(&c))));
        }
        arrays
    }

    /// Draws a legal action for every open row, and junk for finished ones.
    pub(crate) fn actions(&self, rng: &mut Xoshiro128PlusPlus) -> Vec<i64> {
        self.rows
            .iter()
            .map(|row| {
                let legal = row.legal();
                if legal.is_empty() {
                    return i64::from(rng::below(rng, 200)) - 100;
                }
                legal[rng::below(rng, legal.len() as u32) as usize] as i64
            })
            .collect()
    }
}

/// Makes a batch and resets it with an integer seed.
pub(crate) fn batch(config: BatchConfig, seed: u64) -> Batch {
    let mut batch = Batch::new(config).expect("valid settings");
    batch
        .reset(Some(&Seeds::Integer(seed)), None)
        .expect("reset");
    batch
}

/// Steps a batch into fresh arrays.
pub(crate) fn step(batch: &mut Batch, actions: &[i64]) -> StepArrays {
    let mut arrays = StepArrays::new(batch);
    batch.step(actions, arrays.buffers()).expect("step");
    arrays
}

/// Plays `steps` random steps in a batch and its twin and compares everything.
///
/// Returns how many games ended.
pub(crate) fn compare(config: BatchConfig, seed: u64, steps: usize) -> usize {
    assert_eq!(config.autoreset, Autoreset::NextStep);
    let mut fast = batch(config, seed);
    let mut slow = Twin::new(config, seed);
    let mut rng = rng::stream(seed, 0, Purpose::Policy);
    let mut ended = 0;
    for index in 0..steps {
        let actions = slow.actions(&mut rng);
        let arrays = step(&mut fast, &actions);
        let about = format!("{}, step {index}", config.ruleset);
        assert_eq!(arrays, slow.step(&actions), "{about}");
        ended += arrays.ended.iter().filter(|&&ended| ended).count();
        check_row(&fast, &slow, index % config.rows, &about);
    }
    ended
}

/// Compares what the getters say about one row.
pub(crate) fn check_row(fast: &Batch, slow: &Twin, row: usize, about: &str) {
    let twin = &slow.rows[row];
    assert_eq!(fast.position(row), Ok(twin.position), "{about} row {row}");
    assert_eq!(fast.plies(row), Ok(twin.plies), "{about} row {row}");
    assert_eq!(fast.end(row), Ok(twin.end), "{about} row {row}");
    assert_eq!(fast.episode(row), Ok(twin.episode), "{about} row {row}");
    assert_eq!(fast.row_seed(row), Ok(twin.row_seed), "{about} row {row}");
}
