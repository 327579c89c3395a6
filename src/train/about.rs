//! What the program is built of and what it finds on this machine.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::batch::Instructions;

/// The library whose place tells where libtorch is.
const LIBRARY: &str = "libtorch_cpu.";

/// What the program is built of and what it finds on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct About {
    /// Version of the program.
    pub version: &'static str,
    /// Commit it was built from, `unknown` where there is none.
    pub commit: &'static str,
    /// The libtorch in use, `None` where the system does not tell.
    pub libtorch: Option<Libtorch>,
    /// GPUs that libtorch can compute on.
    pub gpus: i64,
    /// Threads of a run that asks for one on every core.
    pub threads: usize,
    /// The fastest instructions of this processor that games are played with.
    pub instructions: &'static str,
}

/// A libtorch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Libtorch {
    /// Its folder of libraries.
    pub folder: PathBuf,
    /// Its version, `None` where no file beside it tells.
    pub version: Option<String>,
}

impl About {
    /// Looks at the program as it runs.
    pub fn program() -> About {
        About {
            version: env!("CARGO_PKG_VERSION"),
            commit: env!("ENDODOI_COMMIT"),
            libtorch: Libtorch::loaded(),
            gpus: tch::Cuda::device_count(),
            threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            instructions: Instructions::best().name(),
        }
    }
}

impl Libtorch {
    /// Finds the libtorch that this process has loaded.
    pub fn loaded() -> Option<Libtorch> {
        let maps = fs::read_to_string("/proc/self/maps").ok()?;
        let folder = maps.lines().find_map(library_folder)?;
        let version = version_beside(&folder);
        Some(Libtorch { folder, version })
    }
}

/// Returns the folder of libtorch if a line of the process's memory map names it.
fn library_folder(line: &str) -> Option<PathBuf> {
    let path = Path::new(line.get(line.find('/')?..)?);
    let name = path.file_name()?.to_str()?;
    name.starts_with(LIBRARY)
        .then(|| path.parent().map(Path::to_path_buf))?
}

/// Reads the version of a libtorch: beside its folder of libraries stands `build-version`, or
/// `version.py` where it is a part of PyTorch.
fn version_beside(folder: &Path) -> Option<String> {
    let beside = folder.parent()?;
    if let Ok(text) = fs::read_to_string(beside.join("build-version")) {
        return Some(text.trim().to_owned());
    }
    let text = fs::read_to_string(beside.join("version.py")).ok()?;
    let line = text.lines().find(|line| line.starts_with("__version__"))?;
    Some(line.split(['\'', '"']).nth(1)?.to_owned())
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "version       {}", self.version)?;
        writeln!(f, "commit        {}", self.commit)?;
        match &self.libtorch {
            Some(Libtorch { folder, version }) => {
                let version = version.as_deref().unwrap_or("of unknown version");
                writeln!(f, "libtorch      {version} in {}", folder.display())?;
            }
            None => writeln!(f, "libtorch      not found in this process")?,
        }
        writeln!(f, "GPUs          {}", self.gpus)?;
        writeln!(f, "threads       {}", self.threads)?;
        write!(f, "instructions  {}", self.instructions)
    }
}

#[cfg(test)]
mod tests {
    use super::{library_folder, version_beside};
    use std::fs;
    use std::path::PathBuf;

    #[test]
    fn the_folder_of_the_library_is_read_from_a_memory_map() {
        let line = "7f00-7f01 r-xp 00000000 08:01 42   /opt/a folder/lib/libtorch_cpu.so";
        assert_eq!(
            library_folder(line),
            Some(PathBuf::from("/opt/a folder/lib"))
        );
        assert_eq!(
            library_folder("7f00-7f01 r-xp 0 08:01 42 /usr/lib/libc.so.6"),
            None
        );
        assert_eq!(library_folder("7f00-7f01 rw-p 0 00:00 0"), None);
    }

    #[test]
    fn the_version_stands_in_either_of_two_files() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let lib = folder.path().join("lib");
        assert_eq!(version_beside(&lib), None);
        let python = "from typing import Optional\n__version__ = '2.13.0+cu130'\ndebug = False\n";
        fs::write(folder.path().join("version.py"), python)?;
        assert_eq!(version_beside(&lib).as_deref(), Some("2.13.0+cu130"));
        fs::write(folder.path().join("build-version"), "2.13.0\n")?;
        assert_eq!(version_beside(&lib).as_deref(), Some("2.13.0"));
        Ok(())
    }
}
