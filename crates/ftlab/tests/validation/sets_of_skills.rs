//! A device runs on the smallest set of skills that covers its features, and behaves the same on each larger one:
//! every submission and completion, every counter and every byte at rest, whatever the device and the load.

use ftlab::device::{Device, assemble};
use ftlab::engine::skills::{ALL, COMMON, PLAIN, Skills};
use ftlab::host::{Advanced, Completion, Host, Op, Request};
use ftlab::units::{Lba, SimTime};
use proptest::prelude::*;

use crate::common::random::{self, Step, mended};
use crate::common::{Spec, assert_no_standstill};

/// Commands of a run.
const STEPS: usize = 700;

/// The device without the features that the set does not cover.
fn cut_down(spec: Spec, set: Skills) -> Spec {
    let others = [
        "host.",
        "firmware.",
        "cache.read.",
        "cache.keep_reads",
        "nand.timing.",
        "ftl.cost.",
        "ftl.mapping.policy",
        // In everything else, collection does the usual.
        "ftl.gc.scope",
        "ftl.gc.background.",
        "ftl.gc.preemptible",
        "ftl.gc.copies_per_write",
        "ftl.gc.copyback",
    ];
    let packs = spec.config().options.cache.policy.packs();
    let spec = spec.without(|path| others.iter().any(|other| path.starts_with(other)));
    let spec = if packs { spec.without(|path| path.starts_with("cache.")) } else { spec };
    if set == COMMON {
        return mended(spec);
    }
    // A flash page is a mapping unit, and a die does one thing at a time, in order of arrival.
    let spec = spec.without(|path| path.starts_with("nand.multi_plane."));
    mended(
        spec.set("ftl.mapping.unit", "flash-page")
            .set("nand.planes_per_die", 1)
            .set("scheduler.policy", "fifo"),
    )
}

/// Everything that can be seen of a run.
#[derive(Debug, PartialEq)]
struct Seen {
    done: Vec<Completion>,
    now: SimTime,
    counts: String,
    image: String,
}

fn run(mut device: Device, depth: usize, steps: &[Step], per_page: u32) -> Seen {
    let capacity = device.capacity_sectors();
    let (mut seen, mut done) = (Vec::new(), Vec::new());
    let advance = |device: &mut Device, limit, seen: &mut Vec<Completion>, done: &mut Vec<_>| {
        let advanced = device.advance_until(limit, done);
        seen.append(done);
        advanced
    };
    for (tag, step) in (0..).zip(steps) {
        let at = device.now() + step.pause;
        while advance(&mut device, at, &mut seen, &mut done) == Advanced::Completed {}
        while device.requests_in_flight() >= depth {
            let advanced = advance(&mut device, SimTime::FOREVER, &mut seen, &mut done);
            assert_eq!(advanced, Advanced::Completed, "the device is stuck");
        }
        let range = step.range(capacity, per_page);
        let (lba, sectors) = match step.op {
            Op::Flush => (Lba(0), 0),
            _ => (Lba(range.start), (range.end - range.start) as u32),
        };
        let request =
            Request { op: step.op, lba, sectors, stream: tag % 3, tag, fua: tag % 7 == 0 };
        device.submit(device.now(), request);
    }
    while advance(&mut device, SimTime::FOREVER, &mut seen, &mut done) != Advanced::Idle {}
    assert_no_standstill(&device);
    assert_eq!(device.ftl().audit(), Ok(()));
    let counts = format!(
        "{:?} {:?} {:?} {:?}",
        device.ftl_counts(),
        device.buffer_counts(),
        device.flash().done(),
        device.flash().overlaps(),
    );
    device.rest(&mut done).expect("nothing is in flight");
    let (now, image) = (device.now(), format!("{:?}", device.save()));
    Seen { done: seen, now, counts, image }
}

/// Runs a case on each set that covers the device.
fn compare(spec: &Spec, depth: usize, steps: &[Step], least: Skills) -> Result<(), TestCaseError> {
    let per_page = spec.sectors_per_page();
    let device = assemble(spec.setup());
    // Otherwise it would be compared with itself. Too many rejections fail the test.
    prop_assume!(device.skills() == least);
    let own = run(device, depth, steps, per_page);
    for set in [COMMON, ALL] {
        let mut device = assemble(spec.setup());
        device.use_skills(set);
        prop_assert_eq!(&run(device, depth, steps, per_page), &own);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn plain_devices_do_the_same_on_every_set((spec, depth, steps) in random::run(STEPS)) {
        compare(&cut_down(spec, PLAIN), depth, &steps, PLAIN)?;
    }

    #[test]
    fn common_devices_do_the_same_on_every_set((spec, depth, steps) in random::run(STEPS)) {
        // Whatever else was drawn, one skill that plain devices lack.
        let spec = cut_down(spec, COMMON).set("scheduler.policy", "read-first");
        compare(&spec, depth, &steps, COMMON)?;
    }
}
