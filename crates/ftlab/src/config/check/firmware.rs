//! How the time of the processor, and of DRAM, depends on the rest of the device.

use super::Checker;
use crate::config::{DuringWriteBack, Options};
use crate::ftl::merge::Clocks;
use crate::host::Copies;
use crate::units::Nanos;

const PROCESSOR: &str = "no processor time";
const DRAM: &str = "no time to leave DRAM";

/// An option that makes write-backs take time.
struct OnWriteBacks {
    path: &'static str,
    /// The value with which it does not.
    off: &'static str,
    /// The time that they would take.
    whose: &'static str,
}

/// The option that makes write-backs take time in the controller.
fn on_write_backs(options: &Options) -> Option<OnWriteBacks> {
    let Options { firmware, controller, .. } = options;
    let found = [
        (controller.dram.bandwidth.is_some(), "controller.dram.bandwidth", "\"none\"", DRAM),
        (firmware.page > Nanos::ZERO, "firmware.page", "\"0ns\"", PROCESSOR),
        (
            firmware.write_back == DuringWriteBack::Waits,
            "firmware.write_back",
            "\"goes-on\"",
            PROCESSOR,
        ),
        (firmware.copies == Copies::PageBuffer, "firmware.copies", "\"nothing\"", PROCESSOR),
    ];
    let (_, path, off, whose) = found.into_iter().find(|&(set, ..)| set)?;
    Some(OnWriteBacks { path, off, whose })
}

impl Checker<'_, '_> {
    /// If programs begin together, by planes, nothing hands them out one by one.
    pub(super) fn firmware(&mut self) {
        let Some(OnWriteBacks { path, off, whose }) = on_write_backs(self.options) else { return };
        let lock_step = self.has_log() && self.options.ftl.merge.clocks == Clocks::LockStep;
        let (other, away) = match self.options.cache.policy.gate() {
            Some(_) => ("cache.policy", "\"lru\""),
            None if lock_step => ("ftl.merge.clocks", "\"own\""),
            None => return,
        };
        let message = format!("programs that begin together, by planes, take {whose} here");
        let remedy = format!("set {path} to {off}, or {other} to {away}");
        self.fail(&[path, other], message, remedy);
    }
}
