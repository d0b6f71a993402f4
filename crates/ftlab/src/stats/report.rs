//! The report of a run. Every key carries its unit, and unknown values are null, not guesses.

use serde::{Serialize, Serializer};

use super::amplification::WriteAmplification;
use super::cost::CostReport;
use super::energy::EnergyReport;
use super::health::Health;
use super::merges::Merges;
use super::op_report::OpReport;
use super::parity::ParityReport;
use super::placement::PlacementReport;
use super::queues::{Fairness, QueueReport};
use super::read_cache::ReadCacheReport;
use super::reconstruction::PageReconstruction;
use super::slc::SlcCache;
use super::steady::SteadyReport;
use super::translation::Translation;
use super::utilisation::Utilisation;
use super::zones::ZonesReport;
use crate::cache::BufferCounts;
use crate::counters::{By, serialize};
use crate::ftl::FtlCounts;
use crate::ftl::gc::{Purpose, PurposeCounts};
use crate::scheduler::{Kind, Origin, Overlaps};

/// The version of the report's layout. It changes when a key is renamed or removed, or changes its
/// meaning. New keys do not change it.
pub const SCHEMA_VERSION: u32 = 2;

/// The measurements over all measured phases. MB are 10^6 bytes. Ratios are between 0 and 1 unless they amplify.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// See [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// What the host saw.
    pub host: HostReport,
    /// What a byte of the host cost on flash.
    pub write_amplification: WriteAmplification,
    /// Garbage collection.
    pub gc: Gc,
    /// Erases of each block since the device was new.
    pub wear: Wear,
    /// Bad blocks, failures, and the end of life; null if nothing can fail on the device.
    pub health: Option<Health>,
    /// What the FTL counted; here what no section below has.
    #[serde(flatten, serialize_with = "at_top")]
    pub ftl: FtlCounts,
    /// Pages that were read, wherever they were found.
    pub read_pages: u64,
    /// The write buffer; null if the device has none.
    pub cache: Option<Cache>,
    /// The read cache; null if the device has none.
    pub read_cache: Option<ReadCacheReport>,
    /// The cost of programs and reads; null if all programs cost the same.
    pub cost: Option<CostReport>,
    /// The SLC cache; null if the device has none.
    pub slc_cache: Option<SlcCache>,
    /// Merges; null if the mapping has no log.
    pub merges: Option<Merges>,
    /// The map on flash; null if all of it is in memory.
    pub translation: Option<Translation>,
    /// Pages in pieces; null if the mapping packs no pages.
    pub reconstruction: Option<PageReconstruction>,
    /// Parity across dies; null without it.
    pub parity: Option<ParityReport>,
    /// Zones; missing on a conventional device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zones: Option<ZonesReport>,
    /// Flexible data placement; missing without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<PlacementReport>,
    /// How busy the device was.
    pub utilisation: Utilisation,
    /// The energy of the flash.
    pub energy: EnergyReport,
    /// Flash commands by origin and kind: flash pages sensed, flash pages programmed, blocks erased, flash pages moved
    /// within their plane without the bus. Those of a map on flash have no origin of their own: `translation` counts
    /// them apart.
    pub flash_commands: By<Origin, By<Kind, u64>>,
    /// How often the dies did more than one thing at a time.
    pub flash_overlaps: FlashOverlaps,
    /// Whether the device was steady at the end.
    pub steady_state: SteadyReport,
    /// All phases, those that are not measured included.
    pub phases: Vec<PhaseSummary>,
    /// What whoever reads the numbers has to know, in words.
    pub notes: Vec<String>,
}

/// What the host saw.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostReport {
    /// Requests finished.
    pub requests: u64,
    /// From the first arrival to the last completion, the sum over the measured phases.
    pub duration_ns: u64,
    /// Requests a second; null if one request is all that was measured.
    pub iops: Option<f64>,
    /// 10^6 bytes a second, read and written; null as the rate of requests is.
    pub throughput_mb_per_s: Option<f64>,
    /// Reads.
    pub read: OpReport,
    /// Writes.
    pub write: OpReport,
    /// Trims.
    pub trim: OpReport,
    /// Flushes.
    pub flush: OpReport,
    /// The management of zones; missing on a conventional device. Appends are among the writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<OpReport>,
    /// What each submission queue got; empty if there is one.
    pub queues: Vec<QueueReport>,
    /// How even that was; null if fewer than two queues were used.
    pub fairness: Option<Fairness>,
}

impl HostReport {
    /// Every operation with its name, in the order in which reports list them.
    pub fn ops(&self) -> impl Iterator<Item = (&'static str, &OpReport)> {
        let common = [
            ("read", &self.read),
            ("write", &self.write),
            ("trim", &self.trim),
            ("flush", &self.flush),
        ];
        common.into_iter().chain(self.zone.as_ref().map(|zone| ("zone", zone)))
    }
}

/// Garbage collection, for whatever purpose a block was emptied.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gc {
    /// What was collected.
    #[serde(flatten, serialize_with = "in_gc")]
    pub counts: FtlCounts,
    /// Blocks erased.
    pub erased_blocks: u64,
    /// Valid pages that a block held when it was chosen, on average; null without a run.
    pub valid_pages_per_victim: Option<f64>,
    /// The same as a share of the block.
    pub valid_ratio_per_victim: Option<f64>,
    /// Why blocks were emptied.
    pub by_purpose: By<Purpose, PurposeCounts>,
}

fn at_top<S: Serializer>(counts: &FtlCounts, to: S) -> Result<S::Ok, S::Error> {
    serialize(&counts.entries(Some("")), to)
}

fn in_gc<S: Serializer>(counts: &FtlCounts, to: S) -> Result<S::Ok, S::Error> {
    serialize(&counts.entries(Some("gc")), to)
}

pub(super) fn in_cost<S: Serializer>(counts: &FtlCounts, to: S) -> Result<S::Ok, S::Error> {
    serialize(&counts.entries(Some("cost")), to)
}

/// Erases of each block since the device was new.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Wear {
    /// The least worn block.
    pub erases_per_block_min: u32,
    /// The mean.
    pub erases_per_block_mean: f64,
    /// The most worn block.
    pub erases_per_block_max: u32,
    /// The standard deviation.
    pub erases_per_block_stddev: f64,
}

/// The write buffer, in pages (mapping units).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cache {
    /// What it did.
    #[serde(flatten)]
    pub counts: BufferCounts,
    /// The share of written pages that were there.
    pub write_hit_ratio: Option<f64>,
    /// The share of read pages that were there.
    pub read_hit_ratio: Option<f64>,
    /// Cycles of write-backs, where the next one begins only when the last has ended; null elsewhere.
    pub write_cycles: Option<u64>,
    /// Pages that were in the buffer at the end, and not on flash.
    pub left_pages: u64,
}

/// How often the dies did more than one thing at a time, in flash commands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FlashOverlaps {
    /// Reads that another plane's read sensed along.
    pub multi_plane_reads: u64,
    /// Programs that ran together with another plane's.
    pub multi_plane_programs: u64,
    /// Erases that ran together with another plane's.
    pub multi_plane_erases: u64,
    /// Other ways.
    #[serde(flatten)]
    pub counts: Overlaps,
}

impl FlashOverlaps {
    pub(super) fn new(overlaps: &Overlaps) -> FlashOverlaps {
        let together = |kind: Kind| overlaps.multi_plane[kind as usize];
        FlashOverlaps {
            multi_plane_reads: together(Kind::Read),
            multi_plane_programs: together(Kind::Program),
            multi_plane_erases: together(Kind::Erase),
            counts: *overlaps,
        }
    }
}

/// One phase in short.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhaseSummary {
    /// Its name.
    pub name: String,
    /// Whether the report counts it.
    pub measured: bool,
    /// Requests finished; of a phase with `measure_first`, those that are measured.
    pub requests: u64,
    /// Requests after the measured ones, which only kept the device busy. Figures of requests leave
    /// them out; those of the device's work include them.
    pub unmeasured_requests: u64,
    /// When the first request arrived, counted from when the device was switched on; null without requests.
    pub started_ns: Option<u64>,
    /// From the first arrival to the last completion; null where the device was written without a clock.
    pub duration_ns: Option<u64>,
    /// Requests a second; null if one request is all that was measured, and without a clock.
    pub iops: Option<f64>,
    /// 10^6 bytes a second, read and written; null as the rate of requests is.
    pub throughput_mb_per_s: Option<f64>,
    /// As in [`WriteAmplification`].
    pub write_amplification_total_ratio: Option<f64>,
    /// Blocks that garbage collection chose.
    pub gc_runs: u64,
}
