//! Exact limits of the readers: what just passes, what just fails, and when a remark is made.

use ftlab_workload::trace::{
    BlkEvent, ColumnPlan, ErrorKind, Inspection, Late, Location, Options, Record, TimeUnit,
    TraceError, inspect, named, open,
};

fn text(content: impl Into<Vec<u8>>) -> Location {
    Location::Memory("trace".to_owned(), content.into().into())
}

fn read_with(content: impl Into<Vec<u8>>, options: Options) -> Result<Inspection, TraceError> {
    open(text(content), options).and_then(|mut trace| inspect(&mut trace))
}

fn read(content: impl Into<Vec<u8>>) -> Result<Inspection, TraceError> {
    read_with(content, Options::default())
}

fn accepting() -> Options {
    Options { accept_implausible: true, ..Options::default() }
}

/// Returns SSDsim lines with a time, an address and a size each.
fn ssdsim(rows: impl IntoIterator<Item = (u64, u64, u64)>) -> String {
    rows.into_iter().map(|(time, lba, sectors)| format!("{time} 0 {lba} {sectors} 1\n")).collect()
}

/// Returns the problem with a trace of these well-formed lines, or `None` if it is read.
fn problem(rows: &[(u64, u64, u64)], options: Options) -> Option<String> {
    read_with(ssdsim(rows.iter().copied()), options).err().map(|error| error.problem)
}

const GIB: u64 = 1 << 21;

#[test]
fn the_largest_request_is_one_gib_and_on_demand_one_tib() {
    let of = |sectors| [(1, 0, 8), (2, 0, sectors)];
    assert_eq!(problem(&of(GIB), Options::default()), None);
    let told = problem(&of(GIB + 1), Options::default()).expect("too large");
    assert!(told.starts_with("a request of 1073742336 bytes"), "{told}");
    assert_eq!(problem(&of(GIB + 1), accepting()), None);
    assert_eq!(problem(&of(1 << 31), accepting()), None);
    let told = problem(&of((1 << 31) + 1), accepting()).expect("beyond all");
    assert!(told.starts_with("a request of 1099511628288 bytes"), "{told}");
}

/// A large request at a far address: the right one of the two is reported.
#[test]
fn a_request_of_exactly_one_gib_is_not_what_is_wrong_with_a_far_address() {
    const LARGEST_SPAN: u64 = 10_000_000_000_000_000 / 512;
    for (sectors, begins) in [(GIB, "addresses span"), (GIB + 1, "a request of 1073742336 bytes")] {
        let told = problem(&[(1, 0, 8), (2, LARGEST_SPAN, sectors)], Options::default());
        assert!(told.as_ref().is_some_and(|told| told.starts_with(begins)), "{sectors}: {told:?}");
    }
    let ends = |end: u64| problem(&[(1, 0, 8), (2, end - 8, 8)], Options::default());
    assert_eq!(ends(LARGEST_SPAN), None);
    assert!(ends(LARGEST_SPAN + 1).is_some());
    // The span counts, not the address.
    assert_eq!(problem(&[(1, 7 << 45, 8), (2, (7 << 45) + 8, 8)], Options::default()), None);
}

#[test]
fn a_pause_may_last_a_year() {
    const YEAR: u64 = 365 * 24 * 3600 * 1_000_000_000;
    let after = |pause: u64| problem(&[(7, 0, 8), (7 + pause, 0, 8)], Options::default());
    assert_eq!(after(YEAR), None);
    assert!(after(YEAR + 1).expect("too long").starts_with("the time jumps ahead by 365 days"));
    // The first time of a file may be anything.
    assert_eq!(problem(&[(2 * YEAR, 0, 8), (2 * YEAR + 1, 0, 8)], Options::default()), None);
}

#[test]
fn the_fastest_clock_has_ten_nanoseconds_a_request_from_a_thousand_on() {
    // Whether this many requests, the last at this many nanoseconds, fail; SSDsim's clock ticks are
    // nanoseconds.
    let fails = |requests: u64, last: u64| {
        let rows = (0..requests).map(|at| (1_000 + at * last / (requests - 1), at * 8, 8));
        read(ssdsim(rows)).is_err()
    };
    assert!(!fails(1_001, 9_999));
    assert!(fails(1_001, 9_998));
    assert!(fails(1_000, 1_000));
    assert!(!fails(999, 998));
}

#[test]
fn the_window_sorts_as_far_as_it_reaches() {
    // The reader releases this many records at a time, once it has read a window beyond them.
    const STRIDE: u64 = 4 * (16 << 10);
    let window = 16;
    let late = |places: u64| {
        let ordered = (0..STRIDE + places).map(|at| (1_000 + at * 1_000, at * 8, 8));
        let options = Options { order_window: window, ..Options::default() };
        // The last record of the stride has the earliest time still allowed for a late one.
        read_with(ssdsim(ordered.chain([(1_000 + (STRIDE - 1) * 1_000 - 1, 0, 8)])), options)
    };
    assert!(late(window as u64 - 1).is_ok());
    let error = late(window as u64).expect_err("too late");
    let said = "at least 1ns too early for its place in the file, behind line 65552";
    assert_eq!((error.kind, error.problem.as_str()), (ErrorKind::Unordered, said));
}

#[test]
fn clamped_requests_have_the_time_of_the_one_before() {
    let ordered = (0..70_000_u64).map(|at| (1_000 + at * 1_000, at * 8, 8));
    let lines = ssdsim(ordered.chain([(1_000, 0, 8)]));
    let options = Options { order_window: 4, late: Late::Clamp, ..Options::default() };
    let mut trace = open(text(lines), options).expect("readable");
    let (mut all, mut batch) = (Vec::<Record>::new(), Vec::new());
    while trace.next_batch(&mut batch).expect("readable") {
        all.extend_from_slice(&batch);
    }
    assert!(all.is_sorted_by_key(|record| record.at));
    assert_eq!((all.len(), trace.facts().clamped), (70_001, 1));
    let horizon = all.iter().filter(|record| record.at.0 == 65_535_000).count();
    assert_eq!(horizon, 2);
}

/// Returns this many requests, `gap` nanoseconds apart.
fn at_rate(requests: u64, gap: u64) -> String {
    ssdsim((0..requests).map(|at| (1_000_000 + at * gap, at * 8, 8)))
}

#[test]
fn any_clock_that_is_too_fast_is_doubted_with_the_options_for_units() {
    let warned = |content: String, options: Options| {
        let warnings = read_with(content, options).expect("readable").warnings;
        warnings.into_iter().find(|text| text.contains("requests a second if times count"))
    };
    let plain = Options::default;
    let told = warned(at_rate(200, 400), plain()).expect("2.5 million a second");
    assert!(told.contains("(`time_unit` us)") && told.contains("(`time_unit` ms)"), "{told}");
    assert_eq!(warned(at_rate(200, 600), plain()), None, "1.7 million a second, of a few");
    assert!(warned(at_rate(1_000, 600), plain()).is_some(), "of many");
    assert_eq!(warned(at_rate(15, 10), plain()), None);
    assert!(warned(at_rate(16, 10), plain()).is_some());
    // Formats with a fixed clock, and units given by the user, can be wrong as well.
    let msr: String = (0..200).map(|at| format!("{},h,0,Read,0,4096,1\n", 9_000 + at)).collect();
    let told = warned(msr, plain()).expect("10 million a second");
    assert!(
        told.contains("100 ns (Windows file time)") && told.contains("`time_unit` us"),
        "{told}"
    );
    let said = Options { time_unit: Some(TimeUnit::Us), ..plain() };
    let coarse = ssdsim((0..200).map(|at| (1_000_000 + at / 20, at * 8, 8)));
    let told = warned(coarse, said.clone()).expect("20 million a second");
    assert!(told.contains("if times count microseconds; if they count milliseconds"), "{told}");
    assert_eq!(warned(at_rate(200, 0), said.clone()), None, "at one moment there is no rate");
    assert_eq!(warned(at_rate(2_000, 1), said), None, "a million a second, as said");
    let seconds: String = (0..200).map(|at| format!("0,{at},512,r,1.{at:09}\n")).collect();
    let told = warned(seconds, plain()).expect("a thousand million a second");
    assert!(told.contains("is that the column of the times?"), "{told}");
}

/// DiskSim times in lines that differ from SSDsim's only in their decimals.
fn disksim(times: &[&str]) -> String {
    times.iter().map(|time| format!("{time} 0 8 8 1\n")).collect()
}

#[test]
fn whole_milliseconds_of_disksim_are_times_where_others_have_decimals() {
    let found = |content: &str| {
        let seen = read(content).expect("readable");
        (seen.format, seen.requests, seen.duration_ns, seen.skipped_lines)
    };
    let lines = disksim(&["0", "1.5", "2", "3"]);
    assert_eq!(found(&lines), ("disksim", 4, 3_000_000, 0));
    let forced = Options::default().with_format("disksim").expect("known");
    assert_eq!(read_with(lines, forced.clone()).expect("readable").duration_ns, 3_000_000);
    // One in ten is enough; fewer count as damage.
    let whole = |count: u64| -> String { ssdsim((1..=count).map(|at| (at * 1_000, 8, 8))) };
    assert_eq!(found(&(whole(9) + &disksim(&["10000.5"]))).0, "disksim");
    let error = read(whole(10) + &disksim(&["11000.5"])).expect_err("SSDsim");
    assert!(error.remedy.contains("`format` disksim"), "{error}");
    // Without decimals it is SSDsim's format, and a remark says so.
    let seen = read(whole(20)).expect("readable");
    assert_eq!((seen.format, seen.duration_ns), ("ssdsim", 19_000));
    assert!(
        seen.assumed.iter().any(|text| text.contains("(`format` disksim)")),
        "{:?}",
        seen.assumed
    );
    assert_eq!(read_with(whole(20), forced).expect("readable").duration_ns, 19_000_000_000);
}

/// Returns consecutive blkparse events with this action.
fn events(action: &str, numbers: std::ops::Range<u64>) -> String {
    let line = |at| format!("8,0 0 {at} 1.{:09} 7 {action} W {} + 8 [x]\n", at * 1_000, at * 8);
    numbers.map(line).collect()
}

/// The part of a file that decides what its requests are.
const SAMPLE: usize = 256 << 10;

#[test]
fn a_beginning_without_issues_and_queued_events_leaves_it_at_issues() {
    let neither = events("C", 0..8_000);
    assert!(neither.len() > SAMPLE);
    let lines = neither + &events("Q", 8_000..8_005) + &events("D", 8_005..8_007);
    let seen = read(lines.as_str()).expect("readable");
    assert_eq!((seen.format, seen.requests), ("blkparse", 2));
    let queue = Options { blkparse_event: Some(BlkEvent::Queue), ..Options::default() };
    assert_eq!(read_with(lines, queue).expect("readable").requests, 5);
    // One issue within it decides, wherever it is.
    let lines = events("Q", 0..20) + &events("D", 20..21);
    assert_eq!(read(lines).expect("readable").requests, 1);
    let lines = events("Q", 0..20) + &events("C", 20..40);
    assert_eq!(read(lines).expect("readable").requests, 20);
}

#[test]
fn silence_for_most_of_a_trace_is_remarked() {
    let warned = |pause: u64| {
        let rows = (0..100_u64).map(|at| (at * 1_000 + if at < 40 { 0 } else { pause }, at * 8, 8));
        let warnings = read(ssdsim(rows)).expect("readable").warnings;
        warnings.into_iter().find(|text| text.contains("is a time damaged"))
    };
    // 99 steps of a microsecond, one of them longer.
    assert_eq!(warned(97_000), None);
    let told = warned(97_001).expect("more than half");
    assert!(told.contains("98.001us, 50 % of the trace, after request 40"), "{told}");
}

#[test]
fn copies_and_clocks_that_begin_anew_are_remarked() {
    let warned = |content: String| {
        let warnings = read(content).expect("readable").warnings;
        warnings
            .into_iter()
            .filter(|text| text.contains(" of the file") || text.contains("copies"))
            .collect::<Vec<_>>()
    };
    let row = |at: u64| (1_000 + at * 1_000, at * 7919 % 2003 * 8, 8);
    let one = ssdsim((0..500).map(row));
    assert_eq!(warned(one.clone()), [""; 0]);
    let [told] = &warned(one.repeat(2))[..] else { panic!("one remark") };
    assert!(told.contains("2 copies of its first 500 requests, one after another"), "{told}");
    assert!(told.contains("goes back by 499us after request 500 of the file"), "{told}");
    // The second copy has its own times.
    let later = ssdsim((0..1_000_u64).map(|at| (at * 1_000, row(at % 500).1, 8)));
    let [told] = &warned(later)[..] else { panic!("one remark") };
    assert!(told.contains("2 copies") && !told.contains("goes back"), "{told}");
    // Another recording that begins at the same time.
    let other = ssdsim((0..500).map(|at| (1_000 + at * 1_000, at * 8, 16)));
    let [told] = &warned(one.clone() + &other)[..] else { panic!("one remark") };
    assert!(
        told.contains("as if another recording began there") && !told.contains("copies"),
        "{told}"
    );
    // A few stragglers do not count: up to one in a hundred.
    let strays = |count: u64| ssdsim((0..count).map(|at| (1_001 + at, 0, 8)));
    assert_eq!(warned(one.clone() + &strays(5)), [""; 0]);
    assert_eq!(warned(one + &strays(6)).len(), 1);
}

#[test]
fn a_clock_that_begins_anew_goes_on_where_that_is_said() {
    let times = |content: &str, late: Late| {
        let mut trace = open(text(content), Options { late, ..Options::default() })?;
        let (mut all, mut batch) = (Vec::new(), Vec::new());
        while trace.next_batch(&mut batch)? {
            all.extend(batch.iter().map(|record: &Record| record.at.0));
        }
        Ok::<_, TraceError>((all, trace.facts()))
    };
    // Three recordings of a hundred requests. Of the second, some are out of order.
    let one = |from: u64| (0..100_u64).map(move |at| from + (at ^ u64::from(from == 2)) * 10);
    let rows = one(7).chain(one(2)).chain(one(50)).map(|at| (at, 8, 8));
    let (all, facts) = times(&ssdsim(rows), Late::Continue).expect("readable");
    assert_eq!(all.len(), 300);
    // What is out of order is sorted into the end of the recording before.
    assert_eq!((all[99], all[100], all[200], all[299]), (980, 990, 1_970, 2_960));
    assert!(all.is_sorted(), "{all:?}");
    let said = "the clock falls back 2 times, by 985ns after request 100 of the file at first";
    assert!(facts.assumed.iter().any(|text| text.starts_with(said)), "{:?}", facts.assumed);
    assert!(!facts.warnings.iter().any(|text| text.contains("goes back")), "{:?}", facts.warnings);
    // A counter of microseconds that wraps loses nothing.
    let counter =
        (0..2_000_u64).map(|at| (((1 << 32) - 500_500 + at * 1_000) % (1 << 32) * 1_000, 8, 8));
    let counter = ssdsim(counter);
    let (all, facts) = times(&counter, Late::Continue).expect("readable");
    assert!((0..2_000).all(|at| all[at] == at as u64 * 1_000_000), "{:?}", &all[498..503]);
    assert_eq!(facts.out_of_order, 0);
    let (_, facts) = times(&counter, Late::Refuse).expect("sorted");
    let said = "as if a counter of 32 bits began anew that counts microseconds";
    assert!(facts.warnings.iter().any(|text| text.contains(said)), "{:?}", facts.warnings);
    // It goes on beyond the window, too, where it is refused otherwise.
    let long = ssdsim((0..300_000_u64).map(|at| (at % 150_000 * 100, 8, 8)));
    let refused = times(&long, Late::Refuse).expect_err("too far back");
    assert!(refused.remedy.ends_with("`late` continue"), "{refused}");
    let (all, _) = times(&long, Late::Continue).expect("readable");
    assert_eq!((all.len(), all[299_999]), (300_000, 299_998 * 100));
}

#[test]
fn two_clocks_in_one_file_are_remarked() {
    let boot = |at: u64| at * 1_000;
    let day = 30 * 24 * 3600 * 1_000_000_000;
    let warned = |every: u64| {
        let rows = (0..400).map(|at| (boot(at) + if at % every == 0 { day } else { 0 }, 8, 8));
        let warnings = read(ssdsim(rows)).expect("readable").warnings;
        let told = warnings.into_iter().find(|text| text.contains("two clocks"));
        told.expect("a remark")
    };
    let told = warned(2);
    assert!(
        told.contains("192 requests among the others are 2591999.9999")
            && told.contains("keep the lines"),
        "{told}"
    );
    assert!(warned(5).contains("308 requests"), "{}", warned(5));
    // Further apart, the leap is refused.
    let rows =
        (0..400).map(|at| (boot(at) + if at % 2 == 1 { 365 * (day / 30) * 20 } else { 0 }, 8, 8));
    let error = read(ssdsim(rows)).expect_err("a leap of years");
    assert!(error.remedy.contains("if lines of two clocks are mixed"), "{error}");
}

#[test]
fn pauses_far_beyond_the_usual_are_remarked() {
    let warned = |pause: u64| {
        let rows = (0..400_u64).map(|at| (at * 1_000 + at / 100 * pause, at * 8, 8));
        let warnings = read(ssdsim(rows)).expect("readable").warnings;
        warnings.into_iter().find(|text| text.starts_with("nothing arrives for"))
    };
    assert_eq!(warned(20_000), None, "21 times the usual");
    let told = warned(39_000).expect("40 times");
    let said = "nothing arrives for 40us, after request 100, 99us after the first, and 2 more such pauses: 23 % of \
                the trace, where all other pauses are at most 1us";
    assert!(told.starts_with(said), "{told}");
}

/// Within a few ticks of a coarse clock there is neither a pause nor a restart.
#[test]
fn the_shape_of_a_trace_is_that_of_more_than_a_few_steps_of_its_clock() {
    let warned = |seconds: u64| {
        let row =
            |at: u64| format!("{},{},8,1,3\n", 1_538_323_200 + at % 40 / 20 * seconds, at * 8);
        let lines: String = (0..80).map(row).collect();
        let warnings = read(lines).expect("readable").warnings;
        let told = |begin: &str| warnings.iter().any(|text| text.starts_with(begin));
        (told("nothing arrives for"), told("the time goes back by"))
    };
    assert_eq!((warned(9), warned(10)), ((false, false), (true, true)));
}

#[test]
fn one_request_has_no_rate_and_two_have_that_of_the_step_between_them() {
    let rate = |content: &str| read(content).expect("readable").mean_requests_per_s;
    assert_eq!(rate("5 0 8 8 1\n"), None);
    assert_eq!(rate("5 0 8 8 1\n1000005 0 8 8 1\n"), Some(1_000.0));
}

#[test]
fn addresses_and_sizes_reach_to_2_to_the_64_bytes_and_no_further() {
    let last = u64::MAX / 512;
    let spc = |lba: u64, bytes: u64| {
        let lines = format!("0,{lba},{bytes},r,1.0\n0,{lba},{bytes},r,2.0\n");
        read_with(lines, accepting().with_format("spc").expect("known"))
    };
    assert_eq!(spc(last - 1, 512).expect("readable").max_lba_end, last);
    assert!(spc(last, 512).is_err());
    assert!(spc(last + 1, 512).is_err());
}

#[test]
fn a_line_may_have_64_kib_and_files_of_fio_a_number() {
    let pad = |length: usize| {
        let line = "5 0 8 8 1";
        format!("{line}{}\n{}", " ".repeat(length - line.len()), "6 0 8 8 1\n".repeat(40_000))
    };
    assert!(read_with(pad(64 << 10), accepting()).is_ok());
    let files = |count: u64| {
        let lines: String = (0..count).map(|at| format!("{at} f{at} read 0 4096\n")).collect();
        let options = accepting().with_format("fio-v3").expect("known");
        read_with("fio version 3 iolog\n".to_owned() + &lines, options)
    };
    assert_eq!(files(1 << 16).expect("readable").streams, 1 << 16);
    let error = files((1 << 16) + 1).expect_err("one too many");
    assert!(error.problem.contains("no more than 65,536 different files"), "{error}");
}

#[test]
fn devices_of_blkparse_fit_their_bits() {
    let of = |device: &str| {
        let lines = format!("{device} 0 1 1.0 7 D W 8 + 8 [x]\n").repeat(2);
        read_with(lines, accepting().with_format("blkparse").expect("known")).is_ok()
    };
    assert!(of("4095,1048575"));
    assert!(!of("4096,0"));
    assert!(!of("0,1048576"));
}

#[test]
fn formats_are_found_by_name_alone() {
    assert!(["D", "ssdsim ", ""].iter().all(|name| named(name).is_err()));
}

/// A file whose times go back is told as such, and what to do about it works.
#[test]
fn a_file_in_reverse_order_is_told_and_reversed_lines_are_read() {
    let rows = |count: u64| (0..count).map(|at| (at * 1_000, at * 8, 8));
    let told = |found: &Inspection| {
        let doubts = found.warnings.iter().filter(|text| text.contains("reverse order of time"));
        doubts.cloned().collect::<Vec<_>>()
    };
    let ahead = read(ssdsim(rows(1_000))).expect("readable");
    assert_eq!(told(&ahead), [""; 0]);
    let back = ssdsim(rows(1_000).rev());
    let found = read(back.clone()).expect("sorted");
    let [doubt] = &told(&found)[..] else { panic!("{:?}", found.warnings) };
    assert!(doubt.contains("999 of 999 times") && doubt.contains("tac"), "{doubt}");
    assert!(!found.warnings.iter().any(|text| text.contains("`late` continue")), "{found:?}");
    assert_eq!(found.digest, ahead.digest);
    // The advice that would destroy it is warned of.
    let late = Options { late: Late::Continue, ..Options::default() };
    let destroyed = read_with(back.clone(), late).expect("readable");
    assert!(told(&destroyed)[0].contains("leave it out"), "{destroyed:?}");
    // Its lines in reverse are the trace.
    let lines: String = back.lines().rev().map(|line| format!("{line}\n")).collect();
    assert_eq!(read(lines).expect("readable").digest, ahead.digest);
    // Beyond the sorting window it is refused with what helps.
    let few = Options { order_window: 100, ..Options::default() };
    let many = read_with(ssdsim(rows(200_000).rev()), few).expect_err("too long");
    assert!(many.problem.contains("reverse order"), "{many}");
    assert!(many.remedy.contains("tac") && !many.remedy.contains("continue"), "{many}");
}

/// A coarse clock is told by the times themselves, whatever the format.
#[test]
fn a_coarse_clock_is_seen_in_any_format() {
    let coarse = |lines: String| {
        let found = read(lines).expect("readable");
        let doubts = found.warnings.iter().filter(|text| text.contains("the clock steps by"));
        doubts.cloned().collect::<Vec<_>>()
    };
    // SSDsim counts nanoseconds, MSR 100 ns.
    let by_second = |per: u64| ssdsim((0..600).map(|at| (at / per * 1_000_000_000, at * 8, 8)));
    let [doubt] = &coarse(by_second(10))[..] else { panic!("no doubt") };
    assert!(doubt.contains("steps by 1s") && doubt.contains("queue_depth"), "{doubt}");
    assert_eq!(coarse(by_second(1)), [""; 0], "one request a second");
    let msr = |at: u64| format!("{},h,0,Read,{},4096,1\n", at / 4 * 20_000, at * 4_096);
    assert!(coarse((0..400).map(msr).collect()).concat().contains("steps by 2ms"));
    let fine = ssdsim((0..600).map(|at| (at / 10 * 1_000_000_000 + at % 2, at * 8, 8)));
    assert_eq!(coarse(fine), [""; 0]);
}

/// Without times no figure of time is told.
#[test]
fn requests_without_times_have_no_figures_of_time() {
    let lines = (0..100).map(|at| (0, at * 8, 8));
    let found = read_with(ssdsim(lines), accepting()).expect("accepted");
    assert!(found.character.timeless);
    assert_eq!((found.max_requests_in_1s, found.mean_requests_per_s), (None, None));
    let timed = read(ssdsim((0..100).map(|at| (at * 10_000_000, at * 8, 8)))).expect("readable");
    assert_eq!((timed.character.timeless, timed.max_requests_in_1s), (false, Some(100)));
}

/// What is only trimmed is not touched, in both counts.
#[test]
fn trims_touch_no_pages() {
    // A flag of 2 is a trim.
    let line = |at: u64| format!("{} 0 {} 8 {}\n", at * 1_000, at * 8, at % 3);
    let found = read((0..300).map(line).collect::<String>()).expect("readable");
    assert_eq!((found.requests, found.trims), (300, 100));
    assert_eq!((found.touched_pages_4k, found.character.pages), (200, 200.0));
}

/// Of many names the remark lists some and says how many more there are; the inspection has all.
#[test]
fn the_names_of_all_streams_are_kept() {
    let line = |at: u64| format!("{at},R,{},4096,disk{}\n", at * 4_096, at % 9);
    let lines: String = (0..90).map(line).collect();
    let plan = ColumnPlan::parse("time=1:ms,op=2,offset=3,size=4,stream=5").expect("a plan");
    let found = read_with(lines, Options { columns: plan, ..Options::default() }).expect("read");
    let names: Vec<String> = (0..9).map(|number| format!("disk{number}")).collect();
    assert_eq!(found.stream_names, names);
    let told = found.assumed.iter().find(|text| text.contains("0 disk0, 1 disk1")).expect("told");
    assert!(told.contains("5 disk5 and 3 more") && told.contains("inspect --json"), "{told}");
    assert_eq!(read(ssdsim([(1, 0, 8), (2, 8, 8)])).expect("read").stream_names, [""; 0]);
}
