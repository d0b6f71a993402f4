//! The SLC cache in the report.

use serde::Serialize;

use super::DeviceCounters;
use crate::ftl::gc::Purpose;
use crate::ftl::slc::SlcCounts;

/// The SLC cache, in pages (mapping units).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SlcCache {
    /// Pages that the host wrote to it.
    pub written_pages: u64,
    /// Pages that the host wrote past it, to blocks of full density.
    pub bypassed_pages: u64,
    /// Pages that were moved from it to blocks of full density.
    pub folded_pages: u64,
    /// Blocks that were folded.
    pub folds: u64,
    /// Pages that the host read from it.
    pub read_pages: u64,
}

pub(super) fn slc_cache(counters: &DeviceCounters) -> SlcCache {
    let SlcCounts { written, bypassed, read } = counters.slc;
    let folds = counters.ftl.by_purpose[Purpose::Fold as usize];
    SlcCache {
        written_pages: written,
        bypassed_pages: bypassed,
        folded_pages: folds.pages,
        folds: folds.runs,
        read_pages: read,
    }
}
