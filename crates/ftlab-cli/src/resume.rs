//! Runs that had finished when a command was interrupted or killed. The same command takes them up instead
//! of doing them again: they are known by the fingerprint of their inputs (`experiment/inputs.rs`), wherever
//! they lie beside the new result.
//!
//! A run is finished if its folder holds `result.json`, which is written last. It is copied, never moved:
//! what lies there may belong to a command that is alive, on another machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::args::OutputArgs;
use crate::failure::Failure;
use crate::result::{Folder, MARK, OWN_FILES, RUN};
use crate::text_file;

/// The folder of the runs.
pub const RUNS: &str = "runs";

/// Finished runs by their fingerprints.
#[derive(Debug, Default)]
pub struct Kept(BTreeMap<String, PathBuf>);

impl Kept {
    /// Those that interrupted and killed commands left beside a folder that is being written.
    pub fn beside(folder: &Folder) -> Kept {
        let runs = folder.left_over().into_iter().flat_map(|left| folders_in(&left.join(RUNS)));
        let places = runs.flat_map(|variant| folders_in(&variant));
        let known = places.filter_map(|place| Some((inputs_of(&place)?, place)));
        Kept(known.collect())
    }

    /// Copies those of these runs that there are to their places within a folder that is being written, all of
    /// them before any other is done: the folder may take the place of the one from which they come. Says
    /// how many they are.
    ///
    /// # Errors
    /// One can't be read any more, or there is no room.
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

/// Copies a run to a place within a folder that is being written, its mark last.
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

/// Whether a run has been taken up, or done.
pub fn is_there(folder: &Folder, within: &str) -> bool {
    folder.path().join(within).join(MARK).is_file()
}

/// Says how many runs are taken up.
pub fn tell(kept: usize, runs: usize, output: &OutputArgs) {
    if kept > 0 && !output.quiet {
        say!("{kept} of {runs} runs had finished before and are taken up.");
    }
}

/// Says that there is nothing to do.
pub fn tell_done(path: &Path, output: &OutputArgs) {
    if !output.quiet {
        say!(
            "Result: {}, complete already, of the same inputs: nothing was run (--force runs it again)",
            path.display()
        );
    }
}

/// The fingerprint of a finished run; none if there is no run, or it had not come to its end.
pub fn inputs_of(folder: &Path) -> Option<String> {
    let json = |name: &str| -> Option<Value> {
        serde_json::from_str(&text_file::read(&folder.join(name)).ok()?).ok()
    };
    let result = json(MARK)?;
    let complete = result["complete"] == true || crate::reproduce::is_reproduction(&result);
    let run = json(RUN).filter(|_| complete)?;
    run["inputs_blake3"].as_str().map(str::to_owned)
}

/// The folders in a folder, not followed where they are links.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut folders: Vec<PathBuf> = entries.filter(is_folder).map(|entry| entry.path()).collect();
    folders.sort();
    folders
}
