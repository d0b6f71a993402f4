//! Services: each does something of its own with flash commands, works on the [`Kernel`] and
//! nothing else of the device, and tells the device what to attend to afterwards.

use super::gc::Collector;
use super::{FlashContents, Ftl, Kernel};
use crate::engine::skills::{RARE, Skills};
use crate::scheduler::{CommandId, Probe, ServiceId};

/// A set of events to attend to, one bit each. Only the parts that care about an event are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signals(u16);

impl Signals {
    /// Nothing.
    pub const NONE: Signals = Signals(0);
    /// Entries of a map on flash have come into memory.
    pub const ENTRIES: Signals = Signals(1);
    /// Trims are in the journal.
    pub const TRIMS: Signals = Signals(1 << 1);
    /// The plane of the command accepts writes to the log again.
    pub const MERGED: Signals = Signals(1 << 2);
    /// A block may have failed.
    pub const FAILED: Signals = Signals(1 << 3);
    /// Translation pages may be stale.
    pub const MAP: Signals = Signals(1 << 4);
    /// The plane of the command's page has lost a free page.
    pub const FILLED: Signals = Signals(1 << 5);
    /// A plane that had nothing worth collecting may have something now.
    pub const INVALID: Signals = Signals(1 << 6);
    /// The buffer may have room, or the inputs of a program may be complete, on a device at its end.
    pub const GIVEN_UP: Signals = Signals(1 << 7);

    /// A die has finished an operation: a fault, a death, or too many reads may show.
    pub const HAZARDS: Signals = Signals(1 << 8);
    /// A die has finished an operation and may be idle.
    pub const DIE_DONE: Signals = Signals(1 << 9);
    /// A die has finished an operation: held-back commands of collection may start.
    pub const HELD_BACK: Signals = Signals(1 << 10);
    /// No flash command is in flight any more.
    pub const QUIET: Signals = Signals(1 << 11);
    /// A command is done on flash, and may have no effect yet.
    pub const EFFECTS: Signals = Signals(1 << 13);
    /// Programs that were done before are in the index, and count now.
    pub const INDEXED: Signals = Signals(1 << 12);

    /// The union of both.
    #[must_use]
    pub const fn and(self, other: Signals) -> Signals {
        Signals(self.0 | other.0)
    }

    /// Whether it contains `what`.
    #[inline]
    #[must_use]
    pub const fn has(self, what: Signals) -> bool {
        self.0 & what.0 != 0
    }
}

/// A service. A device has one or none of each; a line in `device/services.rs` registers it.
pub(crate) trait Service {
    /// Its number in the owner of a command.
    const ID: ServiceId;
    /// The [`skills`](crate::engine::skills) that a device with it needs.
    const SKILLS: Skills = RARE;
    /// The notifications that it needs.
    const WAKES: Signals = Signals::NONE;
    /// Why a device with it can't be written without a clock.
    const NEEDS_TIME: &'static str;

    /// A command of the service, identified by `token`, is done.
    fn done(
        &mut self,
        token: u32,
        id: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        gc: &mut Collector,
    ) -> Signals;

    /// A command of the service has read data that cannot be corrected.
    fn unreadable(&mut self, _token: u32, _ftl: &mut Ftl) {}

    /// Whether nothing waits and nothing is in flight, so that a device may be saved.
    fn is_at_rest(&self) -> bool {
        true
    }
}
