//! Requests with physical addresses: timelines drawn by hand on the scheduling paper's machine,
//! ceilings, ordered accesses to one page under every scheduler, and what is refused.

use std::collections::BTreeMap;
use std::ops::Range;

use ftlab::config::{Config, Layer};
use ftlab::device::{Device, DeviceSetup, assemble, assemble_with};
use ftlab::engine::Stream;
use ftlab::host::{Advanced, Completion, Host, Op};
use ftlab::scheduler::{Activity, Kind};
use ftlab::stats::{Circumstances, Recorder};
use ftlab::units::{Nanos, SimTime};
use ftlab_torture::{AnyProbe, Listens};

use crate::common::{Spec, closed_loop, policies, request};
use ftlab_torture::Reference;
use ftlab_torture::Versions;

const US: u64 = 1_000;
/// Pages of a plane of the paper's machine; a die has two planes.
const PLANE: u64 = 2048 * 64;
const DIE: u64 = 2 * PLANE;
/// Sectors of a page.
const PAGE: u64 = 8;

fn paper(sets: &[&str]) -> Device {
    let sets = sets.iter().enumerate().map(|(at, set)| Layer::set(at + 1, set));
    let layers: Vec<Layer> = std::iter::once(Layer::preset("rw-scheduler")).chain(sets).collect();
    let config = Config::load(&layers).unwrap_or_else(|error| panic!("{error}"));
    assert!(config.warnings.is_empty(), "{:?}", config.warnings);
    assemble(DeviceSetup::new(&config, 1))
}

/// Submits operations on pages at times in microseconds; returns when each completes, likewise.
fn play(device: &mut Device, requests: &[(u64, Op, u64)]) -> Vec<u64> {
    let mut done = Vec::new();
    for (tag, &(at, op, page)) in requests.iter().enumerate() {
        let at = SimTime(at * US);
        while device.advance_until(at, &mut done) == Advanced::Completed {}
        let sectors = if op == Op::Flush { 0 } else { PAGE as u32 };
        device.submit(at, request(op, page * PAGE, sectors, tag as u32));
    }
    while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
    done.sort_by_key(|completion| completion.request.tag);
    done.iter().map(|completion| completion.finished.0 / US).collect()
}

/// A transfer takes 10 us, sensing 20 us, a program 200 us.
#[test]
fn commands_take_what_the_paper_says() {
    use Op::{Read, Write};
    let mut device = paper(&[]);
    assert_eq!(device.capacity_sectors(), 8 * DIE * PAGE);
    // Transfer, then program; sense, then transfer, of a page that was never written.
    assert_eq!(play(&mut device, &[(0, Write, 5), (1_000, Read, 7)]), [210, 1_030]);
    // Two writes of one page, one after another, and a read of it between them.
    let same = [(0, Write, 5), (0, Write, 5), (1, Read, 5)];
    assert_eq!(play(&mut paper(&[]), &same), [210, 420, 450]);
    // Two dies share the bus: the second transfer follows the first, and both program together.
    assert_eq!(play(&mut paper(&[]), &[(0, Write, 0), (0, Write, DIE)]), [210, 220]);
    // Two planes of a die do not.
    assert_eq!(play(&mut paper(&[]), &[(0, Write, 0), (0, Write, PLANE)]), [210, 420]);
}

#[test]
fn a_flush_waits_only_for_writes_in_flight_and_a_trim_for_nothing() {
    use Op::{Flush, Trim, Write};
    let requests = [
        (0, Write, 0),
        (0, Write, 0),
        (100, Flush, 0),
        (150, Write, DIE),
        (200, Flush, 0),
        (200, Write, 2 * DIE),
        (300, Trim, 0),
    ];
    // The first flush waits for the second write; the later one also waits for the third, which ends earlier.
    let done = play(&mut paper(&["cache.latency=0ns"]), &requests);
    assert_eq!(done, [210, 420, 420, 360, 420, 410, 300]);
    assert_eq!(play(&mut paper(&["cache.latency=0ns"]), &[(5, Flush, 0)]), [5]);
}

/// A partial page is programmed whole, without a read; a request of several pages completes with the
/// last of them.
#[test]
fn requests_of_any_length_become_commands() {
    let mut device = paper(&[]);
    let end = |device: &mut Device, lba, sectors| {
        let start = device.now();
        let done = closed_loop(device, 1, [request(Op::Write, lba, sectors, 0)]);
        (done[0].finished - start).0 / US
    };
    assert_eq!(end(&mut device, 3, 2), 210);
    // The last page of a die and the first of the next.
    assert_eq!(end(&mut device, DIE * PAGE - 1, 2), 220);
    assert_eq!(end(&mut device, 4, PAGE as u32), 420);
    let done = device.flash().done()[0];
    assert_eq!((done[Kind::Read as usize], done[Kind::Program as usize]), (0, 5));
}

/// Many requests in a row: the bus is busy 10 us for each, and the dies bound the throughput.
#[test]
fn the_bus_moves_each_request_once_and_a_die_bounds_what_it_programs() {
    let mut random = Stream::new(1, "requests");
    let requests: Vec<_> = (0..4_000)
        .map(|tag| {
            let op = if random.below(2) == 0 { Op::Read } else { Op::Write };
            request(op, random.below(8 * DIE) * PAGE, PAGE as u32, tag)
        })
        .collect();
    let mut device = paper(&[]);
    let mut recorder = Recorder::new(&device);
    recorder.phase_started("only", true, &device);
    for done in closed_loop(&mut device, 64, requests.iter().copied()) {
        recorder.record(&done, done.submitted);
    }
    recorder.phase_ended(&device);
    let bus: u64 = device.flash().channel_busy(device.now()).map(|busy| busy.0).sum();
    assert_eq!(bus, 4_000 * 10 * US);
    let report = recorder.report(&device, &Circumstances::default());
    let amplification = &report.write_amplification;
    assert_eq!((amplification.total_ratio, amplification.ftl_ratio), (Some(1.0), Some(1.0)));
    assert_eq!((report.ftl.unwritten_reads, report.ftl.gc_runs), (0, 0));
    assert_eq!(report.read_pages, report.host.read.requests);
    assert_eq!(device.audit(), Ok(()));
    // All to one die: its transfers and programs alternate.
    let one = (0..500).map(|tag| request(Op::Write, u64::from(tag) * PAGE, PAGE as u32, tag));
    let mut device = paper(&[]);
    closed_loop(&mut device, 64, one);
    assert_eq!(device.now().0, 500 * 210 * US);
}

/// A read that may pass writes still waits for the one of its own page, and later reads stay behind
/// it; earlier reads of other pages do not wait.
#[test]
fn a_read_does_not_pass_a_write_of_its_page() {
    use Op::{Read, Write};
    // On one die: 1 is being programmed when the others arrive.
    let requests =
        [(0, Write, 1), (0, Write, 2), (0, Write, 3), (5, Read, 9), (6, Read, 2), (7, Read, 8)];
    // Read 9 goes first; then write 2, the read of it, read 8 behind it, and write 3 last.
    let first = play(&mut paper(&["scheduler.policy=read-first"]), &requests);
    assert_eq!(first, [210, 450, 720, 240, 480, 510]);
    // Both writes are due at the same time, so a read that is not due before one is not before the
    // other either.
    let due = play(&mut paper(&["scheduler.policy=deadline"]), &requests);
    assert_eq!(due, [210, 450, 660, 240, 690, 720]);
    let fifo = play(&mut paper(&[]), &requests);
    assert_eq!(fifo, [210, 420, 630, 660, 690, 720]);
    // A write does not go before an earlier read of its page, whatever the deadlines say.
    let late =
        ["scheduler.policy=deadline", "scheduler.host_read=10ms", "scheduler.host_write=0ns"];
    let requests = [(0, Write, 1), (1, Read, 2), (2, Write, 2), (3, Write, 3)];
    assert_eq!(play(&mut paper(&late), &requests), [210, 240, 450, 660]);
}

/// A program is not suspended for a read of the page that it writes; and while it is suspended for
/// another read, a read of its page is not served.
#[test]
fn a_program_is_not_suspended_for_a_read_of_its_page() {
    use Op::{Read, Write};
    let suspend = [
        "scheduler.policy=read-first",
        "scheduler.suspend=program-and-erase",
        "nand.suspend.program=5us",
        "nand.suspend.resume=5us",
    ];
    // Suspended at 50 us for page 2, which is out at 85; page 1 waits for the program, 160 us of it and 5.
    let requests = [(0, Write, 1), (50, Read, 2), (60, Read, 1)];
    assert_eq!(play(&mut paper(&suspend), &requests), [250, 85, 280]);
    let alone = [(0, Write, 1), (50, Read, 1)];
    assert_eq!(play(&mut paper(&suspend), &alone), [210, 240]);
}

/// The flash pages that the cells worked on, in order.
#[derive(Clone, Debug, Default)]
struct Seen(Vec<(Kind, u32, SimTime)>);

impl Listens for Seen {
    fn cell(&mut self, activity: &Activity) {
        self.0.push((activity.kind, activity.page.get(), activity.from));
    }
}

/// Random requests that meet on few pages, under every scheduler and every ability of the dies: a read
/// returns what the naive reference says, and each page is accessed in order of arrival.
#[test]
fn every_scheduler_keeps_accesses_to_a_page_in_order() {
    let mut overtaken = 0;
    let small = Spec::small().set("nand.dies_per_chip", 2).set("nand.planes_per_die", 2);
    let abilities = [
        "nand.multi_plane.read = on
        nand.multi_plane.program = on",
        "nand.cache_ops.read = on
        nand.cache_ops.program = on",
        "nand.suspend.program = 0ns
        nand.suspend.resume = 0ns
        scheduler.suspend = program-and-erase
        scheduler.suspend_limit = 3
        scheduler.suspend_reads = 4",
    ];
    // One that follows free blocks needs translation.
    let mut schedulers = policies("scheduler.policy");
    schedulers.retain(|policy| *policy != "read-first-with-space");
    for (number, scheduler) in (0..).zip(schedulers) {
        for variant in 0..8 {
            let has = |bit: &usize| variant >> bit & 1 != 0;
            let some = (0..3).filter(has).map(|bit| abilities[bit]);
            let spec = some.fold(small.clone(), Spec::with).physical();
            let spec = spec.set("scheduler.policy", scheduler);
            overtaken += meet(&spec, number * 8 + variant);
        }
    }
    assert!(overtaken > 1_000, "hardly anything overtakes: {overtaken}");
}

/// Plays some hundred requests, in bursts; returns how many reads completed before an earlier write.
fn meet(spec: &Spec, seed: u64) -> usize {
    let geometry = spec.geometry();
    let versions = Versions::new(geometry.physical_pages(), spec.sectors_per_page()).in_place();
    let mut device = assemble_with(spec.setup(), AnyProbe::new(Seen::default()), versions);
    let mut judge = Judge::new(device.capacity_sectors());
    let mut random = Stream::new(seed, "requests");
    // Mostly pages of one die, on both of its planes.
    let pages = device.capacity_sectors() / PAGE;
    let mut at = SimTime::ZERO;
    for tag in 1..=600 {
        let page = [random.below(4), pages / 4 + random.below(4), random.below(pages)];
        let page = page[random.below(3) as usize];
        let op = if random.below(2) == 0 { Op::Read } else { Op::Write };
        let (first, sectors) = (page * PAGE + random.below(PAGE), 1 + random.below(2 * PAGE));
        let end = (first + sectors).min(device.capacity_sectors());
        if random.below(12) == 0 {
            at = at + Nanos(random.below(4_000) * US);
        }
        judge.advance(&mut device, at);
        judge.submit(&mut device, at, op, first..end, tag);
    }
    judge.advance(&mut device, SimTime::FOREVER);
    assert_eq!(device.requests_in_flight(), 0, "{spec:?}");
    judge.overtaken
}

/// The naive reference beside the device.
struct Judge {
    reference: Reference,
    flying: BTreeMap<u32, (u64, Op, Range<u64>)>,
    overtaken: usize,
}

impl Judge {
    fn new(sectors: u64) -> Judge {
        Judge { reference: Reference::new(sectors), flying: BTreeMap::new(), overtaken: 0 }
    }

    fn submit(
        &mut self,
        device: &mut Device<AnyProbe, Versions>,
        at: SimTime,
        op: Op,
        range: Range<u64>,
        tag: u32,
    ) {
        let begun = match op {
            Op::Write => self.reference.begin(range.clone(), tag),
            _ => self.reference.tick(),
        };
        let sectors = (range.end - range.start) as u32;
        device.submit(at, request(op, range.start, sectors, tag));
        self.flying.insert(tag, (begun, op, range));
    }

    fn advance(&mut self, device: &mut Device<AnyProbe, Versions>, limit: SimTime) {
        let mut done = Vec::new();
        while device.advance_until(limit, &mut done) == Advanced::Completed {}
        for (Completion { request, .. }, found) in device.contents_mut().take_finished() {
            let (begun, op, range) = self.flying.remove(&request.tag).expect("it was submitted");
            if op == Op::Write {
                let oldest = self.flying.values().map(|&(begun, ..)| begun).min();
                self.reference.end(range, begun, oldest.unwrap_or(u64::MAX));
                continue;
            }
            // Stricter than the reference, which knows no order among requests in flight.
            for &(sector, version) in &found {
                let newest = self.newest_before(sector, request.tag);
                assert!(version >= newest, "sector {sector}: {version}, after write {newest} came");
                assert!(version < request.tag, "sector {sector}: write {version} came later");
            }
            let judged = self.reference.check_read(&range, &found, begun);
            judged.unwrap_or_else(|error| panic!("{error}"));
            let earlier = self.flying.range(..request.tag);
            self.overtaken += earlier.filter(|(_, (_, op, _))| *op == Op::Write).count().min(1);
        }
    }

    /// The last write of a sector that is in flight and came before number `tag`.
    fn newest_before(&self, sector: u64, tag: u32) -> u32 {
        let earlier = self.flying.range(..tag).rev();
        let mut writes =
            earlier.filter(|(_, (_, op, range))| *op == Op::Write && range.contains(&sector));
        writes.next().map_or(0, |(&tag, _)| tag)
    }
}

/// Options without a meaning are refused at once, with a remedy.
#[test]
fn what_has_no_meaning_without_translation_is_refused() {
    let sets = [
        "ftl.mapping.policy=physical",
        "ftl.mapping.unit=2KiB",
        "ftl.over_provisioning=7%",
        "cache.policy=lru",
        "nand.faults.program_failures=100000",
        "nand.faults.factory_bad=1%",
        "nand.endurance.policy=fixed",
        "nand.endurance.cycles=100",
        "ftl.gc.victim=fifo",
        "ftl.placement.policy=static",
        "ftl.wear.policy=bet",
        "ftl.streams.policy=sepbit",
        "scheduler.suspend=erase",
        "nand.suspend.erase=5us",
        "nand.multi_plane.erase=on",
        "nand.timing.policy=ispp",
    ];
    let sets: Vec<Layer> =
        sets.iter().enumerate().map(|(at, set)| Layer::set(at + 1, set)).collect();
    let layers: Vec<Layer> = std::iter::once(Layer::preset("rw-scheduler")).chain(sets).collect();
    let refused = Config::load(&layers).expect_err("all of that");
    insta::assert_snapshot!(refused);
}
