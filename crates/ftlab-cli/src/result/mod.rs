//! What a run leaves behind: the result folder and what is in it.
//!
//! - `result.json`: the report, the configuration with its hash, what was played with its
//!   fingerprint, the seed and what was assumed. The same run gives the same bytes.
//! - `config.toml`: the configuration in full, and where each value comes from.
//! - `timeline.parquet`: how things changed over time; `requests.parquet`: every request, on demand.
//! - `run.json`: what differs from run to run: command line, duration, speed.

mod columns;
mod document;
mod folder;
mod requests;
mod timeline;

pub use document::{DeviceDocument, Document, LoadDocument, ReplayDocument, RunDocument};
pub use folder::{Folder, MARK, Target};
pub use requests::Requests;
pub use timeline::write as write_timeline;
