//! Devices with as little spare flash as a config may have: they must still take writes for ever.

use ftlab::config::{Config, Layer};
use ftlab::device::{DeviceSetup, assemble};
use ftlab::engine::Stream;
use ftlab::host::{Advanced, Host, Op, Request};
use ftlab::units::{Lba, SimTime};

fn layers(sets: &[&str]) -> Vec<Layer> {
    let numbered = sets.iter().enumerate().map(|(at, set)| Layer::set(at + 1, set));
    std::iter::once(Layer::preset("tiny")).chain(numbered).collect()
}

/// Writes random pages one at a time, several times the capacity; panics if a write never ends.
fn fill(sets: &[&str]) {
    let config = Config::load(&layers(sets)).unwrap_or_else(|error| panic!("{error}"));
    let mut device = assemble(DeviceSetup::new(&config, 1));
    let sectors = (config.shape().mapping_unit.0 / 512) as u32;
    let pages = u64::from(config.logical_pages());
    let mut addresses = Stream::new(1, "addresses");
    let mut done = Vec::new();
    for tag in 0..u32::try_from(4 * pages).expect("a small device") {
        let lba = Lba(addresses.below(pages) * u64::from(sectors));
        let request = Request { op: Op::Write, lba, sectors, stream: 0, tag, fua: false };
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

/// Many small blocks, each of which may keep three stale units in a flash page of four and not be
/// worth collecting: over-provisioning must make up for that, too.
#[test]
fn small_units_need_more_room() {
    for placement in ["ftl.placement.policy=static", "ftl.placement.policy=dynamic"] {
        let mut sets = vec![
            "nand.page_size=16KiB",
            "ftl.mapping.unit=4KiB",
            "nand.channels=1",
            "nand.chips_per_channel=1",
            "nand.planes_per_die=1",
            "nand.blocks_per_plane=200",
            "nand.pages_per_block=4",
            "ftl.gc.start=2",
            "ftl.gc.stop=2",
            placement,
        ];
        // 200 x 16 units for 3,119 pages, of which (200 - 2) x 13 = 2,574 are sure to find room.
        let refused = Config::load(&layers(&[&sets[..], &["ftl.over_provisioning=2.6%"]].concat()));
        let error = refused.expect_err("it can stand still").to_string();
        assert!(error.contains("worth collecting only when"), "{error}");
        assert!(error.contains("24.4%"), "{error}");
        sets.push("ftl.over_provisioning=24.4%");
        fill(&sets);
    }
}

/// The event queue reaches as far as the longest operation: a program may take longer than an erase.
#[test]
fn the_slowest_page_type_may_be_slower_than_everything_else() {
    fill(&[
        "nand.timing.policy=page-type",
        "nand.timing.read_by_type=[\"50us\", \"60us\", \"70us\"]",
        "nand.timing.program_by_type=[\"500us\", \"600us\", \"300ms\"]",
        "nand.timing.erase=1ms",
    ]);
}
