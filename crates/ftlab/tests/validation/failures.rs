//! Blocks, operations, pages and dies that fail, by chance and by schedule: acknowledged data is
//! there, or its read ends with an error; a read never returns what was not written.

use ftlab::ftl::gc::Purpose;
use ftlab::ftl::wear::EndReason;
use ftlab::host::{Host, Op};
use ftlab::nand::{Fault, FaultSpot, Scheduled};
use ftlab::units::{Lpn, Nanos, SimTime};
use proptest::prelude::*;

use crate::common::{BLOCKS, Spec, failing};
use crate::contents::{Bench, cases, random_steps};
use crate::met::{Met, check_runs};

/// Bad blocks, failed programs and erases, worn-out blocks, and the end of the device's life:
/// acknowledged data survives them all.
#[test]
fn failures_lose_nothing() {
    let met = Met::default();
    check_runs(cases(), failing::run(600), |(spec, depth, steps)| {
        let mut bench = Bench::new(&spec, None);
        bench.run(depth, &steps)?;
        let Some(life) = bench.device.ftl().life() else { return Ok(()) };
        let losses = life.losses();
        let retired = bench.device.ftl_counts().by_purpose[Purpose::Retire as usize];
        let end = bench.device.end_of_life();
        let reason = end.map(|end| end.reason);
        met.note([
            ("factory bad", losses.factory_bad > 0),
            ("program failures", losses.program_failures > 0),
            ("erase failures", losses.erase_failures > 0),
            ("collected and retired", retired.pages > 0),
            ("lives on with losses", losses.grown_bad > 0 && end.is_none()),
            ("too few blocks", reason == Some(EndReason::TooFewBlocks)),
            ("ends with a write buffer", end.is_some() && !bench.write_through),
            ("ends without a write buffer", end.is_some() && bench.write_through),
            ("ends in use", end.is_some_and(|end| end.host_written.0 > 0)),
            ("refused", bench.refused > 0),
            ("left in DRAM", end.is_some_and(|end| end.left_in_dram)),
        ]);
        Ok(())
    });
    met.each_at_least(3);
}

/// Dies die, and programs, erases and pages fail by schedule; reads fail by chance: a read returns
/// what was written, or ends with an error.
#[test]
fn mishaps_return_no_wrong_data() {
    let met = Met::default();
    check_runs(cases(), failing::mishap_run(600), |(spec, depth, steps)| {
        let mut bench = Bench::new(&spec, None);
        bench.run(depth, &steps)?;
        let Some(hazards) = bench.device.flash().hazards() else { return Ok(()) };
        let (counts, ftl) = (hazards.counts(), bench.device.ftl());
        let (dead, dies) = (ftl.dead_dies().len() as u32, spec.geometry().dies());
        let end = bench.device.end_of_life();
        let losses = ftl.life().map(|life| *life.losses()).unwrap_or_default();
        let collected = ftl.counts().gc_pages > 0;
        let is_static = spec.config().options.ftl.placement.policy.stripe().is_some();
        let on_others = dead > 0 && dead < dies;
        met.note([
            ("a die died", dead > 0),
            ("all dies died", dead == dies),
            ("unreadable by schedule or chance", counts.unreadable > 0),
            ("an unreadable request", bench.unreadable > 0),
            ("collected beside a dead die", on_others && collected && end.is_none()),
            ("static, without a die", on_others && is_static && end.is_none()),
            ("dynamic, without a die", on_others && !is_static && end.is_none()),
            ("refused, and not at the end", bench.refused > 0 && end.is_none()),
            ("the others have no room", on_others && end.is_some()),
            ("a program fails by schedule", dead == 0 && losses.program_failures > 0),
            ("an erase fails by schedule", dead == 0 && losses.erase_failures > 0),
            ("pages lost, and good ones", ftl.lost().pages() > 0 && bench.unreadable < 5),
        ]);
        Ok(())
    });
    met.each_at_least(3);
}

/// Most erases fail: the life is short, and loses nothing.
#[test]
fn a_short_life_loses_nothing() {
    for seed in 0..12 {
        let spec = Spec::small().set(BLOCKS, 64).seeded(seed.into());
        let spec = spec.set("nand.faults.erase_failures", 800_000_000).filled(75);
        let mut bench = Bench::new(&spec, None);
        assert_eq!(bench.run(8, &random_steps(seed, 1_500)), Ok(()));
        assert!(bench.device.end_of_life().is_some(), "four of five erases fail");
    }
}

/// Sends requests to an idle device; returns how many ended without data, and how many were refused.
fn ask(bench: &mut Bench, op: Op, range: std::ops::Range<u64>) -> (u32, u32) {
    let before = (bench.unreadable, bench.refused);
    bench.submit(op, range);
    assert_eq!(bench.advance_to_idle(), Ok(()));
    (bench.unreadable - before.0, bench.refused - before.1)
}

const DONE: (u32, u32) = (0, 0);
const UNREADABLE: (u32, u32) = (1, 0);
const REFUSED: (u32, u32) = (0, 1);

/// Two channels with a die each, on which one page of 8 sectors is programmed at a time.
fn two_dies(placement: &str) -> Spec {
    Spec::small().set("nand.channels", 2).set("ftl.placement.policy", placement).holding(96)
}

fn at(spec: Spec, at: Nanos, fault: Fault) -> Spec {
    failing::scheduled(spec, &[Scheduled { at, fault }])
}

/// Pages go to the dies in turn. The second die dies once four pages are there.
fn without_second_die(placement: &str) -> Bench {
    let spec = at(two_dies(placement), Nanos::from_micros(1_000_000), Fault::DieDies(1));
    let mut bench = Bench::new(&spec, None);
    for page in 0..4 {
        assert_eq!(ask(&mut bench, Op::Write, page * 8..page * 8 + 8), DONE);
    }
    let mut dies = (0..4).map(|page| {
        let at = bench.device.ftl().look_up(Lpn::new(page)).expect("it was written");
        bench.device.flash().geometry().die_of_page(at).get()
    });
    assert!(dies.by_ref().eq([0, 1, 0, 1]), "pages go to the dies in turn");
    let took = |bench: &mut Bench| {
        let before = bench.device.now();
        let ended = ask(bench, Op::Read, 8..16);
        (ended, bench.device.now() - before)
    };
    let (alive, in_time) = took(&mut bench);
    while bench.device.now().0 < 1_000_000_000 {
        let limit = SimTime(1_000_000_000);
        assert!(bench.advance(limit).is_ok());
    }
    assert!(bench.device.ftl().dead_dies().is_empty(), "nothing has touched the dead die yet");
    let (dead, in_vain) = took(&mut bench);
    assert_eq!((alive, dead), (DONE, UNREADABLE));
    assert_eq!(in_time, in_vain, "a read that fails takes as long as one that does not");
    assert_eq!(bench.device.ftl().dead_dies().len(), 1);
    assert_eq!(bench.device.ftl().pages_on_dead_dies(), 2);
    bench
}

#[test]
fn dynamic_placement_continues_without_a_die() {
    let mut bench = without_second_die("dynamic");
    assert_eq!(ask(&mut bench, Op::Read, 0..8), DONE);
    assert_eq!(ask(&mut bench, Op::Read, 0..32), UNREADABLE);
    // What is written again is back.
    assert_eq!(ask(&mut bench, Op::Write, 8..16), DONE);
    assert_eq!(ask(&mut bench, Op::Read, 8..16), DONE);
    assert_eq!(ask(&mut bench, Op::Read, 24..32), UNREADABLE);
    // Part of a lost page is written: the new part can be read; the rest does not read as zeros.
    assert_eq!(ask(&mut bench, Op::Write, 24..26), DONE);
    assert_eq!(ask(&mut bench, Op::Read, 24..26), DONE);
    assert_eq!(ask(&mut bench, Op::Read, 24..27), UNREADABLE);
    assert_eq!(bench.device.ftl().pages_on_dead_dies(), 0);
    assert_eq!(bench.device.end_of_life(), None);
    assert_eq!(bench.audit(), Ok(()));
}

/// A dead die comes from the image, even if the loading device's options say nothing about it.
#[test]
fn a_dead_die_stays_dead_under_other_options() {
    let spec = two_dies("dynamic").set("nand.faults.program_failures", 1);
    let bench = without_second_die("dynamic");
    let mut bench = bench.reload(&spec).expect("a device that can fail takes it up");
    assert_eq!(ask(&mut bench, Op::Read, 24..32), UNREADABLE);
    assert_eq!(ask(&mut bench, Op::Read, 0..8), DONE);
}

#[test]
fn static_placement_refuses_what_has_no_die_left() {
    let mut bench = without_second_die("static");
    assert_eq!(ask(&mut bench, Op::Write, 8..16), REFUSED);
    assert_eq!(ask(&mut bench, Op::Write, 0..16), REFUSED);
    assert_eq!(ask(&mut bench, Op::Write, 16..24), DONE);
    assert_eq!(ask(&mut bench, Op::Read, 8..16), UNREADABLE);
    // A trimmed page is known to be empty.
    assert_eq!(ask(&mut bench, Op::Trim, 8..16), DONE);
    assert_eq!(ask(&mut bench, Op::Read, 8..16), DONE);
    assert_eq!(bench.device.end_of_life(), None);
    assert_eq!(bench.audit(), Ok(()));
}

#[test]
fn an_unreadable_page_is_good_again_once_written_again() {
    let spec = at(two_dies("static"), Nanos::ZERO, Fault::Unreadable(FaultSpot::Page(0)));
    let mut bench = Bench::new(&spec, None);
    assert_eq!(ask(&mut bench, Op::Write, 0..16), DONE);
    assert_eq!(ask(&mut bench, Op::Read, 8..16), DONE);
    assert_eq!(ask(&mut bench, Op::Read, 0..8), UNREADABLE);
    assert_eq!(ask(&mut bench, Op::Write, 4..8), DONE);
    assert_eq!(ask(&mut bench, Op::Read, 4..8), DONE);
    assert_eq!(ask(&mut bench, Op::Read, 0..8), UNREADABLE);
    assert_eq!(ask(&mut bench, Op::Write, 0..4), DONE);
    assert_eq!(ask(&mut bench, Op::Read, 0..8), DONE);
    assert!(bench.device.ftl().life().is_none(), "no block can be lost");
}

/// A device that is read and never written again. Its blocks bear 300 reads.
fn read_for_long(refresh_reads: &str) -> Bench {
    let spec = two_dies("dynamic").set("nand.faults.disturb_limit", 300);
    let spec = spec.set("ftl.refresh.reads", refresh_reads);
    let mut bench = Bench::new(&spec, None);
    assert_eq!(ask(&mut bench, Op::Write, 0..96 * 8), DONE);
    for _ in 0..4_000 {
        bench.submit(Op::Read, 0..8);
        assert_eq!(bench.advance_to_idle(), Ok(()));
    }
    bench
}

#[test]
fn often_read_blocks_are_refreshed_in_time() {
    let lost = read_for_long("none");
    assert_eq!(lost.unreadable, 4_000 - 300, "from the 301st read on");
    let kept = read_for_long("200");
    assert_eq!(kept.unreadable, 0);
    let refreshed = kept.device.ftl_counts().by_purpose[Purpose::Refresh as usize].runs;
    // The page shares its block with others, whose copies also read the block.
    assert!((15..=25).contains(&refreshed), "{refreshed} blocks");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases().cases / 4, ..cases() })]

    /// A device saved midway, or at its end, works on after loading.
    #[test]
    fn an_image_after_failures_loses_nothing((spec, depth, steps) in failing::run(600)) {
        let (before, after) = steps.split_at(steps.len() / 2);
        let mut bench = Bench::new(&spec, None);
        prop_assert_eq!(bench.run(depth, before), Ok(()));
        if bench.device.rest(&mut Vec::new()).is_ok() {
            let checked = bench.reload(&spec).and_then(|mut bench| {
                bench.audit()?;
                bench.run(depth, after)
            });
            prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
        }
    }

    /// A device saved after mishaps works on after loading, with its dead dies dead.
    #[test]
    fn an_image_after_mishaps_returns_no_wrong_data((spec, depth, steps) in failing::mishap_run(600)) {
        let (before, after) = steps.split_at(steps.len() / 2);
        let mut bench = Bench::new(&spec, None);
        let checked = bench.run(depth, before).and_then(|()| {
            let dead = bench.device.ftl().dead_dies().to_vec();
            if bench.device.end_of_life().is_some() {
                return Ok(());
            }
            let mut bench = bench.reload(&spec)?;
            let mut known = bench.device.ftl().dead_dies().to_vec();
            known.sort_unstable();
            let mut dead = dead;
            dead.sort_unstable();
            assert_eq!(known, dead);
            bench.audit()?;
            bench.run(depth, after)
        });
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }
}
