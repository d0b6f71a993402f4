//! How logical pages go round the planes, both ways.

use crate::engine::Divisor;
use crate::ftl::placement::StaticStripe;
use crate::shape::Geometry;
use crate::units::{Lpn, PlaneId};

/// Page u lies on the plane at place u mod N of the stripe, as that plane's page u div N.
#[derive(Clone, Debug)]
pub struct Stripe {
    planes: Divisor,
    /// By place in the stripe.
    plane_at: Vec<PlaneId>,
    /// By plane.
    place_of: Vec<u32>,
}

impl Stripe {
    /// The stripe of a placement whose flash pages each hold one logical page.
    #[must_use]
    pub fn of(placement: &StaticStripe, geometry: &Geometry) -> Stripe {
        let planes = geometry.planes();
        let plane_at: Vec<PlaneId> =
            (0..planes).map(|place| placement.plane_of(Lpn::new(place))).collect();
        let mut place_of = vec![0; planes as usize];
        (0..).zip(&plane_at).for_each(|(place, plane)| place_of[plane.at()] = place);
        Stripe { planes: Divisor::new(planes), plane_at, place_of }
    }

    /// How many planes there are.
    #[must_use]
    pub fn planes(&self) -> u32 {
        self.planes.get()
    }

    /// The plane of a logical page, and its number there.
    #[inline]
    #[must_use]
    pub fn split(&self, page: Lpn) -> (PlaneId, u32) {
        let (local, place) = self.planes.split(page.get());
        (self.plane_at[place as usize], local)
    }

    /// The logical page of a number on a plane.
    #[inline]
    #[must_use]
    pub fn page(&self, plane: PlaneId, local: u32) -> Lpn {
        Lpn::new(local * self.planes.get() + self.place_of[plane.at()])
    }
}
