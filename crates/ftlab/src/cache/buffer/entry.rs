//! Writes that come in, and those that wait to: for room, or where pages are only staged, for the version
//! before.

use super::super::view::OnFlash;
use super::{Buffer, Page, SlotId, Turn, Waiting, WriteBufferPolicy, view};
use crate::units::Lpn;
use crate::units::{PageSpan, SectorMask};

impl Buffer {
    /// Takes a page of a write in, or returns none if it has to wait.
    #[inline]
    pub fn write(
        &mut self,
        span: PageSpan,
        tag: u8,
        turn: Turn,
        flash: &dyn OnFlash,
    ) -> Option<SlotId> {
        if self.gathers() {
            return Some(self.write_version(span, tag, flash));
        }
        match self.find(span.page) {
            Some(_) if !self.acknowledges_early() => None,
            Some(slot) => self.write_again(slot, span, tag, turn, flash),
            None => {
                let more = self.setup.space.of(span.sectors);
                self.has_room(more, turn).then(|| self.insert(span, tag, flash))
            }
        }
    }

    /// A write of a page that is there.
    #[inline]
    fn write_again(
        &mut self,
        slot: SlotId,
        span: PageSpan,
        tag: u8,
        turn: Turn,
        flash: &dyn OnFlash,
    ) -> Option<SlotId> {
        let (listed, held) = (self.is_listed(slot), self.setup.space.of_page(&self.pages[slot]));
        let page = &mut self.pages[slot];
        let before = (page.dirty, page.clean);
        page.dirty = page.dirty.and_also(span.sectors);
        page.clean = page.clean.without(span.sectors);
        let more = self.setup.space.of_page(&self.pages[slot]) - held;
        // What is appended leaves a hole.
        let hole = u32::from(self.setup.policy.appends() && listed && !self.keeps_place(slot));
        if more + hole > 0 && !self.has_room(more + hole, turn) {
            (self.pages[slot].dirty, self.pages[slot].clean) = before;
            return None;
        }
        self.fill.held += more;
        // Of a page that only passes through, to fill up a block, nothing was here.
        let was_here = !self.pages[slot].padding || !before.0.is_empty();
        self.counts.write_hits += u64::from(was_here);
        self.counts.write_misses += u64::from(!was_here);
        self.pages[slot].tag = tag;
        if listed {
            self.write_listed(slot, before.0, flash);
        } else if self.pages[slot].flushing.is_empty() {
            self.make_candidate(slot, flash);
        }
        // A page on its way is listed again when its write-back is done.
        Some(slot)
    }

    /// A page that may be evicted was written; so much of it was dirty before.
    #[inline]
    fn write_listed(&mut self, slot: SlotId, before: SectorMask, flash: &dyn OnFlash) {
        let space = self.setup.space;
        let of = |sectors: SectorMask| if sectors.is_empty() { 0 } else { space.of(sectors) };
        self.fill.dirty = self.fill.dirty - of(before) + of(self.pages[slot].dirty);
        if before.is_empty() {
            self.clean -= 1;
            self.dirty += 1;
            self.long_dirty.push_newest(slot);
        }
        if self.keeps_place(slot) {
            return;
        }
        self.unchoose(slot);
        let Buffer { setup, pages, index, packs, .. } = self;
        setup.policy.written(slot, &view(pages, index, setup.shape, *packs, flash));
    }

    /// A page comes in by itself, though there be an older version; there is [room](Self::let_in) for it.
    #[cold]
    fn write_version(&mut self, span: PageSpan, tag: u8, flash: &dyn OnFlash) -> SlotId {
        let older = self.find(span.page);
        let slot = self.insert(span, tag, flash);
        self.versions.put(slot, older);
        slot
    }

    #[inline(always)]
    fn insert(&mut self, span: PageSpan, tag: u8, flash: &dyn OnFlash) -> SlotId {
        self.counts.write_misses += 1;
        let slot = self.pages.insert(Page { dirty: span.sectors, tag, ..Page::of(span.page) });
        self.fill.held += self.setup.space.of(span.sectors);
        self.index.insert(span.page, slot);
        self.make_candidate(slot, flash);
        slot
    }

    /// Whether a request of so many pages comes in as a whole now. One that is larger than the buffer comes
    /// in when nothing else is there.
    pub fn let_in(&mut self, pages: u32) -> bool {
        let Some(capacity) = self.setup.capacity else { return true };
        let held = self.pages_held();
        let fits = held + pages as usize <= capacity as usize;
        let alone = held == 0 && pages > capacity;
        self.passing |= alone;
        alone || (fits && !self.passing)
    }

    /// So many pages of a write have to wait: for room, or for the version before.
    pub fn wait_for_room(&mut self, waiting: Waiting, pages: u32) {
        self.counts.waited += u64::from(pages);
        if self.acknowledges_early() {
            self.fill.wanted += self.wants(&waiting);
            self.waiting.push_back(waiting);
        } else {
            self.behind.entry(waiting.span.page).or_default().push_back(waiting);
        }
    }

    /// Whether any write waits for the version before.
    #[inline]
    pub fn any_behind(&self) -> bool {
        !self.behind.is_empty()
    }

    /// The write that waited for the version of a page which has just left, if one did.
    #[inline]
    pub fn next_version(&mut self, page: Lpn) -> Option<Waiting> {
        if self.behind.is_empty() {
            return None;
        }
        let queue = self.behind.get_mut(&page)?;
        let next = queue.pop_front();
        if queue.is_empty() {
            self.behind.remove(&page);
        }
        next
    }

    /// The write that has waited longest for room.
    #[inline]
    #[must_use]
    pub fn first_waiting(&self) -> Option<Waiting> {
        self.waiting.front().copied()
    }

    /// The write that has waited longest waits no more.
    pub fn forget_waiting(&mut self) {
        if let Some(waiting) = self.waiting.pop_front() {
            self.fill.wanted -= self.wants(&waiting);
        }
    }

    /// What a write that waits needs at the most.
    fn wants(&self, waiting: &Waiting) -> u32 {
        self.setup.space.of(waiting.span.sectors)
    }
}
