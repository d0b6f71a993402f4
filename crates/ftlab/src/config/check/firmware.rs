//! How the time of the processor depends on the rest of the device.

use super::Checker;
use crate::config::DuringWriteBack;
use crate::config::options::FirmwareOptions;
use crate::ftl::merge::Clocks;
use crate::host::Copies;
use crate::units::Nanos;

/// The option that makes write-backs take time of the processor.
fn on_write_backs(firmware: &FirmwareOptions) -> Option<(&'static str, &'static str)> {
    let found = [
        (firmware.page > Nanos::ZERO, "firmware.page", "\"0ns\""),
        (firmware.write_back == DuringWriteBack::Waits, "firmware.write_back", "\"goes-on\""),
        (firmware.copies == Copies::PageBuffer, "firmware.copies", "\"nothing\""),
    ];
    found.into_iter().find(|&(set, ..)| set).map(|(_, path, value)| (path, value))
}

impl Checker<'_, '_> {
    /// If programs begin together, by planes, no processor hands them out one by one.
    pub(super) fn firmware(&mut self) {
        let Some((path, value)) = on_write_backs(&self.options.firmware) else { return };
        let lock_step = self.has_log() && self.options.ftl.merge.clocks == Clocks::LockStep;
        let (other, away) = match self.options.cache.policy.gate() {
            Some(_) => ("cache.policy", "\"lru\""),
            None if lock_step => ("ftl.merge.clocks", "\"own\""),
            None => return,
        };
        let message =
            "programs that begin together, by planes, take no processor time here".to_owned();
        let remedy = format!("set {path} to {value}, or {other} to {away}");
        self.fail(&[path, other], message, remedy);
    }
}
