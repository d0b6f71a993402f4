//! A load and how it is played, by names and texts, as files and scripts give them.

use ftlab_workload::trace;

use super::{LoadSource, RunOptions};
use crate::failure::Failure;
use crate::load::parse_variable;

/// A load and how it is played, before its files are read.
#[derive(Clone, Debug, Default)]
pub struct NamedRun {
    /// The kind of load, and its name or file.
    load: Option<(&'static str, String)>,
    variables: Vec<(String, String)>,
    /// How it is played.
    pub options: RunOptions,
}

impl NamedRun {
    /// The kinds of loads, by the options that name them. A run has one load.
    pub const LOADS: [&str; 3] = ["workload", "trace", "fio"];
    /// The option that gives a variable of a job file its value; it may occur several times.
    pub const VARIABLE: &str = "fio_var";
    /// The names of the options that [`set`](NamedRun::set) knows besides [`RunOptions::NAMES`].
    pub const NAMES: [&str; 4] = ["workload", "trace", "fio", NamedRun::VARIABLE];

    /// Sets an option by its name. A load replaces an earlier one of any kind.
    ///
    /// # Errors
    /// There is no such option, or its text is wrong.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), String> {
        match NamedRun::LOADS.into_iter().find(|load| *load == name) {
            Some(load) => self.load = Some((load, text.to_owned())),
            None if name == NamedRun::VARIABLE => self.variables.push(parse_variable(text)?),
            None => self.options.set(name, text)?,
        }
        Ok(())
    }

    /// Reads the load, if one is named.
    ///
    /// # Errors
    /// It cannot be read, or is wrong.
    pub fn load(&self) -> Result<Option<LoadSource>, Failure> {
        let Some((kind, name)) = &self.load else { return Ok(None) };
        match *kind {
            "trace" => {
                let (file, reading) = (name.clone(), trace::Options::default());
                Ok(LoadSource::Trace { file, held: None, reading })
            }
            "fio" => LoadSource::fio(name, &self.variables),
            _ => LoadSource::workload(name),
        }
        .map(Some)
    }
}
