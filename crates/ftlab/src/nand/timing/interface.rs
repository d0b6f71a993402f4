//! A bus by its width and transfers per second, as in interface standards: NV-DDR3 of ONFI 4.0 with
//! 8 bits and 800 MT/s moves 800 MB/s.
//!
//! Source: Open NAND Flash Interface Specification, revision 4.0, 2014, section 4 (data interfaces).

use super::{TransfersFacts, TransfersPolicy};
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::{Bytes, Nanos, TransferRate};

/// Width and transfers per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Bits per transfer.
    pub width: u32,
    /// Transfers per second.
    pub transfers: TransferRate,
}

options! {
    /// Width and transfers per second.
    pub struct InterfaceOptions at "nand.bus" {
        /// Bits per transfer: data lines of the bus.
        width: u32 = "8", in "8"..="16", unit "bits",
            source "ONFI 4.0: 8 bits; 16 in asynchronous parts";
        /// Transfers per second. With double data rate, twice the clock.
        transfers: TransferRate = required, in "1MT/s"..="10GT/s",
            source "ONFI: 10 to 50 MT/s asynchronous, 20 to 200 in NV-DDR, to 800 in NV-DDR3, 3600 in ONFI 5.1";
    }
}

impl Policy for Interface {
    const NAME: &'static str = "interface";
    const SUMMARY: &'static str = "by width and transfers per second (ONFI, Toggle)";
    const SOURCE: &'static str = "ONFI 4.0, section 4";
    type Options = InterfaceOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Interface { width: options.width, transfers: options.transfers }
    }

    keeps_nothing!(Interface { width, transfers });
}

impl TransfersFacts for Interface {
    fn path(_options: &Self::Options) -> &'static str {
        "nand.bus.transfers"
    }

    fn time_of_page(options: &Self::Options, page: Bytes) -> Nanos {
        Interface { width: options.width, transfers: options.transfers }.time_for(page, page)
    }
}

impl TransfersPolicy for Interface {
    fn time_for(&self, size: Bytes, _page: Bytes) -> Nanos {
        let bits = u128::from(size.0) * u128::from(u8::BITS);
        let transfers = bits.div_ceil(u128::from(self.width));
        self.transfers.time_for(transfers)
    }
}
