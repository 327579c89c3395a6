//! Prepares the trainer's link step and names the commit it is built from.
//!
//! Without the feature `train` this sets `ENDODOI_COMMIT` to `unknown` and
//! does nothing else: a new commit never rebuilds the core or its tests.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let trains = env::var_os("CARGO_FEATURE_TRAIN").is_some();
    let release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = if trains && release { commit() } else { None };
    println!(
        "cargo::rustc-env=ENDODOI_COMMIT={}",
        commit.as_deref().unwrap_or("unknown")
    );
    // The build script of torch-sys passes on the folder it links from.
    if let (true, Some(folder)) = (trains, env::var_os("DEP_TCH_LIBTORCH_LIB")) {
        link_libtorch(Path::new(&folder));
    }
}

/// Lets the trainer and its tests find libtorch without any environment
/// variable, and keeps the CUDA library linked where there is one.
fn link_libtorch(folder: &Path) {
    for path in library_folders(folder) {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{}", path.display());
    }
    // Nothing refers to a symbol of torch_cuda (its kernels register
    // themselves when it is loaded), so a linker drops it as unneeded.
    if folder.join("libtorch_cuda.so").exists() {
        println!("cargo::rustc-link-arg=-Wl,--push-state,--no-as-needed,-ltorch_cuda,--pop-state");
    }
}

/// Returns `folder` and the library folders of the CUDA wheels beside it
/// (`nvidia/*/lib` two levels up), in alphabetical order.
fn library_folders(folder: &Path) -> Vec<PathBuf> {
    let beside = folder.join("../../nvidia");
    let mut wheels: Vec<PathBuf> = fs::read_dir(beside.canonicalize().unwrap_or(beside))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("lib"))
        .filter(|path| path.is_dir())
        .collect();
    wheels.sort();
    wheels.insert(0, folder.to_path_buf());
    wheels
}

/// Returns the checked-out commit, with a `+` when the sources differ from
/// it, or `None` outside a checkout of this crate.
fn commit() -> Option<String> {
    let root = env::var("CARGO_MANIFEST_DIR").ok()?;
    let top = git(&["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != Path::new(&root).canonicalize().ok()? {
        return None;
    }
    // Every move of HEAD, commits included, is written to its log.
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", name])?;
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let sources = ["src", "build.rs", "Cargo.toml", "Cargo.lock"];
    for path in sources {
        println!("cargo::rerun-if-changed={path}");
    }
    let commit = git(&["rev-parse", "HEAD"])?;
    let mut status = vec!["status", "--porcelain", "--"];
    status.extend(sources);
    let changed = git(&status).is_some_and(|lines| !lines.is_empty());
    Some(if changed { commit + "+" } else { commit })
}

/// Runs git in the package folder and returns what it prints, trimmed.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
