//! Accounts of waits: for host work, or for the device's own work.

use super::FlashArray;
use crate::engine::skills::Skills;
use crate::scheduler::command::CommandId;
use crate::units::{DieId, Nanos, SimTime};
use crate::verify::Canary;

/// What a command waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scheduler) enum WaitedFor {
    Die,
    Bus,
    DieAndBus,
}

impl FlashArray {
    /// Accounts for the time that a command has waited until `now`.
    #[inline(always)]
    pub fn account_wait<const S: Skills>(
        &mut self,
        now: SimTime,
        die: DieId,
        id: CommandId,
        of: WaitedFor,
    ) {
        let command = &self.commands[id];
        if command.keeps_account::<S>() && now != command.ticket.waiting_since {
            self.split_wait(now, die, id, of);
        }
    }

    /// Splits a wait into the time for host work and the time for collection.
    fn split_wait(&mut self, now: SimTime, die: DieId, id: CommandId, of: WaitedFor) {
        if self.sheet.abilities.one_die_at_a_time {
            return self.split_wait_on_chip(now, die, id, of);
        }
        let held = self.stations[die.at()].die.gc_until(now);
        self.split_wait_by(now, id, of, held);
    }

    /// The same where dies wait for the others of their chip. A separate function, to keep the usual case fast.
    #[cold]
    #[inline(never)]
    fn split_wait_on_chip(&mut self, now: SimTime, die: DieId, id: CommandId, of: WaitedFor) {
        let held = self.chip_held_by_gc(now, die);
        self.split_wait_by(now, id, of, held);
    }

    /// The same, given the time for which collection has `held` the die, or its chip.
    #[inline(always)]
    fn split_wait_by(&mut self, now: SimTime, id: CommandId, of: WaitedFor, held: Nanos) {
        let command = &mut self.commands[id];
        let waited = now - command.ticket.waiting_since;
        if of == WaitedFor::Bus && self.plant.is(Canary::WaitNotAccounted) {
            return;
        }
        let station = &self.stations[command.ticket.die.at()];
        let line = &self.lines[station.channel.at()];
        let bus = || line.channel.gc_until(now).0 - station.bus_gc_mark.0;
        let cells = held.0 - command.ticket.gc_mark.0;
        let for_gc = match of {
            WaitedFor::Die => cells,
            WaitedFor::Bus => bus(),
            WaitedFor::DieAndBus => bus() + cells,
        };
        command.spent.account_wait(waited, Nanos(for_gc));
    }

    /// Ends the wait of a command that gets the bus `now`. Returns the time of its address and data on the bus.
    #[inline(always)]
    pub fn move_in<const S: Skills>(&mut self, now: SimTime, die: DieId, id: CommandId) -> Nanos {
        self.account_wait::<S>(now, die, id, WaitedFor::DieAndBus);
        self.sheet.in_bus::<S>(&self.commands[id])
    }
}
