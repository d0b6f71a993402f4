//! `ftlab why`: performs a finished run again, and tells why its requests took as long as they did.

use std::fs;
use std::io::Write;
use std::path::Path;

use clap::Parser;
use ftlab::units::SECTOR_BYTES;
use ftlab_lab::device::of_device_or_image;
use ftlab_lab::experiment::Experiment;
use ftlab_lab::result::{self, to_json};
use ftlab_lab::resume::inputs_of;
use ftlab_lab::timeline::{Again, Question, Share, WhyDocument, WhyRequest, WhyTail, why};
use serde_json::Value;

use crate::args::{Cli, MainCommand, RunArgs, WhyArgs};
use crate::failure::Failure;
use crate::human::{bytes, count, percent, span};
use crate::progress::Bars;
use crate::{device, interrupt};

/// Shares below this part of the whole are summed up in one line.
const LEAST_SHARE: f64 = 0.005;
/// The width of the numbers before a text.
const WIDTH: usize = 12;

/// Performs the command.
pub fn run(args: &WhyArgs, out: &mut dyn Write) -> Result<(), Failure> {
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
    let (answer, again) = why(&again, &question, &mut bars)?;
    if to_json(&again)? != known {
        return Err(changed(&args.result));
    }
    match args.json {
        true => out.write_all(to_json(&answer)?.as_bytes())?,
        false => tell(&answer, out)?,
    }
    Ok(out.flush()?)
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
        tell_tail(tail, out)?;
    }
    for request in &answer.requests {
        tell_request(request, out)?;
    }
    Ok(())
}

fn tell_tail(tail: &WhyTail, out: &mut dyn Write) -> std::io::Result<()> {
    let share = tail.requests as f64 / tail.measured.max(1) as f64;
    writeln!(
        out,
        "The slowest {} of {} {}s ({}) took {} or longer. Their time went to",
        count(tail.requests),
        count(tail.measured),
        tail.op.name(),
        percent(share),
        span(tail.from_ns)
    )?;
    parts(&tail.parts, tail.total_ns, out, |part, whole| percent(part as f64 / whole as f64))?;
    writeln!(out)
}

fn tell_request(request: &WhyRequest, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(
        out,
        "The {} with index {} (sector {}, {}) took {}:",
        request.op.name(),
        count(request.index),
        count(request.lba),
        bytes(u64::from(request.sectors) * SECTOR_BYTES),
        span(request.latency_ns)
    )?;
    parts(&request.parts, request.latency_ns, out, |part, _| span(part))?;
    writeln!(out)
}

/// Prints parts, the longest first, and sums up what is too small to matter.
fn parts(
    parts: &[Share],
    whole: u64,
    out: &mut dyn Write,
    number: impl Fn(u64, u64) -> String,
) -> std::io::Result<()> {
    let matters = |part: &&Share| part.time.0 as f64 >= LEAST_SHARE * whole as f64;
    for part in parts.iter().filter(matters) {
        let many = match part.commands {
            0 | 1 => String::new(),
            many => format!(" ({} commands)", count(many)),
        };
        writeln!(out, "{:>WIDTH$}  {}{many}", number(part.time.0, whole), part.what)?;
    }
    let rest: u64 = parts.iter().filter(|part| !matters(part)).map(|part| part.time.0).sum();
    match rest {
        0 => Ok(()),
        rest => writeln!(out, "{:>WIDTH$}  everything else", number(rest, whole)),
    }
}
