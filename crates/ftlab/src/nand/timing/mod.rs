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

#[cfg(feature = "external-policies")]
pub use bus::ExternalTransfers;
pub use bus::{Bus, Transfers, TransfersChoice, TransfersFacts, TransfersPolicy};
pub use by_cost::{ByCost, ByCostOptions};
pub use interface::{Interface, InterfaceOptions};
pub use ispp::{Ispp, IsppOptions};
pub use page_time::{PageTime, PageTimeOptions};
pub use page_type::{PageTimes, PageType, PageTypeOptions};
pub use plain::{Plain, PlainOptions};
pub use prices::{OneBit, Prices, ProgramOf, ReadOf};
pub use rate::{Rate, RateOptions};

use std::borrow::Cow;

use crate::nand::{CostClass, ReadEffort, Reliability, ReliabilityOptions, Strain};
use crate::policy::{contract, seam};
use crate::shape::{Cell, Geometry};
use crate::units::{Nanos, Ppn};

seam! {
    /// The time that the cells of a die are busy with an operation.
    pub enum Timing ("nand.timing.policy" = "plain") as TimingChoice, with timing_policy, or ExternalTiming {
        Plain(Plain),
        PageType(PageType),
        ByCost(ByCost),
        Ispp(Ispp),
    }
}

/// What a model of timing has a time of its own for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TellsApart {
    /// Nothing: all pages take the same.
    Nothing,
    /// Each type of page, one for each bit of a cell.
    PageTypes,
    /// Each cost of a program.
    Costs,
    /// What follows from steps and levels of sensing.
    Levels,
}

/// The times that options state, one for each thing that is told apart.
#[derive(Clone, Debug)]
pub struct StatedTimes<'a> {
    /// Of sensing.
    pub read: Cow<'a, [Nanos]>,
    /// Of programs.
    pub program: Cow<'a, [Nanos]>,
}

contract! {
    /// What is known of a model of timing before it is built.
    pub trait TimingFacts of TimingChoice, by timing_policy {
        /// The paths of the options for reads and for programs.
        fn paths(_options: &Self::Options) -> [&'static str; 2];

        /// The times of reads and programs in such cells.
        fn times(options: &Self::Options, cell: Cell) -> StatedTimes<'_>;

        /// What has a time of its own.
        fn tells_apart(_options: &Self::Options) -> TellsApart;

        /// Whether programs may cost more or less ([`TimingPolicy::knows_costs`]).
        fn knows_costs(_options: &Self::Options) -> bool {
            false
        }

        /// The errors of pages, if the model knows them.
        fn errors(_options: &Self::Options) -> Option<&ReliabilityOptions> {
            None
        }
    }
}

contract! {
    /// What a model of timing answers.
    pub trait TimingPolicy for Timing, by timing_policy, or ExternalTiming {
        /// Whether all pages cost the same.
        #[must_use]
        fn is_flat(&self) -> bool {
            false
        }

        /// Whether a program may cost more or less, and reads of the page less or more then.
        #[must_use]
        fn knows_costs(&self) -> bool {
            false
        }

        /// The most that is spent on a read, before it is given up.
        #[must_use]
        fn most_effort(&self) -> ReadEffort {
            CostClass::Low.effort()
        }

        /// The errors of pages, if the model knows them.
        #[must_use]
        #[inline]
        fn reliability(&self) -> Option<&Reliability> {
            None
        }

        /// How long sensing the flash page of `page` takes, with an effort if the model knows costs.
        #[must_use]
        fn read(&self, geometry: &Geometry, page: Ppn, effort: ReadEffort) -> Nanos;

        /// How long programming the flash page of `page` takes, at a cost if the model knows costs.
        #[must_use]
        fn program(&self, geometry: &Geometry, page: Ppn, class: CostClass) -> Nanos;

        /// How long erasing a block takes.
        #[must_use]
        fn erase(&self) -> Nanos;

        /// The longest that any operation takes.
        #[must_use]
        fn longest(&self) -> Nanos;
    }
}

impl Timing {
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
}
