//! Rewrites from the device's side: who asks for them, when a die is idle, and what follows from one.

use super::base::Base;
use super::{Contents, Device};
use crate::engine::skills;
use crate::nand::CellMode;
use crate::scheduler::{CommandId, Kind, Probe};
use crate::units::{DieId, Lpn, SectorMask};
use crate::verify::Canary;

impl<P: Probe, C: Contents> Device<P, C> {
    /// A command of a rewrite is done.
    pub(super) fn rewrite_command_done(&mut self, die: DieId, id: CommandId) {
        let is_program = self.base.kernel.flash.command(id).kind == Kind::Program;
        let at = self.base.kernel.flash.command(id).page;
        let Base { kernel, services, .. } = &mut self.base;
        let Some(rewriter) = &mut services.rewriter else { return };
        rewriter.done(die, id, kernel);
        if is_program {
            self.base.empty_failed::<{ skills::ALL }>();
            self.rewrite_what_is_due::<{ skills::ALL }>();
            self.base.consider_collecting_at::<{ skills::ALL }>(at);
            self.base.relieve::<{ skills::ALL }>();
        }
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Commands of a die are done: it may have nothing else to do.
    #[inline]
    pub(super) fn consider_rewriting(&mut self, die: DieId) {
        if let Some(rewriter) = &mut self.services.rewriter
            && (self.kernel.flash.load().of(die) == 0 || self.plant.is(Canary::RewriteCutsIn))
        {
            rewriter.die_is_idle(die);
        }
    }

    /// Whether a die fell idle on which there is something to rewrite.
    #[inline]
    pub(super) fn may_rewrite(&self) -> bool {
        self.services.rewriter.as_ref().is_some_and(|rewriter| rewriter.has_idle_dies())
    }

    /// Nothing more comes at this moment: dies that are still idle rewrite.
    #[cold]
    pub(super) fn rewrite_on_idle_dies(&mut self) {
        let Some(mut rewriter) = self.services.rewriter.take() else { return };
        while let Some(die) = rewriter.next_idle() {
            if self.kernel.flash.load().of(die) > 0 && !self.plant.is(Canary::RewriteCutsIn) {
                continue;
            }
            let Base { kernel, buffer, .. } = self;
            rewriter.work(die, |page| buffer.pages.is_being_written(page), kernel);
        }
        self.services.rewriter = Some(rewriter);
    }

    /// The device comes to rest, or is prepared.
    pub(super) fn give_up_rewrites(&mut self) {
        if let Some(rewriter) = &mut self.services.rewriter {
            rewriter.give_up(&mut self.kernel.flash);
        }
    }

    /// The host reads sectors of a page from flash: it may be one that should lie there at another cost.
    pub(super) fn note_flash_read(&mut self, page: Lpn, wanted: SectorMask) {
        let past = self.kernel.ftl.read_by_host(page);
        let Some(rewriter) = &mut self.services.rewriter else { return };
        let [newer, older] = self.kernel.ftl.fragments(page);
        // As in read_fragments: the older part is read for what it holds, the newer for all else.
        let older = older.filter(|part| !wanted.within(part.sectors).is_empty());
        let newer = newer.filter(|part| older.is_none() || !wanted.within(part.sectors).is_empty());
        for part in [newer, older].into_iter().flatten() {
            let native = self.kernel.ftl.mode_at::<{ skills::ALL }>(part.at) == CellMode::Native;
            if native && self.kernel.ftl.wants_rewrite(past, self.kernel.flash.class_at(part.at)) {
                let geometry = self.kernel.flash.geometry();
                rewriter.ask(geometry.die_of_page(part.at), geometry.flash_page_of(part.at), page);
            }
        }
    }
}
