//! Prints what a load is like, and how two loads differ.

use std::io::{self, Write};

use ftlab_workload::trace::{Character, CharacterComparison, Distribution};

use crate::human::{bytes, count, digits, percent, span};
use crate::table::{show, table};

/// Bytes of a page.
const PAGE: f64 = 4096.0;
/// The sizes of LRU caches, as shares of all pages, whose misses are printed.
const CACHES: [f64; 3] = [0.01, 0.1, 0.5];

/// Prints what a load is like.
pub fn print(found: &Character, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    let mut line = |name: &str, text: Option<String>| match text {
        Some(text) => writeln!(out, "{name:<19}{text}"),
        None => Ok(()),
    };
    line("Sequential", sequential(found))?;
    let arrivals = &found.arrivals;
    line(
        "Gaps",
        halves(&arrivals.gap_ns, span)
            .zip(arrivals.gap_variation)
            .map(|(text, cv)| format!("{text}, variation {} (Poisson: 1)", digits(cv))),
    )?;
    let scales = arrivals.dispersion.iter().filter_map(|of| {
        let (index, peak) = of.index.zip(of.peak_to_mean)?;
        Some(format!("{} in {} (peak {} means)", digits(index), span(of.interval_ns), digits(peak)))
    });
    let scales: Vec<String> = scales.collect();
    line("Dispersion", (!scales.is_empty()).then(|| scales.join(",\n                   ")))?;
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
    line(
        "Idle",
        (!idle.is_empty()).then(|| idle.join(" or more,\n                   ") + " or more"),
    )?;
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
    )?;
    let reuse = &found.reuse;
    line("Reuse", halves(&reuse.reuse_pages, |pages| bytes(pages.saturating_mul(PAGE as u64))))?;
    line("LRU misses", misses(found))?;
    line("Overwritten after", halves(&reuse.overwrite_bytes, bytes))?;
    line("", halves(&reuse.overwrite_ns, span))?;
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
    )?;
    let is_sampled = found.followed_ratio < 1.0;
    line(
        "Sampled",
        is_sampled.then(|| {
            format!(
                "reuse, working set and skew, from one in {} pages",
                digits(1.0 / found.followed_ratio)
            )
        }),
    )
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

/// Prints how two loads differ.
pub fn print_comparison(
    found: &CharacterComparison,
    files: [&str; 2],
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "A  {}\nB  {}", files[0], files[1])?;
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), figure);
    let mut rows = table(&["Figure", "A", "B", "B / A"]);
    for of in &found.figures {
        rows.add_row([of.name.to_owned(), shown(of.first), shown(of.second), shown(of.ratio)]);
    }
    show(rows, out)?;
    let mut rows = table(&["Distance (0 to 1)", "Kolmogorov-Smirnov", "total variation"]);
    for of in &found.distances {
        let [most, sum] = [of.kolmogorov_smirnov, of.total_variation].map(shown);
        rows.add_row([of.name.to_owned(), most, sum]);
    }
    show(rows, out)
}

/// Large figures are whole, and small ones have three decimals.
fn figure(value: f64) -> String {
    if value.abs() >= 1_000.0 { count(value.round() as u64) } else { format!("{value:.3}") }
}
