//! The cost of programs and reads, in the report.

use serde::Serialize;

use super::counters::DeviceCounters;
use super::report::in_cost;
use crate::device::{Contents, Device};
use crate::ftl::FtlCounts;
use crate::ftl::cost::RewriteCounts;
use crate::ftl::gc::Purpose;
use crate::nand::CostClass;
use crate::scheduler::{CostCounts, Origin, Probe};

/// The cost of programs, and of later reads, in flash pages. Blocks in SLC mode do not count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostReport {
    /// The regulator.
    pub policy: &'static str,
    /// The class at which data from before the measured part is taken to be programmed, if it is not known.
    pub prior: &'static str,
    /// Whether data from before keeps the class at which it was written in preparation.
    pub prior_as_written: bool,
    /// Reads of the host by what they cost. Those of translation pages for it are among them.
    pub reads: ReadsByCost,
    /// Of these, reads of data from before that has not moved at another cost since; null if such
    /// data keeps the class at which it was written, and is not distinguished.
    pub prior_reads: Option<u64>,
    /// Reads for read-modify-write.
    pub read_modify_write_reads: ReadsByCost,
    /// Programs for the host by what they cost.
    pub programs: ProgramsByCost,
    /// Programs for collection, wear, folding and merges.
    pub copies: ProgramsByCost,
    /// What all reads met.
    #[serde(flatten)]
    pub counts: CostCounts,
    /// Blocks that were emptied before their data was lost, or took retries.
    pub refreshed_blocks: u64,
    /// Pages (mapping units) that were copied for that.
    pub refreshed_pages: u64,
    /// What was not refreshed.
    #[serde(flatten, serialize_with = "in_cost")]
    pub ftl: FtlCounts,
    /// Pages that were programmed again while their die was idle; null if none ever is.
    pub rewrites: Option<RewriteCounts>,
}

/// Flash pages read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReadsByCost {
    /// At low cost: they were programmed at high cost.
    pub low: u64,
    /// At medium cost.
    pub medium: u64,
    /// At high cost.
    pub high: u64,
    /// At more than that: the errors were beyond what the last level corrects.
    pub with_retries: u64,
}

/// Flash pages programmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProgramsByCost {
    /// At low cost.
    pub low: u64,
    /// At medium cost.
    pub medium: u64,
    /// At high cost.
    pub high: u64,
}

/// The cost of what was counted; nothing if all programs cost the same.
pub(super) fn cost<P: Probe, C: Contents>(
    counters: &DeviceCounters,
    device: &Device<P, C>,
) -> Option<CostReport> {
    let (regulation, programmed) = (device.ftl().regulation()?, device.flash().programmed()?);
    let costs = &counters.costs;
    let reads = |origin: Origin| {
        let [low, medium, high, with_retries] = costs.reads[origin as usize];
        ReadsByCost { low, medium, high, with_retries }
    };
    let programs = |origins: &[Origin]| {
        let sum = |class: CostClass| {
            origins.iter().map(|&origin| costs.programs[origin as usize][class as usize]).sum()
        };
        let [low, medium, high] = CostClass::ALL.map(sum);
        ProgramsByCost { low, medium, high }
    };
    let refreshed = counters.ftl.by_purpose[Purpose::Refresh as usize];
    Some(CostReport {
        policy: regulation.policy_name(),
        prior: programmed.prior().class.name(),
        prior_as_written: programmed.prior().as_written,
        reads: reads(Origin::Host),
        prior_reads: (!programmed.prior().as_written).then_some(costs.prior_reads),
        read_modify_write_reads: reads(Origin::ReadModifyWrite),
        programs: programs(&[Origin::Host]),
        copies: programs(&[Origin::Gc, Origin::Wear, Origin::Fold]),
        counts: *costs,
        refreshed_blocks: refreshed.runs,
        refreshed_pages: refreshed.pages,
        ftl: counters.ftl,
        rewrites: device.rewriter().map(|_| counters.rewrites),
    })
}
