//! Faults for tests: the process is killed at the n-th change of the data file, or that change fails.
//!
//! For the file, a kill and a failure after which nothing is written any more are the same. So a drive is "killed" by
//! letting all its changes fail from the n-th on; what it says afterwards does not count. Faults are planned by thread,
//! as a drive belongs to one.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// What happens at a change of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFault {
    /// The process is killed before it.
    KilledBefore,
    /// The process is killed when half of it is written.
    KilledWithin,
    /// It fails, and later ones succeed again.
    Fails,
}

thread_local! {
    /// The fault, and the number of the change that it meets.
    static PLANNED: Cell<Option<(FileFault, u64)>> = const { Cell::new(None) };
    /// Changes since the plan was made.
    static CHANGES: Cell<u64> = const { Cell::new(0) };
}

/// Plans a fault after so many more changes, or none. Changes are counted anew.
pub fn plan(fault: Option<(FileFault, u64)>) {
    PLANNED.set(fault);
    CHANGES.set(0);
}

/// Changes since the last plan, with those that failed.
pub fn changes() -> u64 {
    CHANGES.get()
}

/// Whether the planned fault has happened.
pub fn has_happened() -> bool {
    PLANNED.get().is_some_and(|(_, after)| changes() > after)
}

/// Called before each change of the file: `bytes` are to be written at a place, if it is a write.
pub fn before_write(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    let number = CHANGES.replace(CHANGES.get() + 1);
    let Some((fault, after)) = PLANNED.get() else { return Ok(()) };
    match fault {
        FileFault::Fails if number == after => Err(io::Error::from(io::ErrorKind::StorageFull)),
        FileFault::KilledWithin if number == after => {
            file.write_all_at(&bytes[..bytes.len() / 2], at)?;
            Err(io::Error::other("killed within a write"))
        }
        FileFault::KilledBefore | FileFault::KilledWithin if number >= after => {
            Err(io::Error::other("killed"))
        }
        _ => Ok(()),
    }
}
