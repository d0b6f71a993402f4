//! What must hold of a buffer at any moment.

use super::{Buffer, SlotId};

impl Buffer {
    /// Checks that pages and counts agree, and that the policy knows exactly the pages that may be
    /// written back.
    ///
    /// # Errors
    /// The first disagreement, in words.
    pub fn audit(&self) -> Result<(), String> {
        let held = self.pages_held();
        let full = self.setup.capacity.is_some_and(|capacity| held > capacity as usize);
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
        let listed = self.candidates().take(held + 1).count() as u32;
        if (dirty, flushing, listed) != (self.dirty, self.flushing, dirty) {
            return Err(format!(
                "{dirty} pages of the buffer are dirty and {flushing} under way; counted are {} and \
                 {}, and the policy has {listed}",
                self.dirty, self.flushing
            ));
        }
        let awaited = count(&|slot| self.pages[slot].dirty_waiters.is_some());
        if awaited != self.awaited {
            return Err(format!("{awaited} dirty pages are waited for, {} counted", self.awaited));
        }
        if slots.len() != held || (self.passing && held == 0) {
            return Err(format!("{} pages are found of {held} in the buffer", slots.len()));
        }
        if self.index.iter().any(|(page, &slot)| self.pages[slot].page != *page) {
            return Err("a page of the buffer is found under another number".to_owned());
        }
        slots.iter().try_for_each(|&slot| self.audit_version(slot))
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
