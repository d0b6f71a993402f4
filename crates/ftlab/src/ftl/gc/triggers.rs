//! What else decides when a plane collects, and at which pace, beside its thresholds. All of it is off
//! unless it is asked for.
//!
//! - *Scope*: when one plane must collect, others collect a block, too, so that their dies work at the
//!   same time instead of one after the other.
//! - *Background*: an idle device collects before it must. The copies stop when the host comes back,
//!   and go on when it is idle again, or when the plane is short or has another block to empty.
//! - *Preemption*: commands of collection wait until their die has nothing else to do (Lee, Kim,
//!   Shipman, Oral and Kim, "A Semi-Preemptive Garbage Collector for Solid State Drives", ISPASS 2011).
//!   They yield between commands; what runs is not interrupted, that is suspension.
//! - *Increments*: a plane makes at most so many copies for each flash page that the host writes to it,
//!   which spreads the work. `copies_in_flight` bounds how much of it is done at once, and
//!   `host_lead` the other side: how far the host may run ahead of collection where blocks are scarce.
//!
//! Preemption and increments end at a hard limit of free blocks, and where the host waits for
//! the plane. In a pause between requests increments stand still; a device from which nothing more
//! is asked finishes what it began.

use crate::options::declare::choices;
use crate::shape::Geometry;
use crate::units::{Nanos, PlaneId};

choices! {
    /// Which planes collect together.
    pub enum Scope {
        /// Each plane for itself.
        Plane = "plane",
        /// The planes of a die.
        Die = "die",
        /// The planes on a channel.
        Channel = "channel",
        /// All planes.
        Device = "device",
    }
}

impl Scope {
    /// The planes that collect together with one, itself included.
    pub(super) fn planes(
        self,
        geometry: &Geometry,
        plane: PlaneId,
    ) -> impl Iterator<Item = PlaneId> + use<> {
        let die = geometry.die_of(plane);
        let of_die = geometry.planes_per_die();
        // Planes are numbered die by die, dies channel by channel.
        let (first, count) = match self {
            Scope::Plane => (plane, 1),
            Scope::Die => (geometry.plane_in(die, 0), of_die),
            Scope::Channel => {
                let first = geometry.die_on(geometry.channel_of(die).0, 0);
                (geometry.plane_in(first, 0), geometry.dies_per_channel() * of_die)
            }
            Scope::Device => (PlaneId::new(0), geometry.planes()),
        };
        (first.get()..first.get() + count).map(PlaneId::new)
    }
}

/// Collection while the host is idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Background {
    /// It begins when the device has held no request for so long.
    pub after: Nanos,
    /// It goes on in a plane until so many blocks are free.
    pub blocks: u32,
}

/// When and how fast, beyond the thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triggers {
    /// Which planes collect together.
    pub scope: Scope,
    /// Collection while the host is idle.
    pub background: Option<Background>,
    /// Whether collection waits for a die to have nothing else to do.
    pub preemptible: bool,
    /// Copies for each flash page that the host writes to the plane.
    pub copies_per_write: Option<u32>,
    /// At so many free blocks of a plane, or fewer, collection neither yields nor waits.
    pub hard_limit: u32,
    /// Whether flash pages that are valid as a whole are copied within the plane, without the bus.
    pub copyback: bool,
}

impl Triggers {
    /// Nothing beyond the thresholds.
    pub const NONE: Triggers = Triggers {
        scope: Scope::Plane,
        background: None,
        preemptible: false,
        copies_per_write: None,
        hard_limit: 0,
        copyback: false,
    };

    /// Whether there is anything beyond the thresholds. The hard limit is nothing by itself: it ends what the others
    /// make collection wait for.
    #[must_use]
    pub fn are_set(&self) -> bool {
        let Triggers { hard_limit: _, scope, background, preemptible, copies_per_write, copyback } =
            *self;
        scope != Scope::Plane
            || background.is_some()
            || preemptible
            || copies_per_write.is_some()
            || copyback
    }

    /// All that counts free blocks higher by so many.
    #[must_use]
    pub fn raised_by(self, blocks: u32) -> Triggers {
        let higher = |background: Background| Background {
            blocks: background.blocks + blocks,
            ..background
        };
        Triggers {
            background: self.background.map(higher),
            hard_limit: self.hard_limit + blocks,
            ..self
        }
    }
}
