//! A die, what waits for it, and what its cells and its register are busy with.

use super::command::CommandId;
use super::lanes::Lanes;
use super::pause::Suspension;
use crate::nand::{Cells, Die, Kind};
use crate::shape::Geometry;
use crate::units::{ChannelId, DieId, Nanos, SimTime};

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
    pub suspension: Suspension,
    /// Whether it will look for something to begin when everything has come that comes at this moment.
    pub will_look: bool,
    /// Whether it is on the list of dies that want the bus.
    pub wants_bus: bool,
    /// The channel's account of collection when it began to want the bus.
    pub bus_gc_mark: Nanos,
}

impl Station {
    /// An idle die.
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

/// The cells' state while they do a command of this kind.
pub(super) fn cells_for(kind: Kind) -> Cells {
    match kind {
        Kind::Read => Cells::Sensing,
        Kind::Program => Cells::Programming,
        Kind::Erase => Cells::Erasing,
        Kind::Copyback => Cells::Copying,
    }
}
