//! A map on flash under parity across dies: stripes of translation pages are whole at any time, their cost can be
//! calculated, and one that can't be read is computed like any page.

use ftlab::device::{Device, assemble};
use ftlab::ftl::mapping::dftl::DemandCounts;
use ftlab::host::{Advanced, Host, Op, Outcome};
use ftlab::nand::{Fault, FaultSpot, Scheduled};
use ftlab::scheduler::{Kind, Origin};
use ftlab::units::{DieId, Lpn, Nanos, Ppn, SimTime, Tpn};
use proptest::prelude::*;

use super::bench::Bench;
use super::{runs, saved_and_loaded, striped, through_failures};
use crate::common::random::{Run, wider};
use crate::common::{BLOCKS, READ, Spec, alone, closed_loop, failing, fill, on_demand, request};
use crate::contents::cases;

/// The same runs on devices with stripes. A gating buffer would have to know where pages go.
fn striped_runs(of: impl Strategy<Value = Run>) -> impl Strategy<Value = Run> {
    let ungated = of.prop_map(|(spec, depth, steps)| {
        let spec = match spec.get("cache.policy") {
            Some("gating") => spec.without(|path| path.starts_with("cache.")),
            _ => spec,
        };
        (wider(spec, 2), depth, steps)
    });
    runs(ungated)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases().cases / 2, ..cases() })]

    #[test]
    fn stripes_of_a_map_are_whole_at_any_time((spec, depth, steps) in striped_runs(on_demand::run(300))) {
        let checked = Bench::new(&spec).run(depth, &steps);
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }

    #[test]
    fn stripes_of_a_map_survive_saving_and_loading((spec, depth, steps) in striped_runs(on_demand::run(200))) {
        prop_assert_eq!(saved_and_loaded(&spec, depth, &steps), Ok(()));
    }

    /// Bad blocks, failed programs and erases, worn-out blocks, and the end of the device's life.
    #[test]
    fn failures_under_a_striped_map_lose_nothing((spec, depth, steps) in striped_runs(failing::on_demand_run(300))) {
        prop_assert_eq!(through_failures(&spec, depth, &steps), Ok(0));
    }

    /// The same by schedule, and with failing reads, beyond what parity covers.
    #[test]
    fn mishaps_under_a_striped_map_give_errors((spec, depth, steps) in striped_runs(failing::on_demand_mishap_run(300))) {
        let checked = through_failures(&spec, depth, &steps);
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }
}

/// When a die dies.
const DEATH: Nanos = Nanos(1_000_000_000);

/// Pages of 2 KiB, and the time of one on the bus. A translation page has 512 entries.
const SECTORS: u32 = 4;
const TRANSFER: Nanos = Nanos(5_000);
const PER_TRANSLATION_PAGE: u32 = 512;
const WIDTH: u32 = 4;
const PAGES: u32 = 6 * PER_TRANSLATION_PAGE;

/// Four dies on four channels, their map in six translation pages, and eight of its entries in memory.
fn spec() -> Spec {
    let spec = Spec::small().set("nand.page_size", "2KiB").set("nand.pages_per_block", 64);
    let spec = striped(spec, WIDTH, 1, WIDTH).set(BLOCKS, 40);
    on_demand::cached(spec, 8).holding(PAGES)
}

/// Everything was written once in order, then read.
fn settled(spec: &Spec) -> Device {
    let mut device = assemble(spec.setup());
    fill(&mut device, 1, 0..PAGES, SECTORS);
    let whole = |page: u32| request(Op::Read, u64::from(page * SECTORS), SECTORS, page);
    closed_loop(&mut device, 1, (0..PAGES).map(whole));
    device
}

fn counts(device: &Device) -> DemandCounts {
    *device.ftl().map_on_flash().expect("the map lies on flash").counts()
}

fn place_of(of: Tpn, device: &Device) -> Ppn {
    let mut pages = device.ftl().map_on_flash().expect("the map lies on flash").pages_of(of);
    let page = pages.next().expect("a translation page has pages");
    device.ftl().look_up(page).expect("it was written")
}

/// The number of a translation page's flash page, counted block by block, as a schedule does.
fn counted_place(of: Tpn, device: &Device) -> u32 {
    let at = place_of(of, device);
    let flash = device.flash().geometry();
    let (block, unit) = flash.place_of(at);
    block.get() * flash.shape().pages_per_block + flash.flash_page_at(unit)
}

/// Data and translation pages fill stripes of their own: each three of a kind take a page of parity.
#[test]
fn parity_takes_one_program_in_a_stripe_of_the_map() {
    let device = settled(&spec());
    let programs = device.flash().done()[Origin::Host as usize][Kind::Program as usize];
    let map = counts(&device).programmed();
    assert!(map > u64::from(3 * WIDTH), "{map} translation pages were programmed");
    let (data, in_stripe) = (u64::from(PAGES), u64::from(WIDTH - 1));
    let parity = data / in_stripe + map / in_stripe;
    assert_eq!(device.ftl().stripes().expect("there is parity").counts().programs, parity);
    assert_eq!(programs, data + map + parity);
    assert_eq!(device.ftl_counts().gc_runs, 0);
}

/// A miss reads its translation page, finds it unreadable, and reads the three others of its stripe at once, each on its own
/// bus. Then the page is read. No entry is lost.
#[test]
fn a_translation_page_that_cannot_be_read_is_computed() {
    let at = Nanos(1_000_000_000_000);
    let of = Tpn::new(1);
    let page = counted_place(of, &settled(&failing_at(None, at)));
    let mut device = settled(&failing_at(Some(page), at));
    assert_eq!(counted_place(of, &device), page, "the fault changes nothing before");
    assert!(device.now() < SimTime(at.0));
    while device.advance_until(SimTime(at.0), &mut Vec::new()) == Advanced::Completed {}
    let before = counts(&device);
    let done = alone(&mut device, request(Op::Read, u64::from(700 * SECTORS), SECTORS, 0));
    assert_eq!(done.outcome, Outcome::Done);
    let waited = Nanos(2 * (READ.0 + TRANSFER.0));
    assert_eq!(done.breakdown.translation, waited);
    assert_eq!(done.latency(), waited + READ + TRANSFER);
    assert_eq!(counts(&device).since(&before).read_misses, 1);
    let parity = *device.ftl().stripes().expect("there is parity").counts();
    assert_eq!((parity.reconstructed, parity.reads, parity.lost), (1, 3, 0));
    assert_eq!(device.ftl().lost().pages(), 0);
}

/// Of a die that is known to be dead, a translation page is computed from the three others of its stripe: a miss takes as long
/// as on a device on which all dies live.
#[test]
fn a_miss_on_a_dead_die_takes_as_long_as_any() {
    let at = Nanos(1_000_000_000_000);
    let dying = |die| failing::scheduled(spec(), &[Scheduled { at, fault: Fault::DieDies(die) }]);
    let of = Tpn::new(1);
    let die_of = |device: &Device| device.flash().geometry().die_of_page(place_of(of, device));
    let die = die_of(&settled(&dying(0)));
    let mut device = settled(&dying(die.get()));
    assert_eq!(die_of(&device), die, "the fault changes nothing before");
    while device.advance_until(SimTime(at.0), &mut Vec::new()) == Advanced::Completed {}
    let read = |page: u32| request(Op::Read, u64::from(page * SECTORS), SECTORS, 0);
    // Neighbours whose entries are in one translation page; the first reads find the death.
    closed_loop(&mut device, 1, (512..560).map(read));
    assert_eq!(device.ftl().dead_dies_on_flash(), [die]);
    for page in (600..700).map(|number| number * 7 % 400 + 560) {
        let before = counts(&device);
        let done = alone(&mut device, read(page));
        assert_eq!(done.outcome, Outcome::Done);
        let misses = counts(&device).since(&before).read_misses;
        assert_eq!(done.breakdown.translation.0, misses * (READ.0 + TRANSFER.0));
        assert_eq!(done.latency().0, (1 + misses) * (READ.0 + TRANSFER.0));
    }
    assert_eq!(device.ftl().lost().pages(), 0);
}

/// The device on which a flash page can't be read from some time on, or the last one, which is never used.
fn failing_at(page: Option<u32>, at: Nanos) -> Spec {
    let spec = spec();
    let last = spec.geometry().physical_pages() / spec.geometry().units_per_page() - 1;
    let fault = Fault::Unreadable(FaultSpot::Page(page.unwrap_or(last)));
    failing::scheduled(spec, &[Scheduled { at, fault }])
}

/// Beside one dead die, a mirror protects nothing. What counts is the pages of the host, without those of the map.
#[test]
fn pages_of_the_map_are_not_the_hosts() {
    let spec = striped(Spec::small(), 2, 1, 2).set(BLOCKS, 24);
    let spec = failing::scheduled(spec, &[Scheduled { at: DEATH, fault: Fault::DieDies(0) }]);
    let spec = on_demand::cached(spec, 8).holding(96);
    let mut device = assemble(spec.setup());
    fill(&mut device, 1, 0..96, 8);
    while device.advance_until(SimTime(DEATH.0), &mut Vec::new()) == Advanced::Completed {}
    closed_loop(&mut device, 1, (0..96).map(|page| request(Op::Read, page * 8, 8, 0)));
    assert_eq!(device.ftl().dead_dies_on_flash(), [DieId::new(0)]);
    assert!(device.ftl().map_on_flash().is_some_and(|map| map.counts().programmed() > 0));
    assert_eq!(device.ftl().unprotected_pages(), 96);
}

/// The same for pages on a dead die, with and without superblocks, without parity.
#[test]
fn pages_of_the_map_on_a_dead_die_are_not_the_hosts() {
    for policy in ["none", "all"] {
        let spec = Spec::small().set("nand.channels", 2).set("ftl.placement.policy", "dynamic");
        let spec = spec.set("ftl.superblock.policy", policy).set(BLOCKS, 24);
        let mut device = assemble(on_demand::cached(spec, 8).holding(96).setup());
        fill(&mut device, 1, 0..96, 8);
        let die_of = |page, device: &Device| {
            let at = device.ftl().look_up(page).expect("it is written");
            device.flash().geometry().die_of_page(at)
        };
        let map = device.ftl().map_on_flash().expect("the map is on flash");
        let dead = die_of(map.pages_of(Tpn::new(0)).next().expect("it has pages"), &device);
        device.kill_die(dead);
        let lost = (0..96).map(Lpn::new).filter(|&page| die_of(page, &device) == dead).count();
        assert!(lost > 0);
        assert_eq!(device.ftl().pages_on_dead_dies(), lost as u64, "{policy}");
    }
}
