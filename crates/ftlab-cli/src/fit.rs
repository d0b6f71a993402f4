//! `ftlab trace fit`: fits a workload to a trace, and says how good it is: what both loads are like, and what a device does under
//! them.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use ftlab::config::Config;
use ftlab_lab::character::{ShownLoad, fit_in_words, trace_page};
use ftlab_lab::compare::{self, Comparison, Finished, Series};
use ftlab_lab::experiment::{Experiment, LoadSource};
use ftlab_lab::load;
use ftlab_lab::result::{self, FileKind};
use ftlab_lab::seeds;
use ftlab_workload::generate::{Fit, Generator, Workload};
use ftlab_workload::replay::{Arrival, Next};
use ftlab_workload::trace::{Character, CharacterTally, Digest, Record, Trace, compare_characters};

use crate::args::{FitArgs, FitDeviceArgs};
use crate::failure::Failure;
use crate::human::counted;
use crate::progress::Bars;
use crate::traces::{PAGE, refuse_special, tell};
use crate::{character, device, interrupt};

/// The confidence level of intervals.
const CONFIDENCE: f64 = 0.95;

/// Performs the command.
pub fn run(args: &FitArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let FitArgs { input, output, name, page, force, played, reading } = args;
    refuse_special(output)?;
    result::check_file(output, &WORKLOAD, *force)?;
    page.iter().try_for_each(|file| result::check_file(file, &PAGE, *force))?;
    let source = LoadSource::Trace { file: input.clone(), held: None, reading: reading.options() };
    let config = device_of(played, &source)?;
    let mut trace = load::open(input, reading.options())?;
    let Fitted { text, requests, character } = fit(&mut trace, input, name.as_deref())?;
    let shown = output.display();
    let workload = Workload::parse(&shown.to_string(), &text, &mut |_: &str| Ok(String::new()));
    let workload = workload.map_err(|_| Failure::usage(format!("{shown} is not read again")))?;
    let fitted = character_of(&workload, played.seed)?;
    let characters = compare_characters(&character, &fitted);
    let on_device = |config: Config| {
        compare_on(&config, [source, LoadSource::Workload(Arc::new(workload))], played)
    };
    // A load that the device refuses leaves no file.
    let comparison = config.map(on_device).transpose()?;
    result::write_file(output, text.as_bytes(), &WORKLOAD, *force)?;
    say!("{shown}: a workload fitted to {} of {input}", counted(requests, "request"));
    if let Some(file) = page {
        let load = |name, character| ShownLoad { name, character, inspection: None };
        let both = [load("trace", &character), load("fitted", &fitted)];
        let page = trace_page(&both, &interrupt::lab(None).command)?;
        result::write_file(file, page.as_bytes(), &PAGE, *force)?;
    }
    if !played.json {
        character::print_comparison(&characters, [input, &shown.to_string()], out)?;
        character::print_verdict(&characters, out)?;
    }
    let Some(comparison) = comparison else {
        say!("Play it with ftlab run --device DEVICE --workload {shown}");
        return Ok(());
    };
    match played.json {
        true => {
            let mut document = serde_json::to_value(&comparison).map_err(Failure::usage)?;
            document["character"] = serde_json::to_value(&characters).map_err(Failure::usage)?;
            document["verdict"] = fit_in_words(&characters).into();
            out.write_all(result::to_json(&document)?.as_bytes())?;
        }
        false => crate::compare::table::print(&comparison, out)?,
    }
    Ok(out.flush()?)
}

/// The space in which the requests of a fitted workload are laid out, in sectors: more than any names.
const SPACE: u64 = 1 << 50;

/// Returns what the requests of a workload are like.
fn character_of(workload: &Workload, seed: u64) -> Result<Character, Failure> {
    let mut generator = Generator::new(workload, SPACE, seed).map_err(Failure::usage)?;
    let mut tally = CharacterTally::default();
    loop {
        match generator.next_item() {
            Next::Request(Arrival { at, op, lba, sectors, stream, fua }) => {
                tally.add(&Record { at, op, lba, sectors, stream, fua });
            }
            Next::Phase(_) => {}
            Next::End => return Ok(tally.report()),
        }
    }
}

/// Returns the device that both are played on, if one is named.
fn device_of(played: &FitDeviceArgs, source: &LoadSource) -> Result<Option<Config>, Failure> {
    let Some(name) = &played.device else { return Ok(None) };
    if source.is_read_once() {
        return Err(Failure::usage(
            "standard input and pipes can be read only once, but the trace is fitted and then played\n  remedy: save the \
             trace to a file, or leave out --device",
        ));
    }
    let config = ftlab_lab::device::load(name, &device::settings(&played.sets))?;
    Ok(Some(config))
}

/// Plays the trace and the workload on a device, and returns what it does side by side.
fn compare_on(
    config: &Config,
    loads: [LoadSource; 2],
    played: &FitDeviceArgs,
) -> Result<Comparison, Failure> {
    let lab = interrupt::lab(Some(1));
    let seeds = seeds::from(played.seed, played.seeds)?;
    interrupt::listen()?;
    let mut series = Vec::new();
    for ((name, load), options) in ["trace", "fitted"].into_iter().zip(loads).zip(played.options())
    {
        let experiment = Experiment::new(load, &options)?;
        experiment.check(config, 1)?;
        let mut results = Vec::new();
        for seed in &seeds {
            let measured =
                lab.run(&experiment, config, *seed, &mut Bars::new(!played.json), None)?;
            if !measured.document.complete {
                return Err(Failure::INTERRUPTED);
            }
            let document = serde_json::to_value(&measured.document).map_err(Failure::usage)?;
            results.push((name.to_owned(), Finished { folder: PathBuf::new(), document }));
        }
        series.push(Series { name: name.to_owned(), settings: Vec::new(), results });
    }
    Ok(compare::comparison(&series, CONFIDENCE, Vec::new()))
}

/// A workload fitted to a trace.
struct Fitted {
    text: String,
    /// The requests of the trace, and what they are like.
    requests: u64,
    character: Character,
}

/// Fits a workload to a trace.
fn fit(trace: &mut Trace, input: &str, name: Option<&str>) -> Result<Fitted, Failure> {
    let (mut fit, mut digest, mut batch) = (Fit::default(), Digest::new(), Vec::new());
    let mut tally = CharacterTally::default();
    let mut requests = 0;
    while trace.next_batch(&mut batch).map_err(Failure::usage)? {
        batch.iter().for_each(|record| {
            fit.add(record);
            tally.add(record);
        });
        digest.update(&batch);
        requests += batch.len() as u64;
        batch.clear();
    }
    let short = load::short_name(input);
    let name = name.map_or_else(|| format!("{short}-like"), str::to_owned);
    let digest = digest.finish();
    let source = format!("Synthetic: fitted by ftlab to the trace {short} (BLAKE3 {digest})");
    tell(trace);
    fit.workload(&name, &source)
        .map(|text| Fitted { text, requests, character: tally.report() })
        .map_err(|why| Failure::usage(format!("{why}\n  remedy: ftlab trace inspect {input}")))
}

const WORKLOAD: FileKind =
    FileKind { name: "workload file", option: "output", is_one: is_workload };

fn is_workload(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    Workload::parse("there", text, &mut |_: &str| Ok(String::new())).is_ok()
}
