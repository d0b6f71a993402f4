//! Conversions lose nothing that the target holds, and say what it does not hold: between all pairs of formats that are written,
//! and from every format that is only read to Parquet.

use std::path::{Path, PathBuf};

use ftlab::host::Op;
use ftlab::units::{Lba, SimTime};
use ftlab_workload::trace::{
    ColumnPlan, ConvertOptions, Converted, FORMATS, Format, Location, Options, Record, TraceError,
    TraceWriter, convert, inspect, named, open,
};
use proptest::prelude::*;

const DROP: ConvertOptions = ConvertOptions { drop_unsupported: true };

/// What a format holds besides reads and plain writes.
struct Holds {
    trims: bool,
    flushes: bool,
    forced_writes: bool,
    zones: bool,
    /// Whether streams keep their numbers; else they are numbered as they come.
    numbers: bool,
}

fn holds(format: &Format) -> Holds {
    let (is_parquet, is_blkparse) = (format.name == "parquet", format.name == "blkparse");
    let is_fio = format.name.starts_with("fio");
    Holds {
        trims: is_parquet || is_blkparse || is_fio || format.name == "ssdsim",
        flushes: is_parquet || is_blkparse || is_fio,
        forced_writes: is_parquet || is_blkparse,
        zones: is_parquet,
        numbers: !is_fio,
    }
}

/// The records that a format keeps of these, by its own clock, from the first of them.
fn kept(format: &Format, records: &[Record]) -> Vec<Record> {
    let Holds { trims, flushes, forced_writes, zones, numbers } = holds(format);
    let mut streams = Vec::new();
    let mut all: Vec<Record> = Vec::new();
    for record in records {
        let is_held = match record.op {
            Op::Read | Op::Write => true,
            Op::Trim => trims,
            Op::Flush => flushes,
            _ => zones,
        };
        if !is_held {
            continue;
        }
        let at = SimTime(record.at.0 / format.tick.0 * format.tick.0);
        let fua = record.fua && forced_writes;
        let known = streams.iter().position(|known| *known == record.stream);
        let number = known.unwrap_or_else(|| {
            streams.push(record.stream);
            streams.len() - 1
        });
        let stream = if numbers { record.stream } else { number as u32 };
        all.push(Record { at, fua, stream, ..*record });
    }
    let first = all.first().map_or(0, |record| record.at.0);
    all.iter_mut().for_each(|record| record.at.0 -= first);
    all
}

fn any_record() -> impl Strategy<Value = (u64, Record)> {
    let op = prop_oneof![
        4 => Just(Op::Read),
        4 => Just(Op::Write),
        1 => Just(Op::Trim),
        1 => Just(Op::Flush),
        1 => Just(Op::Append),
        1 => Just(Op::ZoneReset),
    ];
    let step = prop_oneof![0..3_000_u64, 0..5_000_000_000_u64];
    let sectors = prop_oneof![8 => 1..4_096_u32, 1 => 1..=1_u32 << 31];
    let stream = prop_oneof![0..4_u32, any::<u32>()];
    (step, op, 0..1_u64 << 54, sectors, stream, any::<bool>()).prop_map(
        |(step, op, lba, sectors, stream, fua)| {
            let record = match op {
                Op::Flush => Record::flush(SimTime::ZERO, stream),
                _ => Record {
                    at: SimTime::ZERO,
                    op,
                    lba: Lba(lba),
                    sectors,
                    stream,
                    fua: fua && op == Op::Write,
                },
            };
            (step, record)
        },
    )
}

/// Returns records in order that begin with a read, which every format holds.
fn trace_of(parts: Vec<(u64, Record)>) -> Vec<Record> {
    let read =
        Record { at: SimTime::ZERO, op: Op::Read, lba: Lba(0), sectors: 1, stream: 0, fua: false };
    let mut at = 0;
    let later = parts.into_iter().map(|(step, record)| {
        at += step;
        Record { at: SimTime(at), ..record }
    });
    std::iter::once(read).chain(later).collect()
}

fn written(records: &[Record], format: &'static Format, path: &Path) -> Converted {
    let mut writer = TraceWriter::create(path, format, DROP).expect("it is written");
    records.iter().for_each(|record| writer.write(record).expect("it is written"));
    writer.finish().expect("it is complete")
}

fn reading(format: &'static Format) -> Options {
    Options { format: Some(format), accept_implausible: true, ..Options::default() }
}

fn read(format: &'static Format, path: &Path) -> Vec<Record> {
    let mut trace = open(path, reading(format)).unwrap_or_else(|error| panic!("{error}"));
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    while trace.next_batch(&mut batch).unwrap_or_else(|error| panic!("{error}")) {
        all.extend_from_slice(&batch);
    }
    all
}

/// What was said about a conversion is what was lost in it.
fn check_said(done: &Converted, records: &[Record], format: &Format) {
    let left = kept(format, records);
    let forced = |all: &[Record]| all.iter().filter(|record| record.fua).count();
    let made_plain = forced(records) - forced(&left);
    let left_out = records.len() - left.len();
    assert_eq!(
        (done.requests, done.dropped, done.made_plain),
        (left.len() as u64, left_out as u64, made_plain as u64),
        "{}",
        format.name
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(12) })]

    #[test]
    fn there_and_back_everything_stays_that_both_hold(
        parts in prop::collection::vec(any_record(), 1..30),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let records = trace_of(parts);
        let formats = || FORMATS.iter().copied().filter(|format| format.is_written());
        for one in formats() {
            let source = folder.path().join(one.name);
            check_said(&written(&records, one, &source), &records, one);
            let first = read(one, &source);
            prop_assert_eq!(&first, &kept(one, &records), "{}", one.name);
            for other in formats() {
                let (there, back) = (folder.path().join("there"), folder.path().join("back"));
                let mut trace = open(source.as_path(), reading(one)).expect("readable");
                let done = convert(&mut trace, other, &there, DROP).expect("written");
                check_said(&done, &first, other);
                let second = read(other, &there);
                prop_assert_eq!(&second, &kept(other, &first), "{} to {}", one.name, other.name);
                let mut trace = open(there.as_path(), reading(other)).expect("readable");
                convert(&mut trace, one, &back, DROP).expect("written");
                prop_assert_eq!(read(one, &back), kept(one, &second), "{} and back", other.name);
            }
        }
    }
}

#[test]
fn every_format_goes_to_parquet_whole() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/trace");
    let folder = tempfile::tempdir().expect("a folder");
    let parquet = named("parquet").expect("known");
    let mut formats = std::collections::BTreeSet::new();
    let files = std::fs::read_dir(corpus).expect("there").map(|entry| entry.expect("there").path());
    let is_example = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Found faults are no traces, and two files need options.
        !name.starts_with("found-") && name != "table.csv" && name != "oracle-general.bin"
    };
    for path in files.filter(is_example) {
        let there = folder.path().join("there.parquet");
        let lenient = Options { accept_implausible: true, ..Options::default() };
        let inspected = |path: &Path| {
            open(path, lenient.clone())
                .and_then(|mut trace| inspect(&mut trace))
                .map_err(|error| error.to_string())
        };
        let before = inspected(&path).expect("readable");
        let mut trace = open(path.as_path(), lenient.clone()).expect("readable");
        let done = convert(&mut trace, parquet, &there, ConvertOptions::default());
        let done = done.expect("Parquet holds everything");
        assert_eq!((done.dropped, done.made_plain, done.rounded_times), (0, 0, 0));
        assert_eq!(
            inspected(&there).map(|after| after.digest),
            Ok(before.digest),
            "{}",
            path.display()
        );
        formats.insert(before.format);
    }
    let unseen = |format: &&&Format| !formats.contains(format.name);
    let unseen: Vec<&str> = FORMATS.iter().filter(unseen).map(|format| format.name).collect();
    // The first reads like SSDsim unless it is named.
    assert_eq!(unseen, ["mqsim", "oracle-general", "csv"]);
}

/// Converts a text, and returns what was said and the text that was written.
fn converted(text: &str, from: &str, to: &str) -> (Converted, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, target) = (folder.path().join("source"), folder.path().join("target"));
    std::fs::write(&source, text).expect("written");
    let options = Options::default().with_format(from).expect("known");
    let mut trace = open(source.as_path(), options).expect("readable");
    let done = convert(&mut trace, named(to).expect("known"), &target, ConvertOptions::default());
    let done = done.unwrap_or_else(|error| panic!("{error}"));
    (done, std::fs::read_to_string(&target).expect("text"))
}

#[test]
fn what_a_conversion_does_not_keep_is_said() {
    let msr =
        "128166372003061629,web,0,Read,4096,512,99\n128166372003061639,web,1,Write,0,4096,7\n";
    let (done, written) = converted(msr, "msr", "msr");
    assert_eq!(done.not_kept, ["host names", "response times"]);
    // The clock is kept.
    let kept =
        "128166372003061629,ftlab,0,Read,4096,512,0\n128166372003061639,ftlab,1,Write,0,4096,0\n";
    assert_eq!(written, kept);
    let (done, written) = converted(msr, "msr", "spc");
    let begins = "when it began (the times written begin at 0)";
    assert_eq!(done.not_kept, ["host names", "response times", begins]);
    assert_eq!(written, "0,8,512,r,0.000000000\n1,0,4096,w,0.000001000\n");
    let spc = "0,8,512,r,1.5\n1,0,4096,w,2.25\n";
    assert_eq!(converted(spc, "spc", "spc").1, "0,8,512,r,1.500000000\n1,0,4096,w,2.250000000\n");
}

/// Converts a table of one's own to Parquet, and returns what was said and the file.
fn table_converted(text: &str, columns: &str) -> (Converted, tempfile::TempPath) {
    let name = "table".to_owned();
    let location = Location::Memory(name, text.as_bytes().to_vec().into());
    let columns = ColumnPlan::parse(columns).expect("a plan");
    let mut trace = open(location, Options { columns, ..Options::default() }).expect("readable");
    let target = tempfile::NamedTempFile::new().expect("a file").into_temp_path();
    let parquet = named("parquet").expect("known");
    let done = convert(&mut trace, parquet, &target, ConvertOptions::default());
    (done.unwrap_or_else(|error| panic!("{error}")), target)
}

#[test]
fn of_a_table_the_columns_without_a_part_are_named() {
    let text = "host,ts,op,lba,len,lat\na,0,R,0,8,1\nb,1,W,8,8,2\n";
    let plan = "time=ts,op=op,offset=lba:512,size=len:512";
    assert_eq!(table_converted(text, plan).0.not_kept, ["the columns host, lat"]);
    let (done, _) = table_converted(text, &format!("{plan},stream=host"));
    assert_eq!(done.not_kept, ["the column lat", "names of streams"]);
    let plan = "time=1,op=2,offset=3,size=4,stream=5";
    assert_eq!(
        table_converted("0,R,0,512,0\n1,W,8,512,0\n", plan).0.not_kept,
        ["names of streams"]
    );
    let plan = "time=2,op=3,offset=4,size=4KiB";
    assert_eq!(table_converted("7,0,R,0\n7,1,W,4096\n", plan).0.not_kept, ["the column 1"]);
}

#[test]
fn a_trace_without_times_stays_one_as_parquet() {
    let text: String = (0..200).map(|at| format!("R,{}\n", at * 4_096)).collect();
    let (_, file) = table_converted(&text, "op=1,offset=2,size=4KiB");
    let mut trace = open(&*file, Options::default()).expect("readable");
    let found = inspect(&mut trace).unwrap_or_else(|error| panic!("{error}"));
    assert!(found.character.timeless && found.max_requests_in_1s.is_none());
    assert!(found.assumed.iter().any(|of| of == "requests have no times, as the file says"));
    let (_, file) = table_converted("0,R,0\n1,R,4096\n", "time=1,op=2,offset=3,size=4KiB");
    let mut trace = open(&*file, Options::default()).expect("readable");
    assert!(!inspect(&mut trace).expect("readable").character.timeless);
}

#[test]
fn trims_of_ssdsim_stay() {
    let lines = "1000 0 16 8 2\n2000 0 16 8 1\n";
    let (done, written) = converted(lines, "ssdsim", "ssdsim");
    assert_eq!((written.as_str(), done.dropped), (lines, 0));
    assert!(done.remarks[0].contains("trims have the flag 2"), "{done:?}");
}

#[test]
fn a_trace_of_less_than_a_second_is_read_back_from_a_clock_of_seconds() {
    let text = "1000,h,0,Read,0,4096,1\n2000,h,0,Write,4096,512,1\n";
    let (done, written) = converted(text, "msr", "tencent");
    assert_eq!((done.requests, done.rounded_times), (2, 1));
    let read = |format: &str| {
        let options = Options::default().with_format(format).expect("known");
        let location = Location::Memory("t".to_owned(), written.clone().into_bytes().into());
        let mut trace = open(location, options)?;
        let (mut all, mut batch) = (Vec::new(), Vec::new());
        while trace.next_batch(&mut batch)? {
            all.extend_from_slice(&batch);
        }
        Ok::<_, TraceError>((all, trace.facts().timeless))
    };
    let (records, timeless) = read("tencent").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(records.iter().map(|record| record.op).collect::<Vec<_>>(), [Op::Read, Op::Write]);
    assert!(timeless && records.iter().all(|record| record.at == SimTime::ZERO));
}

#[test]
fn addresses_in_parquet_that_look_like_bytes_are_doubted() {
    let folder = tempfile::tempdir().expect("a folder");
    let doubted = |unit: u64| {
        let records = (0..20).map(|at| Record {
            at: SimTime(at * 1_000),
            op: Op::Write,
            lba: Lba(at * at % 19 * 8 * unit),
            sectors: 8 * unit as u32,
            stream: 0,
            fua: false,
        });
        let path = folder.path().join(format!("{unit}.parquet"));
        written(&records.collect::<Vec<_>>(), named("parquet").expect("known"), &path);
        let mut trace = open(path.as_path(), Options::default()).expect("readable");
        while trace.next_batch(&mut Vec::new()).unwrap_or_else(|error| panic!("{error}")) {}
        trace.facts().warnings.join("; ").contains("(`address_unit` byte, and `size_unit` byte,")
    };
    assert!(doubted(512) && !doubted(1));
}
