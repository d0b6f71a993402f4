//! Rebuilding after a death: afterwards a second one loses nothing, and the time it takes can be calculated.

use ftlab::device::{Device, assemble, power_up};
use ftlab::ftl::parity::ParityCounts;
use ftlab::host::{Advanced, Host, Op};
use ftlab::nand::{Fault, Scheduled};
use ftlab::scheduler::{Kind, Origin};
use ftlab::units::{DieId, Lpn, Nanos, SimTime};
use proptest::prelude::*;

use super::bench::Bench;
use super::death::{Death, schedule};
use super::{runs_over, striped};
use crate::common::random::{self, Run, legal, wider};
use crate::common::{BLOCKS, PROGRAM, READ, Spec, closed_loop, failing, fill, request};
use crate::contents::cases;
use crate::met::{Met, check_runs};

/// When the first die dies, and the second.
const FIRST: Nanos = Nanos(1_000_000_000);
const SECOND: Nanos = Nanos(60_000_000_000);

/// One group of `width` dies, each on its own channel, with few data. The first die dies, then others.
fn group(width: u32, dying: &[(Nanos, u32)], rebuild: &str) -> Spec {
    let death = |&(at, die): &(Nanos, u32)| Scheduled { at, fault: Fault::DieDies(die) };
    let schedule: Vec<Scheduled> = dying.iter().map(death).collect();
    let spec = striped(Spec::small(), width, 1, width).set(BLOCKS, 24);
    failing::scheduled(spec.set("ftl.parity.rebuild", rebuild), &schedule)
}

fn counts(
    device: &Device<impl ftlab::scheduler::Probe, impl ftlab::device::Contents>,
) -> ParityCounts {
    device.ftl().stripes().expect("there is parity").counts_until(device.now())
}

/// Reads pages until a die is found dead.
fn find_death(bench: &mut Bench, dead: usize) -> Result<(), String> {
    let per_page = bench.device.capacity_sectors() / u64::from(bench.device.ftl().logical_pages());
    for first in (0..bench.device.capacity_sectors()).step_by(per_page as usize) {
        if bench.device.ftl().dead_dies_on_flash().len() == dead {
            break;
        }
        bench.submit(Op::Read, first..first + per_page);
        while bench.advance(SimTime::FOREVER)? != Advanced::Idle {}
    }
    assert_eq!(bench.device.ftl().dead_dies_on_flash().len(), dead);
    Ok(())
}

fn advance_to(bench: &mut Bench, time: SimTime) -> Result<(), String> {
    assert!(bench.device.now() < time);
    while bench.advance(time)? == Advanced::Completed {}
    Ok(())
}

/// All data is written, a die dies and is found dead, and much later another one of its group. Returns the device, and
/// the pages that were unprotected before the second death.
fn two_deaths(width: u32, rebuild: &str) -> Result<(Bench, u64), String> {
    let spec = group(width, &[(FIRST, 0), (SECOND, 1)], rebuild).filled(30);
    let per_page = u64::from(spec.sectors_per_page());
    let mut bench = Bench::new(&spec).expect_failures();
    for page in 0..u64::from(spec.logical_pages()) {
        bench.submit(Op::Write, page * per_page..(page + 1) * per_page);
        while bench.advance(SimTime::FOREVER)? != Advanced::Idle {}
    }
    assert!(bench.device.now() < SimTime(FIRST.0), "it is written before the death");
    advance_to(&mut bench, SimTime(FIRST.0))?;
    find_death(&mut bench, 1)?;
    bench.audit()?;
    let unprotected = bench.device.ftl().unprotected_pages();
    advance_to(&mut bench, SimTime(SECOND.0))?;
    bench.finish()?;
    Ok((bench, unprotected))
}

#[test]
fn after_the_rebuild_a_second_death_loses_nothing() -> Result<(), String> {
    for width in 3..=6 {
        let (bench, unprotected) = two_deaths(width, "on")?;
        assert_eq!((unprotected, bench.unreadable), (0, 0), "{width} dies");
        assert_eq!(bench.device.ftl().dead_dies_on_flash().len(), 2);
        let (bench, unprotected) = two_deaths(width, "off")?;
        // The last stripe, still open, goes on without the dead die.
        let all = u64::from(bench.device.ftl().logical_pages());
        assert!(unprotected + u64::from(width) > all, "{width} dies: {unprotected}");
        assert!(bench.unreadable > 0, "{width} dies");
    }
    Ok(())
}

/// With two dies in a group, the one that is left has no parity.
#[test]
fn a_mirror_stays_without_protection() -> Result<(), String> {
    let (bench, unprotected) = two_deaths(2, "on")?;
    assert_eq!(unprotected, u64::from(bench.device.ftl().logical_pages()));
    assert_eq!(counts(&bench.device).restored, 0);
    assert!(bench.unreadable > 0);
    Ok(())
}

/// Two groups of four dies, of which one dies. At four fifths of what both can hold, there is room for all data, but in the
/// group that has lost a die not for all of its own: it stays as it is, and says so.
#[test]
fn without_room_it_gives_up() {
    let death = Scheduled { at: FIRST, fault: Fault::DieDies(0) };
    let spec = striped(Spec::small(), 4, 2, 4).set(BLOCKS, 24).set("ftl.parity.rebuild", "on");
    let spec = failing::scheduled(spec, &[death]).filled(80);
    let sectors = spec.sectors_per_page();
    let mut device = assemble(spec.setup());
    let all = || 0..spec.logical_pages();
    fill(&mut device, 8, all(), sectors);
    while device.advance_until(SimTime(FIRST.0), &mut Vec::new()) == Advanced::Completed {}
    let read = |at| request(Op::Read, u64::from(at * sectors), sectors, at);
    closed_loop(&mut device, 1, all().map(read));
    while device.advance_until(SimTime::FOREVER, &mut Vec::new()) != Advanced::Idle {}
    assert_eq!(device.ftl().dead_dies_on_flash(), [DieId::new(0)]);
    assert!(device.end_of_life().is_none());
    let (unprotected, counts) = (device.ftl().unprotected_pages(), counts(&device));
    println!("{unprotected} of {}, {counts:?}", spec.logical_pages());
    assert!(unprotected > 0 && unprotected < u64::from(spec.logical_pages() / 2));
    assert!(counts.restored > 0, "as long as there was room");
    // Found by the first read of the die, and never over.
    let since = device.now() - SimTime(FIRST.0);
    assert!(counts.exposed < since && (counts.exposed.0 as f64) > since.0 as f64 * 0.9);
}

/// A die dies unnoticed, and power-up finds it. From then on data is exposed: for good, or until it is rebuilt.
#[test]
fn a_death_that_power_up_finds_counts_from_then_on() {
    const MINUTE: Nanos = Nanos(60_000_000_000);
    let died = |rebuild| {
        let spec = group(4, &[(FIRST, 0)], rebuild).set("ftl.recovery.policy", "scan").filled(30);
        let mut device = assemble(spec.setup());
        fill(&mut device, 8, 0..spec.logical_pages(), spec.sectors_per_page());
        while device.advance_until(SimTime(FIRST.0), &mut Vec::new()) == Advanced::Completed {}
        assert!(device.ftl().dead_dies_on_flash().is_empty(), "nobody has noticed");
        let (mut device, _) = power_up(spec.setup(), (), device.cut_power()).expect("its remains");
        assert_eq!(device.ftl().dead_dies_on_flash(), [DieId::new(0)]);
        let (ready, mut whole_after) = (device.now(), None);
        for millisecond in 1..=60_000 {
            let until = ready + Nanos(millisecond * 1_000_000);
            while device.advance_until(until, &mut Vec::new()) == Advanced::Completed {}
            if whole_after.is_none() && device.ftl().unprotected_pages() == 0 {
                whole_after = Some(until - ready);
            }
        }
        assert_eq!(device.now(), ready + MINUTE);
        (counts(&device), whole_after)
    };
    let (counts, whole_after) = died("off");
    assert_eq!((counts.exposed, counts.restored, whole_after), (MINUTE, 0, None));
    let (counts, whole_after) = died("on");
    let whole_after = whole_after.expect("everything was rebuilt");
    println!("{counts:?}, {whole_after:?}");
    assert!(counts.restored > 0);
    assert!(counts.exposed.0.abs_diff(whole_after.0) < 2_000_000, "since power-up");
}

/// A page of each stripe, data or parity, lay on the dead die. Each of the D data pages costs one read, D / N of them are
/// computed by N - 1 reads instead, and the new stripes have a parity for N - 2 pages.
#[test]
fn the_rebuild_takes_the_time_of_its_reads_and_programs() {
    for width in [4, 6, 8] {
        let copies = 16 * width;
        let spec = group(width, &[(FIRST, 0)], "on").set("ftl.gc.copies_in_flight", copies);
        // Whole superblocks, so that none is left open.
        let in_block = spec.shape().pages_per_block * (width - 1);
        let pages = 6 * in_block;
        let spec = spec.holding(pages);
        let sectors = spec.sectors_per_page();
        let mut device = assemble(spec.setup());
        fill(&mut device, 64, 0..pages, sectors);
        assert!(device.now() < SimTime(FIRST.0), "{width} dies: {:?}", device.now());
        while device.advance_until(SimTime(FIRST.0), &mut Vec::new()) == Advanced::Completed {}
        let before = *device.flash().done();
        let stripes = device.ftl().stripes().expect("there is parity").layout().clone();
        let is_on_first = |page: &u32| {
            let at = device.ftl().look_up(Lpn::new(*page)).expect("it is written");
            let (stripe, place) = stripes.stripe_of(at);
            stripes.member_at(stripe, place) == 0
        };
        let computed = (0..pages).filter(is_on_first).count() as u64;
        // The first page on the dead die reveals it.
        let mut reads =
            (0..pages).map(|at| request(Op::Read, u64::from(at * sectors), sectors, at));
        while device.ftl().dead_dies_on_flash().is_empty() {
            closed_loop(&mut device, 1, reads.by_ref().take(1));
        }
        while device.advance_until(SimTime::FOREVER, &mut Vec::new()) != Advanced::Idle {}
        assert_eq!(device.ftl().unprotected_pages(), 0, "{width} dies");
        let counts = counts(&device);
        assert_eq!(counts.restored, 6);
        assert_eq!(counts.restored_pages, u64::from(pages));
        let wear = device.flash().done()[Origin::Wear as usize];
        let since = |kind: Kind| wear[kind as usize] - before[Origin::Wear as usize][kind as usize];
        let (data, width) = (u64::from(pages), u64::from(width));
        assert!(computed.abs_diff(data / width) <= 6, "about as many on each die");
        assert_eq!(since(Kind::Read), data - computed + computed * (width - 1), "{width} dies");
        let programs = since(Kind::Program);
        let least = data + data / (width - 2);
        // The last stripe is open, so its parity may be in DRAM.
        assert!(programs <= least && least - programs <= 1, "{width} dies: {programs} of {least}");
        let transfer = spec.bus().transfer(spec.bus().page_codewords());
        let of_reads = since(Kind::Read) * (READ + transfer).0;
        let of_programs = programs * (PROGRAM + transfer).0;
        let of_erases = 5 * crate::common::ERASE.0 * (width - 1);
        let calculated = (of_reads + of_programs + of_erases) as f64 / (width - 1) as f64;
        let took = counts.exposed.0 as f64;
        println!("{width} dies: {took} for {calculated}, {:.3}", took / calculated);
        assert!(took >= calculated && took < calculated * 1.02, "{width} dies");
    }
}

/// A slow DRAM alone decides: each page that is copied comes in and leaves again. One that is computed comes in as the N - 1
/// others of its stripe, and leaves once.
#[test]
fn behind_a_slow_dram_each_page_leaves_once() {
    // A page of 4 KiB crosses in 1024 us.
    const CROSSING: f64 = 1_024_000.0;
    for width in [4_u32, 6] {
        let spec = group(width, &[(FIRST, 0)], "on").set("controller.dram.bandwidth", "4MB/s");
        let pages = 6 * spec.shape().pages_per_block * (width - 1);
        let spec = spec.set("ftl.gc.copies_in_flight", 16 * width).holding(pages);
        let sectors = spec.sectors_per_page();
        let mut device = assemble(spec.setup());
        fill(&mut device, 64, 0..pages, sectors);
        assert!(device.now() < SimTime(FIRST.0), "{width} dies: {:?}", device.now());
        while device.advance_until(SimTime(FIRST.0), &mut Vec::new()) == Advanced::Completed {}
        let read = |at| request(Op::Read, u64::from(at * sectors), sectors, at);
        for page in 0..pages {
            if device.ftl().dead_dies_on_flash().is_empty() {
                closed_loop(&mut device, 1, [read(page)]);
            }
        }
        while device.advance_until(SimTime::FOREVER, &mut Vec::new()) != Advanced::Idle {}
        let counts = counts(&device);
        assert_eq!(counts.restored_pages, u64::from(pages));
        let computed = counts.reads / u64::from(width - 1);
        let crossings = 2 * (u64::from(pages) - computed) + u64::from(width) * computed;
        // Nothing crosses between two superblocks, while one is erased.
        let of_erases = (5 * crate::common::ERASE.0) as f64;
        let calculated = crossings as f64 * CROSSING + of_erases;
        let took = counts.exposed.0 as f64;
        println!("{width} dies: {took} for {calculated}, {:.4}", took / calculated);
        assert!(took >= calculated * 0.99 && took < calculated * 1.03, "{width} dies");
    }
}

/// Runs with one death, then a load, on groups that keep parity.
fn dying() -> impl Strategy<Value = Run> {
    let deaths = proptest::collection::vec(super::death::death(), 1..=3);
    let run = (runs_over(random::run(300), 2..=5), 2u32..=16, 20u32..=100);
    (run, deaths).prop_map(|(((spec, depth, steps), more, share), deaths): (_, Vec<Death>)| {
        let schedule = schedule(&spec, &deaths);
        let spec = spec.set("ftl.parity.rebuild", "on");
        let spec = wider(failing::scheduled(spec, &schedule), 2 + more);
        (legal(spec, share), depth, steps)
    })
}

/// What is rebuilt is what was written, and whatever is not rebuilt at the end has no room or no parity.
#[test]
fn rebuilding_loses_nothing() {
    let met = Met::default();
    let config = ProptestConfig { cases: cases().cases / 2, ..cases() };
    check_runs(config, dying(), |(spec, depth, steps)| {
        let (before, after) = steps.split_at(steps.len() / 2);
        let mut bench = Bench::new(&spec).expect_failures();
        bench.run(depth, before)?;
        let has_one = bench.device.ftl().dead_dies_on_flash().len() == 1;
        let loaded = has_one.then(|| bench.device.clone());
        // A device at its end with data in DRAM can't be saved.
        let Some(mut bench) = bench.try_reload(&spec) else { return Ok(()) };
        bench.audit()?;
        bench.run(depth, after)?;
        let (counts, dead) = (counts(&bench.device), bench.device.ftl().dead_dies_on_flash().len());
        if dead <= 1 && bench.unreadable > 0 {
            return Err(format!("{} reads found nothing", bench.unreadable));
        }
        let unprotected = bench.device.ftl().unprotected_pages();
        met.note([
            ("a die is found dead", dead > 0),
            ("loaded with a dead die", loaded.is_some()),
            ("superblocks are restored", counts.restored > 0),
            ("all is protected again", dead > 0 && unprotected == 0),
            ("some is not", unprotected > 0),
        ]);
        Ok(())
    });
    met.each_at_least(3);
}
