//! `ftlab trace`: inspects, compares, fits and converts traces.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

use ftlab_workload::trace::{self, ConvertOptions, Format, Inspection, Trace, compare_characters};

use crate::args::TraceCommand;
use crate::failure::{Failure, with_flags};
use crate::human::{bytes, count, percent, rate, span};
use crate::table::wrapped;
use crate::{accesses, character, fit};
use ftlab_lab::load;

/// Performs the command.
pub fn run(command: &TraceCommand, out: &mut dyn Write) -> Result<(), Failure> {
    match command {
        TraceCommand::Inspect { file, json, accesses, reading } => {
            let mut trace = load::open(file, reading.options())?;
            let look = |_| ControlFlow::Continue(());
            let found = trace::inspect_watched(&mut trace, *accesses, look);
            let mut inspection = found.map_err(Failure::usage)?;
            for text in inspection.assumed.iter_mut().chain(&mut inspection.warnings) {
                *text = with_flags(text);
            }
            if *json {
                let text = serde_json::to_string_pretty(&inspection).map_err(Failure::usage)?;
                return Ok(writeln!(out, "{text}")?);
            }
            Ok(print(&inspection, out)?)
        }
        TraceCommand::Compare { first, second, json, reading } => {
            let read = |file: &str| -> Result<_, Failure> {
                let mut trace = load::open(file, reading.options())?;
                let found = trace::inspect(&mut trace).map_err(Failure::usage)?;
                warn(&trace);
                Ok(found.character)
            };
            let found = compare_characters(&read(first)?, &read(second)?);
            if *json {
                let text = serde_json::to_string_pretty(&found).map_err(Failure::usage)?;
                return Ok(writeln!(out, "{text}")?);
            }
            Ok(character::print_comparison(&found, [first, second], out)?)
        }
        TraceCommand::Fit(args) => fit::run(args, out),
        TraceCommand::Convert { input, output, to, drop_unsupported, force, reading } => {
            refuse_special(output)?;
            let format = target_format(*to, output)?;
            refuse_to_overwrite(output, *force)?;
            let mut trace = load::open(input, reading.options())?;
            let options = ConvertOptions { drop_unsupported: *drop_unsupported };
            convert(&mut trace, format, output, options)
        }
    }
}

fn target_format(to: Option<&'static Format>, output: &Path) -> Result<&'static Format, Failure> {
    let by_name = || match output.extension().and_then(|ending| ending.to_str()) {
        Some("parquet") => trace::named("parquet").ok(),
        _ => None,
    };
    to.or_else(by_name).ok_or_else(|| {
        let names: Vec<&str> = trace::FORMATS.iter().map(|format| format.name).collect();
        Failure::usage(format!(
            "the name {} does not imply a format\n  remedy: add --to FORMAT, one of {}; a \
             name that ends in .parquet needs none",
            output.display(),
            names.join(", ")
        ))
    })
}

/// Refuses targets that a file cannot replace: standard output, devices, pipes and folders.
pub fn refuse_special(output: &Path) -> Result<(), Failure> {
    if output.as_os_str() == "-" {
        return Err(Failure::usage(
            "a trace can't be written to standard output\n  remedy: name a file; if it is really \
             called -, write ./-",
        ));
    }
    // `metadata` follows links.
    if std::fs::metadata(output).is_ok_and(|there| !there.is_file()) {
        return Err(Failure::usage(format!(
            "{} is not a regular file and is not replaced by one\n  remedy: name another file",
            output.display()
        )));
    }
    Ok(())
}

fn refuse_to_overwrite(output: &Path, force: bool) -> Result<(), Failure> {
    if output.exists() && !force {
        return Err(Failure::usage(format!(
            "{} exists\n  remedy: --force replaces it, or choose another name",
            output.display()
        )));
    }
    let is_empty = std::fs::metadata(output).is_ok_and(|there| there.len() == 0);
    if output.exists() && !is_empty && trace::open(output, trace::Options::default()).is_err() {
        return Err(Failure::usage(format!(
            "{} exists and is not a trace: it is not replaced\n  remedy: choose another name",
            output.display()
        )));
    }
    Ok(())
}

fn convert(
    trace: &mut Trace,
    format: &'static Format,
    output: &Path,
    options: ConvertOptions,
) -> Result<(), Failure> {
    let done = trace::convert(trace, format, output, options).map_err(Failure::usage)?;
    let target = format.name;
    say!("{}: {} requests, {target}", output.display(), count(done.requests));
    if done.dropped > 0 {
        say!("{} requests left out: {target} can't hold them", count(done.dropped));
    }
    if done.made_plain > 0 {
        say!(
            "{} writes with FUA are plain writes now: {target} can't hold that",
            count(done.made_plain)
        );
    }
    if done.rounded_times > 0 {
        say!(
            "{} times rounded down to the {} of {target}",
            count(done.rounded_times),
            ftlab::units::Nanos(done.tick_ns)
        );
    }
    warn(trace);
    Ok(())
}

/// Prints the warnings of the reader.
pub fn warn(trace: &Trace) {
    trace.facts().warnings.iter().for_each(|warning| say!("warning: {}", with_flags(warning)));
}

/// The standard error of an estimate; nothing for what is exact.
fn within(error_ratio: f64) -> String {
    if error_ratio > 0.0 {
        format!(" (estimated, ± {})", percent(error_ratio))
    } else {
        String::new()
    }
}

fn print(found: &Inspection, out: &mut dyn Write) -> std::io::Result<()> {
    let mut line = |name: &str, text: String| writeln!(out, "{name:<19}{text}");
    line("Trace", found.file.clone())?;
    let compression = format!("{:?}", found.compression).to_lowercase();
    let packed = if compression == "none" { String::new() } else { format!(", {compression}") };
    line("Format", format!("{}{packed}", found.format))?;
    line("Fingerprint", found.digest.clone())?;
    let share = |part: u64| percent(part as f64 / found.requests.max(1) as f64);
    line("Requests", count(found.requests))?;
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
            line(name, format!("{} ({}){size}", count(requests), share(requests)))?;
        }
    }
    if found.fua_writes > 0 {
        line("  with FUA", format!("{} ({})", count(found.fua_writes), share(found.fua_writes)))?;
    }
    let mean = found.mean_requests_per_s;
    let mean = mean.map_or(String::new(), |mean| format!(", {} requests a second", rate(mean)));
    let most = count(found.max_requests_in_1s);
    line("Duration", format!("{}{mean}, at most {most} in a second", span(found.duration_ns)))?;
    let end = found.max_lba_end.saturating_mul(ftlab::units::SECTOR_BYTES);
    line("Addresses", format!("{} wide, up to {}", bytes(found.span_bytes), bytes(end)))?;
    let touched = found.touched_pages_4k;
    let size = bytes(touched.saturating_mul(4096));
    let error = within(found.touched_pages_error_ratio);
    line("Touched", format!("{} pages of 4 KiB, {size}{error}", count(touched)))?;
    line("Streams", count(found.streams) + &within(found.streams_error_ratio))?;
    line(
        "Not 4 KiB aligned",
        format!("{} ({})", count(found.unaligned_4k), share(found.unaligned_4k)),
    )?;
    line("Out of order", count(found.out_of_order))?;
    if found.skipped_lines > 0 {
        line("Lines left out", count(found.skipped_lines))?;
    }
    writeln!(out, "\n{:>12}  {:>14}  {:>14}", "size up to", "reads", "writes")?;
    for class in &found.sizes {
        let size = ftlab::units::Bytes(class.up_to_bytes).to_string();
        let (reads, writes) = (count(class.reads), count(class.writes));
        writeln!(out, "{size:>12}  {reads:>14}  {writes:>14}")?;
    }
    character::print(&found.character, out)?;
    found.accesses.as_ref().map_or(Ok(()), |found| accesses::print(found, out))?;
    writeln!(out, "\nAssumed")?;
    for assumed in &found.assumed {
        wrapped(out, "- ", assumed)?;
    }
    if !found.warnings.is_empty() {
        writeln!(out, "\nWarnings")?;
    }
    for warning in &found.warnings {
        wrapped(out, "- ", warning)?;
    }
    Ok(())
}
