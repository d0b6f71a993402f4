//! Whether the device was in a steady state at the end, by the criterion of the SNIA Solid State
//! Storage Performance Test Specification (PTS 2.0.2), applied to write amplification and
//! throughput.
//!
//! A round is the time in which the host writes a tenth of the logical capacity. The last five
//! rounds are steady if the largest and the smallest value differ by at most 20 % of the mean, and
//! the line fitted through them rises or falls by at most 10 % of the mean over the five rounds.

use serde::Serialize;

use super::DeviceCounters;
use crate::device::{Contents, Device};
use crate::host::{Completion, Host};
use crate::scheduler::{Probe, flash_pages_programmed};
use crate::units::{Nanos, Ratio, SECTOR_BYTES};

/// The share of the logical capacity that a round writes.
const ROUND: Ratio = Ratio::percent(10);
/// How many rounds are judged together.
const JUDGED: usize = 5;
/// The most that the extremes may differ, as a share of the mean.
const MAX_RANGE: f64 = 0.20;
/// The most that the fitted line may change over the rounds, as a share of the mean.
const MAX_EXCURSION: f64 = 0.10;

/// One round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Round {
    /// Bytes that the host wrote.
    pub host_bytes: u64,
    /// Bytes programmed on flash.
    pub flash_bytes: u64,
    /// How long it took.
    #[serde(rename = "duration_ns")]
    pub duration: Nanos,
}

impl Round {
    fn write_amplification(&self) -> f64 {
        self.flash_bytes as f64 / self.host_bytes as f64
    }

    fn bytes_per_ns(&self) -> f64 {
        self.host_bytes as f64 / self.duration.0.max(1) as f64
    }
}

/// How steady a quantity was over the rounds that are judged, as shares of its mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Steadiness {
    /// The mean.
    pub mean: f64,
    /// From the smallest to the largest.
    pub range_ratio: f64,
    /// From the first to the last point of the fitted line, without its sign.
    pub excursion_ratio: f64,
    /// Whether both are small enough.
    pub steady: bool,
}

impl Steadiness {
    fn of(values: [f64; JUDGED]) -> Steadiness {
        Steadiness::within(&values, MAX_RANGE, MAX_EXCURSION)
    }

    /// Computes whether values lie within a range and their fitted line within an excursion, both
    /// as shares of their mean.
    pub(super) fn within(values: &[f64], range: f64, most_excursion: f64) -> Steadiness {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let largest = values.iter().copied().fold(f64::MIN, f64::max);
        let smallest = values.iter().copied().fold(f64::MAX, f64::min);
        let middle = (count - 1.0) / 2.0;
        let (mut rise, mut run) = (0.0, 0.0);
        for (at, value) in values.iter().enumerate() {
            let x = at as f64 - middle;
            rise += x * (value - mean);
            run += x * x;
        }
        let excursion = (rise / run * (count - 1.0)).abs();
        let (range_ratio, excursion_ratio) = ((largest - smallest) / mean, excursion / mean);
        let steady = range_ratio <= range && excursion_ratio <= most_excursion;
        Steadiness { mean, range_ratio, excursion_ratio, steady }
    }
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The host wrote nothing in what was measured.
    NothingWritten,
    /// Requests carry physical addresses: nothing is ever collected.
    NothingToCollect,
    /// Garbage collection did not run in what was measured.
    GcNeverStarted,
    /// Fewer rounds were written than are judged together.
    TooLittleWritten,
    /// The last rounds differ too much.
    NotSteady,
    /// The last rounds agree.
    Steady,
}

/// What is said about the steady state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SteadyReport {
    /// The answer, from write amplification.
    pub verdict: Verdict,
    /// What a round writes.
    pub round_bytes: u64,
    /// Rounds that were written since measuring began.
    pub rounds: u64,
    /// Write amplification over the last rounds.
    pub write_amplification: Option<Steadiness>,
    /// The host's write throughput over the last rounds, in 10^6 bytes a second.
    pub write_mb_per_s: Option<Steadiness>,
    /// The last rounds, oldest first.
    pub last_rounds: Vec<Round>,
}

/// The rounds of a run.
#[derive(Clone, Debug)]
pub(super) struct SteadyRounds {
    round_sectors: u64,
    page_bytes: u64,
    written: u64,
    sectors_at_start: u64,
    programs_at_start: u64,
    time_at_start: Nanos,
    last: [Round; JUDGED],
    rounds: u64,
    /// Whether anything is ever collected.
    collects: bool,
}

impl SteadyRounds {
    pub fn new<P: Probe, C: Contents>(device: &Device<P, C>) -> SteadyRounds {
        SteadyRounds {
            round_sectors: ROUND.of(device.capacity_sectors()).max(1),
            page_bytes: device.flash().geometry().shape().page_size.0,
            written: 0,
            sectors_at_start: 0,
            programs_at_start: programs(device),
            time_at_start: Nanos(device.now().0),
            last: [Round::default(); JUDGED],
            rounds: 0,
            collects: device.ftl().translates(),
        }
    }

    /// Forgets earlier rounds: a verdict refers to what is measured, not to the preparation of the
    /// device.
    pub fn restart<P: Probe, C: Contents>(&mut self, device: &Device<P, C>) {
        *self = SteadyRounds::new(device);
    }

    #[inline]
    pub fn record(&mut self, completion: &Completion) {
        if completion.request.op.writes() {
            self.written += u64::from(completion.request.sectors);
        }
    }

    #[inline]
    pub fn is_over(&self) -> bool {
        self.written - self.sectors_at_start >= self.round_sectors
    }

    #[cold]
    pub fn observe<P: Probe, C: Contents>(&mut self, device: &Device<P, C>) {
        let (now, programs) = (Nanos(device.now().0), programs(device));
        self.push(Round {
            host_bytes: (self.written - self.sectors_at_start) * SECTOR_BYTES,
            flash_bytes: (programs - self.programs_at_start) * self.page_bytes,
            duration: Nanos(now.0 - self.time_at_start.0),
        });
        self.sectors_at_start = self.written;
        (self.programs_at_start, self.time_at_start) = (programs, now);
    }

    fn push(&mut self, round: Round) {
        self.last.rotate_left(1);
        self.last[JUDGED - 1] = round;
        self.rounds += 1;
    }

    /// The report on what was measured: `written` bytes of the host, and these counters.
    pub fn report(&self, written: u64, measured: &DeviceCounters) -> SteadyReport {
        let known = usize::try_from(self.rounds).unwrap_or(JUDGED).min(JUDGED);
        let judged = (known == JUDGED).then_some(&self.last);
        let write_amplification =
            judged.map(|r| Steadiness::of(r.map(|r| r.write_amplification())));
        // Bytes per nanosecond are 10^3 times 10^6 bytes per second.
        let write_mb_per_s = judged.map(|r| Steadiness::of(r.map(|r| r.bytes_per_ns() * 1e3)));
        let verdict = match write_amplification {
            _ if written == 0 => Verdict::NothingWritten,
            _ if !self.collects => Verdict::NothingToCollect,
            _ if measured.ftl.gc_runs == 0 => Verdict::GcNeverStarted,
            None => Verdict::TooLittleWritten,
            Some(Steadiness { steady: false, .. }) => Verdict::NotSteady,
            Some(_) => Verdict::Steady,
        };
        SteadyReport {
            verdict,
            round_bytes: self.round_sectors * SECTOR_BYTES,
            rounds: self.rounds,
            write_amplification,
            write_mb_per_s,
            last_rounds: self.last[JUDGED - known..].to_vec(),
        }
    }
}

pub(super) fn programs<P: Probe, C: Contents>(device: &Device<P, C>) -> u64 {
    flash_pages_programmed(device.flash().done())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds() -> SteadyRounds {
        SteadyRounds {
            round_sectors: 100,
            page_bytes: 4096,
            written: 0,
            sectors_at_start: 0,
            programs_at_start: 0,
            time_at_start: Nanos::ZERO,
            last: [Round::default(); JUDGED],
            rounds: 0,
            collects: true,
        }
    }

    fn round(write_amplification: f64) -> Round {
        let flash_bytes = (write_amplification * 51_200.0) as u64;
        Round { host_bytes: 51_200, flash_bytes, duration: Nanos(1_000_000) }
    }

    fn collecting() -> DeviceCounters {
        let mut counters = DeviceCounters::default();
        counters.ftl.gc_runs = 1;
        counters
    }

    fn verdict(values: &[f64]) -> Verdict {
        let mut rounds = rounds();
        values.iter().for_each(|&value| rounds.push(round(value)));
        rounds.report(1, &collecting()).verdict
    }

    #[test]
    fn every_verdict_has_its_case() {
        assert_eq!(verdict(&[2.0; 4]), Verdict::TooLittleWritten);
        assert_eq!(verdict(&[2.0; 5]), Verdict::Steady);
        // Only the last five count.
        assert_eq!(verdict(&[1.0, 1.5, 2.0, 2.01, 1.99, 2.0, 2.02]), Verdict::Steady);
        // One outlier of 21 % in the middle has no slope, but too wide a range.
        assert_eq!(verdict(&[2.0, 2.0, 2.45, 2.0, 2.0]), Verdict::NotSteady);
        // A steady climb of 12 % stays within the range, but has too much slope.
        assert_eq!(verdict(&[2.0, 2.06, 2.12, 2.18, 2.24]), Verdict::NotSteady);
        assert_eq!(verdict(&[2.0, 2.04, 2.08, 2.12, 2.16]), Verdict::Steady);
        let rounds = rounds();
        assert_eq!(rounds.report(0, &collecting()).verdict, Verdict::NothingWritten);
        let physical = SteadyRounds { collects: false, ..rounds.clone() };
        assert_eq!(physical.report(1, &collecting()).verdict, Verdict::NothingToCollect);
        let idle = DeviceCounters::default();
        assert_eq!(rounds.report(1, &idle).verdict, Verdict::GcNeverStarted);
    }

    #[test]
    fn range_and_excursion_are_those_of_the_fitted_line() {
        let steadiness = Steadiness::of([1.0, 1.1, 1.2, 1.3, 1.4]);
        assert!((steadiness.mean - 1.2).abs() < 1e-12);
        assert!((steadiness.range_ratio - 0.4 / 1.2).abs() < 1e-12);
        assert!((steadiness.excursion_ratio - 0.4 / 1.2).abs() < 1e-12);
    }
}
