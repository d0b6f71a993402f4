//! What comes in, and whether there is room for it.

use super::super::view::OnFlash;
use super::{Buffer, Page, SlotId, Turn, WriteBufferPolicy};
use crate::units::PageSpan;

impl Buffer {
    /// What is held, holes included.
    #[inline]
    pub(super) fn held(&self) -> u32 {
        self.pages.held + self.listed.policy.holes()
    }

    /// What fits beside what is held.
    #[inline]
    pub(super) fn free(&self) -> u32 {
        self.rules.capacity.map_or(0, |capacity| capacity.saturating_sub(self.held()))
    }

    /// Whether so much more comes in now. What comes anew stays behind writes that wait already.
    #[inline]
    pub(super) fn has_room(&self, more: u32, turn: Turn) -> bool {
        let Some(capacity) = self.rules.capacity else { return true };
        let passes = turn == Turn::Waited || self.queue.is_empty();
        self.held() + more <= capacity && (passes || more == 0)
    }

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
                let more = self.pages.space.of(span.sectors);
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
        let space = self.pages.space;
        let listed = self.pages.is_listed(slot);
        let page = &mut self.pages[slot];
        let (before, held) = ((page.dirty, page.clean), space.of_page(page));
        page.dirty = page.dirty.and_also(span.sectors);
        page.clean = page.clean.without(span.sectors);
        let more = space.of_page(page) - held;
        // What is appended leaves a hole.
        let moves = self.listed.policy.appends() && listed;
        let hole = u32::from(moves && !self.listed.keeps_place(&self.pages[slot]));
        if more + hole > 0 && !self.has_room(more + hole, turn) {
            (self.pages[slot].dirty, self.pages[slot].clean) = before;
            return None;
        }
        self.pages.held += more;
        let page = &mut self.pages[slot];
        page.tag = tag;
        // Of a page that only passes through, to fill up a block, nothing was here.
        let was_here = !page.padding || !before.0.is_empty();
        self.counts.write_hits += u64::from(was_here);
        self.counts.write_misses += u64::from(!was_here);
        if listed {
            self.listed.written(slot, before.0, &self.pages, flash);
        } else if self.pages[slot].flushing.is_empty() {
            self.listed.enter(slot, &self.pages, flash);
        }
        // A page on its way is listed again when its write-back is done.
        Some(slot)
    }

    /// A page comes in by itself, though there be an older version; there is [room](Self::let_in) for it.
    #[cold]
    fn write_version(&mut self, span: PageSpan, tag: u8, flash: &dyn OnFlash) -> SlotId {
        let older = self.find(span.page);
        let slot = self.insert(span, tag, flash);
        self.pages.chain(slot, older);
        slot
    }

    #[inline(always)]
    fn insert(&mut self, span: PageSpan, tag: u8, flash: &dyn OnFlash) -> SlotId {
        self.counts.write_misses += 1;
        let slot = self.pages.insert(Page { dirty: span.sectors, tag, ..Page::of(span.page) });
        self.listed.enter(slot, &self.pages, flash);
        slot
    }

    /// Whether a request of so many pages comes in as a whole now. One that is larger than the buffer comes
    /// in when nothing else is there.
    pub fn let_in(&mut self, pages: u32) -> bool {
        self.rules.capacity.is_none_or(|capacity| self.pages.let_in(pages, capacity))
    }
}
