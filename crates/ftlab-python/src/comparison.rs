//! Comparisons.

use std::path::PathBuf;
use std::sync::Arc;

use ftlab_lab::Lab;
use ftlab_lab::compare::{self, Comparison, ComparisonRuns, Variant, equal_notes};
use ftlab_lab::experiment::Experiment;
use ftlab_lab::result::{COMPARISON, Folder, ResultTarget, to_json};
use ftlab_lab::{Failure, seeds};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tempfile::TempDir;

use crate::config::PyConfig;
use crate::errors::{raised, with_keywords};
use crate::load::PyLoad;
use crate::options::PyRunOptions;
use crate::policies::Trouble;
use crate::table::{NewColumn, PyColumns};
use crate::watch::{Listener, ManyRuns, attended};

/// The page within the folder of a comparison.
const PAGE: &str = "report.html";

/// A comparison of variants under the same load.
#[pyclass(frozen, module = "ftlab._ftlab", name = "Comparison")]
pub struct PyComparison {
    pub(crate) comparison: Comparison,
    page: String,
}

/// A variant: its name, its device with what was set on top, and its options.
type Named<'py> = (String, PyRef<'py, PyConfig>, Vec<String>, PyRef<'py, PyRunOptions>);

/// Runs variants with several seeds and compares them with the first. With a folder, the runs and the page are kept.
#[pyfunction]
#[pyo3(name = "compare", signature = (variants, load, first_seed, many_seeds, confidence, threads, folder, force, listener))]
#[allow(
    clippy::too_many_arguments,
    reason = "called by Python's compare() alone, which names them"
)]
pub fn compare_variants(
    py: Python<'_>,
    variants: Vec<Named<'_>>,
    load: &PyLoad,
    first_seed: u64,
    many_seeds: u64,
    confidence: f64,
    threads: Option<usize>,
    folder: Option<PathBuf>,
    force: bool,
    listener: Listener,
) -> PyResult<PyComparison> {
    let mut lab = Lab::default();
    lab.threads = threads.unwrap_or(lab.threads);
    let seeds = seeds::from(first_seed, many_seeds).map_err(raised)?;
    let variant = |(name, config, settings, options): &Named<'_>| {
        let experiment = Experiment::new(load.source.clone(), &options.options)?;
        let config = (*config.config).clone();
        let mut variant = Variant::new(name.clone(), config, Arc::new(experiment));
        variant.settings.clone_from(settings);
        Ok(variant)
    };
    let troubles: Vec<Trouble> =
        variants.iter().map(|(.., options)| options.trouble.clone()).collect();
    let variants: Result<Vec<Variant>, Failure> = variants.iter().map(variant).collect();
    let variants = variants.map_err(raised)?;
    let stop = lab.stop.clone();
    let compare = |watcher: &ManyRuns| {
        let runs = ComparisonRuns::new(&variants, &seeds, &lab)?;
        let (nowhere, path) = place_of(folder)?;
        let folder = Folder::prepare(ResultTarget::Named(path), force)?;
        runs.take_up(&folder)?;
        if let Err(failure) = runs.perform(&folder, watcher) {
            // Finished runs are kept for the next time. One whose policy failed may be among them.
            let keep = nowhere.is_none() && !troubles.iter().any(Trouble::is_there);
            if keep && runs.list_finished(&folder)? {
                folder.publish(false)?;
            }
            return Err(failure);
        }
        let series = runs.series_in(folder.path())?;
        let comparison = compare::comparison(&series, confidence, equal_notes(&variants));
        let page = compare::page(&comparison, &series, &lab.command)?;
        if nowhere.is_none() {
            folder.write(PAGE, page.as_bytes())?;
            folder.write(COMPARISON, to_json(&comparison)?.as_bytes())?;
            folder.publish(true)?;
        }
        Ok(PyComparison { comparison, page })
    };
    Trouble::watch(&troubles, &stop, || attended(py, &listener, &stop, compare)?.map_err(raised))
}

/// Returns the folder of the runs; without one they go into a temporary folder, which lasts as long as what is returned.
fn place_of(folder: Option<PathBuf>) -> Result<(Option<TempDir>, PathBuf), Failure> {
    if let Some(path) = folder {
        return Ok((None, path));
    }
    let nowhere = tempfile::tempdir()
        .map_err(|error| Failure::file("can't write into", &std::env::temp_dir(), &error))?;
    let path = nowhere.path().join("runs");
    Ok((Some(nowhere), path))
}

#[pymethods]
impl PyComparison {
    /// `compare.json`.
    #[getter]
    fn compare_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let text = to_json(&self.comparison).map_err(raised)?;
        Ok(PyBytes::new(py, text.as_bytes()))
    }

    /// The page with curves.
    #[getter]
    fn page(&self) -> &str {
        &self.page
    }

    /// Notes that a reader of the numbers needs.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.comparison.notes.iter().map(|note| with_keywords(note)).collect()
    }

    /// A row for each metric and variant: the mean, and the change against the first variant with its interval.
    #[getter]
    fn table(&self) -> PyResult<PyColumns> {
        let mut rows = ChangeRows::default();
        for metric in &self.comparison.metrics {
            for (variant, values) in self.comparison.variants.iter().zip(&metric.variants) {
                rows.names.push(metric.key());
                rows.units.push(metric.unit.to_owned());
                rows.variants.push(variant.name.clone());
                rows.means.push(values.mean);
                let change = values.change.as_ref();
                rows.changes.push(change.map(|change| change.estimate));
                rows.lows.push(change.and_then(|change| change.low));
                rows.highs.push(change.and_then(|change| change.high));
                rows.p_values.push(change.and_then(|change| change.p_value));
                rows.scales.push(change.map_or(String::new(), |change| word(&change.scale)));
                rows.certainties
                    .push(change.map_or(String::new(), |change| word(&change.certainty)));
            }
        }
        rows.table(self.comparison.confidence_ratio)
    }
}

/// Returns the word that JSON has for a value.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|word| Some(word.as_str()?.to_owned()))
        .unwrap_or_default()
}

/// The rows of a comparison, by column.
#[derive(Default)]
struct ChangeRows {
    names: Vec<String>,
    units: Vec<String>,
    variants: Vec<String>,
    means: Vec<Option<f64>>,
    changes: Vec<Option<f64>>,
    lows: Vec<Option<f64>>,
    highs: Vec<Option<f64>>,
    p_values: Vec<Option<f64>>,
    scales: Vec<String>,
    certainties: Vec<String>,
}

impl ChangeRows {
    fn table(self, confidence: f64) -> PyResult<PyColumns> {
        const CHANGE: &str =
            "a share of the first variant's value, or the metric's unit, as `scale` says";
        let columns = vec![
            NewColumn::texts("metric", self.names),
            NewColumn::texts("unit", self.units),
            NewColumn::texts("variant", self.variants),
            NewColumn::numbers("mean", "the metric's", self.means),
            NewColumn::numbers("change", CHANGE, self.changes),
            NewColumn::numbers("low", CHANGE, self.lows),
            NewColumn::numbers("high", CHANGE, self.highs),
            NewColumn::numbers("p_value", "", self.p_values),
            NewColumn::texts("scale", self.scales),
            NewColumn::texts("certainty", self.certainties),
        ];
        let about = "A row for each metric and variant: the mean over the seeds, and the change against the first \
                     variant with its confidence interval.";
        let metadata = [("about", about.to_owned()), ("confidence", confidence.to_string())];
        let metadata = metadata.into_iter().map(|(key, value)| (key.to_owned(), value));
        PyColumns::new(columns, metadata.collect())
    }
}
