//! Which devices can be written without a clock, and why others can't: something in force looks at time.

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
    /// What in this device looks at time, or is not known to do without; none if it can be written
    /// [without a clock](Self::untimed).
    #[must_use]
    pub fn needs_time(&self) -> Option<NeedsTime> {
        let triggers = self.base.kernel.ftl.triggers();
        let reasons = [
            (self.base.direct.is_some(), "requests carry physical addresses"),
            (self.base.kernel.ftl.packs(), "pages lie in fragments"),
            (self.base.kernel.ftl.stripes().is_some(), "its dies carry parity"),
            (
                self.base.kernel.ftl.life().is_some() || self.base.kernel.flash.hazards().is_some(),
                "its flash fails",
            ),
            (self.base.kernel.ftl.lost().pages() > 0, "some of its data is lost"),
            (refresh::may_have_due(&self.base.kernel.ftl), "its data is refreshed as it ages"),
            (
                self.base.kernel.flash.programmed().is_some(),
                "its programs have costs, and its data has an age",
            ),
            (self.base.kernel.ftl.keeps_records(), "what recovery needs is written beside"),
            (self.writes.cycles.gate().is_some(), "its write-backs begin by planes"),
            (triggers.background.is_some(), "it collects while the host is idle"),
            (triggers.preemptible, "its collection waits for dies that have nothing else to do"),
            (self.base.kernel.flash.has_deadlines(), "its commands have deadlines"),
            (
                self.base.desk.front.as_ref().is_some_and(|front| front.spends_time()),
                "its processor spends time",
            ),
            (self.base.end_of_life.is_some(), "it has come to the end of its life"),
        ];
        let of_services = self.base.services.needs_time();
        let of_rest = || reasons.into_iter().find(|&(holds, _)| holds).map(|(_, why)| why);
        of_services.or_else(of_rest).map(NeedsTime)
    }
}
