//! The way of a command to flash, where that is not the flash itself but a volume over several dies, and back.

use super::base::Base;
use super::{Contents, Device};
use crate::engine::skills::{self, Skills};
use crate::scheduler::{CommandId, Probe};

impl<P: Probe, C: Contents> Device<P, C> {
    /// A part of a command is done, or the parity of a stripe is on flash.
    #[inline(never)]
    pub(super) fn part_done(&mut self, part: CommandId) {
        let done = self.base.kernel.part_done(part);
        self.base.kernel.flash.release(part);
        self.base.empty_failed::<{ skills::ALL }>();
        if let Some(id) = done {
            self.command_done::<{ skills::ALL }>(id);
        }
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Hands a command whose page is known to the flash.
    #[inline(always)]
    pub(super) fn submit_command<const S: Skills>(&mut self, id: CommandId) {
        self.kernel.submit::<S>(id);
    }

    /// Stripes that nothing more comes to, because a die has died, get their parity.
    pub(super) fn close_stripes(&mut self) {
        self.kernel.close_stripes();
    }
}
