//! The table of a sweep: a row for each point and seed; first the axes, then the seed, then the metrics.
//!
//! It depends on the rows alone, not on who performed the runs, or when.

mod files;

use std::collections::BTreeMap;

use super::axes::SweepAxis;
use super::plan::SweepPlan;
use super::row::{SEED, SweepRow, common_notes};
use super::statistics::{self, PointMean};
use crate::compare::{COLUMNS, Metric, described};
use crate::failure::Failure;
use crate::tenants::queue_labels;

/// The table of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepTable {
    /// What its rows are.
    pub about: String,
    /// The columns.
    pub columns: Vec<SweepColumn>,
    /// The metrics, in the order of their columns, which are the last ones.
    pub metrics: Vec<Metric>,
    /// Notes that many of its runs have.
    pub notes: Vec<String>,
    seeds: usize,
    confidence: f64,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepColumn {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// The unit of its values; empty for plain numbers and names.
    pub unit: String,
    /// Names of values for people that differ from the values.
    pub labels: Vec<(String, String)>,
    /// A value for each row.
    pub values: SweepValues,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum SweepValues {
    /// Numbers; none for unknown ones.
    Numbers(Vec<Option<f64>>),
    /// Seeds.
    Seeds(Vec<u64>),
    /// Names.
    Names(Vec<String>),
}

impl SweepPlan {
    /// Puts the rows of all runs together, in any order.
    ///
    /// # Errors
    /// The row of a run is missing, or there are two of it, or rows of something else.
    pub fn table(&self, rows: &[SweepRow]) -> Result<SweepTable, Failure> {
        let rows = self.in_order(rows)?;
        let axes = self.sweep.axes.iter().enumerate();
        let mut columns: Vec<SweepColumn> =
            axes.map(|(at, axis)| self.of_axis(at, axis, &rows)).collect();
        columns.push(SweepColumn {
            name: SEED.to_owned(),
            label: "Seed".to_owned(),
            unit: String::new(),
            labels: Vec::new(),
            values: SweepValues::Seeds(rows.iter().map(|row| row.seed).collect()),
        });
        let (metrics, of_metrics) = of_metrics(&rows);
        columns.extend(of_metrics);
        Ok(SweepTable {
            notes: common_notes(&rows),
            about: format!("{}: a row for each point and seed.", self.sweep.title),
            columns,
            metrics,
            seeds: self.seeds.len(),
            confidence: self.sweep.confidence,
        })
    }

    /// Returns the rows in the order of the table, if there is exactly one of each run.
    fn in_order<'a>(&self, rows: &'a [SweepRow]) -> Result<Vec<&'a SweepRow>, Failure> {
        let mut by_run: BTreeMap<(usize, u64), &SweepRow> = BTreeMap::new();
        for row in rows {
            let is_ours = row.point < self.points().len() && self.seeds.contains(&row.seed);
            if !is_ours || by_run.insert((row.point, row.seed), row).is_some() {
                return Err(wrong_row(row));
            }
        }
        let mut runs = self.all_runs().into_iter();
        match runs.find(|run| !by_run.contains_key(&(run.point, run.seed))) {
            None => Ok(by_run.into_values().collect()),
            Some(run) => Err(Failure::usage(format!(
                "the row of {} with seed {} is missing\n  remedy: perform that run",
                self.label(run.point),
                run.seed
            ))),
        }
    }

    fn of_axis(&self, at: usize, axis: &SweepAxis, rows: &[&SweepRow]) -> SweepColumn {
        let value = |row: &&SweepRow| self.points()[row.point].at[at];
        let values = match &axis.scaled {
            Some(scaled) => {
                let number = |row| Some(scaled.numbers[value(row)]);
                SweepValues::Numbers(rows.iter().map(number).collect())
            }
            None => {
                let name = |row| axis.values[value(row)].name.clone();
                SweepValues::Names(rows.iter().map(name).collect())
            }
        };
        let differ = axis.values.iter().filter(|value| value.label != value.name);
        SweepColumn {
            name: axis.name.clone(),
            label: axis.label.clone(),
            unit: axis.scaled.as_ref().map_or(String::new(), |scaled| scaled.unit.clone()),
            labels: differ.map(|value| (value.name.clone(), value.label.clone())).collect(),
            values,
        }
    }
}

fn wrong_row(row: &SweepRow) -> Failure {
    Failure::usage(format!(
        "the row of {} with seed {} is there twice, or belongs to another sweep\n  remedy: give each row of the sweep once",
        row.values.join(", "),
        row.seed
    ))
}

/// Returns the metrics that rows have, and their columns.
fn of_metrics(rows: &[&SweepRow]) -> (Vec<Metric>, Vec<SweepColumn>) {
    let mut found: BTreeMap<&str, Vec<Option<f64>>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        for (key, value) in &row.metrics {
            let values = found.entry(key).or_insert_with(|| vec![None; rows.len()]);
            values[at] = *value;
        }
    }
    let mut columns = Vec::new();
    for (metric, if_any) in COLUMNS.iter() {
        let values = found.remove(metric.key().as_str()).unwrap_or_default();
        let is_shown =
            |value: &Option<f64>| if *if_any { *value > Some(0.0) } else { value.is_some() };
        if values.iter().any(is_shown) {
            columns.push((metric.clone(), values));
        }
    }
    // What is left belongs to queues, by number.
    let mut queues: Vec<(Metric, Vec<Option<f64>>)> = found
        .into_iter()
        .filter(|(_, values)| values.iter().any(|value| *value > Some(0.0)))
        .filter_map(|(key, values)| Some((described(key)?, values)))
        .collect();
    queues.sort_by_key(|(metric, _)| place_of(metric));
    let tenants = rows.first().map_or(&[][..], |row| &row.tenants);
    if rows.iter().all(|row| row.tenants == tenants) {
        let labels = queue_labels(tenants.iter().map(Vec::as_slice));
        queues.iter_mut().for_each(|(metric, _)| name_tenants(metric, &labels));
    }
    columns.extend(queues);
    let column = |(metric, values): &(Metric, Vec<Option<f64>>)| SweepColumn {
        name: metric.key(),
        label: metric.name.clone(),
        unit: metric.unit.to_owned(),
        labels: Vec::new(),
        values: SweepValues::Numbers(values.clone()),
    };
    let all = columns.iter().map(column).collect();
    (columns.into_iter().map(|(metric, _)| metric).collect(), all)
}

/// Names a metric of a queue by the tenants of the queue.
fn name_tenants(metric: &mut Metric, labels: &[String]) {
    let (queue, _) = place_of(metric);
    let label = usize::try_from(queue).ok().and_then(|queue| labels.get(queue));
    if let (Some(label), Some((_, what))) = (label, metric.name.split_once(": ")) {
        metric.name = format!("{label}: {what}");
    }
}

/// Returns the number of a metric's queue, and the place of the metric among those of the host.
fn place_of(metric: &Metric) -> (u64, usize) {
    let key = metric.key();
    let mut parts = key.splitn(3, '.').skip(1);
    let queue = parts.next().and_then(|queue| queue.parse().ok()).unwrap_or(u64::MAX);
    let of_host = parts.next().unwrap_or_default();
    let place = COLUMNS.iter().position(|(metric, _)| metric.key() == of_host);
    (queue, place.unwrap_or(COLUMNS.len()))
}

impl SweepTable {
    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// Returns the means of a metric over the seeds, by point; none where it is unknown for some seed.
    #[must_use]
    pub fn means(&self, metric: usize) -> Vec<Option<PointMean>> {
        let first = self.columns.len() - self.metrics.len();
        match &self.columns[first + metric].values {
            SweepValues::Numbers(values) => values
                .chunks(self.seeds)
                .map(|seeds| statistics::mean(seeds, self.confidence))
                .collect(),
            SweepValues::Seeds(_) | SweepValues::Names(_) => Vec::new(),
        }
    }
}

impl SweepValues {
    /// Returns the number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            SweepValues::Numbers(values) => values.len(),
            SweepValues::Seeds(values) => values.len(),
            SweepValues::Names(values) => values.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
