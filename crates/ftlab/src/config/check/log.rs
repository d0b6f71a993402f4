//! The requirements of mappings with a log, and options that do nothing with them or without them.

use super::faults::READS_ONLY;
use super::{Checker, text};
use crate::config::resolve::{gang, shape, shares};
use crate::shape::Shares;
use crate::units::{Bytes, Ratio, SECTOR_BYTES, SectorMask};

const POLICY: &str = "ftl.mapping.policy";
const UNIT: &str = "ftl.mapping.unit";
const PLANNER: &str = "ftl.merge.planner";

/// Sections about collecting blocks with pages of any address, which a log does not use.
const SECTIONS: [&str; 3] = ["ftl.streams.", "ftl.gc.", "ftl.wear.policy"];
/// The options among them that merges use.
const OF_MERGES: [&str; 2] = ["ftl.gc.copies_in_flight", "ftl.gc.copyback"];
/// The section of merges.
const MERGES: &str = "ftl.merge.";

impl Checker<'_, '_> {
    /// Whether the mapping has a log.
    pub(super) fn has_log(&self) -> bool {
        self.options.ftl.mapping.policy.log().is_some()
    }

    pub(super) fn log(&mut self) {
        if !self.has_log() {
            return self.refuse_changed(
                |path| path.starts_with(MERGES),
                "does nothing: only mappings with a log merge blocks",
                "log-block",
            );
        }
        self.refuse_what_logs_do_not_do();
        self.log_pages();
        self.log_blocks();
        self.refuse_changed(
            |path| {
                SECTIONS.iter().any(|section| path.starts_with(section))
                    && !OF_MERGES.contains(&path)
            },
            "does nothing on a mapping with a log, which merges blocks instead of collecting them",
            "page",
        );
    }

    fn refuse_changed(&mut self, concerns: impl Fn(&str) -> bool, message: &str, mapping: &str) {
        let paths = self.reader.all_paths().filter(|path| concerns(path));
        let changed: Vec<_> = paths.filter(|path| self.reader.user_changed(path)).collect();
        for path in changed {
            let remedy = format!("remove it, or write {POLICY} = {}", text(&mapping.to_owned()));
            self.fail(&[path, POLICY], message.to_owned(), remedy);
        }
    }

    fn refuse_what_logs_do_not_do(&mut self) {
        let (nand, ftl) = (&self.options.nand, &self.options.ftl);
        let limited = nand.endurance.policy.is_limited();
        let is_static = ftl.placement.policy.stripe().is_some();
        let shape = shape(self.options);
        let wrong = [
            (!is_static, "ftl.placement.policy", "\"static\"", "pages have to know their plane"),
            (
                shape.mapping_unit != shape.page_size,
                UNIT,
                "\"flash-page\"",
                "pages of a log block are mapped as wholes",
            ),
            (
                ftl.slc_cache.policy.rules().is_some(),
                "ftl.slc_cache.policy",
                "\"none\"",
                "an SLC cache in front of a log is not modelled",
            ),
            (
                nand.faults.factory_bad != Ratio::default(),
                "nand.faults.factory_bad",
                "\"0%\"",
                "bad blocks under a log are not modelled",
            ),
            (
                nand.faults.program_failures > 0,
                "nand.faults.program_failures",
                "0",
                "bad blocks under a log are not modelled",
            ),
            (
                nand.faults.erase_failures > 0,
                "nand.faults.erase_failures",
                "0",
                "bad blocks under a log are not modelled",
            ),
            (
                nand.faults.costs_blocks(),
                "nand.faults.schedule",
                READS_ONLY,
                "bad blocks under a log are not modelled",
            ),
            (
                limited,
                "nand.endurance.policy",
                "\"unlimited\"",
                "blocks under a log that wear out are not modelled",
            ),
        ];
        for (_, path, value, why) in wrong.into_iter().filter(|wrong| wrong.0) {
            let message = format!("the mapping has a log ({POLICY}): {why}");
            self.fail(&[path, POLICY], message, format!("set {path} to {value}"));
        }
    }

    /// Checks the size of pages if channels work as one.
    fn log_pages(&mut self) {
        let channels = self.options.nand.channels;
        if gang(self.options) > 1 && !channels.is_power_of_two() {
            let message = format!(
                "{channels} channels that work as one have pages that are not a power of two, so no request \
                 can be split into them"
            );
            let remedy = format!(
                "write {} or {} channels, or another planner",
                channels.next_power_of_two() / 2,
                channels.next_power_of_two()
            );
            return self.fail(&[PLANNER, "nand.channels"], message, remedy);
        }
        const MOST: u64 = SectorMask::MOST_SECTORS as u64 * SECTOR_BYTES;
        let page = shape(self.options).page_size;
        if gang(self.options) > 1 && page.0 > MOST {
            let message = format!(
                "{} channels that work as one have pages of {page}, and the most is {}",
                self.options.nand.channels,
                Bytes(MOST)
            );
            let remedy = "use fewer channels, smaller pages, or another planner".to_owned();
            self.fail(&[PLANNER, "nand.channels", "nand.page_size"], message, remedy);
        }
    }

    fn log_blocks(&mut self) {
        let Some(Shares { data, log }) = shares(self.options) else { return };
        let paths =
            ["ftl.over_provisioning", "ftl.capacity", "nand.blocks_per_plane", POLICY, PLANNER];
        let least = self.options.ftl.mapping.policy.least_log_blocks();
        let blocks = u64::from(self.options.nand.blocks_per_plane);
        let needed = u64::from(data) + u64::from(log) + u64::from(Shares::BESIDE);
        if data == 0 {
            let message = format!("a plane of {blocks} blocks has no room for data and a log");
            let remedy = "give a plane more blocks".to_owned();
            self.fail(&[paths[2], paths[0], POLICY], message, remedy);
        } else if log < least {
            let message = format!(
                "over-provisioning leaves {log} log blocks beside the {data} data blocks of a plane, and \
                 this mapping needs {least}"
            );
            // A larger log leaves fewer blocks for data, unless the capacity determines their
            // number.
            let beside = u64::from(Shares::BESIDE) + u64::from(least);
            let left = match self.options.ftl.capacity {
                Some(_) => data,
                None => u32::try_from(blocks.saturating_sub(beside)).unwrap_or(data).clamp(1, data),
            };
            let needed = Ratio { ppm: (Ratio::ONE.ppm * least).div_ceil(left) };
            let remedy = format!("set ftl.over_provisioning to {} or more", text(&needed));
            self.fail(&paths[..4], message, remedy);
        } else if needed > blocks {
            let message = format!(
                "a plane needs {needed} blocks ({data} for data, {log} for the log and {} besides), but has \
                 {blocks}",
                Shares::BESIDE
            );
            let remedy = format!(
                "set nand.blocks_per_plane to {needed} or more, or lower ftl.capacity or \
                 ftl.over_provisioning"
            );
            self.fail(&[paths[1], paths[0], paths[2], POLICY, PLANNER], message, remedy);
        }
    }
}
