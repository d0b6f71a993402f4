//! What a policy of the write buffer may look at: pages and their state in the buffer and on flash. The
//! view is read-only; a policy answers with an [`Eviction`], which the core carries out.

use super::page::{Index, Page, SlotId};
use crate::engine::Slab;
use crate::ftl::Ftl;
use crate::ftl::fragments;
use crate::units::Lpn;
use crate::units::SectorMask;

/// What a policy may ask about flash.
pub trait OnFlash {
    /// Whether a logical page has any data on flash.
    fn holds(&self, page: Lpn) -> bool;

    /// Whether these sectors of a page may be programmed together with those of another page: see
    /// [`Ftl::may_pack`].
    fn may_pack(&self, page: Lpn, sectors: SectorMask) -> bool;

    /// Whether packing these sectors of a page increases its number of parts on flash.
    fn adds_fragment(&self, page: Lpn, sectors: SectorMask) -> bool;

    /// Number of further parts of pages that the mapping has room for.
    fn fragment_room(&self) -> u32;
}

impl OnFlash for Ftl {
    fn holds(&self, page: Lpn) -> bool {
        self.look_up(page).is_some()
    }

    fn may_pack(&self, page: Lpn, sectors: SectorMask) -> bool {
        self.packs() && fragments::may_pack(page, sectors, self)
    }

    fn adds_fragment(&self, page: Lpn, sectors: SectorMask) -> bool {
        match self.fragments(page) {
            [Some(only), None] => !sectors.covers(only.sectors),
            _ => false,
        }
    }

    fn fragment_room(&self) -> u32 {
        fragments::fragment_room(self)
    }
}

/// A read-only view of a buffer.
#[derive(Clone, Copy)]
pub struct BufferView<'a> {
    pub(super) pages: &'a Slab<Page>,
    pub(super) index: &'a Index,
    pub(super) shape: BufferShape,
    pub(super) packs_under_way: u32,
    pub(super) flash: &'a dyn OnFlash,
}

/// Pages in a pack.
const PARTS_OF_PACK: u32 = 2;

/// Sizes that policies depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferShape {
    /// All sectors of a page.
    pub whole_page: SectorMask,
    /// Capacity in whole pages.
    pub capacity: u32,
    /// Logical pages that the host sees.
    pub logical_pages: u32,
}

impl BufferView<'_> {
    /// The page in a slot.
    #[inline]
    #[must_use]
    pub fn page(&self, slot: SlotId) -> &Page {
        &self.pages[slot]
    }

    /// The slot of a logical page, whether it is evictable or on its way to flash.
    #[inline]
    #[must_use]
    pub fn find(&self, page: Lpn) -> Option<SlotId> {
        self.index.get(page)
    }

    /// Whether all sectors of a page are dirty.
    #[inline]
    #[must_use]
    pub fn is_whole(&self, slot: SlotId) -> bool {
        self.pages[slot].dirty == self.shape.whole_page
    }

    /// Whether a page has no dirty sectors: it was kept from a read and can leave without being written.
    #[inline]
    #[must_use]
    pub fn is_clean(&self, slot: SlotId) -> bool {
        self.pages[slot].dirty.is_empty()
    }

    /// Whether the dirty sectors of a page may be programmed together with those of another page.
    #[inline]
    #[must_use]
    pub fn may_pack(&self, slot: SlotId) -> bool {
        let page = &self.pages[slot];
        let partial = !page.dirty.is_empty() && page.dirty != self.shape.whole_page;
        partial && self.flash.may_pack(page.page, page.dirty)
    }

    /// Whether packing a page increases its number of parts on flash. The answer does not change while the
    /// page is not written.
    #[must_use]
    pub fn adds_fragment(&self, slot: SlotId) -> bool {
        let page = &self.pages[slot];
        self.flash.adds_fragment(page.page, page.dirty)
    }

    /// Whether the mapping has room for one more pack that adds a part to both of its pages, besides the
    /// packs under way.
    #[inline]
    #[must_use]
    pub fn has_room_for_fragments(&self) -> bool {
        self.flash.fragment_room() >= (self.packs_under_way + 1) * PARTS_OF_PACK
    }

    /// Whether a logical page has data on flash.
    #[must_use]
    pub fn is_on_flash(&self, page: Lpn) -> bool {
        self.flash.holds(page)
    }

    /// Sectors of a page.
    #[inline]
    #[must_use]
    pub fn sectors_per_page(&self) -> u32 {
        self.shape.whole_page.count()
    }

    /// Capacity in whole pages.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> u32 {
        self.shape.capacity
    }

    /// Logical pages that the host sees.
    #[inline]
    #[must_use]
    pub fn logical_pages(&self) -> u32 {
        self.shape.logical_pages
    }
}

/// What leaves the buffer next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eviction {
    /// A page by itself. A clean one is dropped, any other is written.
    Page(SlotId),
    /// The dirty sectors of two pages, programmed together onto one physical page. Both pages may be
    /// packed, and the sectors fit into one page.
    Pack {
        /// The page that was due.
        first: SlotId,
        /// The page that goes with it.
        second: SlotId,
    },
    /// A page that is on flash and not in the buffer: it is read and written again.
    Pad(Lpn),
}

/// Why a page is no longer evictable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// Its dirty sectors are on their way to flash.
    WrittenBack,
    /// It was clean, and its room is needed.
    Dropped,
    /// The host deallocated it.
    Deallocated,
}
