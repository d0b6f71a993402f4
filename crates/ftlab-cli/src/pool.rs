//! Performs many runs on several threads. Results do not depend on which thread performs a run, or
//! when. The first failure stops the other runs.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::failure::Failure;
use crate::interrupt::STOP;
use crate::progress::Runs;

/// Performs `runs` runs on at most `threads` threads. `perform` receives the index of the run, the
/// progress bar, and a flag that is set to stop it once another run has failed.
///
/// # Errors
/// `Interrupted`; or, of the runs that failed before the others were stopped, the failure of the
/// lowest index.
pub fn perform<T: Send>(
    runs: usize,
    threads: usize,
    wants_bar: bool,
    perform: impl Fn(usize, &Runs, &AtomicBool) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let (next, halt) = (AtomicUsize::new(0), AtomicBool::new(false));
    let failed: Mutex<Vec<(usize, Failure)>> = Mutex::default();
    let done: Mutex<Vec<Option<T>>> = Mutex::new((0..runs).map(|_| None).collect());
    let bar = Runs::new(runs, wants_bar);
    let work = || {
        while !halt.load(Ordering::Relaxed) && !STOP.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= runs {
                break;
            }
            match perform(at, &bar, &halt) {
                Ok(one) => locked(&done)[at] = Some(one),
                Err(failure) => {
                    halt.store(true, Ordering::Relaxed);
                    locked(&failed).push((at, failure));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        (0..threads.min(runs)).for_each(|_| drop(scope.spawn(work)));
    });
    bar.finish();
    let mut failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    // A run that was stopped because of another one reports `Interrupted`; it goes last.
    failed.sort_by_key(|(at, failure)| (matches!(failure, Failure::Interrupted), *at));
    if let Some((_, failure)) = failed.into_iter().next() {
        return Err(failure);
    }
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.into_iter().collect::<Option<Vec<T>>>().ok_or(Failure::Interrupted)
}

/// Takes a lock even if a thread panicked while holding it.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_runs() {
        let done = perform(50, 4, false, |at, _, _| Ok(at * at)).unwrap();
        assert_eq!(done, (0..50).map(|at| at * at).collect::<Vec<_>>());
    }

    #[test]
    fn a_failure_stops_the_others_and_is_told() {
        let of = |at: usize, _: &Runs, halt: &AtomicBool| match at {
            1 => Err(Failure::usage("the second")),
            // The others wait to be stopped.
            _ => loop {
                if halt.load(Ordering::Relaxed) {
                    return Err::<(), _>(Failure::Interrupted);
                }
                std::thread::yield_now();
            },
        };
        let failure = perform(9, 2, false, of).expect_err("one fails");
        assert!(matches!(failure, Failure::Usage(text) if text == "the second"));
    }
}
