//! What reads and programs cost, counted, and how the flash comes to know it.

use super::command::{Command, CommandId, Found, Origin};
use super::flash::Flash;
use super::probe::Probe;
use crate::nand::timing::TimingPolicy;
use crate::nand::{CellMode, CostClass, Kind, Place, Programmed, Reliability, Strain};
use crate::units::{Ppn, SimTime};
use crate::verify::Canary;

/// Efforts that are told apart: those of the three classes, and more.
pub const EFFORTS: usize = CostClass::ALL.len() + 1;

/// Flash commands by cost; nothing where timing knows no costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CostCounts {
    /// Flash pages read, by origin and effort, the least first.
    pub reads: [[u64; EFFORTS]; Origin::ALL.len()],
    /// Flash pages programmed, by origin and class, the cheapest first.
    pub programs: [[u64; CostClass::ALL.len()]; Origin::ALL.len()],
    /// Of the reads of the host, those of data from before.
    pub prior_reads: u64,
    /// Readings past the first that it took: each senses once more on the last level of the code.
    pub retries: u64,
    /// Flash pages that nothing read any more.
    pub unreadable: u64,
}

impl CostCounts {
    /// Both, number by number.
    #[must_use]
    pub fn zip(&self, other: &CostCounts, f: fn(u64, u64) -> u64) -> CostCounts {
        let mut both = *self;
        let rows = both.reads.iter_mut().flatten().zip(other.reads.iter().flatten());
        rows.for_each(|(one, other)| *one = f(*one, *other));
        let rows = both.programs.iter_mut().flatten().zip(other.programs.iter().flatten());
        rows.for_each(|(one, other)| *one = f(*one, *other));
        CostCounts {
            prior_reads: f(self.prior_reads, other.prior_reads),
            retries: f(self.retries, other.retries),
            unreadable: f(self.unreadable, other.unreadable),
            ..both
        }
    }
}

impl<P: Probe> Flash<P> {
    /// At which cost flash pages were programmed, where timing knows costs.
    #[inline]
    #[must_use]
    pub fn programmed(&self) -> Option<&Programmed> {
        self.programmed.as_deref()
    }

    /// The same, to be changed by the core.
    pub(crate) fn programmed_mut(&mut self) -> Option<&mut Programmed> {
        self.programmed.as_deref_mut()
    }

    /// The errors of pages, where the timing knows them.
    #[inline]
    #[must_use]
    pub fn reliability(&self) -> Option<&Reliability> {
        self.timing.native.reliability()
    }

    /// An image was loaded: the laws know no more of what pages were programmed at.
    pub(crate) fn verify_loaded_classes(&mut self) {
        if let (Some(laws), Some(programmed)) = (&mut self.laws, &self.programmed) {
            laws.take_up_classes(programmed);
        }
    }

    /// What commands cost so far.
    #[must_use]
    pub fn costs(&self) -> &CostCounts {
        &self.costs
    }

    /// The class of the flash page of a page.
    #[inline]
    #[must_use]
    pub fn class_at(&self, page: Ppn) -> CostClass {
        let flash_page = self.geometry.flash_page_of(page);
        self.programmed.as_ref().map_or(CostClass::default(), |known| known.class_of(flash_page))
    }

    /// Finds what it takes to sense the page that a command senses, as it lies there now.
    #[inline(never)]
    pub(super) fn find_effort(&mut self, now: SimTime, id: CommandId) {
        let Flash { programmed: Some(programmed), timing, geometry, commands, hazards, .. } = self
        else {
            return;
        };
        let command = &mut commands[id];
        let Place { flash_page, block } =
            Place::of(geometry, command.source.unwrap_or(command.page));
        let reads = hazards.as_ref().map_or(0, |hazards| hazards.reads_of(block));
        let strain =
            Strain { erases: programmed.erases(block), age: programmed.age(block, now), reads };
        let effort = timing.native.effort(programmed.class_of(flash_page), &strain);
        command.found.effort = effort.unwrap_or_else(|| timing.native.most_effort());
        command.found.unreadable |= effort.is_none() && command.mode == CellMode::Native;
        if command.kind == Kind::Read {
            command.found.from_before = programmed.is_prior(flash_page);
        }
    }

    /// A command is done on flash whose timing knows costs. Cells that hold one bit cost what they cost.
    #[inline(never)]
    pub(super) fn note_cost(&mut self, now: SimTime, id: CommandId) {
        // The system area has no part in the map, and its cells cost what they cost.
        if self.commands[id].origin == Origin::System {
            return;
        }
        let lost = self.plant.is(Canary::ClassOfCopyLost) && self.commands[id].is_gc();
        let Flash { programmed: Some(programmed), costs, geometry, commands, .. } = self else {
            return;
        };
        let Command { kind, origin, page, mode, found, .. } = commands[id];
        let (Found { effort, unreadable, from_before, .. }, class) = (found, commands[id].class());
        let at = Place::of(geometry, page);
        let counts = u64::from(mode == CellMode::Native);
        if matches!(kind, Kind::Read | Kind::Copyback) {
            costs.reads[origin as usize][effort.at().min(EFFORTS - 1)] += counts;
            costs.retries += effort.retries() * counts;
            costs.unreadable += u64::from(unreadable) * counts;
        }
        match kind {
            Kind::Read => {
                let prior = origin == Origin::Host && from_before;
                costs.prior_reads += u64::from(prior) * counts;
            }
            Kind::Program | Kind::Copyback => {
                let known = if lost { CostClass::default() } else { class };
                programmed.program(&at, known, from_before, now);
                costs.programs[origin as usize][class as usize] += counts;
            }
            Kind::Erase => programmed.erase(&at, geometry.shape().pages_per_block),
        }
    }
}
