//! Devices with an SLC cache.

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::random::{self, Run, Text, legal, wider};
use super::{Spec, policies};

fn slc() -> impl Strategy<Value = Text> {
    let mut caches = policies("ftl.slc_cache.policy");
    caches.retain(|policy| *policy != "none");
    let idle = option::weighted(0.75, select(vec!["0ns", "300us", "50ms"]));
    let full = select(vec!["bypass", "fold"]);
    let most = select(vec![1, 2, 1_000_000]);
    // A cell of n bits has n page types, each with its own times.
    let cells = select(vec![
        ("mlc", r#"["40us", "85us"]"#, r#"["300us", "1900us"]"#),
        ("tlc", r#"["40us", "55us", "85us"]"#, r#"["300us", "700us", "1900us"]"#),
        ("qlc", r#"["40us", "55us", "70us", "85us"]"#, r#"["300us", "700us", "1200us", "1900us"]"#),
    ]);
    let inside = select(vec!["off", "on"]);
    (select(caches), 1u32..=3, 0u32..=3, most, full, (idle, inside), cells).prop_map(
        |(policy, blocks, free, most, full, (idle, inside), (cell, read, program))| {
            let folds = if idle.is_some() { "on" } else { "off" };
            format!(
                "nand.cell = {cell}
                nand.timing.read_by_type = {read}
                nand.timing.program_by_type = {program}
                ftl.slc_cache.policy = {policy}
                ftl.slc_cache.blocks = {blocks}
                ftl.slc_cache.keep_free = {free}
                ftl.slc_cache.most_borrowed = {most}
                ftl.slc_cache.when_full = {full}
                ftl.slc_cache.fold_when_idle = {folds}
                ftl.slc_cache.fold_inside = {inside}
                ftl.slc_cache.fold_after_idle = {}",
                idle.unwrap_or("100ms")
            )
        },
    )
}

/// A device whose parts may not fit together.
pub fn drawn() -> impl Strategy<Value = Spec> {
    let cached = (random::drawn(), slc(), 0u32..=4);
    cached.prop_map(|(spec, slc, more)| wider(random::mixing(spec).with(&slc), 5 + more))
}

/// A device as full as the checks allow, or less full.
pub fn spec() -> impl Strategy<Value = Spec> {
    (drawn(), 5u32..=100).prop_map(|(spec, share)| {
        let spec = legal(spec, share);
        let cache = &spec.config().options.ftl.slc_cache.policy;
        assert!(cache.rules().is_some(), "no cache is left");
        spec
    })
}

/// A run of such a device.
pub fn run(steps: usize) -> impl Strategy<Value = Run> {
    random::run_of(spec(), steps)
}

/// The small device with a static cache of two blocks of four pages.
pub fn small() -> Spec {
    Spec::small().set("ftl.slc_cache.policy", "static")
}
