//! The SLC cache in the report.

use serde::Serialize;

use super::DeviceCounters;
use crate::ftl::gc::Purpose;
use crate::ftl::slc::SlcCounts;

/// The SLC cache, in pages (mapping units).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SlcCache {
    /// What the host wrote and read.
    #[serde(flatten)]
    pub counts: SlcCounts,
    /// Pages that were moved from it to blocks of full density.
    pub folded_pages: u64,
    /// Blocks that were folded.
    pub folds: u64,
}

impl SlcCache {
    pub(super) fn new(counters: &DeviceCounters) -> SlcCache {
        let folds = counters.ftl.by_purpose[Purpose::Fold as usize];
        SlcCache { counts: counters.slc, folded_pages: folds.pages, folds: folds.runs }
    }
}
