//! The requirements of a map on flash.

use super::{Checker, text};
use crate::config::resolve::{ShapeCounts, shape};

const POLICY: &str = "ftl.mapping.policy";

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
        if dies {
            let message = format!(
                "a map on flash that loses a die is not modelled ({policy}): translation pages would be lost with it"
            );
            let remedy = format!("schedule no death of a die, or set {POLICY} to \"page\"");
            self.fail(&["nand.faults.schedule", POLICY], message, remedy);
        }
    }
}
