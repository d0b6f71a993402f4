//! The requirements of a map on flash.

use super::Checker;
use crate::config::resolve::{ShapeCounts, shape};
use crate::options::value::Value;
use crate::units::Ratio;

const HOST_MEMORY: &str = "ftl.mapping.host_memory";
const INTERFACE: &str = "host.link.interface";

impl Checker<'_, '_> {
    /// Whether the map is on flash.
    pub(super) fn has_map_on_flash(&self) -> bool {
        self.options.ftl.mapping.policy.on_flash().is_some()
    }

    /// Mapping units of a plane that the map fills, if it is on flash.
    pub(super) fn map_units(&self, counts: &ShapeCounts) -> u64 {
        self.map_units_at(self.options.ftl.over_provisioning, counts)
    }

    /// The same with this over-provisioning.
    pub(super) fn map_units_at(&self, share: Ratio, counts: &ShapeCounts) -> u64 {
        match self.has_map_on_flash() {
            true => {
                counts.map_units_per_plane(counts.logical(share), shape(self.options).page_size)
            }
            false => 0,
        }
    }

    pub(super) fn map_on_flash(&mut self) {
        if !self.has_map_on_flash() {
            return;
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
