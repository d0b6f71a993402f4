//! Where a flash page that is about to be written goes: which plane, and so which die and channel. The
//! block within the plane is the FTL's: it fills one block after the other.

mod dynamic;
mod partly_dynamic;
mod rows;
mod static_stripe;

pub use dynamic::Dynamic;
pub use partly_dynamic::{PartlyDynamic, PartlyDynamicOptions};
pub use static_stripe::{StaticStripe, StripeOptions};

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
    }
}

/// What else may be written in a row with a flash page, on another plane of its die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mate {
    /// Whatever is to be written.
    Any,
    /// What shares a flash page with this logical page, the first of its group.
    Group(Lpn),
    /// Nothing.
    Nothing,
}

impl Mate {
    /// The flash page of this number, if there may be one.
    fn flash_page(number: Option<u32>, units_per_page: u32) -> Mate {
        match number.and_then(|number| number.checked_mul(units_per_page)) {
            Some(first) => Mate::Group(Lpn::new(first)),
            None => Mate::Nothing,
        }
    }
}

/// How a stripe goes over the planes of a die.
#[derive(Clone, Copy, Debug)]
struct PlaneStride {
    planes: u32,
    /// How many places lie between those of neighbouring planes.
    between: u32,
}

impl PlaneStride {
    /// Of a stripe over these levels, the first one fastest, if it goes over planes.
    fn new(geometry: &Geometry, levels: &[Level]) -> Option<PlaneStride> {
        let plane = levels.iter().position(|&level| level == Level::Plane)?;
        let between = levels[..plane].iter().map(|level| level.count(geometry)).product();
        Some(PlaneStride { planes: geometry.planes_per_die(), between })
    }

    /// The flash page of the same round on another plane, `further` on from that of `flash_page`.
    fn other(self, flash_page: u32, further: u32) -> Option<u32> {
        let PlaneStride { planes, between } = self;
        let index = flash_page / between % planes;
        let other = (index + further) % planes;
        (flash_page - index * between).checked_add(other * between)
    }
}

/// What a policy sees.
#[derive(Clone, Copy, Debug)]
pub struct PlacementView<'a> {
    /// Commands waiting or running, by die.
    pub load: &'a Load,
    /// Where the stream of the write may go at present.
    pub writable: &'a Writable,
}

/// Where the pages of a stream may go: planes with room for it.
#[derive(Clone, Debug)]
pub struct Writable {
    /// By plane.
    pub planes: Vec<bool>,
    /// The dies with a plane in which it may write.
    pub dies: DieSet,
    /// By plane: the place in its block, in mapping units, of the stream's next flash page. Planes of a
    /// die that stand at the same place can be programmed together.
    pub next_unit: Vec<u32>,
    /// How many places such a block has.
    pub units_per_block: u32,
}

impl Writable {
    /// Notes whether a plane may be written.
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
    /// What placement decides.
    pub trait PlacementPolicy for Placement, by placement_policy, or ExternalPlacement {
        /// The plane for a flash page whose first logical page is `page`, or none if all that it may
        /// use are full at present.
        fn choose(&mut self, page: Lpn, view: &PlacementView<'_>) -> Option<PlaneId>;

        /// The plane for a further flash page of a row that was begun, or none if no plane suits it.
        #[must_use]
        fn choose_beside(&mut self, page: Lpn, row: &Row, writable: &Writable) -> Option<PlaneId>;

        /// Whether what it chooses follows from the load, from where there is room, and from what it chose last on each die,
        /// and for pages that lie a round of all planes apart alike.
        #[must_use]
        fn is_periodic(&self) -> bool {
            false
        }

        /// It has chosen the same again and again, so that each plane went on by so many units.
        fn advance(&mut self, _units: u32) {}

        /// What may be written in a row with the flash page of `page`; `number` counts the further pages of
        /// the row, from 1 to the planes of a die less one.
        #[must_use]
        fn mate(&self, _page: Lpn, _number: u32) -> Mate {
            Mate::Any
        }

        /// If only certain logical pages may share a flash page: the first of those that may share one
        /// with `page`; they follow it in a row, as many as a flash page holds.
        #[must_use]
        fn group(&self, _page: Lpn) -> Option<Lpn> {
            None
        }

        /// The pool of planes to which a logical page may go. Pools do not overlap.
        #[must_use]
        fn pool(&self, _page: Lpn) -> u32 {
            0
        }

        /// The pool of a plane.
        #[must_use]
        fn pool_of(&self, _plane: PlaneId) -> u32 {
            0
        }

        /// How many pools there are.
        #[must_use]
        fn pools(&self) -> u32 {
            1
        }
    }
}

contract! {
    /// What is known of placement before it is built.
    pub trait PlacementFacts of PlacementChoice, by placement_policy {
        /// The stripe, if the address of a page alone says where it goes.
        fn stripe(_options: &Self::Options) -> Option<&StripeOptions> {
            None
        }

        /// Whether any page may go anywhere.
        fn is_free(_options: &Self::Options) -> bool {
            false
        }
    }
}

impl PlacementChoice {
    /// Pages that go where their address says.
    #[must_use]
    pub const fn striped(stripe: StripeOptions) -> PlacementChoice {
        PlacementChoice::Static(stripe)
    }
}
