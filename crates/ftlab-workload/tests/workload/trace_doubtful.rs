//! Tables that would be misread in silence: by a format that fits by chance, a cut number, a name that says otherwise, two kinds of
//! dates. Each is refused or doubted, with the line that is wrong and a remedy that can be pasted.

use ftlab::host::Op;
use ftlab::units::SimTime;
use ftlab_workload::trace::{
    ErrorKind, Options, SpaceUnit, TimeUnit, TraceError, suggested_columns,
};

use crate::common::texts::{by, failure, format, read, record};

fn with_words(columns: &str, words: &str) -> Options {
    let mut options = by(columns);
    options.op_words.add(words).unwrap_or_else(|problem| panic!("{problem}"));
    options
}

/// The `columns` that an error suggests.
fn suggested(error: &TraceError) -> Options {
    let rest = error.remedy.split("`columns` ").nth(1).unwrap_or_else(|| panic!("{error}"));
    by(rest.split([' ', ';', ')']).next().unwrap_or_default().trim_end_matches(','))
}

/// The line of an error.
fn line_of(error: &TraceError) -> Option<u64> {
    error.place.as_deref().map(|place| place.line)
}

#[test]
fn a_table_whose_streams_rise_as_times_do_is_no_known_format() {
    // Time, operation, address, size and latency would be Alibaba's, SPC's and Systor's columns, in other places.
    let latencies = [90, 70, 80, 75, 91, 66, 70, 88, 71];
    let table = |line: &dyn Fn(u64, u64) -> String| -> String {
        (1..).zip(latencies).map(|(at, latency)| line(at * 1_000, latency)).collect()
    };
    for (text, known) in [
        (table(&|at, latency| format!("{at},R,{},4096,{latency}\n", at * 512)), "alibaba"),
        (table(&|at, latency| format!("{at},{},4096,R,{latency}\n", at * 512)), "spc"),
    ] {
        let error = failure(&text, Options::default());
        assert_eq!(error.kind, ErrorKind::Unsupported, "{error}");
        let said = format!(
            "its numbers would fit {known}, but column 1, which would be its stream, rises"
        );
        assert!(error.problem.contains(&said), "{error}");
        let (records, facts) = read(&text, suggested(&error));
        assert_eq!(facts.format, "csv");
        assert_eq!(records[1], record(1_000_000_000_000, Op::Read, 2_000, 8, 0), "{error}");
        assert!(error.remedy.contains(&format!("`format` {known}")), "{error}");
        assert_eq!(read(&text, format(known)).1.format, known);
    }
    // Three lines tell if their times go back.
    let few = "1000,R,4096,8192,90\n2000,W,8192,512,70\n3000,W,8192,512,75\n";
    assert!(failure(few, Options::default()).problem.contains("rises with every line"));
    // A head settles it.
    let named = format!("device_id,opcode,offset,length,timestamp\n{few}");
    assert_eq!(read(&named, Options::default()).1.format, "alibaba");
    // Streams of a real trace come again.
    let real = "3,R,4096,8192,1000\n5,W,8192,512,1100\n9,W,8192,512,1100\n3,W,8192,512,1200\n";
    assert_eq!(read(real, Options::default()).1.format, "alibaba");
}

#[test]
fn a_table_that_may_fit_by_chance_is_doubted() {
    let doubts = |text: &str, options: Options| -> Vec<String> {
        let warnings = read(text, options).1.warnings;
        warnings.into_iter().filter(|text| text.starts_with("is this ")).collect()
    };
    // Latencies as Tencent's volumes.
    let latencies = [90, 70, 80, 75, 91, 66, 71, 88, 72, 69];
    let line = |(at, latency): (u64, u64)| format!("{},{},8,{},{latency}\n", at, at * 8, at % 2);
    let tencent: String = (1..).zip(latencies).map(line).collect();
    let said = doubts(&tencent, Options::default());
    assert!(
        said[0].contains("column 5, read as the stream, has 10 values in the first 10"),
        "{said:?}"
    );
    assert!(said[0].contains("`format` tencent settles it"), "{said:?}");
    assert!(doubts(&tencent, format("tencent")).is_empty());
    // Nothing but a clock of seconds would show such times.
    let still = "0,8,8,0,1\n0,16,8,1,1\n";
    let said = doubts(still, Options::default());
    assert!(said[0].contains("column 1, read as the time, is 0 in all lines"), "{said:?}");
    assert!(doubts(still, format("tencent")).is_empty());
    // Milliseconds and bytes.
    let line = |at: u64| format!("{},{},4096,{},1\n", at * 5_000, at * 7 % 19 * 4096, at % 2);
    let said = doubts(&(1..20).map(line).collect::<String>(), Options::default());
    assert!(said[0].contains("all are multiples of 512"), "{said:?}");
    assert!(said[0].contains("in seconds, its requests are "), "{said:?}");
    // Random numbers as times.
    let line = |at: u64| format!("0,R,{},4096,{}\n", at * 4096, at * 10 % 19);
    let said = doubts(&(1..19).map(line).collect::<String>(), Options::default());
    assert!(said[0].contains("column 5, read as the time, goes back"), "{said:?}");
    // Latencies among which some come again, at times in another unit.
    let line = |at: u64| format!("{},{},8,{},{}\n", at * 35, at * 8, at % 2, 60 + at % 40);
    let said = doubts(&(1..200).map(line).collect::<String>(), Options::default());
    assert!(said[0].contains("are of 40 streams, and yet 34"), "{said:?}");
    // Who says the unit has looked at the numbers.
    let line = |at: u64| format!("{},{},512,{},1\n", at * 5_000, at % 7 * 512, at % 2);
    let text: String = (1..20).map(line).collect();
    assert!(!doubts(&text, Options::default()).is_empty());
    let said = Options {
        time_unit: Some(TimeUnit::Ms),
        address_unit: Some(SpaceUnit::Byte),
        ..Options::default()
    };
    assert!(doubts(&text, said).is_empty());
    // A sequential load of 256 KiB, and the first requests of eight volumes.
    let line = |at: u64| format!("{},{},512,{},1\n", at, at * 512, at % 2);
    assert!(doubts(&(1..40).map(line).collect::<String>(), Options::default()).is_empty());
    let line = |at: u64| format!("{at},R,{},4096,{}\n", at * 4096, 1_000 + at * 10);
    assert_eq!(read(&(0..8).map(line).collect::<String>(), Options::default()).1.format, "alibaba");
    // A usual trace.
    let line = |at: u64| format!("{},{},8,{},{}\n", at, at * 8, at % 2, at % 3);
    assert!(doubts(&(1..40).map(line).collect::<String>(), Options::default()).is_empty());
}

#[test]
fn bare_columns_are_found_by_what_such_numbers_have_in_common() {
    // Each as time, address and size.
    let rows = [[0_u64, 81_920, 4096], [370, 0, 4096], [410, 1_228_800, 8192], [777, 40_960, 4096]];
    for (order, expected) in [
        ([0, 1, 2], "time=1,offset=2,size=3"),
        ([2, 1, 0], "time=3,offset=2,size=1"),
        ([1, 0, 2], "time=2,offset=1,size=3"),
        ([1, 2, 0], "time=3,offset=1,size=2"),
    ] {
        let line = |row: &[u64; 3]| {
            let [a, b, c] = order.map(|at: usize| row[at]);
            format!("{a},{b},{c}\n")
        };
        let error = failure(&rows.iter().map(line).collect::<String>(), Options::default());
        let [time, offset, size] = expected.split(',').collect::<Vec<_>>()[..] else { panic!() };
        let write = format!("`columns` {time},{offset},{size},op=write if all requests are writes");
        let read = format!(
            "or `columns` {time},{offset},{size},op=read if all are reads, as no column tells"
        );
        assert!(error.remedy.contains(&write) && error.remedy.contains(&read), "{error}");
        let (records, _) =
            self::read(&rows.iter().map(line).collect::<String>(), suggested(&error));
        assert_eq!(records[1], record(370_000_000_000, Op::Write, 0, 8, 0), "{error}");
    }
    // Addresses that rise, beside times: requests that follow each other give themselves away.
    let error = failure("0,4096,100\n4096,4096,230\n8192,4096,320\n", Options::default());
    assert!(error.remedy.contains("time=3,offset=1,size=2"), "{error}");
    // Small numbers in Python.
    let error = failure("0.0,R,0,4096\n1e-05,W,8192,512\n0.00025,R,4096,512\n", Options::default());
    assert!(error.remedy.contains("time=1,op=2,offset=3,size=4"), "{error}");
    let (records, _) =
        self::read("0.0,R,0,4096\n1e-05,W,8192,512\n", by("time=1,op=2,offset=3,size=4"));
    assert_eq!(records[1], record(10_000, Op::Write, 16, 1, 0));
}

#[test]
fn a_last_number_without_line_end_is_doubted_in_a_table() {
    let warnings = |text: &str, columns: &str| read(text, by(columns)).1.warnings.join("; ");
    let by_number = "time=1,op=2,offset=3,size=4";
    let said = warnings("1,R,0,512\n2,R,0,4096\n3,R,0,409", by_number);
    assert!(
        said.contains("the last line (3) has no line end, so its last number may be cut off"),
        "{said}"
    );
    assert!(!warnings("1,R,0,512\n2,R,0,4096\n", by_number).contains("last line"));
    // A last field that is not read, or no number.
    assert!(!warnings("1,R,0,512,7\n2,R,0,4096,1", by_number).contains("last line"));
    assert!(!warnings("1,0,512,R\n2,0,512,W", "time=1,op=4,offset=2,size=3").contains("last line"));
}

#[test]
fn remedies_of_units_are_those_of_the_columns() {
    let told = |text: &str, columns: &str| failure(text, by(columns)).remedy;
    let far = "ts,op,lba,len\n1,R,0,512\n900000000,R,0,512\n";
    let remedy = told(far, "time=ts,op=op,offset=lba,size=len");
    assert!(remedy.contains("`columns` time=ts:us") && !remedy.contains("`time_unit`"), "{remedy}");
    let large = "ts,op,lba,len\n1,R,0,512\n2,R,0,3000000000\n";
    let remedy = told(large, "time=ts,op=op,offset=lba,size=len");
    assert!(
        remedy.contains("`columns` size=len:sector") && !remedy.contains("`size_unit`"),
        "{remedy}"
    );
    let span = "ts,op,lba,len\n1,R,0,512\n2,R,20000000000000000,512\n";
    let remedy = told(span, "time=ts,op=op,offset=lba,size=len");
    assert!(remedy.contains("`columns` offset=lba:sector"), "{remedy}");
    let fast: String = (0..2_000).map(|at| format!("{at},R,0,512\n")).collect();
    let remedy = told(&fast, "time=1:ns,op=2,offset=3,size=4");
    assert!(remedy.contains("`columns` time=1:ms") && !remedy.contains("`time_unit`"), "{remedy}");
    // Dates have no unit.
    let dates = "2024-05-01 12:00:00,R,0,512\n2034-05-01 12:00:00,R,0,512\n";
    let remedy = told(dates, "time=1:iso,op=2,offset=3,size=4");
    assert!(!remedy.contains("units"), "{remedy}");
    // A high rate is doubted in the unit that was not said.
    let quick: String = (0..2_000).map(|at| format!("0.{at:06},R,0,512\n")).collect();
    let warnings = |columns: &str| read(&quick, by(columns)).1.warnings.join("; ");
    assert!(!warnings("time=1:s,op=2,offset=3,size=4").contains("a second if times count"));
    let said = warnings("time=1,op=2,offset=3,size=4");
    assert!(said.contains("a second if times count seconds"), "{said}");
}

#[test]
fn a_time_that_is_too_far_names_both_lines() {
    // The first line lost digits, so that the second, which is right, jumps ahead.
    let text = "171456,R,0,512\n1714566600,R,0,512\n1714566601,R,0,512\n";
    let error = failure(text, by("time=1,op=2,offset=3,size=4"));
    assert_eq!(line_of(&error), Some(2));
    assert!(error.problem.ends_with("days from that of line 1"), "{error}");
    assert!(error.remedy.contains("if line 1 is the damaged one, mend or delete that"), "{error}");
    // A digit too many: what follows is right.
    let line =
        |at: u64| format!("{},h,0,Read,0,4096,1\n", if at == 50 { 10_500 } else { 1_000 + at });
    let short: String = (0..200).map(line).collect();
    let (_, facts) = read(&short, Options::default());
    let said = facts.warnings.join("; ");
    assert!(said.contains("the time of request 51 of the file is ahead by"), "{said}");
    assert!(!said.contains("`late` continue"), "{said}");
    // Also if the others pass it in the end.
    let long: String = (0..20_000).map(line).collect();
    let said = read(&long, Options::default()).1.warnings.join("; ");
    assert!(said.contains("the time of request 51 of the file is ahead by"), "{said}");
}

#[test]
fn numbers_without_marks_tell_what_a_mark_means() {
    let ns = |times: &[&str]| -> Vec<u64> {
        let lines: String = times.iter().map(|time| format!("{time};R;0;512\n")).collect();
        let options = Options { order_window: 10, ..by("time=1:us,op=2,offset=3,size=4") };
        read(&lines, options).0.iter().map(|record| record.at.0).collect()
    };
    // Thousands without marks: nobody writes groups.
    assert_eq!(ns(&["999.125", "1200", "1500"]), [0, 200_875, 500_875]);
    assert_eq!(ns(&["998", "999", "1.000"]), [0, 1_000, 2_000]);
    // Which of the two is the decimal mark does not depend on the order of the lines.
    for lines in
        ["5;R;0;512\n1.234;R;0;512\n1,234;R;0;512\n", "5;R;0;512\n1,234;R;0;512\n1.234;R;0;512\n"]
    {
        let told = failure(lines, by("time=1:us,op=2,offset=3,size=4")).problem;
        assert!(told.contains("no number of the column tells"), "{told}");
    }
    // A decimal mark in another column leaves groups to the other.
    let text = "1,234;R;0;512.00\n5;R;0;1024.00\n";
    let (records, _) = read(text, by("time=1:us,op=2,offset=3,size=4"));
    assert_eq!(records[1].at, SimTime(1_229_000));
    // What is no number votes for nothing.
    let text = "0.5;R;0;512\n10.0.0.1;R;0;512\n0.7;R;0;512\n";
    let options = Options { skip_malformed: true, ..by("time=1,op=2,offset=3,size=4") };
    let (records, facts) = read(text, options);
    assert_eq!((records.len(), records[1].at, facts.skipped_lines), (2, SimTime(200_000_000), 1));
    // Behind the beginning of the file: groups after numbers below a thousand.
    let line = |at: u64| format!("{};R;0;512\n", at / 40);
    let text = (0..40_000).map(line).collect::<String>() + "1,000;R;0;512\n";
    let (records, _) = read(&text, by("time=1:us,op=2,offset=3,size=4"));
    assert_eq!(records.last().map(|record| record.at), Some(SimTime(1_000_000)));
}

#[test]
fn dates_with_and_without_a_zone_are_not_mixed() {
    let columns = "time=1:iso,op=2,offset=3,size=4";
    let text = "2024-05-01T12:00:00Z,R,0,512\n2024-05-01T14:00:01+02:00,R,0,512\n2024-05-01T12:00:02,R,0,512\n";
    let error = failure(text, by(columns));
    assert_eq!(line_of(&error), Some(3));
    assert!(
        error.problem.starts_with("this date has no zone, and that of line 1 has one"),
        "{error}"
    );
    let error = failure(
        "# made by hand\n2024-05-01 12:00:00,R,0,512\n2024-05-01 12:00:00Z,R,0,512\n",
        Options { skip_malformed: true, ..by(columns) },
    );
    assert_eq!(line_of(&error), Some(3));
    assert!(
        error.problem.starts_with("this date has a zone, and that of line 2 has none"),
        "{error}"
    );
    let (_, facts) = read("2024-05-01 12:00:00,R,0,512\n", by(columns));
    assert!(
        facts.assumed.contains(&"dates say no zone, and are taken for UTC".to_owned()),
        "{facts:?}"
    );
    let (_, facts) = read("2024-05-01 12:00:00Z,R,0,512\n", by(columns));
    assert!(!facts.assumed.iter().any(|text| text.contains("zone")), "{facts:?}");
}

#[test]
fn truth_values_mean_what_the_name_of_their_column_says() {
    let table = |name: &str, yes: &str, no: &str| {
        format!("ts,{name},lba,len\n1,{yes},0,512\n2,{no},8,512\n")
    };
    let columns = |name: &str| format!("time=ts,op={name},offset=lba,size=len");
    let ops = |text: &str, options: Options| -> Vec<Op> {
        read(text, options).0.iter().map(|record| record.op).collect()
    };
    for (yes, no) in [("1", "0"), ("true", "false"), ("t", "f")] {
        let text = table("is_read", yes, no);
        assert_eq!(ops(&text, by(&columns("is_read"))), [Op::Read, Op::Write], "{yes}");
        let text = table("is_write", yes, no);
        assert_eq!(ops(&text, by(&columns("is_write"))), [Op::Write, Op::Read], "{yes}");
        assert_eq!(ops(&text, by("time=1,op=2,offset=3,size=4")), [Op::Write, Op::Read], "{yes}");
    }
    let text = table("is_read", "1", "0");
    for words in ["0=read", "1=write", "0=read,1=write"] {
        let error = failure(&text, with_words(&columns("is_read"), words));
        assert!(error.problem.contains("contradicts the name of its column, is_read"), "{error}");
    }
    assert_eq!(ops(&text, with_words(&columns("is_read"), "1=read,0=trim")), [Op::Read, Op::Trim]);
    let inverted = Options { invert_ops: true, ..by(&columns("is_read")) };
    assert_eq!(ops(&text, inverted), [Op::Write, Op::Read]);
    // Another name leaves it to the words.
    let text = table("flag", "1", "0");
    assert_eq!(ops(&text, with_words(&columns("flag"), "0=read,1=write")), [Op::Write, Op::Read]);
}

#[test]
fn the_flags_of_known_formats_mean_what_a_head_says() {
    let ssdsim = "0 0 8 16 1\n1000 0 16 8 0\n";
    let contradicted = |head: &str, lines: &str, known: &str, options: Options| {
        let error = failure(&format!("{head}\n{lines}"), Options { ..options });
        assert!(error.problem.contains("but a 1 there is a "), "{known}: {error}");
    };
    contradicted("time disk lba sectors is_write", ssdsim, "ssdsim", format("ssdsim"));
    contradicted("# time disk lba sectors is_write", ssdsim, "ssdsim", format("ssdsim"));
    contradicted("time,offset,size,is_read,volume", "1,8,16,0,7\n", "tencent", format("tencent"));
    let agrees = format!("time disk lba sectors is_read\n{ssdsim}");
    assert_eq!(read(&agrees, format("ssdsim")).0[0].op, Op::Read);
    let inverted = Options { invert_ops: true, ..format("ssdsim") };
    let text = format!("time disk lba sectors is_write\n{ssdsim}");
    assert_eq!(read(&text, inverted).0[0].op, Op::Write);
}

#[test]
fn contradictory_marks_name_both_lines() {
    let columns = "time=1:us,op=2,offset=3,size=4";
    let told = |text: &str| failure(text, by(columns)).problem;
    let said = told("1.234;R;0;512\n1,234;R;0;512\n");
    assert!(said.contains("`1.234` in line 1 and `1,234` in line 2 have two marks"), "{said}");
    let said = told("ts;op;lba;len\n998,5;R;0;512\n1,000,000;R;0;512\n");
    assert!(said.contains("`1,000,000` in line 3") && said.contains("`998,5` in line 2"), "{said}");
    // Behind the beginning.
    let line = |at: u64| format!("{},{:03};R;0;512\n", 100 + at / 900, 100 + at % 900);
    let text = (0..40_000).map(line).collect::<String>() + "1,000,000;R;0;512\n";
    let error = failure(&text, by("time=1:s,op=2,offset=3,size=4"));
    assert_eq!(line_of(&error), Some(40_001));
    assert!(error.problem.contains("see `100,100` in line 1"), "{error}");
}

#[test]
fn suggested_operations_are_those_that_the_names_tell() {
    let suggested = |text: &str| suggested_columns(text.as_bytes()).expect("columns");
    let table = |name: &str, [yes, no]: [&str; 2]| {
        format!("ts,{name},lba,bytes\n0.1,{yes},8,4096\n0.2,{no},72,8192\n0.3,{yes},16,4096\n")
    };
    let said = suggested(&table("is_read", ["True", "False"]));
    assert!(said.contains("`op` False=write,True=read)"), "{said}");
    let said = suggested(&table("is_write", ["yes", "no"]));
    assert!(said.contains("`op` no=read,yes=write)"), "{said}");
    let said = suggested(&table("opcode", ["1", "2"]));
    assert!(said.contains("1=write,2=read as in NVMe"), "{said}");
    // The action of an event is no operation.
    let events = |second: &str| {
        format!("8,0 0.1 D W 223490 8\n8,0 0.2 {second} R 8 8\n8,0 0.3 D WS 64 16\n")
            .replace("8,0", "sda")
    };
    let said = suggested(&events("D"));
    assert!(said.contains("op=4") && !said.contains("holds events"), "{said}");
    let said = suggested(&events("C"));
    assert!(said.contains("op=4") && said.contains("column 3 holds events"), "{said}");
}

#[test]
fn requests_at_one_time_have_no_rate() {
    let lines: String = (0..60).map(|at| format!("1000,h,0,Read,{},4096,1\n", at * 4096)).collect();
    let (_, facts) = read(&lines, Options::default());
    let told = facts.warnings.join("; ");
    assert!(told.contains("all 60 requests have one time") && !told.contains("a second"), "{told}");
    // A clock of seconds stands still for so many.
    let tencent: String = (0..40).map(|at| format!("1538323200,{},8,0,7\n", at * 8)).collect();
    let (_, facts) = read(&tencent, format("tencent"));
    assert!(!facts.warnings.join("; ").contains("have one time"), "{facts:?}");
}
