//! The layout of the `result.json` of `ftlab reproduce`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::errors::ErrorsDocument;
use super::keys::Role;
use super::numbers::{Printed, Tolerance, is_near};

/// The version of the layout. It increases when a key is renamed, removed or changes its meaning.
pub const SCHEMA_VERSION: u32 = 1;
/// The kind of this result.
pub const KIND: &str = "reproduction";

/// The `result.json` of `ftlab reproduce`: the numbers of a paper beside ours. It depends only on
/// the experiment and the seeds. Values are in the unit given beside them.
#[derive(Debug, Serialize)]
pub struct Reproduction {
    /// `"reproduction"`, because this is not the result of a run.
    pub kind: &'static str,
    /// The version of this layout.
    pub schema_version: u32,
    /// The version of ftlab.
    pub ftlab_version: String,
    /// The name of the experiment.
    pub name: String,
    /// What is reproduced.
    pub title: String,
    /// The full citation of the paper.
    pub paper: String,
    /// The paper's DOI.
    pub doi: Option<String>,
    /// The paper's claims and our outcome, from the experiment.
    pub summary: String,
    /// The number of seeds that the tolerances are meant for.
    pub declared_seeds: u64,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// The confidence level of the intervals.
    pub confidence_ratio: f64,
    /// BLAKE3 of the declaration's text.
    pub declaration_blake3: String,
    /// The number of claims by verdict.
    pub verdicts: OutcomeCounts,
    /// The numbers of the paper.
    pub claims: Vec<ClaimDocument>,
    /// How far ours are from numbers with a role; empty without such claims.
    pub errors: Vec<ErrorsDocument>,
    /// The dimensions that vary.
    pub axes: Vec<AxisDocument>,
    /// Lists of numbers that runs report.
    pub curves: Vec<CurveNamed>,
    /// Numbers taken from each run.
    pub metrics: Vec<MetricNamed>,
    /// The cases and their results.
    pub cases: Vec<CaseDocument>,
    /// The points of figures of metrics; none with --claims-only. Curves are in their cases.
    pub figures: Vec<FigureDocument>,
    /// Cases that were not run because their trace is missing.
    pub not_run: Vec<NotRunDocument>,
}

/// The number of claims by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeCounts {
    /// Within the tolerance of the paper's number.
    pub reproduced: usize,
    /// Declared to differ: within the tolerance of the expected number, and not of the paper's.
    pub differs_explained: usize,
    /// Neither of these.
    pub out_of_tolerance: usize,
    /// Not run, because a trace is missing.
    pub not_run: usize,
}

/// The verdict on a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NumberVerdict {
    /// Within the tolerance of the paper's number.
    Reproduced,
    /// Declared to differ: within the tolerance of the expected number, and not of the paper's.
    DiffersExplained,
    /// Neither of these, or unknown.
    OutOfTolerance,
    /// Not run, because a trace is missing.
    NotRun,
}

/// A claim of the paper.
#[derive(Debug, Serialize)]
pub struct ClaimDocument {
    /// Its name.
    pub id: String,
    /// The claim in words.
    pub text: String,
    /// Its place in the paper.
    #[serde(rename = "where")]
    pub place: String,
    /// The origin of the numbers in `paper`, if the paper does not print them; null if it does.
    pub origin: Option<String>,
    /// `fitted` or `predicted`; null for neither.
    pub role: Option<Role>,
    /// The unit of its numbers; `%` for per cent, empty for a plain number.
    pub unit: String,
    /// Why the paper's numbers cannot be reproduced; null if they can.
    pub differs_because: Option<String>,
    /// Its numbers.
    pub rows: Vec<RowDocument>,
}

/// A number of a claim.
#[derive(Debug, Serialize)]
pub struct RowDocument {
    /// The value of the claim's axis in words; empty without one.
    pub label: String,
    /// The value of each axis, without averaged axes.
    pub at: BTreeMap<String, String>,
    /// The paper's number, or a limit.
    pub paper: Printed,
    /// How far our number may be from it; null for a limit.
    pub tolerance: Option<Tolerance>,
    /// The number expected instead; null if the paper's number is to be reproduced.
    pub expected: Option<Printed>,
    /// How far our number may be from the expected one.
    pub expected_tolerance: Option<Tolerance>,
    /// Our number; null if a run does not have it.
    pub ours: Option<f64>,
    /// The lower end of our interval; null with one seed.
    pub low: Option<f64>,
    /// The upper end of our interval; null with one seed.
    pub high: Option<f64>,
    /// The verdict.
    pub verdict: NumberVerdict,
}

impl RowDocument {
    /// Returns a remark if a number is declared to differ but meets the paper's number.
    pub fn needless(&self) -> Option<&'static str> {
        let meets = self.ours.is_some_and(|ours| is_near(ours, self.paper, self.tolerance));
        (self.expected.is_some() && meets)
            .then_some("declared to differ, but meets the paper's number: remove the declaration")
    }
}

/// A dimension that varies.
#[derive(Debug, Serialize)]
pub struct AxisDocument {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// A note for readers.
    pub note: Option<String>,
    /// The names of its values.
    pub values: Vec<String>,
}

/// A number taken from each run.
#[derive(Debug, Serialize)]
pub struct MetricNamed {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// Its unit; empty for a plain number.
    pub unit: String,
}

/// A list of numbers that a run reports.
#[derive(Debug, Serialize)]
pub struct CurveNamed {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// The unit of its values; empty for plain numbers.
    pub unit: String,
    /// The label of the horizontal axis.
    pub x_label: String,
}

/// A case and its results.
#[derive(Debug, Serialize)]
pub struct CaseDocument {
    /// The value of each axis.
    pub at: BTreeMap<String, String>,
    /// The device.
    pub device: String,
    /// BLAKE3 of the configuration's canonical text.
    pub config_blake3: String,
    /// The name of the load.
    pub load: String,
    /// BLAKE3 of the load.
    pub load_blake3: Option<String>,
    /// The results by metric.
    pub metrics: BTreeMap<String, Option<SpreadDocument>>,
    /// The curves that figures draw, by name, from the run with the first seed.
    pub curves: BTreeMap<String, CurveDocument>,
}

/// A curve of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurveDocument {
    /// The distance between values: value number i, counted from 0, is at i times this.
    pub every: f64,
    /// The values.
    pub values: Vec<f64>,
}

/// The result of a metric in a case.
#[derive(Debug, Serialize)]
pub struct SpreadDocument {
    /// The mean over the seeds.
    pub mean: f64,
    /// The standard deviation over the seeds; null with one seed.
    pub standard_deviation: Option<f64>,
    /// The lower end of the interval of the mean; null with one seed.
    pub low: Option<f64>,
    /// The upper end of the interval of the mean; null with one seed.
    pub high: Option<f64>,
}

/// The points of a figure of metrics.
#[derive(Debug, Serialize)]
pub struct FigureDocument {
    /// Its title.
    pub title: String,
    /// `lines`, `bars` or `heatmap`.
    pub kind: String,
    /// The form of the metrics, in the words of the experiment.
    #[serde(rename = "as")]
    pub form: String,
    /// The values of the case to compare with; empty without a comparison.
    pub against: BTreeMap<String, String>,
    /// Its points.
    pub points: Vec<PointDocument>,
}

/// A point of a figure. Forms of two cases are computed seed by seed.
#[derive(Debug, Serialize)]
pub struct PointDocument {
    /// The value of each axis.
    pub at: BTreeMap<String, String>,
    /// The name of the metric.
    pub metric: String,
    /// The unit of its form; `%` for per cent, empty for a plain number.
    pub unit: String,
    /// The form of its means; null if a run does not have it or was not performed.
    pub value: Option<f64>,
    /// The lower end of the interval; null with one seed.
    pub low: Option<f64>,
    /// The upper end of the interval; null with one seed.
    pub high: Option<f64>,
}

/// A case that was not run.
#[derive(Clone, Debug, Serialize)]
pub struct NotRunDocument {
    /// The value of each axis.
    pub at: BTreeMap<String, String>,
    /// The missing trace, by its path in the folder of traces.
    pub trace: String,
}
