//! Pages on their way to flash: when one is due, what begins and ends with its program, and who is told.

use super::{Buffer, SlotId, Waiter, WaiterId};
use crate::host::{RequestId, SectorMask};
use crate::units::Lpn;

impl Buffer {
    /// The page that should be written back now, if any should.
    #[inline]
    #[must_use]
    pub fn due(&mut self) -> Option<SlotId> {
        if self.dirty == 0
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
                return Some(slot);
            }
        }
        let for_room = self.waiting.len() > self.flushing as usize;
        if for_room || self.dirty > self.setup.write_back_above {
            return self.setup.policy.choose();
        }
        None
    }

    /// Whether write-backs should begin, where they begin by planes: because somebody waits for room, or
    /// for a page, or because enough is dirty.
    #[inline]
    #[must_use]
    pub fn is_due(&self) -> bool {
        let wanted = !self.waiting.is_empty() || self.awaited > 0;
        self.dirty > 0 && (wanted || self.dirty > self.setup.write_back_above)
    }

    /// A cycle of write-backs begins.
    pub fn cycle_begun(&mut self) {
        self.counts.cycles += 1;
    }

    /// The pages that may be written back, in the order in which the policy would have it done.
    #[inline]
    pub fn candidates(&self) -> impl Iterator<Item = SlotId> {
        let policy = &self.setup.policy;
        std::iter::successors(policy.choose(), |&slot| policy.after(slot))
    }

    /// Begins the write-back of what is dirty in a slot. Returns its logical page.
    #[inline]
    pub fn begin_write_back(&mut self, slot: SlotId) -> Lpn {
        self.drop_candidate(slot);
        self.flushing += 1;
        let page = &mut self.pages[slot];
        self.awaited -= u32::from(page.dirty_waiters.is_some());
        page.flushing = std::mem::take(&mut page.dirty);
        page.flushing_waiters = page.dirty_waiters.take();
        page.page
    }

    /// Flash pages on their way.
    pub(crate) fn programs(&self) -> u32 {
        self.programs
    }

    /// A flash page of pages is on its way.
    #[inline]
    pub fn program_begun(&mut self) {
        self.programs += 1;
    }

    /// A flash page of pages has arrived.
    #[inline]
    pub fn program_ended(&mut self) {
        self.programs -= 1;
    }

    /// The write-back of a page is done. The page leaves, unless it was written meanwhile; requests
    /// that waited for it are handed to `wake`.
    #[inline]
    pub fn end_write_back(&mut self, slot: SlotId, wake: impl FnMut(RequestId)) {
        self.counts.written_back += 1;
        self.leave_flushing(slot, wake);
    }

    /// The write-back of a page that was not acknowledged will never be done: it leaves.
    pub fn give_up(&mut self, slot: SlotId, wake: impl FnMut(RequestId)) {
        self.leave_flushing(slot, wake);
    }

    #[inline]
    fn leave_flushing(&mut self, slot: SlotId, wake: impl FnMut(RequestId)) {
        self.flushing -= 1;
        let page = &mut self.pages[slot];
        page.flushing = SectorMask::EMPTY;
        page.discard = false;
        let next = page.flushing_waiters.take();
        let (number, left) = (page.page, page.dirty.is_empty());
        if left {
            self.remove(slot, number);
        } else {
            self.make_candidate(slot);
            if self.pages[slot].dirty_waiters.is_some() {
                self.want_drained(slot);
            }
        }
        self.wake_all(next, wake);
    }

    /// A page leaves, or a version of it.
    #[inline]
    pub(super) fn remove(&mut self, slot: SlotId, page: Lpn) {
        self.pages.release(slot);
        if !self.gathers() {
            self.index.remove(&page);
            return;
        }
        match self.versions.remove(slot) {
            (Some(_), _) => {}
            (None, Some(older)) => {
                self.index.insert(page, older);
            }
            (None, None) => {
                self.index.remove(&page);
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
