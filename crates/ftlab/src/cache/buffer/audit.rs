//! Invariants of a buffer.

use super::{Buffer, SlotId};
use crate::units::SectorMask;

impl Buffer {
    /// Checks that pages and counts agree, and that the policy knows exactly the evictable pages.
    ///
    /// # Errors
    /// The first inconsistency, in words.
    pub fn audit(&self) -> Result<(), String> {
        let Buffer { rules, pages, listed, queue, waiters, under_way, counts: _ } = self;
        let held = pages.len();
        let slots = pages.slots();
        self.audit_room(&slots)?;
        queue.audit()?;
        let full = rules.capacity.is_some_and(|capacity| self.held() > capacity);
        if full && !pages.passing {
            return Err(format!("{held} pages are in a buffer with room for {:?}", rules.capacity));
        }
        if rules.programs_in_flight.is_some_and(|most| under_way.programs > most) {
            return Err(format!("{} flash pages are under way at once", under_way.programs));
        }
        let count =
            |what: &dyn Fn(SlotId) -> bool| slots.iter().filter(|&&slot| what(slot)).count() as u32;
        let dirty = count(&|slot| pages.may_write_back(slot));
        let writing_back = count(&|slot| !pages[slot].writing_back.is_empty());
        let clean = count(&|slot| pages.is_listed(slot)) - dirty;
        let known = listed.all().take(held + 1).count() as u32;
        let counted = (listed.dirty, under_way.pages, listed.clean);
        if (dirty, writing_back, clean) != counted || known != dirty + clean {
            return Err(format!(
                "{dirty} pages of the buffer are dirty, {writing_back} under way and {clean} clean; counted are \
                 {counted:?}, and the policy has {known}"
            ));
        }
        let long_dirty = listed.long_dirty().take(held + 1);
        let long_dirty = long_dirty.filter(|&slot| pages.may_write_back(slot)).count() as u32;
        if long_dirty != if rules.keeps_reads { dirty } else { 0 } {
            return Err(format!("{long_dirty} of {dirty} dirty pages are listed by age"));
        }
        let awaited = count(&|slot| pages[slot].dirty_waiters.is_some());
        if awaited != waiters.awaited {
            return Err(format!(
                "requests wait for {awaited} dirty pages, but {} are counted",
                waiters.awaited
            ));
        }
        pages.audit(&slots)
    }

    /// Checks the sums of the room that is held, dirty and under way.
    fn audit_room(&self, slots: &[SlotId]) -> Result<(), String> {
        let space = self.pages.space;
        let (mut held, mut dirty, mut writing_back) = (0, 0, 0);
        for &slot in slots {
            let page = &self.pages[slot];
            held += space.of_page(page);
            match page.writing_back {
                SectorMask::EMPTY if page.dirty.is_empty() => {}
                SectorMask::EMPTY => dirty += space.of(page.dirty),
                _ => writing_back += space.of_writing_back(page),
            }
        }
        let (found, counted) = (
            (held, dirty, writing_back),
            (self.pages.held, self.listed.dirty_space, self.under_way.space),
        );
        match found == counted {
            true => Ok(()),
            false => Err(format!(
                "room held, dirty and under way is {found:?}, but {counted:?} is counted, in {space:?}"
            )),
        }
    }
}
