//! What whoever reads the numbers has to know, in plain words: the device was fresh, was not
//! steady, could not keep up, or there were too few requests for a percentile.

pub(super) mod faults;

use super::cost::ReadsByCost;
use super::host::HostStats;
use super::op_report::OpReport;
use super::report::Report;
use super::steady::{SteadyReport, Verdict};
use crate::ftl::gc::Purpose;
use crate::ftl::wear::EndReason;
use crate::units::Nanos;

/// What decided when requests arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arriving {
    /// Their own times (open loop): a device that is too slow gets further and further behind.
    #[default]
    ByTime,
    /// Completions of earlier requests.
    AfterCompletions,
}

/// A device was aged to a steady state and came to rest, before anything else was played on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgedBefore {
    /// The write amplification at which it was steady.
    pub amplification: f64,
    /// By what share its rounds of ageing might differ.
    pub tolerance: f64,
    /// What the host wrote since, in phases that are not measured.
    pub written_since_bytes: u64,
}

/// What the recorder can't know of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Circumstances {
    /// What decided when requests arrived.
    pub arriving: Arriving,
    /// Whether the run was stopped before its end.
    pub interrupted: bool,
    /// How the device had been aged, if that was to a steady state.
    pub aged: Option<AgedBefore>,
}

impl Circumstances {
    /// Whether measuring met what a device that was aged and came to rest does better at first than in use.
    fn rested(&self, capacity_bytes: u64) -> bool {
        let enough = RESTED_SHARE * capacity_bytes as f64;
        self.aged.is_some_and(|aged| (aged.written_since_bytes as f64) < enough)
    }
}

/// A device is behind if, after the last arrival, it needs longer than this share of the time in which
/// requests arrived, ...
const BEHIND_SHARE: f64 = 0.02;
/// ... and longer than a few erases take.
const BEHIND_AT_LEAST: Nanos = Nanos::from_micros(50_000);
/// What stays in the write buffer matters if it is more than this share of what was written back.
const LEFT_SHARE: f64 = 0.05;
/// Reads of pages that were never written matter if they are more than this share of all.
const UNWRITTEN_SHARE: f64 = 0.01;
/// The class of data from before is worth a word if it was read in more than this share of all reads from flash.
const PRIOR_SHARE: f64 = 0.1;
/// Write amplification departs from what ageing found if it differs by more than so many times the tolerance
/// within which ageing called the device steady, ...
const DEPARTS_TOLERANCES: f64 = 2.0;
/// ... over enough collections that the choice of single victims does not matter.
const DEPARTS_RUNS: u64 = 100;
/// A device that rested is as it was in use once this share of its capacity was written: docs/ageing.md has the
/// measurement.
const RESTED_SHARE: f64 = 0.25;

/// Wear is uneven if the most worn block was erased so many times as often as the mean, ...
const UNEVEN_TIMES: f64 = 5.0;
/// ... and so many times more often than it: with few erases a large ratio says nothing.
const UNEVEN_BY: f64 = 50.0;
/// Write amplifications that differ by less look alike where they are printed.
const SHOWN_APART: f64 = 0.001;

pub(super) fn collect(
    report: &Report,
    host: &HostStats,
    capacity_bytes: u64,
    circumstances: &Circumstances,
) -> Vec<String> {
    let mut notes = Vec::new();
    if circumstances.interrupted {
        notes.push("The run was interrupted: this is what was measured until then.".to_owned());
    }
    notes.extend(end_of_life(report));
    if report.host.requests == 0 {
        notes.push("Nothing was measured: no request finished in a measured phase.".to_owned());
        return notes;
    }
    notes.extend(beyond_the_first(report));
    notes.extend(unwritten(report));
    notes.extend(prior_class(report));
    notes.extend(unreadable(report));
    notes.extend(refused(report));
    notes.extend(beyond_refresh(report));
    notes.extend(behind(host, circumstances));
    notes.extend(steadiness(&report.steady_state, report, capacity_bytes, circumstances));
    notes.extend(departs(report, capacity_bytes, circumstances));
    notes.extend(left_in_buffer(report));
    notes.extend(absorbed(report));
    notes.extend(uneven_wear(report));
    for (name, op) in report.host.ops() {
        notes.extend(too_few(name, op));
    }
    notes
}

fn end_of_life(report: &Report) -> Option<String> {
    let end = report.health.as_ref()?.end_of_life?;
    let why = match end.reason {
        EndReason::TooFewBlocks => "too few blocks were good",
        EndReason::NoRoom => "failures in a row left no room to collect in",
        EndReason::DiesDied => "dies had died, and the others had no room for what was valid",
    };
    let refused: u64 = report.host.ops().iter().map(|(_, op)| op.refused_requests).sum();
    let lost = match end.left_in_dram {
        true => " Some acknowledged pages found no place on flash and are in DRAM only.",
        false => "",
    };
    let after = Nanos(end.at_ns.0);
    Some(format!(
        "The device came to the end of its life after {}, when the host had written {}: {why}. Since \
         then it is read-only; {refused} measured requests were refused.{lost}",
        seconds(after),
        size(end.host_written_bytes)
    ))
}

/// What a regulator gains is then what it was given.
fn prior_class(report: &Report) -> Option<String> {
    let cost = report.cost.as_ref()?;
    let ReadsByCost { low, medium, high, with_retries } = cost.reads;
    let (prior, all) = (cost.prior_reads?, low + medium + high + with_retries);
    let share = prior as f64 / all.max(1) as f64;
    (share > PRIOR_SHARE).then(|| {
        format!(
            "{:.0} % of what the host read from flash was there before, and is taken to have been programmed at \
             {} cost: much of what reads cost here is what ftl.cost.prior says. Compare regulators with one value \
             for all of them, too.",
            share * 100.0,
            cost.prior
        )
    })
}

/// Latencies and the counters of the device then speak of different requests.
fn beyond_the_first(report: &Report) -> Option<String> {
    let phases = || report.phases.iter().filter(|phase| phase.unmeasured_requests > 0);
    let names: Vec<String> = phases().map(|phase| phase_called(&phase.name)).collect();
    let unmeasured: u64 = phases().map(|phase| phase.unmeasured_requests).sum();
    (unmeasured > 0).then(|| {
        format!(
            "Only the first requests of {} are measured (measure_first): {unmeasured} more kept the \
             device busy. Counts, latencies, throughput and time series of requests leave them out; \
             flash commands, write amplification, collection, wear and utilisation count them.",
            names.join(", ")
        )
    })
}

/// What a phase is called in a sentence: one without a name has its number.
#[must_use]
pub fn phase_called(name: &str) -> String {
    match name.chars().all(|c| c.is_ascii_digit() || " +".contains(c)) {
        true => format!("phase {name}"),
        false => name.to_owned(),
    }
}

/// In a decimal unit that shows it.
fn size(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        1e9.. => format!("{:.3} GB", bytes / 1e9),
        1e6.. => format!("{:.1} MB", bytes / 1e6),
        _ => format!("{:.1} kB", bytes / 1e3),
    }
}

/// Data was lost, and nobody refreshed it in time.
fn unreadable(report: &Report) -> Option<String> {
    let by_age = report.cost.as_ref().map_or(0, |cost| cost.counts.unreadable);
    let by_faults = match &report.parity {
        // What could be computed is not lost.
        Some(parity) => parity.counts.lost,
        None => report.health.as_ref().map_or(0, |health| health.hazards.unreadable),
    };
    let dead = report.health.as_ref().map_or(0, |health| health.dead_dies);
    let pages = by_age.max(by_faults);
    let requests: u64 = report.host.ops().iter().map(|(_, op)| op.unreadable_requests).sum();
    (pages + requests > 0).then(|| {
        format!(
            "Data is lost: {pages} reads of flash pages found more errors than anything corrects{}, and {requests} \
             requests of the host ended as unreadable: they count in requests, IOPS, bytes and latencies.{}",
            match dead {
                0 => String::new(),
                1 => ", a die died".to_owned(),
                dead => format!(", {dead} dies died"),
            },
            if by_age > by_faults { " Refresh data in time (ftl.refresh.when)." } else { "" }
        )
    })
}

/// Writes were refused by a device that takes others.
fn refused(report: &Report) -> Option<String> {
    let health = report.health.as_ref().filter(|health| health.end_of_life.is_none())?;
    let refused: u64 = report.host.ops().iter().map(|(_, op)| op.refused_requests).sum();
    (refused > 0).then(|| {
        format!(
            "{refused} writes were refused: placement sends their pages to dead dies alone ({} died). With \
             ftl.placement.policy = \"dynamic\" they would go elsewhere.",
            health.dead_dies
        )
    })
}

/// Refresh gave up.
fn beyond_refresh(report: &Report) -> Option<String> {
    let blocks = report.cost.as_ref().map_or(0, |cost| cost.ftl.beyond_refresh);
    (blocks > 0).then(|| {
        format!(
            "Blocks were so worn that a copy of their data would have been due again at once: they were not refreshed \
             ({blocks} times), and their data may be lost. Look more often (ftl.refresh.period)."
        )
    })
}

fn unwritten(report: &Report) -> Option<String> {
    let (unwritten, all) = (report.ftl.unwritten_reads, report.read_pages);
    (unwritten as f64 > UNWRITTEN_SHARE * all as f64).then(|| {
        format!(
            "{:.1} % of the pages that were read had never been written: the device answers those \
             without touching flash, so read latencies are too good. Write the device first \
             (--precondition fill).",
            unwritten as f64 / all as f64 * 100.0
        )
    })
}

fn behind(host: &HostStats, circumstances: &Circumstances) -> Option<String> {
    if circumstances.arriving != Arriving::ByTime {
        return None;
    }
    let drain = host.drain();
    let arriving = host.duration().0.saturating_sub(drain.0);
    let late = drain > BEHIND_AT_LEAST && drain.0 as f64 > BEHIND_SHARE * arriving as f64;
    late.then(|| {
        format!(
            "The device could not keep up: after the last request had arrived it took {} more. \
             Latencies show the growing queue, not the device; replay slower (--speed) or with a \
             fixed queue depth (--queue-depth).",
            seconds(drain)
        )
    })
}

fn steadiness(
    steady: &SteadyReport,
    report: &Report,
    capacity_bytes: u64,
    circumstances: &Circumstances,
) -> Option<String> {
    let written = report.write_amplification.host_bytes as f64 / capacity_bytes as f64 * 100.0;
    match steady.verdict {
        Verdict::NothingWritten | Verdict::Steady => None,
        Verdict::NothingToCollect => Some(
            "Requests carried physical addresses: pages were programmed in place, and nothing was \
             translated, collected or erased. What an FTL adds is not in these figures."
                .to_owned(),
        ),
        Verdict::GcNeverStarted if report.wear.erases_per_block_mean > 0.0 => Some(format!(
            "Garbage collection was not at work while this was measured: the host wrote {written:.3} % \
             of the capacity, and enough blocks stayed free. The device was used before, but what its \
             collection costs is not in these figures."
        )),
        Verdict::GcNeverStarted if report.merges.is_some() => Some(format!(
            "No log block had to be emptied: the host wrote {written:.3} % of the capacity, and the log was \
             not full. What merges cost is not in these figures."
        )),
        Verdict::GcNeverStarted => Some(format!(
            "Garbage collection never started: the host wrote {written:.3} % of the capacity, and \
             enough blocks stayed free. Latencies and write amplification are those of a fresh \
             device."
        )),
        Verdict::TooLittleWritten if circumstances.aged.is_some() => {
            let rested = circumstances.rested(capacity_bytes).then_some(
                " It came to rest after that: its write buffer was empty and its collections had ended, so the \
                 first writes are cheaper than in use.",
            );
            Some(format!(
                "The device was aged to a steady state before, under the load and with the policies of its \
                 ageing.{} {written:.3} % of the capacity was written while measuring: too little to tell how \
                 this load would leave it.",
                rested.unwrap_or_default()
            ))
        }
        Verdict::TooLittleWritten => Some(format!(
            "Too little was written to tell whether the device was steady: {} of the 5 rounds \
             needed, each a tenth of the capacity. Expect other numbers from a device that has been \
             in use for long.",
            steady.rounds
        )),
        Verdict::NotSteady => {
            let wa = steady.write_amplification?;
            Some(format!(
                "The device was not in a steady state: over the last half of the capacity written, \
                 write amplification varied by {:.0} % of its mean (steady: at most 20 %) with a \
                 trend of {:.0} % (steady: at most 10 %).",
                wa.range_ratio * 100.0,
                wa.excursion_ratio * 100.0
            ))
        }
    }
}

/// The device is not as it was when its ageing ended, or the load is another.
fn departs(report: &Report, capacity_bytes: u64, circumstances: &Circumstances) -> Option<String> {
    let AgedBefore { amplification: steady, tolerance, .. } = circumstances.aged?;
    let measured = report.write_amplification.total_ratio.filter(|_| steady > 0.0)?;
    let change = measured / steady - 1.0;
    let departs =
        change.abs() > DEPARTS_TOLERANCES * tolerance && report.ftl.gc_runs >= DEPARTS_RUNS;
    let rested = change < 0.0 && circumstances.rested(capacity_bytes);
    let why = match rested {
        true => {
            "The device had rested, so its first writes were cheaper than in use; the measured load or the policies \
             may differ from those of the ageing, too. Measure longer, or play a part of the load unmeasured first."
        }
        false => {
            "The measured load or the policies differ from those of the ageing, or from what it had settled at. \
             Measure longer to see where amplification settles."
        }
    };
    departs.then(|| {
        format!(
            "Write amplification was {measured:.2} while measuring, and {steady:.2} when ageing found the device \
             steady ({:+.0} %). {why}",
            change * 100.0
        )
    })
}

fn left_in_buffer(report: &Report) -> Option<String> {
    let cache = report.cache.as_ref()?;
    let written = cache.counts.write_hits + cache.counts.write_misses;
    let matters = cache.left_pages as f64 > LEFT_SHARE * cache.counts.written_back as f64;
    (matters && written > 0).then(|| {
        format!(
            "{} pages were still in the write buffer at the end, {} had been written back: write \
             amplification counts only what reached flash.",
            cache.left_pages, cache.counts.written_back
        )
    })
}

/// The whole is the smaller of the two where the FTL was given fewer pages than the host wrote.
fn absorbed(report: &Report) -> Option<String> {
    let cache = report.cache.as_ref()?;
    let wa = &report.write_amplification;
    let (total, by_gc) = (wa.total_ratio?, wa.ftl_ratio?);
    let given = report.ftl.host_pages * wa.page_bytes;
    (by_gc - total >= SHOWN_APART && given < wa.host_bytes).then(|| {
        format!(
            "Write amplification by GC alone ({by_gc:.3}) is larger than the whole ({total:.3}): it counts from what \
             the FTL was given to program, {}, and the whole from what the host wrote, {}. The rest the write buffer \
             absorbed: {} of the written pages replaced one that was still there, and {} pages were left in it.",
            size(given),
            size(wa.host_bytes),
            cache.write_hit_ratio.map_or("none".to_owned(), |hits| format!("{:.1} %", hits * 100.0)),
            cache.left_pages,
        )
    })
}

/// One block wears out long before the others.
fn uneven_wear(report: &Report) -> Option<String> {
    let wear = &report.wear;
    let (most, mean) = (f64::from(wear.erases_per_block_max), wear.erases_per_block_mean);
    let is_uneven = most >= UNEVEN_TIMES * mean && most - mean >= UNEVEN_BY;
    let remedy = match report.gc.by_purpose[Purpose::WearLevel].runs {
        0 => " Static wear levelling (ftl.wear.policy) did not move anything.",
        _ => "",
    };
    is_uneven.then(|| {
        format!(
            "Wear is uneven: one block was erased {most} times since the device was new, {:.0} times the mean of \
             {mean:.1} (told from {UNEVEN_TIMES} times the mean on, and {UNEVEN_BY} erases above it).{remedy}",
            most / mean
        )
    })
}

fn too_few(name: &str, op: &OpReport) -> Option<String> {
    let latency = &op.latency_ns;
    let percentiles = [
        ("p50", latency.p50),
        ("p90", latency.p90),
        ("p99", latency.p99),
        ("p99.9", latency.p99_9),
        ("p99.99", latency.p99_99),
    ];
    let missing: Vec<&str> =
        percentiles.iter().filter(|(_, value)| value.is_none()).map(|(name, _)| *name).collect();
    (op.requests > 0 && !missing.is_empty()).then(|| {
        format!(
            "{} {name} requests are too few for {}: fewer than ten lie beyond.",
            op.requests,
            missing.join(", ")
        )
    })
}

fn seconds(span: Nanos) -> String {
    format!("{:.3} s", span.as_secs_f64())
}

#[cfg(test)]
mod tests;
