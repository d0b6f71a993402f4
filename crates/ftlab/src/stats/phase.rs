//! The measurements of one phase of a run.

use super::figures::amplification;
use super::{DeviceCounters, HostStats};
use crate::host::Op;

/// What was measured in one phase.
#[derive(Clone, Debug)]
pub struct PhaseStats {
    /// Its name.
    pub name: String,
    /// Whether the results count it.
    pub measured: bool,
    /// What the host saw, of what the results count.
    pub host: HostStats,
    /// Requests of a measured phase that the results do not count: those after the first, measured
    /// ones, which only kept the device busy.
    pub unmeasured: Unmeasured,
    /// As `host`, for each submission queue, if there are several.
    pub queues: Vec<HostStats>,
    /// What the device did, for all of the phase's requests.
    pub device: DeviceCounters,
    /// Whether time passed in it. Where none did, its requests are unmeasured ones.
    pub has_clock: bool,
}

impl PhaseStats {
    /// Bytes programmed on flash, in whole flash pages of `page_bytes`, for every byte that the host wrote. None if it wrote
    /// nothing.
    #[must_use]
    pub fn write_amplification(&self, page_bytes: u64) -> Option<f64> {
        let written = self.host.op(Op::Write).bytes() + self.unmeasured.written_bytes;
        amplification(&self.device, written, page_bytes)
    }
}

/// Requests that are not measured, in a phase that is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unmeasured {
    /// How many finished.
    pub requests: u64,
    /// What they read: the device's counters have it too.
    pub read_bytes: u64,
    /// What they wrote, likewise.
    pub written_bytes: u64,
}
