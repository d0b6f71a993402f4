//! What somebody who watches the flash is told.

use super::command::{Arrival, Origin};
use crate::nand::Kind;
use crate::units::{ChannelId, DieId, Ppn, SimTime};

/// A span of time in which a part of the device was busy, as a [`Probe`] sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// What was being done.
    pub kind: Kind,
    /// On whose account.
    pub origin: Origin,
    /// How many commands had arrived before the one that is served ([`Arrival::sequence`]).
    pub sequence: u64,
    /// The page (of a flash page or block, the first).
    pub page: Ppn,
    /// The die.
    pub die: DieId,
    /// Its channel.
    pub channel: ChannelId,
    /// From when.
    pub from: SimTime,
    /// Until when.
    pub until: SimTime,
}

/// Observes the flash without changing it. The default does nothing and costs nothing.
pub trait Probe {
    /// Whether it observes anything at all.
    const ACTIVE: bool = true;

    /// A command arrives, and waits for its die.
    fn arrives(&mut self, _arrival: &Arrival) {}
    /// The cells of a die are busy.
    fn cell(&mut self, _activity: &Activity) {}
    /// The bus of a channel is busy.
    fn bus(&mut self, _activity: &Activity) {}
    /// The cells leave what they were said to be busy with, at this moment. They will be said to be
    /// busy with the rest when they go on.
    fn pause(&mut self, _activity: &Activity, _at: SimTime) {}
}

impl Probe for () {
    const ACTIVE: bool = false;
}
