//! Times of operations of the cells and of the bus. Nothing waits here.

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
use crate::shape::{Cell, FlashGeometry};
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

/// What a timing model distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TellsApart {
    /// Nothing: all pages take the same time.
    Nothing,
    /// Each type of page, one for each bit of a cell.
    PageTypes,
    /// Each cost of a program.
    Costs,
    /// Steps of programs and levels of sensing.
    Levels,
}

/// The times in the options, one for each case that is distinguished.
#[derive(Clone, Debug)]
pub struct StatedTimes<'a> {
    /// Of sensing.
    pub read: Cow<'a, [Nanos]>,
    /// Of programs.
    pub program: Cow<'a, [Nanos]>,
}

contract! {
    /// What is known of a timing model before it is built.
    pub trait TimingFacts of TimingChoice, by timing_policy {
        /// The paths of the options for reads and for programs.
        fn paths(_options: &Self::Options) -> [&'static str; 2];

        /// The times of reads and programs in such cells.
        fn times(options: &Self::Options, cell: Cell) -> StatedTimes<'_>;

        /// What has a time of its own.
        fn tells_apart(_options: &Self::Options) -> TellsApart;

        /// Whether programs have different costs ([`TimingPolicy::knows_costs`]).
        fn knows_costs(_options: &Self::Options) -> bool {
            false
        }

        /// The options of the error model, if there is one.
        fn errors(_options: &Self::Options) -> Option<&ReliabilityOptions> {
            None
        }
    }
}

contract! {
    /// The answers of a timing model.
    pub trait TimingPolicy for Timing, by timing_policy, or ExternalTiming {
        /// Whether all pages take the same time.
        #[must_use]
        fn is_flat(&self) -> bool {
            false
        }

        /// Whether programs have different costs, with opposite effects on reads of the page.
        #[must_use]
        fn knows_costs(&self) -> bool {
            false
        }

        /// The largest effort spent on a read before it is given up.
        #[must_use]
        fn most_effort(&self) -> ReadEffort {
            CostClass::Low.effort()
        }

        /// The error model, if there is one.
        #[must_use]
        #[inline]
        fn reliability(&self) -> Option<&Reliability> {
            None
        }

        /// Time to sense the flash page of `page`; `effort` matters only if the model knows costs.
        #[must_use]
        fn read(&self, geometry: &FlashGeometry, page: Ppn, effort: ReadEffort) -> Nanos;

        /// Time to sense one page of the flash page of `page`, which is a word line: that of this bit of its cells.
        #[must_use]
        fn read_bit(&self, geometry: &FlashGeometry, page: Ppn, effort: ReadEffort, _bit: u32) -> Nanos {
            self.read(geometry, page, effort)
        }

        /// Time to program the flash page of `page`; `class` matters only if the model knows costs.
        #[must_use]
        fn program(&self, geometry: &FlashGeometry, page: Ppn, class: CostClass) -> Nanos;

        /// Time to erase a block.
        #[must_use]
        fn erase(&self) -> Nanos;

        /// The longest time of any operation.
        #[must_use]
        fn longest(&self) -> Nanos;
    }
}

impl Timing {
    /// The effort to read a page of this class from cells with this history, or `None` if it cannot be read.
    #[inline]
    #[must_use]
    pub fn effort(&self, class: CostClass, strain: &Strain) -> Option<ReadEffort> {
        match self.reliability() {
            Some(model) => model.effort_after(class, strain),
            None => Some(class.effort()),
        }
    }
}
