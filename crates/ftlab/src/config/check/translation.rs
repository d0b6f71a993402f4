//! The requirements of translation by the host.

use super::Checker;
use crate::config::resolve::{ShapeCounts, host_translation, shape, volume, zones};
use crate::host::translation::{HostTranslation, LogRules};
use crate::host::zones::ZonePolicy;
use crate::options::value::Value;
use crate::units::{Ratio, SECTOR_BYTES};

const POLICY: &str = "host.translation.policy";
const BLOCK: &str = "host.translation.map_block";
const SPARE: &str = "host.translation.spare";
const PLACEMENT: &str = "host.translation.placement";
const BELOW: &str = "host.translation.clean_below";
const ZONES: &str = "host.zones.policy";

impl Checker<'_, '_> {
    pub(super) fn host_translation(&mut self) {
        let options = &self.options.host;
        if options.translation.policy == HostTranslation::None {
            return;
        }
        if options.zones.policy == ZonePolicy::None {
            let message = "a log-structured store needs zones, and the device has none".to_owned();
            let remedy = format!("set {ZONES} to \"zns\", or leave {POLICY} out");
            return self.fail(&[POLICY, ZONES], message, remedy);
        }
        if options.zones.conventional > 0 {
            let message = "a log-structured store appends, and conventional zones take no appends";
            let remedy = "set host.zones.conventional to 0".to_owned();
            let paths = ["host.zones.conventional", POLICY];
            return self.fail(&paths, message.to_owned(), remedy);
        }
        if shape(self.options).mapping_unit.0 == 0
            || ShapeCounts::of(&volume(self.options)).is_none()
        {
            return; // Reported with the pages.
        }
        if self.blocks_fit()
            && let Some(rules) = host_translation(self.options)
        {
            self.classes_fit(&rules);
            self.has_spare_zones(&rules);
        }
    }

    /// Whether zones and appends hold whole blocks.
    fn blocks_fit(&mut self) -> bool {
        let Some(shape) = zones(self.options) else { return false };
        let (block, append) =
            (self.options.host.translation.map_block, self.options.host.zones.append_limit);
        let whole = block.0.is_multiple_of(SECTOR_BYTES) && block.0 > 0;
        let capacity = shape.capacity_sectors() * SECTOR_BYTES;
        if whole && capacity.is_multiple_of(block.0) && append >= block {
            return true;
        }
        let message = format!(
            "{} is not a number of whole sectors that divides the capacity of a zone, {capacity} bytes, and fits an append, {}",
            block.print(),
            append.print()
        );
        let remedy =
            "set it to the size of a mapping unit (ftl.mapping.unit), such as \"4KiB\"".to_owned();
        self.fail(&[BLOCK, "host.zones.append_limit"], message, remedy);
        false
    }

    fn classes_fit(&mut self, rules: &LogRules) {
        if rules.classes() <= rules.most_active {
            return;
        }
        let message = format!(
            "the store holds {} zones open, and the device allows {}",
            rules.classes(),
            rules.most_active
        );
        let remedy = format!(
            "raise host.zones.max_open and host.zones.max_active, or set {PLACEMENT} to \"single\""
        );
        let paths = [PLACEMENT, "host.zones.max_open", "host.zones.max_active"];
        self.fail(&paths, message, remedy);
    }

    /// Room to clean: some zone always has a block that is not valid, and cleaning comes to an end.
    fn has_spare_zones(&mut self, rules: &LogRules) {
        let apart = u64::from(rules.zones_apart().max(rules.clean_below + rules.classes()));
        let (zone, count) = (u64::from(rules.zone_blocks), u64::from(rules.zones));
        let all = zone * count;
        if all >= u64::from(u32::MAX) {
            let message =
                format!("the zones hold {all} blocks, more than a map of 32 bits can tell apart");
            return self.fail(&[BLOCK], message, "set it to a larger size".to_owned());
        }
        if rules.blocks > 0 && u64::from(rules.blocks) + apart * zone <= all {
            return;
        }
        let message = format!(
            "the store needs {apart} of the {count} zones beyond its capacity: {} that are open, and those that cleaning keeps \
             free or works on",
            rules.classes()
        );
        let remedy = match count.checked_sub(apart).filter(|&left| left > 0) {
            Some(left) => {
                let percent = (apart * 100).div_ceil(left);
                let within = percent * 10_000 <= 10 * u64::from(Ratio::ONE.ppm);
                let raise =
                    format!("set it to \"{percent}%\", lower {BELOW}, or make zones smaller");
                if within { raise } else { format!("lower {BELOW}, or make zones smaller") }
            }
            None => format!(
                "lower {BELOW}, make zones smaller (fewer ftl.placement.zone_dies), or the device larger"
            ),
        };
        self.fail(&[SPARE, BELOW, PLACEMENT], message, remedy);
    }
}
