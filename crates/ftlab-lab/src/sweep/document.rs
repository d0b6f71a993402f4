//! `sweep.json`: the axes, the metrics, and the means of each point.

use std::collections::BTreeMap;
use std::path::Path;

use ftlab::options::value::Value as _;
use serde::{Deserialize, Serialize};

use super::perform::SweepRun;
use super::plan::SweepPlan;
use super::statistics::PointMean;
use super::table::SweepTable;
use crate::compare::Better;
use crate::failure::Failure;
use crate::result::{Folder, PAGE, RUN, SWEEP, SWEEP_CSV, SWEEP_PARQUET, to_json};
use crate::text_file;

/// The layout of the document.
const SCHEMA_VERSION: u32 = 1;
/// What the document is.
const KIND: &str = "sweep";

/// `sweep.json`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SweepDocument {
    /// The layout of the document.
    pub schema_version: u32,
    /// `sweep`.
    pub kind: String,
    /// The version of ftlab.
    pub ftlab_version: String,
    /// The name of the sweep.
    pub name: String,
    /// What is swept.
    pub title: String,
    /// Which device was prepared: `each` or `base`.
    pub prepare: String,
    /// The confidence level of the intervals.
    pub confidence_ratio: f64,
    /// The seeds of each point.
    pub seeds: Vec<u64>,
    /// The axes.
    pub axes: Vec<SweepAxisDocument>,
    /// The metrics, in the order of the table.
    pub metrics: Vec<SweepMetricDocument>,
    /// The points, in the order of the table.
    pub points: Vec<SweepPointDocument>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// An axis.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SweepAxisDocument {
    /// The name of its column.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// The unit of its numbers; empty for plain numbers and names.
    pub unit: String,
    /// `linear` or `log`.
    pub spacing: String,
    /// Its values.
    pub values: Vec<SweepValueDocument>,
}

/// A value of an axis.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SweepValueDocument {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// The number in the table; null if the axis has names.
    pub number: Option<f64>,
}

/// A metric.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SweepMetricDocument {
    /// The name of its column.
    pub key: String,
    /// Its place in `result.json`, a JSON pointer without the leading slash.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Its unit; empty for a ratio.
    pub unit: String,
    /// Which direction is better.
    pub better: Better,
}

/// A point.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SweepPointDocument {
    /// The name of its value on each axis.
    pub at: BTreeMap<String, String>,
    /// BLAKE3 of the configuration's canonical text.
    pub config_blake3: String,
    /// The places of its results in the folder, by seed.
    pub results: Vec<String>,
    /// The means over the seeds by the keys of the metrics; null where a seed has no value.
    pub metrics: BTreeMap<String, Option<PointMean>>,
}

/// Reads `sweep.json` of a finished sweep.
///
/// # Errors
/// It cannot be read, is of another version, or is damaged.
pub fn read(folder: &Path) -> Result<SweepDocument, Failure> {
    let path = folder.join(SWEEP);
    let text =
        text_file::read(&path).map_err(|error| Failure::file("can't read", &path, &error))?;
    of_json(&text).map_err(|why| {
        Failure::usage(format!(
            "{} {why}\n  remedy: perform the sweep again with this version of ftlab",
            path.display()
        ))
    })
}

/// Reads the text of `sweep.json`.
///
/// # Errors
/// It is of another version, or is damaged.
pub fn of_json(text: &str) -> Result<SweepDocument, String> {
    let damaged = |error: &dyn std::fmt::Display| format!("is damaged: {error}");
    let layout: serde_json::Value = serde_json::from_str(text).map_err(|error| damaged(&error))?;
    let version = &layout["schema_version"];
    if version.as_u64() != Some(u64::from(SCHEMA_VERSION)) {
        return Err(format!(
            "has layout {version}, but this version of ftlab reads layout {SCHEMA_VERSION}"
        ));
    }
    let sweep: SweepDocument = serde_json::from_value(layout).map_err(|error| damaged(&error))?;
    let has_place = |point: &SweepPointDocument, axis: &SweepAxisDocument| {
        point.at.get(&axis.name).is_some_and(|at| axis.values.iter().any(|value| value.name == *at))
    };
    match sweep.points.iter().all(|point| sweep.axes.iter().all(|axis| has_place(point, axis))) {
        true => Ok(sweep),
        false => Err(damaged(&"a point has no place on an axis")),
    }
}

impl SweepAxisDocument {
    /// Returns the value of a point for people.
    #[must_use]
    pub fn shown<'a>(&'a self, point: &'a SweepPointDocument) -> &'a str {
        let name = &point.at[&self.name];
        let value = self.values.iter().find(|value| value.name == *name);
        value.map_or(name, |value| &value.label)
    }
}

impl SweepPlan {
    /// Returns `sweep.json`.
    #[must_use]
    pub fn document(&self, table: &SweepTable) -> SweepDocument {
        let sweep = &self.sweep;
        let metrics = table.metrics.iter().map(|metric| SweepMetricDocument {
            key: metric.key(),
            id: metric.id.clone(),
            name: metric.name.clone(),
            unit: metric.unit.to_owned(),
            better: metric.better,
        });
        SweepDocument {
            schema_version: SCHEMA_VERSION,
            kind: KIND.to_owned(),
            ftlab_version: env!("CARGO_PKG_VERSION").to_owned(),
            name: sweep.name.clone(),
            title: sweep.title.clone(),
            prepare: sweep.prepared.print(),
            confidence_ratio: sweep.confidence,
            seeds: self.seeds.clone(),
            axes: self.axes(),
            metrics: metrics.collect(),
            points: self.point_documents(table),
            notes: self.notes().into_iter().chain(table.notes.iter().cloned()).collect(),
        }
    }

    fn axes(&self) -> Vec<SweepAxisDocument> {
        let axes = self.sweep.axes.iter().map(|axis| {
            let number = |at: usize| axis.scaled.as_ref().map(|scaled| scaled.numbers[at]);
            let values = axis.values.iter().enumerate().map(|(at, value)| SweepValueDocument {
                name: value.name.clone(),
                label: value.label.clone(),
                number: number(at),
            });
            SweepAxisDocument {
                name: axis.name.clone(),
                label: axis.label.clone(),
                unit: axis.scaled.as_ref().map_or(String::new(), |scaled| scaled.unit.clone()),
                spacing: axis.spacing.print(),
                values: values.collect(),
            }
        });
        axes.collect()
    }

    fn point_documents(&self, table: &SweepTable) -> Vec<SweepPointDocument> {
        let means: Vec<(String, Vec<Option<PointMean>>)> = table
            .metrics
            .iter()
            .enumerate()
            .map(|(at, one)| (one.key(), table.means(at)))
            .collect();
        let points = self.points().iter().enumerate().map(|(at, point)| {
            let values = self.sweep.axes.iter().zip(&point.at);
            let canonical = point.config.canonical();
            let place = |&seed: &u64| self.place(SweepRun { point: at, seed });
            SweepPointDocument {
                at: values
                    .map(|(axis, &at)| (axis.name.clone(), axis.values[at].name.clone()))
                    .collect(),
                config_blake3: blake3::hash(canonical.as_bytes()).to_hex().to_string(),
                results: self.seeds.iter().map(place).collect(),
                metrics: means.iter().map(|(key, means)| (key.clone(), means[at])).collect(),
            }
        });
        points.collect()
    }

    /// Writes the files of a sweep beside its runs. `sweep.json` is the last. `command` made it.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(
        &self,
        folder: &Folder,
        table: &SweepTable,
        command: &[String],
    ) -> Result<(), Failure> {
        let document = self.document(table);
        let run = serde_json::json!({
            "inputs_blake3": self.fingerprint()?,
            "command_line": command,
        });
        folder.write(SWEEP_PARQUET, &table.parquet()?)?;
        folder.write(SWEEP_CSV, table.csv()?.as_bytes())?;
        folder.write(PAGE, super::page::of(&document, command)?.as_bytes())?;
        folder.write(RUN, to_json(&run)?.as_bytes())?;
        folder.write(SWEEP, to_json(&document)?.as_bytes())
    }

    /// Returns the page of a sweep, made by `command`.
    ///
    /// # Errors
    /// The data cannot be written as JSON.
    pub fn page(&self, table: &SweepTable, command: &[String]) -> Result<String, Failure> {
        super::page::of(&self.document(table), command)
    }
}
