//! Plain timing: one time for each kind of operation, as data sheets print typical values.

use crate::nand::Geometry;
use crate::policy::Policy;
use crate::units::{Nanos, Ppn};

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
    pub(super) fn read(&self, _geometry: &Geometry, _page: Ppn) -> Nanos {
        self.read
    }

    #[inline]
    pub(super) fn program(&self, _geometry: &Geometry, _page: Ppn) -> Nanos {
        self.program
    }

    pub(super) fn longest(&self) -> Nanos {
        self.read.max(self.program).max(self.erase)
    }
}
