//! Takes what happens during a replay: the statistics, and the file of requests if there is one.

use std::cell::Cell;

use ftlab::device::Device;
use ftlab::stats::{Ageing, Recorder};
use ftlab_workload::replay::{Completed, PhaseStart, Sink};
use parquet::errors::ParquetError;

use crate::result::Requests;

/// Records a run, the preconditioning included.
pub struct Recording<'a> {
    /// The statistics.
    pub recorder: Recorder,
    /// The file of requests.
    pub requests: Option<Requests>,
    /// Why the file could not be written.
    pub error: Option<ParquetError>,
    /// Set once the replay is to stop because of that.
    pub failed: &'a Cell<bool>,
    /// Watches over an ageing, while there is one.
    pub ageing: Option<Ageing>,
    /// Set once that is over.
    pub aged: &'a Cell<bool>,
    /// The names of the phases that are being played.
    pub names: Vec<String>,
    /// Whether what is being played may be measured at all.
    pub measuring: bool,
    /// Phases that were played before those.
    pub phases_before: u32,
}

impl Sink<Device> for Recording<'_> {
    fn phase_started(&mut self, phase: &PhaseStart, device: &mut Device) {
        let name = self.names.get(phase.index as usize).map_or("replay", String::as_str);
        self.recorder.phase_started(name, self.measuring && phase.measure, device);
    }

    fn phase_ended(&mut self, _phase: &PhaseStart, device: &mut Device) {
        self.recorder.phase_ended(device);
    }

    #[inline]
    fn advanced(&mut self, device: &Device) {
        self.recorder.look(device);
        if let Some(ageing) = &mut self.ageing
            && ageing.look(device)
        {
            self.aged.set(true);
        }
    }

    #[inline]
    fn completed(&mut self, done: &Completed) {
        self.recorder.record(&done.completion, done.arrived);
        if let Some(ageing) = &mut self.ageing {
            ageing.record(&done.completion);
        }
        if let Some(requests) = &mut self.requests {
            let phase = self.phases_before + done.phase;
            if let Err(error) = requests.push(done, phase, self.measuring && done.measured) {
                (self.requests, self.error) = (None, Some(error));
                self.failed.set(true);
            }
        }
    }
}
