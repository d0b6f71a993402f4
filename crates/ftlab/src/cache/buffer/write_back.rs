//! Pages on their way to flash: when one is due, what begins and ends with its program, and who is told.

use super::super::view::{Eviction, Leaves, OnFlash};
use super::super::{Beside, WriteBufferPolicy};
use super::{Buffer, BufferSetup, Page, SlotId, Space, Waiter, WaiterId, view};
use crate::units::Lpn;
use crate::units::{RequestId, SectorMask};

/// How many of the pages that a policy has listed are looked at for a dirty one: however large the buffer,
/// a choice costs no more.
const LOOKED_AT: usize = 256;

impl Buffer {
    /// Whether something of a page is newer here than on flash, or on its way there.
    #[must_use]
    pub fn is_being_written(&self, page: Lpn) -> bool {
        self.find(page).is_some_and(|slot| {
            let page = &self.pages[slot];
            !page.dirty.is_empty() || !page.flushing.is_empty()
        })
    }

    /// What should leave the buffer now, if anything should.
    #[inline]
    #[must_use]
    pub fn due(&mut self, flash: &dyn OnFlash) -> Option<Eviction> {
        if self.dirty + self.clean == 0 && !self.setup.policy.unfinished()
            || self
                .setup
                .programs_in_flight
                .is_some_and(|most| self.programs + self.setup.row > most)
        {
            return None;
        }
        while let Some(&(slot, page)) = self.drain.front() {
            self.drain.pop_front();
            if self.find_dirty(page) == Some(slot) && self.pages[slot].dirty_waiters.is_some() {
                return Some(Eviction::Page(slot));
            }
        }
        if let Some(pages) = self.setup.flush_pages {
            return self.due_in_flush(pages, flash);
        }
        let for_room = self.needs_room();
        if for_room || self.setup.policy.unfinished() {
            self.wants_room = false;
            return self.choose(flash);
        }
        match self.fill.dirty > self.setup.write_back_above {
            true => self.choose_dirty(flash),
            false => None,
        }
    }

    /// Whether more has to leave for those who wait: room that is free, or will be, is for them.
    #[inline]
    fn needs_room(&self) -> bool {
        self.fill.wanted > self.fill.flushing + self.free() || self.wants_room
    }

    /// What should leave now where so many flash pages go together: a flush begins when all of the one
    /// before have arrived.
    #[inline(never)]
    fn due_in_flush(&mut self, pages: u32, flash: &dyn OnFlash) -> Option<Eviction> {
        loop {
            let for_room = self.needs_room() || self.awaited > 0;
            if self.flush_left == 0 {
                let much =
                    self.fill.dirty + self.setup.policy.holes() > self.setup.write_back_above;
                if self.programs > 0 || !(for_room || much) {
                    return None;
                }
                self.flush_left = pages;
                self.setup.policy.begin_flush(pages);
            }
            self.wants_room = false;
            let holes = self.setup.policy.holes();
            let next = if for_room { self.choose(flash) } else { self.choose_dirty(flash) };
            self.made_room |= self.setup.policy.holes() < holes;
            if next.is_some() {
                return next;
            }
            self.flush_left = 0;
            // What is appended may have been nothing but holes so far.
            if !self.setup.policy.appends() || self.dirty == 0 {
                return None;
            }
        }
    }

    /// What leaves the buffer next where nobody needs room: clean pages stay.
    fn choose_dirty(&mut self, flash: &dyn OnFlash) -> Option<Eviction> {
        let next = self.choose(flash)?;
        match next {
            Eviction::Page(slot) if !self.is_dirty(slot) => {
                self.chosen = Some(next);
                self.candidates().next().map(Eviction::Page)
            }
            _ => Some(next),
        }
    }

    /// What may go along with an eviction that was begun: of a policy that evicts blocks, more of the same.
    #[inline]
    pub fn choose_companion(&mut self, flash: &dyn OnFlash, beside: Beside) -> Option<Eviction> {
        let policy = &self.setup.policy;
        let apart = policy.begins_block() || beside == Beside::OnFlashPage && policy.begins_page();
        if self.dirty == 0 && !policy.unfinished() || apart {
            return None;
        }
        self.choose_dirty(flash)
    }

    /// What leaves the buffer next, whether or not it is due.
    #[inline]
    pub fn choose(&mut self, flash: &dyn OnFlash) -> Option<Eviction> {
        if let Some(chosen) = self.chosen.take() {
            // What was to be padding may have come in since, or been deallocated.
            let comes_late = |page| self.find(page).is_some() || !flash.holds(page);
            if !matches!(chosen, Eviction::Pad(page) if comes_late(page)) {
                return Some(chosen);
            }
        }
        let Buffer { setup, pages, index, packs, .. } = self;
        let next = setup.policy.choose(&view(pages, index, setup.shape, *packs, flash));
        // In a large buffer, what follows is in no cache of the processor yet.
        if let Some(Eviction::Page(slot)) = next
            && let Some(after) = setup.policy.after(slot)
        {
            pages.prefetch(after);
        }
        next
    }

    /// Whether write-backs should begin, where they begin by planes: because somebody waits for room, or
    /// for a page, or because enough is dirty.
    #[inline]
    #[must_use]
    pub fn is_due(&self) -> bool {
        let wanted = !self.waiting.is_empty() || self.awaited > 0;
        self.dirty > 0 && (wanted || self.fill.dirty > self.setup.write_back_above)
    }

    /// A cycle of write-backs begins.
    pub fn cycle_begun(&mut self) {
        self.counts.cycles += 1;
    }

    /// The dirty pages that may be written back, in the order in which the policy would have it done. Where
    /// clean pages are among them, it looks at the first few only; if none of these is dirty, those come
    /// first that have been so for longest.
    #[inline]
    pub fn candidates(&self) -> impl Iterator<Item = SlotId> {
        let most = if self.clean == 0 { usize::MAX } else { LOOKED_AT };
        let near = move || self.listed().take(most).filter(|&slot| self.is_dirty(slot));
        let far = (self.clean > 0 && near().next().is_none()).then(|| self.long_dirty());
        near().chain(far.into_iter().flatten())
    }

    fn is_dirty(&self, slot: SlotId) -> bool {
        !self.pages[slot].dirty.is_empty()
    }

    /// All pages that the policy knows of, in its order.
    #[inline]
    pub(super) fn listed(&self) -> impl Iterator<Item = SlotId> {
        let policy = &self.setup.policy;
        std::iter::successors(policy.first(), |&slot| policy.after(slot))
    }

    /// Begins the write-back of what is dirty in a slot, and of what is clean, too, which saves reading it.
    /// Returns its logical page.
    #[inline]
    pub fn begin_write_back(&mut self, slot: SlotId, flash: &dyn OnFlash) -> Lpn {
        self.begin(slot, flash, |page| page.dirty.and_also(page.clean))
    }

    /// Begins the write-back of what is dirty in two slots, onto one physical page.
    #[inline]
    pub fn begin_pack(&mut self, first: SlotId, second: SlotId, flash: &dyn OnFlash) {
        self.counts.packs += 1;
        self.begin(first, flash, |page| page.dirty);
        self.begin(second, flash, |page| page.dirty);
        self.pages[first].packed_with = Some(second);
        self.packs += 1;
    }

    #[inline(always)]
    fn begin(
        &mut self,
        slot: SlotId,
        flash: &dyn OnFlash,
        what: impl FnOnce(&Page) -> SectorMask,
    ) -> Lpn {
        let holes = self.setup.policy.holes();
        self.drop_candidate(slot, Leaves::WrittenBack, flash);
        self.made_room |= self.setup.policy.holes() < holes;
        self.flushing += 1;
        self.awaited -= u32::from(self.pages[slot].dirty_waiters.is_some());
        self.change(slot, |page| {
            page.flushing = what(page);
            (page.dirty, page.clean) = Default::default();
            page.flushing_waiters = page.dirty_waiters.take();
        });
        let page = &self.pages[slot];
        self.fill.flushing += self.setup.space.of_flushing(page);
        page.page
    }

    /// Where pages only pass through, a whole page comes in and is on its way at once; `request` waits for it.
    #[inline(always)]
    pub fn pass_through(&mut self, page: Lpn, tag: u8, request: RequestId) -> SlotId {
        let whole = self.setup.shape.whole_page;
        self.counts.write_misses += 1;
        let waiter = self.waiters.insert(Waiter { request, next: None });
        let entry = Page { flushing: whole, tag, flushing_waiters: Some(waiter), ..Page::of(page) };
        let slot = self.pages.insert(entry);
        let page_entry = &self.pages[slot];
        self.fill.held += self.setup.space.of_page(page_entry);
        self.fill.flushing += self.setup.space.of_flushing(page_entry);
        self.index.insert(page, slot);
        self.flushing += 1;
        self.program_begun();
        slot
    }

    /// Whether whole pages may pass through.
    #[inline]
    pub fn passes_through(&self) -> bool {
        self.setup.policy.lets_pass()
            && self.dirty + self.clean == 0
            && self.setup.programs_in_flight.is_none()
            && self.setup.row == 1
            && self.setup.gate.is_none()
            && self.setup.flush_pages.is_none()
            && self.drain.is_empty()
    }

    /// A page of which nothing is here is read, and written again.
    pub fn pad(&mut self, page: Lpn) -> SlotId {
        debug_assert!(self.find(page).is_none(), "{page:?} is in the buffer");
        let flushing = self.setup.shape.whole_page;
        let slot = self.pages.insert(Page { flushing, padding: true, ..Page::of(page) });
        self.index.insert(page, slot);
        self.flushing += 1;
        self.counts.padded += 1;
        slot
    }

    /// The most pages that may be on their way past it: as if they came through, one after the other, from a host that
    /// keeps so many outstanding. None if that is not the way they would go.
    #[must_use]
    pub(crate) fn most_passing(&self, outstanding: u32, units_per_page: u32) -> Option<u32> {
        let BufferSetup { policy, capacity, gate, flush_pages, programs_in_flight, row, .. } =
            &self.setup;
        let in_order = policy.passes_in_order() && gate.is_none() && flush_pages.is_none();
        if !in_order || self.pages_held() > 0 || self.programs > 0 {
            return None;
        }
        let Some(most) = *programs_in_flight else { return Some(outstanding / units_per_page) };
        // Whatever is on its way, enough waits behind it.
        let units = most.checked_mul(units_per_page)?;
        let waits = units < outstanding && units < capacity.map_or(u32::MAX, |fits| fits / 4);
        (waits && most >= *row && self.setup.space == Space::Pages).then_some(most)
    }

    /// So many pages went past it, as if they had come in and gone out.
    #[inline]
    pub(crate) fn count_passing(&mut self, pages: u64) {
        self.counts.write_misses += pages;
        self.counts.written_back += pages;
    }

    /// Flash pages on their way.
    pub(crate) fn programs(&self) -> u32 {
        self.programs
    }

    /// A flash page of pages is on its way.
    #[inline]
    pub fn program_begun(&mut self) {
        self.programs += 1;
        self.flush_left = self.flush_left.saturating_sub(1);
    }

    /// A flash page of pages has arrived.
    #[inline]
    pub fn program_ended(&mut self) {
        self.programs -= 1;
    }

    /// The write-back of a page is done. The page leaves, unless it was written meanwhile; requests
    /// that waited for it are handed to `wake`.
    #[inline]
    pub fn end_write_back(
        &mut self,
        slot: SlotId,
        flash: &dyn OnFlash,
        wake: impl FnMut(RequestId),
    ) {
        self.counts.written_back += 1;
        self.leave_flushing(slot, flash, wake);
    }

    /// The write-back of a page that was not acknowledged will never be done: it leaves.
    pub fn give_up(&mut self, slot: SlotId, flash: &dyn OnFlash, wake: impl FnMut(RequestId)) {
        self.leave_flushing(slot, flash, wake);
    }

    #[inline]
    fn leave_flushing(&mut self, slot: SlotId, flash: &dyn OnFlash, wake: impl FnMut(RequestId)) {
        self.flushing -= 1;
        self.fill.flushing -= self.setup.space.of_flushing(&self.pages[slot]);
        self.packs -= u32::from(self.pages[slot].packed_with.is_some());
        let next = self.pages[slot].flushing_waiters.take();
        if self.pages[slot].dirty.is_empty() {
            self.remove(slot);
        } else {
            self.change(slot, |page| {
                page.flushing = SectorMask::EMPTY;
                (page.discard, page.padding, page.packed_with) = (false, false, None);
            });
            self.make_candidate(slot, flash);
            if self.pages[slot].dirty_waiters.is_some() {
                self.want_drained(slot);
            }
        }
        self.wake_all(next, wake);
    }

    /// A page leaves, or a version of it.
    #[inline]
    pub(super) fn remove(&mut self, slot: SlotId) {
        let Page { page, .. } = self.pages[slot];
        self.fill.held -= self.setup.space.of_page(&self.pages[slot]);
        self.pages.release(slot);
        if !self.gathers() {
            self.index.remove(page);
            return;
        }
        match self.versions.remove(slot) {
            (Some(_), _) => {}
            (None, Some(older)) => {
                self.index.insert(page, older);
            }
            (None, None) => {
                self.index.remove(page);
            }
        }
        self.passing &= self.pages_held() > 0;
    }

    pub(super) fn wake_all(&mut self, first: Option<WaiterId>, mut wake: impl FnMut(RequestId)) {
        let mut next = first;
        while let Some(waiter) = next {
            let Waiter { request, next: after } = self.waiters[waiter];
            self.waiters.release(waiter);
            wake(request);
            next = after;
        }
    }

    /// From now on every page is due.
    pub fn write_back_all(&mut self) {
        self.setup.write_back_above = 0;
    }

    /// Hands every request that waits for a page to `wake`, by slot number.
    pub fn wake_everyone(&mut self, mut wake: impl FnMut(RequestId)) {
        for slot in self.slots() {
            let page = &mut self.pages[slot];
            self.awaited -= u32::from(page.dirty_waiters.is_some());
            for first in [page.dirty_waiters.take(), page.flushing_waiters.take()] {
                self.wake_all(first, &mut wake);
            }
        }
    }
}
