//! Operations of a die's cells, and what happens when they, or the register, finish something.

use super::{Dispatcher, Operation};
use crate::engine::skills::{self, Skills};
use crate::nand::{Cells, Register};
use crate::scheduler::command::CommandId;
use crate::scheduler::event::Event;
use crate::scheduler::probe::Probe;
use crate::scheduler::station::{Station, StationId, cells_for};
use crate::units::{Nanos, SimTime};

impl<P: Probe> Dispatcher<P> {
    /// Begins an operation in the cells. Addresses and data have arrived, or have a known time of arrival.
    #[inline(always)]
    pub(super) fn begin_in_cells<const S: Skills>(&mut self, operation: Operation) {
        let Operation { now, die, first, .. } = operation;
        let command = &self.array.commands[first];
        let (cells, is_gc) = (cells_for(command.kind), command.is_gc());
        if skills::any(S, skills::RARE_ON_FLASH) && self.array.apart.is_some() {
            self.array.begins_apart(now, die);
        }
        if !skills::any(S, skills::CACHE_OPS) {
            let begins = |station: &mut Station| station.die.begin(now, cells, is_gc);
            return self.run_cells::<S>(operation, Nanos::ZERO, begins);
        }
        let station = &mut self.array.stations[die.at()];
        let follows = station.die.register() != Register::Empty;
        let wait = if follows { self.array.sheet.abilities.cache.busy } else { Nanos::ZERO };
        self.overlaps.cached_reads += u64::from(follows);
        station.die.begin(now, cells, is_gc);
        let cells_from = operation.cells_from + wait;
        self.run_cells::<S>(Operation { cells_from, ..operation }, wait, |_| {});
    }

    /// Occupies the cells for as long as the slowest of the pages takes; `begins` starts the die. Each command
    /// has `waited` since its data arrived.
    #[inline(always)]
    fn run_cells<const S: Skills>(
        &mut self,
        operation: Operation,
        waited: Nanos,
        begins: impl FnOnce(&mut Station),
    ) {
        let Operation { now, die, first, cells_from } = operation;
        let mut span = self.array.price::<S>(first, now);
        let others = self.array.companion::<S>(first);
        if others.is_some() {
            span = self.array.share_cells::<S>(now, others, span, waited);
        }
        let command = &mut self.array.commands[first];
        self.cell_time.add(command.kind, span);
        if command.keeps_account::<S>() {
            command.spent.cell += span;
            command.spent.queue += waited;
        }
        let station = &mut self.array.stations[die.at()];
        begins(station);
        station.in_cells = Some(first);
        if skills::any(S, skills::OVERTAKING) && !station.die.is_paused() {
            station.suspension.times = 0;
        }
        station.cells_from = cells_from;
        station.cells_until = cells_from + span;
        self.events.schedule(now, cells_from + span, Event::Die(die).packed());
        self.watch.cells(&self.array, first, cells_from, cells_from + span);
    }

    /// Passes pages between cells and register: a sensed page to the register when it becomes free, a loaded page
    /// to the cells.
    #[inline]
    pub(super) fn pass_on<const S: Skills>(&mut self, now: SimTime, die: StationId) {
        let station = &mut self.array.stations[die.at()];
        match (station.die.cells(), station.die.register()) {
            (Cells::Sensed, Register::Empty) => self.array.hold(now, die),
            (Cells::Idle, Register::Loaded) => {
                let Some(first) = station.in_register.take() else { return };
                // A page that was loaded some time ago goes on as a cache program; one that is still on its way
                // is programmed as any other.
                let followed = station.loaded_at <= now;
                let cache = &self.array.sheet.abilities.cache;
                let busy = if followed { cache.busy } else { Nanos::ZERO };
                let cells_from = station.loaded_at.max(now + busy);
                let waited = now.saturating_since(station.loaded_at) + busy;
                station.die.unload(now, self.array.commands[first].is_gc());
                self.run_cells::<S>(Operation { now, die, first, cells_from }, waited, |_| {});
            }
            _ => {}
        }
    }

    /// Ends a step of a die. Returns the first of the commands that it completed.
    #[inline]
    pub(super) fn advance<const S: Skills>(
        &mut self,
        now: SimTime,
        die: StationId,
    ) -> Option<CommandId> {
        if skills::in_turn(S) {
            return self.advance_in_turn::<S>(now, die);
        }
        if skills::any(S, skills::RARE_ON_FLASH) && self.array.apart.is_some() {
            self.array.settle_use(now, die);
        }
        let station = &mut self.array.stations[die.at()];
        if station.die.register() == Register::Sending && station.sent_at == now {
            return self.sent::<S>(now, die);
        }
        // An operation that was suspended leaves an event behind.
        if station.cells_until != now {
            self.pause_for_waiting(now, die);
            return None;
        }
        match station.die.cells() {
            Cells::Sensing if !skills::any(S, skills::CACHE_OPS) => {
                self.array.wait_to_send::<S>(now, die);
                self.array.hold(now, die);
                self.send_held::<S>(now, die);
                None
            }
            Cells::Sensing if station.die.register() == Register::Empty => {
                self.array.wait_to_send::<S>(now, die);
                self.array.hold(now, die);
                self.send_held::<S>(now, die);
                // Meanwhile the cells may go on.
                self.start::<S>(now, die);
                None
            }
            Cells::Sensing => {
                station.die.wait_for_register();
                if let Some(first) = station.in_cells {
                    self.array.mark_to_send::<S>(now, die, first);
                }
                None
            }
            Cells::Programming | Cells::Erasing | Cells::Copying => {
                let first = station.in_cells.take();
                station.die.finish(now);
                first
            }
            Cells::Pausing => {
                station.die.paused(now);
                self.start::<S>(now, die);
                None
            }
            Cells::Idle | Cells::Sensed => None,
        }
    }

    /// Ends the transfer of a page out of the register.
    #[inline]
    fn sent<const S: Skills>(&mut self, now: SimTime, die: StationId) -> Option<CommandId> {
        let station = &mut self.array.stations[die.at()];
        let id = station.in_register.expect("a die that sends has something to send");
        station.in_register = self.array.commands[id].ticket.next.take();
        station.die.sent(now, station.in_register.is_some());
        if skills::any(S, skills::OVERTAKING) && station.suspension.paused.is_some() {
            station.suspension.serves(now, &self.array.rules.pause);
        }
        // What comes of this page may begin something on the bus. The other pages of the operation go first.
        if skills::any(S, skills::RARE_ON_FLASH) && self.array.rules.data_out_first {
            self.send_held::<S>(now, die);
        }
        Some(id)
    }
}
