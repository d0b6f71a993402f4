//! What a service is: it does something of its own with flash commands, works on the [`Kernel`] and on nothing else
//! of the device, and says what others have to attend to then.

use super::gc::Collector;
use super::{FlashContents, Ftl, Kernel};
use crate::engine::skills::{RARE, Skills};
use crate::scheduler::{CommandId, Probe, ServiceId};

/// What has happened that others attend to, a bit for each. Whoever is not named is not asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signals(u16);

impl Signals {
    /// Nothing.
    pub const NONE: Signals = Signals(0);
    /// Entries of a map on flash have come into memory.
    pub const ENTRIES: Signals = Signals(1);
    /// Trims have been noted on flash.
    pub const TRIMS: Signals = Signals(1 << 1);
    /// The plane of the command takes writes of the log again.
    pub const MERGED: Signals = Signals(1 << 2);
    /// A block has failed, perhaps.
    pub const FAILED: Signals = Signals(1 << 3);
    /// Pages of a map on flash are stale, perhaps.
    pub const MAP: Signals = Signals(1 << 4);
    /// The plane of the command's page has lost a free page.
    pub const FILLED: Signals = Signals(1 << 5);
    /// A plane that had nothing worth collecting may have something now.
    pub const INVALID: Signals = Signals(1 << 6);
    /// Room in the buffer, or an end of what a program waited for, on a device at its end.
    pub const GIVEN_UP: Signals = Signals(1 << 7);

    /// A die is done with something: what fails, dies or is read too often is seen then.
    pub const HAZARDS: Signals = Signals(1 << 8);
    /// A die is done with something, and may have nothing else to do.
    pub const DIE_DONE: Signals = Signals(1 << 9);
    /// The same, for commands of collection that let the host go first.
    pub const HELD_BACK: Signals = Signals(1 << 10);
    /// Nothing is under way on flash any more.
    pub const QUIET: Signals = Signals(1 << 11);

    /// All of both.
    #[must_use]
    pub const fn and(self, other: Signals) -> Signals {
        Signals(self.0 | other.0)
    }

    /// Whether this is among it.
    #[inline]
    #[must_use]
    pub const fn has(self, what: Signals) -> bool {
        self.0 & what.0 != 0
    }
}

/// A service of which a device has one, or none. A line in `device/services.rs` registers it.
pub(crate) trait Service {
    /// Its number in the owner of a command.
    const ID: ServiceId;
    /// What a device with it needs of the [`skills`](crate::engine::skills).
    const SKILLS: Skills = RARE;
    /// What it wants to hear of.
    const WAKES: Signals = Signals::NONE;
    /// Why a device that has it can't be written without a clock.
    const NEEDS_TIME: &'static str;

    /// A command of its is done, which it knows by `token`.
    fn done(
        &mut self,
        token: u32,
        id: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        gc: &mut Collector,
    ) -> Signals;

    /// A command of its has read what nothing corrects.
    fn unreadable(&mut self, _token: u32, _ftl: &mut Ftl) {}

    /// Whether nothing waits and nothing is under way, so that a device may be saved.
    fn is_at_rest(&self) -> bool {
        true
    }
}
