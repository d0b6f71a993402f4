//! The requirements of a write buffer that packs pages, and of mappings with fragments.

use super::Checker;

impl Checker<'_, '_> {
    /// Packed pages need a mapping that knows them, and a placement that may put both anywhere.
    pub(super) fn packing(&mut self) {
        if self.is_physical() {
            return;
        }
        let in_pieces = self.options.ftl.mapping.policy.packs();
        if in_pieces && self.options.cache.read.policy.holds().is_some() {
            let message = "a read cache can't hold pages that are in fragments on flash".to_owned();
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
                // A mapping with a log has its own placement.
                !self.has_log() && !ftl.placement.policy.is_free(),
                "ftl.placement.policy",
                "\"dynamic\"",
                "packs pages whose addresses would send them to different planes",
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
