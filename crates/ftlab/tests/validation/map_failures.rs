//! Failing flash under a map on flash: translation pages are programmed elsewhere, their blocks are
//! retired, and at the end of the device's life they stay in memory. Acknowledged data is there, before
//! the end and after it, and nothing gets stuck.

use ftlab::device::{Device, LeftInDram, assemble};
use ftlab::ftl::wear::EndReason;
use ftlab::host::{Advanced, Host, Op, Outcome};
use ftlab::nand::{Fault, Scheduled};
use ftlab::units::{Lpn, Nanos, SimTime};
use proptest::prelude::*;

use crate::common::{Spec, alone, closed_loop, failing, fill, on_demand, request};
use crate::contents::{Bench, cases, loses_nothing, random_steps};
use crate::met::{Met, check_runs};

proptest! {
    #![proptest_config(cases())]

    /// Programs, erases and pages fail by schedule; reads fail by chance.
    #[test]
    fn mishaps_under_a_map_on_flash_return_no_wrong_data(run in failing::on_demand_mishap_run(600)) {
        loses_nothing(&run)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases().cases / 4, ..cases() })]

    /// A device saved midway works on after loading. At its end it may refuse to be saved, and says why.
    #[test]
    fn an_image_of_a_failing_map_works_on((spec, depth, steps) in failing::on_demand_run(600)) {
        let (before, after) = steps.split_at(steps.len() / 2);
        let mut bench = Bench::new(&spec, None);
        prop_assert_eq!(bench.run(depth, before), Ok(()));
        if let Err(LeftInDram { pages, translation_pages, .. }) = bench.device.rest(&mut Vec::new()) {
            prop_assert_eq!(translation_pages, kept(&bench));
            prop_assert!(pages + translation_pages > 0);
            return Ok(());
        }
        let checked = bench.reload(&spec).and_then(|mut bench| {
            bench.audit()?;
            bench.run(depth, after)
        });
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }
}

/// Translation pages that exist in memory only.
fn kept(bench: &Bench) -> usize {
    bench.device.ftl().map_on_flash().map_or(0, |map| map.pages_kept())
}

/// Bad blocks, failed programs and erases, worn-out blocks, and the end of the device's life.
#[test]
fn failures_under_a_map_on_flash_lose_nothing() {
    let met = Met::default();
    check_runs(cases(), failing::on_demand_run(600), |(spec, depth, steps)| {
        let mut bench = Bench::new(&spec, None);
        bench.run(depth, &steps)?;
        let Some(life) = bench.device.ftl().life() else { return Ok(()) };
        let Some(map) = bench.device.ftl().map_on_flash() else { return Ok(()) };
        let (losses, end) = (life.losses(), bench.device.end_of_life());
        let reason = end.map(|end| end.reason);
        let lost = map.counts().lost_blocks > 0;
        let (kept, all) = (kept(&bench), map.translation_pages() as usize);
        met.note([
            ("the program of a translation page fails", map.counts().failed > 0),
            ("the erase of a block of the map fails", lost && losses.program_failures == 0),
            ("a block of the map is collected and retired", lost && losses.erase_failures == 0),
            ("lives on without a block of the map", lost && end.is_none()),
            (
                "the map was collected, and the device ends",
                map.counts().blocks > 0 && end.is_some(),
            ),
            ("too few blocks", reason == Some(EndReason::TooFewBlocks)),
            ("ends in use", end.is_some_and(|end| end.host_written.0 > 0)),
            ("nothing in memory only at the end", end.is_some() && kept == 0),
            ("a part in memory only", kept > 0 && kept < all),
            ("all in memory only", kept > 0 && kept == all),
            ("ends with a write buffer", kept > 0 && !bench.write_through),
            ("ends without a write buffer", kept > 0 && bench.write_through),
        ]);
        Ok(())
    });
    met.each_at_least(3);
}

/// A die dies, and with it translation pages. Entries in memory are kept; pages whose entries are not in memory are lost
/// wherever they lie, until they are written again.
#[test]
fn a_dead_die_takes_entries_with_it() {
    const PAGES: u32 = 3 * 512;
    const SECTORS: u32 = 4;
    let at = Nanos(1_000_000_000_000);
    let spec = Spec::small().with(
        "nand.page_size = 2KiB
        nand.channels = 2
        nand.blocks_per_plane = 300
        ftl.placement.policy = dynamic",
    );
    let spec = on_demand::cached(spec, 8);
    let spec = failing::scheduled(spec, &[Scheduled { at, fault: Fault::DieDies(0) }]);
    let spec = spec.holding(PAGES);
    let mut device = assemble(spec.setup());
    fill(&mut device, 1, 0..PAGES, SECTORS);
    let whole = |op, page: u32| request(op, u64::from(page * SECTORS), SECTORS, page);
    closed_loop(&mut device, 1, (0..PAGES).map(|page| whole(Op::Read, page)));
    while device.advance_until(SimTime(at.0), &mut Vec::new()) == Advanced::Completed {}
    let die_of = |page: Lpn, device: &Device| {
        let at = device.ftl().look_up(page).expect("it was written");
        device.flash().geometry().die_of_page(at).get()
    };
    let map = device.ftl().map_on_flash().expect("it lies on flash");
    let in_memory: Vec<Lpn> = map.cached().by_use().map(|(page, _)| page).collect();
    let is_gone: Vec<bool> = (0..PAGES)
        .map(Lpn::new)
        .map(|page| {
            let of = map.pages_of(map.page_of(page)).next().expect("it has pages");
            let entry_is_gone = die_of(of, &device) == 0 && !in_memory.contains(&page);
            entry_is_gone || die_of(page, &device) == 0
        })
        .collect();
    // Those in memory first: reads of others take their places.
    let order = in_memory.iter().map(|page| page.get()).chain(0..PAGES);
    for page in order {
        let done = alone(&mut device, whole(Op::Read, page));
        let expected = if is_gone[page as usize] { Outcome::Unreadable } else { Outcome::Done };
        assert_eq!(done.outcome, expected, "page {page}");
    }
    let lost = is_gone.iter().filter(|&&gone| gone).count() as u32;
    assert!(PAGES / 3 < lost && lost < PAGES, "{lost} of {PAGES}");
    for page in 0..PAGES / 4 {
        for op in [Op::Write, Op::Read] {
            assert_eq!(alone(&mut device, whole(op, page)).outcome, Outcome::Done, "page {page}");
        }
    }
    assert_eq!(device.ftl().audit(), Ok(()));
}

/// A device at its end with few entries in memory answers reads of everything, and programs no more
/// translation pages.
#[test]
fn a_map_on_flash_is_readable_and_not_written_at_the_end_of_life() {
    for seed in 0..8 {
        let spec = Spec::small().with(
            "nand.page_size = 2KiB
            nand.blocks_per_plane = 80
            nand.pages_per_block = 24
            nand.faults.erase_failures = 800000000",
        );
        let spec = on_demand::cached(spec, 4).seeded(seed.into()).filled(75);
        let mut bench = Bench::new(&spec, None);
        assert_eq!(bench.run(8, &random_steps(seed, 3_000)), Ok(()));
        assert!(bench.device.end_of_life().is_some(), "four of five erases fail");
        let programmed = |bench: &Bench| {
            bench.device.ftl().map_on_flash().expect("it is on flash").counts().programmed()
        };
        let before = programmed(&bench);
        for at in (0..bench.device.capacity_sectors()).step_by(7) {
            bench.submit(Op::Read, at..at + 1);
            assert_eq!(bench.advance_to_idle(), Ok(()));
        }
        assert_eq!(programmed(&bench), before);
    }
}
