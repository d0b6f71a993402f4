//! Pages on their way to flash: when one is due, what begins and ends with its program, and who is told. What is
//! only staged takes the short way, [`Buffer::pass_through`].

use super::super::view::{Eviction, Leaves, OnFlash};
use super::super::{Beside, WriteBufferPolicy};
use super::listed::Listed;
use super::{Buffer, Page, SlotId};
use super::{BufferRules, Space};
use crate::units::{Lpn, RequestId, SectorMask};

/// What is on its way to flash.
#[derive(Clone, Debug, Default)]
pub struct UnderWay {
    /// Pages.
    pub(super) pages: u32,
    /// What room will be free when all of them have arrived.
    pub(super) space: u32,
    /// Flash pages.
    pub(super) programs: u32,
    /// Flash pages that may still begin, of those that go together.
    left_together: u32,
}

impl UnderWay {
    /// Flash pages on their way.
    pub fn programs(&self) -> u32 {
        self.programs
    }

    /// A flash page of pages is on its way.
    #[inline]
    pub fn program_begun(&mut self) {
        self.programs += 1;
        self.left_together = self.left_together.saturating_sub(1);
    }

    /// A flash page of pages has arrived.
    #[inline]
    pub fn program_ended(&mut self) {
        self.programs -= 1;
    }

    /// For a buffer that holds nothing.
    pub(super) fn rest(&mut self) {
        let UnderWay { pages, space, programs, left_together } = self;
        assert!(*pages + *space + *programs == 0, "at rest nothing is under way");
        *left_together = 0;
    }
}

impl Buffer {
    /// What should leave the buffer now, if anything should.
    #[inline]
    #[must_use]
    pub fn due(&mut self, flash: &dyn OnFlash) -> Option<Eviction> {
        let most = self.rules.programs_in_flight;
        if self.listed.is_empty() && !self.listed.policy.unfinished()
            || most.is_some_and(|most| self.under_way.programs + self.rules.row > most)
        {
            return None;
        }
        while let Some((slot, page)) = self.waiters.next_forced() {
            let is_dirty = self.pages.find_dirty(page) == Some(slot);
            if is_dirty && self.pages[slot].dirty_waiters.is_some() {
                return Some(Eviction::Page(slot));
            }
        }
        if let Some(pages) = self.rules.write_back_together {
            return self.due_together(pages, flash);
        }
        if self.needs_room() || self.listed.policy.unfinished() {
            self.queue.forget_turned_away();
            return self.listed.choose(&self.pages, flash);
        }
        match self.listed.dirty_space > self.rules.write_back_above {
            true => self.listed.choose_dirty(&self.pages, flash),
            false => None,
        }
    }

    /// Whether more has to leave for those who wait: room that is free, or will be, is for them.
    #[inline]
    fn needs_room(&self) -> bool {
        self.queue.wanted() > self.under_way.space + self.free() || self.queue.has_turned_away()
    }

    /// What should leave now where so many flash pages go together: the next ones begin when all of those
    /// before have arrived.
    #[inline(never)]
    fn due_together(&mut self, pages: u32, flash: &dyn OnFlash) -> Option<Eviction> {
        loop {
            let for_room = self.needs_room() || self.waiters.awaited > 0;
            if self.under_way.left_together == 0 {
                let filled = self.listed.dirty_space + self.listed.policy.holes();
                let much = filled > self.rules.write_back_above;
                if self.under_way.programs > 0 || !(for_room || much) {
                    return None;
                }
                self.under_way.left_together = pages;
                self.listed.policy.begin_write_backs(pages);
            }
            self.queue.forget_turned_away();
            let holes = self.listed.policy.holes();
            let next = match for_room {
                true => self.listed.choose(&self.pages, flash),
                false => self.listed.choose_dirty(&self.pages, flash),
            };
            self.queue.made_room |= self.listed.policy.holes() < holes;
            if next.is_some() {
                return next;
            }
            self.under_way.left_together = 0;
            // What is appended may have been nothing but holes so far.
            if !self.listed.policy.appends() || self.listed.dirty == 0 {
                return None;
            }
        }
    }

    /// What may go along with an eviction that was begun: of a policy that evicts blocks, more of the same.
    #[inline]
    pub fn choose_companion(&mut self, flash: &dyn OnFlash, beside: Beside) -> Option<Eviction> {
        self.listed.choose_companion(&self.pages, flash, beside)
    }

    /// Whether write-backs should begin, where they begin by planes: because somebody waits for room, or
    /// for a page, or because enough is dirty.
    #[inline]
    #[must_use]
    pub fn is_due(&self) -> bool {
        let wanted = !self.queue.is_empty() || self.waiters.awaited > 0;
        let Listed { dirty, dirty_space, .. } = self.listed;
        dirty > 0 && (wanted || dirty_space > self.rules.write_back_above)
    }

    /// A cycle of write-backs begins.
    pub fn cycle_begun(&mut self) {
        self.counts.cycles += 1;
    }

    /// The dirty pages that may be written back, in the order in which the policy would have it done; behind many
    /// clean ones, by how long they have been dirty.
    #[inline]
    pub fn candidates(&self) -> impl Iterator<Item = SlotId> {
        self.listed.candidates(&self.pages)
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
        self.pages.packs += 1;
    }

    #[inline(always)]
    fn begin(
        &mut self,
        slot: SlotId,
        flash: &dyn OnFlash,
        what: impl FnOnce(&Page) -> SectorMask,
    ) -> Lpn {
        let holes = self.listed.policy.holes();
        self.listed.leave(slot, &self.pages, flash, Leaves::WrittenBack);
        self.queue.made_room |= self.listed.policy.holes() < holes;
        let waiters = self.waiters.take_dirty(&mut self.pages[slot]);
        self.pages.change(slot, |page| {
            page.writing_back = what(page);
            (page.dirty, page.clean) = Default::default();
            page.write_back_waiters = waiters;
        });
        let page = &self.pages[slot];
        self.under_way.pages += 1;
        self.under_way.space += self.pages.space.of_writing_back(page);
        page.page
    }

    /// Where pages only pass through, a whole page comes in and is on its way at once; `request` waits for it.
    #[inline(always)]
    pub fn pass_through(&mut self, page: Lpn, tag: u8, request: RequestId) -> SlotId {
        self.counts.write_misses += 1;
        let writing_back = self.pages.shape.whole_page;
        let write_back_waiters = Some(self.waiters.only(request));
        let entry = Page { writing_back, tag, write_back_waiters, ..Page::of(page) };
        let slot = self.pages.insert(entry);
        self.under_way.pages += 1;
        self.under_way.space += self.pages.space.of_writing_back(&self.pages[slot]);
        self.under_way.program_begun();
        slot
    }

    /// Whether whole pages may pass through.
    #[inline]
    pub fn passes_through(&self) -> bool {
        self.listed.policy.lets_pass()
            && self.listed.is_empty()
            && self.rules.programs_in_flight.is_none()
            && self.rules.row == 1
            && self.rules.gate.is_none()
            && self.rules.write_back_together.is_none()
            && self.waiters.forces_nothing()
    }

    /// A page of which nothing is here is read, and written again.
    pub fn pad(&mut self, page: Lpn) -> SlotId {
        debug_assert!(self.find(page).is_none(), "{page:?} is in the buffer");
        self.counts.padded += 1;
        self.under_way.pages += 1;
        let writing_back = self.pages.shape.whole_page;
        self.pages.insert(Page { writing_back, padding: true, ..Page::of(page) })
    }

    /// The most pages that may be on their way past it: as if they came through, one after the other, from a host that
    /// keeps so many outstanding. None if that is not the way they would go.
    #[must_use]
    pub(crate) fn most_passing(&self, outstanding: u32, units_per_page: u32) -> Option<u32> {
        let BufferRules { capacity, programs_in_flight, row, write_back_together, gate, .. } =
            &self.rules;
        let in_order =
            self.listed.policy.passes_in_order() && gate.is_none() && write_back_together.is_none();
        if !in_order || self.pages_held() > 0 || self.under_way.programs > 0 {
            return None;
        }
        let Some(most) = *programs_in_flight else { return Some(outstanding / units_per_page) };
        // Whatever is on its way, enough waits behind it.
        let units = most.checked_mul(units_per_page)?;
        let waits = units < outstanding && units < capacity.map_or(u32::MAX, |fits| fits / 4);
        (waits && most >= *row && self.pages.space == Space::Pages).then_some(most)
    }

    /// So many pages went past it, as if they had come in and gone out.
    #[inline]
    pub(crate) fn count_passing(&mut self, pages: u64) {
        self.counts.write_misses += pages;
        self.counts.written_back += pages;
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
        self.leave_write_back(slot, flash, wake);
    }

    /// The write-back of a page that was not acknowledged will never be done: it leaves.
    pub fn give_up(&mut self, slot: SlotId, flash: &dyn OnFlash, wake: impl FnMut(RequestId)) {
        self.leave_write_back(slot, flash, wake);
    }

    #[inline]
    fn leave_write_back(&mut self, slot: SlotId, flash: &dyn OnFlash, wake: impl FnMut(RequestId)) {
        let page = &mut self.pages[slot];
        let next = page.write_back_waiters.take();
        let (is_dirty, is_pack) = (!page.dirty.is_empty(), page.packed_with.is_some());
        self.under_way.pages -= 1;
        self.under_way.space -= self.pages.space.of_writing_back(&self.pages[slot]);
        self.pages.packs -= u32::from(is_pack);
        if is_dirty {
            self.pages.change(slot, |page| {
                page.writing_back = SectorMask::EMPTY;
                (page.discard, page.padding, page.packed_with) = (false, false, None);
            });
            self.listed.enter(slot, &self.pages, flash);
            if self.pages[slot].dirty_waiters.is_some() {
                self.force_write_back(slot);
            }
        } else {
            self.pages.remove(slot);
        }
        self.waiters.wake_all(next, wake);
    }
}
