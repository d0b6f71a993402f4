//! Reads the project's own files.

use std::fs;
use std::path::Path;

/// Folders of built, downloaded or measured files.
const SKIPPED: [&str; 4] = ["target", "out", "node_modules", "artifacts"];
/// Hidden folders that belong to the project; all others belong to tools.
const HIDDEN: [&str; 2] = [".ci", ".github"];

#[derive(Clone, Debug)]
pub struct File {
    /// Path relative to the project's root, with slashes.
    pub path: String,
    /// Contents; empty if not text.
    pub text: String,
}

impl File {
    /// Returns what follows the last dot of the name.
    pub fn extension(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').map_or("", |(_, extension)| extension)
    }
}

/// Returns all files of the project, sorted by path.
pub fn all(root: &Path) -> Result<Vec<File>, String> {
    let mut files = Vec::new();
    walk(root, "", &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn walk(root: &Path, folder: &str, files: &mut Vec<File>) -> Result<(), String> {
    let place = root.join(folder);
    let failed = |error: std::io::Error| format!("{}: {error}", place.display());
    for entry in fs::read_dir(&place).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_symlink() {
            // Points to a folder that is read in its own place.
            continue;
        }
        if kind.is_dir() {
            let hidden = name.starts_with('.') && !HIDDEN.contains(&name.as_str());
            if !hidden && !SKIPPED.contains(&name.as_str()) {
                walk(root, &path, files)?;
            }
        } else if name != ".git" {
            let bytes = fs::read(entry.path()).map_err(|error| format!("{path}: {error}"))?;
            files.push(File { path, text: String::from_utf8(bytes).unwrap_or_default() });
        }
    }
    Ok(())
}

/// Writes a file, creating the folders above it.
pub fn write(root: &Path, path: &str, text: &str) -> Result<(), String> {
    let place = root.join(path);
    let folder = place.parent().unwrap_or(root);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&place, text))
        .map_err(|error| format!("{path}: {error}"))
}
