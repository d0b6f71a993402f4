//! The counts of crash tests.

use ftlab::units::Nanos;

/// Counts of one case, or of many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrashTally {
    /// Power cuts.
    pub cuts: u64,
    /// Cuts that killed the process of the device, so that only what it had stored outside remained.
    pub killed: u64,
    /// Cuts after a recovery, before any command.
    pub cut_again: u64,
    /// Cuts during a recovery.
    pub cut_coming_up: u64,
    /// Cuts with commands in the device.
    pub cut_at_work: u64,
    /// Cuts with blocks being collected or merged.
    pub cut_collecting: u64,
    /// Acknowledged commands.
    pub commands: u64,
    /// Flash pages whose program was interrupted.
    pub torn: u64,
    /// Blocks whose erase was interrupted.
    pub half_erased: u64,
    /// Pages on flash that did not count yet.
    pub rolled_back: u64,
    /// Failed programs and erases.
    pub faults: u64,
    /// Dead dies.
    pub deaths: u64,
    /// Flash pages rebuilt from the rest of their stripes.
    pub computed: u64,
    /// Devices on which more fails than their parity covers.
    pub beyond: u64,
    /// Reads that ended as unreadable, where data may be lost.
    pub unreadable: u64,
    /// Flash pages that became unreadable, and were judged: with cause, and with parity beyond what it covers.
    pub judged: u64,
    /// Devices that reached the end of their life.
    pub ended: u64,
    /// Zones that went out of service.
    pub retired: u64,
    /// The time of each recovery.
    pub recoveries: Vec<Nanos>,
}

impl CrashTally {
    /// Adds another tally.
    pub fn add(&mut self, other: &CrashTally) {
        let CrashTally { cuts, killed, cut_again, cut_coming_up, cut_at_work, .. } = other;
        let CrashTally { cut_collecting, commands, torn, half_erased, rolled_back, .. } = other;
        let CrashTally { faults, deaths, computed, beyond, unreadable, .. } = other;
        let CrashTally { judged, ended, retired, .. } = other;
        self.cuts += cuts;
        self.killed += killed;
        self.cut_again += cut_again;
        self.cut_coming_up += cut_coming_up;
        self.cut_at_work += cut_at_work;
        self.cut_collecting += cut_collecting;
        self.commands += commands;
        self.torn += torn;
        self.half_erased += half_erased;
        self.rolled_back += rolled_back;
        self.faults += faults;
        self.deaths += deaths;
        self.computed += computed;
        self.beyond += beyond;
        self.unreadable += unreadable;
        self.judged += judged;
        self.ended += ended;
        self.retired += retired;
        self.recoveries.extend(&other.recoveries);
    }
}
