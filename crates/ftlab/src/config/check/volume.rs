//! What stripes and superblocks both refuse: they are filled page by page over several dies.

use super::Checker;
use crate::config::Options;

/// Something that does not go together with a feature.
pub(super) struct Clash {
    /// Whether the options have it.
    pub is_there: bool,
    /// The option that brings it, and a value that does not.
    pub path: &'static str,
    pub value: &'static str,
    pub why: String,
}

/// A clash with a reason that needs no words of its own.
pub(super) fn clash(is_there: bool, path: &'static str, value: &'static str, why: &str) -> Clash {
    Clash { is_there, path, value, why: why.to_owned() }
}

/// What does not go together with filling a stripe or a superblock.
pub(super) fn clashes_with_filling(what: &str, options: &Options) -> [Clash; 3] {
    let by_planes = options.cache.policy.gate().is_some();
    let is_free = options.ftl.placement.policy.is_free();
    let fills = options.ftl.mapping.policy.fills_stripes();
    let clash = |is_there, path, value, why| Clash { is_there, path, value, why };
    [
        clash(
            !fills,
            "ftl.mapping.policy",
            "\"page\"",
            format!(
                "pages go wherever a {what} is filled, from any address, which this mapping does not allow"
            ),
        ),
        clash(
            // A mapping that does not fill needs its own placement.
            fills && !is_free && !by_planes,
            "ftl.placement.policy",
            "\"dynamic\"",
            format!(
                "the die of a page follows from the {what} that is being filled, not from its address"
            ),
        ),
        clash(
            by_planes,
            "cache.policy",
            if is_free { "\"lru\"" } else { "\"lru\" and ftl.placement.policy to \"dynamic\"" },
            format!(
                "a gating buffer has to know the plane of a page in advance, but a {what} decides it"
            ),
        ),
    ]
}

/// Refuses what is there beside a feature, which `policy` sets.
pub(super) fn refuse_clashes(
    checker: &mut Checker<'_, '_>,
    (policy, feature): (&'static str, &str),
    clashes: impl IntoIterator<Item = Clash>,
) {
    for Clash { path, value, why, .. } in clashes.into_iter().filter(|clash| clash.is_there) {
        let remedy = format!("set {path} to {value}, or {policy} to \"none\"");
        checker.fail(&[path, policy], format!("with {feature} {why}"), remedy);
    }
}
