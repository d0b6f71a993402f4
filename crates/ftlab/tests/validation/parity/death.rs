//! Dies that die on a device with parity.

use std::ops::RangeInclusive;

use ftlab::device::assemble;
use ftlab::host::{Advanced, Host, Op, Outcome};
use ftlab::nand::{Fault, Scheduled};
use ftlab::units::{DieId, Nanos, SimTime};
use proptest::prelude::*;

use super::bench::Bench;
use super::{runs_over, striped};
use crate::common::random::{self, Run, legal, wider};
use crate::common::{BLOCKS, READ, Spec, closed_loop, failing, fill, request};
use crate::contents::cases;
use crate::met::{Met, check_runs};

/// A die, as a share of the dies in 1/65536, and when it dies.
pub type Death = (u32, Nanos);

pub fn death() -> impl Strategy<Value = Death> {
    let soon = 0u64..5_000_000;
    let later = 0u64..400_000_000;
    (0u32..65_536, prop_oneof![soon, later].prop_map(Nanos))
}

/// Runs with this many deaths, on devices that usually have room to continue.
fn dying(deaths: usize) -> impl Strategy<Value = Run> {
    dying_over(2..=5, deaths)
}

/// The same, with the given numbers of dies in a stripe.
fn dying_over(widths: RangeInclusive<u32>, deaths: usize) -> impl Strategy<Value = Run> {
    let run = (runs_over(random::run(300), widths), 0u32..=12, 20u32..=100);
    (run, proptest::collection::vec(death(), deaths)).prop_map(
        |(((spec, depth, steps), more, share), deaths)| {
            let schedule = schedule(&spec, &deaths);
            let spec = wider(failing::scheduled(spec, &schedule), 2 + more);
            (legal(spec, share), depth, steps)
        },
    )
}

pub fn schedule(spec: &Spec, deaths: &[Death]) -> Vec<Scheduled> {
    let dies = spec.geometry().dies();
    let death =
        |&(share, at): &Death| Scheduled { at, fault: Fault::DieDies(share * dies / 65_536) };
    failing::once(deaths.iter().map(death))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases().cases / 2, ..cases() })]

    /// A die dies while commands of collection are held back: parity overtakes no page of its block.
    #[test]
    fn a_death_finds_commands_held_back((spec, depth, steps) in dying_over(2..=2, 1)) {
        let spec = spec.set("ftl.gc.preemptible", "on");
        let mut bench = Bench::new(&spec).expect_failures();
        let checked = bench.run(depth, &steps);
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
        prop_assert_eq!(bench.unreadable, 0);
    }

    /// A device with a dead die is saved and loaded.
    #[test]
    fn a_death_survives_saving_and_loading((spec, depth, steps) in dying(1)) {
        let (before, after) = steps.split_at(steps.len() / 2);
        let mut bench = Bench::new(&spec).expect_failures();
        let checked = bench.run(depth, before).and_then(|()| {
            // A device at its end with data in DRAM can't be saved.
            let Some(mut bench) = bench.try_reload(&spec) else { return Ok(0) };
            bench.audit()?;
            bench.run(depth, after)?;
            Ok(bench.unreadable)
        });
        prop_assert_eq!(checked, Ok(0));
    }
}

/// Whenever a die dies, all acknowledged data is there, and the device continues. After more deaths
/// data may be lost: then reads end with an error, and never return other data.
#[test]
fn deaths_lose_nothing_that_parity_covers() {
    let met = Met::default();
    let config = ProptestConfig { cases: cases().cases / 2, ..cases() };
    for deaths in [1, 3] {
        check_runs(config.clone(), dying(deaths), |(spec, depth, steps)| {
            let mut bench = Bench::new(&spec).expect_failures();
            bench.run(depth, &steps)?;
            if deaths == 1 && bench.unreadable > 0 {
                return Err(format!("{} reads found nothing", bench.unreadable));
            }
            let counts = *bench.device.ftl().stripes().expect("there is parity").counts();
            let spared =
                bench.device.ftl().superblock().expect("stripes have them").spared_erases();
            let dead = bench.device.ftl().dead_dies_on_flash().len();
            let ended = bench.device.end_of_life().is_some();
            met.note([
                ("a die is found dead", dead > 0),
                ("more than one", dead > 1),
                ("a page is rebuilt", counts.reconstructed > 0),
                ("erased without a dead die", spared > 0),
                ("continues writing and collecting", !ended && spared > 4),
                ("takes no more writes", ended),
                ("loses something", bench.unreadable > 0),
                ("a group is gone", !bench.device.ftl().dead_dies().is_empty()),
            ]);
            Ok(())
        });
    }
    met.each_at_least(3);
}

/// One group of four dies on four channels, partly filled; its first die then dies.
fn with_a_dead_die() -> (Spec, SimTime) {
    let at = Nanos(1_000_000_000);
    let schedule = [Scheduled { at, fault: Fault::DieDies(0) }];
    let spec = striped(Spec::small(), 4, 1, 4).set(BLOCKS, 12).holding(96);
    (failing::scheduled(spec, &schedule), SimTime(at.0))
}

/// A page of a dead die takes reads of the three others, each on its own bus: as long as one read.
#[test]
fn a_rebuilt_read_takes_as_long_as_the_longest_of_the_others() {
    let (spec, death) = with_a_dead_die();
    let mut device = assemble(spec.setup());
    let sectors = spec.sectors_per_page();
    fill(&mut device, 8, 0..spec.logical_pages(), sectors);
    assert!(device.now() < death);
    while device.advance_until(death, &mut Vec::new()) == Advanced::Completed {}
    let reads = || {
        (0..spec.logical_pages())
            .map(|page| request(Op::Read, u64::from(page) * u64::from(sectors), sectors, page))
    };
    // The first read of the die discovers the death.
    closed_loop(&mut device, 1, reads());
    let found = *device.ftl().stripes().expect("there is parity").counts();
    assert_eq!(device.ftl().dead_dies_on_flash(), [DieId::new(0)]);
    let done = closed_loop(&mut device, 1, reads());
    let counts = *device.ftl().stripes().expect("there is parity").counts();
    // A quarter of everything programmed lies on each die.
    let on_dead_die = counts.reconstructed - found.reconstructed;
    assert_eq!(on_dead_die, u64::from(spec.logical_pages() / 4));
    assert_eq!(counts.reads - found.reads, 3 * on_dead_die);
    let transfer = spec.bus().transfer(spec.bus().page_codewords());
    assert!(done.iter().all(|done| done.outcome == Outcome::Done));
    assert!(done.iter().all(|done| done.latency() == READ + transfer));
}

/// On one bus, the three transfers follow each other.
#[test]
fn transfers_of_a_rebuilt_read_add_up_on_one_bus() {
    let (spec, death) = with_a_dead_die();
    let spec = spec.set("nand.channels", 1).set("nand.chips_per_channel", 4);
    let mut device = assemble(spec.setup());
    let sectors = spec.sectors_per_page();
    fill(&mut device, 8, 0..spec.logical_pages(), sectors);
    while device.advance_until(death, &mut Vec::new()) == Advanced::Completed {}
    let reads = || {
        (0..spec.logical_pages())
            .map(|page| request(Op::Read, u64::from(page) * u64::from(sectors), sectors, page))
    };
    closed_loop(&mut device, 1, reads());
    let done = closed_loop(&mut device, 1, reads());
    let transfer = spec.bus().transfer(spec.bus().page_codewords());
    let times = |number: u64| Nanos(READ.0 + number * transfer.0);
    let computed = done.iter().filter(|done| done.latency() == times(3)).count();
    let plain = done.iter().filter(|done| done.latency() == times(1)).count();
    assert_eq!(computed, spec.logical_pages() as usize / 4);
    assert_eq!(computed + plain, done.len());
}
