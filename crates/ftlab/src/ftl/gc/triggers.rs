//! Rules beyond the thresholds for when and how fast a plane collects. All are off by default.
//!
//! - *Scope*: when one plane must collect, others collect a block, too, so that their dies work in
//!   parallel instead of one after the other.
//! - *Background*: an idle device collects before it must. The copies stop when the host becomes
//!   active, and continue when it is idle again, or when the plane lacks blocks or has another
//!   block to empty.
//! - *Preemption*: commands of collection wait until their die is idle (Lee, Kim, Shipman, Oral and
//!   Kim, "A Semi-Preemptive Garbage Collector for Solid State Drives", ISPASS 2011). They yield
//!   between commands; interrupting a running command is suspension.
//! - *Increments*: a plane makes a limited number of copies for each flash page that the host
//!   writes to it, which spreads the work. `copies_in_flight` limits how many are made at once, and
//!   [`pacing`](super::pacing) how far the host may run ahead of collection while free blocks are scarce.
//!
//! Preemption and increments end at a hard limit of free blocks, and where the host waits for the plane. Increments
//! pause between requests. A device that is asked for nothing more finishes what it began.

use crate::options::declare::choices;
use crate::shape::Geometry;
use crate::units::{Nanos, PlaneId};

choices! {
    /// Which planes collect together.
    pub enum Scope {
        /// Each plane by itself.
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
    /// The planes that collect together with `plane`, itself included.
    pub(super) fn planes(
        self,
        geometry: &Geometry,
        plane: PlaneId,
    ) -> impl Iterator<Item = PlaneId> + use<> {
        let die = geometry.die_of(plane);
        let of_die = geometry.planes_per_die();
        // Planes are numbered by die, and dies by channel.
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
    /// It begins when the device has held no request for this long.
    pub after: Nanos,
    /// It continues on a plane until this many blocks are free.
    pub blocks: u32,
}

/// Rules beyond the thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triggers {
    /// Which planes collect together.
    pub scope: Scope,
    /// Collection while the host is idle.
    pub background: Option<Background>,
    /// Whether commands of collection wait until their die is idle.
    pub preemptible: bool,
    /// Copies for each flash page that the host writes to the plane, if they are limited.
    pub copies_per_write: Option<u32>,
    /// At this many free blocks of a plane, or fewer, collection neither yields nor waits.
    pub hard_limit: u32,
    /// Whether fully valid flash pages are copied within the plane, without the bus.
    pub copyback: bool,
}

impl Triggers {
    /// No rules beyond the thresholds.
    pub const NONE: Triggers = Triggers {
        scope: Scope::Plane,
        background: None,
        preemptible: false,
        copies_per_write: None,
        hard_limit: 0,
        copyback: false,
    };

    /// Whether there are rules beyond the thresholds. The hard limit alone does nothing: it only
    /// ends the waits of the others.
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

    /// Raises all limits of free blocks.
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
