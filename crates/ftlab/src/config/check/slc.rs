//! The requirements of an SLC cache.

use super::Checker;
use crate::shape::Cell;

impl Checker<'_, '_> {
    pub(super) fn slc_cache(&mut self) {
        let cache = &self.options.ftl.slc_cache.policy;
        if cache.rules().is_none() {
            return;
        }
        let nand = &self.options.nand;
        let limited = nand.endurance.policy.is_limited();
        let can_fail = nand.faults.can_fail() || limited;
        let none = "set ftl.slc_cache.policy to \"none\"";
        if nand.cell == Cell::Slc {
            let message = "cells with one bit need no SLC cache".to_owned();
            self.fail(&["ftl.slc_cache.policy", "nand.cell"], message, none.to_owned());
        }
        if can_fail {
            let message = "an SLC cache on blocks that fail or wear out is not modelled".to_owned();
            let remedy = format!(
                "{none}, or nand.endurance.policy to \"unlimited\" and leave nand.faults at zero"
            );
            self.fail(&["ftl.slc_cache.policy", "nand.endurance.policy"], message, remedy);
        }
    }
}
