//! The requirements of parity across dies.

use super::slc::FOLD_INSIDE;
use super::volume::{clash, clashes_with_filling, refuse_clashes};
use super::{Checker, GEOMETRY};
use crate::config::resolve::shape;

const POLICY: &str = "ftl.parity.policy";
const WIDTH: &str = "ftl.parity.width";
/// The most dies of a stripe.
const MOST_DIES: u32 = 64;

impl Checker<'_, '_> {
    /// Dies form whole groups, pages may go anywhere, and all data passes the controller.
    pub(super) fn parity(&mut self) {
        let Some(width) = self.options.ftl.parity.stripe() else { return };
        self.groups_of_dies(width);
        self.stripes_of_superblocks(width);
        let ftl = &self.options.ftl;
        let own = [
            clash(
                ftl.slc_cache.policy.folds_inside(),
                FOLD_INSIDE,
                "\"off\"",
                "data that is folded within a die never reaches the controller, which computes parity",
            ),
            clash(
                ftl.gc.copyback.is_on(),
                "ftl.gc.copyback",
                "\"off\"",
                "data that is copied within a die never reaches the controller, which computes parity",
            ),
        ];
        let common = clashes_with_filling("stripe", self.options);
        refuse_clashes(self, (POLICY, "parity across dies"), common.into_iter().chain(own));
    }

    /// With superblocks, a stripe has a page on each of their dies.
    fn stripes_of_superblocks(&mut self, width: u32) {
        let shape = shape(self.options);
        let dies = shape.channels * shape.chips_per_channel * shape.dies_per_chip;
        let span = self.options.ftl.superblock.span(dies, shape.planes_per_die);
        let Some(span) = span.filter(|span| span.dies != width) else { return };
        let message =
            format!("superblocks of {} dies have stripes of as many, not of {width}", span.dies);
        let remedy = match span.dies {
            2..=MOST_DIES => format!("set {WIDTH} to {}", span.dies),
            _ if dies.is_multiple_of(width) => {
                format!(
                    "set ftl.superblock.policy to \"groups\" and ftl.superblock.dies to {width}"
                )
            }
            // That is refused for itself.
            _ => return,
        };
        let mut paths = vec![WIDTH, "ftl.superblock.policy", "ftl.superblock.dies"];
        paths.extend(&GEOMETRY[2..5]);
        self.fail(&paths, message, remedy);
    }

    fn groups_of_dies(&mut self, width: u32) {
        let shape = shape(self.options);
        let dies = shape.channels * shape.chips_per_channel * shape.dies_per_chip;
        if dies.is_multiple_of(width) {
            return;
        }
        let message = format!("{dies} dies do not make whole groups of {width}");
        let fits = (2..=dies.min(MOST_DIES)).filter(|other| dies.is_multiple_of(*other));
        let remedy = match fits.min_by_key(|other| other.abs_diff(width)) {
            Some(other) => format!("set {WIDTH} to {other}, which divides the dies"),
            None => format!("set {POLICY} to \"none\", or give the device more dies"),
        };
        let mut paths = vec![WIDTH, POLICY];
        paths.extend(&GEOMETRY[2..5]);
        self.fail(&paths, message, remedy);
    }
}
