//! The requirements of streams that are kept apart.

use super::Checker;
use crate::ftl::streams::Isolates;

const STREAMS: &str = "ftl.streams.policy";

impl Checker<'_, '_> {
    /// What mixes pages of several streams does not go with a policy that keeps them apart.
    pub(super) fn handles(&mut self) {
        let (ftl, cache) = (&self.options.ftl, &self.options.cache);
        let isolates = ftl.streams.policy.isolates();
        let mixes = [
            (
                cache.policy.pads(),
                Isolates::Writes,
                "cache.policy",
                "pads blocks with pages of any handle",
                "lru",
            ),
            (
                ftl.slc_cache.policy.rules().is_some(),
                Isolates::Writes,
                "ftl.slc_cache.policy",
                "has blocks for the pages of all handles",
                "none",
            ),
            (
                self.rewrites(),
                Isolates::Copies,
                "ftl.cost.policy",
                "rewrites pages of all handles side by side",
                "traditional",
            ),
        ];
        for (is_there, least, path, why, other) in mixes {
            if is_there && isolates >= least {
                let message = format!("{STREAMS} keeps handles apart, and this {why}");
                let remedy = format!("set {path} to \"{other}\", or {STREAMS} to \"single\"");
                self.fail(&[path, STREAMS], message, remedy);
            }
        }
    }
}
