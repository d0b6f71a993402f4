//! Completions of reads and programs of write-backs: pages become current, waiting requests settle,
//! and further write-backs begin.

use crate::cache::{Page, SlotId};
use crate::device::Contents;
use crate::device::base::Base;
use crate::device::contents::end_of_write_back;
use crate::device::write::{Writes, cycle, end_of_life, merge};
use crate::engine::skills;
use crate::engine::skills::{RARE, Skills, any};
use crate::ftl::wear::{failing, life};
use crate::ftl::{Kernel, fragments};
use crate::scheduler::{CellFindings, Command, CommandId, Kind, Note, Probe, Spent};
use crate::units::Ppn;
use crate::verify::Canary;

impl Writes {
    /// A read of a read-modify-write, or the program of a write-back, is done.
    pub(in crate::device) fn write_back_command_done<const S: Skills>(
        &mut self,
        id: CommandId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let command = on.kernel.flash.command(id);
        if command.kind == Kind::Program {
            return self.write_back_done::<S>(id, on);
        }
        let (spent, Some(program)) = (command.spent, command.then) else { return };
        self.input_came::<S>(program, spent, on);
        end_of_life::begin_after_given_up(self, on);
    }

    /// An input that a program, or its row, has waited for is available.
    pub(in crate::device) fn input_came<const S: Skills>(
        &mut self,
        program: CommandId,
        spent: Spent,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let command = on.kernel.flash.command_mut(program);
        command.waits_for -= 1;
        if command.waits_for == 0 {
            // The last input determines how long the program waited.
            command.spent = spent;
            match on.buffer.rules.row {
                _ if self.cycles.have_barrier() => cycle::cycle_is_complete(program, self, on),
                1 => self.issue::<S>(program, on),
                _ => self.row_is_complete::<S>(program, on),
            }
        }
    }

    /// The pages of a program are on flash: they become current, and waiting requests settle.
    pub(in crate::device) fn write_back_done<const S: Skills>(
        &mut self,
        id: CommandId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let Command { page: first, units, spent, found: CellFindings { failed, .. }, .. } =
            *on.kernel.flash.command(id);
        let units = skills::units_of_page(S, units);
        if any(S, RARE)
            && failing::program_fails::<S>(
                first,
                failed,
                &mut on.kernel.contents,
                &mut on.kernel.ftl,
            )
        {
            end_of_life::program_again(id, self, on);
            on.empty_failed::<S>();
            // More can begin only if planes are gated and the program was given up.
            return self
                .cycles
                .gate()
                .into_iter()
                .for_each(|gate| cycle::write_back_by_planes(gate, self, on));
        }
        if any(S, RARE)
            && let Some(gate) = self.cycles.gate()
        {
            cycle::program_by_planes_done(id, gate, self, on);
        } else {
            for unit in 0..units {
                let slot = SlotId::new(self.loads.get(id, unit));
                self.make_current::<S>(slot, Ppn::new(first.get() + unit), &spent, on);
            }
            merge::programmed_for_host::<S>(first, units, self, on);
            on.buffer.under_way.program_ended();
        }
        if any(S, RARE) {
            on.empty_failed::<S>();
            self.update_due_map_pages::<S>(on);
        }
        on.relieve::<S>();
        self.retry_in_groups::<S>(on);
        self.admit_waiting::<S>(on);
        self.write_back::<S>(on);
    }

    /// A page is on flash and becomes the current copy.
    #[inline]
    pub(in crate::device) fn make_current<const S: Skills>(
        &mut self,
        slot: SlotId,
        at: Ppn,
        spent: &Spent,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let &Page { page, discard, packed_with, .. } = on.buffer.page(slot);
        if any(S, RARE)
            && let Some(second) = packed_with
        {
            return on.make_pack_current([slot, second], at, spent);
        }
        if !discard || on.plant.is(Canary::TrimForgotten) {
            on.kernel.ftl.commit::<S>(page, at);
        }
        on.end_write_back::<S>(slot, spent);
        self.admit_next_version::<S>(page, on);
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Two packed pages are on flash and become current.
    #[inline(never)]
    pub(in crate::device) fn make_pack_current(
        &mut self,
        slots: [SlotId; 2],
        at: Ppn,
        spent: &Spent,
    ) {
        let forgets = self.plant.is(Canary::PartnerNotMapped);
        for slot in slots {
            let &Page { page, discard, .. } = self.buffer.page(slot);
            let lost = forgets && slot == slots[1];
            if !discard && !lost {
                fragments::commit_fragment(page, at, &mut self.kernel.ftl);
            }
            self.end_write_back::<{ skills::ALL }>(slot, spent);
        }
    }

    pub(in crate::device) fn end_write_back<const S: Skills>(
        &mut self,
        slot: SlotId,
        spent: &Spent,
    ) {
        let Base { buffer, desk, kernel: Kernel { now, ftl, contents, flash }, .. } = self;
        let left = buffer.page(slot).dirty.is_empty();
        end_of_write_back(slot, left, contents);
        buffer.end_write_back(slot, ftl, |waiter| {
            desk.settle::<S>(waiter, spent, *now, contents);
            flash.probe_mut().note(*now, Note::Settled { request: waiter });
        });
    }

    /// Empties and retires blocks that failed.
    #[inline]
    pub(in crate::device) fn empty_failed<const S: Skills>(&mut self) {
        if life::has_failed(&self.kernel.ftl) {
            let Base { kernel, services, .. } = self;
            services.collector.empty_failed::<S>(kernel);
        }
    }

    /// Planes that were short of free blocks, with nothing worth collecting, may be able to collect now.
    pub(in crate::device) fn relieve<const S: Skills>(&mut self) {
        if any(S, RARE) && self.services.merger.is_some() {
            return;
        }
        let Base { kernel, services, .. } = self;
        services.collector.feed_hungry::<S>(kernel);
    }
}
