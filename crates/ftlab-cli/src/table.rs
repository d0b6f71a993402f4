//! The result as a table: fits into 80 columns, without colours.

use std::io::{self, Write};

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use ftlab::counters::ReportEntry;
use ftlab::ftl::gc::Purpose;
use ftlab::scheduler::{Kind, Origin};
use ftlab::stats::{
    EnergyReport, LatencyReport, OpReport, ProgramsByCost, ReadsByCost, Report, Verdict,
};
use ftlab::units::Nanos;

use crate::failure::with_flags;
use crate::human::{bytes, count, digits, percent, rate, span, time};
use crate::{accesses, amplification, health, human, power_cuts, queues, utilisation};
use ftlab_lab::result::{ResultDocument, StepDocument};

/// Stands for an unknown value.
const NONE: &str = "-";
/// The width of text lines.
const WIDTH: usize = 79;

/// Reads of never-written pages are announced above this share of all reads.
const UNWRITTEN_SHARE: f64 = 0.1;

/// Prints the result. `device_name` is the title of the device.
pub fn print(document: &ResultDocument, device_name: &str, out: &mut dyn Write) -> io::Result<()> {
    let report = &document.report;
    head(document, device_name, out)?;
    announce(document, out)?;
    host(report, out)?;
    latencies(report, out)?;
    shares(report, out)?;
    queues::print(report, out)?;
    device(report, out)?;
    phases(report, out)?;
    document.accesses.as_ref().map_or(Ok(()), |found| accesses::print(found, out))?;
    let measured_ns = report.host.duration_ns;
    let translation = document.host_translation.as_ref();
    translation.map_or(Ok(()), |host| amplification::print_host(host, out))?;
    let cuts = document.power_cuts.as_ref();
    cuts.map_or(Ok(()), |cuts| power_cuts::print(cuts, measured_ns, out))?;
    let warnings = document.warnings.iter().map(|warning| format!("Warning: {warning}."));
    let notes: Vec<String> = report.notes.iter().cloned().chain(warnings).collect();
    if !notes.is_empty() {
        writeln!(out, "\nNotes")?;
    }
    for note in notes.iter().map(|note| with_flags(note)) {
        wrapped(out, "- ", &note)?;
    }
    Ok(())
}

fn head(document: &ResultDocument, device_name: &str, out: &mut dyn Write) -> io::Result<()> {
    let steps: Vec<String> = document.precondition.iter().map(StepDocument::told).collect();
    let before = match steps.is_empty() {
        true => String::new(),
        false => format!(" after {}", steps.join(", ")),
    };
    let device = &document.device;
    let text = format!(
        "{}, {}: {}{before}, seed {}",
        device_name,
        bytes(device.capacity_bytes),
        document.load.told(),
        document.seed
    );
    wrapped(out, "", &text)?;
    let simulated = span(document.report.host.duration_ns);
    writeln!(out, "{simulated} of simulated time measured")
}

/// Announces what may mislead a reader of the figures.
fn announce(document: &ResultDocument, out: &mut dyn Write) -> io::Result<()> {
    let report = &document.report;
    let mut news = Vec::new();
    if report.health.as_ref().is_some_and(|health| health.end_of_life.is_some()) {
        news.push("the device went read-only".to_owned());
    }
    if !document.complete {
        news.push("interrupted".to_owned());
    }
    let unwritten = report.ftl.unwritten_reads as f64 / report.read_pages.max(1) as f64;
    if unwritten > UNWRITTEN_SHARE {
        news.push(format!("{} of read pages never written", percent(unwritten)));
    }
    let aged = document.precondition.last().and_then(StepDocument::steady).is_some();
    match report.steady_state.verdict {
        // Resets leave nothing to collect.
        Verdict::GcNeverStarted if report.zones.is_some() => {}
        Verdict::GcNeverStarted => news.push("GC never started".to_owned()),
        Verdict::TooLittleWritten if aged => {}
        Verdict::TooLittleWritten => news.push("too little written to be steady".to_owned()),
        Verdict::NotSteady => news.push("not in a steady state".to_owned()),
        Verdict::NothingWritten | Verdict::NothingToCollect | Verdict::Steady => {}
    }
    if news.is_empty() || report.notes.is_empty() {
        return Ok(());
    }
    wrapped(out, "", &format!("Read the notes below: {}.", news.join("; ")))
}

/// Creates a table with text on the left and figures on the right.
pub fn table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header(head);
    table
}

/// Renders a table.
fn lines(table: &mut Table) -> Vec<String> {
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if at > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// Whether a table fits into the width of text lines.
pub fn fits(table: &mut Table) -> bool {
    lines(table).iter().all(|line| line.chars().count() <= WIDTH)
}

/// Prints a table.
pub fn show(mut table: Table, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    lines(&mut table).iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// Formats a value, or the sign for an unknown one.
pub fn or_none<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map_or(NONE.to_owned(), text)
}

/// Returns the operations that occur.
fn ops(report: &Report) -> impl Iterator<Item = (&'static str, &OpReport)> {
    report.host.ops().filter(|(_, op)| op.requests > 0)
}

fn host(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let host = &report.host;
    // Unreadable and refused requests have columns only if there are any.
    type Wrong = (&'static str, fn(&OpReport) -> u64);
    let wrong: [Wrong; 2] =
        [("unreadable", |op| op.unreadable_requests), ("refused", |op| op.refused_requests)];
    let sum = |of: fn(&OpReport) -> u64| host.ops().map(|(_, op)| of(op)).sum::<u64>();
    let wrong: Vec<Wrong> = wrong.into_iter().filter(|(_, of)| sum(*of) > 0).collect();
    let heads = wrong.iter().map(|(head, _)| *head);
    let heads = ["Host", "requests", "IOPS", "MB/s", "moved"].into_iter().chain(heads);
    let mut table = table(&heads.collect::<Vec<_>>());
    let tried = host.ops().filter(|(_, op)| op.requests + op.refused_requests > 0);
    for (name, op) in tried {
        let cells = [
            name.to_owned(),
            count(op.requests),
            or_none(op.iops, rate),
            or_none(op.throughput_mb_per_s, rate),
            bytes(op.bytes),
        ];
        table.add_row(cells.into_iter().chain(wrong.iter().map(|(_, of)| count(of(op)))));
    }
    let cells = [
        "all".to_owned(),
        count(host.requests),
        or_none(host.iops, rate),
        or_none(host.throughput_mb_per_s, rate),
        bytes(host.read.bytes + host.write.bytes),
    ];
    table.add_row(cells.into_iter().chain(wrong.iter().map(|(_, of)| count(sum(*of)))));
    show(table, out)
}

fn latencies(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    if report.host.requests == 0 {
        return Ok(());
    }
    let mut table = table(&["Latency", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "max"]);
    for (name, op) in ops(report) {
        let cells = latency_cells(&op.latency_ns);
        table.add_row(std::iter::once(name.to_owned()).chain(cells));
    }
    show(table, out)
}

/// Formats mean, percentiles and maximum, in the order of [`LatencyReport`].
pub fn latency_cells(latency: &LatencyReport) -> [String; 7] {
    let &LatencyReport { mean, p50, p90, p99, p99_9, p99_99, max } = latency;
    let ns = |value: Option<Nanos>| value.map(|value| value.0 as f64);
    let all = [mean, ns(p50), ns(p90), ns(p99), ns(p99_9), ns(p99_99), ns(max)];
    all.map(|value| or_none(value, time))
}

/// The parts of a latency, in the order of [`ftlab::stats::PARTS`], with their headings and whether
/// they are shown even if zero. Zero parts are only shown if all parts that are `false` here are
/// zero too.
const SHARES: [(&str, bool); ftlab::stats::PARTS.len()] = [
    ("host queue", true),
    ("submission", false),
    ("front end", false),
    ("link", false),
    ("buffer", true),
    ("admission", true),
    ("translation", false),
    ("queue", true),
    ("GC", true),
    ("bus", true),
    ("cell", true),
];

fn shares(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<_> =
        ops(report).filter_map(|(name, op)| Some((name, op.time_share_ratio?.all()))).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let spent = |at: &usize| rows.iter().any(|(_, shares)| shares[*at] > 0.0);
    let front_end = (0..SHARES.len()).any(|at| !SHARES[at].1 && spent(&at));
    let shown = |at: &usize| if front_end { spent(at) } else { SHARES[*at].1 };
    let parts: Vec<usize> = (0..SHARES.len()).filter(shown).collect();
    let heads = parts.iter().map(|&at| SHARES[at].0);
    let mut wide = table(&std::iter::once(SPENT).chain(heads).collect::<Vec<_>>());
    for (name, shares) in &rows {
        let cells = parts.iter().map(|&at| percent(shares[at]));
        wide.add_row(std::iter::once((*name).to_owned()).chain(cells));
    }
    if fits(&mut wide) {
        return show(wide, out);
    }
    let heads = rows.iter().map(|(name, _)| *name);
    let mut high = table(&std::iter::once(SPENT).chain(heads).collect::<Vec<_>>());
    for at in parts {
        let cells = rows.iter().map(|(_, shares)| percent(shares[at]));
        high.add_row(std::iter::once(SHARES[at].0.to_owned()).chain(cells));
    }
    show(high, out)
}

/// The heading of the table of latency parts.
const SPENT: &str = "Time spent";

fn device(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    let wa = &report.write_amplification;
    amplification::print(wa, out)?;
    let (ftl, gc) = (&report.ftl, &report.gc);
    let pages = format!(
        "{} host, {} GC, {} padding (of {})",
        count(ftl.host_pages),
        count(ftl.gc_pages),
        count(ftl.padding),
        ftlab::units::Bytes(wa.page_bytes),
    );
    let more = [ftl.entries(Some("")), ftl.entries(Some("write_amplification"))].concat();
    line(out, "Pages programmed", &joined([pages, told(&more)]))?;
    let text = match gc.valid_pages_per_victim {
        None => "did not run".to_owned(),
        Some(valid) => format!(
            "{} runs, {} copies ({} stale), {} erases, {} valid pages a victim",
            count(ftl.gc_runs),
            count(ftl.gc_pages),
            count(ftl.gc_stale),
            count(gc.erased_blocks),
            digits(valid),
        ),
    };
    line(out, "Garbage collection", &joined([text, told(&ftl.entries(Some("gc")))]))?;
    moves(report, out)?;
    let wear = &report.wear;
    let text = format!(
        "{} / {} / {}, standard deviation {}",
        wear.erases_per_block_min,
        digits(wear.erases_per_block_mean),
        wear.erases_per_block_max,
        digits(wear.erases_per_block_stddev)
    );
    line(out, "Erases of a block", &format!("{text} (min / mean / max)"))?;
    health::health(report, out)?;
    health::parity(report, out)?;
    slc_cache(report, out)?;
    merges(report, out)?;
    translation(report, out)?;
    reconstruction(report, out)?;
    let hits = match &report.cache {
        None => "none".to_owned(),
        Some(cache) => {
            let hits = format!(
                "hit by {} of written pages, {} of read pages",
                or_none(cache.write_hit_ratio, percent),
                or_none(cache.read_hit_ratio, percent)
            );
            joined([hits, told(&cache.counts.entries(None))])
        }
    };
    line(out, "Write buffer", &hits)?;
    read_cache(report, out)?;
    costs(report, out)?;
    let padded = report.cache.as_ref().map_or(0, |cache| cache.counts.padded);
    if padded > 0 {
        let text = format!("{} pages read and programmed again to fill up blocks", count(padded));
        line(out, "Padding", &text)?;
    }
    utilisation::print(&report.utilisation, out)?;
    energy(&report.energy, out)?;
    let overlaps = told(&report.flash_overlaps.counts.entries(None));
    if !overlaps.is_empty() {
        line(out, "Flash overlaps", &overlaps)?;
    }
    // Moves are wear levelling and moves off failing blocks; the line `Blocks moved` separates
    // them.
    let names: [(Origin, &str); Origin::ALL.len()] = [
        (Origin::Host, "host"),
        (Origin::ReadModifyWrite, "RMW"),
        (Origin::Gc, "GC"),
        (Origin::Wear, "moves"),
        (Origin::Fold, "SLC cache"),
        (Origin::Rewrite, "rewrites"),
        (Origin::System, "system"),
    ];
    for (origin, name) in names {
        let of = &report.flash_commands[origin];
        let [reads, programs, erases, copybacks] =
            [Kind::Read, Kind::Program, Kind::Erase, Kind::Copyback].map(|kind| of[kind]);
        let always = matches!(origin, Origin::Host | Origin::ReadModifyWrite | Origin::Gc);
        if !always && reads + programs + erases + copybacks == 0 {
            continue;
        }
        let mut text = format!(
            "{} reads, {} programs, {} erases",
            count(reads),
            count(programs),
            count(erases)
        );
        if copybacks > 0 {
            text += &format!(", {} copybacks", count(copybacks));
        }
        line(out, &format!("Flash commands, {name}"), &text)?;
    }
    Ok(())
}

/// The energy, what it is for each byte of the host, and the shares of what took it.
fn energy(energy: &EnergyReport, out: &mut dyn Write) -> io::Result<()> {
    let EnergyReport { read_j, program_j, erase_j, transfer_j, total_j, per_host_gb_j } = *energy;
    if total_j == 0.0 {
        return Ok(());
    }
    let of_host = per_host_gb_j
        .map_or(String::new(), |joules| format!(" ({} per GB of the host)", human::energy(joules)));
    line(out, "Energy of the flash", &format!("{}{of_host}", human::energy(total_j)))?;
    let parts = [
        ("reads", read_j),
        ("programs", program_j),
        ("erases", erase_j),
        ("transfers", transfer_j),
    ];
    let told = parts.map(|(name, part)| format!("{name} {}", percent(part / total_j)));
    line(out, "Energy, of that", &told.join(", "))
}

/// Prints how many blocks were moved for other reasons than garbage collection.
fn moves(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let by = &report.gc.by_purpose;
    let rebuilt = report.parity.is_some_and(|parity| parity.counts.restored > 0);
    let refreshed = if rebuilt { "to refresh or rebuild data" } else { "to refresh their data" };
    let moves = [
        ("for wear levelling", Purpose::WearLevel),
        ("off blocks that go bad", Purpose::Retire),
        (refreshed, Purpose::Refresh),
    ];
    let told = moves.map(|(why, purpose)| (why, by[purpose])).into_iter();
    let told = told.filter(|(_, of)| of.runs > 0);
    let told =
        told.map(|(why, of)| format!("{} {why} ({} copies)", count(of.runs), count(of.pages)));
    let told: Vec<String> = told.collect();
    if told.is_empty() { Ok(()) } else { line(out, "Blocks moved", &told.join(", ")) }
}

/// Prints the SLC cache, if there is one.
fn slc_cache(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let Some(cache) = &report.slc_cache else { return Ok(()) };
    let folds =
        format!("{} pages of {} blocks folded", count(cache.folded_pages), count(cache.folds));
    let text = joined([told(&cache.counts.entries(None)), folds]);
    line(out, "SLC cache", &text)
}

/// Prints the read cache, if there is one.
fn read_cache(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let Some(cache) = &report.read_cache else { return Ok(()) };
    let counts = &cache.counts;
    let text = format!(
        "hit by {} of {} pages",
        or_none(cache.hit_ratio, percent),
        count(counts.hits + counts.misses)
    );
    let text = joined([text, told(&counts.entries(None))]);
    line(out, "Read cache", &text)
}

/// Prints the costs of a device with a cost policy.
fn costs(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let Some(cost) = &report.cost else { return Ok(()) };
    let ReadsByCost { low, medium, high, with_retries } = cost.reads;
    let retries = match with_retries {
        0 => String::new(),
        some => format!(", {} with retries", count(some)),
    };
    let text = format!(
        "{} low, {} medium, {} high{retries}; {}",
        count(low),
        count(medium),
        count(high),
        match cost.prior_reads {
            Some(reads) => format!("{} of earlier data ({})", count(reads), cost.prior),
            None => "earlier data as it was written".to_owned(),
        }
    );
    let more = [cost.counts.entries(None), cost.ftl.entries(Some("cost"))].concat();
    line(out, "Cost of reads", &joined([text, told(&more)]))?;
    let lost: u64 = report.host.ops().map(|(_, op)| op.unreadable_requests).sum();
    if lost > 0 {
        line(out, "Unreadable data", &format!("{} requests ended as unreadable", count(lost)))?;
    }
    let ProgramsByCost { low, medium, high } = cost.programs;
    let text = format!("{} low, {} medium, {} high", count(low), count(medium), count(high));
    line(out, "Cost of programs", &format!("{text} ({})", cost.policy))?;
    let Some(rewrites) = &cost.rewrites else { return Ok(()) };
    let dropped = rewrites.written + rewrites.high + rewrites.full + rewrites.given_up;
    let text = joined([told(&rewrites.entries(None)), format!("{} dropped", count(dropped))]);
    line(out, "Rewrites", &text)
}

/// Prints the merges of a log-block mapping.
fn merges(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let Some(merges) = &report.merges else { return Ok(()) };
    let text = told(&merges.counts.entries(None));
    line(out, "Merges", if text.is_empty() { "none" } else { &text })?;
    let stalls = &merges.stall_ns;
    let text = format!(
        "{}, longest {}, p99 {}",
        count(merges.stalls),
        or_none(stalls.max, |span| time(span.0 as f64)),
        or_none(stalls.p99, |span| time(span.0 as f64))
    );
    line(out, "Stalls for merges", &text)
}

/// Prints the map on flash, if there is one.
fn translation(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let Some(map) = &report.translation else { return Ok(()) };
    let text = format!(
        "{} of look-ups hit; {} of {} entries in memory",
        or_none(map.hit_ratio, percent),
        count(map.cached_entries.into()),
        count(map.map_entries.into())
    );
    line(out, "Map on flash", &text)?;
    let reads = map.load_reads + map.eviction_reads + map.gc_reads + map.trim_reads;
    let text = format!(
        "{} read ({} for misses), {} written ({} for evictions, {} for GC), {} blocks collected",
        count(reads),
        count(map.load_reads),
        count(map.eviction_programs + map.gc_programs + map.trim_programs),
        count(map.eviction_programs),
        count(map.gc_programs),
        count(map.counts.blocks)
    );
    line(out, "Pages of the map", &joined([text, told(&map.counts.entries(None))]))?;
    let text = format!(
        "{} of the write amplification, data {}",
        or_none(map.write_ratio, precise),
        or_none(map.data_write_ratio, precise)
    );
    line(out, "Written for the map", &text)
}

/// Prints the page reconstruction, if there is one.
fn reconstruction(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let Some(pieces) = &report.reconstruction else { return Ok(()) };
    let text = format!(
        "{} packs; {} pages in two parts; RMAP had {} of the page map's entries at most ({} of its bytes)",
        count(pieces.packs),
        count(u64::from(pieces.fragmented_pages)),
        percent(pieces.rmap_max.paper_page_map_ratio),
        percent(pieces.rmap_max.page_map_ratio)
    );
    line(out, "Page reconstruction", &text)
}

/// Formats the counters that have a label and are not 0.
pub fn told(entries: &[ReportEntry]) -> String {
    let words =
        |entry: &ReportEntry| Some(format!("{} {}", count(entry.number), entry.counter.label?));
    let told = entries.iter().filter(|entry| entry.number > 0).filter_map(words);
    told.collect::<Vec<_>>().join(", ")
}

/// Joins those of the texts that are not empty.
pub fn joined<const N: usize>(texts: [String; N]) -> String {
    let told = texts.into_iter().filter(|text| !text.is_empty());
    told.collect::<Vec<_>>().join("; ")
}

/// Formats a ratio near one, where the decimals matter.
pub fn precise(ratio: f64) -> String {
    format!("{ratio:.3}")
}

/// Prints one line per phase, if there are several.
fn phases(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    if report.phases.len() < 2 {
        return Ok(());
    }
    let mut table = table(&["Phase", "requests", "time", "IOPS", "MB/s", "WA", "GC runs"]);
    for phase in &report.phases {
        let name = if phase.measured { "" } else { " (not measured)" };
        table.add_row([
            format!("{}{name}", phase.name),
            count(phase.requests),
            or_none(phase.duration_ns, span),
            or_none(phase.iops, rate),
            or_none(phase.throughput_mb_per_s, rate),
            or_none(phase.write_amplification_total_ratio, precise),
            count(phase.gc_runs),
        ]);
    }
    show(table, out)
}

/// Prints `name` and `text` in columns, and breaks long lines.
pub fn line(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    // A name that is too long for its column is still separated by a space.
    wrapped(out, &format!("{:<23}", format!("{name} ")), text)
}

/// The last column of a line may begin here at most.
const LAST_COLUMN: usize = WIDTH / 2;

/// Prints text and breaks lines that are too long. Continuations are indented to the last column of
/// their line; columns are separated by two spaces.
pub fn wrapped_lines(out: &mut dyn Write, text: &str) -> io::Result<()> {
    for line in text.lines() {
        if line.chars().count() <= WIDTH {
            writeln!(out, "{line}")?;
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let column = line.rfind("  ").map_or(indent, |blanks| blanks + 2);
        let (lead, words) = line.split_at(if column <= LAST_COLUMN { column } else { indent });
        wrapped(out, lead, words)?;
    }
    Ok(())
}

/// Prints text in lines of at most 79 characters: `lead` before the first line, an indent before
/// the others.
pub fn wrapped(out: &mut dyn Write, lead: &str, text: &str) -> io::Result<()> {
    let indent = " ".repeat(lead.len());
    let mut line = lead.to_owned();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(out, "{line}")?;
            line.clone_from(&indent);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    writeln!(out, "{line}")
}
