//! Plain timing: one time for each kind of operation, as data sheets print typical values.

use crate::policy::Policy;
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

impl Policy for Plain {
    const NAME: &'static str = "plain";
    const SUMMARY: &'static str = "one time for each kind of operation (tR, tPROG, tBERS)";
    const SOURCE: &'static str = "data sheets";
}

impl Plain {
    #[inline]
    pub(super) fn read(&self, _page: u32) -> Nanos {
        self.read
    }

    #[inline]
    pub(super) fn program(&self, _page: u32) -> Nanos {
        self.program
    }
}
