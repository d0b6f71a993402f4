//! What a scheduling policy may look at: what commands cost, and what the dies and buses are busy with.

use super::array::FlashArray;
use super::command::{Command, CommandId};
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
    pub(super) array: &'a FlashArray,
}

impl<'a> View<'a> {
    /// The shape of the device.
    #[must_use]
    pub fn geometry(&self) -> &'a Geometry {
        &self.array.sheet.geometry
    }

    /// A command that waits or runs.
    #[must_use]
    pub fn command(&self, id: CommandId) -> &'a Command {
        &self.array.commands[id]
    }

    /// The rank of the last command that waits for the page of `command`, where pages are programmed in place.
    /// Elsewhere nobody reads a page that is yet to be programmed.
    #[must_use]
    pub fn last_on_page(&self, command: &Command) -> Option<u64> {
        let last =
            self.array.page_order.as_ref()?.last(self.geometry().flash_page_of(command.page))?;
        Some(self.array.commands[last].ticket.key)
    }

    /// How long the data of a command takes the bus.
    #[must_use]
    pub fn data_on_bus(&self, command: &Command) -> Nanos {
        match command.kind {
            Kind::Read | Kind::Program => self.array.sheet.bus.transfer(command.codewords),
            Kind::Erase | Kind::Copyback => Nanos::ZERO,
        }
    }

    /// How long a command without its data takes the bus; none if it needs no bus.
    #[must_use]
    pub fn command_on_bus(&self) -> Option<Nanos> {
        self.array.sheet.bus.carries_commands().then(|| self.array.sheet.bus.command())
    }

    /// Whether a bus moves out what waits in the dies before it begins anything.
    pub(super) fn data_out_first(&self) -> bool {
        self.array.rules.data_out_first
    }

    /// How long a command takes the cells.
    #[inline(always)]
    #[must_use]
    pub fn in_cells(&self, command: &Command) -> Nanos {
        self.array.sheet.in_cells(command)
    }

    /// How long a command takes its die, from the moment at which it begins, if nothing is in its way.
    #[must_use]
    pub fn service(&self, command: &Command) -> Nanos {
        self.array.sheet.bus.command() + self.data_on_bus(command) + self.in_cells(command)
    }

    /// How long what was sensed together takes the bus.
    fn moving(&self, first: Option<CommandId>) -> Nanos {
        let chain = std::iter::successors(first, |&id| self.array.commands[id].ticket.next);
        chain.fold(Nanos::ZERO, |sum, id| {
            sum + self.array.sheet.bus.transfer(self.array.commands[id].codewords)
        })
    }

    /// What a die is in the middle of.
    pub(super) fn present(&self, die: DieId, now: SimTime) -> Present {
        let station = &self.array.stations[die.at()];
        let sensed = match (station.die.cells(), station.die.register()) {
            (Cells::Sensing, Register::Empty) => Some((station.in_cells, station.cells_until)),
            (_, Register::Holding) => Some((station.in_register, now)),
            _ => None,
        };
        match sensed {
            Some((Some(first), from)) => Present::Sends {
                from,
                came: self.array.commands[first].ticket.arrival,
                on_bus: self.moving(Some(first)),
            },
            _ => Present::FreeAt(now + self.left_of(die, now)),
        }
    }

    /// What is left of what a die does, if nothing is in its way.
    #[must_use]
    pub fn left_of(&self, die: DieId, now: SimTime) -> Nanos {
        let station = &self.array.stations[die.at()];
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
                let rest = station
                    .in_register
                    .and_then(|sending| self.array.commands[sending].ticket.next);
                station.sent_at.saturating_since(now) + self.moving(rest)
            }
            Register::Loaded => station
                .in_register
                .map_or(Nanos::ZERO, |id| self.in_cells(&self.array.commands[id])),
        };
        let resume = self.array.sheet.abilities.pause.resume;
        let paused = station.suspension.paused.as_ref();
        cells + register + paused.map_or(Nanos::ZERO, |paused| paused.left + resume)
    }

    /// What is left of the transfer on the bus of a channel.
    #[must_use]
    pub fn left_on_bus(&self, channel: ChannelId, now: SimTime) -> Nanos {
        self.array.lines[channel.at()].channel.free_at().saturating_since(now)
    }
}
