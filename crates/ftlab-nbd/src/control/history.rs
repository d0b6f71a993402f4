//! The last ten minutes, for the curves of the page: what happened in each second.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{DriveReading, Quantiles};

/// The most samples that are kept.
pub const MOST_SAMPLES: usize = 600;
/// The time on the wall between samples.
pub const SAMPLE_PERIOD_NS: u64 = 1_000_000_000;
const NS_PER_S: f64 = 1e9;

/// What happened since the sample before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sample {
    /// Counts samples from 1, so that a client can ask for those it lacks.
    pub number: u64,
    /// The time on the wall, on the clock that feeds the history.
    pub at_ns: u64,
    /// Reads in a second.
    pub reads_per_s: f64,
    /// Writes in a second.
    pub writes_per_s: f64,
    /// Bytes read in a second.
    pub read_bytes_per_s: f64,
    /// Bytes written in a second.
    pub written_bytes_per_s: f64,
    /// Latencies of reads, if there were any.
    pub read: Option<SampleLatencies>,
    /// Latencies of writes, if there were any.
    pub write: Option<SampleLatencies>,
    /// Bytes programmed per byte that the host wrote, if it wrote.
    pub write_amplification: Option<f64>,
    /// Free blocks of the plane that has the fewest.
    pub free_blocks_min: u64,
    /// Free blocks of a plane, on average.
    pub free_blocks_mean: f64,
    /// Requests that wait for their answer.
    pub in_flight: u64,
    /// Power cuts.
    pub cuts: u64,
}

/// Simulated latencies in a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SampleLatencies {
    /// The median.
    pub p50_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// The 99.9th percentile.
    pub p999_ns: u64,
}

impl SampleLatencies {
    fn of(window: &Quantiles) -> Option<Self> {
        let Quantiles { p50_ns, p99_ns, p999_ns, .. } = *window;
        (window.count > 0).then_some(Self { p50_ns, p99_ns, p999_ns })
    }
}

/// The counters of a reading, from which differences are made.
#[derive(Clone, Copy, Debug)]
struct Counters {
    at_ns: u64,
    reads: u64,
    writes: u64,
    read_bytes: u64,
    written_bytes: u64,
    programmed_bytes: u64,
    cuts: u64,
}

impl Counters {
    fn of(reading: &DriveReading, at_ns: u64) -> Self {
        let host = &reading.host;
        let programmed = reading.flash.programmed();
        Self {
            at_ns,
            reads: host.reads,
            writes: host.writes,
            read_bytes: host.read_bytes,
            written_bytes: host.written_bytes,
            programmed_bytes: programmed.saturating_mul(reading.device.page_bytes),
            cuts: reading.power.cuts,
        }
    }
}

/// The last samples.
#[derive(Clone, Debug, Default)]
pub struct History {
    before: Option<Counters>,
    samples: VecDeque<Sample>,
    taken: u64,
}

impl History {
    /// Returns when the next reading is due, on the clock that feeds the history. The loop makes its readings then, so that
    /// the window of a reading is the time of a sample.
    pub fn due_ns(&self) -> u64 {
        self.before.map_or(0, |before| before.at_ns.saturating_add(SAMPLE_PERIOD_NS))
    }

    /// Takes a reading at a time on the wall. Adds a sample if one is due; the first reading only begins. Returns whether it
    /// added one.
    pub fn feed(&mut self, reading: &DriveReading, at_ns: u64) -> bool {
        let now = Counters::of(reading, at_ns);
        if at_ns < self.due_ns() {
            return false;
        }
        let Some(before) = self.before.replace(now) else { return false };
        self.taken += 1;
        if self.samples.len() == MOST_SAMPLES {
            self.samples.pop_front();
        }
        self.samples.push_back(sample(self.taken, reading, before, now));
        true
    }

    /// Returns the samples after this number, or all that are left, in order.
    pub fn after(&self, number: u64) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(move |sample| sample.number > number)
    }
}

fn sample(number: u64, reading: &DriveReading, before: Counters, now: Counters) -> Sample {
    let seconds = (now.at_ns - before.at_ns) as f64 / NS_PER_S;
    // A counter that went backwards was reset: nothing is known of the time between.
    let rate = |before: u64, now: u64| (now.saturating_sub(before) as f64 / seconds).round();
    let written = now.written_bytes.saturating_sub(before.written_bytes);
    let programmed = now.programmed_bytes.saturating_sub(before.programmed_bytes);
    Sample {
        number,
        at_ns: now.at_ns,
        reads_per_s: rate(before.reads, now.reads),
        writes_per_s: rate(before.writes, now.writes),
        read_bytes_per_s: rate(before.read_bytes, now.read_bytes),
        written_bytes_per_s: rate(before.written_bytes, now.written_bytes),
        read: SampleLatencies::of(&reading.window_latencies.read.simulated),
        write: SampleLatencies::of(&reading.window_latencies.write.simulated),
        write_amplification: (written > 0).then(|| programmed as f64 / written as f64),
        free_blocks_min: reading.flash.free_blocks_min,
        free_blocks_mean: reading.flash.free_blocks_mean,
        in_flight: reading.host.in_flight,
        cuts: now.cuts.saturating_sub(before.cuts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(reading: &mut DriveReading, writes: u64, bytes: u64, pages: u64) {
        reading.host.writes += writes;
        reading.host.written_bytes += bytes;
        reading.device.page_bytes = 4096;
        reading.flash.programs.resize(1, Default::default());
        reading.flash.programs[0].pages += pages;
    }

    #[test]
    fn rates_are_differences() {
        let (mut history, mut reading) = (History::default(), DriveReading::default());
        written(&mut reading, 7, 7 * 4096, 7);
        assert_eq!(history.due_ns(), 0);
        assert!(!history.feed(&reading, 5));
        assert_eq!(history.due_ns(), 5 + SAMPLE_PERIOD_NS);
        written(&mut reading, 30, 30 * 4096, 60);
        reading.power.cuts = 2;
        assert!(!history.feed(&reading, SAMPLE_PERIOD_NS));
        assert!(history.feed(&reading, 5 + 3 * SAMPLE_PERIOD_NS));
        let sample = history.after(0).next().unwrap();
        assert_eq!((sample.number, sample.writes_per_s, sample.cuts), (1, 10.0, 2));
        assert_eq!(sample.written_bytes_per_s, 40960.0);
        assert_eq!(sample.write_amplification, Some(2.0));
        assert_eq!(sample.read, None);
    }

    #[test]
    fn nothing_written_amplifies_nothing() {
        let (mut history, mut reading) = (History::default(), DriveReading::default());
        history.feed(&reading, 0);
        written(&mut reading, 0, 0, 9);
        history.feed(&reading, SAMPLE_PERIOD_NS);
        assert_eq!(history.after(0).next().unwrap().write_amplification, None);
    }

    #[test]
    fn counters_and_clocks_that_go_back_do_no_harm() {
        let (mut history, mut reading) = (History::default(), DriveReading::default());
        written(&mut reading, 9, 9, 9);
        history.feed(&reading, 10 * SAMPLE_PERIOD_NS);
        assert!(!history.feed(&reading, 0));
        assert!(history.feed(&DriveReading::default(), u64::MAX));
        assert_eq!(history.after(0).next().unwrap().writes_per_s, 0.0);
    }

    #[test]
    fn old_samples_go() {
        let mut history = History::default();
        let mut reading = DriveReading::default();
        reading.window_latencies.read.simulated =
            Quantiles { count: 1, p50_ns: 9, ..Default::default() };
        (0..=MOST_SAMPLES as u64 + 5).for_each(|at| {
            history.feed(&reading, at * SAMPLE_PERIOD_NS);
        });
        let numbers: Vec<u64> = history.after(0).map(|sample| sample.number).collect();
        assert_eq!(numbers, (6..=MOST_SAMPLES as u64 + 5).collect::<Vec<_>>());
        let newest: Vec<&Sample> = history.after(MOST_SAMPLES as u64 + 4).collect();
        assert_eq!(newest.len(), 1);
        assert_eq!(newest[0].read.unwrap().p50_ns, 9);
    }
}
