//! Ctrl-C: the first signal stops the run at its next step and keeps the measurements; a later one
//! stops it at once.

use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use ftlab_lab::Lab;
use ftlab_lab::result::Folder;
use ftlab_lab::stop::Stop;

use crate::failure::{Failure, INTERRUPTED};

/// Signals within this time of the first count as one: `timeout` signals both the program and its
/// group, and a double key press means one interrupt.
const SAME: Duration = Duration::from_secs(1);

/// Set by the first signal.
static STOP: LazyLock<Stop> = LazyLock::new(Stop::default);
/// When the first signal came.
static FIRST: OnceLock<Instant> = OnceLock::new();
/// The folders of unfinished results.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Installs the handler; from now on signals stop the run.
pub fn listen() -> Result<(), Failure> {
    ctrlc::set_handler(signalled)
        .map_err(|error| Failure::usage(format!("can't listen for Ctrl-C: {error}")))
}

/// Returns the laboratory of this command, which signals stop. It performs `jobs` runs at once, or one per processor.
pub fn lab(jobs: Option<u32>) -> Lab {
    let command = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let every = Lab { stop: STOP.clone(), command, ..Lab::default() };
    Lab { threads: jobs.map_or(every.threads, |jobs| jobs as usize), ..every }
}

/// Whether a signal came.
pub fn is_stopped() -> bool {
    STOP.is_set()
}

fn signalled() {
    let first = FIRST.get_or_init(Instant::now);
    STOP.set();
    if is_another(first.elapsed()) {
        // While this lock is held, no folder is published.
        let unfinished = unfinished();
        discard(&unfinished);
        std::process::exit(INTERRUPTED.into());
    }
}

fn is_another(since_first: Duration) -> bool {
    since_first >= SAME
}

fn discard(unfinished: &[PathBuf]) {
    // The next run reports what could not be removed.
    unfinished.iter().for_each(|folder| drop(std::fs::remove_dir_all(folder)));
    let kept = if unfinished.is_empty() { "" } else { ", nothing kept" };
    say!("Interrupted again: stopped at once{kept}.");
}

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers a folder to be removed if the run is stopped at once.
pub fn removes(folder: &Path) {
    unfinished().push(folder.to_owned());
}

/// Publishes a folder, and no longer removes it on a signal.
pub fn publish(folder: Folder, complete: bool) -> Result<PathBuf, Failure> {
    let mut unfinished = unfinished();
    let at = folder.path().to_owned();
    let published = folder.publish(complete)?;
    unfinished.retain(|one| *one != at);
    if let Some(aside) = published.kept_aside {
        let aside = aside.display();
        say!(
            "note: the replaced folder contains files that ftlab did not write; it is now in {aside}"
        );
    }
    Ok(published.path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_within_a_second_are_one() {
        assert!(!is_another(Duration::ZERO) && !is_another(Duration::from_millis(900)));
        assert!(is_another(Duration::from_millis(1_100)));
    }

    #[test]
    fn the_unfinished_result_is_discarded() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("unfinished");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("requests.parquet"), b"half").unwrap();
        discard(std::slice::from_ref(&folder));
        assert!(!folder.exists() && parent.path().exists());
    }
}
