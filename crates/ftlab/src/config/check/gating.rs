//! The requirements of a gating buffer.

use super::Checker;

impl Checker<'_, '_> {
    /// A gating buffer sorts pages by plane, and writes each page separately.
    pub(super) fn gating(&mut self) {
        if self.options.cache.policy.gate().is_none() || self.is_physical() {
            return;
        }
        let (nand, ftl) = (&self.options.nand, &self.options.ftl);
        let wrong = [
            (
                ftl.placement.policy.stripe().is_none(),
                "ftl.placement.policy",
                "\"static\"",
                "has to know the plane of a page in advance",
            ),
            (
                ftl.mapping.unit.bytes(nand.flash_page()) != nand.flash_page(),
                "ftl.mapping.unit",
                "\"flash-page\"",
                "holds whole flash pages, of which each write is a version",
            ),
            (
                self.options.pages_in_row() > 1,
                "ftl.placement.rows",
                "\"off\"",
                "writes pages back by planes, not in rows",
            ),
        ];
        for (_, path, value, why) in wrong.into_iter().filter(|(wrong, ..)| *wrong) {
            let message = format!("a gating buffer {why}");
            let remedy = format!("set {path} to {value}, or cache.policy to \"lru\"");
            self.fail(&[path, "cache.policy"], message, remedy);
        }
    }
}
