//! Environments as bytes.
//!
//! | bytes | hold |
//! |---|---|
//! | 8 | `EDENVIR` and a zero |
//! | 4 | format version |
//! | 1 | 1 with opponents, 0 in self-play |
//! | 4 | length of the settings |
//! | | [`EnvironmentConfig`] as JSON |
//! | 8 | length of the games |
//! | | the [`Batch`], as it is saved |
//! | 1 or 17 for each row | whether the next step reports an end; with opponents, the stream |
//! | 8 | 64-bit FNV-1a of everything before |
//!
//! Numbers are little-endian. The opponents themselves are not kept.

use crate::batch::snapshot::{Reader, fnv};
use crate::batch::turns::{contains, put};
use crate::batch::{Batch, BatchConfig, BatchError, SnapshotError};
use crate::environment::engine::Rows;
use crate::environment::{Environment, EnvironmentConfig, EnvironmentError, Opponent};
use crate::rng;

const MAGIC: [u8; 8] = *b"EDENVIR\0";
const VERSION: u32 = 1;
const CHECKSUM_BYTES: usize = 8;

/// What bytes hold.
struct Saved {
    config: EnvironmentConfig,
    with_opponents: bool,
    batch: Batch,
    /// One for each row: whether the next step reports an end, and the state of a stream.
    rows: Vec<(bool, [u32; 4])>,
}

impl Environment {
    /// Writes the settings, every game and the state of every generator as bytes; the opponents
    /// are not kept.
    ///
    /// The bytes are of one format version; [`Environment::restore`] refuses others.
    ///
    /// # Errors
    /// [`SnapshotError::Settings`] only if something cannot be serialised, which nothing is known
    /// to make happen.
    pub fn save(&self) -> Result<Vec<u8>, EnvironmentError> {
        let settings = serde_json::to_vec(&self.config).map_err(broken)?;
        let games = self.batch.save()?;
        let mut bytes = Vec::with_capacity(64 + settings.len() + games.len());
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.push(u8::from(!self.opponents.is_empty()));
        bytes.extend((settings.len() as u32).to_le_bytes());
        bytes.extend(settings);
        bytes.extend((games.len() as u64).to_le_bytes());
        bytes.extend(games);
        for row in 0..self.batch.rows() {
            let unreported =
                !self.rows.unreported.is_empty() && contains(&self.rows.unreported, row);
            bytes.push(u8::from(unreported));
            if let Some(stream) = self.rows.streams.get(row) {
                let words = rng::words_of_stream(stream).map_err(broken)?;
                bytes.extend(words.into_iter().flat_map(u32::to_le_bytes));
            }
        }
        bytes.extend(fnv(&bytes).to_le_bytes());
        Ok(bytes)
    }

    /// Makes the environment that [`Environment::save`] wrote; with equal opponents it goes on
    /// exactly as the saved one.
    ///
    /// # Errors
    /// [`EnvironmentError::Batch`] for bytes of another format or version, cut short, changed, or
    /// holding what no game can have; for opponents in self-play, or none where there were some;
    /// [`EnvironmentError`] as [`Environment::new`].
    pub fn restore(
        bytes: &[u8],
        opponents: Vec<Opponent>,
    ) -> Result<Environment, EnvironmentError> {
        let saved = Saved::read(bytes, |_| ())?;
        saved.check_kind(!opponents.is_empty())?;
        let mut environment = Environment::new(saved.config, opponents)?;
        environment.enter(saved);
        Ok(environment)
    }

    /// Goes on as the environment of equal settings that [`Environment::save`] wrote, with the
    /// present opponents; only the number of threads may differ.
    ///
    /// # Errors
    /// As [`Environment::restore`]; [`SnapshotError::Settings`] for other settings. Nothing has
    /// changed then.
    pub fn set_state(&mut self, bytes: &[u8]) -> Result<(), EnvironmentError> {
        let own = self.config;
        let saved = Saved::read(bytes, |theirs| {
            theirs.num_threads = own.batch.num_threads;
            theirs.instructions = own.batch.instructions;
        })?;
        if saved.config != own {
            let theirs = saved.config;
            let message =
                format!("the snapshot is of other settings: {theirs:?}, expected {own:?}");
            return Err(BatchError::from(SnapshotError::Settings(message)).into());
        }
        saved.check_kind(!self.opponents.is_empty())?;
        self.enter(saved);
        Ok(())
    }

    fn enter(&mut self, saved: Saved) {
        self.batch = saved.batch;
        if self.rows.unreported.is_empty() {
            return;
        }
        self.rows = Rows::new(&self.batch, &self.opponents);
        for (row, (unreported, words)) in saved.rows.into_iter().enumerate() {
            self.enter_game(row);
            put(&mut self.rows.unreported, row, unreported);
            if let Some(stream) = self.rows.streams.get_mut(row) {
                *stream = rng::stream_of_words(words);
            }
        }
    }
}

impl Saved {
    /// Refuses a snapshot of games with opponents in self-play, and the other way round.
    fn check_kind(&self, with_opponents: bool) -> Result<(), SnapshotError> {
        if self.with_opponents == with_opponents {
            return Ok(());
        }
        let kind = |with| {
            if with {
                "with opponents"
            } else {
                "of self-play"
            }
        };
        Err(SnapshotError::Settings(format!(
            "the snapshot is of an environment {}, but this one is {}",
            kind(self.with_opponents),
            kind(with_opponents)
        )))
    }

    /// Reads what bytes hold, with settings changed that no result depends on.
    fn read(bytes: &[u8], change: impl Fn(&mut BatchConfig)) -> Result<Saved, EnvironmentError> {
        let (mut config, games, rows) = Saved::read_parts(bytes)?;
        change(&mut config.batch);
        let games = Batch::restore_as(games, change)?;
        let with_opponents = bytes.get(12) == Some(&1);
        let unreported = |row: &usize| rows.get(*row).is_some_and(|(unreported, _)| *unreported);
        let finished = games.finished_rows();
        let wrong = (0..games.rows()).find(|row| unreported(row) && !contains(&finished, *row));
        if let Some(row) = wrong {
            let field = "unreported";
            return Err(BatchError::from(SnapshotError::Field {
                row,
                field,
                value: 1,
            })
            .into());
        }
        if *games.config() != config.of_batch(usize::from(with_opponents)) {
            let message = "the games are of other settings than the environment".to_owned();
            return Err(BatchError::from(SnapshotError::Settings(message)).into());
        }
        Ok(Saved {
            config,
            with_opponents,
            batch: games,
            rows,
        })
    }

    #[allow(clippy::type_complexity)] // The parts of a snapshot, taken apart at once.
    fn read_parts(
        bytes: &[u8],
    ) -> Result<(EnvironmentConfig, &[u8], Vec<(bool, [u32; 4])>), SnapshotError> {
        let mut reader = Reader { bytes };
        let short = || SnapshotError::Length {
            got: bytes.len(),
            expected: bytes.len() + 1,
        };
        if reader.take::<8>() != Some(MAGIC) {
            return Err(SnapshotError::NotASnapshot);
        }
        let got = reader.u32().ok_or_else(short)?;
        if got != VERSION {
            let expected = VERSION;
            return Err(SnapshotError::Version { got, expected });
        }
        let with_opponents = reader.take::<1>().ok_or_else(short)? == [1];
        let length = reader.u32().ok_or_else(short)? as usize;
        let settings = reader.slice(length).ok_or_else(short)?;
        let games = u64::from_le_bytes(reader.take().ok_or_else(short)?);
        let games = usize::try_from(games).map_err(|_| short())?;
        let games = reader.slice(games).ok_or_else(short)?;
        let row_bytes = if with_opponents { 17 } else { 1 };
        let rest = reader.bytes.len().checked_sub(CHECKSUM_BYTES);
        let rest = rest.ok_or_else(short)?;
        let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM_BYTES);
        if fnv(content).to_le_bytes() != checksum {
            return Err(SnapshotError::Checksum);
        }
        let config: EnvironmentConfig = serde_json::from_slice(settings).map_err(broken)?;
        let expected = config.batch.rows.saturating_mul(row_bytes);
        if rest != expected {
            return Err(SnapshotError::Length {
                got: bytes.len(),
                expected: bytes.len() - rest + expected,
            });
        }
        let rows = (0..config.batch.rows)
            .map(|_| {
                let unreported = reader.number::<1>() != 0;
                let mut words = [0; 4];
                if with_opponents {
                    words = words.map(|_: u32| reader.number::<4>() as u32);
                }
                (unreported, words)
            })
            .collect();
        Ok((config, games, rows))
    }
}

#[allow(clippy::needless_pass_by_value)] // As `map_err` gives it.
fn broken(error: serde_json::Error) -> SnapshotError {
    SnapshotError::Settings(error.to_string())
}
