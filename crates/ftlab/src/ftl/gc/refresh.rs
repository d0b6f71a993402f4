//! Patrols: which blocks are refreshed, by the errors of what lies on them.

use super::{Collector, Ground};
use crate::device::Contents;
use crate::ftl::Ftl;
use crate::ftl::wear::RefreshRule;
use crate::nand::{CostClass, Programmed, Reliability};
use crate::scheduler::Probe;
use crate::units::{BlockId, PlaneId, SimTime};

/// What a patrol knows of the flash.
struct Patrol<'a> {
    rule: RefreshRule,
    /// What is due by then is found now.
    by: SimTime,
    programmed: &'a Programmed,
    model: &'a Reliability,
}

impl Patrol<'_> {
    /// Whether a page of a class on a block passes the limit before the patrol after the next.
    fn passes(&self, block: BlockId, class: CostClass) -> bool {
        let erases = self.programmed.erases(block);
        let age = self.programmed.age(block, self.by);
        !self.model.is_within(self.rule.limit, class, erases, age)
    }

    /// Whether a block holds such a page. Few blocks are old enough for their pages to be looked at.
    fn finds(&self, ftl: &Ftl, block: BlockId) -> bool {
        let class_of = |page| self.programmed.class_of(ftl.geometry.flash_page_of(page));
        let mut pages = ftl.blocks.valid_pages(&ftl.geometry, block);
        self.passes(block, CostClass::Low) && pages.any(|page| self.passes(block, class_of(page)))
    }
}

impl Collector {
    /// Looks at all blocks, and begins to refresh those that are due.
    pub fn patrol<P: Probe, C: Contents>(&mut self, on: &mut Ground<'_, P, C>) {
        let (Some(rule), Some(programmed), Some(model)) =
            (on.ftl.refreshes(), on.flash.programmed(), on.flash.reliability())
        else {
            return;
        };
        let by = on.now + rule.period + rule.period;
        let patrol = Patrol { rule, by, programmed, model };
        on.ftl.forget_due();
        for block in (0..on.ftl.geometry.blocks()).map(BlockId::new) {
            // A page of any class may still come to a block that is being filled.
            if on.ftl.is_filled(block) && patrol.passes(block, CostClass::Low) {
                on.ftl.seal(block);
            }
            if on.ftl.may_refresh(block) && patrol.finds(on.ftl, block) {
                on.ftl.note_due(block);
            }
        }
        for plane in (0..on.ftl.geometry.planes()).map(PlaneId::new) {
            if let Some(wanted) = on.ftl.next_refresh(plane, None) {
                self.collect(wanted, on);
            }
        }
    }
}
