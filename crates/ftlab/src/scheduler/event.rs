//! What happens next in the flash.

use crate::engine::EventQueue;
use crate::units::{ChannelId, DieId};

/// A die is done with a step, or has to look what came for it; a bus that is wanted falls free.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Die(DieId),
    Look(DieId),
    Bus(ChannelId),
}

/// The events to come.
pub(super) type Events = EventQueue<Event>;
