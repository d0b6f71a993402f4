//! Commands that meet what fails on the flash ([`Hazards`]): reads that end unreadable, programs and erases that
//! fail. They take the time that they take; only how they end is another.

use super::command::{Command, CommandId, Origin};
use super::flash::Flash;
use super::probe::Probe;
use crate::image::{Damage, Reader};
use crate::nand::timing::TimingPolicy;
use crate::nand::{Hazards, Kind, Place};
use crate::units::{BlockId, DieId, SimTime};

impl<P: Probe> Flash<P> {
    /// What fails; none if nothing does, or only programs and erases by chance.
    #[must_use]
    pub fn hazards(&self) -> Option<&Hazards> {
        self.hazards.as_deref()
    }

    /// Whether a die is dead.
    #[must_use]
    pub fn is_dead(&self, die: DieId, now: SimTime) -> bool {
        self.hazards.as_ref().is_some_and(|hazards| hazards.is_dead(die, now))
    }

    /// A die is known to be dead, from an image, whatever the options of this device say.
    pub(crate) fn know_dead(&mut self, die: DieId) {
        let none = || Box::new(Hazards::none(&self.geometry));
        self.hazards.get_or_insert_with(none).dies(die, SimTime::ZERO);
    }

    /// A block was erased so often before the device was loaded.
    pub(crate) fn know_erases(&mut self, block: BlockId, erases: u32) {
        if let Some(programmed) = &mut self.programmed {
            programmed.set_erases(block, erases);
        }
        if let Some(hazards) = &mut self.hazards {
            hazards.set_erases(block, erases);
        }
    }

    /// Recovery erased a block, so that it was erased so often by now.
    pub(crate) fn know_erased(&mut self, block: BlockId, erases: u32, now: SimTime) {
        if let Some(hazards) = &mut self.hazards {
            hazards.erased(now, block);
        }
        self.know_erases(block, erases);
    }

    /// A block that was read often, once.
    #[inline]
    pub(crate) fn next_read_often(&mut self) -> Option<BlockId> {
        self.hazards.as_mut()?.next_read_often()
    }

    /// Takes up what has happened before.
    pub(super) fn take_up_hazards(&mut self, part: &mut Reader<'_>) -> Result<(), Damage> {
        let Some(hazards) = &mut self.hazards else { return Ok(()) };
        if part.end().is_ok() {
            // Nothing failed on the flash that was saved.
            return Ok(());
        }
        hazards.load(part)?;
        part.end()
    }

    /// A command comes: its block is read once more, and what it reads may be found uncorrectable. Retries are made
    /// before that is known, where the timing has them.
    #[inline(never)]
    pub(super) fn read_once_more(&mut self, id: CommandId) {
        let Flash { hazards: Some(hazards), geometry, commands, timing, .. } = self else { return };
        let command = &mut commands[id];
        if !matches!(command.kind, Kind::Read | Kind::Copyback) {
            return;
        }
        let at = Place::of(geometry, command.source.unwrap_or(command.page));
        if hazards.read_fails(&at) {
            command.found.unreadable = true;
            if timing.native.reliability().is_some() {
                command.found.effort = timing.native.most_effort();
            }
        }
    }

    /// A command is done: whether it met something that fails.
    #[inline(never)]
    pub(super) fn meet_hazards(&mut self, now: SimTime, die: DieId, id: CommandId) {
        let Flash { hazards: Some(hazards), geometry, commands, .. } = self else { return };
        let Command { kind, page, source, origin, .. } = commands[id];
        // The system area lies beside what the options name.
        if origin == Origin::System {
            return;
        }
        let senses = matches!(kind, Kind::Read | Kind::Copyback);
        let failed = hazards.fails(now, die, kind, &Place::of(geometry, page));
        let command = &mut commands[id];
        if failed {
            command.found.failed = true;
            command.found.unreadable |= senses;
        } else if senses {
            let flash_page = geometry.flash_page_of(source.unwrap_or(page));
            command.found.unreadable |= hazards.is_unreadable(now, flash_page);
        }
    }
}
