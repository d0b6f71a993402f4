//! Loads.

use std::path::Path;
use std::sync::Arc;

use ftlab_lab::Failure;
use ftlab_lab::experiment::{GivenRequests, LoadSource};
use ftlab_lab::load::{open, set_reading, short_name};
use ftlab_lab::text_file;
use ftlab_workload::generate::Workload;
use ftlab_workload::trace;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::{ReadRequests, own_columns, requests_of};
use crate::errors::{raised, usage};
use crate::own_table;

/// A load. It never changes.
#[pyclass(frozen, module = "ftlab._ftlab", name = "Load")]
pub struct PyLoad {
    pub source: LoadSource,
}

#[pymethods]
impl PyLoad {
    /// Finds a workload: a built-in one, or a file.
    #[staticmethod]
    fn workload(name: &str) -> PyResult<PyLoad> {
        Ok(PyLoad { source: LoadSource::workload(name).map_err(raised)? })
    }

    /// Parses a workload. Files that it names are relative to the current folder.
    #[staticmethod]
    fn workload_text(name: &str, text: &str) -> PyResult<PyLoad> {
        let mut fetch = |file: &str| {
            text_file::read(Path::new(file)).map_err(|error| format!("{file}: {error}"))
        };
        let parsed = Workload::parse(name, text, &mut fetch);
        let told = |problems| text_file::told(text_file::with_bare_keys(problems));
        let workload = parsed.map_err(|problems| raised(Failure::Config(told(problems))))?;
        Ok(PyLoad { source: LoadSource::Workload(Arc::new(workload)) })
    }

    /// Names a trace. It is read when it is played, perhaps several times; whether it can be is seen now.
    #[staticmethod]
    fn trace(file: String, reading: Vec<(String, String)>) -> PyResult<PyLoad> {
        let options = reading_options(reading)?;
        let source = LoadSource::Trace { file: file.clone(), held: None, reading: options.clone() };
        if source.is_read_once() {
            return Err(usage(format!(
                "{file} is no file, and can be read only once\n  remedy: save the trace to a file, or read it in Python and \
                 give its columns to requests"
            )));
        }
        opened(&file, options).map_err(raised)?;
        Ok(PyLoad { source })
    }

    /// Reads a fio job file.
    #[staticmethod]
    fn fio(file: &str, variables: Vec<(String, String)>) -> PyResult<PyLoad> {
        Ok(PyLoad { source: LoadSource::fio(file, &variables).map_err(raised)? })
    }

    /// Takes requests in columns.
    #[staticmethod]
    fn requests(name: &str, columns: &Bound<'_, PyAny>) -> PyResult<PyLoad> {
        PyLoad::of_requests(name, requests_of(columns, None)?)
    }

    /// Takes requests from a table of one's own, by its columns.
    #[staticmethod]
    fn table(
        py: Python<'_>,
        name: &str,
        columns: &Bound<'_, PyAny>,
        reading: Vec<(String, String)>,
    ) -> PyResult<PyLoad> {
        let options = reading_options(reading)?;
        let columns = own_columns(columns)?;
        if columns.iter().all(|(_, values)| values.is_empty()) {
            return Err(no_requests());
        }
        let timed = options.columns.has_times();
        let requests = own_table::read(py, name, &columns, options)?;
        PyLoad::of_requests(name, ReadRequests { requests, timed })
    }

    /// The requests that were taken, in columns again.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        let LoadSource::Requests(given) = &self.source else { return Ok(columns) };
        let requests = given.requests().unwrap_or_default();
        let all = || requests.iter();
        columns.set_item("op", PyArray1::from_iter(py, all().map(|one| one.op as u8)))?;
        columns.set_item("lba", PyArray1::from_iter(py, all().map(|one| one.lba.0)))?;
        columns.set_item("sectors", PyArray1::from_iter(py, all().map(|one| one.sectors)))?;
        columns.set_item("stream", PyArray1::from_iter(py, all().map(|one| one.stream)))?;
        columns.set_item("fua", PyArray1::from_iter(py, all().map(|one| one.fua)))?;
        if given.timed {
            columns.set_item("at_ns", PyArray1::from_iter(py, all().map(|one| one.at.0)))?;
        }
        Ok(columns)
    }

    /// The name of the load in results.
    #[getter]
    fn name(&self) -> String {
        self.source.name()
    }

    /// `workload`, `trace`, `fio` or `requests`.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.source {
            LoadSource::Workload(_) => "workload",
            LoadSource::Trace { .. } => "trace",
            LoadSource::Fio(_) => "fio",
            LoadSource::Requests(_) => "requests",
        }
    }
}

impl PyLoad {
    fn of_requests(name: &str, read: ReadRequests) -> PyResult<PyLoad> {
        if read.requests.is_empty() {
            return Err(no_requests());
        }
        let late = read.requests.windows(2).position(|pair| pair[1].at < pair[0].at);
        if let Some(row) = late {
            return Err(usage(format!(
                "the request in row {} comes before the one above it\n  remedy: sort the rows by at_ns",
                row + 1
            )));
        }
        let given = GivenRequests::columns(short_name(name), read.requests, read.timed);
        Ok(PyLoad { source: LoadSource::Requests(given) })
    }
}

/// Opens a trace. A file that is missing is a failure of files.
pub fn opened(file: &str, options: trace::Options) -> Result<trace::Trace, Failure> {
    let missing = !Path::new(file).exists();
    open(file, options).map_err(|failure| match missing {
        true => Failure::File(failure.text().to_owned()),
        false => failure,
    })
}

fn no_requests() -> PyErr {
    usage("there are no requests\n  remedy: give at least one")
}

/// Returns the options of the trace reader.
fn reading_options(reading: Vec<(String, String)>) -> PyResult<trace::Options> {
    let mut options = trace::Options::default();
    for (name, text) in reading {
        set_reading(&mut options, &name, &text)
            .map_err(|why| usage(format!("{name}={text}: {why}")))?;
    }
    Ok(options)
}
