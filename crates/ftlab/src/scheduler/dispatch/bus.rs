//! Transfers: which die gets a bus next, and what it then does with it.

use super::{Dispatcher, Operation};
use crate::engine::Slab;
use crate::engine::skills::{self, Skills};
use crate::nand::Accepts;
use crate::scheduler::array::{FlashArray, WaitedFor};
use crate::scheduler::command::{Command, CommandId};
use crate::scheduler::event::Event;
use crate::scheduler::line::{BusTurn, Line, Wish};
use crate::scheduler::probe::Probe;
use crate::scheduler::station::StationId;
use crate::units::{ChannelId, SimTime};

/// Begins the account of what was sensed just now and has to wait for the bus.
#[inline]
fn begin_wait(now: SimTime, wish: Wish, commands: &mut Slab<Command>, line: &Line) {
    if let Wish::Send(id) = wish {
        let ticket = &mut commands[id].ticket;
        if ticket.waiting_since == now {
            ticket.gc_mark = line.channel.gc_until(now);
        }
    }
}

impl<P: Probe> Dispatcher<P> {
    /// Requests the bus for a die: takes it at once if it is free and no die waits for it, or joins
    /// the line. If other events are due at the same time, they may bring another die with a better
    /// claim, so the bus is given only after all of them.
    #[inline(always)]
    pub(super) fn want_bus<const S: Skills>(&mut self, now: SimTime, die: StationId, wish: Wish) {
        let FlashArray { stations, lines, commands, .. } = &mut self.array;
        let station = &mut stations[die.at()];
        let channel = station.channel;
        let line = &mut lines[channel.at()];
        if station.wants_bus {
            // It may have become free since, or have sensed something.
            begin_wait(now, wish, commands, line);
            return station.begin_free_wait(now, line);
        }
        if line.wanted_by.is_empty() {
            let is_free = line.channel.is_free(now);
            if is_free && self.events.next_time() != Some(now) {
                return self.take_bus::<S>(now, die, channel, wish);
            }
            line.put_off = is_free.then_some(now);
            self.events.schedule(
                now,
                line.channel.free_at().max(now),
                Event::Bus(channel).packed(),
            );
        }
        station.wants_bus = true;
        line.wanted_by.push(die);
        begin_wait(now, wish, commands, line);
        station.begin_free_wait(now, line);
    }

    /// Gives a bus that became free to the die whose turn it is.
    pub(super) fn grant<const S: Skills>(&mut self, now: SimTime, channel: ChannelId) {
        // A line that emptied and filled again leaves a second event behind.
        let line = &mut self.array.lines[channel.at()];
        if !line.channel.is_free(now) {
            return;
        }
        // Other events at this time may bring a die with a better claim.
        if self.events.next_time() == Some(now) && line.put_off != Some(now) {
            line.put_off = Some(now);
            return self.events.schedule(now, now, Event::Bus(channel).packed());
        }
        let Some(BusTurn { place, wish, .. }) = self.array.whose_turn::<S>(now, channel) else {
            return;
        };
        let line = &mut self.array.lines[channel.at()];
        let die = line.wanted_by.swap_remove(place);
        let station = &mut self.array.stations[die.at()];
        station.wants_bus = false;
        station.end_free_wait(now, line);
        self.take_bus::<S>(now, die, channel, wish);
        let line = &mut self.array.lines[channel.at()];
        if !line.wanted_by.is_empty() {
            self.events.schedule(now, line.channel.free_at(), Event::Bus(channel).packed());
        }
    }

    #[inline(always)]
    fn take_bus<const S: Skills>(
        &mut self,
        now: SimTime,
        die: StationId,
        channel: ChannelId,
        wish: Wish,
    ) {
        match wish {
            Wish::Send(id) => self.send::<S>(now, die, channel, id),
            Wish::Begin(first) => self.begin_on_bus::<S>(now, die, channel, first),
        }
        if skills::any(S, skills::RARE_ON_FLASH) && self.array.apart.is_some() {
            return self.start_apart::<S>(now, die);
        }
        // With cache operations the die may go on: sense another page, or load one.
        let cache = &self.array.sheet.abilities.cache;
        if skills::any(S, skills::CACHE_OPS) && (cache.read || cache.program) {
            self.start::<S>(now, die);
        }
    }

    /// Moves out what the register holds for a command.
    #[inline(always)]
    fn send<const S: Skills>(
        &mut self,
        now: SimTime,
        die: StationId,
        channel: ChannelId,
        id: CommandId,
    ) {
        self.array.account_wait::<S>(now, die, id, WaitedFor::ToSend);
        let command = &mut self.array.commands[id];
        let span = self.array.sheet.bus.transfer(command.codewords);
        if command.keeps_account::<S>() {
            command.spent.bus += span;
        }
        let for_gc = command.is_gc();
        let arrived = self.array.occupy(now, channel, span, for_gc);
        let station = &mut self.array.stations[die.at()];
        station.die.send();
        station.sent_at = arrived;
        self.events.schedule(now, arrived, Event::Die(die).packed());
        self.watch.sends(&self.array, id, now, arrived);
    }

    /// Begins the next command of a die, and those that share its operation, on the bus: addresses,
    /// and the data of programs.
    #[inline(always)]
    fn begin_on_bus<const S: Skills>(
        &mut self,
        now: SimTime,
        die: StationId,
        channel: ChannelId,
        first: CommandId,
    ) {
        let cache = &self.array.sheet.abilities.cache;
        let follows = skills::any(S, skills::CACHE_OPS)
            && cache.program
            && self.array.stations[die.at()].die.accepts(cache) == Accepts::Programs;
        self.join_planes::<S>(die, first);
        let mut until = now + self.array.move_in::<S>(now, die, first);
        self.watch.moves_in(&self.array, first, (now, until), true);
        let others = self.array.companion::<S>(first);
        if others.is_some() {
            until = self.move_others_in::<S>(now, until, die, others);
        }
        let span = until - now;
        let command = &mut self.array.commands[first];
        if command.keeps_account::<S>() {
            command.spent.bus += span;
        }
        let for_gc = command.is_gc();
        let arrived = self.array.occupy(now, channel, span, for_gc);
        if follows {
            let station = &mut self.array.stations[die.at()];
            station.die.load(now);
            station.in_register = Some(first);
            station.loaded_at = arrived;
            self.overlaps.cached_programs += 1;
            return;
        }
        self.begin_in_cells::<S>(Operation { now, die, first, cells_from: arrived });
    }

    /// Moves in what the other commands of an operation need, one after the other.
    #[cold]
    fn move_others_in<const S: Skills>(
        &mut self,
        now: SimTime,
        after: SimTime,
        die: StationId,
        others: Option<CommandId>,
    ) -> SimTime {
        let mut until = after;
        let mut next = others;
        while let Some(id) = next {
            let from = until + self.array.sheet.abilities.multi_plane.gap;
            until = from + self.array.move_in::<S>(now, die, id);
            self.watch.moves_in(&self.array, id, (from, until), false);
            next = self.array.commands[id].ticket.next;
        }
        let mut next = others;
        while let Some(id) = next {
            let command = &mut self.array.commands[id];
            command.spent.bus += until - now;
            next = command.ticket.next;
        }
        until
    }
}
