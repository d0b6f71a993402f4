//! The way of a command from the volume to flash and back. A command of the volume is split into
//! *parts*, one for each physical page or block, and is done when the last part is.

use super::super::Ftl;
use super::{Missing, OnFlash, Rest, Running, Stripes, members};
use crate::engine::skills::PLAIN;
use crate::ftl::wear::failing;
use crate::ftl::{FlashChange, FlashContents, Kernel, ParityChange};
use crate::nand::{Kind, Stripe};
use crate::scheduler::{CellFindings, Command, CommandId, Flash, Load, Owner, Probe, ServiceId};
use crate::units::{BlockId, DieId, Ppn};
use crate::verify::Canary;

/// The purpose of a flash command.
#[derive(Clone, Copy, Debug)]
enum Piece {
    /// A part of a command of the volume.
    Part(CommandId),
    /// The parity of a stripe of this superblock.
    Parity(BlockId),
}

impl Piece {
    fn owner(self) -> Owner {
        let (of, is_parity) = match self {
            Piece::Part(id) => (id.get(), 0),
            Piece::Parity(block) => (block.get(), 1),
        };
        ServiceId::STRIPES.owner(of << 1 | is_parity)
    }

    fn of(token: u32) -> Piece {
        match token & 1 {
            0 => Piece::Part(CommandId::new(token >> 1)),
            _ => Piece::Parity(BlockId::new(token >> 1)),
        }
    }
}

impl Stripes {
    /// Submits a command of the volume.
    pub fn submit<P: Probe, C: FlashContents>(&mut self, id: CommandId, on: &mut Kernel<P, C>) {
        let &Command { kind, page, .. } = on.flash.command(id);
        match kind {
            Kind::Read => {
                let (stripe, member) = self.member_of(page);
                self.under_way[stripe.block.at()] += 1;
                // A die that is known to be dead is not asked, unless everything needed is in DRAM.
                let needs_flash =
                    || self.rest_of(page).is_some_and(|rest| self.on_flash_of(&rest) != 0);
                if self.is_dead(stripe.block, member) && needs_flash() {
                    self.begin_to_rebuild(id, on);
                    return;
                }
                let offset = page.get() % self.superblocks.volume().units_per_page();
                let first = self.superblocks.on_flash(stripe, member);
                self.begin_part(id, Ppn::new(first.get() + offset), on);
            }
            Kind::Program => self.submit_program(id, page, on),
            Kind::Erase => self.submit_erase(id, self.superblocks.volume().block_of(page), on),
            Kind::Copyback => unreachable!("what the controller does not see is in no parity"),
        }
    }

    fn submit_program<P: Probe, C: FlashContents>(
        &mut self,
        id: CommandId,
        page: Ppn,
        on: &mut Kernel<P, C>,
    ) {
        let (stripe, place) = self.superblocks.stripe_of(page);
        let member = self.superblocks.member_at(stripe, place);
        self.under_way[stripe.block.at()] += 1;
        let origin = on.flash.command(id).origin;
        if self.any_dead {
            self.close_before(stripe, on);
        }
        let data = self.superblocks.width() - 1;
        let is_last = !(place + 1..data).any(|place| self.is_page(stripe, place));
        let is_dead = self.is_dead(stripe.block, member);
        let running = self.running.entry(stripe).or_insert(Running::new());
        running.origin = Some(origin);
        if is_dead {
            // It was placed before the death was known: its program fails.
            self.missing.insert((stripe, member), Missing::LeftOut);
        } else {
            running.covered |= 1 << member;
            if !(is_last && on.flash.plant().is(Canary::ParityMissesLastPage)) {
                on.contents.change(FlashChange::Parity(ParityChange::Covers(stripe, page)));
            }
        }
        self.begin_part(id, self.superblocks.on_flash(stripe, member), on);
        if is_last {
            self.program_parity(stripe, on);
        }
    }

    /// A stripe is full: programs its parity, behind its last page. If none of its pages was
    /// submitted yet, one is held back, and the parity follows behind it.
    pub(super) fn program_parity<P: Probe, C: FlashContents>(
        &mut self,
        stripe: Stripe,
        on: &mut Kernel<P, C>,
    ) {
        let parity = self.parity_of(stripe).filter(|&member| !self.is_dead(stripe.block, member));
        let running = self.running.get_mut(&stripe).filter(|running| running.waits());
        let Some((running, origin)) = running.and_then(|is| is.origin.map(|origin| (is, origin)))
        else {
            return;
        };
        let Some(member) = parity else { return self.do_without_parity(stripe, &mut on.contents) };
        running.on_flash = OnFlash::Leaves;
        let at = self.superblocks.on_flash(stripe, member);
        let mut program =
            Command::new(Kind::Program, origin, Piece::Parity(stripe.block).owner(), at);
        program.units = self.superblocks.volume().units_per_page();
        program.codewords = on.flash.bus().page_codewords();
        self.under_way[stripe.block.at()] += 1;
        on.contents.change(FlashChange::Parity(ParityChange::Programmed(stripe, at)));
        self.hand_over(program, on);
    }

    fn submit_erase<P: Probe, C: FlashContents>(
        &mut self,
        id: CommandId,
        block: BlockId,
        on: &mut Kernel<P, C>,
    ) {
        if self.under_way[block.at()] > 0 {
            return self.erases.push((block, id));
        }
        self.forget(block);
        // If no die is left, the whole erase fails.
        let is_gone = self.is_gone(block);
        for member in 0..self.superblocks.width() {
            if self.is_dead(block, member) && !is_gone {
                self.counts.spared_erases += 1;
                *self.erasing.entry(id.get()).or_default() += 1;
                continue;
            }
            let first = self.superblocks.on_flash(Stripe { block, row: 0 }, member);
            self.begin_part(id, first, on);
        }
    }

    /// Submits a part of a command to the flash.
    fn begin_part<P: Probe, C: FlashContents>(
        &mut self,
        id: CommandId,
        at: Ppn,
        on: &mut Kernel<P, C>,
    ) {
        let whole = on.flash.command_mut(id);
        whole.waits_for += 1;
        let mut part = Command::new(whole.kind, whole.origin, Piece::Part(id).owner(), at);
        (part.units, part.codewords, part.mode) = (whole.units, whole.codewords, whole.mode);
        self.hand_over(part, on);
    }

    fn hand_over<P: Probe, C: FlashContents>(&mut self, command: Command, on: &mut Kernel<P, C>) {
        let die = on.flash.geometry().die_of_page(command.page);
        self.load.add::<PLAIN>(self.superblocks.group_of(die).0);
        let command = on.flash.prepare(command);
        on.flash.submit(on.now, command);
    }

    /// A part of a command, or a page of parity, is done. Returns the command that this completes.
    pub fn done<P: Probe, C: FlashContents>(
        &mut self,
        part: CommandId,
        on: &mut Kernel<P, C>,
    ) -> Option<CommandId> {
        let &Command { owner, page, spent, found: CellFindings { unreadable, failed, .. }, .. } =
            on.flash.command(part);
        self.load.remove::<PLAIN>(self.group_of(on.flash.die_of(part)));
        let id = match Piece::of(owner.token) {
            Piece::Parity(block) => {
                let row = on.flash.geometry().flash_page_in_block(page);
                self.parity_done(Stripe { block, row }, page, failed, on);
                self.ended(block, on);
                return None;
            }
            Piece::Part(id) => id,
        };
        let spared = self.is_known_dead(on.flash.die_of(part))
            && !self.is_gone(self.superblocks.volume().block_of(on.flash.command(id).page));
        let whole = on.flash.command_mut(id);
        whole.waits_for -= 1;
        whole.found.unreadable |= unreadable;
        // An erase skips the block of a dead die as long as others live, and a read can be reconstructed.
        whole.found.failed |= failed
            && match whole.kind {
                Kind::Program => true,
                Kind::Erase => !spared,
                Kind::Read | Kind::Copyback => false,
            };
        if whole.waits_for > 0 {
            if whole.kind == Kind::Erase {
                *self.erasing.entry(id.get()).or_default() += 1;
            }
            return None;
        }
        whole.spent.add(&spent);
        match whole.kind {
            Kind::Read => self.read_done(id, on),
            Kind::Program => {
                self.ended(self.superblocks.volume().block_of(whole.page), on);
                Some(id)
            }
            Kind::Erase | Kind::Copyback => {
                self.erasing.remove(&id.get());
                Some(id)
            }
        }
    }

    /// The program of a parity, at this flash page of the device, is done.
    fn parity_done<P: Probe, C: FlashContents>(
        &mut self,
        stripe: Stripe,
        at: Ppn,
        failed: bool,
        on: &mut Kernel<P, C>,
    ) {
        if !failed {
            self.counts.programs += 1;
            return self.note(stripe, |running| {
                if running.on_flash == OnFlash::Leaves {
                    running.on_flash = OnFlash::Yes;
                }
            });
        }
        let Some(running) = self.running.get_mut(&stripe) else { return };
        if running.on_flash == OnFlash::Leaves {
            on.contents.change(FlashChange::Parity(ParityChange::Dropped(at)));
        }
        running.on_flash = OnFlash::Useless;
        if self.is_known_dead(on.flash.geometry().die_of_page(at)) {
            self.do_without_parity(stripe, &mut on.contents);
        }
    }

    /// The program of a page of the volume is done and has not failed.
    #[inline]
    pub(in crate::ftl) fn is_programmed(&mut self, page: Ppn) {
        let (stripe, member) = self.member_of(page);
        self.note(stripe, |running| running.programmed |= 1 << member);
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

    /// All reads for a read are done, or none was needed.
    fn read_done<P: Probe, C: FlashContents>(
        &mut self,
        id: CommandId,
        on: &mut Kernel<P, C>,
    ) -> Option<CommandId> {
        let &Command { page, found: CellFindings { unreadable, .. }, .. } = on.flash.command(id);
        if unreadable && self.begin_to_rebuild(id, on) {
            return None;
        }
        if self.rebuilding.remove(&id.get()) {
            match on.flash.command(id).found.unreadable {
                true => self.counts.lost += 1,
                false => self.counts.reconstructed += 1,
            }
        }
        self.ended(self.superblocks.volume().block_of(page), on);
        Some(id)
    }

    /// The members whose pages have to be read: pages being programmed are still in DRAM.
    fn on_flash_of(&self, rest: &Rest) -> u64 {
        let running = self.running.get(&rest.stripe);
        running.map_or(rest.members, |running| rest.members & running.programmed)
    }

    /// A page was not readable: begins the reads from which it can be computed. Returns false if
    /// there is nothing to wait for.
    fn begin_to_rebuild<P: Probe, C: FlashContents>(
        &mut self,
        id: CommandId,
        on: &mut Kernel<P, C>,
    ) -> bool {
        if self.rebuilding.contains(&id.get()) {
            return false;
        }
        let page = on.flash.command(id).page;
        let Some(mut rest) = self.rest_of(page) else {
            self.counts.lost += 1;
            return false;
        };
        if on.flash.plant().is(Canary::ComputedWithoutOne) {
            rest.members &= rest.members.saturating_sub(1);
        }
        self.rebuilding.insert(id.get());
        on.contents.change(FlashChange::Parity(ParityChange::Computes(page, &rest)));
        on.flash.command_mut(id).found.unreadable = false;
        let (stripe, on_flash) = (rest.stripe, self.on_flash_of(&rest));
        let offset = page.get() % self.superblocks.volume().units_per_page();
        for member in members(on_flash) {
            self.counts.reads += 1;
            let first = self.superblocks.on_flash(stripe, member);
            self.begin_part(id, Ppn::new(first.get() + offset), on);
        }
        on_flash != 0
    }

    /// A command of a superblock is done. Its erase may have waited for this.
    fn ended<P: Probe, C: FlashContents>(&mut self, block: BlockId, on: &mut Kernel<P, C>) {
        self.under_way[block.at()] -= 1;
        if self.under_way[block.at()] == 0
            && let Some(at) = self.erases.iter().position(|&(of, _)| of == block)
        {
            let (_, erase) = self.erases.swap_remove(at);
            self.submit_erase(erase, block, on);
        }
    }

    /// The program of a page of the volume failed, so its contents don't count. The parity in DRAM
    /// drops the page. A copy of the parity on flash, or in flight, becomes useless.
    pub(in crate::ftl) fn program_failed(&mut self, page: Ppn, contents: &mut impl FlashContents) {
        let (stripe, member) = self.member_of(page);
        if self.why_missing(stripe, member).is_some() {
            return;
        }
        self.missing.insert((stripe, member), Missing::LeftOut);
        let Some(running) = self.running.get_mut(&stripe) else { return };
        running.covered &= !(1 << member);
        contents.change(FlashChange::Parity(ParityChange::Uncovers(stripe, page)));
        if matches!(running.on_flash, OnFlash::Leaves | OnFlash::Yes) {
            running.on_flash = OnFlash::Useless;
            if let Some(parity) = self.parity_of(stripe) {
                let at = self.superblocks.on_flash(stripe, parity);
                contents.change(FlashChange::Parity(ParityChange::Dropped(at)));
            }
        }
    }
}

impl<P: Probe, C: FlashContents> Kernel<P, C> {
    /// A part of a command, or a page of parity, is done. Returns the command that this completes.
    pub(crate) fn part_done(&mut self, part: CommandId) -> Option<CommandId> {
        let &Command { owner, found: CellFindings { failed, .. }, .. } = self.flash.command(part);
        let done = self.with_stripes(|stripes, kernel| stripes.done(part, kernel))?;
        if let Piece::Parity(block) = Piece::of(owner.token)
            && failed
        {
            let die = self.flash.die_of(part);
            let is_dead = self.ftl.stripes().is_some_and(|stripes| stripes.is_known_dead(die));
            failing::parity_failed(block, is_dead, &mut self.ftl);
        }
        done
    }
}

impl<P: Probe, C> Kernel<P, C> {
    /// The command that a command of the flash belongs to: its own, or the one that stripes have cut into parts.
    pub(crate) fn whole_of(&self, id: CommandId) -> CommandId {
        match self.flash.command(id).owner {
            Owner { service: ServiceId::STRIPES, token } => match Piece::of(token) {
                Piece::Part(whole) => whole,
                Piece::Parity(_) => id,
            },
            _ => id,
        }
    }
}

impl Ftl {
    /// The load that placement and collection balance: commands by die of the volume.
    #[inline]
    pub(crate) fn dies<'a, P: Probe>(&'a self, flash: &'a Flash<P>) -> &'a Load {
        match &self.features.stripes {
            None => flash.load().of_volume(),
            Some(stripes) => stripes.dies(),
        }
    }

    /// The die of the volume to which a die of the flash belongs.
    #[must_use]
    pub fn die_filled(&self, die: DieId) -> DieId {
        match (&self.features.stripes, &self.features.superblock) {
            (Some(stripes), _) => stripes.group_of(die),
            (None, Some(superblock)) => superblock.flash().die_of_volume(die),
            (None, None) => die,
        }
    }
}
