//! The measurements of one phase of a run.

use super::{DeviceCounters, HostStats};

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
