//! Merges in the report, for mappings with a log.

use serde::Serialize;

use super::DeviceCounters;
use super::op_report::{LatencyReport, latency_report};
use crate::ftl::merge::{MergeCounts, Merger};

/// Merges of a mapping with a log. Pages are flash pages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Merges {
    /// Log blocks that became data blocks as they were.
    pub switch: u64,
    /// Log blocks that became data blocks with copies of what they lacked.
    pub partial: u64,
    /// Data blocks that were copied as wholes.
    pub full: u64,
    /// Of all these, those that planes made because another one merged.
    pub along: u64,
    /// Pages that merges copied.
    pub copied_pages: u64,
    /// Pages that the throttle left over, which moved to another log block.
    pub moved_pages: u64,
    /// Log blocks that were emptied because a page found no room.
    pub reclaims: u64,
    /// Log blocks that planes erased because another one merged.
    pub erased_along: u64,
    /// Merges of each reclaim since the first measured phase began, unmeasured phases after it included.
    pub per_reclaim: PerReclaim,
    /// How long a plane took no writes for lack of room (in lock-step: how long the device stood
    /// still), since the first measured phase began, including later unmeasured phases.
    pub stall_ns: LatencyReport,
    /// How often that was so.
    pub stalls: u64,
}

/// Merges of each reclaim, in the order of time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PerReclaim {
    /// The most merges of any.
    pub max: u32,
    /// How many reclaims in a row each of the following numbers stands for.
    pub bucket: u64,
    /// The most merges among them.
    pub most: Vec<u32>,
}

pub(super) fn merges(counters: &DeviceCounters, merger: &Merger) -> Merges {
    let MergeCounts { switch, partial, full, along, copied, moved, reclaims, erased_along } =
        counters.merges;
    let each = merger.reclaims();
    Merges {
        switch,
        partial,
        full,
        along,
        copied_pages: copied,
        moved_pages: moved,
        reclaims,
        erased_along,
        per_reclaim: PerReclaim {
            max: each.most_of_all(),
            bucket: each.bucket(),
            most: each.most().to_vec(),
        },
        stall_ns: latency_report(merger.stalls()),
        stalls: merger.stalls().count(),
    }
}
