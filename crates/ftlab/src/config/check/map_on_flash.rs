//! The requirements of a map on flash.

use super::{Checker, text};
use crate::config::resolve::{ShapeCounts, shape};
use crate::options::value::Value;

const POLICY: &str = "ftl.mapping.policy";
const RECOVERY: &str = "ftl.recovery.policy";
const HOST_MEMORY: &str = "ftl.mapping.host_memory";
const INTERFACE: &str = "host.link.interface";

impl Checker<'_, '_> {
    /// Whether the map is on flash.
    pub(super) fn has_map_on_flash(&self) -> bool {
        self.options.ftl.mapping.policy.on_flash().is_some()
    }

    /// Mapping units of a plane that the map fills, if it is on flash.
    pub(super) fn map_units(&self, counts: &ShapeCounts) -> u64 {
        match self.has_map_on_flash() {
            true => {
                let logical = counts.logical(self.options.ftl.over_provisioning);
                counts.map_units_per_plane(logical, shape(self.options).page_size)
            }
            false => 0,
        }
    }

    pub(super) fn map_on_flash(&mut self) {
        if !self.has_map_on_flash() {
            return;
        }
        let nand = &self.options.nand;
        let dies = nand.faults.schedule.iter().any(|scheduled| scheduled.fault.is_for_good());
        let policy = format!("{POLICY} = {}", text(&"dftl".to_owned()));
        if dies && self.options.ftl.recovery.policy.survives() {
            let message = format!(
                "recovery of a map on flash that has lost a die is not modelled ({policy}): nothing else says what \
                 translation pages lay there"
            );
            let remedy = format!("set {RECOVERY} to \"none\", or {POLICY} to \"page\"");
            self.fail(&[RECOVERY, "nand.faults.schedule", POLICY], message, remedy);
        }
        let interface = &self.options.host.link.interface;
        let lends =
            self.options.ftl.mapping.policy.on_flash().is_some_and(|map| map.host_memory.is_some());
        if lends && interface.is_sata() {
            let message =
                format!("over {} a drive can't use memory of the host", interface.print());
            let remedy = format!(
                "set {HOST_MEMORY} to \"none\", or {INTERFACE} to a PCIe link, such as \"pcie-3x4\""
            );
            self.fail(&[HOST_MEMORY, INTERFACE], message, remedy);
        }
    }
}
