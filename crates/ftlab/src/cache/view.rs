//! What a policy of the write buffer may look at: pages and what is known of them, in the buffer and on
//! flash. It is read-only; a policy answers with an [`Eviction`], and the core carries it out.

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

    /// Whether these sectors of a page may be programmed beside those of another page: see
    /// [`Ftl::may_pack`].
    fn may_pack(&self, page: Lpn, sectors: SectorMask) -> bool;

    /// Whether packing these sectors of a page leaves it with one part on flash more than it has.
    fn adds_fragment(&self, page: Lpn, sectors: SectorMask) -> bool;

    /// For how many further parts of pages the mapping has room.
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

/// The read-only side of a buffer.
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

/// Sizes that policies go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferShape {
    /// The sectors of a page (mapping unit).
    pub whole_page: SectorMask,
    /// Whole pages that fit.
    pub capacity: u32,
    /// Logical pages that the host sees.
    pub logical_pages: u32,
}

impl BufferView<'_> {
    /// A page in the buffer.
    #[inline]
    #[must_use]
    pub fn page(&self, slot: SlotId) -> &Page {
        &self.pages[slot]
    }

    /// The slot of a logical page, be it listed or on its way to flash.
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

    /// Whether a page is only kept from a read: it can go without being written.
    #[inline]
    #[must_use]
    pub fn is_clean(&self, slot: SlotId) -> bool {
        self.pages[slot].dirty.is_empty()
    }

    /// Whether what is dirty in a page may be programmed beside another page's.
    #[inline]
    #[must_use]
    pub fn may_pack(&self, slot: SlotId) -> bool {
        let page = &self.pages[slot];
        let partial = !page.dirty.is_empty() && page.dirty != self.shape.whole_page;
        partial && self.flash.may_pack(page.page, page.dirty)
    }

    /// Whether packing a page leaves it with one part on flash more than it has. That stays as it is while
    /// the page is not written.
    #[must_use]
    pub fn adds_fragment(&self, slot: SlotId) -> bool {
        let page = &self.pages[slot];
        self.flash.adds_fragment(page.page, page.dirty)
    }

    /// Whether the mapping has room for a further pack that adds a part to both of its pages, beside those
    /// under way.
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

    /// The sectors of a page.
    #[inline]
    #[must_use]
    pub fn sectors_per_page(&self) -> u32 {
        self.shape.whole_page.count()
    }

    /// Whole pages that fit into the buffer.
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
    /// A page by itself. A clean one is dropped, others are written.
    Page(SlotId),
    /// What is dirty in two pages, with one program, on one physical page. Both may be packed, and
    /// their dirty sectors fit into a page together.
    Pack {
        /// The page that had to go.
        first: SlotId,
        /// The one that goes along.
        second: SlotId,
    },
    /// A page that is on flash and not in the buffer: it is read, and written again.
    Pad(Lpn),
}

/// Why a page may no longer be evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// What is dirty in it is on its way to flash.
    WrittenBack,
    /// It was clean, and its place is needed.
    Dropped,
    /// The host deallocated it.
    Deallocated,
}
