//! Static placement: the logical address alone decides the plane. Consecutive flash pages' worth of
//! logical pages go round the planes in a fixed order, for example over channels first.
//!
//! Source: Hu et al., "Performance Impact and Interplay of SSD Parallelism through Advanced Commands,
//! Allocation Strategy and Data Granularity", ICS 2011 (orders of allocation).

use super::PlacementView;
use crate::engine::Divisor;
use crate::image::keeps_nothing;
use crate::nand::Geometry;
use crate::policy::{NoOptions, Parts, Policy};
use crate::units::{DieId, Lpn, PlaneId};

/// A level of parallelism over which addresses are striped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Channels.
    Channel,
    /// Chips on a channel.
    Chip,
    /// Dies in a chip.
    Die,
    /// Planes in a die.
    Plane,
}

impl Level {
    /// All levels, outermost first.
    pub const ALL: [Level; 4] = [Level::Channel, Level::Chip, Level::Die, Level::Plane];

    fn count(self, geometry: &Geometry) -> u32 {
        let shape = geometry.shape();
        match self {
            Level::Channel => shape.channels,
            Level::Chip => shape.chips_per_channel,
            Level::Die => shape.dies_per_chip,
            Level::Plane => shape.planes_per_die,
        }
    }
}

/// A fixed stripe over all planes.
#[derive(Clone, Debug)]
pub struct StaticStripe {
    /// The plane of each place in the stripe.
    stripe: Vec<PlaneId>,
    places: Divisor,
    units_per_page: Divisor,
}

impl Policy for StaticStripe {
    const NAME: &'static str = "static";
    const SUMMARY: &'static str = "the logical address decides, striped over the planes";
    const SOURCE: &'static str = "Hu et al., ICS 2011";
    type Options = NoOptions;

    fn build(_options: &Self::Options, parts: &Parts<'_>) -> Self {
        StaticStripe::new(parts.geometry, parts.config.ftl.placement.order.levels())
    }

    keeps_nothing!(StaticStripe { stripe, places, units_per_page });
}

impl StaticStripe {
    /// The stripe that goes over the levels in this order, the first one fastest.
    #[must_use]
    pub fn new(geometry: &Geometry, order: [Level; 4]) -> StaticStripe {
        let shape = *geometry.shape();
        let plane_of = |place: u32| {
            let mut left = place;
            let mut index = [0; Level::ALL.len()];
            for level in order {
                let count = level.count(geometry);
                index[level as usize] = left % count;
                left /= count;
            }
            let [channel, chip, die, plane] = index;
            let chip = channel * shape.chips_per_channel + chip;
            geometry.plane_in(DieId::new(chip * shape.dies_per_chip + die), plane)
        };
        StaticStripe {
            stripe: (0..geometry.planes()).map(plane_of).collect(),
            places: Divisor::new(geometry.planes()),
            units_per_page: Divisor::new(geometry.units_per_page()),
        }
    }

    /// The plane to which a logical page belongs.
    #[inline]
    #[must_use]
    pub fn plane_of(&self, page: Lpn) -> PlaneId {
        let (_, place) = self.places.split(self.units_per_page.of(page.get()));
        self.stripe[place as usize]
    }

    #[inline]
    pub(super) fn choose(&mut self, page: Lpn, view: &PlacementView<'_>) -> Option<PlaneId> {
        Some(self.plane_of(page)).filter(|plane| view.writable.planes[plane.at()])
    }

    #[inline]
    pub(super) fn group(&self, page: Lpn) -> Option<Lpn> {
        let units = self.units_per_page.get();
        Some(Lpn::new(self.units_per_page.of(page.get()) * units))
    }

    pub(super) fn home(&self, page: Lpn) -> Option<PlaneId> {
        Some(self.plane_of(page))
    }
}
