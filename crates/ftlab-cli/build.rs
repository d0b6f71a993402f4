//! Passes to the program what it is built from: the commit, for `--version`.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The crates that the program consists of, relative to this one.
const CRATES: [&str; 5] =
    [".", "../ftlab", "../ftlab-lab", "../ftlab-workload", "../ftlab-torture"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for folder in CRATES.map(|name| format!("{name}/src")) {
        // A packaged crate has only its own.
        if Path::new(&folder).is_dir() {
            println!("cargo::rerun-if-changed={folder}");
        }
    }
    println!("cargo::rustc-env=FTLAB_VERSION={}", version());
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
