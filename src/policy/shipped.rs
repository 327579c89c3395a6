//! Agents that come with a package, found by their names.
//!
//! A package that ships agents names their folder once. From then on `agent:NAME` means the file
//! `NAME.safetensors` in it, unless there is a file or folder of that name. Specifications keep the
//! name, so that they mean the same on every machine that has the package.

use std::path::{Component, Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// How the names of agent files end.
const ENDING: &str = "safetensors";

/// The folder, `None` where nothing is shipped.
static FOLDER: RwLock<Option<PathBuf>> = RwLock::new(None);

/// Names the folder whose agents are found by name, for the whole process; `None` for no folder.
///
/// Returns the folder named before.
pub fn set_agents_folder(folder: Option<PathBuf>) -> Option<PathBuf> {
    let mut named = FOLDER.write().unwrap_or_else(PoisonError::into_inner);
    std::mem::replace(&mut *named, folder)
}

/// Lists the names of the agents in the folder, sorted.
pub fn shipped_agents() -> Vec<String> {
    let named = FOLDER.read().unwrap_or_else(PoisonError::into_inner);
    let Some(entries) = named.as_ref().and_then(|folder| folder.read_dir().ok()) else {
        return Vec::new();
    };
    let mut found: Vec<String> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == ENDING))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    found.sort();
    found
}

/// Returns the file of the agent that a path names, if it is a name and there is such an agent.
pub(super) fn shipped_file(path: &Path) -> Option<PathBuf> {
    let name = name_of(path)?;
    let named = FOLDER.read().unwrap_or_else(PoisonError::into_inner);
    let file = named.as_ref()?.join(format!("{name}.{ENDING}"));
    file.is_file().then_some(file)
}

/// Returns a path as a name: one word, without the ending of a file.
pub(super) fn name_of(path: &Path) -> Option<&str> {
    let mut parts = path.components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(name)), None) if path.extension().is_none_or(|e| e != ENDING) => {
            name.to_str()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word_without_the_ending_of_a_file() {
        assert_eq!(name_of(Path::new("en-dodoi-2x6")), Some("en-dodoi-2x6"));
        for path in [
            "",
            "runs/first",
            "../en-dodoi",
            "/en-dodoi",
            "x.safetensors",
        ] {
            assert_eq!(name_of(Path::new(path)), None, "{path}");
        }
    }
}
