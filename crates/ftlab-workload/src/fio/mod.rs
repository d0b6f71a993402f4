//! fio job files: their text, the meaning of their options, and running jobs.
//!
//! [`JobFile::parse`] reads a file and reports all its problems at once. [`JobFile::plan`] lays its
//! jobs out on a device, and [`Crew`](crate::replay::Crew) runs them. [`options`] lists what each
//! option means here. [`report`] reports the results as fio does.
//!
//! Sources: the manual of fio 3.33 (J. Axboe), and observations of that version with
//! `ioengine=null` and `write_iolog`; the tests contain the figures. No code of fio is used.

mod coverage;
mod distribution;
#[doc(hidden)]
pub mod fuzz;
mod job;
mod offsets;
pub mod options;
mod parse;
mod placement;
mod plan;
mod player;
pub mod report;
mod skew;
mod text;
mod values;
mod zbd;

use std::collections::BTreeMap;

use self::placement::Hints;
pub use job::Job;
pub use plan::{DriveFacts, FioPlan};
pub use report::FioTally;
pub use text::Surroundings;

/// A job file.
#[derive(Clone, Debug)]
pub struct JobFile {
    /// The name of the file.
    pub name: String,
    /// Its text, without included files.
    pub text: String,
    /// The variables in the text and their values.
    pub variables: BTreeMap<String, String>,
    /// The options of `[global]` as written.
    pub(crate) global: Vec<(String, String)>,
    /// The jobs, in the order of the file.
    pub jobs: Vec<Job>,
    /// The assumptions made.
    pub notes: Vec<String>,
}

impl JobFile {
    /// Returns everything that determines what its jobs do, including included files, but not the
    /// file's name.
    #[must_use]
    pub fn essence(&self) -> String {
        let jobs = self.jobs.iter().map(|job| (&job.name, &job.report.options));
        let jobs: Vec<_> = jobs.collect();
        let essence = format!("{:?}", (&self.text, &self.variables, &self.global, jobs));
        let hints = self.jobs.iter().filter_map(|job| job.placement.as_ref());
        hints.filter_map(Hints::scheme).fold(essence, |all, scheme| format!("{all}{scheme:?}"))
    }
}
