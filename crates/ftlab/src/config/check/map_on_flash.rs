//! What a map that lies on flash asks for.

use super::faults::READS_ONLY;
use super::{Checker, text};
use crate::config::resolve::{Counts, shape};
use crate::ftl::mapping::MappingChoice;
use crate::nand::endurance::EnduranceChoice;
use crate::units::Ratio;

const POLICY: &str = "ftl.mapping.policy";

impl Checker<'_, '_> {
    /// Whether the map lies on flash.
    pub(super) fn has_map_on_flash(&self) -> bool {
        matches!(self.options.ftl.mapping.policy, MappingChoice::Dftl(_))
    }

    /// Mapping units of a plane that the map fills, if it lies on flash.
    pub(super) fn map_units(&self, counts: &Counts) -> u64 {
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
        let (nand, ftl) = (&self.options.nand, &self.options.ftl);
        let limited = !matches!(nand.endurance.policy, EnduranceChoice::Unlimited(_));
        let fails = "a map on flash whose blocks fail or wear out is not modelled";
        let wrong = [
            (
                ftl.slc_cache.policy.rules().is_some(),
                "ftl.slc_cache.policy",
                "\"none\"",
                "a map on flash behind an SLC cache is not modelled",
            ),
            (
                nand.faults.factory_bad != Ratio::default(),
                "nand.faults.factory_bad",
                "\"0%\"",
                fails,
            ),
            (nand.faults.program_failures > 0, "nand.faults.program_failures", "0", fails),
            (nand.faults.erase_failures > 0, "nand.faults.erase_failures", "0", fails),
            (nand.faults.costs_blocks(), "nand.faults.schedule", READS_ONLY, fails),
            (limited, "nand.endurance.policy", "\"unlimited\"", fails),
        ];
        for (_, path, value, why) in wrong.into_iter().filter(|wrong| wrong.0) {
            let message = format!("{why} ({POLICY} = {})", text(&"dftl".to_owned()));
            self.fail(&[path, POLICY], message, format!("set {path} to {value}"));
        }
    }
}
