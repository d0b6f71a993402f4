//! The requirements of superblocks: dies form whole groups, and pages may go anywhere.

use super::slc::FOLD_INSIDE;
use super::volume::{clash, clashes_with_filling, refuse_clashes};
use super::{Checker, GEOMETRY};
use crate::config::resolve::shape;

const POLICY: &str = "ftl.superblock.policy";
const DIES: &str = "ftl.superblock.dies";

impl Checker<'_, '_> {
    pub(super) fn superblock(&mut self) {
        let shape = shape(self.options);
        let dies = shape.channels * shape.chips_per_channel * shape.dies_per_chip;
        let Some(span) = self.options.ftl.superblock.span(dies, shape.planes_per_die) else {
            return;
        };
        self.groups_of(span.dies, dies);
        let ftl = &self.options.ftl;
        let own = [
            clash(
                ftl.slc_cache.policy.folds_inside(),
                FOLD_INSIDE,
                "\"off\"",
                "copies go to whatever die is next, so that their data has to leave its own",
            ),
            clash(
                ftl.gc.copyback.is_on(),
                "ftl.gc.copyback",
                "\"off\"",
                "copies go to whatever die is next, so that their data has to leave its own",
            ),
        ];
        let common = clashes_with_filling("superblock", self.options);
        refuse_clashes(self, (POLICY, "superblocks"), common.into_iter().chain(own));
    }

    fn groups_of(&mut self, wanted: u32, dies: u32) {
        if wanted > 0 && dies.is_multiple_of(wanted) {
            return;
        }
        let message = format!("{dies} dies do not make whole groups of {wanted}");
        let fits = (1..=dies).filter(|other| dies.is_multiple_of(*other));
        let other = fits.min_by_key(|other| other.abs_diff(wanted)).unwrap_or(dies);
        let remedy =
            format!("set {DIES} to {other}, which divides the dies, or {POLICY} to \"all\"");
        let mut paths = vec![DIES];
        paths.extend(&GEOMETRY[2..5]);
        self.fail(&paths, message, remedy);
    }
}
