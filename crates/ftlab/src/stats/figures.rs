//! Ratios and sums that several parts of a report use.

use super::DeviceCounters;
use crate::ftl::mapping::dftl::DemandCounts;
use crate::scheduler::flash_pages_programmed;
use crate::shape::Shape;
use crate::units::Nanos;

/// The quotient, unless there is nothing to divide by.
pub(super) fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// Requests a second.
pub(super) fn per_second(requests: u64, rated: Option<Nanos>) -> Option<f64> {
    ratio(requests as f64, rated?.as_secs_f64())
}

pub(super) fn mb_per_second(bytes: u64, rated: Option<Nanos>) -> Option<f64> {
    ratio(bytes as f64 / 1e6, rated?.as_secs_f64())
}

pub(super) fn flash_bytes(counters: &DeviceCounters, page_bytes: u64) -> u64 {
    flash_pages_programmed(&counters.commands) * page_bytes
}

/// Bytes programmed on flash, in whole flash pages, for every byte that the host wrote.
pub(super) fn amplification(
    device: &DeviceCounters,
    written_bytes: u64,
    page_bytes: u64,
) -> Option<f64> {
    ratio(flash_bytes(device, page_bytes) as f64, written_bytes as f64)
}

/// Bytes of translation pages that were programmed, copies included.
pub(super) fn map_bytes(counts: &DemandCounts, shape: &Shape) -> u64 {
    counts.programmed() * shape.page_size.0 + counts.copies * shape.mapping_unit.0
}
