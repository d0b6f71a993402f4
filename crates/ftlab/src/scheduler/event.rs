//! The events of the flash.

use std::num::NonZeroU32;

use super::decoder::PoolId;
use super::station::StationId;
use crate::engine::EventQueue;
use crate::units::ChannelId;

/// A die finishes a step or looks for new commands, a bus that is wanted becomes free, or a page is decoded.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Die(StationId),
    Look(StationId),
    Bus(ChannelId),
    Decoded(PoolId),
}

/// An event in four bytes, because the queue has thousands of places for one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed(NonZeroU32);

/// The queue of events.
pub(super) type Events = EventQueue<Packed>;

/// Bits for the kind of an event. All kinds are odd, so that no packed event is zero.
const KIND_BITS: u32 = 3;
const KIND: u32 = (1 << KIND_BITS) - 1;
const DIE: u32 = 1;
const LOOK: u32 = 3;
const BUS: u32 = 5;
const DECODED: u32 = 7;

impl Event {
    /// Packs the event. No device has so many dies that the number would not fit.
    #[inline(always)]
    pub fn packed(self) -> Packed {
        let (number, kind) = match self {
            Event::Die(die) => (die.get(), DIE),
            Event::Look(die) => (die.get(), LOOK),
            Event::Bus(channel) => (channel.get(), BUS),
            Event::Decoded(pool) => (pool, DECODED),
        };
        debug_assert!(number <= u32::MAX >> KIND_BITS);
        Packed(NonZeroU32::MIN | (number << KIND_BITS | kind))
    }
}

impl Packed {
    /// The die, if it finishes a step, as in nearly every event.
    #[inline(always)]
    pub fn of_die(self) -> Option<StationId> {
        (self.0.get() & KIND == DIE).then(|| StationId::new(self.0.get() >> KIND_BITS))
    }

    pub fn event(self) -> Event {
        let number = self.0.get() >> KIND_BITS;
        match self.0.get() & KIND {
            DIE => Event::Die(StationId::new(number)),
            LOOK => Event::Look(StationId::new(number)),
            DECODED => Event::Decoded(number),
            _ => Event::Bus(ChannelId::new(number)),
        }
    }
}
