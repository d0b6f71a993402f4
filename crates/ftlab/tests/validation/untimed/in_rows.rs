//! A fill by rows that bypasses the buffer equals, to the byte, one that goes through it page by page,
//! whatever the placement.

use ftlab::config::Config;
use ftlab::device::Device;
use ftlab::host::Host;
use ftlab::image::ImagePart;

use super::bench::{Clock, DEPTH, config, device, in_order, play, rest};

fn page_by_page(config: &Config) -> Device {
    let mut device = device(config, 1);
    let all = in_order(&device);
    play(&mut device, Clock::Untimed, all);
    rest(&mut device, Clock::Untimed);
    device
}

fn in_rows(config: &Config) -> Device {
    let mut device = device(config, 1);
    let sectors = device.capacity_sectors();
    let mut untimed = device.untimed(DEPTH).expect("it needs no time");
    untimed.fill(0..sectors).expect("it has room");
    untimed.end();
    rest(&mut device, Clock::Untimed);
    device
}

/// The parts in which two devices differ, except the clock.
fn differences(one: &Device, other: &Device) -> Vec<ImagePart> {
    let (one, other) = (one.save(), other.save());
    let parts = ImagePart::ALL.into_iter().filter(|&part| part != ImagePart::Device);
    parts.filter(|&part| one.part(part) != other.part(part)).collect()
}

/// Placements, buffers, flash pages of one unit and of several, word lines, rows, an SLC cache that fills up before the device does.
fn devices() -> Vec<Vec<&'static str>> {
    let mut all = vec![vec![]];
    let seams: [&[&str]; 5] = [
        &[
            "ftl.placement.policy=static",
            "ftl.placement.policy=dynamic",
            "ftl.placement.policy=partly-dynamic",
        ],
        &[
            "cache.policy=none",
            "cache.policy=lru,cache.capacity=1MiB",
            // Whole word lines of 12 KiB.
            "cache.policy=fifo,cache.capacity=1056KiB",
        ],
        &[
            "nand.pages_per_block=64",
            "nand.page_size=16KiB,nand.pages_per_block=48",
            "nand.program_unit=word-line,nand.pages_per_block=48",
        ],
        &["nand.multi_plane.program=off", "nand.multi_plane.program=on"],
        &["ftl.slc_cache.policy=none", "ftl.slc_cache.policy=hybrid,ftl.slc_cache.blocks=12"],
    ];
    for choices in seams {
        let longer = |options: Vec<&'static str>| {
            choices
                .iter()
                .map(move |choice| options.iter().copied().chain(choice.split(',')).collect())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

#[test]
fn it_equals_a_fill_page_by_page() {
    for options in devices() {
        let config = config(&options);
        let paged = page_by_page(&config);
        let in_rows = in_rows(&config);
        assert_eq!(differences(&paged, &in_rows), [], "{options:?}");
        assert_eq!(paged.ftl_counts(), in_rows.ftl_counts(), "{options:?}");
        assert_eq!(paged.buffer_counts().written_back, in_rows.buffer_counts().written_back);
        assert_eq!(paged.flash().done(), in_rows.flash().done(), "{options:?}");
    }
}
