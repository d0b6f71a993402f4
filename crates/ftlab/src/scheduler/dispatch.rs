//! Gives dies and buses their work: ranks a command when it comes, begins what a die may begin next, and goes on when
//! a step ends. `apart` has dies whose planes sense on their own, `cells` operations of the cells, `bus` transfers, `suspend` suspensions for host reads,
//! `decode` what becomes of pages that have left their die, and `in_turn` dies that do one thing after the other.

mod apart;
mod bus;
mod cells;
mod decode;
mod in_turn;
mod suspend;

use super::array::{FlashArray, WaitedFor};
use super::command::{Arrival, Command, CommandId};
use super::counts::Overlaps;
use super::decoder::Decoder;
use super::event::{Event, Events};
use super::line::{Line, Wish};
use super::probe::Probe;
use super::station::{Station, StationId};
use super::view::View;
use super::watch::Watch;
use super::{Scheduler, SchedulerPolicy};
use crate::engine::skills::{self, Skills};
use crate::nand::timing::TimingPolicy;
use crate::nand::{Accepts, CellTime, Kind, Register};
use crate::units::SimTime;
use crate::verify::{Canary, Plant};

/// The array, the policy that orders its commands, and the events to come.
#[derive(Clone, Debug)]
pub(super) struct Dispatcher<P> {
    pub array: FlashArray,
    pub scheduler: Scheduler,
    /// Engines that decode what was read. `None` if that takes no time.
    pub decoder: Option<Box<Decoder>>,
    pub events: Events,
    /// Commands that came so far.
    pub arrivals: u64,
    pub overlaps: Overlaps,
    pub cell_time: CellTime,
    pub watch: Watch<P>,
}

/// An operation that begins.
#[derive(Clone, Copy, Debug)]
struct Operation {
    now: SimTime,
    die: StationId,
    /// The first of the commands that share it.
    first: CommandId,
    /// When the cells begin: when addresses and data have arrived.
    cells_from: SimTime,
}

/// A command that came further, and those that share its operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stepped {
    pub now: SimTime,
    /// The first of them.
    pub first: CommandId,
    /// Whether what it read is decoded. Otherwise its die is done with it.
    pub decoded: bool,
}

impl<P: Probe> Dispatcher<P> {
    pub fn new(
        array: FlashArray,
        scheduler: Scheduler,
        decoder: Option<Box<Decoder>>,
        watch: Watch<P>,
    ) -> Dispatcher<P> {
        let sheet = &array.sheet;
        let most = sheet.timing.native.most_effort();
        let longest =
            decoder.as_ref().map(|engines| engines.longest(sheet.bus.page_codewords(), most));
        let events = Events::new(sheet.longest_step().max(longest.unwrap_or_default()));
        let (overlaps, cell_time) = (Overlaps::default(), CellTime::default());
        Dispatcher { array, scheduler, decoder, events, arrivals: 0, overlaps, cell_time, watch }
    }

    /// Puts a command into the lane of its die.
    #[inline(always)]
    pub fn enqueue<const S: Skills>(&mut self, now: SimTime, id: CommandId) -> Arrival {
        let FlashArray { sheet, commands, .. } = &mut self.array;
        let die = sheet.seat::<S>(&mut commands[id]);
        let Command { kind, origin, .. } = commands[id];
        let arrival = Arrival { id, kind, origin, die, at: now, sequence: self.arrivals };
        self.arrivals += 1;
        self.watch.arrives(&arrival, &self.array.commands[id]);
        let rank = self.rank::<S>(&arrival);
        let at = self.array.station_of::<S>(die, id);
        let FlashArray { sheet, commands, stations, lines, plant, .. } = &mut self.array;
        let station = &mut stations[at.at()];
        let command = &mut commands[id];
        note_arrival::<S>(command, station, lines, *plant, &arrival, rank);
        station.lanes.push(commands, id);
        if skills::any(S, skills::RARE_ON_FLASH) && sheet.abilities.one_die_at_a_time {
            self.array.commands[id].ticket.gc_mark =
                self.array.chip_held_by_gc(now, StationId::of(die));
        }
        if skills::any(S, skills::RARE_ON_FLASH) && self.array.apart.is_some() {
            self.array.commands[id].ticket.gc_mark = self.array.held_apart(now, at);
        }
        arrival
    }

    /// The policy's rank of an arriving command.
    #[inline(always)]
    fn rank<const S: Skills>(&mut self, arrival: &Arrival) -> u64 {
        let Arrival { id, die, at: now, sequence, .. } = *arrival;
        let Dispatcher { array, scheduler, .. } = self;
        if skills::any(S, skills::RARE_ON_FLASH) {
            array.cells.arrives(&array.sheet, now, &mut array.commands[id]);
        }
        // Without overtaking, the rank is the arrival number.
        let mut rank = sequence;
        if skills::any(S, skills::OVERTAKING) {
            rank = scheduler.rank(arrival, &View { array });
        }
        if skills::any(S, skills::RARE_ON_FLASH) && array.page_order.is_some() {
            rank = array.rank_by_page(die, id, sequence, rank);
        }
        rank
    }

    /// Starts a die for which a command came. If commands can overtake, the start is delayed until everything that
    /// comes at the same time is known.
    #[inline(always)]
    pub fn arrived<const S: Skills>(&mut self, now: SimTime, die: StationId) {
        if !skills::any(S, skills::OVERTAKING) || !self.array.rules.overtaking {
            return self.start::<S>(now, die);
        }
        let FlashArray { stations, sheet, .. } = &mut self.array;
        let station = &mut stations[die.at()];
        if !station.will_look && !sheet.settled.hold(&station.die) {
            station.will_look = true;
            self.events.schedule(now, now, Event::Look(die).packed());
        }
    }

    /// Runs the next event. Returns the first of the commands that it brought further, and the time.
    #[inline]
    pub fn step<const S: Skills>(&mut self) -> Option<Stepped> {
        let (now, event) = self.events.pop()?;
        let done = |first| Stepped { now, first, decoded: false };
        if let Some(die) = event.of_die() {
            return self.advance::<S>(now, die).map(done);
        }
        match event.event() {
            Event::Bus(channel) => {
                self.grant::<S>(now, channel);
                None
            }
            Event::Look(die) => {
                if skills::any(S, skills::OVERTAKING) {
                    self.look::<S>(now, die);
                }
                None
            }
            Event::Decoded(pool) => {
                let first =
                    self.decoded(now, pool).filter(|_| skills::any(S, skills::RARE_ON_FLASH))?;
                Some(Stepped { now, first, decoded: true })
            }
            Event::Die(die) => self.advance::<S>(now, die).map(done),
        }
    }

    /// Starts a die now that everything that comes at this time is known.
    fn look<const S: Skills>(&mut self, now: SimTime, die: StationId) {
        self.array.stations[die.at()].will_look = false;
        self.start::<S>(now, die);
    }

    /// Begins what the die can begin now, or puts it into the line for the bus.
    #[inline]
    pub fn start<const S: Skills>(&mut self, now: SimTime, die: StationId) {
        if skills::any(S, skills::RARE_ON_FLASH) && self.array.apart.is_some() {
            return self.start_apart::<S>(now, die);
        }
        let station = &self.array.stations[die.at()];
        if skills::in_turn(S) {
            if station.die.is_idle() && !station.wants_bus {
                self.next_in_turn::<S>(now, die);
            }
        } else if !self.array.sheet.settled.hold(&station.die) {
            self.start_next::<S>(now, die);
        }
    }

    #[inline(never)]
    fn start_next<const S: Skills>(&mut self, now: SimTime, die: StationId) {
        let mut die = die;
        if skills::any(S, skills::RARE_ON_FLASH) && self.array.sheet.abilities.one_die_at_a_time {
            let Some(turn) = self.array.turn_on_chip(now, die) else { return };
            die = turn;
        }
        let station = &self.array.stations[die.at()];
        let next = if station.die.is_idle() {
            station.lanes.first()
        } else {
            self.pass_on::<S>(now, die);
            self.send_held::<S>(now, die);
            self.array.next_command::<S>(die)
        };
        let Some(id) = next else { return self.nothing_next::<S>(now, die) };
        self.begin_next::<S>(now, die, id);
    }

    /// Begins a command, or requests the bus for it.
    #[inline(always)]
    fn begin_next<const S: Skills>(&mut self, now: SimTime, die: StationId, id: CommandId) {
        if self.array.needs_bus::<S>(self.array.commands[id].kind) {
            return self.want_bus::<S>(now, die, Wish::Begin(id));
        }
        self.join_planes::<S>(die, id);
        let mut next = Some(id);
        while let Some(command) = next {
            self.array.account_wait::<S>(now, die, command, WaitedFor::ToBegin);
            next = self.array.companion::<S>(command);
        }
        self.begin_in_cells::<S>(Operation { now, die, first: id, cells_from: now });
        self.array.leave_line_unless_wanted::<S>(now, die);
    }

    /// Resumes a suspended operation if a die has no command that it may begin.
    #[inline]
    fn nothing_next<const S: Skills>(&mut self, now: SimTime, die: StationId) {
        // A read may have come that goes before the page that was to be loaded.
        self.array.leave_line_unless_wanted::<S>(now, die);
        if !skills::any(S, skills::OVERTAKING) {
            return;
        }
        let station = &self.array.stations[die.at()];
        if station.die.is_paused()
            && station.die.accepts(&self.array.sheet.abilities.cache) == Accepts::HostReads
            && self.array.planes_are_done(die)
        {
            self.resume(now, die);
            // The next page may be loaded while this one is programmed.
            if let Some(wish) = self.array.wish::<S>(die) {
                self.want_bus::<S>(now, die, wish);
            }
            self.array.leave_line_unless_wanted::<S>(now, die);
        }
    }

    /// Requests the bus for what the register holds.
    #[inline]
    fn send_held<const S: Skills>(&mut self, now: SimTime, die: StationId) {
        let station = &self.array.stations[die.at()];
        if station.die.register() == Register::Holding
            && !station.wants_bus
            && let Some(first) = station.in_register
        {
            self.want_bus::<S>(now, die, Wish::Send(first));
        }
    }

    /// Takes a command from its lane, along with commands for other planes that its operation can serve, which are
    /// linked to it.
    #[inline(always)]
    fn join_planes<const S: Skills>(&mut self, die: StationId, first: CommandId) {
        let FlashArray { stations, commands, sheet, .. } = &mut self.array;
        stations[die.at()].lanes.take(commands, first);
        commands[first].ticket.next = None;
        let kind = commands[first].kind;
        let gathers =
            skills::any(S, skills::MULTI_PLANE) && sheet.abilities.multi_plane.allows(kind);
        self.tell_begins::<S>(die, first);
        if gathers {
            self.gather::<S>(die, first, kind);
        }
    }

    #[inline(never)]
    fn gather<const S: Skills>(&mut self, die: StationId, first: CommandId, kind: Kind) {
        self.overlaps.multi_plane[kind as usize] += self.array.gather(die, first);
        let mut next = self.array.commands[first].ticket.next;
        while let Some(id) = next {
            self.tell_begins::<S>(die, id);
            next = self.array.commands[id].ticket.next;
        }
    }

    /// Tells the policy that a die begins a command.
    #[inline(always)]
    fn tell_begins<const S: Skills>(&mut self, die: StationId, id: CommandId) {
        let Dispatcher { array, scheduler, .. } = self;
        if skills::any(S, skills::RARE_ON_FLASH) && array.page_order.is_some() {
            array.leave_page(id);
        }
        if skills::any(S, skills::OVERTAKING) {
            scheduler.begins(array.die_of::<S>(die), id, &View { array });
        }
    }
}

/// Records the arrival and rank of a command.
#[inline(always)]
fn note_arrival<const S: Skills>(
    command: &mut Command,
    station: &Station,
    lines: &[Line],
    plant: Plant,
    arrival: &Arrival,
    rank: u64,
) {
    let passes_reads = command.kind == Kind::Erase && plant.is(Canary::ErasePassesReads);
    let ticket = &mut command.ticket;
    ticket.key = if passes_reads { 0 } else { rank };
    (ticket.arrival, ticket.die) = (arrival.sequence, arrival.die);
    ticket.waiting_since = arrival.at;
    if command.keeps_account::<S>() {
        command.ticket.gc_mark = station.held_until(arrival.at, lines);
    }
}
