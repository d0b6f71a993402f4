//! A fill without a clock leaves the same state as a fill in time.

use ftlab::image::ImagePart;

use super::bench::{Clock, config, device, in_order, play, rest};

/// The same to the byte if the address alone decides where a page goes: blocks and their pages, the map, the
/// order in which blocks closed, and what policies remember. Only the clock differs.
#[test]
fn a_fill_is_the_same_to_the_byte_where_placement_does_not_depend_on_time() {
    let stripe = "ftl.placement.policy=static";
    let devices: [&[&str]; 6] = [
        &[stripe, "cache.policy=none"],
        &[stripe],
        &[stripe, "ftl.placement.order=plane-die-chip-channel"],
        &[stripe, "nand.page_size=16KiB", "nand.pages_per_block=16"],
        &[stripe, "nand.multi_plane.program=on", "nand.page_size=16KiB", "nand.pages_per_block=16"],
        &[stripe, "ftl.streams.policy=sepbit"],
    ];
    for options in devices {
        let config = config(options);
        let [timed, untimed] = [Clock::Timed, Clock::Untimed].map(|clock| {
            let mut device = device(&config, 1);
            let all = in_order(&device);
            play(&mut device, clock, all);
            rest(&mut device, clock);
            device.save()
        });
        for part in ImagePart::ALL.into_iter().filter(|&part| part != ImagePart::Device) {
            let same = timed.part(part) == untimed.part(part);
            assert!(same, "{options:?}: {part:?} is another");
        }
    }
}

/// Otherwise each page is where it should be, and blocks are equally full.
#[test]
fn a_fill_writes_everything_once() {
    for options in [&[][..], &["ftl.slc_cache.policy=hybrid", "ftl.slc_cache.blocks=12"]] {
        let config = config(options);
        let mut device = device(&config, 1);
        let sectors = ftlab::host::Host::capacity_sectors(&device);
        let mut untimed = device.untimed(1).expect("it needs no time");
        untimed.fill(0..sectors).expect("it has room");
        untimed.rest();
        rest(&mut device, Clock::Timed);
        let pages = device.ftl().logical_pages();
        let written = (0..pages).map(ftlab::units::Lpn::new);
        let written = written.filter(|&page| device.ftl().look_up(page).is_some()).count();
        assert_eq!(written, pages as usize, "{options:?}");
        assert_eq!(device.ftl_counts().host_pages, u64::from(pages), "{options:?}");
    }
}
