//! What merges did, counted.

/// Counts of merges, in blocks and pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeCounts {
    /// Log blocks that became data blocks as they were.
    pub switch: u64,
    /// Log blocks that became data blocks with copies of what they lacked.
    pub partial: u64,
    /// Data blocks that were copied as wholes.
    pub full: u64,
    /// Of all these, those made by planes that could have gone on writing, because another plane merged.
    pub along: u64,
    /// Pages that merges copied.
    pub copied: u64,
    /// Pages that the throttle left over, which moved to another log block.
    pub moved: u64,
    /// Log blocks that were emptied because a page found no room.
    pub reclaims: u64,
    /// Log blocks that planes erased along with others.
    pub erased_along: u64,
}

impl MergeCounts {
    /// Merges of all kinds.
    #[must_use]
    pub fn merges(&self) -> u64 {
        self.switch + self.partial + self.full
    }
}

/// Merges of each reclaim in the order of time: the most of so many in a row, where that number grows with the
/// run.
#[derive(Clone, Debug)]
pub struct Reclaims {
    most: Vec<u32>,
    bucket: u64,
    count: u64,
    most_of_all: u32,
}

impl Reclaims {
    /// Buckets at the most; when they are full, two become one.
    const BUCKETS: usize = 512;

    /// How many reclaims a bucket stands for.
    #[must_use]
    pub fn bucket(&self) -> u64 {
        self.bucket
    }

    /// By bucket: the most merges of a reclaim.
    #[must_use]
    pub fn most(&self) -> &[u32] {
        &self.most
    }

    /// The most merges of any reclaim.
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
