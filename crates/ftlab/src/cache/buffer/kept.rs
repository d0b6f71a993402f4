//! Clean pages, which are kept after reads as long as nothing else needs the room.
//!
//! A page comes in when its data arrives from flash. If the buffer is full, clean pages make room at once, in the
//! policy's order. If a dirty page is next to go, its write-back starts and the data that was read is not kept: a
//! read never waits for a program.

use super::super::view::{Leaves, OnFlash};
use super::{Buffer, Entering, Page, SlotId};
use crate::units::PageSpan;

impl Buffer {
    /// Returns the clean page that is next to go, if the policy would evict a clean one and a write, or a page from
    /// flash, may come in next.
    #[must_use]
    pub fn next_clean(&mut self, turn: Entering, flash: &dyn OnFlash) -> Option<SlotId> {
        let waits = turn == Entering::New && !self.queue.is_empty();
        if self.listed.clean == 0 || waits {
            return None;
        }
        self.listed.choose_clean(&self.pages, flash)
    }

    /// Drops a clean page to make room.
    pub fn drop_clean(&mut self, slot: SlotId, flash: &dyn OnFlash) {
        self.counts.dropped += 1;
        self.queue.made_room = true;
        self.forget_clean(slot, flash);
    }

    /// Drops a clean page without counting it, because the device comes to rest.
    pub fn forget_clean(&mut self, slot: SlotId, flash: &dyn OnFlash) {
        self.listed.leave(slot, &self.pages, flash, Leaves::Dropped);
        self.pages.remove(slot);
    }

    /// Keeps sectors that were read, if there is room: those that are [worth it](super::pages::Pages::worth_keeping).
    #[must_use]
    pub fn keep(&mut self, span: PageSpan, flash: &dyn OnFlash) -> Option<SlotId> {
        let PageSpan { page, sectors } = span;
        let space = self.pages.space;
        if let Some(slot) = self.find(page) {
            let mut after = self.pages[slot].clone();
            after.clean = after.clean.and_also(sectors);
            if !self
                .has_room(space.of_page(&after) - space.of_page(&self.pages[slot]), Entering::New)
            {
                return None;
            }
            self.pages.change(slot, |page| page.clean = after.clean);
            self.listed.read(slot, &self.pages, flash);
            return Some(slot);
        }
        if !self.has_room(space.of(sectors), Entering::New) {
            return None;
        }
        let slot = self.pages.insert(Page { clean: sectors, ..Page::of(page) });
        self.listed.enter(slot, &self.pages, flash);
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::Flash;
    use super::super::super::{BufferSetup, BufferShape, Eviction, Lru, Space, WriteBuffer};
    use super::*;
    use crate::units::{Lpn, Nanos, SectorMask};

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
            shape: BufferShape { whole_page, capacity, logical_pages: capacity },
            keeps_reads: true,
            write_back_above: 0,
            programs_in_flight: None,
            row: 1,
            write_back_together: None,
            gate: None,
            latency: Nanos::ZERO,
        })
    }

    /// Behind few clean pages, dirty ones come in the policy's order; behind many, by how long they have been dirty.
    /// In both cases each comes once.
    #[test]
    fn dirty_pages_are_found_behind_however_many_clean_ones() {
        let flash = Flash::default();
        let order = |clean: u32| -> Vec<u32> {
            let mut buffer = buffer(2_000);
            for page in 0..clean {
                buffer.keep(span(page), &flash).expect("there is room");
            }
            // The page that becomes dirty first is written last.
            for page in [1_500, 1_501, 1_502, 1_500] {
                buffer.write(span(page), 0, Entering::New, &flash).expect("there is room");
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
