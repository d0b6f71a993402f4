//! The results of power cuts: their part of `result.json`.

use ftlab::device::Recovered;
use ftlab::units::{Nanos, SimTime};
use serde::Serialize;

/// The recovery from one power cut.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CutReport {
    /// When power was cut, by the clock of the device.
    pub at_ns: u64,
    /// From power-up until the device accepts commands.
    pub recovery_ns: u64,
    /// How long capacitors kept the device running.
    pub hold_up_ns: u64,
    /// Spare areas read.
    pub spare_reads: u64,
    /// Flash pages read of the system area and of a map on flash.
    pub system_reads: u64,
    /// Blocks erased before the device was ready.
    pub erases: u64,
    /// Logical pages with acknowledged data that was only in DRAM and is lost. Pages covered by a
    /// write in flight are not counted.
    pub lost_pages: u64,
    /// Logical pages found.
    pub pages: u64,
    /// Flash pages whose program was interrupted.
    pub torn_pages: u64,
    /// Pages that were programmed but did not count yet.
    pub rolled_back_pages: u64,
    /// Blocks that were being filled, and are not filled further.
    pub closed_early_blocks: u64,
}

/// All power cuts of a run, each on a copy of the device during a measured phase. Means and
/// extremes are null without a cut.
#[derive(Clone, Debug, Serialize)]
pub struct PowerCutReport {
    /// The interval between cuts.
    pub every_ns: u64,
    /// When measuring began, by the clock of the device. Cuts come at whole multiples of the
    /// interval after that, but not during unmeasured phases. Null if nothing was measured.
    pub from_ns: Option<u64>,
    /// Whether the limit of 10,000 cuts was reached and later ones were skipped.
    pub limit_reached: bool,
    /// The shortest recovery.
    pub recovery_least_ns: Option<u64>,
    /// The mean recovery.
    pub recovery_mean_ns: Option<u64>,
    /// The longest recovery.
    pub recovery_most_ns: Option<u64>,
    /// The mean time that capacitors kept the device running.
    pub hold_up_mean_ns: Option<u64>,
    /// The mean number of spare areas read.
    pub spare_reads_mean: Option<f64>,
    /// The mean number of pages lost.
    pub lost_pages_mean: Option<f64>,
    /// All cuts, in order of time.
    pub cuts: Vec<CutReport>,
}

impl PowerCutReport {
    /// Creates the report of these cuts.
    pub fn new(
        every: Nanos,
        from: Option<SimTime>,
        limit_reached: bool,
        cuts: Vec<CutReport>,
    ) -> PowerCutReport {
        let all = |of: fn(&CutReport) -> u64| cuts.iter().map(of);
        let mean = |of: fn(&CutReport) -> u64| mean(&cuts, of);
        let time = |cut: &CutReport| cut.recovery_ns;
        let rounded = |mean: Option<f64>| mean.map(|mean| mean.round() as u64);
        PowerCutReport {
            every_ns: every.0,
            from_ns: from.map(|from| from.0),
            limit_reached,
            recovery_least_ns: all(time).min(),
            recovery_mean_ns: rounded(mean(time)),
            recovery_most_ns: all(time).max(),
            hold_up_mean_ns: rounded(mean(|cut| cut.hold_up_ns)),
            spare_reads_mean: mean(|cut| cut.spare_reads),
            lost_pages_mean: mean(|cut| cut.lost_pages),
            cuts,
        }
    }
}

/// Returns the mean over all cuts, if there are any.
pub fn mean(cuts: &[CutReport], of: fn(&CutReport) -> u64) -> Option<f64> {
    let sum: u128 = cuts.iter().map(|cut| u128::from(of(cut))).sum();
    (!cuts.is_empty()).then(|| sum as f64 / cuts.len() as f64)
}

impl CutReport {
    /// Creates the report of a cut at `at`.
    pub fn new(at: SimTime, lost_pages: u64, recovered: &Recovered) -> CutReport {
        CutReport {
            at_ns: at.0,
            recovery_ns: recovered.time.0,
            hold_up_ns: recovered.hold_up.0,
            spare_reads: recovered.spare_reads,
            system_reads: recovered.system_reads,
            erases: recovered.erases,
            lost_pages,
            pages: recovered.found.pages,
            torn_pages: recovered.found.torn,
            rolled_back_pages: recovered.found.rolled_back,
            closed_early_blocks: recovered.found.closed_early,
        }
    }
}
