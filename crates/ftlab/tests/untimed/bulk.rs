//! A fill that goes past the buffer leaves what one leaves that goes through, page by page, and what a fill in time leaves:
//! to the byte, or the same but for the order of dies.

use ftlab::config::Config;
use ftlab::device::Device;
use ftlab::host::Host;
use ftlab::image::Part;

use crate::bench::{Clock, config, device, in_order, play, rest};

/// How a device is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Timed,
    PageByPage,
    Bulk,
}

fn filled(config: &Config, way: Way) -> Device {
    let mut device = device(config, 1);
    let sectors = device.capacity_sectors();
    match way {
        Way::Timed => {
            let all = in_order(&device);
            play(&mut device, Clock::Timed, all);
        }
        Way::PageByPage => {
            let all = in_order(&device);
            play(&mut device, Clock::Untimed, all);
        }
        Way::Bulk => {
            let mut untimed = device.untimed(crate::bench::DEPTH).expect("it needs no time");
            untimed.fill(0..sectors).expect("it has room");
            untimed.end();
        }
    }
    let clock = if way == Way::Timed { Clock::Timed } else { Clock::Untimed };
    rest(&mut device, clock);
    device
}

#[test]
fn look() {
    let mut all = Vec::new();
    for placement in ["static", "dynamic", "partly-dynamic"] {
        for cache in ["cache.policy=none", "cache.policy=lru", "cache.policy=fifo"] {
            for pages in ["nand.page_size=4KiB", "nand.page_size=16KiB"] {
                for rows in ["nand.multi_plane.program=off", "nand.multi_plane.program=on"] {
                    for slc in ["ftl.slc_cache.policy=none", "ftl.slc_cache.policy=hybrid"] {
                        all.push([placement, cache, pages, rows, slc]);
                    }
                }
            }
        }
    }
    for [placement, cache, pages, rows, slc] in all {
        let placement = format!("ftl.placement.policy={placement}");
        let mut options: Vec<&str> = vec![&placement, cache, pages, rows, slc];
        if slc.ends_with("hybrid") {
            options.push("ftl.slc_cache.blocks=12");
        }
        if pages.ends_with("16KiB") {
            options.push("nand.pages_per_block=48");
        }
        let config = config(&options);
        let [timed, paged, bulk] = [Way::Timed, Way::PageByPage, Way::Bulk].map(|way| filled(&config, way));
        let same = |a: &Device, b: &Device| {
            let (a, b) = (a.save(), b.save());
            Part::ALL.into_iter().filter(|&part| part != Part::Device && a.part(part) != b.part(part)).map(|part| format!("{part:?} ")).collect::<String>()
        };
        println!("{options:?}\n    timed/paged [{}] paged/bulk [{}] counts {} buffers {:?}", same(&timed, &paged), same(&paged, &bulk), paged.ftl_counts() == bulk.ftl_counts(), bulk.buffer_counts().written_back == paged.buffer_counts().written_back);
    }
}
