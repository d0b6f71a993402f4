//! The options of policies that evict whole logical blocks.

use super::{BufferOptions, Dram, OfBuffer};
use crate::options::declare::options;
use crate::policy::Parts;
use crate::units::Bytes;

options! {
    /// Whole logical blocks are evicted.
    pub struct BlockOptions at "cache" with { buffer: BufferOptions } {
        /// The size of a logical block; of pages (mapping units) only whole ones count, and one at the least.
        /// None: as much as a flash block of data.
        block: Option<Bytes> = "none", in "512B"..="64MiB",
            source "Jo et al. 2006 and Kim and Ahn 2008: the erase block";
    }
}

impl OfBuffer for BlockOptions {
    fn dram(&self) -> Option<Dram<'_>> {
        self.buffer.dram()
    }
}

impl BlockOptions {
    /// The pages (mapping units) of a logical block: not more than the device has.
    pub fn pages(&self, parts: &Parts<'_>) -> u32 {
        let Parts { geometry, logical_pages, .. } = parts;
        let unit = u64::from(geometry.sectors_per_unit());
        let flash_block = u64::from(geometry.units_per_block());
        let pages = self.block.map_or(flash_block, |size| size.sectors() / unit);
        u32::try_from(pages).unwrap_or(u32::MAX).clamp(1, *logical_pages)
    }
}
