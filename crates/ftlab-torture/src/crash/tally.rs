//! What crash tests have met.

use ftlab::units::Nanos;

/// Counts of one case, or of many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrashTally {
    /// Power cuts.
    pub cuts: u64,
    /// Cuts so soon after a power-up that no command came between.
    pub cut_again: u64,
    /// Cuts while a device came up.
    pub cut_coming_up: u64,
    /// Cuts with commands in the device.
    pub cut_at_work: u64,
    /// Cuts with blocks being collected, or merged.
    pub cut_collecting: u64,
    /// Commands that were acknowledged.
    pub commands: u64,
    /// Flash pages whose program was cut.
    pub torn: u64,
    /// Blocks whose erase was cut.
    pub half_erased: u64,
    /// Mapping units on flash that did not count yet.
    pub rolled_back: u64,
    /// Programs and erases that failed.
    pub faults: u64,
    /// Dies that died.
    pub deaths: u64,
    /// Flash pages that were computed from the rest of their stripes.
    pub computed: u64,
    /// Devices on which more fails than their parity covers.
    pub beyond: u64,
    /// Reads that ended as unreadable, where data may be lost.
    pub unreadable: u64,
    /// Devices that came to the end of their life.
    pub ended: u64,
    /// The time of each recovery.
    pub recoveries: Vec<Nanos>,
}

impl CrashTally {
    /// Adds another one.
    pub fn add(&mut self, other: &CrashTally) {
        let CrashTally { cuts, cut_again, cut_coming_up, cut_at_work, .. } = other;
        let CrashTally { cut_collecting, commands, torn, half_erased, rolled_back, .. } = other;
        let CrashTally { faults, deaths, computed, beyond, unreadable, ended, .. } = other;
        self.cuts += cuts;
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
        self.ended += ended;
        self.recoveries.extend(&other.recoveries);
    }
}
