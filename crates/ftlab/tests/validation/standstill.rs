//! Which devices can come to a standstill: requests inside, nothing left to happen. The rules that a
//! configuration must keep, and that breaking each of them does lead there.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ftlab::device::assemble;
use ftlab::engine::Stream;
use ftlab::host::{Advanced, Host, Op};
use ftlab::units::{Bytes, SimTime};

use crate::common::{NO_BUFFER, PlacementKind, Spec, WriteBufferKind, lru, request};

/// Fills the device and overwrites it at random, most of the time its first three pages. How many
/// requests are left inside when nothing happens any more.
fn left_inside(spec: &Spec, seed: u64, depth: usize) -> usize {
    let mut device = assemble(spec.setup());
    let (pages, sectors) = (u64::from(spec.logical_pages), spec.sectors_per_page());
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

/// Tiny devices with and without small mapping units, planes, reserve, both placements.
fn tiny() -> impl Iterator<Item = Spec> {
    (0..16).map(|bits: u32| {
        let mut spec = Spec::small();
        spec.shape.page_size = Bytes::from_kib(16);
        spec.shape.mapping_unit = Bytes::from_kib(if bits & 1 > 0 { 4 } else { 16 });
        spec.shape.planes_per_die = 1 + (bits >> 1 & 1);
        spec.shape.blocks_per_plane = 6;
        spec.shape.pages_per_block = 4;
        spec.thresholds.reserve = 1 + (bits >> 2 & 1);
        spec.thresholds.start = spec.thresholds.reserve;
        spec.thresholds.stop = spec.thresholds.reserve + 1;
        if bits & 8 > 0 {
            spec.placement = PlacementKind::Dynamic;
        }
        spec.logical_pages = spec.most_logical_pages();
        spec
    })
}

#[test]
fn a_device_as_full_as_the_rule_allows_goes_on() {
    for spec in tiny() {
        assert!(!ever_stuck(&spec), "{spec:?}");
    }
}

/// The rule is sharp: a few pages more, and there are runs that end in a standstill.
#[test]
fn a_little_fuller_can_stand_still() {
    for spec in tiny() {
        let units = spec.geometry().units_per_page();
        let fuller = Spec { logical_pages: spec.logical_pages + 4 * units, ..spec };
        assert!(ever_stuck(&fuller), "{fuller:?}");
    }
}

/// Each of these devices is full enough to collect, and breaks one rule.
#[test]
fn each_rule_of_the_thresholds_is_needed() {
    let healthy = Spec::small();
    assert!(!ever_stuck(&healthy));
    let broken = |change: fn(&mut Spec)| {
        let mut spec = Spec::small();
        change(&mut spec);
        spec
    };
    let late = broken(|spec| (spec.thresholds.start, spec.thresholds.reserve) = (1, 2));
    assert!(ever_stuck(&late), "start < reserve: the host waits, and nothing is collected");
    let short = broken(|spec| (spec.thresholds.start, spec.thresholds.stop) = (1, 1));
    assert!(ever_stuck(&short), "stop <= reserve: collection ends before the host may write");
    let idle = broken(|spec| spec.thresholds.copies_in_flight = 0);
    assert!(ever_stuck(&idle), "no copies in flight: a collection never begins");
    let none = broken(|spec| (spec.thresholds.reserve, spec.thresholds.start) = (0, 0));
    let stuck = catch_unwind(AssertUnwindSafe(|| ever_stuck(&none)));
    assert!(stuck.is_err(), "reserve = 0: collection finds no block to copy to");
}

#[test]
fn each_rule_of_the_buffer_is_needed() {
    let mut empty = lru(1);
    empty.capacity = Some(0);
    let mut blocked = lru(4);
    blocked.programs_in_flight = Some(0);
    for buffer in [empty, blocked] {
        let spec = Spec { buffer, ..Spec::small() };
        assert!(ever_stuck(&spec), "{:?}", spec.buffer);
    }
    // Without a buffer, nobody waits for room or writes back later.
    let mut held = NO_BUFFER;
    held.write_back_above = 1;
    assert_eq!(held.policy, WriteBufferKind::None);
    assert!(ever_stuck(&Spec { buffer: held, ..Spec::small() }));
}
