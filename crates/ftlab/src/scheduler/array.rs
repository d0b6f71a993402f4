//! The flash array: dies and buses, the commands that they work on, and what waits for them. It says what a die may
//! do next and what it wants the bus for, and keeps the accounts of waits. The
//! [`Dispatcher`](super::dispatch::Dispatcher) decides when something begins, and handles what follows.

mod apart;
mod chip;
mod together;
mod waits;

pub(super) use apart::Apart;
pub(super) use waits::WaitedFor;

use super::command::{Command, CommandId};
use super::datasheet::Datasheet;
use super::history::CellHistory;
use super::lanes::Lanes;
use super::line::{BusOrder, BusTurn, Line, Wish};
use super::page_order::PageOrder;
use super::pause::PauseRule;
use super::space::Shortage;
use super::station::{Station, StationId};
use crate::engine::Slab;
use crate::engine::skills::{self, Skills};
use crate::nand::{Accepts, CostClass, Crowd, Kind, ProgramCost, Register};
use crate::units::{ChannelId, DieId, Nanos, SimTime};
use crate::verify::{Canary, Plant};

/// The rules by which dies and buses choose what to do.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    /// Which operations are suspended for a host read.
    pub pause: PauseRule,
    /// Which command a bus serves first.
    pub bus_order: BusOrder,
    /// Whether a bus moves out data that waits in the dies before it begins anything else.
    pub data_out_first: bool,
    /// Whether a command can go before one that came earlier.
    pub overtaking: bool,
}

/// All dies and buses, with everything that waits for them.
#[derive(Clone, Debug)]
pub(super) struct FlashArray {
    pub sheet: Datasheet,
    pub rules: Rules,
    pub cells: CellHistory,
    pub commands: Slab<Command>,
    /// The dies, and behind them the planes that sense on their own.
    pub stations: Vec<Station>,
    pub lines: Vec<Line>,
    /// Only if pages are programmed in place.
    pub page_order: Option<Box<PageOrder>>,
    /// Only if the policy follows how many blocks are free.
    pub shortage: Option<Box<Shortage>>,
    /// Only if planes sense on their own.
    pub apart: Option<Box<Apart>>,
    pub plant: Plant,
}

impl FlashArray {
    pub fn new(sheet: Datasheet, rules: Rules, cells: CellHistory) -> FlashArray {
        let station = |die| Station::new(&sheet.geometry, DieId::new(die));
        let mut stations: Vec<_> = (0..sheet.geometry.dies()).map(station).collect();
        let apart = Apart::of(&sheet).map(Box::new);
        if let Some(apart) = &apart {
            stations.extend(apart.planes().map(|plane| Station::new(&sheet.geometry, plane)));
        }
        FlashArray {
            stations,
            apart,
            lines: vec![Line::default(); sheet.geometry.channels() as usize],
            commands: Slab::default(),
            page_order: None,
            shortage: None,
            plant: Plant::default(),
            sheet,
            rules,
            cells,
        }
    }

    /// All dies.
    pub fn dies(&self) -> impl Iterator<Item = DieId> + use<> {
        (0..self.sheet.geometry.dies()).map(DieId::new)
    }

    /// Whether a die is short of free blocks, as far as the policy follows it.
    pub fn is_short_of_space(&self, die: DieId) -> bool {
        self.shortage.as_ref().is_some_and(|shortage| shortage.is_short(die))
    }

    /// For how long a die was in use until `now`.
    pub fn die_busy_until(&self, now: SimTime, die: DieId) -> Nanos {
        match self.apart {
            Some(_) => self.busy_apart(now, die),
            None => self.stations[die.at()].die.busy_until(now),
        }
    }

    /// Sets whether commands of a die wait in a single lane, in order of arrival. No command may wait yet.
    pub fn wait_in_turn(&mut self, in_turn: bool) {
        self.stations.iter_mut().for_each(|station| station.lanes = Lanes::new(in_turn));
    }

    /// The next of the commands that share an operation.
    #[inline(always)]
    pub fn companion<const S: Skills>(&self, id: CommandId) -> Option<CommandId> {
        match skills::any(S, skills::MULTI_PLANE) {
            true => self.commands[id].ticket.next,
            false => None,
        }
    }

    /// The command that a die may begin next in its current state.
    #[inline(always)]
    pub fn next_command<const S: Skills>(&self, die: StationId) -> Option<CommandId> {
        if skills::any(S, skills::RARE_ON_FLASH) && self.apart.is_some() {
            return self.next_apart(die);
        }
        let station = &self.stations[die.at()];
        let first = || station.lanes.first().filter(|&id| self.may_begin::<S>(die, id));
        let of = |kind| first().filter(|&id| self.commands[id].kind == kind);
        match station.die.accepts(&self.sheet.abilities.cache) {
            Accepts::Anything => first(),
            Accepts::Nothing => None,
            Accepts::Reads => of(Kind::Read),
            Accepts::Programs => of(Kind::Program),
            Accepts::HostReads if station.suspension.serves_reads(&self.rules.pause) => {
                self.read_beside(die, station.suspension.first())
            }
            Accepts::HostReads => None,
        }
    }

    /// Whether the chip of a die lets it begin a command.
    #[inline(always)]
    fn may_begin<const S: Skills>(&self, die: StationId, id: CommandId) -> bool {
        !skills::any(S, skills::RARE_ON_FLASH)
            || !self.sheet.abilities.one_die_at_a_time
            || !self.yields_on_chip(die, id)
    }

    /// The host read for which a die may suspend an operation, or keep it suspended. Not a read that has to wait for
    /// that very operation, or for another program of its page.
    pub fn read_beside(&self, die: StationId, operation: Option<CommandId>) -> Option<CommandId> {
        let read = self.stations[die.at()].lanes.first_host_read()?;
        let Some(order) = &self.page_order else { return Some(read) };
        let page_of = |id: CommandId| self.sheet.geometry.flash_page_of(self.commands[id].page);
        let shared = std::iter::successors(operation, |&id| self.commands[id].ticket.next);
        let programmed = shared.filter(|&id| self.commands[id].kind == Kind::Program);
        let page = page_of(read);
        let free = programmed.map(page_of).all(|programmed| programmed != page);
        (free && order.is_first(page, self.commands[read].ticket.arrival)).then_some(read)
    }

    /// Returns the rank of a command for a die, given the policy's rank, if pages are programmed in place.
    pub fn rank_by_page(&mut self, die: DieId, id: CommandId, arrival: u64, rank: u64) -> u64 {
        let at = self.station_of::<{ skills::ALL }>(die, id);
        let FlashArray { page_order, commands, stations, sheet, .. } = self;
        let Some(order) = page_order else { return rank };
        let command = &commands[id];
        let page = sheet.geometry.flash_page_of(command.page);
        let before = [order.last(page), stations[at.at()].lanes.last_of(command)];
        order.push(page, id, arrival);
        before.into_iter().flatten().map(|before| commands[before].ticket.key).fold(rank, u64::max)
    }

    /// Notes that a command no longer waits for its page.
    pub fn leave_page(&mut self, id: CommandId) {
        if let Some(order) = &mut self.page_order {
            order.pop(self.sheet.geometry.flash_page_of(self.commands[id].page), id);
        }
    }

    /// What a die currently wants the bus for. Data that was sensed goes out first.
    #[inline]
    pub fn wish<const S: Skills>(&self, die: StationId) -> Option<Wish> {
        let station = &self.stations[die.at()];
        if station.die.register() == Register::Holding {
            return station.in_register.map(Wish::Send);
        }
        let next = self.next_command::<S>(die)?;
        self.needs_bus::<S>(self.commands[next].kind).then_some(Wish::Begin(next))
    }

    /// Whether a command of this kind needs the bus to begin.
    #[inline]
    pub fn needs_bus<const S: Skills>(&self, kind: Kind) -> bool {
        kind == Kind::Program
            || skills::any(S, skills::RARE_ON_FLASH) && self.sheet.bus.carries_commands()
    }

    /// Removes a die from the line if it no longer wants the bus, because it found something to do that needs none.
    #[inline]
    pub fn leave_line_unless_wanted<const S: Skills>(&mut self, now: SimTime, die: StationId) {
        if self.stations[die.at()].wants_bus {
            self.reconsider_line::<S>(now, die);
        }
    }

    #[cold]
    fn reconsider_line<const S: Skills>(&mut self, now: SimTime, die: StationId) {
        let is_wanted = self.wish::<S>(die).is_some();
        let station = &mut self.stations[die.at()];
        let line = &mut self.lines[station.channel.at()];
        if !is_wanted {
            station.wants_bus = false;
            line.wanted_by.retain(|&waiting| waiting != die);
        }
        if !is_wanted || !station.die.is_idle() {
            station.end_free_wait(now, line);
        }
    }

    /// The die that a bus serves next: the one with the best rank or the earliest arrival, as the policy says; the
    /// order of arrival breaks ties. Data that waits in a die may go before anything that is to begin. Dies that no
    /// longer want the bus leave the line.
    #[inline]
    pub fn whose_turn<const S: Skills>(
        &mut self,
        now: SimTime,
        channel: ChannelId,
    ) -> Option<BusTurn> {
        let mut best: Option<BusTurn> = None;
        let mut place = 0;
        while let Some(&die) = self.lines[channel.at()].wanted_by.get(place) {
            let Some(wish) = self.wish::<S>(die) else {
                // A better command came that needs no bus. The die will look again after it.
                let (station, line) = (&mut self.stations[die.at()], &mut self.lines[channel.at()]);
                station.wants_bus = false;
                station.end_free_wait(now, line);
                line.wanted_by.swap_remove(place);
                continue;
            };
            let command = &self.commands[wish.command()];
            let rank = match self.rules.bus_order {
                _ if !skills::any(S, skills::OVERTAKING) => (0, command.arrival()),
                BusOrder::Rank => command.rank(),
                BusOrder::Arrival => (0, command.arrival()),
            };
            let ignores_data = self.plant.is(Canary::BeginsBeforeData);
            let waits_for_data = skills::any(S, skills::RARE_ON_FLASH)
                && self.rules.data_out_first
                && matches!(wish, Wish::Begin(_))
                && !ignores_data;
            if best.is_none_or(|best| (waits_for_data, rank) < (best.waits_for_data, best.rank)) {
                best = Some(BusTurn { waits_for_data, rank, place, wish });
            }
            place += 1;
        }
        best
    }

    /// Time in the cells of a command that begins.
    #[inline(always)]
    pub fn price<const S: Skills>(&mut self, id: CommandId, now: SimTime) -> Nanos {
        let FlashArray { sheet, cells, commands, page_order, .. } = self;
        if skills::any(S, skills::RARE_ON_FLASH) {
            // A page that is programmed in place may have been programmed since its read came.
            if page_order.is_some() && commands[id].kind == Kind::Read {
                cells.find_effort(sheet, now, &mut commands[id]);
            }
            if let ProgramCost::ByCrowd(crowd) = self.commands[id].cost {
                self.decide_cost(id, crowd);
            }
        }
        if !skills::any(S, skills::TIMES | skills::SLC | skills::RARE_ON_FLASH) {
            return self.sheet.flat[self.commands[id].kind as usize];
        }
        match skills::any(S, skills::RARE_ON_FLASH) {
            true => self.sheet.in_cells(&self.commands[id]),
            false => self.sheet.in_cells_of_page(&self.commands[id]),
        }
    }

    /// Decides the cost of a program that begins, where it depends on whether other commands wait.
    #[cold]
    fn decide_cost(&mut self, id: CommandId, crowd: Crowd) {
        let is_waited_for = |station: &Station| station.lanes.first().is_some();
        let waiting = match crowd {
            Crowd::Die => self
                .stations_of(StationId::of(self.commands[id].ticket.die))
                .any(|one| is_waited_for(&self.stations[one.at()])),
            Crowd::Device => self.stations.iter().any(is_waited_for),
        };
        let class = if waiting { CostClass::Low } else { CostClass::High };
        self.commands[id].set_cost(ProgramCost::Of(class));
    }

    /// Moves what the cells of a die sensed to its register, where it waits for the bus.
    #[inline]
    pub fn hold(&mut self, now: SimTime, die: StationId) {
        let station = &mut self.stations[die.at()];
        station.in_register = station.in_cells.take();
        station.die.hold(now);
    }

    /// Begins the wait of what the cells of a die have sensed for the bus. What gets it at once needs no account.
    #[inline]
    pub fn wait_to_send<const S: Skills>(&mut self, now: SimTime, die: StationId) {
        let Some(first) = self.stations[die.at()].in_cells else { return };
        self.commands[first].ticket.waiting_since = now;
        if self.companion::<S>(first).is_some() {
            self.mark_to_send::<S>(now, die, first);
        }
    }

    /// The same for all commands of an operation, of which some will have to wait.
    #[cold]
    pub fn mark_to_send<const S: Skills>(
        &mut self,
        now: SimTime,
        die: StationId,
        first: CommandId,
    ) {
        let channel = self.stations[die.at()].channel;
        let gc_mark = self.lines[channel.at()].channel.gc_until(now);
        let mut next = Some(first);
        while let Some(id) = next {
            let ticket = &mut self.commands[id].ticket;
            (ticket.waiting_since, ticket.gc_mark) = (now, gc_mark);
            next = self.companion::<S>(id);
        }
    }

    /// Occupies the bus of a channel for a transfer. Returns its end.
    #[inline]
    pub fn occupy(
        &mut self,
        now: SimTime,
        channel: ChannelId,
        span: Nanos,
        for_gc: bool,
    ) -> SimTime {
        self.lines[channel.at()].occupy(self.plant, now, span, for_gc)
    }
}
