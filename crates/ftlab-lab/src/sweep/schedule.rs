//! The order in which the runs of a sweep are performed.
//!
//! Runs that start from the same prepared device form a group. Its first run prepares the device, and the others
//! continue from clones. A group is begun only when no prepared device waits, so at most one device for each thread
//! waits for its runs.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::experiment::PreparedRun;
use crate::failure::Failure;
use crate::image::OpenedImage;
use crate::pool::locked;
use crate::stop::Stop;

/// How often a thread that waits for a prepared device checks whether it was stopped.
const PATIENCE: Duration = Duration::from_millis(20);

/// A prepared device from which several runs start.
#[derive(Clone)]
pub enum SharedStart {
    /// A device at rest, and what was recorded while it was prepared. Behind a lock, because policies from outside may not
    /// be shared between threads.
    Device(Arc<Mutex<PreparedRun>>),
    /// The image of a device.
    Image(Arc<OpenedImage>),
}

/// Takes a prepared device if nobody else needs it, or else clones it.
pub fn taken(device: Arc<Mutex<PreparedRun>>) -> PreparedRun {
    match Arc::try_unwrap(device) {
        Ok(alone) => alone.into_inner().unwrap_or_else(PoisonError::into_inner),
        Err(shared) => locked(&shared).clone(),
    }
}

/// What a thread does next. A run is an index.
pub enum Task {
    /// A run that shares nothing.
    Alone(usize),
    /// Prepare a device for these runs, and perform the first.
    Begin(Vec<usize>),
    /// A run from a device that is prepared.
    Continue(usize, SharedStart),
}

/// The runs that are still to be performed.
pub struct Schedule {
    waiting: Mutex<RunsLeft>,
    changed: Condvar,
}

struct RunsLeft {
    groups: VecDeque<RunGroup>,
    /// Prepared devices with the runs that are to start from them; the next run is the last.
    ready: Vec<(SharedStart, Vec<usize>)>,
    /// Whether a device could not be prepared, so that its runs will never be ready.
    is_broken: bool,
}

/// Runs that start from the same device.
pub struct RunGroup {
    /// The runs.
    pub runs: Vec<usize>,
    /// Whether the device is prepared apart even for a single run.
    pub is_prepared_apart: bool,
}

impl Schedule {
    /// Nothing is performed yet.
    pub fn new(groups: impl IntoIterator<Item = RunGroup>) -> Schedule {
        let groups = groups.into_iter().collect();
        let waiting = Mutex::new(RunsLeft { groups, ready: Vec::new(), is_broken: false });
        Schedule { waiting, changed: Condvar::new() }
    }

    /// Returns what to do next, or none once `halt` is set or a device could not be prepared. Waits while others prepare
    /// devices.
    pub fn next(&self, halt: &Stop) -> Option<Task> {
        let mut waiting = locked(&self.waiting);
        while !halt.is_set() && !waiting.is_broken {
            if let Some(task) = waiting.next() {
                return Some(task);
            }
            let woken = self.changed.wait_timeout(waiting, PATIENCE);
            (waiting, _) = woken.unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    /// Prepares a device by `work`. If that fails or panics, nobody waits for the device any more.
    ///
    /// # Errors
    /// The work failed.
    pub fn prepare(
        &self,
        work: impl FnOnce() -> Result<SharedStart, Failure>,
    ) -> Result<SharedStart, Failure> {
        let mut promise = Promise { schedule: self, is_kept: false };
        let start = work()?;
        promise.is_kept = true;
        Ok(start)
    }

    /// A device is prepared for the runs that are left.
    pub fn prepared(&self, start: SharedStart, mut runs: Vec<usize>) {
        if !runs.is_empty() {
            runs.reverse();
            locked(&self.waiting).ready.push((start, runs));
            self.changed.notify_all();
        }
    }
}

/// A device that others wait for.
struct Promise<'a> {
    schedule: &'a Schedule,
    is_kept: bool,
}

impl Drop for Promise<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            locked(&self.schedule.waiting).is_broken = true;
            self.schedule.changed.notify_all();
        }
    }
}

impl RunsLeft {
    fn next(&mut self) -> Option<Task> {
        if let Some((start, runs)) = self.ready.first_mut() {
            let run = runs.pop();
            let start = match runs.is_empty() {
                // The last run takes the device itself.
                true => self.ready.remove(0).0,
                false => start.clone(),
            };
            return Some(Task::Continue(run?, start));
        }
        let group = self.groups.pop_front()?;
        Some(match group.runs.as_slice() {
            [run] if !group.is_prepared_apart => Task::Alone(*run),
            _ => Task::Begin(group.runs),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, LoadSource, RunOptions};
    use crate::memory::Instruments;

    fn start() -> SharedStart {
        let config = crate::device::load("tiny", &[]).unwrap();
        let load = LoadSource::workload("randwrite-4k").unwrap();
        let experiment = Experiment::new(load, &RunOptions::default()).unwrap();
        let stop = Stop::default();
        let run = experiment.prepare(&config, 1, &mut (), &stop, Instruments::default()).unwrap();
        SharedStart::Device(Arc::new(Mutex::new(run)))
    }

    fn group(runs: &[usize]) -> RunGroup {
        RunGroup { runs: runs.to_vec(), is_prepared_apart: false }
    }

    #[test]
    fn prepared_devices_come_before_new_ones() {
        let schedule = Schedule::new([group(&[0]), group(&[1, 2, 3]), group(&[4, 5])]);
        let halt = Stop::default();
        assert!(matches!(schedule.next(&halt), Some(Task::Alone(0))));
        let Some(Task::Begin(runs)) = schedule.next(&halt) else { panic!("a group begins") };
        assert_eq!(runs, [1, 2, 3]);
        // While nothing is ready, another thread may begin the next group.
        schedule.prepared(start(), vec![2, 3]);
        for expected in [2, 3] {
            let Some(Task::Continue(run, SharedStart::Device(device))) = schedule.next(&halt)
            else {
                panic!("it goes on")
            };
            assert_eq!(run, expected);
            let is_last = run == 3;
            assert_eq!(Arc::strong_count(&device) == 1, is_last, "the last run takes it");
        }
        assert!(matches!(schedule.next(&halt), Some(Task::Begin(runs)) if runs == [4, 5]));
        halt.set();
        assert!(schedule.next(&halt).is_none());
    }

    #[test]
    fn nobody_waits_for_a_device_that_could_not_be_prepared() {
        let schedule = Schedule::new([group(&[0, 1])]);
        let halt = Stop::default();
        assert!(matches!(schedule.next(&halt), Some(Task::Begin(_))));
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| schedule.next(&halt).is_none());
            assert!(schedule.prepare(|| Err(Failure::usage("no"))).is_err());
            assert!(waits.join().unwrap());
        });
    }
}
