//! Batches as bytes.
//!
//! | bytes | hold |
//! |---|---|
//! | 8 | `EDBATCH` and a zero |
//! | 4 | format version |
//! | 4 | length of the settings |
//! | | [`BatchConfig`] as JSON |
//! | 28 + 2N for each row | status, side to move, quiet, captured (2), plies, row seed, episode; seeds of all pits in ring order |
//! | 8 | 64-bit FNV-1a of everything before |
//!
//! Numbers are little-endian. Legal columns and outcomes follow from the rest and are not kept.
//! A stream of random numbers is a function of (row seed, episode), so that these two are the
//! whole state of a row's generators.

use crate::batch::block::{Row, Status};
use crate::batch::config::BatchConfig;
use crate::batch::engine::Batch;
use crate::batch::error::{BatchError, SnapshotError};
use crate::batch::{EndCode, LANES};
use crate::pit::MAX_PITS;
use crate::position::{EndReason, Position, Setup};
use crate::side::Side;

const MAGIC: [u8; 8] = *b"EDBATCH\0";
const VERSION: u32 = 1;
const CHECKSUM_BYTES: usize = 8;
/// Bytes of a row besides its pits.
const ROW_BYTES: usize = 1 + 1 + 2 + 4 + 4 + 8 + 8;

impl Batch {
    /// Writes the settings, every game and the state of every generator as bytes.
    ///
    /// The bytes are of one format version; [`Batch::restore`] refuses others.
    ///
    /// ```
    /// use endodoi::batch::{Batch, BatchConfig, Seeds, StepArrays};
    /// use endodoi::Variant;
    /// let mut batch = Batch::new(BatchConfig::new(2, Variant::EnDodoi.ruleset()))?;
    /// batch.reset(Some(&Seeds::Integer(1)), None)?;
    /// let mut arrays = StepArrays::new(&batch);
    /// batch.step(&[3, 0], arrays.buffers())?;
    /// let restored = Batch::restore(&batch.save()?)?;
    /// assert_eq!(restored.position(1)?, batch.position(1)?);
    /// # Ok::<(), endodoi::batch::BatchError>(())
    /// ```
    ///
    /// # Errors
    /// [`SnapshotError::Settings`] only if the settings cannot be serialised, which no settings
    /// are known to make happen.
    pub fn save(&self) -> Result<Vec<u8>, BatchError> {
        let settings = serde_json::to_vec(self.config()).map_err(|error| settings_error(&error))?;
        let row_bytes = row_bytes(self.ruleset().pits());
        let mut bytes = Vec::with_capacity(16 + settings.len() + self.rows() * row_bytes + 8);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((settings.len() as u32).to_le_bytes());
        bytes.extend(settings);
        for block in self.blocks() {
            for lane in 0..block.rows {
                write_row(
                    &mut bytes,
                    &block.row(lane, self.ruleset()),
                    self.ruleset().pits(),
                );
            }
        }
        bytes.extend(fnv(&bytes).to_le_bytes());
        Ok(bytes)
    }

    /// Makes the batch that [`Batch::save`] wrote; it goes on exactly as the saved one.
    ///
    /// # Errors
    /// [`BatchError::Snapshot`] for bytes of another format or version, cut short, changed, or
    /// holding what no game can have; [`BatchError`] as [`Batch::new`].
    pub fn restore(bytes: &[u8]) -> Result<Batch, BatchError> {
        Batch::restore_as(bytes, |_| ())
    }

    /// Makes the batch that [`Batch::save`] wrote with settings changed that no result depends on.
    pub(crate) fn restore_as(
        bytes: &[u8],
        change: impl FnOnce(&mut BatchConfig),
    ) -> Result<Batch, BatchError> {
        let mut reader = Reader { bytes };
        if reader.take::<8>() != Some(MAGIC) {
            return Err(SnapshotError::NotASnapshot.into());
        }
        let short = |expected| SnapshotError::Length {
            got: bytes.len(),
            expected,
        };
        let got = reader.u32().ok_or(short(16))?;
        if got != VERSION {
            let expected = VERSION;
            return Err(SnapshotError::Version { got, expected }.into());
        }
        let length = reader.u32().ok_or(short(16))? as usize;
        let settings = reader
            .slice(length)
            .ok_or(short(length.saturating_add(16)))?;
        let mut config: BatchConfig =
            serde_json::from_slice(settings).map_err(|error| settings_error(&error))?;
        change(&mut config);
        config.check()?;
        let pits = config.ruleset.pits();
        let expected = 16 + length + config.rows * row_bytes(pits) + CHECKSUM_BYTES;
        if bytes.len() != expected {
            return Err(short(expected).into());
        }
        let (content, checksum) = bytes.split_at(expected - CHECKSUM_BYTES);
        if fnv(content).to_le_bytes() != checksum {
            return Err(SnapshotError::Checksum.into());
        }
        let mut batch = Batch::new(config)?;
        for index in 0..config.rows {
            let row = read_row(&mut reader, index, &config)?;
            batch.blocks_mut()[index / LANES].restore(index % LANES, &row, &config.ruleset);
        }
        Ok(batch)
    }
}

fn settings_error(error: &serde_json::Error) -> SnapshotError {
    SnapshotError::Settings(error.to_string())
}

const fn row_bytes(pits: usize) -> usize {
    ROW_BYTES + 2 * pits
}

const fn status_code(status: Status) -> u8 {
    match status {
        Status::NotReset => 0,
        Status::Open => 1,
        Status::Finished(end) => 2 + end.code() as u8,
    }
}

fn status_of(code: u8) -> Option<Status> {
    match code {
        0 => Some(Status::NotReset),
        1 => Some(Status::Open),
        _ => EndCode::of_code((code - 2) as i8)
            .filter(|&end| end.code() <= EndCode::Illegal.code())
            .map(Status::Finished),
    }
}

fn write_row(bytes: &mut Vec<u8>, row: &Row, pits: usize) {
    bytes.push(status_code(row.status));
    bytes.push(row.to_move.index() as u8);
    bytes.extend(row.quiet.to_le_bytes());
    for captured in row.captured {
        bytes.extend(captured.to_le_bytes());
    }
    bytes.extend(row.plies.to_le_bytes());
    bytes.extend(row.row_seed.to_le_bytes());
    bytes.extend(row.episode.to_le_bytes());
    for seeds in &row.pits[..pits] {
        bytes.extend(seeds.to_le_bytes());
    }
}

/// Reads one row and checks that a game can stand so.
fn read_row(
    reader: &mut Reader<'_>,
    index: usize,
    config: &BatchConfig,
) -> Result<Row, SnapshotError> {
    let bad = |field, value| SnapshotError::Field {
        row: index,
        field,
        value,
    };
    let code = reader.number::<1>();
    let status = status_of(code as u8).ok_or(bad("status", code))?;
    let side = reader.number::<1>();
    let to_move = *Side::BOTH
        .get(side as usize)
        .ok_or(bad("side to move", side))?;
    let quiet = reader.number::<2>();
    let captured = [reader.number::<2>(), reader.number::<2>()];
    let plies = reader.number::<4>();
    let capped = config.max_plies.is_some_and(|cap| plies >= u64::from(cap));
    if plies > i32::MAX as u64 || (status == Status::Open && capped) {
        return Err(bad("plies", plies));
    }
    let (row_seed, episode) = (reader.number::<8>(), reader.number::<8>());
    let columns = config.ruleset.columns();
    let mut read_side =
        || -> Vec<i64> { (0..columns).map(|_| reader.number::<2>() as i64).collect() };
    let setup = Setup {
        south: read_side(),
        north: read_side(),
        to_move,
        captured: captured.map(|seeds| seeds as i64),
        quiet: quiet as i64,
    };
    let position = setup
        .position(&config.ruleset)
        .map_err(|error| SnapshotError::Position { row: index, error })?;
    if status != Status::NotReset && position.end_reason() != rule_end(status) {
        return Err(bad("status", code));
    }
    Ok(row_of(&position, status, (plies, row_seed, episode)))
}

/// Returns how the position of a game that stands so has ended by itself.
const fn rule_end(status: Status) -> Option<EndReason> {
    match status {
        Status::Finished(EndCode::Stuck) => Some(EndReason::Stuck),
        Status::Finished(EndCode::Quiet) => Some(EndReason::Quiet),
        _ => None,
    }
}

fn row_of(position: &Position, status: Status, (plies, row_seed, episode): (u64, u64, u64)) -> Row {
    let mut pits = [0; MAX_PITS];
    let board = position.board();
    pits[..board.pits().len()].copy_from_slice(board.pits());
    Row {
        status,
        to_move: position.to_move(),
        quiet: position.quiet(),
        captured: board.captured(),
        plies: plies as u32,
        row_seed,
        episode,
        pits,
        legal: position.legal_moves(),
    }
}

/// Reads numbers off the front of the bytes.
pub(crate) struct Reader<'a> {
    pub(crate) bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn slice(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.bytes.split_at_checked(length)?;
        self.bytes = tail;
        Some(head)
    }

    pub(crate) fn take<const LENGTH: usize>(&mut self) -> Option<[u8; LENGTH]> {
        self.slice(LENGTH)?.try_into().ok()
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    /// Reads a number of `LENGTH` bytes (at most 8); the length of the snapshot has been checked.
    pub(crate) fn number<const LENGTH: usize>(&mut self) -> u64 {
        let bytes = self.slice(LENGTH).unwrap_or_default();
        bytes
            .iter()
            .rev()
            .fold(0, |number, &byte| number << 8 | u64::from(byte))
    }
}

/// Hashes bytes by 64-bit FNV-1a (Fowler, Noll and Vo).
pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}
