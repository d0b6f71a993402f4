//! A bus by the time of a whole flash page, as papers state it. Part of a page takes its share of the
//! time.

use super::{TransfersFacts, TransfersPolicy};
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::{Bytes, Nanos};

/// The time of a flash page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageTime {
    /// Time to move a whole flash page.
    pub page: Nanos,
}

options! {
    /// The time of a flash page.
    pub struct PageTimeOptions at "nand.bus" {
        /// Time to move a whole flash page.
        page: Nanos = required, in "0ns"..="10ms",
            source "range: from zero, for models without a bus, to 64 KiB at 7 MB/s";
    }
}

impl Policy for PageTime {
    const NAME: &'static str = "page-time";
    const SUMMARY: &'static str = "by the time of a flash page; part of a page takes its share";
    const SOURCE: &'static str = "papers that state a transfer time";
    type Options = PageTimeOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        PageTime { page: options.page }
    }

    keeps_nothing!(PageTime { page });
}

impl TransfersFacts for PageTime {
    fn path(_options: &Self::Options) -> &'static str {
        "nand.bus.page"
    }

    fn time_of_page(options: &Self::Options, page: Bytes) -> Nanos {
        PageTime { page: options.page }.time_for(page, page)
    }

    fn takes_no_time(options: &Self::Options) -> bool {
        options.page == Nanos::ZERO
    }
}

impl TransfersPolicy for PageTime {
    fn time_for(&self, size: Bytes, page: Bytes) -> Nanos {
        let share = u128::from(self.page.0) * u128::from(size.0);
        let time = share.div_ceil(u128::from(page.0.max(1)));
        Nanos(u64::try_from(time).unwrap_or(u64::MAX))
    }
}
