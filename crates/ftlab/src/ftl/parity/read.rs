//! The reads of stripes: what is read instead of a page that can't be read, and what the erase of a superblock waits for.

use super::program::Piece;
use super::{OnFlash, Rest, Stripes, members};
use crate::engine::skills;
use crate::ftl::{FlashChange, FlashContents, Kernel, ParityChange};
use crate::nand::{Kind, Stripe};
use crate::scheduler::{CellFindings, Command, CommandId, Owner, Probe, ServiceId};
use crate::units::{BlockId, Ppn};
use crate::verify::Canary;

impl Stripes {
    /// Submits a command. A die that is known to be dead is not asked for a page that is computed.
    pub(in crate::ftl) fn submit<P: Probe, C: FlashContents>(
        &mut self,
        id: CommandId,
        on: &mut Kernel<P, C>,
    ) {
        let &Command { kind, page, .. } = on.flash.command(id);
        match kind {
            Kind::Read => {
                let (stripe, member) = self.member_of(page);
                self.under_way[stripe.block.at()] += 1;
                let needs_flash = on.ftl.features.members().is_some_and(|known| {
                    self.is_on_dead_die(stripe, member, known)
                        && self
                            .rest_of(page, known)
                            .is_some_and(|rest| self.on_flash_of(&rest) != 0)
                });
                if !(needs_flash && self.begins_to_compute(id, on)) {
                    on.flash.submit(on.now, id);
                }
            }
            Kind::Program => {
                self.makes_way(id, on);
                self.covers(id, on);
                on.flash.submit(on.now, id);
                self.program_due(on);
            }
            Kind::Erase => self.submit_erase(id, on.ftl.geometry.block_of(page), on),
            Kind::Copyback => unreachable!("what the controller does not see is in no parity"),
        }
    }

    /// Submits rows of programs, and behind each the parity of the stripes that it fills: the next one may be on top of it.
    pub(in crate::ftl) fn submit_row<P: Probe, C: FlashContents>(
        &mut self,
        row: &[CommandId],
        on: &mut Kernel<P, C>,
    ) {
        let mut rest = row;
        while let Some(&first) = rest.first() {
            let place_of = |id| {
                let page = on.flash.command(id).page;
                let row = self.layout.row_of(self.layout.stripe_of(page).0);
                (on.flash.geometry().die_of_page(page), row)
            };
            let place = place_of(first);
            let together = rest.iter().take_while(|&&id| place_of(id) == place).count();
            let (row, others) = rest.split_at(together);
            row.iter().for_each(|&id| self.makes_way(id, on));
            row.iter().for_each(|&id| self.covers(id, on));
            on.flash.submit_row::<{ skills::ALL }>(on.now, row);
            self.program_due(on);
            rest = others;
        }
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
        // Parity that was not programmed never is.
        let all = Stripe { block, number: 0 }..=Stripe { block, number: u32::MAX };
        let waiting = self.running.range_mut(all).filter(|(_, running)| running.waits());
        waiting.for_each(|(_, running)| running.on_flash = OnFlash::Useless);
        // Who stores what is known of it hears of that now, before it is erased.
        on.ftl.features.record.iter_mut().for_each(|record| record.touch_block(block));
        on.erase_superblock(id);
    }

    /// A page came back from flash, or was programmed. Returns whether the command goes on: its page is computed.
    pub(in crate::ftl) fn goes_on<P: Probe, C: FlashContents>(
        &mut self,
        id: CommandId,
        on: &mut Kernel<P, C>,
    ) -> bool {
        self.program_due(on);
        let &Command { kind, page, found: CellFindings { unreadable, .. }, .. } =
            on.flash.command(id);
        if kind == Kind::Erase {
            return false;
        }
        if kind == Kind::Read && unreadable {
            if self.begins_to_compute(id, on) {
                return true;
            }
            // Unless all that it took was in DRAM.
            self.counts.lost += u64::from(on.flash.command(id).found.unreadable);
        }
        self.ended(on.ftl.geometry.block_of(page), on);
        false
    }

    /// The members whose pages have to be read: pages being programmed are still in DRAM.
    fn on_flash_of(&self, rest: &Rest) -> u64 {
        let running = self.running.get(&rest.stripe);
        running.map_or(rest.members, |running| rest.members & running.programmed)
    }

    /// A page was not readable: begins the reads from which it can be computed. Returns false if there is nothing to wait
    /// for.
    fn begins_to_compute<P: Probe, C: FlashContents>(
        &mut self,
        id: CommandId,
        on: &mut Kernel<P, C>,
    ) -> bool {
        let Some(known) = on.ftl.features.members() else { return false };
        let &Command { page, origin, units, codewords, mode, senses, .. } = on.flash.command(id);
        let Some(mut rest) = self.rest_of(page, known) else { return false };
        if on.flash.plant().is(Canary::ComputedWithoutOne) {
            rest.members &= rest.members.saturating_sub(1);
        }
        on.contents.change(FlashChange::Parity(ParityChange::Computes(page, &rest)));
        let found = &mut on.flash.command_mut(id).found;
        (found.unreadable, found.failed) = (false, false);
        let on_flash = self.on_flash_of(&rest);
        let owner = ServiceId::STRIPES.owner(Piece::Read(id).token());
        let offset = page.get() % self.layout.volume().units_per_page();
        for member in members(on_flash) {
            self.counts.reads += 1;
            let first = self.layout.on_flash(rest.stripe, member);
            let at = Ppn::new(first.get() + offset);
            let mut part = Command::new(Kind::Read, origin, owner, at);
            (part.units, part.codewords) = (units, codewords);
            (part.mode, part.senses) = (mode, senses);
            let part = on.flash.prepare(part);
            on.flash.submit(on.now, part);
        }
        match on_flash.count_ones() {
            0 => {
                self.counts.reconstructed += 1;
                false
            }
            reads => {
                self.rebuilding.insert(id.get(), reads);
                true
            }
        }
    }

    /// A read for a page that is being computed is done. Returns whether it was the last one.
    pub(super) fn rest_is_read<P: Probe, C: FlashContents>(
        &mut self,
        id: CommandId,
        part: CommandId,
        on: &mut Kernel<P, C>,
    ) -> bool {
        let &Command { spent, found: CellFindings { unreadable, .. }, .. } = on.flash.command(part);
        let whole = on.flash.command_mut(id);
        whole.found.unreadable |= unreadable;
        let Some(left) = self.rebuilding.get_mut(&id.get()) else { return false };
        *left -= 1;
        if *left > 0 {
            return false;
        }
        whole.spent.add(&spent);
        self.rebuilding.remove(&id.get());
        let block = on.ftl.geometry.block_of(whole.page);
        match whole.found.unreadable {
            true => self.counts.lost += 1,
            false => self.counts.reconstructed += 1,
        }
        self.ended(block, on);
        true
    }

    /// A command of a superblock is done. Its erase may have waited for this.
    pub(super) fn ended<P: Probe, C: FlashContents>(
        &mut self,
        block: BlockId,
        on: &mut Kernel<P, C>,
    ) {
        self.under_way[block.at()] -= 1;
        if self.under_way[block.at()] == 0
            && let Some(at) = self.erases.iter().position(|&(of, _)| of == block)
        {
            let (_, erase) = self.erases.swap_remove(at);
            self.submit_erase(erase, block, on);
        }
    }
}

impl<P: Probe, C: FlashContents> Kernel<P, C> {
    /// A command of a page of data is done on flash. Returns whether it goes on, because its page is computed.
    pub(crate) fn goes_on(&mut self, id: CommandId) -> bool {
        let Owner { service, .. } = self.flash.command(id).owner;
        let is_own =
            matches!(service, ServiceId::STRIPES | ServiceId::SUPERBLOCKS | ServiceId::JOURNAL);
        !is_own && self.with_stripes(|stripes, kernel| stripes.goes_on(id, kernel)).unwrap_or(false)
    }
}

impl<P: Probe, C> Kernel<P, C> {
    /// The command that a command of the flash belongs to: its own, or the one whose page is computed from it.
    pub(crate) fn whole_of(&self, id: CommandId) -> CommandId {
        match self.flash.command(id).owner {
            Owner { service: ServiceId::STRIPES, token } => match Piece::of(token) {
                Piece::Read(whole) => whole,
                Piece::Parity => id,
            },
            _ => id,
        }
    }
}
