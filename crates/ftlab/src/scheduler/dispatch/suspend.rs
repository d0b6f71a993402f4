//! Suspending operations of the cells for host reads, and resuming them: see
//! [`PauseRule`](crate::scheduler::PauseRule).

use super::Dispatcher;
use crate::engine::skills;
use crate::nand::{Cells, Register};
use crate::scheduler::command::CommandId;
use crate::scheduler::event::Event;
use crate::scheduler::pause::{Pausable, Paused};
use crate::scheduler::probe::Probe;
use crate::scheduler::station::StationId;
use crate::units::{Nanos, SimTime};
use crate::verify::Canary;

impl<P: Probe> Dispatcher<P> {
    /// Suspends the operation of a die for which a host read has arrived, if this is allowed and pays off.
    #[inline]
    pub fn pause_for_read(&mut self, now: SimTime, die: StationId) {
        if self.array.rules.pause.which != Pausable::None {
            self.pause_if_it_pays(now, die);
        }
    }

    /// Checks again when the cells begin, after a transfer that cannot be suspended: host reads may have come
    /// meanwhile.
    pub(super) fn pause_for_waiting(&mut self, now: SimTime, die: StationId) {
        let station = &mut self.array.stations[die.at()];
        if station.suspension.looks_again && station.cells_from == now {
            station.suspension.looks_again = false;
            if self.array.any_host_read(die) {
                self.pause_for_read(now, die);
            }
        }
    }

    fn pause_if_it_pays(&mut self, now: SimTime, die: StationId) {
        let rule = &self.array.rules.pause;
        let station = &self.array.stations[die.at()];
        let cells = station.die.cells();
        let is_own = station.in_cells.is_some_and(|first| self.is_own(first));
        let held =
            if station.suspension.times == 0 { Nanos::ZERO } else { station.suspension.held };
        let is_short = self.array.is_short_of_space(self.array.die_of::<{ skills::ALL }>(die));
        let may = rule.allows(cells)
            && !is_short
            && rule.yields(is_own)
            && rule.has_time(held)
            && station.suspension.times < rule.times
            && station.die.register() == Register::Empty
            && !station.die.is_paused();
        if !may || !self.array.any_read_beside(die, station.in_cells) {
            return;
        }
        let station = &mut self.array.stations[die.at()];
        if now < station.cells_from {
            // Data is still moving in. The die checks again when the cells begin.
            if !std::mem::replace(&mut station.suspension.looks_again, true) {
                self.events.schedule(now, station.cells_from, Event::Die(die).packed());
            }
            return;
        }
        let costs = self.array.sheet.abilities.pause;
        let is_erase = cells == Cells::Erasing;
        let cost = if is_erase { costs.erase } else { costs.program };
        // A suspended operation goes on with a new pulse, so pulses are counted from when the cells began.
        let at = now + costs.until_pulse_ends(is_erase, now - station.cells_from);
        let left = station.cells_until.saturating_since(at);
        if !self.array.rules.pause.is_worth_it(left, cost) {
            return;
        }
        let Some(first) = station.in_cells.take() else { return };
        self.cell_time.suspend(self.array.commands[first].kind, left);
        let paused = Paused { first, cells, left, since: at, served: 0, is_over: false };
        station.suspension.paused = Some(paused);
        (station.suspension.times, station.suspension.held) = (station.suspension.times + 1, held);
        station.die.pause(now);
        let from = station.cells_from;
        station.cells_until = at + cost;
        self.array.leave_line_unless_wanted::<{ skills::ALL }>(now, die);
        self.events.schedule(now, at + cost, Event::Die(die).packed());
        match cells {
            Cells::Erasing => self.overlaps.erase_pauses += 1,
            _ => self.overlaps.program_pauses += 1,
        }
        self.watch.pause(&self.array, first, from, at);
    }

    /// Whether an operation is the device's own. If it programs pages of the map and of the host on several planes, it
    /// isn't.
    fn is_own(&self, first: CommandId) -> bool {
        let commands = &self.array.commands;
        let mut all = std::iter::successors(Some(first), |&id| commands[id].ticket.next);
        all.all(|id| commands[id].is_own())
    }

    /// Resumes the suspended operation of a die.
    pub(super) fn resume(&mut self, now: SimTime, die: StationId) {
        let station = &mut self.array.stations[die.at()];
        let Some(paused) = station.suspension.paused.take() else { return };
        let Paused { first, cells, left, since, .. } = paused;
        let from = now + self.array.sheet.abilities.pause.resume;
        station.suspension.held += from - since;
        let until = match self.array.plant.is(Canary::PauseCostsNothing) {
            true => from.max(since + left),
            false => from + left,
        };
        station.in_cells = Some(first);
        station.cells_from = from;
        station.cells_until = until;
        station.die.resume(now, cells, self.array.commands[first].is_gc());
        self.events.schedule(now, until, Event::Die(die).packed());
        self.cell_time.add(self.array.commands[first].kind, until - from);
        let mut next = Some(first);
        while let Some(id) = next {
            let command = &mut self.array.commands[id];
            command.spent.queue += from - since;
            next = command.ticket.next;
        }
        self.watch.cells(&self.array, first, from, until);
    }
}
