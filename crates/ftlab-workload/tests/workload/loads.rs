//! Loads whose data has lifetimes, as they come out of a generator.

use std::ops::ControlFlow;

use ftlab::host::{Op, Request};
use ftlab::units::{Nanos, SECTOR_BYTES};
use ftlab_workload::generate::{Generator, Workload, preset};
use ftlab_workload::replay::{Arrival, Completed, Next, Options, Replay, Source};

use crate::common::{Keep, Model, workload};

/// 64 MiB.
const CAPACITY: u64 = 1 << 17;
const LSM: &str =
    "kind = 'lsm', memtable = '64KiB', file = '64KiB', entry = '300B', levels = 2, ratio = 5";

fn requests(text: &str) -> Vec<Arrival> {
    let mut generator = Generator::new(&workload(&format!("name = 'x'\n{text}")), CAPACITY, 1)
        .unwrap_or_else(|problems| panic!("{problems}"));
    let mut requests = Vec::new();
    loop {
        match generator.next().unwrap_or_else(|error| panic!("{error}")) {
            Next::Request(request) => requests.push(request),
            Next::Phase(_) => {}
            Next::End => return requests,
        }
    }
}

fn problems(phases: &str) -> String {
    let text = format!("name = 'x'\n{phases}");
    let mut none = |_: &str| Err("no files here".to_owned());
    let problems = match Workload::parse("load.toml", &text, &mut none) {
        Err(problems) => problems,
        Ok(workload) => Generator::new(&workload, CAPACITY, 1).expect_err("a mistake"),
    };
    problems.to_string()
}

/// The large engine writes its regions in order and begins anew at the end; the small one writes
/// buckets that it has just read, and only in its own space.
#[test]
fn a_cache_is_buckets_and_a_ring() {
    let load = "kind = 'cache', small_space = '25%', small_bytes = '30%', log_region = '1MiB'";
    let all = requests(&format!(
        "[[phase]]\nreads = '20%'\nwrites = '80%'\nsize = '64KiB'\nrequests = 400000\nload = {{ {load} }}"
    ));
    let log = CAPACITY / 4;
    let (mut expected, mut laps) = (log, 0);
    let mut before = all[0];
    let (mut buckets, mut regions) = (0u64, 0u64);
    for request in &all {
        let (start, sectors) = (request.lba.0, u64::from(request.sectors));
        match (request.op, request.stream) {
            (Op::Write, 2) => {
                assert_eq!((start, sectors), (expected, 128));
                regions += sectors;
                expected += sectors;
                if expected == CAPACITY {
                    (expected, laps) = (log, laps + 1);
                }
            }
            (Op::Write, stream) => {
                assert_eq!((stream, sectors, start % 8), (1, 8, 0));
                assert!(start < log, "{request:?}");
                buckets += 1;
            }
            (Op::Read, stream) => assert_eq!(stream == 2, start >= log, "{request:?}"),
            other => panic!("{other:?}"),
        }
        // A region's write may come between.
        if request.stream == 1 {
            assert!(request.op == Op::Read || before.lba == request.lba, "{request:?}");
            before = *request;
        }
    }
    assert!(laps > 1, "{laps}");
    let (small, large) = (buckets * 300, regions * SECTOR_BYTES);
    let share = small as f64 / (small + large) as f64;
    assert!((share - 0.3).abs() < 0.005, "{share} of the bytes are small");
}

/// A continued load plays as if there were one phase, also if the first one is cut short.
#[test]
fn a_load_goes_on_in_the_next_phase() {
    let phase = |requests, continued| {
        format!(
            "[[phase]]\nwrites = '100%'\nrequests = {requests}\nload = {{ {LSM}{continued} }}\n"
        )
    };
    let whole = requests(&phase(60_000, ""));
    assert!(whole.iter().any(|request| request.op == Op::Trim));
    let parts = phase(25_000, "") + &phase(35_000, ", continued = true");
    assert!(requests(&parts) == whole);
    let text = format!("name = 'x'\n{parts}");
    let mut generator = Generator::new(&workload(&text), CAPACITY, 1).unwrap();
    (0..=500).for_each(|_| _ = generator.next_item());
    generator.skip_phase();
    assert!(matches!(generator.next_item(), Next::Phase(_)));
    assert_eq!(generator.next_item(), Next::Request(whole[500]));
}

/// On a drive that takes long for trims and does 32 requests at once, no space is written before its trim has completed, at every
/// pace and with a tenant beside.
#[test]
fn space_is_written_again_after_its_trim() {
    let files = "kind = 'file-system', temporary_data = '2MiB', largest_file = '1MiB', commit = 20";
    let logs = "kind = 'log-file-system', temporary_data = '2MiB', largest_file = '1MiB', commit = 20, segment = '128KiB'";
    for load in [LSM, files, logs] {
        for arrivals in ["kind = 'closed', queue_depth = 32", "kind = 'poisson', rate = '100000/s'"]
        {
            for beside in [
                "",
                "[[phase]]\nwith_previous = true\nreads = '100%'\nsize = '4KiB'\nrequests = 999\n",
            ] {
                let text = format!(
                    "name = 'x'\n[[phase]]\nwrites = '100%'\nrequests = 30000\nload = {{ {load} }}\n\
                     arrivals = {{ {arrivals} }}\n{beside}"
                );
                let (trims, reused) = trims_and_reuse(&text);
                assert!(
                    trims > 100 && reused > 10,
                    "{text}: {trims} trims, {reused} written again"
                );
            }
        }
    }
}

/// Plays a workload, and returns its trims and how many writes went to space that had been trimmed.
fn trims_and_reuse(text: &str) -> (usize, usize) {
    let mut host = Model::new(32, Nanos::from_micros(50), CAPACITY);
    host.trim = Nanos::from_micros(5000);
    let mut source = Generator::new(&workload(text), CAPACITY, 1).unwrap_or_else(|p| panic!("{p}"));
    let mut sink = Keep::default();
    let replay = Replay {
        host: &mut host,
        source: &mut source,
        sink: &mut sink,
        options: Options::default(),
    };
    replay.run(&mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"));
    let done = |op| sink.completed.iter().filter(move |done| done.completion.request.op == op);
    let sectors = |done: &Completed| {
        let Request { lba, sectors, .. } = done.completion.request;
        lba.0 as usize..lba.0 as usize + sectors as usize
    };
    let mut trims = vec![Vec::new(); CAPACITY as usize];
    for trim in done(Op::Trim) {
        let of = (trim.index, trim.completion.finished);
        trims[sectors(trim)].iter_mut().for_each(|trims| trims.push(of));
    }
    let mut reused = 0;
    for write in done(Op::Write) {
        let before = trims[sectors(write)].iter().flatten().filter(|trim| trim.0 < write.index);
        let last = before.map(|trim| trim.1).max();
        let waits = last.is_none_or(|last| last <= write.completion.submitted);
        assert!(waits, "{text}: {write:?} before the end of a trim at {last:?}");
        reused += usize::from(last.is_some());
    }
    (done(Op::Trim).count(), reused)
}

/// The first requests after the levels have filled, of each built-in load.
#[test]
fn first_requests() {
    let mut lines = String::new();
    for name in ["lsm", "cache", "file-system", "log-file-system"] {
        let workload = workload(preset(name).expect("built in").text);
        let mut generator = Generator::new(&workload, CAPACITY, 1).unwrap();
        let mut phase = 0;
        let mut left = 40;
        while left > 0 {
            match generator.next_item() {
                Next::Phase(_) => phase += 1,
                Next::Request(Arrival { op, lba, sectors, stream, .. }) if phase == 3 => {
                    lines += &format!("{name} {op:?} {} +{sectors} stream {stream}\n", lba.0);
                    left -= 1;
                }
                Next::Request(_) => {}
                Next::End => panic!("{name} ends early"),
            }
        }
    }
    insta::assert_snapshot!(lines);
}

#[test]
fn mistakes_have_a_place_and_a_remedy() {
    let phase = |keys: &str| format!("[[phase]]\nwrites = '100%'\nrequests = 9\n{keys}\n");
    let lsm = |keys: &str| phase(&format!("load = {{ kind = 'lsm', {keys} }}"));
    let cache = |keys: &str| phase(&format!("load = {{ kind = 'cache', {keys} }}"));
    let files = |keys: &str| phase(&format!("load = {{ kind = 'file-system', {keys} }}"));
    let cases = [
        lsm("memtable = '64KiB'"),
        lsm("memtable = '64KiB', file = '8KiB'"),
        lsm("memtable = '64KiB', file = '64KiB', levels = 4"),
        lsm("memtable = '16MiB', file = '64KiB'"),
        lsm("memtable = '64KiB', file = '64KiB', entry = '128KiB'"),
        lsm("bucket = '4KiB'"),
        cache("log_region = '40MiB'"),
        cache("log_region = '8KiB'"),
        cache("log_region = '64KiB', bucket = '6KiB'"),
        cache("small_space = '0%'"),
        cache("small_bytes = '101%'"),
        phase("streams = 2\nload = { kind = 'cache' }"),
        phase("size = '6KiB'\nload = { kind = 'cache' }"),
        phase("address = { kind = 'sequential' }\nload = { kind = 'cache' }"),
        cache("continued = true"),
        "[[phase]]\nreads = '100%'\nrequests = 9\nload = { kind = 'lsm' }".to_owned(),
        files("largest_file = '16MiB'"),
        files("largest_file = '1MiB', journal = '64KiB'"),
        files("largest_file = '1MiB', data = '97%'"),
        files("largest_file = '1MiB', temporary = '101%'"),
        "[[phase]]\nreads = '100%'\nrequests = 9\nload = { kind = 'file-system' }".to_owned(),
        phase("load = { kind = 'log-file-system', largest_file = '1MiB', segment = '16KiB' }"),
        phase(
            "load = { kind = 'log-file-system', largest_file = '1MiB', segment = '64KiB', data = '95%' }",
        ),
    ];
    let told: Vec<String> = cases.iter().map(|case| problems(case)).collect();
    insta::assert_snapshot!(told.join("\n----\n"));
}
