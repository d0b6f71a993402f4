//! Every format: what its lines mean, how it is detected, and that what is written reads back.

use ftlab::host::Op;
use ftlab::units::{Lba, SimTime};
use ftlab_workload::replay::{Arrival, Next, Source};
use ftlab_workload::trace::{
    BlkEvent, ConvertOptions, FORMATS, Facts, Location, Options, Record, TimeUnit, Trace,
    TraceError, convert, inspect, named, open,
};
use proptest::prelude::*;

fn text(content: &str) -> Location {
    Location::Memory("test".to_owned(), content.to_owned().into())
}

fn read_all(trace: &mut Trace) -> Result<Vec<Record>, TraceError> {
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    while trace.next_batch(&mut batch)? {
        all.extend_from_slice(&batch);
    }
    Ok(all)
}

fn read_with(content: &str, options: Options) -> (Vec<Record>, Facts) {
    let mut trace = open(text(content), options).unwrap_or_else(|error| panic!("{error}"));
    let records = read_all(&mut trace).unwrap_or_else(|error| panic!("{error}"));
    (records, trace.facts())
}

/// Reads without options; the format must be detected.
fn read(content: &str, format: &str) -> Vec<Record> {
    let (records, facts) = read_with(content, Options::default());
    assert_eq!(facts.format, format);
    assert!(facts.assumed.iter().any(|text| text.starts_with("format: ")));
    records
}

fn record(ns: u64, op: Op, lba: u64, sectors: u32, stream: u32) -> Record {
    Record { at: SimTime(ns), op, lba: Lba(lba), sectors, stream, fua: false }
}

#[test]
fn msr() {
    let lines =
        "128166372003061629,src,3,Read,1024,4096,55\r\n128166372003061639,src,3,Write,0,512,7\r\n";
    let expected = [record(0, Op::Read, 2, 8, 3), record(1_000, Op::Write, 0, 1, 3)];
    assert_eq!(read(lines, "msr"), expected);
    let header = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n";
    assert_eq!(read(&format!("\u{feff}{header}{lines}"), "msr"), expected);
}

#[test]
fn spc() {
    let lines = "0,20941264,8192,W,0.551706\n1,20939840,3584,r,0.554041,extra\n";
    assert_eq!(
        read(lines, "spc"),
        [record(0, Op::Write, 20_941_264, 16, 0), record(2_335_000, Op::Read, 20_939_840, 7, 1)]
    );
}

#[test]
fn disksim_is_told_by_its_decimal_point_and_reads_are_bit_0_of_hexadecimal_flags() {
    let lines = "0.500000 2 100 8 1\n1.000001\t2\t200\t16\t0\n1.5 2 300 8 b\n2.0 2 300 8 1a\n";
    assert_eq!(
        read(lines, "disksim"),
        [
            record(0, Op::Read, 100, 8, 2),
            record(500_001, Op::Write, 200, 16, 2),
            record(1_000_000, Op::Read, 300, 8, 2),
            record(1_500_000, Op::Write, 300, 8, 2),
        ]
    );
}

#[test]
fn ssdsim_with_and_without_hashes() {
    let expected = [record(0, Op::Write, 40, 8, 1), record(9, Op::Read, 48, 16, 1)];
    assert_eq!(read("5 1 40 8 0\n14 1 48 16 1\n", "ssdsim"), expected);
    assert_eq!(read("5 1 40 8 0 00ffab\n14 1 48 16 1 77\n", "ssdsim"), expected);
}

#[test]
fn mqsim_is_read_when_named_and_otherwise_assumed_to_be_ssdsim() {
    let lines = "5 1 40 8 0\n14 1 48 16 1\n";
    let forced = Options::default().with_format("mqsim").expect("known");
    let (records, facts) = read_with(lines, forced);
    assert_eq!(facts.format, "mqsim");
    let (same, facts) = read_with(lines, Options::default());
    assert_eq!(records, same);
    assert!(facts.assumed.iter().any(|text| text.contains("SSDsim and not MQSim")));
}

#[test]
fn blkparse_counts_issues_or_else_queued_events() {
    let lines = "  8,16   1        1     0.000000000   100  Q  WS 80 + 8 [sh]\n  \
                 8,16   1        2     0.000000300   100  G  WS 80 + 8 [sh]\n  \
                 8,16   1        3     0.000001000   100  P   N [sh]\n  \
                 8,16   1        4     0.000002000   100  m   N cfq100 insert\n  \
                 8,16   1        5     0.000003000   100  D  WS 80 + 16 [sh]\n  \
                 8,16   1        6     0.000004000   100  D  RA 8 + 8 [sh]\n  \
                 8,16   1        7     0.000005000   100  D  DS 1024 + 2048 [sh]\n  \
                 8,16   1        8     0.000006000   100  D  FN [sh]\n  \
                 8,16   1        9     0.000007000   100  D FWFS 16 + 8 [sh]\n  \
                 8,16   1       10     0.000009000     0  C  WS 80 + 16 [0]\n\
                 CPU1 (sda):\n Reads Queued:           1,        4KiB\t Writes Queued: 2\n\n\
                 Total (sda):\n Throughput (R/W): 1KiB/s / 2KiB/s\n";
    let stream = 8 << 20 | 16;
    assert_eq!(
        read(lines, "blkparse"),
        [
            record(0, Op::Write, 80, 16, stream),
            record(1_000, Op::Read, 8, 8, stream),
            record(2_000, Op::Trim, 1024, 2048, stream),
            Record::flush(SimTime(3_000), stream),
            Record { fua: true, ..record(4_000, Op::Write, 16, 8, stream) },
        ]
    );
    let queued = Options { blkparse_event: Some(BlkEvent::Queue), ..Options::default() };
    let (records, facts) = read_with(lines, queued);
    assert_eq!(records, [record(0, Op::Write, 80, 8, stream)]);
    assert!(facts.warnings.iter().any(|text| text.contains("5 issue events")));
    let (records, facts) =
        read_with(lines.split_inclusive('\n').next().expect("a line"), Options::default());
    assert_eq!(records, [record(0, Op::Write, 80, 8, stream)]);
    assert!(facts.assumed.iter().any(|text| text.contains("no issue events (D)")));
}

#[test]
fn fio_version_2_has_waits_or_no_times_at_all() {
    let lines = "fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/b add\n/dev/a write 4096 8192\n\
                 /dev/a wait 150 0\n/dev/b read 0 512\n/dev/b sync 0 0\n/dev/a wait 50 0\n\
                 /dev/a trim 0 1048576\n/dev/a close\n";
    let expected = [
        record(0, Op::Write, 8, 16, 0),
        record(150_000, Op::Read, 0, 1, 1),
        Record::flush(SimTime(150_000), 1),
        record(200_000, Op::Trim, 0, 2048, 0),
    ];
    assert_eq!(read(lines, "fio-v2"), expected);
    let timeless = "fio version 2 iolog\nf add\nf open\nf read 0 4096\nf read 4096 4096\nf close\n";
    let (records, facts) = read_with(timeless, Options::default());
    assert_eq!(records.len(), 2);
    assert!(facts.assumed.iter().any(|text| text.contains("arrive at time 0")));
}

#[test]
fn fio_version_3_counts_microseconds() {
    let lines = "fio version 3 iolog\n10 /dev/a add\n10 /dev/a open\n25 /dev/a read 0 4096\n\
                 27 /dev/a datasync 0 0\n40 /dev/a close\n";
    let expected = [record(0, Op::Read, 0, 8, 0), Record::flush(SimTime(2_000), 0)];
    assert_eq!(read(lines, "fio-v3"), expected);
}

#[test]
fn alibaba() {
    let lines =
        "419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,1577808144360813\n";
    let expected = [
        record(0, Op::Write, 17_173_304, 32, 419),
        record(46_000, Op::Read, 115_449_856, 704, 725),
    ];
    assert_eq!(read(lines, "alibaba"), expected);
    let header = "device_id,opcode,offset,length,timestamp\n";
    assert_eq!(read(&format!("{header}{lines}"), "alibaba"), expected);
}

#[test]
fn tencent_has_its_flag_the_other_way_round() {
    let lines = "1538323201,10,8,0,77\n1538323200,20,16,1,78\n";
    assert_eq!(
        read(lines, "tencent"),
        [record(0, Op::Write, 20, 16, 78), record(1_000_000_000, Op::Read, 10, 8, 77)]
    );
}

#[test]
fn systor_passes_over_rows_without_a_type() {
    let lines = "Timestamp,Response,IOType,LUN,Offset,Size\n\
                 1455592560.000000000,0.000500000,R,2,4096,8192\n\
                 1455592560.000001000,0.000500000,,2,0,512\n\
                 1455592561.500000000,0.000500000,W,2,512,512\n";
    let expected = [record(0, Op::Read, 8, 16, 2), record(1_500_000_000, Op::Write, 1, 1, 2)];
    assert_eq!(read(lines, "systor"), expected);
    let (_, facts) = read_with(lines, Options::default());
    assert!(
        facts.assumed.iter().any(|text| text.starts_with("1 row without a type is no request"))
    );
}

#[test]
fn units_and_flags_can_be_overridden() {
    let options = Options { time_unit: Some(TimeUnit::Us), invert_ops: true, ..Options::default() };
    let (records, facts) = read_with("5 0 40 8 0\n14 0 48 16 1\n", options);
    assert_eq!(records, [record(0, Op::Read, 40, 8, 0), record(9_000, Op::Write, 48, 16, 0)]);
    assert!(facts.assumed.iter().any(|text| text == "times count microseconds, as said"));
}

#[test]
fn slight_disorder_is_sorted_and_counted() {
    let mut lines = String::new();
    for step in 0..1_000_u64 {
        // Pairs in the wrong order, across a batch boundary of the window.
        lines += &format!("{} 0 {step} 8 1\n", 1_000 + (step ^ 1) * 10);
    }
    let options = Options { order_window: 4, ..Options::default() };
    let (records, facts) = read_with(&lines, options);
    assert!(records.is_sorted_by_key(|record| record.at));
    assert_eq!((records.len(), facts.out_of_order), (1_000, 500));
    assert_eq!((records[0].at, records[0].lba), (SimTime(0), Lba(1)));
}

#[test]
fn any_compression_reads_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = "0,100,4096,w,0.5\n0,108,4096,r,0.75\n0,108,512,r,1.25\n";
    let (plain, _) = read_with(lines, Options::default());
    for ending in ["gz", "zst", "bz2", "xz"] {
        let path = folder.path().join(format!("trace.spc.{ending}"));
        let mut trace = open(text(lines), Options::default()).expect("readable");
        convert(&mut trace, named("spc").expect("known"), &path, ConvertOptions::default())
            .unwrap_or_else(|error| panic!("{error}"));
        assert_ne!(std::fs::read(&path).expect("there"), lines.as_bytes());
        let mut trace = open(path.as_path(), Options::default()).expect("readable");
        assert_eq!(read_all(&mut trace).expect("readable"), plain);
        assert_ne!(trace.facts().compression, ftlab_workload::trace::Compression::None);
    }
}

/// Generates a record that every format can hold; with `all`, also trims and flushes.
fn any_record(all: bool) -> impl Strategy<Value = (u64, Op, u64, u32, u32, bool)> {
    let op = prop_oneof![
        4 => Just(Op::Read),
        4 => Just(Op::Write),
        u32::from(all) => Just(Op::Trim),
        u32::from(all) => Just(Op::Flush),
    ];
    let fua = if all { any::<bool>().boxed() } else { Just(false).boxed() };
    (0..5_000_000_000_u64, op, 0..1_u64 << 40, 1..4_096_u32, 0..5_u32, fua)
}

/// Returns ordered records that begin at time 0.
fn trace_of(parts: Vec<(u64, Op, u64, u32, u32, bool)>) -> Vec<Record> {
    let mut at = 0;
    let with_time = |(index, (step, op, lba, sectors, stream, fua))| {
        at += if index == 0 { 0 } else { step };
        match op {
            Op::Flush => Record::flush(SimTime(at), stream),
            op => {
                let fua = fua && op == Op::Write;
                Record { at: SimTime(at), op, lba: Lba(lba), sectors, stream, fua }
            }
        }
    };
    parts.into_iter().enumerate().map(with_time).collect()
}

/// Applies what a format may change: times are cut to its clock, and fio numbers files as they
/// appear.
fn expected(format: &str, tick: u64, records: &[Record]) -> Vec<Record> {
    let mut files: Vec<u32> = Vec::new();
    let renumbered = |stream| {
        if !format.starts_with("fio") {
            return stream;
        }
        let known = files.iter().position(|file| *file == stream);
        known.unwrap_or_else(|| {
            files.push(stream);
            files.len() - 1
        }) as u32
    };
    let streams: Vec<u32> = records.iter().map(|record| record.stream).map(renumbered).collect();
    let cut = |(record, stream): (&Record, u32)| Record {
        at: SimTime(record.at.0 / tick * tick),
        stream,
        ..*record
    };
    records.iter().zip(streams).map(cut).collect()
}

/// Formats records as blkparse text, which holds everything, so that they can be opened as a trace.
fn as_blkparse(records: &[Record]) -> String {
    let line = |record: &Record| {
        let (s, ns) = (record.at.0 / 1_000_000_000, record.at.0 % 1_000_000_000);
        let range = format!("{} + {}", record.lba.0, record.sectors);
        let (letter, range) = match record.op {
            Op::Read => ("R", range),
            Op::Write if record.fua => ("WFS", range),
            Op::Write => ("W", range),
            Op::Trim => ("D", range),
            _ => ("FN", String::new()),
        };
        format!("0,{} 0 1 {s}.{ns:09} 1 D {letter} {range} [x]\n", record.stream)
    };
    records.iter().map(line).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn what_is_written_reads_back(
        plain in prop::collection::vec(any_record(false), 2..40),
        mixed in prop::collection::vec(any_record(true), 2..40),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        for format in FORMATS.iter().filter(|format| format.is_written()) {
            let all = matches!(format.name, "parquet" | "blkparse" | "fio-v2" | "fio-v3");
            let mut records = trace_of(if all { mixed.clone() } else { plain.clone() });
            if format.name.starts_with("fio") {
                records.iter_mut().for_each(|record| record.fua = false);
            }
            let origin = text(&as_blkparse(&records));
            let options = Options { accept_implausible: true, ..Options::default() };
            let mut trace = open(origin, options.clone()).expect("readable");
            let path = folder.path().join(format.name);
            let written = convert(&mut trace, format, &path, ConvertOptions::default());
            let written = written.unwrap_or_else(|error| panic!("{error}"));
            prop_assert_eq!(written.requests, records.len() as u64);

            let forced = options.with_format(format.name).expect("known");
            let mut back = open(path.as_path(), forced).unwrap_or_else(|error| panic!("{error}"));
            let read = read_all(&mut back).unwrap_or_else(|error| panic!("{error}"));
            let known = expected(format.name, format.tick.0, &records);
            prop_assert_eq!(&read, &known, "{}", format.name);
        }
    }
}

#[test]
fn the_digest_is_of_the_content_and_not_of_the_container() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = "7 0 40 8 0\n14 3 48 16 1\n14 0 48 16 1\n";
    let digest = |location: Location| {
        let mut trace = open(location, Options::default()).expect("readable");
        inspect(&mut trace).expect("readable").digest
    };
    let known = digest(text(lines));
    for name in ["parquet", "disksim", "blkparse", "spc", "ssdsim.gz"] {
        let path = folder.path().join(name);
        let format = named(name.trim_end_matches(".gz")).expect("known");
        let mut trace = open(text(lines), Options::default()).expect("readable");
        let done = convert(&mut trace, format, &path, ConvertOptions::default()).expect("written");
        assert_eq!((done.digest.as_str(), done.rounded_times), (known.as_str(), 0));
        assert_eq!(digest(path.as_path().into()), known, "{name}");
    }
    assert_ne!(digest(text("7 0 40 8 0\n14 3 48 16 1\n15 0 48 16 1\n")), known);
}

#[test]
fn a_trace_is_a_source_to_replay_and_keeps_its_facts() {
    let mut trace = open(text("5 1 40 8 0\n14 1 48 16 1\n"), Options::default()).expect("readable");
    let mut source = trace.as_source();
    let mut arrivals = Vec::new();
    while let Next::Request(arrival) = source.next().expect("readable") {
        arrivals.push(arrival);
    }
    drop(source);
    let expected = [record(0, Op::Write, 40, 8, 1), record(9, Op::Read, 48, 16, 1)];
    assert_eq!(arrivals, expected.map(Arrival::from));
    assert_eq!(trace.facts().requests, 2);
}

#[test]
fn an_inspection_has_the_promised_keys() {
    let lines = "1000,h,0,Read,0,4096,1\n2000,h,0,Write,512,4096,1\n3000,h,0,Write,8192,8192,1\n";
    let mut trace = open(text(lines), Options::default()).expect("readable");
    let seen = inspect(&mut trace).expect("readable");
    let json = serde_json::to_value(&seen).expect("serializable");
    let expected = serde_json::json!({
        "format": "msr", "requests": 3, "reads": 1, "writes": 2, "read_bytes": 4096,
        "write_bytes": 12288, "span_bytes": 16384, "touched_pages_4k": 4, "duration_ns": 200_000,
        "out_of_order": 0, "unaligned_4k": 1, "warnings": [], "min_lba": 0, "max_lba_end": 32,
        "streams": 1, "compression": "none", "max_requests_in_1s": 3,
        "sizes": [
            {"up_to_bytes": 4096, "reads": 1, "writes": 1},
            {"up_to_bytes": 8192, "reads": 0, "writes": 1},
        ],
    });
    for (key, value) in expected.as_object().expect("an object") {
        assert_eq!(&json[key], value, "{key}");
    }
}
