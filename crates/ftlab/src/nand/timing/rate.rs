//! A bus that moves a number of bytes per second, as in data sheets.

use super::{TransfersFacts, TransfersPolicy};
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::{BusRate, Bytes, BytesPerSec, Nanos};

/// A data rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Bytes per second.
    pub rate: BytesPerSec,
}

options! {
    /// A data rate.
    pub struct RateOptions at "nand.bus" {
        /// Data rate of the bus. Transfers, such as 800MT/s, move a byte each, as on 8 data lines; for a bus of 16
        /// lines use the policy `interface`.
        rate: BusRate = required, in "1MB/s"..="100GB/s",
            source "range: asynchronous ONFI moves 40 MB/s, ONFI 5 moves 2.4 GB/s";
    }
}

impl Policy for Rate {
    const NAME: &'static str = "rate";
    const SUMMARY: &'static str = "by data rate";
    const SOURCE: &'static str = "data sheets";
    type Options = RateOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Rate { rate: options.rate.0 }
    }

    keeps_nothing!(Rate { rate });
}

impl TransfersFacts for Rate {
    fn path(_options: &Self::Options) -> &'static str {
        "nand.bus.rate"
    }

    fn time_of_page(options: &Self::Options, page: Bytes) -> Nanos {
        Rate { rate: options.rate.0 }.time_for(page, page)
    }
}

impl TransfersPolicy for Rate {
    fn time_for(&self, size: Bytes, _page: Bytes) -> Nanos {
        self.rate.time_for(size)
    }
}
