//! Devices that can get stuck: requests inside, and nothing left to happen. Tests the rules that a
//! configuration must keep, and that breaking each of them does get a device stuck.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ftlab::device::assemble;
use ftlab::engine::Stream;
use ftlab::ftl::gc::Thresholds;
use ftlab::ftl::mapping::{Mapping, PageMap};
use ftlab::host::{Advanced, Host, Op};
use ftlab::units::SimTime;

use crate::common::{Spec, request};

/// Fills the device and overwrites it at random, mostly its first three pages. Returns how many
/// requests are inside when nothing happens any more.
fn left_inside(spec: &Spec, seed: u64, depth: usize) -> usize {
    let setup = spec.setup();
    let (pages, sectors) = (u64::from(setup.ftl.logical_pages), spec.sectors_per_page());
    let mut device = assemble(setup);
    let mut stream = Stream::new(seed, "pages");
    let mut done = Vec::new();
    for tag in 0..3_000 {
        let hot = stream.below(4) > 0;
        let random = stream.below(if hot { pages.min(3) } else { pages });
        let page = if u64::from(tag) < pages { u64::from(tag) } else { random };
        while device.requests_in_flight() >= depth {
            if device.advance_until(SimTime::FOREVER, &mut done) == Advanced::Idle {
                return device.requests_in_flight();
            }
        }
        let lba = page * u64::from(sectors);
        device.submit(device.now(), request(Op::Write, lba, sectors, tag));
    }
    while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
    device.requests_in_flight()
}

fn ever_stuck(spec: &Spec) -> bool {
    (0..40).any(|seed| left_inside(spec, seed, 1 + seed as usize % 4 * 5) > 0)
}

/// How many logical pages a device can hold without ever running out of room: with more, a plane can reach a state in
/// which no closed block is worth collecting and no block is free.
///
/// A stuck plane has at most `reserve` free blocks and a half-filled block of each stream but the one
/// that waits, so with one stream for the host and one for copies at least B - reserve - 1 closed
/// ones. Each is worth collecting (it frees a flash page) unless it holds more than b - u valid pages,
/// with b pages a block and u a flash page. So with fewer than (B - reserve - 1)(b - u + 1) pages on
/// the plane, there is always something worth collecting, and each collection frees at least one flash
/// page. Static placement needs that of every plane; dynamic placement of one, hence of the sum.
fn most_logical_pages(spec: &Spec, reserve: u32) -> u32 {
    let geometry = spec.geometry();
    let (block, page, planes) =
        (geometry.units_per_block(), geometry.units_per_page(), geometry.planes());
    let closed = geometry.shape().blocks_per_plane - reserve - 1;
    let sure = closed * (block - page + 1);
    match spec.config().options.ftl.placement.policy.is_free() {
        true => sure * planes - 1,
        // Whole flash pages' worth alternate over the planes.
        false => (sure - 1) / page * page * planes,
    }
}

/// Tiny devices with and without small mapping units, several planes, a reserve, both placements, and
/// `more` flash pages beyond the rule. Configurations keep more blocks free.
fn tiny(more: u32) -> impl Iterator<Item = Spec> {
    (0..16).map(move |bits: u32| {
        let reserve = 1 + (bits >> 2 & 1);
        let spec = Spec::small()
            .set("nand.page_size", "16KiB")
            .set("ftl.mapping.unit", if bits & 1 > 0 { "4KiB" } else { "flash-page" })
            .set("nand.planes_per_die", 1 + (bits >> 1 & 1))
            .set("nand.blocks_per_plane", 6)
            .set("nand.pages_per_block", 4)
            .set("ftl.placement.policy", if bits & 8 > 0 { "dynamic" } else { "static" })
            .set("ftl.over_provisioning", "900%");
        let pages = most_logical_pages(&spec, reserve) + more * spec.geometry().units_per_page();
        spec.changed("thresholds and capacity", move |setup| {
            let thresholds = &mut setup.ftl.thresholds;
            (thresholds.reserve, thresholds.start) = (reserve, reserve);
            thresholds.stop = reserve + 1;
            setup.ftl.logical_pages = pages;
            setup.ftl.mapping = Mapping::Page(PageMap::new(pages));
            setup.buffer.shape.logical_pages = pages;
        })
    })
}

#[test]
fn a_device_as_full_as_the_rule_allows_never_gets_stuck() {
    for spec in tiny(0) {
        assert!(!ever_stuck(&spec), "{spec:?}");
    }
}

/// The rule is sharp: with a few pages more, some runs get stuck.
#[test]
fn a_slightly_fuller_device_can_get_stuck() {
    for fuller in tiny(4) {
        assert!(ever_stuck(&fuller), "{fuller:?}");
    }
}

/// Each of these devices is full enough to collect, and breaks one rule.
#[test]
fn each_rule_of_the_thresholds_is_needed() {
    let healthy = Spec::small();
    assert!(!ever_stuck(&healthy));
    let broken = |change: fn(&mut Thresholds)| {
        Spec::small().changed("thresholds", move |setup| change(&mut setup.ftl.thresholds))
    };
    let late = broken(|at| (at.start, at.reserve) = (1, 2));
    assert!(ever_stuck(&late), "start < reserve: the host waits, and nothing is collected");
    let short = broken(|at| (at.start, at.stop) = (1, 1));
    assert!(ever_stuck(&short), "stop <= reserve: collection ends before the host may write");
    let idle = broken(|at| at.copies_in_flight = 0);
    assert!(ever_stuck(&idle), "no copies in flight: a collection never begins");
    let none = broken(|at| (at.reserve, at.start) = (0, 0));
    let stuck = catch_unwind(AssertUnwindSafe(|| ever_stuck(&none)));
    assert!(stuck.is_err(), "reserve = 0: collection finds no block to copy to");
}

#[test]
fn each_rule_of_the_buffer_is_needed() {
    let buffered = Spec::small().buffered("lru", 4);
    let empty = buffered.clone().changed("buffer", |setup| setup.buffer.capacity = Some(0));
    assert!(ever_stuck(&empty), "no room");
    let blocked = buffered.changed("buffer", |setup| setup.buffer.programs_in_flight = Some(0));
    assert!(ever_stuck(&blocked), "no programs");
    // Without a buffer, nothing waits for room or is written back later.
    let held = Spec::small().changed("buffer", |setup| setup.buffer.write_back_above = 1);
    assert!(ever_stuck(&held));
}
