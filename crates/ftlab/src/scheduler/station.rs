//! A die at work: which of its commands it begins next, alone or together with others on its other
//! planes, and what happens when its cells or its register are done with something.

use super::command::{Command, CommandId, Ticket};
use super::flash::{Event, Flash};
use super::lanes::{Choice, Lanes};
use super::line::{WaitedFor, Wish, cells_for};
use super::pause::{PauseRule, Paused};
use super::probe::Probe;
use super::view::cells_price;
use crate::engine::skills::{self, Skills};
use crate::nand::Kind;
use crate::nand::{Accepts, Cells, CostClass, Crowd, Die, ProgramCost, Register};
use crate::shape::Geometry;
use crate::units::{ChannelId, DieId, Nanos, SimTime};
use crate::verify::{self, Canary};

/// A die, what waits for it, and what it does.
#[derive(Clone, Debug)]
pub(super) struct Station {
    /// Whose bus serves it.
    pub channel: ChannelId,
    pub die: Die,
    pub lanes: Lanes,
    /// What the cells do: the first of the commands that share the operation.
    pub in_cells: Option<CommandId>,
    /// Since when the cells are at it: before that, addresses and data move in.
    pub cells_from: SimTime,
    /// When the cells are done.
    pub cells_until: SimTime,
    /// Whose data the register holds: the first command, likewise.
    pub in_register: Option<CommandId>,
    /// When what the register sends has left it.
    pub sent_at: SimTime,
    /// When what the register takes in has arrived.
    pub loaded_at: SimTime,
    /// What was left for host reads.
    pub paused: Option<Paused>,
    /// How often the operation in the cells was left.
    pub pauses: u32,
    /// Whether the die will look, when the cells begin, for host reads that came while data moved in.
    pub looks_again: bool,
    /// Whether it will look for something to begin when everything has come that comes at this moment.
    pub will_look: bool,
    /// Whether it is on the list of dies that want the bus.
    pub wants_bus: bool,
    /// The channel's account of collection when it began to want the bus.
    pub bus_gc_mark: Nanos,
}

impl Station {
    /// An idle die. `in_turn`: its commands go in the order in which they came.
    pub fn new(geometry: &Geometry, die: DieId, in_turn: bool) -> Station {
        let (channel, _) = geometry.channel_of(die);
        Station {
            channel,
            die: Die::default(),
            lanes: Lanes::new(in_turn),
            in_cells: None,
            cells_from: SimTime::ZERO,
            cells_until: SimTime::ZERO,
            in_register: None,
            sent_at: SimTime::ZERO,
            loaded_at: SimTime::ZERO,
            paused: None,
            pauses: 0,
            looks_again: false,
            will_look: false,
            wants_bus: false,
            bus_gc_mark: Nanos::ZERO,
        }
    }

    /// Whether what was left stays left for another host read.
    fn serves_reads(&self, rule: &PauseRule) -> bool {
        self.paused.as_ref().is_some_and(|paused| paused.served < rule.reads)
    }
}

/// An operation that begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub now: SimTime,
    pub die: DieId,
    /// The first of the commands that share it.
    pub first: CommandId,
    /// When the cells begin: when addresses and data are there.
    pub cells_from: SimTime,
}

impl<P: Probe> Flash<P> {
    /// The command that a die may begin next, in the state in which it is.
    #[inline(always)]
    pub(super) fn next_command<const S: Skills>(&self, die: DieId) -> Option<CommandId> {
        let station = &self.stations[die.at()];
        let first = || station.lanes.first().filter(|&id| self.may_begin::<S>(die, id));
        let of = |kind| first().filter(|&id| self.commands[id].kind == kind);
        match station.die.accepts(&self.abilities.cache) {
            Accepts::Anything => first(),
            Accepts::Nothing => None,
            Accepts::Reads => of(Kind::Read),
            Accepts::Programs => of(Kind::Program),
            Accepts::HostReads if station.serves_reads(&self.pause) => {
                self.read_beside(die, station.paused.as_ref().map(Paused::first))
            }
            Accepts::HostReads => None,
        }
    }

    /// Whether the chip of a die lets it begin a command.
    #[inline(always)]
    fn may_begin<const S: Skills>(&self, die: DieId, id: CommandId) -> bool {
        !skills::any(S, skills::RARE_ON_FLASH)
            || !self.abilities.one_die_at_a_time
            || !self.yields_on_chip(die, id)
    }

    /// Begins what the die can begin now, or lines it up for the bus.
    #[inline]
    pub(super) fn start<const S: Skills>(&mut self, now: SimTime, die: DieId) {
        let station = &self.stations[die.at()];
        if skills::in_turn(S) {
            if station.die.is_idle() && !station.wants_bus {
                self.next_in_turn::<S>(now, die);
            }
        } else if !self.settled.hold(&station.die) {
            self.start_next::<S>(now, die);
        }
    }

    /// A command came for a die. Where a command can go before one that came earlier, all that comes at
    /// one moment is known before any of it begins.
    #[inline(always)]
    pub(super) fn arrived<const S: Skills>(&mut self, now: SimTime, die: DieId) {
        if !skills::any(S, skills::OVERTAKING) || !self.overtaking {
            return self.start::<S>(now, die);
        }
        let station = &mut self.stations[die.at()];
        if !station.will_look && !self.settled.hold(&station.die) {
            station.will_look = true;
            self.events.schedule(now, now, Event::Look(die));
        }
    }

    /// Everything has come that comes at this moment.
    pub(super) fn look<const S: Skills>(&mut self, now: SimTime, die: DieId) {
        self.stations[die.at()].will_look = false;
        self.start::<S>(now, die);
    }

    #[inline(never)]
    fn start_next<const S: Skills>(&mut self, now: SimTime, die: DieId) {
        let mut die = die;
        if skills::any(S, skills::RARE_ON_FLASH) && self.abilities.one_die_at_a_time {
            let Some(turn) = self.turn_on_chip(die) else { return };
            die = turn;
        }
        let station = &self.stations[die.at()];
        let next = if station.die.is_idle() {
            station.lanes.first()
        } else {
            self.pass_on::<S>(now, die);
            self.send_held::<S>(now, die);
            self.next_command::<S>(die)
        };
        let Some(id) = next else { return self.nothing_next::<S>(now, die) };
        if self.needs_bus::<S>(self.commands[id].kind) {
            return self.want_bus::<S>(now, die, Wish::Begin(id));
        }
        self.take_together::<S>(die, id);
        let mut next = Some(id);
        while let Some(command) = next {
            self.account_wait::<S>(now, die, command, WaitedFor::Die);
            next = self.companion::<S>(command);
        }
        self.begin_in_cells::<S>(Operation { now, die, first: id, cells_from: now });
        self.leave_line_unless_wanted::<S>(die);
    }

    /// A die has no command that it may begin. What it left for reads goes on.
    #[inline]
    fn nothing_next<const S: Skills>(&mut self, now: SimTime, die: DieId) {
        // A read may have come that goes before the page which was to be taken in.
        self.leave_line_unless_wanted::<S>(die);
        if !skills::any(S, skills::OVERTAKING) {
            return;
        }
        let station = &self.stations[die.at()];
        if station.die.is_paused()
            && station.die.accepts(&self.abilities.cache) == Accepts::HostReads
        {
            self.resume(now, die);
            // The next page may come in while this one is programmed.
            if let Some(wish) = self.wish::<S>(die) {
                self.want_bus::<S>(now, die, wish);
            }
            self.leave_line_unless_wanted::<S>(die);
        }
    }

    /// What the register holds wants the bus.
    #[inline]
    fn send_held<const S: Skills>(&mut self, now: SimTime, die: DieId) {
        let station = &self.stations[die.at()];
        if station.die.register() == Register::Holding
            && !station.wants_bus
            && let Some(first) = station.in_register
        {
            self.want_bus::<S>(now, die, Wish::Send(first));
        }
    }

    /// Moves on what waits between cells and register: a sensed page to the register that fell free, a
    /// page that was taken in to the cells.
    #[inline]
    fn pass_on<const S: Skills>(&mut self, now: SimTime, die: DieId) {
        let station = &mut self.stations[die.at()];
        match (station.die.cells(), station.die.register()) {
            (Cells::Sensed, Register::Empty) => self.hold::<S>(now, die),
            (Cells::Idle, Register::Loaded) => {
                let Some(first) = station.in_register.take() else { return };
                // A page that has been there for a while goes on as a cache program; one that is
                // still on its way is programmed as any other.
                let followed = station.loaded_at <= now;
                let busy = if followed { self.abilities.cache.busy } else { Nanos::ZERO };
                let cells_from = station.loaded_at.max(now + busy);
                let waited = now.saturating_since(station.loaded_at) + busy;
                station.die.unload(now, self.commands[first].is_gc());
                self.run_cells::<S>(Operation { now, die, first, cells_from }, waited, |_| {});
            }
            _ => {}
        }
    }

    /// Takes a command out of its lane, and with it those on other planes that its operation can serve
    /// too; they hang from it.
    #[inline(always)]
    pub(super) fn take_together<const S: Skills>(&mut self, die: DieId, first: CommandId) {
        let lanes = &mut self.stations[die.at()].lanes;
        lanes.take::<S>(&self.commands, first);
        self.commands[first].ticket.next = None;
        self.tell_begins::<S>(die, first);
        if skills::any(S, skills::MULTI_PLANE)
            && self.abilities.multi_plane.allows(self.commands[first].kind)
        {
            self.gather::<S>(die, first);
        }
    }

    /// The next of the commands that share an operation.
    #[inline(always)]
    pub fn companion<const S: Skills>(&self, id: CommandId) -> Option<CommandId> {
        match skills::any(S, skills::MULTI_PLANE) {
            true => self.commands[id].ticket.next,
            false => None,
        }
    }

    #[inline(never)]
    fn gather<const S: Skills>(&mut self, die: DieId, first: CommandId) {
        let Flash { geometry, abilities, commands, stations, overlaps, plant, page_order, .. } =
            self;
        let Station { lanes, paused, .. } = &mut stations[die.at()];
        if !lanes.has_more_like(&commands[first]) {
            return;
        }
        let planes = geometry.planes_per_die();
        let Command { kind, mode, ticket: Ticket { seat, .. }, .. } = commands[first];
        // An erase goes before no read that arrived earlier.
        let oldest_read = match kind {
            Kind::Erase => lanes.oldest_read(commands),
            _ => u64::MAX,
        };
        let mut taken = seat.plane;
        if page_order.is_some() {
            // A program that was left may be of the very page that a read is for.
            let paused = paused.as_ref().map(Paused::first);
            let left = std::iter::successors(paused, |&id| commands[id].ticket.next);
            taken |= left.fold(0, |all, id| all | commands[id].ticket.seat.plane);
        }
        let mut last = first;
        let collides = plant.is(Canary::PlaneServesTwo);
        let looks = abilities.multi_plane.looks;
        let looks = looks.map_or(usize::MAX, |looks| planes as usize * looks as usize);
        for _ in 1..planes {
            let fits = |other: &Command| {
                (collides || taken & other.ticket.seat.plane == 0)
                    && other.ticket.seat.address == seat.address
                    && other.mode == mode
                    && (kind != Kind::Erase || other.ticket.arrival < oldest_read)
                    && page_order.as_ref().is_none_or(|order| {
                        order.is_first(geometry.flash_page_of(other.page), other.ticket.arrival)
                    })
            };
            // The pages of a block are programmed in order.
            let may_pass = |other: &Command, earlier: &Command| {
                other.ticket.seat.block != earlier.ticket.seat.block
            };
            let found = lanes.take_fitting(commands, first, Choice { looks, fits, may_pass });
            let Some(id) = found else { break };
            commands[id].ticket.next = None;
            commands[last].ticket.next = Some(id);
            taken |= commands[id].ticket.seat.plane;
            overlaps.multi_plane[kind as usize] += 1;
            last = id;
        }
        let mut next = self.commands[first].ticket.next;
        while let Some(id) = next {
            self.tell_begins::<S>(die, id);
            next = self.commands[id].ticket.next;
        }
    }

    /// The cells begin an operation, once addresses and data are there.
    #[inline(always)]
    pub(super) fn begin_in_cells<const S: Skills>(&mut self, operation: Operation) {
        let Operation { now, die, first, .. } = operation;
        let command = &self.commands[first];
        let (cells, is_gc) = (cells_for(command.kind), command.is_gc());
        if !skills::any(S, skills::CACHE_OPS) {
            let begins = |station: &mut Station| station.die.begin(now, cells, is_gc);
            return self.run_cells::<S>(operation, Nanos::ZERO, begins);
        }
        let station = &mut self.stations[die.at()];
        let follows = station.die.register() != Register::Empty;
        let wait = if follows { self.abilities.cache.busy } else { Nanos::ZERO };
        self.overlaps.cached_reads += u64::from(follows);
        station.die.begin(now, cells, is_gc);
        let cells_from = operation.cells_from + wait;
        self.run_cells::<S>(Operation { cells_from, ..operation }, wait, |_| {});
    }

    /// Occupies the cells, which have begun, or do so by `begins`, for as long as the slowest of the pages takes.
    /// Each command has `waited` since its data arrived.
    #[inline(always)]
    fn run_cells<const S: Skills>(
        &mut self,
        operation: Operation,
        waited: Nanos,
        begins: impl FnOnce(&mut Station),
    ) {
        let Operation { now, die, first, cells_from } = operation;
        let mut span = self.price::<S>(first, now);
        let others = self.companion::<S>(first);
        if others.is_some() {
            span = self.share_cells::<S>(now, others, span, waited);
        }
        let command = &mut self.commands[first];
        if command.keeps_account::<S>() {
            command.spent.cell += span;
            command.spent.queue += waited;
        }
        let station = &mut self.stations[die.at()];
        begins(station);
        station.in_cells = Some(first);
        if skills::any(S, skills::OVERTAKING) && !station.die.is_paused() {
            station.pauses = 0;
        }
        station.cells_from = cells_from;
        station.cells_until = cells_from + span;
        self.events.schedule(now, cells_from + span, Event::Die(die));
        self.report_cell(first, cells_from, cells_from + span);
    }

    /// Finds the price of an operation that others share with a first command which alone would take
    /// `least`, and accounts for it.
    #[cold]
    fn share_cells<const S: Skills>(
        &mut self,
        now: SimTime,
        others: Option<CommandId>,
        least: Nanos,
        waited: Nanos,
    ) -> Nanos {
        let mut span = least;
        let mut next = others;
        while let Some(id) = next {
            span = span.max(self.price::<S>(id, now));
            next = self.commands[id].ticket.next;
        }
        let mut next = others;
        while let Some(id) = next {
            let spent = &mut self.commands[id].spent;
            spent.cell += span;
            spent.queue += waited;
            next = self.commands[id].ticket.next;
        }
        span
    }

    #[inline(always)]
    fn price<const S: Skills>(&mut self, id: CommandId, now: SimTime) -> Nanos {
        if skills::any(S, skills::RARE_ON_FLASH) {
            if let ProgramCost::ByCrowd(crowd) = self.commands[id].cost {
                self.decide_cost(id, crowd);
            }
            // A page that is programmed in place may have been programmed since its read came.
            if self.page_order.is_some() && self.commands[id].kind == Kind::Read {
                self.find_effort(now, id);
            }
        }
        if !skills::any(S, skills::TIMES | skills::SLC | skills::RARE_ON_FLASH) {
            return self.flat[self.commands[id].kind as usize];
        }
        cells_price(&self.timing, &self.geometry, &self.commands[id])
    }

    /// A program begins whose cost others decide, by waiting.
    #[cold]
    fn decide_cost(&mut self, id: CommandId, crowd: Crowd) {
        let is_waited_for = |station: &Station| station.lanes.first().is_some();
        let waiting = match crowd {
            Crowd::Die => is_waited_for(&self.stations[self.commands[id].ticket.die.at()]),
            Crowd::Device => self.stations.iter().any(is_waited_for),
        };
        let class = if waiting { CostClass::Low } else { CostClass::High };
        self.commands[id].set_cost(ProgramCost::Of(class));
    }

    /// Something that a die does is done. Returns the first of the commands that it completed.
    #[inline]
    pub(super) fn advance<const S: Skills>(
        &mut self,
        now: SimTime,
        die: DieId,
    ) -> Option<CommandId> {
        if skills::in_turn(S) {
            return self.advance_in_turn::<S>(now, die);
        }
        let station = &mut self.stations[die.at()];
        if station.die.register() == Register::Sending && station.sent_at == now {
            return self.sent::<S>(now, die);
        }
        // What was paused meanwhile left an event behind.
        if station.cells_until != now {
            self.pause_for_waiting(now, die);
            return None;
        }
        match station.die.cells() {
            Cells::Sensing if !skills::any(S, skills::CACHE_OPS) => {
                self.hold::<S>(now, die);
                self.send_held::<S>(now, die);
                None
            }
            Cells::Sensing if station.die.register() == Register::Empty => {
                self.hold::<S>(now, die);
                self.send_held::<S>(now, die);
                // Meanwhile the cells may go on.
                self.start::<S>(now, die);
                None
            }
            Cells::Sensing => {
                station.die.wait_for_register();
                None
            }
            Cells::Programming | Cells::Erasing | Cells::Copying => self.worked::<S>(now, die),
            Cells::Pausing => {
                station.die.paused(now);
                self.start::<S>(now, die);
                None
            }
            Cells::Idle | Cells::Sensed => None,
        }
    }

    /// What the cells sensed moves to the register, and waits for the bus.
    #[inline]
    fn hold<const S: Skills>(&mut self, now: SimTime, die: DieId) {
        let station = &mut self.stations[die.at()];
        let sensed = station.in_cells.take();
        station.in_register = sensed;
        station.die.hold(now);
        // What waited for the register has waited since it was sensed.
        let since = station.cells_until;
        let mut next = sensed;
        while let Some(id) = next {
            self.commands[id].ticket.waiting_since = since;
            next = self.companion::<S>(id);
        }
    }

    /// A page has left the register.
    #[inline]
    fn sent<const S: Skills>(&mut self, now: SimTime, die: DieId) -> Option<CommandId> {
        let station = &mut self.stations[die.at()];
        let id = station.in_register.expect("a die that sends has something to send");
        station.in_register = self.commands[id].ticket.next.take();
        station.die.sent(now, station.in_register.is_some());
        if skills::any(S, skills::OVERTAKING)
            && let Some(paused) = &mut station.paused
        {
            paused.served += 1;
        }
        self.count_done::<S>(now, die, id);
        Some(id)
    }

    /// The cells have programmed, erased or copied.
    #[inline]
    fn worked<const S: Skills>(&mut self, now: SimTime, die: DieId) -> Option<CommandId> {
        let station = &mut self.stations[die.at()];
        let first = station.in_cells.take();
        station.die.finish(now);
        let mut next = first;
        while let Some(id) = next {
            self.count_done::<S>(now, die, id);
            next = self.companion::<S>(id);
        }
        first
    }

    #[inline]
    pub(super) fn count_done<const S: Skills>(&mut self, now: SimTime, die: DieId, id: CommandId) {
        if skills::any(S, skills::RARE_ON_FLASH) {
            if self.hazards.is_some() {
                self.meet_hazards(now, die, id);
            }
            if self.programmed.is_some() {
                self.note_cost(now, id);
            }
        }
        let command = &self.commands[id];
        let erases = |canary| command.kind == Kind::Erase && self.plant.is(canary);
        let (drifts, forgotten) = (erases(Canary::LoadDrifts), erases(Canary::EraseNotCounted));
        if !drifts {
            self.load.remove(die);
        }
        if !forgotten {
            self.done[command.origin as usize][command.kind as usize] += 1;
        }
        if verify::ON
            && let Some(laws) = &mut self.laws
        {
            laws.done(id, now, command);
        }
    }
}
