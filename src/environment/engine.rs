//! An environment and its doors: reset, step, opponents.

use rand_xoshiro::Xoshiro128PlusPlus;
use rayon::ThreadPool;

use crate::batch::turns::{Checkpoint, RowSet, contains, is_empty, put, rows_of};
use crate::batch::{Autoreset, Batch, BatchError, EndCode, Seeds, StepBuffers};
use crate::environment::answers::{self, Ahead};
use crate::environment::opponent::{Opponent, open_game};
use crate::environment::{AutoresetMode, EnvironmentConfig, EnvironmentError, Finals};
use crate::side::Side;

/// Asked between the choices of an opponent that thinks long; false breaks the step off.
pub(super) type Watch<'a> = dyn FnMut() -> bool + 'a;

/// `B` games of one rule set and who plays the other side.
///
/// # Edges
/// Those of [`Batch`], and with opponents or [`AutoresetMode::SameStep`]:
/// - **Rewards** are the agent's.
/// - **Illegal answer**: under [`IllegalMove::Raise`](crate::batch::IllegalMove::Raise) the whole
///   step is refused and nothing has changed, the agent's plies included; under
///   [`IllegalMove::Loss`](crate::batch::IllegalMove::Loss) the opponent loses that game.
/// - **A game that is over before the agent's first turn** (by the opponent's first ply, a cap of
///   one ply, a start without a legal move): the row shows it with an empty mask, and the next
///   step, whose action there is ignored unchecked, reports its end.
/// - **At the end** observations are of the side whose turn it would be, as everywhere.
#[derive(Debug)]
pub struct Environment {
    pub(super) config: EnvironmentConfig,
    pub(super) batch: Batch,
    /// Empty in self-play.
    pub(super) opponents: Vec<Opponent>,
    /// Whether the batch does everything; the rest is empty then.
    plain: bool,
    pub(super) rows: Rows,
    finals: Finals,
    pub(super) threads: Option<ThreadPool>,
}

/// What is known of every row besides its game.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    /// Rows in which the agent plays North.
    pub(super) north: RowSet,
    /// Rows whose game was over before the agent's first turn, which the next step reports.
    pub(super) unreported: RowSet,
    /// The stream of each row's opponent.
    pub(super) streams: Vec<Xoshiro128PlusPlus>,
    /// Which opponent plays each row.
    pub(super) playing: Vec<usize>,
    /// The first plies of next games that functions were asked for.
    pub(super) ahead: Vec<Ahead>,
}

/// Everything that a step changes.
pub(super) struct Before(Checkpoint, Rows);

impl Environment {
    /// Makes an environment whose rows wait for their first reset.
    ///
    /// # Errors
    /// [`EnvironmentError::Batch`] for a setting outside its range or threads that cannot be
    /// started, [`EnvironmentError::Policy`] for an opponent that cannot play by the rules.
    pub fn new(
        mut config: EnvironmentConfig,
        mut opponents: Vec<Opponent>,
    ) -> Result<Environment, EnvironmentError> {
        for opponent in &mut opponents {
            opponent.check(&config.batch.ruleset)?;
        }
        // What is not used must not make equal settings differ.
        config.batch.autoreset = Autoreset::NextStep;
        let batch = Batch::new(config.of_batch(opponents.len()))?;
        let mut environment = Environment {
            plain: config.is_plain(opponents.len()),
            config,
            rows: Rows::default(),
            finals: Finals::default(),
            threads: answers::start_threads(&config, &opponents)?,
            batch,
            opponents,
        };
        if !environment.plain {
            environment.rows = Rows::new(&environment.batch, &environment.opponents);
            for row in 0..environment.batch.rows() {
                environment.enter_game(row);
            }
        }
        Ok(environment)
    }

    /// Makes an environment of self-play of games that are under way.
    ///
    /// ```
    /// use endodoi::batch::{Batch, BatchConfig};
    /// use endodoi::environment::Environment;
    /// use endodoi::Variant;
    /// let batch = Batch::new(BatchConfig::new(2, Variant::EnDodoi.ruleset()))?;
    /// let bytes = Environment::of_batch(batch).save()?;
    /// assert_eq!(Environment::restore(&bytes, Vec::new())?.batch().rows(), 2);
    /// # Ok::<(), endodoi::environment::EnvironmentError>(())
    /// ```
    pub fn of_batch(batch: Batch) -> Environment {
        let mut config = EnvironmentConfig::new(*batch.config());
        if config.batch.autoreset == Autoreset::Disabled {
            config.autoreset = AutoresetMode::Disabled;
        }
        // What is not used must not make equal settings differ.
        config.batch.autoreset = Autoreset::NextStep;
        Environment {
            config,
            plain: true,
            rows: Rows::default(),
            finals: Finals::default(),
            threads: None,
            batch,
            opponents: Vec::new(),
        }
    }

    /// Returns the games.
    pub const fn batch(&self) -> &Batch {
        &self.batch
    }

    /// Returns the settings the environment was made with.
    pub const fn config(&self) -> &EnvironmentConfig {
        &self.config
    }

    /// Returns the opponents, none in self-play.
    pub fn opponents(&self) -> &[Opponent] {
        &self.opponents
    }

    /// Returns which opponent plays each row, `[B]`; empty in self-play.
    pub fn playing(&self) -> &[usize] {
        &self.rows.playing
    }

    /// Returns what the games replaced by the last step ended with.
    pub const fn finals(&self) -> &Finals {
        &self.finals
    }

    /// Returns the side of the agent in the present game of a row, `None` in self-play.
    ///
    /// # Errors
    /// [`BatchError::RowRange`].
    pub fn agent_side(&self, row: usize) -> Result<Option<Side>, BatchError> {
        let (row_seed, episode) = (self.batch.row_seed(row)?, self.batch.episode(row)?);
        let side = self.config.agent_side.side(row_seed, episode);
        Ok((!self.opponents.is_empty()).then_some(side))
    }

    /// Replaces the opponents, from their next ply on, in running games too.
    ///
    /// Which of several plays a game follows from its stream and their number.
    ///
    /// # Errors
    /// [`EnvironmentError::NoOpponents`] for an empty list, [`EnvironmentError::Kind`] in
    /// self-play.
    pub fn set_opponents(&mut self, mut opponents: Vec<Opponent>) -> Result<(), EnvironmentError> {
        if self.opponents.is_empty() {
            return Err(EnvironmentError::Kind { had: false });
        }
        if opponents.is_empty() {
            return Err(EnvironmentError::NoOpponents);
        }
        for opponent in &mut opponents {
            opponent.check(&self.config.batch.ruleset)?;
        }
        if self.threads.is_none() {
            self.threads = answers::start_threads(&self.config, &opponents)?;
        }
        self.opponents = opponents;
        for row in 0..self.batch.rows() {
            let (row_seed, episode) = self.batch.present_game(row);
            self.rows.playing[row] = open_game(row_seed, episode, self.opponents.len()).1;
            self.rows.ahead[row] = Ahead::Unknown;
        }
        Ok(())
    }

    /// Starts new games in the rows of `mask` (`bool[B]`), or in all rows; opponents that begin
    /// play their first ply.
    ///
    /// `watch` is asked while an opponent thinks; false breaks off.
    ///
    /// # Errors
    /// As [`Batch::reset`]; [`EnvironmentError`] where an opponent cannot answer. Nothing has
    /// changed then.
    pub fn reset(
        &mut self,
        seeds: Option<&Seeds>,
        mask: Option<&[bool]>,
        watch: &mut Watch<'_>,
    ) -> Result<(), EnvironmentError> {
        self.finals.clear();
        if self.plain {
            return Ok(self.batch.reset(seeds, mask)?);
        }
        let before = self.can_fail().then(|| self.before());
        self.batch.reset(seeds, mask)?;
        let mut fresh = self.batch.all_rows();
        for row in 0..self.batch.rows() {
            if mask.is_some_and(|mask| !mask[row]) {
                put(&mut fresh, row, false);
            } else {
                self.rows.ahead[row] = Ahead::Unknown;
                self.enter_game(row);
            }
        }
        let begun = self.answer(&fresh, false, watch);
        if begun.is_ok() {
            self.note_unreported(&fresh);
        } else if let Some(before) = before {
            self.go_back(before);
        }
        begun
    }

    /// Plays `actions` (`i64[B]`, mover-relative columns) and the answers to them, and fills the
    /// arrays of `out`.
    ///
    /// `watch` is asked while an opponent thinks; false breaks off.
    ///
    /// # Errors
    /// As [`Batch::step`]; [`EnvironmentError`] where an opponent cannot answer. Nothing has
    /// changed then.
    pub fn step(
        &mut self,
        actions: &[i64],
        mut out: StepBuffers<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<(), EnvironmentError> {
        self.finals.clear();
        if self.plain {
            return Ok(self.batch.step(actions, out)?);
        }
        let (rows, columns) = (self.batch.rows(), self.batch.ruleset().columns());
        if actions.len() != rows {
            return Err(BatchError::ActionsLength {
                got: actions.len(),
                expected: rows,
            }
            .into());
        }
        out.check(rows, columns)?;
        self.check_rows()?;
        let open = self.batch.open_rows();
        let began = union(&open, &self.rows.unreported);
        self.batch.choose_turns(actions, &open)?;
        let before = self.can_fail().then(|| self.before());
        let played = self.play(&began, watch);
        if played.is_err() {
            self.finals.clear();
            if let Some(before) = before {
                self.go_back(before);
            }
        }
        let ended = played?;
        self.batch.write_ended(&ended, &mut out)?;
        self.write_rewards(&ended, &mut out);
        Ok(())
    }

    /// Refuses rows that cannot be stepped.
    fn check_rows(&self) -> Result<(), BatchError> {
        if let Some(row) = self.batch.first_not_reset() {
            return Err(BatchError::NotReset { row });
        }
        if self.config.autoreset != AutoresetMode::NextStep {
            let over = without(&self.batch.finished_rows(), &self.rows.unreported);
            if let Some(row) = rows_of(&over).next() {
                return Err(BatchError::Finished { row });
            }
        }
        Ok(())
    }

    /// Plays what was chosen and the answers; returns the rows that show the end of their game.
    fn play(&mut self, began: &RowSet, watch: &mut Watch<'_>) -> Result<RowSet, EnvironmentError> {
        let over = without(&self.batch.finished_rows(), began);
        self.batch.play_turns();
        clear(&mut self.rows.unreported);
        // In disabled mode there are no other rows than those of `began`.
        let mut fresh = over;
        self.start_next(&fresh)?;
        let same_step = self.config.autoreset == AutoresetMode::SameStep;
        if same_step {
            fresh = self.replace(began)?;
        }
        self.answer(&union(began, &fresh), same_step, watch)?;
        if same_step {
            let later = self.replace(&without(began, &fresh))?;
            self.answer(&later, false, watch)?;
            fresh = union(&fresh, &later);
            self.finals.sort();
        }
        self.note_unreported(&fresh);
        Ok(if same_step {
            vec![0; began.len()]
        } else {
            both(began, &self.batch.finished_rows())
        })
    }

    /// Starts the next games of some rows.
    fn start_next(&mut self, rows: &RowSet) -> Result<(), EnvironmentError> {
        if is_empty(rows) {
            return Ok(());
        }
        let mask: Vec<bool> = (0..self.batch.rows())
            .map(|row| contains(rows, row))
            .collect();
        self.batch.reset(None, Some(&mask))?;
        for row in rows_of(rows) {
            self.enter_game(row);
        }
        Ok(())
    }

    /// Keeps what the games among `rows` that are over ended with and starts the next ones;
    /// returns their rows.
    fn replace(&mut self, rows: &RowSet) -> Result<RowSet, EnvironmentError> {
        let over = both(rows, &self.batch.finished_rows());
        let length = 2 * self.batch.ruleset().columns() + 3;
        for row in rows_of(&over) {
            let Some(ended) = self.batch.ended(row) else {
                continue;
            };
            let reward = match self.agent_of(row) {
                Some(agent) => f32::from(ended.outcome * agent.sign()),
                None => ended.reward,
            };
            self.finals.push(row, &ended, reward);
            let start = self.finals.observations.len();
            self.finals.observations.resize(start + length, 0);
            self.batch
                .observe_row(row, &mut self.finals.observations[start..]);
            if let Some(&playing) = self.rows.playing.get(row) {
                self.finals.opponent.push(playing as i32);
            }
        }
        self.start_next(&over)?;
        Ok(over)
    }

    /// Notes what follows from a row's new game.
    pub(super) fn enter_game(&mut self, row: usize) {
        put(&mut self.rows.unreported, row, false);
        self.rows.ahead[row] = match self.rows.ahead[row] {
            Ahead::Next(action) => Ahead::Now(action),
            _ => Ahead::Unknown,
        };
        if self.opponents.is_empty() {
            return;
        }
        let (row_seed, episode) = self.batch.present_game(row);
        let agent = self.config.agent_side.side(row_seed, episode);
        put(&mut self.rows.north, row, agent == Side::North);
        let (stream, playing) = open_game(row_seed, episode, self.opponents.len());
        self.rows.streams[row] = stream;
        self.rows.playing[row] = playing;
    }

    /// Notes the games among new ones that are over already.
    fn note_unreported(&mut self, fresh: &RowSet) {
        let over = both(fresh, &self.batch.finished_rows());
        self.rows.unreported = union(&self.rows.unreported, &over);
    }

    fn agent_of(&self, row: usize) -> Option<Side> {
        let north = contains(&self.rows.north, row);
        let side = if north { Side::North } else { Side::South };
        (!self.opponents.is_empty()).then_some(side)
    }

    /// Lets the opponents play where it is their turn among `rows`.
    fn answer(
        &mut self,
        rows: &RowSet,
        ahead: bool,
        watch: &mut Watch<'_>,
    ) -> Result<(), EnvironmentError> {
        if self.opponents.is_empty() {
            return Ok(());
        }
        let turn = self.batch.north_rows();
        let open = both(rows, &self.batch.open_rows());
        let theirs: RowSet = (open.iter().zip(&turn).zip(&self.rows.north))
            .map(|((&open, &turn), &agent)| open & (turn ^ agent))
            .collect();
        if is_empty(&theirs) {
            return Ok(());
        }
        answers::answer(self, &theirs, ahead, watch)
    }

    /// Writes the rewards of the agent, and marks the rows whose game was replaced.
    fn write_rewards(&self, ended: &RowSet, out: &mut StepBuffers<'_>) {
        for row in rows_of(ended) {
            if let Some(agent) = self.agent_of(row) {
                out.rewards[row] = f32::from(out.outcome[row] * agent.sign());
            }
        }
        let finals = &self.finals;
        for ((&row, &reward), &code) in
            (finals.rows.iter().zip(&finals.rewards)).zip(&finals.end_reason)
        {
            let truncated = code == EndCode::MaxPlies.code();
            out.rewards[row] = reward;
            out.truncated[row] = truncated;
            out.terminated[row] = !truncated;
            out.ended[row] = true;
        }
    }

    /// Tells whether a step may fail after its first ply, or a reset after the games have started.
    fn can_fail(&self) -> bool {
        self.opponents.iter().any(Opponent::can_fail) || self.config.batch.random_opening_plies > 0
    }

    pub(super) fn before(&self) -> Before {
        Before(self.batch.checkpoint(), self.rows.clone())
    }

    pub(super) fn go_back(&mut self, before: Before) {
        self.batch.go_back(before.0);
        self.rows = before.1;
    }

    /// Gives the environment threads of its own in a process that was forked from theirs, where
    /// they do not exist.
    ///
    /// # Errors
    /// [`EnvironmentError::Batch`] where they cannot be started.
    pub fn restart_threads(&mut self) -> Result<(), EnvironmentError> {
        let copy = Batch::restore(&self.batch.save()?)?;
        let threads = answers::start_threads(&self.config, &self.opponents)?;
        // Threads that are not there cannot be told to end.
        std::mem::forget(std::mem::replace(&mut self.batch, copy));
        std::mem::forget(std::mem::replace(&mut self.threads, threads));
        Ok(())
    }
}

impl Rows {
    pub(super) fn new(batch: &Batch, opponents: &[Opponent]) -> Rows {
        let rows = batch.rows();
        let theirs = if opponents.is_empty() { 0 } else { rows };
        let none = vec![0; batch.open_rows().len()];
        Rows {
            north: none.clone(),
            unreported: none,
            streams: vec![open_game(0, 0, 1).0; theirs],
            playing: vec![0; theirs],
            ahead: vec![Ahead::Unknown; rows],
        }
    }
}

fn clear(set: &mut RowSet) {
    set.fill(0);
}

fn union(left: &RowSet, right: &RowSet) -> RowSet {
    left.iter()
        .zip(right)
        .map(|(left, right)| left | right)
        .collect()
}

fn both(left: &RowSet, right: &RowSet) -> RowSet {
    left.iter()
        .zip(right)
        .map(|(left, right)| left & right)
        .collect()
}

fn without(left: &RowSet, right: &RowSet) -> RowSet {
    left.iter()
        .zip(right)
        .map(|(left, right)| left & !right)
        .collect()
}
