//! Files that people give by mistake, or that were cut off or written by other systems: read, or refused with what they are.

use ftlab::host::Op;
use ftlab::units::{Lba, SimTime};
use ftlab_workload::trace::{
    ColumnPlan, Facts, Location, Options, Record, SpaceUnit, TraceError, open,
};

fn read_as(content: &[u8], options: Options) -> Result<(Vec<Record>, Facts), TraceError> {
    let mut trace = open(Location::Memory("test".to_owned(), content.to_vec().into()), options)?;
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    while trace.next_batch(&mut batch)? {
        all.extend_from_slice(&batch);
    }
    Ok((all, trace.facts()))
}

fn read(content: &[u8]) -> (Vec<Record>, Facts) {
    read_as(content, Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn failure(content: &[u8]) -> String {
    read_as(content, Options::default()).expect_err("it should fail").to_string()
}

fn record(ns: u64, op: Op, lba: u64, sectors: u32) -> Record {
    Record { at: SimTime(ns), op, lba: Lba(lba), sectors, stream: 0, fua: false }
}

const MSR: &str = "1000,h,0,Read,0,4096,1\n2000,h,0,Write,4096,512,1\n";

fn expected() -> [Record; 2] {
    [record(0, Op::Read, 0, 8), record(100_000, Op::Write, 8, 1)]
}

#[test]
fn a_file_in_no_order_of_time_is_not_called_a_second_recording() {
    // Modulo a power of two, triangular numbers take each value once.
    let line = |at: u64| {
        format!("{},h,0,Read,{},4096,1\n", at * (at + 1) / 2 % 1_024 * 10_000, at * 4_096)
    };
    let text: String = (0..1_024).map(line).collect();
    let (records, facts) = read(text.as_bytes());
    assert!(records.is_sorted_by_key(|record| record.at));
    let warnings = facts.warnings.join("\n");
    assert!(warnings.contains("in no order of time, which goes back"), "{warnings}");
    assert!(!warnings.contains("another recording"), "{warnings}");
    // Two recordings, whose requests are a little out of order.
    let line = |at: u64| {
        let near = at % 500 / 4 * 4 + [0, 2, 1, 3][at as usize % 4];
        format!("{},h,0,Read,{},4096,1\n", near * 10_000, at * 4_096)
    };
    let text: String = (0..1_000).map(line).collect();
    let warnings = read(text.as_bytes()).1.warnings.join("\n");
    assert!(warnings.contains("another recording began"), "{warnings}");
}

#[test]
fn utf_16_is_read_and_said() {
    let text = MSR.replace('\n', "\r\n");
    let low: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let high: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let with_mark = |mark: &[u8], bytes: &[u8]| [mark, bytes].concat();
    for bytes in [
        with_mark(b"\xff\xfe", &low),
        with_mark(b"\xfe\xff", &high),
        // Without a mark.
        low.clone(),
    ] {
        let (records, facts) = read(&bytes);
        assert_eq!(records, expected());
        assert!(facts.assumed.contains(&"the text is in UTF-16".to_owned()), "{facts:?}");
    }
    assert!(!read(MSR.as_bytes()).1.assumed.iter().any(|text| text.contains("UTF-16")));
}

#[test]
fn lines_may_end_in_cr_alone() {
    let (records, facts) = read(MSR.replace('\n', "\r").as_bytes());
    assert_eq!(records, expected());
    assert!(facts.assumed.contains(&"lines end in CR alone".to_owned()), "{facts:?}");
    // More than is looked at to tell.
    let long: String =
        (0..40_000).map(|at| format!("{},h,0,Read,0,4096,1\r", 1_000 + at)).collect();
    assert_eq!(read(long.as_bytes()).0.len(), 40_000);
    let usual = read(MSR.replace('\n', "\r\n").as_bytes());
    assert_eq!(usual.0, expected());
    assert!(!usual.1.assumed.iter().any(|text| text.contains("CR")), "{usual:?}");
}

#[test]
fn recordings_that_are_no_text_are_named_with_the_command_that_makes_text() {
    for (start, remedy) in [
        (&b"\x17\x08\x44tracing6\0\0\0"[..], "trace-cmd report -i FILE"),
        (b"PERFILE2\x68\0\0\0\0\0\0\0", "perf script -i FILE"),
        (b"2ELIFREP\0\0\0\0\0\0\0\x68", "perf script -i FILE"),
        (b"SQLite format 3\0\x10\0", "export the table as CSV"),
    ] {
        let said = failure(&[start, &[0; 600]].concat());
        assert!(said.contains(remedy) && said.contains("remedy"), "{said}");
    }
    let book = [b"PK\x03\x04", &[0; 26][..], b"[Content_Types].xml", &[0; 600]].concat();
    assert!(failure(&book).contains("save its table as CSV"));
}

#[test]
fn a_last_line_that_may_be_cut_off_is_doubted() {
    let lines: String =
        (0..20).map(|at| format!("0,{},4096,r,{}.250000\n", at * 8, 10 + at)).collect();
    let cut = |end: &str| format!("{lines}{end}");
    let warnings = |text: &str| read(text.as_bytes()).1.warnings;
    // A legal end without a line end.
    assert_eq!(warnings(&cut("0,8,4096,r,30.250000")), [""; 0]);
    assert_eq!(warnings(&cut("0,8,4096,r,30.2\n")), [""; 0], "the file says that it is whole");
    let said = warnings(&cut("0,8,4096,r,30.2"));
    assert!(
        said[0].contains("the last line (21) has no line end and ends with a shorter number"),
        "{said:?}"
    );
    let spc = "0,8,4096,r,10.25,x\n".repeat(2) + "0,8,4096,r,11.25";
    let said = warnings(&spc);
    assert!(said.iter().any(|text| text.contains("has 5 fields, where all others")), "{said:?}");
    let ssdsim = "1000 0 16 8 1 5 \n".repeat(2) + "2000 0 16 8 1";
    let said = failure(ssdsim.as_bytes());
    assert!(said.contains("the file ends within this line"), "{said}");
    // If it can't be read, the error says why.
    let said = failure(cut("0,8,40").as_bytes());
    assert!(said.contains("line 21") && said.contains("the file ends within this line"), "{said}");
    let whole = failure(cut("0,8,40\n").as_bytes());
    assert!(!whole.contains("ends within"), "{whole}");
}

#[test]
fn a_restart_is_shown_at_the_line_where_the_time_falls() {
    let run = |count: u64| (0..count).map(|at| format!("{},h,0,Read,0,4096,1\n", 1_000 + at));
    let text: String = run(50_000).chain(run(100_000)).collect();
    let options = || Options { order_window: 16, ..Options::default() };
    let error = read_as(text.as_bytes(), options()).expect_err("it can't be sorted");
    let place = error.place.as_deref().expect("a line");
    assert_eq!((place.line, place.text.as_str()), (50_001, "1000,h,0,Read,0,4096,1"));
    assert_eq!(&place.text[place.field.clone()], "1000");
    assert!(error.problem.starts_with("the time falls back by 4.9999"), "{error}");
    assert!(error.problem.contains("here, behind that of line 50000, and stays"), "{error}");
    assert!(error.remedy.contains("`late` continue"), "{error}");
    // A stray line before is no reason.
    let stray = "1100,h,0,Read,0,4096,1\n".to_owned();
    let text: String = run(300).chain([stray]).chain(run(70_000)).chain(run(100_000)).collect();
    let error = read_as(text.as_bytes(), options()).expect_err("it can't be sorted");
    assert_ne!(error.place.map(|place| place.line), Some(301));
}

#[test]
fn text_before_a_table_is_skipped_and_counted_if_asked() {
    let wpa = "IO Type;Process Name;Init Time (s);Size (B);Min Offset;Disk\n\
               Read;a.exe;0,000001000;4.096;0;0\nWrite;b.exe;0,000101000;512;0x1000;0\n";
    for text in [MSR, wpa] {
        let text = format!("2026-01-05, exported by a tool\n{text}");
        let said = failure(text.as_bytes());
        assert!(said.contains("line 1") && said.contains("`skip_malformed`"), "{said}");
        let options = Options { skip_malformed: true, ..Options::default() };
        let (records, facts) = read_as(text.as_bytes(), options).expect("readable");
        assert_eq!((&records[..], facts.skipped_lines), (&expected()[..], 1), "{text}");
    }
}

#[test]
fn sizes_that_look_like_sectors_are_doubted() {
    let spc = |size: u64| -> String {
        (0..20).map(|at| format!("0,{},{size},r,{at}.5\n", at * 8)).collect()
    };
    let msr = |size: u64| -> String {
        (0..20)
            .map(|at| format!("{},h,0,Read,{},{size},1\n", 9_000 + at * 10_000, at * 4096))
            .collect()
    };
    let warned = |text: &str, options: Options| {
        let warnings = read_as(text.as_bytes(), options).expect("readable").1.warnings;
        warnings.iter().any(|text| text.contains("(`size_unit` sector"))
    };
    let odd = msr(512).replace("Read,", "Read,1");
    assert!(odd.contains("Read,14096,512") && !warned(&odd, Options::default()), "odd addresses");
    for lines in [&spc as &dyn Fn(u64) -> String, &msr] {
        assert!(warned(&lines(8), Options::default()) && warned(&lines(24), Options::default()));
        assert!(
            !warned(&lines(512), Options::default()) && !warned(&lines(4096), Options::default())
        );
        assert!(!warned(&lines(70_000), Options::default()), "too large");
        for unit in [SpaceUnit::Sector, SpaceUnit::Byte] {
            assert!(!warned(&lines(8), Options { size_unit: Some(unit), ..Options::default() }));
        }
    }
}

#[test]
fn a_text_may_end_as_dos_ends_it() {
    for end in ["\x1a", "\x1a\n"] {
        let (records, facts) = read(format!("{MSR}{end}").as_bytes());
        assert_eq!((&records[..], facts.skipped_lines), (&expected()[..], 0));
        assert_eq!(facts.warnings, [""; 0]);
    }
    assert!(failure(format!("{MSR}\x1a1\n").as_bytes()).contains("line 3"));
}

#[test]
fn names_of_columns_may_come_again_where_files_were_joined() {
    let head = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n";
    let more = "2000,h,0,Write,4096,512,1\n";
    let (records, facts) = read(format!("{head}{MSR}{head}{more}{head}{more}").as_bytes());
    assert_eq!((records.len(), facts.skipped_lines), (4, 0));
    let said = facts.warnings.join("; ");
    assert!(said.contains("line 4 and 1 more name the columns again"), "{said}");
    let table = "ts,op,offset,len\n1,R,0,4096\nts,op,offset,len\n2,W,4096,512\n";
    let plan = ColumnPlan::parse("time=ts:us,op=op,offset=offset,size=len").expect("columns");
    let options = Options { columns: plan, ..Options::default() };
    let (records, facts) = read_as(table.as_bytes(), options).expect("readable");
    assert_eq!(records[1], record(1_000, Op::Write, 8, 1));
    assert!(facts.warnings.join("; ").contains("line 3 names the columns again"), "{facts:?}");
    // The first is no repetition, wherever it stands.
    let swapped = head.replace("Offset,Size", "Size,Offset");
    for above in ["", "\n", "\n\n"] {
        let text = format!("{above}{swapped}{more}{swapped}{more}");
        let msr = Options::default().with_format("msr").expect("a format");
        let error = read_as(text.as_bytes(), msr).expect_err("it is refused");
        assert!(error.problem.contains("column 5 is called `Size`, and not addresses"), "{error}");
    }
    // Other names are not passed over.
    let other = format!("{head}{MSR}{}{more}", head.replace("Offset,Size", "Size,Offset"));
    assert!(failure(other.as_bytes()).contains("line 4"));
}

#[test]
fn a_line_with_a_field_too_few_or_too_many_is_refused() {
    let cases = [
        (
            "msr",
            "1280,usr,0,Write,4096,4096,512",
            &["1280,usr,0,Write,16384,512", "1280,usr,0,Write,7,12288,4096,512"][..],
        ),
        ("alibaba", "725,R,8192,4096,1577808000000000", &["725,R,7,8192,4096,1577808000000000"]),
        ("tencent", "1538323200,16,8,1,3", &["1538323200,7,8,1,1,3"]),
        ("systor", "1455592560.1,0.1,W,2,4096,8192", &["1455592560.1,0.1,W,2,7,4096,8192"]),
        ("ssdsim", "6100000 0 8 8 1", &["6100000 0 7 800 1 1"]),
        ("diskmon", "0\t0.000001\t0.5\t0\tRead\t8\t8", &["0\t0.000001\t0.5\t0\tRead\t7\t8\t8"]),
        ("biosnoop", "0.000000 fio 12 sda R 8 4096 0.50", &["0.000000 fio 12 sda R 7 8 4096 0.50"]),
    ];
    for (format, good, bad) in cases {
        let options = || Options::default().with_format(format).expect("a format");
        let lines = |which: &str| format!("{good}\n{good}\n{which}\n{good}\n");
        let read = read_as(lines(good).as_bytes(), options());
        assert_eq!(read.unwrap_or_else(|error| panic!("{error}")).0.len(), 4, "{format}");
        for line in bad {
            let error = read_as(lines(line).as_bytes(), options()).map(|_| ()).expect_err(line);
            assert!(
                error.to_string().contains("line 3") && error.to_string().contains(" shifted"),
                "{error}"
            );
            let lenient = Options { skip_malformed: true, ..options() };
            let (records, facts) = read_as(lines(line).as_bytes(), lenient).expect("skipped");
            assert_eq!((records.len(), facts.skipped_lines), (3, 1), "{format}");
        }
    }
    let columns = ColumnPlan::parse("time=time,op=op,offset=offset,size=size").expect("a plan");
    let options = Options { columns, ..Options::default() };
    let table = "time,op,pid,offset,size,lat_us\n0.1,R,33,4096,4096,512\n0.3,W,12288,4096,512\n";
    let error = read_as(table.as_bytes(), options).map(|_| ()).expect_err("a field is missing");
    assert!(
        error.problem.contains("the line has 5 fields, and the first line 6 fields"),
        "{error}"
    );
    let log = "fio version 2 iolog\nf add\nf open\nf read 7 4096 4096\n";
    assert!(failure(log.as_bytes()).contains("an offset and a length behind the action"));
}
