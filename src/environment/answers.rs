//! The plies of opponents.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::batch::turns::{RowSet, rows_of};
use crate::batch::{BatchError, IllegalMove};
use crate::environment::engine::{Environment, Rows, Watch};
use crate::environment::opponent::{Function, Opponent, open_game};
use crate::environment::{EnvironmentConfig, EnvironmentError};
use crate::policy::{Policy, PolicyError, watched};
use crate::position::Position;
use crate::rng;

/// Positions that a player of the core is given at once, at the first time and at the most: enough
/// for all threads, few enough for a caller that wants to break off.
const PARTS: [usize; 2] = [16, 256];

/// What a part may take before the next ones get smaller.
const PATIENCE: Duration = Duration::from_millis(200);

/// What is known of the first ply of a row's next game, where an opponent from outside, which may
/// be asked only once in a step, might have to play it in the step that ends the present game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ahead {
    /// Nothing yet.
    Unknown,
    /// It is the agent's, or that of an opponent that can be asked again.
    AgentBegins,
    /// The first ply of the next game.
    Next(i64),
    /// The first ply of the present game, to be played now.
    Now(i64),
}

/// Starts the threads on which opponents of the core search.
pub(super) fn start_threads(
    config: &EnvironmentConfig,
    opponents: &[Opponent],
) -> Result<Option<ThreadPool>, EnvironmentError> {
    let search = |opponent: &Opponent| matches!(opponent, Opponent::Policy(_));
    if !opponents.iter().any(search) {
        return Ok(None);
    }
    let num_threads = config.batch.num_threads.unwrap_or(0);
    let threads = ThreadPoolBuilder::new()
        .num_threads(num_threads)
        .thread_name(|index| format!("endodoi-opponent-{index}"))
        .build()
        .map_err(|error| BatchError::Threads {
            num_threads,
            reason: error.to_string(),
        })?;
    Ok(Some(threads))
}

/// Plays a ply in each of the rows, which are open and the opponents' to move; with `ahead`,
/// opponents from outside are also asked for the first plies of next games.
pub(super) fn answer(
    environment: &mut Environment,
    rows: &RowSet,
    ahead: bool,
    watch: &mut Watch<'_>,
) -> Result<(), EnvironmentError> {
    let mut asked: Vec<Asked> = environment.opponents.iter().map(|_| Asked::new()).collect();
    let mut actions = vec![0; environment.batch.rows()];
    for row in rows_of(rows) {
        match environment.rows.ahead[row] {
            Ahead::Now(action) => {
                actions[row] = action;
                environment.rows.ahead[row] = Ahead::Unknown;
            }
            _ => asked[environment.rows.playing[row]].rows.push(row),
        }
    }
    if ahead && environment.opponents.iter().any(Opponent::is_function) {
        look_ahead(environment, rows, &mut asked)?;
    }
    for (index, asked) in asked.iter().enumerate() {
        if !asked.is_empty() {
            choose(environment, index, asked, &mut actions, watch)?;
        }
    }
    let chosen = environment.batch.choose_turns(&actions, rows);
    chosen.map_err(|error| illegal_answer(environment, error))?;
    environment.batch.play_turns();
    Ok(())
}

/// What one opponent is asked for.
struct Asked {
    /// Rows in which it is to move.
    rows: Vec<usize>,
    /// Rows whose next game it begins, and how that starts.
    next: Vec<(usize, Position)>,
}

impl Asked {
    const fn new() -> Asked {
        Asked {
            rows: Vec::new(),
            next: Vec::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.next.is_empty()
    }
}

/// Finds the next games that an opponent from outside begins, among rows whose game may end now.
fn look_ahead(
    environment: &mut Environment,
    rows: &RowSet,
    asked: &mut [Asked],
) -> Result<(), EnvironmentError> {
    let opponents = &environment.opponents;
    for row in rows_of(rows) {
        if environment.rows.ahead[row] != Ahead::Unknown {
            continue;
        }
        let (row_seed, episode) = environment.batch.next_game(row);
        let (_, playing) = open_game(row_seed, episode, opponents.len());
        let agent = environment.config.agent_side.side(row_seed, episode);
        environment.rows.ahead[row] = Ahead::AgentBegins;
        if !opponents[playing].is_function() {
            continue;
        }
        let Some(position) = environment.batch.handed_over(row_seed, episode) else {
            return Err(environment.batch.no_opening(row).into());
        };
        if !position.is_over() && position.to_move() != agent {
            asked[playing].next.push((row, position));
        }
    }
    Ok(())
}

fn choose(
    environment: &mut Environment,
    index: usize,
    asked: &Asked,
    actions: &mut [i64],
    watch: &mut Watch<'_>,
) -> Result<(), EnvironmentError> {
    let Environment {
        batch,
        opponents,
        rows,
        threads,
        config,
        ..
    } = environment;
    match &mut opponents[index] {
        Opponent::Random => {
            for &row in &asked.rows {
                let legal = batch.legal(row);
                let rank = rng::below(&mut rows.streams[row], legal.len() as u32);
                let column = legal.nth(rank as usize);
                actions[row] = column.map_or(-1, |column| column as i64);
            }
            Ok(())
        }
        Opponent::Policy(policy) => {
            let policy = policy.get_mut().unwrap_or_else(PoisonError::into_inner);
            let (mut left, [mut length, most]) = (&asked.rows[..], PARTS);
            while !left.is_empty() {
                if !watch() {
                    let name = policy.name();
                    return Err(EnvironmentError::Interrupted { name });
                }
                let (part, later) = left.split_at(length.min(left.len()));
                left = later;
                let began = Instant::now();
                let positions = part.iter().map(|&row| batch.position(row));
                let positions = positions.collect::<Result<Vec<_>, _>>()?;
                let moves = search(
                    &mut **policy,
                    &positions,
                    part,
                    rows,
                    threads.as_ref(),
                    watch,
                )?;
                for (&row, column) in part.iter().zip(moves) {
                    actions[row] = i64::from(column);
                }
                length = match began.elapsed() {
                    long if long > PATIENCE => length.div_ceil(2),
                    _ => most.min(2 * length),
                };
            }
            Ok(())
        }
        Opponent::Function(function) => {
            let columns = batch.ruleset().columns();
            let illegal = config.batch.illegal;
            let views = Asking::new(batch, asked, columns);
            ask(&mut **function, &views, asked, rows, actions)?;
            check_ahead(&**function, asked, rows, illegal)
        }
    }
}

fn search(
    policy: &mut dyn Policy,
    positions: &[Position],
    part: &[usize],
    rows: &mut Rows,
    threads: Option<&ThreadPool>,
    watch: &mut Watch<'_>,
) -> Result<Vec<u8>, EnvironmentError> {
    let streams = part.iter().map(|&row| rows.streams[row].clone());
    let mut streams: Vec<_> = streams.collect();
    let mut moves = vec![0; part.len()];
    let think = |policy: &mut dyn Policy| policy.choose(positions, &mut streams, &mut moves);
    watched::think(threads, policy, watch, think).map_err(|error| match error {
        PolicyError::Interrupted { name } => EnvironmentError::Interrupted { name },
        error => error.into(),
    })?;
    for (&row, stream) in part.iter().zip(streams) {
        rows.streams[row] = stream;
    }
    Ok(moves)
}

/// What an opponent from outside is shown.
struct Asking {
    views: Vec<i16>,
    masks: Vec<i8>,
}

impl Asking {
    fn new(batch: &crate::batch::Batch, asked: &Asked, columns: usize) -> Asking {
        let count = asked.rows.len() + asked.next.len();
        let length = 2 * columns + 3;
        let mut views = vec![0; count * length];
        let mut masks = vec![0; count * columns];
        for (&row, view) in asked.rows.iter().zip(views.chunks_exact_mut(length)) {
            batch.observe_row(row, view);
        }
        let later = views.chunks_exact_mut(length).skip(asked.rows.len());
        for ((_, position), view) in asked.next.iter().zip(later) {
            view.copy_from_slice(&position.observation());
        }
        let legal = asked.rows.iter().map(|&row| batch.legal(row));
        let legal = legal.chain(asked.next.iter().map(|(_, start)| start.legal_moves()));
        for (legal, mask) in legal.zip(masks.chunks_exact_mut(columns)) {
            for column in legal {
                mask[column] = 1;
            }
        }
        Asking { views, masks }
    }
}

fn ask(
    function: &mut dyn Function,
    asking: &Asking,
    asked: &Asked,
    rows: &mut Rows,
    actions: &mut [i64],
) -> Result<(), EnvironmentError> {
    let expected = asked.rows.len() + asked.next.len();
    let answers = function.choose(&asking.views, &asking.masks, expected)?;
    if answers.len() != expected {
        return Err(EnvironmentError::AnswersLength {
            name: function.name(),
            got: answers.len(),
            expected,
        });
    }
    let (now, later) = answers.split_at(asked.rows.len());
    for (&row, &answer) in asked.rows.iter().zip(now) {
        actions[row] = answer;
    }
    for (&(row, _), &answer) in asked.next.iter().zip(later) {
        rows.ahead[row] = Ahead::Next(answer);
    }
    Ok(())
}

/// Refuses illegal first plies of next games where illegal actions are refused.
fn check_ahead(
    function: &dyn Function,
    asked: &Asked,
    rows: &Rows,
    illegal: IllegalMove,
) -> Result<(), EnvironmentError> {
    if illegal == IllegalMove::Loss {
        return Ok(());
    }
    for (row, position) in &asked.next {
        let Ahead::Next(action) = rows.ahead[*row] else {
            continue;
        };
        let legal = position.legal_moves();
        if !usize::try_from(action).is_ok_and(|column| legal.contains(column)) {
            return Err(EnvironmentError::Answer {
                name: function.name(),
                error: illegal_start(*row, action, position),
            });
        }
    }
    Ok(())
}

fn illegal_start(row: usize, action: i64, position: &Position) -> BatchError {
    let board = position.board();
    let seeds = |column| board.row(position.to_move())[column];
    BatchError::illegal_action(row, action, position.legal_moves(), board.columns(), seeds)
}

fn illegal_answer(environment: &Environment, error: BatchError) -> EnvironmentError {
    let BatchError::IllegalAction { row, .. } = error else {
        return error.into();
    };
    let playing = environment.rows.playing[row];
    EnvironmentError::Answer {
        name: environment.opponents[playing].name(),
        error,
    }
}
