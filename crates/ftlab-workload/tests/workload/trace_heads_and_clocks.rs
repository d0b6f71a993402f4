//! Files of known formats whose heads, clocks or events say something else than usual: refused, or doubted.

use ftlab::host::Op;
use ftlab_workload::trace::{
    self, ColumnPlan, Facts, Location, Options, SpaceUnit, TimeUnit, TraceError,
};

use crate::common::texts;

fn open_as(name: &str, bytes: &[u8], options: Options) -> Result<Facts, TraceError> {
    let location = Location::Memory(name.to_owned(), bytes.to_vec().into());
    let mut trace = trace::open(location, options)?;
    let mut batch = Vec::new();
    while trace.next_batch(&mut batch)? {}
    Ok(trace.facts())
}

fn read(text: &str) -> Facts {
    open_as("test", text.as_bytes(), Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn failure(text: &str) -> TraceError {
    open_as("test", text.as_bytes(), Options::default()).expect_err("it is refused")
}

fn lines(count: u64, line: impl Fn(u64) -> String) -> String {
    (0..count).map(line).collect()
}

#[test]
fn whole_numbers_between_commas_are_no_output_of_disksim() {
    // A bandwidth log of fio.
    let log =
        lines(50, |at| format!("{}, 4096, {}, 4096, {}, 0, {}\n", at * 10, at % 2, at * 4096, at));
    let error = failure(&log);
    assert!(error.to_string().contains("fit no known trace format"), "{error}");
    let own = lines(50, |at| format!("{}.{at:06},0,{},8,1,3,{at},{at}\n", at * 10, at * 8));
    let facts = read(&own);
    assert_eq!(facts.format, "disksim-outtrace");
    assert!(facts.assumed.iter().any(|of| of.contains("bit 0 of the flags")), "{facts:?}");
}

#[test]
fn heads_with_other_units_are_said() {
    let diskmon = |head: &str| {
        let rows = lines(3, |at| format!("{at}\t{at}.5\t0.1\t0\tRead\t{}\t8\n", at * 8));
        format!("{head}\n{rows}")
    };
    let own = diskmon("#\tTime\tDuration (s)\tDisk\tRequest\tSector\tLength");
    assert_eq!(read(&own).format, "diskmon");
    assert!(read(&own).warnings.is_empty());
    for (head, remedy) in [
        ("#\tTime (ms)\tDuration (ms)\tDisk\tRequest\tSector\tLength", "`time_unit` ms;"),
        ("#\tTime\tDuration (s)\tDisk\tRequest\tSector\tLength (bytes)", "`size_unit` byte;"),
        (
            "#\tTime\tDuration (s)\tDisk\tRequest\tSector\tLength (KB)",
            "`columns` time=2,op=5,offset=6:512,size=7:1024,stream=4; leave out `format` diskmon;",
        ),
        (
            "#\tTime\tDuration (s)\tDisk\tRequest\tOffset (KB)\tLength (bytes)",
            "`columns` time=2,op=5,offset=6:1024,size=7:1,stream=4;",
        ),
        (
            "#\tTime (ms)\tDuration (s)\tDisk\tRequest\tOffset (bytes)\tLength",
            "`columns` time=2:ms,op=5,offset=6:1,size=7:512,stream=4;",
        ),
    ] {
        let error = failure(&diskmon(head));
        assert!(error.problem.contains("which is another unit than DiskMon's"), "{error}");
        assert!(error.remedy.contains(remedy), "{error}");
        assert_eq!(error.place.map(|place| place.line), Some(1));
    }
    let said = Options { time_unit: Some(TimeUnit::Ms), ..Options::default() };
    let text = diskmon("#\tTime (ms)\tDuration (ms)\tDisk\tRequest\tSector\tLength");
    assert!(open_as("test", text.as_bytes(), said).is_ok_and(|facts| facts.warnings.is_empty()));
    // The columns read what the head says.
    let text = diskmon("#\tTime (ms)\tDuration (s)\tDisk\tRequest\tOffset (KB)\tLength (bytes)");
    let error = failure(&text);
    let (records, _) = texts::read(&text, texts::suggested(&error));
    assert_eq!(records[2], texts::record(2_000_000, Op::Read, 32, 1, 0), "{error}");
    let biosnoop = |latency: &str| {
        format!(
            "TIME(s) COMM PID DISK T SECTOR BYTES {latency}\n0.5 dd 7 sda R 8 4096 0.25\n0.6 dd 7 sda W 16 4096 0.25\n"
        )
    };
    assert_eq!(read(&biosnoop("LAT(ms)")).requests, 2);
    let error = failure(&biosnoop("LAT(us)"));
    assert!(
        error.problem.contains("would fit biosnoop, but line 1 names the columns of no"),
        "{error}"
    );
    let spc = "ASU,LBA,Size,Opcode,Timestamp\n0,8,512,r,0.5\n1,0,4096,w,0.75\n";
    assert_eq!(read(spc).format, "spc");
}

#[test]
fn dates_of_long_ago_and_seldom_requests_are_doubted() {
    let warnings = |text: &str| read(text).warnings.join("; ");
    let alibaba = |unit: u64| {
        lines(50, |at| {
            format!("{},R,{},4096,{}\n", at % 3, at * 4096, 1_577_808_000_000 * unit + at * 15)
        })
    };
    let said = warnings(&alibaba(1));
    assert!(said.contains("as milliseconds since 1970 they would be (`time_unit` ms)"), "{said}");
    assert!(!warnings(&alibaba(1_000)).contains("since 1970"));
    // Coarse seconds, where Alibaba's devices are.
    let coarse = lines(50, |at| format!("{},R,{},4096,{at}\n", 1_700_000_000 + at / 5, at * 4096));
    let said = warnings(&coarse);
    assert!(said.contains("column 1, read as the stream, holds seconds since 1970"), "{said}");
    let coarse = lines(50, |at| format!("{},R,{},4096,{at}\n", at / 5, at * 4096));
    assert!(warnings(&coarse).contains("column 1, read as the stream, never falls, as times do"));
    // Microseconds that nobody said.
    let table = lines(300, |at| format!("{};R;{};4096\n", at * 15_000, at * 4096));
    let of = |columns: &str| {
        let columns = ColumnPlan::parse(columns).unwrap_or_else(|problem| panic!("{problem}"));
        let options = Options { columns, accept_implausible: true, ..Options::default() };
        let facts = open_as("test", table.as_bytes(), options);
        facts.unwrap_or_else(|error| panic!("{error}")).warnings.join("; ")
    };
    let said = of("time=1,op=2,offset=3,size=4");
    assert!(
        said.contains(
            "apart if times count seconds: is the unit another, as in `columns` time=1:us"
        ),
        "{said}"
    );
    assert!(!of("time=1:us,op=2,offset=3,size=4").contains("apart if times"));
}

#[test]
fn events_that_are_missing_are_said() {
    let event = |at: u64, action: char, device: &str| {
        format!("{device} 0 {at} 0.{at:09} 1 {action} R {} + 8 [dd]\n", at * 8)
    };
    let few = lines(6, |at| event(at, 'D', "8,0")) + &lines(51, |at| event(10 + at, 'Q', "8,0"));
    let said = read(&few).warnings.join("; ");
    assert!(
        said.contains(
            "the file has 6 issue events (D), which were counted, and 51 queue events (Q)"
        ),
        "{said}"
    );
    let usual = lines(60, |at| event(at, if at % 3 == 0 { 'D' } else { 'Q' }, "8,0"));
    assert!(!read(&usual).warnings.join("; ").contains("are issues missing"));
    // Two whole disks, and a disk with its partition.
    let disks =
        |other: &str| lines(20, |at| event(at, 'D', if at % 2 == 0 { "8,0" } else { other }));
    assert!(!read(&disks("8,16")).warnings.join("; ").contains("devices in one file"));
    assert!(read(&disks("8,1")).warnings.join("; ").contains("2 devices in one file"));
    let ftrace = "dd-7 [000] .... 1.000000: block_rq_issue: 8,0 R 4096 () 8 + 8 [dd]\nCPU:1 [LOST 1234 EVENTS]\n\
                  dd-7 [000] .... 1.100000: block_rq_issue: 8,0 R 4096 () 16 + 8 [dd]\n";
    let facts = read(ftrace);
    assert_eq!(facts.requests, 2);
    assert!(facts.warnings.join("; ").contains("1234 events were lost"), "{facts:?}");
}

#[test]
fn addresses_that_look_like_bytes_are_doubted_where_they_may_be() {
    let said = |text: &str, options: Options| {
        let facts =
            open_as("test", text.as_bytes(), options).unwrap_or_else(|error| panic!("{error}"));
        facts
            .warnings
            .join("; ")
            .contains("as bytes are (`address_unit` byte, and `size_unit` byte, as the sizes look so, too; or `address_unit` sector")
    };
    let fiu = |unit: u64| {
        let line =
            |at: u64| format!("{at}000 7 dd {} {} W 8 0\n", at * at % 19 * 8 * unit, 8 * unit);
        lines(20, line)
    };
    assert!(said(&fiu(512), Options::default()));
    assert!(!said(&fiu(1), Options::default()));
    let unit = Options { address_unit: Some(SpaceUnit::Sector), ..Options::default() };
    assert!(!said(&fiu(512), unit));
    let diskmon =
        lines(20, |at| format!("{at}\t{at}.5\t0.1\t0\tRead\t{}\t4096\n", at * at % 19 * 4096));
    assert!(said(&diskmon, Options::default()));
    // blkparse has sectors in any case.
    let blkparse =
        lines(20, |at| format!("8,0 0 {at} 0.{at:09} 1 D R {} + 4096 [dd]\n", at * at % 19 * 4096));
    assert!(!said(&blkparse, Options::default()));
}
