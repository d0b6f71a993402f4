//! The read cache, in the report.

use serde::Serialize;

use crate::cache::ReadCacheCounts;

/// The read cache, in pages (mapping units) unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReadCacheReport {
    /// Pages that the host read and that were there. What the write buffer had is not looked for.
    pub hit_pages: u64,
    /// Pages that the host had from flash instead.
    pub missed_pages: u64,
    /// Of these, pages that were being read ahead already: the host waited for that.
    pub joined_pages: u64,
    /// The share of the first in hits and misses.
    pub hit_ratio: Option<f64>,
    /// Pages that came in, be it beside what the host wanted.
    pub brought_pages: u64,
    /// Flash pages that were read ahead.
    pub read_ahead_flash_pages: u64,
    /// Pages that left because they were written or deallocated.
    pub outdated_pages: u64,
    /// Flash pages that made room.
    pub evicted_flash_pages: u64,
}

pub(super) fn read_cache(counts: &ReadCacheCounts) -> ReadCacheReport {
    let &ReadCacheCounts { hits, misses, joined, brought, read_ahead, outdated, evicted } = counts;
    let wanted = hits + misses;
    ReadCacheReport {
        hit_pages: hits,
        missed_pages: misses,
        joined_pages: joined,
        hit_ratio: (wanted > 0).then(|| hits as f64 / wanted as f64),
        brought_pages: brought,
        read_ahead_flash_pages: read_ahead,
        outdated_pages: outdated,
        evicted_flash_pages: evicted,
    }
}
