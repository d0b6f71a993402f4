//! The options of policies that evict whole logical blocks.

use super::{BufferOptions, Dram, OfBuffer};
use crate::options::declare::options;
use crate::policy::Parts;
use crate::units::Bytes;

options! {
    /// Eviction of whole logical blocks.
    pub struct BlockOptions at "cache" with { buffer: BufferOptions } {
        /// Size of a logical block, rounded down to whole pages (mapping units), but at least one. None: the
        /// data of a flash block.
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
    /// Returns the pages of a logical block, at most those of the device.
    pub fn pages(&self, parts: &Parts<'_>) -> u32 {
        let Parts { geometry, logical_pages, .. } = parts;
        let unit = u64::from(geometry.sectors_per_unit());
        let flash_block = u64::from(geometry.units_per_block());
        let pages = self.block.map_or(flash_block, |size| size.sectors() / unit);
        u32::try_from(pages).unwrap_or(u32::MAX).clamp(1, *logical_pages)
    }
}
