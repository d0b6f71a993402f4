//! The pages that may be evicted: the policy that knows them, how many there are, and what it is asked.

use super::super::order::Order;
use super::super::page::{Page, SlotId};
use super::super::view::{Eviction, Leaves, OnFlash};
use super::super::{Beside, WriteBuffer, WriteBufferPolicy};
use super::BufferSetup;
use super::pages::{Pages, Space};
use crate::units::SectorMask;

/// How many of the pages that a policy has listed are looked at for a dirty one: however large the buffer,
/// a choice costs no more.
const LOOKED_AT: usize = 256;

/// The pages that may be evicted.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) policy: WriteBuffer,
    /// What room is counted in.
    space: Space,
    /// Write-backs begin by planes.
    by_planes: bool,
    /// Pages with dirty sectors, which may be written back now.
    pub(super) dirty: u32,
    /// What these sectors take.
    pub(super) dirty_space: u32,
    /// Pages that are clean, and may be dropped.
    pub(super) clean: u32,
    /// The dirty ones by how long they have been so; only where pages from reads stay.
    long_dirty: Option<Order>,
    /// What the policy has chosen, where it was asked before its turn.
    chosen: Option<Eviction>,
}

impl Listed {
    /// None yet.
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

    /// Whether no page may be evicted.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.dirty + self.clean == 0
    }

    /// Whether write-backs go in the policy's order alone.
    #[inline]
    pub(super) fn keeps_order(&self) -> bool {
        self.by_planes || self.policy.appends()
    }

    /// Whether a page stays where it is in the policy's order, though it is used: where write-backs go in that
    /// order alone, somebody who waits for it would wait for ever.
    #[inline]
    pub(super) fn keeps_place(&self, page: &Page) -> bool {
        self.keeps_order() && page.dirty_waiters.is_some()
    }

    /// A page may be evicted from now on.
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

    /// A page may no longer be evicted. What is known of it is still as it was.
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

    /// A page that may be evicted was read, or more of it was.
    #[inline]
    pub(super) fn read(&mut self, slot: SlotId, pages: &Pages, flash: &dyn OnFlash) {
        if !self.keeps_place(&pages[slot]) {
            self.unchoose(slot);
            self.policy.read(slot, &pages.view(flash));
        }
    }

    /// A page that may be evicted was written; so much of it was dirty before.
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

    /// What was chosen before its turn is not, if it was used since, or has left.
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

    /// What leaves the buffer next, whether or not it is due.
    #[inline]
    pub(super) fn choose(&mut self, pages: &Pages, flash: &dyn OnFlash) -> Option<Eviction> {
        if let Some(chosen) = self.chosen.take() {
            // What was to be padding may have come in since, or been deallocated.
            let comes_late = |page| pages.find(page).is_some() || !flash.holds(page);
            if !matches!(chosen, Eviction::Pad(page) if comes_late(page)) {
                return Some(chosen);
            }
        }
        let next = self.policy.choose(&pages.view(flash));
        // In a large buffer, what follows is in no cache of the processor yet.
        if let Some(Eviction::Page(slot)) = next
            && let Some(after) = self.policy.after(slot)
        {
            pages.prefetch(after);
        }
        next
    }

    /// What leaves the buffer next where nobody needs room: clean pages stay.
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

    /// The clean page that is the next to go, if the policy would have a clean one go.
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

    /// What may go along with an eviction that was begun: of a policy that evicts blocks, more of the same.
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

    /// The dirty pages that may be written back, in the order in which the policy would have it done. Where
    /// clean pages are among them, it looks at the first few only; if none of these is dirty, those come
    /// first that have been so for longest.
    #[inline]
    pub(super) fn candidates(&self, pages: &Pages) -> impl Iterator<Item = SlotId> {
        let most = if self.clean == 0 { usize::MAX } else { LOOKED_AT };
        let near = move || self.all().take(most).filter(|&slot| pages.is_dirty(slot));
        let far = (self.clean > 0 && near().next().is_none()).then(|| self.long_dirty());
        near().chain(far.into_iter().flatten())
    }

    /// All pages that the policy knows of, in its order.
    #[inline]
    pub(super) fn all(&self) -> impl Iterator<Item = SlotId> {
        let policy = &self.policy;
        std::iter::successors(policy.first(), |&slot| policy.after(slot))
    }

    /// The dirty pages, from the one on that has been dirty for longest. For a buffer in which pages from reads
    /// stay.
    pub(super) fn long_dirty(&self) -> impl Iterator<Item = SlotId> {
        let all = |order| std::iter::successors(Order::oldest(order), |&slot| order.after(slot));
        self.long_dirty.iter().flat_map(all)
    }

    /// What is not saved is forgotten. For a buffer that holds nothing.
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
