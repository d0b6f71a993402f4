//! The switch that selects the active fault. It is not a module of this tool: each crate in the
//! copy gets it, with the number of faults filled in.

use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

const FAULTS: usize = 0;

static REACHED: [AtomicBool; FAULTS] = [const { AtomicBool::new(false) }; FAULTS];
static ACTS: OnceLock<Option<usize>> = OnceLock::new();

/// Whether this fault is active. Also notes that its place was reached.
#[inline]
pub fn on(fault: usize) -> bool {
    if !REACHED[fault].load(Ordering::Relaxed) {
        reached(fault);
    }
    *ACTS.get_or_init(|| std::env::var("FTLAB_FAULT").ok()?.parse().ok()) == Some(fault)
}

#[cold]
fn reached(fault: usize) {
    REACHED[fault].store(true, Ordering::Relaxed);
    let Some(path) = std::env::var_os("FTLAB_REACHED") else { return };
    let mut file =
        std::fs::OpenOptions::new().append(true).create(true).open(path).expect("a file to note in");
    file.write_all(format!("{fault}\n").as_bytes()).expect("room for a line");
}
