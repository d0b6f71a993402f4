//! Patrols: which blocks are refreshed, by the errors of what lies on them.

use crate::engine::skills::Skills;
use crate::ftl::gc::Collector;
use crate::ftl::wear::{RefreshRule, refresh};
use crate::ftl::{FlashContents, Ftl, Kernel};
use crate::nand::{CostClass, Hazards, Programmed, Reliability, Strain};
use crate::scheduler::Probe;
use crate::units::{BlockId, PlaneId, SimTime};

/// What a patrol knows of the flash.
struct Patrol<'a> {
    rule: RefreshRule,
    /// What is due by then is found now.
    by: SimTime,
    programmed: &'a Programmed,
    model: &'a Reliability,
    /// None if nobody counts reads.
    hazards: Option<&'a Hazards>,
}

/// What a patrol makes of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// Its data is young enough.
    Young,
    /// It is to be refreshed.
    Due,
    /// Its data is due, and a copy of it would be at once.
    BeyondHelp,
}

impl Patrol<'_> {
    fn reads_of(&self, block: BlockId) -> u32 {
        self.hazards.map_or(0, |hazards| hazards.reads_of(block))
    }

    /// Whether a page of a class passes the limit before the patrol after the next. One whose copy, on a block as
    /// worn, would be as late at once is beyond help: it would be copied at every patrol, and wear out more blocks.
    fn judge(&self, block: BlockId, class: CostClass) -> Verdict {
        let erases = self.programmed.erases(block);
        let lasts =
            |age, reads| self.model.holds(self.rule.limit, class, &Strain { erases, age, reads });
        if lasts(self.programmed.age(block, self.by), self.reads_of(block)) {
            return Verdict::Young;
        }
        match lasts(self.rule.period + self.rule.period, 0) {
            true => Verdict::Due,
            false => Verdict::BeyondHelp,
        }
    }

    /// Whether a page is due that may still come to a block, of whatever class.
    fn may_come_due(&self, block: BlockId) -> bool {
        CostClass::ALL.into_iter().any(|class| self.judge(block, class) == Verdict::Due)
    }

    /// By the pages that a block holds. Few blocks are old enough for their pages to be looked at.
    fn judge_block(&self, ftl: &Ftl, block: BlockId) -> Verdict {
        let mut verdict = Verdict::Young;
        if self.judge(block, CostClass::Low) == Verdict::Young {
            return verdict;
        }
        for page in ftl.blocks.valid_pages(&ftl.geometry, block) {
            let class = self.programmed.class_of(ftl.geometry.flash_page_of(page));
            match self.judge(block, class) {
                Verdict::Young => {}
                Verdict::Due => return Verdict::Due,
                Verdict::BeyondHelp => verdict = Verdict::BeyondHelp,
            }
        }
        verdict
    }
}

impl Collector {
    /// Looks at all blocks, and begins to refresh those that are due.
    pub fn patrol<const S: Skills>(&mut self, on: &mut Kernel<impl Probe, impl FlashContents>) {
        let (Some(rule), Some(programmed), Some(model)) =
            (on.ftl.refreshes(), on.flash.programmed(), on.flash.sheet().reliability())
        else {
            return;
        };
        let by = on.now + rule.period + rule.period;
        let hazards = on.flash.hazards();
        let patrol = Patrol { rule, by, programmed, model, hazards };
        refresh::forget_due(&mut on.ftl);
        for block in (0..on.ftl.geometry.blocks()).map(BlockId::new) {
            if refresh::is_filled(block, &on.ftl) && patrol.may_come_due(block) {
                refresh::seal(block, &mut on.ftl);
            }
            if refresh::may_refresh(block, &on.ftl) {
                match patrol.judge_block(&on.ftl, block) {
                    Verdict::Young => {}
                    Verdict::Due => refresh::note_due(block, &mut on.ftl),
                    Verdict::BeyondHelp => on.ftl.counts.beyond_refresh += 1,
                }
            }
        }
        for plane in (0..on.ftl.geometry.planes()).map(PlaneId::new) {
            self.refresh_next::<S>(plane, on);
        }
    }

    /// A block was read so often that it is to be refreshed. One that is being filled, or emptied, is left alone.
    pub fn read_often<const S: Skills>(
        &mut self,
        block: BlockId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        if refresh::may_refresh(block, &on.ftl) {
            refresh::note_read_often(block, &mut on.ftl);
            self.refresh_next::<S>(on.ftl.geometry.plane_of(block), on);
        }
    }

    fn refresh_next<const S: Skills>(
        &mut self,
        plane: PlaneId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        if let Some(wanted) = refresh::next_refresh(plane, None, &mut on.ftl) {
            self.collect::<S>(wanted, on);
        }
    }
}
