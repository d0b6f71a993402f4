//! Whether a device that is being aged has reached its steady state. The criterion has the form of
//! that of SNIA PTS (see [`steady`](super::steady)): the range and the slope, over a window of
//! rounds, of write amplification and throughput.
//!
//! With the values of PTS (rounds of a tenth of the capacity, 20 %, 10 %), a device with much over-provisioning counts
//! as steady on the way down from its first peak, up to 7 % too high: all blocks of the fill are collected at the same
//! age, so write amplification overshoots. Rounds of a fifth of the capacity and a quarter of the tolerance come within
//! 2 % (`tests/validation/ageing.rs`).
//!
//! Before collection starts, write amplification is one and looks steady. Therefore each judged
//! round must have collected.

use serde::Serialize;

use super::steady::{Steadiness, programs};
use crate::device::{Contents, Device};
use crate::host::{Completion, Host, Outcome};
use crate::scheduler::Probe;
use crate::units::{Nanos, Ratio, SECTOR_BYTES};

/// When a device counts as steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AgeingRule {
    /// The share of the logical capacity that a round writes.
    #[serde(rename = "round_ppm_of_capacity")]
    pub round: Ratio,
    /// How many rounds are judged together.
    #[serde(rename = "window_rounds")]
    pub window: u32,
    /// The most by which the largest and the smallest value may differ, as a share of the mean. The
    /// fitted line may rise or fall by half of this.
    #[serde(rename = "tolerance_ppm")]
    pub tolerance: Ratio,
    /// Ageing ends after this many drive writes in any case.
    pub limit_drive_writes: u32,
}

impl Default for AgeingRule {
    fn default() -> AgeingRule {
        AgeingRule {
            round: Ratio::percent(20),
            window: 5,
            tolerance: Ratio::percent(5),
            limit_drive_writes: 20,
        }
    }
}

/// One round of ageing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct AgedRound {
    /// Bytes that the host wrote.
    pub host_bytes: u64,
    /// Bytes programmed on flash.
    pub flash_bytes: u64,
    /// Its duration; none if the device is aged without a clock.
    #[serde(rename = "duration_ns")]
    pub duration: Option<Nanos>,
    /// Blocks collected.
    pub gc_runs: u64,
}

/// The result of an ageing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Aged {
    /// The last rounds agree.
    Steady,
    /// They did not agree before the limit.
    NotSteady,
    /// Collection never started before the limit.
    GcNeverStarted,
    /// The device reached the end of its life and takes no more writes.
    EndOfLife,
}

/// The progress of an ageing, for those who wait for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgeingOutlook {
    /// Rounds that are over.
    pub rounds: u32,
    /// Rounds that are judged together, and the most rounds within the limit.
    pub window: u32,
    /// See `window`.
    pub most_rounds: u32,
    /// Write amplification of the last round; none before the first is over.
    pub write_amplification: Option<f64>,
    /// The range of write amplification or of throughput over the window, whichever is larger, as a
    /// share of the mean; none before the window is full.
    pub range_ratio: Option<f64>,
    /// The most that it may be.
    pub tolerance_ratio: f64,
}

/// The state of an ageing.
#[derive(Clone, Debug)]
pub struct Ageing {
    rule: AgeingRule,
    round_sectors: u64,
    /// Sectors that may be written in total, and sectors written before the current round.
    limit_sectors: u64,
    before: u64,
    page_bytes: u64,
    /// Sectors written in the current round.
    written: u64,
    at_start: Mark,
    rounds: Vec<AgedRound>,
    /// Whether the device has a clock.
    has_clock: bool,
    /// Whether the device takes no writes any more.
    ended: bool,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    programs: u64,
    gc_runs: u64,
    time: Nanos,
}

impl Mark {
    fn of<P: Probe, C: Contents>(device: &Device<P, C>) -> Mark {
        Mark {
            programs: programs(device),
            gc_runs: device.ftl_counts().gc_runs,
            time: Nanos(device.now().0),
        }
    }
}

impl Ageing {
    /// Starts an ageing.
    #[must_use]
    pub fn new<P: Probe, C: Contents>(rule: AgeingRule, device: &Device<P, C>) -> Ageing {
        Ageing {
            rule,
            round_sectors: rule.round.of(device.capacity_sectors()).max(1),
            limit_sectors: device.capacity_sectors() * u64::from(rule.limit_drive_writes),
            before: 0,
            page_bytes: device.flash().geometry().shape().page_size.0,
            written: 0,
            at_start: Mark::of(device),
            rounds: Vec::new(),
            has_clock: true,
            ended: false,
        }
    }

    /// The same for a device that is written without a clock: only write amplification is judged.
    #[must_use]
    pub fn without_clock(self) -> Ageing {
        Ageing { has_clock: false, ..self }
    }

    /// Counts sectors that were written.
    #[inline]
    pub fn wrote(&mut self, sectors: u32) {
        self.written += u64::from(sectors);
    }

    /// Observes the device, before completions of the present moment are recorded. Returns true if
    /// it is steady, the limit is reached, or its life has ended.
    #[inline]
    pub fn look<P: Probe, C: Contents>(&mut self, device: &Device<P, C>) -> bool {
        self.ended = device.end_of_life().is_some();
        let steady = self.written >= self.round_sectors && self.end_round(device);
        steady || self.ended || self.before + self.written >= self.limit_sectors
    }

    /// Records a request. Refused writes don't count.
    #[inline]
    pub fn record(&mut self, completion: &Completion) {
        if completion.request.op.writes() && completion.outcome == Outcome::Done {
            self.wrote(completion.request.sectors);
        }
    }

    #[cold]
    fn end_round<P: Probe, C: Contents>(&mut self, device: &Device<P, C>) -> bool {
        let now = Mark::of(device);
        self.rounds.push(AgedRound {
            host_bytes: self.written * SECTOR_BYTES,
            flash_bytes: (now.programs - self.at_start.programs) * self.page_bytes,
            duration: self.has_clock.then(|| Nanos(now.time.0 - self.at_start.time.0)),
            gc_runs: now.gc_runs - self.at_start.gc_runs,
        });
        self.before += self.written;
        (self.written, self.at_start) = (0, now);
        self.is_steady()
    }

    /// The completed rounds, oldest first.
    #[must_use]
    pub fn rounds(&self) -> &[AgedRound] {
        &self.rounds
    }

    /// The rounds that are judged, if there are enough.
    fn judged(&self) -> Option<&[AgedRound]> {
        let first = self.rounds.len().checked_sub(self.rule.window as usize)?;
        Some(&self.rounds[first..])
    }

    /// The steadiness of write amplification over the last rounds.
    #[must_use]
    pub fn write_amplification(&self) -> Option<Steadiness> {
        self.judge(amplification)
    }

    /// The steadiness of write throughput over the last rounds, in 10^6 bytes per second. None without a clock.
    #[must_use]
    pub fn write_mb_per_s(&self) -> Option<Steadiness> {
        let ns = |round: &AgedRound| round.duration.map_or(1, |duration| duration.0.max(1));
        let rate = |round: &AgedRound| round.host_bytes as f64 / ns(round) as f64 * 1e3;
        self.has_clock.then(|| self.judge(rate)).flatten()
    }

    fn judge(&self, value: impl Fn(&AgedRound) -> f64) -> Option<Steadiness> {
        let values: Vec<f64> = self.judged()?.iter().map(value).collect();
        let range = f64::from(self.rule.tolerance.ppm) / 1e6;
        Some(Steadiness::within(&values, range, range / 2.0))
    }

    /// The progress of the ageing.
    #[must_use]
    pub fn outlook(&self) -> AgeingOutlook {
        let count = |rounds: usize| u32::try_from(rounds).unwrap_or(u32::MAX);
        let range = |what: Option<Steadiness>| what.map(|what| what.range_ratio);
        let rate = range(self.write_mb_per_s());
        AgeingOutlook {
            rounds: count(self.rounds.len()),
            window: self.rule.window,
            most_rounds: u32::try_from(self.limit_sectors / self.round_sectors).unwrap_or(u32::MAX),
            write_amplification: self.rounds.last().map(amplification),
            range_ratio: range(self.write_amplification())
                .map(|range| rate.map_or(range, |rate| rate.max(range))),
            tolerance_ratio: f64::from(self.rule.tolerance.ppm) / 1e6,
        }
    }

    /// Whether the device is steady.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        let collects = self.judged().is_some_and(|rounds| rounds.iter().all(|r| r.gc_runs > 0));
        let steady = |what: Option<Steadiness>| what.is_some_and(|what| what.steady);
        let in_rate = || !self.has_clock || steady(self.write_mb_per_s());
        collects && steady(self.write_amplification()) && in_rate()
    }

    /// The result of the ageing, at its end.
    #[must_use]
    pub fn verdict(&self) -> Aged {
        match self.is_steady() {
            _ if self.ended => Aged::EndOfLife,
            true => Aged::Steady,
            false if self.rounds.iter().all(|round| round.gc_runs == 0) => Aged::GcNeverStarted,
            false => Aged::NotSteady,
        }
    }
}

fn amplification(round: &AgedRound) -> f64 {
    round.flash_bytes as f64 / round.host_bytes as f64
}
