//! Hints of a host that knows the future: classes by the time until the data of a request dies, in units of what the
//! drive opens for an identifier (a block in each plane). Data that dies within one of them has identifier 0.
//!
//! Source: the oracle FK of Wang et al., "Separating Data via Block Invalidation Time Inference for Write Amplification
//! Reduction in Log-Structured Storage", FAST 2022, as in the authors' simulator; there it also places copies, as
//! `ftl.streams.policy = "future"` does. Here the drive places them. The first page of a request decides for all of it,
//! because a write carries one identifier.

use super::{HintClassOptions, HintsFacts, HintsPolicy};
use crate::engine::DeathClasses;
use crate::host::Request;
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::Lpn;

options! {
    /// Classes by time of death.
    pub struct OracleOptions at "host.hints" with { classes: HintClassOptions } {}
}

/// Classes by time of death.
#[derive(Clone, Debug)]
pub struct Oracle {
    classes: DeathClasses,
    sectors_per_page: u32,
}

impl Policy for Oracle {
    const NAME: &'static str = "oracle";
    const SUMMARY: &'static str = "by known time of death: the host plays its load twice";
    const SOURCE: &'static str = "Wang et al., FAST 2022 (FK)";
    type Options = OracleOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        let geometry = parts.geometry;
        let segment = geometry.units_per_block() * geometry.planes();
        let classes = DeathClasses::new(segment, options.classes.classes as u8);
        Oracle { classes, sectors_per_page: geometry.sectors_per_unit() }
    }

    keeps_nothing!(Oracle { classes, sectors_per_page });
}

impl HintsFacts for Oracle {
    fn identifiers(options: &Self::Options) -> Option<u32> {
        Some(options.classes.classes)
    }

    fn foresees(_options: &Self::Options) -> bool {
        true
    }
}

impl HintsPolicy for Oracle {
    fn identify(&mut self, write: &Request) -> u32 {
        let first = write.lba.0 / u64::from(self.sectors_per_page);
        self.classes.of(Lpn::new(first as u32)).into()
    }

    fn death_classes(&mut self) -> Option<&mut DeathClasses> {
        Some(&mut self.classes)
    }
}
