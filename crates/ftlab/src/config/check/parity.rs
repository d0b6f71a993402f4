//! The requirements of parity across dies.

use super::volume::{clash, clashes_with_filling, refuse_clashes};
use super::{Checker, GEOMETRY};
use crate::config::resolve::shape;

const POLICY: &str = "ftl.parity.policy";
const WIDTH: &str = "ftl.parity.width";

impl Checker<'_, '_> {
    /// Dies form whole groups, pages may go anywhere, and all data passes the controller.
    pub(super) fn parity(&mut self) {
        let Some(width) = self.options.ftl.parity.stripe() else { return };
        self.groups_of_dies(width);
        let (nand, ftl) = (&self.options.nand, &self.options.ftl);
        let own = [
            clash(
                ftl.slc_cache.policy.rules().is_some(),
                "ftl.slc_cache.policy",
                "\"none\"",
                "stripes over blocks in SLC mode are not modelled",
            ),
            clash(
                ftl.gc.copyback.is_on(),
                "ftl.gc.copyback",
                "\"off\"",
                "data that is copied within a die never reaches the controller, which computes parity",
            ),
            clash(
                self.options.pages_in_row() > 1,
                "ftl.placement.rows",
                "\"off\"",
                "rows are flash pages of one die, but stripes span several",
            ),
            clash(
                ftl.recovery.policy.survives(),
                "ftl.recovery.policy",
                "\"none\"",
                "recovery from power cuts is not modelled",
            ),
            clash(
                ftl.refresh.reads.is_some(),
                "ftl.refresh.reads",
                "\"none\"",
                "reads are counted by blocks of one die, but refresh moves superblocks",
            ),
            clash(
                nand.timing.policy.knows_costs(),
                "nand.timing.policy",
                "\"plain\"",
                "programs of different cost are not modelled",
            ),
        ];
        let common = clashes_with_filling("stripe", self.options);
        refuse_clashes(self, (POLICY, "parity across dies"), common.into_iter().chain(own));
    }

    fn groups_of_dies(&mut self, width: u32) {
        let shape = shape(self.options);
        let dies = shape.channels * shape.chips_per_channel * shape.dies_per_chip;
        if dies.is_multiple_of(width) {
            return;
        }
        let message = format!("{dies} dies do not make whole groups of {width}");
        let fits = (2..=dies.min(64)).filter(|other| dies.is_multiple_of(*other));
        let remedy = match fits.min_by_key(|other| other.abs_diff(width)) {
            Some(other) => format!("set {WIDTH} to {other}, which divides the dies"),
            None => format!("set {POLICY} to \"none\", or give the device more dies"),
        };
        let mut paths = vec![WIDTH, POLICY];
        paths.extend(&GEOMETRY[2..5]);
        self.fail(&paths, message, remedy);
    }
}
