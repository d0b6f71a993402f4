//! The files of a folder that is a trace: those of the folders in it, too, and what is passed over, by name.

use std::fs::{DirEntry, read_dir};
use std::path::{Path, PathBuf};

use super::archive::is_beside;
use super::error::TraceError;
use super::input::Location;
use super::natural::natural;

/// The files of a trace.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub files: Vec<Location>,
    /// What lies beside them and is passed over, with the reason if its name does not say it.
    pub beside: Vec<String>,
    /// The folders within the folder.
    pub folders: Vec<String>,
    /// Whether each file has streams of its own.
    pub separate: bool,
}

impl Gathered {
    /// Files that were named one by one.
    pub fn named(files: Vec<Location>) -> Gathered {
        Gathered { files, separate: true, ..Gathered::default() }
    }

    /// The files of a folder and of those in it, in the order of their names.
    pub fn of_folder(path: &Path) -> Result<Gathered, TraceError> {
        let mut found = Found { root: path.to_owned(), ..Found::default() };
        found.ahead.push(path.to_owned());
        while let Some(folder) = found.ahead.pop() {
            let failed = |error: std::io::Error| {
                TraceError::io(&folder.display().to_string(), "can't read it", &error)
            };
            for entry in read_dir(&folder).map_err(failed)? {
                found.add(&entry.map_err(failed)?).map_err(failed)?;
            }
        }
        let Found { mut files, mut beside, mut folders, .. } = found;
        files.sort_by(|one, other| {
            natural(&one.to_string_lossy()).cmp(&natural(&other.to_string_lossy()))
        });
        beside.sort_unstable();
        folders.sort_unstable();
        let files = files.into_iter().map(Location::File).collect();
        Ok(Gathered { files, beside, folders, separate: false })
    }
}

/// What was found so far.
#[derive(Default)]
struct Found {
    root: PathBuf,
    /// Folders that were not looked at yet.
    ahead: Vec<PathBuf>,
    files: Vec<PathBuf>,
    beside: Vec<String>,
    folders: Vec<String>,
}

impl Found {
    fn add(&mut self, entry: &DirEntry) -> std::io::Result<()> {
        let path = entry.path();
        let name = path.strip_prefix(&self.root).unwrap_or(&path).to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            match is_beside(&name) {
                true => self.beside.push(format!("{name} (a folder)")),
                false => {
                    self.folders.push(name);
                    self.ahead.push(path);
                }
            }
            return Ok(());
        }
        // What a link leads to counts, but for folders, which could lead back here.
        match std::fs::metadata(&path) {
            _ if is_beside(&name) => self.beside.push(name),
            Ok(there) if there.is_dir() => self.beside.push(format!("{name} (a link to a folder)")),
            Ok(there) if !there.is_file() => self.beside.push(format!("{name} (no regular file)")),
            Ok(there) if there.len() == 0 => self.beside.push(format!("{name} (empty)")),
            Ok(_) => self.files.push(path),
            Err(_) => self.beside.push(format!("{name} (a link to nothing)")),
        }
        Ok(())
    }
}
