//! The history of the cells: the cost at which their pages were programmed, if the timing knows costs, and their
//! failures. It belongs to the cells, not to the code that drives them, so it survives a power cut.

use super::command::{Command, Origin};
use super::datasheet::Datasheet;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::nand::timing::TimingPolicy;
use crate::nand::{CellMode, CostClass, FlashPlace, Hazards, Kind, Prior, Programmed, Strain};
use crate::shape::FlashGeometry;
use crate::units::{BlockId, DieId, Ppn, SimTime};

/// The history of all cells.
#[derive(Clone, Debug)]
pub(crate) struct CellHistory {
    /// `None` if all programs cost the same.
    pub(super) programmed: Option<Box<Programmed>>,
    /// `None` if nothing fails at a given time and no read fails by chance.
    pub(super) hazards: Option<Box<Hazards>>,
}

impl CellHistory {
    /// Returns the history of a new flash with these failures to come.
    pub(super) fn new(sheet: &Datasheet, prior: Prior, hazards: Option<Hazards>) -> CellHistory {
        let programmed = || Box::new(Programmed::new(&sheet.geometry, prior));
        CellHistory {
            programmed: sheet.timing.native.knows_costs().then(programmed),
            hazards: hazards.map(Box::new),
        }
    }

    /// Whether any of it affects commands.
    #[inline]
    pub(super) fn matters(&self) -> bool {
        self.programmed.is_some() || self.hazards.is_some()
    }

    /// The costs at which flash pages were programmed.
    pub(crate) fn programmed_mut(&mut self) -> Option<&mut Programmed> {
        self.programmed.as_deref_mut()
    }

    /// The cost class of the flash page that contains a page.
    #[inline]
    pub(super) fn class_at(&self, geometry: &FlashGeometry, page: Ppn) -> CostClass {
        let flash_page = geometry.flash_page_of(page);
        self.programmed.as_ref().map_or(CostClass::default(), |known| known.class_of(flash_page))
    }

    /// Whether a die is dead.
    pub(crate) fn is_dead(&self, die: DieId, now: SimTime) -> bool {
        self.hazards.as_ref().is_some_and(|hazards| hazards.is_dead(die, now))
    }

    /// Makes a die dead from `at` on, whatever the options of this device say.
    pub(super) fn die_dies(&mut self, geometry: &FlashGeometry, die: DieId, at: SimTime) {
        let none = || Box::new(Hazards::none(geometry));
        self.hazards.get_or_insert_with(none).dies(die, at);
    }

    /// Sets how often a block was erased before the device was loaded.
    pub(crate) fn know_erases(&mut self, block: BlockId, erases: u32) {
        if let Some(programmed) = &mut self.programmed {
            programmed.set_erases(block, erases);
        }
        if let Some(hazards) = &mut self.hazards {
            hazards.set_erases(block, erases);
        }
    }

    /// Notes that recovery erased a block; `erases` is the new count.
    pub(crate) fn know_erased(&mut self, block: BlockId, erases: u32, now: SimTime) {
        if let Some(hazards) = &mut self.hazards {
            hazards.erased(now, block);
        }
        self.know_erases(block, erases);
    }

    /// Takes the next block that has been read often.
    #[inline]
    pub(crate) fn next_read_often(&mut self) -> Option<BlockId> {
        self.hazards.as_mut()?.next_read_often()
    }

    /// Records the read of the cells, and finds its effort, when a command arrives and before its time is known.
    #[inline]
    pub(super) fn arrives(&mut self, sheet: &Datasheet, now: SimTime, command: &mut Command) {
        let senses = matches!(command.kind, Kind::Read | Kind::Copyback);
        if self.programmed.is_some() && senses {
            self.find_effort(sheet, now, command);
        }
        if self.hazards.is_some() && senses {
            self.read_once_more(sheet, command);
        }
    }

    /// Finds the effort of sensing the page of a command in its current state.
    #[inline(never)]
    pub(super) fn find_effort(&self, sheet: &Datasheet, now: SimTime, command: &mut Command) {
        let Some(programmed) = &self.programmed else { return };
        let timing = &sheet.timing.native;
        let at = FlashPlace::of(&sheet.geometry, command.source.unwrap_or(command.page));
        let effort = timing.effort(programmed.class_of(at.flash_page), &self.strain(&at, now));
        command.found.effort = effort.unwrap_or_else(|| timing.most_effort());
        command.found.unreadable |= effort.is_none() && command.mode == CellMode::Native;
        if command.kind == Kind::Read {
            command.found.from_before = programmed.is_prior(at.flash_page);
        }
    }

    /// What the cells of a flash page have been through.
    #[inline]
    fn strain(&self, at: &FlashPlace, now: SimTime) -> Strain {
        let Some(programmed) = &self.programmed else { return Strain::default() };
        let reads = self.hazards.as_ref().map_or(0, |hazards| hazards.reads_of(at.block));
        Strain { erases: programmed.erases(at.block), age: programmed.age(at.block, now), reads }
    }

    /// Whether a flash page programmed in native mode has more errors by now than any effort corrects.
    pub(super) fn is_worn_off(&self, sheet: &Datasheet, page: Ppn, now: SimTime) -> bool {
        let Some(programmed) = &self.programmed else { return false };
        let at = FlashPlace::of(&sheet.geometry, page);
        let class = programmed.class_of(at.flash_page);
        sheet.timing.native.effort(class, &self.strain(&at, now)).is_none()
    }

    /// Counts a read of a block and decides whether it is uncorrectable. All retries, if the timing has any, are made
    /// before that is known.
    #[inline(never)]
    fn read_once_more(&mut self, sheet: &Datasheet, command: &mut Command) {
        let Some(hazards) = &mut self.hazards else { return };
        let at = FlashPlace::of(&sheet.geometry, command.source.unwrap_or(command.page));
        if hazards.read_fails(&at) {
            command.found.unreadable = true;
            if sheet.timing.native.reliability().is_some() {
                command.found.effort = sheet.timing.native.most_effort();
            }
        }
    }

    /// Decides whether a command that is done met a failure.
    #[inline(never)]
    pub(super) fn meet_hazards(&mut self, sheet: &Datasheet, now: SimTime, command: &mut Command) {
        let Some(hazards) = &mut self.hazards else { return };
        let Command { kind, page, source, origin, .. } = *command;
        // Of the failures in the options, only deaths concern the system area.
        if origin == Origin::System {
            command.found.failed = hazards.fails_in_system_area(now, command.ticket.die);
            return;
        }
        let senses = matches!(kind, Kind::Read | Kind::Copyback);
        let at = FlashPlace::of(&sheet.geometry, page);
        if hazards.fails(now, command.ticket.die, kind, &at) {
            command.found.failed = true;
            command.found.unreadable |= senses;
        } else if senses {
            // A schedule counts flash pages block by block, however they are numbered here.
            let (block, unit) = sheet.geometry.place_of(source.unwrap_or(page));
            let before = block.get() * sheet.geometry.shape().pages_per_block;
            let flash_page = before + sheet.geometry.flash_page_at(unit);
            command.found.unreadable |= hazards.is_unreadable(now, flash_page);
        }
    }

    /// Records the cost class of the page of a command that is done; `known` is its class.
    #[inline(never)]
    pub(super) fn note_class(
        &mut self,
        sheet: &Datasheet,
        now: SimTime,
        command: &Command,
        known: CostClass,
    ) {
        let Some(programmed) = &mut self.programmed else { return };
        let at = FlashPlace::of(&sheet.geometry, command.page);
        match command.kind {
            Kind::Read => {}
            Kind::Program | Kind::Copyback => {
                programmed.program(&at, known, command.found.from_before, now);
            }
            Kind::Erase => {
                programmed.erase(at.block, sheet.geometry.flash_pages_of(at.block));
            }
        }
    }

    pub(super) fn save(&self, out: &mut ImageWriter) {
        let CellHistory { programmed, hazards } = self;
        out.nested(|out| programmed.iter().for_each(|programmed| programmed.save(out)));
        out.nested(|out| hazards.iter().for_each(|hazards| hazards.save(out)));
    }

    /// Loads what happened before.
    pub(super) fn take_up(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.take_up_costs(&mut from.nested()?)?;
        self.take_up_hazards(&mut from.nested()?)
    }

    fn take_up_costs(&mut self, part: &mut ImageReader<'_>) -> Result<(), Damage> {
        let Some(programmed) = &mut self.programmed else { return Ok(()) };
        // The initial ages do not apply.
        programmed.forget_ages();
        if part.end().is_ok() {
            // The flash that was saved knew no costs.
            return Ok(());
        }
        programmed.load(part)?;
        part.end()
    }

    fn take_up_hazards(&mut self, part: &mut ImageReader<'_>) -> Result<(), Damage> {
        let Some(hazards) = &mut self.hazards else { return Ok(()) };
        if part.end().is_ok() {
            // Nothing failed on the flash that was saved.
            return Ok(());
        }
        hazards.load(part)?;
        part.end()
    }
}
