//! What a device has lost: blocks that are bad, and operations that failed, since it was new. Images keep what failed.

use crate::counters::counters;
use crate::image::{Damage, ImageReader, ImageWriter};

counters! {
    /// The failures so far.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Losses {
        /// Blocks that were bad from the factory.
        factory_bad: u32, unit "blocks", at "health/factory_bad_blocks";
        /// Blocks that went bad in use.
        grown_bad: u32, unit "blocks", at "health/grown_bad_blocks";
        /// Programs that failed.
        program_failures: u64, unit "programs", at "health/program_failures";
        /// Erases that failed.
        erase_failures: u64, unit "erases", at "health/erase_failures";
    }
}

/// More failures are no history of a device.
const MOST_FAILURES: u64 = 1 << 31;

impl Losses {
    /// Operations that failed.
    pub(crate) fn failed(&self) -> u64 {
        self.program_failures + self.erase_failures
    }

    /// Only what failed. The blocks that were lost follow from their states.
    pub(in crate::ftl) fn failures(self) -> Losses {
        Losses { factory_bad: 0, grown_bad: 0, ..self }
    }

    pub(super) fn save(self, out: &mut ImageWriter) {
        let Losses { factory_bad: _, grown_bad: _, program_failures, erase_failures } = self;
        out.number(program_failures);
        out.number(erase_failures);
    }

    pub(super) fn load(from: &mut ImageReader<'_>) -> Result<Losses, Damage> {
        let programs = from.below(MOST_FAILURES, "the number of failed programs")?;
        let erases = from.below(MOST_FAILURES, "the number of failed erases")?;
        let (program_failures, erase_failures) = (programs.into(), erases.into());
        Ok(Losses { program_failures, erase_failures, ..Losses::default() })
    }
}
