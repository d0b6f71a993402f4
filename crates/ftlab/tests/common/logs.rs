//! Mappings with a log, and their merges.

use ftlab::shape::Shares;
use proptest::prelude::*;
use proptest::sample::select;

use super::random::{self, Run, blocks_of, mended, unpacked};
use super::{OVER_PROVISIONING, Spec, gating, policies, ppm};

/// The same flash under a mapping with `log` log blocks in each plane, and as much data as fits.
pub fn with_log(spec: Spec, mapping: &str, log: u32) -> Spec {
    let data = blocks_of(&spec) - log - Shares::BESIDE;
    let share = (u64::from(log) * 1_000_000).div_ceil(data.into());
    // Options that a log mapping has no use for.
    let others = ["ftl.streams.", "ftl.gc.", "ftl.wear.", "ftl.placement.", "ftl.mapping.unit"];
    let others = |path: &str| others.iter().any(|other| path.starts_with(other));
    spec.without(others)
        .set("ftl.mapping.policy", mapping)
        .set("ftl.mapping.unit", "flash-page")
        .set(OVER_PROVISIONING, ppm(share))
}

/// Mappings with a log.
pub fn logs() -> Vec<&'static str> {
    let mut all = policies("ftl.mapping.policy");
    let has_log = |mapping: &str| {
        let spec = Spec::small().set("ftl.mapping.unit", "flash-page");
        let spec = spec.set("ftl.mapping.policy", mapping);
        spec.load().is_ok_and(|config| config.options.ftl.mapping.policy.log().is_some())
    };
    all.retain(|mapping| has_log(mapping));
    all
}

/// A device with a log mapping, with any planner and throttle.
pub fn spec(clocks: &'static [&'static str]) -> impl Strategy<Value = Spec> {
    let merges = (select(policies("ftl.merge.planner")), select(vec!["none", "1", "2"]));
    let start = select(vec!["empty", "full"]);
    let log = (select(logs()), 2u32..=3, start, select(clocks));
    let buffer = (any::<bool>(), gating::any_buffer());
    let copyback = select(vec!["on", "off"]);
    (random::drawn(), log, merges, copyback, buffer).prop_map(
        |(spec, (mapping, log, start, clocks), (planner, throttle), copyback, buffer)| {
            let own = clocks == "own";
            let spec = match buffer {
                (true, buffer) if own => buffer.on(spec),
                (_, buffer) if !own => buffer.buffers(spec),
                _ => spec,
            };
            let spec = spec.without(|path| path.starts_with("nand.multi_plane."));
            let spec = mended(
                with_log(unpacked(spec), mapping, log)
                    .set("ftl.mapping.start", start)
                    .set("ftl.merge.planner", planner)
                    .set("ftl.merge.throttle", throttle)
                    .set("ftl.merge.clocks", clocks)
                    .set("ftl.gc.copyback", copyback),
            );
            assert!(spec.config().shares().is_some(), "no log is left");
            spec
        },
    )
}

/// A run of such a device.
pub fn run(clocks: &'static [&'static str], steps: usize) -> impl Strategy<Value = Run> {
    random::run_of(spec(clocks), steps)
}
