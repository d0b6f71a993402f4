//! The requirements of an SLC cache.

use super::Checker;
use crate::shape::Cell;

/// The option with which dies fold on their own.
pub(super) const FOLD_INSIDE: &str = "ftl.slc_cache.fold_inside";

impl Checker<'_, '_> {
    pub(super) fn slc_cache(&mut self) {
        let has_cache = self.options.ftl.slc_cache.policy.rules().is_some();
        if has_cache && self.options.nand.cell == Cell::Slc {
            let message = "cells with one bit need no SLC cache".to_owned();
            let remedy = "set ftl.slc_cache.policy to \"none\"".to_owned();
            self.fail(&["ftl.slc_cache.policy", "nand.cell"], message, remedy);
        }
    }
}
