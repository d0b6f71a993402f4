//! Reproductions: runs the experiments of papers again and compares their printed numbers with ours.
//!
//! An experiment is a folder: `experiment.toml` declares the runs, the metrics, the paper's numbers and the
//! tolerances; beside it are devices, workloads and a README. Those in `experiments/` are built in. No paper
//! has code of its own: anything that a declaration cannot express yet becomes a new key, available to all.

mod cases;
mod curve;
mod declaration;
mod document;
mod errors;
pub mod fuzz;
mod judge;
mod keys;
mod library;
mod map;
mod measure;
mod numbers;
mod page;
mod parse;
mod perform;
mod plan;
mod points;
pub mod words;

pub use self::declaration::Declaration;
pub use self::document::{ClaimDocument, NumberVerdict, OutcomeCounts, Reproduction, RowDocument};
pub use self::library::{FoundExperiment, find, names};
pub use self::map::{HeatMap, Labels, MapPanel};
pub use self::measure::Estimate;
pub use self::numbers::{Printed, Tolerance, printed};
pub use self::plan::{Plan, PlanOptions, Reproduced, refuse_no_folder, runs_of};

/// Whether a document is a result of a reproduction.
#[must_use]
pub fn is_reproduction(document: &serde_json::Value) -> bool {
    document["kind"] == document::KIND
}
