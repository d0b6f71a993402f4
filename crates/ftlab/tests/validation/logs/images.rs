//! A device with a log is saved midway, and another one continues: other planners, throttles, clocks
//! and buffers take the state over, and damaged bytes are refused or give a device that works.

use ftlab::config::{Config, Layer};
use ftlab::device::assemble;
use ftlab::host::{Host, Op};
use ftlab::image::{ImagePart, Resume};
use ftlab::saved::differences;

use super::bench::{Bench, onlooker};
use super::{ONE, PAGE, Small};
use crate::common::{closed_loop, request};
use crate::contents::random_steps;

const MAPPINGS: [&str; 4] = ["log-block", "bast", "fast", "nftl"];

/// Options that may change from one device to the next.
fn others(number: u32, small: Small) -> Small {
    let at = |choices: u32| (number / choices) as usize;
    Small {
        planner: ["none", "super-data-block", "cycle-stealing"][at(1) % 3],
        throttle: [None, Some(1), Some(3)][at(2) % 3],
        clocks: ["own", "lock-step"][at(3) % 2],
        buffer: [None, Some(("lru", 6, false)), Some(("gating", 6, true))][at(5) % 3],
        start: ["empty", "full"][at(7) % 2],
        bus: at(11) % 2 == 0,
        ..small
    }
}

#[test]
fn another_device_continues_with_the_log() {
    for number in 0..120 {
        let mapping = MAPPINGS[number as usize % 4];
        let small = Small { mapping, channels: 2, planes: 2, log: 3, ..ONE };
        let chain = [number, number * 7 + 1, number * 5 + 3].map(|draw| others(draw, small));
        let mut bench = Bench::new(chain[0].setup(), onlooker());
        for (at, next) in (0..).zip(&chain[1..]) {
            let steps = random_steps(number * 4 + at, 120);
            let resume = if number % 3 == 0 { Resume::NONE } else { Resume::ALL };
            let checked = bench.steps(8, &steps).and_then(|()| bench.advance_to_idle());
            assert_eq!(checked, Ok(()), "{chain:?}");
            bench = bench.reload(next.setup(), onlooker(), resume).expect("it fits");
        }
        let steps = random_steps(number * 4 + 3, 120);
        let checked = bench.steps(8, &steps).and_then(|()| bench.finish());
        assert_eq!(checked, Ok(()), "{chain:?}");
    }
}

/// A device in use, with pages in its log and some trimmed pages.
fn used(small: &Small) -> ftlab::device::Device {
    let mut device = assemble(small.setup());
    let pages = device.capacity_sectors() * 512 / PAGE;
    let at = |n: u64| n * 37 % (pages - pages / 8) * (PAGE / 512);
    closed_loop(&mut device, 4, (0..pages).map(|n| request(Op::Write, n * (PAGE / 512), 8, 0)));
    closed_loop(&mut device, 4, (0..150).map(|n| request(Op::Write, at(n), 5, 0)));
    closed_loop(&mut device, 4, (0..9).map(|n| request(Op::Trim, at(n * 3), 8, 0)));
    closed_loop(&mut device, 4, (0..7).map(|n| request(Op::Write, at(n * 5), 8, 0)));
    assert_eq!(device.rest(&mut Vec::new()), Ok(()));
    device
}

#[test]
fn no_damage_breaks_a_log() {
    for mapping in MAPPINGS {
        let small = Small { mapping, pages: 6, log: 3, throttle: Some(1), ..ONE };
        let snapshot = used(&small).save();
        let (mut refused, mut taken) = (0, 0);
        let mut try_out = |part: ImagePart, bytes: Vec<u8>| {
            let mut damaged = snapshot.clone();
            damaged.put(part, bytes);
            let mut device = assemble(small.setup());
            if device.load(&damaged, Resume::ALL).is_err() {
                refused += 1;
                return;
            }
            taken += 1;
            let pages = device.capacity_sectors() / 8;
            let next = |n: u64| request(Op::Write, n * 29 % pages * 8, 8, 0);
            assert_eq!(device.ftl().audit(), Ok(()), "{mapping}, {part:?}");
            closed_loop(&mut device, 4, (0..100).map(next));
            assert_eq!(device.ftl().audit(), Ok(()), "{mapping}, {part:?}");
        };
        for part in ImagePart::ALL {
            let bytes = snapshot.part(part).to_vec();
            for at in 0..bytes.len() {
                let byte = bytes[at];
                for new in [byte ^ 1, byte ^ 2, byte ^ 0x80, 0, 0xff, byte.wrapping_add(3)] {
                    let mut damaged = bytes.clone();
                    damaged[at] = new;
                    try_out(part, damaged);
                }
            }
        }
        println!("{mapping}: {refused} damaged snapshots refused, {taken} accepted and working");
        assert!(refused > 300 && taken > 50, "{mapping}: {refused} refused, {taken} taken");
    }
}

/// An error about what images and devices must share names the option that a user would change.
#[test]
fn the_layout_of_addresses_must_match() {
    let load = |small: &Small, more: &[&str]| -> Config {
        let file = Layer::file("device.toml", &small.config().canonical());
        let sets = (1..).zip(more).map(|(at, set)| Layer::set(at, set));
        let layers: Vec<Layer> = std::iter::once(file).chain(sets).collect();
        Config::load(&layers).unwrap_or_else(|error| panic!("{error}"))
    };
    let small = Small { channels: 2, pages: 16, data: 12, log: 3, ..ONE };
    let image = load(&small, &[]);
    let told = |more: &[&str]| -> Vec<&str> {
        differences(&image, &load(&small, more)).iter().map(|difference| difference.path).collect()
    };
    let nothing = Vec::<&str>::new();
    assert_eq!(told(&["ftl.mapping.start=full"]), nothing);
    assert_eq!(told(&["ftl.merge.throttle=2", "ftl.merge.clocks=lock-step"]), nothing);
    assert_eq!(told(&["ftl.merge.planner=cycle-stealing"]), nothing);
    assert_eq!(told(&["ftl.mapping.policy=bast"]), ["ftl.mapping.policy"]);
    assert!(!told(&["ftl.merge.planner=synchronised"]).is_empty());
    // As many pages for the host, and one log block less.
    assert_eq!(
        told(&["ftl.over_provisioning=20%", "ftl.capacity=1536KiB"]),
        ["ftl.over_provisioning"]
    );
    // A capacity that leaves a page of the last data block out.
    assert_eq!(told(&["ftl.capacity=1532KiB"]), ["ftl.over_provisioning"]);
}
