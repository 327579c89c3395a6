//! Measurements as the event files that `TensorBoard` reads.
//!
//! A file is a row of records: the length of the data in eight bytes, its checksum, the data, its
//! checksum; all little-endian. The data is an `Event` of `TensorFlow` as a protocol buffer, of
//! which only these fields are written: `wall_time` (1), `step` (2), `file_version` (3, of the first
//! event), `summary` (5), a list of `value` (1) with `tag` (1) and `simple_value` (2), and
//! `session_log` (7, of the second event) with `status` (1).

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crc::{CRC_32_ISCSI, Crc};

use super::TrainError;

/// The first event of a file says which records follow.
const VERSION: &str = "brain.Event:2";

const CASTAGNOLI: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);

/// Added to a checksum turned by 15 bits, so that one of data that holds checksums is sound.
const MASK: u32 = 0xA282_EAD8;

/// A field's number and how it is written, as the key before it.
const fn key(field: u8, kind: u8) -> u8 {
    field << 3 | kind
}

const VARINT: u8 = 0;
const EIGHT_BYTES: u8 = 1;
const BYTES: u8 = 2;
const FOUR_BYTES: u8 = 5;

/// The events of one part of a run.
#[derive(Debug)]
pub struct EventFile {
    path: PathBuf,
    file: File,
}

impl EventFile {
    /// Makes a new file in `folder`, named after the time and the process: a run that goes on has
    /// one more, and `TensorBoard` joins them.
    ///
    /// `first` is the first step of this part: what an earlier file tells of it and of later ones
    /// is dropped, since it is played again.
    ///
    /// # Errors
    /// [`TrainError::File`] when it cannot be made.
    pub fn create(folder: &Path, first: u64) -> Result<EventFile, TrainError> {
        let now = wall_time();
        let name = format!(
            "events.out.tfevents.{:010}.{:09}.{}",
            now as u64,
            (now.fract() * 1e9) as u64,
            std::process::id()
        );
        let path = folder.join(name);
        let file = OpenOptions::new().create_new(true).append(true).open(&path);
        let mut file = file.map_err(|error| TrainError::file(&path, error))?;
        let mut version = event(now, 0);
        put_bytes(&mut version, 3, VERSION.as_bytes());
        let start = started(now, first);
        for event in [version, start] {
            write_record(&mut file, &event).map_err(|error| TrainError::file(&path, error))?;
        }
        Ok(EventFile { path, file })
    }

    /// Writes numbers by name as they are at a step of the optimiser.
    ///
    /// # Errors
    /// [`TrainError::File`] when they cannot be written.
    pub fn write(&mut self, step: u64, scalars: &[(String, f64)]) -> Result<(), TrainError> {
        let mut summary = Vec::new();
        for (tag, number) in scalars {
            let mut value = Vec::new();
            put_bytes(&mut value, 1, tag.as_bytes());
            value.push(key(2, FOUR_BYTES));
            value.extend((*number as f32).to_le_bytes());
            put_bytes(&mut summary, 1, &value);
        }
        let mut event = event(wall_time(), step);
        put_bytes(&mut event, 5, &summary);
        write_record(&mut self.file, &event).map_err(|error| TrainError::file(&self.path, error))
    }
}

/// Returns the seconds since 1970.
fn wall_time() -> f64 {
    // A clock before 1970 tells nothing.
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs_f64()
}

/// Begins an event with its time and step.
fn event(wall_time: f64, step: u64) -> Vec<u8> {
    let mut event = vec![key(1, EIGHT_BYTES)];
    event.extend(wall_time.to_le_bytes());
    event.push(key(2, VARINT));
    put_varint(&mut event, step);
    event
}

/// Returns the event after which only what was told of steps before `first` counts.
fn started(wall_time: f64, first: u64) -> Vec<u8> {
    const START: u8 = 1;
    let mut event = event(wall_time, first);
    put_bytes(&mut event, 7, &[key(1, VARINT), START]);
    event
}

/// Writes a number in groups of seven bits, the lowest first.
fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_bytes(out: &mut Vec<u8>, field: u8, bytes: &[u8]) {
    out.push(key(field, BYTES));
    put_varint(out, bytes.len() as u64);
    out.extend(bytes);
}

/// Writes a record at once, so that a run that is killed leaves whole ones.
fn write_record(out: &mut impl Write, data: &[u8]) -> io::Result<()> {
    let length = (data.len() as u64).to_le_bytes();
    let mut record = length.to_vec();
    record.extend(masked_checksum(&length).to_le_bytes());
    record.extend(data);
    record.extend(masked_checksum(data).to_le_bytes());
    out.write_all(&record)?;
    out.flush()
}

fn masked_checksum(data: &[u8]) -> u32 {
    CASTAGNOLI
        .checksum(data)
        .rotate_right(15)
        .wrapping_add(MASK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_castagnoli_masked() {
        // The check value that catalogues of checksums give, and an empty text.
        assert_eq!(CASTAGNOLI.checksum(b"123456789"), 0xE306_9283);
        assert_eq!(masked_checksum(b""), MASK);
        assert_eq!(
            masked_checksum(b"123456789"),
            0xE306_9283_u32.rotate_right(15).wrapping_add(MASK)
        );
    }

    #[test]
    fn a_record_has_the_bytes_that_tensorboard_writes() {
        let mut event = event(1.5, 300);
        let mut value = Vec::new();
        put_bytes(&mut value, 1, b"a/b");
        value.push(key(2, FOUR_BYTES));
        value.extend(0.25_f32.to_le_bytes());
        let mut summary = Vec::new();
        put_bytes(&mut summary, 1, &value);
        put_bytes(&mut event, 5, &summary);
        let mut record = Vec::new();
        assert!(write_record(&mut record, &event).is_ok());
        assert_eq!(record, GOLDEN);
    }

    #[test]
    fn a_start_has_the_bytes_that_tensorboard_writes() {
        let mut record = Vec::new();
        assert!(write_record(&mut record, &started(1.5, 300)).is_ok());
        assert_eq!(record, GOLDEN_START);
    }

    /// As written by the package tensorboard: an event of wall time 1.5, step 300, with the scalar
    /// `a/b` of 0.25.
    const GOLDEN: &[u8] =
        b"\x1a\x00\x00\x00\x00\x00\x00\x00\x12\x9b\xd8\x2d\x09\x00\x00\x00\x00\x00\x00\xf8\x3f\
        \x10\xac\x02\x2a\x0c\x0a\x0a\x0a\x03\x61\x2f\x62\x15\x00\x00\x80\x3e\xf9\xcd\xe7\xed";

    /// The same of the start of a part of a run at step 300.
    const GOLDEN_START: &[u8] =
        b"\x10\x00\x00\x00\x00\x00\x00\x00\x95\xfb\xfe\x18\x09\x00\x00\x00\x00\x00\x00\xf8\x3f\
        \x10\xac\x02\x3a\x02\x08\x01\x71\x3b\x78\x8a";
}
