//! Files of tables.
//!
//! | bytes | holds |
//! |---|---|
//! | 8 | `EDTABLE` and a zero byte |
//! | 4 | version of the format, 1 |
//! | 4 | length of the header `H` |
//! | 4 | CRC-32 of everything before and of the header |
//! | `H` | the header, a JSON object, and spaces, so that the values begin at a multiple of 4,096 |
//! | `positions` | the values, one signed byte each, in the order of [`Ranking`] |
//! | 4 for each block | CRC-32 of every 1,048,576 values |
//!
//! Numbers are little-endian. The header has the keys `ruleset`, `max_seeds`, `positions`.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::ruleset::Ruleset;
use crate::search::endgame::TableError;
use crate::search::endgame::build::{TableProgress, WatchTable, check_rules};
use crate::search::endgame::map::Map;
use crate::search::endgame::ranking::Ranking;
use crate::whole_file::replace_whole;

/// The version of the format that is written, and the only one that is read.
pub const TABLE_FORMAT_VERSION: u32 = 1;

/// Values that share a checksum.
pub(super) const BLOCK: usize = 1 << 20;

const MAGIC: [u8; 8] = *b"EDTABLE\0";

/// Bytes before the header: the magic bytes and three numbers.
const FIXED: usize = 20;

/// The values begin at a multiple of this, as systems map files.
const PAGE: usize = 1 << 12;

/// A header is never longer.
const MAX_HEADER: u32 = 1 << 16;

/// What a file says of its table.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    ruleset: Ruleset,
    max_seeds: u32,
    positions: u64,
}

/// An open file: what it says, and its values where they lie.
#[derive(Debug)]
pub(super) struct TableFile {
    pub(super) path: PathBuf,
    pub(super) ruleset: Ruleset,
    pub(super) ranking: Ranking,
    map: Map,
    /// Where the values begin.
    start: usize,
    positions: usize,
}

fn io_error(path: &Path) -> impl Fn(io::Error) -> TableError + '_ {
    |error| TableError::Io {
        path: path.to_owned(),
        error,
    }
}

fn checksum(parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize()
}

/// Returns the checksum of a block of values.
pub(super) fn block_checksum(values: &[u8]) -> u32 {
    checksum(&[values])
}

/// Reads the number at a place that the bytes hold.
fn number(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..).and_then(<[u8]>::first_chunk);
    four.map_or(0, |&four| u32::from_le_bytes(four))
}

impl TableFile {
    /// Opens a file and checks its header and length, not its values.
    pub(super) fn open(path: &Path) -> Result<TableFile, TableError> {
        let mut file = File::open(path).map_err(io_error(path))?;
        let found = file.metadata().map_err(io_error(path))?.len();
        let length = |expected: u64| TableError::Length {
            path: path.to_owned(),
            found,
            expected,
        };
        let mut fixed = Vec::new();
        let read = (&mut file).take(FIXED as u64).read_to_end(&mut fixed);
        read.map_err(io_error(path))?;
        if !fixed.starts_with(&MAGIC) {
            return Err(TableError::NotATable {
                path: path.to_owned(),
            });
        }
        if fixed.len() < FIXED {
            return Err(length(FIXED as u64));
        }
        let version = number(&fixed, 8);
        if version != TABLE_FORMAT_VERSION {
            return Err(TableError::FormatVersion {
                path: path.to_owned(),
                found: version,
            });
        }
        let header_error = |message: &str| TableError::Header {
            path: path.to_owned(),
            message: message.to_owned(),
        };
        let header_len = number(&fixed, 12);
        if header_len > MAX_HEADER {
            return Err(header_error("its length is damaged"));
        }
        let start = FIXED + header_len as usize;
        if found < start as u64 {
            return Err(length(start as u64));
        }
        let mut json = vec![0; header_len as usize];
        file.read_exact(&mut json).map_err(io_error(path))?;
        if checksum(&[&fixed[..16], &json]) != number(&fixed, 16) {
            return Err(header_error("its checksum is wrong"));
        }
        let header: Header =
            serde_json::from_slice(&json).map_err(|error| header_error(&error.to_string()))?;
        check_rules(&header.ruleset).map_err(|error| header_error(&error.to_string()))?;
        let ranking = Ranking::new(header.ruleset.columns(), header.max_seeds)
            .map_err(|error| header_error(&error.to_string()))?;
        let positions = ranking.positions();
        if header.positions != positions {
            return Err(header_error("its number of positions is wrong"));
        }
        let expected = start as u64 + positions + 4 * positions.div_ceil(BLOCK as u64);
        if found != expected {
            return Err(length(expected));
        }
        Ok(TableFile {
            path: path.to_owned(),
            ruleset: header.ruleset,
            ranking,
            map: Map::open(&file, expected).map_err(io_error(path))?,
            start,
            positions: positions as usize,
        })
    }

    /// Returns the values.
    #[inline]
    pub(super) fn values(&self) -> &[u8] {
        &self.map.bytes()[self.start..self.start + self.positions]
    }

    /// Checks the values of a block against its checksum.
    pub(super) fn check_block(&self, block: usize) -> Result<(), TableError> {
        let first = block * BLOCK;
        let end = self.positions.min(first + BLOCK);
        let written = number(self.map.bytes(), self.start + self.positions + 4 * block);
        if block_checksum(&self.values()[first..end]) == written {
            return Ok(());
        }
        Err(TableError::Damaged {
            path: self.path.clone(),
            block,
            first: first as u64,
            last: end as u64 - 1,
        })
    }
}

/// Writes a table under a temporary name and renames it.
///
/// Nothing is left behind when that fails or `watch` breaks.
pub(super) fn save(
    path: &Path,
    (ruleset, ranking): (&Ruleset, &Ranking),
    values: &[u8],
    replace: bool,
    watch: &mut WatchTable<'_>,
) -> Result<(), TableError> {
    check_new(path, replace)?;
    let header = Header {
        ruleset: *ruleset,
        max_seeds: ranking.max_seeds(),
        positions: ranking.positions(),
    };
    let write = |temporary: &Path| {
        write(temporary, &header, values, watch)?;
        check_new(path, replace)
    };
    replace_whole(path, write, io_error(path))
}

/// Refuses to write over a file unless that is asked for.
pub(super) fn check_new(path: &Path, replace: bool) -> Result<(), TableError> {
    if !replace && path.exists() {
        return Err(TableError::Exists {
            path: path.to_owned(),
        });
    }
    Ok(())
}

fn write(
    path: &Path,
    header: &Header,
    values: &[u8],
    watch: &mut WatchTable<'_>,
) -> Result<(), TableError> {
    let header_error = |error: serde_json::Error| TableError::Header {
        path: path.to_owned(),
        message: error.to_string(),
    };
    let mut json = serde_json::to_vec(header).map_err(header_error)?;
    json.resize((FIXED + json.len()).next_multiple_of(PAGE) - FIXED, b' ');
    let mut fixed = MAGIC.to_vec();
    fixed.extend(TABLE_FORMAT_VERSION.to_le_bytes());
    fixed.extend((json.len() as u32).to_le_bytes());
    let sum = checksum(&[&fixed, &json]);
    fixed.extend(sum.to_le_bytes());

    let file = File::create(path).map_err(io_error(path))?;
    let mut out = BufWriter::new(file);
    let mut put = |bytes: &[u8]| out.write_all(bytes).map_err(io_error(path));
    put(&fixed)?;
    put(&json)?;
    let mut sums = Vec::new();
    for (block, values_of_block) in values.chunks(BLOCK).enumerate() {
        put(values_of_block)?;
        sums.extend(block_checksum(values_of_block).to_le_bytes());
        let progress = TableProgress {
            seeds: header.max_seeds,
            done: ((block + 1) * BLOCK).min(values.len()) as u64,
            positions: header.positions,
        };
        if let ControlFlow::Break(()) = watch(progress) {
            return Err(progress.stopped());
        }
    }
    put(&sums)?;
    let file = out
        .into_inner()
        .map_err(|error| io_error(path)(error.into_error()))?;
    file.sync_all().map_err(io_error(path))
}
