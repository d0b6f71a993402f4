//! Loads. A load is opened again for each run.

use std::fs::Metadata;
use std::sync::Arc;

use bytes::Bytes;
use ftlab_workload::fio::JobFile;
use ftlab_workload::generate::{Arrivals, Workload};
use ftlab_workload::trace::{self, Trace};

use super::given::{GivenRequests, GivenSource};
use crate::failure::Failure;
use crate::load::{self, short_name};

/// A load. Clones are cheap.
#[derive(Clone)]
pub enum LoadSource {
    /// A trace.
    Trace {
        /// The file.
        file: String,
        /// Its bytes, if they are in memory; then `file` is only a name.
        held: Option<Bytes>,
        /// The options of the reader.
        reading: trace::Options,
    },
    /// A workload.
    Workload(Arc<Workload>),
    /// A fio job file.
    Fio(Arc<JobFile>),
    /// Requests of the caller's.
    Requests(GivenRequests),
}

/// An open load, which can be played once.
pub enum OpenedLoad {
    /// A trace, with the file's name.
    Trace(String, Box<Trace>),
    /// A workload.
    Workload(Arc<Workload>),
    /// A fio job file.
    Fio(Arc<JobFile>),
    /// Requests of the caller's.
    Requests(GivenSource),
}

impl LoadSource {
    /// Finds a workload: a built-in one, or a file.
    ///
    /// # Errors
    /// There is none of that name, or it is wrong.
    pub fn workload(name: &str) -> Result<LoadSource, Failure> {
        load::workload(name).map(|workload| LoadSource::Workload(Arc::new(workload)))
    }

    /// Reads a fio job file with these variables.
    ///
    /// # Errors
    /// It cannot be read, or is wrong.
    pub fn fio(file: &str, variables: &[(String, String)]) -> Result<LoadSource, Failure> {
        load::fio(file, variables).map(|jobs| LoadSource::Fio(Arc::new(jobs)))
    }

    /// Whether it can be read only once: standard input, or a pipe.
    #[must_use]
    pub fn is_read_once(&self) -> bool {
        let LoadSource::Trace { file, held: None, .. } = self else { return false };
        let is_pipe = |there: Metadata| !there.is_file() && !there.is_dir();
        file == "-" || std::fs::metadata(file).is_ok_and(is_pipe)
    }

    /// Opens the load.
    ///
    /// # Errors
    /// The file of a trace cannot be read; or an iterator was played before.
    pub fn open(&self) -> Result<OpenedLoad, Failure> {
        Ok(match self {
            LoadSource::Trace { file, held, reading } => {
                let trace = load::open_held(file, held.as_ref(), reading.clone())?;
                OpenedLoad::Trace(file.clone(), Box::new(trace))
            }
            LoadSource::Workload(workload) => OpenedLoad::Workload(workload.clone()),
            LoadSource::Fio(jobs) => OpenedLoad::Fio(jobs.clone()),
            LoadSource::Requests(given) => OpenedLoad::Requests(given.open()?),
        })
    }

    /// Returns the name of the load in results.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            LoadSource::Trace { file, .. } => short_name(file),
            LoadSource::Workload(workload) => short_name(&workload.name),
            LoadSource::Fio(jobs) => short_name(&jobs.name),
            LoadSource::Requests(given) => short_name(&given.name),
        }
    }

    /// Whether its measured requests have times of their own.
    #[must_use]
    pub fn has_times(&self) -> bool {
        match self {
            LoadSource::Trace { .. } => true,
            LoadSource::Workload(workload) => has_times(workload),
            LoadSource::Fio(_) => false,
            LoadSource::Requests(given) => given.timed,
        }
    }

    /// Whether nothing in it decides when its requests come.
    pub(super) fn lacks_times(&self) -> bool {
        matches!(self, LoadSource::Requests(given) if !given.timed)
    }
}

fn has_times(workload: &Workload) -> bool {
    let mut measured = workload.phases.iter().filter(|phase| phase.measure);
    measured.any(|phase| !matches!(phase.arrivals, Arrivals::Closed { .. }))
}
