//! `ftlab trace`: inspects, compares, fits and converts traces.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use ftlab_lab::character::{
    NO_TIMES, ShownLoad, in_words, inspection_in_words, is_trace_page, trace_page,
};
use ftlab_lab::load::{self, short_name};
use ftlab_lab::result::{self, FileKind};
use ftlab_workload::trace::{
    self, Compression, ConvertOptions, Facts, Format, Inspection, Location, Trace, TraceError,
    compare_characters,
};

use crate::args::{ReadingArgs, TraceCommand, TracePageArgs};
use crate::failure::{Failure, with_flags};
use crate::human::{count, counted};
use crate::table::wrapped;
use crate::{accesses, character, fit, interrupt};

/// Performs the command.
pub fn run(command: &TraceCommand, out: &mut dyn Write) -> Result<(), Failure> {
    match command {
        TraceCommand::Inspect { file, json, accesses, page, reading } => {
            check_page(page)?;
            let look = |_| ControlFlow::Continue(());
            let inspect = |trace: &mut _| trace::inspect_watched(trace, *accesses, look);
            let (inspection, _) = inspected(file, reading, inspect)?;
            write_page(page, &[shown(&short_name(file), &inspection)])?;
            if *json {
                let text = serde_json::to_string_pretty(&inspection).map_err(Failure::usage)?;
                return Ok(writeln!(out, "{text}")?);
            }
            Ok(print(&inspection, out)?)
        }
        TraceCommand::Compare { first, second, json, page, reading } => {
            check_page(page)?;
            let read = |file: &str| -> Result<Inspection, Failure> {
                let (found, trace) = inspected(file, reading, trace::inspect)?;
                tell(&trace);
                if found.character.timeless {
                    say!("note: {file}: {NO_TIMES}");
                }
                Ok(found)
            };
            let both = [read(first)?, read(second)?];
            let names = [first, second].map(|file| short_name(file));
            write_page(page, &[shown(&names[0], &both[0]), shown(&names[1], &both[1])])?;
            let found = compare_characters(&both[0].character, &both[1].character);
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
            refuse_own_input(input, output)?;
            result::refuse_without_folder(output)?;
            refuse_to_overwrite(output, *force)?;
            let mut trace = load::open(input, reading.options())?;
            let options = ConvertOptions { drop_unsupported: *drop_unsupported };
            convert(&mut trace, format, output, options)
        }
    }
}

/// The page of what traces are like.
pub const PAGE: FileKind =
    FileKind { name: "page of ftlab trace", option: "page", is_one: is_trace_page };

/// Reads a trace to its end.
fn inspected(
    file: &str,
    reading: &ReadingArgs,
    inspect: impl FnOnce(&mut Trace) -> Result<Inspection, TraceError>,
) -> Result<(Inspection, Trace), Failure> {
    let mut trace = load::open(file, reading.options())?;
    let mut found = inspect(&mut trace).map_err(Failure::usage)?;
    for text in found.assumed.iter_mut().chain(&mut found.warnings) {
        *text = with_flags(text);
    }
    Ok((found, trace))
}

fn shown<'a>(name: &'a str, found: &'a Inspection) -> ShownLoad<'a> {
    ShownLoad { name, character: &found.character, inspection: Some(found) }
}

fn check_page(args: &TracePageArgs) -> Result<(), Failure> {
    let check = |file: &PathBuf| result::check_file(file, &PAGE, args.force);
    Ok(args.page.iter().try_for_each(check)?)
}

/// Writes the page, if one is asked for.
fn write_page(args: &TracePageArgs, loads: &[ShownLoad<'_>]) -> Result<(), Failure> {
    let Some(file) = &args.page else { return Ok(()) };
    let page = trace_page(loads, &interrupt::lab(None).command)?;
    Ok(result::write_file(file, page.as_bytes(), &PAGE, args.force)?)
}

/// The format to write: what was said, or else what the name says. They must not contradict each other.
fn target_format(to: Option<&'static Format>, output: &Path) -> Result<&'static Format, Failure> {
    let ending = ending(output);
    let by_name = match ending.as_deref() {
        Some("parquet") => trace::named("parquet").ok(),
        _ => None,
    };
    let is_text_name = matches!(ending.as_deref(), Some("csv" | "txt" | "tsv" | "log"));
    let shown = output.display();
    match (to, by_name) {
        (Some(to), Some(named)) if to.name != named.name => Err(Failure::usage(format!(
            "the name {shown} says {}, but --to says {}\n  remedy: leave out --to, or choose another name",
            named.name, to.name
        ))),
        (Some(to), _) if to.name == "parquet" && is_text_name => Err(Failure::usage(format!(
            "the name {shown} says text, but --to says parquet\n  remedy: choose a name that ends in .parquet"
        ))),
        (Some(format), _) | (None, Some(format)) => Ok(format),
        (None, None) => {
            let written = trace::FORMATS.iter().filter(|format| format.is_written());
            let names: Vec<&str> = written.map(|format| format.name).collect();
            Err(Failure::usage(format!(
                "the name {shown} does not imply a format\n  remedy: add --to FORMAT, one of {}; a \
                 name that ends in .parquet needs none",
                names.join(", ")
            )))
        }
    }
}

/// What a name ends in, apart from its compression.
fn ending(output: &Path) -> Option<String> {
    let plain = match Compression::of_name(output) {
        Compression::None => output.to_owned(),
        _ => output.with_extension(""),
    };
    Some(plain.extension()?.to_str()?.to_lowercase())
}

/// Refuses to write over what is read, or into the folder that is read.
fn refuse_own_input(input: &str, output: &Path) -> Result<(), Failure> {
    let files = match Location::from_argument(input) {
        Location::Several(files) => files,
        one => vec![one],
    };
    let Some(target) = resolved(output) else { return Ok(()) };
    let paths = files.iter().filter_map(|file| match file {
        Location::File(path) => std::fs::canonicalize(path).ok(),
        _ => None,
    });
    for path in paths {
        let shown = output.display();
        if path == target {
            return Err(Failure::usage(format!(
                "{shown} is the trace that is read, and would be lost\n  remedy: write to another name"
            )));
        }
        if path.is_dir() && target.starts_with(&path) {
            return Err(Failure::usage(format!(
                "{shown} lies in the folder that is read, and would be part of that trace\n  remedy: write to \
                 another folder"
            )));
        }
    }
    Ok(())
}

/// The full path of a file that may not exist yet.
fn resolved(path: &Path) -> Option<PathBuf> {
    let folder = || {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = std::fs::canonicalize(parent.unwrap_or(Path::new("."))).ok()?;
        Some(folder.join(path.file_name()?))
    };
    std::fs::canonicalize(path).ok().or_else(folder)
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
    say!("{}: {}, {target}", output.display(), counted(done.requests, "request"));
    if done.dropped > 0 {
        say!("{} left out: {target} can't hold them", counted(done.dropped, "request"));
    }
    if done.made_plain > 0 {
        say!(
            "{} writes with FUA are plain writes now: {target} can't hold that",
            count(done.made_plain)
        );
    }
    if done.rounded_times > 0 {
        say!(
            "{} rounded down to the {} of {target}",
            counted(done.rounded_times, "time"),
            ftlab::units::Nanos(done.tick_ns)
        );
    }
    done.remarks.iter().for_each(|remark| say!("{remark}"));
    if !done.not_kept.is_empty() {
        say!("not kept: {}", done.not_kept.join("; "));
    }
    if trace.is_timeless() {
        say!(
            "warning: the trace has no times: those written are all 0; replay it by --queue-depth"
        );
    }
    tell(trace);
    Ok(())
}

/// Prints what the reader assumed, and its warnings.
pub fn tell(trace: &Trace) {
    let Facts { file, assumed, warnings, .. } = trace.facts();
    say!("{file} was read so: {}", with_flags(&assumed.join("; ")));
    warnings.iter().for_each(|warning| say!("warning: {}", with_flags(warning)));
}

fn print(found: &Inspection, out: &mut dyn Write) -> std::io::Result<()> {
    character::print_facts(&inspection_in_words(found), out)?;
    writeln!(out, "\n{:>12}  {:>14}  {:>14}", "size up to", "reads", "writes")?;
    for class in &found.sizes {
        let size = ftlab::units::Bytes(class.up_to_bytes).to_string();
        let (reads, writes) = (count(class.reads), count(class.writes));
        writeln!(out, "{size:>12}  {reads:>14}  {writes:>14}")?;
    }
    writeln!(out)?;
    character::print_facts(&in_words(&found.character), out)?;
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
