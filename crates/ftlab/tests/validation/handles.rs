//! Flexible data placement: one handle is like none, handles stay apart as they promise, through collection, trims, power cuts and
//! images, and units are counted as a naive model counts them.

use std::collections::BTreeMap;

use ftlab::device::{Device, UnknownHandle, assemble, power_up};
use ftlab::engine::Stream;
use ftlab::ftl::streams::fdp::{LoggedEvent, PlacementEvent};
use ftlab::host::{Completion, Host, Op, Request};
use ftlab::image::Resume;
use ftlab::units::{Bytes, Lpn};

use crate::common::{Spec, closed_loop, fill, request};

/// Sectors of a flash page, which is a mapping unit here.
const PAGE: u32 = 8;

fn spec(handles: u32, isolation: &str) -> Spec {
    Spec::small()
        .with(
            "nand.channels = 2
             nand.planes_per_die = 2
             nand.blocks_per_plane = 64
             nand.pages_per_block = 16
             ftl.over_provisioning = 40%
             ftl.placement.policy = dynamic
             ftl.streams.policy = fdp",
        )
        .set("ftl.streams.handles", handles)
        .set("ftl.streams.isolation", isolation)
}

/// Random writes and trims over the whole device, each in a random stream of `handles`.
fn random(spec: &Spec, stream: &mut Stream, handles: u64, count: usize) -> Vec<Request> {
    let pages = u64::from(spec.logical_pages());
    let next = |_| {
        let op = if stream.below(12) == 0 { Op::Trim } else { Op::Write };
        let (first, long) = (stream.below(pages), 1 + stream.below(6));
        let long = long.min(pages - first);
        let page = request(op, first * u64::from(PAGE), long as u32 * PAGE, 0);
        Request { stream: stream.below(handles) as u32, ..page }
    };
    (0..count).map(next).collect()
}

/// What the pages of a device were last written as.
#[derive(Default)]
struct Model(BTreeMap<u64, u8>);

impl Model {
    fn note(&mut self, requests: &[Request]) {
        for request in requests {
            let pages = request.lba.0 / u64::from(PAGE);
            for page in pages..pages + u64::from(request.sectors / PAGE) {
                match request.op {
                    Op::Write => self.0.insert(page, request.stream as u8),
                    _ => self.0.remove(&page),
                };
            }
        }
    }

    /// Compares it with a device at rest. Returns how many pages lie among copies of several handles.
    fn check(&self, device: &Device) -> usize {
        let mut mixed = 0;
        for (&page, &handle) in &self.0 {
            match device.handle_of(Lpn::new(page as u32)) {
                None => mixed += 1,
                Some(found) => assert_eq!(found, handle, "page {page}"),
            }
        }
        mixed
    }
}

/// Plays the requests, and writes back what is left in the buffer.
fn play(device: &mut Device, depth: usize, requests: Vec<Request>) -> Vec<Completion> {
    let done = closed_loop(device, depth, requests);
    closed_loop(device, 1, [request(Op::Flush, 0, 0, 0)]);
    done
}

#[test]
fn one_handle_is_as_none_to_the_nanosecond() {
    for isolation in ["initially", "persistently"] {
        let with = spec(1, isolation).buffered("lru", 16);
        let without = with.clone().set("ftl.streams.policy", "single");
        let without =
            without.without(|path| path.ends_with("handles") || path.ends_with("isolation"));
        let requests = random(&with, &mut Stream::new(3, "load"), 1, 12_000);
        let [one, other] = [with, without].map(|spec| {
            let mut device: Device = assemble(spec.setup());
            let done = play(&mut device, 8, requests.clone());
            (done, *device.ftl_counts(), device.now())
        });
        assert!(one.1.gc_pages > 1_000, "collection copies");
        assert_eq!(one, other);
    }
}

#[test]
fn handles_stay_apart_as_long_as_they_promise() {
    for (isolation, buffer) in [("persistently", 24), ("persistently", 0), ("initially", 24)] {
        let spec = spec(4, isolation);
        let spec = if buffer > 0 { spec.buffered("lru", buffer) } else { spec };
        let mut device: Device = assemble(spec.setup().checking());
        let (mut stream, mut model) = (Stream::new(5, "load"), Model::default());
        for _ in 0..6 {
            let requests = random(&spec, &mut stream, 4, 4_000);
            model.note(&requests);
            play(&mut device, 1, requests);
            let mixed = model.check(&device);
            assert_eq!(mixed > 0, isolation == "initially", "{mixed}");
        }
        assert!(device.ftl_counts().gc_pages > 1_000, "collection copies");
        assert_eq!(device.audit(), Ok(()));
    }
}

/// A page that is written again under another handle while its flash page waits for the read of old data does not take the other
/// pages of that flash page along.
#[test]
fn a_later_write_does_not_move_what_is_on_its_way() {
    let spec = spec(2, "persistently")
        .set("nand.page_size", "16KiB")
        .set("ftl.mapping.unit", "4KiB")
        .buffered("lru", 16);
    let mut device: Device = assemble(spec.setup().checking());
    fill(&mut device, 1, 0..spec.logical_pages(), PAGE);
    let mut stream = Stream::new(13, "load");
    for _ in 0..40 {
        let parts = (0..400).map(|_| {
            let sector = stream.below(160 * u64::from(PAGE));
            let part = request(Op::Write, sector, 1, 0);
            Request { stream: stream.below(2) as u32, ..part }
        });
        // Writes overtake each other, so the device itself keeps the books, and checks them when it rests.
        let parts = parts.collect();
        play(&mut device, 16, parts);
        device.rest(&mut Vec::new()).expect("nothing fails");
    }
}

/// The events in both logs.
fn logged(device: &Device) -> [Vec<LoggedEvent>; 2] {
    let fdp = device.fdp().expect("handles");
    [fdp.host_events().collect(), fdp.controller_events().collect()]
}

#[test]
fn handles_stay_apart_through_power_cuts_and_images() {
    let spec = spec(4, "persistently").set("ftl.recovery.policy", "scan").buffered("lru", 24);
    let mut device: Device = assemble(spec.setup().checking());
    let (mut stream, mut model) = (Stream::new(7, "load"), Model::default());
    let mut copies = 0;
    for round in 0..20 {
        let requests = random(&spec, &mut stream, 4, 1_500);
        model.note(&requests);
        let before = device.ftl_counts().gc_pages;
        play(&mut device, 1, requests);
        copies += device.ftl_counts().gc_pages - before;
        if round % 2 == 0 {
            device = power_up(spec.setup().checking(), (), device.cut_power()).expect("its own").0;
        } else {
            device.rest(&mut Vec::new()).expect("nothing fails");
            let snapshot = device.save();
            let before = logged(&device);
            device = assemble(spec.setup().checking());
            device.load(&snapshot, Resume::ALL).expect("its own image");
            assert_eq!(before, logged(&device), "round {round}");
        }
        assert_eq!(model.check(&device), 0, "round {round}");
    }
    assert!(copies > 1_000, "{copies}");
}

/// A superblock is the reclaim unit. A handle counts down what its unit takes; leaving one early is an event.
#[test]
fn units_are_counted_as_a_naive_model_counts_them() {
    let spec = spec(3, "persistently").set("ftl.superblock.policy", "all");
    let mut device: Device = assemble(spec.setup().checking());
    let Bytes(unit) = device.reclaim_unit();
    let (page, whole) = (u64::from(PAGE) * 512, unit / (u64::from(PAGE) * 512));
    let planes = u64::from(device.flash().geometry().planes());
    assert_eq!(whole, 16 * planes, "the blocks of all planes");
    let mut stream = Stream::new(9, "handles");
    let (mut written, mut early) = ([0_u64; 3], Vec::new());
    let pages = u64::from(spec.logical_pages());
    for number in 0..3_000_u64 {
        let handle = stream.below(3) as usize;
        if stream.below(40) == 0 {
            if written[handle] % whole > 0 {
                let left = (whole - written[handle] % whole) as u32;
                early.push(PlacementEvent::NotFullyWritten { handle: handle as u8, pages: left });
            }
            written[handle] = 0;
            assert_eq!(device.update_handle(handle as u8), Ok(()));
        } else {
            let write = request(Op::Write, number % pages * u64::from(PAGE), PAGE, 0);
            play(&mut device, 1, vec![Request { stream: handle as u32, ..write }]);
            written[handle] += 1;
        }
        for (handle, status) in device.handles().iter().enumerate() {
            let left = (whole - written[handle] % whole) % whole;
            assert_eq!(status.available, Bytes(left * page), "write {number}, handle {handle}");
        }
    }
    assert_eq!(device.update_handle(3), Err(UnknownHandle));
    let fdp = device.fdp().expect("handles");
    assert!(early.len() > 40, "{}", early.len());
    assert_eq!(fdp.placement_counts().not_fully_written, early.len() as u64);
    let told = |event: &PlacementEvent| matches!(event, PlacementEvent::NotFullyWritten { .. });
    let last: Vec<_> = fdp.host_events().map(|logged| logged.event).filter(told).collect();
    assert_eq!(last[..], early[early.len() - last.len()..]);
    assert_eq!(device.audit(), Ok(()));
}

/// Each handle writes a ring of its own, again and again: its units become empty as a whole, and nothing is copied.
#[test]
fn rings_of_their_own_copy_nothing() {
    let amplification = |streams: u32| {
        let spec = spec(4, "initially").set("ftl.superblock.policy", "all");
        let mut device: Device = assemble(spec.setup());
        fill(&mut device, 1, 0..spec.logical_pages(), PAGE);
        let ring = u64::from(spec.logical_pages() / 4);
        let mut stream = Stream::new(11, "rings");
        let mut next = [0_u64; 4];
        let writes = (0..60_000).map(|_| {
            // Rings move at speeds of their own.
            let which = [0, 1, 1, 2, 2, 2, 3, 3, 3, 3][stream.below(10) as usize];
            let page = which as u64 * ring + next[which] % ring;
            next[which] += 1;
            let write = request(Op::Write, page * u64::from(PAGE), PAGE, 0);
            Request { stream: which as u32 % streams, ..write }
        });
        let writes: Vec<_> = writes.collect();
        play(&mut device, 4, writes[..30_000].to_vec());
        let before = *device.ftl_counts();
        play(&mut device, 4, writes[30_000..].to_vec());
        let after = *device.ftl_counts();
        let host = (after.host_pages - before.host_pages) as f64;
        1.0 + (after.gc_pages - before.gc_pages) as f64 / host
    };
    let (apart, together) = (amplification(4), amplification(1));
    assert!(apart < 1.001 && together > 1.05, "{apart} apart, {together} together");
}

/// What a naive host knows of a drive: what it wrote, what the drive programmed and erased, and what it moved.
#[derive(Default)]
struct Books {
    sectors: u64,
    programmed: u64,
    moved: u64,
    erased: u64,
}

impl Books {
    /// Adds what a device at rest did since it came up.
    fn add(&mut self, requests: &[Request], device: &Device) {
        let writes = requests.iter().filter(|request| request.op == Op::Write);
        self.sectors += writes.map(|request| u64::from(request.sectors)).sum::<u64>();
        let counts = device.ftl_counts();
        self.programmed += counts.host_pages + counts.gc_pages + counts.padding;
        self.moved = counts.gc_pages - counts.gc_stale;
        let blocks = device.ftl().blocks();
        let erases: u64 = blocks.all_erases().map(u64::from).sum();
        self.erased = erases * u64::from(blocks.units_per_block());
    }

    fn check(&self, device: &Device, where_from: &str) {
        let page = u64::from(PAGE) * 512;
        let life = device.placement_life().expect("handles");
        assert_eq!(life.host, Bytes(self.sectors * 512), "{where_from}: host");
        assert_eq!(life.media_written, Bytes(self.programmed * page), "{where_from}: written");
        assert_eq!(life.media_erased, Bytes(self.erased * page), "{where_from}: erased");
    }
}

/// Statistics go on through power cuts and images; events too, in two logs, each with its time.
#[test]
fn a_drive_remembers_what_it_wrote_and_what_happened() {
    for superblock in ["none", "all"] {
        let spec = spec(3, "persistently")
            .set("ftl.recovery.policy", "scan")
            .set("ftl.superblock.policy", superblock);
        let mut device: Device = assemble(spec.setup().checking());
        let (mut stream, mut books) = (Stream::new(17, "load"), Books::default());
        for round in 0..12 {
            let came_up = device.now();
            let requests = random(&spec, &mut stream, 4, 2_500);
            play(&mut device, 4, requests.clone());
            device.rest(&mut Vec::new()).expect("nothing fails");
            books.add(&requests, &device);
            books.check(&device, "at rest");
            let moved = device.fdp().expect("handles").placement_counts().moved_pages;
            assert_eq!(moved, books.moved, "{superblock}, round {round}");
            let logs = logged(&device);
            for log in &logs {
                assert!(log.is_sorted_by_key(|event| event.at) && log.len() <= 63);
                assert!(
                    log.iter().any(|event| event.at > came_up),
                    "fresh events have fresh times"
                );
            }
            if round % 3 == 1 {
                let snapshot = device.save();
                device = assemble(spec.setup().checking());
                device.load(&snapshot, Resume::ALL).expect("its own image");
                assert_eq!(logged(&device), logs);
                books.check(&device, "after an image");
                continue;
            }
            let begun = device
                .handles()
                .iter()
                .any(|it| it.available.0 > 0 && it.available.0 % device.reclaim_unit().0 > 0);
            device = power_up(spec.setup().checking(), (), device.cut_power()).expect("its own").0;
            let blocks = device.ftl().blocks();
            let erases: u64 = blocks.all_erases().map(u64::from).sum();
            books.erased = erases * u64::from(blocks.units_per_block());
            books.check(&device, "after a cut");
            let [host, controller] = logged(&device);
            assert_eq!(controller, logs[1], "a cut moves nothing");
            assert!(begun, "some unit is open");
            let reset = LoggedEvent { at: device.now(), event: PlacementEvent::ResetModified };
            assert_eq!(host.last(), Some(&reset));
            assert_eq!(host[..host.len() - 1], logs[0][usize::from(logs[0].len() == 63)..]);
        }
    }
}

/// A unit that is closed because a program on it failed is an event of the controller.
#[test]
fn failed_programs_close_units() {
    let spec = spec(2, "initially").set("nand.faults.program_failures", 1_000_000);
    let mut device: Device = assemble(spec.setup().checking());
    let requests = random(&spec, &mut Stream::new(19, "load"), 2, 4_000);
    play(&mut device, 4, requests);
    let told = device.fdp().expect("handles").placement_counts().implicitly_modified;
    let failures = device.ftl().life().map(|life| life.losses().program_failures);
    assert!(told > 0 && Some(told) <= failures, "{told} of {failures:?}");
}
