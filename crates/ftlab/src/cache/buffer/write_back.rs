//! Write-backs: when a page is due, what starts and ends with its program, and which requests are woken. Pages that
//! are only staged take a short cut, [`Buffer::pass_through`].

use super::super::view::{Eviction, Leaves, OnFlash};
use super::super::{Beside, WriteBufferPolicy};
use super::listed::Listed;
use super::{Buffer, Page, SlotId};
use super::{BufferRules, Space};
use crate::units::{Lpn, RequestId, SectorMask};

/// Write-backs under way.
#[derive(Clone, Debug, Default)]
pub struct UnderWay {
    /// Pages.
    pub(super) pages: u32,
    /// Room that becomes free when all of them are on flash.
    pub(super) space: u32,
    /// Flash pages.
    pub(super) programs: u32,
    /// Flash pages that may still start in the current batch.
    left_together: u32,
}

impl UnderWay {
    /// Flash pages under way.
    pub fn programs(&self) -> u32 {
        self.programs
    }

    /// Counts a flash page whose program starts.
    #[inline]
    pub fn program_begun(&mut self) {
        self.programs += 1;
        self.left_together = self.left_together.saturating_sub(1);
    }

    /// Counts a flash page that is on flash.
    #[inline]
    pub fn program_ended(&mut self) {
        self.programs -= 1;
    }

    /// The buffer must be empty.
    pub(super) fn rest(&mut self) {
        let UnderWay { pages, space, programs, left_together } = self;
        assert!(*pages + *space + *programs == 0, "at rest nothing is under way");
        *left_together = 0;
    }
}

impl Buffer {
    /// Returns the next eviction, if one is due.
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

    /// Whether more pages have to leave for the writes that wait, beyond the room that is free or will be.
    #[inline]
    fn needs_room(&self) -> bool {
        self.queue.wanted() > self.under_way.space + self.free() || self.queue.has_turned_away()
    }

    /// Returns the next eviction of a batch, if one is due. A batch starts when all flash pages of the one before are
    /// on flash.
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
            // With a policy that appends, there may have been only holes so far.
            if !self.listed.policy.appends() || self.listed.dirty == 0 {
                return None;
            }
        }
    }

    /// Returns a page that may join an eviction that has started. A policy that evicts blocks only offers pages of
    /// the same block.
    #[inline]
    pub fn choose_companion(&mut self, flash: &dyn OnFlash, beside: Beside) -> Option<Eviction> {
        self.listed.choose_companion(&self.pages, flash, beside)
    }

    /// Whether write-backs per plane should start: a write waits for room, a request waits for a page, or enough is
    /// dirty.
    #[inline]
    #[must_use]
    pub fn is_due(&self) -> bool {
        let wanted = !self.queue.is_empty() || self.waiters.awaited > 0;
        let Listed { dirty, dirty_space, .. } = self.listed;
        dirty > 0 && (wanted || dirty_space > self.rules.write_back_above)
    }

    /// Counts a cycle of write-backs.
    pub fn cycle_begun(&mut self) {
        self.counts.cycles += 1;
    }

    /// Pages that may be written back, in the policy's order; if many clean ones precede them, by how long they have
    /// been dirty.
    #[inline]
    pub fn candidates(&self) -> impl Iterator<Item = SlotId> {
        self.listed.candidates(&self.pages)
    }

    /// Starts the write-back of a slot's dirty sectors, and of its clean ones, which need not be read then. Returns
    /// its logical page.
    #[inline]
    pub fn begin_write_back(&mut self, slot: SlotId, flash: &dyn OnFlash) -> Lpn {
        self.begin(slot, flash, |page| page.dirty.and_also(page.clean))
    }

    /// Starts the write-back of the dirty sectors of two slots onto one physical page.
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
            page.tag_on_way = page.tag;
            (page.dirty, page.clean) = Default::default();
            page.write_back_waiters = waiters;
        });
        let page = &self.pages[slot];
        self.under_way.pages += 1;
        self.under_way.space += self.pages.space.of_writing_back(page);
        page.page
    }

    /// Takes in a whole page and starts its write-back at once, where pages only pass through. `request` waits for
    /// it.
    #[inline(always)]
    pub fn pass_through(&mut self, page: Lpn, tag: u8, request: RequestId) -> SlotId {
        self.counts.write_misses += 1;
        let writing_back = self.pages.shape.whole_page;
        let write_back_waiters = Some(self.waiters.only(request));
        let tag_on_way = tag;
        let entry = Page { writing_back, tag, tag_on_way, write_back_waiters, ..Page::of(page) };
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

    /// Adds a page of which nothing is in the buffer, to be read and written again.
    pub fn pad(&mut self, page: Lpn) -> SlotId {
        debug_assert!(self.find(page).is_none(), "{page:?} is in the buffer");
        self.counts.padded += 1;
        self.under_way.pages += 1;
        let writing_back = self.pages.shape.whole_page;
        self.pages.insert(Page { writing_back, padding: true, ..Page::of(page) })
    }

    /// Returns the maximum number of pages under way if whole pages came in one after the other from a host that
    /// keeps `outstanding` requests, or `None` if they would not pass in order.
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
        // Enough pages wait behind those under way.
        let units = most.checked_mul(units_per_page)?;
        let waits = units < outstanding && units < capacity.map_or(u32::MAX, |fits| fits / 4);
        (waits && most >= *row && self.pages.space == Space::Pages).then_some(most)
    }

    /// Counts pages that bypassed the buffer as if they had come in and left.
    #[inline]
    pub(crate) fn count_passing(&mut self, pages: u64) {
        self.counts.write_misses += pages;
        self.counts.written_back += pages;
    }

    /// Ends the write-back of a page. The page leaves unless it was written meanwhile. Hands requests that waited for
    /// it to `wake`.
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

    /// Removes a page that was not acknowledged and whose write-back will never end.
    pub fn give_up(&mut self, slot: SlotId, flash: &dyn OnFlash, wake: impl FnMut(RequestId)) {
        self.queue.made_room = true;
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
