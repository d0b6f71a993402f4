//! One run, and its result.

use std::path::PathBuf;
use std::sync::Arc;

use ftlab::config::Config;
use ftlab_lab::compare::known_in;
use ftlab_lab::experiment::{Experiment, Measured};
use ftlab_lab::result::{
    Folder, Requests, ResultDocument, ResultTarget, RunDocument, RunFiles, RunTables, TableTarget,
    fio_json, to_json,
};
use ftlab_lab::timeline::Again;
use ftlab_lab::{Failure, Lab};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;

use crate::config::PyConfig;
use crate::errors::{raised, usage, with_keywords};
use crate::load::PyLoad;
use crate::options::PyRunOptions;
use crate::policies::Trouble;
use crate::table::PyColumns;
use crate::watch::{Listener, PythonWatcher, Raised};

/// A metric of a result: its key, name, unit, whether more is better, and its value.
type NamedMetric = (String, String, &'static str, bool, Option<f64>);

/// The result of a run.
#[pyclass(frozen, module = "ftlab._ftlab", name = "Run")]
pub struct PyRun {
    config: Arc<Config>,
    document: ResultDocument,
    run: RunDocument,
    tables: RunTables,
    jobs: Option<String>,
    requests: Option<PyColumns>,
}

/// A run, as Python gives it.
#[derive(FromPyObject)]
pub struct GivenRun<'py> {
    config: PyRef<'py, PyConfig>,
    load: PyRef<'py, PyLoad>,
    options: PyRef<'py, PyRunOptions>,
    seed: u64,
}

impl GivenRun<'_> {
    /// Works on the run, which was checked, and looks at Python meanwhile.
    pub fn work<T: Send>(
        &self,
        py: Python<'_>,
        listener: Listener,
        work: impl FnOnce(&Again<'_>, &mut PythonWatcher) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        let (config, source) = (Arc::clone(&self.config.config), self.load.source.clone());
        let (troubles, meanwhile) = ([self.options.trouble.clone()], Raised::default());
        let (options, seed) = (self.options.options.clone(), self.seed);
        let lab = Lab::default();
        let mut watcher = PythonWatcher::new(listener, meanwhile.clone());
        let perform = || {
            let experiment = Experiment::new(source, &options)?;
            experiment.check(&config, 1)?;
            let again = Again { lab: &lab, experiment: &experiment, config: &config, seed };
            work(&again, &mut watcher)
        };
        let done = Trouble::watch(&troubles, &lab.stop, || py.detach(perform).map_err(raised));
        meanwhile.or(done)
    }
}

/// Performs a run. Every request is recorded if `records`.
#[pyfunction]
pub fn run(
    py: Python<'_>,
    given: GivenRun<'_>,
    records: bool,
    listener: Listener,
) -> PyResult<PyRun> {
    let finished = given.work(py, listener, |run, watcher| {
        let inputs = run.experiment.inputs(run.config, run.seed)?;
        let records = records.then(|| Requests::new(TableTarget::Memory));
        let records = records.transpose().map_err(Failure::usage)?;
        let measured = run.lab.run(run.experiment, run.config, run.seed, watcher, records)?;
        Finished::of(run.lab, run.config, measured, inputs)
    })?;
    let Finished { document, run, tables, jobs, requests } = finished;
    let requests = requests.map(PyColumns::of).transpose()?;
    let config = Arc::clone(&given.config.config);
    Ok(PyRun { config, document, run, tables, jobs, requests })
}

/// What is kept of a run. Its device is not.
struct Finished {
    document: ResultDocument,
    run: RunDocument,
    tables: RunTables,
    jobs: Option<String>,
    requests: Option<ftlab_lab::result::ColumnTable>,
}

impl Finished {
    fn of(
        lab: &Lab,
        config: &Config,
        mut measured: Measured,
        inputs: String,
    ) -> Result<Finished, Failure> {
        let run = lab.run_document(inputs, &measured);
        let queues = &measured.document.report.host.queues;
        let requests = measured.requests.take().map(|requests| requests.finish(queues));
        let requests = requests.transpose().map_err(Failure::usage)?.flatten();
        let jobs = measured.jobs.as_ref().map(|jobs| fio_json(jobs, config)).transpose()?;
        let tables = RunTables::of(&measured);
        Ok(Finished { document: measured.document, run, tables, jobs, requests })
    }
}

#[pymethods]
impl PyRun {
    /// `result.json`, to the byte.
    #[getter]
    fn result_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let text = to_json(&self.document).map_err(raised)?;
        Ok(PyBytes::new(py, text.as_bytes()))
    }

    /// `fio.json`, if fio jobs ran.
    #[getter]
    fn fio_json(&self) -> Option<&str> {
        self.jobs.as_deref()
    }

    /// The metrics that comparisons and sweeps use.
    #[getter]
    fn metrics(&self) -> PyResult<Vec<NamedMetric>> {
        let document = self.value()?;
        let metrics = known_in(std::iter::once(&document)).into_iter();
        let named = metrics.map(|metric| {
            let value = metric.of(&document);
            let higher = metric.better == ftlab_lab::compare::Better::Higher;
            (metric.key(), metric.name, metric.unit, higher, value)
        });
        Ok(named.collect())
    }

    /// The time series.
    #[getter]
    fn timeline(&self) -> PyResult<PyColumns> {
        PyColumns::of(self.tables.timeline.clone())
    }

    /// The distribution of latencies.
    #[getter]
    fn latencies(&self) -> PyResult<PyColumns> {
        PyColumns::of(self.tables.latencies.clone())
    }

    /// The blocks at the end.
    #[getter]
    fn blocks(&self) -> PyResult<PyColumns> {
        PyColumns::of(self.tables.blocks.clone())
    }

    /// The time series of each queue, if there are several.
    #[getter]
    fn queues(&self) -> PyResult<Option<PyColumns>> {
        self.tables.queues.clone().map(PyColumns::of).transpose()
    }

    /// Every request, if they were recorded.
    #[getter]
    fn requests(&self) -> Option<PyColumns> {
        self.requests.as_ref().map(PyColumns::shared)
    }

    /// Whether the run was completed.
    #[getter]
    fn complete(&self) -> bool {
        self.document.complete
    }

    /// The notes and warnings of the result; options are called as keyword arguments.
    #[getter]
    fn notes(&self) -> Vec<String> {
        let warnings = self.document.warnings.iter().map(|warning| format!("Warning: {warning}."));
        let notes = self.document.report.notes.iter().cloned().chain(warnings);
        notes.map(|note| with_keywords(&note)).collect()
    }

    /// The configuration of the device.
    #[getter]
    fn config(&self) -> PyConfig {
        PyConfig { config: Arc::clone(&self.config) }
    }

    /// Writes the result folder of the program, without requests, and returns its path.
    fn save(&self, py: Python<'_>, folder: PathBuf, force: bool) -> PyResult<PathBuf> {
        let written = py.detach(|| {
            let folder = Folder::prepare(ResultTarget::Named(folder), force)?;
            let files = RunFiles {
                config: &self.config,
                document: &self.document,
                tables: &self.tables,
                jobs: self.jobs.as_deref(),
                run: &self.run,
            };
            files.write(&folder, "")?;
            folder.publish(self.document.complete).map(|published| published.path)
        });
        written.map_err(raised)
    }
}

impl PyRun {
    fn value(&self) -> PyResult<Value> {
        serde_json::to_value(&self.document).map_err(|error| usage(error.to_string()))
    }
}
