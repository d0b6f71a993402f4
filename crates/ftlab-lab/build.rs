//! Passes to the laboratory a digest of all code that affects results, which shows whether a result was made by the
//! same code, whatever front end asked for it.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

/// The crates that affect results, relative to this one. A packaged crate has only its own.
const CRATES: [&str; 3] = [".", "../ftlab", "../ftlab-workload"];

fn main() {
    // The experiments are embedded.
    println!("cargo::rerun-if-changed=experiments");
    println!("cargo::rustc-env=FTLAB_CODE={:016x}", digest_of_code());
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
