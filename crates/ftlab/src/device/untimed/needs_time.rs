//! Tells which devices can be written without a clock, and why others can't: some part needs time.

use crate::ftl::wear::refresh;
use std::fmt;

use crate::device::{Contents, Device};
use crate::scheduler::Probe;

/// Why a device can't be written without a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeedsTime(&'static str);

impl fmt::Display for NeedsTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl<P: Probe, C: Contents> Device<P, C> {
    /// The part of this device that needs time, or is not known to work without; none if the device
    /// can be written [without a clock](Self::untimed).
    #[must_use]
    pub fn needs_time(&self) -> Option<NeedsTime> {
        let triggers = self.base.kernel.ftl.triggers();
        let reasons = [
            (self.base.direct.is_some(), "requests carry physical addresses"),
            (self.base.kernel.ftl.packs(), "its map packs pages"),
            (self.base.kernel.ftl.stripes().is_some(), "its dies carry parity"),
            (
                self.base.kernel.ftl.life().is_some() || self.base.kernel.flash.hazards().is_some(),
                "its flash fails",
            ),
            (self.base.kernel.ftl.lost().pages() > 0, "some of its data is lost"),
            (refresh::may_have_due(&self.base.kernel.ftl), "its data is refreshed as it ages"),
            (
                self.base.kernel.flash.programmed().is_some(),
                "its programs differ in cost, and its data has an age",
            ),
            (self.base.kernel.ftl.keeps_records(), "it records metadata for recovery"),
            (self.writes.cycles.gate().is_some(), "its write-backs begin by planes"),
            (triggers.background.is_some(), "it collects while the host is idle"),
            (triggers.preemptible, "its collection yields to other commands of a die"),
            (self.base.kernel.flash.has_deadlines(), "its commands have deadlines"),
            (
                self.base.desk.front.as_ref().is_some_and(|front| front.delays_programs()),
                "its processor takes time to hand out programs",
            ),
            (self.base.end_of_life.is_some(), "it has reached the end of its life"),
        ];
        let of_services = self.base.services.needs_time();
        let of_rest = || reasons.into_iter().find(|&(holds, _)| holds).map(|(_, why)| why);
        of_services.or_else(of_rest).map(NeedsTime)
    }
}
