//! What surrounds a run and does not affect its result: who watches it, and what stops it.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;

use ftlab::stats::AgeingOutlook;
use ftlab_workload::replay::Progress;
use ftlab_workload::trace::Meter;

use crate::result::Requests;
use crate::stop::Stop;

/// Observes the progress of an experiment. The default does nothing.
pub trait Watcher {
    /// A load named `name` begins; `meter` measures how much of a trace was read.
    fn begins(&mut self, _name: &str, _meter: Option<Arc<Meter>>) {}
    /// The state of an ageing has changed.
    fn ages(&mut self, _outlook: &AgeingOutlook) {}
    /// Reports requests done without a clock, and their total if it is known. `Break` stops the run.
    fn writes(&mut self, _done: u64, _total: Option<u64>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    /// Reports the progress. `Break` stops the run, as [`Stop`] does.
    fn goes_on(&mut self, _progress: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    /// The load has ended.
    fn ended(&mut self) {}
}

/// Nobody watches.
impl Watcher for () {}

/// How a run is conducted.
pub struct Conduct<'a> {
    /// Who watches.
    pub watcher: &'a mut dyn Watcher,
    /// What stops it.
    pub stop: &'a Stop,
    /// Where every request is recorded, if anywhere.
    pub requests: Option<Requests>,
}

/// The watcher and the stop of a run.
pub(super) struct Supervision<'a> {
    pub watcher: &'a mut dyn Watcher,
    pub stop: &'a Stop,
}

impl Supervision<'_> {
    /// Continues unless the run was stopped, a file could not be written or the watcher breaks.
    pub fn goes_on(&mut self, progress: &Progress, failed: &Cell<bool>) -> ControlFlow<()> {
        let goes_on = self.watcher.goes_on(progress);
        if self.stop.is_set() || failed.get() { ControlFlow::Break(()) } else { goes_on }
    }

    /// As [`goes_on`](Self::goes_on), for requests done without a clock.
    pub fn writes(&mut self, done: u64, total: Option<u64>) -> ControlFlow<()> {
        let goes_on = self.watcher.writes(done, total);
        if self.stop.is_set() { ControlFlow::Break(()) } else { goes_on }
    }
}
