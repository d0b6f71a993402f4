//! When collection works, and how much at a time: each trigger does what it says. The random devices
//! of `contents.rs` have all triggers and check that none of them loses data or gets a device stuck.

use ftlab::device::{Device, assemble};
use ftlab::engine::Stream;
use ftlab::ftl::gc::{Purpose, Wanted};
use ftlab::host::{Advanced, Completion, Host, Op, Request};
use ftlab::scheduler::{Kind, Origin};
use ftlab::shape::Geometry;
use ftlab::units::{BlockId, PlaneId, SimTime};

use crate::common::{BLOCKS, PROGRAM, Spec, closed_loop, fill, poisson, request, timed};

/// One plane that collects at a third of its blocks free, so that triggers have room to show.
fn roomy() -> Spec {
    let spec = Spec::small().set(BLOCKS, 32).set("ftl.gc.start", 8).set("ftl.gc.stop", 9);
    spec.holding(200)
}

/// Collection after 7 ms without requests, up to `UP_TO` free blocks.
const BACKGROUND: &str = "ftl.gc.background.collect = on
    ftl.gc.background.after = 7ms
    ftl.gc.background.blocks = 12";
const AFTER: u64 = 7_000_000;
const UP_TO: u32 = 12;

/// Writes `count` random pages one after another.
fn scribble(device: &mut Device, spec: &Spec, count: u32) -> Vec<Completion> {
    let sectors = spec.sectors_per_page();
    let mut stream = Stream::new(3, "pages");
    let pages = u64::from(spec.logical_pages());
    let next = (0..count)
        .map(|tag| request(Op::Write, stream.below(pages) * u64::from(sectors), sectors, tag));
    closed_loop(device, 1, next)
}

fn used(spec: &Spec) -> Device {
    let mut device = assemble(spec.setup());
    fill(&mut device, 1, 0..spec.logical_pages(), spec.sectors_per_page());
    scribble(&mut device, spec, 1_000);
    device
}

fn runs(device: &Device, purpose: Purpose) -> u64 {
    device.ftl_counts().by_purpose[purpose as usize].runs
}

/// An idle device collects after the configured time, up to the configured number of free blocks,
/// and then becomes idle.
#[test]
fn an_idle_device_collects_in_the_background() {
    let spec = roomy().with(BACKGROUND);
    let mut device = assemble(spec.setup());
    fill(&mut device, 1, 0..spec.logical_pages(), spec.sectors_per_page());
    // Back-to-back writes leave no time.
    let plane = PlaneId::new(0);
    let mut done = Vec::new();
    let before = runs(&device, Purpose::Background);
    let sectors = spec.sectors_per_page();
    for page in 0..150 {
        device.submit(device.now(), request(Op::Write, page * u64::from(sectors), sectors, 0));
        while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Completed {}
    }
    assert_eq!(runs(&device, Purpose::Background), before, "the host was never idle");
    let (idle_since, free) = (device.now(), device.ftl().free_blocks(plane));
    assert!(free < UP_TO, "{free} free blocks need no collection");
    let just_before = SimTime(idle_since.0 + AFTER - 1);
    assert_eq!(device.advance_until(just_before, &mut done), Advanced::Reached);
    assert_eq!(runs(&device, Purpose::Background), before, "too early");
    assert_eq!(device.advance_until(SimTime::FOREVER, &mut done), Advanced::Idle);
    assert!(runs(&device, Purpose::Background) > before);
    assert_eq!(device.ftl().free_blocks(plane), UP_TO);
    assert_eq!(device.ftl().audit(), Ok(()));
}

/// What was collected in idle time need not be collected while the host waits: with pauses between
/// bursts, writes wait less.
#[test]
fn bursts_find_room_after_background_collection() {
    let worst = |background| {
        let spec = Spec::small().set(BLOCKS, 32).with(background).holding(200);
        let mut device = used(&spec);
        let (start, sectors) = (device.now(), spec.sectors_per_page());
        let mut stream = Stream::new(6, "bursts");
        let bursts = (0..40u64).flat_map(|burst| (0..40u64).map(move |at| (burst, at)));
        let writes = bursts.map(|(burst, at)| {
            let arrival = start.0 + burst * 1_000_000_000 + at * 2 * PROGRAM.0;
            let page = stream.below(u64::from(spec.logical_pages()));
            (SimTime(arrival), request(Op::Write, page * u64::from(sectors), sectors, 0))
        });
        let mut sum = 0;
        timed(&mut device, writes.collect::<Vec<_>>(), |done| sum += done.breakdown.gc.0);
        sum
    };
    let with = worst("ftl.gc.background.collect = on\n ftl.gc.background.after = 1ms");
    let without = worst("");
    assert!(with * 4 < without, "{with} ns behind collection, without background {without} ns");
}

/// A collection that paused because the host came back does not block other uses of the plane, however
/// long the host stays.
#[test]
fn a_background_collection_does_not_hold_up_what_others_want() {
    let spec = roomy().with(BACKGROUND).set("ftl.gc.copies_in_flight", 1);
    let mut device = used(&spec);
    let (plane, sectors) = (PlaneId::new(0), spec.sectors_per_page());
    let (mut stream, mut done) = (Stream::new(4, "pages"), Vec::new());
    let mut alone = |device: &mut Device, op, page: u64| {
        device.submit(device.now(), request(op, page * u64::from(sectors), sectors, 0));
        while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Completed {}
    };
    while device.ftl().free_blocks(plane) >= UP_TO {
        alone(&mut device, Op::Write, stream.below(u64::from(spec.logical_pages())));
    }
    let begun = SimTime(device.now().0 + AFTER + 1);
    assert_eq!(device.advance_until(begun, &mut Vec::new()), Advanced::Reached);
    let paused = device.ftl().collecting(plane).expect("it collects in the background");
    (0..2_000).for_each(|_| alone(&mut device, Op::Read, 0));
    assert_eq!(device.ftl().collecting(plane), Some(paused), "the host keeps it paused");
    let mut blocks = (0..spec.shape().blocks_per_plane).map(BlockId::new);
    let purpose = Purpose::WearLevel;
    assert!(blocks.any(|block| device.collect(Wanted { block, purpose })), "some block is closed");
    (0..2_000).for_each(|_| alone(&mut device, Op::Read, 0));
    assert_eq!(
        (runs(&device, purpose), device.ftl().collecting(plane)),
        (1, None),
        "both are over"
    );
    assert_eq!(device.ftl().audit(), Ok(()));
}

/// A host read that arrives while copies wait goes first, whatever the order of commands, as long as
/// enough blocks are free; then it waits for one command at most. At the hard limit it does not go first.
#[test]
fn preemptible_collection_lets_reads_go_first() {
    let mean = |preemptible, hard_limit| {
        let spec = roomy()
            .set("ftl.gc.preemptible", preemptible)
            .set("ftl.gc.hard_limit", hard_limit)
            .set("ftl.gc.copies_in_flight", 8);
        let mut device = used(&spec);
        let start = device.now();
        let sectors = spec.sectors_per_page();
        let mut stream = Stream::new(8, "mix");
        let arrivals = poisson(5, 2_500_000.0).map(|at| SimTime(start.0 + at.0));
        let mixture = arrivals.take(4_000).map(|at| {
            let op = if stream.below(2) == 0 { Op::Read } else { Op::Write };
            let page = stream.below(u64::from(spec.logical_pages()));
            (at, request(op, page * u64::from(sectors), sectors, 0))
        });
        let (mut sum, mut count) = (0, 0);
        timed(&mut device, mixture.collect::<Vec<_>>(), |done| {
            if done.request.op == Op::Read {
                sum += done.breakdown.gc.0;
                count += 1;
            }
        });
        sum / count
    };
    let (plain, yielding, late) = (mean("off", 1), mean("on", 1), mean("on", 31));
    assert!(yielding * 2 < plain, "{yielding} ns behind collection, {plain} ns without yielding");
    assert_eq!(late, plain, "at the limit nothing is different");
}

/// With one copy a write, the copies of a collection come one by one between the writes.
#[test]
fn increments_follow_the_writes_of_the_host() {
    let spec = roomy().set("ftl.gc.copies_per_write", 1).set("ftl.gc.hard_limit", 1);
    let mut device = used(&spec);
    let mut stream = Stream::new(9, "pages");
    let sectors = spec.sectors_per_page();
    let mut done = Vec::new();
    let copies = |device: &Device| device.flash().done()[Origin::Gc as usize][Kind::Read as usize];
    for _ in 0..500 {
        let before = copies(&device);
        let page = stream.below(u64::from(spec.logical_pages()));
        device.submit(device.now(), request(Op::Write, page * u64::from(sectors), sectors, 0));
        while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Completed {}
        // One for this write, and one that an earlier write allowed and that was in flight.
        assert!(copies(&device) - before <= 2, "{} copies", copies(&device) - before);
    }
}

/// In pauses that end with the next request a collection stays where it is; at the end of a run the
/// device finishes it.
#[test]
fn increments_wait_for_the_next_request() {
    let spec = roomy().set("ftl.gc.copies_per_write", 1).set("ftl.gc.hard_limit", 1);
    let mut device = used(&spec);
    let (plane, sectors) = (PlaneId::new(0), spec.sectors_per_page());
    let (mut stream, mut done) = (Stream::new(9, "pages"), Vec::new());
    let mut kept = 0;
    for _ in 0..500 {
        let page = stream.below(u64::from(spec.logical_pages()));
        device.submit(device.now(), request(Op::Write, page * u64::from(sectors), sectors, 0));
        while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Completed {}
        let before = device.ftl().collecting(plane);
        let pause = SimTime(device.now().0 + 1_000_000_000);
        device.advance_until(pause, &mut done);
        assert_eq!(device.now(), pause);
        kept += u32::from(before.is_some() && device.ftl().collecting(plane) == before);
    }
    assert!(kept > 100, "{kept} collections outlast a pause");
    assert_eq!(device.advance_until(SimTime::FOREVER, &mut done), Advanced::Idle);
    assert_eq!(device.ftl().collecting(plane), None);
    assert_eq!(device.ftl().audit(), Ok(()));
}

/// How often a plane began to collect while another of its `group` with few free blocks did not.
fn alone(scope: &str, group: impl Fn(&Geometry, PlaneId) -> u32) -> u32 {
    let spec = roomy().with(
        "nand.channels = 2
        nand.dies_per_chip = 2
        nand.planes_per_die = 2",
    );
    let spec = spec.set("ftl.gc.scope", scope).holding(8 * 200);
    let stop = spec.config().options.ftl.gc.stop;
    let (mut device, geometry) = (used(&spec), spec.geometry());
    let all: Vec<PlaneId> = (0..geometry.planes()).map(PlaneId::new).collect();
    let sectors = spec.sectors_per_page();
    let mut stream = Stream::new(9, "pages");
    let (mut alone, mut done, mut before) = (0, Vec::new(), all.clone());
    for _ in 0..2_000 {
        let page = stream.below(u64::from(spec.logical_pages()));
        device.submit(device.now(), request(Op::Write, page * u64::from(sectors), sectors, 0));
        while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Completed {}
        let ftl = device.ftl();
        let works = |plane: &PlaneId| ftl.collecting(*plane).is_some();
        let has_few = |plane: &PlaneId| ftl.free_blocks(*plane) <= stop;
        let now: Vec<PlaneId> = all.iter().copied().filter(works).collect();
        for begun in now.iter().filter(|plane| !before.contains(plane)) {
            let of = |plane: &PlaneId| group(&geometry, *plane);
            let others = all.iter().filter(|plane| of(plane) == of(begun));
            alone += u32::from(others.into_iter().any(|plane| has_few(plane) && !works(plane)));
        }
        before = now;
    }
    assert_eq!(device.ftl().audit(), Ok(()));
    alone
}

/// When one plane begins to collect, the others of its scope do too, unless they have blocks to spare.
#[test]
fn planes_of_a_scope_collect_together() {
    let die = |geometry: &Geometry, plane| geometry.die_of(plane).get();
    let channel = |geometry: &Geometry, plane| geometry.channel_of(geometry.die_of(plane)).0.get();
    assert_eq!(alone("die", die), 0);
    assert_eq!(alone("channel", channel), 0);
    assert_eq!(alone("device", |_, _| 0), 0);
    // And it does not happen by itself.
    assert!(alone("plane", die) > 20);
    assert!(alone("die", channel) > 20);
    assert!(alone("channel", |_, _| 0) > 20);
}

/// Whole flash pages are copied without the bus, partial ones with it; write amplification is the same.
#[test]
fn copyback_saves_the_bus() {
    let spec = Spec::small().with(
        "nand.blocks_per_plane = 32
        nand.page_size = 8KiB
        ftl.placement.policy = dynamic
        ftl.gc.copyback = on",
    );
    let spec = spec.buffered("lru", 16).holding(560);
    let work = |spec: &Spec| {
        let device = used(spec);
        let gc = device.flash().done()[Origin::Gc as usize];
        let busy: u64 = device.flash().channel_busy(device.now()).map(|busy| busy.0).sum();
        (gc, busy)
    };
    let (with, bus_with) = work(&spec);
    let (without, bus_without) = work(&spec.set("ftl.gc.copyback", "off"));
    let of = |counts: [u64; Kind::ALL.len()], kind| counts[kind as usize];
    println!("reads, programs, erases, copybacks: {with:?}, without copyback {without:?}");
    assert!(of(with, Kind::Copyback) > 100 && of(without, Kind::Copyback) == 0);
    assert!(of(with, Kind::Program) > 0, "some flash pages are not whole");
    assert!(bus_with < bus_without, "{bus_with} ns on the bus, without copyback {bus_without} ns");
}

/// A stream that finds no room waits for the plane even if another stream has room left on it: its
/// collection does not wait for writes that can't come.
#[test]
fn a_stream_without_room_is_not_kept_waiting() {
    let spec = Spec::small().with(
        "nand.blocks_per_plane = 32
        ftl.streams.policy = by-host-stream
        ftl.gc.copies_per_write = 1
        ftl.gc.hard_limit = 1
        ftl.gc.host_lead = 1000",
    );
    // The host stops writing where collection starts: no configuration allows this.
    let spec = spec.holding(288).changed("thresholds", |setup| setup.ftl.thresholds.reserve = 2);
    let mut device = assemble(spec.setup());
    let sectors = spec.sectors_per_page();
    fill(&mut device, 1, 0..spec.logical_pages(), sectors);
    // The other stream opens a block, and writes no more.
    let (mut done, mut pages) = (Vec::new(), Stream::new(3, "pages"));
    device.submit(device.now(), Request { stream: 1, ..request(Op::Write, 0, sectors, 0) });
    while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
    // Constant reads keep the device from ever being idle.
    let mut any = |op| {
        let page = pages.below(u64::from(spec.logical_pages()));
        request(op, page * u64::from(sectors), sectors, 0)
    };
    let (mut reads, mut writes) = (0, 0);
    [Op::Read, Op::Write].into_iter().for_each(|op| device.submit(device.now(), any(op)));
    while reads < 5_000 {
        done.clear();
        device.advance_until(SimTime::FOREVER, &mut done);
        for completion in &done {
            let op = completion.request.op;
            *(if op == Op::Read { &mut reads } else { &mut writes }) += 1;
            device.submit(device.now(), any(op));
        }
    }
    assert!(writes > 500, "{writes} writes beside {reads} reads");
}
