//! Games between any players, advanced together so that players choose for many games at once.

use std::time::{Duration, Instant};

use rand_xoshiro::Xoshiro128PlusPlus;
use rayon::ThreadPool;
use rayon::prelude::*;

use crate::draw::non_empty;
use crate::policy::{Policy, PolicyError, watched};
use crate::position::Position;
use crate::ruleset::Endless;
use crate::simulate::follow::Followed;
use crate::simulate::tally::{GameRow, Tally};
use crate::simulate::{EndCode, Progress};
use crate::sowing;

/// Games that one thread advances at a time; fewer would cost more than they gain.
const GRAIN: usize = 32;

/// The choice of a player that named no column of any board.
pub(crate) const OFF_BOARD: u8 = u8::MAX;

fn off_board(position: &Position) -> String {
    let last = position.board().columns() - 1;
    format!("the action is no column, expected 0 to {last}")
}

/// One game in lockstep with others.
#[derive(Clone, Debug)]
pub(crate) struct Game {
    pub(crate) position: Position,
    /// The player of each side, an index into the players of the run.
    pub(crate) players: [usize; 2],
    /// What the players draw from, whichever is to move.
    pub(crate) stream: Xoshiro128PlusPlus,
    /// The columns played so far, the opening included.
    pub(crate) moves: Vec<u8>,
    pub(crate) tally: Tally,
    pub(crate) end: Option<EndCode>,
    /// What a failing player said.
    pub(crate) failure: Option<String>,
    /// What the moves of South and North took.
    pub(crate) spent: [Spent; 2],
    /// Counts of every turn, in a game that is followed.
    pub(crate) followed: Option<Box<Followed>>,
}

/// The time that one side's moves took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    /// Moves asked for.
    pub(crate) moves: u32,
    pub(crate) total: Duration,
    /// The longest move; of moves asked for together each counts the same share.
    pub(crate) longest: Duration,
}

impl Spent {
    fn add(&mut self, took: Duration) {
        self.moves += 1;
        self.total += took;
        self.longest = self.longest.max(took);
    }
}

/// What a player came up with for one game.
#[derive(Clone, Debug)]
enum Choice {
    Column { column: u8, refused: u32 },
    Failed(String),
}

impl Game {
    /// Starts a game at `start` and plays the columns of its opening, which are legal.
    pub(crate) fn open(
        start: &Position,
        opening: &[u8],
        players: [usize; 2],
        stream: Xoshiro128PlusPlus,
        limits: Limits,
    ) -> Game {
        Game::open_followed(start, opening, players, stream, limits, None)
    }

    /// Starts a game as [`Game::open`] does and counts every turn in `followed`.
    pub(crate) fn open_followed(
        start: &Position,
        opening: &[u8],
        players: [usize; 2],
        stream: Xoshiro128PlusPlus,
        limits: Limits,
        followed: Option<Box<Followed>>,
    ) -> Game {
        let mut game = Game {
            position: *start,
            players,
            stream,
            moves: Vec::new(),
            tally: Tally::default(),
            end: start.end_reason().map(EndCode::from),
            failure: None,
            spent: [Spent::default(); 2],
            followed,
        };
        for &column in opening {
            game.apply(Choice::Column { column, refused: 0 }, limits);
        }
        game
    }

    fn player(&self) -> usize {
        self.players[self.position.to_move().index()]
    }

    /// Counts what the move took, and plays it if it came in time; a late one loses the game.
    fn apply_timed(&mut self, choice: Choice, took: Duration, limits: Limits) {
        self.spent[self.position.to_move().index()].add(took);
        match limits.clock {
            Some(most) if took > most && matches!(choice, Choice::Column { .. }) => {
                let (took, most) = (took.as_secs_f64(), most.as_secs_f64());
                self.failure = Some(format!("took {took:.3} seconds, {most} allowed"));
                self.end = Some(EndCode::Late);
            }
            _ => self.apply(choice, limits),
        }
    }

    /// Plays what the player to move chose: an illegal column and a failure lose the game.
    fn apply(&mut self, choice: Choice, limits: Limits) {
        let (column, refused) = match choice {
            Choice::Column { column, refused } => (column, refused),
            Choice::Failed(message) => {
                self.failure = Some(message);
                self.end = Some(EndCode::Error);
                return;
            }
        };
        if limits.offers && offers_endless(&self.position) {
            self.tally.offers += 1;
        }
        let (position, sowing) = match self.position.play_sowing(column.into()) {
            Ok(played) => played,
            Err(error) => {
                self.failure = Some(match column {
                    OFF_BOARD => off_board(&self.position),
                    _ => error.to_string(),
                });
                self.end = Some(EndCode::Illegal);
                return;
            }
        };
        if let Some(followed) = &mut self.followed {
            let (side, legal) = (self.position.to_move(), self.position.legal_moves());
            followed.turn(side, legal, &sowing, refused);
        }
        self.position = position;
        self.moves.push(column);
        self.tally.count(&sowing);
        self.tally.endless_met += u64::from(refused);
        let cut = limits
            .max_plies
            .is_some_and(|most| self.tally.plies >= most);
        // A game that ends by the rules on the cap ply has ended, it is not cut (E4).
        self.end = match position.end_reason() {
            Some(reason) => Some(reason.into()),
            None => cut.then_some(EndCode::MaxPlies),
        };
    }

    /// Returns the row of a finished game.
    pub(crate) fn row(&self) -> GameRow {
        let end = self.end.unwrap_or(EndCode::MaxPlies);
        let at_fault = self.position.to_move().sign();
        self.tally.finish(self.position.board(), end, at_fault)
    }
}

/// What bounds and what is looked at in every game of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    pub(crate) max_plies: Option<u32>,
    /// Count the turns that offer an endless sowing.
    pub(crate) offers: bool,
    /// The time for each move; every move is asked for alone then, so that its time is its own.
    pub(crate) clock: Option<Duration>,
}

/// Tells whether the side to move could draw an endless sowing (S6).
pub(crate) fn offers_endless(position: &Position) -> bool {
    let side = position.to_move();
    let pits = non_empty(position.board().row(side));
    match position.ruleset().endless() {
        Endless::Illegal => pits != position.legal_moves(),
        Endless::Draw => pits
            .iter()
            .any(|column| sowing::is_endless(position.board(), position.ruleset(), side, column)),
    }
}

/// Who looks on while games are played, and may stop them.
pub(crate) struct Watch<'a, 'b> {
    /// Where the work is done; the looking on stays on the calling thread.
    pub(crate) pool: &'a ThreadPool,
    /// Told the number of games finished, between choices and while players think.
    pub(crate) progress: &'a mut Progress<'b>,
}

/// Plays all games to their ends, each player choosing for many of its games at once: for all of
/// them, or where somebody looks on, for so many that it can be stopped in time.
///
/// When the watch breaks or a player is interrupted, the games stay where they are; where nobody
/// looks on, an interrupted player loses them.
pub(crate) fn play(
    games: &mut [Game],
    players: &mut [&mut dyn Policy],
    limits: Limits,
    mut watch: Option<Watch<'_, '_>>,
) {
    let mut paces = vec![Pace::default(); players.len()];
    let mut finished = games.iter().filter(|game| game.end.is_some()).count();
    while games.iter().any(|game| game.end.is_none()) {
        for (index, player) in players.iter_mut().enumerate() {
            let mut turns: Vec<usize> = (0..games.len())
                .filter(|&i| games[i].end.is_none() && games[i].player() == index)
                .collect();
            let alone = limits.clock.map(|_| 1);
            let Some(watch) = &mut watch else {
                for turns in turns.chunks(alone.unwrap_or(usize::MAX)) {
                    let mut now = pick(games, turns);
                    if let Err(error) = choose_and_apply(&mut now, *player, limits) {
                        for game in now {
                            game.apply(Choice::Failed(error.to_string()), limits);
                        }
                    }
                }
                continue;
            };
            while !turns.is_empty() {
                let group = alone.unwrap_or(paces[index].group);
                let rest = turns.split_off(group.min(turns.len()));
                let mut now = pick(games, &turns);
                let began = Instant::now();
                let mut go_on = || (watch.progress)(finished as u64).is_continue();
                let play = |player: &mut dyn Policy| choose_and_apply(&mut now, player, limits);
                if watched::think(Some(watch.pool), *player, &mut go_on, play).is_err() {
                    return;
                }
                paces[index].follow(began.elapsed());
                finished = games.iter().filter(|game| game.end.is_some()).count();
                if (watch.progress)(finished as u64).is_break() {
                    return;
                }
                turns = rest;
            }
        }
    }
}

/// Returns the games of these ascending indices.
fn pick<'a>(games: &'a mut [Game], ascending: &[usize]) -> Vec<&'a mut Game> {
    let mut wanted = ascending.iter().peekable();
    games
        .iter_mut()
        .enumerate()
        .filter(|(i, _)| wanted.next_if_eq(&i).is_some())
        .map(|(_, game)| game)
        .collect()
}

/// How many games a player chooses for at once: enough to be fast, few enough to be interrupted.
#[derive(Clone, Copy, Debug)]
struct Pace {
    group: usize,
}

impl Default for Pace {
    fn default() -> Pace {
        // Few, for a player that thinks long has to be stopped in time too.
        Pace { group: 4 }
    }
}

impl Pace {
    fn follow(&mut self, took: Duration) {
        if took < Duration::from_millis(100) {
            self.group = (self.group * 2).min(1 << 20);
        } else if took > Duration::from_millis(400) {
            self.group = (self.group / 2).max(1);
        }
    }
}

/// Lets a player choose for its games, if any, and plays what it chose, or nothing if the player
/// was interrupted.
fn choose_and_apply(
    games: &mut [&mut Game],
    player: &mut dyn Policy,
    limits: Limits,
) -> Result<(), PolicyError> {
    if games.is_empty() {
        return Ok(());
    }
    let positions: Vec<Position> = games.iter().map(|game| game.position).collect();
    let mut streams: Vec<Xoshiro128PlusPlus> =
        games.iter().map(|game| game.stream.clone()).collect();
    let began = Instant::now();
    let choices = choose(player, &positions, &mut streams)?;
    let took = began.elapsed() / positions.len() as u32;
    games
        .par_iter_mut()
        .zip(choices)
        .zip(streams)
        .with_min_len(GRAIN)
        .for_each(|((game, choice), stream)| {
            game.stream = stream;
            game.apply_timed(choice, took, limits);
        });
    Ok(())
}

/// Asks a player for all positions at once and, if it fails, for each of them alone, so that only
/// the games it fails in are lost. An interrupted player is asked no more.
fn choose(
    player: &mut dyn Policy,
    positions: &[Position],
    streams: &mut [Xoshiro128PlusPlus],
) -> Result<Vec<Choice>, PolicyError> {
    let before = streams.to_vec();
    match try_choose(player, positions, streams) {
        Err(error) if matches!(error, PolicyError::Interrupted { .. }) => return Err(error),
        Err(error) if positions.len() == 1 => return Ok(vec![Choice::Failed(error.to_string())]),
        Err(_) => {}
        chosen => return chosen,
    }
    streams.clone_from_slice(&before);
    let mut choices = Vec::with_capacity(positions.len());
    for (i, position) in positions.iter().enumerate() {
        let one = std::slice::from_ref(position);
        match try_choose(player, one, &mut streams[i..=i]) {
            Ok(mut choice) => choices.append(&mut choice),
            Err(error @ PolicyError::Interrupted { .. }) => return Err(error),
            Err(error) => choices.push(Choice::Failed(error.to_string())),
        }
    }
    Ok(choices)
}

fn try_choose(
    player: &mut dyn Policy,
    positions: &[Position],
    streams: &mut [Xoshiro128PlusPlus],
) -> Result<Vec<Choice>, PolicyError> {
    let mut moves = vec![0; positions.len()];
    let mut refused = vec![0; positions.len()];
    player.choose_counting(positions, streams, &mut moves, &mut refused)?;
    let choices = moves.into_iter().zip(refused);
    Ok(choices
        .map(|(column, refused)| Choice::Column { column, refused })
        .collect())
}
