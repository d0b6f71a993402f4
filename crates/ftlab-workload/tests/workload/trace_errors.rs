//! What goes wrong with traces, and how it is reported.

use ftlab_workload::trace::{
    BlkEvent, ConvertOptions, ErrorKind, Late, Location, Options, Record, TraceError, convert,
    inspect, named, open,
};

fn text(content: impl Into<Vec<u8>>) -> Location {
    Location::Memory("trace.csv".to_owned(), content.into().into())
}

fn failure_with(content: impl Into<Vec<u8>>, options: Options) -> TraceError {
    let result = open(text(content), options).and_then(|mut trace| inspect(&mut trace));
    result.expect_err("it should fail")
}

fn failure(content: impl Into<Vec<u8>>) -> TraceError {
    failure_with(content, Options::default())
}

#[test]
fn a_malformed_field_has_line_caret_and_remedy() {
    let error =
        failure("1000,h,0,Read,0,4096,1\n2000,h,0,Write,12x,4096,1\n3000,h,0,Read,0,512,1\n");
    assert_eq!(error.kind, ErrorKind::Malformed);
    insta::assert_snapshot!(error, @r"
    trace.csv, line 2: expected an address: a whole number, found `12x`
      2 | 2000,h,0,Write,12x,4096,1
        |                ^^^
    remedy: fix the line; or `skip_malformed` skips such lines and counts them; or, if it has another format, name it with `format`
    ");
}

#[test]
fn a_line_that_ends_too_early_points_behind_its_end() {
    insta::assert_snapshot!(failure("1 0 8 8 1\n2 0 8\n3 0 8 8 1\n"), @r"
    trace.csv, line 2: the line ends, expected a size: a whole number
      2 | 2 0 8
        |      ^
    remedy: fix the line; or `skip_malformed` skips such lines and counts them; or, if it has another format, name it with `format`
    ");
}

#[test]
fn unprintable_and_long_lines_stay_readable() {
    let mut line = b"1000,h,0,Read,0,4096,1\n2000,\xff\x07,0,Write,".to_vec();
    line.extend([b'9'; 300]);
    line.extend(b",1,1\n1000,h,0,Read,0,4096,1\n");
    let shown = failure(line).to_string();
    assert!(shown.lines().all(|line| line.chars().count() < 200), "{shown}");
    assert!(shown.contains("^^^^^") && shown.contains("..."), "{shown}");
}

#[test]
fn marks_without_width_are_cut_too() {
    // Found by fuzzing: a Hebrew point, which takes no place of its own.
    let line = format!("2000,h,0,Write,7{},4096,1", "\u{5b4}".repeat(5_000));
    let shown = failure(format!("1000,h,0,Read,0,4096,1\n{line}\n")).to_string();
    assert!(shown.len() < 1_000, "{} bytes: {shown}", shown.len());
    assert!(shown.contains("2 | ...te,7???") && shown.contains("^^^^^"), "{shown}");
}

#[test]
fn skipped_lines_are_counted() {
    let options = Options { skip_malformed: true, ..Options::default() };
    let lines =
        "1 0 8 8 1\n2 0 8\n3 0 8 0 1\n4 0 8 8 7\n5 0 8 8 0\n6 0 8 8 0\n7 0 8 8 0\n8 0 8 8 0\n";
    let mut trace = open(text(lines), options).expect("readable");
    let seen = inspect(&mut trace).expect("readable");
    assert_eq!((seen.requests, seen.skipped_lines), (5, 3));
    let told = "3 wrong lines were skipped, the first being line 2: the line ends, expected a size: a whole number";
    assert_eq!(seen.warnings, [told]);
}

#[test]
fn binary_content_is_not_printed() {
    let mut trace = b"\x7fELF\x02\x01\x01\x00\x1b[2J\n".to_vec();
    trace.extend(0..=255);
    let error = failure(trace);
    assert_eq!(error.kind, ErrorKind::UnknownFormat);
    let told = error.to_string();
    assert!(
        told.contains("it is not text") && !told.contains('\u{1b}') && !told.contains('\0'),
        "{told}"
    );
}

#[test]
fn unknown_content_lists_the_formats() {
    let error = failure("# comment\nhello world, this is prose\nand more\n");
    assert_eq!(error.kind, ErrorKind::UnknownFormat);
    insta::assert_snapshot!(error, @r"
    trace.csv, line 2: its first lines fit no known trace format
      2 | hello world, this is prose
        | ^^^^^^^^^^^^^^^^^^^^^^^^^^
    remedy: force one with `format` to see what is wrong; known formats: msr, spc, ssdsim, mqsim, disksim, blkparse, fio-v2, fio-v3, alibaba, tencent, systor, fiu, disksim-validate, disksim-outtrace, wpa, xperf, diskmon, biosnoop, ftrace, blktrace, vscsi, hp-srt, oracle-general, csv, parquet
    ");
}

#[test]
fn an_unknown_format_name_suggests_a_near_one() {
    let error = named("ssd-sim").expect_err("unknown");
    assert!(error.remedy.starts_with("did you mean `ssdsim`? known formats: msr"), "{error}");
}

/// If the second of two lines is wrong, the first is not blamed.
#[test]
fn a_wrong_line_among_few_is_told_and_not_the_one_before() {
    let error = failure("1000,h,0,Read,0,4096,1\n2000,h,0,Wriet,4096,4096,1\n");
    insta::assert_snapshot!(error, @r"
    trace.csv, line 2: expected an operation: Read or Write, found `Wriet`
      2 | 2000,h,0,Wriet,4096,4096,1
        |          ^^^^^
    remedy: fix the line; or `skip_malformed` skips such lines and counts them; or, if it has another format, name it with `format`
    ");
    let error = failure("1000,h,0,Read,0,4096,1\n2000,h,0,Wriet,4096,4096,1\n3000,h,0,?,0,8,1\n");
    insta::assert_snapshot!(error, @r"
    trace.csv, line 2: its first lines fit no known trace format; msr comes nearest and reads 1 of 3, but not this one: expected an operation: Read or Write, found `Wriet`
      2 | 2000,h,0,Wriet,4096,4096,1
        |          ^^^^^
    remedy: force one with `format` to see what is wrong; known formats: msr, spc, ssdsim, mqsim, disksim, blkparse, fio-v2, fio-v3, alibaba, tencent, systor, fiu, disksim-validate, disksim-outtrace, wpa, xperf, diskmon, biosnoop, ftrace, blktrace, vscsi, hp-srt, oracle-general, csv, parquet
    ");
    // A line of column names is not data.
    let header = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime";
    let error = failure(format!("{header}\n\n2000,h,0,Wriet,4096,4096,1\n"));
    assert_eq!((error.kind, error.place.expect("a line").line), (ErrorKind::UnknownFormat, 3));
    let error = failure("prose, and more of it\nwithout any number\n");
    assert_eq!(error.place.expect("a line").line, 1);
}

#[test]
fn what_reads_more_lines_than_it_breaks_is_the_format() {
    let good = "5 1 40 8 0\n";
    let (seen, skips) =
        (|error: TraceError| error.kind, Options { skip_malformed: true, ..Options::default() });
    for (lines, kind) in [
        (good.repeat(3) + "5 1 40 x 0\n", ErrorKind::Malformed),
        (good.to_owned() + "5 1 40 x 0\n", ErrorKind::Malformed),
        (good.to_owned() + "5 1 40 x 0\n" + "5 1 40 x 0\n", ErrorKind::UnknownFormat),
    ] {
        assert_eq!(seen(failure(lines.as_str())), kind, "{lines}");
        let read = open(text(lines.as_str()), skips.clone()).and_then(|mut it| inspect(&mut it));
        assert_eq!(read.is_ok(), kind == ErrorKind::Malformed, "{lines}");
    }
}

#[test]
fn a_trace_of_nothing_but_wrong_lines_tells_the_first() {
    let options = Options { skip_malformed: true, ..Options::default() }.with_format("msr");
    let lines = "# made by hand\n1000,h,0,Read,0,4k,1\n2000,h,0,Write,4096\n";
    insta::assert_snapshot!(failure_with(lines, options.expect("known")), @r"
    trace.csv, line 2: it has no request, read as msr: 2 wrong lines were skipped, the first because of this: expected a size: a whole number, found `4k`
      2 | 1000,h,0,Read,0,4k,1
        |                 ^^
    remedy: check the file; if it has another format, name it with `format`
    ");
}

/// Returns blkparse events with these actions, ten microseconds apart.
fn events(actions: &[&str]) -> String {
    let line = |(at, action): (usize, &&str)| {
        format!("8,0 0 {at} 0.{:09} 7 {action} W {} + 8 [x]\n", at * 10_000, at * 8)
    };
    actions.iter().enumerate().map(line).collect()
}

#[test]
fn blkparse_without_the_events_that_count_tells_which_it_has() {
    let completed = events(&["C"; 20]);
    insta::assert_snapshot!(failure(completed.as_str()), @r"
    trace.csv: it has no request, read as blkparse: it has no issue events (D), but 20 completions (C)
    remedy: record issues, too (blktrace -a issue); or `blkparse_event` complete takes completions, which have the times at which requests ended
    ");
    let with = |event| Options { blkparse_event: Some(event), ..Options::default() };
    let mut trace = open(text(completed), with(BlkEvent::Complete)).expect("readable");
    let seen = inspect(&mut trace).expect("readable");
    assert_eq!((seen.requests, seen.duration_ns), (20, 190_000));
    assert!(seen.assumed.contains(&"completions (C) are the requests, as said".to_owned()));
    assert!(
        seen.warnings[0].contains("requests arrive when they had ended"),
        "{:?}",
        seen.warnings
    );

    let error = failure_with(events(&["Q", "C", "G", "Q"]), with(BlkEvent::Issue));
    insta::assert_snapshot!(error, @r"
    trace.csv: it has no request, read as blkparse: it has no issue events (D), but 2 queue events (Q), 1 completion (C), 1 of other kinds
    remedy: `blkparse_event` queue takes those
    ");
    let error = failure(events(&["G", "I", "G"]));
    assert!(error.remedy.starts_with("record issues (blktrace -a issue)"), "{error}");
    // A summary without events is not a blkparse trace.
    assert_eq!(failure("CPU0 (sda):\n Reads Queued: 0\n").kind, ErrorKind::UnknownFormat);
}

/// The choices named in messages are accepted.
#[test]
fn the_events_that_hints_name_exist() {
    for (name, event) in BlkEvent::ALL {
        assert_eq!(BlkEvent::named(name), Some(event));
        assert_eq!(BlkEvent::named(event.letter()), Some(event));
    }
    assert_eq!((BlkEvent::named("d"), BlkEvent::named("")), (None, None));
    let queued = Options { blkparse_event: Some(BlkEvent::Queue), ..Options::default() };
    let mut trace = open(text(events(&["Q", "D"])), queued).expect("readable");
    let warnings = inspect(&mut trace).expect("readable").warnings;
    let hint =
        warnings[0].rsplit_once("`blkparse_event` ").expect("a hint").1.trim_end_matches(')');
    assert_eq!(BlkEvent::named(hint), Some(BlkEvent::Issue), "{warnings:?}");
}

#[test]
fn a_decimal_time_among_whole_ones_is_no_damage_by_itself() {
    let lines = ssdsim((0..300).map(|step| (step * 1_000_000, step * 8, 8)));
    let error = failure(lines + "400000000.5 0 8 8 1\n");
    assert_eq!(
        (error.kind, error.place.as_ref().expect("a line").line),
        (ErrorKind::Malformed, 301)
    );
    assert!(error.remedy.contains("use `format` disksim"), "{error}");
}

#[test]
fn nothing_to_read_is_an_error() {
    assert_eq!(failure("").kind, ErrorKind::Empty);
    assert_eq!(failure("\n \n").kind, ErrorKind::Empty);
    let forced = Options::default().with_format("msr").expect("known");
    let header = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n";
    assert_eq!(failure_with(header, forced).kind, ErrorKind::Empty);
}

#[test]
fn a_missing_file_is_named() {
    let error = open(std::path::Path::new("no/such.csv"), Options::default()).err().expect("none");
    assert_eq!((error.kind, error.file.as_str()), (ErrorKind::Io, "no/such.csv"));
    assert_eq!(error.remedy, "check the path");
}

/// Returns SSDsim lines with a time, an address and a size each.
fn ssdsim(rows: impl IntoIterator<Item = (u64, u64, u64)>) -> String {
    rows.into_iter().map(|(time, lba, sectors)| format!("{time} 0 {lba} {sectors} 1\n")).collect()
}

#[test]
fn absurd_rates_are_refused_with_the_option_for_the_unit() {
    let lines = ssdsim((0..2_000).map(|step| (step, step * 8, 8)));
    let error = failure(lines.as_str());
    assert_eq!(error.kind, ErrorKind::Implausible);
    insta::assert_snapshot!(error, @r"
    trace.csv: 2000 requests within 1.999us: more than 100 million a second
    remedy: times probably count larger units: say `time_unit` us|ms|s; if it is true, `accept_implausible`; lines of DiskSim without decimals, in milliseconds, look like these of SSDsim: `format` disksim
    ");
    let us = Options { time_unit: Some(ftlab_workload::trace::TimeUnit::Us), ..Options::default() };
    assert!(inspect(&mut open(text(lines.as_str()), us).expect("readable")).is_ok());
    let any = Options { accept_implausible: true, ..Options::default() };
    assert!(inspect(&mut open(text(lines), any).expect("readable")).is_ok());
}

#[test]
fn a_clock_that_stands_still_is_refused() {
    let error = failure(ssdsim((0..50).map(|step| (0, step * 8, 8))));
    assert_eq!(error.kind, ErrorKind::Implausible);
    assert!(error.problem.starts_with("all 50 requests arrive at time 0"), "{error}");
}

#[test]
fn sizes_and_spans_beyond_reason_point_at_their_field() {
    let error = failure("1 0 8 8 1\n2 0 8 2097153 1\n3 0 8 8 1\n");
    insta::assert_snapshot!(error, @r"
    trace.csv, line 2: a request of 1073742336 bytes (the limit is 1 GiB)
      2 | 2 0 8 2097153 1
        |       ^^^^^^^
    remedy: if sizes count other units, say `size_unit` byte|sector|4k; up to 1 TiB `accept_implausible` takes it
    ");
    let error = failure("1 0 8 8 1\n2 0 20000000000000 8 1\n3 0 8 8 1\n");
    insta::assert_snapshot!(error, @r"
    trace.csv, line 2: addresses span 10240 TB (the limit is 10 PB)
      2 | 2 0 20000000000000 8 1
        |     ^^^^^^^^^^^^^^
    remedy: if addresses count other units, say `address_unit` byte|sector|4k; if it is true, `accept_implausible`
    ");
    let error = failure("1 0 8 8 1\n2 0 8 0 1\n3 0 8 8 1\n");
    assert_eq!(error.problem, "a request without length");
}

#[test]
fn empty_requests_are_left_out_and_counted_where_accepted() {
    let options = Options { accept_implausible: true, ..Options::default() };
    let mut trace = open(text("1 0 8 8 1\n2 0 8 0 1\n3 0 8 8 1\n"), options).expect("readable");
    assert_eq!(inspect(&mut trace).expect("readable").requests, 2);
    assert_eq!(trace.facts().dropped_empty, 1);
}

#[test]
fn a_leap_of_years_points_at_the_time() {
    insta::assert_snapshot!(failure("1 0 8 8 1\n2 0 8 8 1\n900000000000000000 0 8 8 1\n"), @r"
    trace.csv, line 3: the time jumps ahead by 10416 days from that of line 2
      3 | 900000000000000000 0 8 8 1
        | ^^^^^^^^^^^^^^^^^^
    remedy: if times count other units, say `time_unit` ns|filetime|us|ms|s; if this line is damaged, `skip_malformed`; if lines of two clocks are mixed, such as the time of day and the time since boot, keep those of one; if it is true, `accept_implausible`; if line 2 is the damaged one, mend or delete that
    ");
}

#[test]
fn the_last_moment_of_64_bits_is_a_moment() {
    let lines = ssdsim([0, u64::MAX].into_iter().cycle().take(2_000).map(|time| (time, 8, 8)));
    let options = Options { accept_implausible: true, ..Options::default() };
    let mut trace = open(text(lines), options).expect("readable");
    let seen = inspect(&mut trace).expect("readable");
    assert_eq!((seen.duration_ns, seen.out_of_order), (u64::MAX, 999));
}

/// Returns many requests in order, and one that belongs far before them.
fn one_straggler() -> String {
    let ordered = (0..100_000).map(|step| (1_000_000 + step * 1_000, step * 8, 8));
    ssdsim(ordered.chain([(1_000_500, 0, 8), (101_000_500, 0, 8)]))
}

#[test]
fn beyond_the_window_disorder_is_refused_or_clamped() {
    let narrow = Options { order_window: 16, ..Options::default() };
    let error = failure_with(one_straggler(), narrow.clone());
    assert_eq!(error.kind, ErrorKind::Unordered);
    insta::assert_snapshot!(error, @r"
    trace.csv, line 100001: at least 65.5345ms too early for its place in the file, behind line 100000
      100001 | 1000500 0 0 8 1
             | ^^^^^^^
    remedy: a larger `order_window` sorts more; `late` clamp gives such requests the time of the one before and counts them; if another recording begins here, or a counter wrapped, `late` continue
    ");
    let clamp = Options { late: Late::Clamp, ..narrow };
    let mut trace = open(text(one_straggler()), clamp).expect("readable");
    let seen = inspect(&mut trace).expect("readable");
    assert_eq!((seen.requests, seen.out_of_order), (100_002, 1));
    assert_eq!(trace.facts().clamped, 1);
    let wide = Options { order_window: 200_000, ..Options::default() };
    let seen = inspect(&mut open(text(one_straggler()), wide).expect("readable"));
    assert_eq!(seen.expect("readable").out_of_order, 1);
}

#[test]
fn damaged_containers_are_said_to_be_damaged() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = ssdsim((0..5_000).map(|step| (step * 1_000_003, step * 8, 8)));
    for name in ["t.gz", "t.zst", "t.bz2", "t.xz", "t.parquet"] {
        let path = folder.path().join(name);
        let format = if name.ends_with("parquet") { "parquet" } else { "spc" };
        let mut trace = open(text(lines.as_str()), Options::default()).expect("readable");
        convert(&mut trace, named(format).expect("known"), &path, ConvertOptions::default())
            .expect("written");
        let whole = std::fs::read(&path).expect("there");
        let error = failure(&whole[..whole.len() / 2]);
        assert_eq!(error.kind, ErrorKind::Corrupt, "{name}: {error}");
    }
}

#[test]
fn a_flipped_bit_of_a_parquet_file_never_reads_as_another_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines =
        ssdsim((0..3_000).map(|step| (step * 1_000_003, step * step % 977 * 8, 8 + step % 3 * 8)));
    let path = folder.path().join("t.parquet");
    let mut trace = open(text(lines.as_str()), Options::default()).expect("readable");
    let parquet = named("parquet").expect("known");
    convert(&mut trace, parquet, &path, ConvertOptions::default()).expect("written");
    let whole = std::fs::read(&path).expect("there");
    let read = |bytes: Vec<u8>| -> Result<Vec<Record>, TraceError> {
        let mut trace = open(Location::Memory("t".to_owned(), bytes.into()), Options::default())?;
        let (mut all, mut batch) = (Vec::new(), Vec::new());
        while trace.next_batch(&mut batch)? {
            all.extend_from_slice(&batch);
        }
        Ok(all)
    };
    let records = read(whole.clone()).expect("readable");
    let mut by_sums = 0;
    for at in (0..whole.len()).step_by(7) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at / 7 % 8);
        match read(flipped) {
            Ok(other) => assert!(other == records, "byte {at}"),
            Err(error) => {
                by_sums += usize::from(error.problem.contains("by the sums in its footer"))
            }
        }
    }
    assert!(by_sums > 20, "{by_sums}");
}

#[test]
fn a_line_without_end_does_not_fill_memory() {
    let error = failure(vec![b'7'; 1 << 20]);
    assert!(error.problem.starts_with("a line is longer than 64 KiB"), "{error}");
}

#[test]
fn a_failed_conversion_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines =
        "fio version 3 iolog\n10 f add\n25 f read 0 4096\n27 f trim 0 4096\n30 f read 0 512\n";
    let path = folder.path().join("out.csv");
    let msr = named("msr").expect("known");
    let into = |options| {
        let mut trace = open(text(lines), Options::default()).expect("readable");
        convert(&mut trace, msr, &path, options)
    };
    let error = into(ConvertOptions::default()).expect_err("MSR has no trims");
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert!(error.remedy.contains("`drop_unsupported`"));
    assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 0);

    let done = into(ConvertOptions { drop_unsupported: true }).expect("written");
    assert_eq!((done.requests, done.dropped), (2, 1));
    assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 1);
}

/// Only the FUA flag of a write is dropped, not the write.
#[test]
fn what_a_format_can_not_hold_of_a_write_is_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = "8,0 0 1 0.000000000 1 D WFS 80 + 8 [x]\n8,0 0 2 0.000001000 1 D W 96 + 8 [x]\n";
    let path = folder.path().join("out.csv");
    let into = |options| {
        let mut trace = open(text(lines), Options::default()).expect("readable");
        convert(&mut trace, named("msr").expect("known"), &path, options)
    };
    let error = into(ConvertOptions::default()).expect_err("MSR has no FUA");
    assert!(error.problem.contains("FUA") && error.remedy.contains("plain"), "{error}");
    let done = into(ConvertOptions { drop_unsupported: true }).expect("written");
    assert_eq!((done.requests, done.dropped, done.made_plain), (2, 0, 1));
    let mut trace = open(text(lines), Options::default()).expect("readable");
    let found = inspect(&mut trace).expect("readable");
    assert_eq!((found.writes, found.fua_writes), (2, 1));
}

/// A format that holds FUA drops nothing of it.
#[test]
fn what_a_format_holds_of_a_write_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = "8,0 0 1 0.000000000 1 D WFS 80 + 8 [x]\n8,0 0 2 0.000001000 1 D W 96 + 8 [x]\n";
    let path = folder.path().join("out.txt");
    let mut trace = open(text(lines), Options::default()).expect("readable");
    let blkparse = named("blkparse").expect("known");
    let options = ConvertOptions { drop_unsupported: true };
    let done = convert(&mut trace, blkparse, &path, options).expect("written");
    assert_eq!((done.requests, done.dropped, done.made_plain), (2, 0, 0));
    let written = std::fs::read(&path).expect("there");
    let mut trace = open(text(written), Options::default()).expect("readable");
    assert_eq!(inspect(&mut trace).expect("readable").fua_writes, 1);
}

/// Clocks of one second leave tens of thousands of records in any order; they are sorted by default.
#[test]
fn the_usual_window_sorts_tens_of_thousands_of_records() {
    let ordered = (0..100_000).map(|step| (1_000_000 + step * 1_000, step * 8, 8));
    // It belongs 60,000 records earlier.
    let lines = ssdsim(ordered.chain([(41_000_500, 0, 8)]));
    let seen = inspect(&mut open(text(lines), Options::default()).expect("readable"));
    assert_eq!(seen.expect("readable").out_of_order, 1);
}

/// A rate needs two points in time; one nanosecond between them is enough. Time starts at the first request.
#[test]
fn the_shortest_trace_with_a_rate() {
    let rate = |lines: &str| {
        let options = Options { accept_implausible: true, ..Options::default() };
        let mut trace = open(text(lines), options).expect("readable");
        inspect(&mut trace).expect("readable").mean_requests_per_s
    };
    let line = |ns: u32| format!("8,0 0 1 0.00000000{ns} 1 D R 80 + 8 [x]\n");
    assert_eq!(rate(&[line(0), line(0)].concat()), None);
    assert_eq!(rate(&[line(0), line(1)].concat()).map(f64::round), Some(1e9));
}
