//! Leaving a program or an erase for host reads, and going on with it afterwards (suspend and resume).
//!
//! An operation is left when a host read arrives for its die, if the rule allows it, if leaving it
//! takes less than what is left of it, and if it has not been left too often. It goes on as soon as no
//! host read waits for the die, or so many were served. Reads that wait then wait for its end, unless
//! another one arrives for which it may be left again.
//!
//! A die can't be left while its register holds the next page to program: with cache programs, hardly
//! ever.
//!
//! Source: Wu and He, "Reducing SSD Read Latency via NAND Flash Program and Erase Suspension", FAST
//! 2012. There the operation is left between two of its pulses or within one; here at any moment, at a
//! fixed cost for leaving and for going on.

use super::command::CommandId;
use super::flash::{Event, Flash};
use super::probe::Probe;
use crate::engine::skills;
use crate::nand::{Cells, Register};
use crate::options::declare::choices;
use crate::units::{DieId, Nanos, SimTime};
use crate::verify::Canary;

choices! {
    /// Which operations are left for a host read.
    pub enum Pausable {
        /// None.
        None = "none",
        /// Erases.
        Erase = "erase",
        /// Erases and programs.
        ProgramAndErase = "program-and-erase",
    }
}

/// Which operations are left for a host read, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseRule {
    /// Which.
    pub which: Pausable,
    /// How often one operation is left, at the most.
    pub times: u32,
    /// How many host reads are served each time, at the most.
    pub reads: u32,
}

impl PauseRule {
    /// No operation is left before its end.
    pub const NEVER: PauseRule = PauseRule { which: Pausable::None, times: 0, reads: 0 };

    fn allows(&self, cells: Cells) -> bool {
        match cells {
            Cells::Erasing => self.which != Pausable::None,
            Cells::Programming => self.which == Pausable::ProgramAndErase,
            _ => false,
        }
    }
}

/// An operation that stands still.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paused {
    /// The first of its commands.
    first: CommandId,
    /// What the cells do.
    cells: Cells,
    /// What is left of it.
    left: Nanos,
    /// Since when.
    since: SimTime,
    /// Host reads that were served since.
    pub served: u32,
}

impl Paused {
    /// The first of its commands.
    pub fn first(&self) -> CommandId {
        self.first
    }

    /// What is left of it.
    pub fn left(&self) -> Nanos {
        self.left
    }
}

impl<P: Probe> Flash<P> {
    /// A host read has arrived for a die: leaves the die's operation for it, if that may be and pays.
    #[inline]
    pub(super) fn pause_for_read(&mut self, now: SimTime, die: DieId) {
        if self.pause.which != Pausable::None {
            self.pause_if_it_pays(now, die);
        }
    }

    /// The cells begin, after a transfer during which nothing can be left: host reads may have come
    /// meanwhile.
    pub(super) fn pause_for_waiting(&mut self, now: SimTime, die: DieId) {
        let station = &mut self.stations[die.at()];
        if station.looks_again && station.cells_from == now {
            station.looks_again = false;
            if station.lanes.first_host_read().is_some() {
                self.pause_for_read(now, die);
            }
        }
    }

    fn pause_if_it_pays(&mut self, now: SimTime, die: DieId) {
        let station = &mut self.stations[die.at()];
        let cells = station.die.cells();
        let may = self.pause.allows(cells)
            && station.pauses < self.pause.times
            && station.die.register() == Register::Empty
            && !station.die.is_paused();
        let operation = station.in_cells;
        if !may || self.read_beside(die, operation).is_none() {
            return;
        }
        let station = &mut self.stations[die.at()];
        if now < station.cells_from {
            // Data still moves in. The die looks again when the cells begin.
            if !std::mem::replace(&mut station.looks_again, true) {
                let at = station.cells_from;
                self.events.schedule(now, at, Event::Die(die));
            }
            return;
        }
        let costs = self.abilities.pause;
        let cost = if cells == Cells::Erasing { costs.erase } else { costs.program };
        let left = station.cells_until - now;
        if left <= cost {
            return;
        }
        let Some(first) = station.in_cells.take() else { return };
        station.paused = Some(Paused { first, cells, left, since: now, served: 0 });
        station.pauses += 1;
        station.die.pause(now);
        let from = std::mem::replace(&mut station.cells_until, now + cost);
        debug_assert!(from > now);
        self.leave_line_unless_wanted::<{ skills::ALL }>(die);
        self.events.schedule(now, now + cost, Event::Die(die));
        match cells {
            Cells::Erasing => self.overlaps.erase_pauses += 1,
            _ => self.overlaps.program_pauses += 1,
        }
        self.report_pause(first, self.stations[die.at()].cells_from, now);
    }

    /// Goes on with what a die left: no host read waits for it any more.
    pub(super) fn resume(&mut self, now: SimTime, die: DieId) {
        let station = &mut self.stations[die.at()];
        let Some(Paused { first, cells, left, since, .. }) = station.paused.take() else { return };
        let from = now + self.abilities.pause.resume;
        let until = match self.plant.is(Canary::PauseCostsNothing) {
            true => from.max(since + left),
            false => from + left,
        };
        station.in_cells = Some(first);
        station.cells_from = from;
        station.cells_until = until;
        station.die.resume(now, cells, self.commands[first].is_gc());
        self.events.schedule(now, until, Event::Die(die));
        let mut next = Some(first);
        while let Some(id) = next {
            self.commands[id].spent.queue += from - since;
            next = self.commands[id].ticket.next;
        }
        self.report_cell(first, from, until);
    }
}
