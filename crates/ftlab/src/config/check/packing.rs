//! What a write buffer that packs pages asks of the rest of the device, and what pages in pieces do.

use super::Checker;

impl Checker<'_, '_> {
    /// Two logical pages on one physical page: the mapping has to know of them, and both may lie anywhere.
    pub(super) fn packing(&mut self) {
        if self.is_physical() {
            return;
        }
        let in_pieces = self.options.ftl.mapping.policy.packs();
        if in_pieces && self.options.cache.read.policy.holds().is_some() {
            let message =
                "pages that lie in pieces on flash do not stay in a read cache".to_owned();
            let remedy = "set cache.read.policy to \"none\", or cache.keep_reads to \"on\" instead";
            let paths = ["cache.read.policy", "ftl.mapping.policy"];
            self.fail(&paths, message, remedy.to_owned());
        }
        if !self.options.cache.policy.packs() {
            return;
        }
        let ftl = &self.options.ftl;
        let wrong = [
            (
                !ftl.mapping.policy.packs(),
                "ftl.mapping.policy",
                "\"reconstruction\"",
                "puts parts of two pages onto one physical page, which this mapping can't find again",
            ),
            (
                // A mapping with a log has a placement of its own.
                !self.has_log() && !ftl.placement.policy.is_free(),
                "ftl.placement.policy",
                "\"dynamic\"",
                "puts pages beside each other whose addresses would send them to different planes",
            ),
        ];
        for (_, path, value, why) in wrong.into_iter().filter(|(wrong, ..)| *wrong) {
            let message = format!("the write buffer {why}");
            let pack = self.options.cache.policy.pack_path();
            let remedy = format!("set {path} to {value}, or {pack} to \"off\"");
            self.fail(&[path, "cache.policy", pack], message, remedy);
        }
    }
}
