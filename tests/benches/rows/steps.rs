//! Steps with given moves: a `Batch` with each set of instructions, and one `Position` a row.

use std::collections::HashMap;
use std::time::Instant;

use endodoi::batch::{Batch, BatchConfig, Seeds, StepArrays};
use endodoi::environment::Environment;
use endodoi::simulate::Instructions;
use endodoi::{Outcome, Position, Ruleset};

use crate::Row;
use crate::answer::{Crc, choose, draw, probes};

/// Games that the starting positions are taken from.
const POOL: usize = 1024;

/// Plies of a check, of all rows together; it makes at least 2 steps and at most 64.
const CHECKED: usize = 1 << 17;

/// The games in progress, and the positions they started from.
#[derive(Default)]
pub(crate) struct Steps {
    pools: HashMap<Ruleset, Vec<Position>>,
    runs: HashMap<Row, Run>,
}

impl Steps {
    /// Steps for about `seconds` and returns the plies and the seconds that the steps took.
    ///
    /// The choice of the moves is not in the time, nor is the reading of the clock.
    pub(crate) fn time(&mut self, row: &Row, seconds: f64) -> (u64, f64) {
        let pool = pool(&mut self.pools, row.ruleset());
        let run = self
            .runs
            .entry(row.clone())
            .or_insert_with(|| Run::new(row, all_rows(row), Some(pool)));
        let reading = clock();
        let (mut plies, mut took) = (0, 0.0);
        while took < seconds {
            run.choose();
            let start = Instant::now();
            run.play();
            took += (start.elapsed().as_secs_f64() - reading).max(0.0);
            plies += run.rows.len() as u64;
        }
        (plies, took)
    }

    /// Returns, for each row looked at, the checksum of what its steps gave.
    pub(crate) fn check(&mut self, row: &Row) -> Vec<u32> {
        let pool = pool(&mut self.pools, row.ruleset());
        let seen = probes(row.batch);
        let rows = if row.instructions().is_some() {
            all_rows(row)
        } else {
            seen.clone()
        };
        let mut run = Run::new(row, rows, Some(pool));
        let mut sums = vec![Crc::NEW; seen.len()];
        for _ in 0..(CHECKED / row.batch).clamp(2, 64) {
            run.choose();
            run.play();
            for (sum, wanted) in sums.iter_mut().zip(&seen) {
                let place = run.rows.binary_search(wanted).expect("a row");
                run.add_to(sum, place);
            }
        }
        sums.into_iter().map(Crc::finish).collect()
    }

    /// Returns a snapshot of the environment that a row starts from.
    pub(crate) fn state(&mut self, row: &Row) -> Vec<u8> {
        let pool = pool(&mut self.pools, row.ruleset());
        let games = batch(row, &all_rows(row), Some(pool));
        Environment::of_batch(games).save().expect("a snapshot")
    }
}

/// Steps from the first ply on and returns the plies.
pub(crate) fn work(row: &Row, steps: usize) -> u64 {
    let mut run = Run::new(row, all_rows(row), None);
    for _ in 0..steps {
        run.choose();
        run.play();
    }
    (steps * run.rows.len()) as u64
}

fn all_rows(row: &Row) -> Vec<usize> {
    (0..row.batch).collect()
}

/// Returns the seconds that reading the clock twice takes.
fn clock() -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..64 {
        let start = Instant::now();
        least = least.min(start.elapsed().as_secs_f64());
    }
    least
}

/// Returns positions of random games, each at another ply.
fn pool(pools: &mut HashMap<Ruleset, Vec<Position>>, ruleset: Ruleset) -> &[Position] {
    pools.entry(ruleset).or_insert_with(|| {
        let config = BatchConfig::new(POOL, ruleset);
        let mut run = Run {
            rows: (0..POOL).collect(),
            actions: vec![0; POOL],
            steps: 0,
            columns: ruleset.columns(),
            engine: Engine::batch(Batch::new(config).expect("valid settings")),
        };
        // Two games or so: by then the rows are at all stages of their games.
        for _ in 0..12 * ruleset.columns() {
            run.choose();
            run.play();
        }
        let Engine::Batch { batch, .. } = run.engine else {
            panic!("the pool is a batch");
        };
        let positions = (0..POOL).map(|row| batch.position(row).expect("a row"));
        positions.filter(|position| !position.is_over()).collect()
    })
}

/// Games being stepped.
struct Run {
    /// Numbers of the rows in the batch that is measured.
    rows: Vec<usize>,
    actions: Vec<i64>,
    steps: usize,
    columns: usize,
    engine: Engine,
}

enum Engine {
    Batch {
        batch: Box<Batch>,
        arrays: StepArrays,
    },
    Twin {
        positions: Vec<Position>,
        arrays: StepArrays,
    },
}

impl Run {
    fn new(row: &Row, rows: Vec<usize>, pool: Option<&[Position]>) -> Run {
        let columns = row.ruleset().columns();
        let engine = if row.instructions().is_some() {
            Engine::batch(batch(row, &rows, pool))
        } else {
            let start = Position::start(&row.ruleset());
            let at = |row: &usize| pool.map_or(start, |pool| pool[row % pool.len()]);
            Engine::twin(rows.iter().map(at).collect())
        };
        Run {
            actions: vec![0; rows.len()],
            rows,
            steps: 0,
            columns,
            engine,
        }
    }

    fn arrays(&self) -> &StepArrays {
        match &self.engine {
            Engine::Batch { arrays, .. } | Engine::Twin { arrays, .. } => arrays,
        }
    }

    /// Chooses a legal column in every row.
    fn choose(&mut self) {
        let mut actions = std::mem::take(&mut self.actions);
        let masks = self.arrays().masks.chunks_exact(self.columns);
        for ((action, mask), &row) in actions.iter_mut().zip(masks).zip(&self.rows) {
            *action = choose(mask, draw(row, self.steps)) as i64;
        }
        self.actions = actions;
        self.steps += 1;
    }

    /// Plays the columns chosen. Instructions are counted in this function.
    #[inline(never)]
    fn play(&mut self) {
        match &mut self.engine {
            Engine::Batch { batch, arrays } => {
                batch
                    .step(&self.actions, arrays.buffers())
                    .expect("legal columns");
            }
            Engine::Twin { positions, arrays } => {
                for (row, position) in positions.iter_mut().enumerate() {
                    step_position(position, self.actions[row] as usize, arrays, row);
                }
            }
        }
    }

    /// Adds what the last step gave in one row to a checksum.
    fn add_to(&self, sum: &mut Crc, row: usize) {
        let arrays = self.arrays();
        let width = 2 * self.columns + 3;
        let view = &arrays.observations[row * width..][..width];
        sum.add(view.iter().flat_map(|value| value.to_le_bytes()));
        let mask = &arrays.masks[row * self.columns..][..self.columns];
        sum.add(mask.iter().map(|&bit| bit as u8));
        sum.add(arrays.rewards[row].to_le_bytes());
        sum.add([u8::from(arrays.terminated[row]), arrays.to_play[row] as u8]);
    }
}

impl Engine {
    fn batch(mut batch: Batch) -> Engine {
        let mut arrays = StepArrays::new(&batch);
        if !batch.started(0).expect("a row") {
            batch
                .reset(Some(&Seeds::Integer(1)), None)
                .expect("a reset");
        }
        batch.masks(&mut arrays.masks).expect("right length");
        Engine::Batch {
            batch: Box::new(batch),
            arrays,
        }
    }

    fn twin(positions: Vec<Position>) -> Engine {
        let rows = positions.len();
        let columns = positions[0].ruleset().columns();
        let mut arrays = StepArrays {
            rewards: vec![0.0; rows],
            terminated: vec![false; rows],
            observations: vec![0; rows * (2 * columns + 3)],
            masks: vec![0; rows * columns],
            to_play: vec![0; rows],
            ..StepArrays::default()
        };
        for (row, position) in positions.iter().enumerate() {
            show(position, &mut arrays, row);
        }
        Engine::Twin { positions, arrays }
    }
}

/// Makes a batch, its rows started from the pool.
fn batch(row: &Row, rows: &[usize], pool: Option<&[Position]>) -> Batch {
    let config = BatchConfig {
        num_threads: Some(row.threads),
        instructions: row.instructions().or(Some(Instructions::best())),
        ..BatchConfig::new(rows.len(), row.ruleset())
    };
    let mut batch = Batch::new(config).expect("valid settings");
    batch
        .reset(Some(&Seeds::Integer(1)), None)
        .expect("a reset");
    for (place, row) in rows.iter().enumerate() {
        if let Some(pool) = pool {
            let position = &pool[row % pool.len()];
            batch.set_position(place, position).expect("equal rules");
        }
    }
    batch
}

/// Plays a column in one position, or starts anew after the end, and shows the result.
fn step_position(position: &mut Position, column: usize, arrays: &mut StepArrays, row: usize) {
    let mover = position.to_move();
    let over = position.is_over();
    *position = if over {
        Position::start(position.ruleset())
    } else {
        position.play(column).expect("a legal column")
    };
    arrays.terminated[row] = position.is_over() && !over;
    arrays.rewards[row] = match position.outcome() {
        Some(Outcome::Win(side)) if side == mover => 1.0,
        Some(Outcome::Win(_)) => -1.0,
        _ => 0.0,
    };
    show(position, arrays, row);
}

/// Writes what the side to move sees and may play.
fn show(position: &Position, arrays: &mut StepArrays, row: usize) {
    let columns = position.ruleset().columns();
    let (board, own) = (position.board(), position.to_move());
    let width = 2 * columns + 3;
    let view = &mut arrays.observations[row * width..][..width];
    let captured = board.captured();
    let seen = board.row(own).iter().chain(board.row(own.other()));
    let taken = [captured[own.index()], captured[own.other().index()]];
    let rest = taken.iter().copied().chain([position.quiet()]);
    for (place, value) in view.iter_mut().zip(seen.copied().chain(rest)) {
        *place = value as i16;
    }
    let mask = &mut arrays.masks[row * columns..][..columns];
    let legal = position.legal_moves();
    for (column, bit) in mask.iter_mut().enumerate() {
        *bit = i8::from(legal.contains(column));
    }
    arrays.to_play[row] = own.index() as i8;
}
