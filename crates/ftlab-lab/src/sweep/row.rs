//! The row of a run in the table: its values on the axes, its seed, and its metrics.

use serde_json::Value;

use super::plan::SweepPlan;
use crate::compare::{Metric, all_metrics};
use crate::failure::Failure;

/// The column of seeds.
pub const SEED: &str = "seed";

/// The outcome of a run at a point of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepRow {
    /// The index of the point.
    pub point: usize,
    /// The name of its value on each axis.
    pub values: Vec<String>,
    /// The seed.
    pub seed: u64,
    /// All metrics that the result can have, by their keys; none for unknown ones.
    pub metrics: Vec<(String, Option<f64>)>,
    /// The fingerprint of the run.
    pub inputs: String,
    /// `result.json`, unless it was written to a folder.
    pub document: Option<String>,
}

impl SweepPlan {
    /// Returns the row of a run from its `result.json`, wherever the run was performed.
    ///
    /// # Errors
    /// It is the result of another seed, it is not complete, or a trace cannot be read.
    pub fn row(&self, point: usize, seed: u64, result: &Value) -> Result<SweepRow, Failure> {
        if result["seed"].as_u64() != Some(seed) || result["complete"] != true {
            let label = self.label(point);
            return Err(Failure::usage(format!(
                "this is no complete result of {label} with seed {seed}\n  remedy: perform that run again"
            )));
        }
        let metrics = all_metrics(result).into_iter();
        let value = |metric: Metric| (metric.key(), metric.of(result));
        let axes = self.sweep.axes.iter().zip(&self.points()[point].at);
        Ok(SweepRow {
            point,
            values: axes.map(|(axis, &at)| axis.values[at].name.clone()).collect(),
            seed,
            metrics: metrics.map(value).collect(),
            inputs: self.inputs(point, seed)?,
            document: None,
        })
    }
}
