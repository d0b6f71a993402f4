//! The buses: which die gets one next, and what it then does with it.

use super::BusOrder;
use super::command::CommandId;
use super::flash::{Event, Flash};
use super::laws::{BusUse, OnBus};
use super::probe::Probe;
use super::station::Operation;
use crate::engine::EventQueue;
use crate::engine::skills::{self, Skills};
use crate::nand::Kind;
use crate::nand::{Accepts, Cells, Channel, Register};
use crate::units::{ChannelId, DieId, Nanos, SimTime};
use crate::verify::{Canary, Plant};

/// A bus, and the dies that want it.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pub channel: Channel,
    pub wanted_by: Vec<DieId>,
    /// When it was last put off to the end of the moment whom it serves.
    put_off: Option<SimTime>,
}

impl Line {
    /// Whether a die that wants the bus gets it at once: it is free, nobody waits for it, and nothing else ends at
    /// this moment that may bring another die.
    #[inline(always)]
    pub fn is_free_at_once(&self, now: SimTime, events: &EventQueue<Event>) -> bool {
        self.wanted_by.is_empty() && self.channel.is_free(now) && events.next_time() != Some(now)
    }

    /// Keeps the bus busy for a transfer; returns when that ends.
    #[inline(always)]
    pub fn occupy(&mut self, plant: Plant, now: SimTime, span: Nanos, for_gc: bool) -> SimTime {
        match plant.is(Canary::BusFreeEarly) {
            true => {
                self.channel.transfer(now, Nanos(span.0 / 2), for_gc) + Nanos(span.0 - span.0 / 2)
            }
            false => self.channel.transfer(now, span, for_gc),
        }
    }
}

/// What a die wants the bus for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wish {
    /// To send what its register holds for this command.
    Send(CommandId),
    /// To begin with this command, which waits in its lane.
    Begin(CommandId),
}

impl Wish {
    fn command(self) -> CommandId {
        match self {
            Wish::Send(id) | Wish::Begin(id) => id,
        }
    }
}

/// Whose turn it is, as far as a line was looked through.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// Whether data that dies hold goes first, whatever the ranks.
    waits_for_data: bool,
    rank: (u64, u64),
    /// Its place in the line.
    place: usize,
    wish: Wish,
}

impl<P: Probe> Flash<P> {
    /// What a die wants the bus for at present. What was sensed goes out first.
    #[inline]
    pub(super) fn wish<const S: Skills>(&self, die: DieId) -> Option<Wish> {
        let station = &self.stations[die.at()];
        if station.die.register() == Register::Holding {
            return station.in_register.map(Wish::Send);
        }
        let next = self.next_command::<S>(die)?;
        self.needs_bus::<S>(self.commands[next].kind).then_some(Wish::Begin(next))
    }

    /// Whether a command of this kind needs the bus to begin.
    #[inline]
    pub(super) fn needs_bus<const S: Skills>(&self, kind: Kind) -> bool {
        kind == Kind::Program
            || skills::any(S, skills::RARE_ON_FLASH) && self.bus.carries_commands()
    }

    /// Asks for the bus, for what the die wants of it at present: at once if it is free and nobody
    /// waits for it, else in line. What else ends at this moment may bring another die that wants it,
    /// for something better: then the bus is given when all of that has ended.
    #[inline(always)]
    pub(super) fn want_bus<const S: Skills>(&mut self, now: SimTime, die: DieId, wish: Wish) {
        let station = &mut self.stations[die.at()];
        if station.wants_bus {
            return;
        }
        let channel = station.channel;
        let line = &mut self.lines[channel.at()];
        station.bus_gc_mark = line.channel.gc_until(now);
        if line.wanted_by.is_empty() {
            let is_free = line.channel.is_free(now);
            if is_free && self.events.next_time() != Some(now) {
                return self.take_bus::<S>(now, die, channel, wish);
            }
            line.put_off = is_free.then_some(now);
            self.events.schedule(now, line.channel.free_at().max(now), Event::Bus(channel));
        }
        station.wants_bus = true;
        line.wanted_by.push(die);
    }

    /// Takes a die off the line if it found something to do that needs no bus.
    #[inline]
    pub(super) fn leave_line_unless_wanted<const S: Skills>(&mut self, die: DieId) {
        if self.stations[die.at()].wants_bus {
            self.reconsider_line::<S>(die);
        }
    }

    #[cold]
    fn reconsider_line<const S: Skills>(&mut self, die: DieId) {
        if self.wish::<S>(die).is_none() {
            self.stations[die.at()].wants_bus = false;
            let channel = self.stations[die.at()].channel;
            self.lines[channel.at()].wanted_by.retain(|&waiting| waiting != die);
        }
    }

    /// Gives a bus that fell free to the die whose command ranks best, or came first, as the policy wants it;
    /// equals are served as they arrived. What waits in a die may go before all that is to begin.
    pub(super) fn grant<const S: Skills>(&mut self, now: SimTime, channel: ChannelId) {
        // A line that emptied and filled again leaves a second event behind.
        let line = &mut self.lines[channel.at()];
        if !line.channel.is_free(now) {
            return;
        }
        // What else ends at this moment may bring a die that wants the bus for something better.
        if self.events.next_time() == Some(now) && line.put_off != Some(now) {
            line.put_off = Some(now);
            return self.events.schedule(now, now, Event::Bus(channel));
        }
        let mut best: Option<Turn> = None;
        let mut place = 0;
        while let Some(&die) = self.lines[channel.at()].wanted_by.get(place) {
            let Some(wish) = self.wish::<S>(die) else {
                // Something came that needs no bus and goes first: the die will look what it wants then.
                self.stations[die.at()].wants_bus = false;
                self.lines[channel.at()].wanted_by.swap_remove(place);
                continue;
            };
            let command = &self.commands[wish.command()];
            let rank = match self.bus_order {
                _ if !skills::any(S, skills::OVERTAKING) => (0, command.ticket.arrival),
                BusOrder::Rank => command.rank(),
                BusOrder::Arrival => (0, command.ticket.arrival),
            };
            let ignores_data = self.plant.is(Canary::BeginsBeforeData);
            let waits_for_data = skills::any(S, skills::RARE_ON_FLASH)
                && self.data_out_first
                && matches!(wish, Wish::Begin(_))
                && !ignores_data;
            if best.is_none_or(|best| (waits_for_data, rank) < (best.waits_for_data, best.rank)) {
                best = Some(Turn { waits_for_data, rank, place, wish });
            }
            place += 1;
        }
        let Some(Turn { place, wish, .. }) = best else { return };
        let line = &mut self.lines[channel.at()];
        let die = line.wanted_by.swap_remove(place);
        self.stations[die.at()].wants_bus = false;
        self.take_bus::<S>(now, die, channel, wish);
        let line = &mut self.lines[channel.at()];
        if !line.wanted_by.is_empty() {
            self.events.schedule(now, line.channel.free_at(), Event::Bus(channel));
        }
    }

    #[inline(always)]
    fn take_bus<const S: Skills>(
        &mut self,
        now: SimTime,
        die: DieId,
        channel: ChannelId,
        wish: Wish,
    ) {
        match wish {
            Wish::Send(id) => self.send::<S>(now, die, channel, id),
            Wish::Begin(first) => self.begin_on_bus::<S>(now, die, channel, first),
        }
        // With cache operations the die may go on: with a page to sense, or one to take in.
        let cache = &self.abilities.cache;
        if skills::any(S, skills::CACHE_OPS) && (cache.read || cache.program) {
            self.start::<S>(now, die);
        }
    }

    /// Keeps a bus busy for a transfer; returns when that ends.
    #[inline]
    fn occupy(&mut self, now: SimTime, channel: ChannelId, span: Nanos, for_gc: bool) -> SimTime {
        self.lines[channel.at()].occupy(self.plant, now, span, for_gc)
    }

    /// Moves what the register holds for a command out.
    #[inline(always)]
    fn send<const S: Skills>(
        &mut self,
        now: SimTime,
        die: DieId,
        channel: ChannelId,
        id: CommandId,
    ) {
        self.account_wait::<S>(now, die, id, WaitedFor::Bus);
        let command = &mut self.commands[id];
        let span = self.bus.transfer(command.codewords);
        if command.keeps_account::<S>() {
            command.spent.bus += span;
        }
        let for_gc = command.is_gc();
        let arrived = self.occupy(now, channel, span, for_gc);
        let station = &mut self.stations[die.at()];
        station.die.send();
        station.sent_at = arrived;
        self.events.schedule(now, arrived, Event::Die(die));
        self.report_sending(id, now, arrived);
    }

    /// Reports that the bus moves out what a die holds for a command.
    #[inline(always)]
    pub(super) fn report_sending(&mut self, id: CommandId, from: SimTime, until: SimTime) {
        self.report_bus(id, from, until, |flash| OnBus {
            what: BusUse::Send,
            price: flash.bus.transfer(flash.commands[id].codewords),
            first: true,
        });
    }

    /// Begins the next command of a die, and those that share its operation, on the bus: addresses,
    /// and the data of programs.
    #[inline(always)]
    fn begin_on_bus<const S: Skills>(
        &mut self,
        now: SimTime,
        die: DieId,
        channel: ChannelId,
        first: CommandId,
    ) {
        let cache = &self.abilities.cache;
        let follows = skills::any(S, skills::CACHE_OPS)
            && cache.program
            && self.stations[die.at()].die.accepts(cache) == Accepts::Programs;
        self.take_together::<S>(die, first);
        let mut until = now + self.move_in::<S>(now, die, first);
        self.report_move_in::<S>(first, now, until, true);
        let others = self.companion::<S>(first);
        if others.is_some() {
            until = self.move_others_in::<S>(now, until, die, others);
        }
        let span = until - now;
        let command = &mut self.commands[first];
        if command.keeps_account::<S>() {
            command.spent.bus += span;
        }
        let for_gc = command.is_gc();
        let arrived = self.occupy(now, channel, span, for_gc);
        if follows {
            let station = &mut self.stations[die.at()];
            station.die.load(now);
            station.in_register = Some(first);
            station.loaded_at = arrived;
            self.overlaps.cached_programs += 1;
            return;
        }
        self.begin_in_cells::<S>(Operation { now, die, first, cells_from: arrived });
    }

    /// How long the address, and the data, of a command take the bus, which was granted `now`.
    #[inline(always)]
    fn move_in<const S: Skills>(&mut self, now: SimTime, die: DieId, id: CommandId) -> Nanos {
        self.account_wait::<S>(now, die, id, WaitedFor::DieAndBus);
        let command = &self.commands[id];
        let data = if command.kind == Kind::Program { command.codewords } else { 0 };
        match skills::any(S, skills::RARE_ON_FLASH) {
            true => self.bus.command() + self.bus.transfer(data),
            false => self.bus.transfer(data),
        }
    }

    #[inline]
    pub(super) fn report_move_in<const S: Skills>(
        &mut self,
        id: CommandId,
        from: SimTime,
        until: SimTime,
        first: bool,
    ) {
        self.report_bus(id, from, until, |flash| {
            let command = &flash.commands[id];
            let data = if command.kind == Kind::Program { command.codewords } else { 0 };
            let price = flash.bus.command() + flash.bus.transfer(data);
            OnBus { what: BusUse::Begin, price, first }
        });
    }

    /// Moves in what the other commands of an operation need, one after the other.
    #[cold]
    fn move_others_in<const S: Skills>(
        &mut self,
        now: SimTime,
        after: SimTime,
        die: DieId,
        others: Option<CommandId>,
    ) -> SimTime {
        let mut until = after;
        let mut next = others;
        while let Some(id) = next {
            let from = until + self.abilities.multi_plane.gap;
            until = from + self.move_in::<S>(now, die, id);
            self.report_move_in::<S>(id, from, until, false);
            next = self.commands[id].ticket.next;
        }
        let mut next = others;
        while let Some(id) = next {
            self.commands[id].spent.bus += until - now;
            next = self.commands[id].ticket.next;
        }
        until
    }

    /// Accounts for the time that a command has waited until `now`.
    #[inline(always)]
    pub(super) fn account_wait<const S: Skills>(
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

    /// Splits a wait into what host work and what collection held the command up.
    fn split_wait(&mut self, now: SimTime, die: DieId, id: CommandId, of: WaitedFor) {
        if self.abilities.one_die_at_a_time {
            return self.split_wait_on_chip(now, die, id, of);
        }
        let held = self.stations[die.at()].die.gc_until(now);
        self.split_wait_by(now, id, of, held);
    }

    /// The same where dies wait for the others of their chip. Apart, so that nothing of it burdens the
    /// usual case.
    #[cold]
    #[inline(never)]
    fn split_wait_on_chip(&mut self, now: SimTime, die: DieId, id: CommandId, of: WaitedFor) {
        let held = self.chip_held_by_gc(now, die);
        self.split_wait_by(now, id, of, held);
    }

    /// The same, with the time for which collection has `held` the die, or its chip.
    #[inline(always)]
    fn split_wait_by(&mut self, now: SimTime, id: CommandId, of: WaitedFor, held: Nanos) {
        let command = &mut self.commands[id];
        let waited = now - command.ticket.waiting_since;
        if of == WaitedFor::Bus && self.plant.is(Canary::WaitNotAccounted) {
            return;
        }
        let die = command.ticket.die;
        let station = &self.stations[die.at()];
        let bus =
            || self.lines[station.channel.at()].channel.gc_until(now).0 - station.bus_gc_mark.0;
        let cells = held.0 - command.ticket.gc_mark.0;
        let for_gc = match of {
            WaitedFor::Die => cells,
            WaitedFor::Bus => bus(),
            WaitedFor::DieAndBus => bus() + cells,
        };
        command.spent.account_wait(waited, Nanos(for_gc));
    }
}

/// What a command waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitedFor {
    Die,
    Bus,
    DieAndBus,
}

/// The cells' state while they do a command of this kind.
pub(super) fn cells_for(kind: Kind) -> Cells {
    match kind {
        Kind::Read => Cells::Sensing,
        Kind::Program => Cells::Programming,
        Kind::Erase => Cells::Erasing,
        Kind::Copyback => Cells::Copying,
    }
}
