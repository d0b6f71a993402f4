//! Merges in the report, for mappings with a log.

use serde::Serialize;

use super::op_report::{LatencyReport, latency_report};
use crate::ftl::merge::{MergeCounts, Merger};

/// Merges of a mapping with a log. Pages are flash pages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Merges {
    /// What they did.
    #[serde(flatten)]
    pub counts: MergeCounts,
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

impl Merges {
    pub(super) fn new(counts: &MergeCounts, merger: &Merger) -> Merges {
        let each = merger.reclaims();
        Merges {
            counts: *counts,
            per_reclaim: PerReclaim {
                max: each.most_of_all(),
                bucket: each.bucket(),
                most: each.most().to_vec(),
            },
            stall_ns: latency_report(merger.stalls()),
            stalls: merger.stalls().count(),
        }
    }
}
