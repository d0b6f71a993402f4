//! Plain timing: one time for each kind of operation, as data sheets print typical values.

use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::Nanos;

/// One read time, one program time, one erase time.
#[derive(Clone, Debug)]
pub struct Plain {
    /// Sensing a flash page (tR).
    pub read: Nanos,
    /// Programming a flash page (tPROG).
    pub program: Nanos,
    /// Erasing a block (tBERS).
    pub erase: Nanos,
}

options! {
    /// One time for each operation.
    pub struct PlainOptions at "nand.timing" {
        /// Sensing a flash page (tR).
        read: Nanos = required, in "100ns"..="100ms", source "the part";
        /// Programming a flash page (tPROG).
        program: Nanos = required, in "1us"..="1s", source "the part";
    }
}

impl Policy for Plain {
    const NAME: &'static str = "plain";
    const SUMMARY: &'static str = "one time for each kind of operation (tR, tPROG, tBERS)";
    const SOURCE: &'static str = "data sheets";
    type Options = PlainOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        Plain { read: options.read, program: options.program, erase: parts.erase }
    }

    keeps_nothing!(Plain { read, program, erase });
}

impl Plain {
    pub(super) fn longest(&self) -> Nanos {
        self.read.max(self.program).max(self.erase)
    }
}
