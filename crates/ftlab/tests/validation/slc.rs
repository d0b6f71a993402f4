//! The SLC cache against closed forms: the cost of a page in it and past it, how long it lasts, what
//! folding costs, and how large a dynamic cache is.
//!
//! One die; the bus takes 10 us a page. The cache starts empty, and writes come one at a time, so
//! every latency and every sum is exact unless something runs beside the host.

use ftlab::device::{Device, assemble};
use ftlab::engine::Stream;
use ftlab::ftl::gc::Purpose;
use ftlab::host::{Advanced, Completion, Host, Op, Request};
use ftlab::nand::Kind;
use ftlab::units::{Nanos, PlaneId, SimTime};

use crate::common::caching::small;
use crate::common::{BLOCKS, ONE_BIT, PROGRAM, READ, Spec, closed_loop, request};

const BUS: Nanos = Nanos(10_000);
/// Pages in a block of the small device, and in an SLC block: a third.
const PAGES: u32 = 12;
const SLC_PAGES: u32 = 4;

/// One request at a time; the device is left at the time of the last completion.
fn one_by_one(device: &mut Device, requests: impl IntoIterator<Item = Request>) -> Vec<Nanos> {
    let mut done = Vec::new();
    for (before, request) in requests.into_iter().enumerate() {
        device.submit(device.now(), request);
        while done.len() == before {
            assert_ne!(device.advance_until(SimTime::FOREVER, &mut done), Advanced::Idle);
        }
    }
    done.iter().map(Completion::latency).collect()
}

fn write(device: &mut Device, pages: impl IntoIterator<Item = u32>) -> Vec<Nanos> {
    let next = |page: u32| request(Op::Write, u64::from(page) * 8, 8, page);
    one_by_one(device, pages.into_iter().map(next))
}

fn read(device: &mut Device, page: u32) -> Nanos {
    one_by_one(device, [request(Op::Read, u64::from(page) * 8, 8, 0)])[0]
}

fn pass(device: &mut Device, time: Nanos) {
    let until = device.now() + time;
    while device.advance_until(until, &mut Vec::new()) == Advanced::Completed {}
}

/// Lets the device idle for as long as it likes.
fn rest(device: &mut Device) {
    closed_loop(device, 1, []);
    assert_eq!(device.ftl().audit(), Ok(()));
}

fn folds(device: &Device) -> (u64, u64) {
    let fold = device.ftl_counts().by_purpose[Purpose::Fold as usize];
    (fold.runs, fold.pages)
}

fn bypassed(device: &Device) -> u64 {
    device.ftl().slc_counts().unwrap().bypassed
}

/// The number of free blocks at which collection stops.
fn stop(spec: &Spec) -> u32 {
    spec.config().options.ftl.gc.stop
}

/// The small device with a cache that is folded after this much idle time.
fn folding(policy: &str, idle: &str) -> Spec {
    small()
        .set("ftl.slc_cache.policy", policy)
        .set("ftl.slc_cache.fold_when_idle", "on")
        .set("ftl.slc_cache.fold_after_idle", idle)
}

/// The small device with a cache that no write bypasses.
fn in_the_foreground() -> Spec {
    small().set("ftl.slc_cache.when_full", "fold")
}

#[test]
fn a_page_costs_one_bit_in_the_cache_and_three_past_it() {
    let mut device = assemble(small().setup());
    let fast = write(&mut device, 0..2 * SLC_PAGES);
    assert_eq!(fast, vec![BUS + ONE_BIT.program; 8], "two blocks of four pages");
    assert_eq!(write(&mut device, 8..20), vec![BUS + PROGRAM; 12], "the cliff");
    assert_eq!(read(&mut device, 3), BUS + ONE_BIT.read);
    assert_eq!(read(&mut device, 11), BUS + READ);
    let counts = *device.ftl().slc_counts().unwrap();
    assert_eq!((counts.written, counts.bypassed, counts.read), (8, 12, 1));
    assert_eq!(device.ftl().audit(), Ok(()));
}

/// Without idle time and with writes that bypass it, the cache is filled once and stays full.
#[test]
fn a_fill_takes_the_cache_at_one_bit_and_the_rest_at_three() {
    let spec = small();
    let mut device = assemble(spec.setup());
    let pages = u64::from(spec.logical_pages());
    write(&mut device, 0..spec.logical_pages());
    let fast = u64::from(2 * SLC_PAGES);
    let expected = fast * (BUS + ONE_BIT.program).0 + (pages - fast) * (BUS + PROGRAM).0;
    assert_eq!(device.now(), SimTime(expected));
    assert_eq!(folds(&device), (0, 0));
}

/// When the host waits for the cache, each page costs the die an SLC program, a read and a native
/// program, and each block of four an erase; the die is the bottleneck and never rests.
#[test]
fn folding_in_the_foreground_costs_both_programs() {
    let spec = in_the_foreground();
    let mut device = assemble(spec.setup());
    write(&mut device, 0..2 * SLC_PAGES);
    let (pages, start) = (u64::from(spec.logical_pages() - 2 * SLC_PAGES), device.now());
    write(&mut device, 2 * SLC_PAGES..spec.logical_pages());
    let took = (device.now() - start).0 as f64;
    let page = BUS + ONE_BIT.program + BUS + ONE_BIT.read + BUS + PROGRAM;
    let blocks = pages / u64::from(SLC_PAGES);
    let expected = (pages * page.0 + blocks * ONE_BIT.erase.0) as f64;
    let off = took / expected - 1.0;
    println!("expected {expected} ns, took {took} ns, {:+.2} %", 100.0 * off);
    // At the ends, up to a block is folded that was not written meanwhile, or the other way round.
    assert!(off.abs() < 1.5 / blocks as f64, "{took} instead of {expected}");
    assert_eq!(bypassed(&device), 0);
    let (folded, copied) = folds(&device);
    assert!(copied <= folded * u64::from(SLC_PAGES) && folded + 1 >= blocks);
    assert_eq!(device.ftl().audit(), Ok(()));
}

/// Folding within the die saves both transfers of each page.
#[test]
fn folding_within_the_die_saves_the_bus() {
    let spec = in_the_foreground().set("ftl.slc_cache.fold_inside", "on");
    let mut device = assemble(spec.setup());
    write(&mut device, 0..2 * SLC_PAGES);
    let (pages, start) = (u64::from(spec.logical_pages() - 2 * SLC_PAGES), device.now());
    write(&mut device, 2 * SLC_PAGES..spec.logical_pages());
    let took = (device.now() - start).0 as f64;
    let page = BUS + ONE_BIT.program + ONE_BIT.read + PROGRAM;
    let blocks = pages / u64::from(SLC_PAGES);
    let expected = (pages * page.0 + blocks * ONE_BIT.erase.0) as f64;
    let off = took / expected - 1.0;
    println!("expected {expected} ns, took {took} ns, {:+.2} %", 100.0 * off);
    assert!(off.abs() < 1.5 / blocks as f64, "{took} instead of {expected}");
    let busy: u64 = device.flash().channel_busy(device.now()).map(|busy| busy.0).sum();
    assert_eq!(busy, u64::from(spec.logical_pages()) * BUS.0, "only what the host wrote");
    assert_eq!(device.ftl().audit(), Ok(()));
}

/// Each page leaves the cache at its time, to the nanosecond: a read of one bit and a native program, over the bus with two
/// transfers between them. Each block of four is erased before the next is folded.
#[test]
fn a_page_is_folded_in_a_read_and_a_program() {
    let idle = Nanos(30_000_000);
    let spec = folding("static", "30ms").set("ftl.gc.copies_in_flight", 1);
    for (inside, page) in
        [("on", ONE_BIT.read + PROGRAM), ("off", ONE_BIT.read + BUS + BUS + PROGRAM)]
    {
        let mut device = assemble(spec.clone().set("ftl.slc_cache.fold_inside", inside).setup());
        write(&mut device, 0..2 * SLC_PAGES);
        let began = device.now() + idle;
        for folded in 1..=u64::from(2 * SLC_PAGES) {
            let erases = (folded - 1) / u64::from(SLC_PAGES);
            let done = began + Nanos(folded * page.0 + erases * ONE_BIT.erase.0);
            let before = done - device.now();
            pass(&mut device, Nanos(before.0 - 1));
            assert_eq!(folds(&device).1, folded - 1, "inside: {inside}");
            pass(&mut device, Nanos(1));
            assert_eq!(folds(&device).1, folded, "inside: {inside}");
        }
        rest(&mut device);
        assert_eq!(read(&mut device, 5), BUS + READ);
    }
}

/// Flash pages of two mapping units. The third unit of the first block was written again, so only its first flash page
/// is folded within the die: the other five units are gathered into three programs, from six readings. The second block
/// holds three whole flash pages and the new unit.
#[test]
fn flash_pages_that_are_not_whole_cross_the_bus() {
    let spec = folding("static", "30ms")
        .set("nand.page_size", "8KiB")
        .set("ftl.slc_cache.fold_inside", "on");
    let mut device = assemble(spec.setup());
    let whole = |page: u32| request(Op::Write, u64::from(page) * 16, 16, page);
    one_by_one(&mut device, (0..4).map(whole));
    one_by_one(&mut device, (4..7).map(whole));
    write(&mut device, [2]);
    pass(&mut device, Nanos(200_000_000));
    assert_eq!(folds(&device), (2, 14));
    let done =
        |kind: Kind| -> u64 { device.flash().done().iter().map(|of| of[kind as usize]).sum() };
    assert_eq!((done(Kind::Copyback), done(Kind::Read), done(Kind::Program)), (4, 6, 8 + 4));
    assert_eq!(device.ftl().audit(), Ok(()));
}

/// Dies of one channel fold a full cache as fast as one alone, if they do it on their own; over the bus each page takes
/// two transfers, which the dies share.
#[test]
fn dies_that_fold_on_their_own_do_not_share_a_bus() {
    let idle = Nanos(30_000_000);
    let folding = folding("static", "30ms").set("ftl.placement.policy", "dynamic");
    // 4 KiB take 200 us.
    let folding = folding.set("nand.bus.rate", "20.48MB/s");
    for inside in ["on", "off"] {
        for dies in [1, 2, 4, 8] {
            let spec = folding
                .clone()
                .set("nand.dies_per_chip", dies)
                .set("ftl.slc_cache.fold_inside", inside);
            let mut device = assemble(spec.setup());
            let pages = dies * 2 * SLC_PAGES;
            write(&mut device, 0..pages);
            assert_eq!(bypassed(&device), 0);
            let began = device.now() + idle;
            pass(&mut device, idle);
            while folds(&device).1 < u64::from(pages) {
                pass(&mut device, Nanos(1_000));
            }
            let took = device.now() - began;
            let bytes = u64::from(pages) * 4096;
            println!(
                "inside {inside}, {dies} dies: {took}, {} MB/s",
                bytes as f64 * 1e3 / took.0 as f64
            );
            let alone = 8 * (ONE_BIT.read + PROGRAM).0 + ONE_BIT.erase.0;
            let on_bus = 2 * 200_000 * u64::from(pages);
            match inside {
                // The host is idle for a microsecond at a time.
                "on" => assert!((alone..alone + 2_000).contains(&took.0), "{took}"),
                _ => assert!(took.0 > alone.max(on_bus), "{took}"),
            }
        }
    }
}

#[test]
fn idle_time_brings_the_rate_of_the_cache_back() {
    let idle = Nanos(30_000_000);
    let spec = folding("static", "30ms");
    let mut device = assemble(spec.setup());
    write(&mut device, 0..10);
    pass(&mut device, Nanos(idle.0 - 1));
    assert_eq!(folds(&device).0, 0, "not yet");
    assert_eq!(write(&mut device, [10]), [BUS + PROGRAM], "still full, and idle no more");
    // Eight pages of less than 700 us and two erases.
    pass(&mut device, Nanos(idle.0 + 2 * ONE_BIT.erase.0 + 8 * 700_000));
    assert_eq!(folds(&device), (2, 8));
    assert_eq!(write(&mut device, 11..19), vec![BUS + ONE_BIT.program; 8]);
    assert_eq!(write(&mut device, [19]), [BUS + PROGRAM]);
    assert_eq!(read(&mut device, 2), BUS + READ, "folded");
    assert_eq!(device.ftl().audit(), Ok(()));
}

/// A request during folding: the block in progress is finished, and no other begun.
#[test]
fn folding_stops_when_the_host_is_back() {
    let spec = folding("static", "20ms");
    let mut device = assemble(spec.setup());
    write(&mut device, 0..8);
    pass(&mut device, Nanos(20_100_000));
    read(&mut device, 0);
    pass(&mut device, Nanos(19_000_000));
    assert_eq!(folds(&device), (1, 4));
    rest(&mut device);
    assert_eq!(folds(&device), (2, 8));
}

/// Pages overwritten or trimmed in the cache are not copied.
#[test]
fn overwritten_and_trimmed_pages_save_folding() {
    let spec = folding("static", "1ms");
    let mut device = assemble(spec.setup());
    write(&mut device, [0, 1, 2, 3, 0, 1]);
    one_by_one(&mut device, [request(Op::Trim, 16, 8, 0)]);
    write(&mut device, [4, 5]);
    rest(&mut device);
    // Of 0 1 2 3 only 3 is left; 0 1 4 5 are whole.
    assert_eq!(folds(&device), (2, 5));
    assert_eq!(device.ftl_counts().gc_pages, 5);
}

/// A dynamic cache takes all free blocks except the stop threshold of collection and its own margin.
/// Folded data fills blocks at full density, and the page that bypassed the cache has opened one more.
#[test]
fn a_dynamic_cache_shrinks_as_the_device_fills() {
    for keep_free in [0, 2] {
        let spec = folding("dynamic", "1ms").set("ftl.slc_cache.keep_free", keep_free);
        let at_first = spec.shape().blocks_per_plane - stop(&spec) - keep_free;
        let plane = PlaneId::new(0);
        let (mut device, mut page, mut folded) = (assemble(spec.setup()), 0, 0);
        for round in 0..2 {
            let native = if round == 0 { 0 } else { u32::div_ceil(folded, PAGES) + 1 };
            let expected = at_first - native;
            for _ in 0..expected * SLC_PAGES {
                assert_eq!(write(&mut device, [page]), [BUS + ONE_BIT.program], "{round}, {page}");
                page += 1;
            }
            assert_eq!(device.ftl().slc_blocks(plane), (expected, expected), "round {round}");
            assert_eq!(write(&mut device, [page]), [BUS + PROGRAM], "round {round}, page {page}");
            (page, folded) = (page + 1, folded + expected * SLC_PAGES);
            rest(&mut device);
            assert_eq!(device.ftl().slc_blocks(plane), (0, 0), "all is folded");
            assert_eq!(folds(&device).1, u64::from(folded));
        }
    }
}

/// A plane that runs short of free blocks folds the borrowed ones before it collects anything else.
#[test]
fn what_was_borrowed_is_returned_when_blocks_are_short() {
    let spec = small().set("ftl.slc_cache.policy", "dynamic").set("ftl.slc_cache.keep_free", 0);
    let mut device = assemble(spec.setup());
    write(&mut device, 0..spec.logical_pages());
    let (runs, pages) = folds(&device);
    assert!(runs > 0 && pages == runs * u64::from(SLC_PAGES), "{runs} {pages}");
    assert_eq!(device.ftl_counts().gc_runs, runs, "nothing else is worth it");
    assert_eq!(device.ftl().audit(), Ok(()));
}

/// Its own blocks first, then free ones: of 14, all but the stop threshold of collection and two more.
#[test]
fn a_hybrid_cache_is_both() {
    let spec = small().set("ftl.slc_cache.policy", "hybrid").set("ftl.slc_cache.keep_free", 2);
    let mut device = assemble(spec.setup());
    let blocks = 2 + 14 - stop(&spec) - 2;
    let fast = blocks * SLC_PAGES;
    assert_eq!(write(&mut device, 0..fast), vec![BUS + ONE_BIT.program; fast as usize]);
    assert_eq!(write(&mut device, [fast]), [BUS + PROGRAM]);
    assert_eq!(device.ftl().slc_blocks(PlaneId::new(0)), (blocks, blocks));
}

/// A dynamic cache borrows as many blocks as its limit allows, and not one more.
#[test]
fn a_dynamic_cache_borrows_no_more_than_it_may() {
    let spec = small().set("ftl.slc_cache.policy", "dynamic");
    let spec = spec.set("ftl.slc_cache.most_borrowed", 3);
    let mut device = assemble(spec.setup());
    let fast = 3 * SLC_PAGES;
    assert_eq!(write(&mut device, 0..fast), vec![BUS + ONE_BIT.program; fast as usize]);
    assert_eq!(write(&mut device, [fast]), [BUS + PROGRAM]);
    assert_eq!(device.ftl().slc_blocks(PlaneId::new(0)), (3, 3));
}

/// A burst with many writes in flight: four dies on a bus that carries a page for each while one
/// programs, so each die is always busy: four pages in the time of a transfer and a program.
#[test]
fn the_bandwidth_of_a_burst_is_that_of_the_dies() {
    const DIES: u32 = 4;
    let spec = small().set("ftl.slc_cache.blocks", 50).set("ftl.placement.policy", "dynamic");
    let spec = spec.set("nand.dies_per_chip", DIES).set(BLOCKS, 50 + 64);
    let spec = spec.holding(DIES * 50 * PAGES);
    let mut device = assemble(spec.setup());
    let writes =
        (0..spec.logical_pages()).map(|page| request(Op::Write, u64::from(page) * 8, 8, page));
    let done = closed_loop(&mut device, 64, writes);
    let mut ends: Vec<u64> = done.iter().map(|completion| completion.finished.0).collect();
    ends.sort_unstable();
    let fast = (DIES * 50 * SLC_PAGES) as usize;
    let rate = |from: usize, to: usize| (to - from) as f64 / (ends[to - 1] - ends[from]) as f64;
    let of_dies = |program: Nanos| f64::from(DIES) / (BUS + program).0 as f64;
    // Without the time in which dies switch one by one from one kind of block to the other.
    let edge = 32;
    let parts = [
        ("in the cache", rate(edge, fast - edge), of_dies(ONE_BIT.program)),
        ("past it", rate(fast + edge, ends.len() - edge), of_dies(PROGRAM)),
    ];
    for (part, measured, expected) in parts {
        let off = measured / expected - 1.0;
        println!("{part}: {measured:.6} pages/ns, expected {expected:.6}, {:+.2} %", 100.0 * off);
        assert!(off.abs() < 0.01, "{part}: {measured} instead of {expected}");
    }
}

/// The cost of folding in copies. Pages of a hot set are overwritten at random; the cache is a queue,
/// so a page written n writes ago is still current with the probability (1 - 1/H)^n, and only current
/// pages are copied. The oldest of B blocks is folded when the last one is opened.
#[test]
fn folding_copies_what_outlives_the_queue() {
    const OWN: u32 = 128;
    for hot in [256u32, 512, 1024] {
        let spec = in_the_foreground().set("ftl.slc_cache.blocks", OWN);
        let spec = spec.set(BLOCKS, OWN + 2 * hot / PAGES).holding(hot);
        let mut device = assemble(spec.setup());
        let mut stream = Stream::new(5, "hot");
        let mut next = |count: u32| -> Vec<u32> {
            (0..count).map(|_| stream.below(u64::from(hot)) as u32).collect()
        };
        write(&mut device, 0..hot);
        write(&mut device, next(4 * OWN * SLC_PAGES));
        let before = (folds(&device), device.ftl_counts().host_pages);
        write(&mut device, next(40_000));
        let after = (folds(&device), device.ftl_counts().host_pages);
        let measured = (after.0.1 - before.0.1) as f64 / (after.1 - before.1) as f64;
        let kept = 1.0 - 1.0 / f64::from(hot);
        let ages = (0..SLC_PAGES).map(|place| (OWN - 1) * SLC_PAGES - place);
        let expected = ages.map(|age| kept.powi(age as i32)).sum::<f64>() / f64::from(SLC_PAGES);
        let off = measured / expected - 1.0;
        println!(
            "{hot} hot: {measured:.4} folded a page, expected {expected:.4}, {:+.1} %",
            100.0 * off
        );
        assert!(off.abs() < 0.03, "{measured} instead of {expected}");
        assert_eq!(bypassed(&device), 0);
        assert_eq!(device.ftl().audit(), Ok(()));
    }
}

/// Static wear levelling looks only at blocks of full density: on a load that wears them evenly it moves
/// nothing, however worn the cache's own blocks are.
#[test]
fn wear_levelling_leaves_the_cache_alone() {
    for (policy, limit) in
        [("threshold", "ftl.wear.threshold = 4"), ("bet", "ftl.wear.unevenness = 2")]
    {
        let spec = in_the_foreground().set("ftl.wear.policy", policy).with(limit);
        let mut device = assemble(spec.setup());
        for _ in 0..20 {
            write(&mut device, 0..spec.logical_pages());
        }
        let blocks = device.ftl().blocks();
        let (native, own) = (0..14, 14..16);
        let erases = |range: std::ops::Range<u32>| -> Vec<u32> {
            range.map(|block| blocks.erases(ftlab::units::BlockId::new(block))).collect()
        };
        let (native, own) = (erases(native), erases(own));
        let (least, most) = (native.iter().min().unwrap(), native.iter().max().unwrap());
        assert!(most - least <= 4, "the load itself is even: {native:?}");
        assert!(own.iter().all(|erases| erases > &(most + 100)), "{native:?} {own:?}");
        let moves = device.ftl_counts().by_purpose[Purpose::WearLevel as usize].runs;
        assert_eq!(moves, 0, "{policy}");
        assert_eq!(device.ftl().audit(), Ok(()));
    }
}
