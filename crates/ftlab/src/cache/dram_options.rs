//! The options that all policies with a write buffer share.

use super::Space;
use crate::options::Switch;
use crate::options::declare::options;
use crate::units::{Bytes, Ratio};

options! {
    /// The DRAM of a write buffer: the options that every policy with a buffer shares.
    pub struct DramOptions at "cache" {
        /// How much data the buffer holds. With `cache.policy = "gating"` the default is 32 KiB, but at least a
        /// flash page, even if a preset sets a capacity for another policy.
        capacity: Bytes = "64MiB", in "2KiB"..="1TiB",
            source "assumed: the rest of a drive's DRAM holds the mapping table";
    }
}

impl DramOptions {
    /// Returns the capacity in whole pages of this size, at most the number of logical pages.
    #[must_use]
    pub fn pages(&self, page: Bytes, logical_pages: u32) -> u32 {
        u32::try_from(self.capacity.0 / page.0).unwrap_or(u32::MAX).min(logical_pages)
    }
}

options! {
    /// A buffer that absorbs writes.
    pub struct BufferOptions at "cache" with { dram: DramOptions } {
        /// What `cache.capacity` counts.
        space: Space = "pages", source "frames of DRAM; SSDsim counts sectors";
        /// Whether pages that are read from flash stay in the buffer, clean, as long as nothing else needs the
        /// room.
        keep_reads: Switch = "off", source "a write buffer; on: a cache of reads and writes";
        /// Share of the buffer above which dirty pages are written back in the background. At 100% they are
        /// written back only when room is needed.
        write_back_start: Ratio = "80%", in "0%"..="100%", source "assumed";
        /// Maximum number of flash pages being programmed or on their way, as a mean over the dies. With rows
        /// (`ftl.placement.rows`) this is multiplied by the planes of a die.
        programs_per_die: u32 = "2", in "1"..="4096", unit "programs",
            source "one in the cells and one on the bus keep a die busy",
            applies_with "cache.write_back_together" is "1";
        /// Number of flash pages that are written back as a batch: the next batch starts when all of them are on
        /// flash. With 1, each page is written back as soon as possible, including pages that a host flush waits
        /// for.
        write_back_together: u32 = "1", in "1"..="4096", unit "flash pages",
            source "default: no page waits for others; Lu et al. 2018, 4.1.2, write 16 back at once";
    }
}
