//! Fragments in the report: what a mapping that packs partial pages has to store besides the page map.

use serde::Serialize;

use super::DeviceCounters;
use crate::device::{Contents, Device};
use crate::ftl::mapping::{Pieces, Reconstruction};
use crate::scheduler::Probe;

/// The number of a page, in a table of firmware.
const NUMBER_BYTES: u64 = 4;

/// Reconstruction of pages. Maxima cover the time since the device was switched on, including
/// everything before the measured phases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PageReconstruction {
    /// Programs with parts of two logical pages, at least one of which was still needed at the end of the program.
    pub packs: u64,
    /// Logical pages that lie in two parts on flash, at the end.
    pub fragmented_pages: u32,
    /// The most at any time.
    pub fragmented_pages_max: u32,
    /// Physical pages that hold current sectors of two logical pages, at the end.
    pub shared_pages: u32,
    /// The most at any time.
    pub shared_pages_max: u32,
    /// What RMAP holds, at the end.
    pub rmap: RmapMemory,
    /// What it has to have room for: the most of both kinds of entries.
    pub rmap_max: RmapMemory,
}

/// The memory of RMAP, in two ways of counting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RmapMemory {
    /// As firmware would store it. For each logical page in two parts: its number, the place of its older part (4 B
    /// each), and the sectors with which each part was programmed (one bit per sector, twice). For each shared physical
    /// page: its number (4 B), until one of the two leaves.
    pub bytes: u64,
    /// The same as a share of the page map of 4 B a logical page.
    pub page_map_ratio: f64,
    /// As the paper counts: 4 B for each mapping beyond one a logical page.
    pub paper_bytes: u64,
    /// The same as a share of the page map.
    pub paper_page_map_ratio: f64,
}

impl RmapMemory {
    fn of(pieces: Pieces, sectors_per_page: u32, logical_pages: u32) -> RmapMemory {
        let mask_bytes = u64::from(sectors_per_page.div_ceil(u8::BITS));
        let fragmented = u64::from(pieces.fragmented);
        let bytes =
            fragmented * 2 * (NUMBER_BYTES + mask_bytes) + u64::from(pieces.shared) * NUMBER_BYTES;
        let paper_bytes = fragmented * NUMBER_BYTES;
        let page_map = u64::from(logical_pages) * NUMBER_BYTES;
        let share = |bytes: u64| bytes as f64 / page_map as f64;
        RmapMemory {
            bytes,
            page_map_ratio: share(bytes),
            paper_bytes,
            paper_page_map_ratio: share(paper_bytes),
        }
    }
}

pub(super) fn page_reconstruction<P: Probe, C: Contents>(
    counters: &DeviceCounters,
    device: &Device<P, C>,
    map: &Reconstruction,
) -> PageReconstruction {
    let (pieces, most) = (map.pieces(), map.most());
    let sectors_per_page = device.ftl().full_page().count();
    let memory = |pieces| RmapMemory::of(pieces, sectors_per_page, device.ftl().logical_pages());
    PageReconstruction {
        packs: counters.packs,
        fragmented_pages: pieces.fragmented,
        fragmented_pages_max: most.fragmented,
        shared_pages: pieces.shared,
        shared_pages_max: most.shared,
        rmap: memory(pieces),
        rmap_max: memory(most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 1000 logical pages of 8 sectors (a page map of 4000 B), 10 are in two parts and 7
    /// physical pages are shared: 10 x (4 + 4 + 1 + 1) + 7 x 4 B, and 10 x 4 B as the paper counts.
    #[test]
    fn memory_of_rmap_by_hand() {
        let memory = RmapMemory::of(Pieces { fragmented: 10, shared: 7 }, 8, 1_000);
        let expected = RmapMemory {
            bytes: 128,
            page_map_ratio: 0.032,
            paper_bytes: 40,
            paper_page_map_ratio: 0.01,
        };
        assert_eq!(memory, expected);
    }
}
