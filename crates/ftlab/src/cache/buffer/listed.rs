//! The evictable pages: the policy that orders them, their counts, and the questions to the policy.

use super::super::order::Order;
use super::super::page::{Page, SlotId};
use super::super::view::{Eviction, Leaves, OnFlash};
use super::super::{Beside, WriteBuffer, WriteBufferPolicy};
use super::BufferSetup;
use super::pages::{Pages, Space};
use crate::units::SectorMask;

/// Number of pages in the policy's order that are searched for a dirty one. It bounds the cost of a choice in a
/// large buffer.
const LOOKED_AT: usize = 256;

/// The evictable pages.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) policy: WriteBuffer,
    /// The unit of room.
    space: Space,
    /// Whether write-backs start per plane.
    by_planes: bool,
    /// Pages with dirty sectors, which may be written back now.
    pub(super) dirty: u32,
    /// Room that these sectors take.
    pub(super) dirty_space: u32,
    /// Clean pages, which may be dropped.
    pub(super) clean: u32,
    /// Dirty pages by how long they have been dirty; only if pages stay after reads.
    long_dirty: Option<Order>,
    /// An eviction that the policy was asked for too early.
    chosen: Option<Eviction>,
}

impl Listed {
    pub(super) fn new(setup: BufferSetup) -> Listed {
        let BufferSetup { policy, space, keeps_reads, gate, .. } = setup;
        Listed {
            policy,
            space,
            by_planes: gate.is_some(),
            dirty: 0,
            dirty_space: 0,
            clean: 0,
            long_dirty: keeps_reads.then(Order::default),
            chosen: None,
        }
    }

    /// Whether no page is evictable.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.dirty + self.clean == 0
    }

    /// Whether write-backs follow the policy's order strictly.
    #[inline]
    pub(super) fn keeps_order(&self) -> bool {
        self.by_planes || self.policy.appends()
    }

    /// Whether a page keeps its place in the policy's order when it is used. If write-backs follow that order
    /// strictly, moving a page could make a request that waits for it wait forever.
    #[inline]
    pub(super) fn keeps_place(&self, page: &Page) -> bool {
        self.keeps_order() && page.dirty_waiters.is_some()
    }

    /// Adds a page that becomes evictable.
    pub(super) fn enter(&mut self, slot: SlotId, pages: &Pages, flash: &dyn OnFlash) {
        match pages[slot].dirty {
            SectorMask::EMPTY => self.clean += 1,
            sectors => {
                if let Some(order) = &mut self.long_dirty {
                    order.push_newest(slot);
                }
                self.dirty += 1;
                self.dirty_space += self.space.of(sectors);
            }
        }
        self.policy.inserted(slot, &pages.view(flash));
    }

    /// Removes a page that is no longer evictable. Its state is still unchanged.
    pub(super) fn leave(&mut self, slot: SlotId, pages: &Pages, flash: &dyn OnFlash, why: Leaves) {
        self.unchoose(slot);
        match pages[slot].dirty {
            SectorMask::EMPTY => self.clean -= 1,
            sectors => {
                if let Some(order) = &mut self.long_dirty {
                    order.remove(slot);
                }
                self.dirty -= 1;
                self.dirty_space -= self.space.of(sectors);
            }
        }
        self.policy.removed(slot, &pages.view(flash), why);
    }

    /// Tells the policy that an evictable page, or more of it, was read.
    #[inline]
    pub(super) fn read(&mut self, slot: SlotId, pages: &Pages, flash: &dyn OnFlash) {
        if !self.keeps_place(&pages[slot]) {
            self.unchoose(slot);
            self.policy.read(slot, &pages.view(flash));
        }
    }

    /// Updates the counts and tells the policy that an evictable page was written. `before` are the sectors
    /// that were dirty before.
    #[inline]
    pub(super) fn written(
        &mut self,
        slot: SlotId,
        before: SectorMask,
        pages: &Pages,
        flash: &dyn OnFlash,
    ) {
        let space = self.space;
        let of = |sectors: SectorMask| if sectors.is_empty() { 0 } else { space.of(sectors) };
        self.dirty_space = self.dirty_space - of(before) + of(pages[slot].dirty);
        if before.is_empty() {
            self.clean -= 1;
            self.dirty += 1;
            if let Some(order) = &mut self.long_dirty {
                order.push_newest(slot);
            }
        }
        if !self.keeps_place(&pages[slot]) {
            self.unchoose(slot);
            self.policy.written(slot, &pages.view(flash));
        }
    }

    /// Drops an early choice if the page was used or has left since.
    #[inline]
    fn unchoose(&mut self, used: SlotId) {
        let stale = match self.chosen {
            None | Some(Eviction::Pad(_)) => false,
            Some(Eviction::Page(slot)) => slot == used,
            Some(Eviction::Pack { first, second }) => first == used || second == used,
        };
        if stale {
            self.chosen = None;
        }
    }

    /// Returns the next eviction, due or not.
    #[inline]
    pub(super) fn choose(&mut self, pages: &Pages, flash: &dyn OnFlash) -> Option<Eviction> {
        if let Some(chosen) = self.chosen.take() {
            // A page to be padded may have come in or been deallocated since.
            let comes_late = |page| pages.find(page).is_some() || !flash.holds(page);
            if !matches!(chosen, Eviction::Pad(page) if comes_late(page)) {
                return Some(chosen);
            }
        }
        let next = self.policy.choose(&pages.view(flash));
        // In a large buffer, the page after it is not in the processor's cache yet.
        if let Some(Eviction::Page(slot)) = next
            && let Some(after) = self.policy.after(slot)
        {
            pages.prefetch(after);
        }
        next
    }

    /// Returns the next eviction when no room is needed: clean pages stay.
    pub(super) fn choose_dirty(&mut self, pages: &Pages, flash: &dyn OnFlash) -> Option<Eviction> {
        let next = self.choose(pages, flash)?;
        match next {
            Eviction::Page(slot) if !pages.is_dirty(slot) => {
                self.chosen = Some(next);
                self.candidates(pages).next().map(Eviction::Page)
            }
            _ => Some(next),
        }
    }

    /// Returns the clean page that is next to go, if the policy would evict a clean one.
    pub(super) fn choose_clean(&mut self, pages: &Pages, flash: &dyn OnFlash) -> Option<SlotId> {
        let next = self.choose(pages, flash);
        match next {
            Some(Eviction::Page(slot)) if !pages.is_dirty(slot) => Some(slot),
            _ => {
                self.chosen = next;
                None
            }
        }
    }

    /// Returns a page that may join an eviction that has started. A policy that evicts blocks only offers pages
    /// of the same block.
    #[inline]
    pub(super) fn choose_companion(
        &mut self,
        pages: &Pages,
        flash: &dyn OnFlash,
        beside: Beside,
    ) -> Option<Eviction> {
        let policy = &self.policy;
        let apart = policy.begins_block() || beside == Beside::OnFlashPage && policy.begins_page();
        if self.dirty == 0 && !policy.unfinished() || apart {
            return None;
        }
        self.choose_dirty(pages, flash)
    }

    /// Pages that may be written back, in the policy's order. If there are clean pages, only the first few are
    /// searched; if none of these is dirty, pages come by how long they have been dirty.
    #[inline]
    pub(super) fn candidates(&self, pages: &Pages) -> impl Iterator<Item = SlotId> {
        let most = if self.clean == 0 { usize::MAX } else { LOOKED_AT };
        let near = move || self.all().take(most).filter(|&slot| pages.is_dirty(slot));
        let far = (self.clean > 0 && near().next().is_none()).then(|| self.long_dirty());
        near().chain(far.into_iter().flatten())
    }

    /// All pages that the policy knows, in its order.
    #[inline]
    pub(super) fn all(&self) -> impl Iterator<Item = SlotId> {
        let policy = &self.policy;
        std::iter::successors(policy.first(), |&slot| policy.after(slot))
    }

    /// The dirty pages, the one that has been dirty longest first. Only filled if pages stay after reads.
    pub(super) fn long_dirty(&self) -> impl Iterator<Item = SlotId> {
        let all = |order| std::iter::successors(Order::oldest(order), |&slot| order.after(slot));
        self.long_dirty.iter().flat_map(all)
    }

    /// Drops all state that is not saved. The buffer must be empty.
    pub(super) fn rest(&mut self) {
        let Listed {
            policy,
            space: _,
            by_planes: _,
            dirty,
            dirty_space,
            clean,
            long_dirty,
            chosen,
        } = self;
        assert!(*dirty + *dirty_space + *clean == 0, "a buffer at rest lists no page");
        *chosen = None;
        if let Some(order) = long_dirty {
            *order = Order::default();
        }
        policy.rest();
    }
}
