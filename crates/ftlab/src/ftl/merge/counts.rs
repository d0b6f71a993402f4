//! Counts of merges.

use crate::counters::counters;

counters! {
    /// What merges did. Pages are flash pages.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct MergeCounts {
        /// Log blocks that became data blocks without a copy.
        switch: u64, unit "log blocks", at "merges/switch", label "switch";
        /// Log blocks that became data blocks after the missing pages were copied to them.
        partial: u64, unit "log blocks", at "merges/partial", label "partial";
        /// Data blocks that were copied as wholes.
        full: u64, unit "data blocks", at "merges/full", label "full";
        /// Of all these, the merges on planes that could have taken writes, made because another plane merged.
        along: u64, unit "blocks", at "merges/along", label "along with other planes";
        /// Pages that merges copied.
        copied: u64, unit "pages", at "merges/copied_pages";
        /// Pages that moved to another log block because the throttle stopped the merges.
        moved: u64, unit "pages", at "merges/moved_pages";
        /// Log blocks that were emptied because there was no room for a page.
        reclaims: u64, unit "log blocks", at "merges/reclaims", label "log blocks emptied";
        /// Log blocks that planes erased along with a job of another plane.
        erased_along: u64, unit "log blocks", at "merges/erased_along";
    }
}

impl MergeCounts {
    /// Returns the number of merges of all kinds.
    #[must_use]
    pub fn merges(&self) -> u64 {
        self.switch + self.partial + self.full
    }
}

/// The numbers of merges of reclaims, in order of time. Each bucket holds the maximum of
/// consecutive reclaims. The bucket size grows with the run.
#[derive(Clone, Debug)]
pub struct Reclaims {
    most: Vec<u32>,
    bucket: u64,
    count: u64,
    most_of_all: u32,
}

impl Reclaims {
    /// Maximum number of buckets. When they are full, they are combined in pairs.
    const BUCKETS: usize = 512;

    /// Returns the number of reclaims in a bucket.
    #[must_use]
    pub fn bucket(&self) -> u64 {
        self.bucket
    }

    /// Returns the maximum number of merges of a reclaim, by bucket.
    #[must_use]
    pub fn most(&self) -> &[u32] {
        &self.most
    }

    /// Returns the maximum number of merges of any reclaim.
    #[must_use]
    pub fn most_of_all(&self) -> u32 {
        self.most_of_all
    }

    pub(super) fn record(&mut self, merges: u32) {
        self.most_of_all = self.most_of_all.max(merges);
        if self.count.is_multiple_of(self.bucket) {
            if self.most.len() == Self::BUCKETS {
                self.most = self.most.chunks(2).map(|pair| pair[0].max(pair[1])).collect();
                self.bucket *= 2;
            }
            self.most.push(0);
        }
        self.count += 1;
        if let Some(last) = self.most.last_mut() {
            *last = (*last).max(merges);
        }
    }
}

impl Default for Reclaims {
    fn default() -> Reclaims {
        Reclaims { most: Vec::new(), bucket: 1, count: 0, most_of_all: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_grow_and_keep_the_most() {
        let mut reclaims = Reclaims::default();
        (0..5_000u32).for_each(|number| reclaims.record(number));
        let bucket = reclaims.bucket();
        assert!(reclaims.most().len() <= Reclaims::BUCKETS && bucket == 16);
        for (at, &most) in reclaims.most().iter().enumerate() {
            assert_eq!(u64::from(most), ((at as u64 + 1) * bucket).min(5_000) - 1);
        }
    }
}
