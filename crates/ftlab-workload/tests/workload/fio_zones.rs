//! `zonemode=zbd`: jobs of any shape keep to the rules of a device with zones, and follow fio's.

use std::ops::ControlFlow;

use ftlab::config::{Config, Layer};
use ftlab::device::{Device, DeviceSetup, assemble};
use ftlab::host::zones::ZoneState;
use ftlab::host::{Host, Op, Outcome};
use ftlab_workload::fio::{DriveFacts, JobFile, Surroundings};
use ftlab_workload::replay::{Crew, Limits};

use crate::common::Keep;

struct Nothing;

impl Surroundings for Nothing {
    fn file(&mut self, _: &str) -> Result<String, String> {
        Err("no such file".to_owned())
    }

    fn variable(&mut self, _: &str) -> Option<String> {
        None
    }
}

/// Zones of 2 MiB; with a gap, of 4 MiB; with `sets`.
fn device(sets: &[&str]) -> Device {
    let all = [
        "host.zones.policy=zns",
        "nand.blocks_per_plane=64",
        "ftl.over_provisioning=60%",
        "ftl.streams.policy=zoned",
        "ftl.streams.zone_streams=8",
        "host.zones.max_active=8",
    ];
    let sets = all.iter().chain(sets).enumerate();
    let mut layers = vec![Layer::preset("tiny")];
    layers.extend(sets.map(|(number, set)| Layer::set(number, set)));
    let config = Config::load(&layers).unwrap_or_else(|error| panic!("{:?}", error.problems));
    assemble(DeviceSetup::new(&config, 1))
}

fn parse(options: &str) -> JobFile {
    let head = "[global]\nfilename=/dev/zoned\nzonemode=zbd\nioengine=libaio\n";
    let text = format!("{head}{}\n", options.replace(';', "\n"));
    JobFile::parse("zones.fio", &text, &mut Nothing).unwrap_or_else(|p| panic!("{p}"))
}

/// What the device was asked, in order of completion: operation, first sector, sectors.
fn play(device: &mut Device, options: &str) -> Vec<(Op, u64, u32)> {
    let plan = parse(options).plan_on(&DriveFacts::of(device), 1);
    let plan = plan.unwrap_or_else(|p| panic!("{p}"));
    let mut sink = Keep::default();
    let crew = Crew { host: device, sink: &mut sink, limits: Limits::default() };
    crew.run(plan.groups, &mut |_| ControlFlow::Continue(())).expect("played");
    let completions = || sink.completed.iter().map(|done| done.completion);
    let wrong = completions().find(|done| done.outcome != Outcome::Done);
    assert!(wrong.is_none(), "{options}: {wrong:?}");
    completions().map(|d| (d.request.op, d.request.lba.0, d.request.sectors)).collect()
}

#[test]
fn any_job_keeps_to_the_rules() {
    let jobs = [
        "[a];rw=write;bs=64k;size=100%",
        "[a];rw=write;bs=64k;size=100%;iodepth=16;loops=3",
        "[a];rw=write;bs=48k;size=100%;iodepth=16",
        "[a];rw=write;bsrange=4k-64k;size=100%;iodepth=8",
        "[a];rw=randwrite;bs=64k;size=100%;iodepth=4;loops=2;max_open_zones=4",
        "[a];rw=randwrite;bs=20k;size=100%;norandommap;iodepth=7;max_open_zones=8",
        "[a];rw=randwrite;bs=16k;size=100%;iodepth=4;norandommap",
        "[a];rw=randrw;bs=16k;size=50%;iodepth=8;norandommap;max_open_zones=3",
        "[a];rw=randwrite;bs=16k;size=100%;numjobs=4;iodepth=4;max_open_zones=8;number_ios=500",
        "[a];rw=randwrite;bs=48k;size=100%;numjobs=2;iodepth=4;number_ios=500",
        "[a];rw=write;bs=64k;size=24m;[b];stonewall;rw=randread;bs=4k;size=24m;number_ios=900",
        "[a];rw=randwrite;bs=128k;size=100%;iodepth=4;number_ios=200;[b];rw=randwrite;bs=96k;size=100%;number_ios=300",
        "[a];rw=write;bs=64k;numjobs=8;offset_increment=4m;size=4m;iodepth=2;max_open_zones=3",
    ];
    let gap = ["host.zones.size=4MiB", "host.queues=4", "host.command_time=1us"];
    let conventional = ["host.zones.conventional=3"];
    for sets in [&[][..], &gap, &conventional] {
        for job in jobs {
            let mut device = device(sets);
            let asked = play(&mut device, job);
            let writes = asked.iter().filter(|(op, ..)| *op == Op::Write).count();
            assert!(writes > 20, "{job}: {writes} writes");
            assert_eq!(device.ftl_counts().gc_pages, 0, "{job}");
            assert_eq!(device.audit(), Ok(()), "{job}");
        }
    }
}

/// A zone with a short rest keeps its place until it is finished, so clones that share few places wait for it.
#[test]
fn clones_that_share_few_open_zones_wait_for_finishes() {
    let jobs = [
        "[a];rw=randwrite;bs=48k;size=100%;numjobs=2;iodepth=4;number_ios=500",
        "[a];rw=randwrite;bs=128k;size=100%;iodepth=4;number_ios=200;[b];rw=randwrite;bs=96k;size=100%;number_ios=300",
    ];
    for (most, job) in ["1", "2"].into_iter().flat_map(|most| jobs.map(|job| (most, job))) {
        let (active, open) =
            (format!("host.zones.max_active={most}"), format!("host.zones.max_open={most}"));
        let mut device = device(&[&active, &open]);
        let asked = play(&mut device, job);
        assert!(asked.iter().any(|(op, ..)| *op == Op::ZoneFinish), "none finished");
        assert_eq!(device.audit(), Ok(()), "{most}");
    }
}

/// A job in order fills one zone after the other; a second pass resets each before.
#[test]
fn zones_are_filled_in_order_and_reset_when_they_begin_anew() {
    let mut device = device(&[]);
    let shape = device.zones().expect("zones").rules().shape;
    let (count, size) = (u64::from(shape.count), shape.size_sectors());
    let asked = play(&mut device, "[a];rw=write;bs=64k;size=100%;loops=2");
    let expected = |passes: u64| passes * count * size / 128;
    let writes: Vec<u64> =
        asked.iter().filter(|(op, ..)| *op == Op::Write).map(|(_, at, _)| *at).collect();
    assert_eq!(writes.len() as u64, expected(2));
    let once: Vec<u64> = (0..expected(1)).map(|number| number * 128).collect();
    assert_eq!(writes, [once.clone(), once].concat());
    let resets: Vec<u64> =
        asked.iter().filter(|(op, ..)| *op == Op::ZoneReset).map(|(_, at, _)| *at).collect();
    assert_eq!(resets, (0..count).map(|zone| zone * size).collect::<Vec<_>>());
    let full = |zone: &ftlab::host::zones::Zone| zone.state == ZoneState::Full;
    assert!(device.zones().expect("zones").all().iter().all(full));
}

/// A rest that is shorter than a request is finished away, as in fio.
#[test]
fn short_rests_are_finished() {
    let mut device = device(&[]);
    let asked = play(&mut device, "[a];rw=write;bs=96k;size=100%;iodepth=4");
    let counts = *device.zones().expect("zones").counts();
    assert!(counts.finished > 0, "{counts:?}");
    let finishes = asked.iter().filter(|(op, ..)| *op == Op::ZoneFinish).count() as u64;
    assert_eq!(counts.finished, finishes);
}

#[test]
fn no_more_zones_are_open_than_the_job_allows() {
    let mut device = device(&["host.zones.max_active=none", "host.zones.max_open=none"]);
    let shape = device.zones().expect("zones").rules().shape;
    play(
        &mut device,
        "[a];rw=randwrite;bs=16k;size=100%;number_ios=300;norandommap;max_open_zones=3",
    );
    let (open, active) = device.zones().expect("zones").in_use();
    assert!(open <= 3 && active <= 3, "{open} open, {active} active of {}", shape.count);
}

#[test]
fn reads_stay_below_the_write_pointers() {
    let mut device = device(&[]);
    let shape = device.zones().expect("zones").rules().shape;
    let size = shape.size_sectors();
    play(&mut device, "[a];rw=randwrite;bs=16k;size=100%;number_ios=200;max_open_zones=6");
    let pointers: Vec<u64> =
        device.zones().expect("zones").all().iter().map(|zone| zone.written).collect();
    let asked = play(&mut device, "[a];rw=randread;bs=8k;size=100%;number_ios=2000;iodepth=8");
    let reads = asked.iter().filter(|(op, ..)| *op == Op::Read);
    let beyond =
        reads.clone().find(|(_, at, n)| at % size + u64::from(*n) > pointers[(at / size) as usize]);
    assert_eq!((reads.count(), beyond), (2_000, None));
    // Nothing is written, so nothing is read.
    let mut empty = self::device(&[]);
    assert_eq!(play(&mut empty, "[a];rw=randread;bs=8k;size=100%;number_ios=2000").len(), 0);
}

#[test]
fn what_does_not_fit_is_an_error() {
    for (options, says) in [
        ("[a];rw=write;bs=4k;zonesize=3m", "the zones of the device have"),
        ("[a];rw=write;bs=8m", "larger than a zone"),
        ("[a];rw=randwrite;bs=4k;max_open_zones=9", "lets 8 zones be open"),
        ("[a];rw=write;bs=4k;filename=file;size=1m", "a whole device"),
    ] {
        let device = device(&[]);
        let plan = parse(options).plan_on(&DriveFacts::of(&device), 1);
        let problems = plan.err().expect(options).to_string();
        assert!(problems.contains(says), "{problems}");
    }
    // A conventional device needs to be told.
    let plan = parse("[a];rw=write;bs=4k").plan(1 << 20, 1);
    assert!(plan.err().expect("no size").to_string().contains("names no size of zones"));
    assert!(parse("[a];rw=write;bs=4k;zonesize=1m").plan(1 << 20, 1).is_ok());
}

/// Clones whose ranges do not meet share the places of the device: those that find none wait, and end without an error when
/// nobody gives one back.
#[test]
fn clones_without_a_place_end_without_errors() {
    let mut device = device(&["host.zones.max_active=4", "host.zones.max_open=4"]);
    // Half of a zone each, so that no place is given back.
    let asked =
        play(&mut device, "[a];rw=write;bs=64k;numjobs=8;offset_increment=2z;size=1z;io_size=512k");
    let shape = device.zones().expect("zones").rules().shape;
    let zones: std::collections::BTreeSet<u64> =
        asked.iter().map(|(_, at, _)| at / shape.size_sectors()).collect();
    assert_eq!(zones.len(), 4, "{zones:?}");
}

#[test]
fn a_clone_opens_no_more_zones_than_the_job_says() {
    let mut device = device(&["host.zones.max_active=none", "host.zones.max_open=none"]);
    let job = "[a];rw=randwrite;bs=64k;size=100%;norandommap;number_ios=300;numjobs=2;job_max_open_zones=2";
    let shape = {
        play(&mut device, job);
        device.zones().expect("zones")
    };
    let open = shape.all().iter().filter(|zone| zone.state.is_active()).count();
    assert_eq!(open, 4);
}

#[test]
fn sizes_may_be_in_zones() {
    for sets in [&[][..], &["host.zones.size=4MiB"]] {
        let asked = |job| play(&mut device(sets), job);
        let zone = device(sets).zones().expect("zones").rules().shape.size_sectors();
        let asked_of = |job| asked(job).iter().map(|it| it.1 / zone).collect::<Vec<_>>();
        let each = |zones: &[u64]| zones.iter().flat_map(|&zone| [zone; 16]).collect::<Vec<_>>();
        assert_eq!(asked_of("[a];rw=write;bs=64k;offset=1z;size=2z;io_size=2m"), each(&[1, 2]));
        assert_eq!(
            asked_of("[a];rw=write;bs=64k;size=5z;io_size=3m;zoneskip=1z"),
            each(&[0, 2, 4])
        );
    }
    let text = "[a]\nfilename=/dev/x\nrw=write\nsize=2z\n";
    let problems = JobFile::parse("zones.fio", text, &mut Nothing).expect_err("no zones");
    assert!(problems.to_string().contains("zonemode=zbd"), "{problems}");
}

/// As in fio, a trim has the size of a zone, and random ones end when no zone holds data.
#[test]
fn trims_reset_whole_zones() {
    let mut device = device(&["host.zones.size=4MiB"]);
    let job = "[a];rw=write;bs=64k;size=3z;io_size=3m;[b];stonewall;rw=randtrim;bs=4m;size=100%;number_ios=90;norandommap";
    let asked = play(&mut device, job);
    let mut resets: Vec<u64> =
        asked.iter().filter(|it| it.0 == Op::ZoneReset).map(|it| it.1 / 8192).collect();
    resets.sort_unstable();
    assert_eq!(resets, [0, 1, 2]);
    for size in ["64k", "2m", "8m"] {
        let plan =
            parse(&format!("[a];rw=trim;bs={size};size=4z")).plan_on(&DriveFacts::of(&device), 1);
        let problems = plan.err().unwrap_or_else(|| panic!("{size} is taken"));
        assert!(problems.to_string().contains("a trim resets a zone"), "{problems}");
    }
}
