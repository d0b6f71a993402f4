//! Statistics of whole runs against sums made by hand.

mod notes;

use ftlab::config::{Config, Layer};
use ftlab::device::{Device, DeviceSetup, assemble};
use ftlab::engine::Stream;
use ftlab::host::{Advanced, Completion, Host, Op, Request};
use ftlab::scheduler::{Kind, Origin};
use ftlab::stats::{AgedBefore, Circumstances, Recorder, Report, Verdict};
use ftlab::units::{Lba, SECTOR_BYTES, SimTime};

const PAGE_SECTORS: u32 = 8;

fn device(sets: &[&str]) -> Device {
    let mut layers = vec![Layer::preset("tiny")];
    layers.extend(sets.iter().enumerate().map(|(at, set)| Layer::set(at + 1, set)));
    let config = Config::load(&layers).expect("a good config");
    assemble(DeviceSetup::new(&config, 1))
}

/// Random requests of a page, one after another; completions are recorded and kept.
fn run(device: &mut Device, requests: u64, reads_percent: u64) -> (Recorder, Vec<Completion>) {
    let mut random = Stream::new(3, "requests");
    let mut recorder = Recorder::new(device);
    recorder.phase_started("only", true, device);
    let pages = device.capacity_sectors() / u64::from(PAGE_SECTORS);
    let mut all = Vec::new();
    for _ in 0..requests {
        let op = if random.below(100) < reads_percent { Op::Read } else { Op::Write };
        play(op, random.below(pages), &mut recorder, device, &mut all);
    }
    recorder.phase_ended(device);
    (recorder, all)
}

/// Plays one request of a page; its completion is recorded and kept.
fn play(
    op: Op,
    page: u64,
    recorder: &mut Recorder,
    device: &mut Device,
    all: &mut Vec<Completion>,
) {
    let lba = Lba(page * u64::from(PAGE_SECTORS));
    let request = Request { op, lba, sectors: PAGE_SECTORS, stream: 0, tag: 0, fua: false };
    device.submit(device.now(), request);
    let mut done = Vec::new();
    while device.advance_until(SimTime::FOREVER, &mut done) == Advanced::Completed {
        recorder.look(device);
        for completion in done.drain(..) {
            recorder.record(&completion, completion.submitted);
            all.push(completion);
        }
    }
}

fn report(recorder: &Recorder, device: &Device) -> Report {
    recorder.report(device, &Circumstances::default())
}

#[test]
fn the_report_agrees_with_sums_made_by_hand() {
    let mut device = device(&[]);
    let (recorder, all) = run(&mut device, 40_000, 30);
    let report = report(&recorder, &device);
    for (op, name) in [(Op::Read, "read"), (Op::Write, "write")] {
        let mut ns: Vec<u64> =
            all.iter().filter(|done| done.request.op == op).map(|done| done.latency().0).collect();
        ns.sort_unstable();
        let (_, stated) = report.host.ops().into_iter().find(|(known, _)| *known == name).unwrap();
        assert_eq!(stated.requests, ns.len() as u64);
        assert_eq!(stated.bytes, ns.len() as u64 * 4096);
        let sum: u64 = ns.iter().sum();
        assert_eq!(stated.latency_ns.mean, Some(sum as f64 / ns.len() as f64));
        assert_eq!(stated.latency_ns.max.unwrap().0, *ns.last().unwrap());
        let exact = ns[(ns.len() as f64 * 0.99).ceil() as usize - 1] as f64;
        let p99 = stated.latency_ns.p99.unwrap().0 as f64;
        assert!((p99 - exact).abs() <= exact * 0.001, "{name}: {p99} against {exact}");
        assert_eq!(stated.latency_ns.p99_99, None, "forty thousand are too few");
        let shares: f64 = stated.time_share_ratio.unwrap().all().iter().sum();
        assert!((shares - 1.0).abs() < 1e-9);
    }
    let programs = device.flash().done().iter().map(|kinds| kinds[1]).sum::<u64>();
    let written = report.host.write.bytes;
    let amplification = (programs * 4096) as f64 / written as f64;
    assert_eq!(report.write_amplification.total_ratio, Some(amplification));
    // A mapping unit is a flash page here and nothing is buffered: both definitions agree.
    assert_eq!(report.write_amplification.ftl_ratio, Some(amplification));
    assert!(amplification > 1.2, "collection must have run: {amplification}");
    let (first, last) = (all.first().unwrap().submitted, all.last().unwrap().finished);
    assert_eq!(report.host.duration_ns, (last - first).0);
    let erases: u32 = device.ftl().blocks().all_erases().sum();
    let blocks = f64::from(device.flash().geometry().blocks());
    assert_eq!(report.wear.erases_per_block_mean, f64::from(erases) / blocks);
    assert_eq!(report.gc.erased_blocks, u64::from(erases));
}

/// The rate of a single request would be the reciprocal of its latency: a million a second for a buffered write.
#[test]
fn one_request_has_no_rate() {
    let mut device = device(&[]);
    let (recorder, _) = run(&mut device, 1, 0);
    let one = report(&recorder, &device);
    assert_eq!((one.host.iops, one.host.write.iops, one.phases[0].iops), (None, None, None));
    assert_eq!((one.host.throughput_mb_per_s, one.host.write.throughput_mb_per_s), (None, None));
    // Among others a single one counts.
    let (recorder, _) = run(&mut device, 100, 99);
    let mixed = report(&recorder, &device).host;
    let sum = |read: Option<f64>, write: Option<f64>| read.unwrap() + write.unwrap();
    assert!((1..5).contains(&mixed.write.requests), "{}", mixed.write.requests);
    assert!((sum(mixed.read.iops, mixed.write.iops) / mixed.iops.unwrap() - 1.0).abs() < 1e-9);
    let (recorder, _) = run(&mut device, 2, 0);
    let two = report(&recorder, &device);
    let expected = Some(2.0 / (two.host.duration_ns as f64 / 1e9));
    assert_eq!(
        (two.host.iops, two.host.write.iops, two.phases[0].iops),
        (expected, expected, expected)
    );
}

#[test]
fn the_timeline_loses_nothing_however_often_its_windows_are_merged() {
    let mut device = device(&[]);
    let (recorder, all) = run(&mut device, 40_000, 30);
    let windows: Vec<_> = recorder.timeline().windows().collect();
    assert!((512..=1024).contains(&windows.len()), "{} windows", windows.len());
    let total = |of: fn(&ftlab::stats::Window) -> u64| -> u64 {
        windows.iter().map(|(_, window)| of(window)).sum()
    };
    assert_eq!(total(|w| w.op(Op::Read).requests + w.op(Op::Write).requests), all.len() as u64);
    let latency: u64 = all.iter().map(|done| done.latency().0).sum();
    assert_eq!(total(|w| w.op(Op::Read).latency_sum.0 + w.op(Op::Write).latency_sum.0), latency);
    assert_eq!(total(|w| w.work.host_pages), device.ftl_counts().host_pages);
    assert_eq!(total(|w| w.work.gc_pages), device.ftl_counts().gc_pages);
    let done = device.flash().done();
    assert_eq!(total(|w| w.work.programs), done.iter().map(|kinds| kinds[1]).sum::<u64>());
    let busy: u64 = device.flash().die_busy(device.now()).map(|busy| busy.0).sum();
    assert_eq!(total(|w| w.work.die_busy.0), busy);
    // Each completion lies in the window of its time.
    let length = recorder.timeline().window_length();
    for (start, window) in windows.iter().step_by(97) {
        let inside = |at: SimTime| *start <= at && at < *start + length;
        let count = all.iter().filter(|done| inside(done.finished)).count() as u64;
        assert_eq!(window.op(Op::Read).requests + window.op(Op::Write).requests, count);
    }
}

#[test]
fn verdicts_come_from_what_was_written() {
    let mut fresh = device(&[]);
    let (recorder, _) = run(&mut fresh, 500, 0);
    let early = report(&recorder, &fresh);
    assert_eq!(early.steady_state.verdict, Verdict::GcNeverStarted);
    assert!(early.notes.iter().any(|note| note.contains("never started")), "{:?}", early.notes);

    let mut reading = device(&[]);
    let (recorder, _) = run(&mut reading, 500, 100);
    let unread = report(&recorder, &reading);
    assert_eq!(unread.steady_state.verdict, Verdict::NothingWritten);
    assert_eq!((unread.ftl.unwritten_reads, unread.read_pages), (500, 500));
    assert!(unread.notes.iter().any(|note| note.contains("never been written")));

    // With the preset's few blocks, rounds differ by how many planes happen to collect.
    let mut aged = device(&["nand.blocks_per_plane=128"]);
    let (recorder, _) = run(&mut aged, 80_000, 0);
    let late = report(&recorder, &aged);
    assert_eq!(late.steady_state.verdict, Verdict::Steady, "{:?}", late.steady_state);
    assert_eq!(late.steady_state.last_rounds.len(), 5);
}

/// A verdict on the measurement does not depend on how the device was prepared.
#[test]
fn a_verdict_covers_only_the_measurement() {
    let mut device = device(&["nand.blocks_per_plane=128"]);
    let pages = device.capacity_sectors() / u64::from(PAGE_SECTORS);
    let (mut recorder, _) = run(&mut device, 80_000, 0);
    let mut random = Stream::new(5, "requests");
    let mut done = Vec::new();
    for (name, measured, writes) in [("more", false, 20_000), ("short", true, 300)] {
        recorder.phase_started(name, measured, &device);
        for _ in 0..writes {
            let lba = Lba(random.below(pages) * u64::from(PAGE_SECTORS));
            let write = Request {
                op: Op::Write,
                lba,
                sectors: PAGE_SECTORS,
                stream: 0,
                tag: 0,
                fua: false,
            };
            device.submit(device.now(), write);
            while device.advance_until(SimTime::FOREVER, &mut done) == Advanced::Completed {
                recorder.look(&device);
                done.drain(..).for_each(|done| recorder.record(&done, done.submitted));
            }
        }
        recorder.phase_ended(&device);
    }
    let steady = report(&recorder, &device).steady_state;
    assert_eq!((steady.verdict, steady.rounds), (Verdict::TooLittleWritten, 0));
}

#[test]
fn without_a_buffer_there_are_no_cache_figures_and_with_one_the_hits_add_up() {
    let mut bare = device(&[]);
    let (recorder, _) = run(&mut bare, 100, 0);
    assert_eq!(report(&recorder, &bare).cache, None);

    let mut buffered = device(&["cache.policy=lru", "cache.capacity=1MiB"]);
    let (recorder, all) = run(&mut buffered, 20_000, 50);
    let cache = report(&recorder, &buffered).cache.unwrap();
    let count = |op| all.iter().filter(|done| done.request.op == op).count() as u64;
    assert_eq!(cache.counts.write_hits + cache.counts.write_misses, count(Op::Write));
    assert_eq!(cache.counts.read_hits + cache.counts.read_misses, count(Op::Read));
    assert!(cache.counts.write_hits > 0 && cache.counts.read_hits > 0);
}

#[test]
fn phases_that_are_not_measured_stay_out_of_the_report() {
    let mut device = device(&[]);
    let mut recorder = Recorder::new(&device);
    let mut done = Vec::new();
    for (name, measured, op) in [("fill", false, Op::Write), ("read", true, Op::Read)] {
        recorder.phase_started(name, measured, &device);
        for page in 0..200 {
            let lba = Lba(page * u64::from(PAGE_SECTORS));
            let request = Request { op, lba, sectors: PAGE_SECTORS, stream: 0, tag: 0, fua: false };
            device.submit(device.now(), request);
            while device.advance_until(SimTime::FOREVER, &mut done) == Advanced::Completed {
                recorder.look(&device);
                done.drain(..).for_each(|done| recorder.record(&done, done.submitted));
            }
        }
        recorder.phase_ended(&device);
    }
    let report = report(&recorder, &device);
    assert_eq!((report.host.read.requests, report.host.write.requests), (200, 0));
    assert_eq!(report.flash_commands[Origin::Host][Kind::Program], 0);
    assert_eq!(report.write_amplification.total_ratio, None);
    let names: Vec<_> = report.phases.iter().map(|phase| (&*phase.name, phase.measured)).collect();
    assert_eq!(names, [("fill", false), ("read", true)]);
    assert_eq!(report.phases[0].write_amplification_total_ratio, Some(1.0));
}

/// If only the first requests of a phase are measured, the others count only for the device.
#[test]
fn unmeasured_requests_count_only_for_the_device() {
    let mut device = device(&[]);
    let mut recorder = Recorder::new(&device);
    let (mut done, mut last) = (Vec::new(), SimTime::ZERO);
    recorder.phase_started("only", true, &device);
    for page in 0..200 {
        let lba = Lba(page * u64::from(PAGE_SECTORS));
        device.submit(
            device.now(),
            Request { op: Op::Write, lba, sectors: PAGE_SECTORS, stream: 0, tag: 0, fua: false },
        );
        while device.advance_until(SimTime::FOREVER, &mut done) == Advanced::Completed {
            recorder.look(&device);
            for done in done.drain(..) {
                if page < 50 {
                    last = done.finished;
                    recorder.record(&done, done.submitted);
                } else {
                    recorder.record_unmeasured(&done);
                }
            }
        }
    }
    recorder.phase_ended(&device);
    let report = report(&recorder, &device);
    assert_eq!((report.host.requests, report.host.write.bytes), (50, 50 * 4096));
    assert_eq!(report.host.duration_ns, last.0);
    let requests = |window: &ftlab::stats::Window| window.op(Op::Write).requests;
    let windows = recorder.timeline().windows();
    assert_eq!(windows.map(|(_, window)| requests(window)).sum::<u64>(), 50);
    assert_eq!(report.flash_commands[Origin::Host][Kind::Program], 200);
    let amplification = &report.write_amplification;
    assert_eq!((amplification.host_bytes, amplification.total_ratio), (200 * 4096, Some(1.0)));
    assert_eq!(report.phases[0].unmeasured_requests, 150);
    assert_eq!(report.phases[0].write_amplification_total_ratio, Some(1.0));
    let told =
        |note: &String| note.contains("Only the first requests of only") && note.contains("150");
    assert!(report.notes.iter().any(told), "{:?}", report.notes);
}

#[test]
fn the_map_of_blocks_agrees_with_the_counters() {
    let mut device = device(&[]);
    let (recorder, _) = run(&mut device, 60_000, 0);
    let report = report(&recorder, &device);
    let map = recorder.block_map(&device);
    let geometry = device.flash().geometry();
    assert_eq!(map.len(), geometry.blocks() as usize, "a small device has a row for each block");
    assert!(map.iter().all(|row| row.blocks == 1 && row.states.iter().sum::<u32>() == 1));
    assert!(map.iter().all(|row| row.erases_min == row.erases_max));
    let sum = |of: fn(&ftlab::stats::BlockGroup) -> u64| map.iter().map(of).sum::<u64>();
    assert!(report.ftl.gc_runs > 100);
    assert_eq!(sum(|row| row.measured_collections), report.ftl.gc_runs);
    assert_eq!(sum(|row| row.measured_erases), report.gc.erased_blocks);
    assert_eq!(sum(|row| row.erases), report.gc.erased_blocks);
    assert_eq!(map.iter().map(|row| row.erases_max).max(), Some(report.wear.erases_per_block_max));
    let mapped = (0..device.ftl().logical_pages())
        .filter(|&page| device.ftl().look_up(ftlab::units::Lpn::new(page)).is_some());
    assert_eq!(sum(|row| row.valid), mapped.count() as u64);
    let free: u32 = map.iter().map(|row| row.states[0]).sum();
    let planes = (0..geometry.planes()).map(ftlab::units::PlaneId::new);
    assert_eq!(free, planes.map(|plane| device.ftl().free_blocks(plane)).sum::<u32>());
}

/// Plays random writes of a page as a phase.
fn write(
    recorder: &mut Recorder,
    device: &mut Device,
    (name, measured): (&str, bool),
    writes: u64,
) -> Vec<Completion> {
    let mut random = Stream::new(writes, name);
    let pages = device.capacity_sectors() / u64::from(PAGE_SECTORS);
    let mut all = Vec::new();
    recorder.phase_started(name, measured, device);
    for _ in 0..writes {
        play(Op::Write, random.below(pages), recorder, device, &mut all);
    }
    recorder.phase_ended(device);
    all
}

/// Collection before the measurement is not counted, neither by block nor in the sums. Collection between
/// two measured phases appears only in the map, which counts from the first of them.
#[test]
fn blocks_and_counters_are_counted_from_the_start_of_measuring() {
    let mut device = device(&[]);
    let mut recorder = Recorder::new(&device);
    write(&mut recorder, &mut device, ("age", false), 40_000);
    let before: Vec<(u32, u32)> = {
        let blocks = device.ftl().blocks();
        blocks.all_erases().zip(blocks.all_collections()).collect()
    };
    assert!(before.iter().map(|&(_, collections)| collections).sum::<u32>() > 100);
    let programs_before = device.flash().done().iter().map(|kinds| kinds[1]).sum::<u64>();
    write(&mut recorder, &mut device, ("measured", true), 10_000);
    let check = |recorder: &Recorder, device: &Device, between: u64| {
        let report = report(recorder, device);
        let map = recorder.block_map(device);
        let blocks = device.ftl().blocks();
        for (row, (erases, collections)) in map.iter().zip(&before) {
            let block = device.flash().geometry().block_in(row.plane, row.first);
            assert_eq!(row.erases, u64::from(blocks.erases(block)));
            assert_eq!(row.measured_erases, row.erases - u64::from(*erases));
            let chosen = u64::from(blocks.collections(block));
            assert_eq!(row.measured_collections, chosen - u64::from(*collections));
        }
        let sum = |of: fn(&ftlab::stats::BlockGroup) -> u64| map.iter().map(of).sum::<u64>();
        assert_eq!(sum(|row| row.measured_collections), report.ftl.gc_runs + between);
        assert!(report.ftl.gc_runs > 100 && sum(|row| row.erases) > sum(|row| row.measured_erases));
        report
    };
    let first = check(&recorder, &device, 0);
    let programs = device.flash().done().iter().map(|kinds| kinds[1]).sum::<u64>();
    assert_eq!(first.write_amplification.flash_bytes, (programs - programs_before) * 4096);
    assert_eq!(first.write_amplification.host_bytes, 10_000 * 4096);
    assert_eq!(first.host.write.bytes, 10_000 * 4096);
    write(&mut recorder, &mut device, ("between", false), 10_000);
    let between = recorder.phases().last().expect("a phase").device.ftl.gc_runs;
    write(&mut recorder, &mut device, ("again", true), 10_000);
    let second = check(&recorder, &device, between);
    assert_eq!(second.host.write.bytes, 20_000 * 4096);
}

/// On a device with very many blocks, neighbours in a plane share a row, and none is lost.
#[test]
fn neighbours_share_a_row_of_a_large_map() {
    let mut device = device(&["nand.blocks_per_plane=100001"]);
    let geometry = device.flash().geometry().clone();
    let mut recorder = Recorder::new(&device);
    write(&mut recorder, &mut device, ("only", true), 10);
    let map = recorder.block_map(&device);
    assert!(map.len() <= 1 << 17 && map.len() as u32 > geometry.planes(), "{} rows", map.len());
    let most = map[0].blocks;
    assert!(most > 1 && map.iter().all(|row| (1..=most).contains(&row.blocks)));
    let mut next = (map[0].plane, 0);
    for row in &map {
        // A row starts where the one before ended, or begins a plane.
        assert_eq!(row.first, if row.plane == next.0 { next.1 } else { 0 });
        assert_eq!(row.die, geometry.die_of(row.plane));
        assert_eq!(row.states.iter().sum::<u32>(), row.blocks);
        next = (row.plane, row.first + row.blocks);
    }
    assert_eq!(map.iter().map(|row| row.blocks).sum::<u32>(), geometry.blocks());
    assert_eq!(map.iter().map(|row| row.valid).sum::<u64>(), 10);
}

/// However long a device was prepared, the measurement has hundreds of windows of its own, and no earlier
/// window reaches into it.
#[test]
fn the_measurement_has_windows_of_its_own() {
    let mut device = device(&[]);
    let mut recorder = Recorder::new(&device);
    let before = write(&mut recorder, &mut device, ("age", false), 60_000);
    let boundary = device.now();
    let measured = write(&mut recorder, &mut device, ("measured", true), 6_000);
    let took = device.now() - boundary;
    assert!(took.0 * 8 < boundary.0, "an eighth of the time at most: {} {}", took.0, boundary.0);
    let windows = recorder.timeline().windows().count();
    assert!((512..=1024).contains(&windows), "{windows} windows");
    assert_eq!(recorder.timeline().start(), boundary);
    let mut end = SimTime::ZERO;
    let mut requests = Vec::new();
    for timeline in recorder.timelines() {
        requests
            .push(timeline.windows().map(|(_, window)| window.op(Op::Write).requests).sum::<u64>());
        for (start, _) in timeline.windows() {
            assert_eq!(start, end, "windows follow one another");
            end = start + timeline.length_from(start);
        }
        if requests.len() == 1 {
            assert_eq!(end, boundary, "what prepares the device ends where measuring begins");
        }
    }
    assert!(end >= device.now());
    assert_eq!(requests, [before.len() as u64, measured.len() as u64]);
    let total = |of: fn(&ftlab::stats::Window) -> u64| -> u64 {
        let all = recorder.timelines().flat_map(|timeline| timeline.windows());
        all.map(|(_, window)| of(window)).sum()
    };
    assert_eq!(total(|window| window.work.gc_pages), device.ftl_counts().gc_pages);
    assert_eq!(total(|window| window.work.host_pages), device.ftl_counts().host_pages);
    let counted =
        recorder.timeline().windows().map(|(_, window)| window.work.gc_pages).sum::<u64>();
    assert_eq!(counted, report(&recorder, &device).ftl.gc_pages);
}

/// A request that completes as measuring begins stays in the last window before, with its latency.
#[test]
fn a_completion_at_the_boundary_is_not_lost() {
    let mut device = device(&["host.queues=2"]);
    let mut recorder = Recorder::new(&device);
    recorder.phase_started("before", false, &device);
    let window = recorder.timeline().window_length();
    device.advance_until(SimTime(3 * window.0), &mut Vec::new());
    let request = Request { op: Op::Read, lba: Lba(0), sectors: 8, stream: 1, tag: 0, fua: false };
    let done = Completion {
        request,
        queue: device.queues().of(1),
        submitted: SimTime(0),
        finished: device.now(),
        breakdown: ftlab::host::Breakdown::default(),
        outcome: ftlab::host::Outcome::Done,
    };
    recorder.look(&device);
    recorder.record(&done, SimTime(0));
    recorder.phase_ended(&device);
    recorder.phase_started("measured", true, &device);
    let before = recorder.timelines().next().expect("what came before");
    let reads: Vec<u64> = before.windows().map(|(_, of)| of.op(Op::Read).requests).collect();
    assert_eq!(reads, [0, 0, 1]);
    let queues: Vec<u64> = before.queue_windows().map(|(_, of)| of[1].requests).collect();
    assert_eq!(queues, [0, 0, 1]);
    assert_eq!(before.latency_p99(2, Op::Read), Some(done.finished - SimTime(0)));
    assert_eq!(before.length_from(SimTime(2 * window.0)), window);
}

#[test]
fn the_percentile_of_a_window_bounds_its_latencies() {
    let mut device = device(&[]);
    let (recorder, all) = run(&mut device, 60_000, 30);
    let timeline = recorder.timeline();
    let length = timeline.window_length().0;
    assert!(length > 1 << 20, "windows were merged");
    let mut windows = 0;
    for (at, (start, window)) in timeline.windows().enumerate() {
        let in_window = |done: &&Completion| {
            done.request.op == Op::Write && (start.0..start.0 + length).contains(&done.finished.0)
        };
        let mut ns: Vec<u64> = all.iter().filter(in_window).map(|done| done.latency().0).collect();
        ns.sort_unstable();
        assert_eq!(window.op(Op::Write).requests, ns.len() as u64);
        let stated = timeline.latency_p99(at, Op::Write).map(|p99| p99.0);
        let Some(rank) = ((ns.len() as f64 * 0.99).ceil() as usize).checked_sub(1) else {
            assert_eq!(stated, None);
            continue;
        };
        let (exact, stated) = (ns[rank], stated.unwrap());
        assert!(stated >= exact && stated as f64 <= exact as f64 * 1.063, "{stated} {exact}");
        windows += 1;
    }
    assert!(windows > 100);
}

/// Queues add up to the whole: in sums, in time, and in the parts of latencies.
#[test]
fn queues_sum_to_the_whole() {
    let sets = ["host.queues=3", "host.outstanding=2", "host.command_time=1us"];
    let fair = ["host.arbitration.policy=start-time-fair", "host.arbitration.weights=[1, 2, 4]"];
    let mut device = device(&[&sets[..], &fair].concat());
    let mut recorder = Recorder::new(&device);
    recorder.phase_started("only", true, &device);
    let pages = device.capacity_sectors() / u64::from(PAGE_SECTORS);
    let mut random = Stream::new(3, "requests");
    let (mut all, mut done, mut sent) = (Vec::new(), Vec::new(), 0u32);
    while all.len() < 30_000 {
        while device.requests_in_flight() < 12 && sent < 30_000 {
            let op = if sent.is_multiple_of(2) { Op::Read } else { Op::Write };
            let lba = Lba(random.below(pages) * u64::from(PAGE_SECTORS));
            let stream = random.below(3) as u32;
            let request = Request { op, lba, sectors: PAGE_SECTORS, stream, tag: sent, fua: false };
            device.submit(device.now(), request);
            sent += 1;
        }
        device.advance_until(SimTime::FOREVER, &mut done);
        recorder.look(&device);
        for completion in done.drain(..) {
            recorder.record(&completion, completion.submitted);
            all.push(completion);
        }
    }
    recorder.phase_ended(&device);
    let report = report(&recorder, &device);
    assert_eq!(report.host.requests, 30_000);
    for queue in &report.host.queues {
        let of = || all.iter().filter(|done| done.queue.get() == queue.queue);
        assert_eq!(queue.requests, of().count() as u64);
        // All requests are of one size.
        let share = queue.bytes_share_ratio.expect("bytes were moved");
        assert!((share - queue.requests as f64 / 30_000.0).abs() < 1e-9, "{queue:?}");
        let (bytes, seconds) = (queue.requests * 4096, report.host.duration_ns as f64 / 1e9);
        let rate = queue.throughput_mb_per_s.expect("it took time");
        assert!((rate / (bytes as f64 / 1e6 / seconds) - 1.0).abs() < 1e-9, "{queue:?}");
        let slowest = of().filter(|done| done.request.op == Op::Read).map(Completion::latency);
        assert_eq!(queue.read.latency_ns.max, slowest.max());
    }
    let weights: Vec<u32> = report.host.queues.iter().map(|queue| queue.weight).collect();
    assert_eq!(weights, [1, 2, 4]);
    let fairness = report.host.fairness.expect("three queues were used");
    let share = |queue: &ftlab::stats::QueueReport| {
        (queue.read.bytes + queue.write.bytes) as f64 / f64::from(queue.weight)
    };
    let shares: Vec<f64> = report.host.queues.iter().map(share).collect();
    let (sum, squares) = (shares.iter().sum::<f64>(), shares.iter().map(|x| x * x).sum::<f64>());
    let (least, most) = (shares[2], shares[0]);
    assert_eq!(fairness.queues, 3);
    assert!((fairness.jain_bytes_ratio.unwrap() - sum * sum / (3.0 * squares)).abs() < 1e-12);
    assert_eq!(fairness.jain_bytes_ratio, fairness.jain_requests_ratio, "all are of one size");
    assert!((fairness.min_over_max_bytes_ratio.unwrap() - least / most).abs() < 1e-12);
    let bytes: f64 = report.host.queues.iter().filter_map(|queue| queue.bytes_share_ratio).sum();
    let shares: f64 = report.host.queues.iter().map(|queue| queue.weight_share_ratio).sum();
    assert!((bytes - 1.0).abs() < 1e-9 && (shares - 1.0).abs() < 1e-9);
    let read = report.host.read.time_share_ratio.expect("reads took time");
    assert!(read.submission > 0.0 && read.front_end > 0.0 && read.link == 0.0, "{read:?}");
    // Each window of the time series is the sum of its rows, however often windows were merged.
    let timeline = recorder.timeline();
    let windows: Vec<u64> = timeline
        .windows()
        .map(|(_, window)| window.op(Op::Read).requests + window.op(Op::Write).requests)
        .collect();
    let rows: Vec<u64> = timeline
        .queue_windows()
        .map(|(_, queues)| queues.iter().map(|queue| queue.requests).sum())
        .collect();
    assert!(windows.len() > 500, "{}", windows.len());
    assert_eq!(windows, rows);
}
