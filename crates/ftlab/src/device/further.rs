//! Reads on their way from the die to who waits for them, if that takes time: their pages are decoded, and move into DRAM.

use crate::device::front::Crossed;
use crate::device::{Contents, Device, read};
use crate::engine::skills;
use crate::ftl::Kernel;
use crate::ftl::service::Signals;
use crate::scheduler::{CommandId, Further, Probe, ServiceId};

impl<P: Probe, C: Contents> Device<P, C> {
    /// What was read has come a step further behind its die. Nobody waits for the die any more.
    #[inline(never)]
    pub(super) fn read_came_further(&mut self, further: Further) {
        match further {
            Further::LeftDie(id) => {
                self.page_left_die(id);
                if !self.base.kernel.flash.decodes() {
                    self.base.take_into_dram(id);
                }
            }
            Further::Decoded(id) => self.base.take_into_dram(id),
        }
    }

    /// A page has left its die, and is decoded or on its way into DRAM from now on. Its place may be erased meanwhile, so
    /// what depends on the place is settled now. A stripe is not erased before, and computes what is unreadable.
    fn page_left_die(&mut self, id: CommandId) {
        if self.base.kernel.ftl.stripes().is_none() {
            read::left_die(id, &mut self.base);
            // DRAM keeps it from now on. A hit meanwhile does not wait for it.
            let service = self.base.kernel.flash.command(id).owner.service;
            if matches!(service, ServiceId::READS | ServiceId::READ_AHEAD) {
                self.keep_or_cache(id);
            }
        }
        let die = self.base.kernel.flash.die_of(id);
        if self.base.wakes != Signals::NONE {
            self.die_is_done(die);
        }
    }

    /// A command goes on, because its data has crossed the DRAM: what it read is done.
    pub(super) fn crossed_dram(&mut self, what: Crossed) {
        match what {
            Crossed::Read(read) => {
                let Kernel { now, flash, .. } = &mut self.base.kernel;
                flash.count_read(*now, read);
                self.commands_done::<{ skills::ALL }>(read);
            }
            Crossed::Computed(copy) => self.command_done::<{ skills::ALL }>(copy),
        }
    }

    /// All that a command is computed from has been read. It is done, unless its data has to leave DRAM first.
    pub(super) fn is_computed(&mut self, id: CommandId) {
        if !self.base.leaves_dram(id) {
            self.command_done::<{ skills::ALL }>(id);
        }
    }
}
