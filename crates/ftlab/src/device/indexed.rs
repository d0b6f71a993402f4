//! Programs of a device whose dies may die: they have their effect when the [index](crate::ftl::journal) names what they
//! programmed, not when they are done.

use crate::device::base::Base;
use crate::device::{Contents, Device};
use crate::engine::skills;
use crate::ftl::Kernel;
use crate::ftl::journal::Unindexed;
use crate::scheduler::{CommandId, Kind, Probe};
use crate::units::Nanos;

impl<P: Probe, C: Contents> Device<P, C> {
    /// Whether it programs metadata for recovery.
    pub fn keeps_journal(&self) -> bool {
        self.base.services.journal.is_some()
    }

    /// Programs that were done before are in the index, whose last page `index` programmed. They count now, unless their
    /// die was found dead meanwhile.
    pub(super) fn programs_are_indexed(&mut self, index: CommandId) {
        let own = self.base.kernel.flash.command(index).spent;
        let Some(journal) = &mut self.base.services.journal else { return };
        for Unindexed { id, since } in journal.take_indexed() {
            self.base.services.journal.iter_mut().for_each(|journal| journal.next_counts());
            let Kernel { now, flash, ftl, .. } = &mut self.base.kernel;
            let is_dead = ftl.is_known_dead(flash.die_of(id));
            let command = flash.command_mut(id);
            // The index is a part of the write, as the journal is of a trim. Before, its pages named other writes.
            command.spent.add(&own);
            command.spent.queue += Nanos((*now - since).0 - own.total().0);
            command.found.failed |= is_dead;
            command.found.unreadable |= is_dead && command.kind == Kind::Copyback;
            self.command_counts::<{ skills::ALL }>(id);
        }
        if let Some(journal) = &mut self.base.services.journal {
            journal.write_index(&mut self.base.kernel);
        }
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Whether a command that is done has no effect yet, because the index has to name what it programmed.
    #[inline]
    pub(super) fn waits_for_index(&mut self, id: CommandId) -> bool {
        let Base { kernel, services, .. } = self;
        services.journal.as_mut().is_some_and(|journal| journal.keeps_back(id, kernel))
    }
}
