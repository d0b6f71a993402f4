//! The layout of `compare.json`.

use serde::Serialize;
use serde_json::Value;

use super::metrics::Better;
use super::statistics::Change;

/// The version of the layout. It changes when a key is renamed, removed or changes its meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// `compare.json`: variants on the same load, metric by metric. It depends on nothing but devices,
/// load and seeds.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// The version of this layout.
    pub schema_version: u32,
    /// The version of ftlab.
    pub ftlab_version: String,
    /// The share of intervals that hold the true change, if only chance lies between the seeds.
    pub confidence_ratio: f64,
    /// The seeds; each variant ran with each of them.
    pub seeds: Vec<u64>,
    /// What was played, as in `result.json`.
    pub load: Value,
    /// What devices went through before, as it was asked for; the results tell what it came to. Null if
    /// the variants differ in it.
    pub precondition: Value,
    /// The variants; the first is the baseline.
    pub variants: Vec<VariantDocument>,
    /// The metrics.
    pub metrics: Vec<MetricDocument>,
    /// What whoever reads the numbers has to know, in words.
    pub notes: Vec<String>,
}

/// A variant.
#[derive(Debug, Serialize)]
pub struct VariantDocument {
    /// What it is called.
    pub name: String,
    /// The device's own name.
    pub device: String,
    /// What the host can address.
    pub capacity_bytes: u64,
    /// What was set over the device, as `KEY=VALUE`.
    pub settings: Vec<String>,
    /// What its devices went through before, as it was asked for.
    pub precondition: Value,
    /// BLAKE3 of the configuration's canonical text.
    pub config_blake3: String,
    /// By seed: when the device came to the end of its life, since it was new; null if it did not.
    pub end_of_life_ns: Vec<Option<u64>>,
    /// By seed: measured requests that the device refused.
    pub refused_requests: Vec<u64>,
    /// The results, in the order of the seeds: folders beneath that of this file, or as they were
    /// named on the command line.
    pub results: Vec<String>,
}

/// A metric over all variants.
#[derive(Debug, Serialize)]
pub struct MetricDocument {
    /// Its place in `result.json`, as a JSON pointer without its first slash.
    pub id: String,
    /// In words.
    pub name: String,
    /// The unit; empty for a ratio.
    pub unit: &'static str,
    /// Which way it is to go.
    pub better: Better,
    /// By variant.
    pub variants: Vec<ValuesDocument>,
}

/// A metric of one variant.
#[derive(Debug, Serialize)]
pub struct ValuesDocument {
    /// The values, in the order of the seeds; null where one is not known, for example a percentile of
    /// too few requests.
    pub values: Vec<Option<f64>>,
    /// The geometric mean over the seeds, or the arithmetic one if some value of the metric, of any
    /// variant, is not positive; null unless the values of all seeds are known.
    pub mean: Option<f64>,
    /// Against the baseline; null for the baseline itself, if a value is not known, or if one of the
    /// two came to the end of its life or refused requests: they did not do the same work then.
    pub change: Option<Change>,
}
