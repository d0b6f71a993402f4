//! A die, what waits for it, and what its cells and register are busy with.

use super::command::CommandId;
use super::lanes::Lanes;
use super::pause::Suspension;
use crate::nand::{Cells, Die, Kind};
use crate::shape::Geometry;
use crate::units::{ChannelId, DieId, Nanos, SimTime};

/// A die and its state.
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
    /// The time that the channel had spent on collection when the die began to want the bus.
    pub bus_gc_mark: Nanos,
}

impl Station {
    /// Returns an idle die.
    pub fn new(geometry: &Geometry, die: DieId) -> Station {
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
            bus_gc_mark: Nanos::ZERO,
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
