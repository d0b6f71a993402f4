//! Loads named on the command line; they are opened again for each run.

use ftlab_workload::fio::JobFile;
use ftlab_workload::generate::{Arrivals, Workload};
use ftlab_workload::trace::{self, Trace};

use crate::args::{LoadArgs, ReadingArgs};
use crate::failure::Failure;
use crate::load::{self, short_name};

/// A load.
pub enum LoadSource {
    /// A trace.
    Trace {
        /// The file.
        file: String,
        /// The options of the reader.
        reading: trace::Options,
    },
    /// A workload.
    Workload(Workload),
    /// A fio job file.
    Fio(JobFile),
}

/// An open load, which can be played once.
pub enum OpenedLoad {
    /// A trace, with the file's name.
    Trace(String, Box<Trace>),
    /// A workload.
    Workload(Workload),
    /// A fio job file.
    Fio(JobFile),
}

impl LoadSource {
    /// Whether it is read from standard input, which cannot be read twice.
    pub fn is_standard_input(&self) -> bool {
        matches!(self, LoadSource::Trace { file, .. } if file == "-")
    }

    /// Finds the load that the command line names.
    pub fn new(args: &LoadArgs) -> Result<LoadSource, Failure> {
        if args.fio.is_none() && !args.fio_variables.is_empty() {
            return Err(Failure::usage(
                "--fio-var is for fio job files\n  remedy: leave it out, or give one with --fio",
            ));
        }
        match (&args.trace, &args.workload) {
            (Some(file), _) => {
                Ok(LoadSource::Trace { file: file.clone(), reading: args.reading.options() })
            }
            (None, Some(name)) => {
                let workload = load::workload(name)?;
                refuse_what_has_no_effect(args, &workload)?;
                Ok(LoadSource::Workload(workload))
            }
            (None, None) => match &args.fio {
                Some(file) => {
                    refuse_replaying(args)?;
                    load::fio(file, &args.fio_variables).map(LoadSource::Fio)
                }
                None => Err(Failure::usage("name a load: --trace, --workload or --fio")),
            },
        }
    }

    /// Opens the load.
    pub fn open(&self) -> Result<OpenedLoad, Failure> {
        Ok(match self {
            LoadSource::Trace { file, reading } => {
                OpenedLoad::Trace(file.clone(), Box::new(load::open(file, reading.clone())?))
            }
            LoadSource::Workload(workload) => OpenedLoad::Workload(workload.clone()),
            LoadSource::Fio(jobs) => OpenedLoad::Fio(jobs.clone()),
        })
    }

    /// Returns the name of the load in results.
    pub fn name(&self) -> String {
        match self {
            LoadSource::Trace { file, .. } => short_name(file),
            LoadSource::Workload(workload) => short_name(&workload.name),
            LoadSource::Fio(jobs) => short_name(&jobs.name),
        }
    }

    /// Whether its measured requests have times of their own.
    pub fn has_times(&self) -> bool {
        match self {
            LoadSource::Trace { .. } => true,
            LoadSource::Workload(workload) => has_times(workload),
            LoadSource::Fio(_) => false,
        }
    }
}

fn has_times(workload: &Workload) -> bool {
    let mut measured = workload.phases.iter().filter(|phase| phase.measure);
    measured.any(|phase| !matches!(phase.arrivals, Arrivals::Closed { .. }))
}

/// Refuses flags that have no effect on a workload.
fn refuse_what_has_no_effect(args: &LoadArgs, workload: &Workload) -> Result<(), Failure> {
    refuse_reading(&args.reading)?;
    if args.pace.speed.is_some() && !has_times(workload) {
        return Err(Failure::usage(format!(
            "--speed changes the times of requests, but those of the workload {} follow \
             completions\n  remedy: leave it out",
            workload.name
        )));
    }
    Ok(())
}

/// Refuses flags that have no effect on fio jobs, which define depth and pace themselves.
fn refuse_replaying(args: &LoadArgs) -> Result<(), Failure> {
    refuse_reading(&args.reading)?;
    let pace = &args.pace;
    let flags = [
        ("--replay", pace.replay.is_some(), "leave it out"),
        ("--queue-depth", pace.queue_depth.is_some(), "write iodepth= into the job file"),
        ("--speed", pace.speed.is_some(), "write rate= or rate_iops= into the job file"),
    ];
    match flags.into_iter().find(|(_, given, _)| *given) {
        Some((flag, _, remedy)) => Err(Failure::usage(format!(
            "{flag} is for traces and workloads: fio jobs define it themselves\n  remedy: {remedy}"
        ))),
        None => Ok(()),
    }
}

fn refuse_reading(reading: &ReadingArgs) -> Result<(), Failure> {
    let given = reading.given();
    if given.is_empty() {
        return Ok(());
    }
    let one = given.len() == 1;
    let (verb, it) = if one { ("is", "it") } else { ("are", "them") };
    Err(Failure::usage(format!(
        "{} {verb} for reading traces, but this load is generated\n  remedy: leave {it} out, or \
         give a trace with --trace",
        given.join(", ")
    )))
}
