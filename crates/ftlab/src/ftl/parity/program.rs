//! The programs of stripes: which pages their parity covers, and when it is programmed.

use super::{Missing, OnFlash, Running, Stripes};
use crate::engine::skills;
use crate::ftl::superblock::{self, Members};
use crate::ftl::wear::failing;
use crate::ftl::{FlashChange, FlashContents, Kernel, ParityChange};
use crate::nand::{Kind, Stripe};
use crate::scheduler::{Command, CommandId, Probe, ServiceId};
use crate::units::Ppn;
use crate::verify::Canary;

impl Stripes {
    /// A place of an open block was taken, so its stripe has begun. Its parity is programmed in its turn even if no page
    /// of the stripe reaches flash.
    pub(in crate::ftl) fn begins(&mut self, page: Ppn) {
        let (stripe, _) = self.layout.stripe_of(page);
        self.running.entry(stripe).or_insert(Running::new());
    }

    /// A page of a stripe, or its parity, has reached flash.
    fn note(&mut self, stripe: Stripe, what: impl FnOnce(&mut Running)) {
        if let Some(running) = self.running.get_mut(&stripe) {
            what(running);
            if running.is_done() {
                self.running.remove(&stripe);
            }
        }
    }

    /// The program of a page is done and has not failed.
    #[inline]
    pub(in crate::ftl) fn is_programmed(&mut self, page: Ppn) {
        let (stripe, member) = self.member_of(page);
        self.note(stripe, |running| running.programmed |= 1 << member);
    }

    /// The program of a page failed, so its contents don't count. The parity in DRAM drops the page. A copy of the parity
    /// on flash, or in flight, becomes useless.
    pub(in crate::ftl) fn program_failed(
        &mut self,
        page: Ppn,
        known: &Members,
        contents: &mut impl FlashContents,
    ) {
        let (stripe, member) = self.member_of(page);
        if self.why_missing(stripe, member).is_some() {
            return;
        }
        self.missing.insert((stripe, member), Missing::LeftOut);
        let parity = self.parity_of(stripe, known);
        let Some(running) = self.running.get_mut(&stripe) else { return };
        running.covered &= !(1 << member);
        contents.change(FlashChange::Parity(ParityChange::Uncovers(stripe, page)));
        if matches!(running.on_flash, OnFlash::Leaves | OnFlash::Yes) {
            running.on_flash = OnFlash::Useless;
            if let Some(parity) = parity {
                let at = self.layout.on_flash(stripe, parity);
                contents.change(FlashChange::Parity(ParityChange::Dropped(at)));
            }
        }
    }

    /// A page is about to be programmed. If blocks are lost, earlier stripes of its superblock may get no more pages, and
    /// their parity goes first.
    pub(super) fn makes_way<P: Probe, C: FlashContents>(
        &mut self,
        id: CommandId,
        on: &mut Kernel<P, C>,
    ) {
        if on.ftl.features.members().is_some_and(Members::any_lost) {
            let (stripe, _) = self.layout.stripe_of(on.flash.command(id).page);
            self.close_before(stripe);
            self.program_due(on);
        }
    }

    /// A page is submitted to be programmed. Notes what the parity covers, and whether its stripe is full by it.
    pub(super) fn covers<P: Probe, C: FlashContents>(
        &mut self,
        id: CommandId,
        on: &mut Kernel<P, C>,
    ) {
        let &Command { page, origin, .. } = on.flash.command(id);
        let Some(known) = on.ftl.features.members() else { return };
        let (stripe, place) = self.layout.stripe_of(page);
        let member = self.layout.member_at(stripe, place);
        self.under_way[stripe.block.at()] += 1;
        let data = self.layout.width() - 1;
        let is_last = !(place + 1..data).any(|place| self.is_page(stripe, place, known));
        if self.is_on_dead_die(stripe, member, known) {
            // It was placed before the death was known: its program fails. The stripe may have been closed without it.
            self.missing.insert((stripe, member), Missing::LeftOut);
            if let Some(running) = self.running.get_mut(&stripe) {
                running.origin = Some(origin);
            }
            on.ftl.features.record.iter_mut().for_each(|record| record.touch_block(stripe.block));
        } else {
            let running = self.running.entry(stripe).or_insert(Running::new());
            running.origin = Some(origin);
            running.covered |= 1 << member;
            if !(is_last && on.flash.plant().is(Canary::ParityMissesLastPage)) {
                on.contents.change(FlashChange::Parity(ParityChange::Covers(stripe, page)));
            }
        }
        if is_last {
            self.due.push(stripe);
        }
    }

    /// Programs the parity of stripes that are full, behind their last pages. Parity of one die is programmed together.
    pub(super) fn program_due<P: Probe, C: FlashContents>(&mut self, on: &mut Kernel<P, C>) {
        if self.due.is_empty() {
            return;
        }
        let due = std::mem::take(&mut self.due);
        let programs: Vec<CommandId> =
            due.into_iter().filter_map(|stripe| self.prepare_parity(stripe, on)).collect();
        on.flash.submit_row::<{ skills::ALL }>(on.now, &programs);
    }

    /// Prepares the program of the parity of a stripe; none if it has one, or gets none.
    fn prepare_parity<P: Probe, C: FlashContents>(
        &mut self,
        stripe: Stripe,
        on: &mut Kernel<P, C>,
    ) -> Option<CommandId> {
        let known = on.ftl.features.members()?;
        let parity = self.parity_of(stripe, known);
        let parity = parity.filter(|&member| !self.is_on_dead_die(stripe, member, known));
        let running = self.running.get_mut(&stripe).filter(|running| running.waits())?;
        let origin = running.origin?;
        let Some(member) = parity else {
            self.do_without_parity(stripe, known, &mut on.contents);
            return None;
        };
        running.on_flash = OnFlash::Leaves;
        let at = self.layout.on_flash(stripe, member);
        let owner = ServiceId::STRIPES.owner(Piece::Parity.token());
        let mut program = Command::new(Kind::Program, origin, owner, at);
        program.units = self.layout.volume().units_per_page();
        program.codewords = on.flash.bus().page_codewords();
        program.mode = on.ftl.mode_of::<{ skills::ALL }>(stripe.block);
        program.of_map = on.ftl.blocks.stream(stripe.block).is_of_map();
        self.under_way[stripe.block.at()] += 1;
        on.contents.change(FlashChange::Parity(ParityChange::Programmed(stripe, at)));
        Some(on.flash.prepare(program))
    }

    /// The program of a parity page is done. Returns whether it failed.
    pub(super) fn parity_done<P: Probe, C: FlashContents>(
        &mut self,
        part: CommandId,
        on: &mut Kernel<P, C>,
    ) -> bool {
        let &Command { page: at, found, .. } = on.flash.command(part);
        let (stripe, _) = self.layout.stripe_on_flash(at);
        let failed = found.failed || superblock::wear::program_fails(at, &on.ftl);
        if !failed {
            self.counts.programs += 1;
            self.note(stripe, |running| {
                if running.on_flash == OnFlash::Leaves {
                    running.on_flash = OnFlash::Yes;
                }
            });
            return false;
        }
        let (Some(running), Some(known)) =
            (self.running.get_mut(&stripe), on.ftl.features.members())
        else {
            return true;
        };
        if running.on_flash == OnFlash::Leaves {
            on.contents.change(FlashChange::Parity(ParityChange::Dropped(at)));
        }
        running.on_flash = OnFlash::Useless;
        if known.is_dead(on.flash.geometry().die_of_page(at)) {
            self.do_without_parity(stripe, known, &mut on.contents);
        }
        true
    }
}

/// The purpose of a flash command of stripes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece {
    /// A read for a page that is being computed.
    Read(CommandId),
    /// A page of parity.
    Parity,
}

impl Piece {
    pub(super) fn token(self) -> u32 {
        match self {
            Piece::Parity => 0,
            Piece::Read(id) => id.get() + 1,
        }
    }

    pub(super) fn of(token: u32) -> Piece {
        token.checked_sub(1).map_or(Piece::Parity, |id| Piece::Read(CommandId::new(id)))
    }
}

impl<P: Probe, C: FlashContents> Kernel<P, C> {
    /// Programs the parity of stripes that get no more pages because a die has died.
    pub(crate) fn close_stripes(&mut self) {
        self.with_stripes(|stripes, kernel| {
            if let Some(known) = kernel.ftl.features.members() {
                stripes.close(known);
            }
            stripes.program_due(kernel);
        });
    }

    /// A command of stripes is done: a read for a page that is being computed, or the program of parity. Returns the
    /// command that this completes.
    pub(crate) fn part_done(&mut self, part: CommandId) -> Option<CommandId> {
        let &Command { owner, page, .. } = self.flash.command(part);
        match Piece::of(owner.token) {
            Piece::Read(id) => self
                .with_stripes(|stripes, kernel| stripes.rest_is_read(id, part, kernel))?
                .then_some(id),
            Piece::Parity => {
                let failed = self.with_stripes(|stripes, kernel| {
                    let failed = stripes.parity_done(part, kernel);
                    stripes.ended(stripes.layout.stripe_on_flash(page).0.block, kernel);
                    failed
                })?;
                if failed {
                    failing::parity_failed(page, &mut self.ftl);
                }
                None
            }
        }
    }
}
