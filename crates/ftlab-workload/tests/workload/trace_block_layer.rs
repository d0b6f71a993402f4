//! Events of Linux' block layer, as blktrace, blkparse, ftrace and biosnoop write them: files written by hand, and what they must read as.

use ftlab::host::Op;
use ftlab::units::SimTime;
use ftlab_workload::trace::{BlkEvent, ErrorKind, Facts, Options, Record};

use super::common::texts::{Bytes, failure_of, read_as, read_bytes, record};

/// 8:16 as a stream.
const SDB: u32 = 8 << 20 | 16;

impl Bytes {
    /// One record of blktrace, with `more` bytes behind it.
    fn blktrace(&mut self, (ns, sector, bytes): (u64, u64, u32), action: u32, more: u16) {
        self.put(0x6561_7407_u32.to_le_bytes());
        self.put(1_u32.to_le_bytes());
        self.put(ns.to_le_bytes());
        self.put(sector.to_le_bytes());
        self.put(bytes.to_le_bytes());
        self.put(action.to_le_bytes());
        self.put(4711_u32.to_le_bytes());
        self.put(SDB.to_le_bytes());
        self.put(0_u32.to_le_bytes());
        self.put(0_u16.to_le_bytes());
        self.put(more.to_le_bytes());
        self.all.extend(std::iter::repeat_n(b'x', more.into()));
    }
}

/// Categories of blktrace.
const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const SYNC: u32 = 1 << 19;
const NOTIFY: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;
const FUA: u32 = 1 << 31;
/// Actions.
const QUEUE: u32 = 1 | 1 << 20;
const REQUEUE: u32 = 6 | 1 << 21;
const ISSUE: u32 = 7 | 1 << 22;
const COMPLETE: u32 = 8 | 1 << 23;

fn blktrace(is_big: bool) -> Vec<u8> {
    let mut file = Bytes { is_big, all: Vec::new() };
    file.blktrace((0, 0, 0), NOTIFY, 6);
    file.blktrace((1_000, 80, 4096), QUEUE | WRITE | SYNC, 0);
    file.blktrace((2_000, 80, 8192), ISSUE | WRITE | SYNC, 0);
    file.blktrace((3_000, 8, 4096), ISSUE | READ, 20);
    file.blktrace((4_000, 1024, 1 << 20), ISSUE | WRITE | DISCARD, 0);
    file.blktrace((5_000, 0, 0), ISSUE | WRITE | FLUSH, 0);
    file.blktrace((6_000, 16, 4096), ISSUE | WRITE | FUA, 0);
    file.blktrace((9_000, 80, 8192), COMPLETE | WRITE, 0);
    file.all
}

#[test]
fn blktrace_in_both_byte_orders() {
    let expected = [
        record(0, Op::Write, 80, 16, SDB),
        record(1_000, Op::Read, 8, 8, SDB),
        record(2_000, Op::Trim, 1024, 2048, SDB),
        Record::flush(SimTime(3_000), SDB),
        Record { fua: true, ..record(4_000, Op::Write, 16, 8, SDB) },
    ];
    for is_big in [false, true] {
        let file = blktrace(is_big);
        assert_eq!(read_as(&file, "blktrace"), expected);
        let queued = Options { blkparse_event: Some(BlkEvent::Queue), ..Options::default() };
        assert_eq!(read_bytes(&file, queued).0, [record(0, Op::Write, 80, 8, SDB)]);
        let ended = Options { blkparse_event: Some(BlkEvent::Complete), ..Options::default() };
        assert_eq!(read_bytes(&file, ended).0, [record(0, Op::Write, 80, 16, SDB)]);
    }
}

#[test]
fn damage_in_blktrace_is_found() {
    let whole = blktrace(false);
    let cut = failure_of(&whole[..whole.len() - 7], Options::default());
    assert_eq!(cut.kind, ErrorKind::Corrupt);
    assert!(cut.to_string().contains("row 8: the file ends within a record"), "{cut}");
    let lenient = Options { skip_malformed: true, ..Options::default() };
    let (records, facts) = read_bytes(&whole[..whole.len() - 7], lenient);
    assert_eq!((records.len(), facts.skipped_lines), (5, 1));
    let mut damaged = whole.clone();
    // The second record begins behind the first one's six bytes.
    damaged[55] = 0;
    assert!(failure_of(&damaged, Options::default()).problem.contains("magic number"));
    let mut newer = whole;
    newer[0] = 8;
    let newer = failure_of(&newer, Options::default());
    assert_eq!(newer.kind, ErrorKind::Unsupported);
    assert!(newer.problem.contains("version 8, not 7"), "{newer}");
}

#[test]
fn ftrace_trace_cmd_and_perf() {
    let lines = "cpus=4\n\
        # a comment\n          \
        fio-4711  [002]   100.000001: block_bio_queue:      8,16 WS 80 + 8 [fio]\n          \
        my: job-4711  [002] d..1.   100.000002: block_rq_issue:       8,16 WS 8192 () 80 + 16 [my: job]\n          \
        fio-4711  [002]   100.000003: sched_switch:         fio:4711 [120] R ==> idle\n          \
        fio-4711  [002]   100.000004: block_rq_issue: 8,16 RA 4096 () 8 + 8 none,0,0 [fio]\n          \
        fio-4711  [002]   100.000005: block_rq_issue:       8,16 FF 0 () 0 + 0 [kworker/0:1]\n    \
        fio  4711 [000]   100.000006:       block:block_rq_issue: 8,16 WFS 4096 (0a 1b) 16 + 8 [fio]\n          \
        <idle>-0     [002]   100.000009: block_rq_complete:    8,16 WS () 80 + 16 [0]\n";
    assert_eq!(
        read_as(lines.as_bytes(), "ftrace"),
        [
            record(0, Op::Write, 80, 16, SDB),
            record(2_000, Op::Read, 8, 8, SDB),
            Record::flush(SimTime(3_000), SDB),
            Record { fua: true, ..record(4_000, Op::Write, 16, 8, SDB) },
        ]
    );
    let bad = "a-1 [0] 1.0: block_rq_issue: 8,16 WS 8192 () 80 + 16 [a]\n\
               a-1 [0] 1.1: block_rq_issue: 8,16 WS 8192 () x80 + 16 [a]\n";
    insta::assert_snapshot!(failure_of(bad.as_bytes(), Options::default()), @r"
    test, line 2: expected a sector: a whole number, found `x80`
      2 | a-1 [0] 1.1: block_rq_issue: 8,16 WS 8192 () x80 + 16 [a]
        |                                              ^^^
    remedy: fix the line; or `skip_malformed` skips such lines and counts them; or, if it has another format, name it with `format`
    ");
    let ended = "a-1 [0] 1.0: block_rq_complete: 8,16 WS () 80 + 16 [0]\n";
    let ended = failure_of(ended.as_bytes(), Options::default());
    assert!(ended.problem.contains("1 completion (block_rq_complete)"), "{ended}");
    assert!(ended.remedy.contains("trace-cmd record -e block:block_rq_issue"), "{ended}");
}

#[test]
fn a_request_that_the_driver_gives_back_counts_once() {
    let expected = [record(0, Op::Write, 80, 8, SDB), record(2_000, Op::Write, 80, 8, SDB)];
    let said =
        |facts: &Facts| facts.assumed.iter().any(|text| text.contains("1 issue of a request"));
    // It is issued, given back and issued again; later the same sectors are written again.
    let mut file = Bytes { is_big: false, all: Vec::new() };
    for (ns, action) in [(1_000, ISSUE), (1_500, REQUEUE), (2_000, ISSUE), (3_000, ISSUE)] {
        file.blktrace((ns, 80, 4096), action | WRITE, 0);
    }
    let (records, facts) = read_bytes(&file.all, Options::default());
    assert_eq!(records, expected);
    assert!(said(&facts), "{facts:?}");
    let lines = |line: &dyn Fn(u64, &str) -> String| -> String {
        [(1, "D"), (2, "R"), (2, "D"), (3, "D")].map(|(at, action)| line(at, action)).concat()
    };
    let blkparse =
        lines(&|at, action| format!("8,16 1 {at} 0.00000{at}000 7 {action} W 80 + 8 [x]\n"));
    let ftrace = lines(&|at, action| {
        let event = if action == "D" { "issue" } else { "requeue" };
        format!("x-1 [0] 1.00000{at}: block_rq_{event}: 8,16 W 4096 () 80 + 8 [x]\n")
    });
    for text in [blkparse, ftrace] {
        let (records, facts) = read_bytes(text.as_bytes(), Options::default());
        assert_eq!(records, expected, "{text}");
        assert!(said(&facts), "{facts:?}");
    }
    // Another size is another request, and an event that can't be read gives nothing back.
    let other = "8,16 1 1 0.000001000 7 R W 80 + 16 [x]\n8,16 1 1 0.000001000 7 R W x [x]\n\
                 8,16 1 1 0.000001000 7 D W 80 + 8 [x]\n8,16 1 1 0.000003000 7 D W 80 + 8 [x]\n";
    assert_eq!(read_as(other.as_bytes(), "blkparse"), expected);
}

#[test]
fn a_request_that_was_never_begun_and_one_that_ended_are_issued_anew() {
    let blkparse = |actions: &str| -> String {
        let line = |(at, action)| {
            format!(
                "8,16 1 {at} 0.00000{at}000 7 {action} W 80 + 8 [x]\n8,16 1 {at} 0.1 7 I N [x]\n"
            )
        };
        (1..).zip(actions.chars()).map(line).collect()
    };
    let warned = |actions: &str| {
        read_bytes(blkparse(actions).as_bytes(), Options::default()).1.warnings.join("; ")
    };
    assert!(
        warned("RD")
            .contains("1 request was given back (requeued) whose issue is not in this file")
    );
    assert!(!warned("DRD").contains("given back"));
    for (actions, requests) in [("RD", 1), ("RDD", 2), ("DRD", 1), ("DRCD", 2), ("DRDCD", 2)] {
        let (records, _) = read_bytes(blkparse(actions).as_bytes(), Options::default());
        assert_eq!(records.len(), requests, "{actions}");
    }
    let mut file = Bytes { is_big: false, all: Vec::new() };
    // What is given back may be damaged.
    file.blktrace((500, u64::MAX, 4096), REQUEUE | WRITE, 0);
    for (ns, action) in [(1_000, ISSUE), (1_500, REQUEUE), (2_000, COMPLETE), (3_000, ISSUE)] {
        file.blktrace((ns, 80, 4096), action | WRITE, 0);
    }
    let expected = [record(0, Op::Write, 80, 8, SDB), record(2_000, Op::Write, 80, 8, SDB)];
    assert_eq!(read_as(&file.all, "blktrace"), expected);
}

#[test]
fn disks_of_which_there_are_queue_events_alone_are_said() {
    let event =
        |device: &str, action: &str| format!("{device} 1 1 0.000001000 7 {action} W 80 + 8 [x]\n");
    let said =
        |text: &str, options: Options| read_bytes(text.as_bytes(), options).1.warnings.join("; ");
    let both = event("8,0", "Q") + &event("8,0", "D") + &event("253,0", "Q");
    let warned = said(&both, Options::default());
    assert!(
        warned.contains(
            "queue events (Q) and no issue events (D), so they have no requests: 253,0 (1). That"
        ),
        "{warned}"
    );
    assert!(warned.contains("by grep -w 253,0) with `blkparse_event` queue"), "{warned}");
    let queue = Options { blkparse_event: Some(BlkEvent::Queue), ..Options::default() };
    assert!(!said(&both, queue).contains("so they have no requests"));
    let usual = event("8,0", "Q") + &event("8,0", "D") + &event("8,0", "Q");
    assert!(!said(&usual, Options::default()).contains("so they have no requests"));
    // More devices than are told apart.
    let disks = |count: u32| (0..count).map(|at| event(&format!("8,{}", at * 16), "D"));
    let more = |count: u32| said(&disks(count).collect::<String>(), Options::default());
    assert!(more(256).contains("events of more than 255 devices"), "{}", more(256));
    assert!(!more(255).contains("more than 255"));
}

#[test]
fn what_blkparse_and_biosnoop_print_around_their_lines_is_skipped() {
    let blkparse = "Input file sdb.blktrace.0 added\nInput file sdb.blktrace.1 added\n  \
        8,16   0        1     0.000000000   697  D   R 16 + 8 [fio]\n  \
        8,16   0        2     0.000001000   697  D   W 32 + 8 [fio]\n\
        ^CCPU0 (sdb):\n Reads Queued:           1,        4KiB\t Writes Queued:           1,        4KiB\n\n\
        Total (sdb):\n Reads Queued:           1,        4KiB\n\n\
        Throughput (R/W): 4KiB/s / 4KiB/s\nEvents (sdb): 2 entries\nSkips: 0 forward (0 -   0.0%)\n";
    let expected = [record(0, Op::Read, 16, 8, SDB), record(1_000, Op::Write, 32, 8, SDB)];
    assert_eq!(read_as(blkparse.as_bytes(), "blkparse"), expected);
    let lost =
        blkparse.replace("Skips: 0 forward (0 -   0.0%)", "Skips: 3 forward (1,000 -  45.4%)");
    let warned = |text: &str| read_bytes(text.as_bytes(), Options::default()).1.warnings.join("; ");
    assert!(!warned(blkparse).contains("lacks events"));
    assert!(warned(&lost).contains("lacks events (Skips: 3 forward (1,000"), "{}", warned(&lost));
    let biosnoop = "Tracing block device I/O... Hit Ctrl-C to end.\n\
        TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  LAT(ms)\n\
        0.000000    fio            1950    sdb       R 16         4096      0.50\n\
        0.000500    fio            1950    sdb       W 32         4096      0.50\n";
    let expected = [record(0, Op::Read, 16, 8, 0), record(500_000, Op::Write, 32, 8, 0)];
    assert_eq!(read_as(biosnoop.as_bytes(), "biosnoop"), expected);
    assert_eq!(read_as(format!("{biosnoop}^C\n").as_bytes(), "biosnoop"), expected);
    assert_eq!(read_as(format!("{biosnoop}^C").as_bytes(), "biosnoop"), expected);
    let last = biosnoop.replace("\n0.000500", "\n^C0.000500");
    assert_eq!(read_as(last.as_bytes(), "biosnoop"), expected);
    // With -P, wherever the pattern stands.
    for (first, second) in [("R R 16", "W S 32"), ("R ? 16", "W RANDOM 32")] {
        let text = biosnoop.replace("R 16", first).replace("W 32", second);
        assert_eq!(read_as(text.as_bytes(), "biosnoop"), expected, "{first}");
    }
    let behind = biosnoop.replace("4096 ", "4096 S");
    assert_eq!(read_as(behind.as_bytes(), "biosnoop"), expected);
}
