//! All pages in a buffer, found by slot or by page number, with the versions of each page and the room they take.

use std::ops::{Index, IndexMut};

use super::super::page::{self, Page, SlotId};
use super::super::view::{BufferShape, BufferView, OnFlash};
use super::BufferSetup;
use super::versions::Versions;
use crate::engine::Slab;
use crate::options::declare::choices;
use crate::units::{Lpn, PageSpan, SectorMask};

choices! {
    /// What the capacity of a buffer counts.
    pub enum Space {
        /// Pages (mapping units), as frames of DRAM: a page takes one, however few of its sectors are there.
        Pages = "pages",
        /// Sectors that are there, as in SSDsim.
        Sectors = "sectors",
        /// Pages, but data that is written while a page is on its way to flash takes one more.
        Slots = "slots",
    }
}

impl Space {
    /// Whether sectors are counted, so the buffer may hold more partial pages than whole ones.
    #[must_use]
    pub fn counts_sectors(self) -> bool {
        self == Space::Sectors
    }

    /// Room for these sectors of a page.
    #[inline]
    pub(super) fn of(self, sectors: SectorMask) -> u32 {
        match self {
            Space::Pages | Space::Slots => 1,
            Space::Sectors => sectors.count(),
        }
    }

    /// Room that a page takes at present.
    #[inline]
    pub(super) fn of_page(self, page: &Page) -> u32 {
        match self {
            Space::Pages => u32::from(!page.padding || !page.dirty.is_empty()),
            Space::Slots => {
                let on_way = !page.padding && !page.writing_back.is_empty();
                let here = !(page.dirty.is_empty() && page.clean.is_empty());
                u32::from(on_way) + u32::from(here)
            }
            Space::Sectors => {
                let on_way = if page.padding { 0 } else { page.writing_back.count() };
                on_way + page.dirty.count() + page.clean.count()
            }
        }
    }

    /// Room that becomes free when the write-back of a page ends.
    #[inline]
    pub(super) fn of_writing_back(self, page: &Page) -> u32 {
        match self {
            _ if page.padding => 0,
            Space::Pages | Space::Slots => 1,
            Space::Sectors => page.writing_back.count(),
        }
    }
}

/// All pages in a buffer.
#[derive(Clone, Debug)]
pub struct Pages {
    slab: Slab<Page>,
    /// The slot of the newest version of each page.
    index: page::Index,
    versions: Versions,
    /// The unit of room.
    pub(super) space: Space,
    pub(super) shape: BufferShape,
    /// Room that the pages take.
    pub(super) held: u32,
    /// Packs of two pages under way.
    pub(super) packs: u32,
    /// Whether a request larger than the buffer is in. It is then the only one, and it is acknowledged when it is on
    /// flash.
    pub(super) passing: bool,
}

impl Pages {
    pub(super) fn new(setup: &BufferSetup) -> Pages {
        Pages {
            slab: Slab::default(),
            index: page::Index::default(),
            versions: Versions::default(),
            space: setup.space,
            shape: setup.shape,
            held: 0,
            packs: 0,
            passing: false,
        }
    }

    /// Number of pages, each version counted.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.slab.in_use()
    }

    /// The slot of the newest version of a logical page.
    #[inline]
    pub(super) fn find(&self, page: Lpn) -> Option<SlotId> {
        self.index.get(page)
    }

    /// The next older version of the same page.
    #[inline]
    pub fn older(&self, slot: SlotId) -> Option<SlotId> {
        self.versions.older(slot)
    }

    /// The slot of a page that may be written back now.
    #[inline]
    pub fn find_dirty(&self, page: Lpn) -> Option<SlotId> {
        self.find(page).filter(|&slot| self.may_write_back(slot))
    }

    /// Whether any data of a page in the buffer is newer than flash, or on its way there.
    pub fn is_being_written(&self, page: Lpn) -> bool {
        self.find(page).is_some_and(|slot| self[slot].is_new())
    }

    /// Returns which of these sectors, just read from flash, can be kept: none if newer data is on its way.
    pub fn worth_keeping(&self, span: PageSpan) -> SectorMask {
        match self.find(span.page).map(|slot| &self[slot]) {
            None => span.sectors,
            Some(page) if page.writing_back.is_empty() => {
                span.sectors.without(page.dirty).without(page.clean)
            }
            Some(_) => SectorMask::EMPTY,
        }
    }

    /// Logical pages with data that is not on flash yet, in ascending order.
    pub fn not_on_flash(&self) -> Vec<Lpn> {
        let is_new = |page: &&Page| {
            let on_its_way = !page.writing_back.is_empty() && !page.padding && !page.discard;
            on_its_way || !page.dirty.is_empty()
        };
        let slots = self.slots();
        let pages = slots.iter().map(|&slot| &self[slot]).filter(is_new);
        let mut pages: Vec<Lpn> = pages.map(|page| page.page).collect();
        // A page may have several versions.
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    /// Clean pages, by slot number.
    pub fn clean(&self) -> Vec<SlotId> {
        let mut slots = self.slots();
        slots.retain(|&slot| self.is_listed(slot) && !self.is_dirty(slot));
        slots
    }

    /// All slots in use, by number.
    pub(super) fn slots(&self) -> Vec<SlotId> {
        let versions = |newest| std::iter::successors(Some(newest), |&slot| self.older(slot));
        // The hash order must not matter.
        let mut slots: Vec<SlotId> =
            self.index.iter().flat_map(|(_, slot)| versions(slot)).collect();
        slots.sort_unstable_by_key(|slot| slot.get());
        slots
    }

    #[inline]
    pub(super) fn is_dirty(&self, slot: SlotId) -> bool {
        !self[slot].dirty.is_empty()
    }

    /// Whether a page has dirty sectors and no write-back under way.
    #[inline]
    pub(super) fn may_write_back(&self, slot: SlotId) -> bool {
        self.is_dirty(slot) && self[slot].writing_back.is_empty()
    }

    /// Whether a page is evictable, that is, known to the policy.
    #[inline]
    pub(super) fn is_listed(&self, slot: SlotId) -> bool {
        let page = &self[slot];
        page.writing_back.is_empty() && !(page.dirty.is_empty() && page.clean.is_empty())
    }

    /// The view for the policy.
    #[inline]
    pub(super) fn view<'a>(&'a self, flash: &'a dyn OnFlash) -> BufferView<'a> {
        let Pages { slab, index, shape, packs, .. } = self;
        BufferView { pages: slab, index, shape: *shape, packs_under_way: *packs, flash }
    }

    /// Prefetches a page that will be needed soon.
    #[inline]
    pub(super) fn prefetch(&self, slot: SlotId) {
        self.slab.prefetch(slot);
    }

    /// Inserts a page. It is the newest version from now on.
    #[inline(always)]
    pub(super) fn insert(&mut self, page: Page) -> SlotId {
        let number = page.page;
        self.held += self.space.of_page(&page);
        let slot = self.slab.insert(page);
        self.index.insert(number, slot);
        slot
    }

    /// Links a new page to its older version, if any.
    pub(super) fn chain(&mut self, slot: SlotId, older: Option<SlotId>) {
        self.versions.put(slot, older);
    }

    /// Whether a request of this many pages may come in as a whole now. A request larger than the buffer comes in
    /// when the buffer is empty.
    pub(super) fn let_in(&mut self, pages: u32, capacity: u32) -> bool {
        let held = self.len();
        let fits = held + pages as usize <= capacity as usize;
        let alone = held == 0 && pages > capacity;
        self.passing |= alone;
        alone || (fits && !self.passing)
    }

    /// Changes a page, and the room taken with it.
    #[inline]
    pub(super) fn change(&mut self, slot: SlotId, change: impl FnOnce(&mut Page)) {
        let page = &mut self.slab[slot];
        let before = self.space.of_page(page);
        change(page);
        self.held = self.held - before + self.space.of_page(page);
    }

    /// Removes a page, or a version of it.
    #[inline]
    pub(super) fn remove(&mut self, slot: SlotId) {
        let Page { page, .. } = self.slab[slot];
        self.held -= self.space.of_page(&self.slab[slot]);
        self.slab.release(slot);
        if self.versions.are_kept() {
            self.remove_version(slot, page);
        } else {
            self.index.remove(page);
        }
    }

    #[cold]
    fn remove_version(&mut self, slot: SlotId, page: Lpn) {
        match self.versions.remove(slot) {
            (Some(_), _) => {}
            (None, Some(older)) => self.index.insert(page, older),
            (None, None) => {
                self.index.remove(page);
            }
        }
        self.passing &= self.len() > 0;
    }

    /// Resets slot numbers, so that new pages are numbered from zero again.
    pub(super) fn rest(&mut self) {
        let Pages { slab, index, versions, space: _, shape: _, held, packs, passing } = self;
        let empty = index.is_empty() && *packs == 0 && !*passing;
        assert!(empty, "a buffer at rest holds no page");
        (*slab, *versions, *held) = (Slab::default(), Versions::default(), 0);
    }

    /// Checks that pages are found under their numbers and that versions of a page are linked.
    ///
    /// # Errors
    /// The first inconsistency, in words.
    pub(super) fn audit(&self, slots: &[SlotId]) -> Result<(), String> {
        let held = self.len();
        if slots.len() != held || (self.passing && held == 0) {
            return Err(format!("{} of the {held} pages in the buffer are found", slots.len()));
        }
        if self.index.iter().any(|(page, slot)| self[slot].page != page) {
            return Err("a page of the buffer is found under another number".to_owned());
        }
        slots.iter().try_for_each(|&slot| self.audit_version(slot))
    }

    /// Checks that versions of a page are linked and that only the oldest is under way.
    fn audit_version(&self, slot: SlotId) -> Result<(), String> {
        let page = &self[slot];
        let Some(older) = self.older(slot) else { return Ok(()) };
        let linked = self[older].page == page.page && self.versions.newer(older) == Some(slot);
        if !linked || !page.writing_back.is_empty() {
            return Err(format!("{page:?} comes after {:?}", self[older]));
        }
        Ok(())
    }
}

impl Index<SlotId> for Pages {
    type Output = Page;
    #[inline]
    fn index(&self, slot: SlotId) -> &Page {
        &self.slab[slot]
    }
}

/// Only for changes that do not affect the room that a page takes.
impl IndexMut<SlotId> for Pages {
    #[inline]
    fn index_mut(&mut self, slot: SlotId) -> &mut Page {
        &mut self.slab[slot]
    }
}
