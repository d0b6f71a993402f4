//! What an operation costs: times of the flash array and of the bus. Prices only; nothing waits here.

mod bus;
mod by_cost;
mod interface;
mod ispp;
mod page_time;
mod page_type;
mod plain;
mod prices;
mod rate;

pub use bus::{Bus, Transfers, TransfersChoice};
pub use by_cost::{ByCost, ByCostOptions};
pub use interface::{Interface, InterfaceOptions};
pub use ispp::{Ispp, IsppOptions};
pub use page_time::{PageTime, PageTimeOptions};
pub use page_type::{PageTimes, PageType, PageTypeOptions};
pub use plain::{Plain, PlainOptions};
pub use prices::{OneBit, Prices, ProgramOf, ReadOf};
pub use rate::{Rate, RateOptions};

use crate::nand::{CostClass, ReadEffort, Reliability, Strain};
use crate::policy::seam;
use crate::shape::Geometry;
use crate::units::{Nanos, Ppn};

seam! {
    /// The time that the cells of a die are busy with an operation.
    pub enum Timing ("nand.timing.policy" = "plain") as TimingChoice, with timing_policy {
        Plain(Plain),
        PageType(PageType),
        ByCost(ByCost),
        Ispp(Ispp),
    }
}

impl TimingChoice {
    /// Whether programs may cost more or less ([`Timing::knows_costs`]).
    #[must_use]
    pub const fn knows_costs(&self) -> bool {
        matches!(self, TimingChoice::ByCost(_) | TimingChoice::Ispp(_))
    }
}

impl Timing {
    /// Whether all pages cost the same.
    #[must_use]
    pub fn is_flat(&self) -> bool {
        matches!(self, Timing::Plain(_))
    }

    /// Whether a program may cost more or less, and reads of the page less or more then.
    #[must_use]
    pub fn knows_costs(&self) -> bool {
        matches!(self, Timing::ByCost(_) | Timing::Ispp(_))
    }

    /// What it takes to read a page of a class, from a block that has been through so much. None if nothing reads it
    /// any more.
    #[inline]
    #[must_use]
    pub fn effort(&self, class: CostClass, strain: &Strain) -> Option<ReadEffort> {
        match self.reliability() {
            Some(model) => model.effort_after(class, strain),
            None => Some(class.effort()),
        }
    }

    /// The most that is spent on a read, before it is given up.
    #[must_use]
    pub fn most_effort(&self) -> ReadEffort {
        match self {
            Timing::Ispp(model) => model.most_effort(),
            _ => CostClass::Low.effort(),
        }
    }

    /// The errors of pages, if the model knows them.
    #[inline]
    #[must_use]
    pub fn reliability(&self) -> Option<&Reliability> {
        match self {
            Timing::Ispp(model) => Some(&model.reliability),
            _ => None,
        }
    }

    /// How long sensing the flash page of `page` takes, with an effort if the model knows costs.
    #[inline]
    #[must_use]
    pub fn read(&self, geometry: &Geometry, page: Ppn, effort: ReadEffort) -> Nanos {
        match self {
            Timing::Plain(model) => model.read,
            Timing::PageType(model) => model.read(geometry, page),
            Timing::ByCost(model) => model.read(effort),
            Timing::Ispp(model) => model.read(effort),
        }
    }

    /// How long programming the flash page of `page` takes, at a cost if the model knows costs.
    #[inline]
    #[must_use]
    pub fn program(&self, geometry: &Geometry, page: Ppn, class: CostClass) -> Nanos {
        match self {
            Timing::Plain(model) => model.program,
            Timing::PageType(model) => model.program(geometry, page),
            Timing::ByCost(model) => model.program(class),
            Timing::Ispp(model) => model.program(class),
        }
    }

    /// The longest that any operation takes.
    #[must_use]
    pub fn longest(&self) -> Nanos {
        timing_policy!(self, model => model.longest())
    }

    /// How long erasing a block takes.
    #[inline]
    #[must_use]
    pub fn erase(&self) -> Nanos {
        timing_policy!(self, model => model.erase)
    }
}
