//! The layout of `compare.json`.

use serde::Serialize;
use serde_json::Value;

use super::metrics::{Better, key_of};
use super::statistics::Change;

/// The version of the layout. It increases when a key is renamed, removed or changes its meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// `compare.json`: the variants under the same load, metric by metric. It depends only on devices,
/// load and seeds.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// The version of this layout.
    pub schema_version: u32,
    /// The version of ftlab.
    pub ftlab_version: String,
    /// The confidence level of the intervals.
    pub confidence_ratio: f64,
    /// The seeds; every variant ran with each of them.
    pub seeds: Vec<u64>,
    /// The load, as in `result.json`.
    pub load: Value,
    /// The preparation of the devices, as requested; the results contain its outcome. Null if the
    /// variants differ in it.
    pub precondition: Value,
    /// The variants; the first is the baseline.
    pub variants: Vec<VariantDocument>,
    /// The metrics.
    pub metrics: Vec<MetricDocument>,
    /// Notes that a reader of the numbers needs.
    pub notes: Vec<String>,
}

/// A variant.
#[derive(Debug, Serialize)]
pub struct VariantDocument {
    /// The name of the variant.
    pub name: String,
    /// The device's own name.
    pub device: String,
    /// The bytes that the host can address.
    pub capacity_bytes: u64,
    /// The options set on top of the device, as `KEY=VALUE`.
    pub settings: Vec<String>,
    /// The preparation of its devices, as requested.
    pub precondition: Value,
    /// BLAKE3 of the configuration's canonical text.
    pub config_blake3: String,
    /// By seed: the device's age when it reached the end of its life; null if it did not.
    pub end_of_life_ns: Vec<Option<u64>>,
    /// By seed: the number of measured requests that the device refused.
    pub refused_requests: Vec<u64>,
    /// The results, in the order of the seeds: folders relative to this file, or as named on the
    /// command line.
    pub results: Vec<String>,
}

/// A metric over all variants.
#[derive(Debug, Serialize)]
pub struct MetricDocument {
    /// The place in `result.json`, as a JSON pointer without its leading slash.
    pub id: String,
    /// The name in words.
    pub name: String,
    /// The unit; empty for a ratio.
    pub unit: &'static str,
    /// Whether higher or lower values are better.
    pub better: Better,
    /// By variant.
    pub variants: Vec<ValuesDocument>,
}

impl MetricDocument {
    /// Returns the key of the metric, as [`Metric::key`](super::Metric::key).
    #[must_use]
    pub fn key(&self) -> String {
        key_of(&self.id)
    }
}

/// A metric of one variant.
#[derive(Debug, Serialize)]
pub struct ValuesDocument {
    /// The values, in the order of the seeds; null where unknown, for example a percentile of too
    /// few requests.
    pub values: Vec<Option<f64>>,
    /// The geometric mean over the seeds, or the arithmetic mean if any value of the metric in any
    /// variant is not positive; null if a value is unknown.
    pub mean: Option<f64>,
    /// The change against the baseline; null for the baseline itself, if a value is unknown, or if
    /// one of the two reached the end of its life or refused requests, because then the work
    /// differs.
    pub change: Option<Change>,
}
