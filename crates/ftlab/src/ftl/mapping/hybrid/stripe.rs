//! The striping of logical pages over the planes, in both directions.

use crate::engine::Divisor;
use crate::ftl::placement::StaticStripe;
use crate::shape::Geometry;
use crate::units::{Lpn, PlaneId};

/// The stripe over N planes: logical page u lies on the plane at position u mod N of the stripe, as
/// page u div N of that plane.
#[derive(Clone, Debug)]
pub struct Stripe {
    planes: Divisor,
    /// By position in the stripe.
    plane_at: Vec<PlaneId>,
    /// By plane: its position in the stripe.
    place_of: Vec<u32>,
}

impl Stripe {
    /// Returns the stripe of a placement under which each flash page holds one logical page.
    #[must_use]
    pub fn of(placement: &StaticStripe, geometry: &Geometry) -> Stripe {
        let planes = geometry.planes();
        let plane_at: Vec<PlaneId> =
            (0..planes).map(|place| placement.plane_of(Lpn::new(place))).collect();
        let mut place_of = vec![0; planes as usize];
        (0..).zip(&plane_at).for_each(|(place, plane)| place_of[plane.at()] = place);
        Stripe { planes: Divisor::new(planes), plane_at, place_of }
    }

    /// Returns the number of planes.
    #[must_use]
    pub fn planes(&self) -> u32 {
        self.planes.get()
    }

    /// Returns the plane of a logical page, and its number on that plane.
    #[inline]
    #[must_use]
    pub fn split(&self, page: Lpn) -> (PlaneId, u32) {
        let (local, place) = self.planes.split(page.get());
        (self.plane_at[place as usize], local)
    }

    /// Returns the logical page with number `local` on `plane`.
    #[inline]
    #[must_use]
    pub fn page(&self, plane: PlaneId, local: u32) -> Lpn {
        Lpn::new(local * self.planes.get() + self.place_of[plane.at()])
    }
}
