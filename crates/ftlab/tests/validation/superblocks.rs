//! Superblocks: amplification as the mean field has it for blocks of their size, writes at what dies can take while
//! collection goes on, and erases of whole superblocks.

use std::collections::BTreeSet;

use ftlab::device::{Device, assemble};
use ftlab::engine::Stream;
use ftlab::host::{Host, Op};
use ftlab::nand::Kind;
use ftlab::scheduler::Origin;
use ftlab::units::{Ppn, Tpn};

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
        let mut device = assemble(spec.setup());
        let pages = u64::from(spec.logical_pages());
        let mut stream = Stream::new(4, "pages");
        fill(&mut device, 64, 0..spec.logical_pages(), 8);
        write(&mut device, &spec, &mut stream, 6 * pages);
        let before = *device.ftl_counts();
        write(&mut device, &spec, &mut stream, 8 * pages);
        assert_eq!(device.ftl().audit(), Ok(()));
        let after = *device.ftl_counts();
        let host = after.host_pages - before.host_pages;
        let extra = after.gc_pages + after.padding - before.gc_pages - before.padding;
        let measured = (host + extra) as f64 / host as f64;
        let off = 100.0 * (measured / expected - 1.0);
        println!("{percent} %: expected {expected:.4}, measured {measured:.4}, {off:+.2} %");
        assert!(off.abs() < 2.0, "{percent} %: {measured} instead of {expected}");
    }
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
