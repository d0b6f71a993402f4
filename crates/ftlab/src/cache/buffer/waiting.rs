//! Who waits for pages to be on flash: writes that are not acknowledged from DRAM, those that are told only then
//! (force unit access), and flushes.

use super::{Buffer, Page, SlotId, Waiter};
use crate::units::Lpn;
use crate::units::RequestId;

impl Buffer {
    /// `request` waits until everything that the page holds now is on flash.
    pub fn wait_for_page(&mut self, slot: SlotId, request: RequestId) {
        let page = &mut self.pages[slot];
        let list = if page.dirty.is_empty() {
            &mut page.flushing_waiters
        } else {
            self.awaited += u32::from(page.dirty_waiters.is_none());
            &mut page.dirty_waiters
        };
        *list = Some(self.waiters.insert(Waiter { request, next: list.take() }));
    }

    /// A write that was acknowledged from DRAM is not told before its page is on flash: `request` waits for it.
    pub fn force(&mut self, slot: SlotId, request: RequestId) {
        self.wait_for_page(slot, request);
        self.want_drained(slot);
    }

    /// A host flush: `request` waits for every page that is not on flash. Returns for how many.
    pub fn wait_for_all(&mut self, request: RequestId) -> u32 {
        let mut slots = self.slots();
        slots.retain(|&slot| {
            let page = &self.pages[slot];
            !page.dirty.is_empty() || !page.flushing.is_empty()
        });
        for &slot in &slots {
            self.wait_for_page(slot, request);
            self.want_drained(slot);
        }
        slots.len() as u32
    }

    /// All slots in use, by number.
    pub(super) fn slots(&self) -> Vec<SlotId> {
        let versions = |newest| std::iter::successors(Some(newest), |&slot| self.older(slot));
        // By slot number, not by hash.
        let mut slots: Vec<SlotId> =
            self.index.iter().flat_map(|(_, slot)| versions(slot)).collect();
        slots.sort_unstable_by_key(|slot| slot.get());
        slots
    }

    /// Logical pages of which something is here and not on flash, in order.
    #[must_use]
    pub fn pages_not_on_flash(&self) -> Vec<Lpn> {
        let is_new = |page: &&Page| {
            let on_its_way = !page.flushing.is_empty() && !page.padding && !page.discard;
            on_its_way || !page.dirty.is_empty()
        };
        let slots = self.slots();
        let pages = slots.iter().map(|&slot| &self.pages[slot]).filter(is_new);
        let mut pages: Vec<Lpn> = pages.map(|page| page.page).collect();
        // A page may have several versions.
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    /// Somebody waits for a dirty page: it goes to flash whatever the policy says. Where write-backs begin
    /// by planes they go in the policy's order for as long as anybody waits.
    pub(super) fn want_drained(&mut self, slot: SlotId) {
        if !self.keeps_order() {
            self.drain.push_back((slot, self.pages[slot].page));
        }
    }
}
