//! The result folder of a run and its files.
//!
//! - `result.json`: the report, the configuration and its hash, the load and its hash, the seed and
//!   the assumptions. The same run gives the same bytes.
//! - `config.toml`: the whole configuration, and where each value comes from.
//! - `timeline.parquet` and `queues.parquet`: time series of the device and of each queue, if it
//!   has several.
//! - `requests.parquet`: every request, if requested.
//! - `latencies.parquet`: the distribution of latencies.
//! - `blocks.parquet`: erases, collections and valid pages of each block.
//! - `fio.json`: the results of fio jobs, in fio's format.
//! - `run.json`: everything that differs from run to run: command line, duration, speed.

mod blocks;
mod columns;
mod document;
mod folder;
mod latencies;
mod preparation;
mod requests;
mod timeline;

use std::path::Path;

use ftlab::config::Config;
use ftlab::device::Contents;
use ftlab::scheduler::Probe;
use ftlab_workload::fio::FioTally;
use parquet::errors::ParquetError;

use crate::experiment::Measured;
use crate::failure::Failure;
use crate::outside;

pub use columns::{Column, ColumnTable, ColumnValues, TableTarget};
pub use document::{DeviceDocument, LoadDocument, ReplayDocument, ResultDocument, RunDocument};
pub use folder::{
    BLOCKS, COMPARISON, FIO, FileKind, Folder, LATENCIES, MARK, MOMENTS, OWN_FILES, PAGE, PARTIAL,
    Published, QUEUES, REQUESTS, RUN, ResultTarget, SWEEP, SWEEP_CSV, SWEEP_PARQUET, TIMELINE,
    VARIANTS, check_file, refuse_file, refuse_without_folder, write_file,
};
pub use preparation::{AgeDocument, ClockDocument, StepDocument, notes_on_clocks, steps_of};
pub use requests::{Requests, steps};

/// The tables of a run besides its requests.
#[derive(Clone, Debug)]
pub struct RunTables {
    /// `timeline.parquet`.
    pub timeline: ColumnTable,
    /// `latencies.parquet`.
    pub latencies: ColumnTable,
    /// `blocks.parquet`.
    pub blocks: ColumnTable,
    /// `queues.parquet`, if the device has several queues.
    pub queues: Option<ColumnTable>,
}

impl RunTables {
    /// Returns the tables of a run.
    #[must_use]
    pub fn of<P: Probe, C: Contents>(measured: &Measured<P, C>) -> RunTables {
        let recorder = &measured.recorder;
        let has_queues = recorder.timeline().queue_windows().next().is_some();
        let named = &measured.document.report.host.queues;
        RunTables {
            timeline: timeline::table(recorder),
            latencies: latencies::table(recorder),
            blocks: blocks::table(&measured.blocks()),
            queues: has_queues.then(|| timeline::of_queues(recorder, named)),
        }
    }

    fn named(&self) -> impl Iterator<Item = (&'static str, &ColumnTable)> {
        let named =
            [(TIMELINE, &self.timeline), (LATENCIES, &self.latencies), (BLOCKS, &self.blocks)];
        named.into_iter().chain(self.queues.iter().map(|table| (QUEUES, table)))
    }
}

/// What the files of a run hold, besides its requests.
pub struct RunFiles<'a> {
    /// The configuration of its device.
    pub config: &'a Config,
    /// `result.json`.
    pub document: &'a ResultDocument,
    /// Its tables.
    pub tables: &'a RunTables,
    /// `fio.json`, if fio jobs ran.
    pub jobs: Option<&'a str>,
    /// `run.json`.
    pub run: &'a RunDocument,
}

impl RunFiles<'_> {
    /// Writes the files into a folder that is being written, or into the subfolder `within` unless it is empty.
    /// [`MARK`] is written last.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, folder: &Folder, within: &str) -> Result<(), Failure> {
        let name = |file: &str| format!("{within}{file}");
        for (file, table) in self.tables.named() {
            let to = folder.create(&name(file))?;
            table.write(to).map_err(unwritten(folder.path(), &name(file)))?;
        }
        if let Some(jobs) = self.jobs {
            folder.write(&name(FIO), jobs.as_bytes())?;
        }
        folder.write(&name("config.toml"), self.config_text().as_bytes())?;
        folder.write(&name(RUN), to_json(self.run)?.as_bytes())?;
        folder.write(&name(MARK), to_json(self.document)?.as_bytes())
    }

    /// The configuration, with what it does not say: policies from outside the simulator.
    fn config_text(&self) -> String {
        let outside = self.document.assumed.iter().filter(|text| outside::is_told(text));
        let told: String = outside.map(|text| format!("# Not as below: {text}\n")).collect();
        told + &self.config.show()
    }
}

/// Writes the files of a run, as [`RunFiles::write`].
///
/// # Errors
/// A file cannot be written.
pub fn write<P: Probe, C: Contents>(
    folder: &Folder,
    within: &str,
    config: &Config,
    measured: &Measured<P, C>,
    run: &RunDocument,
) -> Result<(), Failure> {
    let jobs = measured.jobs.as_ref().map(|jobs| fio_json(jobs, config)).transpose()?;
    let (document, tables) = (&measured.document, &RunTables::of(measured));
    RunFiles { config, document, tables, jobs: jobs.as_deref(), run }.write(folder, within)
}

/// Returns the results of fio jobs in fio's format.
pub fn fio_json(jobs: &FioTally, config: &Config) -> Result<String, Failure> {
    to_json(&jobs.document(&config.options.device.name))
}

/// Returns the failure to write a column file.
pub fn unwritten(folder: &Path, name: &str) -> impl Fn(ParquetError) -> Failure {
    let path = folder.join(name);
    move |error| {
        let cause = match &error {
            ParquetError::External(cause) => cause.downcast_ref::<std::io::Error>(),
            _ => None,
        };
        match cause {
            Some(cause) => Failure::file("can't write", &path, cause),
            None => Failure::File(format!(
                "can't write {}: {error}\n  remedy: check that there is room, or choose another place (`output`)",
                path.display()
            )),
        }
    }
}

/// Serialises to JSON in the format of our files.
pub fn to_json(value: &impl serde::Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value);
    text.map(|text| text + "\n").map_err(Failure::usage)
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_full_disk_is_told_with_place_and_remedy() {
        let told = |error| match unwritten(Path::new("out"), "blocks.parquet")(error) {
            Failure::File(text) => text,
            other => panic!("{other:?}"),
        };
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let full = told(ParquetError::External(Box::new(full)));
        assert!(full.starts_with("can't write out/blocks.parquet: "), "{full}");
        assert!(
            full.contains("remedy: free some space, or choose another place (`output`)"),
            "{full}"
        );
        let other = told(ParquetError::General("odd".to_owned()));
        assert!(other.contains("out/blocks.parquet") && other.contains("remedy: "), "{other}");
    }
}
