//! Parity across dies: stripes are XORs of the pages that they cover at any time, whatever the device
//! does; their cost can be calculated; and the death of one die loses nothing.

mod bench;
mod closed_form;
mod death;
mod map;
mod rebuild;

use std::ops::RangeInclusive;

use proptest::prelude::*;
use proptest::sample::select;

use crate::common::random::{self, Run, Step, legal, wider};
use crate::common::{Spec, failing, regulating, request};
use crate::contents::cases;
use ftlab::device::Device;
use ftlab::host::{Advanced, Host, Op};
use ftlab::nand::{Area, Fault, FaultSpot, Scheduled};
use ftlab::units::SimTime;
use ftlab_torture::Versions;

use self::bench::Bench;

/// The same device with stripes over `width` dies, in `groups` groups.
pub fn striped(spec: Spec, width: u32, groups: u32, channels: u32) -> Spec {
    let dies = width * groups;
    let channels = if dies.is_multiple_of(channels) { channels } else { 1 };
    let others = ["nand.multi_plane.", "ftl.gc.copyback", "ftl.refresh.", "ftl.cost."];
    let spec = spec.without(|path| others.iter().any(|other| path.starts_with(other)));
    // If programs have several costs: here all cost the same.
    let costs = regulating::timings().iter().any(|it| spec.get("nand.timing.policy") == Some(it));
    let spec = if costs { spec.set("nand.timing.policy", "page-type") } else { spec };
    spec.set("nand.channels", channels)
        .set("nand.chips_per_channel", dies / channels)
        .set("nand.dies_per_chip", 1)
        .set("ftl.placement.policy", "dynamic")
        .set("ftl.parity.policy", "dies")
        .set("ftl.parity.width", width)
}

/// The same fault, moved to a die, block or page that the device has.
fn on(spec: &Spec, fault: Fault) -> Fault {
    let flash = spec.geometry();
    let (planes, blocks) = (flash.planes(), flash.blocks());
    let area = |area| match area {
        Area::Plane(plane) => Area::Plane(plane % planes),
        Area::Block(block) => Area::Block(block % blocks),
    };
    match fault {
        Fault::DieDies(die) => Fault::DieDies(die % flash.dies()),
        Fault::ProgramFails(of) => Fault::ProgramFails(area(of)),
        Fault::EraseFails(of) => Fault::EraseFails(area(of)),
        Fault::Unreadable(FaultSpot::Block(block)) => {
            Fault::Unreadable(FaultSpot::Block(block % blocks))
        }
        Fault::Unreadable(FaultSpot::Page(page)) => Fault::Unreadable(FaultSpot::Page(
            page % (flash.physical_pages() / flash.units_per_page()),
        )),
    }
}

/// Random runs of `of`, on devices with stripes.
fn runs(of: impl Strategy<Value = Run>) -> impl Strategy<Value = Run> {
    runs_over(of, 2..=5)
}

/// The same, with the given numbers of dies in a stripe.
fn runs_over(
    of: impl Strategy<Value = Run>,
    widths: RangeInclusive<u32>,
) -> impl Strategy<Value = Run> {
    let groups = (widths, 1u32..=3, select(vec![1u32, 2, 3, 4]));
    let share = prop_oneof![Just(100u32), 40u32..=100];
    (of, groups, share).prop_map(|((spec, depth, steps), (width, groups, channels), share)| {
        let schedule = spec.config().options.nand.faults.schedule.clone();
        let spec = wider(striped(spec, width, groups, channels), 2);
        let spec = match schedule.is_empty() {
            true => spec,
            false => {
                // The device gets its other options before its faults are placed.
                let spec = legal(failing::scheduled(spec, &[]), 100);
                let same = |it: &Scheduled| Scheduled { fault: on(&spec, it.fault), ..*it };
                let schedule = failing::once(schedule.iter().map(same));
                failing::scheduled(spec, &schedule)
            }
        };
        (legal(spec, share), depth, steps)
    })
}

/// Runs half the steps, saves and loads the device, and runs the others.
fn saved_and_loaded(spec: &Spec, depth: usize, steps: &[Step]) -> Result<(), String> {
    let (before, after) = steps.split_at(steps.len() / 2);
    let mut bench = Bench::new(spec);
    bench.run(depth, before)?;
    let mut bench = bench.reload(spec);
    bench.audit()?;
    bench.run(depth, after)
}

/// Runs the steps on a device that fails. Returns how many reads found nothing.
fn through_failures(spec: &Spec, depth: usize, steps: &[Step]) -> Result<u32, String> {
    let mut bench = Bench::new(spec).expect_failures();
    bench.run(depth, steps)?;
    Ok(bench.unreadable)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases().cases / 2, ..cases() })]

    #[test]
    fn stripes_are_whole_at_any_time((spec, depth, steps) in runs(random::run(300))) {
        let checked = Bench::new(&spec).run(depth, &steps);
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }

    #[test]
    fn stripes_survive_saving_and_loading((spec, depth, steps) in runs(random::run(200))) {
        prop_assert_eq!(saved_and_loaded(&spec, depth, &steps), Ok(()));
    }

    /// Bad blocks, failed programs and erases, worn-out blocks, and the end of the device's life.
    #[test]
    fn failures_of_blocks_lose_nothing((spec, depth, steps) in runs(failing::run(300))) {
        prop_assert_eq!(through_failures(&spec, depth, &steps), Ok(0));
    }

    /// The same by schedule, and with failing reads and dying dies, beyond what parity covers.
    #[test]
    fn mishaps_give_errors((spec, depth, steps) in runs(failing::mishap_run(300))) {
        let checked = through_failures(&spec, depth, &steps);
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }
}

/// Whether a read fails by chance depends on the erase count of its block: a loaded device knows those of
/// the blocks on flash, like the saved one.
#[test]
fn a_loaded_device_meets_the_failures_that_the_saved_one_meets() {
    let spec = striped(Spec::small(), 2, 2, 2).set("nand.faults.read_failures", 50_000_000);
    let spec = wider(spec, 1).filled(60);
    let mut bench = Bench::new(&spec).expect_failures();
    let per_page = u64::from(spec.sectors_per_page());
    let pages = u64::from(spec.logical_pages());
    for number in 0..8 * pages {
        let first = number * 7 % pages * per_page;
        bench.submit(Op::Write, first..first + per_page);
        while bench.advance(SimTime::FOREVER) != Ok(Advanced::Idle) {}
    }
    let erases: std::collections::BTreeSet<_> = bench.device.ftl().blocks().all_erases().collect();
    assert!(erases.len() > 1, "blocks differ: {erases:?}");
    assert_eq!(bench.device.rest(&mut Vec::new()), Ok(()));
    let saved = bench.device.clone();
    let mut loaded = bench.reload(&spec).device;
    let mut saved = saved;
    let read_all = |device: &mut Device<(), Versions>| -> Vec<_> {
        let mut done = Vec::new();
        for first in (0..pages).map(|page| page * per_page) {
            device.submit(device.now(), request(Op::Read, first, per_page as u32, 0));
            while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
        }
        done.iter().map(|done| (done.outcome, done.latency())).collect()
    };
    assert_eq!(read_all(&mut saved), read_all(&mut loaded));
    let met =
        |device: &Device<(), Versions>| device.flash().hazards().map(|it| it.counts().unreadable);
    assert!(met(&loaded) > Some(0), "reads failed");
}
