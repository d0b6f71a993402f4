//! Accounts of waits: for host work, or for the device's own work.

use super::FlashArray;
use crate::engine::skills::Skills;
use crate::scheduler::command::CommandId;
use crate::scheduler::station::StationId;
use crate::units::{Nanos, SimTime};
use crate::verify::Canary;

/// What a command waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scheduler) enum WaitedFor {
    /// The die, and the bus to begin.
    ToBegin,
    /// The bus, to send what its die holds.
    ToSend,
}

impl FlashArray {
    /// Accounts for the time that a command has waited until `now`.
    #[inline(always)]
    pub fn account_wait<const S: Skills>(
        &mut self,
        now: SimTime,
        die: StationId,
        id: CommandId,
        of: WaitedFor,
    ) {
        let command = &self.commands[id];
        if command.keeps_account::<S>() && now != command.ticket.waiting_since {
            self.split_wait(now, die, id, of);
        }
    }

    /// Splits a wait into the time for host work and the time for collection.
    fn split_wait(&mut self, now: SimTime, die: StationId, id: CommandId, of: WaitedFor) {
        let station = &self.stations[die.at()];
        let held = match of {
            WaitedFor::ToSend => self.lines[station.channel.at()].channel.gc_until(now),
            WaitedFor::ToBegin if self.sheet.abilities.one_die_at_a_time => {
                self.chip_held_by_gc(now, die)
            }
            WaitedFor::ToBegin if self.apart.is_some() => self.held_apart(now, die),
            WaitedFor::ToBegin => station.held_until(now, &self.lines),
        };
        if of == WaitedFor::ToSend && self.plant.is(Canary::WaitNotAccounted) {
            return;
        }
        let command = &mut self.commands[id];
        let waited = now - command.ticket.waiting_since;
        command.spent.account_wait(waited, Nanos(held.0 - command.ticket.gc_mark.0));
    }

    /// Ends the wait of a command that gets the bus `now`. Returns the time of its address and data on the bus.
    #[inline(always)]
    pub fn move_in<const S: Skills>(
        &mut self,
        now: SimTime,
        die: StationId,
        id: CommandId,
    ) -> Nanos {
        self.account_wait::<S>(now, die, id, WaitedFor::ToBegin);
        self.sheet.in_bus::<S>(&self.commands[id])
    }
}
