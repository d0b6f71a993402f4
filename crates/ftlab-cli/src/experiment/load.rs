//! What is played: named on the command line, opened anew for each performance.

use ftlab_workload::generate::{Arrivals, Workload};
use ftlab_workload::trace::{self, Trace};

use crate::args::{LoadArgs, ReadingArgs};
use crate::failure::Failure;
use crate::load::{self, short_name};

/// What is to be played.
pub enum LoadSource {
    /// A trace.
    Trace {
        /// The file.
        file: String,
        /// How it is read.
        reading: trace::Options,
    },
    /// A workload.
    Workload(Workload),
}

/// The same, opened: it can be played once.
pub enum Load {
    /// A trace, with the file's name.
    Trace(String, Box<Trace>),
    /// A workload.
    Workload(Workload),
}

impl LoadSource {
    /// What the command line names.
    pub fn new(args: &LoadArgs) -> Result<LoadSource, Failure> {
        match (&args.trace, &args.workload) {
            (Some(file), _) => {
                Ok(LoadSource::Trace { file: file.clone(), reading: args.reading.options() })
            }
            (None, Some(name)) => {
                let workload = load::workload(name)?;
                refuse_what_has_no_effect(args, &workload)?;
                Ok(LoadSource::Workload(workload))
            }
            (None, None) => Err(Failure::usage("say what is to be played: --trace or --workload")),
        }
    }

    /// Opens it.
    pub fn open(&self) -> Result<Load, Failure> {
        Ok(match self {
            LoadSource::Trace { file, reading } => {
                Load::Trace(file.clone(), Box::new(load::open(file, reading.clone())?))
            }
            LoadSource::Workload(workload) => Load::Workload(workload.clone()),
        })
    }

    /// What it is called.
    pub fn name(&self) -> String {
        match self {
            LoadSource::Trace { file, .. } => short_name(file),
            LoadSource::Workload(workload) => short_name(&workload.name),
        }
    }

    /// Whether what is measured of it has requests at times of their own.
    pub fn has_times(&self) -> bool {
        match self {
            LoadSource::Trace { .. } => true,
            LoadSource::Workload(workload) => has_times(workload),
        }
    }
}

fn has_times(workload: &Workload) -> bool {
    let mut measured = workload.phases.iter().filter(|phase| phase.measure);
    measured.any(|phase| !matches!(phase.arrivals, Arrivals::Closed { .. }))
}

/// Flags that a workload does not heed.
fn refuse_what_has_no_effect(args: &LoadArgs, workload: &Workload) -> Result<(), Failure> {
    refuse_reading(&args.reading)?;
    if args.pace.speed.is_some() && !has_times(workload) {
        return Err(Failure::usage(format!(
            "--speed changes the times of requests, and those of the workload {} follow \
             completions\n  remedy: leave it out",
            workload.name
        )));
    }
    Ok(())
}

fn refuse_reading(reading: &ReadingArgs) -> Result<(), Failure> {
    let given = reading.given();
    if given.is_empty() {
        return Ok(());
    }
    let one = given.len() == 1;
    let (verb, it) = if one { ("is", "it") } else { ("are", "them") };
    Err(Failure::usage(format!(
        "{} {verb} for reading traces: a workload is not read from one\n  remedy: leave {it} out, or \
         give a trace with --trace",
        given.join(", ")
    )))
}
