//! Documents of a few requests with known times; every figure is computed by hand.

use ftlab::host::{Breakdown, QueueId, Request};
use ftlab::units::Lba;

use super::document::{FioDocument, FioEntry, Pairs};
use super::*;
use crate::fio::{JobFile, Surroundings};

const MS: u64 = 1_000_000;
/// 4 KiB.
const SECTORS: u32 = 8;

struct Nothing;

impl Surroundings for Nothing {
    fn file(&mut self, _: &str) -> Result<String, String> {
        Err("there is none".to_owned())
    }

    fn variable(&mut self, _: &str) -> Option<String> {
        None
    }
}

/// Creates a tally of jobs with these options, and their notes.
fn tally(jobs: &[&str]) -> (FioTally, Vec<Notes>) {
    let mut text = "[global]\nioengine=libaio\nsize=1m\n".to_owned();
    for (at, options) in jobs.iter().enumerate() {
        text += &format!("[job{at}]\n{}\n", options.replace(';', "\n"));
    }
    let file = JobFile::parse("test.fio", &text, &mut Nothing).unwrap_or_else(|p| panic!("{p}"));
    let mut tally = FioTally::new(&file.global, 1);
    let notes = file.jobs.iter().map(|job| tally.add(job, true)).collect();
    (tally, notes)
}

/// Returns a completed request of a job; times are in nanoseconds.
fn answered(op: Op, stream: u32, (from, to): (u64, u64)) -> Completion {
    let sectors = if op == Op::Flush { 0 } else { SECTORS };
    Completion {
        request: Request { op, lba: Lba(0), sectors, stream, tag: 0, fua: false },
        queue: QueueId::default(),
        submitted: SimTime(from),
        finished: SimTime(to),
        breakdown: Breakdown::default(),
        outcome: Outcome::Done,
    }
}

fn record(tally: &mut FioTally, op: Op, stream: u32, times: (u64, u64)) {
    tally.record(&answered(op, stream, times), SimTime(times.0));
}

fn only_job(document: &FioDocument) -> &FioEntry {
    assert_eq!(document.jobs.len(), 1);
    &document.jobs[0]
}

/// Returns the entries that are not zero.
fn filled(shares: &Pairs<f64>) -> Vec<(&str, f64)> {
    shares.0.iter().filter(|share| share.1 != 0.0).map(|(name, s)| (name.as_str(), *s)).collect()
}

#[test]
fn latencies_at_the_limits_of_the_classes() {
    let (mut tally, _) = tally(&["rw=randread"]);
    for ns in [1, 2, 999, 1_000, 999_999, MS, 1_999 * MS + 999_999, 2_000 * MS] {
        record(&mut tally, Op::Read, 0, (0, ns));
    }
    let document = tally.document("device");
    let job = only_job(&document);
    assert_eq!(filled(&job.latency_ns), [("2", 12.5), ("4", 12.5), ("1000", 12.5)]);
    assert_eq!(filled(&job.latency_us), [("2", 12.5), ("1000", 12.5)]);
    assert_eq!(filled(&job.latency_ms), [("2", 12.5), ("2000", 12.5), (">=2000", 12.5)]);
}

#[test]
fn rates_shares_and_the_device() {
    let (mut tally, _) = tally(&["rw=randrw"]);
    record(&mut tally, Op::Read, 0, (0, 100 * MS));
    record(&mut tally, Op::Read, 0, (50 * MS, 300 * MS));
    record(&mut tally, Op::Write, 0, (1_000 * MS, 1_100 * MS));
    let document = tally.document("device");
    let job = only_job(&document);
    let read = &job.read;
    assert_eq!((read.total_ios, read.io_bytes, read.io_kbytes), (2, 8192, 8));
    // All bytes read, over the duration of the whole job.
    assert_eq!((read.runtime, read.bw_bytes, read.bw, read.iops), (1100, 7447, 7, 1.818_182));
    assert_eq!((read.clat_ns.min, read.clat_ns.max), (100 * MS, 250 * MS));
    assert_eq!((read.clat_ns.mean, read.clat_ns.count), (175e6, 2));
    // One sample: the first half second ends with the write.
    assert_eq!((read.bw_min, read.bw_max, read.bw_mean, read.bw_samples), (7, 7, 7.0, 1));
    assert_eq!((read.bw_agg, read.iops_mean), (100.0, 1.0));
    assert_eq!((job.write.total_ios, job.write.io_bytes, job.write.bw_bytes), (1, 4096, 3723));
    assert_eq!((job.trim.total_ios, job.trim.runtime, job.trim.bw_agg), (0, 0, 0.0));
    assert_eq!((job.trim.iops, job.trim.clat_ns.percentile.is_none()), (0.0, true));
    assert_eq!((job.error, job.elapsed, job.job_runtime), (0, 2, 1100));
    assert_eq!(filled(&job.iodepth_submit), [("4", 100.0)]);
    let disk = &document.disk_util[0];
    assert_eq!((disk.read_ios, disk.write_ios), (2, 1));
    assert_eq!((disk.read_ticks, disk.write_ticks, disk.in_queue), (350, 100, 450));
    // From 0 to 300 ms and from 1,000 to 1,100 ms.
    assert_eq!(disk.util, 36.363_636);
}

#[test]
fn what_was_refused_or_is_of_no_job_is_not_counted() {
    let (mut tally, _) = tally(&["rw=randread"]);
    record(&mut tally, Op::Read, 1, (0, MS));
    let refused = Completion { outcome: Outcome::Unreadable, ..answered(Op::Read, 0, (0, MS)) };
    tally.record(&refused, SimTime(0));
    let document = tally.document("device");
    let job = only_job(&document);
    assert_eq!((job.error, job.read.total_ios, document.disk_util[0].read_ios), (EIO, 0, 0));
    assert_eq!(filled(&job.iodepth_submit), []);
}

#[test]
fn a_synced_write_ends_with_its_flush() {
    let (mut tally, notes) = tally(&["rw=randwrite;sync=1"]);
    let synced = &notes[0].synced;
    record(&mut tally, Op::Write, 0, (0, MS));
    synced.set(Synced { written: 1, until: None });
    record(&mut tally, Op::Write, 0, (2 * MS, 3 * MS));
    // A flush that covers no write is counted as a flush.
    record(&mut tally, Op::Flush, 0, (3 * MS, 4 * MS));
    synced.set(Synced { written: 2, until: Some(1) });
    record(&mut tally, Op::Flush, 0, (4 * MS, 6 * MS));
    let first = tally.document("device");
    let job = only_job(&first);
    assert_eq!((job.write.total_ios, job.write.clat_ns.max), (1, 6 * MS));
    assert_eq!((job.sync.total_ios, job.sync.lat_ns.max), (1, MS));
    synced.set(Synced { written: 2, until: Some(2) });
    record(&mut tally, Op::Flush, 0, (6 * MS, 9 * MS));
    let both = tally.document("device");
    let job = only_job(&both);
    assert_eq!(
        (job.write.total_ios, job.write.clat_ns.min, job.write.clat_ns.max),
        (2, 6 * MS, 7 * MS)
    );
    assert_eq!((job.sync.total_ios, both.disk_util[0].write_ios), (1, 2));
}

#[test]
fn groups_and_their_shares() {
    let (mut tally, _) =
        tally(&["rw=randread", "rw=randread;group_reporting", "stonewall;rw=randread"]);
    for stream in 0..3 {
        record(&mut tally, Op::Read, stream, (0, 500 * MS));
    }
    record(&mut tally, Op::Read, 1, (500 * MS, 1_000 * MS));
    let document = tally.document("device");
    let told: Vec<_> =
        document.jobs.iter().map(|job| (&*job.jobname, job.groupid, job.read.total_ios)).collect();
    // As in fio: a grouped job reports with the entry above it.
    assert_eq!(told, [("job0", 0, 3), ("job2", 1, 1)]);
    // 12 KiB in a second; the samples of both clones, 8 KiB per second each, are added up.
    assert_eq!((document.jobs[0].read.bw, document.jobs[0].read.bw_mean), (12, 16.0));
    assert_eq!((document.jobs[0].read.bw_agg, document.jobs[0].read.bw_samples), (100.0, 3));
    assert_eq!((document.jobs[1].read.runtime, document.jobs[1].read.bw), (500, 8));
    assert_eq!((document.jobs[0].job_runtime, document.jobs[0].elapsed), (1500, 1));
}
