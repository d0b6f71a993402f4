//! The way of a command to flash, where that is not the flash itself but a volume over several dies, and back.

use super::{Contents, Device};
use crate::engine::skills::{self, Skills};
use crate::ftl::parity::Below;
use crate::scheduler::{CommandId, Probe};

impl<P: Probe, C: Contents> Device<P, C> {
    /// Hands a command whose page is known to the flash.
    #[inline(always)]
    pub(super) fn submit_command<const S: Skills>(&mut self, id: CommandId) {
        if !skills::any(S, skills::RARE) {
            return self.flash.submit_with::<S>(self.now, id);
        }
        let Device { now, ftl, flash, contents, .. } = self;
        ftl.submit(id, &mut Below { now: *now, flash, contents });
    }

    /// Stripes that nothing more comes to, because a die has died, get their parity.
    pub(super) fn close_stripes(&mut self) {
        let Device { now, ftl, flash, contents, .. } = self;
        ftl.close_stripes(&mut Below { now: *now, flash, contents });
    }

    /// A part of a command is done, or the parity of a stripe is on flash.
    #[inline(never)]
    pub(super) fn part_done(&mut self, part: CommandId) {
        let Device { now, ftl, flash, contents, .. } = self;
        let done = ftl.part_done(part, &mut Below { now: *now, flash, contents });
        self.flash.release(part);
        self.empty_failed::<{ skills::ALL }>();
        if let Some(id) = done {
            self.command_done::<{ skills::ALL }>(id);
        }
    }
}
