//! Takes what happens during a replay: the statistics, and the file of requests if there is one.

use std::cell::Cell;

use ftlab::device::Device;
use ftlab::host::Request;
use ftlab::stats::{Ageing, AgeingOutlook, Recorder};
use ftlab_workload::accesses::Accesses;
use ftlab_workload::fio::FioTally;
use ftlab_workload::replay::{Completed, PhaseStart, Sink};
use parquet::errors::ParquetError;

use crate::power_cuts::Played;
use crate::result::Requests;

/// Where a load meets a device, all of its streams have one set of pages.
const DEVICE: u32 = 0;

/// What is heard of a recording while a replay holds it.
#[derive(Debug, Default)]
pub struct Flags {
    /// Set once the replay is to stop because a file could not be written.
    pub failed: Cell<bool>,
    /// Set once an ageing is over.
    pub aged: Cell<bool>,
    /// How far the ageing is, each time that this is known anew.
    pub outlook: Cell<Option<AgeingOutlook>>,
}

/// Records a run, the preconditioning included.
pub struct Recording<'a> {
    /// The statistics.
    pub recorder: Recorder,
    /// The file of requests.
    pub requests: Option<Requests>,
    /// Why the file could not be written.
    pub error: Option<ParquetError>,
    /// What others hear of it while it goes on.
    pub flags: &'a Flags,
    /// Watches over an ageing, while there is one.
    pub ageing: Option<Ageing>,
    /// The names of the phases that are being played.
    pub names: Vec<String>,
    /// Whether what is being played may be measured at all.
    pub measuring: bool,
    /// Whether the phase being played is measured, all of it or its first requests.
    measured: bool,
    /// Whether something was measured already.
    has_measured: bool,
    /// Phases that were played before those.
    pub phases_before: u32,
    /// Takes what is measured of fio's jobs.
    pub tally: Option<FioTally>,
    /// Takes the requests that are measured, if it is asked how they share pages.
    pub accesses: Option<Accesses>,
}

impl<'a> Recording<'a> {
    /// Nothing is recorded yet, and what comes first is not measured.
    pub fn new(device: &Device, requests: Option<Requests>, flags: &'a Flags) -> Recording<'a> {
        Recording {
            recorder: Recorder::new(device),
            requests,
            error: None,
            flags,
            ageing: None,
            names: Vec::new(),
            measuring: false,
            measured: false,
            has_measured: false,
            phases_before: 0,
            tally: None,
            accesses: None,
        }
    }

    /// An ageing begins: whatever phases it is made of, results have one of it.
    pub fn begin_ageing(&mut self, ageing: Ageing, device: &Device) {
        self.flags.aged.set(false);
        self.flags.outlook.set(Some(ageing.outlook()));
        self.ageing = Some(ageing);
        self.recorder.phase_started("age", false, device);
    }

    /// It has ended, if there was one.
    pub fn end_ageing(&mut self, device: &Device) -> Option<Ageing> {
        self.recorder.phase_ended(device);
        self.ageing.take()
    }
}

impl<H: Played> Sink<H> for Recording<'_> {
    fn phase_started(&mut self, phase: &PhaseStart, host: &mut H) {
        self.measured = self.measuring && phase.measure;
        if self.measured && !std::mem::replace(&mut self.has_measured, true) {
            host.device_mut().prepared();
        }
        host.measures(self.measured);
        if self.ageing.is_some() {
            return;
        }
        let name = self.names.get(phase.index as usize).map_or("replay", String::as_str);
        self.recorder.phase_started(name, self.measured, host.device());
    }

    fn phase_ended(&mut self, _phase: &PhaseStart, host: &mut H) {
        host.measures(false);
        if self.ageing.is_none() {
            self.recorder.phase_ended(host.device());
        }
    }

    #[inline]
    fn submitted(&mut self, request: &Request, measured: bool) {
        if let Some(accesses) = &mut self.accesses
            && self.measured
            && measured
        {
            let (lba, sectors) = (request.lba.0, u64::from(request.sectors));
            accesses.add(request.op, DEVICE, lba, lba + sectors);
        }
    }

    #[inline]
    fn advanced(&mut self, host: &H) {
        let device = host.device();
        self.recorder.look(device);
        if let Some(ageing) = &mut self.ageing {
            let rounds = ageing.rounds().len();
            if ageing.look(device) {
                self.flags.aged.set(true);
            }
            if ageing.rounds().len() > rounds {
                self.flags.outlook.set(Some(ageing.outlook()));
            }
        }
    }

    #[inline]
    fn completed(&mut self, done: &Completed) {
        if self.measured && !done.measured {
            self.recorder.record_unmeasured(&done.completion);
        } else {
            self.recorder.record(&done.completion, done.arrived);
        }
        if let Some(ageing) = &mut self.ageing {
            ageing.record(&done.completion);
        }
        if let Some(tally) = &mut self.tally
            && done.measured
        {
            tally.record(&done.completion, done.arrived);
        }
        if let Some(requests) = &mut self.requests {
            let phase = self.phases_before + done.phase;
            if let Err(error) = requests.push(done, phase, self.measuring && done.measured) {
                (self.requests, self.error) = (None, Some(error));
                self.flags.failed.set(true);
            }
        }
    }
}
