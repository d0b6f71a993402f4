//! Dies that do one thing at a time, in order of arrival: a flash without multi-plane and cache operations under
//! first come, first served.
//!
//! This is not another model. It is what [`cells`](super::cells) and [`bus`](super::bus) amount to if nothing can
//! share, overlap or overtake an operation, with each step in one piece. Both work on the same state, so either may
//! go on where the other stopped; a test compares them.

use super::{Dispatcher, note_arrival};
use crate::engine::skills::Skills;
use crate::nand::{Cells, Kind, Register};
use crate::scheduler::array::FlashArray;
use crate::scheduler::command::{Arrival, Command, CommandId};
use crate::scheduler::datasheet::Datasheet;
use crate::scheduler::event::{Event, Events};
use crate::scheduler::line::{Line, Wish};
use crate::scheduler::load::Load;
use crate::scheduler::probe::Probe;
use crate::scheduler::station::{Station, StationId, cells_for};
use crate::units::{Nanos, SimTime};
use crate::verify::Plant;

/// A command that begins, with its die and bus, each looked up once.
struct Beginning<'a> {
    now: SimTime,
    die: StationId,
    id: CommandId,
    command: &'a mut Command,
    station: &'a mut Station,
    line: &'a mut Line,
    sheet: &'a Datasheet,
    events: &'a mut Events,
    plant: Plant,
}

impl<P: Probe> Dispatcher<P> {
    /// Begins a command, or lets it wait if its die is busy.
    #[inline(always)]
    pub fn come_in_turn<const S: Skills>(&mut self, now: SimTime, id: CommandId, load: &mut Load) {
        let Dispatcher { array, events, arrivals, watch, .. } = self;
        let FlashArray { commands, stations, lines, sheet, plant, .. } = array;
        let command = &mut commands[id];
        let die = sheet.geometry.die_of_page(command.page);
        let station = &mut stations[die.at()];
        let Command { kind, origin, .. } = *command;
        let arrival = Arrival { id, kind, origin, die, at: now, sequence: *arrivals };
        *arrivals += 1;
        watch.arrives(&arrival, command);
        note_arrival::<S>(command, station, lines, *plant, &arrival, arrival.sequence);
        watch.submitted(now, id, command, load.of(die));
        load.add::<S>(die);
        let may_begin = station.die.is_idle() && !station.wants_bus;
        if !may_begin || station.lanes.first().is_some() {
            station.lanes.push_in_turn(commands, id);
            if may_begin {
                self.next_in_turn::<S>(now, StationId::of(die));
            }
            return;
        }
        let line = &mut lines[station.channel.at()];
        if kind == Kind::Program && !line.is_free_at_once(now, events) {
            station.lanes.push_in_turn(commands, id);
            return self.want_bus::<S>(now, StationId::of(die), Wish::Begin(id));
        }
        let (plant, die) = (*plant, StationId::of(die));
        command.ticket.next = None;
        let begun =
            Beginning { now, die, id, command, station, line, sheet, events, plant }.begin::<S>();
        self.tell_begun(now, id, begun);
    }

    /// Lets an idle die, which wants no bus, begin the command that has waited longest, or join the line for the
    /// bus.
    #[inline(always)]
    pub(super) fn next_in_turn<const S: Skills>(&mut self, now: SimTime, die: StationId) {
        let Dispatcher { array, events, .. } = self;
        let FlashArray { commands, stations, lines, sheet, plant, .. } = array;
        let station = &mut stations[die.at()];
        let Some(id) = station.lanes.first() else { return };
        let command = &mut commands[id];
        let line = &mut lines[station.channel.at()];
        if command.kind == Kind::Program && !line.is_free_at_once(now, events) {
            return self.want_bus::<S>(now, die, Wish::Begin(id));
        }
        station.lanes.take_in_turn(command.ticket.next.take());
        let plant = *plant;
        let begun =
            Beginning { now, die, id, command, station, line, sheet, events, plant }.begin::<S>();
        self.tell_begun(now, id, begun);
    }

    /// Accounts for a command that began, and tells observers: when its cells begin and end.
    #[inline(always)]
    fn tell_begun(&mut self, now: SimTime, id: CommandId, (from, until): (SimTime, SimTime)) {
        let kind = self.array.commands[id].kind;
        self.cell_time.add(kind, until - from);
        if kind == Kind::Program {
            self.watch.moves_in(&self.array, id, (now, from), true);
        }
        self.watch.cells(&self.array, id, from, until);
    }

    /// Ends a step of a die. Returns the command that it completed, if any.
    #[inline(always)]
    pub(super) fn advance_in_turn<const S: Skills>(
        &mut self,
        now: SimTime,
        die: StationId,
    ) -> Option<CommandId> {
        let FlashArray { commands, stations, lines, sheet, plant, .. } = &mut self.array;
        let station = &mut stations[die.at()];
        if station.die.register() == Register::Sending {
            let id = station.in_register.take();
            station.die.sent(now, false);
            return id;
        }
        if station.die.cells() != Cells::Sensing {
            let id = station.in_cells.take();
            station.die.finish(now);
            return id;
        }
        let id = station.in_cells.take()?;
        let command = &mut commands[id];
        station.in_register = Some(id);
        station.die.hold(now);
        let line = &mut lines[station.channel.at()];
        command.ticket.waiting_since = now;
        if !line.is_free_at_once(now, &self.events) {
            self.want_bus::<S>(now, die, Wish::Send(id));
            return None;
        }
        let span = sheet.bus.transfer(command.codewords);
        if command.keeps_account::<S>() {
            command.spent.bus += span;
        }
        let arrived = line.occupy(*plant, now, span, command.is_gc());
        station.die.send();
        station.sent_at = arrived;
        self.events.schedule(now, arrived, Event::Die(die).packed());
        self.watch.sends(&self.array, id, now, arrived);
        None
    }
}

impl Beginning<'_> {
    /// Begins the command on an idle die. A program takes the bus first, which must be free. Returns when the cells
    /// begin and end.
    #[inline(always)]
    fn begin<const S: Skills>(self) -> (SimTime, SimTime) {
        let Beginning { now, die, id, command, station, line, sheet, events, plant } = self;
        let (kind, is_gc) = (command.kind, command.is_gc());
        let in_cells = sheet.flat[kind as usize];
        let mut on_bus = Nanos::ZERO;
        let mut cells_from = now;
        if kind == Kind::Program {
            on_bus = sheet.bus.transfer(command.codewords);
            cells_from = line.occupy(plant, now, on_bus, is_gc);
        }
        if command.keeps_account::<S>() {
            let waited = now - command.ticket.waiting_since;
            if waited != Nanos::ZERO {
                let held = station.die.gc_until(now) + station.bus_gc;
                let for_gc = held.0 - command.ticket.gc_mark.0;
                command.spent.account_wait(waited, Nanos(for_gc));
            }
            command.spent.bus += on_bus;
            command.spent.cell += in_cells;
        }
        let until = cells_from + in_cells;
        station.die.begin(now, cells_for(kind), is_gc);
        station.in_cells = Some(id);
        (station.cells_from, station.cells_until) = (cells_from, until);
        events.schedule(now, until, Event::Die(die).packed());
        (cells_from, until)
    }
}
