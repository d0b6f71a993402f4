//! Reuses finished runs of a command that was interrupted or killed. Runs are recognised by the
//! fingerprint of their inputs (`experiment/inputs.rs`), wherever they lie beside the new result.
//!
//! A run is finished if its folder contains `result.json`, which is written last. Runs are copied,
//! never moved: the folder may belong to a command that is still running on another machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::failure::Failure;
use crate::result::{Folder, MARK, OWN_FILES, RUN, SWEEP};
use crate::text_file;

/// The folder of runs within a result.
pub const RUNS: &str = "runs";

/// Finished runs by fingerprint.
#[derive(Debug, Default)]
pub struct Kept(BTreeMap<String, PathBuf>);

impl Kept {
    /// Finds the runs that interrupted and killed commands left beside a folder that is being written.
    pub fn beside(folder: &Folder) -> Kept {
        Kept::within(folder.left_over())
    }

    /// As [`beside`](Kept::beside), and those in the result that the folder replaces.
    pub fn beside_or_in(folder: &Folder) -> Kept {
        Kept::within(folder.left_over().into_iter().chain(folder.replaced().map(Path::to_owned)))
    }

    fn within(folders: impl IntoIterator<Item = PathBuf>) -> Kept {
        let runs = folders.into_iter().flat_map(|left| folders_in(&left.join(RUNS)));
        let places = runs.flat_map(|variant| folders_in(&variant));
        let known = places.filter_map(|place| Some((inputs_of(&place)?, place)));
        Kept(known.collect())
    }

    /// Copies those of `runs` that are finished to their places within a folder that is being
    /// written, and returns their number. All are copied before any other run is performed, because
    /// the new folder may replace the one that they come from.
    ///
    /// # Errors
    /// A file cannot be read any more, or there is no room.
    pub fn take_up<'a>(
        &self,
        folder: &Folder,
        runs: impl Iterator<Item = (&'a String, String)>,
    ) -> Result<usize, Failure> {
        let mut taken = 0;
        for (inputs, within) in runs {
            if let Some(from) = self.0.get(inputs) {
                copy(from, folder, &within)?;
                taken += 1;
            }
        }
        Ok(taken)
    }
}

/// Copies a run to a place within a folder that is being written, with its mark last.
fn copy(from: &Path, folder: &Folder, within: &str) -> Result<(), Failure> {
    folder.create_folder(within)?;
    let others = OWN_FILES.into_iter().filter(|name| *name != MARK);
    for name in others.chain([MARK]) {
        let path = from.join(name);
        if path.is_file() {
            let content = fs::read(&path);
            let content = content.map_err(|error| Failure::file("can't read", &path, &error))?;
            folder.write(&format!("{within}{name}"), &content)?;
        }
    }
    Ok(())
}

/// Whether a run is in the folder, reused or performed.
pub fn is_there(folder: &Folder, within: &str) -> bool {
    folder.path().join(within).join(MARK).is_file()
}

/// Returns the fingerprint of a finished run, or `None` if there is no finished run.
pub fn inputs_of(folder: &Path) -> Option<String> {
    let json = |name: &str| -> Option<Value> {
        serde_json::from_str(&text_file::read(&folder.join(name)).ok()?).ok()
    };
    let result = json(MARK)?;
    let complete = result["complete"] == true || crate::reproduce::is_reproduction(&result);
    let run = json(RUN).filter(|_| complete)?;
    run["inputs_blake3"].as_str().map(str::to_owned)
}

/// Returns the fingerprint of a complete sweep, or `None` if there is none.
pub fn sweep_inputs_of(folder: &Path) -> Option<String> {
    let is_complete = folder.join(SWEEP).is_file();
    let run = text_file::read(&folder.join(RUN)).ok().filter(|_| is_complete)?;
    let run: Value = serde_json::from_str(&run).ok()?;
    run["inputs_blake3"].as_str().map(str::to_owned)
}

/// Returns the folders in a folder, without symbolic links.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut folders: Vec<PathBuf> = entries.filter(is_folder).map(|entry| entry.path()).collect();
    folders.sort();
    folders
}
