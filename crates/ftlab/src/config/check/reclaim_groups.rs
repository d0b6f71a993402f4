//! The requirements of several reclaim groups: equal parts of the dies, a placement that may go to any of them, and nothing that puts
//! data elsewhere.

use super::{Checker, GEOMETRY};
use crate::config::resolve::volume;
use crate::ftl::streams::fdp::MOST_HANDLES;

const GROUPS: &str = "ftl.streams.reclaim_groups";
const HANDLES: &str = "ftl.streams.handles";
const STREAMS: &str = "ftl.streams.policy";

impl Checker<'_, '_> {
    pub(super) fn reclaim_groups(&mut self) {
        let counts = self.options.ftl.streams.policy.counts();
        let groups = u32::from(counts.groups);
        if groups == 1 || self.has_log() || self.is_physical() {
            return;
        }
        let most = MOST_HANDLES as u32;
        if u32::from(counts.host) > most {
            let message =
                format!("{groups} groups with all handles have more than {most} identifiers");
            let remedy = format!("set {HANDLES} to {} or less, or {GROUPS} to 1", most / groups);
            self.fail(&[GROUPS, HANDLES], message, remedy);
        }
        self.equal_groups(groups);
        self.stays_in_groups();
    }

    /// Each group has an equal part of the dies, or of the spans of superblocks.
    fn equal_groups(&mut self, groups: u32) {
        let volume = volume(self.options);
        let dies = volume.channels * volume.chips_per_channel * volume.dies_per_chip;
        if dies == 0 || dies.is_multiple_of(groups) {
            return;
        }
        let message =
            format!("{dies} dies (or spans of superblocks) do not make {groups} equal groups");
        let fits = (1..groups).rev().find(|other| dies.is_multiple_of(*other)).unwrap_or(1);
        let remedy = format!("set {GROUPS} to {fits}, which divides them");
        let paths = [&[GROUPS, "ftl.superblock.policy"], &GEOMETRY[2..5]].concat();
        self.fail(&paths, message, remedy);
    }

    fn stays_in_groups(&mut self) {
        let (ftl, nand) = (&self.options.ftl, &self.options.nand);
        let mapping = &ftl.mapping.policy;
        let wrong = [
            (
                !ftl.placement.policy.is_free(),
                "ftl.placement.policy",
                "dynamic",
                "places by address, and the identifier of a write has to decide",
            ),
            (
                self.has_map_on_flash(),
                "ftl.mapping.policy",
                "page",
                "has a map on flash, which belongs to no group",
            ),
            (mapping.packs(), "ftl.mapping.policy", "page", "joins parts of pages from anywhere"),
            (
                self.rewrites(),
                "ftl.cost.policy",
                "traditional",
                "rewrites pages on whatever die is idle",
            ),
            (
                ftl.parity.stripe().is_some(),
                "ftl.parity.policy",
                "none",
                "rebuilds pages on any die that is left",
            ),
            (
                nand.endurance.policy.is_limited(),
                "nand.endurance.policy",
                "unlimited",
                "wears blocks out, and groups do not lend each other blocks",
            ),
        ];
        for (_, path, other, why) in wrong.into_iter().filter(|(is_there, ..)| *is_there) {
            let message = format!("{STREAMS} has several reclaim groups, and this {why}");
            let remedy = format!("set {GROUPS} to 1, or {path} to \"{other}\"");
            self.fail(&[path, GROUPS], message, remedy);
        }
        if nand.faults.can_fail() {
            let message = "on failing flash a group may come to hold less than its share, and groups do not lend each other blocks";
            let remedy = format!("set {GROUPS} to 1, or let nothing fail (nand.faults)");
            let paths = [
                GROUPS,
                "nand.faults.factory_bad",
                "nand.faults.program_failures",
                "nand.faults.erase_failures",
                "nand.faults.schedule",
            ];
            self.fail(&paths, message.to_owned(), remedy);
        }
    }
}
