//! A bus, and the dies that want it.

use super::command::CommandId;
use super::event::Events;
use super::station::StationId;
use crate::nand::Channel;
use crate::units::{Nanos, SimTime};
use crate::verify::{Canary, Plant};

/// A bus, and the dies that want it.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pub channel: Channel,
    pub wanted_by: Vec<StationId>,
    /// When the decision whom to serve was last put off to the end of the same moment.
    pub put_off: Option<SimTime>,
}

impl Line {
    /// Whether a die that wants the bus gets it at once: it is free, no die waits for it, and no other event at
    /// this time can bring another die.
    #[inline(always)]
    pub fn is_free_at_once(&self, now: SimTime, events: &Events) -> bool {
        self.wanted_by.is_empty() && self.channel.is_free(now) && events.next_time() != Some(now)
    }

    /// Occupies the bus for a transfer. Returns its end.
    #[inline(always)]
    pub fn occupy(&mut self, plant: Plant, now: SimTime, span: Nanos, for_gc: bool) -> SimTime {
        match plant.is(Canary::BusFreeEarly) {
            true => {
                self.channel.transfer(now, Nanos(span.0 / 2), for_gc) + Nanos(span.0 - span.0 / 2)
            }
            false => self.channel.transfer(now, span, for_gc),
        }
    }
}

/// Which of the commands that want a bus it serves first when it becomes free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusOrder {
    /// The one of the best rank.
    Rank,
    /// The one that arrived first.
    Arrival,
}

/// What a die wants the bus for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wish {
    /// To send what its register holds for this command.
    Send(CommandId),
    /// To begin this command, which waits in its lane.
    Begin(CommandId),
}

impl Wish {
    /// The command concerned.
    pub fn command(self) -> CommandId {
        match self {
            Wish::Send(id) | Wish::Begin(id) => id,
        }
    }
}

/// The best candidate so far in a search of the line.
#[derive(Clone, Copy, Debug)]
pub(super) struct BusTurn {
    /// Whether data that dies hold goes first, whatever the ranks.
    pub waits_for_data: bool,
    pub rank: (u64, u64),
    /// Its index in the line.
    pub place: usize,
    pub wish: Wish,
}
