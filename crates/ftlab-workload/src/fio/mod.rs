//! fio's job files: their text, the meaning of their options, and jobs at work.
//!
//! The file is read by [`JobFile::parse`], which reports everything that is wrong at once;
//! [`JobFile::plan`] lays its jobs on a device, and [`Crew`](crate::replay::Crew) lets them work. What
//! each option means here stands in [`options`]. [`report`] tells what they came to as fio does.
//!
//! Source: the manual of fio 3.33 (J. Axboe), and what that version was seen to do with `ioengine=null`
//! and `write_iolog`; the tests hold the figures. No code of fio is used.

mod coverage;
mod distribution;
#[doc(hidden)]
pub mod fuzz;
mod job;
mod offsets;
pub mod options;
mod parse;
mod plan;
mod player;
pub mod report;
mod skew;
mod text;
mod values;

use std::collections::BTreeMap;

pub use job::Job;
pub use plan::FioPlan;
pub use report::FioTally;
pub use text::Surroundings;

/// A job file.
#[derive(Clone, Debug)]
pub struct JobFile {
    /// What it is called.
    pub name: String,
    /// Its text, without what it includes.
    pub text: String,
    /// The variables that it names, with what they stood for.
    pub variables: BTreeMap<String, String>,
    /// The options of `[global]`, as they are written.
    pub(crate) global: Vec<(String, String)>,
    /// The jobs, in the order of the file.
    pub jobs: Vec<Job>,
    /// What was assumed.
    pub notes: Vec<String>,
}

impl JobFile {
    /// Everything that decides what its jobs do, with what it includes, whatever its file is called.
    #[must_use]
    pub fn essence(&self) -> String {
        let jobs = self.jobs.iter().map(|job| (&job.name, &job.report.options));
        let jobs: Vec<_> = jobs.collect();
        format!("{:?}", (&self.text, &self.variables, &self.global, jobs))
    }
}
