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
use ftlab_workload::fio::FioTally;
use parquet::errors::ParquetError;

use crate::experiment::Measured;
use crate::failure::Failure;

pub use document::{DeviceDocument, LoadDocument, ReplayDocument, ResultDocument, RunDocument};
pub use folder::{
    COMPARISON, FIO, FileKind, Folder, MARK, OWN_FILES, PARTIAL, RUN, ResultTarget, VARIANTS,
    check_file, refuse_file, write_file,
};
pub use preparation::{AgeDocument, ClockDocument, StepDocument, notes_on_clocks, steps_of};
pub use requests::Requests;

/// Writes the files of a run into a folder that is being written, or into the subfolder `within`
/// unless it is empty. [`MARK`] is written last.
pub fn write(
    folder: &Folder,
    within: &str,
    config: &Config,
    measured: &Measured,
    run: &RunDocument,
) -> Result<(), Failure> {
    let name = |file: &str| format!("{within}{file}");
    let timeline = folder.create(&name("timeline.parquet"))?;
    timeline::write(timeline, &measured.recorder)
        .map_err(unwritten(folder.path(), &name("timeline.parquet")))?;
    let latencies = folder.create(&name("latencies.parquet"))?;
    latencies::write(latencies, &measured.recorder)
        .map_err(unwritten(folder.path(), &name("latencies.parquet")))?;
    let blocks = folder.create(&name("blocks.parquet"))?;
    blocks::write(blocks, &measured.blocks())
        .map_err(unwritten(folder.path(), &name("blocks.parquet")))?;
    if measured.recorder.timeline().queue_windows().next().is_some() {
        let queues = folder.create(&name("queues.parquet"))?;
        let named = &measured.document.report.host.queues;
        timeline::write_queues(queues, &measured.recorder, named)
            .map_err(unwritten(folder.path(), &name("queues.parquet")))?;
    }
    if let Some(jobs) = &measured.jobs {
        folder.write(&name(FIO), fio_json(jobs, config)?.as_bytes())?;
    }
    folder.write(&name("config.toml"), config.show().as_bytes())?;
    folder.write(&name(RUN), to_json(run)?.as_bytes())?;
    folder.write(&name(MARK), to_json(&measured.document)?.as_bytes())
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
            None => Failure::usage(format!(
                "can't write {}: {error}\n  remedy: check that there is room, or choose another place with -o",
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
            Failure::Usage(text) => text,
            other => panic!("{other:?}"),
        };
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let full = told(ParquetError::External(Box::new(full)));
        assert!(full.starts_with("can't write out/blocks.parquet: "), "{full}");
        assert!(
            full.contains("remedy: free some space, or choose another place with -o"),
            "{full}"
        );
        let other = told(ParquetError::General("odd".to_owned()));
        assert!(other.contains("out/blocks.parquet") && other.contains("remedy: "), "{other}");
    }
}
