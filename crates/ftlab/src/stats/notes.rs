//! Notes that readers of the numbers need, in plain words: the device was fresh, was not steady or
//! could not keep up, or there were too few requests for a percentile.

pub(super) mod faults;

use super::DeviceCounters;
use super::cost::ReadsByCost;
use super::host::HostStats;
use super::op_report::OpReport;
use super::report::Report;
use super::steady::{SteadyReport, Verdict};
use crate::ftl::gc::Purpose;
use crate::ftl::wear::EndReason;
use crate::units::Nanos;

/// What determines the arrival of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arriving {
    /// Their own times (open loop): a device that is too slow falls behind more and more.
    #[default]
    ByTime,
    /// Completions of earlier requests.
    AfterCompletions,
}

/// The device was aged to a steady state and came to rest before anything else was played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgedBefore {
    /// The write amplification at which it was steady.
    pub amplification: f64,
    /// The tolerance of its rounds of ageing, as a share.
    pub tolerance: f64,
    /// Bytes that the host has written since, in unmeasured phases.
    pub written_since_bytes: u64,
}

/// Facts about a run that the recorder can't know.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Circumstances {
    /// What determined the arrival of requests.
    pub arriving: Arriving,
    /// Whether the run was stopped before its end.
    pub interrupted: bool,
    /// The ageing of the device, if it was aged to a steady state.
    pub aged: Option<AgedBefore>,
}

impl Circumstances {
    /// Whether the measurement began on an aged device at rest, which at first performs better than in use.
    fn rested(&self, capacity_bytes: u64) -> bool {
        let enough = RESTED_SHARE * capacity_bytes as f64;
        self.aged.is_some_and(|aged| (aged.written_since_bytes as f64) < enough)
    }
}

/// A device is behind if it needs, after the last arrival, longer than this share of the time over
/// which requests arrived, ...
const BEHIND_SHARE: f64 = 0.02;
/// ... and longer than a few erases take.
const BEHIND_AT_LEAST: Nanos = Nanos::from_micros(50_000);
/// Pages left in the write buffer matter if they are more than this share of the pages written back.
const LEFT_SHARE: f64 = 0.05;
/// Pages that are trimmed or reset in the write buffer matter if they are more than this share of those that came into it.
const DIED_SHARE: f64 = 0.5;
/// Reads of pages that were never written matter if they are more than this share of all reads.
const UNWRITTEN_SHARE: f64 = 0.01;
/// The class of data from before matters if more than this share of all flash reads were of such data.
const PRIOR_SHARE: f64 = 0.1;
/// Write amplification departs from that of the ageing if it differs by more than this many times
/// the tolerance within which the device counted as steady, ...
const DEPARTS_TOLERANCES: f64 = 2.0;
/// ... over enough collections that the choice of single victims does not matter.
const DEPARTS_RUNS: u64 = 100;
/// An aged device at rest is as in use again when this share of its capacity was written:
/// docs/ageing.md has the measurement.
const RESTED_SHARE: f64 = 0.25;

/// Wear is uneven if the most worn block was erased this many times as often as the mean, ...
const UNEVEN_TIMES: f64 = 5.0;
/// ... and this many times more than the mean: with few erases, a large ratio says nothing.
const UNEVEN_BY: f64 = 50.0;
/// Write amplifications that differ by less look alike in print.
const SHOWN_APART: f64 = 0.001;

pub(super) fn collect(
    report: &Report,
    (host, counters): (&HostStats, &DeviceCounters),
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
    notes.extend(unreadable(report, counters.hazards.unreadable));
    notes.extend(refused(report));
    notes.extend(zone_errors(report));
    notes.extend(beyond_refresh(report));
    notes.extend(behind(host, circumstances));
    notes.extend(steadiness(&report.steady_state, report, capacity_bytes, circumstances));
    notes.extend(departs(report, capacity_bytes, circumstances));
    notes.extend(left_in_buffer(report));
    notes.extend(died_in_buffer(report));
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
        EndReason::NoRoom => "failures left no room for collection",
        EndReason::DiesDied => "dies had died, and what was left had no room for the valid pages",
    };
    let refused: u64 = report.host.ops().map(|(_, op)| op.refused_requests).sum();
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

/// Then the gain of a regulator depends on this assumption.
fn prior_class(report: &Report) -> Option<String> {
    let cost = report.cost.as_ref()?;
    let ReadsByCost { low, medium, high, with_retries } = cost.reads;
    let (prior, all) = (cost.prior_reads?, low + medium + high + with_retries);
    let share = prior as f64 / all.max(1) as f64;
    (share > PRIOR_SHARE).then(|| {
        format!(
            "{:.0} % of the host's reads from flash were of data that was there before, which counts as programmed at \
             {} cost: ftl.cost.prior decides much of the cost of reads here. Also compare regulators with one value \
             of it for all.",
            share * 100.0,
            cost.prior
        )
    })
}

/// Then latencies and the counters of the device cover different requests.
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

/// The name of a phase in a sentence: its number if it has no name.
#[must_use]
pub fn phase_called(name: &str) -> String {
    match name.chars().all(|c| c.is_ascii_digit() || " +".contains(c)) {
        true => format!("phase {name}"),
        false => name.to_owned(),
    }
}

/// Formats a size in a suitable decimal unit.
fn size(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        1e9.. => format!("{:.3} GB", bytes / 1e9),
        1e6.. => format!("{:.1} MB", bytes / 1e6),
        _ => format!("{:.1} kB", bytes / 1e3),
    }
}

/// Data was lost: by age, by faults, or with a die.
fn unreadable(report: &Report, by_faults: u64) -> Option<String> {
    let by_age = report.cost.as_ref().map_or(0, |cost| cost.counts.unreadable);
    let requests: u64 = report.host.ops().map(|(_, op)| op.unreadable_requests).sum();
    let (reads, why) = match &report.parity {
        // Pages that could be computed are not lost.
        Some(parity) => (parity.counts.lost, "could not be computed from their stripes"),
        None => (by_age.max(by_faults), "found more errors than can be corrected"),
    };
    if reads + requests == 0 {
        return None;
    }
    let died = match report.health.as_ref().map_or(0, |health| health.dead_dies) {
        0 => None,
        1 => Some("a die died".to_owned()),
        dead => Some(format!("{dead} dies died")),
    };
    let read = (reads > 0).then(|| format!("{reads} reads of flash pages {why}"));
    let causes: Vec<String> = died.into_iter().chain(read).collect();
    let refresh = match reads > 0 && by_age > by_faults {
        true => " Refresh data in time (ftl.refresh.when).",
        false => "",
    };
    Some(format!(
        "Data is lost: {}, and {requests} requests of the host ended as unreadable: they count in requests, IOPS, bytes and \
         latencies.{refresh}",
        causes.join(", "),
    ))
}

/// A device that takes other writes refused some.
fn refused(report: &Report) -> Option<String> {
    let conventional = report.health.as_ref().filter(|_| report.zones.is_none());
    let health = conventional.filter(|health| health.end_of_life.is_none())?;
    let refused: u64 = report.host.ops().map(|(_, op)| op.refused_requests).sum();
    (refused > 0).then(|| {
        format!(
            "{refused} writes were refused: placement sends their pages only to dead dies ({} died). With \
             ftl.placement.policy = \"dynamic\" they would go elsewhere.",
            health.dead_dies
        )
    })
}

/// Commands failed because of the state of a zone.
fn zone_errors(report: &Report) -> Option<String> {
    let errors = report.zones.as_ref()?.counts.errors;
    (errors > 0).then(|| {
        format!(
            "{errors} commands failed because of the state of a zone, and count nowhere else. A load for zones writes each at \
             its write pointer, and resets it before it is written again: see docs/zones.md. For any other load, set \
             host.translation.policy to \"log\"."
        )
    })
}

/// Refresh gave up on some blocks.
fn beyond_refresh(report: &Report) -> Option<String> {
    let blocks = report.cost.as_ref().map_or(0, |cost| cost.ftl.beyond_refresh);
    (blocks > 0).then(|| {
        format!(
            "Blocks were so worn that a copy of their data would have been due again at once: they were not refreshed \
             ({blocks} times), and their data may be lost. Patrol more often (ftl.refresh.period)."
        )
    })
}

fn unwritten(report: &Report) -> Option<String> {
    let (unwritten, all) = (report.ftl.unwritten_reads, report.read_pages);
    (unwritten as f64 > UNWRITTEN_SHARE * all as f64).then(|| {
        format!(
            "{:.1} % of the pages that were read had never been written: the device answers those \
             without touching flash, so read latencies are too low. Write the device first \
             (`precondition` fill).",
            unwritten as f64 / all as f64 * 100.0
        )
    })
}

fn behind(host: &HostStats, circumstances: &Circumstances) -> Option<String> {
    if circumstances.arriving != Arriving::ByTime {
        return None;
    }
    let backlog = host.backlog();
    let arriving = host.duration().0.saturating_sub(backlog.0);
    let late = backlog > BEHIND_AT_LEAST && backlog.0 as f64 > BEHIND_SHARE * arriving as f64;
    late.then(|| {
        format!(
            "The device could not keep up: after the last request had arrived it took {} more. \
             Latencies show the growing queue, not the device; replay slower (`speed`) or with a \
             fixed queue depth (`queue_depth`).",
            seconds(backlog)
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
        // Resets leave nothing to collect.
        Verdict::GcNeverStarted if report.zones.is_some() => {
            (report.wear.erases_per_block_mean == 0.0).then(|| {
                format!(
                    "No block was erased: the host wrote {written:.3} % of the capacity, and enough blocks were free. What erases \
                     cost is not in these figures."
                )
            })
        }
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

/// The device is not in the state in which its ageing ended, or the load is another.
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

/// Data that is trimmed, or whose zone is reset, may never reach flash.
fn died_in_buffer(report: &Report) -> Option<String> {
    let cache = report.cache.as_ref()?;
    let came = cache.counts.write_misses;
    let stayed = cache.counts.written_back + cache.left_pages;
    let died = came.saturating_sub(stayed);
    (died as f64 > DIED_SHARE * came as f64).then(|| {
        format!(
            "{died} of {came} pages were trimmed, or their zones reset, while they were in the write buffer. They never \
             reached flash, so rates and latencies are mostly those of the buffer. With a smaller `cache.capacity`, or a \
             larger span, they are those of flash."
        )
    })
}

/// The total is smaller than its part if the FTL got fewer pages than the host wrote.
fn absorbed(report: &Report) -> Option<String> {
    let cache = report.cache.as_ref()?;
    let wa = &report.write_amplification;
    let (total, by_gc) = (wa.total_ratio?, wa.ftl_ratio?);
    let given = report.ftl.host_pages * wa.page_bytes;
    (by_gc - total >= SHOWN_APART && given < wa.host_bytes).then(|| {
        format!(
            "Write amplification by GC alone ({by_gc:.3}) is larger than the total ({total:.3}): it is relative to what \
             the FTL had to program, {}, and the total to what the host wrote, {}. The write buffer absorbed the rest: \
             {} of the written pages replaced one that was still in it, and {} pages were left in it at the end.",
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
             {mean:.1} (noted from {UNEVEN_TIMES} times the mean and {UNEVEN_BY} erases above it).{remedy}",
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
