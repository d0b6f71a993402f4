//! Where a flash page that is about to be written goes: which plane, and so which die and channel. The
//! block within the plane is the FTL's: it fills one block after the other.

mod dynamic;
mod static_stripe;

pub use dynamic::Dynamic;
pub use static_stripe::{Level, StaticStripe};

use crate::policy::seam;
use crate::scheduler::{DieSet, Load};
use crate::units::{Lpn, PlaneId};

seam! {
    /// Chooses the plane of a flash page.
    pub enum Placement ("ftl.placement.policy" = "dynamic") as PlacementChoice, with placement_policy {
        Static(StaticStripe),
        Dynamic(Dynamic),
    }
}

/// What a policy sees.
#[derive(Clone, Copy, Debug)]
pub struct PlacementView<'a> {
    /// Commands waiting or running, by die.
    pub load: &'a Load,
    /// Where the host may write at present.
    pub writable: &'a Writable,
}

/// Where the host may write: planes with room for it.
#[derive(Clone, Debug)]
pub struct Writable {
    /// By plane.
    pub planes: Vec<bool>,
    /// The dies with a plane in which it may write.
    pub dies: DieSet,
}

impl Placement {
    /// The plane for a flash page whose first logical page is `page`, or none if all that it may
    /// use are full at present.
    #[inline]
    pub fn choose(&mut self, page: Lpn, view: &PlacementView<'_>) -> Option<PlaneId> {
        placement_policy!(self, policy => policy.choose(page, view))
    }

    /// If only certain logical pages may share a flash page: the first of those that may share one
    /// with `page`; they follow it in a row, as many as a flash page holds.
    #[inline]
    #[must_use]
    pub fn group(&self, page: Lpn) -> Option<Lpn> {
        placement_policy!(self, policy => policy.group(page))
    }

    /// The one plane to which a logical page may go, if its address decides that.
    #[must_use]
    pub fn home(&self, page: Lpn) -> Option<PlaneId> {
        placement_policy!(self, policy => policy.home(page))
    }
}
