//! Observation of the flash.

use super::command::{Arrival, Origin};
use crate::nand::Kind;
use crate::units::{ChannelId, DieId, Ppn, SimTime};

/// A span of time in which a part of the device was busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// What was done.
    pub kind: Kind,
    /// Its purpose.
    pub origin: Origin,
    /// Number of commands that arrived before the one that is served ([`Arrival::sequence`]).
    pub sequence: u64,
    /// The page; the first one of a flash page or block.
    pub page: Ppn,
    /// The die.
    pub die: DieId,
    /// Its channel.
    pub channel: ChannelId,
    /// The start.
    pub from: SimTime,
    /// The end.
    pub until: SimTime,
}

/// Observes the flash without changing it. The default does nothing and costs nothing.
pub trait Probe {
    /// Whether it observes anything at all.
    const ACTIVE: bool = true;

    /// Called when a command arrives, before it waits for its die.
    fn arrives(&mut self, _arrival: &Arrival) {}
    /// Called for a span in which the cells of a die are busy.
    fn cell(&mut self, _activity: &Activity) {}
    /// Called for a span in which the bus of a channel is busy.
    fn bus(&mut self, _activity: &Activity) {}
    /// Called when the cells suspend an activity that was already reported. The rest is reported
    /// when they resume.
    fn pause(&mut self, _activity: &Activity, _at: SimTime) {}
}

impl Probe for () {
    const ACTIVE: bool = false;
}
