//! Devices with the map on flash.

use ftlab::ftl::mapping::{Dftl, Mapping};
use proptest::prelude::*;

use super::random::{self, Run, legal, unpacked, wider};
use super::{Spec, gating};

/// Bytes of a map entry in memory, and the fewest entries that a configuration allows.
const ENTRY: u32 = 8;
const FEWEST: u32 = 8;
const CACHE: &str = "map cache";

/// The device with its map on flash and `entries` map entries in memory, or the fewest allowed.
pub fn cached(spec: Spec, entries: u32) -> Spec {
    let bytes = u64::from(entries.max(FEWEST)) * u64::from(ENTRY);
    let spec = spec.set("ftl.mapping.policy", "dftl").set("ftl.mapping.cache", format!("{bytes}B"));
    if entries >= FEWEST {
        return spec.unchanged(CACHE);
    }
    spec.changed(CACHE, move |setup| {
        let pages = setup.ftl.logical_pages;
        setup.ftl.mapping = Mapping::Dftl(Dftl::new(pages, entries, &setup.ftl.geometry));
    })
}

/// The device with a page map in memory.
pub fn in_memory(spec: Spec) -> Spec {
    spec.unchanged(CACHE).set("ftl.mapping.policy", "page")
}

/// A device whose parts may not fit together, with a map cache of one entry or more. The map's blocks need room.
pub fn drawn() -> impl Strategy<Value = Spec> {
    let cache = prop_oneof![1u32..=4, 1u32..=64, Just(u32::MAX)];
    // Small pages give the map several translation pages, also with several units each.
    let small_pages = prop::bool::weighted(0.75);
    let by_planes = (any::<bool>(), gating::any_buffer());
    (random::drawn(), cache, small_pages, 0u32..=4, by_planes).prop_map(
        |(spec, entries, small_pages, more, (by_planes, buffer))| {
            let spec = match small_pages {
                true => spec.with(
                    "nand.page_size = 2KiB
                    nand.codeword = 512B
                    ftl.mapping.unit = 512B",
                ),
                false => spec,
            };
            let spec = if by_planes { buffer.on(spec) } else { spec };
            wider(cached(unpacked(spec), entries), more)
        },
    )
}

/// A device as full as the checks allow, or less full.
pub fn spec() -> impl Strategy<Value = Spec> {
    (drawn(), 30u32..=100).prop_map(|(spec, share)| {
        let spec = legal(spec, share);
        let mapping = &spec.config().options.ftl.mapping.policy;
        assert!(mapping.on_flash().is_some(), "the map lies in memory");
        spec
    })
}

/// A run of such a device.
pub fn run(steps: usize) -> impl Strategy<Value = Run> {
    random::run_of(spec(), steps)
}
