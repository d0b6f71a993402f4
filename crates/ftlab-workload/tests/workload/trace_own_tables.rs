//! Tables of one's own beside known formats: whose head decides, what options may say together, and numbers that could mean two things.

use ftlab::host::Op;
use ftlab::units::Lba;
use ftlab_workload::trace::{self, BlkEvent, ErrorKind, Options, SpaceUnit, TimeUnit};

use crate::common::texts::{by, failure, format, read, record, suggested};

#[test]
fn a_head_that_names_other_columns_is_no_known_format() {
    // Numbers as in Tencent's, Alibaba's, Systor's and MSR's files, under names that say otherwise.
    for (table, expected) in [
        (
            "time_us,offset,size,op,qd\n1000,4096,8192,0,4\n3000,8192,512,1,4\n",
            [record(0, Op::Read, 8, 16, 0), record(2_000_000, Op::Write, 16, 1, 0)],
        ),
        (
            "ts_us,op,offset,size,latency_us\n1000,R,4096,8192,90\n3000,W,8192,512,70\n",
            [record(0, Op::Read, 8, 16, 0), record(2_000_000, Op::Write, 16, 1, 0)],
        ),
        (
            "ts_ms,depth,op,queue,sector,bytes\n1000,1,R,1,8,8192\n1002,1,W,1,16,512\n",
            [record(0, Op::Read, 8, 16, 0), record(2_000_000, Op::Write, 16, 1, 0)],
        ),
        (
            "Timestamp,Hostname,DiskNumber,Type,Size,Offset,ResponseTime\n\
             128166372003061629,usr,0,Read,8192,4096,413\n128166372003081629,usr,1,Write,512,8192,413\n",
            [record(0, Op::Read, 8, 16, 0), record(2_000_000, Op::Write, 16, 1, 1)],
        ),
    ] {
        let error = failure(table, Options::default());
        assert_eq!(error.kind, ErrorKind::Unsupported, "{error}");
        assert!(error.problem.contains("its numbers would fit"), "{error}");
        let (records, facts) = read(table, suggested(&error));
        assert_eq!((records, facts.format), (expected.to_vec(), "csv"), "{error}");
    }
    // Skipping lines does not skip what the head says.
    let options = Options { skip_malformed: true, ..Options::default() };
    failure("time_us,offset,size,op,qd\n1000,4096,8192,0,4\n", options);
}

#[test]
fn the_heads_of_known_formats_are_passed_over() {
    let (records, facts) = read(
        "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n128166372003061629,usr,0,Read,4096,8192,413\n",
        Options::default(),
    );
    assert_eq!((records, facts.format), (vec![record(0, Op::Read, 8, 16, 0)], "msr"));
    assert!(facts.assumed.contains(&"line 1 names the columns".to_owned()), "{facts:?}");
    for (head, line, format) in [
        ("Timestamp,Offset,Size,IOType,VolumeID", "1538323200,8,16,0,0", "tencent"),
        ("device_id,opcode,offset,length,timestamp", "0,R,4096,8192,1577808000000046", "alibaba"),
        ("Timestamp,Response,IOType,LUN,Offset,Size", "1456095145.1,0.1,R,0,4096,8192", "systor"),
    ] {
        let (records, facts) = read(&format!("{head}\n{line}\n"), Options::default());
        assert_eq!((records, facts.format), (vec![record(0, Op::Read, 8, 16, 0)], format));
    }
}

#[test]
fn a_format_that_was_asked_for_passes_over_names_unless_they_contradict_it() {
    let line = "1,8,16,0,7\n";
    let (records, facts) =
        read(&format!("when,where,how_much,what,whose\n{line}"), format("tencent"));
    assert_eq!(records, [record(0, Op::Read, 8, 16, 7)]);
    let said = "line 1 names the columns (when, where, how_much, what, whose), which are read as those of tencent";
    assert!(facts.assumed.iter().any(|text| text.starts_with(said)), "{facts:?}");
    let swapped = failure(&format!("time,size,offset,type,volume\n{line}"), format("tencent"));
    assert!(swapped.problem.contains("column 2 is called `size`, and not addresses"), "{swapped}");
    let unit = failure(&format!("time_ms,offset,size,type,volume\n{line}"), format("tencent"));
    assert!(unit.problem.contains("`time_ms`, which is another unit"), "{unit}");
    // The unit may be said, then they agree.
    let options = Options { time_unit: Some(TimeUnit::Ms), ..format("tencent") };
    read(&format!("time_ms,offset,size,type,volume\n{line}"), options);
    // Formats between blanks, too.
    let table = "time disk lba sectors flag\n0 0 8 16 1\n1000 0 16 8 0\n";
    assert!(failure(table, Options::default()).remedy.contains("`format` ssdsim"));
    assert_eq!(read(table, format("ssdsim")).0.len(), 2);
}

#[test]
fn a_damaged_first_line_is_no_head() {
    let rest = "128166372003061629,usr,0,Read,4096,8192,413\n128166372003061630,usr,0,Read,4096,8192,413\n";
    for damaged in ["usr,0,Write,4096,8192,413\n", "x28166372003061629,usr,0,Read,4096,8192,413\n"]
    {
        let error = failure(&format!("{damaged}{rest}"), Options::default());
        assert_eq!(
            (error.kind, error.place.map(|place| place.line)),
            (ErrorKind::Malformed, Some(1))
        );
    }
}

#[test]
fn units_of_the_whole_trace_and_of_columns_are_joined_or_refused() {
    let table = "ts,op,lba,len\n1000,R,1,2\n1002,W,2,2\n";
    let joined = Options {
        time_unit: Some(TimeUnit::Ms),
        address_unit: Some(SpaceUnit::Page4k),
        size_unit: Some(SpaceUnit::Sector),
        ..by("time=ts,op=op,offset=lba,size=len")
    };
    let (records, facts) = read(table, joined);
    assert_eq!(records, [record(0, Op::Read, 8, 2, 0), record(2_000_000, Op::Write, 16, 2, 0)]);
    assert!(facts.assumed.contains(&"time is ts in milliseconds, as said".to_owned()), "{facts:?}");
    let told = |options: Options| failure(table, options).problem;
    let twice =
        Options { time_unit: Some(TimeUnit::Ms), ..by("time=ts:us,op=op,offset=lba,size=len") };
    assert_eq!(told(twice), "`time_unit` and `columns` give time two units");
    let none = Options { time_unit: Some(TimeUnit::Ms), ..by("op=op,offset=lba,size=len") };
    assert_eq!(told(none), "`time_unit` is given, but `columns` names no time");
    let amount = Options { size_unit: Some(SpaceUnit::Byte), ..by("op=op,offset=lba,size=4KiB") };
    assert_eq!(told(amount), "`size_unit` is given, but `columns` says size=4KiB for all requests");
    let other = Options { columns: by("op=op,offset=lba,size=len").columns, ..format("msr") };
    assert!(told(other).contains("`format` msr has columns of its own"));
    let mut idle = Options::default();
    idle.op_words.add("R=read").expect("a word");
    assert!(told(idle).contains("`op` says what the words of a table mean"));
}

#[test]
fn results_have_the_units_of_the_columns() {
    let units = |text: &str, columns: &str| {
        let units = read(text, by(columns)).1.units;
        [units.time, units.address, units.size].map(|unit| unit.unwrap_or("none".to_owned()))
    };
    let text = "5,R,8,1\n6,R,16,1\n";
    assert_eq!(units(text, "time=1:us,op=2,offset=3:512,size=4"), ["us", "sector", "byte"]);
    assert_eq!(units(text, "op=2,offset=3:16384,size=4KiB"), ["none", "16384", "none"]);
    let dates = "2024-01-01T00:00:00Z,R,8,1\n2024-01-01T00:00:01Z,R,16,1\n";
    assert_eq!(units(dates, "time=1:iso,op=2,offset=3:4k,size=4")[..2], ["iso", "4k"]);
    let said = Options { time_unit: Some(TimeUnit::Ms), ..by("time=1,op=2,offset=3,size=4") };
    assert_eq!(read(text, said).1.units.time.as_deref(), Some("ms"));
}

#[test]
fn a_column_of_numbers_has_one_meaning() {
    let times = |table: &str| -> Vec<u64> {
        let (records, _) = read(table, by("time=1:us,op=2,offset=3,size=4"));
        records.iter().map(|record| record.at.0).collect()
    };
    // Groups of three, which the second line tells.
    assert_eq!(times("998,000;R;0;512\n1,000,000;R;0;512\n"), [0, 2_000_000]);
    // Decimals: nothing tells, which is said.
    let (_, facts) =
        read("998,000;R;0;512\n999,500;R;0;512\n", by("time=1:us,op=2,offset=3,size=4"));
    let said = "in the times, a comma stands before decimals, as in `998,000`; no number of the column tells";
    assert!(facts.assumed.contains(&said.to_owned()), "{facts:?}");
    // A contradiction is refused, at once or where it comes.
    let error = failure("998,5;R;0;512\n1,000,000;R;0;512\n", by("time=1:us,op=2,offset=3,size=4"));
    assert!(
        error.problem.contains("`1,000,000` in line 2 has a comma as mark between groups"),
        "{error}"
    );
    let line = |number: u64| format!("{},{:03};R;0;512\n", 100 + number / 900, 100 + number % 900);
    let mut long: String = (0..40_000).map(line).collect();
    long += "1,000,000;R;0;512\n";
    let error = failure(&long, by("time=1:s,op=2,offset=3,size=4"));
    assert_eq!(error.place.as_ref().map(|place| place.line), Some(40_001), "{error}");
    assert!(error.problem.contains("a comma stands before decimals"), "{error}");
    // Sizes with decimals of zero, of more and of fewer than four digits.
    let (records, _) = read("1;R;0;512.000\n2;R;0;4096.000\n", by("time=1,op=2,offset=3,size=4"));
    assert_eq!((records[0].sectors, records[1].sectors), (1, 8));
}

#[test]
fn dates_are_times() {
    let table = "when,op,offset,size\n2024-05-01T12:30:00.000250Z,R,0,512\n2024-05-01T12:30:01Z,W,512,512\n";
    let error = failure(table, Options::default());
    assert!(error.remedy.contains("time=when:iso"), "{error}");
    let (records, _) = read(table, suggested(&error));
    assert_eq!(records[1], record(999_750_000, Op::Write, 1, 1, 0));
    let error = failure(table, by("time=when,op=op,offset=offset,size=size"));
    assert!(error.remedy.contains("time=COLUMN:iso"), "{error}");
}

#[test]
fn words_of_operations_are_said_and_unknown_ones_refused() {
    let columns = "time=1,op=2,offset=3,size=4";
    let mut options = by(columns);
    options.op_words.add("get=write").expect("a word");
    let (records, facts) = read("1,GET,0,512\n2,Read,0,512\n", options);
    assert_eq!((records[0].op, records[1].op), (Op::Write, Op::Read));
    let said = "of the operations, GET is write, Read is read".to_owned();
    assert!(facts.assumed.contains(&said), "{facts:?}");
    let error = failure("1,Release,0,512\n2,Read,0,512\n", by(columns));
    assert!(error.problem.contains("found `Release`"), "{error}");
}

#[test]
fn a_number_is_that_of_a_column_whatever_the_first_line_holds() {
    // Fields of the first line that look like numbers of columns.
    let (records, _) =
        read("1,2,R,8,3\n2,2,W,16,3\n", by("time=1:us,stream=2,op=3,offset=4:512,size=5:512"));
    assert_eq!(records, [record(0, Op::Read, 8, 3, 0), record(1_000, Op::Write, 16, 3, 0)]);
    // A first line without an address is no head: a flush, or damaged.
    let (records, facts) = read("0.0,F,,\n0.5,W,512,512\n", by("time=1,op=2,offset=3,size=4"));
    assert_eq!((records.len(), records[0].op), (2, Op::Flush), "{facts:?}");
    let error = failure("0.0,W,x,512\n0.5,W,512,512\n", by("time=1,op=2,offset=3,size=4"));
    assert_eq!(error.place.map(|place| place.line), Some(1));
    // A head whose columns are numbered is said.
    let (records, facts) =
        read("ts,op,lba,len\n0,R,8,8\n1,W,16,8\n", by("time=1,op=2,offset=3:512,size=4:512"));
    assert_eq!(records.len(), 2);
    assert!(facts.assumed.contains(&"the first line names the columns".to_owned()), "{facts:?}");
}

#[test]
fn truth_values_are_no_trims_and_flushes() {
    let table = "ts,is_write,lba,len\n0.5,t,8,8\n1.5,f,16,8\n";
    let columns = "time=ts,op=is_write,offset=lba:512,size=len:512";
    let unnamed = (table.replace("is_write", "kind"), columns.replace("is_write", "kind"));
    assert!(failure(&unnamed.0, by(&unnamed.1)).problem.contains("truth values"));
    let error = failure(table, Options::default());
    assert!(error.remedy.contains("`op` f=read,t=write"), "{error}");
    let mut said = by(columns);
    said.op_words.add("t=write,f=read").expect("words");
    assert_eq!(read(table, said).0[0].op, Op::Write);
    // A trim beside others is one.
    let (records, _) = read(&table.replace(",f,", ",W,"), by(columns));
    assert_eq!((records[0].op, records[1].op), (Op::Trim, Op::Write));
}

#[test]
fn a_mark_in_doubt_means_what_it_does_in_other_columns() {
    let table = "ts,op,lba,len\n0.5,R,2048.000,8.000\n1.5,W,4096.000,16.000\n";
    let (records, facts) = read(table, by("time=ts,op=op,offset=lba:512,size=len:512"));
    assert_eq!(records[1], record(1_000_000_000, Op::Write, 4096, 16, 0), "{facts:?}");
    // Where no column tells, sizes have groups, which is said.
    let table = "ts;op;lba;len\n5;R;2.048;8.192\n15;W;4.096;16.384\n";
    let (records, facts) = read(table, by("time=ts,op=op,offset=lba:512,size=len"));
    assert_eq!((records[0].lba, records[0].sectors), (Lba(2048), 16));
    assert!(facts.assumed.iter().any(|text| text.contains("no number of the column tells")));
}

#[test]
fn usual_names_of_sizes_contradict_nothing() {
    for size in ["request_size", "sector_count", "io_size", "nsectors"] {
        read(&format!("timestamp,offset,{size},type,volume\n1,8,16,0,7\n"), format("tencent"));
    }
}

#[test]
fn files_without_times_are_one_trace_without_times() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a.csv", "b.csv"] {
        std::fs::write(folder.path().join(name), "R,0,512\n".repeat(20_000)).expect("a file");
    }
    let mut trace = trace::open(folder.path(), by("op=1,offset=2,size=3")).expect("a trace");
    let (mut count, mut batch) = (0, Vec::new());
    while trace.next_batch(&mut batch).unwrap_or_else(|error| panic!("{error}")) {
        count += batch.len();
    }
    assert_eq!(count, 40_000);
}

const BY_NAME: &str = "time=ts:us,op=kind,offset=lba:512,size=len";

#[test]
fn lines_that_are_wider_than_the_first_are_refused() {
    let error = failure("ts,lba,kind,len\n100,8,R,8\n200,16,W,1,024\n", by(BY_NAME));
    assert_eq!(error.place.as_ref().map(|place| place.line), Some(3), "{error}");
    // An index that the head does not name, as R writes it.
    let table = "\"ts\",\"lba\",\"blocks\"\n\"1\",1,8,16\n\"2\",2,16,16\n";
    let error = failure(table, by("time=ts:us,op=write,offset=lba:512,size=blocks:512"));
    assert!(error.problem.contains("4 fields, and the first line 3 fields"), "{error}");
    // Two ways to end a line.
    let mixed = "ts,lba,kind,len\n1,8,R,4096\r2,16,R,4096\r\n3,24,W,4096\n";
    assert_eq!(failure(mixed, by(BY_NAME)).place.map(|place| place.line), Some(2));
}

#[test]
fn blanks_within_fields_and_commas_within_numbers_separate_nothing() {
    let (records, _) = read(
        "1\tkworker 0\t8\t4096\n2\tkworker 1\t16\t4096\n",
        by("time=1,op=write,offset=3:512,size=4"),
    );
    assert_eq!(records[1], record(1_000_000_000, Op::Write, 16, 8, 0));
    let (records, _) = read("1,5 800\n2,5 816\n", by("time=1,op=write,offset=2:512,size=4KiB"));
    assert_eq!(records[1], record(1_000_000_000, Op::Write, 816, 8, 0));
    let (records, _) =
        read("1,5;8,0;4096,0\n2,5;16,0;4096,0\n", by("time=1,op=write,offset=2:512,size=3"));
    assert_eq!(records[1], record(1_000_000_000, Op::Write, 16, 8, 0));
}

#[test]
fn groups_appear_with_the_first_thousand() {
    let table = "ts;lba;kind;len\n998;8;R;512\n999;8;R;512\n1,000;8;R;512\n1,001;16;W;512\n";
    let (records, facts) = read(table, by(BY_NAME));
    let times: Vec<u64> = records.iter().map(|record| record.at.0 / 1_000).collect();
    assert_eq!(times, [0, 1, 2, 3], "{facts:?}");
}

#[test]
fn a_head_may_be_a_comment() {
    let (records, _) = read("# ts,lba,kind,len\n100,8,R,4096\n200,16,W,8192\n", by(BY_NAME));
    assert_eq!(records[1], record(100_000, Op::Write, 16, 16, 0));
    let swapped = "# Timestamp,Hostname,DiskNumber,Type,Size,Offset,ResponseTime\n\
                   128166372003061629,usr,0,Read,8192,4096,413\n";
    let error = failure(swapped, Options::default());
    assert!(error.remedy.contains("offset=Offset"), "{error}");
    let plain = "# Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n\
                 128166372003061629,usr,0,Read,4096,8192,413\n";
    assert_eq!(read(plain, Options::default()).1.format, "msr");
}

#[test]
fn numbers_that_another_column_or_unit_would_explain_are_doubted() {
    let doubts = |text: &str, options: Options| read(text, options).1.warnings.join("; ");
    let head = "time_us,sector,nsectors,op\n512,1024,512,R\n1024,2048,512,W\n";
    let said = doubts(head, by("time=time_us,op=op,offset=sector,size=nsectors"));
    for unit in ["time=time_us:us", "offset=sector:512", "size=nsectors:512"] {
        assert!(said.contains(unit), "{said}");
    }
    assert_eq!(doubts(head, by("time=time_us:us,op=op,offset=sector:512,size=nsectors:byte")), "");
    // MSR's columns with other numbers.
    let micros = doubts("1172164929551466,hm,0,Read,8192,4096,1\n", Options::default());
    assert!(micros.contains("(`time_unit` us)"), "{micros}");
    let seconds = doubts("1172164929.5,hm,0,Read,8192,4096,1\n", Options::default());
    assert!(seconds.contains("(`time_unit` s)"), "{seconds}");
    let swapped = doubts("128166372003061629,hm,0,Read,4096,383496192,151\n", Options::default());
    assert!(swapped.contains("has 365 MiB"), "{swapped}");
    assert_eq!(doubts("128166372003061629,hm,0,Read,383496192,4096,151\n", Options::default()), "");
}

#[test]
fn numbered_columns_of_files_with_other_heads_are_doubted() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("a file");
    };
    write("a.csv", "ts,lba,kind,len\n100,8,R,4096\n300,16,W,8192\n");
    write("b.csv", "lba,ts,kind,len\n24,200,R,4096\n32,400,W,8192\n");
    let warnings = |columns: &str| {
        let mut trace = trace::open(folder.path(), by(columns)).expect("a trace");
        let mut batch = Vec::new();
        while trace.next_batch(&mut batch).unwrap_or_else(|error| panic!("{error}")) {}
        trace.facts().warnings.join("; ")
    };
    let numbered = warnings("time=1:us,op=3,offset=2:512,size=4");
    assert!(numbered.contains("its head names other columns"), "{numbered}");
    assert!(!warnings(BY_NAME).contains("other columns"));
}

#[test]
fn writes_with_fua_keep_it() {
    let (records, facts) = read("1,WFS,8\n2,W,8\n", by("time=1,op=2,offset=3:512,size=4KiB"));
    assert_eq!((records[0].fua, records[1].fua), (true, false));
    assert!(
        facts.assumed.contains(&"of the operations, WFS is write with FUA, W is write".to_owned())
    );
}

#[test]
fn one_name_for_two_columns_and_one_column_for_two_parts_are_refused() {
    let table = "ts,op,lba,len,lba\n1,R,8,1,0\n2,W,16,1,0\n";
    let twice = failure(table, by("time=ts,op=op,offset=lba,size=len"));
    assert!(
        twice
            .problem
            .contains("offset=lba is the name of columns 3 and 5: say which by its number"),
        "{twice}"
    );
    let numbered = read(table, by("time=ts,op=op,offset=3:512,size=len:512")).0;
    assert_eq!(numbered[1], record(1_000_000_000, Op::Write, 16, 1, 0));
    // Names that differ by capitals alone are told apart.
    let table = "ts,op,LBA,len,lba\n1,R,8,1,0\n2,W,16,1,0\n";
    let exact = read(table, by("time=ts,op=op,offset=lba:512,size=len:512")).0;
    assert_eq!(exact[1], record(1_000_000_000, Op::Write, 0, 1, 0));
    assert!(
        failure(table, by("time=ts,op=op,offset=Lba,size=len")).problem.contains("columns 3 and 5")
    );
    // A suggestion names such a column by its number.
    let error = failure("ts,op,lba,len,lba\n1,R,8,512,0\n2,W,16,512,0\n", Options::default());
    assert_eq!(
        read("ts,op,lba,len,lba\n1,R,8,512,0\n2,W,16,512,0\n", suggested(&error)).0.len(),
        2
    );
    let same = failure(table, by("time=ts,op=op,offset=len,size=4"));
    assert!(same.problem.contains("offset and size have one column, 4 (len)"), "{same}");
    assert!(
        failure("1,R,8,1\n", by("time=1,op=2,offset=3,size=3"))
            .problem
            .contains("have one column, 3")
    );
}

#[test]
fn options_without_effect_are_refused() {
    let event = || Options { blkparse_event: Some(BlkEvent::Queue), ..Options::default() };
    let msr = "128166372003061629,usr,0,Read,4096,8192,413\n";
    let error = failure(msr, event());
    assert!(error.problem.contains("`blkparse_event` chooses among the events"), "{error}");
    assert!(error.problem.contains("this is msr"), "{error}");
    let table =
        || Options { blkparse_event: Some(BlkEvent::Queue), ..by("time=1,op=2,offset=3,size=4") };
    assert!(failure("1,R,8,1\n", table()).problem.contains("this is csv"));
    let mut words = by("time=1,op=write,offset=3,size=4");
    words.op_words.add("R=read").expect("a word");
    let error = failure("1,R,8,1\n", words);
    assert!(error.problem.contains("by `columns` all requests are alike: op=write"), "{error}");
    assert!(error.remedy.contains("op=COLUMN"), "{error}");
}

#[test]
fn a_title_above_the_names_of_columns_is_told() {
    let rows = "ts_us,op,offset,size\n1000,R,4096,8192\n3000,W,8192,512\n";
    let table = format!("Exported by a tool\n\n{rows}");
    for options in [Options::default(), by("time=ts_us:us,op=op,offset=offset,size=size")] {
        let error = failure(&table, options);
        assert!(
            error.remedy.contains(
                "line 3 names the columns: delete what stands above it, such as by tail -n +3"
            ),
            "{error}"
        );
    }
    let error = failure(&table, Options::default());
    assert_eq!(
        read(rows, suggested(&error)).0[1],
        record(2_000_000, Op::Write, 16, 1, 0),
        "{error}"
    );
}

#[test]
fn names_with_blanks_are_quoted_where_they_can_be_pasted() {
    let table = "Time us,op,byte offset,Size KiB\n1,R,8192,4\n2,W,0,1\n";
    let said = read(table, by("time=Time us,op=op,offset=byte offset,size=Size KiB"))
        .1
        .warnings
        .join("; ");
    assert!(said.contains("`columns` \"time=Time us:us\"?"), "{said}");
    assert!(said.contains("`columns` \"size=Size KiB:1024\"?"), "{said}");
    let far = "a time,op,offset,size\n1,R,8192,4\n99999999,W,0,1\n";
    let error = failure(far, by("time=a time,op=op,offset=offset,size=size"));
    assert!(error.remedy.contains("`columns` \"time=a time:us\" (ns|"), "{error}");
}

#[test]
fn tables_of_windows_in_german_are_read() {
    let table = "Zeit;Vorgang;Offset;Bytes\n01.05.2024 10:00:00,500;Lesen;8.192;4.096\n\
                 01.05.2024 10:00:01,500;Schreiben;16.384;512\n";
    let error = failure(table, Options::default());
    let (records, _) = read(table, suggested(&error));
    assert_eq!(
        records,
        [record(0, Op::Read, 16, 8, 0), record(1_000_000_000, Op::Write, 32, 1, 0)],
        "{error}"
    );
}
