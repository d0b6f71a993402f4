//! What surrounds a run and does not affect its result: who watches it, and what stops it.

use std::ops::ControlFlow;
use std::sync::Arc;

use ftlab::device::{Contents, Device};
use ftlab::ftl::fewest_free_blocks;
use ftlab::scheduler::{Levels, Probe};
use ftlab::stats::{AgeingOutlook, BlockGroup, DeviceCounters, Recorder};
use ftlab_workload::replay::{Going, Progress, pause};
use ftlab_workload::trace::Meter;

use crate::power_cuts::Played;
use crate::recording::Recording;
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
    /// As [`writes`](Self::writes); can also [pause](Going::Pause) a run that is [polled](super::Experiment::play_with).
    fn writes_on(&mut self, done: u64, total: Option<u64>) -> Going {
        match self.writes(done, total) {
            ControlFlow::Continue(()) => Going::On,
            ControlFlow::Break(()) => Going::Stop,
        }
    }
    /// A copy of the device begins to play the load beforehand, for a policy that has to know it; or has done so (`None`).
    fn foresees(&mut self, _policy: Option<&str>) {}
    /// Reports the progress. `Break` stops the run, as [`Stop`] does.
    fn goes_on(&mut self, _progress: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    /// As [`goes_on`](Self::goes_on), with a look at the device; can also [pause](Going::Pause) a run that is
    /// [polled](super::Experiment::play_with). A run that nobody polls asks again at once.
    fn looks(&mut self, progress: &Progress, _view: &dyn RunView) -> Going {
        match self.goes_on(progress) {
            ControlFlow::Continue(()) => Going::On,
            ControlFlow::Break(()) => Going::Stop,
        }
    }
    /// The load has ended.
    fn ended(&mut self) {}
}

/// Nobody watches.
impl Watcher for () {}

/// A run as its watcher sees it.
pub trait RunView {
    /// What was recorded so far.
    fn recorder(&self) -> &Recorder;
    /// What the device did since it was new.
    fn counters(&self) -> DeviceCounters;
    /// How full the device is.
    fn levels(&self) -> Levels;
    /// The counts of all blocks.
    fn blocks(&self) -> Vec<BlockGroup>;
}

/// The view of a device and its recording.
pub(super) struct ViewOfDevice<'a, P, C> {
    pub device: &'a Device<P, C>,
    pub recorder: &'a Recorder,
}

impl<P: Probe, C: Contents> RunView for ViewOfDevice<'_, P, C> {
    fn recorder(&self) -> &Recorder {
        self.recorder
    }

    fn counters(&self) -> DeviceCounters {
        DeviceCounters::of(self.device)
    }

    fn levels(&self) -> Levels {
        Levels {
            free_blocks: fewest_free_blocks(self.device.ftl()),
            buffered_pages: self.device.buffer().pages_left() as u32,
        }
    }

    fn blocks(&self) -> Vec<BlockGroup> {
        self.recorder.block_map(self.device)
    }
}

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
    pub fn looks<H: Played>(&mut self, progress: &Progress, host: &H, of: &Recording<'_>) -> Going {
        let view = ViewOfDevice { device: host.device(), recorder: &of.recorder };
        let going = self.watcher.looks(progress, &view);
        if self.stop.is_set() || of.flags.failed.get() { Going::Stop } else { going }
    }

    /// As [`looks`](Self::looks), for requests done without a clock.
    pub async fn writes(&mut self, done: u64, total: Option<u64>) -> ControlFlow<()> {
        loop {
            let going = self.watcher.writes_on(done, total);
            match going {
                _ if self.stop.is_set() => return ControlFlow::Break(()),
                Going::Stop => return ControlFlow::Break(()),
                Going::On | Going::Until(_) => return ControlFlow::Continue(()),
                Going::Pause => pause().await,
            }
        }
    }
}
