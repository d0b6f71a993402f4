//! Superblocks: amplification as the mean field has it for blocks of their size, writes at what dies can take while
//! collection goes on, and erases of whole superblocks.

use ftlab::device::{Device, assemble};
use ftlab::engine::Stream;
use ftlab::host::{Host, Op};
use ftlab::nand::Kind;
use ftlab::scheduler::Origin;

use crate::common::{ERASE, PROGRAM, READ, Spec, closed_loop, fill, request};
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
