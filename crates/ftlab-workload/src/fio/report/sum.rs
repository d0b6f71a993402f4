//! Converts the counts to the document.

use ftlab::units::SimTime;

use super::document::{
    FioDirection, FioDisk, FioDocument, FioEntry, FioFlushes, FioLatency, Pairs, rounded,
};
use super::moments::Moments;
use super::rates::Rate;
use super::{CloneTally, DEPTHS, EIO, FioTally, OpMeasures, ReportEntry, STEPS};
use crate::fio::job::{READ, TRIM, WRITE};

const MS_NS: u64 = 1_000_000;
const SECOND_NS: u64 = 1_000_000_000;
/// The version of the schema. fio itself uses suffixes for versions that are not releases.
const VERSION: &str = "fio-3.33-ftlab";
/// Simulated time starts at the epoch, so that results do not depend on the calendar.
const BEGINNING: &str = "Thu Jan  1 00:00:00 1970";
/// The classes of requests submitted or handled at once, by their upper limits in fio.
const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
/// The class of single requests.
const SINGLE: usize = 1;

impl FioTally {
    /// Returns the document; the device is named `disk` in it.
    #[must_use]
    pub fn document(&self, disk: &str) -> FioDocument {
        let elapsed = self.span.map_or(0, |span| length(span).div_ceil(SECOND_NS));
        let entries = self.entries.iter().enumerate();
        let jobs = entries.map(|(at, entry)| self.entry(at, entry, elapsed)).collect();
        let global = (!self.global.is_empty()).then(|| pairs(&self.global));
        FioDocument {
            version: VERSION.to_owned(),
            timestamp: 0,
            timestamp_ms: 0,
            time: BEGINNING,
            global_options: global,
            jobs,
            disk_util: vec![self.disk(disk)],
        }
    }

    fn clones(&self, entry: usize) -> impl Iterator<Item = &CloneTally> {
        self.clones.iter().filter(move |clone| clone.entry == entry)
    }

    fn entry(&self, at: usize, entry: &ReportEntry, elapsed: u64) -> FioEntry {
        let all: u64 = entry.ways.iter().map(|way| way.latencies.count).sum();
        let mut levels = [0u64; DEPTHS.len()];
        let mut runtime = 0;
        for clone in self.clones(at) {
            levels.iter_mut().zip(clone.notes.depths.get()).for_each(|(sum, count)| *sum += count);
            runtime += clone.span.map_or(0, |span| length(span).div_ceil(MS_NS));
        }
        let submitted = levels.iter().sum();
        let levels = DEPTHS.iter().zip(levels);
        let levels = levels.map(|(name, count)| (name.to_string(), percent(count, submitted)));
        let batches = BATCHES.iter().enumerate().map(|(step, name)| {
            let share = if step == SINGLE && all > 0 { 100.0 } else { 0.0 };
            ((*name).to_owned(), share)
        });
        let batches = Pairs(batches.collect());
        let [latency_ns, latency_us, latency_ms] = spreads(entry, all);
        FioEntry {
            jobname: entry.name.clone(),
            groupid: entry.group,
            error: if entry.refused { EIO } else { 0 },
            eta: 0,
            elapsed,
            job_options: pairs(&entry.want.options),
            read: self.direction(at, entry, READ),
            write: self.direction(at, entry, WRITE),
            trim: self.direction(at, entry, TRIM),
            sync: FioFlushes {
                total_ios: entry.flushes.latencies.count,
                lat_ns: latency(&entry.flushes, Some(&entry.want.percentiles)),
            },
            job_runtime: runtime,
            usr_cpu: 0.0,
            sys_cpu: 0.0,
            ctx: 0,
            majf: 0,
            minf: 0,
            iodepth_level: Pairs(levels.collect()),
            iodepth_submit: batches.clone(),
            iodepth_complete: batches,
            latency_ns,
            latency_us,
            latency_ms,
            latency_depth: entry.want.depth,
            latency_target: 0,
            latency_percentile: 100.0,
            latency_window: 0,
        }
    }

    fn direction(&self, at: usize, entry: &ReportEntry, way: usize) -> FioDirection {
        let (want, counted) = (&entry.want, &entry.ways[way]);
        let (requests, bytes) = (counted.latencies.count, counted.bytes);
        let duration = self.duration(way, |clone| clone.entry == at);
        let bw_bytes = per_second(bytes, duration);
        let (mut bw, mut iops) = (Rate::default(), Rate::default());
        for clone in self.clones(at) {
            bw.add(&clone.sampler.way(way).bw);
            iops.add(&clone.sampler.way(way).iops);
        }
        let percentiles = |wanted: bool| wanted.then_some(&want.percentiles[..]);
        let exact = match duration {
            0 => 0.0,
            ns => requests as f64 * SECOND_NS as f64 / ns as f64,
        };
        FioDirection {
            io_bytes: bytes,
            io_kbytes: bytes >> 10,
            bw_bytes,
            bw: bw_bytes >> 10,
            iops: rounded(exact),
            // Rounded up, so that it is 0 only if nothing was done.
            runtime: duration.div_ceil(MS_NS),
            total_ios: requests,
            short_ios: 0,
            drop_ios: 0,
            slat_ns: submission(want.submits, requests, percentiles(want.slat)),
            clat_ns: latency(counted, percentiles(want.clat)),
            lat_ns: latency(counted, percentiles(want.lat)),
            bw_min: bw.min,
            bw_max: bw.max,
            bw_agg: self.share_of_group(entry.group, way, bw.mean),
            bw_mean: rounded(bw.mean),
            bw_dev: rounded(bw.deviation()),
            bw_samples: bw.samples,
            iops_min: iops.min,
            iops_max: iops.max,
            iops_mean: rounded(iops.mean),
            iops_stddev: rounded(iops.deviation()),
            iops_samples: iops.samples,
        }
    }

    /// Returns the duration of the longest of these clones that transferred something in this
    /// direction, in ns.
    fn duration(&self, way: usize, of: impl Fn(&CloneTally) -> bool) -> u64 {
        let clones = self.clones.iter().filter(|clone| clone.moved[way] && of(clone));
        clones.filter_map(|clone| clone.span).map(length).max().unwrap_or(0)
    }

    /// Returns a mean rate in KiB per second as a share of the rate of its group, in per cent.
    fn share_of_group(&self, group: u32, way: usize, mean: f64) -> f64 {
        let entries = self.entries.iter().filter(|entry| entry.group == group);
        let bytes = entries.map(|entry| entry.ways[way].bytes).sum();
        let duration = self.duration(way, |clone| self.entries[clone.entry].group == group);
        match per_second(bytes, duration) >> 10 {
            0 => 0.0,
            whole => rounded((mean * 100.0 / whole as f64).min(100.0)),
        }
    }

    fn disk(&self, name: &str) -> FioDisk {
        let ticks = |way: &Moments| (way.mean() * way.count as f64 / MS_NS as f64) as u64;
        let [reads, writes] = &self.disk;
        let whole = self.span.map_or(0, length);
        FioDisk {
            name: name.to_owned(),
            read_ios: reads.count,
            write_ios: writes.count,
            read_merges: 0,
            write_merges: 0,
            read_ticks: ticks(reads),
            write_ticks: ticks(writes),
            in_queue: ticks(reads) + ticks(writes),
            util: percent(self.busy.total(), whole),
        }
    }
}

fn length((from, to): (SimTime, SimTime)) -> u64 {
    (to - from).0
}

fn per_second(count: u64, duration_ns: u64) -> u64 {
    let rate = u128::from(count) * u128::from(SECOND_NS) / u128::from(duration_ns.max(1));
    if duration_ns == 0 { 0 } else { u64::try_from(rate).unwrap_or(u64::MAX) }
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { rounded(part as f64 * 100.0 / whole as f64) }
}

fn pairs(options: &[(String, String)]) -> Pairs<String> {
    Pairs(options.to_vec())
}

fn latency(way: &OpMeasures, percentiles: Option<&[f64]>) -> FioLatency {
    let known = &way.latencies;
    let wanted = percentiles.filter(|_| known.count > 0);
    FioLatency {
        min: known.min,
        max: known.max,
        mean: rounded(known.mean()),
        stddev: rounded(known.deviation()),
        count: known.count,
        percentile: wanted.map(|list| named(list, way.bins.percentiles(list))),
    }
}

fn named(percentiles: &[f64], values: impl Iterator<Item = u64>) -> Pairs<u64> {
    Pairs(percentiles.iter().map(|percent| format!("{percent:.6}")).zip(values).collect())
}

/// Returns the submission latency, which is 0; synchronous engines do not count it at all.
fn submission(counted: bool, requests: u64, percentiles: Option<&[f64]>) -> FioLatency {
    let count = if counted { requests } else { 0 };
    let wanted = percentiles.filter(|_| count > 0);
    let percentile = wanted.map(|list| named(list, std::iter::repeat(0)));
    FioLatency { count, percentile, ..FioLatency::default() }
}

/// Returns the shares of requests by latency in ns, us and ms.
fn spreads(entry: &ReportEntry, all: u64) -> [Pairs<f64>; 3] {
    let named = |counts: &[u64]| -> Vec<(String, f64)> {
        let ends = STEPS.iter().skip(1).zip(counts);
        ends.map(|(end, count)| (end.to_string(), percent(*count, all))).collect()
    };
    let [ns, us, ms] = [0, 1, 2].map(|scale| named(&entry.spread[scale]));
    let last = 2 * STEPS[STEPS.len() - 1];
    let over = [entry.spread[2][STEPS.len() - 1], entry.over].map(|count| percent(count, all));
    let over = [last.to_string(), format!(">={last}")].into_iter().zip(over);
    [Pairs(ns), Pairs(us), Pairs(ms.into_iter().chain(over).collect())]
}
