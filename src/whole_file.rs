//! Files that are whole or not there.

use std::fs;
use std::io;
use std::path::Path;

/// The end of the names of files that are being written.
pub(crate) const TEMPORARY: &str = ".part";

/// Lets `write` write a file under a temporary name beside `path`, then renames it.
///
/// # Errors
/// Those of `write`, and what `io_error` makes of the file system's refusal to rename; the
/// temporary file is removed and an older file stays.
pub(crate) fn replace_whole<E>(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<(), E>,
    io_error: impl FnOnce(io::Error) -> E,
) -> Result<(), E> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}{TEMPORARY}", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = write(&temporary).and_then(|()| fs::rename(&temporary, path).map_err(io_error));
    if written.is_err() {
        // The first error is the one to tell; a leftover of a run is removed when it starts again.
        let _ = fs::remove_file(&temporary);
    }
    written
}
