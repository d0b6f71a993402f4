//! What a scheduling policy may look at: the cost of commands, and what the dies and buses are busy with.

use super::array::FlashArray;
use super::command::{Command, CommandId};
use super::station::StationId;
use crate::nand::{Cells, Kind, Register};
use crate::shape::FlashGeometry;
use crate::units::{ChannelId, DieId, Nanos, SimTime};

/// What a die is doing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Present {
    /// It is or will be free at this time.
    FreeAt(SimTime),
    /// It sends what it sensed, from this time on, as soon as it gets the bus. `came` is the arrival number of
    /// the command.
    Sends { from: SimTime, came: u64, on_bus: Nanos },
}

/// A read-only view of the flash for a policy.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub(super) array: &'a FlashArray,
}

impl<'a> View<'a> {
    /// The shape of the device.
    #[must_use]
    pub fn geometry(&self) -> &'a FlashGeometry {
        &self.array.sheet.geometry
    }

    /// Whether a plane of a die is short of free blocks, for policies that [follow it](super::SchedulerPolicy::follows_space).
    #[must_use]
    pub fn is_short_of_space(&self, die: DieId) -> bool {
        self.array.is_short_of_space(die)
    }

    /// A command that waits or runs.
    #[must_use]
    pub fn command(&self, id: CommandId) -> &'a Command {
        &self.array.commands[id]
    }

    /// The rank of the last command that waits for the page of `command`, if pages are programmed in place.
    /// Otherwise a page is never read before it is programmed.
    #[must_use]
    pub fn last_on_page(&self, command: &Command) -> Option<u64> {
        let last =
            self.array.page_order.as_ref()?.last(self.geometry().flash_page_of(command.page))?;
        Some(self.array.commands[last].ticket.key)
    }

    /// Time that the data of a command takes on the bus.
    #[must_use]
    pub fn data_on_bus(&self, command: &Command) -> Nanos {
        match command.kind {
            Kind::Read | Kind::Program => self.array.sheet.bus.transfer(command.codewords),
            Kind::Erase | Kind::Copyback => Nanos::ZERO,
        }
    }

    /// Time that a command without its data takes on the bus, or `None` if it needs no bus.
    #[must_use]
    pub fn command_on_bus(&self) -> Option<Nanos> {
        self.array.sheet.bus.carries_commands().then(|| self.array.sheet.bus.command())
    }

    /// Whether a bus moves out data that waits in the dies before it begins anything else.
    pub(super) fn data_out_first(&self) -> bool {
        self.array.rules.data_out_first
    }

    /// Time that a command takes in the cells.
    #[inline(always)]
    #[must_use]
    pub fn in_cells(&self, command: &Command) -> Nanos {
        self.array.sheet.in_cells(command)
    }

    /// Time from the moment a command begins on its die to its end, if nothing delays it.
    #[must_use]
    pub fn service(&self, command: &Command) -> Nanos {
        self.array.sheet.bus.command() + self.data_on_bus(command) + self.in_cells(command)
    }

    /// Time to move everything that was sensed together over the bus.
    fn moving(&self, first: Option<CommandId>) -> Nanos {
        let chain = std::iter::successors(first, |&id| self.array.commands[id].ticket.next);
        chain.fold(Nanos::ZERO, |sum, id| {
            sum + self.array.sheet.bus.transfer(self.array.commands[id].codewords)
        })
    }

    /// What a die is doing.
    pub(super) fn present(&self, die: DieId, now: SimTime) -> Present {
        if self.array.apart.is_some() {
            return Present::FreeAt(now + self.left_of(die, now));
        }
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

    /// Time until a die is done, if nothing delays it.
    #[must_use]
    pub fn left_of(&self, die: DieId, now: SimTime) -> Nanos {
        let die = StationId::of(die);
        if self.array.apart.is_none() {
            return self.left_of_station(die, now);
        }
        // Planes that sense on their own are done when the last of them is.
        let stations = self.array.stations_of(die);
        stations.map(|one| self.left_of_station(one, now)).max().unwrap_or_default()
    }

    fn left_of_station(&self, at: StationId, now: SimTime) -> Nanos {
        let station = &self.array.stations[at.at()];
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

    /// Time until the current transfer on the bus of a channel ends.
    #[must_use]
    pub fn left_on_bus(&self, channel: ChannelId, now: SimTime) -> Nanos {
        self.array.lines[channel.at()].channel.free_at().saturating_since(now)
    }
}
