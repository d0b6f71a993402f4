//! What a scheduling policy may look at: what commands cost, and what the dies and buses are busy with.

use super::command::{Command, CommandId, Found};
use super::line::Line;
use super::page_order::PageOrder;
use super::station::Station;
use crate::engine::Slab;
use crate::nand::timing::{Bus, Prices, ProgramOf, ReadOf};
use crate::nand::{Cells, Kind, Register};
use crate::shape::Geometry;
use crate::units::{ChannelId, DieId, Nanos, SimTime};

/// What a die is in the middle of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Present {
    /// It is free, or will be at this moment.
    FreeAt(SimTime),
    /// It sends what it sensed, from this moment on, if it gets the bus; for a command of this arrival number.
    Sends { from: SimTime, came: u64, on_bus: Nanos },
}

/// The flash as a policy sees it. Nothing can be changed through it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub(super) geometry: &'a Geometry,
    pub(super) timing: &'a Prices,
    pub(super) bus: &'a Bus,
    pub(super) resume: Nanos,
    pub(super) commands: &'a Slab<Command>,
    pub(super) stations: &'a [Station],
    pub(super) lines: &'a [Line],
    pub(super) page_order: Option<&'a PageOrder>,
    pub(super) data_out_first: bool,
}

impl<'a> View<'a> {
    /// The shape of the device.
    #[must_use]
    pub fn geometry(&self) -> &'a Geometry {
        self.geometry
    }

    /// A command that waits or runs.
    #[must_use]
    pub fn command(&self, id: CommandId) -> &'a Command {
        &self.commands[id]
    }

    /// The rank of the last command that waits for the page of `command`, where pages are programmed in place.
    /// Elsewhere nobody reads a page that is yet to be programmed.
    #[must_use]
    pub fn last_on_page(&self, command: &Command) -> Option<u64> {
        let last = self.page_order?.last(self.geometry.flash_page_of(command.page))?;
        Some(self.commands[last].ticket.key)
    }

    /// How long the data of a command takes the bus.
    #[must_use]
    pub fn data_on_bus(&self, command: &Command) -> Nanos {
        match command.kind {
            Kind::Read | Kind::Program => self.bus.transfer(command.codewords),
            Kind::Erase | Kind::Copyback => Nanos::ZERO,
        }
    }

    /// How long a command without its data takes the bus; none if it needs no bus.
    #[must_use]
    pub fn command_on_bus(&self) -> Option<Nanos> {
        self.bus.carries_commands().then(|| self.bus.command())
    }

    /// How long a command takes the cells.
    #[inline(always)]
    #[must_use]
    pub fn in_cells(&self, command: &Command) -> Nanos {
        cells_price(self.timing, self.geometry, command)
    }

    /// How long a command takes its die, from the moment at which it begins, if nothing is in its way.
    #[must_use]
    pub fn service(&self, command: &Command) -> Nanos {
        self.bus.command() + self.data_on_bus(command) + self.in_cells(command)
    }

    /// How long what was sensed together takes the bus.
    fn moving(&self, first: Option<CommandId>) -> Nanos {
        let chain = std::iter::successors(first, |&id| self.commands[id].ticket.next);
        chain.fold(Nanos::ZERO, |sum, id| sum + self.bus.transfer(self.commands[id].codewords))
    }

    /// What a die is in the middle of.
    pub(super) fn present(&self, die: DieId, now: SimTime) -> Present {
        let station = &self.stations[die.at()];
        let sensed = match (station.die.cells(), station.die.register()) {
            (Cells::Sensing, Register::Empty) => Some((station.in_cells, station.cells_until)),
            (_, Register::Holding) => Some((station.in_register, now)),
            _ => None,
        };
        match sensed {
            Some((Some(first), from)) => Present::Sends {
                from,
                came: self.commands[first].ticket.arrival,
                on_bus: self.moving(Some(first)),
            },
            _ => Present::FreeAt(now + self.left_of(die, now)),
        }
    }

    /// What is left of what a die does, if nothing is in its way.
    #[must_use]
    pub fn left_of(&self, die: DieId, now: SimTime) -> Nanos {
        let station = &self.stations[die.at()];
        let until_done = station.cells_until.saturating_since(now);
        let cells = match station.die.cells() {
            Cells::Idle => Nanos::ZERO,
            Cells::Sensed => self.moving(station.in_cells),
            Cells::Sensing => until_done + self.moving(station.in_cells),
            Cells::Programming | Cells::Erasing | Cells::Copying | Cells::Pausing => until_done,
        };
        let register = match station.die.register() {
            Register::Empty => Nanos::ZERO,
            Register::Holding => self.moving(station.in_register),
            Register::Sending => {
                let rest =
                    station.in_register.and_then(|sending| self.commands[sending].ticket.next);
                station.sent_at.saturating_since(now) + self.moving(rest)
            }
            Register::Loaded => {
                station.in_register.map_or(Nanos::ZERO, |id| self.in_cells(&self.commands[id]))
            }
        };
        let paused = station.paused.map_or(Nanos::ZERO, |paused| paused.left() + self.resume);
        cells + register + paused
    }

    /// What is left of the transfer on the bus of a channel.
    #[must_use]
    pub fn left_on_bus(&self, channel: ChannelId, now: SimTime) -> Nanos {
        self.lines[channel.at()].channel.free_at().saturating_since(now)
    }
}

/// What a command costs the cells.
#[inline(always)]
pub(super) fn cells_price(timing: &Prices, geometry: &Geometry, command: &Command) -> Nanos {
    let Command { kind, page, source, mode, found: Found { effort, .. }, .. } = *command;
    let class = command.class();
    let program = ProgramOf { page, mode, class };
    match kind {
        Kind::Read => timing.read(geometry, &ReadOf { page, mode, effort }),
        Kind::Program => timing.program(geometry, &program),
        Kind::Erase => timing.erase(mode),
        Kind::Copyback => {
            let page = source.expect("a copyback says what it copies");
            let read = ReadOf { page, mode, effort };
            timing.read(geometry, &read) + timing.program(geometry, &program)
        }
    }
}
