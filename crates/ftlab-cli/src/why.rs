//! `ftlab why`: performs a finished run again, and tells why its requests took as long as they did.

use std::fs;
use std::io::Write;
use std::path::Path;

use clap::Parser;
use ftlab::shape::FlashGeometry;
use ftlab_lab::device::of_device_or_image;
use ftlab_lab::experiment::Experiment;
use ftlab_lab::result::{self, FileKind, to_json};
use ftlab_lab::resume::inputs_of;
use ftlab_lab::timeline::{
    Again, Question, Share, WhyAnswer, WhyDocument, is_timeline, is_why_page, main_shares,
    perfetto, why, why_page, windows_of,
};
use serde_json::Value;

use crate::args::{Cli, MainCommand, RunArgs, WhyArgs};
use crate::failure::Failure;
use crate::human::{count, percent, span};
use crate::progress::Bars;
use crate::{device, interrupt};

/// The width of the numbers before a text.
const WIDTH: usize = 12;
const PAGE: FileKind = FileKind { name: "page of ftlab why", option: "page", is_one: is_why_page };
const TIMELINE: FileKind =
    FileKind { name: "time line of ftlab", option: "timeline", is_one: is_timeline };

/// Performs the command.
pub fn run(args: &WhyArgs, out: &mut dyn Write) -> Result<(), Failure> {
    for (file, kind) in [(&args.page, &PAGE), (&args.timeline, &TIMELINE)] {
        file.iter().try_for_each(|file| result::check_file(file, kind, args.force))?;
    }
    let known = fs::read_to_string(args.result.join(result::MARK));
    let known = known.map_err(|error| Failure::usage(format!(
        "{}: this is no finished result ({error})\n  remedy: name a folder that `ftlab run` wrote",
        args.result.display()
    )))?;
    let played = arguments_of(&args.result)?;
    let experiment = Experiment::new(played.load.load()?, &played.load.options())?;
    let sets = device::settings(&played.sets);
    let image = experiment.preparation.image();
    let config = of_device_or_image(played.device.as_deref(), &sets, image)?;
    if inputs_of(&args.result) != Some(experiment.inputs(&config, played.seed)?) {
        return Err(changed(&args.result));
    }
    interrupt::listen()?;
    let lab = interrupt::lab(Some(1));
    let again = Again { lab: &lab, experiment: &experiment, config: &config, seed: played.seed };
    let question = Question {
        request: args.request,
        slowest: usize::from(args.slowest),
        op: args.op,
        tail_ppm: args.tail,
    };
    let mut bars = Bars::new(!args.quiet);
    let answer = why(&again, &question, &mut bars)?;
    if to_json(&*answer.traced.document)? != known {
        return Err(changed(&args.result));
    }
    write_files(args, &answer, &config.flash())?;
    match args.json {
        true => out.write_all(to_json(&answer.document)?.as_bytes())?,
        false => tell(&answer.document, out)?,
    }
    Ok(out.flush()?)
}

/// Writes the files that are asked for.
fn write_files(
    args: &WhyArgs,
    answer: &WhyAnswer,
    geometry: &FlashGeometry,
) -> Result<(), Failure> {
    if let Some(file) = &args.page {
        let page = why_page(answer, geometry, &interrupt::lab(None).command)?;
        result::write_file(file, page.as_bytes(), &PAGE, args.force)?;
    }
    if let Some(file) = &args.timeline {
        let seen = answer.traced.within(windows_of(&answer.told));
        result::write_file(file, &perfetto(&seen, geometry), &TIMELINE, args.force)?;
    }
    Ok(())
}

fn changed(folder: &Path) -> Failure {
    Failure::usage(format!(
        "{}: the program, the device, the load or another file has changed since this run\n  remedy: perform the run again",
        folder.display()
    ))
}

/// Returns the arguments of the run that made a result.
fn arguments_of(folder: &Path) -> Result<Box<RunArgs>, Failure> {
    let text = fs::read_to_string(folder.join(result::RUN)).ok();
    let document: Option<Value> = text.and_then(|text| serde_json::from_str(&text).ok());
    let words = document.as_ref().and_then(|document| document["command_line"].as_array());
    let words = words.into_iter().flatten().filter_map(Value::as_str);
    match Cli::try_parse_from(words).map(|cli| cli.command) {
        Ok(MainCommand::Run(args)) => Ok(args),
        _ => Err(Failure::usage(format!(
            "{}: it was not made by `ftlab run`, so its arguments are not known\n  remedy: perform this run alone, with \
             `ftlab run`; in Python ask the run itself (run.why())",
            folder.display()
        ))),
    }
}

fn tell(answer: &WhyDocument, out: &mut dyn Write) -> std::io::Result<()> {
    for tail in &answer.tails {
        writeln!(out, "{}. Their time went to", tail.title)?;
        parts(&tail.parts, tail.total_ns, out, |part, whole| percent(part as f64 / whole as f64))?;
    }
    for request in &answer.requests {
        writeln!(out, "{}:", request.title)?;
        parts(&request.parts, request.latency_ns, out, |part, _| span(part))?;
    }
    Ok(())
}

/// Prints parts, the longest first, and sums up what is too small to matter.
fn parts(
    parts: &[Share],
    whole: u64,
    out: &mut dyn Write,
    number: impl Fn(u64, u64) -> String,
) -> std::io::Result<()> {
    let (main, rest) = main_shares(parts, whole);
    for part in main {
        let many = match part.commands {
            0 | 1 => String::new(),
            many => format!(" ({} commands)", count(many)),
        };
        writeln!(out, "{:>WIDTH$}  {}{many}", number(part.time.0, whole), part.what)?;
    }
    if rest.0 > 0 {
        writeln!(out, "{:>WIDTH$}  everything else", number(rest.0, whole))?;
    }
    writeln!(out)
}
