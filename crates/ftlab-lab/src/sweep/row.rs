//! The row of a run in the table: its values on the axes, its seed, and its metrics.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::Value;

use super::plan::SweepPlan;
use crate::compare::{Metric, all_metrics, tenants};
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
    /// The tenants of each submission queue, if the device has several.
    pub tenants: Vec<Vec<String>>,
    /// The fingerprint of the run.
    pub inputs: String,
    /// What a reader of its result should know.
    pub notes: Vec<String>,
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
            tenants: tenants(result),
            inputs: self.inputs(point, seed)?,
            notes: notes_of(result),
            document: None,
        })
    }
}

/// Returns the notes of a result.
fn notes_of(result: &Value) -> Vec<String> {
    let notes = result["report"]["notes"].as_array();
    notes.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The share of runs, as a divisor, that must have a note for the sweep to have it.
const MOST_HAVE: usize = 4;

/// Returns the notes that a quarter of the runs or more have, the most frequent first.
pub fn common_notes(rows: &[&SweepRow]) -> Vec<String> {
    let mut many: BTreeMap<&str, usize> = BTreeMap::new();
    for note in rows.iter().flat_map(|row| &row.notes) {
        *many.entry(note).or_default() += 1;
    }
    let mut common: Vec<(&str, usize)> =
        many.into_iter().filter(|(_, many)| many * MOST_HAVE >= rows.len()).collect();
    common.sort_by_key(|(_, many)| Reverse(*many));
    let told = |(note, many): (&str, usize)| match many == rows.len() {
        true => format!("All runs: {note}"),
        false => format!("{many} of {} runs: {note}", rows.len()),
    };
    common.into_iter().map(told).collect()
}
