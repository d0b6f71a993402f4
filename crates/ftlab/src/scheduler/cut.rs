//! What the cells were at when power was cut.

use super::Origin;
use super::flash::Flash;
use super::probe::Probe;
use crate::nand::{Hazards, Kind, Programmed};
use crate::units::{BlockId, Ppn, SimTime};

impl<P: Probe> Flash<P> {
    /// Power is cut: the flash pages that were being programmed, and the blocks that were being erased. An operation that
    /// was left for reads was begun, too; one whose data is still on its way was not.
    pub(crate) fn cut(&self, now: SimTime) -> (Vec<Ppn>, Vec<BlockId>) {
        let (mut programs, mut erases) = (Vec::new(), Vec::new());
        for station in &self.stations {
            let at_work = station.in_cells.filter(|_| station.cells_from <= now);
            let left = station.paused.as_ref().map(|paused| paused.first());
            for first in [at_work, left].into_iter().flatten() {
                let mut next = Some(first);
                while let Some(id) = next {
                    let command = &self.commands[id];
                    next = command.ticket.next;
                    match command.kind {
                        _ if command.origin == Origin::System => {}
                        Kind::Program | Kind::Copyback => programs.push(command.page),
                        Kind::Erase => erases.push(self.geometry.block_of(command.page)),
                        Kind::Read => {}
                    }
                }
            }
        }
        (programs, erases)
    }

    /// What outlives a power cut.
    pub(crate) fn into_cells(self) -> CellsLeft {
        CellsLeft { programmed: self.programmed, hazards: self.hazards }
    }

    /// Takes that up.
    pub(crate) fn put_cells(&mut self, left: CellsLeft) {
        (self.programmed, self.hazards) = (left.programmed, left.hazards);
    }
}

/// What is a matter of the cells, and not of whoever drives them: what pages were programmed at, and what fails.
#[derive(Clone, Debug)]
pub(crate) struct CellsLeft {
    programmed: Option<Box<Programmed>>,
    hazards: Option<Box<Hazards>>,
}
