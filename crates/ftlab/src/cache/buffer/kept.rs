//! Clean pages: what is kept of reads, for as long as nothing else needs the room.
//!
//! A page comes in when its data has arrived from flash. If the buffer is full, clean pages make room at
//! once, in the order of the policy. If a dirty page is the next to go, its write-back begins, and
//! what was read is not kept: a read never waits for a program.

use super::super::view::{Eviction, Leaves, OnFlash};
use super::{Buffer, Page, SlotId, Turn, WriteBufferPolicy, view};
use crate::units::{PageSpan, SectorMask};

impl Buffer {
    /// Whether what is read from flash stays.
    #[inline]
    #[must_use]
    pub fn keeps_reads(&self) -> bool {
        self.setup.keeps_reads
    }

    /// The clean page that is the next to go, if the policy would have a clean one go, and there is a write,
    /// or a page from flash, that is the next to come in.
    #[must_use]
    pub fn next_clean(&mut self, turn: Turn, flash: &dyn OnFlash) -> Option<SlotId> {
        let waits = turn == Turn::New && !self.waiting.is_empty();
        if self.clean == 0 || waits {
            return None;
        }
        let next = self.choose(flash);
        match next {
            Some(Eviction::Page(slot)) if self.pages[slot].dirty.is_empty() => Some(slot),
            _ => {
                self.chosen = next;
                None
            }
        }
    }

    /// Drops a clean page.
    pub fn drop_clean(&mut self, slot: SlotId, flash: &dyn OnFlash) {
        self.counts.dropped += 1;
        self.made_room = true;
        self.forget_clean(slot, flash);
    }

    /// Drops a clean page of a device that comes to rest, which counts for nothing.
    pub fn forget_clean(&mut self, slot: SlotId, flash: &dyn OnFlash) {
        self.drop_candidate(slot, Leaves::Dropped, flash);
        self.remove(slot);
    }

    /// Whether clean pages were dropped, or holes passed, since this was last asked, and somebody waits for room.
    #[inline]
    pub fn made_room(&mut self) -> bool {
        std::mem::take(&mut self.made_room) && !self.waiting.is_empty()
    }

    /// The dirty pages that may be evicted, from the one on that has been dirty for longest. For a buffer in
    /// which pages from reads stay.
    pub(super) fn long_dirty(&self) -> impl Iterator<Item = SlotId> {
        let order = &self.long_dirty;
        std::iter::successors(order.oldest(), |&slot| order.after(slot))
    }

    /// Clean pages, by slot number.
    #[must_use]
    pub fn all_clean(&self) -> Vec<SlotId> {
        let mut slots = self.slots();
        slots.retain(|&slot| self.is_listed(slot) && self.pages[slot].dirty.is_empty());
        slots
    }

    /// What of these sectors, which were read from flash, can be kept: none if newer ones are on their way.
    #[must_use]
    pub fn worth_keeping(&self, span: PageSpan) -> SectorMask {
        match self.find(span.page).map(|slot| &self.pages[slot]) {
            None => span.sectors,
            Some(page) if page.flushing.is_empty() => {
                span.sectors.without(page.dirty).without(page.clean)
            }
            Some(_) => SectorMask::EMPTY,
        }
    }

    /// Keeps sectors that were read, if there is room: those that are [worth it](Self::worth_keeping).
    #[must_use]
    pub fn keep(&mut self, span: PageSpan, flash: &dyn OnFlash) -> Option<SlotId> {
        let PageSpan { page, sectors } = span;
        if let Some(slot) = self.find(page) {
            let mut after = self.pages[slot].clone();
            after.clean = after.clean.and_also(sectors);
            let space = self.setup.space;
            if !self.has_room(space.of_page(&after) - space.of_page(&self.pages[slot]), Turn::New) {
                return None;
            }
            self.change(slot, |page| page.clean = after.clean);
            if self.keeps_place(slot) {
                return Some(slot);
            }
            self.unchoose(slot);
            let Buffer { setup, pages, index, packs, .. } = self;
            setup.policy.read(slot, &view(pages, index, setup.shape, *packs, flash));
            return Some(slot);
        }
        if !self.has_room(self.setup.space.of(sectors), Turn::New) {
            return None;
        }
        self.fill.held += self.setup.space.of(sectors);
        let slot = self.pages.insert(Page { clean: sectors, ..Page::of(page) });
        self.index.insert(page, slot);
        self.make_candidate(slot, flash);
        Some(slot)
    }

    /// Something that was read found no room: what is the next to go does so.
    pub fn turn_away(&mut self) {
        self.wants_room = true;
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::Flash;
    use super::super::super::{BufferSetup, Lru, Shape, Space, WriteBuffer};
    use super::*;
    use crate::units::{Lpn, Nanos};

    const SECTORS: u32 = 8;

    fn span(page: u32) -> PageSpan {
        PageSpan { page: Lpn::new(page), sectors: SectorMask::range(0, SECTORS) }
    }

    fn buffer(capacity: u32) -> Buffer {
        let whole_page = SectorMask::range(0, SECTORS);
        Buffer::new(BufferSetup {
            policy: WriteBuffer::Lru(Lru::default()),
            capacity: Some(capacity),
            space: Space::Pages,
            shape: Shape { whole_page, capacity, logical_pages: capacity },
            keeps_reads: true,
            write_back_above: 0,
            programs_in_flight: None,
            row: 1,
            flush_pages: None,
            gate: None,
            latency: Nanos::ZERO,
        })
    }

    /// With few clean pages before them dirty ones go in the policy's order; behind many, by how long they
    /// have been dirty. All of them come, once.
    #[test]
    fn dirty_pages_are_found_behind_however_many_clean_ones() {
        let flash = Flash::default();
        let order = |clean: u32| -> Vec<u32> {
            let mut buffer = buffer(2_000);
            for page in 0..clean {
                buffer.keep(span(page), &flash).expect("there is room");
            }
            // The first to be dirty is the last to be written.
            for page in [1_500, 1_501, 1_502, 1_500] {
                buffer.write(span(page), 0, Turn::New, &flash).expect("there is room");
            }
            buffer.audit().unwrap();
            let pages = buffer.candidates().map(|slot| buffer.page(slot).page.get());
            let found: Vec<u32> = pages.collect();
            let due = buffer.due(&flash);
            assert!(
                matches!(due, Some(Eviction::Page(slot)) if buffer.page(slot).page.get() == found[0])
            );
            found
        };
        assert_eq!(order(0), [1_501, 1_502, 1_500]);
        assert_eq!(order(100), [1_501, 1_502, 1_500]);
        assert_eq!(order(1_000), [1_500, 1_501, 1_502]);
    }
}
