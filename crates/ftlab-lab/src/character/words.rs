//! What traces and loads are like, in words: lines of a name and a text, for terminals and pages.

use ftlab::units::SECTOR_BYTES;
use ftlab_workload::accesses::AccessReport;
use ftlab_workload::trace::{Character, CharacterComparison, Distribution, Inspection};

use super::PAGE;
use crate::human::{bytes, count, counted, digits, percent, rate, span};

/// The sizes of LRU caches, as shares of all pages, whose misses are told.
const CACHES: [f64; 3] = [0.01, 0.1, 0.5];

/// Why nothing is said of time.
pub const NO_TIMES: &str = "all requests have the same time, so what depends on times is left out";

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
    let compression = format!("{:?}", found.compression).to_lowercase();
    let packed = if compression == "none" { String::new() } else { format!(", {compression}") };
    let mut facts = vec![
        ("Trace", found.file.clone()),
        ("Format", format!("{}{packed}", found.format)),
        ("Fingerprint", found.digest.clone()),
        ("Requests", count(found.requests)),
    ];
    facts.extend(operations(found));
    facts.push(("Duration", duration(found)));
    facts.extend(places(found));
    facts.push(("Streams", count(found.streams) + &within(found.streams_error_ratio)));
    let unaligned = share(found.unaligned_4k, found.requests);
    facts.push(("Not 4 KiB aligned", format!("{} ({unaligned})", count(found.unaligned_4k))));
    facts.push(("Out of order", count(found.out_of_order)));
    if found.skipped_lines > 0 {
        facts.push(("Lines left out", count(found.skipped_lines)));
    }
    facts
}

/// A part of requests, in per cent.
fn share(part: u64, requests: u64) -> String {
    percent(part as f64 / requests.max(1) as f64)
}

fn operations(found: &Inspection) -> Vec<Fact> {
    let mut facts = Vec::new();
    for (name, requests, moved) in [
        ("  reads", found.reads, Some(found.read_bytes)),
        ("  writes", found.writes, Some(found.write_bytes)),
        ("  trims", found.trims, Some(found.trim_bytes)),
        ("  flushes", found.flushes, None),
        ("  with FUA", found.fua_writes, None),
    ] {
        let size = moved.filter(|_| requests > 0).map_or(String::new(), |moved| {
            format!(", {}, {} on average", bytes(moved), bytes(moved / requests))
        });
        if requests > 0 {
            let share = share(requests, found.requests);
            facts.push((name, format!("{} ({share}){size}", count(requests))));
        }
    }
    facts
}

fn duration(found: &Inspection) -> String {
    let Some(most) = found.max_requests_in_1s else {
        return "none".to_owned();
    };
    let mean = found.mean_requests_per_s;
    let mean = mean.map_or(String::new(), |mean| format!(", {}", how_often(mean)));
    format!("{}{mean}, at most {} in any second", span(found.duration_ns), count(most))
}

/// A rate, or the time between requests where that says more.
fn how_often(per_s: f64) -> String {
    match per_s < 1.0 {
        true => format!("a request in {}", span((1e9 / per_s).round() as u64)),
        false => format!("{} requests a second", rate(per_s)),
    }
}

fn places(found: &Inspection) -> [Fact; 2] {
    let end = found.max_lba_end.saturating_mul(SECTOR_BYTES);
    let touched = found.touched_pages_4k;
    let size = bytes(touched.saturating_mul(PAGE as u64));
    let error = within(found.touched_pages_error_ratio);
    let trims = if found.trims > 0 { "; trims touch none" } else { "" };
    [
        ("Addresses", format!("{} wide, up to {}", bytes(found.span_bytes), bytes(end))),
        ("Touched", format!("{} read or written, {size}{error}{trims}", pages(touched))),
    ]
}

/// A number of pages.
fn pages(number: u64) -> String {
    format!("{} of 4 KiB", counted(number, "page"))
}

/// Says what a load is like.
#[must_use]
pub fn in_words(found: &Character) -> Vec<Fact> {
    let reuse = &found.reuse;
    let apart = [halves(&reuse.overwrite_bytes, bytes), halves(&reuse.overwrite_ns, span)];
    let apart: Vec<String> = apart.into_iter().flatten().collect();
    let used = |pages: u64| bytes(pages.saturating_mul(PAGE as u64));
    let facts = [
        ("Times", found.timeless.then(|| format!("none: {NO_TIMES}"))),
        ("Sequential", sequential(found)),
        ("Gaps", gaps(found)),
        ("Dispersion", dispersion(found)),
        ("Idle", idle(found)),
        ("Working set", working_set(found)),
        ("Reuse", halves(&reuse.reuse_pages, used)),
        ("LRU misses", misses(found)),
        ("Overwritten after", (!apart.is_empty()).then(|| apart.join("\n"))),
        ("Skew", skew(found)),
        ("Sampled", sampled(found)),
    ];
    facts.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
}

fn gaps(found: &Character) -> Option<String> {
    let text = halves(&found.arrivals.gap_ns, span)?;
    let variation = found.arrivals.gap_variation?;
    Some(format!("{text}, variation {} (Poisson: 1)", digits(variation)))
}

fn dispersion(found: &Character) -> Option<String> {
    let scales = found.arrivals.dispersion.iter().filter_map(|of| {
        let (index, peak) = of.index.zip(of.peak_to_mean)?;
        Some(format!("{} in {} (peak {} means)", digits(index), span(of.interval_ns), digits(peak)))
    });
    let scales: Vec<String> = scales.collect();
    (!scales.is_empty()).then(|| scales.join(",\n"))
}

fn idle(found: &Character) -> Option<String> {
    let lengths = found.arrivals.idle.iter().filter(|of| of.gaps > 0).filter_map(|of| {
        let (length, gaps) = (span(of.at_least_ns), counted(of.gaps, "gap"));
        Some(format!("{} of the time in {gaps} of {length}", percent(of.time_ratio?)))
    });
    let lengths: Vec<String> = lengths.collect();
    (!lengths.is_empty()).then(|| lengths.join(" or more,\n") + " or more")
}

fn working_set(found: &Character) -> Option<String> {
    let hours = &found.working_set;
    let largest = hours.iter().max_by(|one, other| one.pages.total_cmp(&other.pages))?;
    let size = bytes((largest.pages * PAGE) as u64);
    let hours = counted(hours.len() as u64, "hour");
    Some(format!("at most {size} in an hour (hour {}), {hours} with requests", largest.hour))
}

fn skew(found: &Character) -> Option<String> {
    let exponent = digits(found.skew.zipf_exponent?);
    let top = found.skew.top.iter();
    let top = top.map(|top| format!("{} on {} %", percent(top.accesses_ratio), top.pages_percent));
    let top = top.collect::<Vec<_>>().join(", ");
    Some(format!("{top} of the pages; Zipf exponent {exponent}"))
}

fn sampled(found: &Character) -> Option<String> {
    (found.followed_ratio < 1.0).then(|| {
        let one_in = digits(1.0 / found.followed_ratio);
        format!("reuse, working set and skew, from one in {one_in} pages")
    })
}

fn sequential(found: &Character) -> Option<String> {
    let of = &found.sequence;
    let (next, near) = of.next_ratio.zip(of.near_ratio)?;
    let run = digits(of.run_requests.mean?);
    Some(format!(
        "{} after the previous request, {} after one of the last 16 of its stream; runs of {run}",
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
    let mut told: Vec<String> = CACHES.iter().map(of).collect();
    // Of a few pages, several shares come to the same cache.
    told.dedup();
    Some(told.join(", "))
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

/// What a fitted workload never keeps of its trace.
const NOT_KEPT: &str = "A fit keeps shares of operations, sizes, how often pages are used, runs, and the mean and the variation of \
                        gaps. It never keeps streams, the order in which pages are used, which pages are neighbours, sizes \
                        that go with places or times, patterns of arrivals, and changes over time.";

/// A share, an exponent or a variation below this is nearly nothing, and how many times as much another is says little.
const NEARLY_NOTHING: f64 = 0.1;

/// Figures that a fit does not try to keep.
const NOT_FITTED: [&str; 1] = ["streams"];

/// Says how close a fitted workload is to its trace, and what no fit keeps.
#[must_use]
pub fn fit_in_words(found: &CharacterComparison) -> Vec<String> {
    let both = found.figures.iter().filter_map(|of| Some((of.name, of.first?, of.second?)));
    let fitted = both.filter(|of| !NOT_FITTED.contains(&of.0));
    let off =
        fitted.map(|(name, first, second)| (name, times_as_much(first, second), [first, second]));
    let worst = off.max_by(|one, other| far(one.1).total_cmp(&far(other.1)));
    let worst = worst.map(|(name, times, values)| {
        let [first, second] = values.map(|value| figure_in_words(name, value));
        match first == second {
            true => "All figures of the fitted workload are those of the trace.".to_owned(),
            false => {
                let times = match values.iter().all(|value| *value >= NEARLY_NOTHING) {
                    true => format!(" ({} times as much)", digits(times)),
                    false => String::new(),
                };
                format!(
                    "The figure that is furthest off is {name}: {first} in the trace, {second} in the fitted \
                     workload{times}."
                )
            }
        }
    });
    worst.into_iter().chain([NOT_KEPT.to_owned()]).collect()
}

/// How many times as much the second is. What is nearly nothing counts as the least that is not.
fn times_as_much(first: f64, second: f64) -> f64 {
    second.max(NEARLY_NOTHING) / first.max(NEARLY_NOTHING)
}

/// How far a ratio is from one, in either direction.
fn far(times: f64) -> f64 {
    times.ln().abs()
}

/// Formats a figure of a comparison in the unit with which its name ends.
#[must_use]
pub fn figure_in_words(name: &str, value: f64) -> String {
    match name.rsplit_once('_') {
        Some((_, "ns")) => span(value.round() as u64),
        Some((_, "bytes")) => bytes(value.round() as u64),
        _ => numeral(value),
    }
}

/// Formats a number of a comparison: large ones are whole, and small ones have three decimals.
#[must_use]
pub fn numeral(value: f64) -> String {
    if value.abs() >= 1_000.0 { count(value.round() as u64) } else { format!("{value:.3}") }
}
