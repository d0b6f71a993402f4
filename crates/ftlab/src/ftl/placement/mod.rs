//! Chooses the plane of a flash page that is about to be written, and with it the die and the
//! channel. The FTL chooses the block within the plane: it fills one block after the other.

mod dynamic;
mod partly_dynamic;
mod rows;
mod static_stripe;
mod zoned;

pub use dynamic::Dynamic;
pub use partly_dynamic::{PartlyDynamic, PartlyDynamicOptions};
pub use static_stripe::{StaticStripe, StripeOptions};
pub use zoned::{Zoned, ZonedOptions};

use crate::nand::Row;
use crate::policy::{contract, seam};
use crate::scheduler::{DieSet, Load};
use crate::shape::{Geometry, Level};
use crate::units::{DieId, Lpn, PlaneId};

seam! {
    /// Chooses the plane of a flash page.
    pub enum Placement ("ftl.placement.policy" = "dynamic") as PlacementChoice, with placement_policy, or ExternalPlacement {
        Static(StaticStripe),
        Dynamic(Dynamic),
        PartlyDynamic(PartlyDynamic),
        Zoned(Zoned),
    }
}

/// The page that may be written in a row with a flash page, on another plane of its die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mate {
    /// Any page.
    Any,
    /// The flash page of this logical page, the first of its group.
    Group(Lpn),
    /// No page.
    Nothing,
}

impl Mate {
    /// The flash page with this number, if there can be one.
    fn flash_page(number: Option<u32>, units_per_page: u32) -> Mate {
        match number.and_then(|number| number.checked_mul(units_per_page)) {
            Some(first) => Mate::Group(Lpn::new(first)),
            None => Mate::Nothing,
        }
    }
}

/// How a stripe steps over the planes of a die.
#[derive(Clone, Copy, Debug)]
struct PlaneStride {
    planes: u32,
    /// Distance of adjacent planes in the stripe.
    between: u32,
}

impl PlaneStride {
    /// For a stripe over these levels, the first one fastest; none if planes are not among them.
    fn new(geometry: &Geometry, levels: &[Level]) -> Option<PlaneStride> {
        let plane = levels.iter().position(|&level| level == Level::Plane)?;
        let between = levels[..plane].iter().map(|level| level.count(geometry)).product();
        Some(PlaneStride { planes: geometry.planes_per_die(), between })
    }

    /// The flash page of the same round on another plane, `further` planes after that of `flash_page`.
    fn other(self, flash_page: u32, further: u32) -> Option<u32> {
        let PlaneStride { planes, between } = self;
        let index = flash_page / between % planes;
        let other = (index + further) % planes;
        (flash_page - index * between).checked_add(other * between)
    }
}

/// The view of the device that a placement policy gets.
#[derive(Clone, Copy, Debug)]
pub struct PlacementView<'a> {
    /// Commands that wait or run, by die.
    pub load: &'a Load,
    /// Where the stream of the write may go now.
    pub writable: &'a Writable,
}

/// Where the pages of a stream may go: planes that have room.
#[derive(Clone, Debug)]
pub struct Writable {
    /// By plane.
    pub planes: Vec<bool>,
    /// The dies with a writable plane.
    pub dies: DieSet,
    /// By plane: the next unit of the stream's open block. Planes of a die with equal units can be programmed together.
    pub next_unit: Vec<u32>,
    /// Units of such a block.
    pub units_per_block: u32,
}

impl Writable {
    /// Sets whether a plane is writable.
    pub(super) fn note(&mut self, plane: PlaneId, writable: bool, geometry: &Geometry) {
        if std::mem::replace(&mut self.planes[plane.at()], writable) == writable {
            return;
        }
        if geometry.planes_per_die() == 1 {
            return self.dies.put(geometry.turn_of(DieId::new(plane.get())), writable);
        }
        let die = geometry.die_of(plane);
        let first = geometry.plane_in(die, 0).at();
        let planes = &self.planes[first..first + geometry.planes_per_die() as usize];
        self.dies.put(geometry.turn_of(die), planes.contains(&true));
    }
}

contract! {
    /// A placement policy.
    pub trait PlacementPolicy for Placement, by placement_policy, or ExternalPlacement {
        /// The plane for a flash page whose first logical page is `page`, or none if all planes
        /// that it may use are full now.
        fn choose(&mut self, page: Lpn, view: &PlacementView<'_>) -> Option<PlaneId>;

        /// The plane for a further flash page of a row, or none if no plane suits.
        #[must_use]
        fn choose_beside(&mut self, page: Lpn, row: &Row, writable: &Writable) -> Option<PlaneId>;

        /// Whether its choices depend only on the load, on the writable planes, and on its last
        /// choice on each die, and are alike for pages that are one round of all planes apart.
        #[must_use]
        fn is_periodic(&self) -> bool {
            false
        }

        /// It has repeated its choices until each plane advanced by this many units.
        fn advance(&mut self, _units: u32) {}

        /// What may be written in a row with the flash page of `page`. `number` counts the further
        /// pages of the row, from 1 to the planes of a die minus one.
        #[must_use]
        fn mate(&self, _page: Lpn, _number: u32) -> Mate {
            Mate::Any
        }

        /// If only certain logical pages may share a flash page: the first of those that may share
        /// one with `page`. They are consecutive, as many as a flash page holds.
        #[must_use]
        fn group(&self, _page: Lpn) -> Option<Lpn> {
            None
        }

        /// The pool of planes to which a logical page may go. Pools don't overlap.
        #[must_use]
        fn pool(&self, _page: Lpn) -> u32 {
            0
        }

        /// The pool of a plane.
        #[must_use]
        fn pool_of(&self, _plane: PlaneId) -> u32 {
            0
        }

        /// The number of pools.
        #[must_use]
        fn pools(&self) -> u32 {
            1
        }
    }
}

contract! {
    /// Facts about a placement policy that are known before it is built.
    pub trait PlacementFacts of PlacementChoice, by placement_policy {
        /// The stripe, if the address of a page alone decides its place.
        fn stripe(_options: &Self::Options) -> Option<&StripeOptions> {
            None
        }

        /// How zones lie on planes, if that decides the place of a page.
        fn zoned(_options: &Self::Options) -> Option<&ZonedOptions> {
            None
        }

        /// Whether any page may go anywhere.
        fn is_free(_options: &Self::Options) -> bool {
            false
        }
    }
}

impl PlacementChoice {
    /// Static placement with this stripe.
    #[must_use]
    pub const fn striped(stripe: StripeOptions) -> PlacementChoice {
        PlacementChoice::Static(stripe)
    }
}
