//! Bytes of a file, read when they are looked at.

// The only reason for `unsafe` here is the call that maps a file, see below.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;

use memmap2::{Mmap, MmapOptions};

/// The bytes of a file from the first on, as many as it had when it was opened.
#[derive(Debug)]
pub(super) struct Map(Mmap);

impl Map {
    /// Maps the first `len` bytes of a file that is at least that long.
    ///
    /// # Errors
    /// Those of the system, and one for a file that is shorter.
    pub(super) fn open(file: &File, len: u64) -> io::Result<Map> {
        let short = || io::Error::new(io::ErrorKind::UnexpectedEof, "the file is shorter");
        if file.metadata()?.len() < len {
            return Err(short());
        }
        let len = usize::try_from(len).map_err(|_| short())?;
        // SAFETY: the map is private to this process and only read, as bytes, for which every
        // pattern is valid. It lies within the file, as checked above. A table is written under
        // another name and renamed, so that the file mapped never changes under a reader; someone
        // who overwrites or cuts it in place all the same changes or ends this process's view of
        // it, which no check here could prevent, and which is said where tables are opened.
        let map = unsafe { MmapOptions::new().len(len).map(file)? };
        Ok(Map(map))
    }

    /// Returns the bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
// A helper of a test fails as loudly as a test.
#[allow(clippy::expect_used)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_is_mapped_as_far_as_it_reaches() {
        let mut file = tempfile::tempfile().expect("a folder for temporary files");
        file.write_all(b"seeds").expect("room");
        assert_eq!(Map::open(&file, 5).expect("whole").bytes(), b"seeds");
        assert_eq!(Map::open(&file, 3).expect("a part").bytes(), b"see");
        file.set_len(4).expect("cut");
        let error = Map::open(&file, 5).expect_err("cut");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
