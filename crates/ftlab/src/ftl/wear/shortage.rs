//! Planes with fewer good blocks than they need. The device answers: it ends its life, or zones on these planes go out of
//! service, so that the planes need fewer.

use crate::ftl::wear::{EndReason, Life};
use crate::units::PlaneId;

/// Whether planes lack good blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shortage {
    /// They don't.
    #[default]
    None,
    /// The device has yet to answer it.
    New,
    /// Zones will go out of service when they are reset.
    Waits,
}

impl Life {
    /// Returns why it must end, unless zones go out of service instead.
    pub(super) fn must_end(&self) -> Option<EndReason> {
        self.end.or((self.shortage == Shortage::New).then_some(EndReason::TooFewBlocks))
    }

    /// Returns the least number of good blocks of a plane.
    pub(super) fn least(&self, plane: PlaneId) -> u32 {
        self.least_good.saturating_sub(self.relieved[plane.at()])
    }

    /// Returns how many good blocks a plane lacks. One of a dead die lacks none.
    fn lacks(&self, plane: PlaneId) -> u32 {
        match self.good_at_first[plane.at()] {
            0 => 0,
            _ => self.least(plane).saturating_sub(self.good(plane)),
        }
    }

    /// Notes whether a plane lacks good blocks.
    pub(in crate::ftl) fn look_for_shortage(&mut self, plane: PlaneId) {
        if self.lacks(plane) > 0 {
            self.shortage = Shortage::New;
        }
    }

    /// Zones are out of service: a plane needs so many blocks fewer. Returns how many it lacks.
    pub(in crate::ftl) fn relieve(&mut self, plane: PlaneId, blocks: u32) -> u32 {
        self.relieved[plane.at()] = blocks;
        self.lacks(plane)
    }

    /// Zones have gone out of service, or will, if it `waits` for that: the planes need no more blocks than they have.
    pub(in crate::ftl) fn goes_on(&mut self, waits: bool) {
        self.shortage = if waits { Shortage::Waits } else { Shortage::None };
    }

    /// Whether planes lack blocks until zones are reset.
    pub(in crate::ftl) fn waits_for_zones(&self) -> bool {
        self.shortage == Shortage::Waits
    }
}
