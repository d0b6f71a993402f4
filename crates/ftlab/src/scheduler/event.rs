//! What happens next in the flash.

use std::num::NonZeroU32;

use crate::engine::EventQueue;
use crate::units::{ChannelId, DieId};

/// A die is done with a step, or has to look what came for it; a bus that is wanted falls free.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Die(DieId),
    Look(DieId),
    Bus(ChannelId),
}

/// An event in four bytes, as it waits: there are thousands of places for one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed(NonZeroU32);

/// The events to come.
pub(super) type Events = EventQueue<Packed>;

/// Bits that say which kind an event is of. All kinds are odd, so that none is zero.
const KIND_BITS: u32 = 3;
const KIND: u32 = (1 << KIND_BITS) - 1;
const DIE: u32 = 1;
const LOOK: u32 = 3;
const BUS: u32 = 5;

impl Event {
    /// As it waits. No device has so many dies that the number would not fit.
    #[inline(always)]
    pub fn packed(self) -> Packed {
        let (number, kind) = match self {
            Event::Die(die) => (die.get(), DIE),
            Event::Look(die) => (die.get(), LOOK),
            Event::Bus(channel) => (channel.get(), BUS),
        };
        debug_assert!(number <= u32::MAX >> KIND_BITS);
        Packed(NonZeroU32::MIN | (number << KIND_BITS | kind))
    }
}

impl Packed {
    /// The die, if it is done with a step: nearly every event is of that kind.
    #[inline(always)]
    pub fn of_die(self) -> Option<DieId> {
        (self.0.get() & KIND == DIE).then(|| DieId::new(self.0.get() >> KIND_BITS))
    }

    pub fn event(self) -> Event {
        let number = self.0.get() >> KIND_BITS;
        match self.0.get() & KIND {
            DIE => Event::Die(DieId::new(number)),
            LOOK => Event::Look(DieId::new(number)),
            _ => Event::Bus(ChannelId::new(number)),
        }
    }
}
