//! Games in progress as arrays of a run's state.
//!
//! The games of all groups lie one after another, so that the arrays do not depend on how games are
//! grouped. Positions are kept as the view of their side to move, beside the side.

use super::config::Config;
use super::replay::{Sample, position_seen_by};
use super::selfplay::{Game, Group};
use super::state::{State, StateError};
use super::target::Searched;
use crate::rng;
use crate::side::Side;

/// Games in progress, field by field: `G` games, `W` positions that wait for their targets.
#[derive(Default)]
struct Columns {
    /// `i16[G, 2C+3]`
    positions: Vec<i16>,
    /// `u8[G]`, 0 for South.
    sides: Vec<u8>,
    /// `u32[G, 4]`
    streams: Vec<u32>,
    /// `u64[G, 2]`: episode, plies.
    counts: Vec<u64>,
    /// `u64[G]`: positions of the game that wait.
    waiting: Vec<u64>,
    /// `i16[W, 2C+3]`
    observations: Vec<i16>,
    /// `u8[W]`
    movers: Vec<u8>,
    /// `f32[W, C]`
    policies: Vec<f32>,
    /// `f32[W, 4]`: win, draw, loss, margin as searched.
    values: Vec<f32>,
    /// `u8[W]`: whether the move played was that of the search.
    followed: Vec<u8>,
}

/// Puts the games of all groups into a run's state.
///
/// # Errors
/// [`StateError::Json`] when a generator does not tell its state.
pub fn put_games(
    groups: &[Group],
    config: &Config,
    state: &mut State<'_>,
) -> Result<(), StateError> {
    let mut all = Columns::default();
    for game in groups.iter().flat_map(Group::games) {
        all.push(game)?;
    }
    let width = 2 * config.ruleset.columns() + 3;
    let columns = config.policy_columns();
    state.put_owned("games/positions", &[width], &all.positions);
    state.put_owned("games/sides", &[], &all.sides);
    state.put_owned("games/streams", &[4], &all.streams);
    state.put_owned("games/counts", &[2], &all.counts);
    state.put_owned("games/waiting", &[], &all.waiting);
    state.put_owned("waiting/observations", &[width], &all.observations);
    state.put_owned("waiting/sides", &[], &all.movers);
    if columns > 0 {
        state.put_owned("waiting/policies", &[columns], &all.policies);
    }
    state.put_owned("waiting/followed", &[], &all.followed);
    state.put_owned("waiting/values", &[4], &all.values);
    Ok(())
}

/// Takes the games of all groups out of a run's state, or tells how many there are if the settings
/// ask for another number.
///
/// # Errors
/// [`StateError`] when an array is missing, of another shape, or shows no game of these rules.
pub fn take_games(
    state: &mut State<'_>,
    config: &Config,
) -> Result<Result<Vec<Group>, usize>, StateError> {
    let all = Columns::take(state, config)?;
    let play = &config.selfplay;
    let count = all.sides.len();
    if count != play.groups * play.games {
        return Ok(Err(count));
    }
    let mut groups = Vec::with_capacity(play.groups);
    let (mut row, mut first) = (0, 0);
    for number in 0..play.groups {
        let mut games = Vec::with_capacity(play.games);
        for game in 0..play.games {
            let row_seed = Group::row_seed(config, number, game);
            games.push(all.game(row, first, row_seed, config)?);
            first += all.waiting[row] as usize;
            row += 1;
        }
        groups.push(Group::of_games(config, games));
    }
    Ok(Ok(groups))
}

impl Columns {
    fn push(&mut self, game: &Game) -> Result<(), StateError> {
        let side = |side: Side| side.index() as u8;
        self.positions.extend(game.position.observation());
        self.sides.push(side(game.position.to_move()));
        self.streams.extend(rng::words_of_stream(&game.stream)?);
        self.counts.extend([game.episode, game.plies]);
        self.waiting.push(game.waiting.len() as u64);
        for (sample, searched) in &game.waiting {
            self.observations.extend(&sample.observation);
            self.movers.push(side(searched.side));
            self.policies.extend(&sample.policy);
            self.values.extend(searched.chances);
            self.values.push(searched.margin);
            self.followed.push(searched.followed.into());
        }
        Ok(())
    }

    fn take(state: &mut State<'_>, config: &Config) -> Result<Columns, StateError> {
        let width = 2 * config.ruleset.columns() + 3;
        let columns = config.policy_columns();
        let sides: Vec<u8> = state.take("games/sides", &[])?;
        let games = sides.len();
        let movers: Vec<u8> = state.take("waiting/sides", &[])?;
        let samples = movers.len();
        let all = Columns {
            positions: state.take_rows("games/positions", games, &[width])?,
            sides,
            streams: state.take_rows("games/streams", games, &[4])?,
            counts: state.take_rows("games/counts", games, &[2])?,
            waiting: state.take_rows("games/waiting", games, &[])?,
            observations: state.take_rows("waiting/observations", samples, &[width])?,
            movers,
            policies: match columns {
                0 => Vec::new(),
                _ => state.take_rows("waiting/policies", samples, &[columns])?,
            },
            followed: state.take_rows("waiting/followed", samples, &[])?,
            values: state.take_rows("waiting/values", samples, &[4])?,
        };
        let mut left = samples as u64;
        for (row, &waiting) in all.waiting.iter().enumerate() {
            left = left.checked_sub(waiting).ok_or_else(|| StateError::Row {
                name: "games/waiting".to_owned(),
                row,
                message: format!("is {waiting}, expected 0 to {left}"),
            })?;
        }
        Ok(all)
    }

    /// Goes on with the game of a row, whose waiting positions begin at row `first` of theirs.
    fn game(
        &self,
        row: usize,
        first: usize,
        row_seed: u64,
        config: &Config,
    ) -> Result<Game, StateError> {
        let width = 2 * config.ruleset.columns() + 3;
        let observation = &self.positions[row * width..(row + 1) * width];
        let broken = |message: String| StateError::Row {
            name: "games/positions".to_owned(),
            row,
            message,
        };
        let position = position_seen_by(side_of(self.sides[row]), observation, &config.ruleset)
            .map_err(|error| broken(error.to_string()))?;
        if position.is_over() {
            return Err(broken("the game is over".to_owned()));
        }
        let words = &self.streams[4 * row..4 * row + 4];
        let waiting = first..first + self.waiting[row] as usize;
        Ok(Game {
            row_seed,
            episode: self.counts[2 * row],
            position,
            stream: rng::stream_of_words([words[0], words[1], words[2], words[3]]),
            plies: self.counts[2 * row + 1],
            waiting: waiting.map(|at| self.searched(at, config)).collect(),
        })
    }

    /// Returns a position that waits for its target, and what its search found.
    fn searched(&self, row: usize, config: &Config) -> (Sample, Searched) {
        let columns = config.ruleset.columns();
        let policy = config.policy_columns();
        let width = 2 * columns + 3;
        let observation = self.observations[row * width..(row + 1) * width].to_vec();
        let values = &self.values[4 * row..4 * row + 4];
        let searched = Searched {
            side: side_of(self.movers[row]),
            lead: i32::from(observation[2 * columns]) - i32::from(observation[2 * columns + 1]),
            chances: [values[0], values[1], values[2]],
            margin: values[3],
            followed: self.followed[row] != 0,
        };
        let sample = Sample {
            observation,
            policy: self.policies[row * policy..(row + 1) * policy].to_vec(),
            chances: searched.chances,
            margin: 0.0,
        };
        (sample, searched)
    }
}

fn side_of(index: u8) -> Side {
    Side::BOTH[usize::from(index != 0)]
}
