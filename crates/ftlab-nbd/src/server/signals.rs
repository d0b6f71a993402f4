//! Signals: the first one stops the server, and a later one ends the process.

use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ftlab_lab::failure::Failure;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

/// The exit code of a second signal.
const INTERRUPTED: i32 = 130;
/// Signals within this time of the first count as one: `timeout` signals both the program and its group, and a double
/// key press means one interrupt.
const SAME: Duration = Duration::from_secs(1);

/// What a second signal leaves.
pub(super) struct AtOnce {
    /// What is lost if the drive was not saved yet, in words.
    pub lost: String,
    /// What becomes of a recording, in words.
    pub recorded: String,
    /// The sockets, which are removed.
    pub sockets: Vec<PathBuf>,
}

/// SIGINT, SIGTERM and SIGHUP stop the server; one that comes a second later ends the process.
pub(super) struct StopSignals {
    pipe: UnixStream,
    handle: Handle,
    saved: Arc<AtomicBool>,
}

impl StopSignals {
    pub(super) fn listen(at_once: AtOnce) -> Result<StopSignals, Failure> {
        let failed = |error| Failure::usage(format!("can't listen for signals: {error}"));
        let (pipe, mut ours) = UnixStream::pair().map_err(failed)?;
        let mut all = vec![SIGINT, SIGTERM];
        if !ignores_hangups() {
            all.push(SIGHUP);
        }
        let mut signals = Signals::new(all).map_err(failed)?;
        let handle = signals.handle();
        let saved = Arc::new(AtomicBool::new(false));
        let is_saved = saved.clone();
        std::thread::spawn(move || {
            let mut first = None;
            for _ in signals.forever() {
                let first = *first.get_or_insert_with(Instant::now);
                if first.elapsed() >= SAME {
                    end(&at_once, is_saved.load(Ordering::Relaxed));
                }
                // Once the server is gone there is nobody to tell.
                drop(ours.write_all(b"!"));
            }
        });
        Ok(StopSignals { pipe, handle, saved })
    }

    /// Says that the drive was saved: a second signal costs nothing of it.
    pub(super) fn saved(&self) {
        self.saved.store(true, Ordering::Relaxed);
    }

    pub(super) fn pipe(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}

impl Drop for StopSignals {
    fn drop(&mut self) {
        self.handle.close();
    }
}

/// Ends the process. Standard error may be a terminal that was stopped, which must not keep it.
fn end(at_once: &AtOnce, saved: bool) -> ! {
    at_once.sockets.iter().for_each(|socket| drop(std::fs::remove_file(socket)));
    let lost = if saved { "The drive was saved." } else { &at_once.lost };
    let told = format!("Interrupted again: stopped at once. {lost}{}\n", at_once.recorded);
    let telling = std::thread::spawn(move || std::io::stderr().write_all(told.as_bytes()));
    let until = Instant::now() + SAME;
    while !telling.is_finished() && Instant::now() < until {
        std::thread::sleep(SAME / 100);
    }
    std::process::exit(INTERRUPTED)
}

/// Whether hangups were ignored when the process began, as `nohup` has it.
fn ignores_hangups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (SIGHUP - 1) & 1 == 1)
}
