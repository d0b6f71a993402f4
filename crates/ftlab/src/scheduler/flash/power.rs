//! Power cuts: what the cells were doing, what survives, and what is known from before.

use super::Flash;
use crate::nand::Kind;
use crate::scheduler::command::Origin;
use crate::scheduler::history::CellHistory;
use crate::scheduler::probe::Probe;
use crate::units::{BlockId, DieId, Ppn, SimTime};

impl<P: Probe> Flash<P> {
    /// Returns the flash pages that are being programmed and the blocks that are being erased when power is cut.
    /// Suspended operations have begun, too; those whose data is still on its way have not.
    pub(crate) fn cut(&self, now: SimTime) -> (Vec<Ppn>, Vec<BlockId>) {
        let (mut programs, mut erases) = (Vec::new(), Vec::new());
        for station in &self.dispatcher.array.stations {
            let at_work = station.in_cells.filter(|_| station.cells_from <= now);
            for first in [at_work, station.suspension.first()].into_iter().flatten() {
                let mut next = Some(first);
                while let Some(id) = next {
                    let command = self.command(id);
                    next = command.ticket.next;
                    match command.kind {
                        _ if command.origin == Origin::System => {}
                        Kind::Program | Kind::Copyback => programs.push(command.page),
                        Kind::Erase => erases.push(self.geometry().block_of(command.page)),
                        Kind::Read => {}
                    }
                }
            }
        }
        (programs, erases)
    }

    /// Returns what survives a power cut.
    pub(crate) fn into_cells(self) -> CellHistory {
        self.dispatcher.array.cells
    }

    /// A die is dead from `at` on, whatever the options say.
    pub(crate) fn die_dies(&mut self, die: DieId, at: SimTime) {
        let array = &mut self.dispatcher.array;
        array.cells.die_dies(&array.sheet.geometry, die, at);
    }

    /// After loading an image, tells the laws the classes of its pages.
    pub(crate) fn verify_loaded_classes(&mut self) {
        let (array, watch) = (&self.dispatcher.array, &mut self.dispatcher.watch);
        if let (Some(laws), Some(programmed)) = (&mut watch.laws, &array.cells.programmed) {
            laws.take_up_classes(programmed);
        }
    }
}
