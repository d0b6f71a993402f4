//! What a run leaves behind: the result folder and what is in it.
//!
//! - `result.json`: the report, the configuration with its hash, what was played with its
//!   fingerprint, the seed and what was assumed. The same run gives the same bytes.
//! - `config.toml`: the configuration in full, and where each value comes from.
//! - `timeline.parquet`: how things changed over time; `requests.parquet`: every request, on demand.
//! - `latencies.parquet`: the distribution of latencies; `blocks.parquet`: erases, collections and valid
//!   pages of each block.
//! - `run.json`: what differs from run to run: command line, duration, speed.

mod blocks;
mod columns;
mod document;
mod folder;
mod latencies;
mod preparation;
mod requests;
mod timeline;

use ftlab::config::Config;
use parquet::errors::ParquetError;

use crate::experiment::Measured;
use crate::failure::Failure;

pub use document::{DeviceDocument, Document, LoadDocument, ReplayDocument, RunDocument};
pub use folder::{COMPARISON, FileKind, Folder, MARK, Target, VARIANTS, refuse_file, write_file};
pub use preparation::{AgeDocument, StepDocument};
pub use requests::Requests;

/// Writes what a run came to into a folder that is being written, or into one within it if `within`
/// is not empty; [`MARK`] last.
pub fn write(
    folder: &Folder,
    within: &str,
    config: &Config,
    measured: &Measured,
    run: &RunDocument,
) -> Result<(), Failure> {
    let name = |file: &str| format!("{within}{file}");
    let timeline = folder.create(&name("timeline.parquet"))?;
    timeline::write(timeline, measured.recorder.timeline())
        .map_err(unwritten("timeline.parquet"))?;
    let latencies = folder.create(&name("latencies.parquet"))?;
    latencies::write(latencies, &measured.recorder).map_err(unwritten("latencies.parquet"))?;
    let blocks = folder.create(&name("blocks.parquet"))?;
    blocks::write(blocks, &measured.blocks).map_err(unwritten("blocks.parquet"))?;
    if measured.recorder.timeline().queue_windows().next().is_some() {
        let queues = folder.create(&name("queues.parquet"))?;
        timeline::write_queues(queues, measured.recorder.timeline())
            .map_err(unwritten("queues.parquet"))?;
    }
    folder.write(&name("config.toml"), config.show().as_bytes())?;
    folder.write(&name("run.json"), to_json(run)?.as_bytes())?;
    folder.write(&name(MARK), to_json(&measured.document)?.as_bytes())
}

/// The failure to write a file of columns.
pub fn unwritten(name: &'static str) -> impl Fn(ParquetError) -> Failure {
    move |error| Failure::usage(format!("can't write {name}: {error}"))
}

/// JSON as files hold it.
pub fn to_json(value: &impl serde::Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value);
    text.map(|text| text + "\n").map_err(Failure::usage)
}
