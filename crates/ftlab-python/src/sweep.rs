//! Sweeps: their plans, the rows of their runs, and the folders that keep them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use ftlab_lab::Lab;
use ftlab_lab::device::Setting;
use ftlab_lab::outside::OutsidePolicies;
use ftlab_lab::pool::locked;
use ftlab_lab::result::{Folder, ResultTarget, to_json};
use ftlab_lab::sweep::{
    self, DeviceChoice, GivenDevice, PointSettings, Prepared, Spacing, Sweep, SweepAxis, SweepPlan,
    SweepRow, SweepRun, SweepTable, SweepValue, SweepValues,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::config::PyConfig;
use crate::errors::{raised, usage, with_keywords};
use crate::image::PyImage;
use crate::load::PyLoad;
use crate::options::PyRunOptions;
use crate::policies::Trouble;
use crate::table::{NewColumn, PyColumns};
use crate::watch::{Listener, ManyRuns, attended};

/// What a point sets, as Python gives it.
#[derive(FromPyObject)]
struct GivenPoint<'py> {
    /// The device, if it is set.
    device: Option<GivenWhole<'py>>,
    /// Options of the device: where each was written, and `KEY=VALUE`.
    sets: Vec<(String, String)>,
    /// Options of a run by name.
    run: Vec<(String, String)>,
    load: Option<PyRef<'py, PyLoad>>,
    /// Policies in Python, if there are any.
    policies: Option<PyRef<'py, PyRunOptions>>,
}

/// A device, with its state and its policies in Python.
#[derive(FromPyObject)]
struct GivenWhole<'py> {
    config: PyRef<'py, PyConfig>,
    image: Option<PyRef<'py, PyImage>>,
    policies: Option<PyRef<'py, PyRunOptions>>,
}

/// A value of an axis: its name, and what it sets.
type GivenValue<'py> = (String, GivenPoint<'py>);

/// An axis, as Python gives it.
#[derive(FromPyObject)]
enum GivenAxis<'py> {
    /// The option, the range, the number of steps, and whether they are logarithmic.
    Range(String, String, usize, bool),
    /// The option and its values.
    List(String, Vec<String>),
    /// The name and its values.
    Named(String, Vec<GivenValue<'py>>),
}

impl<'py> GivenAxis<'py> {
    /// Returns what its values set.
    fn points(&self) -> impl Iterator<Item = &GivenPoint<'py>> {
        let values = match self {
            GivenAxis::Named(_, values) => &values[..],
            GivenAxis::Range(..) | GivenAxis::List(..) => &[],
        };
        values.iter().map(|(_, point)| point)
    }
}

impl GivenPoint<'_> {
    fn settings(&self) -> PyResult<PointSettings> {
        let device = self.device.as_ref().map(GivenWhole::choice);
        let mut settings = PointSettings { device, ..PointSettings::default() };
        for (label, text) in &self.sets {
            settings.sets.push(Setting { label: label.clone(), text: text.clone() });
        }
        for (name, text) in &self.run {
            settings.set(name, name, text).map_err(|why| usage(format!("{name}={text}: {why}")))?;
        }
        settings.load = self.load.as_ref().map(|load| load.source.clone());
        settings.outside = policies_of(self.policies.as_ref());
        Ok(settings)
    }

    /// Returns what goes wrong in its policies.
    fn troubles(&self) -> impl Iterator<Item = Trouble> {
        let of_device = self.device.as_ref().and_then(|device| device.policies.as_ref());
        self.policies.iter().chain(of_device).map(|policies| policies.trouble.clone())
    }
}

impl GivenWhole<'_> {
    fn choice(&self) -> DeviceChoice {
        let config = &self.config.config;
        DeviceChoice::Given(GivenDevice {
            name: config.options.device.name.clone(),
            text: config.canonical(),
            image: self.image.as_ref().map(|image| Arc::clone(&image.taken)),
            outside: policies_of(self.policies.as_ref()),
        })
    }
}

fn policies_of(options: Option<&PyRef<'_, PyRunOptions>>) -> OutsidePolicies {
    options.map_or_else(OutsidePolicies::default, |options| options.options.outside.clone())
}

fn axis(given: &GivenAxis<'_>) -> PyResult<SweepAxis> {
    match given {
        GivenAxis::Range(option, range, steps, log) => {
            let spacing = if *log { Spacing::Log } else { Spacing::Linear };
            SweepAxis::range(option, range, *steps, spacing).map_err(raised)
        }
        GivenAxis::List(option, values) => SweepAxis::list(option, values).map_err(raised),
        GivenAxis::Named(name, values) => {
            let value = |(name, point): &GivenValue<'_>| {
                Ok(SweepValue { settings: point.settings()?, ..SweepValue::named(name) })
            };
            let values = values.iter().map(value).collect::<PyResult<Vec<_>>>()?;
            Ok(SweepAxis::named(name, values))
        }
    }
}

/// A sweep that is ready to run. It never changes.
#[pyclass(frozen, module = "ftlab._ftlab", name = "SweepPlan")]
pub struct PySweepPlan {
    plan: SweepPlan,
    /// What goes wrong in policies in Python.
    troubles: Vec<Trouble>,
}

/// How a sweep is called and run.
#[derive(FromPyObject)]
struct GivenSweep {
    name: String,
    seeds: u64,
    first_seed: u64,
    confidence: f64,
    /// Whether the device is prepared once for each seed, without the axes.
    prepares_base: bool,
}

impl PySweepPlan {
    fn of(py: Python<'_>, sweep: Sweep, troubles: Vec<Trouble>) -> PyResult<PySweepPlan> {
        let lab = Lab::default();
        let plan = attended(py, &None, &lab.stop, |_| SweepPlan::new(&lab, sweep))?;
        Ok(PySweepPlan { plan: plan.map_err(raised)?, troubles })
    }

    fn runs_at(&self, indices: &[usize]) -> PyResult<Vec<SweepRun>> {
        let all = self.plan.all_runs();
        let run = |&at: &usize| {
            all.get(at).copied().ok_or_else(|| usage(format!("the sweep has no run {at}")))
        };
        indices.iter().map(run).collect()
    }

    fn swept(&self, rows: &PySweepRows) -> PyResult<SweepTable> {
        self.plan.table(&locked(&rows.rows)).map_err(raised)
    }
}

#[pymethods]
impl PySweepPlan {
    /// Reads a sweep from a file; the seeds may be other ones.
    #[staticmethod]
    fn file(
        py: Python<'_>,
        file: &str,
        seeds: Option<u64>,
        first_seed: Option<u64>,
    ) -> PyResult<PySweepPlan> {
        let mut sweep = sweep::find(file).map_err(raised)?;
        sweep.seeds = seeds.unwrap_or(sweep.seeds);
        sweep.first_seed = first_seed.unwrap_or(sweep.first_seed);
        PySweepPlan::of(py, sweep, Vec::new())
    }

    /// Makes a sweep of what all points share and the axes.
    #[staticmethod]
    fn of_values(
        py: Python<'_>,
        sweep: GivenSweep,
        base: GivenPoint<'_>,
        axes: Vec<GivenAxis<'_>>,
    ) -> PyResult<PySweepPlan> {
        let GivenSweep { name, seeds, first_seed, confidence, prepares_base } = sweep;
        let of_axes = axes.iter().flat_map(GivenAxis::points);
        let points = std::iter::once(&base).chain(of_axes);
        let troubles = points.flat_map(GivenPoint::troubles).collect();
        let axes = axes.iter().map(axis).collect::<PyResult<Vec<_>>>()?;
        let prepared = if prepares_base { Prepared::Base } else { Prepared::Each };
        let sweep = Sweep {
            seeds,
            first_seed,
            confidence,
            prepared,
            ..Sweep::new(&name, base.settings()?, axes)
        };
        PySweepPlan::of(py, sweep, troubles)
    }

    /// The name of the sweep.
    #[getter]
    fn name(&self) -> &str {
        &self.plan.sweep.name
    }

    /// The names of the axes.
    #[getter]
    fn axes(&self) -> Vec<String> {
        self.plan.sweep.axes.iter().map(|axis| axis.name.clone()).collect()
    }

    /// All runs, as the index of their point and their seed.
    #[getter]
    fn runs(&self) -> Vec<(usize, u64)> {
        self.plan.all_runs().into_iter().map(|run| (run.point, run.seed)).collect()
    }

    /// The indices of the runs in groups that start from the same prepared device.
    fn groups(&self) -> Vec<Vec<usize>> {
        self.plan.shared_groups()
    }

    /// What a reader of the results should know; options are called as keyword arguments.
    fn notes(&self, rows: &PySweepRows) -> PyResult<Vec<String>> {
        let notes = self.plan.notes().into_iter().chain(self.swept(rows)?.notes);
        Ok(notes.map(|note| with_keywords(&note)).collect())
    }

    /// Performs runs on some threads, in a folder if there is one, and adds their rows.
    fn perform(
        &self,
        py: Python<'_>,
        indices: Vec<usize>,
        threads: Option<usize>,
        folder: Option<&PySweepFolder>,
        rows: &PySweepRows,
        listener: Listener,
    ) -> PyResult<()> {
        let runs = self.runs_at(&indices)?;
        let mut lab = Lab::default();
        lab.threads = threads.unwrap_or(lab.threads);
        let folder = folder.map(|folder| locked(&folder.folder));
        let open = match &folder {
            Some(folder) => Some(folder.as_ref().ok_or_else(published)?),
            None => None,
        };
        let stop = lab.stop.clone();
        let done = Trouble::watch(&self.troubles, &stop, || {
            let perform = |watcher: &ManyRuns| self.plan.perform_runs(&lab, &runs, open, watcher);
            attended(py, &listener, &stop, perform)?.map_err(raised)
        })?;
        locked(&rows.rows).extend(done);
        Ok(())
    }

    /// Adds the row of a run that was performed elsewhere, from its `result.json`.
    fn add(&self, at: usize, result: &[u8], rows: &PySweepRows) -> PyResult<()> {
        let run = self.runs_at(&[at])?[0];
        let document = serde_json::from_slice(result)
            .map_err(|error| usage(format!("this is no result: {error}")))?;
        let row = self.plan.row(run.point, run.seed, &document).map_err(raised)?;
        locked(&rows.rows).push(row);
        Ok(())
    }

    /// The fingerprint of a run.
    fn inputs(&self, at: usize) -> PyResult<String> {
        let run = self.runs_at(&[at])?[0];
        self.plan.inputs(run.point, run.seed).map_err(raised)
    }

    /// The place of a run within the folder of the sweep.
    fn place(&self, at: usize) -> PyResult<String> {
        Ok(self.plan.place(self.runs_at(&[at])?[0]))
    }

    /// The rows of a folder that contains the complete result of this sweep, if it does.
    fn done_in(&self, py: Python<'_>, path: PathBuf) -> PyResult<Option<PySweepRows>> {
        let found = py.detach(|| self.plan.rows_in(&path));
        Ok(found.map_err(raised)?.map(PySweepRows::of))
    }

    /// The table of all rows.
    fn table(&self, rows: &PySweepRows) -> PyResult<PyColumns> {
        let table = self.swept(rows)?;
        let columns = table.columns.into_iter().map(|column| match column.values {
            SweepValues::Numbers(values) => NewColumn::numbers(&column.name, &column.unit, values),
            SweepValues::Seeds(values) => NewColumn::counts(&column.name, &column.unit, values),
            SweepValues::Names(values) => NewColumn::texts(&column.name, values),
        });
        let about = HashMap::from([("about".to_owned(), table.about)]);
        PyColumns::new(columns.collect(), about)
    }

    /// `sweep.parquet`, `sweep.csv`, `sweep.json` and the page.
    fn files<'py>(
        &self,
        py: Python<'py>,
        rows: &PySweepRows,
    ) -> PyResult<HashMap<&'static str, Bound<'py, PyBytes>>> {
        let table = self.swept(rows)?;
        let files = [
            ("sweep.parquet", table.parquet()),
            ("sweep.csv", table.csv().map(String::into_bytes)),
            ("sweep.json", to_json(&self.plan.document(&table)).map(String::into_bytes)),
            ("report.html", self.plan.page(&table, &[]).map(String::into_bytes)),
        ];
        let file = |(name, content): (_, Result<Vec<u8>, _>)| {
            Ok((name, PyBytes::new(py, &content.map_err(raised)?)))
        };
        files.into_iter().map(file).collect()
    }
}

/// The rows of runs, from wherever they were performed.
#[pyclass(frozen, module = "ftlab._ftlab", name = "SweepRows")]
pub struct PySweepRows {
    rows: Mutex<Vec<SweepRow>>,
}

impl PySweepRows {
    fn of(rows: Vec<SweepRow>) -> PySweepRows {
        PySweepRows { rows: Mutex::new(rows) }
    }
}

#[pymethods]
impl PySweepRows {
    #[new]
    fn new() -> PySweepRows {
        PySweepRows::of(Vec::new())
    }

    fn __len__(&self) -> usize {
        locked(&self.rows).len()
    }

    /// `result.json` of each row, where it is not in a folder: the point, the seed, and the text.
    fn documents(&self) -> Vec<(usize, u64, Option<String>)> {
        let rows = locked(&self.rows);
        rows.iter().map(|row| (row.point, row.seed, row.document.clone())).collect()
    }
}

/// The folder of a sweep that is being performed. It has its name once it is published.
#[pyclass(frozen, module = "ftlab._ftlab", name = "SweepFolder")]
pub struct PySweepFolder {
    folder: Mutex<Option<Folder>>,
}

fn published() -> PyErr {
    usage("the folder of the sweep has its name already")
}

#[pymethods]
impl PySweepFolder {
    /// Begins a folder. Finished runs that were left beside it, or in the one that it replaces, are taken up.
    #[new]
    fn new(
        py: Python<'_>,
        plan: &PySweepPlan,
        path: PathBuf,
        force: bool,
    ) -> PyResult<PySweepFolder> {
        let folder = py.detach(|| {
            let folder = Folder::prepare(ResultTarget::Named(path), force)?;
            plan.plan.take_up(&folder)?;
            Ok(folder)
        });
        Ok(PySweepFolder { folder: Mutex::new(Some(folder.map_err(raised)?)) })
    }

    /// Where it is until then.
    #[getter]
    fn path(&self) -> PyResult<PathBuf> {
        let folder = locked(&self.folder);
        Ok(folder.as_ref().ok_or_else(published)?.path().to_owned())
    }

    /// The indices of the runs that are not in it yet.
    fn missing(&self, plan: &PySweepPlan) -> PyResult<Vec<usize>> {
        let folder = locked(&self.folder);
        let folder = folder.as_ref().ok_or_else(published)?;
        let runs = plan.plan.all_runs().into_iter().enumerate();
        let missing = runs.filter(|(_, run)| !plan.plan.is_there(folder, *run));
        Ok(missing.map(|(at, _)| at).collect())
    }

    /// Writes a file of a run that was performed elsewhere.
    fn write(&self, name: &str, content: &[u8]) -> PyResult<()> {
        let folder = locked(&self.folder);
        let folder = folder.as_ref().ok_or_else(published)?;
        if let Some((place, _)) = name.rsplit_once('/') {
            folder.create_folder(place).map_err(raised)?;
        }
        folder.write(name, content).map_err(raised)
    }

    /// Writes the table and the page, and gives the folder its name.
    fn publish(&self, py: Python<'_>, plan: &PySweepPlan, rows: &PySweepRows) -> PyResult<PathBuf> {
        let table = plan.swept(rows)?;
        let folder = locked(&self.folder).take().ok_or_else(published)?;
        let written = py.detach(|| {
            plan.plan.write(&folder, &table, &[])?;
            folder.publish(true).map(|published| published.path)
        });
        written.map_err(raised)
    }

    /// Keeps what is finished, under a name that the next attempt finds; nothing if nothing is.
    fn keep(&self, py: Python<'_>) -> PyResult<Option<PathBuf>> {
        let Some(folder) = locked(&self.folder).take() else { return Ok(None) };
        if !folder.path().join("runs").is_dir() {
            return Ok(None);
        }
        let kept = py.detach(|| folder.publish(false).map(|published| published.path));
        kept.map(Some).map_err(raised)
    }
}
