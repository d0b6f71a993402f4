//! The layout of the `result.json` of `ftlab reproduce`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::numbers::{Printed, Tolerance, is_near};

/// The version of the layout. It changes when a key is renamed, removed or changes its meaning.
pub const SCHEMA_VERSION: u32 = 1;
/// What kind of result this is.
pub const KIND: &str = "reproduction";

/// The `result.json` of `ftlab reproduce`: the numbers of a paper beside ours. It depends on nothing but
/// the experiment and the seeds. Values are in the unit that stands beside them.
#[derive(Debug, Serialize)]
pub struct Reproduction {
    /// `"reproduction"`: this is no result of a run.
    pub kind: &'static str,
    /// The version of this layout.
    pub schema_version: u32,
    /// The version of ftlab.
    pub ftlab_version: String,
    /// The name of the experiment.
    pub name: String,
    /// What is reproduced.
    pub title: String,
    /// The paper in full.
    pub paper: String,
    /// Its DOI.
    pub doi: Option<String>,
    /// What the paper claims and what came out, as the experiment says.
    pub summary: String,
    /// With how many seeds the tolerances hold.
    pub declared_seeds: u64,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// The share of intervals that hold the true value, if only chance lies between the seeds.
    pub confidence_ratio: f64,
    /// BLAKE3 of the declaration's text.
    pub declaration_blake3: String,
    /// How many numbers came out how.
    pub verdicts: OutcomeCounts,
    /// The numbers of the paper.
    pub claims: Vec<ClaimDocument>,
    /// What is varied.
    pub axes: Vec<AxisDocument>,
    /// What each run reports as a list.
    pub curves: Vec<CurveNamed>,
    /// What is taken from each run.
    pub metrics: Vec<MetricNamed>,
    /// What was run, and what came of it.
    pub cases: Vec<CaseDocument>,
    /// What figures of metrics draw; none if only numbers were asked for. Curves stand in their cases.
    pub figures: Vec<FigureDocument>,
    /// What was not run: cases that need a trace which is not there.
    pub not_run: Vec<NotRunDocument>,
}

/// How many numbers came out how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeCounts {
    /// Within the tolerance of the paper's number.
    pub reproduced: usize,
    /// Declared to differ, within the tolerance of what is expected instead and not of the paper's number.
    pub differs_explained: usize,
    /// Neither.
    pub out_of_tolerance: usize,
    /// Not run: they need a trace that is not there.
    pub not_run: usize,
}

/// How a number came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NumberVerdict {
    /// Within the tolerance of the paper's number.
    Reproduced,
    /// Declared to differ, within the tolerance of what is expected instead and not of the paper's number.
    DiffersExplained,
    /// Neither, or not known.
    OutOfTolerance,
    /// It needs a trace that is not there.
    NotRun,
}

/// What the paper claims.
#[derive(Debug, Serialize)]
pub struct ClaimDocument {
    /// Its name.
    pub id: String,
    /// In words.
    pub text: String,
    /// Where in the paper.
    #[serde(rename = "where")]
    pub place: String,
    /// Who gives what stands in `paper`, if the paper prints no number; null if it is the paper.
    pub origin: Option<String>,
    /// The unit of its numbers; `%` is per cent, empty a plain number.
    pub unit: String,
    /// Why the paper's numbers can't be reproduced; null if they are to be.
    pub differs_because: Option<String>,
    /// Its numbers.
    pub rows: Vec<RowDocument>,
}

/// One number of a claim.
#[derive(Debug, Serialize)]
pub struct RowDocument {
    /// The value of the claim's axis, in words; empty without one.
    pub label: String,
    /// By axis, the value; axes that are averaged over are missing.
    pub at: BTreeMap<String, String>,
    /// What the paper prints: a number, or a limit.
    pub paper: Printed,
    /// How far ours may lie from it; null for a limit.
    pub tolerance: Option<Tolerance>,
    /// What is expected instead; null if the paper's number is to be reproduced.
    pub expected: Option<Printed>,
    /// How far ours may lie from that.
    pub expected_tolerance: Option<Tolerance>,
    /// Ours; null if some run does not know it.
    pub ours: Option<f64>,
    /// Where the interval of ours begins; null with one seed.
    pub low: Option<f64>,
    /// Where the interval of ours ends; null with one seed.
    pub high: Option<f64>,
    /// How it came out.
    pub verdict: NumberVerdict,
}

impl RowDocument {
    /// What to say of a number that is declared to differ and meets the paper's all the same.
    pub fn needless(&self) -> Option<&'static str> {
        let meets = self.ours.is_some_and(|ours| is_near(ours, self.paper, self.tolerance));
        (self.expected.is_some() && meets)
            .then_some("declared to differ, but meets the paper's number: take the declaration out")
    }
}

/// What is varied.
#[derive(Debug, Serialize)]
pub struct AxisDocument {
    /// Its name.
    pub name: String,
    /// What people call it.
    pub label: String,
    /// What to know of it.
    pub note: Option<String>,
    /// The names of its values.
    pub values: Vec<String>,
}

/// What is taken from each run.
#[derive(Debug, Serialize)]
pub struct MetricNamed {
    /// Its name.
    pub name: String,
    /// What people call it.
    pub label: String,
    /// Its unit; empty for a plain number.
    pub unit: String,
}

/// What a run reports as a list.
#[derive(Debug, Serialize)]
pub struct CurveNamed {
    /// Its name.
    pub name: String,
    /// What people call it.
    pub label: String,
    /// The unit of its values; empty for plain numbers.
    pub unit: String,
    /// What is counted along it.
    pub x_label: String,
}

/// One case and what came of it.
#[derive(Debug, Serialize)]
pub struct CaseDocument {
    /// By axis, the value.
    pub at: BTreeMap<String, String>,
    /// The device.
    pub device: String,
    /// BLAKE3 of the configuration's canonical text.
    pub config_blake3: String,
    /// What was played: its name.
    pub load: String,
    /// BLAKE3 of what was played.
    pub load_blake3: Option<String>,
    /// What came of it, by metric.
    pub metrics: BTreeMap<String, Option<SpreadDocument>>,
    /// The curves that figures draw of it, by name: those of the run with the first seed.
    pub curves: BTreeMap<String, CurveDocument>,
}

/// A curve of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurveDocument {
    /// What each value is for: value number i, counted from 0, stands at i times this.
    pub every: f64,
    /// The values.
    pub values: Vec<f64>,
}

/// A metric in a case.
#[derive(Debug, Serialize)]
pub struct SpreadDocument {
    /// The mean over the seeds.
    pub mean: f64,
    /// The standard deviation between the seeds; null with one seed.
    pub standard_deviation: Option<f64>,
    /// Where the interval of the mean begins; null with one seed.
    pub low: Option<f64>,
    /// Where the interval of the mean ends; null with one seed.
    pub high: Option<f64>,
}

/// What a figure draws of metrics.
#[derive(Debug, Serialize)]
pub struct FigureDocument {
    /// Its title.
    pub title: String,
    /// `lines`, `bars` or `heatmap`.
    pub kind: String,
    /// What is formed of the metrics, as the experiment calls it.
    #[serde(rename = "as")]
    pub form: String,
    /// By axis, the value with which it is compared; empty where it is with nothing.
    pub against: BTreeMap<String, String>,
    /// Its points.
    pub points: Vec<PointDocument>,
}

/// A point of a figure. What is formed of two cases is formed seed by seed alike: both have the same seeds.
#[derive(Debug, Serialize)]
pub struct PointDocument {
    /// By axis, the value.
    pub at: BTreeMap<String, String>,
    /// The name of the metric.
    pub metric: String,
    /// The unit of what is formed of it; `%` is per cent, empty a plain number.
    pub unit: String,
    /// What is formed of its means; null if some run does not know it, or was not made.
    pub value: Option<f64>,
    /// Where its interval begins; null with one seed.
    pub low: Option<f64>,
    /// Where its interval ends; null with one seed.
    pub high: Option<f64>,
}

/// A case that was not run.
#[derive(Clone, Debug, Serialize)]
pub struct NotRunDocument {
    /// By axis, the value.
    pub at: BTreeMap<String, String>,
    /// The trace that it needs, by its path in the folder of traces.
    pub trace: String,
}
