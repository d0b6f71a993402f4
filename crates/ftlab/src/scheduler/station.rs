//! A die, what waits for it, and what its cells and register are busy with.

use super::command::CommandId;
use super::lanes::Lanes;
use super::line::Line;
use super::pause::Suspension;
use crate::nand::{Cells, Die, Kind};
use crate::shape::FlashGeometry;
use crate::units::{ChannelId, DieId, Nanos, SimTime};

/// A die, or a plane that senses on its own: the number of its [`Station`]. The dies come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StationId(u32);

impl StationId {
    /// Returns the station with this number.
    #[inline(always)]
    pub const fn new(number: u32) -> StationId {
        StationId(number)
    }

    /// The station of a die.
    #[inline(always)]
    pub const fn of(die: DieId) -> StationId {
        StationId(die.get())
    }

    #[inline(always)]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Its index in a list of all stations.
    #[inline(always)]
    pub const fn at(self) -> usize {
        self.0 as usize
    }
}

/// A die and its state, or that of a plane that senses on its own.
#[derive(Clone, Debug)]
pub(super) struct Station {
    /// The channel whose bus serves it.
    pub channel: ChannelId,
    pub die: Die,
    pub lanes: Lanes,
    /// What the cells do: the first of the commands that share the operation.
    pub in_cells: Option<CommandId>,
    /// When the cells begin: until then, addresses and data move in.
    pub cells_from: SimTime,
    /// When the cells are done.
    pub cells_until: SimTime,
    /// What the register holds: the first of the commands, likewise.
    pub in_register: Option<CommandId>,
    /// When the data that the register sends has left it.
    pub sent_at: SimTime,
    /// When the data that the register loads has arrived.
    pub loaded_at: SimTime,
    /// The operation suspended for host reads.
    pub suspension: Suspension,
    /// Whether it will look for something to begin once everything that comes at this time has come.
    pub will_look: bool,
    /// Whether it is in the line for the bus.
    pub wants_bus: bool,
    /// Whether it is free, and what it waits for is the bus.
    pub waits_free: bool,
    /// The time that the channel had spent on collection when that wait began.
    pub bus_gc_mark: Nanos,
    /// The time that collection had the bus during earlier waits of this kind.
    pub bus_gc: Nanos,
}

impl Station {
    /// Returns an idle die.
    pub fn new(geometry: &FlashGeometry, die: DieId) -> Station {
        let (channel, _) = geometry.channel_of(die);
        Station {
            channel,
            die: Die::default(),
            lanes: Lanes::default(),
            in_cells: None,
            cells_from: SimTime::ZERO,
            cells_until: SimTime::ZERO,
            in_register: None,
            sent_at: SimTime::ZERO,
            loaded_at: SimTime::ZERO,
            suspension: Suspension::default(),
            will_look: false,
            wants_bus: false,
            waits_free: false,
            bus_gc_mark: Nanos::ZERO,
            bus_gc: Nanos::ZERO,
        }
    }

    /// Returns the time until `now` for which the device's own work held what commands of this die waited for: the die,
    /// or the bus while the die was free.
    #[inline(always)]
    pub fn held_until(&self, now: SimTime, lines: &[Line]) -> Nanos {
        self.die.gc_until(now) + self.bus_held_until(now, lines)
    }

    /// The bus alone.
    #[inline(always)]
    pub fn bus_held_until(&self, now: SimTime, lines: &[Line]) -> Nanos {
        match self.waits_free {
            true => self.bus_gc + self.now_held(now, &lines[self.channel.at()]),
            false => self.bus_gc,
        }
    }

    /// The time that collection has had the bus since the die, which is free, waits for it.
    fn now_held(&self, now: SimTime, line: &Line) -> Nanos {
        Nanos(line.channel.gc_until(now).0 - self.bus_gc_mark.0)
    }

    /// Begins a wait for the bus, if the die is free and has not begun to wait.
    #[inline]
    pub fn begin_free_wait(&mut self, now: SimTime, line: &Line) {
        if !self.waits_free && self.die.is_idle() {
            self.waits_free = true;
            self.bus_gc_mark = line.channel.gc_until(now);
        }
    }

    /// Ends a wait of the free die for the bus, if there is one: it gets the bus, does something else, or wants it no
    /// longer.
    #[inline]
    pub fn end_free_wait(&mut self, now: SimTime, line: &Line) {
        if self.waits_free {
            self.bus_gc += self.now_held(now, line);
            self.waits_free = false;
        }
    }
}

/// The state of the cells during a command of this kind.
pub(super) fn cells_for(kind: Kind) -> Cells {
    match kind {
        Kind::Read => Cells::Sensing,
        Kind::Program => Cells::Programming,
        Kind::Erase => Cells::Erasing,
        Kind::Copyback => Cells::Copying,
    }
}
