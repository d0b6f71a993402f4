//! What traces and loads are like, in words: lines of a name and a text, for terminals and pages.

use ftlab::units::SECTOR_BYTES;
use ftlab_workload::accesses::AccessReport;
use ftlab_workload::trace::{Character, Distribution, Inspection};

use super::PAGE;
use crate::human::{bytes, count, digits, percent, rate, span};

/// The sizes of LRU caches, as shares of all pages, whose misses are told.
const CACHES: [f64; 3] = [0.01, 0.1, 0.5];

/// A name, and what is said about it, in one line or in several.
pub type Fact = (&'static str, String);

/// The standard error of an estimate; nothing for what is exact.
fn within(error_ratio: f64) -> String {
    if error_ratio > 0.0 {
        format!(" (estimated, ± {})", percent(error_ratio))
    } else {
        String::new()
    }
}

/// Says what a trace is and how it was read.
#[must_use]
pub fn inspection_in_words(found: &Inspection) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut line = |name, text: String| facts.push((name, text));
    line("Trace", found.file.clone());
    let compression = format!("{:?}", found.compression).to_lowercase();
    let packed = if compression == "none" { String::new() } else { format!(", {compression}") };
    line("Format", format!("{}{packed}", found.format));
    line("Fingerprint", found.digest.clone());
    let share = |part: u64| percent(part as f64 / found.requests.max(1) as f64);
    line("Requests", count(found.requests));
    for (name, requests, moved) in [
        ("  reads", found.reads, Some(found.read_bytes)),
        ("  writes", found.writes, Some(found.write_bytes)),
        ("  trims", found.trims, Some(found.trim_bytes)),
        ("  flushes", found.flushes, None),
    ] {
        let size = moved.filter(|_| requests > 0).map_or(String::new(), |moved| {
            format!(", {}, {} on average", bytes(moved), bytes(moved / requests))
        });
        if requests > 0 {
            line(name, format!("{} ({}){size}", count(requests), share(requests)));
        }
    }
    if found.fua_writes > 0 {
        line("  with FUA", format!("{} ({})", count(found.fua_writes), share(found.fua_writes)));
    }
    let mean = found.mean_requests_per_s;
    let mean = mean.map_or(String::new(), |mean| format!(", {} requests a second", rate(mean)));
    let most = count(found.max_requests_in_1s);
    line("Duration", format!("{}{mean}, at most {most} in a second", span(found.duration_ns)));
    let end = found.max_lba_end.saturating_mul(SECTOR_BYTES);
    line("Addresses", format!("{} wide, up to {}", bytes(found.span_bytes), bytes(end)));
    let touched = found.touched_pages_4k;
    let size = bytes(touched.saturating_mul(4096));
    let error = within(found.touched_pages_error_ratio);
    line("Touched", format!("{} pages of 4 KiB, {size}{error}", count(touched)));
    line("Streams", count(found.streams) + &within(found.streams_error_ratio));
    line(
        "Not 4 KiB aligned",
        format!("{} ({})", count(found.unaligned_4k), share(found.unaligned_4k)),
    );
    line("Out of order", count(found.out_of_order));
    if found.skipped_lines > 0 {
        line("Lines left out", count(found.skipped_lines));
    }
    facts
}

/// Says what a load is like.
#[must_use]
pub fn in_words(found: &Character) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut line = |name, text: Option<String>| facts.extend(text.map(|text| (name, text)));
    line("Sequential", sequential(found));
    let arrivals = &found.arrivals;
    line(
        "Gaps",
        halves(&arrivals.gap_ns, span)
            .zip(arrivals.gap_variation)
            .map(|(text, cv)| format!("{text}, variation {} (Poisson: 1)", digits(cv))),
    );
    let scales = arrivals.dispersion.iter().filter_map(|of| {
        let (index, peak) = of.index.zip(of.peak_to_mean)?;
        Some(format!("{} in {} (peak {} means)", digits(index), span(of.interval_ns), digits(peak)))
    });
    let scales: Vec<String> = scales.collect();
    line("Dispersion", (!scales.is_empty()).then(|| scales.join(",\n")));
    let idle = arrivals.idle.iter().filter(|of| of.gaps > 0).filter_map(|of| {
        let length = span(of.at_least_ns);
        Some(format!(
            "{} of the time in {} {} of {length}",
            percent(of.time_ratio?),
            count(of.gaps),
            if of.gaps == 1 { "gap" } else { "gaps" }
        ))
    });
    let idle: Vec<String> = idle.collect();
    line("Idle", (!idle.is_empty()).then(|| idle.join(" or more,\n") + " or more"));
    let largest = found.working_set.iter().max_by(|one, other| one.pages.total_cmp(&other.pages));
    line(
        "Working set",
        largest.map(|hour| {
            let size = bytes((hour.pages * PAGE) as u64);
            format!(
                "at most {size} in an hour (hour {}), {} hours with requests",
                hour.hour,
                found.working_set.len()
            )
        }),
    );
    let reuse = &found.reuse;
    line("Reuse", halves(&reuse.reuse_pages, |pages| bytes(pages.saturating_mul(PAGE as u64))));
    line("LRU misses", misses(found));
    let apart = [halves(&reuse.overwrite_bytes, bytes), halves(&reuse.overwrite_ns, span)];
    let apart: Vec<String> = apart.into_iter().flatten().collect();
    line("Overwritten after", (!apart.is_empty()).then(|| apart.join("\n")));
    let top = found
        .skew
        .top
        .iter()
        .map(|top| format!("{} on {} %", percent(top.accesses_ratio), top.pages_percent));
    let top = top.collect::<Vec<_>>().join(", ");
    line(
        "Skew",
        found
            .skew
            .zipf_exponent
            .map(|exponent| format!("{top} of the pages; Zipf exponent {}", digits(exponent))),
    );
    let is_sampled = found.followed_ratio < 1.0;
    line(
        "Sampled",
        is_sampled.then(|| {
            format!(
                "reuse, working set and skew, from one in {} pages",
                digits(1.0 / found.followed_ratio)
            )
        }),
    );
    facts
}

fn sequential(found: &Character) -> Option<String> {
    let of = &found.sequence;
    let (next, near) = of.next_ratio.zip(of.near_ratio)?;
    let run = digits(of.run_requests.mean?);
    Some(format!(
        "{} after the previous request, {} after one of the last 16; runs of {run}",
        percent(next),
        percent(near)
    ))
}

/// Returns the median and the ninth decile of a distribution.
fn halves(of: &Distribution, shown: impl Fn(u64) -> String) -> Option<String> {
    let (half, most) = of.quantile(0.5).zip(of.quantile(0.9))?;
    Some(format!("{} median, {} for nine in ten", shown(half), shown(most)))
}

fn misses(found: &Character) -> Option<String> {
    let last = found.reuse.lru.last()?;
    let of = |part: &f64| {
        let wanted = found.pages * part;
        let point = found.reuse.lru.iter().find(|point| point.cache_pages as f64 >= wanted);
        let point = point.unwrap_or(last);
        let size = bytes(point.cache_pages.saturating_mul(PAGE as u64));
        format!("{} with {size}", percent(point.miss_ratio))
    };
    Some(CACHES.iter().map(of).collect::<Vec<_>>().join(", "))
}

/// Says how reads and writes share pages.
#[must_use]
pub fn accesses_in_words(found: &AccessReport) -> Vec<Fact> {
    let ratios = [
        ("Reads", found.only_read_reads_ratio.map(|ratio| (ratio, "on pages only read"))),
        ("Writes", found.only_written_writes_ratio.map(|ratio| (ratio, "on pages only written"))),
        (
            "Reads",
            found.never_written_reads_ratio.map(|ratio| (ratio, "of pages not written before")),
        ),
    ];
    let ratios = ratios.into_iter().filter_map(|(name, ratio)| {
        let (ratio, what) = ratio?;
        Some((name, format!("{} {what}", percent(ratio))))
    });
    let windows = found.identification.windows.iter().filter_map(|window| {
        let text = format!(
            "{} correctly by the last {} accesses of a page, the current one included",
            percent(window.right_ratio?),
            window.window_accesses
        );
        Some(("Identified", text))
    });
    ratios.chain(windows).collect()
}

/// Formats a figure of a comparison: large ones are whole, and small ones have three decimals.
#[must_use]
pub fn numeral(value: f64) -> String {
    if value.abs() >= 1_000.0 { count(value.round() as u64) } else { format!("{value:.3}") }
}
