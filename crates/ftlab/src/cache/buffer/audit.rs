//! What must hold of a buffer at any moment.

use super::space::Fill;
use super::{Buffer, SlotId, Waiting};
use crate::units::SectorMask;

impl Buffer {
    /// Checks that pages and counts agree, and that the policy knows exactly the pages that may be
    /// written back.
    ///
    /// # Errors
    /// The first disagreement, in words.
    pub fn audit(&self) -> Result<(), String> {
        let held = self.pages_held();
        self.audit_fill()?;
        let full = self.setup.capacity.is_some_and(|capacity| self.held() > capacity);
        if full && !self.passing {
            return Err(format!("{held} pages are in a buffer for {:?}", self.setup.capacity));
        }
        if self.setup.programs_in_flight.is_some_and(|most| self.programs > most) {
            return Err(format!("{} flash pages are under way at once", self.programs));
        }
        let slots = self.slots();
        let count =
            |what: &dyn Fn(SlotId) -> bool| slots.iter().filter(|&&slot| what(slot)).count() as u32;
        let dirty = count(&|slot| self.may_write_back(slot));
        let flushing = count(&|slot| !self.pages[slot].flushing.is_empty());
        let clean = count(&|slot| self.is_listed(slot)) - dirty;
        let listed = self.listed().take(held + 1).count() as u32;
        if (dirty, flushing, clean, listed)
            != (self.dirty, self.flushing, self.clean, dirty + clean)
        {
            return Err(format!(
                "{dirty} pages of the buffer are dirty, {clean} clean and {flushing} under way; counted are \
                 {}, {} and {}, and the policy has {listed}",
                self.dirty, self.clean, self.flushing
            ));
        }
        let long_dirty = self.long_dirty().take(held + 1).filter(|&slot| self.may_write_back(slot));
        let kept = if self.setup.keeps_reads { dirty } else { 0 };
        if long_dirty.count() as u32 != kept {
            return Err(format!("{kept} dirty pages are not those that are listed by how long"));
        }
        let awaited = count(&|slot| self.pages[slot].dirty_waiters.is_some());
        if awaited != self.awaited {
            return Err(format!("{awaited} dirty pages are waited for, {} counted", self.awaited));
        }
        if slots.len() != held || (self.passing && held == 0) {
            return Err(format!("{} pages are found of {held} in the buffer", slots.len()));
        }
        if self.index.iter().any(|(page, slot)| self.pages[slot].page != page) {
            return Err("a page of the buffer is found under another number".to_owned());
        }
        slots.iter().try_for_each(|&slot| self.audit_version(slot))
    }

    /// What is held, dirty and on its way adds up.
    fn audit_fill(&self) -> Result<(), String> {
        let space = self.setup.space;
        let each = |waiting: &Waiting| space.of(waiting.span.sectors);
        let wanted = self.waiting.iter().map(each).sum();
        let mut fill = Fill { wanted, ..Fill::default() };
        for slot in self.slots() {
            let page = &self.pages[slot];
            fill.held += space.of_page(page);
            match page.flushing {
                SectorMask::EMPTY if page.dirty.is_empty() => {}
                SectorMask::EMPTY => fill.dirty += space.of(page.dirty),
                _ => fill.flushing += space.of_flushing(page),
            }
        }
        match fill == self.fill {
            true => Ok(()),
            false => Err(format!("the buffer holds {fill:?}, counted is {:?}", self.fill)),
        }
    }

    /// Versions of a page know each other, and only the oldest is on its way to flash.
    fn audit_version(&self, slot: SlotId) -> Result<(), String> {
        let page = &self.pages[slot];
        let Some(older) = self.older(slot) else { return Ok(()) };
        let linked =
            self.pages[older].page == page.page && self.versions.newer(older) == Some(slot);
        if !linked || !page.flushing.is_empty() {
            return Err(format!("{page:?} comes after {:?}", self.pages[older]));
        }
        Ok(())
    }
}
