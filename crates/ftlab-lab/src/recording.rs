//! Records the events of a replay: statistics, and optionally the file of requests.

use std::cell::Cell;

use ftlab::device::{Contents, Device};
use ftlab::host::Request;
use ftlab::scheduler::Probe;
use ftlab::stats::{Ageing, AgeingOutlook, Recorder};
use ftlab_workload::accesses::Accesses;
use ftlab_workload::fio::FioTally;
use ftlab_workload::replay::{Completed, PhaseStart, Sink};
use parquet::errors::ParquetError;

use crate::failure::Failure;
use crate::power_cuts::Played;
use crate::result::Requests;

/// The one set of pages that all streams share on the device.
const DEVICE: u32 = 0;

/// Signals from a recording to the code that drives the replay.
#[derive(Debug, Default)]
pub struct Flags {
    /// Set when a file could not be written and the replay has to stop.
    pub failed: Cell<bool>,
    /// Set when an ageing is over.
    pub aged: Cell<bool>,
    /// The state of the ageing, set whenever it changes.
    pub outlook: Cell<Option<AgeingOutlook>>,
}

/// Refuses to keep requests where that is left out of the program, so that none are lost in silence.
///
/// # Errors
/// It is `wanted`, and there is no feature `tables`.
pub fn refuse_requests(wanted: bool) -> Result<(), Failure> {
    match wanted && !cfg!(feature = "tables") {
        false => Ok(()),
        true => Err(Failure::usage(
            "this build of ftlab keeps no requests of a run\n  remedy: build it with the feature tables, or ask for none",
        )),
    }
}

/// Records a run, including its preconditioning.
pub struct Recording<'a> {
    pub recorder: Recorder,
    /// The file of requests.
    pub requests: Option<Requests>,
    /// Why the file could not be written.
    pub error: Option<ParquetError>,
    /// Signals to the code that drives the replay.
    pub flags: &'a Flags,
    /// The current ageing.
    pub ageing: Option<Ageing>,
    /// The names of the phases being played.
    pub names: Vec<String>,
    /// Whether the current load may be measured at all.
    pub measuring: bool,
    /// Whether the current phase is measured, in whole or only its first requests.
    measured: bool,
    /// Whether anything has been measured yet.
    has_measured: bool,
    /// The number of phases played before the current load.
    pub phases_before: u32,
    /// Counts the measured requests of fio jobs.
    pub tally: Option<FioTally>,
    /// Tracks how the measured requests share pages, if requested.
    pub accesses: Option<Accesses>,
}

impl<'a> Recording<'a> {
    /// Creates an empty recording; nothing is measured yet.
    pub fn new<P: Probe, C: Contents>(
        device: &Device<P, C>,
        requests: Option<Requests>,
        flags: &'a Flags,
    ) -> Recording<'a> {
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

    /// Starts recording an ageing. Results show it as one phase, whatever its load's phases are.
    pub fn begin_ageing<P: Probe, C: Contents>(&mut self, ageing: Ageing, device: &Device<P, C>) {
        self.flags.aged.set(false);
        self.flags.outlook.set(Some(ageing.outlook()));
        self.ageing = Some(ageing);
        self.recorder.phase_started("age", false, device);
    }

    /// Ends the ageing, if there was one, and returns it.
    pub fn end_ageing<P: Probe, C: Contents>(&mut self, device: &Device<P, C>) -> Option<Ageing> {
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
        if cfg!(feature = "tables")
            && let Some(requests) = &mut self.requests
        {
            let phase = self.phases_before + done.phase;
            if let Err(error) = requests.push(done, phase, self.measuring && done.measured) {
                (self.requests, self.error) = (None, Some(error));
                self.flags.failed.set(true);
            }
        }
    }
}
