//! What an operation costs: times of the flash array and of the bus. Prices only; nothing waits here.

mod bus;
mod interface;
mod page_time;
mod page_type;
mod plain;
mod prices;
mod rate;

pub use bus::{Bus, Transfers, TransfersChoice};
pub use interface::{Interface, InterfaceOptions};
pub use page_time::{PageTime, PageTimeOptions};
pub use page_type::{PageTimes, PageType, PageTypeOptions};
pub use plain::{Plain, PlainOptions};
pub use prices::{OneBit, Prices};
pub use rate::{Rate, RateOptions};

use crate::nand::Geometry;
use crate::policy::seam;
use crate::units::{Nanos, Ppn};

seam! {
    /// The time that the cells of a die are busy with an operation.
    pub enum Timing ("nand.timing.policy" = "plain") as TimingChoice, with timing_policy {
        Plain(Plain),
        PageType(PageType),
    }
}

impl Timing {
    /// Whether all pages cost the same.
    #[must_use]
    pub fn is_flat(&self) -> bool {
        matches!(self, Timing::Plain(_))
    }

    /// How long sensing the flash page of `page` takes.
    #[inline]
    #[must_use]
    pub fn read(&self, geometry: &Geometry, page: Ppn) -> Nanos {
        timing_policy!(self, model => model.read(geometry, page))
    }

    /// How long programming the flash page of `page` takes.
    #[inline]
    #[must_use]
    pub fn program(&self, geometry: &Geometry, page: Ppn) -> Nanos {
        timing_policy!(self, model => model.program(geometry, page))
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
