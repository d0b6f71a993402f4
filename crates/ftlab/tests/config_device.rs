//! Devices with as little spare flash as a config may have: they must still take writes for ever.

use ftlab::config::{Config, Layer};
use ftlab::device::{DeviceSetup, assemble};
use ftlab::engine::Stream;
use ftlab::host::{Advanced, Host, Op, Request};
use ftlab::units::{Lba, SimTime};

/// Writes random pages one after the other, several times the capacity; panics if one never ends.
fn fill(sets: &[&str]) {
    let mut layers = vec![Layer::preset("tiny")];
    layers.extend(sets.iter().enumerate().map(|(at, set)| Layer::set(at + 1, set)));
    let config = Config::load(&layers).unwrap_or_else(|error| panic!("{error}"));
    let mut device = assemble(DeviceSetup::new(&config, 1));
    let sectors = (config.shape().mapping_unit.0 / 512) as u32;
    let pages = u64::from(config.logical_pages());
    let mut addresses = Stream::new(1, "addresses");
    let mut done = Vec::new();
    for tag in 0..u32::try_from(4 * pages).expect("a small device") {
        let lba = Lba(addresses.below(pages) * u64::from(sectors));
        let request = Request { op: Op::Write, lba, sectors, stream: 0, tag };
        device.submit(device.now(), request);
        while done.len() <= tag as usize {
            let advanced = device.advance_until(SimTime::FOREVER, &mut done);
            assert_eq!(advanced, Advanced::Completed, "write {tag} never ended with {sets:?}");
        }
    }
}

#[test]
fn the_least_over_provisioning_is_enough() {
    // 32 blocks a plane less 6: 26 of 32 may be full, 23.1 % beyond the logical capacity.
    for placement in ["ftl.placement.policy=static", "ftl.placement.policy=dynamic"] {
        for unit in ["ftl.mapping.unit=4KiB", "ftl.mapping.unit=2KiB"] {
            fill(&["ftl.over_provisioning=23.1%", placement, unit]);
            fill(&[
                "ftl.over_provisioning=23.1%",
                placement,
                unit,
                "cache.policy=lru",
                "cache.capacity=256KiB",
            ]);
        }
    }
}

#[test]
fn the_smallest_device_works() {
    fill(&[
        "nand.blocks_per_plane=8",
        "nand.pages_per_block=4",
        "nand.channels=1",
        "nand.chips_per_channel=1",
        "nand.planes_per_die=1",
        "ftl.over_provisioning=300%",
        "ftl.gc.start=2",
        "ftl.gc.stop=2",
    ]);
}
