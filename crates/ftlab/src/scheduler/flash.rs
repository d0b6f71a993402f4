//! Flash commands from arrival to completion: the lanes, the dies and the buses together. What a die
//! does next is in [`station`](super::station), the buses in [`line`](super::line).

use super::command::{Command, CommandId, Origin, Seat, Task, Ticket};
use super::costs::CostCounts;
use super::laws::{FlashLaws, OnBus};
use super::line::Line;
use super::page_order::PageOrder;
use super::pause::{Pausable, PauseRule};
use super::probe::{Activity, Probe};
use super::station::Station;
use super::view::{View, cells_price};
use super::{Arrival, BusOrder, Load, Scheduler};
use crate::engine::skills::{self, Skills};
use crate::engine::{EventQueue, Slab};
use crate::nand::timing::{Bus, Prices, TimingPolicy};
use crate::nand::{Abilities, DieStates, Hazards, Kind, Prior, Programmed};
use crate::scheduler::SchedulerPolicy;
use crate::shape::Geometry;
use crate::units::{ChannelId, DieId, Nanos, Ppn, SimTime};
use crate::verify::{self, Canary, Plant};

/// What happens next in the flash: a die is done with a step, or has to look what came for it; a bus that
/// is wanted falls free.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Die(DieId),
    Look(DieId),
    Bus(ChannelId),
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
    /// What the dies can do beyond one thing at a time.
    pub abilities: Abilities,
    /// Which operations are left for a host read.
    pub pause: PauseRule,
    /// The order of commands.
    pub scheduler: Scheduler,
    /// What data from before is taken for, where timing knows costs.
    pub prior: Prior,
    /// Whether all that comes at one moment is known before any of it begins, whatever the order.
    pub whole_moments: bool,
    /// Whether a bus moves out what waits in the dies before it begins anything.
    pub data_out_first: bool,
    /// What fails, but for programs and erases that fail by chance; none if nothing does.
    pub hazards: Option<Hazards>,
}

/// How often the dies did more than one thing at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlaps {
    /// Commands that were served by an operation of another command, on another plane.
    pub multi_plane: [u64; Kind::ALL.len()],
    /// Pages sensed while the page before was in the register.
    pub cached_reads: u64,
    /// Pages taken in while the page before was programmed.
    pub cached_programs: u64,
    /// Programs left for host reads.
    pub program_pauses: u64,
    /// Erases left for host reads.
    pub erase_pauses: u64,
}

/// The flash with everything that waits for it.
#[derive(Clone, Debug)]
pub struct Flash<P = ()> {
    pub(super) geometry: Geometry,
    pub(super) timing: Prices,
    /// What each kind of command takes the cells, where that is the same for all pages.
    pub(super) flat: [Nanos; Kind::ALL.len()],
    pub(super) bus: Bus,
    pub(super) abilities: Abilities,
    /// The states of a die in which looking for its next command is idle.
    pub(super) settled: DieStates,
    pub(super) pause: PauseRule,
    pub(super) scheduler: Scheduler,
    pub(super) bus_order: BusOrder,
    /// Whether a bus moves out what waits in the dies before it begins anything.
    pub(super) data_out_first: bool,
    /// Whether a command can go before one that came earlier.
    pub(super) overtaking: bool,
    pub(super) commands: Slab<Command>,
    pub(super) stations: Vec<Station>,
    pub(super) lines: Vec<Line>,
    /// What dynamic placement balances.
    pub(super) load: Load,
    pub(super) events: EventQueue<Event>,
    pub(super) arrivals: u64,
    /// Where pages are programmed in place; see [`keep_page_order`](Flash::keep_page_order).
    pub(super) page_order: Option<Box<PageOrder>>,
    pub(super) done: CommandCounts,
    pub(super) overlaps: Overlaps,
    /// None if all programs cost the same.
    pub(super) programmed: Option<Box<Programmed>>,
    pub(super) costs: CostCounts,
    /// None if nothing fails at a moment that is named, and no read by chance.
    pub(super) hazards: Option<Box<Hazards>>,
    /// What flash can do, where devices check themselves.
    pub(crate) laws: Option<Box<FlashLaws>>,
    pub(crate) plant: Plant,
    /// Sees every span of activity.
    pub probe: P,
}

/// How long each kind of command takes the native cells of a page, be it the first.
fn flat_times(timing: &Prices, geometry: &Geometry) -> [Nanos; Kind::ALL.len()] {
    Kind::ALL.map(|kind| {
        let page = Ppn::new(0);
        let mut any = Command::new(kind, Origin::System, Task::EraseSystem, page);
        any.source = Some(page);
        cells_price(timing, geometry, &any)
    })
}

impl<P: Probe> Flash<P> {
    /// An idle flash.
    pub fn new(setup: FlashSetup, probe: P) -> Flash<P> {
        let Abilities { cache, pause, .. } = setup.abilities;
        let planes = setup.geometry.planes_per_die();
        let in_bus = setup.bus.longest(planes, setup.abilities.multi_plane.gap);
        let pauses = pause.program + pause.erase + pause.resume;
        let reach = in_bus + setup.timing.longest() + cache.busy + pauses;
        let laws = || {
            let mut laws = FlashLaws::new(&setup.geometry, &setup.abilities, &setup.bus);
            if setup.timing.native.reliability().is_none() {
                laws.classes_decide_reads();
            }
            if setup.data_out_first {
                laws.move_data_out_first();
            }
            laws
        };
        let programmed = || Box::new(Programmed::new(&setup.geometry, setup.prior));
        let mut flash = Flash {
            laws: verify::ON.then(|| Box::new(laws())),
            stations: Vec::new(),
            lines: vec![Line::default(); setup.geometry.channels() as usize],
            load: Load::new(&setup.geometry),
            programmed: setup.timing.native.knows_costs().then(programmed),
            costs: CostCounts::default(),
            hazards: setup.hazards.map(Box::new),
            flat: flat_times(&setup.timing, &setup.geometry),
            geometry: setup.geometry,
            timing: setup.timing,
            bus: setup.bus,
            settled: DieStates::settled(&cache),
            abilities: setup.abilities,
            pause: setup.pause,
            bus_order: setup.scheduler.bus_order(),
            data_out_first: setup.data_out_first,
            overtaking: setup.scheduler.overtaking() || setup.whole_moments,
            scheduler: setup.scheduler,
            commands: Slab::default(),
            events: EventQueue::new(reach),
            arrivals: 0,
            page_order: None,
            done: CommandCounts::default(),
            overlaps: Overlaps::default(),
            plant: Plant::default(),
            probe,
        };
        let in_turn = skills::in_turn(flash.skills());
        let station = |die| Station::new(&flash.geometry, DieId::new(die), in_turn);
        flash.stations = (0..flash.geometry.dies()).map(station).collect();
        flash
    }

    /// What it has of the [`skills`].
    pub(crate) fn skills(&self) -> Skills {
        let Abilities { multi_plane, cache, one_die_at_a_time, .. } = &self.abilities;
        let kinds = [multi_plane.read, multi_plane.program, multi_plane.erase];
        let rare = [
            *one_die_at_a_time,
            self.page_order.is_some(),
            self.programmed.is_some(),
            self.hazards.is_some(),
            self.data_out_first,
            self.bus.carries_commands(),
        ];
        skills::those(&[
            (self.geometry.planes_per_die() > 1 && kinds.contains(&true), skills::MULTI_PLANE),
            (cache.read || cache.program, skills::CACHE_OPS),
            (self.overtaking || self.pause.which != Pausable::None, skills::OVERTAKING),
            (rare.contains(&true), skills::RARE_ON_FLASH),
            (!self.timing.native.is_flat(), skills::TIMES),
        ])
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

    /// Pages of a block may be left out, and are programmed no more before the next erase.
    pub(crate) fn leave_pages_out(&mut self) {
        if let Some(laws) = &mut self.laws {
            laws.leave_pages_out();
        }
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

    /// How often the dies did more than one thing at a time.
    pub fn overlaps(&self) -> &Overlaps {
        &self.overlaps
    }

    /// Time that each die was occupied until `now`.
    pub fn die_busy(&self, now: SimTime) -> impl Iterator<Item = Nanos> {
        self.stations.iter().map(move |station| station.die.busy_until(now))
    }

    /// Time that each bus was occupied until `now`.
    pub fn channel_busy(&self, now: SimTime) -> impl Iterator<Item = Nanos> {
        self.lines.iter().map(move |line| line.channel.busy_until(now))
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
    pub fn submit(&mut self, now: SimTime, id: CommandId) {
        self.submit_with::<{ skills::ALL }>(now, id);
    }

    /// The same on a flash that has no other skills.
    #[inline]
    pub fn submit_with<const S: Skills>(&mut self, now: SimTime, id: CommandId) {
        let (die, host_read) = self.enqueue::<S>(now, id);
        if skills::in_turn(S) {
            return self.arrived_in_turn::<S>(now, die, id);
        }
        self.arrived::<S>(now, die);
        if skills::any(S, skills::OVERTAKING) && host_read {
            self.pause_for_read(now, die);
        }
    }

    /// Lets programs of one row wait for their die before it starts any of them, so that it finds them
    /// together.
    pub fn submit_row(&mut self, now: SimTime, row: &[CommandId]) {
        for &id in row {
            self.enqueue::<{ skills::ALL }>(now, id);
        }
        for &id in row {
            self.arrived::<{ skills::ALL }>(now, self.commands[id].ticket.die);
        }
    }

    /// Says that a command which has not been submitted belongs to a row, after `last`.
    pub fn link(&mut self, last: CommandId, id: CommandId) {
        self.commands[last].ticket.next = Some(id);
    }

    /// The next command of a row that has not been submitted.
    pub fn next_of_row(&self, id: CommandId) -> Option<CommandId> {
        self.commands[id].ticket.next
    }

    /// What the dies can do.
    pub fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    /// Puts a command into the lane of its die. Returns the die, and whether it is a read of the host.
    #[inline(always)]
    fn enqueue<const S: Skills>(&mut self, now: SimTime, id: CommandId) -> (DieId, bool) {
        let Command { kind, origin, page, .. } = self.commands[id];
        let die = self.geometry.die_of_page(page);
        let arrival = Arrival { id, kind, origin, die, at: now, sequence: self.arrivals };
        if P::ACTIVE {
            self.probe.arrives(&arrival);
        }
        if skills::any(S, skills::RARE_ON_FLASH) {
            self.look_at_cells(now, id);
        }
        // Without overtaking, a rank is the number of those that came before.
        let mut rank = arrival.sequence;
        if skills::any(S, skills::OVERTAKING) {
            let (scheduler, view) = self.policy_and_view();
            rank = scheduler.rank(&arrival, &view);
        }
        if skills::any(S, skills::RARE_ON_FLASH) && self.page_order.is_some() {
            rank = self.rank_by_page(die, id, arrival.sequence, rank);
        }
        let station = &mut self.stations[die.at()];
        let command = &mut self.commands[id];
        command.ticket.key = rank;
        if kind == Kind::Erase && self.plant.is(Canary::ErasePassesReads) {
            command.ticket.key = 0;
        }
        command.ticket.arrival = arrival.sequence;
        command.ticket.die = die;
        if skills::any(S, skills::MULTI_PLANE) && self.abilities.multi_plane.allows_any() {
            command.ticket.seat = Seat {
                plane: 1 << self.geometry.plane_in_die(page),
                address: self.abilities.multi_plane.address_of(&self.geometry, kind, page),
                block: self.geometry.block_of(page).get(),
            };
        }
        command.ticket.waiting_since = now;
        if command.keeps_account::<S>() {
            command.ticket.gc_mark = station.die.gc_until(now);
        }
        self.arrivals += 1;
        if verify::ON
            && let Some(laws) = &mut self.laws
        {
            laws.submitted(id, now, command, self.load.of(die));
        }
        self.load.add(die);
        if !skills::in_turn(S) {
            station.lanes.push::<S>(&mut self.commands, id);
        }
        if skills::any(S, skills::RARE_ON_FLASH) && self.abilities.one_die_at_a_time {
            self.commands[id].ticket.gc_mark = self.chip_held_by_gc(now, die);
        }
        (die, kind == Kind::Read && origin == Origin::Host)
    }

    /// A command comes: what the cells that it is for have been through, before anybody prices it.
    #[inline]
    fn look_at_cells(&mut self, now: SimTime, id: CommandId) {
        let senses = matches!(self.commands[id].kind, Kind::Read | Kind::Copyback);
        if self.programmed.is_some() && senses {
            self.find_effort(now, id);
        }
        if self.hazards.is_some() {
            self.read_once_more(id);
        }
    }

    /// The policy, and what it may look at.
    #[inline(always)]
    fn policy_and_view(&mut self) -> (&mut Scheduler, View<'_>) {
        let Flash {
            scheduler,
            geometry,
            timing,
            bus,
            abilities,
            commands,
            stations,
            lines,
            page_order,
            data_out_first,
            ..
        } = self;
        let (resume, data_out_first) = (abilities.pause.resume, *data_out_first);
        let page_order = page_order.as_deref();
        let view = View {
            geometry,
            timing,
            bus,
            resume,
            commands,
            stations,
            lines,
            page_order,
            data_out_first,
        };
        (scheduler, view)
    }

    /// Tells the policy that a die begins with a command.
    #[inline(always)]
    pub(super) fn tell_begins<const S: Skills>(&mut self, die: DieId, id: CommandId) {
        if skills::any(S, skills::RARE_ON_FLASH) && self.page_order.is_some() {
            self.leave_page(id);
        }
        if skills::any(S, skills::OVERTAKING) {
            let (scheduler, view) = self.policy_and_view();
            scheduler.begins(die, id, &view);
        }
    }

    /// When the next event is due.
    #[inline]
    pub fn next_time(&self) -> Option<SimTime> {
        self.events.next_time()
    }

    /// Runs the next event, on any flash ([`step_with`](Self::step_with)).
    pub fn step(&mut self) -> Option<(SimTime, CommandId)> {
        self.step_with::<{ skills::ALL }>()
    }

    /// Runs the next event. Returns the command that it completed, if any, of which others hang that
    /// one operation completed with it ([`next_completed`](Self::next_completed)). The caller deals
    /// with each, [`release`](Self::release)s it, and then lets the die [`go_on`](Self::go_on).
    #[inline]
    pub fn step_with<const S: Skills>(&mut self) -> Option<(SimTime, CommandId)> {
        let (now, event) = self.events.pop()?;
        match event {
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
            Event::Die(die) => self.advance::<S>(now, die).map(|id| (now, id)),
        }
    }

    /// The command that was completed together with this one, if there is one more.
    #[inline]
    pub fn next_completed(&self, id: CommandId) -> Option<CommandId> {
        self.commands[id].ticket.next
    }

    /// Lets the die of a completed command take its next one, on any flash.
    pub fn go_on(&mut self, now: SimTime, die: DieId) {
        self.go_on_with::<{ skills::ALL }>(now, die);
    }

    /// Lets the die of a completed command take its next one.
    #[inline]
    pub fn go_on_with<const S: Skills>(&mut self, now: SimTime, die: DieId) {
        self.start::<S>(now, die);
    }

    /// The die of a command that was submitted.
    #[inline]
    pub fn die_of(&self, id: CommandId) -> DieId {
        self.commands[id].ticket.die
    }

    fn activity(&self, id: CommandId, from: SimTime, until: SimTime) -> Activity {
        let command = &self.commands[id];
        let (channel, _) = self.geometry.channel_of(command.ticket.die);
        let Command { kind, origin, page, ticket: Ticket { die, arrival: sequence, .. }, .. } =
            *command;
        Activity { kind, origin, sequence, page, die, channel, from, until }
    }

    /// Reports that the cells are busy with a command and those that share its operation.
    #[inline]
    pub(super) fn report_cell(&mut self, first: CommandId, from: SimTime, until: SimTime) {
        if P::ACTIVE || verify::ON {
            let mut next = Some(first);
            while let Some(id) = next {
                let activity = self.activity(id, from, until);
                if let Some(laws) = &mut self.laws {
                    laws.cell(&activity, &self.commands[id], id == first);
                }
                self.probe.cell(&activity);
                next = self.commands[id].ticket.next;
            }
        }
    }

    #[inline]
    pub(super) fn report_pause(&mut self, first: CommandId, from: SimTime, at: SimTime) {
        if P::ACTIVE || verify::ON {
            let mut next = Some(first);
            while let Some(id) = next {
                let activity = self.activity(id, from, at);
                if let Some(laws) = &mut self.laws {
                    laws.pauses(&activity, at);
                }
                self.probe.pause(&activity, at);
                next = self.commands[id].ticket.next;
            }
        }
    }

    /// Reports that the bus is busy with a command; `on` says what for, and what that has to cost.
    #[inline]
    pub(super) fn report_bus(
        &mut self,
        id: CommandId,
        from: SimTime,
        until: SimTime,
        on: impl FnOnce(&Flash<P>) -> OnBus,
    ) {
        if P::ACTIVE || verify::ON {
            let activity = self.activity(id, from, until);
            let on = verify::ON.then(|| on(self));
            if let (Some(laws), Some(on)) = (&mut self.laws, on) {
                laws.bus(&activity, &on);
            }
            self.probe.bus(&activity);
        }
    }
}
