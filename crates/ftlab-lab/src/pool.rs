//! Performs many runs on several threads. Results do not depend on which thread performs a run, or
//! when. The first failure stops the other runs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::failure::Failure;
use crate::lab::Lab;
use crate::stop::Stop;

/// Observes the progress of many runs. The default does nothing.
pub trait RunsWatcher: Sync {
    /// `runs` runs begin.
    fn begin(&self, _runs: usize) {}
    /// A run advanced by this share of itself.
    fn advance(&self, _share: f64) {}
    /// A run is done.
    fn one_more(&self) {}
    /// All runs are done, or were stopped.
    fn end(&self) {}
}

/// Nobody watches.
impl RunsWatcher for () {}

/// Performs `runs` runs on as many threads as the laboratory has. `perform` receives the index of the run, and a token
/// that is set to stop it once another run has failed.
///
/// # Errors
/// `Interrupted`; or, of the runs that failed before the others were stopped, the failure of the
/// lowest index.
pub fn perform<T: Send>(
    lab: &Lab,
    runs: usize,
    watcher: &dyn RunsWatcher,
    perform: impl Fn(usize, &Stop) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let (next, halt) = (AtomicUsize::new(0), lab.stop.below());
    let failed: Mutex<Vec<(usize, Failure)>> = Mutex::default();
    let done: Mutex<Vec<Option<T>>> = Mutex::new((0..runs).map(|_| None).collect());
    watcher.begin(runs);
    let work = || {
        while !halt.is_set() {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= runs {
                break;
            }
            match perform(at, &halt) {
                Ok(one) => locked(&done)[at] = Some(one),
                Err(failure) => {
                    halt.set();
                    locked(&failed).push((at, failure));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        (0..lab.threads.min(runs)).for_each(|_| drop(scope.spawn(work)));
    });
    watcher.end();
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

    fn lab(threads: usize) -> Lab {
        Lab { threads, ..Lab::default() }
    }

    #[test]
    fn results_stand_in_the_order_of_the_runs() {
        let done = perform(&lab(4), 50, &(), |at, _| Ok(at * at)).unwrap();
        assert_eq!(done, (0..50).map(|at| at * at).collect::<Vec<_>>());
    }

    #[test]
    fn a_failure_stops_the_others_and_is_told() {
        let of = |at: usize, halt: &Stop| match at {
            1 => Err(Failure::usage("the second")),
            // The others wait to be stopped.
            _ => loop {
                if halt.is_set() {
                    return Err::<(), _>(Failure::Interrupted);
                }
                std::thread::yield_now();
            },
        };
        let lab = lab(2);
        let failure = perform(&lab, 9, &(), of).expect_err("one fails");
        assert!(matches!(failure, Failure::Usage(text) if text == "the second"));
        assert!(!lab.stop.is_set(), "the laboratory goes on");
    }

    #[test]
    fn a_laboratory_that_was_stopped_performs_nothing() {
        let lab = lab(2);
        lab.stop.set();
        let done = perform(&lab, 3, &(), |_, _| -> Result<(), Failure> { panic!("it runs") });
        assert_eq!(done, Err(Failure::Interrupted));
    }
}
