//! What the cells were at when power was cut, what outlives that, and what is known of them from before.

use super::Flash;
use crate::nand::Kind;
use crate::scheduler::command::Origin;
use crate::scheduler::history::CellHistory;
use crate::scheduler::probe::Probe;
use crate::units::{BlockId, DieId, Ppn, SimTime};

impl<P: Probe> Flash<P> {
    /// Power is cut: the flash pages that were being programmed, and the blocks that were being erased. An operation that
    /// was left for reads was begun, too; one whose data is still on its way was not.
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

    /// What outlives a power cut.
    pub(crate) fn into_cells(self) -> CellHistory {
        self.dispatcher.array.cells
    }

    /// A die is known to be dead, from an image, whatever the options of this device say.
    pub(crate) fn know_dead(&mut self, die: DieId) {
        let array = &mut self.dispatcher.array;
        array.cells.know_dead(&array.sheet.geometry, die);
    }

    /// An image was loaded: the laws know no more of what pages were programmed at.
    pub(crate) fn verify_loaded_classes(&mut self) {
        let (array, watch) = (&self.dispatcher.array, &mut self.dispatcher.watch);
        if let (Some(laws), Some(programmed)) = (&mut watch.laws, &array.cells.programmed) {
            laws.take_up_classes(programmed);
        }
    }
}
