//! Flash commands from arrival to completion: the lanes, the dies and the buses together.

use super::command::{Command, CommandId, Kind, Origin};
use super::lanes::Lanes;
use super::{Arrival, Load, Scheduler};
use crate::engine::{EventQueue, Slab};
use crate::image::{Damage, Reader, Resume, Writer, take_up};
use crate::nand::timing::{Bus, Prices};
use crate::nand::{Channel, Die, Geometry, Phase};
use crate::units::{ChannelId, DieId, Nanos, Ppn, SimTime};

/// What happens next in the flash: a die is done with a step, or a bus that is wanted falls free.
#[derive(Clone, Copy, Debug)]
enum Event {
    Die(DieId),
    Bus(ChannelId),
}

/// A span of time in which a part of the device was busy, as a [`Probe`] sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// What was being done.
    pub kind: Kind,
    /// On whose account.
    pub origin: Origin,
    /// The page (of a flash page or block, the first).
    pub page: Ppn,
    /// The die.
    pub die: DieId,
    /// Its channel.
    pub channel: ChannelId,
    /// From when.
    pub from: SimTime,
    /// Until when.
    pub until: SimTime,
}

/// Observes the flash without changing it. The default does nothing and costs nothing.
pub trait Probe {
    /// Whether it observes anything at all.
    const ACTIVE: bool = true;

    /// The cells of a die are busy.
    fn cell(&mut self, _activity: &Activity) {}
    /// The bus of a channel is busy.
    fn bus(&mut self, _activity: &Activity) {}
}

impl Probe for () {
    const ACTIVE: bool = false;
}

/// Commands done, by origin and kind.
pub type CommandCounts = [[u64; Kind::ALL.len()]; Origin::ALL.len()];

/// Flash pages programmed, whoever asked for it.
#[must_use]
pub fn flash_pages_programmed(done: &CommandCounts) -> u64 {
    let of = |kinds: &[u64; Kind::ALL.len()]| -> u64 {
        Kind::ALL.iter().filter(|kind| kind.programs()).map(|&kind| kinds[kind as usize]).sum()
    };
    done.iter().map(of).sum()
}

/// What [`Flash`] is made of.
#[derive(Clone, Debug)]
pub struct FlashSetup {
    /// The shape of the device.
    pub geometry: Geometry,
    /// The price of the cells' work.
    pub timing: Prices,
    /// The price of transfers.
    pub bus: Bus,
    /// The order of commands.
    pub scheduler: Scheduler,
}

/// A die, what waits for it, and what it does.
#[derive(Clone, Debug, Default)]
struct Station {
    die: Die,
    lanes: Lanes,
    running: Option<CommandId>,
    /// Whether it is on the list of dies that want the bus.
    wants_bus: bool,
    /// The channel's account of collection when it began to want the bus.
    bus_gc_mark: Nanos,
}

/// A bus, and the dies that want it.
#[derive(Clone, Debug, Default)]
struct Line {
    channel: Channel,
    wanted_by: Vec<DieId>,
}

/// The flash with everything that waits for it.
#[derive(Clone, Debug)]
pub struct Flash<P = ()> {
    geometry: Geometry,
    timing: Prices,
    bus: Bus,
    scheduler: Scheduler,
    commands: Slab<Command>,
    stations: Vec<Station>,
    lines: Vec<Line>,
    /// What dynamic placement balances.
    load: Load,
    events: EventQueue<Event>,
    arrivals: u64,
    done: CommandCounts,
    /// Sees every span of activity.
    pub probe: P,
}

impl<P: Probe> Flash<P> {
    /// An idle flash.
    pub fn new(setup: FlashSetup, probe: P) -> Flash<P> {
        let dies = setup.geometry.dies() as usize;
        let whole_page = setup.bus.transfer(setup.bus.page_codewords());
        let reach = whole_page + setup.timing.longest();
        Flash {
            stations: vec![Station::default(); dies],
            lines: vec![Line::default(); setup.geometry.channels() as usize],
            load: Load::new(&setup.geometry),
            geometry: setup.geometry,
            timing: setup.timing,
            bus: setup.bus,
            scheduler: setup.scheduler,
            commands: Slab::default(),
            events: EventQueue::new(reach),
            arrivals: 0,
            done: CommandCounts::default(),
            probe,
        }
    }

    /// The shape of the device.
    #[inline]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The prices of transfers.
    #[inline]
    pub fn bus(&self) -> &Bus {
        &self.bus
    }

    /// Commands waiting or running on each die.
    #[inline]
    pub fn load(&self) -> &Load {
        &self.load
    }

    /// Commands done, by origin and kind.
    pub fn done(&self) -> &CommandCounts {
        &self.done
    }

    /// Time that each die was occupied until `now`.
    pub fn die_busy(&self, now: SimTime) -> impl Iterator<Item = Nanos> {
        self.stations.iter().map(move |station| station.die.busy_until(now))
    }

    /// Time that each bus was occupied until `now`.
    pub fn channel_busy(&self, now: SimTime) -> impl Iterator<Item = Nanos> {
        self.lines.iter().map(move |line| line.channel.busy_until(now))
    }

    /// Writes what the policies remember. Nothing is in flight at rest, and accounts of time count
    /// from the load on.
    pub(crate) fn save(&self, out: &mut Writer) {
        let Flash {
            geometry: _,
            timing,
            bus: _,
            scheduler,
            commands: _,
            stations: _,
            lines: _,
            load: _,
            events: _,
            // Only the order of arrival counts, not the number.
            arrivals: _,
            done: _,
            probe: _,
        } = self;
        out.nested(|out| timing.native.save(out));
        out.nested(|out| scheduler.save(out));
    }

    /// Takes up what the policies remembered.
    pub(crate) fn take_up(&mut self, from: &mut Reader<'_>, resume: Resume) -> Result<(), Damage> {
        take_up(from, resume.timing, |from| self.timing.native.load(from))?;
        take_up(from, resume.scheduler, |from| self.scheduler.load(from))
    }

    /// A command in flight.
    #[inline]
    pub fn command(&self, id: CommandId) -> &Command {
        &self.commands[id]
    }

    /// A command in flight, to be changed by its owner before it is submitted.
    #[inline]
    pub fn command_mut(&mut self, id: CommandId) -> &mut Command {
        &mut self.commands[id]
    }

    /// Makes a command known without submitting it: its place or its inputs are still missing.
    #[inline]
    pub fn prepare(&mut self, command: Command) -> CommandId {
        self.commands.insert(command)
    }

    /// Commands in flight, prepared ones included.
    pub fn in_flight(&self) -> usize {
        self.commands.in_use()
    }

    /// Gives back a command that was reported done.
    #[inline]
    pub fn release(&mut self, id: CommandId) {
        self.commands.release(id);
    }

    /// Puts a command whose page is known into the lane of its die, and starts it if it can start.
    #[inline]
    pub fn submit(&mut self, now: SimTime, id: CommandId) {
        let page = self.commands[id].page;
        let die = self.geometry.die_of_page(page);
        let station = &mut self.stations[die.at()];
        let command = &mut self.commands[id];
        let (kind, origin) = (command.kind, command.origin);
        command.key = self.scheduler.rank(&Arrival { kind, origin, sequence: self.arrivals });
        command.die = die;
        command.waiting_since = now;
        command.gc_mark = station.die.gc_until(now);
        self.arrivals += 1;
        self.load.add(die);
        station.lanes.push(&mut self.commands, id);
        self.start(now, die);
    }

    /// When the next event is due.
    #[inline]
    pub fn next_time(&self) -> Option<SimTime> {
        self.events.next_time()
    }

    /// Runs the next event. Returns the command that it completed, if any; the caller deals with it,
    /// [`release`](Self::release)s it, and then lets the die [`go_on`](Self::go_on).
    #[inline]
    pub fn step(&mut self) -> Option<(SimTime, CommandId)> {
        let (now, event) = self.events.pop()?;
        match event {
            Event::Bus(channel) => {
                self.grant(now, channel);
                None
            }
            Event::Die(die) => self.advance(now, die).map(|id| (now, id)),
        }
    }

    /// Lets the die of a completed command take its next one.
    #[inline]
    pub fn go_on(&mut self, now: SimTime, die: DieId) {
        self.start(now, die);
    }

    /// The die of a command that was submitted.
    #[inline]
    pub fn die_of(&self, id: CommandId) -> DieId {
        self.commands[id].die
    }

    /// Starts the best waiting command of an idle die, or lines the die up for the bus.
    fn start(&mut self, now: SimTime, die: DieId) {
        let station = &mut self.stations[die.at()];
        if !station.die.is_idle() {
            return;
        }
        let Some(id) = station.lanes.first(&self.commands) else { return };
        let command = &self.commands[id];
        match command.kind {
            Kind::Read => {
                let span = self.timing.read(&self.geometry, command.page, command.mode);
                self.occupy(now, die, id, Phase::Sensing, span);
            }
            Kind::Erase => {
                let span = self.timing.erase(command.mode);
                self.occupy(now, die, id, Phase::Working, span);
            }
            Kind::Copyback => {
                let source = command.source.unwrap_or(command.page);
                let sense = self.timing.read(&self.geometry, source, command.mode);
                let program = self.timing.program(&self.geometry, command.page, command.mode);
                self.occupy(now, die, id, Phase::Working, sense + program);
            }
            Kind::Program => self.want_bus(now, die, id),
        }
    }

    /// Takes a command off its lane and keeps the die's cells busy with it for `span`.
    fn occupy(&mut self, now: SimTime, die: DieId, id: CommandId, phase: Phase, span: Nanos) {
        self.leave_line(die);
        let station = &mut self.stations[die.at()];
        station.lanes.take(&self.commands, id);
        station.running = Some(id);
        let command = &mut self.commands[id];
        let waited = now - command.waiting_since;
        if waited > Nanos::ZERO {
            let for_gc = station.die.gc_until(now).0 - command.gc_mark.0;
            command.spent.account_wait(waited, Nanos(for_gc));
        }
        command.spent.cell += span;
        station.die.start(now, phase, command.is_gc());
        self.events.schedule(now, now + span, Event::Die(die));
        self.report_cell(id, now, now + span);
    }

    /// Asks for the bus: at once if it is free and nobody waits for it, else in line.
    fn want_bus(&mut self, now: SimTime, die: DieId, id: CommandId) {
        let (channel, _) = self.geometry.channel_of(die);
        let station = &mut self.stations[die.at()];
        if station.wants_bus {
            return;
        }
        let line = &mut self.lines[channel.at()];
        station.bus_gc_mark = line.channel.gc_until(now);
        if line.wanted_by.is_empty() {
            if line.channel.is_free(now) {
                return self.take_bus(now, die, channel, id);
            }
            self.events.schedule(now, line.channel.free_at(), Event::Bus(channel));
        }
        station.wants_bus = true;
        line.wanted_by.push(die);
    }

    /// Takes a die off the line for the bus: it found something to do that needs no bus.
    fn leave_line(&mut self, die: DieId) {
        if std::mem::take(&mut self.stations[die.at()].wants_bus) {
            let (channel, _) = self.geometry.channel_of(die);
            self.lines[channel.at()].wanted_by.retain(|&waiting| waiting != die);
        }
    }

    /// Gives a bus that fell free to the die whose command ranks best.
    fn grant(&mut self, now: SimTime, channel: ChannelId) {
        // A line that emptied and filled again leaves a second event behind.
        if !self.lines[channel.at()].channel.is_free(now) {
            return;
        }
        let mut best: Option<(u64, usize, CommandId)> = None;
        for (place, &die) in self.lines[channel.at()].wanted_by.iter().enumerate() {
            let id = self.bus_candidate(die);
            let key = self.commands[id].key;
            if best.is_none_or(|(least, ..)| key < least) {
                best = Some((key, place, id));
            }
        }
        let Some((_, place, id)) = best else { return };
        let line = &mut self.lines[channel.at()];
        let die = line.wanted_by.swap_remove(place);
        self.stations[die.at()].wants_bus = false;
        self.take_bus(now, die, channel, id);
        let line = &mut self.lines[channel.at()];
        if !line.wanted_by.is_empty() {
            self.events.schedule(now, line.channel.free_at(), Event::Bus(channel));
        }
    }

    /// The command for which a die wants the bus: the one whose data it holds, or its next program.
    fn bus_candidate(&self, die: DieId) -> CommandId {
        let station = &self.stations[die.at()];
        match station.running {
            Some(id) => id,
            None => station.lanes.first(&self.commands).expect("a die wants the bus for something"),
        }
    }

    /// Starts the transfer for which `die` wanted the bus.
    fn take_bus(&mut self, now: SimTime, die: DieId, channel: ChannelId, id: CommandId) {
        let station = &mut self.stations[die.at()];
        let channel = &mut self.lines[channel.at()].channel;
        let reading = self.commands[id].kind == Kind::Read;
        if !reading {
            station.lanes.take(&self.commands, id);
            station.running = Some(id);
        }
        let command = &mut self.commands[id];
        let waited = now - command.waiting_since;
        if waited > Nanos::ZERO {
            let bus_gc = channel.gc_until(now).0 - station.bus_gc_mark.0;
            let die_gc = station.die.gc_until(now).0 - command.gc_mark.0;
            let for_gc = if reading { bus_gc } else { bus_gc + die_gc };
            command.spent.account_wait(waited, Nanos(for_gc));
        }
        let span = self.bus.transfer(command.codewords);
        command.spent.bus += span;
        let arrived = channel.transfer(now, span, command.is_gc());
        if reading {
            station.die.proceed(Phase::Sending);
            self.events.schedule(now, arrived, Event::Die(die));
        } else {
            let program = self.timing.program(&self.geometry, command.page, command.mode);
            command.spent.cell += program;
            station.die.start(now, Phase::Working, command.is_gc());
            self.events.schedule(now, arrived + program, Event::Die(die));
            self.report_cell(id, arrived, arrived + program);
        }
        self.report_bus(id, now, arrived);
    }

    /// A die is done with a step: what it sensed goes to the bus, anything else is complete.
    fn advance(&mut self, now: SimTime, die: DieId) -> Option<CommandId> {
        let station = &mut self.stations[die.at()];
        let id = station.running.expect("a die that is done was doing something");
        if station.die.phase() == Phase::Sensing {
            self.commands[id].waiting_since = now;
            station.die.proceed(Phase::Holding);
            self.want_bus(now, die, id);
            return None;
        }
        station.die.finish(now);
        station.running = None;
        self.load.remove(die);
        let command = &self.commands[id];
        self.done[command.origin as usize][command.kind as usize] += 1;
        Some(id)
    }

    fn activity(&self, id: CommandId, from: SimTime, until: SimTime) -> Activity {
        let command = &self.commands[id];
        let (channel, _) = self.geometry.channel_of(command.die);
        let Command { kind, origin, page, die, .. } = *command;
        Activity { kind, origin, page, die, channel, from, until }
    }

    #[inline]
    fn report_cell(&mut self, id: CommandId, from: SimTime, until: SimTime) {
        if P::ACTIVE {
            let activity = self.activity(id, from, until);
            self.probe.cell(&activity);
        }
    }

    #[inline]
    fn report_bus(&mut self, id: CommandId, from: SimTime, until: SimTime) {
        if P::ACTIVE {
            let activity = self.activity(id, from, until);
            self.probe.bus(&activity);
        }
    }
}
