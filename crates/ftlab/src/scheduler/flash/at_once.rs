//! Work that is done at once instead of command by command, or without time: whether that is allowed, and the
//! accounts. The data sheet says what it costs.

use super::Flash;
use crate::nand::Kind;
use crate::scheduler::cell_work::CellWork;
use crate::scheduler::command::Origin;
use crate::scheduler::datasheet::Datasheet;
use crate::scheduler::probe::Probe;
use crate::units::{DieId, Nanos, Ppn};

/// For how long the cells of a die worked at once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TimeAtOnce {
    /// Sensing what is copied.
    pub sensing: Nanos,
    /// Programming it.
    pub programming: Nanos,
    /// Erasing.
    pub erasing: Nanos,
}

impl TimeAtOnce {
    /// Returns how long all of it took: a die does one thing after the other.
    pub fn whole(&self) -> Nanos {
        self.sensing + self.programming + self.erasing
    }
}

impl<P: Probe> Flash<P> {
    /// Whether work may be done at once: single commands are not observed, nothing fails, and times merely add up.
    pub(crate) fn may_add_up(&self) -> bool {
        let plain = self.hazards().is_none() && !P::ACTIVE && self.laws().is_none();
        plain && !self.reads_cross_dram && !self.decodes() && self.sheet().only_adds_up()
    }

    /// Accounts for a page that was programmed at once with others, and for the read of its older copy if it is
    /// partial.
    #[inline]
    pub(crate) fn account_write_at_once(&mut self, at: Ppn, is_partial: bool) {
        let (read, program) = self.sheet().price_of_page();
        let mut time = program;
        self.dispatcher.cell_time.add(Kind::Program, program);
        if is_partial {
            self.done[Origin::ReadModifyWrite as usize][Kind::Read as usize] += 1;
            self.dispatcher.cell_time.add(Kind::Read, read);
            time += read;
        }
        self.done[Origin::Host as usize][Kind::Program as usize] += 1;
        let die = self.geometry().die_of_page(at);
        self.dispatcher.array.stations[die.at()].die.was_busy(time);
    }

    /// Accounts for merges that were done at once and kept a die busy for `time`.
    pub(crate) fn account_at_once(
        &mut self,
        die: DieId,
        work: &CellWork,
        copyback: bool,
        time: &TimeAtOnce,
    ) {
        let done = &mut self.done[Origin::Gc as usize];
        let (copies, erases) = (u64::from(work.copies), u64::from(work.erases));
        if copyback {
            done[Kind::Copyback as usize] += copies;
        } else {
            done[Kind::Read as usize] += copies;
            done[Kind::Program as usize] += copies;
        }
        done[Kind::Erase as usize] += erases;
        let TimeAtOnce { sensing, programming, erasing } = *time;
        let cell_time = &mut self.dispatcher.cell_time;
        cell_time.add(Kind::Erase, erasing);
        match copyback {
            true => cell_time.add(Kind::Copyback, sensing + programming),
            false => {
                cell_time.add(Kind::Read, sensing);
                cell_time.add(Kind::Program, programming);
            }
        }
        self.dispatcher.array.stations[die.at()].die.was_busy_for_collection(time.whole());
    }
}

impl<P> Flash<P> {
    /// What the flash can do, and how long it takes.
    #[inline]
    pub(crate) fn sheet(&self) -> &Datasheet {
        &self.dispatcher.array.sheet
    }

    /// Counts commands that were done without the flash.
    #[inline]
    pub(crate) fn count_untimed(&mut self, origin: Origin, kind: Kind, commands: u64) {
        self.done[origin as usize][kind as usize] += commands;
    }
}
