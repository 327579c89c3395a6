//! What a solver knows, kept in a file so that a long proof can go on another day.
//!
//! | bytes | holds |
//! |---|---|
//! | 8 | `EDPROOF` and a zero byte |
//! | 4 | version of the format, 1 |
//! | 4 | length of the header `H` |
//! | `H` | the header, a JSON object: `ruleset`, `seeds`, `entries` |
//! | 16 for each entry | tag and what is known, see `memory` |
//! | 4 | CRC-32 of everything before |
//!
//! Numbers are little-endian.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::ruleset::Ruleset;
use crate::search::solver::solution::SolveError;
use crate::whole_file::replace_whole;

const MAGIC: [u8; 8] = *b"EDPROOF\0";

/// The version of the format that is written, and the only one that is read.
const VERSION: u32 = 1;

/// A header is never longer.
const MAX_HEADER: u32 = 1 << 16;

/// What a file says of its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) ruleset: Ruleset,
    /// The most seeds of a board: what names it depends on them.
    pub(super) seeds: u32,
    pub(super) entries: u64,
}

/// A writer or reader that sums up what passes.
struct Summed<T> {
    inner: T,
    hasher: crc32fast::Hasher,
}

impl<T> Summed<T> {
    fn new(inner: T) -> Summed<T> {
        Summed {
            inner,
            hasher: crc32fast::Hasher::new(),
        }
    }

    fn sum(&self) -> u32 {
        self.hasher.clone().finalize()
    }
}

impl<T: Write> Summed<T> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.inner.write_all(bytes)
    }
}

impl<T: Read> Summed<T> {
    fn take<const SIZE: usize>(&mut self) -> io::Result<[u8; SIZE]> {
        let mut bytes = [0; SIZE];
        self.inner.read_exact(&mut bytes)?;
        self.hasher.update(&bytes);
        Ok(bytes)
    }
}

fn io_error(path: &Path) -> impl Fn(io::Error) -> SolveError + '_ {
    |error| SolveError::Io {
        path: path.to_owned(),
        error,
    }
}

/// Writes entries under a temporary name and renames it; nothing is left behind if that fails.
pub(super) fn save(
    path: &Path,
    header: &Header,
    entries: impl Iterator<Item = [u64; 2]>,
) -> Result<(), SolveError> {
    let write = |temporary: &Path| write(temporary, header, entries).map_err(io_error(path));
    replace_whole(path, write, io_error(path))
}

fn write(path: &Path, header: &Header, entries: impl Iterator<Item = [u64; 2]>) -> io::Result<()> {
    let json = serde_json::to_vec(header)?;
    let mut out = Summed::new(BufWriter::new(File::create(path)?));
    out.put(&MAGIC)?;
    out.put(&VERSION.to_le_bytes())?;
    out.put(&(json.len() as u32).to_le_bytes())?;
    out.put(&json)?;
    for [tag, known] in entries {
        out.put(&tag.to_le_bytes())?;
        out.put(&known.to_le_bytes())?;
    }
    let sum = out.sum();
    out.put(&sum.to_le_bytes())?;
    let file = out
        .inner
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    file.sync_all()
}

/// Reads a file: `begin` is given the header, then `each` every entry.
///
/// Entries are handed on before the sum at the end is known: the caller throws them away on an
/// error.
pub(super) fn load<T>(
    path: &Path,
    begin: impl FnOnce(&Header) -> Result<T, SolveError>,
    mut each: impl FnMut(&T, [u64; 2]),
) -> Result<T, SolveError> {
    let foreign = |message: String| SolveError::File {
        path: path.to_owned(),
        message,
    };
    let cut = |error: io::Error| match error.kind() {
        io::ErrorKind::UnexpectedEof => foreign("it is cut short".to_owned()),
        _ => io_error(path)(error),
    };
    let file = File::open(path).map_err(io_error(path))?;
    let mut from = Summed::new(BufReader::with_capacity(1 << 20, file));
    if from.take::<8>().map_err(cut)? != MAGIC {
        return Err(foreign("it holds no proofs of a solver".to_owned()));
    }
    let version = u32::from_le_bytes(from.take().map_err(cut)?);
    if version != VERSION {
        return Err(foreign(format!(
            "its format is {version}, expected {VERSION}"
        )));
    }
    let length = u32::from_le_bytes(from.take().map_err(cut)?);
    if length > MAX_HEADER {
        return Err(foreign(format!(
            "its header has {length} bytes, expected at most {MAX_HEADER}"
        )));
    }
    let mut json = vec![0; length as usize];
    from.inner.read_exact(&mut json).map_err(cut)?;
    from.hasher.update(&json);
    let header: Header = serde_json::from_slice(&json)
        .map_err(|error| foreign(format!("its header is damaged: {error}")))?;
    let made = begin(&header)?;
    for _ in 0..header.entries {
        let tag = u64::from_le_bytes(from.take().map_err(cut)?);
        let known = u64::from_le_bytes(from.take().map_err(cut)?);
        each(&made, [tag, known]);
    }
    let sum = from.sum();
    if u32::from_le_bytes(from.take().map_err(cut)?) != sum {
        return Err(foreign("its checksum is wrong".to_owned()));
    }
    match from.inner.read(&mut [0]) {
        Ok(0) => Ok(made),
        Ok(_) => Err(foreign("it goes on after its end".to_owned())),
        Err(error) => Err(io_error(path)(error)),
    }
}
