//! The requirements of parity across dies.

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
        let by_planes = self.options.cache.policy.gate().is_some();
        let wrong = [
            (
                !ftl.mapping.policy.fills_stripes(),
                "ftl.mapping.policy",
                "\"page\"",
                "pages go wherever a stripe is filled, from any address: no other mapping is modelled",
            ),
            (
                !ftl.placement.policy.is_free() && !by_planes,
                "ftl.placement.policy",
                "\"dynamic\"",
                "the die of a page follows from the stripe that is being filled, not from its address",
            ),
            (
                by_planes,
                "cache.policy",
                "\"lru\"",
                "a gating buffer has to know the plane of a page in advance, but a stripe decides it",
            ),
            (
                ftl.slc_cache.policy.rules().is_some(),
                "ftl.slc_cache.policy",
                "\"none\"",
                "stripes over blocks in SLC mode are not modelled",
            ),
            (
                ftl.gc.copyback.is_on(),
                "ftl.gc.copyback",
                "\"off\"",
                "data that is copied within a die never reaches the controller, which computes parity",
            ),
            (
                self.options.pages_in_row() > 1,
                "ftl.placement.rows",
                "\"off\"",
                "rows are flash pages of one die, but stripes span several",
            ),
            (
                ftl.recovery.policy.survives(),
                "ftl.recovery.policy",
                "\"none\"",
                "recovery from power cuts is not modelled",
            ),
            (
                ftl.refresh.reads.is_some(),
                "ftl.refresh.reads",
                "\"none\"",
                "reads are counted by blocks of one die, but refresh moves superblocks",
            ),
            (
                nand.timing.policy.knows_costs(),
                "nand.timing.policy",
                "\"plain\"",
                "programs of different cost are not modelled",
            ),
        ];
        for (_, path, value, why) in wrong.into_iter().filter(|(wrong, ..)| *wrong) {
            let remedy = format!("set {path} to {value}, or {POLICY} to \"none\"");
            self.fail(&[path, POLICY], format!("with parity across dies {why}"), remedy);
        }
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
