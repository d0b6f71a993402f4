//! Patrols: which blocks are refreshed, judged by the errors of their data.

use crate::engine::skills::Skills;
use crate::ftl::gc::Collector;
use crate::ftl::parity::rebuild;
use crate::ftl::streams::ClosedBy;
use crate::ftl::wear::{RefreshRule, refresh};
use crate::ftl::{FlashContents, Ftl, Kernel};
use crate::nand::{CostClass, Hazards, Programmed, Reliability, Strain};
use crate::scheduler::Probe;
use crate::shape::FlashGeometry;
use crate::units::{BlockId, PlaneId, SimTime};

/// The input of a patrol.
struct Patrol<'a> {
    rule: RefreshRule,
    /// Data that is due by this time is found now.
    by: SimTime,
    programmed: &'a Programmed,
    /// What ages is a block of flash; what is refreshed may be a superblock of them.
    flash: &'a FlashGeometry,
    model: &'a Reliability,
    /// None if reads are not counted.
    hazards: Option<&'a Hazards>,
}

/// The verdict of a patrol on a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// Its data is young enough.
    Young,
    /// It must be refreshed.
    Due,
    /// Its data is due, but a copy of it would be due at once.
    BeyondHelp,
}

impl Patrol<'_> {
    fn reads_of(&self, block: BlockId) -> u32 {
        self.hazards.map_or(0, |hazards| hazards.reads_of(block))
    }

    /// Judges data of a class: whether it passes the limit before the patrol after the next. If a
    /// copy on an equally worn block would be due at once, the data is beyond help: it would be
    /// copied at every patrol, and wear out more blocks.
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

    /// Whether data of any class, programmed to the block later, could become due.
    fn may_come_due(&self, block: BlockId) -> bool {
        let due = |block| {
            CostClass::ALL.into_iter().any(|class| self.judge(block, class) == Verdict::Due)
        };
        self.flash.blocks_of_superblock(block).any(due)
    }

    /// Judges the pages of a block. Few blocks are old enough that their pages must be examined.
    fn judge_block(&self, ftl: &Ftl, block: BlockId) -> Verdict {
        let mut verdict = Verdict::Young;
        let is_young = |block| self.judge(block, CostClass::Low) == Verdict::Young;
        if self.flash.blocks_of_superblock(block).all(is_young) {
            return verdict;
        }
        for page in ftl.blocks.valid_pages(&ftl.geometry, block) {
            let class = self.programmed.class_of(ftl.geometry.flash_page_of(page));
            match self.judge(self.flash.block_of(page), class) {
                Verdict::Young => {}
                Verdict::Due => return Verdict::Due,
                Verdict::BeyondHelp => verdict = Verdict::BeyondHelp,
            }
        }
        verdict
    }
}

impl Collector {
    /// Inspects all blocks, and begins to refresh those that are due.
    pub fn patrol<const S: Skills>(&mut self, on: &mut Kernel<impl Probe, impl FlashContents>) {
        let (Some(rule), Some(programmed), Some(model)) =
            (on.ftl.refreshes(), on.flash.programmed(), on.flash.sheet().reliability())
        else {
            return;
        };
        let by = on.now + rule.period + rule.period;
        let (hazards, flash) = (on.flash.hazards(), on.flash.geometry());
        let patrol = Patrol { rule, by, programmed, flash, model, hazards };
        refresh::forget_due(&mut on.ftl);
        for block in (0..on.ftl.geometry.blocks()).map(BlockId::new) {
            if refresh::is_filled(block, &on.ftl) && patrol.may_come_due(block) {
                refresh::seal(block, ClosedBy::Device, &mut on.ftl);
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

    /// A block was read so often that it must be refreshed, unless it is open or being emptied.
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

    /// After a death, or a load: begins to rebuild.
    pub(crate) fn rebuild<const S: Skills>(
        &mut self,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        on.watch_exposed();
        if !rebuild::rebuilds(&on.ftl) {
            return;
        }
        for plane in (0..on.ftl.geometry.planes()).map(PlaneId::new) {
            self.refresh_next::<S>(plane, on);
        }
    }

    pub(in crate::ftl) fn refresh_next<const S: Skills>(
        &mut self,
        plane: PlaneId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        if let Some(wanted) = refresh::next_refresh(plane, None, &mut on.ftl) {
            self.collect::<S>(wanted, on);
        }
    }
}
