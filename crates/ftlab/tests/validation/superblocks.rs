//! Superblocks: amplification as the mean field has it for blocks of their size, writes at what dies can take while
//! collection goes on, erases of whole superblocks, and superblocks that lack blocks.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use ftlab::device::{Device, assemble, assemble_with, power_up};
use ftlab::engine::Stream;
use ftlab::ftl::BlockState;
use ftlab::host::{Advanced, Host, Op};
use ftlab::image::Resume;
use ftlab::nand::Kind;
use ftlab::scheduler::{Note, Origin};
use ftlab::shape::Geometry;
use ftlab::units::{BlockId, DieId, Nanos, Ppn, SimTime, Tpn};
use ftlab_torture::{AnyProbe, Listens};

use crate::common::{ERASE, PROGRAM, READ, Spec, closed_loop, fill, on_demand, request};
use crate::write_amplification::{STOP, mean_field, planes};

/// Two channels with two dies of two planes each.
const DIES: u32 = 4;
const PLANES: u32 = 2;
/// 4 KiB at 409.6 MB/s.
const TRANSFER: u64 = 10_000;
const GAP: u64 = 500;

fn spec() -> Spec {
    Spec::small().with(
        "nand.channels = 2
        nand.dies_per_chip = 2
        nand.planes_per_die = 2
        nand.multi_plane.program = on
        nand.multi_plane.erase = on
        nand.multi_plane.gap = 500ns
        ftl.placement.policy = dynamic
        ftl.superblock.policy = all",
    )
}

/// Writes `count` random pages.
fn write(device: &mut Device, spec: &Spec, stream: &mut Stream, count: u64) {
    let pages = u64::from(spec.logical_pages());
    let next = (0..count).map(|_| request(Op::Write, stream.below(pages) * 8, 8, 0));
    closed_loop(device, 64, next);
}

/// One superblock of the host and one of collection are open, `STOP` are free. Of the others the logical pages fill a
/// share, for which the mean field says the amplification: of blocks with as many pages as a superblock, as those of a
/// superblock fill and empty together. The blocks of a plane that collects for itself are an eighth as large.
#[test]
fn superblocks_amplify_as_large_blocks_do() {
    for percent in [15, 28, 100] {
        let spec = planes(spec(), 512, 4, percent);
        let width = DIES * PLANES;
        let b = 4 * width;
        let closed = f64::from((512 - STOP - 2) * b);
        let share = f64::from(spec.logical_pages() - b) / closed;
        let expected = mean_field(b, share);
        let (measured, _) = steady(&spec);
        let off = 100.0 * (measured / expected - 1.0);
        println!("{percent} %: expected {expected:.4}, measured {measured:.4}, {off:+.2} %");
        assert!(off.abs() < 2.0, "{percent} %: {measured} instead of {expected}");
    }
}

/// With parity a superblock holds three quarters of its pages as data, and is a block of so many for the mean field. The
/// share is that of data capacity, to which over-provisioning refers. Flash programs one page of parity for every three.
///
/// Within 2 % as without parity, for the same reason: a superblock more or less among 508 shifts the share by 0.2 %. Parity
/// is exact but for the rows that are open at either end of the measurement, and for those in flight: some ten pages of
/// some hundred thousand.
#[test]
fn superblocks_with_parity_amplify_as_blocks_of_their_data_do() {
    for percent in [15, 28, 100] {
        let spec =
            planes(spec().with("ftl.parity.policy = dies\nftl.parity.width = 4"), 512, 4, percent);
        let b = Geometry::new(spec.config().volume()).units_per_block();
        assert_eq!(b, 4 * (DIES - 1) * PLANES);
        let share = f64::from(spec.logical_pages() - b) / f64::from((512 - STOP - 2) * b);
        let expected = mean_field(b, share);
        let (measured, flash) = steady(&spec);
        let off = 100.0 * (measured / expected - 1.0);
        println!(
            "{percent} %: expected {expected:.4}, measured {measured:.4}, {off:+.2} %; {flash:.4} of flash"
        );
        assert!(off.abs() < 2.0, "{percent} %: {measured} instead of {expected}");
        let with_parity = measured * f64::from(DIES) / f64::from(DIES - 1);
        assert!((flash / with_parity - 1.0).abs() < 2e-4, "{flash} instead of {with_parity}");
    }
}

/// Writes at random until amplification is steady, and then for a while. Returns the pages of data, and of flash, that are
/// programmed for each page of the host.
fn steady(spec: &Spec) -> (f64, f64) {
    let mut device = assemble(spec.setup());
    let pages = u64::from(spec.logical_pages());
    let mut stream = Stream::new(4, "pages");
    fill(&mut device, 64, 0..spec.logical_pages(), 8);
    write(&mut device, spec, &mut stream, 6 * pages);
    let (before, flash_before) = (*device.ftl_counts(), programs(&device));
    write(&mut device, spec, &mut stream, 8 * pages);
    assert_eq!(device.ftl().audit(), Ok(()));
    let (after, flash_after) = (*device.ftl_counts(), programs(&device));
    let host = (after.host_pages - before.host_pages) as f64;
    let extra = after.gc_pages + after.padding - before.gc_pages - before.padding;
    ((host + extra as f64) / host, (flash_after - flash_before) as f64 / host)
}

/// Programs of flash pages so far.
fn programs(device: &Device) -> u64 {
    device.flash().done().iter().map(|of| of[Kind::Program as usize]).sum()
}

/// Dies do nothing but what writes cost: reads of copies, programs of rows of two pages, and erases of two blocks. Since
/// they share programs and erases, half as many take time as are counted. If copies shared no programs, as when planes
/// collect for themselves, dies would need half as much again.
#[test]
fn random_writes_on_a_full_device_take_what_dies_can() {
    let spec = planes(spec(), 512, 32, 28).buffered("lru", 256).set("cache.programs_per_die", 2);
    let mut device = assemble(spec.setup());
    let pages = u64::from(spec.logical_pages());
    let mut stream = Stream::new(4, "pages");
    fill(&mut device, 64, 0..spec.logical_pages(), 8);
    write(&mut device, &spec, &mut stream, 3 * pages);
    let (began, before) = (device.now(), *device.flash().done());
    write(&mut device, &spec, &mut stream, pages);
    let took = (device.now() - began).0 as f64;
    let done = |kind: Kind| -> f64 {
        let of = |origin: Origin| {
            let (origin, kind) = (origin as usize, kind as usize);
            (device.flash().done()[origin][kind] - before[origin][kind]) as f64
        };
        Origin::ALL.iter().map(|&origin| of(origin)).sum()
    };
    let row = (2 * TRANSFER + GAP + PROGRAM.0) as f64;
    let work = done(Kind::Read) * (READ.0 + TRANSFER) as f64
        + done(Kind::Program) / f64::from(PLANES) * row
        + done(Kind::Erase) / f64::from(PLANES) * ERASE.0 as f64;
    let busy = work / f64::from(DIES) / took;
    println!("dies are busy {:.1} % of the time", 100.0 * busy);
    assert!((0.93..=1.0).contains(&busy), "dies are busy {busy} of the time");
    let joined = device.flash().overlaps().multi_plane;
    let all = device.flash().done().iter().map(|of| of[Kind::Erase as usize]).sum::<u64>();
    assert_eq!(2 * joined[Kind::Erase as usize], all, "each erase is shared");
}

/// Blocks of a superblock are erased together, two planes of a die at once.
#[test]
fn a_superblock_is_erased_at_once() {
    let spec = planes(spec(), 16, 4, 100);
    let mut device = assemble(spec.setup());
    let mut stream = Stream::new(4, "pages");
    fill(&mut device, 64, 0..spec.logical_pages(), 8);
    while device.flash().done()[Origin::Gc as usize][Kind::Erase as usize] == 0 {
        write(&mut device, &spec, &mut stream, 1);
    }
    let superblocks: u32 = device.ftl().blocks().all_erases().sum();
    let erases = device.flash().done()[Origin::Gc as usize][Kind::Erase as usize];
    assert_eq!(erases, u64::from(superblocks * DIES * PLANES), "all blocks of each");
    let joined = device.flash().overlaps().multi_plane[Kind::Erase as usize];
    assert_eq!(joined, u64::from(superblocks * DIES), "two planes at once");
}

/// Erases of blocks of flash so far.
fn erases(device: &Device) -> u64 {
    device.flash().done().iter().map(|of| of[Kind::Erase as usize]).sum()
}

/// An erase of one block fails: its superblock goes on without it, and holds as many pages less as a block has. Programs of
/// every other one go round all blocks, so each block takes an eighth of them, and the bad one none.
#[test]
fn a_superblock_goes_on_without_a_bad_block() {
    let bad = 37;
    let spec = planes(spec(), 24, 4, 100)
        .set("nand.faults.schedule", format!("[\"1ns: next erase of block {bad} fails\"]"));
    let mut device = assemble(spec.setup());
    let mut stream = Stream::new(5, "pages");
    fill(&mut device, 64, 0..spec.logical_pages(), 8);
    write(&mut device, &spec, &mut stream, 20 * u64::from(spec.logical_pages()));
    let superblock = device.ftl().superblock().expect("there are some");
    let found: Vec<BlockId> = superblock.members().bad_blocks().collect();
    assert_eq!(found, [BlockId::new(bad)]);
    let losses = *device.ftl().life().expect("an erase may fail").losses();
    assert_eq!((losses.grown_bad, losses.erase_failures), (1, 0), "the schedule is no chance");
    let (of, _) = superblock.members().flash().superblock_of(BlockId::new(bad));
    let blocks = device.ftl().blocks();
    assert_ne!(blocks.state(of), BlockState::Bad, "it is narrower, and in use");
    assert!(blocks.erases(of) > 2 && device.end_of_life().is_none());
    // The failed erase was made; later ones of its superblock spare the block.
    let told = u64::from(blocks.all_erases().sum::<u32>()) * u64::from(DIES * PLANES);
    assert_eq!(superblock.spared_erases(), u64::from(blocks.erases(of) - 1));
    assert_eq!(erases(&device), told - superblock.spared_erases());
    device.audit().expect("nothing lies on the bad block");
}

/// A superblock of which more than half the blocks are bad is retired.
#[test]
fn a_superblock_with_few_good_blocks_is_retired() {
    let spec = planes(spec(), 24, 4, 100);
    let (blocks, members) = (24, DIES * PLANES);
    // The blocks of superblock 3, one on each plane.
    let fails = (0..=members / 2)
        .map(|plane| format!("\"1ns: next erase of block {} fails\"", plane * blocks + 3));
    let schedule = format!("[{}]", fails.collect::<Vec<_>>().join(", "));
    let spec = spec.set("nand.faults.schedule", schedule);
    let mut device = assemble(spec.setup());
    let mut stream = Stream::new(6, "pages");
    fill(&mut device, 64, 0..spec.logical_pages(), 8);
    write(&mut device, &spec, &mut stream, 20 * u64::from(spec.logical_pages()));
    assert_eq!(device.ftl().blocks().state(BlockId::new(3)), BlockState::Bad);
    let losses = *device.ftl().life().expect("an erase may fail").losses();
    assert_eq!(losses.grown_bad, members / 2 + 1, "the good ones are out of use, and not bad");
    assert!(device.end_of_life().is_none());
}

/// Hears of dead dies.
#[derive(Clone, Default)]
struct Mourner(Rc<RefCell<Vec<(SimTime, u32)>>>);

impl Listens for Mourner {
    fn note(&mut self, at: SimTime, note: Note) {
        if let Note::DieDied { die } = note {
            self.0.borrow_mut().push((at, die.get()));
        }
    }
}

/// Reads find the deaths of a second each. Each is told when it is found, by its number on the flash, whether the rest of
/// its group lives or not.
#[test]
fn each_death_is_told_once() {
    for policy in ["all", "none"] {
        let dying =
            "[\"1s: die 0 dies\", \"2s: die 1 dies\", \"3s: die 3 dies\", \"3s: die 2 dies\"]";
        let spec = planes(spec(), 24, 4, 300).set("ftl.superblock.policy", policy);
        let spec = spec.set("nand.faults.schedule", dying);
        let told = Mourner::default();
        let mut device = assemble_with(spec.setup(), AnyProbe::new(told.clone()), ());
        fill(&mut device, 8, 0..spec.logical_pages(), 8);
        let mut expected: Vec<(u64, BTreeSet<u32>)> = Vec::new();
        for (second, dies) in [(1, &[0][..]), (2, &[1]), (3, &[2, 3])] {
            let before = SimTime(second * 1_000_000_000);
            while device.advance_until(before, &mut Vec::new()) != Advanced::Idle
                && device.now() < before
            {}
            let reads = (0..spec.logical_pages())
                .map(|page| request(Op::Read, u64::from(page) * 8, 8, page));
            closed_loop(&mut device, 1, reads);
            assert!(device.now() < before + Nanos(1_000_000_000));
            expected.push((second, dies.iter().copied().collect()));
        }
        let told = told.0.borrow();
        let in_second = |second| {
            let all = told.iter().filter(|(at, _)| at.0 / 1_000_000_000 == second);
            all.map(|&(_, die)| die).collect::<Vec<u32>>()
        };
        for (second, dies) in expected {
            let found = in_second(second);
            assert_eq!(found.len(), dies.len(), "{policy}: {told:?}");
            assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), dies, "{policy}: {told:?}");
        }
        assert_eq!(told.len(), 4);
    }
}

/// Without parity the data of a dead die is lost, and its superblocks go on with three quarters of their blocks.
#[test]
fn superblocks_go_on_without_a_dead_die() {
    let spec = planes(spec(), 24, 4, 200).set("nand.faults.schedule", "[\"1s: die 1 dies\"]");
    let mut device = assemble(spec.setup());
    let mut stream = Stream::new(7, "pages");
    fill(&mut device, 64, 0..spec.logical_pages(), 8);
    device.advance_until(ftlab::units::SimTime(1_000_000_000), &mut Vec::new());
    write(&mut device, &spec, &mut stream, 10 * u64::from(spec.logical_pages()));
    assert_eq!(device.ftl().dead_dies_on_flash(), [DieId::new(1)]);
    assert!(device.ftl().dead_dies().is_empty(), "its group goes on");
    assert!(device.end_of_life().is_none());
    device.audit().expect("it is sound");
    let before = device.flash().hazards().map_or(0, |hazards| hazards.counts().on_dead_dies);
    write(&mut device, &spec, &mut stream, 1_000);
    let after = device.flash().hazards().map_or(0, |hazards| hazards.counts().on_dead_dies);
    assert!(after - before < 200, "only what is left there is still read");
}

/// The pages of parity of a row are on one die, and share a multi-plane program as those of data do.
#[test]
fn parity_of_a_row_shares_a_program() {
    let spec = planes(spec(), 24, 4, 100).with("ftl.parity.policy = dies\nftl.parity.width = 4");
    let mut device = assemble(spec.setup());
    let rows = 8;
    let data = u64::from((DIES - 1) * PLANES) * rows;
    fill(&mut device, 64, 0..data as u32, 8);
    let parity = device.ftl().stripes().expect("there is parity").counts().programs;
    assert_eq!(parity, u64::from(PLANES) * rows, "one page for each stripe");
    let programs = programs(&device);
    assert_eq!(programs, data + parity);
    let joined = device.flash().overlaps().multi_plane[Kind::Program as usize];
    // The first ones find their die idle, and wait for no mate.
    assert!(2 * joined + 2 * u64::from(PLANES) >= programs, "{joined} of {programs} are shared");
}

/// Translation pages go round the planes of all dies in superblocks of their own: updates of the map are as spread as data.
#[test]
fn translation_pages_fill_superblocks_of_their_own() {
    let spec = spec()
        .set("nand.page_size", "2KiB")
        .set("nand.pages_per_block", 16)
        .set("nand.blocks_per_plane", 64);
    let spec = on_demand::cached(spec, 8).holding(6 * 512);
    let mut device = assemble(spec.setup());
    let mut before = 0;
    let mut places = Vec::new();
    // A write to each translation page in turn evicts the oldest entry, whose translation page is programmed then.
    for number in 0..200u64 {
        let page = number % 6 * 512 + number / 6;
        closed_loop(&mut device, 1, [request(Op::Write, page * 4, 4, 0)]);
        let map = device.ftl().map_on_flash().expect("it lies on flash");
        if map.counts().programmed() == before {
            continue;
        }
        before = map.counts().programmed();
        let all = (0..map.translation_pages()).map(Tpn::new);
        let placed = all.flat_map(|of| map.pages_of(of).next());
        places.push(placed.filter_map(|page| device.ftl().look_up(page)).max());
    }
    assert!(places.len() as u32 > 2 * DIES * PLANES, "{} updates", places.len());
    let first = places[0].expect("one was programmed").get();
    let in_order = (0..places.len() as u32).map(|number| Some(Ppn::new(first + number)));
    assert!(places.into_iter().eq(in_order), "one behind the other in their superblock");
    let flash = device.flash().geometry();
    let dies: Vec<_> =
        (0..DIES).map(|die| flash.die_of_page(Ppn::new(first + die * PLANES))).collect();
    assert_eq!(dies.iter().collect::<BTreeSet<_>>().len() as u32, DIES, "round all dies: {dies:?}");
}

/// Blocks that a new device lacked are none of its spare ones. So a device has as many left before it is saved as when it
/// is loaded, and when it comes up after a power cut.
#[test]
fn spare_blocks_are_those_of_the_new_device() {
    let parity = "ftl.parity.policy = dies\nftl.parity.width = 4";
    for (factory, erases, more) in
        [("4%", 0, ""), ("40%", 0, ""), ("10%", 20_000_000, ""), ("10%", 20_000_000, parity)]
    {
        let spec = planes(spec(), 64, 8, 300)
            .with(more)
            .set("ftl.recovery.policy", "scan")
            .set("nand.faults.factory_bad", factory)
            .set("nand.faults.erase_failures", erases);
        let spare = |device: &Device| {
            let life = device.ftl().life().expect("blocks are bad");
            assert!(life.losses().factory_bad > 0);
            (life.available_spare(), life.losses().factory_bad, life.losses().grown_bad)
        };
        let mut device = assemble(spec.setup());
        let new = spare(&device);
        assert_eq!((new.0, new.2), (1.0, 0), "all spare blocks are left");
        fill(&mut device, 64, 0..spec.logical_pages(), 8);
        write(
            &mut device,
            &spec,
            &mut Stream::new(4, "pages"),
            4 * u64::from(spec.logical_pages()),
        );
        device.rest(&mut Vec::new()).expect("it has room");
        let before = spare(&device);
        assert_eq!(before.0 < 1.0, erases > 0, "{factory}: {before:?}");
        let mut loaded = assemble(spec.setup());
        loaded.load(&device.save(), Resume::ALL).expect("it is its own");
        assert_eq!(spare(&loaded), before, "{factory} bad at first, {erases} erases fail, {more}");
        let (recovered, _) = power_up(spec.setup(), (), loaded.cut_power()).expect("its own");
        assert_eq!(
            spare(&recovered),
            before,
            "{factory} bad at first, {erases} erases fail, {more}"
        );
    }
}
