//! Passes to the program what it is built from: the commit, for `--version`, and a digest of all code, which shows
//! whether a result was made by the same program.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates that affect results, relative to this one. A packaged crate has only its own.
const CRATES: [&str; 4] = [".", "../ftlab", "../ftlab-workload", "../ftlab-torture"];

fn main() {
    // The experiments are embedded.
    println!("cargo::rerun-if-changed=experiments");
    println!("cargo::rustc-env=FTLAB_CODE={:016x}", digest_of_code());
    println!("cargo::rustc-env=FTLAB_VERSION={}", version());
}

/// Returns a digest of the code and of the versions and checksums of its dependencies.
fn digest_of_code() -> u64 {
    let mut files: Vec<PathBuf> =
        CRATES.iter().map(|name| Path::new(name).join("Cargo.toml")).collect();
    files.extend(["../../Cargo.toml".into(), "../../Cargo.lock".into(), "Cargo.lock".into()]);
    for name in CRATES {
        let folder = Path::new(name).join("src");
        if folder.is_dir() {
            println!("cargo::rerun-if-changed={}", folder.display());
            walk(&folder, &mut files);
        }
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        let Ok(text) = fs::read(&file) else { continue };
        println!("cargo::rerun-if-changed={}", file.display());
        hasher.write(file.as_os_str().as_encoded_bytes());
        hasher.write_usize(text.len());
        hasher.write(&text);
    }
    hasher.finish()
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&entry.path(), files),
            _ => files.push(entry.path()),
        }
    }
}

/// Returns the crate's version, and in a release build its commit. Debug builds omit the commit, or they would be
/// rebuilt after every commit.
fn version() -> String {
    let number = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "debug") {
        return format!("{number} (debug build)");
    }
    // Where there is no repository, as in a container, the builder can tell the commit.
    println!("cargo::rerun-if-env-changed=FTLAB_COMMIT");
    let told = std::env::var("FTLAB_COMMIT").ok().filter(|commit| !commit.is_empty());
    match packaged().or_else(checked_out).or(told) {
        Some(commit) => format!("{number} ({commit})"),
        None => number,
    }
}

/// Returns the commit of the checkout that this crate lies in, and whether its code was changed since.
fn checked_out() -> Option<String> {
    // Any other repository has this folder somewhere else.
    git(&["rev-parse", "--show-prefix"]).filter(|prefix| prefix == "crates/ftlab-cli/")?;
    // Cargo reruns this every time if a file named here is missing.
    for name in ["HEAD", "packed-refs", "refs/heads"] {
        let path = git(&["rev-parse", "--git-path", name]);
        if let Some(path) = path.filter(|path| Path::new(path).exists()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let commit = git(&["log", "-1", "--format=%h %cs"])?;
    // Without the optional locks, asking does not write to the repository.
    let mut status = vec!["--no-optional-locks", "status", "--porcelain", "--untracked-files=no"];
    status.push("--");
    status.extend(CRATES);
    let is_changed = git(&status).is_some();
    Some(format!("{commit}{}", if is_changed { ", changed" } else { "" }))
}

/// Returns git's output, unless git fails or prints nothing.
fn git(args: &[&str]) -> Option<String> {
    let done = Command::new("git").args(args).output().ok().filter(|done| done.status.success())?;
    let text = String::from_utf8(done.stdout).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Returns the commit that a package was made from, as recorded by cargo.
fn packaged() -> Option<String> {
    let note = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let commit = note.split("\"sha1\": \"").nth(1)?.split('"').next()?;
    Some(commit.get(..7)?.to_owned())
}
