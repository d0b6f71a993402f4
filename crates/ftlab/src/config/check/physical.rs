//! Options that are meaningless on a device without translation: everything about logical pages,
//! erases, or the choice of a place. They are all refused, not ignored.

use super::{Checker, text};
use crate::scheduler::Pausable;
use crate::units::Ratio;

const POLICY: &str = "ftl.mapping.policy";

/// Sections about places, blocks and their wear.
const SECTIONS: [&str; 4] = ["ftl.placement.", "ftl.streams.", "ftl.gc.", "ftl.wear."];

/// Options elsewhere that only concern erases.
const OF_ERASES: [&str; 3] =
    ["nand.multi_plane.erase", "nand.suspend.erase", "nand.suspend.erase_pulse"];

impl Checker<'_, '_> {
    /// Whether requests carry physical addresses.
    pub(super) fn is_physical(&self) -> bool {
        !self.options.ftl.mapping.policy.translates()
    }

    pub(super) fn physical(&mut self) {
        if !self.is_physical() {
            return;
        }
        let (nand, ftl) = (&self.options.nand, &self.options.ftl);
        let faults = &nand.faults;
        let limited = nand.endurance.policy.is_limited();
        let wrong = [
            (
                self.options.cache.policy.dram().is_some(),
                "cache.policy",
                "\"none\"",
                "a write buffer would hide the order of requests from the flash",
            ),
            (
                self.options.cache.read.policy.holds().is_some(),
                "cache.read.policy",
                "\"none\"",
                "a read cache would hide reads from the flash",
            ),
            (
                ftl.mapping.unit.bytes(nand.flash_page()) != nand.flash_page(),
                "ftl.mapping.unit",
                "\"flash-page\"",
                "pages are programmed in place as a whole",
            ),
            (
                ftl.over_provisioning != Ratio::default(),
                "ftl.over_provisioning",
                "\"0%\"",
                "the host sees every physical page",
            ),
            (
                ftl.capacity.is_some(),
                "ftl.capacity",
                "\"none\"",
                "the host sees every physical page",
            ),
            (
                ftl.slc_cache.policy.rules().is_some(),
                "ftl.slc_cache.policy",
                "\"none\"",
                "nothing is placed in a cache or moved out of it",
            ),
            (
                faults.factory_bad != Ratio::default(),
                "nand.faults.factory_bad",
                "\"0%\"",
                "every page of the host is a page of flash, so none may be bad",
            ),
            (
                faults.program_failures > 0,
                "nand.faults.program_failures",
                "0",
                "there is no other page for data whose program fails",
            ),
            (
                faults.erase_failures > 0,
                "nand.faults.erase_failures",
                "0",
                "nothing is ever erased",
            ),
            (
                faults.read_failures > 0,
                "nand.faults.read_failures",
                "0",
                "nothing marks a page as lost here",
            ),
            (
                faults.disturb_limit.is_some(),
                "nand.faults.disturb_limit",
                "\"none\"",
                "nothing is ever erased, so no block would be good again",
            ),
            (
                !faults.schedule.is_empty(),
                "nand.faults.schedule",
                "[]",
                "there is no other page for what fails",
            ),
            (
                limited,
                "nand.endurance.policy",
                "\"unlimited\"",
                "nothing is ever erased, so nothing wears out",
            ),
            (
                nand.timing.policy.errors().is_some(),
                "nand.timing.policy",
                "\"by-cost\"",
                "nothing is ever erased, so no block's data would become young again",
            ),
        ];
        for (_, path, value, why) in wrong.into_iter().filter(|wrong| wrong.0) {
            let message = format!("requests carry physical addresses ({POLICY}): {why}");
            self.fail(&[path, POLICY], message, format!("set {path} to {value}"));
        }
        self.refuse_what_needs_blocks();
    }

    /// Refuses options that the user set by hand. Those that a preset sets for a device that translates are ignored.
    fn refuse_what_needs_blocks(&mut self) {
        let of_blocks = |path: &&str| SECTIONS.iter().any(|section| path.starts_with(section));
        let paths = self.reader.all_paths().filter(of_blocks);
        let changed: Vec<_> = paths.filter(|path| self.reader.user_changed(path)).collect();
        for path in changed {
            let message = format!(
                "does nothing where requests carry physical addresses ({POLICY}): no page is placed, \
                 no block collected or levelled"
            );
            self.refuse_idle(path, message);
        }
        let suspends_erases = self.options.scheduler.suspend == Pausable::Erase;
        let of_erases = OF_ERASES.into_iter().chain(suspends_erases.then_some("scheduler.suspend"));
        let changed: Vec<_> = of_erases.filter(|path| self.reader.user_changed(path)).collect();
        for path in changed {
            let message = format!(
                "does nothing where requests carry physical addresses ({POLICY}): nothing is ever erased"
            );
            self.refuse_idle(path, message);
        }
    }

    fn refuse_idle(&mut self, path: &str, message: String) {
        let remedy = format!("remove it, or write {POLICY} = {}", text(&"page".to_owned()));
        self.fail(&[path, POLICY], message, remedy);
    }
}
