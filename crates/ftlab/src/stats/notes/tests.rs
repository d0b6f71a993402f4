//! Tests the limits at which a note is made, and just beyond.

use super::*;
use crate::cache::BufferCounts;
use crate::config::{Config, Layer};
use crate::counters::By;
use crate::device::{DeviceSetup, assemble};
use crate::ftl::FtlCounts;
use crate::ftl::gc::PurposeCounts;
use crate::host::{Breakdown, Completion, Op, Outcome, QueueId, Request};
use crate::scheduler::CostCounts;
use crate::stats::cost::{CostReport, ProgramsByCost};
use crate::stats::report::Cache;
use crate::stats::{PhaseSummary, Recorder};
use crate::units::{Lba, SimTime};

const CAPACITY: u64 = 1 << 30;

/// The report of a device on which one request was measured, and nothing happened.
fn report() -> Report {
    let config = Config::load(&[Layer::preset("tiny")]).expect("a preset");
    let device = assemble(DeviceSetup::new(&config, 1));
    let mut report = Recorder::new(&device).report(&device, &Circumstances::default());
    report.host.requests = 1;
    report
}

fn notes(change: impl FnOnce(&mut Report)) -> Vec<String> {
    let mut report = report();
    change(&mut report);
    let counted = (&HostStats::default(), &DeviceCounters::default());
    collect(&report, counted, CAPACITY, &Circumstances::default())
}

fn cache(write_misses: u64, left_pages: u64) -> Cache {
    Cache {
        counts: BufferCounts { write_misses, written_back: 100, ..BufferCounts::default() },
        write_hit_ratio: Some(0.0),
        read_hit_ratio: None,
        write_cycles: None,
        left_pages,
    }
}

/// Whether one of the notes contains these words.
fn says(notes: &[String], words: &str) -> bool {
    notes.iter().any(|note| note.contains(words))
}

#[test]
fn nothing_is_noted_where_nothing_is_remarkable() {
    assert_eq!(notes(|_| ()), [""; 0]);
}

/// Without a measured request there is one note about that, besides those about the device.
#[test]
fn a_run_that_measured_nothing_says_so_and_one_request_is_something() {
    let unwritten = |report: &mut Report| {
        (report.ftl.unwritten_reads, report.read_pages) = (100, 100);
    };
    let none = notes(|report| {
        unwritten(report);
        report.host.requests = 0;
    });
    assert_eq!(none, ["Nothing was measured: no request finished in a measured phase."]);
    let one = notes(unwritten);
    assert!(one.len() == 1 && one[0].contains("never been written"), "{one:?}");
}

#[test]
fn reads_of_nothing_matter_beyond_a_hundredth() {
    let at = |unwritten| {
        let notes = notes(|report| {
            (report.ftl.unwritten_reads, report.read_pages) = (unwritten, 1_000);
        });
        says(&notes, "had never been written")
    };
    assert_eq!([at(10), at(11)], [false, true]);
}

/// What was unreadable while the device was prepared is no news.
#[test]
fn unreadable_pages_of_the_measured_load_matter() {
    let at = |unreadable| {
        let mut counters = DeviceCounters::default();
        counters.hazards.unreadable = unreadable;
        let counted = (&HostStats::default(), &counters);
        let notes = collect(&report(), counted, CAPACITY, &Circumstances::default());
        says(&notes, "more errors than can be corrected")
    };
    assert_eq!([at(0), at(1)], [false, true]);
}

#[test]
fn what_stays_in_the_buffer_matters_beyond_a_twentieth() {
    let at = |left_pages, write_misses| {
        let cache = cache(write_misses, left_pages);
        says(&notes(|report| report.cache = Some(cache)), "still in the write buffer")
    };
    assert_eq!([at(5, 1), at(6, 1), at(6, 0)], [false, true, false]);
}

#[test]
fn data_from_before_matters_beyond_a_tenth_of_the_reads() {
    let at = |prior| {
        let reads = ReadsByCost { low: 40, medium: 30, high: 20, with_retries: 10 };
        let cost = CostReport {
            policy: "agcr",
            prior: "medium",
            prior_as_written: false,
            reads,
            prior_reads: prior,
            read_modify_write_reads: ReadsByCost::default(),
            programs: ProgramsByCost::default(),
            copies: ProgramsByCost::default(),
            counts: CostCounts::default(),
            refreshed_blocks: 0,
            refreshed_pages: 0,
            ftl: FtlCounts::default(),
            rewrites: None,
        };
        says(&notes(|report| report.cost = Some(cost)), "was there before")
    };
    assert_eq!([at(None), at(Some(10)), at(Some(11))], [false, false, true]);
}

/// A device is behind if it needs longer than both limits after the last request has arrived.
#[test]
fn a_device_is_behind_beyond_both_limits() {
    let behind = |arriving_ms: u64, backlog_ns: u64, by: Arriving| {
        let request =
            Request { op: Op::Write, lba: Lba(0), sectors: 8, stream: 0, tag: 0, fua: false };
        let last = arriving_ms * 1_000_000;
        let mut host = HostStats::default();
        for (arrived, finished) in [(0, 1), (last, last + backlog_ns)] {
            let done = Completion {
                request,
                queue: QueueId::default(),
                submitted: SimTime(arrived),
                finished: SimTime(finished),
                breakdown: Breakdown::default(),
                outcome: Outcome::Done,
            };
            host.record(&done, SimTime(arrived));
        }
        let circumstances = Circumstances { arriving: by, ..Circumstances::default() };
        let counted = (&host, &DeviceCounters::default());
        says(&collect(&report(), counted, CAPACITY, &circumstances), "could not keep up")
    };
    let by_time = |arriving_ms, backlog_ns| behind(arriving_ms, backlog_ns, Arriving::ByTime);
    // A fiftieth of a second is 20 ms, so the limit of a few erases decides.
    assert_eq!([by_time(1_000, 50_000_000), by_time(1_000, 50_000_001)], [false, true]);
    // A fiftieth of five seconds is 100 ms.
    assert_eq!([by_time(5_000, 100_000_000), by_time(5_000, 100_000_001)], [false, true]);
    assert!(!behind(1_000, 1_000_000_000, Arriving::AfterCompletions));
}

/// Only the phases with such requests are named.
#[test]
fn requests_beyond_the_first_are_counted_over_the_phases() {
    let phase = |name: &str, unmeasured_requests| PhaseSummary {
        name: name.to_owned(),
        measured: true,
        requests: 1,
        unmeasured_requests,
        started_ns: None,
        duration_ns: Some(0),
        iops: None,
        throughput_mb_per_s: None,
        write_amplification_total_ratio: None,
        gc_runs: 0,
    };
    let told = notes(|report| report.phases = vec![phase("one", 0), phase("two", 1)]);
    assert!(says(&told, "the first requests of two are measured (measure_first): 1 more"));
    let none = notes(|report| report.phases = vec![phase("one", 0)]);
    assert_eq!(none, [""; 0]);
}

#[test]
fn wear_is_uneven_from_both_limits_on() {
    let at = |most, mean| {
        let told = notes(|report| {
            report.wear.erases_per_block_max = most;
            report.wear.erases_per_block_mean = mean;
        });
        says(&told, "Wear is uneven")
    };
    assert_eq!([at(100, 20.0), at(99, 20.0)], [true, false], "five times the mean");
    assert_eq!([at(60, 10.0), at(59, 10.0)], [true, false], "fifty erases above it");
    let told = notes(|report| {
        report.wear.erases_per_block_max = 711;
        report.wear.erases_per_block_mean = 20.1;
    });
    let expected =
        "one block was erased 711 times since the device was new, 35 times the mean of 20.1";
    assert!(says(&told, expected) && says(&told, "ftl.wear.policy"), "{told:?}");
    let levelled = notes(|report| {
        report.wear.erases_per_block_max = 711;
        let counts = |&purpose: &Purpose| {
            let runs = u64::from(purpose == Purpose::WearLevel);
            PurposeCounts { runs, pages: 0 }
        };
        report.gc.by_purpose = By::new(Purpose::ALL, counts);
    });
    assert!(says(&levelled, "Wear is uneven") && !says(&levelled, "ftl.wear.policy"));
}

/// The host wrote 100 pages, of which 40 reached the FTL, and collection copied 20.
#[test]
fn what_the_buffer_absorbs_explains_a_whole_smaller_than_its_part() {
    let told = |by_gc, host_pages, cache: Option<Cache>| {
        notes(|report| {
            report.cache = cache;
            let wa = &mut report.write_amplification;
            (wa.total_ratio, wa.ftl_ratio) = (Some(0.6), Some(by_gc));
            (wa.host_bytes, wa.page_bytes) = (100 * 4096, 4096);
            report.ftl.host_pages = host_pages;
        })
    };
    let cache = || Some(Cache { write_hit_ratio: Some(0.55), ..cache(1, 5) });
    let words = "by GC alone";
    let all = told(1.5, 40, cache());
    for part in ["(1.500)", "(0.600)", "163.8 kB", "409.6 kB", "55.0 %", "5 pages were left"] {
        assert!(says(&all, words) && says(&all, part), "{part}: {all:?}");
    }
    assert!(!says(&told(0.6005, 40, cache()), words), "printed alike");
    assert!(says(&told(0.602, 99, cache()), words));
    assert!(!says(&told(1.5, 100, cache()), words), "nothing was absorbed");
    assert!(!says(&told(0.5, 40, cache()), words));
    assert!(!says(&told(1.5, 40, None), words));
}

/// Half of the pages that came into the buffer reached flash, or are left in it.
#[test]
fn data_that_dies_in_the_buffer_is_noted() {
    let at = |misses| {
        says(&notes(|report| report.cache = Some(cache(misses, 20))), "never reached flash")
    };
    assert!(!at(240) && at(241));
    assert!(!says(&notes(|report| report.cache = Some(cache(0, 0))), "never reached flash"));
}
