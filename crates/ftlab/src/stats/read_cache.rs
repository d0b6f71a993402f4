//! The read cache, in the report.

use serde::Serialize;

use super::figures::ratio;
use crate::cache::ReadCacheCounts;

/// The read cache, in pages (mapping units) unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReadCacheReport {
    /// What it did.
    #[serde(flatten)]
    pub counts: ReadCacheCounts,
    /// The share of hits in hits and misses.
    pub hit_ratio: Option<f64>,
}

impl ReadCacheReport {
    pub(super) fn new(counts: &ReadCacheCounts) -> ReadCacheReport {
        let hit_ratio = ratio(counts.hits as f64, (counts.hits + counts.misses) as f64);
        ReadCacheReport { counts: *counts, hit_ratio }
    }
}
