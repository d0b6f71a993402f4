//! Hints by the size of a request: small, medium and large ones have identifiers 0, 1 and 2. Small writes are often
//! updates of metadata, which are soon written again; large ones are data that stays.
//!
//! Source: a rule of thumb, of no paper in particular.

use super::{HintsFacts, HintsPolicy};
use crate::host::Request;
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::{Bytes, SECTOR_BYTES};

options! {
    /// Three classes by size.
    pub struct BySizeOptions at "host.hints" {
        /// Writes of less than this are small.
        small_below: Bytes = "16KiB", in "512B"..="1GiB", source "assumed: up to a few pages of a file system";
        /// Writes of this size or more are large.
        large_from: Bytes = "128KiB", in "512B"..="1GiB", source "assumed: the read-ahead window of Linux";
    }
}

/// Classes by size.
#[derive(Clone, Copy, Debug)]
pub struct BySize {
    /// Where the second class begins, and the third, in sectors.
    borders: [u64; 2],
}

impl Policy for BySize {
    const NAME: &'static str = "by-size";
    const SUMMARY: &'static str = "three classes by the size of the request: small, medium, large";
    const SOURCE: &'static str = "a rule of thumb";
    type Options = BySizeOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        let borders = [options.small_below, options.large_from];
        BySize { borders: borders.map(|border| border.0.div_ceil(SECTOR_BYTES)) }
    }

    keeps_nothing!(BySize { borders });
}

impl HintsFacts for BySize {
    fn identifiers(_options: &Self::Options) -> Option<u32> {
        Some(3)
    }

    fn sizes(options: &Self::Options) -> Option<[Bytes; 2]> {
        Some([options.small_below, options.large_from])
    }
}

impl HintsPolicy for BySize {
    fn identify(&mut self, write: &Request) -> u32 {
        self.borders.map(|border| u32::from(u64::from(write.sectors) >= border)).iter().sum()
    }
}
